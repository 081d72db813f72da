"""Policies on search tasks: paths and sums of features and rewards against plain loops."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from smtformats import Columns
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tasks import GuidedTask
from smtplugins.host.learn.search_tasks import Path, Weights, follow, ranked
from smtplugins.testing import samples
from tests.seeds import seeds


@dataclass(frozen=True)
class Maze:
    """A tree of random choices: features and rewards of each are drawn from its name, actions often score alike."""

    seed: int
    depth: int = 5

    def begin(self, example: Any) -> tuple[Any, ...]:
        return (example,)

    def actions(self, state: tuple[Any, ...]) -> Sequence[int]:
        chance = random.Random(f"{self.seed} {state}")
        return range(0 if len(state) > self.depth else chance.randint(len(state) < 2, 4))

    def row(self, state: tuple[Any, ...], action: int) -> dict[str, float]:
        chance = random.Random(f"{self.seed} {state} {action}")
        return {name: float(chance.randint(-2, 2)) for name in "abcdef" if chance.random() < 0.5}

    def features(self, state: tuple[Any, ...], actions: Sequence[int]) -> Columns:
        return Columns.from_mappings([self.row(state, action) for action in actions])

    def after(self, state: tuple[Any, ...], action: int) -> tuple[Any, ...]:
        return (*state, action)

    def reward(self, state: tuple[Any, ...]) -> float:
        return float(random.Random(f"r{self.seed} {state}").randint(-3, 3))


def by_hand(task: Maze, state: Any, weights: dict[str, float], first: int | None = None) -> list[Any]:
    """State, action, features and reward of each step."""
    steps = []
    while actions := list(task.actions(state)):
        scores = [sum(weights.get(k, 0.0) * v for k, v in task.row(state, choice).items()) for choice in actions]
        action = actions[scores.index(max(scores))] if first is None else first
        first, row = None, task.row(state, action)
        steps.append((state, action, row, task.reward((*state, action))))
        state = (*state, action)
    return steps


def named(weights: Weights, features: tuple[Any, Any]) -> dict[str, float]:
    return {
        weights.names[at]: value for at, value in zip(*(array.tolist() for array in features), strict=True) if value
    }


def summed(rows: list[dict[str, float]]) -> dict[str, float]:
    names = {name for row in rows for name in row}
    return {name: total for name in names if (total := sum(row.get(name, 0.0) for row in rows))}


@pytest.mark.parametrize("seed", seeds(30))
def test_paths_are_what_they_are_by_hand(seed: int) -> None:
    task, chance = Maze(seed), random.Random(seed)
    given = {name: float(chance.randint(-1, 1)) for name in "abcdf"}
    weights = Weights.of(given)
    for example, forced in itertools.product(range(3), (False, True)):
        begin = task.begin(example)
        first = chance.choice(list(task.actions(begin))) if forced else None
        path, wanted = follow(task, begin, weights, first), by_hand(task, begin, given, first)
        assert len(path) == len(wanted)
        assert path.end == (wanted[-1][0] + (wanted[-1][1],))
        for i, (state, action, row, _) in enumerate(wanted):
            assert (path.state(i), path.action(i)) == (state, action)
            assert named(weights, path.first(i)) == summed([row])
            assert named(weights, path.features(i)) == pytest.approx(summed([step[2] for step in wanted[i:]]))
            ids, _ = path.features(i)
            assert (np.diff(ids) > 0).all()
            for discount in (1.0, 0.5, 0.0):
                value = sum(discount**k * step[3] for k, step in enumerate(wanted[i:]))
                assert path.value(i, discount) == pytest.approx(value)
        # What the policy does from the middle of its own path is the rest of it.
        middle = follow(task, path.state(len(path) - 1), weights)
        if not forced or len(path) > 1:
            assert list(middle.actions) == list(path.actions[-1:])


@pytest.mark.parametrize("seed", range(10))
def test_actions_by_rank(seed: int) -> None:
    task, weights = Maze(seed), Weights.of({"a": 1.0, "b": -1.0, "c": 0.5})
    state = task.begin(seed)
    actions, scores = ranked(task, state, weights)
    alone = {action: sum({"a": 1, "b": -1, "c": 0.5}.get(k, 0) * v for k, v in task.row(state, action).items())
             for action in task.actions(state)}  # fmt: skip
    assert list(actions) == sorted(alone, key=lambda action: -alone[action])
    assert scores.tolist() == pytest.approx([alone[action] for action in actions])
    assert follow(task, state, weights).action(0) == actions[0]


def test_an_end_has_no_actions() -> None:
    task, weights = samples.Tagging(), Weights()
    end = samples.Tagged((), ())
    path = follow(task, end, weights)
    assert (len(path), path.end, path.value(0)) == (0, end, 0.0)
    assert [len(part) for part in ranked(task, end, weights)] == [0, 0]
    with pytest.raises(SmtError, match="expected a state that the forced action can be taken in, found a final state"):
        follow(task, end, weights, "N")


def test_of_equally_good_actions_the_first_is_taken() -> None:
    task = samples.Tagging(("V", "D", "N"))
    path = follow(task, task.begin((("a", "dog"), ("D", "N"))), Weights())
    assert list(path.actions) == ["V", "V"]
    assert list(ranked(task, path.state(0), Weights())[0]) == ["V", "D", "N"]


class TestWeights:
    def test_names_get_numbers_as_they_come(self) -> None:
        weights = Weights.of({"b": 2.0, "a": 1.0})
        assert weights.names == ["a", "b"]
        assert weights.numbers(["c", "a", "d", "c"]).tolist() == [2, 0, 3, 2]
        assert weights.array.tolist() == [1.0, 2.0, 0.0, 0.0]
        weights.array[2] += 0.5
        many = [f"n{i}" for i in range(100)]
        assert weights.numbers(many).tolist() == list(range(4, 104))
        assert weights.array[:4].tolist() == [1.0, 2.0, 0.5, 0.0]
        assert weights.mapping() == {"a": 1.0, "b": 2.0, "c": 0.5, "d": 0.0, **dict.fromkeys(many, 0.0)}
        assert list(weights.mapping()) == sorted(weights.names)
        again = Weights(weights.names, weights.array)
        assert (again.names, again.array.tolist()) == (weights.names, weights.array.tolist())

    def test_looking_at_weights_makes_none(self) -> None:
        weights = Weights.of({"a": 3.0})
        features = Columns.from_mappings([{"a": 1.0, "x": 5.0}, {"x": 1.0}])
        assert weights.score(features).tolist() == [3.0, 0.0]
        assert weights.names == ["a"]
        same = ("a", "x")
        assert weights.numbers(same).tolist() == [0, 1]
        weights.array[1] = 2.0
        assert weights.column(same).tolist() == [3.0, 2.0]
        weights.numbers(["z"])
        assert weights.column(same).tolist() == [3.0, 2.0]

    def test_only_what_was_chosen_gets_numbers(self) -> None:
        task, weights = samples.Tagging(), Weights()
        follow(task, task.begin((("a",), ("D",))), weights)
        assert sorted(weights.names) == ["before:^|D", "word:a|D"]


def test_a_path_is_made_of_columns() -> None:
    weights = Weights.of({"y": 1.0})
    columns = Columns.dense(("x", "y"), [[1.0, 2.0], [0.0, 3.0]])
    path = Path.of(["s", "t", "u"], ["a", "b"], columns, weights, [0.0, 4.0])
    assert named(weights, path.features(0)) == {"x": 1.0, "y": 5.0}
    assert named(weights, path.first(0)) == {"x": 1.0, "y": 2.0}
    assert (path.end, path.value(0, 0.5)) == ("u", 2.0)


def test_a_task_may_do_it_by_itself() -> None:
    class Guided(samples.Tagging):
        def follow(self, state: Any, weights: Any, first: Any = None) -> Any:
            return "a path", state, first

        def ranked(self, state: Any, weights: Any) -> Any:
            return "actions", state

    task: Any = Guided()
    assert isinstance(task, GuidedTask)
    assert not isinstance(samples.Tagging(), GuidedTask)
    assert follow(task, "s", Weights(), "N") == ("a path", "s", "N")
    assert ranked(task, "s", Weights()) == ("actions", "s")


class TestRefused:
    def test_features_that_are_no_numbers(self) -> None:
        class Odd(samples.Tagging):
            def features(self, state: Any, actions: Any) -> Columns:
                return Columns.dense(("x",), [[float("nan")]] * len(actions))

        with pytest.raises(SmtError, match="expected finite scores of actions, found inf or nan"):
            follow(Odd(), samples.Tagged(("a",), ("D",)), Weights.of({"x": 1.0}))

    def test_rows_that_are_lacking(self) -> None:
        class Few(samples.Tagging):
            def features(self, state: Any, actions: Any) -> Columns:
                return super().features(state, actions[:2])

        with pytest.raises(SmtError, match="expected features of 3 actions, found 2 rows"):
            ranked(Few(), samples.Tagged(("a",), ("D",)), Weights())

    def test_rewards_that_are_no_numbers(self) -> None:
        class Rich(samples.Tagging):
            def reward(self, state: Any) -> float:
                return float("inf")

        with pytest.raises(SmtError, match="expected finite rewards, found inf"):
            follow(Rich(), samples.Tagged(("a",), ("D",)), Weights())

    def test_an_action_that_is_none(self) -> None:
        with pytest.raises(SmtError, match="expected one of 3 actions of a state, found 'X'"):
            follow(samples.Tagging(), samples.Tagged(("a",), ("D",)), Weights(), "X")
