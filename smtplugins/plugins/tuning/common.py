"""Shared by the learners: fixed and bounded weights, units of metrics, the model of a step."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.contracts.tools.learning import Matrix, checked_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tools.optimisers import FeatureRows, Space

    Array = NDArray[Any]

_PER_CENT = 100.0


def column_of(names: tuple[str, ...], weights: Mapping[str, float]) -> Array:
    """Weights by name as an array; 0 where a name has none."""
    import numpy as np

    return np.array([weights.get(name, 0.0) for name in names], dtype=np.float64)


def space_of(names: tuple[str, ...], fixed: str, bounds: str, known: Iterable[str] = ()) -> Space:
    """The allowed values of the weights, from the options ``fixed`` and ``bounds``.

    ``fixed`` lists features that keep their weights, ``bounds`` lists ``NAME=LOW:HIGH``, either end empty for no bound.
    Both are separated by blanks; a name may be a shell pattern: ``LM0_* PhrasePenalty*=0:``. A pattern that matches
    none of ``names`` is an error unless it matches one of ``known``.
    """
    import numpy as np

    from smtplugins.contracts.tools.optimisers import Space

    free = np.ones(len(names), dtype=bool)
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for pattern in fixed.split():
        free[_matching(names, pattern, "fixed", known)] = False
    for bound in bounds.split():
        pattern, _, ends = bound.rpartition("=")
        first, colon, last = ends.partition(":")
        try:
            least, most = float(first or -math.inf), float(last or math.inf)
        except ValueError:
            least, most = 1.0, 0.0
        if not pattern or not colon or not least <= most:
            raise UsageError(f"bounds: expected NAME=LOW:HIGH, found {bound!r}")
        matches = _matching(names, pattern, "bounds", known)
        low[matches], high[matches] = least, most
    if len(names) and not free.any():
        raise UsageError("fixed: all features are fixed, nothing is left to learn")
    return Space(free, low, high)


def _matching(names: tuple[str, ...], pattern: str, option: str, known: Iterable[str]) -> list[int]:
    exact = [i for i, name in enumerate(names) if name == pattern]
    matches = exact or [i for i, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)]
    if not matches and not fnmatch.filter(known, pattern) and pattern not in known:
        raise UsageError(f"{option}: no feature is called {pattern!r}{suggestion(pattern, names)}")
    return matches


def rows_of(matrix: Matrix) -> FeatureRows:
    """The features of a matrix as sparse rows, without a copy."""
    from smtplugins.contracts.tools.optimisers import FeatureRows

    return FeatureRows(matrix.offsets, matrix.ids, matrix.values, len(matrix.names))


def unit_of(scores: Array) -> float:
    """100 if the scores look like per cent (any above 2), else 1; learners divide by it."""
    import numpy as np

    return _PER_CENT if len(scores) and float(np.abs(scores).max()) > 2 else 1.0


def sign_of(metric: Metric) -> float:
    """1 if higher is better, -1 for an error metric."""
    return 1.0 if metric.higher_is_better else -1.0


def sentence_gains(metric: Metric, stats: Array) -> tuple[Array, float]:
    """The sentence-level gain of each hypothesis (higher is better, in units of 1), and the metric's unit."""
    import numpy as np

    scores = np.asarray(metric.sentence(stats), dtype=np.float64)
    unit = unit_of(scores)
    return sign_of(metric) * scores / unit, unit


def bleu_counts(metric: Metric, stats: Array, option: str) -> tuple[Array, Array, Array, Array]:
    """The statistics of BLEU by kind: lengths of hypotheses and of references, matches and totals of each order."""
    orders = (stats.shape[-1] - 2) // 2
    if metric.name != "BLEU" or stats.shape[-1] != 2 + 2 * orders:
        raise UsageError(f"{option} needs the metric BLEU, found {metric.name}")
    return stats[..., 0], stats[..., 1], stats[..., 2 : 2 + orders], stats[..., 2 + orders :]


def bleu_plus(counts: tuple[Array, Array, Array, Array], plus: float, brevity: bool) -> Array:
    """Sentence scores of BLEU in units of 1, with ``plus`` added to the counts of n-grams of two words and more.

    C. Lin and F. Och, "ORANGE" (2004), add 1. With ``brevity``, references are longer by as much: P. Nakov and others,
    "Optimizing for Sentence-Level BLEU+1 Yields Short Translations" (2012).
    """
    import numpy as np

    lengths, references, matches, totals = counts
    added = np.array([0.0] + [plus] * (matches.shape[-1] - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.mean(np.log(matches + added) - np.log(totals + added), axis=-1)
        score: Array = np.exp(log + np.minimum(0.0, 1 - (references + plus * brevity) / lengths))
    return np.where(matches[..., 0] > 0, score, 0.0)


def best_score(metric: Metric, matrix: Matrix, weights: Array) -> float:
    """The corpus score of the 1-best hypotheses under weights, in the metric's own unit."""
    return float(metric.score(matrix.stats[matrix.best(weights)].sum(axis=0)))


def form_of(precision: float | None, decay: float | None) -> dict[str, float]:
    """The options of a metric's linear form that are set."""
    options = {"precision": precision, "decay": decay}
    return {name: value for name, value in options.items() if value is not None}


def check_objective(learner: str, value: float) -> None:
    """Raise an error if an objective is NaN or infinite."""
    if not math.isfinite(value):
        raise SmtError(
            f"{learner}: the objective is NaN or infinite: scale the features, or start with smaller weights"
        )


def updated_model(start: Model, names: tuple[str, ...], weights: Array) -> Model:
    """The start model with these weights merged in, sorted by name."""
    merged = {**start.weights, **checked_weights(names, weights)}
    return start.with_weights({name: merged[name] for name in sorted(merged)})
