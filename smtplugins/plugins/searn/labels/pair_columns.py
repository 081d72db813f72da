"""Candidate features of items: what registered features say of an item's source and target words alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtplugins.host.host import Host

Row = tuple[tuple[str, ...], list[float]]
"""Names and values."""


class PairColumns:
    """Registered features, made from specs, that score an item as if it were a sentence and its translation.

    That holds for training and for decoding: an item's values do not depend on what stands around it.
    """

    def __init__(self, host: Host, specs: Sequence[str]) -> None:
        from smtplugins.host.features.scoring import activate

        self._active = activate(host.registry, specs) if specs else []

    def rows(self, source: str, targets: Sequence[str]) -> list[Row]:
        """What all features say of these targets of a source, both words joined by blanks."""
        from smtformats import Candidates

        one = Candidates(
            id="0", texts=list(targets), layouts=[() for _ in targets], values=[[] for _ in targets], source=source
        )
        rows: list[Row] = [((), []) for _ in targets]
        for active in self._active:
            layouts, values = active.score(one)
            rows = [
                (names + more, [*own, *added]) for (names, own), more, added in zip(rows, layouts, values, strict=True)
            ]
        return rows

    def table(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Row]:
        """The same of pairs of source and target, each source asked about once."""
        targets: dict[str, list[str]] = {}
        for source, target in pairs:
            targets.setdefault(source, []).append(target)
        return {
            (source, target): row
            for source, own in targets.items()
            for target, row in zip(own, self.rows(source, own), strict=True)
        }
