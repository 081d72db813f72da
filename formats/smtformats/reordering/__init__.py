"""Formats of reordering models, a module each."""
