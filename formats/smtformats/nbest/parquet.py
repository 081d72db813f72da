"""N-best lists as a Parquet file, for data frames and datasets; needs pyarrow (``smtplugins[parquet]``).

The columns are those of ``tsv-nbest``: ``id``, ``rank`` (from 1), ``text``, ``total``, ``source``, a column of doubles
for each feature and a column of strings, ``extra.NAME``, for each extra field. A value that a hypothesis lacks is null.
All lists are held in memory, as arrays, until the last is there. Tables with other columns are read by the options of
``tsv-nbest``: ``--from parquet-nbest,id=seg,text=hyp,total=score`` (also ``rank=``, ``source=`` and
``rows=sentences``).
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from smtformats.candidates import Candidates
from smtformats.errors import FormatError
from smtformats.files import Lines
from smtformats.format import Format, Number, shortest
from smtformats.list_columns import ListColumns
from smtformats.nbest.shared.table import EXTRA, FEATURE, FIRST, SOURCE, Named, lists_of_rows, spell_column
from smtformats.tokens import BadField

if TYPE_CHECKING:
    from smtformats.columns import Columns

NAME = "parquet-nbest"


def parse(
    lines: Lines,
    *,
    id: str | None = None,
    rank: str | None = None,
    text: str | None = None,
    total: str | None = None,
    source: str | None = None,
    rows: Literal["lists", "sentences"] = "lists",
) -> Iterator[Candidates]:
    """Parse one list at a time; the first five options name the columns of a table that others wrote."""
    parquet = _library().parquet
    named = Named({"id": id, "rank": rank, "text": text, "total": total, "source": source}, rows=rows)
    try:
        file = parquet.ParquetFile(io.BytesIO(lines.stream.read()))
        yield from lists_of_rows(file.schema_arrow.names, _rows(file), lines, named)
    except BadField as bad:
        raise lines.locate(bad, 1) from None
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, FormatError):
            raise
        raise lines.error("a complete Parquet file", str(error).split("\n", 1)[0], 1, 1) from None


def _rows(file: Any) -> Iterator[tuple[int, list[str | None]]]:
    """The cells of each row, as text, and its number."""
    count = 0
    for batch in file.iter_batches():
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            count += 1
            yield count, [_cell(value) for value in row]


def _cell(value: Any) -> str | None:
    """A value as text; a whole number has no fraction, so that ids of a column of doubles are those of references."""
    if value is None or value != value:  # NaN
        return None
    return shortest(value) if isinstance(value, float) else str(value)


def _library() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise FormatError("the package pyarrow (pip install 'smtplugins[parquet]')", "none", file=NAME) from None
    return pyarrow


def write(lists: Iterable[Candidates], out: BinaryIO, number: Number) -> int:
    """Write one table; returns the number of lists. Numbers are stored as they are, whatever ``number``."""
    pyarrow = _library()
    import numpy as np

    totals = array("d")
    there = bytearray()

    def passing() -> Iterator[Candidates]:
        for nbest in lists:
            totals.extend([0.0] * len(nbest) if nbest.totals is None else nbest.totals)
            there.extend(bytes([nbest.totals is not None]) * len(nbest))
            yield nbest

    columns = ListColumns.from_lists(passing())
    sizes = np.diff(columns.offsets)
    lists_of = np.repeat(np.arange(len(columns)), sizes)
    ids, sources = (pyarrow.array(column, pyarrow.string()) for column in (columns.ids, columns.sources))
    ranks = np.arange(len(lists_of)) - np.repeat(columns.offsets[:-1], sizes) + 1
    known = np.frombuffer(bytes(there), dtype=bool)
    values: list[Any] = [
        ids.take(pyarrow.array(lists_of)),
        pyarrow.array(ranks, pyarrow.int32()),
        pyarrow.array(columns.texts[:], pyarrow.string()),
        pyarrow.array(np.array(totals), mask=~known),
    ]
    table = dict(zip(FIRST, values, strict=True))
    if any(source is not None for source in columns.sources):
        table[SOURCE] = sources.take(pyarrow.array(lists_of))
    for name, column, lacking in _features(columns.features):
        table[spell_column((FEATURE, name))] = pyarrow.array(column, mask=lacking)
    for name, texts in columns.extras.items():
        cells = [text or None for text in texts[:]]
        table[spell_column((EXTRA, name))] = pyarrow.array(cells, pyarrow.string())
    if len(columns):
        pyarrow.parquet.write_table(pyarrow.table(table), out)
    return len(columns)


def _features(columns: Columns) -> Iterator[tuple[str, Any, Any]]:
    """Each feature's name, its values by hypothesis, and where it lacks."""
    import numpy as np

    count = len(columns.offsets) - 1
    rows = np.repeat(np.arange(count), np.diff(columns.offsets))
    order = np.argsort(columns.ids, kind="stable")
    ends = np.cumsum(np.bincount(columns.ids, minlength=len(columns.names)))
    for k, name in enumerate(columns.names):
        chosen = order[ends[k - 1] if k else 0 : ends[k]]
        values, lacking = np.zeros(count), np.ones(count, dtype=bool)
        values[rows[chosen]] = columns.values[chosen]
        lacking[rows[chosen]] = False
        yield name, values, lacking


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="a Parquet file with the columns of tsv-nbest (needs pyarrow)",
    matches=lambda head: head.startswith(b"PAR1"),
    parse=parse,
    write=write,
    suffixes=(".parquet",),
    carries=frozenset("*"),
    binary=True,
)
