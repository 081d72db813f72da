"""Bootstrap resampling over additive statistics (Koehn 2004), drawn as sacrebleu draws: same samples, same p-values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

Score = Callable[["NDArray[Any]"], "NDArray[Any]"]


def sample_counts(segments: int, samples: int, seed: int) -> NDArray[Any]:
    """How often each segment is drawn in each sample: samples x segments."""
    import numpy as np

    drawn = np.random.default_rng(seed).choice(segments, size=(samples, segments), replace=True)
    counts = np.zeros((samples, segments), dtype=np.float64)
    np.add.at(counts, (np.repeat(np.arange(samples), segments), drawn.ravel()), 1.0)
    return counts


def sampled_scores(stats: NDArray[Any], score: Score, counts: NDArray[Any]) -> NDArray[Any]:
    """The corpus score of each sample."""
    return score(counts @ stats)


def interval(scores: NDArray[Any], level: float = 0.95) -> tuple[float, float]:
    """The central interval of sampled scores."""
    import numpy as np

    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired_p(base: NDArray[Any], system: NDArray[Any], difference: float) -> float:
    """p-value of a difference between two systems, from their scores on the same samples.

    The sampled absolute differences are centred; p is the share above the real one, never below 1/(samples + 1).
    Systems that never differ get 1, where sacrebleu gives that least value.
    """
    import numpy as np

    sampled = np.abs(base - system)
    if difference == 0 and not sampled.any():
        return 1.0
    beyond = np.sum(sampled - sampled.mean() > abs(difference))
    return float((beyond + 1) / (len(sampled) + 1))
