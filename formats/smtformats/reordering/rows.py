"""A row of a reordering model as it was read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reordering:
    """How a phrase pair moves: the scores of all orientations, natural logarithms of at least -100.

    First those of the orientation to the phrase before (backward), then to the one behind (forward), where there are
    both. ``target`` is none in a model of source phrases alone. ``raw`` is the line as read, and ``origin`` the format
    that read it: a writer of that format copies it.
    """

    source: str
    target: str | None
    values: tuple[float, ...]
    raw: str | None = None
    origin: str = ""
    file: str = ""
    line: int = 1

    def with_values(self, values: tuple[float, ...]) -> Reordering:
        """The row with other scores."""
        return Reordering(self.source, self.target, values, file=self.file, line=self.line)
