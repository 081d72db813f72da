"""Formats of reordering models, one module per format."""
