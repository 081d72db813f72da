"""Compare the result of tuning with its start by a paired bootstrap, and with results that lack a feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.metrics import Metric
    from smtplugins.host.learn.training_data import Material

SAMPLES, SEED, LEVEL = 1000, 12345, 0.95
"""Those of sacrebleu's paired bootstrap."""
GAIN, NO_GAIN, LOSS = "gain", "no clear gain", "worse than the start weights"
MOST = 30
"""The maximum number of features that are left out in turn."""


@dataclass(frozen=True)
class Gain:
    """The scores of the start weights and of the result on the tuning data, with an interval of their difference."""

    metric: str
    before: float
    after: float
    low: float
    high: float
    p: float
    samples: int
    verdict: str

    def __str__(self) -> str:
        change = f"{self.after - self.before:+.2f} [{self.low:+.2f}, {self.high:+.2f}], p {self.p:.2g}"
        scores = f"{self.metric} {self.before:.2f} -> {self.after:.2f} in-sample"
        told = {GAIN: "", NO_GAIN: f": {NO_GAIN}, as the interval includes 0"}.get(self.verdict, f": {self.verdict}")
        return f"{scores}: {change} (bootstrap, {self.samples} samples){told}"

    def record(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class LeftOut:
    """The score with the weight of a feature set to 0, and its difference from the score of all weights."""

    feature: str
    weight: float
    score: float
    change: float

    def record(self) -> dict[str, Any]:
        """The fields, for tables and JSON."""
        return asdict(self)


def compare(metric: Metric, before: NDArray[Any], after: NDArray[Any]) -> Gain | None:
    """Compare two sets of 1-best hypotheses by their statistics, segments x columns; None for a single segment."""
    import numpy as np

    from smtplugins.core.metrics import resampling

    if len(before) < 2:
        return None
    both = np.stack([before, after])
    first, second = np.asarray(metric.score(both.sum(axis=1)), dtype=np.float64).tolist()
    base, system = np.asarray(metric.score(resampling.bootstrap_sums(both, SAMPLES, SEED)), dtype=np.float64)
    low, high = resampling.interval(system - base, LEVEL)
    p = resampling.bootstrap_p(base, system, second - first)
    if low <= 0 <= high:
        verdict = NO_GAIN
    else:
        verdict = GAIN if (low > 0) == metric.higher_is_better else LOSS
    return Gain(metric.name, first, second, low, high, p, SAMPLES, verdict)


def leave_out(material: Material, weights: Mapping[str, float]) -> tuple[LeftOut, ...]:
    """Score lists without each feature, those that lose most first.

    Of more than 30 features, those with the largest weight times standard deviation within lists are left out. Features
    that are the same in all hypotheses of a list change nothing.
    """
    matrix, metric = material.matrix, material.metric
    column = matrix.column(weights)
    shares = abs(column * matrix.spread)
    order = sorted(range(len(column)), key=lambda i: (-shares[i], i))[:MOST]
    whole, rows = material.score(weights), []
    for i in order:
        if shares[i]:
            score = material.score({**weights, matrix.names[i]: 0.0})
            rows.append(LeftOut(matrix.names[i], float(column[i]), score, score - whole))
    sign = 1 if metric.higher_is_better else -1
    return tuple(sorted(rows, key=lambda row: (sign * row.change, row.feature)))
