"""Each check of learners fails for the learner that breaks it, and says what is wrong.

Two good ones, stopped, killed and resumed, are in ``tests/host/learn/test_learners.py``.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from smtplugins import Offer
from smtplugins.contracts.learners import LearnerState, LearnerStep, ListProblem, RowProblem
from smtplugins.contracts.models import Model
from smtplugins.contracts.tasks import TaskProblem

Failures = Callable[..., dict[str, str]]


class Steps:
    """Moves one weight along: what there is to break in a learner, and nothing else."""

    accepts = frozenset({ListProblem})

    def learn(self, problem: Any, start: Model, *, resume: Any = None, seed: int = 1, runner: Any = None) -> Any:
        at = 0 if resume is None else resume.values["at"]
        for number in range(at, 4):
            yield self.step(number, seed)

    def step(self, number: int, seed: int) -> LearnerStep:
        weights = {"x": float(self.weight(number) + seed)}
        return LearnerStep(Model(weights), self.objective(number), {}, LearnerState({}, {"at": number + 1}))

    def weight(self, number: int) -> float:
        return number / 3

    def objective(self, number: int) -> float:
        return 1.0


class ByChance(Steps):
    def weight(self, number: int) -> float:
        return random.random()


class Diverges(Steps):
    def objective(self, number: int) -> float:
        return [1.0, float("nan"), 1.0, 1.0][number]


class Unsound(Steps):
    def weight(self, number: int) -> float:
        return float("inf")


class NoStep(Steps):
    def learn(self, *given: Any, **named: Any) -> Iterator[LearnerStep]:
        return iter(())


class Endless(Steps):
    def learn(self, *given: Any, **named: Any) -> Iterator[LearnerStep]:
        while True:
            yield self.step(0, 1)


class OneModel(Steps):
    def learn(self, *given: Any, **named: Any) -> Iterator[LearnerStep]:
        weights = {"x": 0.0}
        for step in super().learn(*given, **named):
            weights.update(step.model.weights)
            yield LearnerStep(Model(weights), step.objective, {}, step.state)


class Overwrites(Steps):
    def learn(self, problem: Any, start: Model, **named: Any) -> Iterator[LearnerStep]:
        problem.stats[0][:] = 0
        return super().learn(problem, start, **named)


class StartsAgain(Steps):
    def learn(self, problem: Any, start: Model, *, resume: Any = None, **named: Any) -> Iterator[LearnerStep]:
        return super().learn(problem, start, **named)


class KeepsTime(Steps):
    """Its steps depend on what the object did before, which no state holds."""

    done = 0

    def weight(self, number: int) -> float:
        self.done += 1
        return self.done


class SavesObjects(Steps):
    def step(self, number: int, seed: int) -> LearnerStep:
        step = super().step(number, seed)
        return LearnerStep(step.model, step.objective, {}, LearnerState({}, {**step.state.values, "used": {number}}))


class SavesAnything(Steps):
    def step(self, number: int, seed: int) -> LearnerStep:
        step = super().step(number, seed)
        return LearnerStep(step.model, step.objective, {}, LearnerState({"a": np.array([object()])}, step.state.values))


class OfProcess(Steps):
    def learn(self, problem: Any, start: Model, *, runner: Any = None, **named: Any) -> Iterator[LearnerStep]:
        numbers = [0] if runner is None else runner.map(lambda item: os.getpid(), [1])
        self.shift = next(iter(numbers)) if runner is not None else os.getpid()
        return super().learn(problem, start, **named)

    def weight(self, number: int) -> float:
        return number + self.shift


class Tagger(Steps):
    """Weights of the kit's own task, known from the beginning."""

    accepts = frozenset({TaskProblem})
    signs = (1.0, 1.0, 1.0, 1.0)

    def step(self, number: int, seed: int) -> LearnerStep:
        words = {"word:the|D", "word:a|D", "word:run|V", "word:walk|V", "word:dog|N", "before:D|N"}
        weights = {name: self.signs[number] * (2.0 if name == "before:D|N" else 1.0) for name in words}
        return LearnerStep(Model(weights), 1.0, {}, LearnerState({}, {"at": number + 1}))


class Forgets(Tagger):
    signs = (1.0, 1.0, 1.0, -1.0)


class ChangesExamples(Tagger):
    def learn(self, problem: Any, start: Model, **named: Any) -> Iterator[LearnerStep]:
        problem.examples.reverse()
        return super().learn(problem, start, **named)


def offer(make: Any) -> Offer:
    return Offer(name="tried", make=make, summary="a learner under test")


def test_a_good_learner_passes_on_lists_and_rows(failures: Failures) -> None:
    assert failures("learners", offer(type("Both", (Steps,), {"accepts": frozenset({ListProblem, RowProblem})}))) == {}


def test_a_good_learner_passes_on_tasks(failures: Failures) -> None:
    assert failures("learners", offer(Tagger)) == {}
    assert failures("learners", offer(type("Improves", (Tagger,), {"signs": (-1.0, 0.5, 1.0, 1.0)}))) == {}


@pytest.mark.parametrize(
    ("make", "check", "words"),
    [
        (
            type("Set", (Steps,), {"accepts": [ListProblem]}),
            "accepts_are_types",
            "expected a frozenset of types, found [",
        ),
        (type("Names", (Steps,), {"accepts": frozenset({"Lists"})}), "accepts_are_types", "expected types, found"),
        (Diverges, "steps_are_sound", "step 2 on ListProblem: expected a finite objective, found nan"),
        (Unsound, "steps_are_sound", "step 1 on ListProblem: expected finite numbers, found inf for 'x'"),
        (NoStep, "steps_are_sound", "no step at all on ListProblem"),
        (Endless, "steps_are_sound", "the learner takes more than 1000 steps"),
        (OneModel, "steps_stay_as_they_were", "the model of step 1 was changed by a later step"),
        (Overwrites, "problem_is_not_changed", "learning changed the ListProblem it was given"),
        (ByChance, "same_seed_same_model", "run twice with seed 1 on ListProblem, step 1 has another model"),
        (StartsAgain, "resumed_is_the_same", "after step 1 on ListProblem and resumed, step 2 has another model"),
        (KeepsTime, "resumed_is_the_same", "stopped after step 1 on ListProblem and resumed, step 2 has another model"),
        (SavesObjects, "resumed_is_the_same", "TypeError: Object of type set is not JSON serializable"),
        (SavesAnything, "resumed_is_the_same", "ValueError: Object arrays cannot be saved"),
        (OfProcess, "workers_give_the_same", "with 2 jobs on ListProblem, step 1 has another model"),
        (ChangesExamples, "problem_is_not_changed", "learning changed the TaskProblem it was given"),
        (
            Forgets,
            "policies_get_no_worse",
            "the mean reward of the examples is 1 after the first step, 0 after the last",
        ),
    ],
)
def test_a_bad_learner_fails(make: Any, check: str, words: str, failures: Failures) -> None:
    failed = failures("learners", offer(make))
    assert words in failed[check], failed


def test_problems_the_kit_cannot_make_are_given(failures: Failures) -> None:
    class OfText(Steps):
        accepts = frozenset({str})

        def step(self, number: int, seed: int) -> LearnerStep:
            raise RuntimeError("reached")

    assert failures("learners", offer(OfText)) == {}
    failed = failures("learners", offer(OfText), problems={str: "a problem"})
    assert failed["steps_are_sound"] == "RuntimeError: reached"
