"""Count phrase pairs and hierarchical rules of word-aligned text, on disk when memory is short."""

from __future__ import annotations
