"""A table of sentences with ids in tab-separated columns (read only).

    id	source	reference
    seg-0	ein Haus	a house
    seg-1	das Haus	the house

The first line names the columns: ``id``, and sources and references by the names of ``jsonl-corpus``; all others are
kept as attributes. Without such a line there are two columns: the id, a word that contains a digit, and a text, which
may be a source or a reference. Ids are unique; n-best lists are joined with these sentences by id, in any order.
Nothing is quoted or escaped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from smtformats.corpus.jsonl import REFERENCES, SOURCES, TEXTS
from smtformats.corpus.segments import Ids, Segment, Side
from smtformats.errors import quote
from smtformats.files import BOM, Lines
from smtformats.format import Format, first_lines
from smtformats.tokens import blanks, is_id, is_number

NAME = "tsv-sentences"
_ID = "id"
_FAIRSEQ = tuple(f"{kind}-" for kind in "STHDPA")


def parse(lines: Lines) -> Iterator[Segment]:
    """Parse one sentence at a time."""
    stream = iter(lines)
    first = next(stream, None)
    if first is None:
        return
    first = first.removeprefix(BOM)
    names = _header(cells(first))
    ids = Ids(lines)
    columns = names or [_ID, "text"]
    used, side = _texts(columns)
    key = columns.index(_ID)
    for line in stream if names else itertools.chain([first], stream):
        row = cells(line)
        if len(row) != len(columns):
            expected = f"{len(columns)} columns, {', '.join(columns)}"
            raise lines.error(expected, str(len(row)), min(len(row), len(columns)) + 1)
        if not row[key] or (not names and not _is_key(row[key])):
            raise lines.error("an id", quote(row[key]), key + 1)
        number, own = ids.place(row[key])
        texts = [row[at] for at in used]
        rest = {columns[at]: cell for at, cell in enumerate(row) if at not in (*used, key)}
        yield Segment(texts[0], tuple(texts[1:]), rest, number, line, NAME, lines.number, own, side)


def cells(line: str) -> list[str]:
    """The columns of a line."""
    return line.removesuffix("\n").removesuffix("\r").split("\t")


def _header(row: Sequence[str]) -> list[str]:
    """The column names in the first line, an empty list if it has none."""
    names = [cell.strip().lower() for cell in row]
    known = any(name in (*SOURCES, *REFERENCES, *TEXTS) for name in names)
    return names if names.count(_ID) == 1 and known and len(set(names)) == len(names) else []


def _texts(names: Sequence[str]) -> tuple[list[int], Side]:
    """The columns of the source (if any) and of the references, and the side of the first one."""
    source = [at for at, name in enumerate(names) if name in SOURCES][:1]
    references = [at for at, name in enumerate(names) if name in REFERENCES]
    if source or references:
        return source + references, "source" if source else "reference"
    return [at for at, name in enumerate(names) if name in TEXTS][:1], "text"


def _is_key(cell: str) -> bool:
    """Whether a cell is an id: a single word with a digit, but not a fractional number."""
    return len(blanks(cell)) == 1 and any(map(str.isdigit, cell)) and (is_id(cell) or not is_number(cell))


def matches(head: bytes) -> bool:
    """Match a line of column names, or two columns: unique ids and words."""
    if b"\t" not in head or b"\0" in head:
        return False
    rows = [cells(line) for line in first_lines(head.removeprefix(BOM.encode()))]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        return False
    if _header(rows[0]):
        return True
    keys = [row[0] for row in rows]
    words = [any(map(str.isalpha, row[-1])) and "|||" not in row[-1] and "=" not in row[-1] for row in rows]
    return (
        len(rows[0]) == 2
        and all(map(_is_key, keys))
        and len(set(keys)) == len(keys)
        and not any(key.startswith(_FAIRSEQ) for key in keys)
        and 2 * sum(words) > len(rows)
    )


FORMAT = Format(
    name=NAME,
    kind="corpus",
    summary="sentences with ids in tab-separated columns: id, source, reference",
    matches=matches,
    parse=parse,
    suffixes=(".tsv",),
    example="id\tsource\treference\nseg-0\tein haus\ta house\n",
)
