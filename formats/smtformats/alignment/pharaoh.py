"""Word alignments as points ``i-j`` (source and target position, from 0), of Pharaoh, Moses, cdec and fast_align.

    0-0 1-1 2-3 3-2
    ein haus ||| a house ||| 0-0 1-1
    a house ||| 0-0 1-1

A blank line is a pair without links. Text before the last ``|||`` is kept: source and target, as aligners and cdec
print them, or the target only, as Moses prints it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.alignment.links import Alignment, Point
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.tokens import blanks
from smtformats.writing import own, write_each

NAME = "pharaoh-alignment"
_POINT = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)


def parse(lines: Lines) -> Iterator[Alignment]:
    """Parse one sentence pair at a time."""
    for line in lines:
        *texts, last = line.split("|||")
        points: list[Point] = []
        for field, token in enumerate(blanks(last), len(texts) + 1):
            match = _POINT.fullmatch(token)
            if match is None:
                raise lines.error("a point `i-j`", quote(token), field)
            points.append((int(match[1]), int(match[2])))
        words = [tuple(blanks(text)) for text in texts]
        yield Alignment(
            points=tuple(points),
            source=words[-2] if len(words) > 1 else None,
            target=words[-1] if words else None,
            raw=line,
            origin=NAME,
            line=lines.number,
        )
    if not lines.number:
        raise lines.error("a line of points for each pair", "an empty file", 1)


def write(records: Iterable[Alignment], out: TextIO, number: Number) -> int:
    """Write a line for each pair: unchanged if read by this format, otherwise the points only."""
    return write_each(records, out, _spell)


def _spell(alignment: Alignment) -> str:
    return own(alignment, NAME) or " ".join(f"{i}-{j}" for i, j in alignment.points) + "\n"


def matches(head: bytes) -> bool:
    """Match lines of points, each after at most two texts, with at least one point in the file."""
    rows = [line.split("|||") for line in first_lines(head)]
    points = [blanks(fields[-1]) for fields in rows]
    return (
        any(points)
        and all(len(fields) <= 3 for fields in rows)
        and all(_POINT.fullmatch(token) for tokens in points for token in tokens)
    )


FORMAT = Format(
    name=NAME,
    kind="alignment",
    summary="points i-j from 0, a sentence pair on each line, optionally after its texts",
    matches=matches,
    parse=parse,
    write=write,
    example="0-0 1-1 2-3\n\n",
)
