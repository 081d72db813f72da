"""Searches with stateful features, against enumeration: all derivations of small random forests, scored as strings."""

from __future__ import annotations

import gc
import itertools
import math
import random
import weakref
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.core._core import CallbackScorer, Scorers
from smtplugins.core.grammar.rules import Edges
from smtplugins.core.search.search_options import SearchOptions
from smtplugins.core.search.stateful_search import SearchLimit, best, contract_scorer, lm_scorer
from smtplugins.core.vocabulary import Vocabulary
from tests.core.forests import (
    BEGIN,
    END,
    WORDS,
    Made,
    Pairs,
    Words,
    glue_forest,
    language_model,
    lm_score,
    pair_model,
    random_forest,
    refined_derivations,
    same,
    searcher,
)


def random_pairs(rng: random.Random) -> Pairs:
    left, right = [BEGIN, *range(len(WORDS))], [*range(len(WORDS)), END]
    return {pair: rng.uniform(-3, 0) for pair in itertools.product(left, right) if rng.random() < 0.8}


def native_pairs(pairs: Pairs, other: float = -0.5) -> Any:
    """Not the searcher that language models alone have, but that of any features."""
    return Scorers([lm_scorer(pair_model(pairs, other), WORDS)])


def pair_score(pairs: Pairs, words: Words, other: float = -0.5) -> float:
    return sum(pairs.get(pair, other) for pair in itertools.pairwise([BEGIN, *words, END]))


FORESTS = st.builds(lambda seed: (random.Random(seed), random_forest(random.Random(seed))), st.integers(0, 1 << 30))
SEEDS = st.integers(0, 1 << 30)


@given(FORESTS, st.booleans())
def test_exact_intersection_keeps_every_derivation_with_its_score(case: Any, early: bool) -> None:
    rng, made = case
    pairs = random_pairs(rng)
    refined = searcher(native_pairs(pairs), [0.7]).search(made.native(), SearchOptions(exact=True, early_begin=early))
    expected = [(score + 0.7 * pair_score(pairs, words), words) for score, words in made.derivations()]
    same(refined_derivations(refined, made), expected)


@given(FORESTS, st.booleans())
def test_cube_pruning_without_limit_is_exact(case: Any, early: bool) -> None:
    rng, made = case
    forest, search = made.native(), searcher(native_pairs(random_pairs(rng)))
    exact = search.search(forest, SearchOptions(exact=True, early_begin=early))
    cube = search.search(forest, SearchOptions(pop_limit=-1, early_begin=early))
    same(refined_derivations(cube, made), refined_derivations(exact, made))
    assert len(cube.node_of) == len(exact.node_of)
    assert cube.pops <= cube.evaluated == exact.evaluated
    single = search.search(forest, SearchOptions(pop_limit=-1, early_begin=early, all_edges=False))
    other = search.search(made.shuffled(rng).native(), SearchOptions(pop_limit=-1, early_begin=early))
    assert single.best[-1:].tolist() == pytest.approx(exact.best[-1:].tolist(), abs=1e-9)
    assert other.best[-1:].tolist() == pytest.approx(exact.best[-1:].tolist(), abs=1e-9)


@given(SEEDS, st.sampled_from([1, 2, 5]), st.booleans(), st.booleans(), st.booleans())
def test_pruned_scores_are_those_of_the_strings(seed: int, limit: int, early: bool, glue: bool, edges: bool) -> None:
    rng = random.Random(seed)
    made = glue_forest(rng, rng.randint(1, 4)) if glue else random_forest(rng)
    pairs = random_pairs(rng)
    forest, search = made.native(), searcher(native_pairs(pairs))
    options = {"adapt": rng.choice([0.0, 0.5]), "beam": rng.choice([math.inf, 2.0])}
    refined = search.search(forest, SearchOptions(pop_limit=limit, early_begin=early, all_edges=edges, **options))
    rule_scores = Counter((words, round(score, 4)) for score, words in made.derivations())
    kept = refined_derivations(refined, made)
    assert bool(kept) == bool(rule_scores)
    for score, words in kept:
        assert rule_scores[words, round(score - pair_score(pairs, words), 4)] or any(
            abs(known - score + pair_score(pairs, words)) < 1e-5
            for known, string in made.derivations()
            if string == words
        )
    if kept:
        derivation = best(refined, forest)
        assert derivation is not None
        assert derivation.score == pytest.approx(max(kept)[0], abs=1e-6)
        assert refined.best[-1] == pytest.approx(max(kept)[0], abs=1e-6)
        own = float(np.float32(made.scores)[refined.rules[derivation.edges]].sum(dtype=np.float64))
        (value,) = search.score_words(derivation.words).tolist()
        assert value == pytest.approx(pair_score(pairs, tuple(derivation.words.tolist())), abs=1e-5)
        assert derivation.score == pytest.approx(own + value, abs=1e-5)
    # A node's best edges come from its own bundles, and lead back to them.
    heads = np.repeat(np.arange(len(made.nodes)), [sum(len(rules) for _, rules in node) for node in made.nodes])
    all_rules = [rule for node in made.nodes for _, rules in node for rule in rules]
    bundle_heads = np.repeat(refined.node_of, np.diff(refined.node_bundles))
    edge_heads = np.repeat(bundle_heads, np.diff(refined.rule_offsets))
    assert heads[refined.edge_of].tolist() == edge_heads.tolist()
    assert [all_rules[e] for e in refined.edge_of.tolist()] == refined.rules.tolist()


@given(SEEDS)
def test_larger_limits_reach_the_best(seed: int) -> None:
    rng = random.Random(seed)
    made = glue_forest(rng)
    search, forest = searcher(native_pairs(random_pairs(rng))), made.native()
    exact = float(search.search(forest, SearchOptions(exact=True)).best[-1])
    scores = [
        float(search.search(forest, SearchOptions(pop_limit=limit, adapt=0.0)).best[-1]) for limit in (1, 10, 10_000)
    ]
    assert max(scores) <= exact + 1e-9
    assert scores[-1] == pytest.approx(exact, abs=1e-9)


@given(SEEDS, st.sampled_from([2, 3, 4, 5]), st.booleans(), st.booleans())
def test_a_language_model_scores_strings(seed: int, order: int, early: bool, memo: bool) -> None:
    rng = random.Random(seed)
    made = glue_forest(rng, rng.randint(1, 3)) if rng.random() < 0.5 else random_forest(rng, 150)
    model = language_model(rng, order)
    search = searcher(lm_scorer(model, WORDS, memo=memo), [2.3])
    refined = search.search(made.native(), SearchOptions(exact=True, early_begin=early))
    expected = [(score + 2.3 * lm_score(model, words), words) for score, words in made.derivations()]
    same(refined_derivations(refined, made), expected)


@given(SEEDS, st.sampled_from([2, 4]), st.sampled_from([1, 3, 20]))
def test_the_memo_changes_nothing(seed: int, order: int, limit: int) -> None:
    rng = random.Random(seed)
    model = language_model(rng, order)
    forests = [glue_forest(rng).native() for _ in range(2)]
    kept, fresh = (searcher(lm_scorer(model, WORDS, memo=memo)) for memo in (True, False))
    for forest in forests:
        a, b = (search.search(forest, SearchOptions(pop_limit=limit)) for search in (kept, fresh))
        assert a.scores.tobytes() == b.scores.tobytes()
        assert a.tails.tobytes() == b.tails.tobytes()
        assert a.edge_of.tobytes() == b.edge_of.tobytes()


class InPython:
    """The pairs of words again, as a plugin would write them, with a count of words beside them."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs

    def value(self, left: Any, right: Any) -> float:
        ids = {word: i for i, word in enumerate(WORDS)} | {BEGIN: BEGIN, END: END}
        return self.pairs.get((ids[left], ids[right]), -0.5)

    def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[Any, list[Any]]:
        scores, states = [], []
        for i in range(len(edges)):
            score, ends, count = 0.0, (), 0.0
            for symbol in edges.rules.target_of(i):
                count += isinstance(symbol, str)
                nxt = (symbol, symbol) if isinstance(symbol, str) else tails[i][symbol]
                if ends and nxt:
                    score += self.value(ends[1], nxt[0])
                ends = (ends[0], nxt[1]) if ends and nxt else ends or nxt
            scores.append([score, count])
            states.append(ends)
        return np.array(scores), states

    def finish(self, states: Sequence[Any]) -> Any:
        rows = []
        for ends in states:
            inner = [ends[0], ends[1]] if ends else []
            edges = [BEGIN, *inner, END]
            rows.append([self.value(edges[0], edges[1]) + (self.value(edges[-2], edges[-1]) if inner else 0.0), 0.0])
        return rows

    def estimate(self, edges: Edges) -> Any:
        return np.zeros((len(edges), 2))


@given(FORESTS)
def test_a_python_scorer_gives_the_native_scores(case: Any) -> None:
    rng, made = case
    pairs = random_pairs(rng)
    forest = made.native()
    python = searcher(contract_scorer(InPython(pairs), Vocabulary(WORDS), components=2), [0.9, 0.25])
    refined = python.search(forest, SearchOptions(exact=True))
    expected = [
        (score + 0.9 * pair_score(pairs, words) + 0.25 * len(words), words) for score, words in made.derivations()
    ]
    same(refined_derivations(refined, made), expected)
    pruned = python.search(forest, SearchOptions(pop_limit=2))
    assert bool(len(pruned.rules)) == bool(expected)


@given(SEEDS)
def test_several_features_at_once(seed: int) -> None:
    rng = random.Random(seed)
    made = random_forest(rng, 150)
    first, second, pairs = language_model(rng, 2), language_model(rng, 4), random_pairs(rng)
    parts = [
        lm_scorer(first, WORDS),
        native_pairs(pairs),
        contract_scorer(InPython(pairs), Vocabulary(WORDS), components=2),
        lm_scorer(second, WORDS),
    ]
    search = searcher(Scorers(parts), [1.0, 0.5, 0.25, 0.1, 2.0])
    expected = [
        (
            score
            + lm_score(first, words)
            + 0.75 * pair_score(pairs, words)
            + 0.1 * len(words)
            + 2 * lm_score(second, words),
            words,
        )
        for score, words in made.derivations()
    ]
    for options in ({"exact": True}, {"pop_limit": -1}):
        refined = search.search(made.native(), SearchOptions(**options))
        same(refined_derivations(refined, made), expected)
        values = refined.values.reshape(-1, 5)
        rule_scores = np.float32(made.scores)[refined.rules].astype(np.float64)
        assert np.allclose(refined.scores, rule_scores + values @ [1.0, 0.5, 0.25, 0.1, 2.0], atol=1e-6)


def test_what_python_raises_comes_through() -> None:
    made = glue_forest(random.Random(1))

    class Broken(InPython):
        def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[Any, list[Any]]:
            raise RuntimeError("not today")

    class Short(InPython):
        def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[Any, list[Any]]:
            return [0.0], [()]

    vocabulary = Vocabulary(WORDS)
    with pytest.raises(RuntimeError, match="not today"):
        searcher(contract_scorer(Broken({}), vocabulary, 2), [1, 1]).search(made.native())
    with pytest.raises(ValueError, match="expected 2 scores for each of"):
        searcher(contract_scorer(Short({}), vocabulary, 2), [1, 1]).search(made.native())

    class Native:
        def prepare(self, targets: Any, offsets: Any) -> Any:
            return np.zeros(1, dtype=np.float32)

    with pytest.raises(ValueError, match="values from prepare, found 1"):
        searcher(CallbackScorer(Native(), 1)).search(made.native())


def test_cycles_through_python_scorers_are_collected() -> None:
    class Own(InPython):
        searcher: Any = None

    seen = []
    for several in (False, True):
        own = Own({})
        scorer = contract_scorer(own, Vocabulary(WORDS), 2)
        own.searcher = searcher(Scorers([scorer]) if several else scorer, [1.0, 1.0])
        seen.append(weakref.ref(own))
        del own, scorer
    gc.collect()
    assert [reference() for reference in seen] == [None, None]


def test_a_forest_without_derivations() -> None:
    empty = Made().native()
    search = searcher(native_pairs({}))
    for forest in (empty, Made([[]]).native(), Made([[], [((0,), [0])]], [(-1,)], [0.0]).native()):
        for options in ({"exact": True}, {"pop_limit": 5}, {"pop_limit": 5, "all_edges": False}):
            refined = search.search(forest, SearchOptions(**options))
            assert len(refined.node_of) == 0
            assert best(refined, forest) is None


def test_limits_and_faults() -> None:
    made = glue_forest(random.Random(2))
    search = searcher(native_pairs({}))
    with pytest.raises(SearchLimit):
        search.search(made.native(), SearchOptions(exact=True, max_edges=10))
    with pytest.raises(ValueError, match="pop limit of 0"):
        search.search(made.native(), SearchOptions(pop_limit=0))
    with pytest.raises(ValueError, match="expected 1 weights, found 2"):
        searcher(native_pairs({}), [1.0, 2.0])
    with pytest.raises(ValueError, match="weights must be finite"):
        searcher(native_pairs({}), [math.nan])
    with pytest.raises(ValueError, match="below its head"):
        Made([[((0,), [0])]], [(-1,)], [0.0]).native()
    with pytest.raises(ValueError, match="more gaps"):
        Made([[((), [0])]], [(-1,)], [0.0]).native()
    with pytest.raises(ValueError, match="more gaps"):
        Made([[((), [0])]], [(-(2**31),)], [0.0]).native()
    with pytest.raises(ValueError, match="a rule is not there"):
        Made([[((), [1])]], [(1,)], [0.0]).native()
    with pytest.raises(ValueError, match="finite"):
        Made([[((), [0])]], [(1,)], [math.nan]).native()
    forest = made.native()
    refined = search.search(forest)
    with pytest.raises(ValueError, match="not the forest"):
        refined.derivation(Made([[((), [0])]], [(1,)], [0.0]).native())
    with pytest.raises(ValueError, match="not the forest"):
        refined.derivation(Made([], [(-9,)] * len(made.targets), [0.0] * len(made.targets)).native())
    with pytest.raises(ValueError, match="read-only"):
        refined.tails[0] = 7
    # Each node is a tail twice: 2 to the 40th edges, of which none can be listed.
    doubled = Made([[((), [0])], *([((v, v), [1])] for v in range(40))], [(0,), (-1, -2)], [0.0, 0.0]).native()
    with pytest.raises(SearchLimit):
        search.search(doubled).derivation(doubled)
