"""Code shared by several n-best formats. The formats themselves are modules of `smtformats.nbest`."""

from __future__ import annotations
