"""Pick the best sentence of each confusion set, and `smt cdlm pick`."""

from __future__ import annotations
