"""The decoder `umt`: trees that grow from any leaf of the forest, and its search task."""

from __future__ import annotations
