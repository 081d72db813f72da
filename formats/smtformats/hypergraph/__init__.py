"""Formats of hypergraphs and lattices, a module each."""
