"""Synchronous grammars and reordering tables in memory, and parsing with them."""

from __future__ import annotations
