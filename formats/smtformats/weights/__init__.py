"""Feature weights: a ``dict`` from name to value; component i of a vector feature is ``Name[i]``."""
