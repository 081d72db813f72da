"""Derivations of translations: the rules that were used and where, node by node."""
