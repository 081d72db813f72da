"""The oracle itself: bounds lead to the best derivation, and what actions add is what the whole is worth."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smtplugins.core.grammar.parsing import Options, PassThrough, parse
from smtplugins.core.grammar.tables import Grammar, Tables
from smtplugins.core.search.search_options import SearchOptions
from smtplugins.core.search.stateful_search import Stateful, best, lm_scorer
from smtplugins.core.search.stateful_search import searcher as native_searcher
from tests.seeds import seeds

from .made import WORDS, dyadic, language_model, loose_forest, seeded_forest, span_forest
from .oracle import Cff, Found, Lm, Oracle, Plain, Tree, pieces

Derivation = tuple[float, tuple[str, ...], tuple[int, ...]]


def derivations(plain: Plain, most: int = 2000) -> list[Derivation] | None:
    """Score, words and edges (in order of the tree) of every derivation; ``None`` if there are too many."""
    found: list[list[Derivation]] = []
    for v in range(len(plain.nodes)):
        here: list[Derivation] = []
        for edge in plain.into.get(v, ()):
            if math.prod(len(found[tail]) for tail in edge.tails) > most:
                return None
            for parts in itertools.product(*[found[tail] for tail in edge.tails]):
                words: tuple[str, ...] = ()
                for symbol in edge.target:
                    words += (symbol,) if isinstance(symbol, str) else parts[symbol][1]
                score = edge.score + sum(part[0] for part in parts)
                here.append((score, words, (edge.number, *itertools.chain.from_iterable(part[2] for part in parts))))
        if len(here) > most:
            return None
        found.append(here)
    return found[-1]


def edges_of(tree: Tree) -> tuple[int, ...]:
    """The edges of a complete tree, each before its children's."""

    def visit(step: int) -> tuple[int, ...]:
        edge = tree.edges[step]
        below = [tree.child(step, k) for k in range(len(edge.tails))]
        return (edge.number, *itertools.chain.from_iterable(visit(child) for child in below if child is not None))

    return visit(tree.top)


def assert_derivation(plain: Plain, found: Found) -> None:
    """A complete tree: edges meet at their nodes, and there are as many as actions."""
    tree = found.tree
    assert tree.open() == []
    assert tree.edges[tree.top].head == plain.goal
    assert len(found.actions) == len(edges_of(tree))
    for step, edge in enumerate(tree.edges):
        for k, tail in enumerate(edge.tails):
            child = tree.child(step, k)
            assert child is not None and tree.edges[child].head == tail


@pytest.mark.parametrize("first", range(0, 240, 60))
def test_with_exact_bounds_the_best_derivation_is_found(first: int) -> None:
    for seed in seeds(60):
        made, rng = seeded_forest(first + seed)
        scores = [rng.uniform(-2, 1) for _ in made.targets]
        plain = replace(made, scores=scores, bounds=scores)
        found = Oracle(plain, [Cff(plain)], [1.0]).follow()
        assert_derivation(plain, found)
        score = sum(edge.score for edge in found.tree.edges)
        assert score == pytest.approx(plain.inside[plain.goal], abs=1e-9)
        every = derivations(plain)
        if every is not None:
            best_score = max(every)[0]
            assert edges_of(found.tree) in [edges for one, _, edges in every if one > best_score - 1e-9]


def test_bounds_are_those_of_enumeration() -> None:
    for seed in seeds(60):
        made, _ = seeded_forest(seed)
        plain = replace(made, bounds=made.scores)
        every = derivations(plain)
        if every is None:
            continue
        assert plain.inside[plain.goal] == max(every)[0]
        assert {edge.number for edge in plain.alive} == {edge for _, _, edges in every for edge in edges}
        for node in {edge.head for edge in plain.alive}:
            # All derivations with the node in them.
            heads = {edge.number for edge in plain.into[node]}
            score = max(one for one, _, edges in every if heads & {*edges})
            assert plain.inside[node] + plain.outside[node] == score


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_actions_make_a_derivation_and_their_lm_values_its_score(order: int, tmp_path: Path) -> None:
    for seed in seeds(40):
        plain, rng = seeded_forest(seed)
        model = language_model(rng, order, tmp_path)
        weights = [rng.choice((0.0, 0.5, 1.0)) for _ in range(2)]
        oracle = Oracle(plain, [Cff(plain), Lm(model)], weights)
        for found in (oracle.follow(), at_random(oracle, rng)):
            assert_derivation(plain, found)
            words = found.tree.words
            expected = float(model.score_sentences([" ".join(words)])[0][0])
            assert sum(lm for _, lm in found.values) == pytest.approx(expected, abs=1e-6)
            scores = [oracle.plain.edges[action[0]].score for action in found.actions]
            for own, score, values in zip(scores, found.scores, found.values, strict=True):
                assert score == own + weights[0] * values[0] + weights[1] * values[1]


def at_random(oracle: Oracle, rng: random.Random) -> Found:
    """A derivation that grew in any way."""
    tree = oracle.begin()
    prefix = []
    while actions := oracle.actions(tree):
        prefix.append(rng.choice(actions))
        tree = oracle.after(tree, prefix[-1])
    return oracle.replay(prefix)


def test_ranked_has_each_action_once_best_first() -> None:
    for seed in seeds(30):
        plain, rng = seeded_forest(seed)
        oracle = Oracle(plain, [Cff(plain, 3, 2.0)], [1.0, 0.5, 0.25])
        found = at_random(oracle, rng)
        for n in range(len(found.actions) + 1):
            ranked = oracle.ranked(found.actions[:n])
            assert [one for one, _ in ranked] == sorted((one for one, _ in ranked), reverse=True)
            actions = [action for _, action in ranked]
            assert len(set(actions)) == len(actions)
            if n < len(found.actions):
                assert found.actions[n] in actions
                assert found.scores[n] == {action: score for score, action in ranked}[found.actions[n]]
            else:
                assert actions == []


FIVE = Plain(
    # 0 -> a b | 1 -> [0] c | 2 -> d [1] e [0] | goal 3 -> [2]
    nodes=[[((), [0])], [((0,), [1])], [((1, 0), [2])], [((2,), [3])]],
    targets=[("a", "b"), (0, "c"), ("d", 0, "e", 1), (0,)],
    scores=[0.0] * 4,
    bounds=[-1.0, -2.0, -4.0, -8.0],
)


def test_texts_and_pieces_by_hand() -> None:
    empty = Tree(FIVE.goal)
    tree = empty.put(FIVE.edges[0], -1, 0, -1)
    assert shown(tree) == "_ a b _"
    tree = tree.put(FIVE.edges[1], 0, 0, 0)
    assert shown(tree) == "_ a b c _"
    tree = tree.put(FIVE.edges[2], 1, 0, 0)
    assert shown(tree) == "_ d a b c e _ _"
    assert tree.open() == [(2, 0), (2, 2)]
    assert [tree.complete[step] for step in range(3)] == [True, True, False]
    topped = tree.put(FIVE.edges[3], 2, 0, 0)
    assert shown(topped) == "<s> d a b c e _ </s>"
    assert pieces(topped.text[0]) == [(0, 6), (7, 8)]
    done = topped.put(FIVE.edges[0], 2, 2, -1)
    assert shown(done) == "<s> d a b c e a b </s>"
    assert done.open() == [] and all(done.complete)


def shown(tree: Tree) -> str:
    return " ".join(token.word or "_" for token in tree.text[0])


def test_bounds_of_missing_branches_by_hand() -> None:
    # Inside: -1, -3, -8, -16. Outside: goal 0, 2: -8, 1: -8-4-1, 0: the better of -8-4-3 and, below 1, -13-2.
    assert FIVE.inside == [-1.0, -3.0, -8.0, -16.0]
    assert FIVE.outside == [-15.0, -13.0, -8.0, 0.0]
    oracle = Oracle(FIVE, [Cff(FIVE), Cff(FIVE, 3, 2.0), Cff(FIVE, 2)], [0.0] * 6)
    path = oracle.replay([(0, -1, 0, -1), (1, 0, 0, 0), (2, 1, 0, 0), (3, 2, 0, 0), (0, 2, 2, -1)])
    assert path.values == [
        [-15.0, -7.5, 0.0, 0.0, -15.0, 0.0],
        [-13.0, -6.5, 0.0, 0.0, -13.0, 0.0],
        [-9.0, -4.0, 0.0, -0.5, -8.0, -1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]


class Known:
    """A model of order 3 whose probabilities say what they are of: a digit for each word of the n-gram."""

    order = 3

    def full_scores(self, text: str, bos: bool, eos: bool) -> list[tuple[float, int, bool]]:
        words = [*["<s>"] * bos, *text.split(), *["</s>"] * eos]
        digits = ["<s>", *WORDS, "</s>"]
        found = []
        for i in range(bos, len(words)):
            context = words[max(0, i - 2) : i + 1]
            found.append((float("".join(str(1 + digits.index(word)) for word in context)), len(context), False))
        return found


def test_rescored_by_hand() -> None:
    # <s> is 1, a 2, b 3, c 4, d 5, e 6, </s> 7.
    oracle = Oracle(FIVE, [Lm(Known(), "rescored"), Lm(Known())], [0.0, 0.0])
    path = oracle.replay([(0, -1, 0, -1), (1, 0, 0, 0), (2, 1, 0, 0), (3, 2, 0, 0), (0, 2, 2, -1)])
    rescored = [value for value, _ in path.values]
    assert rescored == [
        2 + 23,
        # c behind a b; a b anew.
        234 + 2 + 23,
        # d; a and b behind it; e behind b c.
        5 + 52 + 523 + 346,
        # d a behind <s>, </s> behind an open place.
        15 + 152 + 7,
        # a b behind c e, </s> anew.
        462 + 623 + 237,
    ]
    delta = [value for _, value in path.values]
    assert sum(delta) == sum(score for score, _, _ in Known().full_scores("d a b c e a b", True, True))
    assert delta[2] == 5 + 52 + 523 + 234 - 2 - 23 - 234 + 234 + 346 - 234
    # Downwards: what is right of the place is scored behind an open place of the new edge, too.
    other = Plain(
        [[((), [0])], [((0,), [1])], [((1, 0), [2])]], [("a",), ("b", 0), (0, "c", "d", "e", 1)], [0.0] * 3, [0.0] * 3
    )
    path = Oracle(other, [Lm(Known(), "rescored")], [0.0]).replay([(0, -1, 0, -1), (2, 0, 0, 1), (1, 1, 1, -1)])
    assert [value for (value,) in path.values] == [2, 4 + 45 + 456 + 562 + 627, 13 + 4 + 45]


def test_forests_are_numbered_like_those_of_searches(tmp_path: Path) -> None:
    """The best derivation of the native search under a language model has the number of each of its edges."""
    for seed in seeds(30):
        rng = random.Random(seed)
        plain = span_forest(rng)
        model = language_model(rng, 2, tmp_path)
        forest = plain.native()
        assert (forest.nodes, forest.edges) == (len(plain.nodes), len(plain.edges))
        search = native_searcher([Stateful(lm_scorer(model, plain.words), ("lm",), (1.0,))])
        refined = search.search(forest, SearchOptions(pop_limit=3))
        found = best(refined, forest)
        assert found is not None
        numbers = refined.edge_of[found.edges].tolist()
        edges = [plain.edges[number] for number in numbers]
        assert [edge.rule for edge in edges] == refined.rules[found.edges].tolist()
        words = [plain.words[word] for word in found.words.tolist()]
        score = sum(edge.score for edge in edges) + float(model.score_sentences([" ".join(words)])[0][0])
        assert found.score == pytest.approx(score, abs=1e-5)


def parsed() -> Any:
    from smtformats.grammar.rules import NonTerminal, Rule
    from smtformats.grammar.shared.gather import grammar_columns

    one, two = NonTerminal("X", 1), NonTerminal("X", 2)
    start = NonTerminal("S", 1)
    rules = [
        Rule("X", ("a",), ("b",), ("f",), (1.0,)),
        Rule("X", ("a",), ("c", "d"), ("f",), (0.5,)),
        Rule("X", (one, "b", two), (two, "e", one), ("f",), (2.0,)),
        Rule("X", (one, two), (one, two), ("f",), (-1.0,)),
        Rule("S", (one,), (one,), (), ()),
        Rule("S", (start, two), (start, two), (), ()),
    ]
    tables = Tables()
    grammar = Grammar(grammar_columns(rules), tables)
    return parse("a b a a".split(), [grammar], Options(pass_through=PassThrough()), {"f": 1.0, "PassThrough": -3.0})


def test_parsed_forests_become_plain_ones() -> None:
    forest = parsed()
    plain = Plain.of_parsed(forest)
    assert (len(plain.nodes), len(plain.edges)) == (forest.nodes, forest.edges)
    assert plain.alive == plain.edges
    every = derivations(plain)
    assert every is not None
    # [a b a] with its sides exchanged, and a, by glue.
    assert (5.0, ("b", "e", "b", "b")) in [(score, words) for score, words, _ in every]
    found = Oracle(plain, [Cff(plain)], [1.0]).follow()
    assert_derivation(plain, found)
    assert sum(edge.score for edge in found.tree.edges) == max(every)[0]


def test_made_forests_are_of_all_kinds() -> None:
    forests = [make(random.Random(seed)) for make in (span_forest, loose_forest) for seed in range(150)]
    edges = [edge for plain in forests for edge in plain.edges]
    assert {len(edge.tails) for edge in edges} == {0, 1, 2, 3}
    assert any(not edge.target for edge in edges)
    assert any(edge.target and not any(isinstance(one, str) for one in edge.target) for edge in edges)
    assert any(len(set(edge.tails)) < len(edge.tails) for edge in edges)
    assert any(len(plain.alive) < len(plain.edges) for plain in forests)
    assert any(edge.head == plain.goal and not edge.tails for plain in forests for edge in plain.alive)
    assert all(plain.alive == plain.edges for plain in forests[:150])
    assert dyadic(random.Random(1)) * 64 == int(dyadic(random.Random(1)) * 64)
