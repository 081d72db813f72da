"""The source sides of the lines of tables, found without parsing the rest: what ``source`` of a format returns.

It is the number of bytes that tell the source side, from the beginning of the line, and the symbols: words, and None
for a gap. A line that begins with the same bytes has the same source side. It is None for a line that is spelt in an
unusual way: then the format's ``parse`` tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Symbols = tuple[bytes | None, ...]
SourceSide = tuple[int, Symbols]
_BAR = b"|||"
_NEEDS_BLANKS = re.compile(rb"(?<![^ \t])\|\|\|[ \t]")


def blank_separated(text: bytes) -> list[bytes]:
    """The tokens of a field, which blanks and tabs separate."""
    return [token for token in text.replace(b"\t", b" ").split(b" ") if token]


def first_field(line: bytes) -> SourceSide | None:
    """The words before the first bar, which may have no blanks around it."""
    end = line.find(_BAR)
    words = blank_separated(line[:end]) if end >= 0 else []
    return (end + len(_BAR), tuple(words)) if words else None


def until_bar(line: bytes, start: int, is_gap: Callable[[bytes], bool]) -> SourceSide | None:
    """The symbols from ``start`` to the next bar with blanks around it."""
    bar = _NEEDS_BLANKS.search(line, start)
    tokens = blank_separated(line[start : bar.start()]) if bar is not None else []
    if bar is None or not tokens:
        return None
    return bar.end(), tuple([None if token[0] == 0x5B and is_gap(token) else token for token in tokens])
