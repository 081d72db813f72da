"""Features of partial trees: context-free-factor bounds, the undirected language model, shape."""

from __future__ import annotations
