"""The features `blm`, `tsrb` and `cdlm`, and word classes for them."""

from __future__ import annotations
