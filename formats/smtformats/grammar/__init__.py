"""Grammars: synchronous rules with features, as records and as columns."""
