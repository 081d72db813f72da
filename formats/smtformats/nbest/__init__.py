"""N-best lists: a stream of :class:`smtformats.Candidates`, one sentence at a time."""
