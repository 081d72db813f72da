"""N-best lists as a table with tab-separated columns (write only).

    id	rank	text	total	LM0	length
    0	1	a man with a hat	-103.1	-37.1	5

Each feature of the file has a column, in order of first occurrence; a cell is empty if the hypothesis lacks the
feature. Rows are kept in a temporary file until all feature names are known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from smtformats.candidates import Candidates
from smtformats.format import Format, Number

NAME = "tsv-nbest"
_FIRST = ["id", "rank", "text", "total"]


def write(lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
    """Write a header line and a row for each hypothesis; returns the number of lists."""
    import tempfile

    count = 0
    columns: dict[str, int] = {}
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as waiting:
        for nbest in lists:
            for rank, (text, features, total) in enumerate(nbest.rows(), 1):
                for name in features:
                    columns.setdefault(name, len(columns))
                cells = [""] * len(columns)
                for name, value in features.items():
                    cells[columns[name]] = number(value)
                shown = text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
                row = [nbest.id, str(rank), shown, "" if total is None else number(total), *cells]
                waiting.write("\t".join(row) + "\n")
            count += 1
        if count:
            out.write("\t".join([*_FIRST, *columns]) + "\n")
        width = len(_FIRST) + len(columns)
        waiting.seek(0)
        for line in waiting:
            # Pad with the columns that appeared after this row was written.
            out.write(line[:-1] + "\t" * (width - 1 - line.count("\t")) + "\n")
    return count


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="a table: id, rank, text, total and a column per feature (write only)",
    write=write,
    suffixes=(".tsv",),
)
