"""``perceptron``: the kit, and each epoch against the algorithm written out on dense rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smtplugins.contracts.learners import LearnerState
from smtplugins.contracts.models import Model
from smtplugins.host.learn.problems import matrix_of
from smtplugins.plugins.tuning.perceptron import Perceptron
from smtplugins.testing.cases import LearnerChecks

from .made import NAMES, Errors, forests, lists


class TestKit(LearnerChecks):
    offer = "perceptron"


def written_out(problem: Any, update: str, rate: float, epochs: int, scale: float, seed: int) -> Any:
    """The mean of the weights behind each sentence, dense, all kept."""
    matrix = matrix_of(problem)
    gains = scale * problem.metric.sentence(matrix.stats) / 100
    table, random = matrix.dense, np.random.default_rng(seed)
    weights, seen = np.zeros(table.shape[1]), []
    for _ in range(epochs):
        for k in random.permutation(len(matrix.lists) - 1):
            rows = slice(matrix.lists[k], matrix.lists[k + 1])
            scores, own = table[rows] @ weights, gains[rows]
            if update == "oracle":
                top = np.flatnonzero(own == own.max())
                good, bad = top[np.argmax(scores[top])], np.argmax(scores)
            else:
                good, bad = np.argmax(scores + own), np.argmax(scores - own)
            if own[good] > own[bad]:
                weights = weights + rate * (table[rows][good] - table[rows][bad])
            seen.append(weights)
    return np.mean(seen, axis=0)


@pytest.mark.parametrize("update", ["oracle", "hope"])
@pytest.mark.parametrize("extra", [0, 30])
def test_weights_are_the_average(update: Any, extra: int) -> None:
    problem = lists(7, count=9, extra=extra)
    learner = Perceptron(update=update, rate=0.1, epochs=4, keep="last")
    *_, found = learner.learn(problem, Model(), seed=3)
    wanted = written_out(problem, update, 0.1, 4, 10.0, 3)
    names = matrix_of(problem).names
    np.testing.assert_allclose([found.model.weights[name] for name in names], wanted, atol=1e-12)


def test_the_best_epoch_is_kept() -> None:
    problem = lists(9, count=12)
    for metric in (None, Errors()):
        problem = lists(9, count=12, metric=metric)
        values = [step.objective for step in Perceptron(epochs=12).learn(problem, Model())]
        assert values == sorted(values, reverse=metric is not None)


def test_fixed_and_bounded_weights() -> None:
    start = Model({"F": -0.5, "G": 0.3})
    steps = Perceptron(fixed="G", bounds="F=:-0.1", rate=1.0, epochs=3).learn(lists(4, extra=5), start)
    for step in steps:
        assert step.model.weights["G"] == 0.3 and step.model.weights["F"] <= -0.1


def test_forests_resume_to_the_bit() -> None:
    problem, learner = forests(5, count=6), Perceptron(epochs=5, rate=0.1)
    start = Model(dict.fromkeys(NAMES, 0.1))
    steps = list(learner.learn(problem, start, seed=2))
    rest = list(learner.learn(problem, steps[1].model, resume=_copied(steps[1].state), seed=2))
    assert [step.model.digest() for step in rest] == [step.model.digest() for step in steps[2:]]


def _copied(state: LearnerState) -> LearnerState:
    return LearnerState({name: array.copy() for name, array in state.arrays.items()}, dict(state.values))
