"""Weight formats with one weight per line: reading, writing and updating in place."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple, TextIO

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Number
from smtformats.tokens import BadField, numbers

COMPONENT = re.compile(r"(.+)\[(0|[1-9]\d{0,8})\]", re.ASCII)
"""A component of a vector feature, ``Name[i]``."""


class WeightLine(NamedTuple):
    """A weight in a line: its name and the span of its value."""

    name: str
    first: int
    last: int

    def value(self, line: str) -> str:
        """The value as spelled in the line."""
        return line[self.first : self.last]


class FileWeights(dict[str, float]):
    """Weights with their text as read; the format that read them writes this text with the changed values.

    ``places`` holds the line number of each weight in ``file``.
    """

    def __init__(
        self,
        values: dict[str, float],
        text: list[str],
        origin: str,
        file: str = "",
        places: dict[str, int] | None = None,
    ) -> None:
        super().__init__(values)
        self.text = text
        self.origin = origin
        self.file = file
        self.places = {} if places is None else places


Find = Callable[[str, Lines], "WeightLine | None"]
"""Find the weight of a line, if it has one; a malformed line is an error."""

Compose = Callable[[str, float, Number], str]
"""Compose the line of a weight; a name that the format cannot represent is a ``FormatError``."""

Update = Callable[[dict[str, float], Lines, TextIO, Number], "list[str]"]


def read_lines(lines: Lines, find: Find, what: str, origin: str) -> FileWeights:
    """Read all weights of a file; a file without any is an error, in which ``what`` describes them."""
    weights = FileWeights({}, [], origin, lines.name)
    for line in lines:
        weights.text.append(line)
        entry = find(line, lines)
        if entry is None:
            continue
        if entry.name in weights:
            raise lines.error("each weight once", f"{quote(entry.name)} again", 1)
        try:
            weights[entry.name] = numbers([entry.value(line)])[0]
        except BadField as bad:
            raise lines.locate(bad, 2) from None
        weights.places[entry.name] = lines.number
    if not weights:
        raise lines.error(what, "none in the file", 1, line=1)
    return weights


def rewrite(weights: dict[str, float], out: TextIO, number: Number, origin: str, update: Update) -> bool:
    """Write weights into the text they were read from; returns false if this format did not read them."""
    if not isinstance(weights, FileWeights) or weights.origin != origin:
        return False
    kept = io.StringIO(newline="")
    if update(weights, Lines(io.BytesIO("".join(weights.text).encode()), ""), kept, number):
        return False
    out.write(kept.getvalue())
    return True


def write_lines(
    records: Iterable[dict[str, float]],
    out: TextIO,
    number: Number,
    compose: Compose,
    origin: str,
    update: Update,
    *,
    before: str = "",
    after: str = "",
) -> int:
    """Write sets of weights, one weight per line between ``before`` and ``after``; returns the number of sets."""
    count = 0
    for weights in records:
        if not rewrite(weights, out, number, origin, update):
            out.write(before)
            out.writelines(compose(name, value, number) for name, value in weights.items())
            out.write(after)
        count += 1
    return count


def update_lines(
    values: dict[str, float], lines: Lines, out: TextIO, number: Number, find: Find, compose: Compose | None = None
) -> list[str]:
    """Replace the values of a file; new names are added at the end, or returned if ``compose`` is ``None``."""
    placed = set()
    last = "\n"
    for line in lines:
        entry = find(line, lines)
        if entry is not None and entry.name in values:
            line = line[: entry.first] + respell(entry.value(line), values[entry.name], number) + line[entry.last :]
            placed.add(entry.name)
        out.write(line)
        last = line
    missing = [name for name in values if name not in placed]
    if compose is None:
        return missing
    if missing and last[-1:] != "\n":
        out.write("\n")
    out.writelines(compose(name, values[name], number) for name in missing)
    return []


def respell(old: str, value: float, number: Number) -> str:
    """Spell a value, keeping the old spelling if it has the same value."""
    try:
        same = numbers([old])[0] == value
    except BadField:
        same = False
    return old if same else number(value)


def by_vector(names: Iterable[str]) -> tuple[str, ...]:
    """Order names so that the components of a vector follow each other, at the position of the first one."""
    labels: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        part = COMPONENT.fullmatch(name)
        label, index = (part[1], int(part[2])) if part else (name, -1)
        labels.setdefault(label, []).append((index, name))
    return tuple(name for parts in labels.values() for _, name in sorted(parts))


def is_number(text: str) -> bool:
    """Whether a text is a finite number."""
    try:
        return bool(numbers([text]))
    except BadField:
        return False
