"""Tiny random problems of phrase-based search, with all their derivations scored as a whole."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from smtplugins.core._core import PhraseGraph, PhraseSearcher, Scorers, SearchForest
from smtplugins.core.grammar.rules import Edges
from smtplugins.core.search.phrases import phrase_searcher, position_feature, reordering
from smtplugins.core.search.search_options import PhraseSearchOptions
from smtplugins.core.search.stateful_search import Stateful, contract_scorer, lm_scorer
from smtplugins.core.vocabulary import Vocabulary

from .forests import WORDS, language_model, lm_score, pair_model

Span = tuple[int, int]
Step = tuple[int, int, int]  # first, last, rule
Steps = tuple[Step, ...]
# What a class of each kind of model is: monotone, swap, left, right in this order.
CLASSES = {"msd": [0, 1, 2, 2], "mslr": [0, 1, 2, 3], "monotonicity": [0, 1, 1, 1], "leftright": [0, 1, 1, 0]}
DIRECTIONS = [(True, False), (False, True), (True, True)]  # backward, forward


class Neighbours:
    """A feature of the contracts: how far apart the words of neighbours begin, by the last target word before."""

    weights = (0.3, -0.2)

    def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[Any, list[Any]]:
        assert edges.firsts is not None and edges.lasts is not None
        scores, states = [], []
        for i, (first, last, below) in enumerate(zip(edges.firsts, edges.lasts, tails, strict=True)):
            words = [symbol for symbol in edges.rules.target_of(i) if isinstance(symbol, str)]
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


class Barriers:
    """Walls and zones by their definition."""

    def __init__(self, walls: Sequence[int], zones: Sequence[int], limit: int) -> None:
        self.zones = list(zip(zones[::2], zones[1::2], strict=True))
        self.limit = limit
        self.walls: dict[int, Span | None] = {}
        for wall in walls:
            around = [zone for zone in self.zones if zone[0] <= wall < zone[1] - 1]
            self.walls[wall] = min(around, key=lambda zone: zone[1] - zone[0], default=None)

    def allow(self, spans: Sequence[Span], positions: int) -> bool:
        done: set[int] = set()
        for span in spans:
            gap = min(set(range(positions)) - done)
            if not self.allows(done, gap, *span):
                return False
            done |= set(range(*span))
        return True

    def allows(self, done: set[int], gap: int, first: int, last: int) -> bool:
        if first != gap and any(gap <= wall < last - 1 for wall, zone in self.walls.items() if zone is None):
            return False
        if first == gap and done == set(range(gap)):
            return True
        return all(self.zone_allows(zone, done, gap, first, last) for zone in self.zones)

    def zone_allows(self, zone: Span, done: set[int], gap: int, first: int, last: int) -> bool:
        begin, end = zone
        words, phrase = set(range(begin, end)), set(range(first, last))
        left = words - done
        if not left:
            return True
        if not words & phrase:
            return not words & done
        if self.limit >= 0 and first != gap and end - 1 - gap >= self.limit:
            return False
        if first <= begin:
            return True
        if last > end:
            return left <= phrase
        own = [wall for wall, owner in self.walls.items() if owner == zone and wall < last - 1]
        return not any(word <= wall and word < first for wall in own for word in left)


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
        self.pairs = {pair: rng.uniform(-2, 0) for pair in pairs}
        self.models = list(models)
        self.rows = [self.of_rules(*model) for model in self.models]
        self.model_weights = [[rng.uniform(-0.2, 1) for _ in range(self.columns(*model))] for model in self.models]
        self.distances: Any = None

    def rule(self) -> int:
        self.targets.append(tuple(self.rng.randrange(len(WORDS)) for _ in range(self.rng.choice([0, 1, 1, 2]))))
        return len(self.targets) - 1

    def of_rules(self, kind: str, directions: tuple[bool, bool], collapsed: bool) -> Any:
        """Rows of a reordering model; some of them equal."""
        classes = max(CLASSES[kind]) + 1
        some = [[self.rng.uniform(-2, 0) for _ in range(classes)] for _ in range(3)]
        rows = [[self.rng.choice(some) for used in directions if used] for _ in self.targets]
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
            "p": lambda: Stateful(self.pair_scorer(), ("p",), (self.weights["p"],)),
            "n": lambda: Stateful(contract_scorer(Neighbours(), Vocabulary(WORDS), 2), ("m", "n"), Neighbours.weights),
        }
        orders = [position_feature("jump", [self.weights["j"]])] if "j" in self.features else []
        for (kind, (backward, forward), collapsed), own in zip(self.models, self.model_weights, strict=True):
            orders.append(reordering(kind, own, backward=backward, forward=forward, collapsed=collapsed))
        return phrase_searcher([makers[name]() for name in self.features if name in makers], orders)

    def pair_scorer(self) -> Scorers:
        """Scored as any feature, without what is special to language models."""
        return Scorers([lm_scorer(pair_model(self.pairs, -1.0), WORDS)])

    def search(self, searcher: PhraseSearcher | None = None, **options: Any) -> PhraseGraph:
        distances = None if self.distances is None else self.distances.reshape(-1)
        rows = [table.reshape(-1) for table in self.rows]
        return (searcher or self.searcher()).search(self.forest(), rows, distances, PhraseSearchOptions(**options))

    # The definitions.

    def segmentations(self, first: int = 0) -> Iterator[tuple[Span, ...]]:
        if first == self.positions:
            yield ()
        for span in self.spans:
            if span[0] == first:
                yield from ((span, *rest) for rest in self.segmentations(span[1]))

    def ways(
        self,
        order: str = "free",
        distortion_limit: int = -1,
        walls: Sequence[int] = (),
        zones: Sequence[int] = (),
    ) -> dict[Steps, float]:
        """All derivations with their scores; zones are nested or apart."""
        barriers = Barriers(walls, zones, distortion_limit)
        scored: dict[Steps, float] = {}
        for segments in self.segmentations() if self.positions else ():
            for places in itertools.permutations(range(len(segments))):
                spans = [segments[place] for place in places]
                if order == "monotone":
                    allowed = list(places) == sorted(places)
                elif order == "swap":
                    # Neighbours change places, each phrase at most once.
                    allowed = all(abs(at - place) <= 1 and places[place] == at for at, place in enumerate(places))
                else:
                    allowed = distortion_limit < 0 or self.reaches(spans, distortion_limit, jumps=order == "free")
                if allowed and barriers.allow(spans, self.positions):
                    for rules in itertools.product(*[self.spans[span] for span in spans]):
                        steps = tuple((*span, rule) for span, rule in zip(spans, rules, strict=True))
                        scored[steps] = self.score(steps)
        return scored

    def distance(self, start: int, end: int) -> int:
        low, high = sorted((start, end))
        return high - low if self.distances is None else int(self.distances[low, high])

    def reaches(self, spans: Sequence[Span], limit: int, *, jumps: bool = True) -> bool:
        """No jump is longer, nor would the one back to the first gap be; or the latter alone."""
        end, open_words = 0, set(range(self.positions))
        for first, last in spans:
            gap = min(open_words)
            if (jumps and self.distance(end, first) > limit) or (first != gap and self.distance(gap, last) > limit):
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
        before, word, values = 0, "a", []
        for first, last, rule in steps:
            texts = [WORDS[word_id] for word_id in self.targets[rule]]
            values += Neighbours().values(before, word, first, last, texts)
            before, word = first, texts[-1] if texts else word
        return [weight * value for weight, value in zip(itertools.cycle(Neighbours.weights), [*values, before, 1.0])]

    def oriented(
        self, steps: Steps, number: int, kind: str, directions: tuple[bool, bool], collapsed: bool
    ) -> list[float]:
        backward, forward = directions
        classes = max(CLASSES[kind]) + 1
        rows, weights, values = self.rows[number], self.model_weights[number], []
        for before, (first, last, rule) in zip([None, *steps], steps, strict=False):
            if before is None:
                orientation = 0 if first == 0 else 3
            else:
                places = [first == before[1], last == before[0], first < before[1], True]
                orientation = places.index(True)
            c = CLASSES[kind][orientation]
            if backward:
                values.append(weights[0 if collapsed else c] * rows[rule, c])
            if forward and before is not None:
                column = c + classes * backward
                values.append(weights[int(backward) if collapsed else column] * rows[before[2], column])
        return values


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
        ways = []
        for tail, first, last, rule, score in edges[ends[node] : ends[node + 1]]:
            own: Steps = ((first, last, rule),) if first < last else ()
            ways += [((*steps, *own), total + score) for steps, total in below(tail)]
        return ways

    return below(graph.nodes - 1) if graph.nodes else []


def path_of(graph: PhraseGraph) -> tuple[Steps, float]:
    steps = [(int(graph.firsts[e]), int(graph.lasts[e]), int(graph.rules[e])) for e in graph.path]
    assert not steps or steps[-1][0] == steps[-1][1]
    return tuple(steps[:-1]), float(graph.scores[graph.path].sum())


def same(graph: PhraseGraph, wanted: dict[Steps, float]) -> None:
    """All derivations, each once, and the best of them first."""
    ways = derivations(graph)
    assert sorted(steps for steps, _ in ways) == sorted(wanted)
    assert [(steps, score, wanted[steps]) for steps, score in ways if not abs(score - wanted[steps]) <= 1e-4] == []
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


class Long(Problem):
    """A sentence of 140 words, with phrases of up to two of them; all is of one model's two-word history."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, "lj", positions=140)
        self.known: dict[bool, float] = {}

    def step(self, history: tuple[int, ...], rule: int) -> tuple[float, tuple[int, ...]]:
        """What the words of a rule are worth behind others, and what is known then."""
        words = self.targets[rule]
        return sum(self.prob((*history, *words[:i])[-2:], word) for i, word in enumerate(words)), (*history, *words)[
            -2:
        ]

    @cache  # noqa: B019
    def prob(self, history: tuple[int, ...], word: int) -> float:
        text = ["</s>" if number == -2 else WORDS[number] for number in (*history, word) if number != -1]
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
                for span in self.spans:
                    if span[0] != place:
                        continue
                    self.add(at[span[1]], history, end, score, [span])
                    for two in self.spans if swaps else ():
                        if two[0] == span[1]:
                            self.add(at[two[1]], history, end, score, [two, span])
        return max(score + self.prob(history, -2) for (history, _), score in at[-1].items())

    def add(self, there: dict[Any, float], history: Any, end: int, score: float, spans: Sequence[Span]) -> None:
        for rules in itertools.product(*[self.spans[span] for span in spans]):
            known, total, stop = history, score, end
            for span, rule in zip(spans, rules, strict=True):
                told, known = self.step(known, rule)
                total += told + float(self.scores[rule]) - self.weights["j"] * abs(span[0] - stop)
                stop = span[1]
            there[known, stop] = max(there.get((known, stop), -math.inf), total)
