"""Code shared by several hypergraph formats. The formats themselves are modules of `smtformats.hypergraph`."""

from __future__ import annotations
