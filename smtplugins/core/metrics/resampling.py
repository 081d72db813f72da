"""Resampling over additive statistics: the bootstrap (Koehn 2004) and approximate randomisation (Noreen 1989).

Samples are drawn as in sacrebleu, so that the same seed gives the same p-values. Sums are taken in blocks of samples,
so that memory does not grow with samples times segments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 21
"""Random numbers drawn at once."""


def bootstrap_sums(stats: NDArray[Any], samples: int, seed: int) -> NDArray[Any]:
    """The summed statistics of bootstrap samples (segments drawn with replacement): samples x columns.

    For several systems, statistics are systems x segments x columns and sums are systems x samples x columns. Each
    system has its own matrix product: in a joint product, rounding would depend on a column's position.
    """
    segments = stats.shape[-2]
    generator = np.random.default_rng(seed)
    sums = np.empty((*stats.shape[:-2], samples, stats.shape[-1]))
    for start, end in _blocks(samples, segments):
        drawn = generator.choice(segments, size=(end - start, segments), replace=True)
        drawn += segments * np.arange(end - start)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=(end - start) * segments).reshape(end - start, segments)
        sums[..., start:end, :] = counts.astype(np.float64) @ stats
    return sums


def swapped_sums(stats: NDArray[Any], trials: int, seed: int) -> NDArray[Any]:
    """The summed statistics of the segments picked by coin in each trial, for systems as bootstrap_sums."""
    segments = stats.shape[-2]
    generator = np.random.default_rng(seed)
    sums = np.empty((*stats.shape[:-2], trials, stats.shape[-1]))
    # numpy makes 32 coins of each random number and discards unused ones after a call: blocks are multiples of 32.
    for start, end in _blocks(trials, segments, 32):
        picked = generator.integers(2, size=(end - start, segments), dtype=bool)
        sums[..., start:end, :] = picked.astype(np.float64) @ stats
    return sums


def regrouped_sums(pool: NDArray[Any], taken: int, trials: int, seed: int) -> NDArray[Any]:
    """The summed statistics of ``taken`` random rows of each segment in each trial: trials x columns.

    ``pool`` is segments x rows x columns; each choice of rows is as likely as any other.
    """
    segments, rows, columns = pool.shape
    generator = np.random.default_rng(seed)
    flat = pool.reshape(segments * rows, columns)
    sums = np.empty((trials, columns))
    for start, end in _blocks(trials, segments * rows):
        keys = generator.random((end - start, segments, rows))
        picked = keys <= np.partition(keys, taken - 1, axis=2)[:, :, taken - 1 : taken]
        sums[start:end] = picked.reshape(end - start, -1).astype(np.float64) @ flat
    return sums


def _blocks(samples: int, width: int, multiple: int = 1) -> Iterator[tuple[int, int]]:
    size = max(_BLOCK // width // multiple, 1) * multiple
    for start in range(0, samples, size):
        yield start, min(start + size, samples)


def interval(scores: NDArray[Any], level: float = 0.95) -> tuple[float, float]:
    """The central interval of sampled scores that holds the share ``level`` of them."""
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_p(base: NDArray[Any], system: NDArray[Any], difference: float) -> float:
    """p-value of a difference between two systems, from their scores on the same samples.

    The sampled absolute differences are centred; p is the share above the observed difference, at least
    1/(samples + 1). Systems that never differ get 1, where sacrebleu gives that minimum.
    """
    sampled = np.abs(base - system)
    if difference == 0 and not sampled.any():
        return 1.0
    return _share(sampled - sampled.mean() > abs(difference))


def randomisation_p(first: NDArray[Any], second: NDArray[Any], difference: float, same: NDArray[Any]) -> float:
    """p-value of a difference between two systems, from the scores after random exchanges of segments.

    It is the share of greater differences, at least 1/(trials + 1). Trials that exchange nothing or everything
    (``same``) count as greater. In sacrebleu they do not, so that two systems that differ in a single sentence, hence
    equally in every trial, get the minimum.
    """
    return _share((np.abs(first - second) > abs(difference)) | same)


def _share(beyond: NDArray[Any]) -> float:
    return float((beyond.sum() + 1) / (len(beyond) + 1))
