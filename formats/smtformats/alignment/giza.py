"""GIZA++'s alignments, its A3 files (read only).

    # Sentence pair (1) source length 3 target length 4 alignment score : 0.0012
    das haus ist klein
    NULL ({ }) the ({ 1 }) house ({ 2 }) small ({ 3 4 })

The second line is what GIZA++ calls the target, the third its source with the target positions, from 1, that each word
made; those of ``NULL`` have no link. Points are (source, target) in these words; ``inverted=yes`` gives (target,
source), the order of Moses' ``giza.SRC-TRG/SRC-TRG.A3.final``, whose second line is in the source language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smtformats.alignment.links import Alignment, Point
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format
from smtformats.tokens import BadField, blanks, is_id, numbers

NAME = "giza-alignment"
_HEADER = re.compile(
    r"# Sentence pair \(\d+\) source length (\d{1,9}) target length (\d{1,9}) alignment score : (\S+)[ \t\r\n]*",
    re.ASCII,
)


def parse(lines: Lines, *, inverted: bool = False) -> Iterator[Alignment]:
    """One sentence pair at a time."""
    stream = iter(lines)
    for header in stream:
        source_length, target_length, score = _header(header, lines)
        first = lines.number
        target_line = next(stream, None)
        if target_line is None:
            raise lines.error("the target sentence on the next line", "the end of the file", 1)
        target = tuple(blanks(target_line))
        if len(target) != target_length:
            raise lines.error(f"{target_length} words, the target length", f"{len(target)}", len(target) + 1)
        source_line = next(stream, None)
        if source_line is None:
            raise lines.error("the source sentence on the next line", "the end of the file", 1)
        source, points = _links(source_line, target_length, lines)
        if len(source) != source_length:
            raise lines.error(f"{source_length} words, the source length", f"{len(source)}", 1)
        alignment = Alignment(points, source, target, score, line=first)
        yield alignment.swapped() if inverted else alignment
    if not lines.number:
        raise lines.error("three lines for each pair", "an empty file", 1)


def _header(line: str, lines: Lines) -> tuple[int, int, float]:
    match = _HEADER.fullmatch(line)
    if match is None:
        raise lines.error("`# Sentence pair (N) source length N ... score : X`", quote(line.rstrip("\r\n")), 1)
    try:
        return int(match[1]), int(match[2]), numbers([match[3]])[0]
    except BadField as bad:
        raise lines.locate(bad, 14) from None


def _links(line: str, target_length: int, lines: Lines) -> tuple[tuple[str, ...], tuple[Point, ...]]:
    tokens = blanks(line)
    words: list[str] = []
    points: list[Point] = []
    at = 0
    while at < len(tokens):
        words.append(tokens[at])
        at += 1
        if tokens[at : at + 1] != ["({"]:
            raise lines.error("`({` after a word", quote(" ".join(tokens[at : at + 1])), at + 1)
        at += 1
        while at < len(tokens) and tokens[at] != "})":
            if not is_id(tokens[at]) or not 1 <= int(tokens[at]) <= target_length:
                raise lines.error(f"a position from 1 to {target_length} or `}})`", quote(tokens[at]), at + 1)
            points.append((len(words) - 2, int(tokens[at]) - 1))
            at += 1
        if at == len(tokens):
            raise lines.error("`})` behind the positions", "the end of the line", at + 1)
        at += 1
    if words[:1] != ["NULL"]:
        raise lines.error("`NULL ({ ... })` first", quote(" ".join(words[:1])), 1)
    return tuple(words[1:]), tuple(sorted(point for point in points if point[0] >= 0))


def matches(head: bytes) -> bool:
    """The header of a first pair."""
    return head.startswith(b"# Sentence pair (")


FORMAT = Format(
    name=NAME,
    kind="alignment",
    summary="GIZA++'s A3 files, three lines for each sentence pair",
    matches=matches,
    parse=parse,
    example="# Sentence pair (1) source length 1 target length 1 alignment score : 0.5\nja\nNULL ({ }) yes ({ 1 })\n",
)
