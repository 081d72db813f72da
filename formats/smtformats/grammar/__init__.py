"""Formats of grammars and phrase tables: synchronous rules with features, as records and as columns."""
