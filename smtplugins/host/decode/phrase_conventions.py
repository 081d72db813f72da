"""What phrase decoders alone do with sentences: tags in them, and words without a phrase of their own."""

from __future__ import annotations

from dataclasses import dataclass

PASS_THROUGH, IGNORE, EXCLUSIVE, INCLUSIVE, CONSTRAINT = MODES = (
    "pass-through",
    "ignore",
    "exclusive",
    "inclusive",
    "constraint",
)
"""What becomes of tags (``host/decode/markup.py``): Moses' words for it."""


@dataclass(frozen=True)
class PhraseConventions:
    """``reorders`` says whether the search may do what a tag forbids.

    Unknown words are copied. With ``drop_unknown`` those without a digit are left out, as in Moses. With
    ``mark_unknown`` they are given out between ``unknown_prefix`` and ``unknown_suffix``, which features do not see.
    """

    xml: str = PASS_THROUGH
    reorders: bool = True
    drop_unknown: bool = False
    mark_unknown: bool = False
    unknown_prefix: str = "UNK"
    unknown_suffix: str = ""

    def target(self, word: str) -> str:
        """What an unknown word is translated as."""
        return "" if self.drop_unknown and not any(one in "0123456789" for one in word) else word

    def shown(self, word: str) -> str:
        """How its translation is given out."""
        return f"{self.unknown_prefix}{word}{self.unknown_suffix}"


AS_WRITTEN = PhraseConventions()
"""Tags are words, and unknown words are copied."""
