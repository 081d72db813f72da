"""Characters and words of raw text that files of sentences, tables and models cannot hold."""

from __future__ import annotations

import re

from smtformats.files import BOM
from smtformats.tokens import words

_INVALID = re.compile("[\0-\x08\x0b\x0c\r\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_REFUSED = re.compile(r"\|\|\||(?<![^ ])(?:\[[^ ]*\]|<s>|</s>|<unk>|<UNK>)(?![^ ])")


def is_clean(line: str) -> bool:
    """Whether a line has no control character, line or paragraph separator, non-character or byte order mark."""
    return line.isprintable() or not (BOM in line or _INVALID.search(line))


def clean_words(line: str) -> list[str]:
    """The words of a line; invalid characters end words, and byte order marks are dropped."""
    # Of the blanks, only the space is printable.
    if line.isprintable():
        return line.split()
    return words(_INVALID.sub(" ", line.replace(BOM, "")))


def needs_escapes(text: str) -> bool:
    """Whether a word of a text is one that tables or language models refuse, or take for a mark of their own.

    These have ``|||``, are in brackets as ``[X]``, or are ``<s>``, ``</s>`` or ``<unk>``.
    """
    return ("[" in text or "|||" in text or "<" in text) and _REFUSED.search(text) is not None
