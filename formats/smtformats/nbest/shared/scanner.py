"""Load n-best lists with the native scanner; from a line it cannot read on, the Python parser takes over."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import BinaryIO

from smtformats._scan import ListScanner
from smtformats.candidates import Candidates
from smtformats.errors import FormatError
from smtformats.files import Lines
from smtformats.list_columns import ListColumns
from smtformats.nbest.shared.fields import Grouper
from smtformats.pieces import pieces, stream_of

Rest = Callable[[Lines, Grouper, "ListColumns"], Iterator[Candidates]]
"""Parse the remaining lines: the grouper may hold a list already begun, the columns hold all lists before it."""


def load_lists(stream: BinaryIO, name: str, max_bytes: int, dialect: str, origin: str, rest: Rest) -> ListColumns:
    """Load all lists of a file as columns."""
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
    lines = Lines(stream_of(itertools.chain([unread], more)), name, max_bytes=max_bytes)
    lines.number = number
    group = Grouper(lines, origin)
    if len(columns):
        last = columns[-1]
        group.current = replace(last, raw=[""] * len(last))
        group.count = len(columns.texts)
        group.known = dict(zip(map(int, columns.ids), columns.lines.tolist(), strict=True))
    following = rest(lines, group, columns)
    # Parse the first list now: a bad line raises before the lists in front of it are gathered again.
    under_way = next(following)
    before = (columns[k] for k in range(len(columns) - 1))
    return ListColumns.from_lists(itertools.chain(before, [under_way], following))
