r"""Sentences and their translations in tab-separated columns: output of ``paste``, Moses' tabbed input.

    ein haus	a house
    ein haus	a house	one house

The first column is the source, the others are references. Nothing is quoted or escaped: ``"`` is part of a word. A
sentence without references is written with an empty column. The format ``cdec-corpus`` writes pairs as
``ein haus ||| a house``, for fast_align; ``tsv-sentences`` reads tables with ids.

A file that begins with a line of column names is refused: it would be a sentence. Errors: a line with more or fewer
columns than the first and, on writing, a text with tabs or line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.corpus.segments import Segment, segments
from smtformats.corpus.table import cells
from smtformats.corpus.table import matches as have_ids
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.tokens import BadField, blanks
from smtformats.writing import own, write_each

NAME = "tsv-corpus"
_FAIRSEQ = re.compile(r"[STHDPA]-[0-9]+")


def parse(lines: Lines) -> Iterator[Segment]:
    """Parse one sentence at a time."""
    width = 0
    for line in lines:
        source, *references = cells(line)
        if not width:
            if not references:
                raise lines.error("a source and a target, with a tab between them", quote(source), 1)
            width = 1 + len(references)
        if 1 + len(references) != width:
            field = min(1 + len(references), width) + 1
            raise lines.error(f"{width} columns, as in line 1", str(1 + len(references)), field)
        yield Segment(source, tuple(references), {}, lines.number - 1, line, NAME, lines.number)


def write(records: Iterable[str | Segment], out: TextIO, number: Number) -> int:
    """Write one sentence per line, unchanged if read by this format; returns their count."""
    width = 0

    def spell(segment: Segment) -> str:
        nonlocal width
        columns = [segment.source, *(segment.references or ("",))]
        width = width or len(columns)
        if len(columns) != width:
            raise BadField(f"{width} columns, as in line 1", str(len(columns)), 1)
        return own(segment, NAME) or _compose(columns)

    return write_each(segments(records), out, spell)


def _compose(columns: list[str]) -> str:
    for field, text in enumerate(columns, 1):
        if "\t" in text or "\n" in text or (field == len(columns) and text[-1:] == "\r"):
            raise BadField("a text without a tab or a line break", quote(text), field)
    return "\t".join(columns) + "\n"


def matches(head: bytes) -> bool:
    """Match lines with the same number of columns, at least two, that hold words: no numbers, no tagged lines."""
    if b"\t" not in head or b"\0" in head or have_ids(head):
        return False
    from smtformats.nbest.shared.table import foreign_header

    if foreign_header(head) is not None:
        return False
    rows = [cells(line) for line in first_lines(head)]
    nonempty = [row for row in rows if blanks(row[0])]
    return (
        2 * len(nonempty) > len(rows)
        and len(rows[0]) > 1
        and all(len(row) == len(rows[0]) for row in rows)
        and all(_are_words(column) for row in rows for column in row)
        and not any(_FAIRSEQ.fullmatch(row[0]) for row in rows)
    )


def _are_words(column: str) -> bool:
    """Whether a column is empty or has a word that is neither a number nor ``name=value``."""
    tokens = blanks(column)
    words = ["=" not in token and any(map(str.isalpha, token)) for token in tokens]
    return "|||" not in column and (not tokens or any(words))


FORMAT = Format(
    name=NAME,
    kind="corpus",
    summary="sentences and their translations in tab-separated columns",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".tsv",),
    carries=frozenset({"references"}),
    example="ein haus\ta house\nein kleines haus\ta small house\n",
)
