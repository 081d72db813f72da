"""``drl``: the kit, and the algorithm written out by hand with dictionaries, given the same random draws."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import settings

from smtformats import Columns
from smtplugins import Offer
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import LearnerState
from smtplugins.contracts.models import Model
from smtplugins.contracts.tasks import TaskProblem
from smtplugins.host.learn.search_tasks import Weights, follow
from smtplugins.plugins.umt.learning.drl import Drl
from smtplugins.testing import samples
from smtplugins.testing.cases import LearnerChecks

OFFER = Offer(name="drl", make=Drl, summary="discriminative reinforcement learning")


class TestKitOfOthers(LearnerChecks):
    """``test_kit.py`` has the checks with the defaults."""

    options: ClassVar[Any] = {
        "action": "softmax",
        "update": "mira",
        "c": 1.0,
        "counter": "updates",
        "discount": 0.9,
        "epochs": 5,
    }

    @pytest.fixture
    def offer(self) -> Offer:
        return OFFER


class TestKitOfOurs(LearnerChecks):
    options: ClassVar[Any] = {"update": "logistic", "both": True, "scaling": "variance", "rate": 0.1, "epochs": 5}

    @pytest.fixture
    def offer(self) -> Offer:
        return OFFER


@dataclass(frozen=True)
class Maze:
    """A tree of random choices, many with a single action, with rewards on the way; what is drawn is kept."""

    seed: int

    def begin(self, example: Any) -> tuple[Any, ...]:
        return (example,)

    @functools.cache  # noqa: B019
    def actions(self, state: tuple[Any, ...]) -> Sequence[int]:
        chance = random.Random(f"{self.seed} {state}")
        return range(0 if len(state) > 5 or state == (0,) else chance.randint(1, 4))

    @functools.cache  # noqa: B019
    def row(self, state: tuple[Any, ...], action: int) -> dict[str, float]:
        chance = random.Random(f"{self.seed} {state[1:]} {action}")
        return {name: float(chance.randint(-2, 2)) for name in "abcdefgh" if chance.random() < 0.4}

    @functools.cache  # noqa: B019
    def features(self, state: tuple[Any, ...], actions: Sequence[int]) -> Columns:
        return Columns.from_mappings([self.row(state, one) for one in actions])

    def after(self, state: tuple[Any, ...], action: int) -> tuple[Any, ...]:
        return (*state, action)

    @functools.cache  # noqa: B019
    def reward(self, state: tuple[Any, ...]) -> float:
        return float(random.Random(f"r{self.seed} {state[1:]}").randint(-3, 3))


def algorithm_2(
    maze: Maze,
    count: int,
    epochs: int,
    seed: int,
    discount: float,
    whole: bool,
    start: dict[str, float],
    move: Callable[[dict[str, float], dict[str, float], dict[str, float], float], None] | None = None,
) -> tuple[list[dict[str, float]], list[list[float]]]:
    """Algorithm 2 with the samplers of 3.2: the weights after each example, rewards of the paths of each epoch.

    ``move`` is given the weights, both sums of features, and how much better the other path is than the policy's.
    """
    draws = np.random.default_rng(seed)
    w, trajectory, rewards = dict(start), [], []

    def ranking(s: Any) -> list[int]:
        return sorted(maze.actions(s), key=lambda a: -sum(w.get(k, 0) * v for k, v in maze.row(s, a).items()))

    def path(s: Any, a: int | None) -> list[tuple[Any, int]]:
        """The states of a path and what was done there, from s on, beginning with a."""
        steps = []
        while (order := ranking(s)) or a is not None:
            steps.append((s, order[0] if a is None else a))
            s, a = (*s, steps[-1][1]), None
        return steps

    def q(steps: Any) -> float:
        return sum(discount**i * maze.reward((*s, a)) for i, (s, a) in enumerate(steps))

    for _ in range(epochs):
        rewards.append([])
        for x in draws.permutation(count).tolist():
            mine = path((x,), None)
            rewards[-1].append(q(mine))
            if mine:
                i = int(draws.integers(len(mine)))
                s = mine[i][0]
                others = ranking(s)[1:]
                if others:
                    harmonic = list(itertools.accumulate(1 / k for k in range(1, len(others) + 1)))
                    u = float(draws.random()) * harmonic[-1]
                    a = others[next(k for k, total in enumerate(harmonic) if u < total)]
                    yours = path(s, a)
                    sums: list[dict[str, float]] = [{}, {}]
                    for total, steps in zip(sums, (yours, mine[i:]), strict=True):
                        for at, act in steps if whole else steps[:1]:
                            for k, v in maze.row(at, act).items():
                                total[k] = total.get(k, 0.0) + v
                    if move is not None:
                        move(w, *sums, q(yours) - q(mine[i:]))
                    elif q(mine[i:]) < q(yours):
                        for k in {**sums[0], **sums[1]}:
                            w[k] = w.get(k, 0.0) + sums[0].get(k, 0.0) - sums[1].get(k, 0.0)
            trajectory.append(dict(w))
    return trajectory, rewards


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("whole", [True, False])
def test_it_is_algorithm_2(seed: int, whole: bool) -> None:
    maze, count, epochs, discount = Maze(seed), 7, 4, (1.0, 0.5)[seed % 2]
    start = {} if seed % 3 else {"a": 1.0, "other": 2.5}
    trajectory, rewards = algorithm_2(maze, count, epochs, seed, discount, whole, start)
    features: Any = "path" if whole else "first"
    for average, counter in ((True, "examples"), (True, "updates"), (False, "examples")):
        learner = Drl(
            epochs=epochs,
            rate=1.0,
            features=features,  # type: ignore[arg-type]
            discount=discount,
            average=average,
            counter=counter,  # type: ignore[arg-type]
        )
        steps = list(learner.learn(TaskProblem(maze, range(count)), Model(start), seed=seed))
        assert len(steps) == epochs
        for number, step in enumerate(steps, 1):
            part = trajectory[: number * count]
            moved = [b for a, b in zip([start, *part], part, strict=False) if a != b]
            if not average:
                wanted = [part[-1]]
            elif counter == "updates":
                wanted = moved or [start]
            else:
                wanted = part
            names = {name for one in part for name in one}
            mean = {name: sum(one.get(name, 0.0) for one in wanted) / len(wanted) for name in names}
            found = dict(step.model.weights)
            assert {name: found.get(name, 0.0) for name in names} == pytest.approx(mean, abs=1e-12)
            assert not any(value for name, value in found.items() if name not in names)
            assert step.objective == pytest.approx(np.mean(rewards[number - 1]))
            assert step.state.arrays["weights"].tolist() == pytest.approx(
                [part[-1].get(name, 0.0) for name in step.state.values["names"]]
            )
        assert sum(step.metrics["updates"] for step in steps) == len(moved)


@pytest.mark.parametrize("seed", range(12))
def test_both_directions_with_logistic_steps_of_scaled_features(seed: int) -> None:
    maze, start, rate, width = Maze(seed), {"a": 1.0, "other": 2.5}, 0.25, 2.0
    seen: dict[str, list[float]] = {}

    def move(w: dict[str, float], yours: dict[str, float], mine: dict[str, float], better: float) -> None:
        apart = {k: yours.get(k, 0.0) - mine.get(k, 0.0) for k in {**yours, **mine}}
        apart = {k: v for k, v in apart.items() if v}
        if not better or not apart:
            return
        for k, v in apart.items():
            seen.setdefault(k, []).append(v**2 + 1e-4 * (yours.get(k, 0.0) ** 2 + mine.get(k, 0.0) ** 2))
        chance = 1 / (1 + math.exp(-sum(w.get(k, 0.0) * v for k, v in apart.items()) / width))
        for k, v in apart.items():
            # 4 * width times the derivative of better * chance.
            w[k] = w.get(k, 0.0) + rate * better * 4 * chance * (1 - chance) * v / np.mean(seen[k])

    trajectory, rewards = algorithm_2(maze, 7, 4, seed, 1.0, True, start, move)
    learner = Drl(epochs=4, average=False, update="logistic", both=True, scaling="variance", rate=rate, width=width)
    for number, step in enumerate(learner.learn(TaskProblem(maze, range(7)), Model(start), seed=seed)):
        wanted, found = trajectory[7 * number + 6], step.model.weights
        assert {k: found.get(k, 0.0) for k in wanted} == pytest.approx(wanted, abs=1e-9)
        assert step.objective == pytest.approx(np.mean(rewards[number]))


def test_with_scaling_units_do_not_matter() -> None:
    class Larger(Maze):
        def row(self, state: Any, action: int) -> dict[str, float]:
            return {k: 1024 * v if k < "d" else v for k, v in super().row(state, action).items()}

    learner, start = Drl(update="logistic", both=True, scaling="variance", rate=0.1), {"a": 1.0, "e": 0.5}
    *_, one = learner.learn(TaskProblem(Maze(4), range(9)), Model(start))
    *_, other = learner.learn(TaskProblem(Larger(4), range(9)), Model({**start, "a": 1 / 1024}))
    assert one.model.weights != start
    assert dict(one.model.weights) == {k: 1024 * v if k < "d" else v for k, v in other.model.weights.items()}


def accuracy(problem: TaskProblem, weights: Any) -> float:
    task = problem.search
    found = [follow(task, task.begin(one), Weights.of(weights)).value(0) for one in problem.examples]
    return sum(found) / len(found)


@pytest.mark.parametrize("seed", range(10))
def test_a_tagger_is_learnt(seed: int) -> None:
    problem = samples.task_problem(40)
    *_, last = Drl(average=False).learn(problem, Model(), seed=seed)
    assert last.objective == 1.0
    assert accuracy(problem, last.model.weights) == 1.0
    assert last.metrics["updates"] == 0
    assert last.metrics["reward"] == 1.0 > last.metrics["alternatives"]


def test_an_averaged_tagger_is_nearly_as_good() -> None:
    # What is right by a margin of 0 only may be wrong on average.
    problem = samples.task_problem(40)
    found = []
    count = 10 if settings().max_examples >= 100 else 5
    for seed in range(count):
        *_, last = Drl(epochs=20).learn(problem, Model(), seed=seed)
        found.append(accuracy(problem, last.model.weights))
    assert sorted(found)[count * 3 // 10] == 1.0
    assert np.mean(found) > 0.9


@pytest.mark.parametrize("options", [{}, {"update": "logistic", "both": True, "scaling": "variance", "rate": 0.1}])
def test_resumed_behind_every_epoch(tmp_path: Path, options: dict[str, Any]) -> None:
    problem, start = TaskProblem(Maze(3), range(9)), Model({"a": 0.5, "z": 1.0})
    steps = list(Drl(epochs=6, **options).learn(problem, start, seed=5))
    for number, step in enumerate(steps):
        step.state.save(tmp_path / f"{number}")
        rest = list(
            Drl(epochs=6, **options).learn(
                problem, step.model, resume=LearnerState.load(tmp_path / f"{number}"), seed=5
            ),
        )
        assert len(rest) == 5 - number
        for one, other in zip(rest, steps[number + 1 :], strict=True):
            assert one.model.digest() == other.model.digest()
            assert (one.objective, one.metrics) == (other.objective, other.metrics)
            assert one.state.values == other.state.values
            assert all((one.state.arrays[k] == v).all() for k, v in other.state.arrays.items())


def test_resuming_leaves_the_state_as_it_was() -> None:
    problem = samples.task_problem()
    first = next(iter(Drl().learn(problem, Model())))
    kept = copy.deepcopy(first.state)
    list(Drl().learn(problem, first.model, resume=first.state))
    assert all((first.state.arrays[k] == v).all() for k, v in kept.arrays.items())


class TestFixed:
    def test_fixed_weights_stay(self) -> None:
        problem, start = samples.task_problem(), Model({"word:a|N": 0.25, "elsewhere": 3.0})
        for update in ("perceptron", "pa", "mira", "aggressive"):
            for step in Drl(epochs=3, update=update, fixed="word:a|* before:D|N elsewhere").learn(problem, start):
                weights = step.model.weights
                assert (weights["word:a|N"], weights["elsewhere"]) == (0.25, 3.0)
                held = [value for name, value in weights.items() if name.startswith(("word:a|", "before:D|N"))]
                assert set(held) <= {0.0, 0.25}
                assert any(value for name, value in weights.items() if name not in start.weights)

    def test_brackets_are_names_first(self) -> None:
        class Boxed(Maze):
            def row(self, state: Any, action: int) -> dict[str, float]:
                return {{"a": "t[0]", "b": "t0"}.get(k, k): v for k, v in super().row(state, action).items()}

        *_, step = Drl(epochs=3, fixed="t[0]").learn(TaskProblem(Boxed(2), range(9)), Model())
        assert step.model.weights["t[0]"] == 0 != step.model.weights["t0"]

    def test_names_that_there_are_not(self) -> None:
        with pytest.raises(UsageError, match=r"fixed: no feature is called 'word:tha\|D'; did you mean 'word:the\|D'"):
            list(Drl(fixed="word:tha|D").learn(samples.task_problem(), Model()))
        with pytest.raises(UsageError, match="fixed: all features are fixed, nothing is left to learn"):
            list(Drl(fixed="*").learn(samples.task_problem(), Model()))


class TestUpdates:
    def test_no_step_is_no_update(self) -> None:
        still = list(Drl(epochs=2, update=lambda margin, norm, gain: 0.0).learn(samples.task_problem(), Model()))
        assert not any(still[-1].model.weights.values())
        assert still[-1].metrics["updates"] == 0


class TestParts:
    def test_functions_in_place_of_names(self) -> None:
        seen: list[Any] = []

        def state(path: Any, random: Any) -> int:
            seen.append(len(path))
            return len(path) - 1

        def worst(scores: Any, random: Any) -> int:
            assert (np.diff(scores) <= 0).all()
            return len(scores) - 1

        problem = samples.task_problem()
        by_function = list(Drl(state=state, action=worst, update=lambda *_: 1.0, shuffle=False).learn(problem, Model()))
        assert seen[: len(problem.examples)] == [len(words) for words, _ in problem.examples]
        with pytest.raises(UsageError, match="action: expected the sampler to return a number from 0 to 1, found -1"):
            list(Drl(action=lambda scores, random: -1).learn(problem, Model()))
        with pytest.raises(UsageError, match=r"state: expected the sampler to return a number from 0 to \d, found \d"):
            list(Drl(state=lambda path, random: len(path)).learn(problem, Model()))
        assert by_function

    def test_names_that_there_are_not(self) -> None:
        for options, message in (
            ({"state": "unifrom"}, "unknown state sampler 'unifrom'; did you mean 'uniform'?"),
            ({"action": "zip"}, "unknown action sampler 'zip'; did you mean 'zipf'?"),
            ({"update": "perzeptron"}, "unknown update 'perzeptron'; did you mean 'perceptron'?"),
            ({"epochs": 0}, "expected epochs of 1 or more"),
            ({"rate": 0.0}, "and rate, c, scale and width above 0"),
            ({"width": 0.0}, "and rate, c, scale and width above 0"),
            ({"discount": 1.5}, "discount: expected a number from 0 to 1, found 1.5"),
            ({"exponent": -1.0}, "exponent: expected 0 or more, found -1.0"),
            ({"action": "softmax", "temperature": 0.0}, "temperature: expected more than 0, found 0.0"),
        ):
            with pytest.raises(UsageError) as caught:
                Drl(**options)  # type: ignore[arg-type]
            assert message in str(caught.value)

    def test_without_shuffling_examples_come_in_their_order(self) -> None:
        class Noting(samples.Tagging):
            seen: ClassVar[list[Any]] = []

            def begin(self, example: Any) -> Any:
                self.seen.append(example)
                return super().begin(example)

        examples = samples.task_problem().examples
        for shuffle in (False, True):
            Noting.seen.clear()
            list(Drl(epochs=2, shuffle=shuffle).learn(TaskProblem(Noting(), examples), Model()))
            rounds = [Noting.seen[: len(examples)], Noting.seen[len(examples) :]]
            assert all(sorted(one) == sorted(examples) for one in rounds)
            assert (rounds == [list(examples)] * 2) == (not shuffle)


class TestNothingToLearn:
    def test_no_examples(self) -> None:
        with pytest.raises(SmtError, match="drl: expected examples to learn from, found none"):
            list(Drl().learn(TaskProblem(samples.Tagging(), []), Model()))
        with pytest.raises(SmtError, match="expected examples with actions to choose from, found final states only"):
            list(Drl().learn(TaskProblem(samples.Tagging(), [((), ())]), Model()))

    def test_a_single_action_everywhere(self) -> None:
        problem = TaskProblem(samples.Tagging(("N",)), samples.task_problem().examples)
        *_, last = Drl(epochs=2).learn(problem, Model({"word:a|N": 1.0}))
        assert (last.metrics["samples"], last.metrics["alternatives"]) == (0, 0)
        assert last.model.weights["word:a|N"] == 1.0

    def test_weights_that_grow_beyond_all_bounds(self) -> None:
        class Steep(samples.Tagging):
            def features(self, state: Any, actions: Any) -> Columns:
                found = super().features(state, actions)
                return Columns(found.names, found.offsets, found.ids, found.values * 1e300)

        with pytest.raises(SmtError, match=r"expected finite weights|expected finite scores"):
            list(Drl(rate=1e10).learn(TaskProblem(Steep(), samples.task_problem().examples), Model()))
