"""Columns of tables of n-best lists: their names, the texts in their cells, and tables of others with other names."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from smtformats.candidates import Candidates
from smtformats.errors import FormatError, quote
from smtformats.files import BOM, Lines
from smtformats.format import first_lines
from smtformats.tokens import BadField, Layouts, is_id, is_number, normal_id, numbers, total_of

FIRST = ("id", "rank", "text", "total")
SOURCE = "source"
FEATURE, EXTRA = "feature", "extra"
_PARTS = ("id", "rank", "text", "total", "source")
_TEXTS = frozenset(
    "candidate hyp hypothesis hypotheses mt output pred prediction predictions ref reference references sentence "
    "source src target text tgt translation translations".split()
)
_OTHERS = frozenset(
    "doc doc_id id idx index lang logprob lp rank score seg seg_id segment segment_id sent_id sentence_id sid system "
    "total utt utt_id".split()
)
_LISTS = frozenset("candidate hyp hypothesis hypotheses mt output pred prediction predictions translation".split())
_SEPARATORS = {"tab": "\t", "comma": ","}
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


@dataclass(frozen=True)
class Named:
    """The columns that hold the parts of a list, where they have other names, and how a table is written.

    ``rows=sentences``: each row is a list of one hypothesis, numbered from 0.
    """

    columns: Mapping[str, str | None]
    separator: Literal["tab", "comma"] = "tab"
    quotes: Literal["csv", "none"] | None = None
    rows: Literal["lists", "sentences"] = "lists"

    def __bool__(self) -> bool:
        return any(self.columns.values()) or (self.separator, self.quotes, self.rows) != ("tab", None, "lists")

    def parse(self, lines: Lines) -> Iterator[Candidates]:
        """Parse the lists of a table."""
        try:
            rows = self._cells(lines)
            names = next(rows, None)
            if names is None:
                raise BadField("a line of column names", "an empty file", 1)
            yield from lists_of_rows(names, ((lines.number, row) for row in rows), lines, self)
        except BadField as bad:
            raise lines.locate(bad, 1) from None

    def _cells(self, lines: Lines) -> Iterator[list[str]]:
        separator = _SEPARATORS[self.separator]
        stream = (line.removeprefix(BOM) if lines.number == 1 else line for line in lines)
        if (self.quotes or ("csv" if self.separator == "comma" else "none")) == "csv":
            try:
                yield from csv.reader(stream, delimiter=separator, strict=True)
            except csv.Error as error:
                raise BadField("cells with quotes around them or none (quotes=csv)", str(error)) from None
            return
        for line in stream:
            cells = line.removesuffix("\n").removesuffix("\r").split(separator)
            if self.quotes is None and any(cell.startswith('"') for cell in cells):
                cell = next(cell for cell in cells if cell.startswith('"'))
                expected = 'the option quotes=csv (as pandas and R write texts) or quotes=none (`"` is part of a text)'
                raise BadField(expected, quote(cell))
            yield cells


@dataclass
class _Under:
    """The list under way."""

    nbest: Candidates
    key: str
    rank: int = -1
    totals: list[float | None] = field(default_factory=list)
    extras: list[dict[str, str]] = field(default_factory=list)

    def made(self) -> Candidates:
        """The complete list."""
        nbest = self.nbest
        if len({total is None for total in self.totals}) > 1:
            found = f"none for hypothesis {self.totals.index(None) + 1}"
            raise FormatError(
                "a total for all hypotheses of a list or for none", found, file=nbest.file, line=nbest.line
            )
        nbest.totals = [total for total in self.totals if total is not None] or None
        names = dict.fromkeys(name for row in self.extras for name in row)
        nbest.extras = {name: [row.get(name, "") for row in self.extras] for name in names}
        return nbest


def lists_of_rows(
    names: Sequence[str], rows: Iterable[tuple[int, Sequence[str | None]]], lines: Lines, named: Named
) -> Iterator[Candidates]:
    """The lists in rows, given with their lines. Other columns are features if they hold numbers, else extra fields."""
    places = _places(names, named)
    kinds: dict[int, str] = {}
    layouts, under, known = Layouts(), None, dict[str, int]()
    for count, (line, cells) in enumerate(rows):
        lines.number = line
        if "text" in places and len(cells) == len(names) and cells[places["text"]] is None:
            raise BadField("a text", "null", places["text"] + 1)
        row = [cell or "" for cell in cells]
        if len(row) != len(names):
            raise BadField(f"{len(names)} cells, as in the first line", str(len(row)), min(len(row), len(names)) + 1)
        part = {name: row[at] for name, at in places.items()}
        key = part["id"] if named.rows == "lists" else str(count)
        if under is None or key != under.key:
            if under is not None:
                yield under.made()
            if not key:
                raise BadField("an id", "an empty cell", places["id"] + 1)
            before = known.setdefault(normal_id(key), line)
            if before != line:
                raise BadField(
                    "the rows of an id next to each other", f"{quote(key)} again (first in line {before})", 1
                )
            under = _Under(Candidates(key, file=lines.name, line=line, first=count), key)
            under.nbest.source = part.get("source") or None
        _add(under, part, names, row, places, kinds, layouts)
    if under is None:
        raise lines.error("an n-best list", "no hypothesis in the file", 1, line=1)
    yield under.made()


def _add(
    under: _Under,
    part: Mapping[str, str],
    names: Sequence[str],
    row: Sequence[str],
    places: Mapping[str, int],
    kinds: dict[int, str],
    layouts: Layouts,
) -> None:
    """Add a row to its list."""
    nbest = under.nbest
    if part.get("source", "") != (nbest.source or ""):
        raise BadField(f"the source of the rows before, {quote(nbest.source or '')}", quote(part["source"]))
    if "rank" in part:
        if not is_id(part["rank"]) or int(part["rank"]) <= under.rank:
            expected = f"a rank after {under.rank}" if under.rank >= 0 else "a rank (a whole number)"
            raise BadField(expected, quote(part["rank"]), places["rank"] + 1)
        under.rank = int(part["rank"])
    nbest.texts.append(part["text"])
    under.totals.append(total_of(part["total"]) if part.get("total") else None)
    features, extras = {}, {}
    for at, cell in enumerate(row):
        if at in places.values() or not cell:
            continue
        kind, name = column_of(names[at])
        if kind == FEATURE and names[at] == name:
            kind = kinds.setdefault(at, FEATURE if is_number(cell) else EXTRA)
        if kind == EXTRA:
            extras[name] = cell
        elif not is_number(cell):
            raise BadField(f"a number in the column {names[at]}, as in the rows before", quote(cell), at + 1)
        else:
            features[name] = numbers([cell])[0]
    nbest.layouts.append(layouts.share(tuple(features)))
    nbest.values.append(list(features.values()))
    under.extras.append(extras)


def _places(names: Sequence[str], named: Named) -> dict[str, int]:
    """The place of each part of a list among the columns."""
    places = {}
    for part in _PARTS:
        name = named.columns.get(part)
        if name is not None and names.count(name) != 1:
            found = f"{names.count(name)} among {', '.join(names)}"
            raise BadField(f"one column {name}, as the option {part}={name} says", found)
        if name is not None or part in names:
            places[part] = names.index(name or part)
    for part, at in places.items():
        other = next(name for name, place in places.items() if place == at)
        if other != part:
            raise BadField("a column for each part", f"{names[at]} as {other} and {part}")
    others = [column_of(name)[1] for at, name in enumerate(names) if at not in places.values()]
    for columns in (names, others):
        twice = next((name for name in columns if columns.count(name) > 1), None)
        if twice is not None:
            raise BadField("each column once", f"{quote(twice)} twice")
    for part in ("text", "id"):
        if part not in places and (part == "text" or named.rows == "lists"):
            rows = ", or rows=sentences if each row is a sentence" if part == "id" else ""
            raise BadField(f"a column {part} (the option {part}=COLUMN names it{rows})", ", ".join(names))
    if "id" in places and named.rows == "sentences":
        raise BadField("rows without ids, as rows=sentences says", f"the column {names[places['id']]}")
    return places


def foreign_header(head: bytes) -> tuple[list[str], str] | None:
    """The names of the columns in the first line of a table, and its separator; None if there are no such names."""
    rows = first_lines(head.removeprefix(BOM.encode()))
    for name, separator in _SEPARATORS.items():
        cells = [cell.strip(' "') for cell in rows[0].rstrip("\r").split(separator)] if rows else []
        known = [cell.lower() for cell in cells if cell.lower() in _TEXTS | _OTHERS]
        alike = name == "comma" or all(row.count(separator) == len(cells) - 1 for row in rows)
        if len(known) > 1 and alike and len(set(cells)) == len(cells) and not _TEXTS.isdisjoint(known):
            return cells, name
    return None


def refuse_columns(head: bytes, name: str) -> None:
    """Raise a ``FormatError`` for a table with unknown columns, whose rows are no sentences."""
    found = foreign_header(head)
    if found is None:
        return
    names, separator = found
    options = {"id": _OTHERS - {"lang", "logprob", "lp", "rank", "score", "system", "total"}, "text": _LISTS | {"text"}}
    options |= {"total": frozenset({"score", "logprob"}), "source": frozenset({"src"})}
    hint = "".join(
        f",{part}={column}"
        for part, known in options.items()
        for column in [next((column for column in names if column.lower() in known), None)]
        if column is not None and column != part
    )
    hint += ",separator=comma" if separator == "comma" else ""
    expected = (
        f"the columns {', '.join(FIRST)} of a list (smt convert --from tsv-nbest{hint or ',text=COLUMN'} reads others),"
        " or those of sentences, id and text, source or reference, or no line of names"
    )
    raise FormatError(expected, f"a table with the columns {', '.join(names)}", file=name, line=1, field=1)
