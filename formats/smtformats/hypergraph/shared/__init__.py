"""What several hypergraph formats share. A format itself is a module of `smtformats.hypergraph`."""

from __future__ import annotations
