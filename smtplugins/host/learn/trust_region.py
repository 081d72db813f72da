"""A trust region for tuning loops: how far learnt weights may move from weights that decoded well.

Why loops collapse: the hypotheses of an n-best list have nearly equal totals under the decoder's weights w, so the sum
w . f, which the decoder maximises, hardly varies within it. A learner may therefore keep any share of the direction of
w at no cost, and the exact optimum of a small pool keeps almost none (measured: a correlation of 0.05 between the old
and the new scores of the lists). Then hypotheses win that w ranked far below the list, and that no list contains.

So the lists are evidence only for weights near w. The correlation of scores in the lists is no measure of distance,
as their selection distorts it. Distance is measured per feature, in two units, of which the larger distance counts:

- the standard deviation of the feature within lists: a feature that hardly varies could otherwise get any weight;
- its mean absolute value: a hypothesis outside the list may differ by about that much, so that a language model whose
  score hardly varies in the list cannot lose its weight.

In either unit it is the length of u - v, where u and v are the weights times the units, scaled to length 1: 0 for the
same decisions, sqrt(2) for unrelated ones, 2 for opposite ones. Features that do not vary within lists keep their
weights.

The rest is the trust region method of nonlinear optimisation (Conn, Gould and Toint 2000): steps go from the best
decoded weights towards the learnt ones as far as the radius allows. The radius is narrowed when a decoding gains much
less than the lists promised, and widened again when it gains what they promised. It grows beyond its first value only
where the lists already hold nearly all that the decoder finds, or where the learner finds nothing better within it
and nothing was gained yet. Weights that decode hardly better than no output at all (``POOR``) are not worth staying
near: from them there is no limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Weights = Mapping[str, float]

RADIUS = 0.3
"""The default radius on lists. Up to it, decoded scores were about what the lists promised; beyond 0.6 they were 1 to
5 BLEU (``tests/bench/loops.py`` measures loops)."""
SEARCHED = 2 / 3
"""The share of the radius for a learner that itself searches the region for its optimum, and so overfits the lists."""
POOR, HOPELESS = 0.05, 0.02
"""Shares of the way from the score of empty output to that of the references: below the first there is no limit, below
the second there is no result."""
_OUTWEIGHS = 0.99
_WIDEN, _NARROW = 0.5, 0.25
_COVERED = 0.9
_WHOLE = math.sqrt(2)
_FAR = 0.03
"""A score worse than the best by this fraction of it is reported as a fall."""
_COLLAPSE = 0.1
_HALVINGS = 50


@dataclass(frozen=True)
class Scales:
    """The standard deviation of each feature within lists, and its mean absolute value."""

    spread: Weights
    size: Weights

    @property
    def varying(self) -> list[str]:
        """The features that vary within lists."""
        return sorted(name for name, value in self.spread.items() if value > 0)


def distance(first: Array, second: Array, units: Array) -> float:
    """The distance of two weight vectors, the maximum over all units (rows of ``units``); 2 if either is zero."""
    import numpy as np

    first_rows, second_rows = first * units, second * units
    first_lengths, second_lengths = (np.linalg.norm(rows, axis=1, keepdims=True) for rows in (first_rows, second_rows))
    if not (first_lengths.all() and second_lengths.all()):
        return 2.0
    return float(np.linalg.norm(first_rows / first_lengths - second_rows / second_lengths, axis=1).max())


def balanced(weights: Weights, scales: Scales) -> tuple[str, float] | None:
    """A feature that outweighs all others by far, and the weight at which it counts as much as they do together.

    A decoder with such weights finds only hypotheses that are best in this feature. Among these it hardly varies, so
    that nothing can be learnt about its weight.
    """
    shares = {name: abs(weight) * scales.size.get(name, 0.0) for name, weight in weights.items()}
    if not any(shares.values()):
        return None
    name = max(shares, key=lambda name: (shares[name], name))
    others = math.fsum(shares.values()) - shares[name]
    if not others or shares[name] < _OUTWEIGHS * (shares[name] + others):
        return None
    return name, weights[name] * others / shares[name]


class Way:
    """The line from weights that decoded well to learnt ones; points on it are given by a share from 0 to 1.

    With ``scaled``, the weights keep the length of ``base``, for which the decoder's pruning thresholds are set.
    """

    def __init__(self, base: Weights, learnt: Weights, scales: Scales, *, scaled: bool = True) -> None:
        import numpy as np

        self._base, self._learnt, self._names = base, learnt, scales.varying
        self._units = np.array([[by[name] for name in self._names] for by in (scales.spread, scales.size)])
        self._start, end = (np.array([weights.get(name, 0.0) for name in self._names]) for weights in (base, learnt))
        self._length, other = (float(np.linalg.norm(vector * self._units[0])) for vector in (self._start, end))
        self._scaled = scaled and self._length > 0 and other > 0
        self._end = end * (self._length / other) if self._scaled else end

    def _at(self, share: float) -> Array:
        import numpy as np

        moved: Array = self._start + share * (self._end - self._start)
        if self._scaled:
            moved = moved * (self._length / (float(np.linalg.norm(moved * self._units[0])) or 1.0))
        return moved

    def share(self, radius: float) -> float:
        """The largest share within the radius."""
        if not self._length or self.distance(1.0) <= radius:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.distance(middle) > radius else (middle, high)
        return low

    def distance(self, share: float) -> float:
        """The distance from ``base`` of the point at a share."""
        return distance(self._at(share), self._start, self._units) if self._length else 0.0

    def weights(self, share: float) -> dict[str, float]:
        """The weights of the point at a share."""
        moved = dict(zip(self._names, self._at(share).tolist(), strict=True))
        return dict(sorted({**self._learnt, **self._base, **moved}.items()))


@dataclass
class Course:
    """The decodings of a loop: weights, scores, and the radius for the next step.

    ``quality`` says how good a score is: 0 for that of empty output, 1 for that of the references, nan if that is not
    known. ``least`` is a gain in it by two decodings in a row that is worth a third one.
    """

    reach: float
    higher: bool
    quality: Callable[[float], float] = lambda score: math.nan
    least: float = 0.0
    tried: list[tuple[float, Weights]] = field(default_factory=list)
    covered: bool = False
    supported: bool = True  # by sentences left out; if not, the loop ends at the best weights
    radius: float = math.inf
    _expected: float = 0.0
    _step: float = 0.0

    @property
    def at(self) -> int:
        """The index of the best decoding, the last on a tie."""
        return max(range(len(self.tried)), key=lambda i: (self._gain(self.tried[i][0]), i))

    @property
    def best(self) -> Weights:
        """The weights of the best decoding."""
        return self.tried[self.at][1]

    @property
    def limited(self) -> bool:
        """Whether the radius excludes any weights."""
        return self.radius < _WHOLE

    @property
    def gained(self) -> bool:
        """Whether a decoding was better than the first."""
        return self.better(self.tried[self.at][0], self.tried[0][0])

    @property
    def slow(self) -> bool:
        """Whether the last two decodings gained next to nothing, after a gain or by weights that are as good."""
        shares = [self.quality(score) for score, _ in self.tried]
        before = max(shares[:-2], default=math.nan)
        # From worse weights the loop comes back with a narrower region.
        ended = before - shares[0] >= self.least or min(shares[-2:]) > before - self.least
        return ended and max(shares) - before < self.least

    @property
    def collapsed(self) -> bool:
        """Whether nothing was gained, and the loop ends with a decoding that is worse by a tenth or more."""
        first, last = (self._gain(score) for score, _ in (self.tried[0], self.tried[-1]))
        return self.supported and not self.gained and last < first - _COLLAPSE * abs(first)

    @property
    def poor(self) -> bool:
        """Whether the best decoding is not worth staying near."""
        return self.quality(self.tried[self.at][0]) < POOR

    @property
    def hopeless(self) -> bool:
        """Whether the best decoding is hardly better than empty output."""
        return self.quality(self.tried[self.at][0]) < HOPELESS

    def _gain(self, score: float) -> float:
        return score if self.higher else -score

    def better(self, first: float, second: float) -> bool:
        """Whether a score is better than another."""
        return self._gain(first) > self._gain(second)

    def expect(self, score: float, distance: float) -> None:
        """Record the score that the lists promise for the next decoding, and its distance from the best weights."""
        self._expected, self._step = score, distance

    def widen(self) -> bool:
        """Double the radius if the lists hold nearly everything or nothing was gained yet; return whether it did."""
        if not (self.covered or not self.gained) or not self.limited:
            return False
        self.radius *= 2
        return True

    def add(self, score: float, weights: Weights, new: float) -> str:
        """Record a decoding and its share of new hypotheses; adapt the radius; return a note if the score fell."""
        before = self.tried[self.at][0] if self.tried else None
        self.tried.append((score, weights))
        reach = math.inf if self.poor else self.reach
        if before is None or math.isinf(self.radius):
            self.radius = reach
        if before is None:
            return ""
        self.covered = new <= 1 - _COVERED
        promised, gained = (self._gain(value) - self._gain(before) for value in (self._expected, score))
        fell = "" if gained >= -_FAR * abs(before) else f"; far below the best ({before:.4g}), returning to its weights"
        if self.covered:
            self.widen()
            return fell
        self.radius = min(self.radius, reach)
        if gained < max(0.0, _NARROW * promised):
            self.radius = min(self._step / 2, reach)
        elif gained >= _WIDEN * promised and self._step > self.radius / 2:
            self.radius = min(2 * self.radius, reach)
        return fell
