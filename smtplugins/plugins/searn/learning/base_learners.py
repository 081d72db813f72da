"""What SEARN makes classifiers with: linear ones learnt in passes over cost-sensitive examples.

The perceptron is that of D. Zhang, L. Sun, W. Li (2008), 6.1, its update weighted by costs: if the action with
the best score is not a cheapest one, the weights move by what it costs more, towards the features of the best scored
among the cheapest and away from its own. Averages are those of H. Daume III (2006), 2.1.1, counted by example. The
logistic one is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from smtplugins.host.errors import SmtError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Sparse = tuple["Array", "Array"]
"""Numbers of features and their values."""
_PARTS = 20
"""A pass is shown in so many parts."""


class Examples(Protocol):
    """Cost-sensitive examples: actions, each with features and a cost. There are ``size`` features."""

    @property
    def size(self) -> int: ...

    def __len__(self) -> int: ...

    def actions(self, i: int) -> tuple[list[Sparse], Array]: ...

    def learn(
        self, order: Array, logistic: bool, rate: float, weights: Array, total: Array, count: int
    ) -> tuple[int, int, float]: ...


class BaseLearner(Protocol):
    """Weights of a classifier from examples: it takes the first of the actions that have the highest sum of weights.

    ``random`` is a generator of numpy; ``label`` is what progress is called. One that knows of no native code asks
    ``examples.actions(i)`` for the features and costs of the actions of example i.
    """

    def train(self, examples: Examples, random: Any, label: str) -> Array: ...


@dataclass(frozen=True)
class Passes:
    """``perceptron`` or ``logistic``, some passes over all examples.

    The logistic one lets actions be as likely as exp(score), and takes for each example a step of ``rate`` against the
    gradient of (highest cost - lowest cost) * -log(probability of all actions of the lowest cost together). Where all
    actions but one cost the same that is the log-likelihood of the right one, weighted. ``average``: the result is the
    mean of the weights over all examples, not those of the end.
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

    def train(self, examples: Examples, random: Any, label: str) -> Array:
        """The weights."""
        import numpy as np

        from smtplugins.host.progress import progress

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
            raise SmtError("searn: learning led to weights that are no numbers: scale the features, or lower the rate")
        return weights
