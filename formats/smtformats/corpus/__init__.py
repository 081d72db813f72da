"""Corpora: streams of sentences, as strings or as :class:`smtformats.corpus.segments.Segment`."""
