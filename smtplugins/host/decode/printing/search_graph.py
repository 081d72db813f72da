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
from typing import TYPE_CHECKING, Any, TypeAlias

from smtplugins.contracts.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.graph.hypergraph import Hypergraph

ORDER = 4
"""The length of the longest n-grams."""
Ngram: TypeAlias = tuple[str, ...]
_Path: TypeAlias = tuple[int, ...]
_CELLS = 1 << 23
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
    width = 1 + max(endings, default=0)
    states, inverse = np.unique(heads * np.int64(width) + np.asarray(endings, dtype=np.int64), return_inverse=True)
    nodes, numbers = states // width, inverse.reshape(-1) + 1
    estimates = np.full(len(states) + 1, -np.inf)
    np.maximum.at(estimates, numbers, posteriors(graph, None, "max").edges[:count])
    chosen = _Growing(graph, heads, tails, scores, numbers)
    previous = -math.inf
    for state in (1 + np.argsort(-estimates[1:], kind="stable")).tolist():
        estimate = float(estimates[state])
        if chosen.made >= most and estimate < previous - _TIED * max(1.0, abs(previous)):
            break
        previous = estimate
        chosen.add(state, int(nodes[state - 1]))
    complete = {state for state in chosen.steps if state and nodes[state - 1] == goal}
    return SearchPart({state: chosen.steps[state] for state in sorted(chosen.steps)}, frozenset(complete or {0}))


class _Growing:
    """A part of a graph that grows by states; ``made`` is the number of steps between them."""

    def __init__(
        self, graph: Hypergraph, heads: NDArray[Any], tails: NDArray[Any], scores: NDArray[Any], numbers: NDArray[Any]
    ) -> None:
        import numpy as np

        self.steps: dict[int, list[SearchStep]] = {0: []}
        self.made = 0
        self._graph = graph
        self._tails, self._scores, self._numbers = tails.tolist(), scores.tolist(), numbers.tolist()
        self._into, self._out = _Groups(numbers), _Groups(tails)
        begins = tails[np.isin(tails, heads, invert=True)]
        self._states: dict[int, list[int]] = {int(begins[0]) if len(begins) else 0: [0]}
        self._words: dict[int, Ngram] = {}

    def add(self, state: int, node: int) -> None:
        """Add a state of a node, with the steps between it and those that are there."""
        for edge in self._into.members(state):
            for tail in self._states.get(self._tails[edge], ()):
                self._step(tail, state, edge)
        self.steps.setdefault(state, [])
        self._states.setdefault(node, []).append(state)
        for edge in self._out.members(node):
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


class _Groups:
    """The places of each number in a column, in order."""

    def __init__(self, column: NDArray[Any]) -> None:
        import numpy as np

        self._order = np.argsort(column, kind="stable")
        self._sorted = column[self._order]

    def members(self, number: int) -> list[int]:
        first, last = self._sorted.searchsorted([number, number + 1]).tolist()
        places: list[int] = self._order[first:last].tolist()
        return places


@dataclass(frozen=True)
class _Occurrences:
    """The n-grams that a step completes: by the steps that they are part of, how many times.

    ``last`` are those that may go on in the next phrase; ``scores`` are those of all paths to the end of these steps.
    """

    last: Sequence[tuple[Ngram, Mapping[_Path, int]]]
    counts: Mapping[Ngram, Mapping[_Path, int]]
    scores: Mapping[_Path, float]


def ngram_scores(part: SearchPart, scale: float, *, once: bool) -> dict[Ngram, float]:
    """Logarithms of the probability that a path has an n-gram, if ``once``, else of its expected number.

    Paths have the probability ``exp(scale * score)``, normalised.
    """
    totals: dict[int, float] = {0: 0.0}
    known: dict[int, list[_Occurrences]] = {0: []}
    ids: dict[Ngram, int] = {}
    moves: dict[int, list[_Move]] = {}
    number = 0
    for state, steps in part.steps.items():
        if not state:
            continue
        totals[state] = -math.inf
        for step in steps:
            totals[state] = _add(totals[state], totals[step.tail] + scale * step.score)
        known[state], moves[state] = [], []
        for step in steps:
            number += 1
            score = scale * step.score
            done = _completed(step, number, totals[step.tail] + score, score, known[step.tail])
            known[state].append(done)
            shares = {path: math.exp(value - totals[state]) for path, value in done.scores.items()}
            if once:
                values = [sum(map(shares.__getitem__, paths)) for paths in done.counts.values()]
            else:
                values = [sum(shares[path] * n for path, n in paths.items()) for paths in done.counts.values()]
            numbers = [ids.setdefault(ngram, len(ids)) for ngram in done.counts]
            share = math.exp(totals[step.tail] + score - totals[state])
            moves[state].append(_Move(step.tail, share, numbers, values))
    whole = -math.inf
    for state in part.complete:
        whole = _add(whole, totals[state])
    ends = {state: math.exp(totals[state] - whole) for state in part.complete}
    sums = _propagated(moves, ends, len(ids), once=once)
    # Some states lead to no complete one.
    return {ngram: math.log(value) for ngram, value in zip(ids, sums, strict=True) if value > 0}


@dataclass(frozen=True)
class _Move:
    """A step: its share of the paths to its head, and the n-grams that it completes, with theirs."""

    tail: int
    share: float
    ngrams: list[int]
    values: list[float]


def _propagated(
    moves: Mapping[int, Sequence[_Move]], ends: Mapping[int, float], count: int, *, once: bool
) -> list[float]:
    """The sum of each n-gram over the complete states, in proportion to their ``ends``."""
    import numpy as np

    sums = np.zeros(count)
    ids = {state: [np.array(move.ngrams, dtype=np.int64) for move in steps] for state, steps in moves.items()}
    own = {state: [np.array(move.values) for move in steps] for state, steps in moves.items()}
    width = max(1, _CELLS // (len(moves) + 1))
    for first in range(0, count, width):
        last = min(first + width, count)
        rows = {0: np.zeros(last - first)}
        for state, steps in moves.items():
            row = rows[state] = np.zeros(last - first)
            for move, numbers, values in zip(steps, ids[state], own[state], strict=True):
                inside = (numbers >= first) & (numbers < last)
                here = numbers[inside] - first
                before = move.share * rows[move.tail]
                if once:
                    before[here] = 0.0
                row += before
                row[here] += values[inside]
            if state in ends:
                sums[first:last] += ends[state] * row
    result: list[float] = sums.tolist()
    return result


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
        for ngram, histories in other.last:
            moved: dict[_Path, int] = {}
            for history, count in histories.items():
                path = (*history, number)
                moved[path] = count
                scores[path] = other.scores[history] + score
            for more in range(1, min(len(words), ORDER - len(ngram)) + 1):
                longer = ngram + words[:more]
                known = counts.get(longer)
                counts[longer] = moved if known is None else _joined(known, moved)
    last_words = [(ngram, paths) for ngram, paths in counts.items() if _ends(ngram, words)]
    return _Occurrences(last_words, counts, scores)


def _ends(ngram: Ngram, words: Ngram) -> bool:
    """Whether a phrase has the last words of an n-gram, which has fewer than the longest, at its end."""
    shared = min(len(ngram), len(words))
    return len(ngram) < ORDER and ngram[-shared:] == words[-shared:]


def _joined(left: Mapping[_Path, int], right: Mapping[_Path, int]) -> dict[_Path, int]:
    """The sums of two counts."""
    result = dict(left)
    for path, count in right.items():
        result[path] = result.get(path, 0) + count
    return result


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
