"""The best part of a search graph of phrases, and how often its paths have each n-gram, as Moses computes both.

R. Tromble, S. Kumar, F. Och and W. Macherey, "Lattice Minimum Bayes-Risk Decoding for Statistical Machine Translation"
(2008) choose by the probability that a path has an n-gram, J. DeNero, D. Chiang and K. Knight, "Fast Consensus Decoding
over Translation Forests" (2009) by the number of times that it is expected to have it. Both sum over the graph's paths
with states in the order of covered words. Moses' sums deviate from these definitions in two places, and so do ours:

- The probability of an n-gram at a state is that of paths that had it before, and of steps that complete it. A step
  that completes it on some path drops the paths on which it only was before, and adds each of its histories, also
  those that had it before.
- Of an n-gram that a phrase has twice, longer n-grams are counted as if both occurrences ended the phrase.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from smtplugins.contracts.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.core.graph.hypergraph import Hypergraph

ORDER = 4
"""The length of the longest n-grams."""
Ngram: TypeAlias = tuple[str, ...]
_Path: TypeAlias = tuple[int, ...]
_TIED = 1e-7  # Moses compares scores as 32-bit floats


@dataclass(frozen=True)
class SearchStep:
    """A phrase between two states; the score is a natural logarithm."""

    tail: int
    score: float
    words: Ngram


@dataclass(frozen=True)
class SearchPart:
    """States with the steps into each, tails first; ``complete`` are those that cover the sentence. State 0 begins."""

    steps: Mapping[int, Sequence[SearchStep]]
    complete: frozenset[int]


def best_part(graph: Hypergraph, endings: Sequence[int], most: float) -> SearchPart:
    """The states on the best paths, until there are ``most`` steps between them, and the steps between them.

    ``endings`` number for each edge what Moses' features know of its last phrase: hypotheses with other numbers are
    states of their own (:class:`Decoding`). Complete hypotheses differ in nothing else, as the end of the sentence has
    been scored. Of states with equal scores all are kept.
    """
    import numpy as np

    from smtplugins.core.graph.inference import posteriors

    goal, count = graph.nodes - 1, len(endings)
    if goal < 0:
        return SearchPart({0: ()}, frozenset())
    if int(graph.edge_offsets[goal]) != count or len(graph.tails) != len(graph):
        raise UsageError("expected a graph of phrases, found one of rules with several gaps")
    scores = graph.scores_or(None).copy()
    heads, tails = graph.heads[:count].copy(), graph.tails[:count]
    ends = np.zeros(graph.nodes)
    ends[graph.tails[count:]] = scores[count:]
    scores = scores[:count] + ends[heads]
    heads[np.isin(heads, graph.tails[count:])] = goal
    # Numbers of states follow those of nodes, which are by covered words.
    keys = np.column_stack([heads, np.asarray(endings, dtype=np.int64)])
    states, numbers = np.unique(keys, axis=0, return_inverse=True)
    numbers = numbers.reshape(-1) + 1
    estimates = np.full(len(states) + 1, -np.inf)
    np.maximum.at(estimates, numbers, posteriors(graph, None, "max").edges[:count])
    chosen = _Growing(graph, heads.tolist(), tails.tolist(), scores.tolist(), numbers.tolist())
    previous = -math.inf
    for state in (1 + np.argsort(-estimates[1:], kind="stable")).tolist():
        estimate = float(estimates[state])
        if chosen.made >= most and estimate < previous - _TIED * max(1.0, abs(previous)):
            break
        previous = estimate
        chosen.add(state, int(states[state - 1][0]))
    complete = {state for state in chosen.steps if state and states[state - 1][0] == goal}
    return SearchPart({state: chosen.steps[state] for state in sorted(chosen.steps)}, frozenset(complete or {0}))


class _Growing:
    """A part of a graph that grows by states; ``made`` is the number of steps between them."""

    def __init__(
        self, graph: Hypergraph, heads: list[int], tails: list[int], scores: list[float], numbers: list[int]
    ) -> None:
        self.steps: dict[int, list[SearchStep]] = {0: []}
        self.made = 0
        self._graph = graph
        self._tails, self._scores, self._numbers = tails, scores, numbers
        self._into: dict[int, list[int]] = {}
        self._out: dict[int, list[int]] = {}
        for edge, (tail, state) in enumerate(zip(tails, numbers, strict=True)):
            self._into.setdefault(state, []).append(edge)
            self._out.setdefault(tail, []).append(edge)
        heads_of = set(heads)
        begin = next((tail for tail in tails if tail not in heads_of), 0)
        self._states: dict[int, list[int]] = {begin: [0]}
        self._words: dict[int, Ngram] = {}

    def add(self, state: int, node: int) -> None:
        """Add a state of a node, with the steps between it and those that are there."""
        for edge in self._into[state]:
            for tail in self._states.get(self._tails[edge], ()):
                self._step(tail, state, edge)
        self.steps.setdefault(state, [])
        self._states.setdefault(node, []).append(state)
        for edge in self._out.get(node, ()):
            if self._numbers[edge] in self.steps:
                self._step(state, self._numbers[edge], edge)

    def _step(self, tail: int, head: int, edge: int) -> None:
        self.steps.setdefault(head, []).append(SearchStep(tail, self._scores[edge], self._target(edge)))
        self.made += 1

    def _target(self, edge: int) -> Ngram:
        rule, grammar = int(self._graph.rules[edge]), self._graph.grammar
        if rule not in self._words:
            symbols = grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]].tolist()
            self._words[rule] = tuple(self._graph.words[symbol] for symbol in symbols if symbol >= 0)
        return self._words[rule]


@dataclass(frozen=True)
class _Occurrences:
    """The n-grams that a step completes: by the steps that they are part of, how many times.

    ``scores`` are those of all paths to the end of these steps.
    """

    words: Ngram
    counts: Mapping[Ngram, Mapping[_Path, int]]
    scores: Mapping[_Path, float]


def ngram_scores(part: SearchPart, scale: float, *, once: bool) -> dict[Ngram, float]:
    """Logarithms of the probability that a path has an n-gram, if ``once``, else of its expected number.

    Paths have the probability ``exp(scale * score)``, normalised.
    """
    totals: dict[int, float] = {0: 0.0}
    sums: dict[int, dict[Ngram, float]] = {0: {}}
    known: dict[int, list[_Occurrences]] = {0: []}
    number = 0
    for state, steps in part.steps.items():
        if not state:
            continue
        totals[state] = -math.inf
        own = sums[state] = {}
        known[state] = []
        for step in steps:
            totals[state] = _add(totals[state], totals[step.tail] + scale * step.score)
        for step in steps:
            number += 1
            score = scale * step.score
            done = _completed(step, number, totals[step.tail] + score, score, known[step.tail])
            known[state].append(done)
            for ngram, paths in done.counts.items():
                for path, count in paths.items():
                    value = done.scores[path] + (0.0 if once else math.log(count))
                    own[ngram] = _add(own.get(ngram, -math.inf), value)
            for ngram, before in sums[step.tail].items():
                if not once or ngram not in done.counts:
                    own[ngram] = _add(own.get(ngram, -math.inf), before + score)
    whole = -math.inf
    result: dict[Ngram, float] = {}
    for state in sorted(part.complete):
        whole = _add(whole, totals[state])
        for ngram, value in sums[state].items():
            result[ngram] = _add(result.get(ngram, -math.inf), value)
    return {ngram: value - whole for ngram, value in result.items()}


def _completed(
    step: SearchStep, number: int, total: float, score: float, before: Sequence[_Occurrences]
) -> _Occurrences:
    """The n-grams within a phrase, and those that begin in phrases before it."""
    words, here = step.words, (number,)
    counts: dict[Ngram, dict[_Path, int]] = {}
    scores: dict[_Path, float] = {here: total}
    for first in range(len(words)):
        for last in range(first + 1, min(first + ORDER, len(words)) + 1):
            paths = counts.setdefault(words[first:last], {})
            paths[here] = paths.get(here, 0) + 1
    for other in before:
        for ngram, histories in other.counts.items():
            shared = min(len(ngram), len(other.words))
            if ngram[-shared:] != other.words[-shared:]:
                continue
            for more in range(1, min(len(words), ORDER - len(ngram)) + 1):
                paths = counts.setdefault(ngram + words[:more], {})
                for history, count in histories.items():
                    path = (*history, number)
                    paths[path] = paths.get(path, 0) + count
                    scores[path] = other.scores[history] + score
    return _Occurrences(words, counts, scores)


def _add(left: float, right: float) -> float:
    """The logarithm of the sum of two numbers given by their logarithms."""
    if left < right:
        left, right = right, left
    return left if right == -math.inf else left + math.log1p(math.exp(right - left))


def ngram_counts(words: Sequence[str]) -> dict[Ngram, int]:
    """The n-grams of a text, up to the longest, with their numbers."""
    counts: dict[Ngram, int] = {}
    for n in range(1, ORDER + 1):
        for at in range(len(words) - n + 1):
            ngram = tuple(words[at : at + n])
            counts[ngram] = counts.get(ngram, 0) + 1
    return counts
