"""The native scanner for lists. With what it leaves (rare spellings, bad lines) the parser of records goes on."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

from smtformats.candidates import Candidates
from smtformats.errors import FormatError
from smtformats.files import Lines
from smtformats.grammar.pieces import pieces
from smtformats.nbest.fields import Grouper

if TYPE_CHECKING:
    from smtformats.columns import ListColumns

Rest = Callable[[Lines, Grouper, "ListColumns"], Iterator[Candidates]]
"""The lists from a line on, the first of which may be under way in the grouper, behind those in the columns."""


class _Unread(io.RawIOBase):
    """What a scanner left of its input, and the pieces to come."""

    def __init__(self, left: bytes, more: Iterator[bytes]) -> None:
        self._pieces = itertools.chain([left], more)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def load_lists(stream: BinaryIO, name: str, max_bytes: int, dialect: str, origin: str, rest: Rest) -> ListColumns:
    """All lists of a file as columns."""
    from smtformats._scan import ListScanner
    from smtformats.columns import ListColumns

    scanner = ListScanner(dialect, max_bytes)
    more = pieces(stream)
    try:
        sound = all(map(scanner.feed, more)) and scanner.finish()
    except EOFError as error:
        line = scanner.lines + 1
        raise FormatError("a complete compressed file", str(error), file=name, line=line, field=1) from error
    number, unread = scanner.fault()
    columns = ListColumns.of(scanner.columns(), name)
    if sound and len(columns):
        return columns
    lines = Lines(io.BufferedReader(_Unread(unread, more)), name, max_bytes=max_bytes)
    lines.number = number
    group = Grouper(lines, origin)
    if len(columns):
        last = columns[-1]
        group.current = replace(last, raw=[""] * len(last))
        group.count = len(columns.texts)
    following = rest(lines, group, columns)
    # A bad line speaks up before the lists in front of it are gathered once more.
    under_way = next(following)
    before = (columns[k] for k in range(len(columns) - 1))
    return ListColumns.from_lists(itertools.chain(before, [under_way], following))
