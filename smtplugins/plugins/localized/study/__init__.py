"""`smt localized compare`: table 2 of Tillmann and Zhang (2005)."""

from __future__ import annotations
