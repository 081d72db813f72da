"""SEARN's examples for any search task: the states that policies visit, and the cost of every action there.

The initial policy is the optimal one if the task knows it (``OptimalTask``). Otherwise it is derived from the start
weights: it takes the action that leads to the highest reward if the start weights complete the path (ours).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.models import Model
from smtplugins.contracts.tasks import GuidedTask, OptimalTask
from smtplugins.contracts.tools.learning import Weights, follow, ranked
from smtplugins.plugins.searn._searn import chained, learn_rows, score_rows, uniform
from smtplugins.plugins.searn.learning.mixtures import PolicyMixture, Roll
from smtplugins.plugins.searn.learning.policy import Policy, draw_index
from smtplugins.plugins.searn.learning.sequence_material import PolicyLoss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.runners import Runner
    from smtplugins.contracts.tasks import TaskProblem
    from smtplugins.plugins.searn.learning.base_learners import Sparse
    from smtplugins.plugins.searn.learning.searn import Rolls

    Array = NDArray[Any]

_ACTION = "action"
"""The only label of a policy whose features are those of actions."""


@dataclass(frozen=True)
class RowExamples:
    """Examples as rows: the actions of example i are ``groups[i]`` to ``groups[i + 1]``, with features and costs."""

    groups: Array
    starts: Array
    ids: Array
    values: Array
    costs: Array
    size: int

    def __len__(self) -> int:
        return len(self.groups) - 1

    def actions(self, i: int) -> tuple[list[Sparse], Array]:
        """The features and the cost of each action of an example."""
        first, last = int(self.groups[i]), int(self.groups[i + 1])
        parts = [slice(self.starts[row], self.starts[row + 1]) for row in range(first, last)]
        return [(self.ids[part], self.values[part]) for part in parts], self.costs[first:last]

    def learn(
        self, order: Array, logistic: bool, rate: float, weights: Array, total: Array, count: int
    ) -> tuple[int, int, float]:
        """Train on the examples in this order."""
        return learn_rows(
            self.groups, self.starts, self.ids, self.values, self.costs, order, logistic, rate, weights, total, count
        )


@dataclass
class _Decisions:
    """The examples of one path: numbers of actions, features by local id, costs."""

    names: dict[str, int]
    groups: list[int]
    widths: list[Array]
    ids: list[Array]
    values: list[Array]
    costs: list[float]


class SearchTaskMaterial:
    """A search task, the first ``trained`` examples for training and the rest held out."""

    def __init__(
        self,
        problem: TaskProblem,
        trained: int,
        begun: Mapping[str, float],
        names: Sequence[str],
        runner: Runner | None,
    ) -> None:
        self._task = problem.search
        self._examples = problem.examples
        self._trained = trained
        self._runner = runner
        self._optimal = problem.search if isinstance(problem.search, OptimalTask) else None
        self._start = Weights.of({**problem.start, **begun})
        self._numbers = {name: i for i, name in enumerate(names)}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features seen so far, by id."""
        return tuple(self._numbers)

    @property
    def size(self) -> int:
        """The number of features seen so far."""
        return len(self._numbers)

    def collect(self, mixture: PolicyMixture, rolls: Rolls, key: int) -> RowExamples:
        """Roll in with a mixture; return examples with the costs of rolling out. New features get ids."""
        import numpy as np

        groups, widths, ids, values, costs = [0], [], [], [], []
        work = functools.partial(self._decisions, mixture, rolls, key)
        for decisions in self._map(work, range(self._trained), "examples"):
            numbers = [self._numbers.setdefault(name, len(self._numbers)) for name in decisions.names]
            own = np.array(numbers, dtype=np.int32)
            groups += [groups[-1] + end for end in np.cumsum(decisions.groups).tolist()]
            widths += decisions.widths
            ids += [own[part] for part in decisions.ids]
            values += decisions.values
            costs += decisions.costs
        if len(groups) == 1:
            raise SmtError("searn: expected examples with actions to choose from, found only final states")
        none = np.empty(0)
        return RowExamples(
            np.array(groups, dtype=np.int64),
            np.concatenate([[0], np.cumsum(np.concatenate(widths))]).astype(np.int64),
            np.concatenate([*ids, none]).astype(np.int32),
            np.concatenate([*values, none]).astype(np.float64),
            np.array(costs, dtype=np.float64),
            len(self._numbers),
        )

    def judge(self, mixture: PolicyMixture, decide: Roll, key: int, *, held_out: bool) -> PolicyLoss:
        """Follow a mixture on training or held-out examples and sum the losses."""
        which = range(self._trained, len(self._examples)) if held_out else range(self._trained)
        losses = list(self._map(functools.partial(self._evaluate, mixture, decide, key), which, "judging"))
        loss = math.fsum(part.loss for part in losses)
        right = None if self._optimal is None else sum(part.right or 0 for part in losses)
        return PolicyLoss(loss, len(losses), sum(part.decisions for part in losses), right)

    def model(self, start: Model, mixture: PolicyMixture) -> Model:
        """The model with the policies as an artefact, and their mean by share as weights."""
        import numpy as np

        weights = mixture.voting @ mixture.weights.astype(np.float64)
        merged = {**start.weights, **dict(zip(self._numbers, weights.tolist(), strict=True))}
        policy = Policy((_ACTION,), (), self.names, mixture.weights[:, :, None], mixture.voting)
        return Model({name: merged[name] for name in sorted(merged)}, {**start.artefacts, "policy": policy})

    def _map(self, function: Any, which: range, label: str) -> Iterator[Any]:
        from smtplugins.contracts.tools.running import progress

        results = map(function, which) if self._runner is None else self._runner.map(function, which)
        return progress(results, label, total=len(which))

    def _decisions(self, mixture: PolicyMixture, rolls: Rolls, key: int, index: int) -> _Decisions:
        """The decisions along the roll-in from one example."""
        import numpy as np

        here = chained(key, index)
        decisions, at = _Decisions({}, [], [], [], [], []), 0
        state = self._task.begin(self._examples[index])
        while len(actions := self._task.actions(state)):
            features = self._task.features(state, actions)
            local = [decisions.names.setdefault(name, len(decisions.names)) for name in features.names]
            decisions.groups.append(len(actions))
            decisions.widths.append(np.diff(features.offsets))
            decisions.ids.append(np.array(local, dtype=np.int32)[features.ids])
            decisions.values.append(np.asarray(features.values, dtype=np.float64))
            out = chained(chained(here, 1), at)
            decisions.costs += [
                self._cost(state, action, at, mixture, rolls, chained(out, k)) for k, action in enumerate(actions)
            ]
            chosen = self._choose(state, actions, mixture, rolls.roll_in, chained(chained(here, 0), at))
            state, at = self._task.after(state, chosen), at + 1
        return decisions

    def _cost(self, state: Any, action: Any, at: int, mixture: PolicyMixture, rolls: Rolls, key: int) -> float:
        """The cost of an action: its own loss plus the mean loss of the roll-outs."""
        if (rolls.roll_out == "optimal" or not len(mixture)) and self._optimal is None:
            return -follow(self._task, state, self._start, action).value(0)
        behind = self._task.after(state, action)
        first = self._reward(behind)
        samples = rolls.samples if rolls.roll_out == "sampled" and len(mixture) else 1
        total = 0.0
        for sample in range(samples):
            own = chained(key, sample)
            total -= self._roll_out(behind, at + 1, mixture, rolls.roll_out, own)
        return total / samples - first

    def _roll_out(self, state: Any, at: int, mixture: PolicyMixture, decide: Roll, key: int) -> float:
        earned = 0.0
        while len(actions := self._task.actions(state)):
            state = self._task.after(state, self._choose(state, actions, mixture, decide, chained(key, at)))
            earned, at = earned + self._reward(state), at + 1
        return earned

    def _evaluate(self, mixture: PolicyMixture, decide: Roll, key: int, index: int) -> PolicyLoss:
        here, at, right, loss = chained(chained(key, index), 0), 0, 0, 0.0
        state = self._task.begin(self._examples[index])
        if isinstance(self._task, GuidedTask) and self._optimal is None and len(mixture) == 1:
            path = follow(self._task, state, Weights(self.names, mixture.weights[0]))
            return PolicyLoss(-path.value(0), 1, len(path), None)
        while len(actions := self._task.actions(state)):
            chosen = self._choose(state, actions, mixture, decide, chained(here, at))
            right += self._optimal is not None and _equal(chosen, self._optimal.optimal(state))
            state, at = self._task.after(state, chosen), at + 1
            loss -= self._reward(state)
        return PolicyLoss(loss, 1, at, right)

    def _choose(self, state: Any, actions: Sequence[Any], mixture: PolicyMixture, decide: Roll, key: int) -> Any:
        """The action chosen by a mixture."""
        import numpy as np

        if decide == "optimal" or not len(mixture):
            return self._initial_action(state)
        if decide == "sampled":
            policy = draw_index(mixture.shares, uniform(key))
            if policy == 0:
                return self._initial_action(state)
            return actions[int(self._scores(state, actions, mixture.weights[policy - 1 : policy]).argmax())]
        best = self._scores(state, actions, mixture.weights).argmax(axis=1)
        votes = np.zeros(len(actions))
        for at, share in zip(best.tolist(), mixture.voting.tolist(), strict=True):
            votes[at] += share
        return actions[int(votes.argmax())]

    def _initial_action(self, state: Any) -> Any:
        """The action of the initial policy."""
        if self._optimal is not None:
            return self._optimal.optimal(state)
        actions, _ = ranked(self._task, state, self._start)
        return max(actions, key=lambda action: follow(self._task, state, self._start, action).value(0))

    def _scores(self, state: Any, actions: Sequence[Any], weights: Array) -> Array:
        """The scores by policy and action."""
        import numpy as np

        features = self._task.features(state, actions)
        known = weights.shape[1]
        numbers = [self._numbers.get(name, known) for name in features.names]
        # Features unknown to these policies count 0.
        ids = np.minimum(np.array(numbers, dtype=np.int32), known)[features.ids]
        padded = np.pad(weights, ((0, 0), (0, 1)))
        values = np.asarray(features.values, dtype=np.float64)
        starts = np.asarray(features.offsets, dtype=np.int64)
        scores: Array = score_rows(starts, ids, values, padded.reshape(-1), len(weights))
        return scores

    def _reward(self, state: Any) -> float:
        reward = float(self._task.reward(state))
        if not math.isfinite(reward):
            raise SmtError(f"search task: expected finite rewards, found {reward}")
        return reward


def _equal(action: Any, other: Any) -> bool:
    import numpy as np

    return bool(np.all(action == other))
