"""The checks of search tasks hold for a good decoder and task, and each says what is wrong with a bad one."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtformats import Columns
from smtplugins.contracts.models import Model
from smtplugins.contracts.tasks import TaskProblem
from smtplugins.host.learn.search_tasks import Weights, follow, ranked
from smtplugins.testing import samples
from smtplugins.testing.checks import DoesNotApply
from smtplugins.testing.decoders.any_decoder import subject
from smtplugins.testing.decoders.search_tasks import (
    _Plain,
    assert_search_task,
    policies_lead_to_what_is_decoded,
    tasks_are_sound,
)

TOYS = Path(__file__).resolve().parents[2] / "host/toy_policies.py"
HOST = smt.load_plugins([TOYS])
PROBLEM = samples.task_problem()
NAMES = sorted({name for tag in "DNV" for name in (f"word:run|{tag}", f"before:D|{tag}", f"word:the|{tag}")})
CHANCE = random.Random(1)
WEIGHTS = {name: CHANCE.uniform(-1, 1) for name in NAMES}


class Guided(samples.Tagging):
    """A task that follows policies by itself, by what the host does."""

    def follow(self, state: Any, weights: Weights, first: Any = None) -> Any:
        return follow(_Plain(self), state, weights, first)

    def ranked(self, state: Any, weights: Weights) -> Any:
        return ranked(_Plain(self), state, weights)


class Unstable(samples.Tagging):
    def actions(self, state: Any) -> Any:
        actions = super().actions(state)
        return CHANCE.sample(actions, len(actions))


class Unranked(Guided):
    def ranked(self, state: Any, weights: Weights) -> Any:
        actions, scores = super().ranked(state, weights)
        return actions[::-1], scores[::-1]


class Deaf(Guided):
    """Does not do what it is told to begin with."""

    def follow(self, state: Any, weights: Weights, first: Any = None) -> Any:
        return super().follow(state, weights)


class Blind(Guided):
    """Leaves the features of the first action out."""

    def follow(self, state: Any, weights: Weights, first: Any = None) -> Any:
        path = super().follow(state, weights, first)
        path.values[: path.offsets[1]] = 0
        return path


class Poor(Guided):
    def follow(self, state: Any, weights: Weights, first: Any = None) -> Any:
        path = super().follow(state, weights, first)
        return type(path)(
            path.states, path.actions, path.offsets, path.ids, path.values, [reward / 2 for reward in path.rewards]
        )


class Knowing(samples.Tagging):
    """Knows what is best: the right tag."""

    def optimal(self, state: Any) -> Any:
        return state.wanted[len(state.tags)]


class Mistaken(samples.Tagging):
    """Thinks that the first is always best."""

    def optimal(self, state: Any) -> Any:
        return self.tags[0]


class Lost(samples.Tagging):
    def optimal(self, state: Any) -> Any:
        return "X"


def test_good_tasks_pass() -> None:
    for task in (samples.Tagging(), Guided(), Knowing()):
        assert_search_task(task, PROBLEM.examples, WEIGHTS)
        assert_search_task(task, PROBLEM.examples, {})


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (Unstable(), "the same state has other actions or scores when asked again"),
        (Unranked(), "`ranked` gives others, or another order"),
        (Deaf(), "beginning with"),
        (Blind(), "`features(0)` of the path is"),
        (Poor(), "not the sum"),
        (Mistaken(), "`optimal` is 'D', which earns 0.333"),
        (Lost(), "`optimal` is 'X', which is none of the actions"),
    ],
)
def test_bad_tasks_fail(task: Any, words: str) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_search_task(task, PROBLEM.examples, WEIGHTS)
    assert words in str(caught.value)


def check(make: Any, folder: Path, function: Callable[[Any], None]) -> None:
    offer = smt.Offer(name="tried", make=make, summary="a decoder under test")
    function(subject(offer, folder, HOST, model=Model({"length": 1.0})))


CHECKS = pytest.mark.parametrize("function", [tasks_are_sound, policies_lead_to_what_is_decoded])


@CHECKS
def test_decoders_with_a_task_and_without(function: Callable[[Any], None], tmp_path: Path) -> None:
    check(HOST.registry.entry("decoders", "by-word").record.factory, tmp_path, function)
    with pytest.raises(DoesNotApply, match="the decoder has no `task`"):
        check(HOST.registry.entry("decoders", "silent").record.factory, tmp_path, function)


def test_a_task_that_is_not_what_the_decoder_does(tmp_path: Path) -> None:
    good: Any = HOST.registry.entry("decoders", "by-word").record.factory

    class Turned(good):  # type: ignore[misc]
        def task(self, *given: Any) -> TaskProblem:
            made = super().task(*given)
            features = type(made.search).features

            def turned(state: Any, actions: Any) -> Columns:
                columns = features(made.search, state, actions)
                return Columns(columns.names, columns.offsets, columns.ids, -columns.values)

            made.search.features = turned
            return made

    check(Turned, tmp_path, tasks_are_sound)
    with pytest.raises(AssertionError, match="with that for a reference the policy earns"):
        check(Turned, tmp_path, policies_lead_to_what_is_decoded)
