r"""Plain text: a sentence on each line, UTF-8, split on ``\n`` only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.files import Lines
from smtformats.format import Format, Number

NAME = "text"


def parse(lines: Lines) -> Iterator[str]:
    r"""One sentence at a time, without its line end (``\n`` or ``\r\n``)."""
    for line in lines:
        body = line[:-1] if line[-1:] == "\n" else line
        yield body[:-1] if body[-1:] == "\r" else body


def write(records: Iterable[str], out: TextIO, number: Number) -> int:
    """Write sentences; returns how many."""
    count = 0
    for text in records:
        out.write(text + "\n")
        count += 1
    return count


def matches(head: bytes) -> bool:
    """Anything without NUL bytes, unless most lines have fields: a spoilt list must not pass for sentences."""
    lines = [line for line in head.split(b"\n")[:50] if line.strip()]
    return b"\x00" not in head and 2 * sum(b" |||" in line for line in lines) < max(1, len(lines))


FORMAT = Format(
    name=NAME,
    kind="corpus",
    summary="plain text, a sentence on each line",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".txt",),
    fallback=True,
)
