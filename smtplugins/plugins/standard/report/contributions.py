"""The contribution of each feature to the total scores of judged lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.contracts.tools.judging import JudgedLists


@dataclass(frozen=True)
class Contribution:
    """A feature's weighted contribution to the totals of judged lists.

    ``spread`` is its standard deviation within a list (the root of the mean variance), ``chosen`` its mean in the
    chosen hypotheses, ``misled`` its mean difference between chosen and oracle hypotheses.
    """

    name: str
    weight: float
    spread: float
    chosen: float
    misled: float


def contributions(judged: JudgedLists) -> list[Contribution]:
    """Return the contributions of all features, by decreasing spread; without weights all are 1."""
    lists, columns = judged.lists, judged.lists.features
    width, count = len(columns.names), len(lists)
    names = columns.names
    table = dict.fromkeys(names, 1.0) if judged.weights is None else judged.weights
    weights = np.array([table.get(name, 0.0) for name in names])
    row_of = np.repeat(np.arange(len(columns)), np.diff(columns.offsets))
    list_of = np.repeat(np.arange(count), np.diff(lists.offsets))[row_of]
    sizes = np.diff(lists.offsets).astype(np.float64)
    keys, at = np.unique(list_of * max(width, 1) + columns.ids, return_inverse=True)
    own, feature = sizes[keys // max(width, 1)], keys % max(width, 1)
    mean = np.bincount(at, columns.values, len(keys)) / own
    # Rows without a feature count as 0.
    squares = np.bincount(at, (columns.values - mean[at]) ** 2, len(keys))
    squares += (own - np.bincount(at, minlength=len(keys))) * mean**2
    variance = np.bincount(feature, squares / own, width) / count

    def mean_of(rows: NDArray[Any]) -> NDArray[Any]:
        inside = np.bincount(rows, minlength=len(columns))[row_of]
        means: NDArray[Any] = np.bincount(columns.ids, columns.values * inside, width) / count
        return means

    chosen, oracle = mean_of(lists.offsets[:-1]), mean_of(judged.oracles)
    spread = np.abs(weights) * np.sqrt(variance)
    parts = [
        Contribution(name, float(weights[i]), float(spread[i]), float(weights[i] * chosen[i]), float(misled))
        for i, (name, misled) in enumerate(zip(names, weights * (chosen - oracle), strict=True))
    ]
    return sorted(parts, key=lambda part: (-part.spread, part.name))
