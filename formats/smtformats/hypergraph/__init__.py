"""Formats of hypergraphs and lattices, one module per format."""
