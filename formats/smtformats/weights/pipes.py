"""Weights with ``|||`` between name and number, as in Z-MERT's ``-fin`` file.

    lm_0 ||| 1.2373676802179452
    tm_pt_0 ||| -2.4497

New names are added at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.tokens import blanks, is_id
from smtformats.weights.lines import WeightLine, is_number, read_lines, update_lines, write_lines

NAME = "pipe-weights"


def split(line: str) -> tuple[str, str, int]:
    """Split a line into the stripped texts before and after ``|||`` and the start of the latter.

    Without ``|||`` the second text is empty.
    """
    name, bar, rest = line.partition("|||")
    body = rest.strip(" \t\r\n")
    return name.strip(" \t\r\n"), body, len(name) + len(bar) + len(rest) - len(rest.lstrip(" \t\r\n"))


def split_named(line: str, lines: Lines) -> tuple[str, str, int]:
    """Split a line as :func:`split` does; a missing ``|||`` or name is an error."""
    name, body, first = split(line)
    if "|||" not in line:
        raise lines.error("`NAME ||| VALUE`", quote(line.strip(" \t\r\n")), 2)
    if blanks(name) != [name]:
        raise lines.error("a name without blanks before `|||`", quote(name), 1)
    return name, body, first


def check_name(name: str) -> str:
    """Check that a name has no blanks and no ``|||``."""
    if blanks(name) != [name] or "|||" in name:
        raise FormatError("a name without blanks or `|||`", quote(name))
    return name


def _entry(line: str, lines: Lines) -> WeightLine | None:
    if not blanks(line):
        return None
    name, body, first = split_named(line, lines)
    return WeightLine(name, first, first + len(body))


def parse(lines: Lines) -> Iterator[dict[str, float]]:
    """Parse the file, which is one set of weights."""
    yield read_lines(lines, _entry, "weights, `NAME ||| VALUE`", NAME)


def write(records: Iterable[dict[str, float]], out: TextIO, number: Number) -> int:
    """Write sets of weights, one weight per line; returns the number of sets."""
    return write_lines(records, out, number, _line, NAME, update)


def _line(name: str, value: float, number: Number) -> str:
    return f"{check_name(name)} ||| {number(value)}\n"


def update(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    """Write new values into an existing file; new names are added at the end."""
    return update_lines(values, lines, out, number, _entry, _line)


def matches(head: bytes) -> bool:
    """Match if the first line is a word, ``|||`` and a word, and half of all lines have a name and a number."""
    pairs = [split(line)[:2] for line in first_lines(head)]
    good = sum(is_number(value) and not is_id(name) for name, value in pairs)
    return bool(pairs) and all(len(blanks(part)) == 1 for part in pairs[0]) and len(pairs) <= 2 * good


FORMAT = Format(
    name=NAME,
    kind="weights",
    summary="weights, NAME ||| VALUE on each line (Z-MERT's -fin file)",
    matches=matches,
    parse=parse,
    write=write,
    update=update,
    example="lm_0 ||| 1.25\ntm_pt_0 ||| -1e-3\n",
)
