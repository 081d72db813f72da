"""Parses of sentences: constituency trees (:mod:`smtformats.tree.trees`) and dependencies (``dependencies``)."""
