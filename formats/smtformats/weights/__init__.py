"""Weights: one ``dict`` of name to value; component i of a vector feature is ``Name[i]``."""
