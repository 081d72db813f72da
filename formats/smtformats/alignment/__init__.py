"""Word alignments: a stream of :class:`smtformats.alignment.links.Alignment`, a sentence pair each."""
