"""Phrase-based search against enumeration: all segmentations, orders and options of tiny problems, scored as a whole."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtplugins.core._core import ArpaReader, PhraseGraph, PhraseSearcher, SearchForest
from smtplugins.core.phrases import distortion, phrase_searcher, reordering
from smtplugins.core.rules import Edges
from smtplugins.core.search import SearchLimit, Stateful, contract_scorer, lm_scorer, pair_scorer
from smtplugins.core.vocabulary import Vocabulary

from .forests import WORDS, language_model, lm_score
from .ngrams import arpa

Span = tuple[int, int]
Step = tuple[int, int, int]  # first, last, rule
Steps = tuple[Step, ...]
# What a class of each kind of model is: monotone, swap, left, right in this order.
CLASSES = {"msd": [0, 1, 2, 2], "mslr": [0, 1, 2, 3], "monotonicity": [0, 1, 1, 1], "leftright": [0, 1, 1, 0]}
DIRECTIONS = [(True, False), (False, True), (True, True)]  # backward, forward
SEEDS = st.integers(0, 1 << 30)
EXACT = {"stack_size": 0, "pop_limit": 1 << 40}
PLAIN, CUBE = {**EXACT, "cube": False}, {**EXACT, "cube": True}


class Neighbours:
    """A feature of the contracts: how far apart the words of neighbours begin, by the last target word before."""

    weights = (0.3, -0.2)

    def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[Any, list[Any]]:
        assert edges.firsts is not None and edges.lasts is not None
        scores, states = [], []
        for i, (first, last, below) in enumerate(zip(edges.firsts, edges.lasts, tails, strict=True)):
            words = [one for one in edges.rules.target_of(i) if isinstance(one, str)]
            before, word = below[0] if below else (0, "a")
            scores.append(self.values(before, word, first, last, words) if below else (0.0, 0.0))
            states.append((int(first), words[-1] if words else word))
        return scores, states

    def values(self, before: int, word: str, first: int, last: int, words: Sequence[str]) -> tuple[float, float]:
        return float(abs(first - before) * (word == "b")), float(last - first - len(words))

    def finish(self, states: Sequence[Any]) -> Any:
        return [(float(before), 1.0) for before, _ in states]

    def estimate(self, edges: Edges) -> Any:
        return [(0.0, 0.0)] * len(edges)


class Problem:
    """Phrases for most spans of up to three of the positions; features by chance, or those that are named."""

    def __init__(
        self, seed: int, features: str | None = None, models: Sequence[Any] = (), positions: int | None = None
    ) -> None:
        rng = self.rng = random.Random(seed)
        self.positions = rng.randint(1, 4) if positions is None else positions
        self.targets: list[tuple[int, ...]] = []
        self.spans: dict[Span, list[int]] = {}
        for first in range(self.positions):
            for last in range(first + 1, min(first + 3, self.positions) + 1):
                # The last word is what tells how many there are.
                if rng.random() < (0.9 if last - first == 1 else 0.6) or (first, last) == (
                    self.positions - 1,
                    self.positions,
                ):
                    self.spans[first, last] = [self.rule() for _ in range(rng.choice([1, 1, 2]))]
        self.targets.append((-1,))
        self.scores: Any = np.array([rng.choice([-0.5, rng.uniform(-1, 1)]) for _ in self.targets], dtype=np.float32)
        self.scores[-1] = 0.0
        self.features = rng.choice(["", "l", "j", "lj", "ljp", "lnj", "np"]) if features is None else features
        self.weights = {name: rng.uniform(0.2, 1) for name in "ljp"}
        self.model = language_model(rng, 3)
        pairs = itertools.product([-1, *range(len(WORDS))], [-2, *range(len(WORDS))])
        self.pairs = {pair: rng.uniform(-1, 1) for pair in pairs}
        self.models = list(models)
        self.rows = [self.of_rules(*model) for model in self.models]
        self.model_weights = [[rng.uniform(-0.2, 1) for _ in range(self.columns(*one))] for one in self.models]
        self.distances: Any = None

    def rule(self) -> int:
        self.targets.append(tuple(self.rng.randrange(len(WORDS)) for _ in range(self.rng.choice([0, 1, 1, 2]))))
        return len(self.targets) - 1

    def of_rules(self, kind: str, directions: tuple[bool, bool], collapsed: bool) -> Any:
        """Rows of a reordering model; some of them equal."""
        classes = max(CLASSES[kind]) + 1
        some = [[self.rng.uniform(-2, 0) for _ in range(classes)] for _ in range(3)]
        rows = [[self.rng.choice(some) for one in directions if one] for _ in self.targets]
        return np.array(rows, dtype=np.float32).reshape(len(self.targets), -1)

    def columns(self, kind: str, directions: tuple[bool, bool], collapsed: bool) -> int:
        return sum(directions) * (1 if collapsed else max(CLASSES[kind]) + 1)

    def forest(self, rng: random.Random | None = None) -> SearchForest:
        nodes = list(self.spans.items())
        if rng is not None:
            nodes = rng.sample(nodes, len(nodes))
        sizes = [len(rules) for _, rules in nodes]
        ints = lambda values: np.array(list(values), dtype=np.int32)  # noqa: E731
        return SearchForest.of(
            labels=ints([0] * len(nodes)),
            firsts=ints(first for (first, _), _ in nodes),
            lasts=ints(last for (_, last), _ in nodes),
            node_bundles=np.arange(len(nodes) + 1, dtype=np.int64),
            tails=ints([]),
            tail_offsets=np.zeros(len(nodes) + 1, dtype=np.int64),
            rules=ints(rule for _, rules in nodes for rule in rules),
            rule_offsets=np.cumsum([0, *sizes]).astype(np.int64),
            targets=ints(symbol for target in self.targets for symbol in target),
            target_offsets=np.cumsum([0, *map(len, self.targets)]).astype(np.int64),
            scores=self.scores,
        )

    def searcher(self) -> PhraseSearcher:
        makers = {
            "l": lambda: Stateful(lm_scorer(self.model, WORDS), ("l",), (self.weights["l"],)),
            "p": lambda: Stateful(pair_scorer(self.pairs), ("p",), (self.weights["p"],)),
            "n": lambda: Stateful(contract_scorer(Neighbours(), Vocabulary(WORDS), 2), ("m", "n"), Neighbours.weights),
        }
        orders = [distortion(self.weights["j"])] if "j" in self.features else []
        for (kind, (backward, forward), collapsed), own in zip(self.models, self.model_weights, strict=True):
            orders.append(reordering(kind, own, backward=backward, forward=forward, collapsed=collapsed))
        return phrase_searcher([makers[one]() for one in self.features if one in makers], orders)

    def search(self, searcher: PhraseSearcher | None = None, **options: Any) -> PhraseGraph:
        distances = None if self.distances is None else self.distances.reshape(-1)
        rows = [one.reshape(-1) for one in self.rows]
        return (searcher or self.searcher()).search(self.forest(), rows, distances, **options)

    # The definitions.

    def segmentations(self, first: int = 0) -> Iterator[tuple[Span, ...]]:
        if first == self.positions:
            yield ()
        for span in self.spans:
            if span[0] == first:
                yield from ((span, *rest) for rest in self.segmentations(span[1]))

    def ways(self, order: str = "free", distortion_limit: int = -1) -> dict[Steps, float]:
        """All derivations with their scores."""
        found: dict[Steps, float] = {}
        for segments in self.segmentations() if self.positions else ():
            for places in itertools.permutations(range(len(segments))):
                spans = [segments[place] for place in places]
                if order == "monotone":
                    allowed = list(places) == sorted(places)
                elif order == "swap":
                    # Neighbours change places, each phrase at most once.
                    allowed = all(abs(at - place) <= 1 and places[place] == at for at, place in enumerate(places))
                else:
                    allowed = distortion_limit < 0 or self.reaches(spans, distortion_limit)
                if allowed:
                    for rules in itertools.product(*[self.spans[span] for span in spans]):
                        steps = tuple((*span, rule) for span, rule in zip(spans, rules, strict=True))
                        found[steps] = self.score(steps)
        return found

    def distance(self, one: int, other: int) -> int:
        low, high = sorted((one, other))
        return high - low if self.distances is None else int(self.distances[low, high])

    def reaches(self, spans: Sequence[Span], limit: int) -> bool:
        """No jump is longer, nor would the one back to the first gap be."""
        end, open_words = 0, set(range(self.positions))
        for first, last in spans:
            gap = min(open_words)
            if self.distance(end, first) > limit or (first != gap and self.distance(gap, last) > limit):
                return False
            open_words -= set(range(first, last))
            end = last
        return True

    def score(self, steps: Steps) -> float:
        return math.fsum(sum(values) for values in self.parts(steps))

    def parts(self, steps: Steps) -> Iterator[list[float]]:
        """What each feature gives, weighted."""
        words = tuple(word for *_, rule in steps for word in self.targets[rule])
        yield [float(self.scores[rule]) for *_, rule in steps]
        if "l" in self.features:
            yield [self.weights["l"] * lm_score(self.model, words)]
        if "p" in self.features:
            yield [self.weights["p"] * self.pairs[pair] for pair in itertools.pairwise((-1, *words, -2))]
        if "j" in self.features:
            ends = [0, *(last for _, last, _ in steps)]
            yield [-self.weights["j"] * self.distance(end, step[0]) for end, step in zip(ends, steps, strict=False)]
        if "n" in self.features:
            yield self.neighbours(steps)
        for number, model in enumerate(self.models):
            yield self.oriented(steps, number, *model)

    def neighbours(self, steps: Steps) -> list[float]:
        before, word, found = 0, "a", []
        for first, last, rule in steps:
            texts = [WORDS[one] for one in self.targets[rule]]
            found += Neighbours().values(before, word, first, last, texts)
            before, word = first, texts[-1] if texts else word
        return [weight * value for weight, value in zip(itertools.cycle(Neighbours.weights), [*found, before, 1.0])]  # noqa: B905

    def oriented(
        self, steps: Steps, number: int, kind: str, directions: tuple[bool, bool], collapsed: bool
    ) -> list[float]:
        backward, forward = directions
        classes = max(CLASSES[kind]) + 1
        rows, weights, found = self.rows[number], self.model_weights[number], []
        for before, (first, last, rule) in zip([None, *steps], steps, strict=False):
            if before is None:
                orientation = 0 if first == 0 else 3
            else:
                places = [first == before[1], last == before[0], first < before[1], True]
                orientation = places.index(True)
            c = CLASSES[kind][orientation]
            if backward:
                found.append(weights[0 if collapsed else c] * rows[rule, c])
            if forward and before is not None:
                column = c + classes * backward
                found.append(weights[int(backward) if collapsed else column] * rows[before[2], column])
        return found


def derivations(graph: PhraseGraph) -> list[tuple[Steps, float]]:
    """All paths of a graph, by the scores of its edges."""
    ends = graph.node_edges.tolist()
    edges = list(
        zip(*(getattr(graph, name).tolist() for name in ("tails", "firsts", "lasts", "rules", "scores")), strict=True)
    )

    @cache
    def below(node: int) -> list[tuple[Steps, float]]:
        if node == 0:
            assert ends[1] == 0
            return [((), 0.0)]
        found = []
        for tail, first, last, rule, score in edges[ends[node] : ends[node + 1]]:
            own: Steps = ((first, last, rule),) if first < last else ()
            found += [((*steps, *own), total + score) for steps, total in below(tail)]
        return found

    return below(graph.nodes - 1) if graph.nodes else []


def path_of(graph: PhraseGraph) -> tuple[Steps, float]:
    steps = [(int(graph.firsts[e]), int(graph.lasts[e]), int(graph.rules[e])) for e in graph.path]
    assert not steps or steps[-1][0] == steps[-1][1]
    return tuple(steps[:-1]), float(graph.scores[graph.path].sum())


def same(graph: PhraseGraph, wanted: dict[Steps, float]) -> None:
    """All derivations, each once, and the best of them first."""
    found = derivations(graph)
    assert sorted(steps for steps, _ in found) == sorted(wanted)
    for steps, score in found:
        assert score == pytest.approx(wanted[steps], abs=1e-4)
    if wanted:
        steps, score = path_of(graph)
        assert score == pytest.approx(max(wanted.values()), abs=1e-4)
        assert wanted[steps] == pytest.approx(score, abs=1e-4)
        assert graph.best[-1] == pytest.approx(score, abs=1e-9)
    else:
        assert len(graph.path) == len(graph.scores) == 0


def check_edges(problem: Problem, graph: PhraseGraph) -> None:
    """Values times weights and a rule's own score are an edge's score; the best edge of a node comes first."""
    weights = [w for name in problem.features if name != "j"
               for w in (Neighbours.weights if name == "n" else [problem.weights[name]])]  # fmt: skip
    weights += [problem.weights["j"]] if "j" in problem.features else []
    weights += itertools.chain.from_iterable(problem.model_weights)
    values = graph.values.reshape(len(graph.scores), len(weights)).astype(np.float64)
    own = problem.scores[graph.rules] if len(graph.rules) else np.zeros(0)
    assert graph.scores == pytest.approx(own + values @ np.array(weights), abs=1e-4)
    totals = graph.best[graph.tails] + graph.scores if len(graph.tails) else np.zeros(0)
    for node, (first, last) in enumerate(itertools.pairwise(graph.node_edges.tolist())):
        here = totals[first:last]
        assert (np.diff(here) < 1e-9).all()
        assert (here[0] if len(here) else 0.0) == pytest.approx(graph.best[node], abs=1e-9)
    covered = graph.covered
    for first, last, tail, head in zip(
        graph.firsts,
        graph.lasts,
        graph.tails,
        np.repeat(np.arange(graph.nodes), np.diff(graph.node_edges)),
        strict=True,
    ):
        assert covered[tail] + last - first == covered[head]


ORDERS: list[dict[str, Any]] = [
    {"order": "monotone"},
    {"order": "swap"},
    *({"distortion_limit": k} for k in range(-1, 4)),
]


@settings(max_examples=60)
@given(SEEDS, st.sampled_from(ORDERS), st.booleans())
def test_all_derivations_with_features_by_chance(seed: int, order: dict[str, Any], cube: bool) -> None:
    problem = Problem(seed)
    graph = problem.search(**(CUBE if cube else PLAIN), **order)
    same(graph, problem.ways(**order))
    check_edges(problem, graph)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize("collapsed", [False, True])
def test_reordering_models(kind: str, directions: tuple[bool, bool], collapsed: bool) -> None:
    rng = random.Random(f"{kind} {directions} {collapsed}")
    for k, features in enumerate(["", "l", "j", "lj", "lnj"]):
        models = [(kind, directions, collapsed)]
        if k % 2:
            models.append((rng.choice(list(CLASSES)), rng.choice(DIRECTIONS), rng.random() < 0.5))
        problem = Problem(rng.randrange(1 << 30), features, models, positions=4)
        for order in rng.sample(ORDERS, 3):
            graph = problem.search(**rng.choice([PLAIN, CUBE]), **order)
            same(graph, problem.ways(**order))
            check_edges(problem, graph)


@pytest.mark.parametrize("order", ORDERS[2:])
def test_jumps_between_positions_of_a_lattice(order: dict[str, Any]) -> None:
    for seed in range(6):
        problem = Problem(seed, "lj", [("msd", (True, True), False)], positions=4)
        ends = sorted(problem.rng.sample(range(9), 5))
        problem.distances = np.array([[abs(a - b) for b in ends] for a in ends], dtype=np.int32)
        same(problem.search(**PLAIN, **order), problem.ways(**order))


@pytest.mark.parametrize("cube", [False, True])
def test_what_small_limits_find_is_there_and_never_better(cube: bool) -> None:
    worse, none = 0, 0
    limits: list[dict[str, Any]] = [
        {"stack_size": 1}, {"stack_size": 2}, {"stack_size": 0, "beam": 0.2}, {"stack_size": 3, "beam": 0.5},
        {"stack_size": 3, "early_discarding": 0.1}, {"stack_size": 0, "pop_limit": 1}, {"stack_size": 2, "pop_limit": 3},
        {"stack_size": 1, "stack_diversity": 1}, {"stack_size": 1, "pop_limit": 1, "cube_diversity": 2},
    ]  # fmt: skip
    for seed in range(12):
        problem = Problem(seed, "lj", [("mslr", (True, True), False)] if seed % 2 else [], positions=4)
        wanted = problem.ways()
        for own in limits:
            graph = problem.search(cube=cube, **own)
            found = derivations(graph)
            none += not found
            assert len({steps for steps, _ in found}) == len(found)
            for steps, score in found:
                assert score == pytest.approx(wanted[steps], abs=1e-4)
            check_edges(problem, graph)
            if not found:
                continue
            single = problem.search(cube=cube, all_edges=False, **own)
            assert path_of(single) == path_of(graph)
            assert derivations(single) == [path_of(graph)]
            steps, score = path_of(graph)
            assert score == pytest.approx(max(score for _, score in found), abs=1e-6)
            worse += score < max(wanted.values()) - 1e-4
    assert worse > 5
    assert none < 20


def stateless(seed: int) -> Problem:
    """Nothing but rules' own scores: hypotheses that have translated the same words are one."""
    return Problem(seed, "", positions=4)


def test_diversity_of_stacks() -> None:
    """One hypothesis of each set of words is all there is, if nothing else tells them apart."""
    narrow = 0
    for seed in range(30):
        problem = stateless(seed)
        wanted = problem.ways()
        one = problem.search(stack_size=1)
        narrow += len(derivations(one)) < len(wanted)
        same(problem.search(stack_size=1, stack_diversity=1), wanted)
        # Nor does a beam count for these.
        other = Problem(seed, "lj", positions=4)
        same(other.search(stack_size=1, stack_diversity=1 << 20), other.ways())
    assert narrow > 5


def test_diversity_of_cubes() -> None:
    narrow = 0
    for seed in range(30):
        problem = stateless(seed)
        wanted = problem.ways()
        best = max(wanted.values(), default=0.0)
        limits: dict[str, Any] = {"cube": True, "stack_size": 0, "pop_limit": 1}
        narrow += bool(wanted) and len(derivations(problem.search(**limits))) < len(wanted)
        graph = problem.search(**limits, cube_diversity=1)
        assert bool(graph.nodes) == bool(wanted)
        if wanted:
            assert path_of(graph)[1] == pytest.approx(best, abs=1e-4)
        same(problem.search(**limits, cube_diversity=1 << 20), wanted)
        other = Problem(seed, "lj", positions=4)
        same(other.search(**limits, cube_diversity=1 << 20), other.ways())
    assert narrow > 5


def test_early_discarding_asks_less() -> None:
    less = 0
    for seed in range(20):
        problem = Problem(seed, "lj", [("msd", (True, False), False)], positions=4)
        plain = problem.search(stack_size=2)
        strict = problem.search(stack_size=2, early_discarding=0.0)
        wide = problem.search(stack_size=2, early_discarding=1e6)
        assert derivations(wide) == derivations(plain)
        assert wide.asked == plain.asked >= strict.asked
        less += strict.asked < plain.asked
        # Where no stack is full nothing is discarded.
        same(problem.search(**PLAIN, early_discarding=0.0), problem.ways())
    assert less > 10


def alone(problem: Problem, rule: int) -> float:
    """What a phrase is worth in front of any other."""
    text = " ".join(WORDS[word] for word in problem.targets[rule])
    told = problem.model.full_scores(text, bos=False, eos=False) if text and "l" in problem.features else []
    own = float(problem.scores[rule]) + problem.weights["l"] * sum(prob for prob, *_ in told)
    for number, (kind, (backward, forward), collapsed) in enumerate(problem.models):
        row, weights, classes = problem.rows[number][rule], problem.model_weights[number], max(CLASSES[kind]) + 1
        for k in range(backward + forward):
            own += weights[k if collapsed else k * classes] * row[k * classes]
    return own


@pytest.mark.parametrize("models", [[], [("msd", (True, True), False)], [("mslr", (False, True), True)]])
def test_options_that_lack_too_much_are_not_used(models: Sequence[Any]) -> None:
    left = 0
    for seed in range(10):
        problem = Problem(seed, "lj" if seed % 2 else "", models, positions=4)
        graph = problem.search(**PLAIN, option_beam=0.4)
        for span, rules in problem.spans.items():
            worth = {rule: alone(problem, rule) for rule in rules}
            problem.spans[span] = [rule for rule in rules if worth[rule] >= max(worth.values()) - 0.4]
            left += len(rules) - len(problem.spans[span])
        same(graph, problem.ways())
    assert left > 5


@pytest.mark.parametrize("cube", [False, True])
def test_too_many_hypotheses(cube: bool) -> None:
    problem = Problem(3, "lj", positions=4)
    searcher = problem.searcher()
    wanted = problem.search(searcher, cube=cube, stack_size=0)
    assert wanted.made > 20
    for _ in range(2):
        assert derivations(problem.search(searcher, cube=cube, stack_size=0, max_edges=wanted.made)) == derivations(
            wanted
        )
        with pytest.raises(SearchLimit):
            problem.search(searcher, cube=cube, stack_size=0, max_edges=wanted.made - 1)


@pytest.mark.parametrize("limits", [PLAIN, CUBE, {"stack_size": 1, "stack_diversity": 1}])
def test_nothing_to_translate_or_nothing_to_do_it_with(limits: dict[str, Any]) -> None:
    empty = Problem(0, "lj", positions=0)
    hole = Problem(0, "lj", positions=3)
    hole.spans = {(0, 1): hole.spans[0, 1], (2, 3): hole.spans[2, 3]}
    far = Problem(0, "lj", positions=3)
    far.spans = {(0, 2): [0], (1, 3): [1], (1, 2): [0]}
    for problem in (empty, hole, far):
        graph = problem.search(**limits)
        assert (graph.nodes, graph.path.tolist(), graph.values.tolist()) == (0, [], [])
        assert derivations(graph) == []
        # The searcher is none the worse for it.
        other = Problem(5, "lj", positions=3)
        searcher = other.searcher()
        problem.search(searcher, **limits)
        assert derivations(other.search(searcher, **limits)) == derivations(other.search(**limits))


def equal(one: PhraseGraph, other: PhraseGraph) -> bool:
    names = ("covered", "best", "node_edges", "tails", "rules", "firsts", "lasts", "scores", "values", "path")
    return all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in names)


@pytest.mark.parametrize("limits", [PLAIN, CUBE, {"stack_size": 3}, {"stack_size": 3, "cube": True, "pop_limit": 9}])
def test_the_same_again(limits: dict[str, Any]) -> None:
    """Whatever else was searched in between, and in whatever order the phrases come."""
    problem = Problem(11, "lnj", [("msd", (True, True), False)], positions=4)
    first, searcher = problem.search(**limits), problem.searcher()
    for seed in range(12, 16):
        other = Problem(seed, "lnj", [("msd", (True, True), False)])
        problem.search(searcher, all_edges=False, **limits)
        searcher.search(other.forest(), [other.rows[0].reshape(-1)], **limits)
        assert equal(problem.search(searcher, **limits), first)
        shuffled = searcher.search(problem.forest(random.Random(seed)), [problem.rows[0].reshape(-1)], **limits)
        assert equal(shuffled, first)


def test_what_a_language_model_said_is_forgotten_in_time() -> None:
    """No memory lasts for ever: sentences of ever new words, and then the first one again."""
    rng = random.Random(9)
    problem = Problem(9, "l", positions=40)
    problem.spans = {span: rules for span, rules in problem.spans.items() if span[1] - span[0] == 1}
    problem.targets[-1:] = []
    words = [f"w{k}" for k in range(3000)]
    reader = ArpaReader()
    reader.feed(
        arpa(
            {(word,): (-rng.random(), -rng.random()) for word in ["<s>", "</s>", "<unk>", *words]}
            | {("<s>", word): (-rng.random(), 0.0) for word in words[::3]},
            2,
        ).encode()
    )
    model = reader.finish()
    searcher = phrase_searcher([Stateful(lm_scorer(model, words), ("l",), (1.0,))], [])
    first = None
    for turn in range(24):
        problem.targets = [(rng.randrange(len(words)),) for _ in range(400)] + [(-1,)]
        if turn in (0, 23):
            problem.targets = [(k,) for k in range(400)] + [(-1,)]
        problem.scores = np.zeros(401, dtype=np.float32)
        problem.spans = {(k, k + 1): list(range(10 * k, 10 * k + 10)) for k in range(40)}
        graph = problem.search(searcher, stack_size=30, distortion_limit=2, all_edges=False)
        steps, score = path_of(graph)
        text = " ".join(words[problem.targets[rule][0]] for *_, rule in steps)
        assert score == pytest.approx(model.score_sentences([text])[0][0], abs=1e-3)
        first = first or graph
    assert equal(graph, first)


class Long(Problem):
    """A sentence of 200 words, with phrases of up to two of them; all is of one model's two-word history."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, "lj", positions=200)
        self.known: dict[bool, float] = {}

    def step(self, history: tuple[int, ...], rule: int) -> tuple[float, tuple[int, ...]]:
        """What the words of a rule are worth behind others, and what is known then."""
        words = self.targets[rule]
        return sum(self.prob((*history, *words[:i])[-2:], word) for i, word in enumerate(words)), (*history, *words)[
            -2:
        ]

    @cache  # noqa: B019
    def prob(self, history: tuple[int, ...], word: int) -> float:
        text = ["</s>" if one == -2 else WORDS[one] for one in (*history, word) if one != -1]
        begun = history[:1] == (-1,)
        if word == -2:
            told = self.model.full_scores(" ".join(text[:-1]), bos=begun, eos=True)
        else:
            told = self.model.full_scores(" ".join(text), bos=begun, eos=False)
        return self.weights["l"] * float(told[-1][0])

    def best(self, swaps: bool) -> float:
        """The best derivation in which neighbours may change places or not; known to be exact, a place at a time."""
        at: list[dict[Any, float]] = [{} for _ in range(self.positions + 1)]
        at[0][(-1,), 0] = 0.0
        for place in range(self.positions):
            for (history, end), score in at[place].items():
                for one in self.spans:
                    if one[0] != place:
                        continue
                    self.add(at[one[1]], history, end, score, [one])
                    for two in self.spans if swaps else ():
                        if two[0] == one[1]:
                            self.add(at[two[1]], history, end, score, [two, one])
        return max(score + self.prob(history, -2) for (history, _), score in at[-1].items())

    def add(self, there: dict[Any, float], history: Any, end: int, score: float, spans: Sequence[Span]) -> None:
        for rules in itertools.product(*[self.spans[span] for span in spans]):
            known, total, stop = history, score, end
            for span, rule in zip(spans, rules, strict=True):
                told, known = self.step(known, rule)
                total += told + float(self.scores[rule]) - self.weights["j"] * abs(span[0] - stop)
                stop = span[1]
            there[known, stop] = max(there.get((known, stop), -math.inf), total)


@pytest.fixture(scope="module")
def long() -> Long:
    made = Long(1)
    for at in range(made.positions):
        made.spans.setdefault((at, at + 1), [0])
    made.spans = {span: rules for span, rules in made.spans.items() if span[1] - span[0] < 3}
    made.weights["j"] = 0.05
    made.known = {swaps: made.best(swaps) for swaps in (False, True)}
    return made


@pytest.mark.parametrize("cube", [False, True])
def test_two_hundred_words(long: Long, cube: bool) -> None:
    exact = CUBE if cube else PLAIN
    best, better = long.known[False], long.known[True]
    for order in ({"order": "monotone"}, {"distortion_limit": 0}):
        assert path_of(long.search(**exact, **order))[1] == pytest.approx(best, abs=2e-3)
    assert better > best + 1
    swapped = path_of(long.search(**exact, order="swap"))
    assert swapped[1] == pytest.approx(better, abs=2e-3)
    for limits in ({}, {"distortion_limit": 6}, {"distortion_limit": 6, "stack_diversity": 1}):
        steps, score = path_of(long.search(cube=cube, pop_limit=100, stack_size=100, beam=12.0, **limits))
        places = sorted(place for first, last, _ in steps for place in range(first, last))
        assert places == list(range(200))
        assert score == pytest.approx(long.score(steps), abs=2e-3)
        assert steps != tuple(sorted(steps))
