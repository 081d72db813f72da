"""`smt cdlm compare`: tables 2 to 4 of Li, Wang, Khudanpur and Eisner (2010)."""

from __future__ import annotations
