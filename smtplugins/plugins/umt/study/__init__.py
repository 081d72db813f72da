"""`smt umt compare` and `smt umt sensitivity`: the tables of Gesmundo and Henderson (2014)."""

from __future__ import annotations
