"""Confusion grammars, and `smt cdlm grammar`."""

from __future__ import annotations
