"""SEARN's examples of sequences that get labels, made and judged in native code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.host.model import Model
from smtplugins.plugins.searn.learning.mixtures import Mixture, Roll

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.searn.learning.base_learners import Sparse
    from smtplugins.plugins.searn.learning.searn import Rolls
    from smtplugins.plugins.searn.learning.sequences import Sequences

    Array = NDArray[Any]


@dataclass(frozen=True)
class Judged:
    """What following a policy came to: the loss of all examples, how many, their decisions, and which were optimal.

    ``right`` is None for a task that does not know what is optimal.
    """

    loss: float
    examples: int
    decisions: int
    right: int | None


@dataclass(frozen=True)
class ItemExamples:
    """Items with the histories that a policy led to; an action is a label, each feature has a weight for each."""

    sequences: Sequences
    history: Array
    costs: Array | None
    count: int

    @property
    def size(self) -> int:
        """Weights by feature and label."""
        return len(self.sequences.names) * len(self.sequences.labels)

    def __len__(self) -> int:
        return self.count

    def actions(self, i: int) -> tuple[list[Sparse], Array]:
        """The features of each label at an item, and the costs."""
        import numpy as np

        given, labels = self.sequences, len(self.sequences.labels)
        part = slice(given.starts[i], given.starts[i + 1])
        history = self.history[i][self.history[i] >= 0]
        rows = np.concatenate([given.ids[part], history])
        own = np.ones(len(given.ids[part])) if given.values is None else given.values[part]
        values = np.concatenate([own, np.ones(len(history))])
        costs = np.arange(labels) != given.gold[i] if self.costs is None else self.costs[i]
        return [(rows * labels + label, values) for label in range(labels)], costs.astype(np.float64)

    def learn(
        self, order: Array, logistic: bool, rate: float, weights: Array, total: Array, count: int
    ) -> tuple[int, int, float]:
        """A pass."""
        costs = None if self.costs is None else self.costs.reshape(-1)
        native, history = self.sequences.native, self.history.reshape(-1)
        found: tuple[int, int, float] = native.learn(history, costs, order, logistic, rate, weights, total, count)
        return found


class SequenceMaterial:
    """Sequences of which the first ``trained`` are learnt from and the others held out."""

    def __init__(self, sequences: Sequences, trained: int) -> None:
        self._given = sequences
        self._trained = trained
        self._items = int(sequences.offsets[trained])
        self.names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Weights by feature and label."""
        return len(self._given.names) * len(self._given.labels)

    def collect(self, mixture: Mixture, rolls: Rolls, key: int) -> ItemExamples:
        """Examples where a mixture leads, with the costs of completing from there."""
        taken, history = self._follow(mixture, rolls.roll_in, key, 0, self._trained)
        costs = None
        # Completed by right labels a wrong one costs 1 and the right one nothing.
        if rolls.roll_out != "optimal" and len(mixture):
            costs = self._given.native.complete(
                0, self._trained, *self._arrays(mixture), rolls.roll_out, rolls.samples, key, taken
            )
        return ItemExamples(self._given, history, costs, self._items)

    def judge(self, mixture: Mixture, decide: Roll, key: int, *, held_out: bool) -> Judged:
        """How many labels are wrong in training or in held out sequences."""
        first, last = (self._trained, len(self._given)) if held_out else (0, self._trained)
        taken, _ = self._follow(mixture, decide, key, first, last)
        gold = self._given.gold[self._given.offsets[first] : self._given.offsets[last]]
        wrong = int((taken != gold).sum())
        return Judged(float(wrong), last - first, len(gold), len(gold) - wrong)

    def model(self, start: Model, mixture: Mixture) -> Model:
        """The policies as an artefact; what weights there were before stay."""
        given = self._given
        weights = mixture.weights.reshape(-1, len(given.names), len(given.labels))
        policy = given.policy(weights, mixture.voting)
        return Model(dict(start.weights), {**start.artefacts, "policy": policy})

    def _follow(self, mixture: Mixture, decide: Roll, key: int, first: int, last: int) -> Any:
        return self._given.native.follow(first, last, *self._arrays(mixture), decide, key)

    def _arrays(self, mixture: Mixture) -> tuple[Array, Array, Array]:
        return mixture.weights.reshape(-1), mixture.shares, mixture.voting
