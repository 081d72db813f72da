"""Items and labels of word-aligned sentence pairs, the translation table, and `smt searn label`."""

from __future__ import annotations
