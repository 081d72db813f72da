"""``minrisk``: the kit, risk of forests against all derivations and differences, annealing, sparse features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.host.learn.problems import matrix_of
from smtplugins.plugins.tuning.forest_risk import forest_risk
from smtplugins.plugins.tuning.gains import ForestSource
from smtplugins.plugins.tuning.minrisk import Minrisk
from smtplugins.plugins.tuning.online import BEST
from smtplugins.testing.cases import LearnerChecks

from .derivations import derivations
from .made import SEEDS, Errors, Pairs, forests, lists, slopes


class TestKit(LearnerChecks):
    offer = "minrisk"


@given(SEEDS, st.sampled_from([1, 2, 3]), st.sampled_from([0.0, 0.2]))
@settings(max_examples=30)
def test_risk_of_forests_is_that_of_all_derivations(seed: int, each: int, temperature: float) -> None:
    problem, scale = forests(seed, count=2, each=each), 1.3
    with forest_risk(problem, {}, 0) as forests_at:
        objective, names = forests_at.objective(scale, temperature), forests_at.names
    weights = np.random.default_rng(seed).normal(size=len(names))
    value, gradient = objective(weights)

    lengths = np.mean([len(text.split()) for stream in problem.references for text in stream])
    by_name, wanted = dict(zip(names, weights, strict=True)), 0.0
    for k, graphs in enumerate(problem.graphs):
        known = Pairs([stream[k] for stream in problem.references])
        found = [one for graph in graphs for one in derivations(graph)]
        scores = np.array([sum(by_name[name] * value for name, value in one.features.items()) for one in found])
        shares = np.exp(scale * scores - np.logaddexp.reduce(scale * scores))
        gains = np.array([known.of(one.words) for one in found]) / lengths
        wanted -= shares @ gains - temperature * (shares @ np.log(shares))
    assert value == pytest.approx(wanted / 2, abs=1e-5)
    np.testing.assert_allclose(gradient, slopes(lambda at: objective(at)[0], weights), atol=1e-6)


def last(problem: Any, start: Model | None = None, **options: Any) -> Any:
    return list(Minrisk(**options).learn(problem, start or Model()))[-1]


@pytest.mark.parametrize("objective", ["sentence", "corpus"])
def test_lists_get_better(objective: Any) -> None:
    problem = lists(31, count=20)
    matrix = matrix_of(problem)
    start = Model({"F": -1.0, "H": 1.0})
    before = problem.metric.score(matrix.stats[matrix.best(matrix.column(start.weights))].sum(axis=0))
    found = last(problem, start, objective=objective)
    assert found.metrics["metric"] > before + 5
    errors = last(lists(31, count=20, metric=Errors()), start, objective=objective)
    assert errors.metrics["metric"] == pytest.approx(100 - found.metrics["metric"], abs=0.5)


def test_stages() -> None:
    learner = Minrisk(temperature=0.4, cooling=0.5, temperatures=2, sharpness=0.5, quenches=1)
    steps = list(learner.learn(lists(32), Model()))
    stages = [(step.metrics["sharpness"], step.metrics["temperature"]) for step in steps]
    assert stages == [(0.5, 0.4), (0.5, 0.2), (0.5, 0.0), (1.0, 0.0)]


def test_penalties_bounds_and_fixed_weights() -> None:
    problem = lists(33, count=15, extra=60)
    start = Model({"G": 0.25})
    found = last(problem, start, fixed="G", bounds="F=0:0.5", l1=0.003).model.weights
    assert found["G"] == 0.25 and 0 <= found["F"] <= 0.5
    sparse = [value for name, value in found.items() if name.startswith("s")]
    free = last(problem, start).model.weights
    assert sum(map(bool, sparse)) < sum(bool(value) for name, value in free.items() if name.startswith("s"))
    with pytest.raises(SmtError, match="all weights 0"):
        last(problem, l1=10.0)


def test_forests_get_better_and_resume_to_the_bit() -> None:
    problem, start = forests(34, count=8, each=2), Model({"F": 0.1})
    steps = list(Minrisk().learn(problem, start))
    source = ForestSource(problem, start.weights, 1.0, 100, None)
    at = np.array([start.weights.get(name, 0.0) for name in source.names])
    end = np.array([steps[-1].model.weights[name] for name in source.names])

    def gained(weights: Any) -> float:
        return sum(source.view(k, None).choose(weights, BEST)[0].gain for k in range(len(source)))

    assert gained(end) >= gained(at)
    rest = list(Minrisk().learn(problem, steps[2].model, resume=steps[2].state))
    assert [one.model.digest() for one in rest] == [one.model.digest() for one in steps[3:]]


def test_a_hundred_thousand_names_are_no_table() -> None:
    problem = lists(35, count=30, extra=100_000)
    found = last(problem, temperature=0.0, quenches=0, iterations=5)
    assert len(found.model.weights) > 300
    assert "dense" not in vars(matrix_of(problem))


def test_options() -> None:
    with pytest.raises(UsageError, match="cooling above 0"):
        Minrisk(cooling=0)
    with pytest.raises(UsageError, match="iterations of 1 or more"):
        Minrisk(iterations=0)
