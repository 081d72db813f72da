"""Formats of derivations: the rules a translation used, as trees."""
