r"""N-best lists as a table with tab-separated columns.

    id	rank	text	total	LM0	length
    0	1	a man with a hat	-103.1	-37.1	5

Each feature of the file has a column, in order of first occurrence; a cell is empty if the hypothesis lacks the
feature. The source is the column ``source``, the extra field NAME is ``extra.NAME``; features whose names would be read
as one of these are ``feature.NAME``. Tabs, line breaks and backslashes in texts are ``\t``, ``\n``, ``\r`` and ``\\``.
Rows are kept in a temporary file until all columns are known.

Any table that begins with the columns ``id``, ``rank``, ``text`` and ``total`` is read. The rows of an id follow each
other in the order of their ranks, which may have gaps; a cell of ``total`` is empty if there is none. What a table does
not keep: empty extra fields and sources, and the order of features where hypotheses differ in it.

Options read other tables with a line of column names, in any order, as spreadsheets and data frames write them:
``--from tsv-nbest,id=seg,text=hyp,total=score`` (also ``rank=`` and ``source=``; parts of a list are found by their own
names, too). The best hypothesis has the highest total. Other columns are features if they hold numbers, else extra
fields. ``rows=sentences`` numbers the rows of a table without ids, each a sentence. ``separator=comma`` reads CSV;
``quotes=csv`` or ``quotes=none`` says what a cell is that begins with a quote. Backslashes are part of a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TextIO

from smtformats.candidates import Candidates
from smtformats.errors import quote
from smtformats.files import BOM, Lines
from smtformats.format import Format, Number
from smtformats.nbest.shared.table import (
    EXTRA,
    FEATURE,
    FIRST,
    SOURCE,
    Key,
    Named,
    column_of,
    escape,
    spell_column,
    texts_of,
    unescape,
)
from smtformats.tokens import BadField, Layouts, is_id, numbers, total_of
from smtformats.writing import refusal

NAME = "tsv-nbest"
_HEAD = "\t".join(FIRST)


@dataclass
class _Rows:
    """The rows of one id under way."""

    nbest: Candidates
    key: str
    rank: int = -1
    totals: list[float | None] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)


class _Table:
    """The columns of a table, and the parts of its rows."""

    def __init__(self, header: str) -> None:
        names = _cells(header)
        if tuple(names[: len(FIRST)]) != FIRST:
            at = next(k for k, name in enumerate(FIRST) if names[k : k + 1] != [name])
            raise BadField(f"the columns {', '.join(FIRST)}, then others", quote("\t".join(names)), at + 1)
        self.width = len(names)
        self.origin = f"{NAME} {header}"
        self.columns: dict[int, Key] = {}
        for k in range(len(FIRST), self.width):
            try:
                key = column_of(unescape(names[k]))
            except BadField as bad:
                raise BadField(bad.expected, bad.found, k + 1) from None
            if key in self.columns.values():
                raise BadField("each column once", f"{quote(names[k])} twice", k + 1)
            self.columns[k] = key
        self.features = {k: name for k, (kind, name) in self.columns.items() if kind == FEATURE}
        self.extras = {k: name for k, (kind, name) in self.columns.items() if kind == EXTRA}
        self.source = next((k for k, (kind, _) in self.columns.items() if kind == SOURCE), None)
        self._layouts = Layouts()

    def begin(self, key: str, lines: Lines, first: int) -> _Rows:
        """The list of an id as spelled; ``first`` is the number of hypotheses before it."""
        try:
            name = unescape(key)
        except BadField as bad:
            raise BadField(bad.expected, bad.found, 1) from None
        nbest = Candidates(name, raw=[], origin=self.origin, file=lines.name, line=lines.number, first=first)
        return _Rows(nbest, key)

    def add(self, rows: _Rows, cells: list[str], raw: str) -> None:
        """Add a row to its list."""
        nbest, k = rows.nbest, 1
        try:
            if not is_id(cells[1]) or int(cells[1]) <= rows.rank:
                wanted = "a rank (a whole number)" if rows.rank < 0 else f"a rank after {rows.rank}"
                raise BadField(wanted, quote(cells[1]))
            rows.rank = int(cells[1])
            k = 2
            nbest.texts.append(unescape(cells[2]))
            k = 3
            total = total_of(cells[3]) if cells[3] else None
            if rows.totals and (rows.totals[0] is None) != (total is None):
                raise BadField("a total for all hypotheses of a list or for none", quote(cells[3]))
            rows.totals.append(total)
            there, values = [], []
            for k, name in self.features.items():
                if cells[k]:
                    there.append(name)
                    values.append(numbers([cells[k]])[0])
            if self.source is not None:
                k = self.source
                source = unescape(cells[k]) or None
                if len(nbest.texts) > 1 and source != nbest.source:
                    raise BadField(f"the source of the rows before, {quote(nbest.source or '')}", quote(cells[k]))
                nbest.source = source
            texts = []
            for k in self.extras:
                texts.append(unescape(cells[k]))
        except BadField as bad:
            raise BadField(bad.expected, bad.found, k + 1) from None
        nbest.layouts.append(self._layouts.share(tuple(there)))
        nbest.values.append(values)
        rows.cells.append(texts)
        assert nbest.raw is not None
        nbest.raw.append(raw)

    def finish(self, rows: _Rows) -> Candidates:
        """The complete list."""
        nbest = rows.nbest
        totals = [total for total in rows.totals if total is not None]
        nbest.totals = totals or None
        columns = zip(self.extras.values(), zip(*rows.cells, strict=True), strict=True) if self.extras else ()
        nbest.extras = {name: list(column) for name, column in columns if any(column)}
        return nbest


def parse(
    lines: Lines,
    *,
    id: str | None = None,
    rank: str | None = None,
    text: str | None = None,
    total: str | None = None,
    source: str | None = None,
    rows: Literal["lists", "sentences"] = "lists",
    separator: Literal["tab", "comma"] = "tab",
    quotes: Literal["csv", "none"] | None = None,
) -> Iterator[Candidates]:
    """Parse one list at a time; the first five options name the columns of a table that others wrote."""
    columns = {"id": id, "rank": rank, "text": text, "total": total, "source": source}
    named = Named(columns, separator, quotes, rows)
    return named.parse(lines) if named else _parse_own(lines)


def _parse_own(lines: Lines) -> Iterator[Candidates]:
    """Parse a table with the columns that are written here."""
    stream = iter(lines)
    known: dict[str, int] = {}
    rows: _Rows | None = None
    count = 0
    try:
        table = _Table(lines.next(stream, f"the columns {', '.join(FIRST)}").removeprefix(BOM))
        for line in stream:
            cells = _cells(line)
            if len(cells) != table.width:
                raise BadField(f"{table.width} cells, as in the first line", str(len(cells)), 1)
            if rows is None or cells[0] != rows.key:
                if rows is not None:
                    yield table.finish(rows)
                if known.setdefault(cells[0], lines.number) != lines.number:
                    found = f"{quote(cells[0])} again (first at {lines.name}:{known[cells[0]]})"
                    raise BadField("the rows of an id next to each other", found, 1)
                rows = table.begin(cells[0], lines, count)
            table.add(rows, cells, line)
            count += 1
    except BadField as bad:
        raise lines.locate(bad) from None
    if rows is None:
        raise lines.error("an n-best list", "no hypothesis in the file", 1, line=1)
    yield table.finish(rows)


def _cells(line: str) -> list[str]:
    return line.removesuffix("\n").removesuffix("\r").split("\t")


class _Writer:
    """Rows by column, while columns are added."""

    def __init__(self) -> None:
        self.columns: dict[Key, int] = {}
        self.names: list[str] = []
        self.header: str | None = None
        self._origin = ""
        self._keys: list[Key] = []

    def row(self, nbest: Candidates, i: int, number: Number) -> str:
        """A row with a cell for each column so far, and its end."""
        if nbest.raw is None or not nbest.origin.startswith(f"{NAME} "):
            return self._composed(nbest, i, number)
        if nbest.origin != self._origin:
            self._know(nbest.origin)
        raw = nbest.raw[i]
        old = _cells(raw)
        cells = dict(zip(self._keys, old[len(FIRST) :], strict=True))
        first = old[: len(FIRST)]
        if nbest.ranks is not None and nbest.ranks != list(range(len(nbest))):
            first[1] = str(i + 1)
        if nbest.rescored and nbest.totals is not None:
            first[3] = number(nbest.totals[i])
        kept = len(nbest.layouts[i]) if nbest.original is None else nbest.original[i]
        for name, value in zip(nbest.layouts[i][kept:], nbest.values[i][kept:], strict=True):
            cells[FEATURE, name] = number(value)
        for key, text in texts_of(nbest, i).items():
            if unescape(cells.get(key, "")) != text:
                cells[key] = escape(text)
        return self._joined(first, cells) + raw[len("\t".join(old)) :]

    def _know(self, origin: str) -> None:
        """Take over the columns of a table that was read."""
        self._origin = origin
        header = origin[len(NAME) + 1 :]
        self.header = header if self.header is None else self.header
        names = _cells(header)[len(FIRST) :]
        self._keys = [column_of(unescape(name)) for name in names]
        for key, name in zip(self._keys, names, strict=True):
            self._place(key, name)

    def _composed(self, nbest: Candidates, i: int, number: Number) -> str:
        text, features, total = nbest[i]
        first = [escape(nbest.id), str(i + 1), escape(text), "" if total is None else number(total)]
        texts = {key: escape(value) for key, value in texts_of(nbest, i).items()}
        source = {key: value for key, value in texts.items() if key[0] == SOURCE}
        cells = {**source, **{(FEATURE, name): number(value) for name, value in features.items()}, **texts}
        return self._joined(first, cells) + "\n"

    def _place(self, key: Key, name: str) -> int:
        if key not in self.columns:
            self.columns[key] = len(self.columns)
            self.names.append(name)
        return self.columns[key]

    def _joined(self, first: Sequence[str], cells: dict[Key, str]) -> str:
        places = {key: self._place(key, escape(spell_column(key))) for key in cells}
        row = [""] * len(self.columns)
        for key, text in cells.items():
            row[places[key]] = text
        return "\t".join([*first, *row])

    def head(self) -> str:
        """The first line."""
        names = "\t".join([*FIRST, *self.names])
        if self.header is None:
            return names + "\n"
        old = "\t".join(_cells(self.header))
        return names + (self.header[len(old) :] or "\n")


def write(lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
    """Write a header line and a row for each hypothesis; returns the number of lists."""
    import tempfile

    count = 0
    writer = _Writer()
    last = "\n"
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as waiting:
        for nbest in lists:
            for i in range(len(nbest)):
                try:
                    row = writer.row(nbest, i, number)
                except BadField as bad:
                    raise refusal(bad, nbest) from None
                last = row[-1]
                waiting.write(row if last == "\n" else row + "\n")
            count += 1
        if count:
            out.write(writer.head())
        width = len(FIRST) + len(writer.columns)
        waiting.seek(0)
        held = ""
        for line in waiting:
            # Pad with the columns that appeared after this row was written.
            body = line[:-1].removesuffix("\r")
            out.write(held + body + "\t" * (width - 1 - body.count("\t")))
            held = line[len(body) :]
        out.write(held if last == "\n" else held[:-1])
    return count


def matches(head: bytes) -> bool:
    """Match the names of the first columns."""
    text = head.decode("utf-8", "ignore").removeprefix(BOM)
    return text.startswith(_HEAD) and text[len(_HEAD) : len(_HEAD) + 1] in ("", "\t", "\r", "\n")


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="a table: id, rank, text, total, the source, a column for each feature and extra field",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".tsv",),
    carries=frozenset("*"),
    fallback=-1,
    example="id\trank\ttext\ttotal\tLM0\n0\t1\ta house\t-3.5\t-3.5\n",
)
