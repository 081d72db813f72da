"""Cross-validation on a single data set: sort every list by weights learnt from the other folds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.host.files.lists import ListStream, ranking
from smtplugins.host.learn.training_data import Material
from smtplugins.host.learn.tuning import Plan, Tuned, combine_runs, learn

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtplugins.host.host import Host


def fold_of(place: int, count: int, folds: int) -> int:
    """The fold of a list. Folds are contiguous and of nearly equal size, so similar neighbours stay together."""
    return place * folds // count


def check_folds(material: Material, folds: int) -> None:
    """Check before learning that there are enough lists for the folds."""
    count = len(material.problem.lists)  # type: ignore[union-attr]
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
    import numpy as np

    count = len(material.problem.lists)  # type: ignore[union-attr]
    fold_weights = []
    for fold in range(folds):
        rest = material.part([k for k in range(count) if fold_of(k, count, folds) != fold])
        rest.check(lambda text: None)
        within = None if plan.folder is None else plan.folder / f"fold-{fold + 1}"
        runs = learn(host, rest, replace(plan, folder=within), start)
        fold_weights.append(combine_runs(runs, plan.combine, material.metric.higher_is_better)[0])
    sums: Any = 0.0
    matrix = material.matrix
    rows = [matrix.best(matrix.column(weights)) for weights in fold_weights]
    for k in range(count):
        sums = sums + matrix.stats[rows[fold_of(k, count, folds)][k]]
    held_out = float(material.metric.score(np.asarray(sums)))
    resorted = _ResortedLists(stream, fold_weights, count)
    return replace(tuned, folds=tuple(fold_weights), held_out=held_out, resorted=resorted)  # type: ignore[arg-type]


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
