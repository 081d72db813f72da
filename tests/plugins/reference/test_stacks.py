"""The plain stack search against enumeration: all orders of phrases of tiny random problems."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from smtplugins.core.grammar.rules import Edges, Rules
from smtplugins.core.vocabulary import Vocabulary
from smtplugins.plugins.reference.stacks import Hypothesis, Option, PhraseStep, SpanPhrases, StackLimits, StackSearch
from tests.seeds import seeds

Way = tuple[float, tuple[tuple[int, int, int], ...]]  # score; spans and numbers of options in target order


class Pairs:
    """Values of neighbouring words, and two of each end; a state is the last word."""

    def __init__(self, rng: random.Random) -> None:
        self.table = {(a, b): rng.uniform(-1, 1) for a in "^abc" for b in "abc$"}

    def combine(self, edges: Edges, tails: Sequence[Sequence[str]]) -> tuple[Any, list[str]]:
        scores, states = [], []
        for i, below in enumerate(tails):
            words = [below[0] if below else "^", *(one for one in edges.rules.target_of(i) if isinstance(one, str))]
            scores.append([self.value(words), -float(len(words) - 1)])
            states.append(words[-1])
        return scores, states

    def value(self, words: Sequence[str]) -> float:
        return sum(self.table[pair] for pair in itertools.pairwise(words))

    def finish(self, states: Sequence[str]) -> Any:
        return [[self.table[state, "$"], 0.0] for state in states]

    def estimate(self, edges: Edges) -> Any:
        rows = [[one for one in edges.rules.target_of(i) if isinstance(one, str)] for i in range(len(edges))]
        return [[self.value(words), -float(len(words))] for words in rows]


class Jumps:
    """Lengths of jumps; a state is the end of the last phrase."""

    def combine(self, edges: Edges, tails: Sequence[Sequence[int]]) -> tuple[Any, list[int]]:
        assert edges.firsts is not None and edges.lasts is not None
        before = [below[0] if below else 0 for below in tails]
        return -np.abs(edges.firsts - before), edges.lasts.tolist()

    def finish(self, states: Sequence[int]) -> Any:
        return [0.0] * len(states)

    def estimate(self, edges: Edges) -> Any:
        return [0.0] * len(edges)


class Problem:
    """SpanPhrases for most spans of up to two of the positions, and two scorers."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.positions = rng.randint(1, 4)
        self.words = Vocabulary()
        self.texts: list[list[str]] = []
        self.pairs = Pairs(rng)
        self.weights = [rng.uniform(0, 1), rng.uniform(-1, 1), rng.uniform(0, 1)]
        self.phrases = []
        for first in range(self.positions):
            for last in range(first + 1, min(first + 2, self.positions) + 1):
                if rng.random() < 0.85:
                    self.phrases.append(self.some(rng, first, last))

    def some(self, rng: random.Random, first: int, last: int) -> SpanPhrases:
        options, targets = [], []
        for _ in range(rng.randint(1, 2)):
            text = [rng.choice("abc") for _ in range(rng.choice([0, 1, 1, 2]))]
            guess = self.weights[0] * self.pairs.value(text) - self.weights[1] * len(text)
            options.append(Option(len(self.texts), rng.uniform(-1, 1), guess))
            self.texts.append(text)
            targets.append([0, *text])
        return SpanPhrases(first, last, options, self.edges(targets, first, last))

    def edges(self, targets: Any, first: int, last: int) -> Edges:
        places = (np.full(len(targets), end, dtype=np.int32) for end in (first, last))
        return Edges(Rules.from_targets(targets, self.words), *places)

    def search(self, distances: Any = None, **limits: Any) -> StackSearch:
        scorers = [self.pairs, Jumps()]
        begin = self.edges([[]], 0, 0)
        return StackSearch(self.positions, self.phrases, begin, scorers, self.weights, StackLimits(**limits), distances)

    def ways(self, jump: int = -1, order: str = "free") -> Iterator[Way]:
        """All derivations, scored as a whole."""

        def onwards(covered: frozenset[int], end: int, steps: tuple[Any, ...]) -> Iterator[Way]:
            gap = min(set(range(self.positions)) - covered, default=self.positions)
            if gap == self.positions:
                yield self.scored(steps), tuple((phrases.first, phrases.last, o.number) for phrases, o in steps)
            for phrases in self.phrases:
                here = set(range(phrases.first, phrases.last))
                if not covered & here and self.fits(covered, end, gap, phrases, jump, order):
                    for option in phrases.options:
                        yield from onwards(covered | here, phrases.last, (*steps, (phrases, option)))

        yield from onwards(frozenset(), 0, ())

    def fits(self, covered: frozenset[int], end: int, gap: int, one: SpanPhrases, jump: int, order: str) -> bool:
        if order == "monotone":
            return one.first == end
        if order == "swap":
            # Blocks of two: the second one first, or each in its turn.
            behind = sorted(word for word in covered if word > gap)
            if behind:
                return (one.first, one.last) == (gap, behind[0])
            return one.first == gap or any((p.first, p.last) == (gap, one.first) for p in self.phrases)
        if jump < 0:
            return True
        return abs(one.first - end) <= jump and (one.first == gap or abs(gap - one.last) <= jump)

    def scored(self, steps: Sequence[tuple[SpanPhrases, Option]]) -> float:
        words = ["^", *(word for _, option in steps for word in self.texts[option.number]), "$"]
        ends = [0, *(phrases.last for phrases, _ in steps)]
        jumped = sum(abs(phrases.first - end) for (phrases, _), end in zip(steps, ends, strict=False))
        values = [self.pairs.value(words), -float(len(words) - 2), -float(jumped)]
        own = sum(option.score for _, option in steps)
        return own + sum(weight * value for weight, value in zip(self.weights, values, strict=True))


def derivations(one: Hypothesis) -> Iterator[Way]:
    """All ways to a hypothesis."""
    if not one.steps:
        yield 0.0, ()
    for step in one.steps:
        for score, before in derivations(step.before):
            assert step.before.total >= score - 1e-9
            yield score + step.score, before if step.phrases is None else (*before, shown(step))


def shown(step: PhraseStep) -> tuple[int, int, int]:
    assert step.phrases is not None and step.option is not None
    return step.phrases.first, step.phrases.last, step.option.number


CASES = [{}, {"jump": 0}, {"jump": 1}, {"jump": 2}, {"order": "monotone"}, {"order": "swap"}]


@pytest.mark.parametrize("limits", CASES)
def test_all_derivations_are_found_with_their_scores(limits: dict[str, Any]) -> None:
    there = 0
    for seed in seeds(80):
        problem = Problem(seed)
        wanted = sorted(problem.ways(**limits), key=lambda way: way[1])
        goal = problem.search(**limits).goal()
        found = sorted(derivations(goal), key=lambda way: way[1]) if goal is not None else []
        assert [way for _, way in found] == [way for _, way in wanted]
        assert [score for score, _ in found] == pytest.approx([score for score, _ in wanted])
        if goal is not None:
            there += 1
            assert goal.total == pytest.approx(max(score for score, _ in wanted))
    assert there > len(seeds(80)) / 2


def test_hypotheses_with_equal_states_are_one() -> None:
    """No two of them have the same words translated, end and states; some have several ways."""
    several = 0
    for seed in seeds(40):
        goal = Problem(seed).search().goal()
        seen: dict[Any, Hypothesis] = {}
        waiting = [] if goal is None else [step.before for step in goal.steps]
        while waiting:
            one = waiting.pop()
            assert seen.setdefault((one.covered, one.end, one.states), one) is one
            several += len(one.steps) > 1
            totals = [step.total for step in one.steps]
            assert totals == sorted(totals, reverse=True)
            waiting += [step.before for step in one.steps]
    assert several > 2 * len(seeds(40))


def test_pruning_keeps_the_best_and_finds_what_is_there() -> None:
    worse = 0
    for seed in seeds(80):
        problem = Problem(seed)
        best = problem.search().goal()
        for limits in ({"stack_size": 1}, {"stack_size": 2}, {"lack": 0.1}, {"stack_size": 3, "lack": 0.5}):
            search = problem.search(**limits)
            pruned = search.goal()
            if pruned is None:
                continue
            assert best is not None
            assert pruned.total <= best.total + 1e-9
            worse += pruned.total < best.total - 1e-6
            ways = {way: score for score, way in problem.ways()}
            for score, way in derivations(pruned):
                assert score == pytest.approx(ways[way])
            for k in range(problem.positions):
                kept = [step for step in search.steps if step.before.covered.bit_count() == k]
                assert len({id(step.before) for step in kept}) <= limits.get("stack_size", math.inf)
    assert worse > len(seeds(80)) / 8


def test_future_costs() -> None:
    """The best tiling of a gap; the sum over gaps; none where nothing fits."""
    words = Vocabulary()
    phrases = [
        SpanPhrases(first, last, [Option(0, score, 0.25)], Edges(Rules.from_targets([[0]], words)))
        for first, last, score in ((0, 1, -1.0), (1, 2, -1.0), (0, 2, -3.0), (2, 4, -2.0), (1, 3, -0.5))
    ]
    search = StackSearch(4, phrases, None, [], [], StackLimits())
    assert search.best[0, 2] == -1.5
    assert search.best[0, 3] == -1.0
    assert search.best[0, 4] == -3.25
    assert search.best[3, 4] == -math.inf
    assert list(search.gaps(0b0100)) == [(0, 2), (3, 4)]
    assert search.future(0b1100) == -1.5
    assert search.future(0b0100) == -math.inf
    assert search.future(0b1111) == 0.0


def test_jumps_on_lattices_are_counted_in_arcs() -> None:
    """From the start to position 2 there are two positions, but one arc."""
    problem = next(one for one in map(Problem, range(99)) if one.positions == 4)
    distances = np.array([[abs(a - b) for b in range(5)] for a in range(5)])
    distances[0, 2] = 1
    search = problem.search(distances, jump=1)
    assert search.distance(2, 0) == search.distance(0, 2) == 1
    assert search.distance(3, 1) == 2
    far = SpanPhrases(2, 3, [], None)
    first = Hypothesis(0, 0, ())
    search.best = dict.fromkeys(search.best, 0.0)
    assert search.allowed(first, far) is False  # back from 3 to 0 are three
    search.distances[0, 3] = 1
    assert search.allowed(first, far) is True
