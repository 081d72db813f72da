"""N-best lists as a table for other programs (write only).

    id	rank	text	total	LM0	length
    0	1	a man with a hat	-103.1	-37.1	5

A column for every feature of the first list; a feature that first occurs later is an error naming the remedy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from smtformats.candidates import Candidates
from smtformats.errors import FormatError, quote
from smtformats.format import Format, Number

NAME = "tsv-nbest"


def write(lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
    """Write a header line and a row for each hypothesis; returns the number of lists."""
    count = 0
    columns: dict[str, int] = {}
    for one in lists:
        if not count:
            columns = {name: i for i, name in enumerate(one.names())}
            out.write("\t".join(["id", "rank", "text", "total", *columns]) + "\n")
        for rank, (text, features, total) in enumerate(one.rows(), 1):
            cells = [""] * len(columns)
            for name, value in features.items():
                if name not in columns:
                    raise FormatError(
                        f"the features of the first list ({len(columns)}); sparse lists do not fit a table",
                        quote(name),
                        file=one.file,
                        line=one.line + rank - 1,
                        field=3,
                    )
                cells[columns[name]] = number(value)
            shown = text.replace("\\", "\\\\").replace("\t", "\\t")
            out.write("\t".join([one.id, str(rank), shown, "" if total is None else number(total), *cells]) + "\n")
        count += 1
    return count


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="a table: id, rank, text, total and a column per feature (write only)",
    write=write,
    suffixes=(".tsv",),
)
