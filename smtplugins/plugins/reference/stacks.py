"""Phrase-based decoding: stacks of hypotheses, by how many source words they have translated. The README explains it.

P. Koehn, F. J. Och and D. Marcu, "Statistical Phrase-Based Translation" (2003); P. Koehn, "Pharaoh: a Beam Search
Decoder for Phrase-Based Statistical Machine Translation Models" (2004).
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Limits:
    """What is looked at. ``stack_size``: hypotheses of a stack, 0 for all; ``lack``: below the best one, at most.

    ``jump`` is the longest jump, negative for any; ``order`` what may come next at all: see ``Search.allowed``.
    """

    stack_size: int = 0
    lack: float = math.inf
    jump: int = -1
    order: str = "free"


@dataclass(frozen=True)
class Option:
    """A translation of some source words: its number among the rules, its score, what features with states may add."""

    number: int
    score: float
    guess: float = 0.0


@dataclass(frozen=True, eq=False)
class Phrases:
    """The translations of the source words ``[first, last)``; ``edges`` are the same as features see them."""

    first: int
    last: int
    options: Sequence[Option]
    edges: Any

    @property
    def words(self) -> int:
        """The source words as a set: a bit for each."""
        return (1 << self.last) - (1 << self.first)


@dataclass(frozen=True, eq=False)
class Step:
    """A phrase behind a hypothesis; ``values`` are those of features with states, ``total`` has all before it."""

    before: Hypothesis
    phrases: Phrases | None
    option: Option | None
    values: Sequence[float]
    score: float
    total: float


@dataclass(eq=False)
class Hypothesis:
    """Partial translations that whatever follows treats alike: of the same words (a bit for each), with equal states.

    ``end`` is where the last phrase ended, ``steps`` the ways to it, best first.
    """

    covered: int
    end: int
    states: tuple[Any, ...]
    future: float = 0.0
    steps: list[Step] = field(default_factory=list)

    @property
    def total(self) -> float:
        """The score of the best way."""
        return self.steps[0].total if self.steps else 0.0


class Search:
    """The search of one sentence. ``weights`` are those of all components of the scorers, in their order.

    ``begin`` is the edge that a derivation starts with, ``distances`` are those between positions of a lattice.
    """

    def __init__(
        self,
        positions: int,
        phrases: Sequence[Phrases],
        begin: Any,
        scorers: Sequence[Any],
        weights: Sequence[float],
        limits: Limits,
        distances: Any = None,
    ) -> None:
        self.positions, self.phrases, self.begin = positions, phrases, begin
        self.scorers, self.weights, self.limits = scorers, weights, limits
        self.distances = distances
        self.best = self.best_of_spans()
        self.steps: list[Step] = []

    def goal(self) -> Hypothesis | None:
        """The goal behind all translations of the whole sentence, where scorers add what only that shows."""
        told = [scorer.combine(self.begin, [()]) for scorer in self.scorers]
        first = Hypothesis(0, 0, tuple(states[0] for _, states in told))
        stacks: list[dict[Any, Hypothesis]] = [{} for _ in range(self.positions + 1)]
        stacks[0][None] = first
        for stack in stacks[:-1]:
            for hypothesis in self.kept(stack.values()):
                for phrases in self.phrases:
                    if self.allowed(hypothesis, phrases):
                        self.expand(hypothesis, phrases, stacks)
        ends = []
        for one in stacks[-1].values():
            values = _row([scorer.finish([state]) for scorer, state in zip(self.scorers, one.states, strict=True)])
            score = self.weighted(values)
            ends.append(Step(one, None, None, values, score, one.total + score))
        return Hypothesis(-1, self.positions, (), 0.0, sorted(ends, key=lambda step: -step.total)) if ends else None

    def kept(self, stack: Any) -> list[Hypothesis]:
        """The hypotheses of a stack that are gone on with, best first; what is still to come is guessed."""
        ranked = sorted(stack, key=lambda one: -one.total - one.future)
        floor = ranked[0].total + ranked[0].future - self.limits.lack if ranked else 0.0
        size = self.limits.stack_size or len(ranked)
        return [one for one in ranked[:size] if one.total + one.future >= floor]

    def allowed(self, hypothesis: Hypothesis, phrases: Phrases) -> bool:
        """Whether phrases may come next.

        ``monotone``: the next words. ``swap``: these, or others so that one phrase fills the gap, which then comes
        next. ``free``: any words to which the jump is short enough, and from which the jump back to the first gap is.
        ``window``: the latter alone.
        """
        if hypothesis.covered & phrases.words or self.future(hypothesis.covered | phrases.words) == -math.inf:
            return False
        gap = _first_gap(hypothesis.covered)
        if self.limits.order == "monotone":
            return phrases.first == gap
        if self.limits.order == "swap":
            if hypothesis.covered >> gap:
                return phrases.first == gap and bool(hypothesis.covered >> phrases.last & 1)
            return phrases.first == gap or any((one.first, one.last) == (gap, phrases.first) for one in self.phrases)
        if self.limits.jump < 0:
            return True
        back = 0 if phrases.first == gap else self.distance(gap, phrases.last)
        if self.limits.order == "window":
            return back <= self.limits.jump
        return max(back, self.distance(hypothesis.end, phrases.first)) <= self.limits.jump

    def expand(self, before: Hypothesis, phrases: Phrases, stacks: Sequence[dict[Any, Hypothesis]]) -> None:
        """Put all translations of some words behind a hypothesis."""
        count = len(phrases.options)
        told = [
            scorer.combine(phrases.edges, [(state,)] * count)
            for scorer, state in zip(self.scorers, before.states, strict=True)
        ]
        covered = before.covered | phrases.words
        stack = stacks[covered.bit_count()]
        for i, option in enumerate(phrases.options):
            values = _row([scores[i] for scores, _ in told])
            score = option.score + self.weighted(values)
            step = Step(before, phrases, option, values, score, before.total + score)
            states = tuple(after[i] for _, after in told)
            key = (covered, phrases.last, states)
            if key not in stack:
                stack[key] = Hypothesis(covered, phrases.last, states, self.future(covered))
            insort(stack[key].steps, step, key=lambda one: -one.total)
            self.steps.append(step)

    def weighted(self, values: Sequence[float]) -> float:
        """The sum of what scorers say."""
        return math.fsum(weight * value for weight, value in zip(self.weights, values, strict=True))

    def distance(self, one: int, other: int) -> int:
        """How far it is from one position to another, in either direction."""
        low, high = sorted((one, other))
        return high - low if self.distances is None else int(self.distances[low, high])

    def best_of_spans(self) -> dict[tuple[int, int], float]:
        """What the best phrases for each run of words are worth, as far as can be told from them alone."""
        best: dict[tuple[int, int], float] = {}
        for one in self.phrases:
            guesses = [option.score + option.guess for option in one.options]
            best[one.first, one.last] = max([best.get((one.first, one.last), -math.inf), *guesses])
        spans = combinations(range(self.positions + 1), 2)
        for first, last in sorted(spans, key=lambda span: span[1] - span[0]):
            parts = [best[first, middle] + best[middle, last] for middle in range(first + 1, last)]
            best[first, last] = max([best.get((first, last), -math.inf), *parts])
        return best

    def future(self, covered: int) -> float:
        """What is still to come, guessed: the sum over all gaps."""
        return math.fsum(self.best[gap] for gap in self.gaps(covered))

    def gaps(self, covered: int) -> Iterator[tuple[int, int]]:
        """The runs of words that are not translated."""
        first = None
        for at in range(self.positions + 1):
            there = at == self.positions or bool(covered >> at & 1)
            if there and first is not None:
                yield first, at
            first = None if there else at if first is None else first


def _first_gap(covered: int) -> int:
    """The first word that is not translated."""
    return (~covered & covered + 1).bit_length() - 1


def _row(scores: Sequence[Any]) -> list[float]:
    """The values of all components."""
    return [value for one in scores for value in np.ravel(one).tolist()]
