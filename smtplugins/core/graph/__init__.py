"""Hypergraphs: columns, storage, inference, intersection.

Searches that build them are in `core.search`, their file formats in `smtformats.hypergraph`.
"""

from __future__ import annotations
