"""Tuning data: a stream of :class:`smtformats.tuning.blocks.Block`, a sentence's list each."""
