"""Phrase-based decoding: stacks of hypotheses by number of covered source words. The README explains it.

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
class StackLimits:
    """Pruning and reordering limits.

    ``stack_size`` is the maximum number of hypotheses in a stack (0: all); ``lack`` the maximum score difference to
    the best. ``jump`` is the longest jump (negative: any); ``order`` is explained in ``StackSearch.allowed``.
    """

    stack_size: int = 0
    lack: float = math.inf
    jump: int = -1
    order: str = "free"


@dataclass(frozen=True)
class Option:
    """A phrase translation: its rule number, its score, and the estimate of stateful features."""

    number: int
    score: float
    guess: float = 0.0


@dataclass(frozen=True, eq=False)
class SpanPhrases:
    """The translations of the source span ``[first, last)``; ``edges`` holds them in the form that features take."""

    first: int
    last: int
    options: Sequence[Option]
    edges: Any

    @property
    def words(self) -> int:
        """The coverage bits of the span."""
        return (1 << self.last) - (1 << self.first)


@dataclass(frozen=True, eq=False)
class PhraseStep:
    """A hypothesis extended by a phrase; ``values`` are those of stateful features, ``total`` includes ``before``."""

    before: Hypothesis
    phrases: SpanPhrases | None
    option: Option | None
    values: Sequence[float]
    score: float
    total: float


@dataclass(eq=False)
class Hypothesis:
    """Recombined partial translations: equal coverage (a bit for each word), last end and states.

    ``end`` is the end of the last phrase, ``steps`` the ways to reach the hypothesis, best first.
    """

    covered: int
    end: int
    states: tuple[Any, ...]
    future: float = 0.0
    steps: list[PhraseStep] = field(default_factory=list)

    @property
    def total(self) -> float:
        """The score of the best derivation."""
        return self.steps[0].total if self.steps else 0.0


class StackSearch:
    """The search of a sentence; ``weights`` are those of all components of the scorers, in order.

    ``begin`` is the edge that derivations start with, ``distances`` are those between positions of a lattice.
    """

    def __init__(
        self,
        positions: int,
        phrases: Sequence[SpanPhrases],
        begin: Any,
        scorers: Sequence[Any],
        weights: Sequence[float],
        limits: StackLimits,
        distances: Any = None,
    ) -> None:
        self.positions, self.phrases, self.begin = positions, phrases, begin
        self.scorers, self.weights, self.limits = scorers, weights, limits
        self.distances = distances
        self.best = self.best_of_spans()
        self.steps: list[PhraseStep] = []

    def goal(self) -> Hypothesis | None:
        """Search; return the goal, with the scorers' sentence-end scores, or None without a complete hypothesis."""
        results = [scorer.combine(self.begin, [()]) for scorer in self.scorers]
        first = Hypothesis(0, 0, tuple(states[0] for _, states in results))
        stacks: list[dict[Any, Hypothesis]] = [{} for _ in range(self.positions + 1)]
        stacks[0][None] = first
        for stack in stacks[:-1]:
            for hypothesis in self.prune(stack.values()):
                for phrases in self.phrases:
                    if self.allowed(hypothesis, phrases):
                        self.expand(hypothesis, phrases, stacks)
        ends = []
        for hypothesis in stacks[-1].values():
            values = _row(
                [scorer.finish([state]) for scorer, state in zip(self.scorers, hypothesis.states, strict=True)]
            )
            score = self.weighted(values)
            ends.append(PhraseStep(hypothesis, None, None, values, score, hypothesis.total + score))
        return Hypothesis(-1, self.positions, (), 0.0, sorted(ends, key=lambda step: -step.total)) if ends else None

    def prune(self, stack: Any) -> list[Hypothesis]:
        """Return the hypotheses of a stack that survive pruning, best first by score plus future cost."""
        ranked = sorted(stack, key=lambda hypothesis: -hypothesis.total - hypothesis.future)
        floor = ranked[0].total + ranked[0].future - self.limits.lack if ranked else 0.0
        size = self.limits.stack_size or len(ranked)
        return [hypothesis for hypothesis in ranked[:size] if hypothesis.total + hypothesis.future >= floor]

    def allowed(self, hypothesis: Hypothesis, phrases: SpanPhrases) -> bool:
        """Return whether phrases may come next.

        ``monotone``: only the next words. ``swap``: these, or words after a gap that a single phrase can fill; that
        phrase must come next. ``free``: words within the jump limit, from which the jump back to the first gap is
        within it, too. ``window``: only the latter is limited.
        """
        if hypothesis.covered & phrases.words or self.future(hypothesis.covered | phrases.words) == -math.inf:
            return False
        gap = _first_gap(hypothesis.covered)
        if self.limits.order == "monotone":
            return phrases.first == gap
        if self.limits.order == "swap":
            if hypothesis.covered >> gap:
                return phrases.first == gap and bool(hypothesis.covered >> phrases.last & 1)
            return phrases.first == gap or any(
                (others.first, others.last) == (gap, phrases.first) for others in self.phrases
            )
        if self.limits.jump < 0:
            return True
        back = 0 if phrases.first == gap else self.distance(gap, phrases.last)
        if self.limits.order == "window":
            return back <= self.limits.jump
        return max(back, self.distance(hypothesis.end, phrases.first)) <= self.limits.jump

    def expand(self, before: Hypothesis, phrases: SpanPhrases, stacks: Sequence[dict[Any, Hypothesis]]) -> None:
        """Extend a hypothesis by all translations of a span."""
        count = len(phrases.options)
        results = [
            scorer.combine(phrases.edges, [(state,)] * count)
            for scorer, state in zip(self.scorers, before.states, strict=True)
        ]
        covered = before.covered | phrases.words
        stack = stacks[covered.bit_count()]
        for i, option in enumerate(phrases.options):
            values = _row([scores[i] for scores, _ in results])
            score = option.score + self.weighted(values)
            step = PhraseStep(before, phrases, option, values, score, before.total + score)
            states = tuple(after[i] for _, after in results)
            key = (covered, phrases.last, states)
            if key not in stack:
                stack[key] = Hypothesis(covered, phrases.last, states, self.future(covered))
            insort(stack[key].steps, step, key=lambda other: -other.total)
            self.steps.append(step)

    def weighted(self, values: Sequence[float]) -> float:
        """Return the weighted sum of the scorers' values."""
        return math.fsum(weight * value for weight, value in zip(self.weights, values, strict=True))

    def distance(self, first: int, last: int) -> int:
        """Return the distance between two positions."""
        low, high = sorted((first, last))
        return high - low if self.distances is None else int(self.distances[low, high])

    def best_of_spans(self) -> dict[tuple[int, int], float]:
        """Return the future cost of each span: the best score of its phrases out of context."""
        best: dict[tuple[int, int], float] = {}
        for phrases in self.phrases:
            guesses = [option.score + option.guess for option in phrases.options]
            best[phrases.first, phrases.last] = max([best.get((phrases.first, phrases.last), -math.inf), *guesses])
        spans = combinations(range(self.positions + 1), 2)
        for first, last in sorted(spans, key=lambda span: span[1] - span[0]):
            parts = [best[first, middle] + best[middle, last] for middle in range(first + 1, last)]
            best[first, last] = max([best.get((first, last), -math.inf), *parts])
        return best

    def future(self, covered: int) -> float:
        """Return the future cost of a coverage: the sum over its gaps."""
        return math.fsum(self.best[gap] for gap in self.gaps(covered))

    def gaps(self, covered: int) -> Iterator[tuple[int, int]]:
        """Yield the spans that are not covered."""
        first = None
        for at in range(self.positions + 1):
            there = at == self.positions or bool(covered >> at & 1)
            if there and first is not None:
                yield first, at
            first = None if there else at if first is None else first


def _first_gap(covered: int) -> int:
    """Return the first word that is not covered."""
    return (~covered & covered + 1).bit_length() - 1


def _row(scores: Sequence[Any]) -> list[float]:
    """Return the values of all components."""
    return [value for score in scores for value in np.ravel(score).tolist()]
