"""Training material: an event list with its features and learning problems, computed on first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Protocol

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.plugins.localized.events.event_lists import EventList
from smtplugins.plugins.localized.learning.maxent import LocalMaxent
from smtplugins.plugins.localized.learning.problem import (
    BIGRAM,
    KEEP,
    NEUTRAL,
    BigramPairs,
    BlockEvents,
    bigram_problem,
    neutral_problem,
)
from smtplugins.plugins.localized.model.features import FLOATS, BlockColumns, BoundaryLm, Estimates, block_columns

LETTERS = dict(zip("abcdef", (FLOATS[0], FLOATS[1], FLOATS[2], FLOATS[3], FLOATS[4], BIGRAM), strict=True))
"""The features by the letters of table 1."""
NEUTRAL_LETTERS = "acde"


def check_letters(letters: str) -> str:
    """Check a string of distinct letters of table 1."""
    if not letters or set(letters) - set(LETTERS) or len(set(letters)) < len(letters):
        raise UsageError(f"features: expected letters from {''.join(LETTERS)}, each once, found {letters!r}")
    return letters


@dataclass(frozen=True)
class PassSettings:
    """Learning options: passes over a portion of the events, and the learning rate."""

    passes: int
    rate: float
    portion: float = 1.0

    def learner(self, fixed: str) -> LocalMaxent:
        """Return a learner that keeps the weights in ``fixed``."""
        return LocalMaxent(passes=self.passes, rate=self.rate, portion=self.portion, fixed=fixed)


class FloatProblems(Protocol):
    """The learning problems of float features."""

    @property
    def floats(self) -> BlockEvents: ...

    @property
    def neutral(self) -> BlockEvents: ...


@dataclass(frozen=True)
class BlockMaterial:
    """Events with their features and learning problems."""

    events: EventList
    model: Any
    threshold: int = 3
    keep: int = KEEP
    estimates: Estimates = field(default_factory=Estimates)

    @cached_property
    def columns(self) -> BlockColumns:
        """The features estimated from event counts."""
        return block_columns(self.events.blocks, self.events.counts, self.estimates)

    @cached_property
    def lm(self) -> BoundaryLm:
        """The language model features."""
        return BoundaryLm(self.model, self.events.blocks)

    @cached_property
    def bigrams(self) -> BigramPairs:
        """The binary features."""
        first, second, _ = self.events.bigrams(self.threshold)
        return BigramPairs(first, second)

    @cached_property
    def floats(self) -> BlockEvents:
        """The orientation events with float features only."""
        return bigram_problem(self.events, self.columns, self.lm, keep=self.keep)

    @cached_property
    def everything(self) -> BlockEvents:
        """The orientation events with float features and block bigrams."""
        return bigram_problem(self.events, self.columns, self.lm, self.bigrams, keep=self.keep)

    @cached_property
    def neutral(self) -> BlockEvents:
        """The neutral events."""
        return neutral_problem(self.events, self.columns, self.lm, keep=self.keep)


def _learn(problem: BlockEvents, learner: LocalMaxent, start: Model, seed: int, tell: Callable[..., None]) -> Model:
    step = None
    for number, step in enumerate(learner.learn(problem, start, seed=seed), 1):
        tell(number, step.objective, step.metrics["rate"])
    assert step is not None
    return step.model


def learn_floats(
    material: FloatProblems,
    letters: str,
    recipe: PassSettings,
    *,
    seed: int = 1,
    tell: Callable[..., None] = lambda *told: None,
) -> Model:
    """Learn the weights of the float features in ``letters``, and those of the neutral model."""
    weights: dict[str, float] = {}
    for neutral, allowed in ((False, "abcde"), (True, NEUTRAL_LETTERS)):
        own = [letter for letter in letters if letter in allowed]
        problem = material.neutral if neutral else material.floats
        if not own:
            raise SmtError("expected float features to learn, found none")
        prefix = NEUTRAL if neutral else ""
        fixed = [prefix + LETTERS[letter] for letter in "abcde" if letter not in own]
        if len(problem.training):
            report = partial(tell, "neutral" if neutral else "floats")
            learnt = _learn(problem, recipe.learner(" ".join(fixed)), Model(), seed, report).weights
        else:
            learnt = dict.fromkeys(problem.names, 0.0)
        weights |= {name: value for name, value in learnt.items() if name != f"{NEUTRAL}orientation"}
    return Model(weights)


def learn_bigrams(
    material: BlockMaterial,
    start: Model,
    recipe: PassSettings,
    *,
    fixed: bool,
    seed: int = 1,
    tell: Callable[..., None] = lambda *told: None,
) -> Model:
    """Learn the weights of block bigrams, jointly with those of the float features unless these are ``fixed``."""
    names = " ".join(FLOATS) if fixed else ""
    begin = start if fixed else Model(dict.fromkeys(FLOATS, 0.0))
    learnt = _learn(material.everything, recipe.learner(names), begin, seed, partial(tell, "bigrams"))
    return Model({**start.weights, **learnt.weights}, learnt.artefacts)
