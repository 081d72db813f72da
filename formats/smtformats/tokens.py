"""Words, ids, numbers and feature names in the fields of text formats, and the error for a bad field."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from smtformats.candidates import Layout
from smtformats.errors import quote

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHITE = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"  # where str.split() cuts an ASCII text
_BLANKS = re.compile(f"[{_WHITE}]+")
_KEPT_LAYOUTS = 4096
_ID_DIGITS = 18


class BadField(Exception):
    """A malformed field; the caller adds the file and line, and the number of the field unless ``field`` tells it."""

    def __init__(self, expected: str, found: str, field: int | None = None) -> None:
        super().__init__(expected, found)
        self.expected = expected
        self.found = found
        self.field = field


def blanks(text: str) -> list[str]:
    """Split a text at ASCII blanks; other Unicode spaces are part of the words."""
    if text.isascii():
        return text.split()
    text = trim(text)
    return _BLANKS.split(text) if text else []


def words(text: str) -> list[str]:
    """The words of a line of text, for all that reads text: alignment, extraction, language models and decoders.

    Words end at ASCII blanks and at NUL, as in ``base/word_bytes.hpp``; other Unicode spaces are part of the words.
    """
    return blanks(text.replace("\0", " ") if "\0" in text else text)


def trim(text: str) -> str:
    """Strip the ASCII blanks around a text."""
    return text.strip(_WHITE)


def is_id(text: str) -> bool:
    """Whether the text is a whole number of at most 18 digits."""
    return text.isascii() and text.isdigit() and len(text) <= _ID_DIGITS


def normal_id(text: str) -> str:
    """Normalise an id for comparison: 07 is 7."""
    return str(int(text)) if is_id(text) else text


def is_number(token: str) -> bool:
    """Whether the token is a number as toolkits print it."""
    return _NUMBER.fullmatch(token) is not None


def numbers(tokens: Sequence[str], *, what: str = "a finite number") -> list[float]:
    """Parse finite numbers; ``BadField`` names the first token that is not one."""
    try:
        values = list(map(float, tokens))
    except ValueError:
        values = [math.nan]
    # The sum is finite only if all are. Python's float also accepts `1_0`, `nan` and non-ASCII digits.
    if not math.isfinite(sum(values)) or "_" in (joined := "".join(tokens)) or not joined.isascii():
        for token in tokens:
            if not _NUMBER.fullmatch(token) or not math.isfinite(float(token)):
                raise BadField(what, quote(token))
    return values


def total_of(text: str) -> float:
    """Parse a total score, which may be ``inf`` or ``-inf``: toolkits print these when a weight is infinite."""
    token = text.strip(" \t\r\n")
    if token in ("inf", "-inf"):
        return float(token)
    return numbers([token], what="a number as total score")[0]


def vector(name: str, size: int) -> Layout:
    """The names of a vector's components, ``NAME[0] NAME[1] ...``; ``NAME`` itself if there is one component."""
    return (name,) if size == 1 else tuple(f"{name}[{k}]" for k in range(size))


class Layouts:
    """Share one tuple of feature names among all hypotheses that have the same features."""

    def __init__(self) -> None:
        self._known: dict[Layout, Layout] = {}

    def share(self, names: Layout) -> Layout:
        """The shared tuple for these names; a duplicate name raises ``BadField``."""
        known = self._known.get(names)
        if known is not None:
            return known
        if len(set(names)) != len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise BadField("each feature once", f"{quote(twice)} twice")
        if len(self._known) >= _KEPT_LAYOUTS:
            self._known.clear()
        self._known[names] = names
        return names
