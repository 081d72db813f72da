"""Search tasks under linear policies: named weights, following a policy, ranking actions.

After A. Gesmundo and J. Henderson, "Undirected Machine Translation with Discriminative Reinforcement Learning" (2014),
3.1: a policy takes the action whose features have the highest weighted sum (equation 4), and the features of a path are
the sum over its actions. A ``GuidedTask`` does all this by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from smtplugins.contracts.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Columns
    from smtplugins.contracts.tasks import GuidedTask, SearchTask

    Array = NDArray[Any]


class Weights:
    """A growing weight vector with an index by name; new names get the weight 0."""

    def __init__(self, names: Iterable[str] = (), values: Array | None = None) -> None:
        import numpy as np

        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._room = np.zeros(16)
        self._known: tuple[tuple[str, ...], Array] = ((), np.empty(0, dtype=np.int64))
        self.numbers(list(names))
        if values is not None:
            self.array[:] = values

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Weights:
        """Make weights from a mapping, numbered in the order of the names."""
        import numpy as np

        names = sorted(weights)
        return cls(names, np.array([weights[name] for name in names], dtype=np.float64))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def array(self) -> Array:
        """The weights by number, writable; a view that is valid until a name is added."""
        return self._room[: len(self.names)]

    def mapping(self) -> dict[str, float]:
        """The weights by name, ordered by name."""
        values = self.array.tolist()
        return {name: values[self._numbers[name]] for name in sorted(self.names)}

    def numbers(self, names: Sequence[str]) -> Array:
        """The number of each name; new names are added."""
        import numpy as np

        if names is self._known[0]:
            return self._known[1]
        for name in names:
            if name not in self._numbers:
                self._numbers[name] = len(self.names)
                self.names.append(name)
        if len(self.names) > len(self._room):
            grown = np.zeros(2 * len(self.names))
            grown[: len(self._room)] = self._room
            self._room = grown
        numbers = np.array([self._numbers[name] for name in names], dtype=np.int64)
        if isinstance(names, tuple):
            # Cached, as a task with constant names passes the same tuple each time.
            self._known = names, numbers
        return numbers

    def column(self, names: Sequence[str]) -> Array:
        """The weight of each name, 0 if unknown; names are not added."""
        import numpy as np

        if names is self._known[0]:
            column: Array = self.array[self._known[1]]
            return column
        get, values = self._numbers.get, self.array
        places = [get(name, -1) for name in names]
        return np.array([values[at] if at >= 0 else 0.0 for at in places], dtype=np.float64)

    def score(self, features: Columns) -> Array:
        """The weighted sum of each row, summed in the order of the names."""
        return features.dot(self.column(features.names))


@dataclass(frozen=True)
class Path:
    """A path taken by a policy: ``actions[i]`` leads from ``states[i]`` to the next state and earns ``rewards[i]``.

    The features of action i are ``values[offsets[i]:offsets[i+1]]`` at the weight numbers ``ids[...]``. There is one
    more state than actions; a task with expensive states may create them lazily.
    """

    states: Sequence[Any]
    actions: Sequence[Any]
    offsets: Array
    ids: Array
    values: Array
    rewards: Sequence[float]

    @classmethod
    def of(
        cls,
        states: Sequence[Any],
        actions: Sequence[Any],
        features: Columns,
        weights: Weights,
        rewards: Sequence[float],
    ) -> Path:
        """Make a path from the features of its actions, a row each."""
        import numpy as np

        ids = weights.numbers(features.names)[features.ids]
        return cls(states, actions, features.offsets, ids, np.asarray(features.values, dtype=np.float64), rewards)

    def __len__(self) -> int:
        """The number of actions."""
        return len(self.actions)

    def state(self, i: int) -> Any:
        """The state before action i."""
        return self.states[i]

    def action(self, i: int) -> Any:
        """Action i."""
        return self.actions[i]

    @property
    def end(self) -> Any:
        """The last state."""
        return self.states[len(self.actions)]

    def features(self, i: int) -> tuple[Array, Array]:
        """The summed features of action i and all later ones: ascending numbers, and values."""
        return _sum_features(self.ids[self.offsets[i] :], self.values[self.offsets[i] :])

    def first(self, i: int) -> tuple[Array, Array]:
        """The features of action i alone."""
        part = slice(self.offsets[i], self.offsets[i + 1])
        return _sum_features(self.ids[part], self.values[part])

    def value(self, i: int, discount: float = 1.0) -> float:
        """The discounted reward from action i on: each later reward is multiplied by ``discount`` once more."""
        total = 0.0
        for reward in reversed(self.rewards[i:]):
            total = reward + discount * total
        return total


def _sum_features(ids: Array, values: Array) -> tuple[Array, Array]:
    import numpy as np

    numbers, where = np.unique(ids, return_inverse=True)
    return numbers, np.bincount(where.reshape(-1), values, len(numbers))


def _is_guided(task: Any) -> TypeGuard[GuidedTask]:
    """Check as ``isinstance``, which Python 3.11 does slowly, and policies are followed very often."""
    return getattr(task, "follow", None) is not None and getattr(task, "ranked", None) is not None


def follow(task: SearchTask, state: Any, weights: Weights, first: Any = None) -> Path:
    """Follow the policy from a state to an end; the first action wins on a tie.

    ``first`` forces the first action.
    """
    import numpy as np

    if _is_guided(task):
        return task.follow(state, weights, first)
    states, taken = [state], []
    ids, values, offsets, rewards = [], [], [0], []
    while len(actions := task.actions(state)):
        features = _features(task, state, actions)
        at = int(np.argmax(_scores(features, weights))) if first is None else _place(actions, first)
        first = None
        part = slice(features.offsets[at], features.offsets[at + 1])
        # Only features of chosen actions get numbers; those of all actions could be without limit.
        ids.append(_numbers(features, part, weights))
        values.append(np.asarray(features.values[part], dtype=np.float64))
        offsets.append(offsets[-1] + len(ids[-1]))
        state = task.after(state, actions[at])
        reward = float(task.reward(state))
        if not np.isfinite(reward):
            raise SmtError(f"search task: expected finite rewards, found {reward}")
        states.append(state)
        taken.append(actions[at])
        rewards.append(reward)
    if first is not None:
        raise SmtError("search task: expected a state that the forced action can be taken in, found a final state")
    joined = np.concatenate(ids) if ids else np.empty(0, dtype=np.int64)
    return Path(
        states, taken, np.array(offsets, dtype=np.int64), joined, np.concatenate([*values, np.empty(0)]), rewards
    )


def ranked(task: SearchTask, state: Any, weights: Weights) -> tuple[Sequence[Any], Array]:
    """The actions of a state and their scores, best first (stable).

    The first is the one that :func:`follow` takes.
    """
    import numpy as np

    if _is_guided(task):
        return task.ranked(state, weights)
    actions = task.actions(state)
    if not len(actions):
        return [], np.empty(0)
    scores = _scores(_features(task, state, actions), weights)
    order = np.argsort(-scores, kind="stable")
    return [actions[at] for at in order.tolist()], scores[order]


def _features(task: SearchTask, state: Any, actions: Sequence[Any]) -> Columns:
    features = task.features(state, actions)
    if len(features) != len(actions):
        raise SmtError(f"search task: expected features of {len(actions)} actions, found {len(features)} rows")
    return features


def _scores(features: Columns, weights: Weights) -> Array:
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        scores = weights.score(features)
    if not np.isfinite(scores).all():
        raise SmtError(
            "search task: expected finite scores of actions, found inf or nan: are feature values finite and small?"
        )
    return scores


def _place(actions: Sequence[Any], wanted: Any) -> int:
    for at, action in enumerate(actions):
        if action is wanted or action == wanted:
            return at
    raise SmtError(f"search task: expected one of {len(actions)} actions of a state, found {wanted!r}")


def _numbers(features: Columns, part: slice, weights: Weights) -> Array:
    own = features.ids[part]
    if len(own) == len(features.names) and bool((own[1:] > own[:-1]).all()):
        # The row has all names in order.
        return weights.numbers(features.names)
    return weights.numbers([features.names[at] for at in own.tolist()])
