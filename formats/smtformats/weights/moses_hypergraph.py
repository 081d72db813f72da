"""The file ``weights`` that Moses writes next to its hypergraphs: a name and a number on each line.

    WordPenalty0 -0.245768
    TranslationModel0_1 0.089076
    TranslationModel0_2 0.033154

In this file Moses counts the components of a feature from 1, as in ``TranslationModel0_1``; in its n-best lists
components have no names, and in its tuning files they count from 0. Consecutive names ``Name_1 Name_2 ...`` are read as
``Name[0] Name[1] ...``, as in all other Moses formats, and converted back on writing. Any other name is kept, so a
sparse feature may end in ``_3``. The format is recognized by such names after a digit (``LM0_1 LM0_2``); a file without
them reads the same as ``cdec-weights``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.weights.lines import (
    COMPONENT,
    FileWeights,
    WeightLine,
    by_vector,
    is_number,
    read_lines,
    respell,
    rewrite,
)

NAME = "moses-hypergraph-weights"
_LINE = re.compile(r"([^ \t\r\n]+) ([^ \t\r\n]+)\n?")
_FIRST = re.compile(r"(.+)_1")


def inner_names(names: Iterable[str]) -> dict[str, str]:
    """Map Moses' names, given in file order, to ours: ``Name_1 Name_2`` become ``Name[0] Name[1]``."""
    ordered = list(dict.fromkeys(names))
    inner: dict[str, str] = {}
    at = 0
    while at < len(ordered):
        first = _FIRST.fullmatch(ordered[at])
        last = at + 1
        while first is not None and last < len(ordered) and ordered[last] == f"{first[1]}_{last - at + 1}":
            last += 1
        vector = first[1] if first is not None and last - at > 1 else ""
        inner |= {name: f"{vector}[{k}]" if vector else name for k, name in enumerate(ordered[at:last])}
        at = last
    return inner


def outer_names(names: Iterable[str]) -> dict[str, str]:
    """Map our names to Moses' names; raises ``FormatError`` if they would not read back as they are."""
    ordered = list(dict.fromkeys(names))
    parts = [COMPONENT.fullmatch(name) for name in ordered]
    present = set(ordered)
    vectors = {part[1] for part in parts if part is not None and {f"{part[1]}[0]", f"{part[1]}[1]"} <= present}
    outer = {
        name: f"{part[1]}_{int(part[2]) + 1}" if part is not None and part[1] in vectors else name
        for name, part in zip(ordered, parts, strict=True)
    }
    back = inner_names(outer.values())
    for name in ordered:
        if back[outer[name]] != name:
            raise FormatError("components in order, and no other name of the form NAME_1", quote(name))
    return outer


def _entry(line: str, lines: Lines) -> WeightLine:
    match = _LINE.fullmatch(line)
    if match is None:
        raise lines.error("a name, one blank and a number", quote(line.rstrip("\n")), 1)
    return WeightLine(match[1], match.start(2), match.end(2))


def parse(lines: Lines) -> Iterator[dict[str, float]]:
    """Parse the file, which is one set of weights."""
    weights = read_lines(lines, _entry, "weights, a name and a number on each line", NAME)
    inner = inner_names(weights)
    renamed = {inner[name]: value for name, value in weights.items()}
    if len(renamed) < len(weights):
        name = next(name for name in weights if inner[name] != name and inner[name] in weights)
        raise lines.error("each weight once", f"{quote(name)} and {quote(inner[name])}", 1)
    places = {inner[name]: line for name, line in weights.places.items()}
    yield FileWeights(renamed, weights.text, NAME, lines.name, places)


def write(records: Iterable[dict[str, float]], out: TextIO, number: Number) -> int:
    """Write sets of weights, one weight per line; returns the number of sets."""
    count = 0
    for weights in records:
        if not rewrite(weights, out, number, NAME, update):
            outer = outer_names(by_vector(weights))
            out.writelines(_line(outer[name], weights[name], number) for name in outer)
        count += 1
    return count


def update(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    """Write new values into an existing file and copy all else; returns the names without a line."""
    entries = [(line, _entry(line, lines)) for line in lines]
    inner = inner_names(entry.name for _, entry in entries)
    for line, entry in entries:
        value = values.get(inner[entry.name])
        if value is not None:
            line = line[: entry.first] + respell(entry.value(line), value, number) + line[entry.last :]
        out.write(line)
    return [name for name in values if name not in inner.values()]


def _line(name: str, value: float, number: Number) -> str:
    line = f"{name} {number(value)}\n"
    if not _LINE.fullmatch(line):
        raise FormatError("a name without blanks", quote(name))
    return line


def matches(head: bytes) -> bool:
    """Match lines of a name, a blank and a number, with ``Name0_1`` and ``Name0_2`` on consecutive lines."""
    lines = [_LINE.fullmatch(line) for line in first_lines(head)]
    names = [line[1] for line in lines if line is not None and is_number(line[2])]
    inner = inner_names(names)
    return len(names) == len(lines) and any(inner[name] != name and name[-3:-2].isdigit() for name in names)


FORMAT = Format(
    name=NAME,
    kind="weights",
    summary="weights next to Moses hypergraphs: a name and a number on each line, components as Name_1 Name_2",
    matches=matches,
    parse=parse,
    write=write,
    update=update,
    example="WordPenalty0 -0.25\nTranslationModel0_1 0.5\nTranslationModel0_2 0.125\n",
)
