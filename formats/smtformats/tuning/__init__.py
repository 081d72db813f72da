"""Tuning data: streams of :class:`smtformats.tuning.blocks.Block`, the hypotheses of one sentence each."""
