"""Registered candidate features scored on single items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from smtformats import Candidates
from smtplugins.contracts.tools.running import Host

FeatureRow = tuple[tuple[str, ...], list[float]]
"""Names and values."""


class PairColumns:
    """Registered features, created from specs, that score an item as if it were a sentence and its translation.

    In training and in decoding alike, an item's values do not depend on its context.
    """

    def __init__(self, host: Host, specs: Sequence[str]) -> None:
        from smtplugins.contracts.tools.features import activate

        self._active = activate(host.registry, specs) if specs else []

    def rows(self, source: str, targets: Sequence[str]) -> list[FeatureRow]:
        """Score targets of a source with all features; both are words joined by blanks."""
        candidates = Candidates(
            id="0", texts=list(targets), layouts=[() for _ in targets], values=[[] for _ in targets], source=source
        )
        rows: list[FeatureRow] = [((), []) for _ in targets]
        for active in self._active:
            layouts, values = active.score(candidates)
            rows = [
                (names + more, [*own, *added]) for (names, own), more, added in zip(rows, layouts, values, strict=True)
            ]
        return rows

    def table(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], FeatureRow]:
        """Score (source, target) pairs, in one batch per source."""
        targets: dict[str, list[str]] = {}
        for source, target in pairs:
            targets.setdefault(source, []).append(target)
        return {
            (source, target): row
            for source, own in targets.items()
            for target, row in zip(own, self.rows(source, own), strict=True)
        }
