"""Code shared by several grammar formats. The formats themselves are modules of `smtformats.grammar`."""

from __future__ import annotations
