"""Alignments in both directions, as giza2bal writes them for symal (read only).

    1
    5 the house is very small # 1 2 3 4 4
    4 das haus ist klein # 1 2 3 5

Three lines per sentence pair: how often it occurs, the target, the source. A sentence is its length, its words, ``#``,
and for each word the position of its link on the other side, from 1, or 0 for none. ``method`` selects the links, with
symal's names: ``union`` (the default), ``intersect``, ``srctotgt`` or ``tgttosrc``. If the two input files of giza2bal
disagree about the words, the pair consists of ``ALIGN_ERR`` on both sides, linked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from smtformats.alignment.links import Alignment, Point
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, first_lines
from smtformats.tokens import blanks, is_id

NAME = "bal-alignment"
Method = Literal["union", "intersect", "srctotgt", "tgttosrc"]


def parse(lines: Lines, *, method: Method = "union") -> Iterator[Alignment]:
    """Parse one sentence pair at a time."""
    stream = iter(lines)
    for count in stream:
        if not is_id(count.strip(" \t\r\n")):
            raise lines.error("the count of the sentence pair", quote(count.strip(" \t\r\n")), 1)
        first = lines.number
        target, to_source = _side(lines.next(stream, "the target sentence on the next line"), lines)
        source, to_target = _side(lines.next(stream, "the source sentence on the next line"), lines)
        _check(to_source, len(source), lines, first + 1)
        _check(to_target, len(target), lines, first + 2)
        forward = {(i, j - 1) for i, j in enumerate(to_target) if j}
        backward = {(i - 1, j) for j, i in enumerate(to_source) if i}
        points = _choose(forward, backward, method)
        yield Alignment(points, source, target, line=first)
    if not lines.number:
        raise lines.error("three lines for each pair", "an empty file", 1)


def _side(line: str, lines: Lines) -> tuple[tuple[str, ...], list[int]]:
    tokens = blanks(line)
    if not tokens or not is_id(tokens[0]):
        raise lines.error("the number of words", quote(" ".join(tokens[:1])), 1)
    length = int(tokens[0])
    if tokens[length + 1 : length + 2] != ["#"]:
        raise lines.error(f"`#` after {length} words", quote(" ".join(tokens[length + 1 : length + 2])), length + 2)
    links = tokens[length + 2 :]
    for field, token in enumerate(links, length + 3):
        if not is_id(token):
            raise lines.error("a position, or 0", quote(token), field)
    if len(links) != length:
        raise lines.error(f"{length} positions", f"{len(links)}", min(len(tokens), 2 * length + 2) + 1)
    return tuple(tokens[1 : length + 1]), list(map(int, links))


def _check(links: list[int], length: int, lines: Lines, line: int) -> None:
    for i, position in enumerate(links):
        if position > length:
            expected = f"a position on the other side, at most {length}"
            raise lines.error(expected, f"{position}", len(links) + 3 + i, line=line)


def _choose(forward: set[Point], backward: set[Point], method: Method) -> tuple[Point, ...]:
    both, either = forward & backward, forward | backward
    return tuple(sorted({"union": either, "intersect": both, "srctotgt": forward, "tgttosrc": backward}[method]))


def matches(head: bytes) -> bool:
    """Match a count followed by a sentence with its length and positions."""
    lines = [blanks(line) for line in first_lines(head)[:2]]
    if len(lines) < 2 or len(lines[0]) != 1 or not all(is_id(tokens[0]) for tokens in lines):
        return False
    length = int(lines[1][0])
    return len(lines[1]) == 2 * length + 2 and lines[1][length + 1] == "#"


FORMAT = Format(
    name=NAME,
    kind="alignment",
    summary="giza2bal's alignments in both directions, the input of symal",
    matches=matches,
    parse=parse,
    suffixes=(".bal",),
    example="1\n1 yes # 1\n2 ja doch # 1 0\n",
)
