"""Weights of cdec, also our default: a name and a number on each line.

    # Objective = 7.6
    LanguageModel 0.857264855823583
    Glue=-0.35

A name may contain ``=``; one ``=`` between name and number counts as a blank. Deliberately stricter than cdec: a
missing or malformed number (0 to cdec), text after the number (ignored by cdec) and a repeated name (the last wins in
cdec) are errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.tokens import blanks
from smtformats.weights.lines import WeightLine, is_number, read_lines, update_lines, write_lines

NAME = "cdec-weights"


def _split(line: str) -> WeightLine | None:
    """Split a line into name and number, if it looks like a weight."""
    body = line.rstrip(" \t\r\n")
    first = max(body.rfind(mark) for mark in " \t=") + 1
    name = body[:first].rstrip(" \t")
    if body[first - 1 : first] == "=" or name[-1:] == "=":
        name = name[:-1].rstrip(" \t")
    if not name or first == len(body) or " " in name or "\t" in name:
        return None
    return WeightLine(name, first, len(body))


def _is_weight(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _entry(line: str, lines: Lines) -> WeightLine | None:
    """Parse the weight of a line; comments and blank lines have none."""
    if not _is_weight(line):
        return None
    entry = _split(line)
    if entry is None:
        body = line.strip(" \t\r\n")
        alone = line[:1] not in (" ", "\t", "=") and len(blanks(body.rstrip("="))) == 1
        raise lines.error("a name without blanks and a number", quote(body), 2 if alone else 1)
    return entry


def parse(lines: Lines) -> Iterator[dict[str, float]]:
    """Parse the file, which is one set of weights."""
    yield read_lines(lines, _entry, "weights, a name and a number on each line", NAME)


def write(records: Iterable[dict[str, float]], out: TextIO, number: Number) -> int:
    """Write sets of weights, one weight per line; returns the number of sets."""
    return write_lines(records, out, number, _line, NAME, update)


def _line(name: str, value: float, number: Number) -> str:
    line = f"{name} {number(value)}\n"
    entry = _split(line)
    if entry is None or entry.name != name or not _is_weight(line):
        raise FormatError("a name without blanks, `#` in front or `=` at the end", quote(name))
    return line


def update(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    """Write new values into an existing file; new names are added at the end."""
    return update_lines(values, lines, out, number, _entry, _line)


def matches(head: bytes) -> bool:
    """Match if the first line looks like a weight and at least half of all have a name and a number."""
    lines = first_lines(head, _is_weight)
    entries = [_split(line) for line in lines]
    good = sum(entry is not None and is_number(entry.value(line)) for entry, line in zip(entries, lines, strict=True))
    shaped = bool(entries) and entries[0] is not None and len(lines) <= 2 * good
    if not shaped:
        return False
    from smtformats.config import cdec as config
    from smtformats.hypergraph import confusion, moses_words, slf
    from smtformats.weights import joshua, moses_hypergraph

    # Lines of these formats can look like weights.
    others = (joshua, config, confusion, moses_words, slf, moses_hypergraph)
    return not any(other.matches(head) for other in others)


FORMAT = Format(
    name=NAME,
    kind="weights",
    summary="weights, a name and a number on each line (cdec's, and our own)",
    matches=matches,
    parse=parse,
    write=write,
    update=update,
    example="Glue 0.5\nLanguageModel 1.25\n",
)
