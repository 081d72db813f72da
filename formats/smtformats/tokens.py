"""What the fields of all text formats are made of: words, ids, numbers, names; and what is wrong with one."""

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
    """What is wrong inside a field; the caller knows which line and field it is."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expected, found)
        self.expected = expected
        self.found = found


def blanks(text: str) -> list[str]:
    """Split on ASCII blanks only; other Unicode spaces belong to the words."""
    if text.isascii():
        return text.split()
    text = trim(text)
    return _BLANKS.split(text) if text else []


def trim(text: str) -> str:
    """A text without the ASCII blanks around it."""
    return text.strip(_WHITE)


def is_id(text: str) -> bool:
    """Whether this is a whole number of sensible length."""
    return text.isascii() and text.isdigit() and len(text) <= _ID_DIGITS


def is_number(token: str) -> bool:
    """Whether this is a number as toolkits print it."""
    return _NUMBER.fullmatch(token) is not None


def numbers(tokens: Sequence[str], *, what: str = "a finite number") -> list[float]:
    """All tokens as finite numbers, or ``BadField`` naming the first that is none."""
    try:
        values = list(map(float, tokens))
    except ValueError:
        values = [math.nan]
    # The sum is finite only if all are; Python's float also takes `1_0`, `nan` and foreign digits.
    if not math.isfinite(sum(values)) or "_" in (joined := "".join(tokens)) or not joined.isascii():
        for token in tokens:
            if not _NUMBER.fullmatch(token) or not math.isfinite(float(token)):
                raise BadField(what, quote(token))
    return values


def total_of(text: str) -> float:
    """A total score; toolkits print infinite ones when a weight was infinite."""
    token = text.strip(" \t\r\n")
    if token in ("inf", "-inf"):
        return float(token)
    return numbers([token], what="a number as total score")[0]


def vector(name: str, size: int) -> Layout:
    """The names of several values: the name itself for a single one."""
    return (name,) if size == 1 else tuple(f"{name}[{k}]" for k in range(size))


class Layouts:
    """Shares one tuple of names among all hypotheses that have the same features."""

    def __init__(self) -> None:
        self._known: dict[Layout, Layout] = {}

    def share(self, names: Layout) -> Layout:
        """The shared tuple for these names; a name that stands twice in a line is an error."""
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
