"""`local-maxent`: margins on separable events, schedules, fixed weights, going on bit for bit, errors that say what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import Columns
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import EventProblem, EventRows, LearnerState, LearnerStep
from smtplugins.contracts.models import Model
from smtplugins.plugins.localized.learning.maxent import LocalMaxent
from smtplugins.plugins.localized.model.bigrams import BigramWeights
from smtplugins.testing import samples
from tests.plugins.localized.made import random_case

from .test_problem import listed_of, problem_of


def separable(count: int = 30) -> EventProblem:
    """Events of three alternatives; the right one has the largest x + 2y, by 0.5 at least."""
    random = np.random.default_rng(4)
    rows, right = [], []
    while len(right) < count:
        table = random.normal(size=(3, 2))
        scores = table @ [1.0, 2.0]
        order = np.argsort(scores)
        if scores[order[-1]] - scores[order[-2]] >= 0.5:
            rows.append(table)
            right.append(order[-1])
    ends = 3 * np.arange(count + 1)
    return EventProblem([EventRows(Columns.dense(("x", "y"), np.concatenate(rows)), ends, np.array(right))])


def margins(problem: EventProblem, weights: dict[str, float]) -> list[float]:
    """By how much the right alternative of each event is ahead."""
    piece = problem.pieces[0]
    scores = piece.features.dot(np.array([weights.get(name, 0.0) for name in piece.features.names]))
    found = []
    for first, end, right in zip(piece.offsets, piece.offsets[1:], piece.right, strict=False):
        own = scores[first:end]
        found.append(float(own[right] - np.delete(own, right).max()))
    return found


def last(problem: EventProblem, start: Model | None = None, **options: Any) -> LearnerStep:
    *_, step = LocalMaxent(**options).learn(problem, start or Model())
    return step


def test_separable_events_are_told_apart() -> None:
    problem = separable()
    weights = dict(last(problem, rate=0.1, passes=200).model.weights)
    assert min(margins(problem, weights)) > 0
    # The margin that is reached is near the largest one there is: of all directions, as weights of length 1.
    length = math.hypot(*weights.values())
    angles = np.linspace(0, 2 * math.pi, 720)
    best = max(min(margins(problem, {"x": math.cos(a), "y": math.sin(a)})) for a in angles)
    assert min(margins(problem, weights)) / length > 0.7 * best


def test_the_perceptron_stops_when_nothing_is_wrong() -> None:
    problem = separable()
    steps = list(LocalMaxent(rate=1.0, passes=60, update="perceptron").learn(problem, Model()))
    assert min(margins(problem, dict(steps[-1].model.weights))) > 0
    assert steps[-1].model.digest() == steps[-2].model.digest()


def test_objectives_fall_and_are_what_they_say() -> None:
    problem = samples.event_problem()
    steps = list(LocalMaxent(rate=0.05, passes=8).learn(problem, Model()))
    objectives = [step.objective for step in steps]
    assert objectives == sorted(objectives, reverse=True)
    # With steps of next to nothing it is the loss of the weights to begin with: the logarithm of the numbers of rows.
    sizes = np.concatenate([np.diff(piece.offsets) for piece in problem.pieces])
    assert last(problem, rate=1e-300, passes=1).objective == pytest.approx(float(np.log(sizes).mean()))


def test_rates() -> None:
    problem = samples.event_problem()
    fixed = [step.metrics["rate"] for step in LocalMaxent(rate=0.5, passes=3).learn(problem, Model())]
    inverse = LocalMaxent(rate=0.5, passes=3, schedule="inverse", decay=2.0).learn(problem, Model())
    progress = list(LocalMaxent(rate=40.0, passes=9, schedule="progress").learn(problem, Model()))
    assert fixed == [0.5, 0.5, 0.5]
    assert [step.metrics["rate"] for step in inverse] == pytest.approx([0.5, 0.5 / 3, 0.1])
    rate = 40.0
    for before, step in zip([None, *progress], progress, strict=False):
        assert step.metrics["rate"] == rate
        if before is not None and step.objective >= before.objective:
            rate /= 2
    assert rate < 40


def test_a_portion_of_the_events() -> None:
    problem = samples.event_problem(40)
    assert last(problem, portion=0.25, passes=1).metrics["events"] == 10
    orders = [last(problem, portion=0.25, passes=1, rate=0.1).model.digest() for _ in range(2)]
    assert orders[0] == orders[1]


def test_order_is_that_of_the_events_unless_shuffled() -> None:
    problem = samples.event_problem()
    step = last(problem, shuffle=False, passes=1, rate=0.1)
    weights: dict[str, float] = {}
    for piece in problem.pieces:
        for first, end, right in zip(piece.offsets, piece.offsets[1:], piece.right, strict=False):
            rows = [piece.features.row(r) for r in range(first, end)]
            scores = [sum(weights.get(name, 0.0) * value for name, value in row.items()) for row in rows]
            total = sum(map(math.exp, scores))
            gradient: dict[str, float] = {}
            for k, row in enumerate(rows):
                share = (k == right) - math.exp(scores[k]) / total
                for name, value in row.items():
                    gradient[name] = gradient.get(name, 0.0) + share * value
            for name, value in gradient.items():
                weights[name] = weights.get(name, 0.0) + 0.1 * value
    assert dict(step.model.weights) == pytest.approx(weights)
    assert step.model.digest() != last(problem, passes=1, rate=0.1).model.digest()


def test_fixed_weights_stay(tmp_path: Path) -> None:
    problem = samples.event_problem()
    start = Model({"x": 0.25, "other": 3.0})
    found = last(problem, start, fixed="x rare:*", rate=0.1, passes=2).model.weights
    assert found["x"] == 0.25 and found["other"] == 3.0 and found["y"] != 0
    assert not any(value for name, value in found.items() if name.startswith("rare:"))
    blocks = problem_of(tmp_path, listed_of(tmp_path))
    model = last(blocks, Model({"unigram": 0.5}), fixed="unigram orientation lm-* lexical", rate=0.1, passes=1).model
    assert model.weights == {
        "unigram": 0.5, "orientation": 0.0, "lm-first": 0.0, "lm-rest": 0.0, "lexical": 0.0, "block-bigram": 1.0
    }  # fmt: skip
    learnt = model.artefacts["block-bigram"]
    assert isinstance(learnt, BigramWeights) and learnt.weights.any()
    floats = last(blocks, model, fixed="block-bigram", rate=0.1, passes=1).model
    kept = floats.artefacts["block-bigram"]
    assert isinstance(kept, BigramWeights) and (kept.weights == learnt.weights).all()
    assert floats.weights["lm-first"] != 0


@pytest.mark.parametrize("schedule", ["fixed", "progress"])
def test_block_events_go_on_to_the_last_bit(schedule: str, tmp_path: Path) -> None:
    problem = problem_of(tmp_path, listed_of(tmp_path))
    options: dict[str, Any] = {"passes": 4, "rate": 0.5, "schedule": schedule}
    whole = list(LocalMaxent(**options).learn(problem, Model(), seed=3))
    first = whole[1]
    first.model.save(tmp_path / "model")
    first.state.save(tmp_path / "state")
    model, state = Model.load(tmp_path / "model"), LearnerState.load(tmp_path / "state")
    assert model.digest() == first.model.digest()
    rest = list(LocalMaxent(**options).learn(problem, model, resume=state, seed=3))
    assert [one.model.digest() for one in rest] == [one.model.digest() for one in whole[2:]]


def test_a_start_model_with_other_bigrams(tmp_path: Path) -> None:
    listed = listed_of(tmp_path)
    start = last(problem_of(tmp_path, listed), passes=1).model
    with pytest.raises(SmtError, match="expected a start model with the block bigrams of the events"):
        last(problem_of(tmp_path, listed, threshold=3), start)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"passes": 0}, "expected passes of 1 or more"),
        ({"rate": 0.0}, "a rate above 0"),
        ({"portion": 0.0}, "portion: expected a number above 0, at most 1, found 0"),
        ({"fixed": "z?? x"}, "fixed: no feature is called 'z"),
        ({"fixed": "*"}, "fixed: all features are fixed"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        last(samples.event_problem(), **{"passes": 1, **options})


def event_rows(right: Sequence[int], values: Sequence[float], offsets: Sequence[int]) -> EventProblem:
    table = Columns.dense(("x",), np.array(values).reshape(-1, 1))
    return EventProblem([EventRows(table, np.array(offsets), np.array(right))])


def test_events_that_make_no_sense() -> None:
    with pytest.raises(SmtError, match="piece 1 of the events: a right row is not in its group"):
        last(event_rows([2], [1.0, 2.0], [0, 2]))
    with pytest.raises(SmtError, match="piece 1 of the events: groups must rise to the number of rows"):
        last(event_rows([0], [1.0, 2.0], [0, 3]))
    with pytest.raises(SmtError, match="expected events to learn from, found none"):
        last(EventProblem([]))
    with pytest.raises(SmtError, match="the objective is not finite"):
        last(event_rows([0, 1], [1e200, -1e200, 1e200, -1e200], [0, 2, 4]), rate=1e200, passes=3)


def test_cases_are_not_empty() -> None:
    pairs, bitext = random_case(0)
    assert len(pairs) == 30 and bitext
