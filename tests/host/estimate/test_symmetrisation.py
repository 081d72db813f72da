"""Symmetrisation against its definition, and against symal's output on its own example."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.contracts.errors import UsageError
from smtplugins.host.estimate.symmetrisation import HEURISTICS, Point, symmetrise

POINTS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14)


def defined(forward: set[Point], backward: set[Point], diagonal: bool, final: str) -> set[Point]:
    """symal's procedure with nothing but sets: the next link is the least one beyond the last."""

    def order(point: Point) -> Point:
        return point[1], point[0]

    def fresh(kind: str, point: Point) -> bool:
        new = [point[0] not in {i for i, _ in links}, point[1] not in {j for _, j in links}]
        return all(new) if kind == "and" else any(new)

    links, union = forward & backward, forward | backward
    steps = [(0, -1), (-1, 0), (0, 1), (1, 0)] + [(-1, -1), (1, -1), (-1, 1), (1, 1)] * diagonal
    size = -1
    while size < len(links):
        size = len(links)
        last = (-1, -1)
        while following := sorted((link for link in links if order(link) > last), key=order)[:1]:
            ((i, j),) = following
            last = order((i, j))
            for right, down in steps:
                if (i + right, j + down) in union and fresh("or", (i + right, j + down)):
                    links = links | {(i + right, j + down)}
    for point in sorted(union, key=order) if final else ():
        if fresh(final, point):
            links = links | {point}
    return links


@given(POINTS, POINTS)
def test_growing_is_as_defined(forward: set[Point], backward: set[Point]) -> None:
    rules = {
        "grow": (False, ""),
        "grow-diag": (True, ""),
        "grow-diag-final": (True, "or"),
        "grow-diag-final-and": (True, "and"),
    }
    for name, (diagonal, final) in rules.items():
        links = symmetrise(forward, backward, name)
        assert links == tuple(sorted(defined(forward, backward, diagonal, final))), name
        assert links == symmetrise(backward, forward, name)
    assert symmetrise(forward, backward) == symmetrise(forward, backward, "grow-diag-final-and")


@given(POINTS, POINTS)
def test_sets(forward: set[Point], backward: set[Point]) -> None:
    assert set(symmetrise(forward, backward, "intersection")) == forward & backward
    assert set(symmetrise(forward, backward, "union")) == forward | backward
    assert symmetrise(forward, backward, "forward") == tuple(sorted(forward))
    assert symmetrise(forward, backward, "backward") == tuple(sorted(backward))


def test_each_heuristic_adds_something() -> None:
    forward, backward = {(0, 0), (0, 1), (2, 2), (4, 0), (5, 5)}, {(0, 0), (1, 1), (3, 3), (2, 4)}
    assert symmetrise(forward, backward, "grow") == ((0, 0), (0, 1), (1, 1))
    assert symmetrise(forward, backward, "grow-diag") == ((0, 0), (0, 1), (1, 1), (2, 2), (2, 4), (3, 3))
    final = symmetrise(forward, backward, "grow-diag-final")
    both = symmetrise(forward, backward, "grow-diag-final-and")
    assert set(final) - set(both) == {(4, 0)}
    assert set(both) - {(5, 5)} == set(symmetrise(forward, backward, "grow-diag"))


def test_unknown() -> None:
    with pytest.raises(UsageError, match="unknown heuristic 'grow-dig'; did you mean 'grow-diag'"):
        symmetrise((), (), "grow-dig")


SYMAL = {
    "symal -a=union": "union",
    "symal -a=intersect": "intersection",
    "symal -a=grow -d=yes -f=yes -b=yes": "grow-diag-final-and",
    "symal -a=grow -d=yes -f=yes -b=no": "grow-diag-final",
    "symal -a=srctotgt": "backward",
    "symal -a=tgttosrc": "forward",
}


@pytest.mark.shared
def test_symal_itself(shared: Path) -> None:
    from smtplugins import load_plugins

    folder = shared / "gold/moses/align"
    host = load_plugins()
    lines = (folder / "symal.out").read_text().splitlines()
    seen = set()
    for files in (("x.bal", "x.bal"), ("en-de.A3.final", "de-en.A3.final")):
        for at in range(0, len(lines), 3):
            name = SYMAL[lines[at]]
            expected = [
                {tuple(map(int, point.split("-"))) for point in line.split()} for line in lines[at + 1 : at + 3]
            ]
            alignments = host.align(forward=folder / files[0], backward=folder / files[1], heuristic=name)
            assert [set(alignment.points) for alignment in alignments] == expected, (files, name)
            seen.add(name)
    assert seen == set(HEURISTICS) - {"grow", "grow-diag"}
