"""The word alignment of one sentence pair, as all formats of this kind read it."""

from __future__ import annotations

from dataclasses import dataclass, replace

Point = tuple[int, int]


@dataclass(frozen=True)
class Alignment:
    """The linked words of a sentence pair: source and target positions, both from 0.

    ``source``, ``target`` and ``score`` are there where the file has them. ``raw`` is the text as read and ``origin``
    the format that read it: a writer of that format copies it. ``line`` is where it stood.
    """

    points: tuple[Point, ...]
    source: tuple[str, ...] | None = None
    target: tuple[str, ...] | None = None
    score: float | None = None
    raw: str | None = None
    origin: str = ""
    line: int = 1

    @property
    def extras(self) -> frozenset[str]:
        """What there is besides the points."""
        there = {"words": self.source or self.target, "score": self.score is not None}
        return frozenset(name for name, present in there.items() if present)

    def with_points(self, points: tuple[Point, ...]) -> Alignment:
        """The same words linked otherwise."""
        return replace(self, points=points, score=None, raw=None, origin="")

    def swapped(self) -> Alignment:
        """The same seen from the other side."""
        points = tuple(sorted((target, source) for source, target in self.points))
        return replace(self, points=points, source=self.target, target=self.source, raw=None, origin="")
