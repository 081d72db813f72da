"""The word alignment of a sentence pair, the record of all alignment formats."""

from __future__ import annotations

from dataclasses import dataclass, replace

Point = tuple[int, int]


@dataclass(frozen=True)
class Alignment:
    """The word alignment of a sentence pair: points (source position, target position), from 0.

    ``source``, ``target`` and ``score`` are set if the file has them. ``raw`` is the text as read and ``origin`` the
    format that read it; a writer of that format copies the text. ``line`` is its line in the file.
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
        """The names of the data besides the points."""
        parts = {"words": self.source or self.target, "score": self.score is not None}
        return frozenset(name for name, present in parts.items() if present)

    def swapped(self) -> Alignment:
        """Swap source and target."""
        points = tuple(sorted((target, source) for source, target in self.points))
        return replace(self, points=points, source=self.target, target=self.source, raw=None, origin="")
