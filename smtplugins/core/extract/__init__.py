"""Count phrase pairs and hierarchical rules of word-aligned text, on disk when they exceed the memory limit."""

from __future__ import annotations
