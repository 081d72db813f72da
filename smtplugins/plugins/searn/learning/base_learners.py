"""SEARN's base learners: linear classifiers trained in passes over cost-sensitive examples.

The perceptron is that of D. Zhang, L. Sun, W. Li (2008), 6.1, with updates weighted by cost: if the highest-scoring
action is not among the cheapest, the weights move by the difference in cost, towards the features of the
highest-scoring cheapest action and away from its own. Averaging follows H. Daume III (2006), 2.1.1, per example. The
logistic classifier is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from smtplugins.contracts.errors import SmtError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Sparse = tuple["Array", "Array"]
"""Feature ids and their values."""
_PARTS = 20
"""Progress updates per pass."""


class CostSensitiveExamples(Protocol):
    """Examples of actions, each with features and a cost. There are ``size`` features."""

    @property
    def size(self) -> int: ...

    def __len__(self) -> int: ...

    def actions(self, i: int) -> tuple[list[Sparse], Array]: ...

    def learn(
        self, order: Array, logistic: bool, rate: float, weights: Array, total: Array, count: int
    ) -> tuple[int, int, float]: ...


class BaseLearner(Protocol):
    """Trains the weights of a classifier that takes the highest-scoring action, the first on ties.

    ``random`` is a numpy generator; ``label`` is the progress label. An implementation in Python reads the features and
    costs of example i from ``examples.actions(i)``.
    """

    def train(self, examples: CostSensitiveExamples, random: Any, label: str) -> Array: ...


@dataclass(frozen=True)
class Passes:
    """``perceptron`` or ``logistic`` classifiers, trained in passes over all examples.

    In the logistic model, actions have probabilities proportional to exp(score). Each example takes a gradient step of
    ``rate`` on (highest cost - lowest cost) * -log(total probability of the cheapest actions); if all actions but one
    cost the same, this is the weighted log-likelihood of the right one. ``average``: return the mean of the weights
    over all examples instead of the final weights.
    """

    kind: Literal["perceptron", "logistic"] = "perceptron"
    passes: int = 5
    rate: float = 0.1
    average: bool = True
    shuffle: bool = True

    def __post_init__(self) -> None:
        if self.kind not in ("perceptron", "logistic"):
            raise UsageError(f"base: expected perceptron or logistic, found {self.kind!r}")
        if self.passes < 1 or not self.rate > 0:
            raise UsageError(
                f"searn: expected passes of 1 or more and a rate above 0, found {self.passes}, {self.rate}"
            )

    def train(self, examples: CostSensitiveExamples, random: Any, label: str) -> Array:
        """Train on the examples; return the weights."""
        import numpy as np

        from smtplugins.contracts.tools.running import progress

        weights, total, count = np.zeros(examples.size), np.zeros(examples.size), 1
        steps = range(self.passes * _PARTS)
        order = np.empty(0, dtype=np.uint32)
        for step in progress(steps, label, total=len(steps)):
            if step % _PARTS == 0:
                new = random.permutation(len(examples)) if self.shuffle else np.arange(len(examples))
                order = new.astype(np.uint32)
            begin, end = (len(order) * (step % _PARTS + k) // _PARTS for k in (0, 1))
            count, _, _ = examples.learn(order[begin:end], self.kind == "logistic", self.rate, weights, total, count)
        if self.average:
            weights -= total / count
        if not np.isfinite(weights).all():
            raise SmtError("searn: the weights are NaN or infinite: scale the features, or lower the rate")
        return weights
