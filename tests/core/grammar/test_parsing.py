"""Forests against a slow, plain parser on small random grammars."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtformats.grammar import cdec as cdec_grammar
from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.core.grammar.parsed_forest import Forest
from smtplugins.core.grammar.parsing import InputArc, Lattice, Options, PassThrough, TooLarge, parse
from smtplugins.core.grammar.tables import Grammar, Tables, glue
from tests.core.charts import Edge, Plain, edges_of
from tests.formats.hypergraph.inference import viterbi

LABELS = ["A", "B", "C"]
WORDS = ["a", "b", "c"]


def rule(lhs: str, source: str, target: str = "", **features: float) -> Rule:
    """A rule from texts like `a [X] b`; its target side is the gaps in order if there is no other."""
    gaps: list[NonTerminal] = []
    symbols: list[str | NonTerminal] = []
    for token in source.split():
        if token.startswith("["):
            gaps.append(NonTerminal(token[1:-1], len(gaps) + 1))
            symbols.append(gaps[-1])
        else:
            symbols.append(token)
    told = [gaps[int(token[1:-1]) - 1] if token.startswith("[") else token for token in target.split()]
    return Rule(lhs, tuple(symbols), tuple(told or gaps), tuple(features), tuple(features.values()))


def found_edges(forest: Forest, grammars: Sequence[Grammar], lattice: Lattice) -> Counter[Edge]:
    """The edges of a forest as the plain parser has them, without the one above the goal."""
    featured = [i for i, arc in enumerate(lattice.arcs) if arc.features]
    native = forest.native
    labels = forest.tables.labels
    nodes = [(labels.word(label), first, last) for label, first, last in native.nodes.tolist()]
    edges: Counter[Edge] = Counter()
    for head in range(forest.nodes - 1):
        for bundle in range(native.node_bundles[head], native.node_bundles[head + 1]):
            tails = native.tails[native.tail_offsets[bundle] : native.tail_offsets[bundle + 1]].tolist()
            assert all(tail < head for tail in tails)
            rules = native.rules[native.rule_offsets[bundle] : native.rule_offsets[bundle + 1]].tolist()
            assert rules == list(range(rules[0], rules[0] + len(rules)))
            for rule in rules:
                arcs: list[int] = []
                link = int(native.chains[rule])
                while link >= 0:
                    link, number = native.links[link].tolist()
                    arcs.insert(0, featured[number])
                edge = int(native.origins[rule]), nodes[head], tuple(nodes[tail] for tail in tails), tuple(arcs)
                edges[edge] += 1
    return edges


def plain(grammar: Grammar) -> list[Plain]:
    def symbol(item: str | NonTerminal) -> Any:
        return item if isinstance(item, str) else (item.label,)

    rules = [grammar.rule(i) for i in range(len(grammar))]
    limits = grammar.span_limit, grammar.from_start
    return [Plain(rule.lhs, tuple(map(symbol, rule.source)), *limits) for rule in rules]


def names(tables: Tables) -> list[str]:
    return [tables.labels.word(i) for i in range(len(tables.labels))]


def check(rules: Sequence[Sequence[Rule]], limits: Sequence[tuple[int | None, bool]], lattice: Lattice) -> Forest:
    """Parse, and compare with the plain parser."""
    tables = Tables()
    grammars = [
        Grammar.of_rules(some, tables, span_limit=limit, from_start=start)
        for some, (limit, start) in zip(rules, limits, strict=True)
    ]
    forest = parse(lattice, grammars, Options(goal="A"))
    expected = edges_of(
        [rule for grammar in grammars for rule in plain(grammar)], lattice.arcs, lattice.positions, "A", names(tables)
    )
    assert found_edges(forest, grammars, lattice) == expected
    assert bool(forest) == bool(expected)
    if forest:
        native = forest.native
        assert forest.edges == sum(expected.values()) + 1
        assert forest.nodes == len({edge[1] for edge in expected}) + 1
        assert native.nodes[-1].tolist() == [tables.labels.id("Goal"), 0, lattice.positions - 1]
        some = np.arange(len(native.origins) % 3, len(native.origins), 3)[::-1]
        columns, (offsets, ids, values) = forest.columns_of(some), forest.features_of(some)
        for k, i in enumerate(some.tolist()):
            assert columns.rule(k) == forest.rule_columns.rule(i)
            row = slice(offsets[k], offsets[k + 1])
            named = {tables.names.word(n): v for n, v in zip(ids[row].tolist(), values[row].tolist(), strict=True)}
            assert named == forest.rule_features(i)
    return forest


symbols = st.one_of(st.sampled_from(WORDS), st.sampled_from([f"[{label}]" for label in LABELS]))
sources = st.lists(symbols, min_size=1, max_size=4).filter(lambda some: sum("[" in symbol for symbol in some) <= 3)
rules = st.builds(lambda lhs, source: rule(lhs, " ".join(source)), st.sampled_from(LABELS), sources)
unaries = st.builds(lambda lhs, gap: rule(lhs, f"[{gap}]"), st.sampled_from(LABELS), st.sampled_from(LABELS))
labels = st.sampled_from(LABELS)
grammar_rules = st.lists(st.one_of(rules, rules, unaries), min_size=1, max_size=6)
# Most sentences have derivations: each word has a rule, and there are rules of two gaps.
lexicons = st.tuples(*(labels.map(lambda label, word=word: rule(label, word)) for word in WORDS))
binary = st.lists(
    st.builds(lambda *three: rule(three[0], f"[{three[1]}] [{three[2]}]"), labels, labels, labels), max_size=3
)
closed = st.builds(
    lambda *parts: [*itertools.chain(*parts)], lexicons, binary, st.just([rule("A", "[A] [A]")]), grammar_rules
)
limits = st.tuples(st.one_of(st.none(), st.integers(0, 5)), st.booleans())
grammars = st.tuples(
    st.tuples(closed, st.tuples(st.sampled_from([None, None, None, 4, 3]), st.just(False))),
    st.lists(st.tuples(grammar_rules, limits), max_size=2),
).map(lambda both: [both[0], *both[1]])
Limited = list[tuple[list[Rule], tuple[int | None, bool]]]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(Lattice.of_words)


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    positions = draw(st.integers(2, 5))
    arcs = [InputArc(i, i + 1, draw(st.sampled_from(WORDS))) for i in range(positions - 1) if draw(st.integers(0, 3))]
    for _ in range(draw(st.integers(0, 5))):
        first = draw(st.integers(0, positions - 2))
        last = draw(st.integers(first + 1, min(positions - 1, first + 2)))
        word = draw(st.one_of(st.none(), st.sampled_from(WORDS), st.sampled_from(WORDS)))
        features = draw(st.sampled_from([{}, {}, {"P": 0.5}, {"P": 1.0, "Q": -1.0}]))
        arcs.append(InputArc(first, last, word, features))
    return Lattice(positions, tuple(arcs))


@given(grammars, sentences)
@settings(max_examples=100)
def test_sentences_are_parsed_as_plainly(grammars: Limited, sentence: Lattice) -> None:
    check([some for some, _ in grammars], [limit for _, limit in grammars], sentence)


@given(grammars, lattices())
@settings(max_examples=100)
def test_lattices_are_parsed_as_plainly(grammars: Limited, lattice: Lattice) -> None:
    check([some for some, _ in grammars], [limit for _, limit in grammars], lattice)


def test_rules_of_one_gap_are_applied_in_chains_and_never_in_circles() -> None:
    rules = [rule("C", "[B]"), rule("B", "[C]"), rule("A", "[C]"), rule("A", "[A]"), rule("C", "[A]"), rule("B", "a")]
    forest = check([rules], [(None, False)], Lattice.of_words(["a"]))
    assert (forest.nodes, forest.edges) == (4, 4)
    assert not check([rules[1:2] + rules], [(None, False)], Lattice.of_words(["a"]))  # cut elsewhere: B comes first


def test_a_rule_may_have_many_gaps() -> None:
    wide = [rule("A", "[B] [C] [B] [B] [C]"), rule("B", "a"), rule("C", "a"), rule("B", "[C] [B]")]
    assert check([wide], [(None, False)], Lattice.of_words(["a"] * 8))
    assert not check([wide], [(7, False)], Lattice.of_words(["a"] * 8))


def test_a_span_is_as_long_as_its_shortest_path() -> None:
    rules = [[rule("A", "a b c"), rule("A", "[A] c")]]
    arcs = tuple(InputArc(i, i + 1, word) for i, word in enumerate("abc"))
    assert not check(rules, [(2, False)], Lattice(4, arcs))
    assert check(rules, [(2, False)], Lattice(4, (*arcs, InputArc(0, 2, "x"))))


def test_nothing_is_parsed_without_words_or_a_goal() -> None:
    assert not check([[rule("A", "a")]], [(None, False)], Lattice.of_words([]))
    forest = check([[rule("B", "a")]], [(None, False)], Lattice.of_words(["a"]))
    assert not forest
    assert (forest.nodes, forest.edges, forest.bundles) == (0, 0, 0)
    assert len(forest.to_hypergraph()) == 0
    assert forest.to_hypergraph().nodes == 0


def test_rules_of_a_bundle_are_scored_and_shown() -> None:
    tables = Tables()
    grammar = Grammar.of_rules([rule("X", "a", "A", F=2.0), rule("X", "a", "B", G=1.0)], tables, span_limit=10)
    options = Options(pass_through=PassThrough(features=lambda word: {f"Is_{word}": 1.0}))
    weights = {"F": 0.5, "G": -1.0, "PassThrough": 3.0, "P": 10.0, "Glue": 7.0}
    lattice = Lattice(3, (InputArc(0, 1, "a", {"P": 0.25, "F": 1.0}), InputArc(1, 2, "a")))
    forest = parse(lattice, [grammar, glue(tables)], options, weights)
    graph = forest.to_hypergraph("7")
    assert graph.id == "7"
    by_text = {}
    for edge in range(len(graph)):
        number = int(graph.rules[edge])
        shown = graph.grammar.rule(number)
        assert shown == forest.rule(number)
        text = cdec_grammar.compose(shown, str).strip()
        by_text[text.partition(" ||| 0-0")[0], int(graph.spans[edge][0])] = graph.edge_features(edge)
        score = sum(value * weights.get(name, 0.0) for name, value in graph.edge_features(edge).items())
        assert forest.native.scores[number] == pytest.approx(score)
    assert by_text["[X] ||| a ||| A ||| F=2.0", 0] == {"F": 3.0, "P": 0.25}
    assert by_text["[X] ||| a ||| A ||| F=2.0", 1] == {"F": 2.0}
    assert by_text["[X] ||| a ||| a ||| PassThrough=1.0 Is_a=1.0", 0] == {
        "PassThrough": 1.0, "Is_a": 1.0, "P": 0.25, "F": 1.0,
    }  # fmt: skip
    assert {name for features in by_text.values() for name in features} == set(graph.names[:])
    assert viterbi(graph, graph.edge_scores(weights))[0] == pytest.approx((3.0 + 3.0) + 3.0 + 7.0)


def test_words_are_passed_through_as_told() -> None:
    tables = Tables()
    grammar = Grammar.of_rules([rule("X", "a b"), rule("X", "a"), rule("S", "[S] [Y]"), rule("S", "[Y]")], tables)

    def minted(**options: Any) -> list[str]:
        forest = parse(["a", "b", "c"], [grammar, glue(tables)], Options(pass_through=PassThrough(**options)))
        shown = (forest.rule(i) for i in range(len(forest.native.origins)))
        return sorted(
            f"{rule.lhs} {rule.source[0]} {' '.join(rule.target)}" for rule in shown if rule.target and rule.lhs in "XY"
        )

    assert minted() == ["X a a", "X b b", "X c c"]
    assert minted(unknown_only=True) == ["X b b", "X c c"]
    assert minted(target=lambda word: f"{word}_OOV") == ["X a a_OOV", "X b b_OOV", "X c c_OOV"]
    both = minted(labels={"X": {}, "Y": {}})
    assert both == [f"{label} {word} {word}" for label in "XY" for word in "abc"]
    assert minted(except_for=frozenset("ab")) == ["X c c"]


def test_what_is_too_large_is_refused() -> None:
    tables = Tables()
    grammar = Grammar.of_rules([rule("S", "[S] [S]"), rule("S", "a")], tables)
    assert parse(["a"] * 9, [grammar], Options(max_edges=400)).edges == 9 + 9 * 8 * 10 // 6 + 1
    with pytest.raises(TooLarge, match="at most 20 edges"):
        parse(["a"] * 9, [grammar], Options(max_edges=20))
    with pytest.raises(TooLarge, match="4096 positions"):
        parse(["a"] * 4096, [grammar])
    with pytest.raises(ValueError, match="share one Tables object"):
        parse(["a"], [grammar, glue(Tables())])
    with pytest.raises(ValueError, match="later positions"):
        parse(Lattice(2, (InputArc(1, 1, "a"),)), [grammar])
    with pytest.raises(TypeError, match="found one string"):
        parse("ein haus", [grammar])
