"""`smt searn compare`: table 1 and figures 4 and 5 of Zhang, Sun and Li (2008)."""

from __future__ import annotations
