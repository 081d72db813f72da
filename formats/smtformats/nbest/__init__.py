"""N-best lists: streams of :class:`smtformats.Candidates`, one sentence at a time."""
