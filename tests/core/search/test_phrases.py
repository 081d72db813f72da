"""Phrase-based search against enumeration: all segmentations, orders and options, scored as a whole."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtplugins.core._core import ArpaReader, PhraseGraph
from smtplugins.core.search.phrases import phrase_searcher
from smtplugins.core.search.search_options import PhraseSearchOptions
from smtplugins.core.search.stateful_search import SearchLimit, Stateful, lm_scorer
from tests.core.forests import WORDS
from tests.core.ngrams import arpa
from tests.core.phrase_problems import CLASSES, DIRECTIONS, Long, Problem, check_edges, derivations, path_of, same
from tests.seeds import seeds

SEEDS = st.integers(0, 1 << 30)
EXACT = {"stack_size": 0, "pop_limit": 1 << 40}
PLAIN, CUBE = {**EXACT, "cube": False}, {**EXACT, "cube": True}
ORDERS: list[dict[str, Any]] = [
    {"order": "monotone"},
    {"order": "swap"},
    *({"distortion_limit": k} for k in range(-1, 4)),
    *({"order": "window", "distortion_limit": k} for k in range(-1, 4)),
]


@settings(max_examples=200)
@given(SEEDS, st.sampled_from(ORDERS), st.booleans())
def test_all_derivations_with_features_by_chance(seed: int, order: dict[str, Any], cube: bool) -> None:
    problem = Problem(seed)
    graph = problem.search(**(CUBE if cube else PLAIN), **order)
    same(graph, problem.ways(**order))
    check_edges(problem, graph)


NESTED = [[], [0, 2], [1, 3], [2, 5], [0, 4, 1, 3], [1, 4, 1, 3], [0, 2, 2, 5], [0, 5, 2, 5], [1, 4]]


@settings(max_examples=400)
@given(SEEDS, st.lists(st.integers(0, 4), max_size=3), st.sampled_from(NESTED), st.integers(-1, 4), st.booleans())
def test_walls_and_zones(seed: int, walls: list[int], zones: list[int], limit: int, cube: bool) -> None:
    problem = Problem(seed, "lj", positions=5)
    options = {"distortion_limit": limit, "walls": walls, "zones": zones}
    graph = problem.search(**(CUBE if cube else PLAIN), **options)
    same(graph, problem.ways(**options))


def test_walls_and_zones_outside_of_the_sentence() -> None:
    problem = Problem(1, "lj", positions=3)
    graph = problem.search(**PLAIN, walls=[-1, 3, 1 << 30], zones=[-5, 0, 3, 9, 2, 1, 7])
    same(graph, problem.ways())


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
        {"stack_size": 3, "early_discarding": 0.1}, {"stack_size": 0, "pop_limit": 1},
        {"stack_size": 2, "pop_limit": 3},
        {"stack_size": 1, "stack_diversity": 1}, {"stack_size": 1, "pop_limit": 1, "cube_diversity": 2},
    ]  # fmt: skip
    for seed in range(12):
        problem = Problem(seed, "lj", [("mslr", (True, True), False)] if seed % 2 else [], positions=4)
        wanted = problem.ways()
        for own in limits:
            graph = problem.search(cube=cube, **own)
            kept = derivations(graph)
            none += not kept
            assert len({steps for steps, _ in kept}) == len(kept)
            for steps, score in kept:
                assert score == pytest.approx(wanted[steps], abs=1e-4)
            check_edges(problem, graph)
            if not kept:
                continue
            single = problem.search(cube=cube, all_edges=False, **own)
            assert path_of(single) == path_of(graph)
            assert derivations(single) == [path_of(graph)]
            steps, score = path_of(graph)
            assert score == pytest.approx(max(score for _, score in kept), abs=1e-6)
            worse += score < max(wanted.values()) - 1e-4
    assert worse > 5
    assert none < 20


def stateless(seed: int) -> Problem:
    """Nothing but rules' own scores: hypotheses that have translated the same words are one."""
    return Problem(seed, "", positions=4)


def test_diversity_of_stacks() -> None:
    """One hypothesis of each set of words is all there is, if nothing else tells them apart."""
    narrow = 0
    for seed in seeds(30):
        problem = stateless(seed)
        wanted = problem.ways()
        graph = problem.search(stack_size=1)
        narrow += len(derivations(graph)) < len(wanted)
        same(problem.search(stack_size=1, stack_diversity=1), wanted)
        # Nor does a beam count for these.
        other = Problem(seed, "lj", positions=4)
        same(other.search(stack_size=1, stack_diversity=1 << 20), other.ways())
    assert narrow > len(seeds(30)) / 6


def test_diversity_of_cubes() -> None:
    narrow = 0
    for seed in seeds(30):
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
    assert narrow > len(seeds(30)) / 6


def test_early_discarding_asks_less() -> None:
    less = 0
    for seed in seeds(20):
        problem = Problem(seed, "lj", [("msd", (True, False), False)], positions=4)
        plain = problem.search(stack_size=2)
        strict = problem.search(stack_size=2, early_discarding=0.0)
        wide = problem.search(stack_size=2, early_discarding=1e6)
        assert derivations(wide) == derivations(plain)
        assert wide.asked == plain.asked >= strict.asked
        less += strict.asked < plain.asked
        # Where no stack is full nothing is discarded.
        same(problem.search(**PLAIN, early_discarding=0.0), problem.ways())
    assert less > len(seeds(20)) / 2


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


def equal(first: PhraseGraph, second: PhraseGraph) -> bool:
    names = ("covered", "best", "node_edges", "tails", "rules", "firsts", "lasts", "scores", "values", "path")
    return all(getattr(first, name).tobytes() == getattr(second, name).tobytes() for name in names)


@pytest.mark.parametrize("limits", [PLAIN, CUBE, {"stack_size": 3}, {"stack_size": 3, "cube": True, "pop_limit": 9}])
def test_the_same_again(limits: dict[str, Any]) -> None:
    """Whatever else was searched in between, and in whatever order the phrases come."""
    problem = Problem(11, "lnj", [("msd", (True, True), False)], positions=4)
    first, searcher = problem.search(**limits), problem.searcher()
    for seed in range(12, 16):
        other = Problem(seed, "lnj", [("msd", (True, True), False)])
        problem.search(searcher, all_edges=False, **limits)
        searcher.search(other.forest(), [other.rows[0].reshape(-1)], options=PhraseSearchOptions(**limits))
        assert equal(problem.search(searcher, **limits), first)
        rows = [problem.rows[0].reshape(-1)]
        shuffled = searcher.search(problem.forest(random.Random(seed)), rows, options=PhraseSearchOptions(**limits))
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


@pytest.fixture(scope="module")
def long() -> Long:
    made = Long(3)
    for at in range(made.positions):
        made.spans.setdefault((at, at + 1), [0])
    made.spans = {span: rules for span, rules in made.spans.items() if span[1] - span[0] < 3}
    made.weights["j"] = 0.05
    made.known = {swaps: made.best(swaps) for swaps in (False, True)}
    return made


@pytest.mark.parametrize("cube", [False, True])
def test_a_hundred_and_forty_words(long: Long, cube: bool) -> None:
    """A coverage takes three words of 64 bits."""
    exact = CUBE if cube else PLAIN
    best, better = long.known[False], long.known[True]
    for order in ({"order": "monotone"}, {"distortion_limit": 0}):
        assert path_of(long.search(**exact, **order))[1] == pytest.approx(best, abs=2e-3)
    assert better > best + 1
    swapped = path_of(long.search(**exact, order="swap"))
    assert swapped[1] == pytest.approx(better, abs=2e-3)
    for limits in ({}, {"distortion_limit": 6}, {"distortion_limit": 6, "stack_diversity": 1}):
        steps, score = path_of(long.search(cube=cube, pop_limit=30, stack_size=30, beam=12.0, **limits))
        places = sorted(place for first, last, _ in steps for place in range(first, last))
        assert places == list(range(140))
        assert score == pytest.approx(long.score(steps), abs=2e-3)
        assert steps != tuple(sorted(steps))
