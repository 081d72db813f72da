"""A plugin for smtplugins: the feature `example-marks` and the metric `example-exact`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from smtplugins import Offer, hookimpl


class Marks:
    """How many of some marks a hypothesis has more or fewer than its source, as a negative number."""

    def __init__(self, *, marks: str = "?!") -> None:
        self.marks = marks

    def score_candidates(self, source: str, candidates: Any) -> list[float]:
        """One number for each hypothesis of a list."""
        wanted = self._count(source)
        return [float(-abs(self._count(text) - wanted)) for text in candidates.texts]

    def _count(self, text: str) -> int:
        return sum(text.count(mark) for mark in self.marks)


class Exact:
    """The share of hypotheses that are equal to one of their references, in per cent."""

    name = "example-exact"
    higher_is_better = True

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> Any:
        """A row for each segment: whether it is equal to a reference, and 1. Rows add up."""
        rows = zip(hypotheses, *references, strict=True)
        return np.array([[float(hyp in refs), 1.0] for hyp, *refs in rows])

    def score(self, stats: Any) -> Any:
        """The score of summed rows; of many sums at once along leading axes."""
        return 100 * stats[..., 0] / stats[..., 1]

    def sentence(self, stats: Any) -> Any:
        """The score of each row alone."""
        return self.score(stats)

    def signature(self) -> str:
        """How the score was made, printed beside it."""
        return f"{self.name}|v:0.1.0"


@hookimpl
def smt_features() -> Iterator[Offer]:
    """What `smt features` lists."""
    yield Offer(
        name="example-marks",
        make=Marks,
        summary="how many question and exclamation marks too many or too few",
        needs=frozenset({"source", "target"}),
    )


@hookimpl
def smt_metrics() -> Iterator[Offer]:
    """What `smt metrics` lists."""
    yield Offer(name="example-exact", make=Exact, summary="share of hypotheses equal to a reference")
