"""Symmetrise word alignments of both directions like Moses' symal (Och and Ney 2003; Koehn, Och and Marcu 2003).

The grow heuristics start from the intersection and add links of the union that neighbour a link already present, if one
of their words is unaligned. The result depends on the order, which is symal's: links are visited by target position,
then source position, including new ones; the neighbours of each in the order below; repeated until nothing is added.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from typing import TypeAlias

from smtplugins.contracts.errors import UsageError

Point: TypeAlias = "tuple[int, int]"

_BESIDE = ((-1, 0), (0, -1), (1, 0), (0, 1))
_ACROSS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
_GROWING = {
    "grow": (_BESIDE, None),
    "grow-diag": (_BESIDE + _ACROSS, None),
    "grow-diag-final": (_BESIDE + _ACROSS, any),
    "grow-diag-final-and": (_BESIDE + _ACROSS, all),
}
HEURISTICS = ("intersection", "union", *_GROWING, "forward", "backward")
"""Symmetrisation heuristics; the last two keep one direction unchanged."""


def check_heuristic(name: str) -> None:
    """Raise UsageError for an unknown heuristic."""
    from smtplugins.contracts.spec import suggestion

    if name not in HEURISTICS:
        raise UsageError(f"unknown heuristic {name!r}{suggestion(name, HEURISTICS)}")


def symmetrise(
    forward: Collection[Point], backward: Collection[Point], heuristic: str = "grow-diag-final-and"
) -> tuple[Point, ...]:
    """Combine the links (source, target) of two directions into one sorted alignment."""
    check_heuristic(heuristic)
    if heuristic in ("forward", "backward"):
        return tuple(sorted(set(forward if heuristic == "forward" else backward)))
    both, either = set(forward) & set(backward), set(forward) | set(backward)
    if heuristic in _GROWING and both != either:
        both = _grow(both, either, heuristic)
    return tuple(sorted(either if heuristic == "union" else both))


def _grow(both: set[Point], either: set[Point], heuristic: str) -> set[Point]:
    neighbours, uncovered = _GROWING[heuristic]
    sources, targets = {source for source, _ in both}, {target for _, target in both}
    union = {(target, source) for source, target in either}
    current = sorted((target, source) for source, target in both)
    before = -1
    while len(current) > before:
        before = len(current)
        at = 0
        while at < len(current):
            target, source = current[at]
            for down, right in neighbours:
                point = target + down, source + right
                if point in union and not (point[0] in targets and point[1] in sources):
                    place = bisect_left(current, point)
                    current.insert(place, point)
                    # A link inserted before this one waits for the next pass.
                    at += place <= at
                    targets.add(point[0])
                    sources.add(point[1])
            at += 1
    if uncovered is not None:
        for target, source in sorted(union.difference(current)):
            if uncovered((target not in targets, source not in sources)):
                current.append((target, source))
                targets.add(target)
                sources.add(source)
    return {(source, target) for target, source in current}
