"""``mira``: the kit, the algorithm written out, cutting planes, forests against all their derivations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.host.learn.problems import matrix_of
from smtplugins.plugins.tuning.gains import ForestSource
from smtplugins.plugins.tuning.mira import Mira
from smtplugins.plugins.tuning.online import BEST, FEAR, HOPE, ORACLE
from smtplugins.testing.cases import LearnerChecks

from .derivations import derivations
from .made import NAMES, SEEDS, Bleulike, Pairs, forests, lists


class TestKit(LearnerChecks):
    offer = "mira"


def written_out(problem: Any, background: bool, epochs: int, seed: int, cap: float = 0.01, scale: float = 10.0) -> Any:
    """Cherry and Foster's algorithm 1 on dense rows, all weights kept."""
    matrix, metric = matrix_of(problem), problem.metric
    table, stats, random = matrix.dense, matrix.stats, np.random.default_rng(seed)
    weights, seen = np.zeros(table.shape[1]), []
    behind, count = stats.mean(axis=0), 1.0
    for _ in range(epochs):
        for k in random.permutation(len(matrix.lists) - 1):
            rows = slice(matrix.lists[k], matrix.lists[k + 1])
            if background:
                gains = (metric.score(behind + stats[rows]) - metric.score(behind)) / 100 * (count + 1) * scale
            else:
                gains = metric.sentence(stats[rows]) / 100 * scale
            scores = table[rows] @ weights
            hope, fear = np.argmax(scores + gains), np.argmax(scores - gains)
            loss = gains[hope] - gains[fear] - (scores[hope] - scores[fear])
            apart = table[rows][hope] - table[rows][fear]
            if loss > 0 and gains[hope] > gains[fear] and apart.any():
                weights = weights + min(cap, loss / (apart @ apart)) * apart
            seen.append(weights)
            behind, count = 0.999 * (behind + 0) + stats[rows][hope], 0.999 * count + 1
    return np.mean(seen, axis=0)


@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("extra", [0, 30])
def test_weights_are_those_of_the_paper(background: bool, extra: int) -> None:
    problem = lists(11, count=9, extra=extra, metric=Bleulike() if background else None)
    *_, found = Mira(epochs=5, keep="last").learn(problem, Model(), seed=3)
    names = matrix_of(problem).names
    wanted = written_out(problem, background, 5, 3)
    np.testing.assert_allclose([found.model.weights[name] for name in names], wanted, atol=1e-12)


def test_cutting_planes_leave_no_constraint_violated_when_steps_may_be_long() -> None:
    problem = lists(13, count=1)
    matrix = matrix_of(problem)
    *_, found = Mira(epochs=1, C=1e6, cutting=True, average=False, scale=1.0).learn(problem, Model())
    weights = np.array([found.model.weights[name] for name in matrix.names])
    scores, gains = matrix.dense @ weights, problem.metric.sentence(matrix.stats) / 100
    hope = int(np.argmax(gains))
    violated = (gains[hope] - gains) - (scores[hope] - scores)
    # Duplicates of the hope's features under another gain cannot be told apart.
    assert violated.max() <= 1e-5


@given(SEEDS)
@settings(max_examples=15)
def test_cutting_planes_go_at_least_as_far_as_a_single_step(seed: int) -> None:
    problem = lists(seed, count=1)
    matrix = matrix_of(problem)
    gains = 10 * problem.metric.sentence(matrix.stats) / 100

    def slack(weights: Any) -> float:
        """What the step minimises: half the square of the move, and C times the worst violation of the first hope."""
        scores, hope = matrix.dense @ weights, int(np.argmax(gains))
        return float(weights @ weights / 2 + 0.01 * ((gains[hope] - gains) - (scores[hope] - scores)).max())

    found = []
    for cutting in (False, True):
        try:
            *_, step = Mira(epochs=1, cutting=cutting, average=False).learn(problem, Model())
        except SmtError:
            continue  # one hypothesis, or equal ones
        found.append(slack(np.array([step.model.weights[name] for name in matrix.names])))
    assert len(found) < 2 or found[1] <= found[0] + 1e-7


@given(SEEDS)
@settings(max_examples=25)
def test_choices_in_forests_are_those_of_all_derivations(seed: int) -> None:
    problem = forests(seed, count=2, each=2)
    weights = np.random.default_rng(seed).normal(size=3)
    source = ForestSource(problem, {}, 1.0, 0, None)
    assert source.names == NAMES[: len(source.names)] or set(source.names) <= set(NAMES)
    words = np.mean([len(text.split()) for stream in problem.references for text in stream])
    by_name = dict(zip(source.names, weights, strict=False))
    for k, graphs in enumerate(problem.graphs):
        known = Pairs([stream[k] for stream in problem.references])
        found = [one for graph in graphs for one in derivations(graph)]
        scores = np.array([sum(by_name[name] * value for name, value in one.features.items()) for one in found])
        gains = np.array([known.of(one.words) for one in found]) / words
        factors = (BEST, HOPE, FEAR, ORACLE)
        for factor, choice in zip(factors, source.view(k, None).choose(weights[: len(by_name)], *factors), strict=True):
            wanted = gains if factor == ORACLE else scores + factor * gains
            got = choice.gain if factor == ORACLE else choice.score + factor * choice.gain
            assert got == pytest.approx(wanted.max(), abs=1e-4)
            ids, values = choice.features
            assert values @ weights[ids] == pytest.approx(choice.score, abs=1e-4)


@given(SEEDS)
@settings(max_examples=10)
def test_epochs_are_judged_by_the_metric_of_the_best_derivations(seed: int) -> None:
    problem = forests(seed, count=3, each=2)
    weights = np.random.default_rng(seed).normal(size=3)
    source = ForestSource(problem, {}, None, 0, None)
    by_name = dict(zip(source.names, weights, strict=False))
    texts = []
    for graphs in problem.graphs:
        found = [one for graph in graphs for one in derivations(graph)]
        scores = np.array([sum(by_name[name] * value for name, value in one.features.items()) for one in found])
        best = {" ".join(found[k].words) for k in np.flatnonzero(scores > scores.max() - 1e-6)}
        assume(len(best) == 1)
        texts.append(best.pop())
    wanted = problem.metric.score(problem.metric.stats(texts, problem.references).sum(axis=0))
    assert source.worth(weights[: len(by_name)]) == pytest.approx(wanted)


def test_forests_are_learnt_from() -> None:
    problem, start = forests(21, count=8), Model({"F": 0.1})
    steps = list(Mira(epochs=10).learn(problem, start))
    first = ForestSource(problem, start.weights, 1.0, 100, None)
    assert steps[-1].objective >= first.worth(np.array([start.weights.get(name, 0.0) for name in first.names]))
    values = [step.objective for step in steps]
    assert values == sorted(values)
    cut = list(Mira(epochs=10, cutting=True).learn(problem, start))
    assert np.isfinite(cut[-1].objective)
    rest = list(Mira(epochs=10).learn(problem, steps[4].model, resume=steps[4].state))
    assert [one.model.digest() for one in rest] == [one.model.digest() for one in steps[5:]]


def test_fixed_and_bounded_weights() -> None:
    start = Model({"F": -0.5, "G": 0.3})
    for cutting in (False, True):
        learner = Mira(fixed="G", bounds="F=:-0.1", epochs=3, cutting=cutting)
        for step in learner.learn(lists(4, extra=5), start):
            assert step.model.weights["G"] == 0.3 and step.model.weights["F"] <= -0.1


def test_what_cannot_be_learnt_is_an_error() -> None:
    with pytest.raises(UsageError, match="epochs of 1 or more"):
        Mira(epochs=0)
    problem = forests(1)
    with pytest.raises(SmtError, match="metric none has no linear form, which forests need"):
        list(Mira().learn(type(problem)(problem.graphs, problem.references, NoLinear()), Model()))


class NoLinear:
    name = "none"
    higher_is_better = True


def test_options_of_a_form_that_has_none_are_an_error() -> None:
    with pytest.raises(UsageError, match="the linear form of metric overlap has no option precision"):
        list(Mira(gain_precision=0.5).learn(forests(1), Model()))


def test_linear_bleu() -> None:
    from smtplugins.plugins.standard.metrics import Bleu

    made = forests(22, count=8)
    problem, start = type(made)(made.graphs, made.references, Bleu(tokenize="none")), Model({"F": 0.1})
    shapes = ({"gain_precision": 0.85, "gain_decay": 0.7}, {}, {"gain_precision": 0.5, "gain_decay": 0.6})
    published, usual, same = (list(Mira(epochs=8, **shape).learn(problem, start))[-1] for shape in shapes)
    assert usual.model.digest() == same.model.digest() != published.model.digest()
    short = Bleu(tokenize="13a")
    with pytest.raises(SmtError, match="use bleu,tokenize=none"):
        list(Mira().learn(type(made)(made.graphs, made.references, short), start))


def test_the_length_of_the_start_makes_no_difference_on_forests() -> None:
    problem, start = forests(21, count=8), {"F": 0.3, "G": -0.2, "H": 0.1}
    found = []
    for factor in (1.0, 1000.0, 2.0**-10):
        long = Model({name: factor * value for name, value in start.items()})
        steps = list(Mira(epochs=6, pop_limit=0).learn(problem, long))
        found.append(np.array([steps[-1].model.weights[name] for name in NAMES]) / factor)
        assert steps[0].metrics["updates"] > 0 and not np.allclose(found[-1], list(start.values()), rtol=0.05)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-6)


@settings(max_examples=15)
@given(SEEDS)
def test_the_length_of_the_start_makes_no_difference(seed: int) -> None:
    """Scores of a large start would drown what hypotheses are worth."""
    rng = np.random.default_rng(seed)
    problem = lists(seed % 10**6, count=6)
    start = dict(zip(NAMES, rng.normal(size=len(NAMES)).tolist(), strict=True))
    found = []
    for factor in (1.0, 2.0**10, 2.0**-10):
        long = Model({name: factor * value for name, value in start.items()})
        *_, step = Mira(epochs=3, keep="last").learn(problem, long, seed=1)
        found.append(np.array([step.model.weights[name] for name in NAMES]) / factor)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-9)
    fixed = [Mira(epochs=3, keep="last", scale=10.0).learn(problem, Model(start), seed=1) for _ in range(2)]
    (*_, one), (*_, two) = fixed
    assert one.model.digest() == two.model.digest()
