"""SEARN's examples for sequence labelling, created and evaluated in native code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.models import Model
from smtplugins.plugins.searn.learning.mixtures import PolicyMixture, Roll

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.searn.learning.base_learners import Sparse
    from smtplugins.plugins.searn.learning.searn import Rolls
    from smtplugins.plugins.searn.learning.sequences import Sequences

    Array = NDArray[Any]


@dataclass(frozen=True)
class PolicyLoss:
    """The total loss of following a policy, with the numbers of examples, of decisions and of optimal decisions.

    ``right`` is None for a task that does not know the optimal actions.
    """

    loss: float
    examples: int
    decisions: int
    right: int | None


@dataclass(frozen=True)
class ItemExamples:
    """Items with the histories of a roll-in; actions are labels, and each feature has a weight for each label."""

    sequences: Sequences
    history: Array
    costs: Array | None
    count: int

    @property
    def size(self) -> int:
        """The number of weights, one per feature and label."""
        return len(self.sequences.names) * len(self.sequences.labels)

    def __len__(self) -> int:
        return self.count

    def actions(self, i: int) -> tuple[list[Sparse], Array]:
        """The features and the cost of each label for an item."""
        import numpy as np

        sequences, labels = self.sequences, len(self.sequences.labels)
        part = slice(sequences.starts[i], sequences.starts[i + 1])
        history = self.history[i][self.history[i] >= 0]
        rows = np.concatenate([sequences.ids[part], history])
        own = np.ones(len(sequences.ids[part])) if sequences.values is None else sequences.values[part]
        values = np.concatenate([own, np.ones(len(history))])
        costs = np.arange(labels) != sequences.gold[i] if self.costs is None else self.costs[i]
        return [(rows * labels + label, values) for label in range(labels)], costs.astype(np.float64)

    def learn(
        self, order: Array, logistic: bool, rate: float, weights: Array, total: Array, count: int
    ) -> tuple[int, int, float]:
        """Train on the examples in this order."""
        costs = None if self.costs is None else self.costs.reshape(-1)
        native, history = self.sequences.native, self.history.reshape(-1)
        result: tuple[int, int, float] = native.learn(history, costs, order, logistic, rate, weights, total, count)
        return result


class SequenceMaterial:
    """Sequences, the first ``trained`` for training and the rest held out."""

    def __init__(self, sequences: Sequences, trained: int) -> None:
        self._sequences = sequences
        self._trained = trained
        self._items = int(sequences.offsets[trained])
        self.names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of weights, one per feature and label."""
        return len(self._sequences.names) * len(self._sequences.labels)

    def collect(self, mixture: PolicyMixture, rolls: Rolls, key: int) -> ItemExamples:
        """Roll in with a mixture; return examples with the costs of rolling out."""
        taken, history = self._follow(mixture, rolls.roll_in, key, 0, self._trained)
        costs = None
        # With correct labels as roll-out, a wrong label costs 1 and the right one 0.
        if rolls.roll_out != "optimal" and len(mixture):
            costs = self._sequences.native.complete(
                0, self._trained, *self._arrays(mixture), rolls.roll_out, rolls.samples, key, taken
            )
        return ItemExamples(self._sequences, history, costs, self._items)

    def judge(self, mixture: PolicyMixture, decide: Roll, key: int, *, held_out: bool) -> PolicyLoss:
        """Count wrong labels in training or held-out sequences."""
        first, last = (self._trained, len(self._sequences)) if held_out else (0, self._trained)
        taken, _ = self._follow(mixture, decide, key, first, last)
        gold = self._sequences.gold[self._sequences.offsets[first] : self._sequences.offsets[last]]
        wrong = int((taken != gold).sum())
        return PolicyLoss(float(wrong), last - first, len(gold), len(gold) - wrong)

    def model(self, start: Model, mixture: PolicyMixture) -> Model:
        """The model with the policies as an artefact; its weights are those of the start."""
        sequences = self._sequences
        weights = mixture.weights.reshape(-1, len(sequences.names), len(sequences.labels))
        policy = sequences.policy(weights, mixture.voting)
        return Model(dict(start.weights), {**start.artefacts, "policy": policy})

    def _follow(self, mixture: PolicyMixture, decide: Roll, key: int, first: int, last: int) -> Any:
        return self._sequences.native.follow(first, last, *self._arrays(mixture), decide, key)

    def _arrays(self, mixture: PolicyMixture) -> tuple[Array, Array, Array]:
        return mixture.weights.reshape(-1), mixture.shares, mixture.voting
