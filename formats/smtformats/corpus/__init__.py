"""Corpora: a stream of sentences."""
