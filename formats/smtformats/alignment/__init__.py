"""Word alignments: streams of :class:`smtformats.alignment.links.Alignment`, one per sentence pair."""
