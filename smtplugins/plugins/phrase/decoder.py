"""The decoder ``phrase``: stacks of hypotheses over the phrases of a sentence, as in Pharaoh and Moses.

P. Koehn, F. J. Och and D. Marcu, "Statistical Phrase-Based Translation" (2003); P. Koehn, "Pharaoh: a Beam Search
Decoder for Phrase-Based Statistical Machine Translation Models" (2004). The search is core's (``phrase/search.hpp``);
sentences, tables and features are the host's (``host/decode/phrase_decoding.py``), and so are the options
(``host/decode/phrase_options.py``), which other decoders share.
"""

from __future__ import annotations

from smtplugins.contracts.tools.decoding import PhraseDecoder, PhraseOptions, Resources


class StackDecoder(PhraseDecoder):
    """Stacks of hypotheses, by how many source words they have translated."""

    usual_features = tuple(
        "lm lexical-reordering distortion word-penalty phrase-penalty oov,value=-100,tuneable=false".split()
    )

    def __init__(self, *, resources: Resources, options: PhraseOptions) -> None:
        super().__init__(resources, options)
