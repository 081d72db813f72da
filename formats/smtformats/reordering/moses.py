r"""Moses' lexicalised reordering tables: one phrase pair per line, with the probabilities of its orientations.

    ein hut ||| a hat ||| 0.6 0.2 0.2 0.2 0.2 0.6

Source, target, probabilities: with respect to the previous phrase, then to the next phrase if the model is
bidirectional. The orientations are monotone, swap and discontinuous (``msd``); monotone, swap, discontinuous to the
left and to the right (``mslr``); monotone or other (``monotonicity``); right or left (``leftright``). Models
conditioned on the source phrase only have two fields. Values are natural logarithms of the probabilities, at least
-100.

The option ``model`` is the model's name as in Moses' configuration, ``model=wbe-msd-bidirectional-fe``; all lines must
fit it. Without it, all lines must have as many fields and probabilities as the first.

Accepted although Moses drops it: a last line without ``\n``. Errors: negative or infinite probabilities, lines with
other counts (Moses stops there and reports success), empty phrases and empty lines. ``load`` separates words by single
blanks.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, TextIO

from smtformats._scan import ReorderingScanner
from smtformats.errors import quote
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.format import Format, Number, first_lines
from smtformats.reordering.models import ReorderingModel
from smtformats.reordering.rows import Reordering, ReorderingColumns, key_of
from smtformats.scanning import scanned
from smtformats.source_sides import first_field
from smtformats.tokens import BadField, blanks, is_number, numbers
from smtformats.writing import own, write_each

NAME = "moses-reordering"
FLOOR = -100.0
_BAR = re.compile(r"[ \t]*\|\|\|[ \t]*")
_WIDTHS = {(2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2)}
_CLOSE = 0.01


def counts_of(model: str) -> tuple[int, int]:
    """Return the numbers of scores and fields per line of a model; 0 fields if its name does not say."""
    parsed = ReorderingModel.parse(model)
    return parsed.scores, parsed.fields


class _Reader:
    """Reads lines, which must have as many fields and scores as the model, or as the first line."""

    def __init__(self, lines: Lines, model: str) -> None:
        self.lines = lines
        try:
            self.width, self.size = counts_of(model) if model else (0, 0)
        except BadField as bad:
            raise lines.locate(bad) from None
        self._as_wanted = f"as {model} has" if model else "as on the first line"

    def row(self, line: str) -> Reordering:
        """Parse a line."""
        lines, size, width = self.lines, self.size, self.width
        fields = _BAR.split(line.strip(" \t\r\n"))
        if len(fields) not in (2, 3) or (size and len(fields) != size):
            wanted = f"{size} fields, {self._as_wanted}" if size else "source ||| target ||| probabilities"
            actual = f"{len(fields)} fields" if size and len(fields) > 1 else quote(line.rstrip("\n"))
            raise lines.error(wanted, actual, min(len(fields), 4))
        for place, phrase in enumerate(fields[:-1], 1):
            if not phrase:
                raise lines.error("a phrase", "none", place)
        texts = blanks(fields[-1])
        if not texts or (width and len(texts) != width):
            wanted = f"{width} probabilities, {self._as_wanted}" if width else "probabilities"
            raise lines.error(wanted, str(len(texts)) if texts else "none", len(fields))
        self.size, self.width = len(fields), len(texts)
        try:
            values = tuple(map(_log, numbers(texts, what="a probability"), texts))
        except BadField as bad:
            raise lines.locate(bad, len(fields)) from None
        target = fields[1] if len(fields) > 2 else None
        return Reordering(fields[0], target, values, line, NAME, lines.name, lines.number)

    def check_some(self, count: int) -> None:
        """Raise an error if the table has no rows."""
        if not count:
            raise self.lines.error("source ||| target ||| probabilities", "an empty file", 1)


def parse(lines: Lines, *, model: str = "") -> Iterator[Reordering]:
    """Yield one row at a time."""
    reader = _Reader(lines, model)
    for line in lines:
        yield reader.row(line)
    reader.check_some(lines.number)


def load(stream: BinaryIO, name: str, *, model: str = "", max_bytes: int = MAX_LINE_BYTES) -> ReorderingColumns:
    """Load all rows as columns."""
    reader = _Reader(Lines(io.BytesIO(), name), model)
    scanner = ReorderingScanner(max_bytes)

    def read(lines: Lines) -> None:
        reader.lines = lines
        (line,) = lines
        row = reader.row(line)
        scanner.expect(reader.size, reader.width)
        scanner.add(key_of(row.source, row.target), row.values)

    columns = ReorderingColumns.of(scanned(scanner, stream, name, read, max_bytes))
    reader.check_some(len(columns))
    return columns


def _log(value: float, text: str) -> float:
    if value < 0:
        raise BadField("a probability", quote(text))
    return max(math.log(value), FLOOR) if value else FLOOR


def write(records: Iterable[Reordering], out: TextIO, number: Number) -> int:
    """Write rows, unchanged ones byte for byte; returns the number of rows."""
    return write_each(records, out, lambda row: own(row, NAME) or _compose(row, number))


def _compose(row: Reordering, number: Number) -> str:
    phrases = [row.source] if row.target is None else [row.source, row.target]
    for place, phrase in enumerate(phrases, 1):
        if not phrase or phrase != phrase.strip(" \t\r\n") or "\n" in phrase or "|||" in phrase:
            raise BadField("a phrase without `|||`", quote(phrase), place)
    if not row.values or not all(value < math.log(2) for value in row.values):
        raise BadField("logarithms of probabilities", repr(row.values), len(phrases) + 1)
    shown = " ".join(number(_probability(value)) for value in row.values)
    return " ||| ".join([*phrases, shown]) + "\n"


def _probability(value: float) -> float:
    if value <= FLOOR:
        return 0.0
    number = math.exp(value)
    # If fewer digits have the same logarithm, the others are noise.
    shorter = float(f"{number:.12g}")
    return shorter if shorter and math.log(shorter) == value else number


def matches(head: bytes) -> bool:
    """Match phrases and equally many numbers on all lines, which sum to 1 in groups of two, three or four."""
    lines = [_BAR.split(line.strip(" \t\r")) for line in first_lines(head)]
    if not lines or any(len(fields) not in (2, 3) or not all(fields) for fields in lines):
        return False
    rows = [blanks(fields[-1]) for fields in lines]
    if len({(len(fields), len(row)) for fields, row in zip(lines, rows, strict=True)}) != 1:
        return False
    if not all(is_number(text) for row in rows for text in row):
        return False
    values = [[float(text) for text in row] for row in rows]
    return any(
        classes * directions == len(values[0]) and all(_adds_up(row, classes) for row in values)
        for classes, directions in _WIDTHS
    )


def _adds_up(row: list[float], classes: int) -> bool:
    groups = [row[at : at + classes] for at in range(0, len(row), classes)]
    return all(value >= 0 for value in row) and all(abs(sum(group) - 1) <= _CLOSE for group in groups)


FORMAT = Format(
    name=NAME,
    kind="reordering",
    summary="Moses lexicalised reordering table: source ||| target ||| probabilities of orientations",
    matches=matches,
    parse=parse,
    write=write,
    load=load,
    source=first_field,
    example="ein hut ||| a hat ||| 0.6 0.2 0.2 0.2 0.2 0.6\n",
)
