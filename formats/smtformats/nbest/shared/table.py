"""Columns of tables of n-best lists: their names, and the texts in their cells."""

from __future__ import annotations

import re
from collections.abc import Mapping

from smtformats.candidates import Candidates
from smtformats.errors import quote
from smtformats.tokens import BadField

FIRST = ("id", "rank", "text", "total")
SOURCE = "source"
FEATURE, EXTRA = "feature", "extra"
_PREFIXES = (f"{FEATURE}.", f"{EXTRA}.")
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_MEANINGS = {spelled[1]: char for char, spelled in _ESCAPES.items()}
_ESCAPED = re.compile(r"[\\\t\n\r]")
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)

Key = tuple[str, str]
"""A column: its kind (``feature``, ``extra`` or ``source``) and its name."""


def spell_column(key: Key) -> str:
    """The name of a column: ``extra.`` stands before extra fields, ``feature.`` before features that need it."""
    kind, name = key
    if kind == SOURCE:
        return SOURCE
    plain = kind == FEATURE and name not in (*FIRST, SOURCE) and not name.startswith(_PREFIXES)
    return name if plain else f"{kind}.{name}"


def column_of(name: str) -> Key:
    """The column of a name."""
    if name == SOURCE:
        return SOURCE, ""
    kind, point, rest = name.partition(".")
    return (kind, rest) if point and kind in (FEATURE, EXTRA) else (FEATURE, name)


def texts_of(nbest: Candidates, i: int) -> Mapping[Key, str]:
    """The source and the extra fields of a hypothesis, without empty ones."""
    texts = {(EXTRA, name): column[i] for name, column in nbest.extras.items() if column[i]}
    return {(SOURCE, ""): nbest.source, **texts} if nbest.source else texts


def escape(text: str) -> str:
    """A text without tabs and line breaks."""
    return _ESCAPED.sub(lambda match: _ESCAPES[match[0]], text) if _ESCAPED.search(text) else text


def unescape(text: str) -> str:
    """The text in a cell."""
    return _ESCAPE.sub(_meaning, text) if "\\" in text else text


def _meaning(match: re.Match[str]) -> str:
    if match[1] not in _MEANINGS:
        raise BadField(r"\\, \t, \n or \r (a backslash is \\)", quote(match[0]))
    return _MEANINGS[match[1]]
