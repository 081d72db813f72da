"""What these learners share: which weights are fixed or bounded, units of metrics, the model of a step."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.spec import suggestion
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.learn.problems import Matrix, checked_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.contracts import Metric
    from smtplugins.core.learn.minimising import Space
    from smtplugins.core.learn.objectives import FeatureRows
    from smtplugins.host.model import Model

    Array = NDArray[Any]

_PER_CENT = 100.0


def column_of(names: tuple[str, ...], weights: Mapping[str, float]) -> Array:
    """Weights by name as an array, 0 for one that is not given."""
    import numpy as np

    return np.array([weights.get(name, 0.0) for name in names], dtype=np.float64)


def space_of(names: tuple[str, ...], fixed: str, bounds: str, known: Iterable[str] = ()) -> Space:
    """Where weights may be; names that are only ``known`` are no error.

    ``fixed`` are names that keep their weights; ``bounds`` are ``NAME=LOW:HIGH``, either end empty where there is none.
    Both hold several with blanks between; a name may be a pattern as of a shell: ``LM0_* PhrasePenalty*=0:``.
    """
    import numpy as np

    from smtplugins.core.learn.minimising import Space

    free = np.ones(len(names), dtype=bool)
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for pattern in fixed.split():
        free[_matching(names, pattern, "fixed", known)] = False
    for one in bounds.split():
        pattern, _, ends = one.rpartition("=")
        first, colon, last = ends.partition(":")
        try:
            least, most = float(first or -math.inf), float(last or math.inf)
        except ValueError:
            least, most = 1.0, 0.0
        if not pattern or not colon or not least <= most:
            raise UsageError(f"bounds: expected NAME=LOW:HIGH, found {one!r}")
        found = _matching(names, pattern, "bounds", known)
        low[found], high[found] = least, most
    if len(names) and not free.any():
        raise UsageError("fixed: all features are fixed, nothing is left to learn")
    return Space(free, low, high)


def _matching(names: tuple[str, ...], pattern: str, option: str, known: Iterable[str]) -> list[int]:
    exact = [i for i, name in enumerate(names) if name == pattern]
    found = exact or [i for i, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)]
    if not found and not fnmatch.filter(known, pattern) and pattern not in known:
        raise UsageError(f"{option}: no feature is called {pattern!r}{suggestion(pattern, names)}")
    return found


def rows_of(matrix: Matrix) -> FeatureRows:
    """The features of a matrix; nothing is copied."""
    from smtplugins.core.learn.objectives import FeatureRows

    return FeatureRows(matrix.offsets, matrix.ids, matrix.values, len(matrix.names))


def unit_of(scores: Array) -> float:
    """100 for a metric in per cent, as its scores show, else 1: learners count in units of 1."""
    import numpy as np

    return _PER_CENT if len(scores) and float(np.abs(scores).max()) > 2 else 1.0


def sign_of(metric: Metric) -> float:
    """-1 for a metric of errors."""
    return 1.0 if metric.higher_is_better else -1.0


def sentence_gains(metric: Metric, stats: Array) -> tuple[Array, float]:
    """What each hypothesis is worth by itself, more being better, in units of 1; and the unit."""
    import numpy as np

    scores = np.asarray(metric.sentence(stats), dtype=np.float64)
    unit = unit_of(scores)
    return sign_of(metric) * scores / unit, unit


def best_score(metric: Metric, matrix: Matrix, weights: Array) -> float:
    """The score of the best hypotheses under weights, as the metric gives it."""
    return float(metric.score(matrix.stats[matrix.best(weights)].sum(axis=0)))


def form_of(precision: float | None, decay: float | None) -> dict[str, float]:
    """The options of a metric's linear form that are given."""
    given = {"precision": precision, "decay": decay}
    return {name: value for name, value in given.items() if value is not None}


def checked_value(learner: str, value: float) -> None:
    """An objective that is no number is an error that says what to do."""
    if not math.isfinite(value):
        raise SmtError(f"{learner}: the objective is no number: scale the features, or begin with smaller weights")


def learned(start: Model, names: tuple[str, ...], weights: Array) -> Model:
    """The model with these weights, ordered by name; weights of other features stay."""
    found = {**start.weights, **checked_weights(names, weights)}
    return start.with_weights({name: found[name] for name in sorted(found)})
