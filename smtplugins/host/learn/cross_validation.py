"""Cross-validation on a single data set: judge weights on sentences that they were not learnt from.

For lists, every list is sorted by weights learnt from the other folds. In a loop around a decoder, the held-out score
says how far a step goes, and whether there is one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.files.lists import ListStream, ranking
from smtplugins.host.judge.histories import mean_weights
from smtplugins.host.learn.training_data import Material, Note
from smtplugins.host.learn.trust_region import Way
from smtplugins.host.learn.tuning import Plan, Tuned, combine_runs, learn, note_equal, run_plan

if TYPE_CHECKING:
    from pathlib import Path

    from smtformats import Candidates
    from smtplugins.host.host import Host

    Weights = Mapping[str, float]


def fold_of(place: int, count: int, folds: int) -> int:
    """The fold of a list. Folds are contiguous and of nearly equal size, so similar neighbours stay together."""
    return place * folds // count


def _ends(count: int, folds: int) -> list[int]:
    """Where folds begin, and where the last one ends: a fold's first place is the first of which `fold_of` says so."""
    return [-(-fold * count // folds) for fold in range(folds + 1)]


def check_folds(material: Material, folds: int) -> None:
    """Check before learning that there are enough lists for the folds."""
    count = len(material)
    if not 2 <= folds <= count:
        raise UsageError(f"folds: expected 2 to {count}, as there are {count} lists, found {folds}")


def cross_validate(
    host: Host,
    material: Material,
    stream: ListStream,
    plan: Plan,
    start: Mapping[str, float],
    folds: int,
    tuned: Tuned,
) -> Tuned:
    """Add cross-validation to a result: each list sorted by weights learnt without it, and their held-out score."""
    count = len(material)
    fold_weights = []
    for rest, within in _without_each(material, folds, plan.folder):
        runs = learn(host, rest, replace(plan, folder=within), start)
        fold_weights.append(combine_runs(runs, plan.combine, material.metric.higher_is_better)[0])
    held_out = _held_out(material, fold_weights)
    resorted = _ResortedLists(stream, fold_weights, count)
    return replace(tuned, folds=tuple(fold_weights), held_out=held_out, resorted=resorted)  # type: ignore[arg-type]


def _without_each(material: Material, folds: int, folder: Path | None) -> Iterator[tuple[Material, Path | None]]:
    """Checked data without each of the folds, and the folder for what is learnt from it.

    Raises SmtError, naming the fold, if nothing can be learnt without it.
    """
    for fold, (first, last) in enumerate(itertools.pairwise(_ends(len(material), folds))):
        rest = material.without(first, last)
        try:
            rest.check_differences()
        except SmtError as error:
            raise SmtError(f"without fold {fold + 1} of {folds} ({argument('folds')}): {error}") from error
        yield rest, None if folder is None else folder / f"fold-{fold + 1}"


def _held_out(material: Material, weights: Sequence[Mapping[str, float]]) -> float:
    """The corpus score of the best hypotheses, each under the weights of its fold."""
    ends = _ends(len(material), len(weights))
    parts = itertools.starmap(material.best_stats, zip(weights, ends, ends[1:], strict=False))
    return float(material.metric.score(sum(row for rows in parts for row in rows)))


class FoldWays:
    """The mean of the ways from the same weights to those learnt without each fold, each up to the radius.

    A point is judged by sentences that no part of it was learnt from: those of each fold under the point of its own
    way, at the same share. The mean of what several parts of the data agree on is also less extreme than what all of
    them give at once.
    """

    def __init__(self, material: Material, ways: Sequence[Way], radius: float, to: Callable[[Weights], Way]) -> None:
        self._material, self._ways, self._to = material, ways, to
        self._most = [way.share(radius) for way in ways]
        self.begun, self.learnt = self.score(0.0), self.score(1.0)

    @classmethod
    def learn(
        cls, host: Host, material: Material, plan: Plan, base: Weights, folds: int, radius: float, note: Note
    ) -> FoldWays:
        """Learn from ``base`` without each fold."""
        scaled = plan.scale_free

        def to(learnt: Weights) -> Way:
            return Way(base, learnt, material.scales, scaled=scaled)

        parts = _without_each(material, folds, plan.folder)
        results = [run_plan(host, rest, replace(plan, folder=folder), base, lambda _: None) for rest, folder in parts]
        note_equal(plan, results[0].runs, note)
        return cls(material, [to(tuned.weights) for tuned in results], radius, to)

    def _points(self, share: float) -> list[dict[str, float]]:
        return [way.weights(share * most) for way, most in zip(self._ways, self._most, strict=True)]

    def score(self, share: float) -> float:
        """The score of the point at a share, held out."""
        return _held_out(self._material, self._points(share))

    def share(self, radius: float) -> float:
        """The whole way: it ends at the radius that it was made for."""
        return 1.0

    def weights(self, share: float) -> dict[str, float]:
        """The weights of the point at a share."""
        return self._to(mean_weights(self._points(share))).weights(1.0)

    def distance(self, share: float) -> float:
        """The distance of the point at a share from the common start."""
        return self._to(mean_weights(self._points(share))).distance(1.0)


class _ResortedLists:
    """The lists of a stream, each sorted by the weights of its fold."""

    def __init__(self, stream: ListStream, weights: Sequence[Mapping[str, float]], count: int) -> None:
        self._stream, self._weights, self._count = stream, weights, count

    def __iter__(self) -> Iterator[Candidates]:
        from smtplugins.host.features.weighing import Weigher

        weighers = [Weigher(weights, 0.0) for weights in self._weights]
        for k, nbest in enumerate(self._stream):
            totals = weighers[fold_of(k, self._count, len(weighers))].totals(nbest)
            yield nbest.with_totals(totals).select(ranking(totals))
