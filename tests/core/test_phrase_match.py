"""Phrases of sentences and lattices: all of them, by a walk over every path in plain Python."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtformats.grammar.gather import grammar_columns
from smtformats.grammar.moses_phrases import load
from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.core.grammar import Grammar, Tables
from smtplugins.core.parsing import Arc, Lattice, TooLarge
from smtplugins.core.phrase_match import Matches, matches

Match = tuple[int, int, int, tuple[int, ...]]


def found(made: Matches) -> list[Match]:
    rows = zip(made.firsts.tolist(), made.lasts.tolist(), made.rules.tolist(), strict=True)
    return [(*row, tuple(made.path(i))) for i, row in enumerate(rows)]


def paths(lattice: Lattice, first: int, left: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Arcs from a position on, in the order of the positions and then of the lattice, and where they end."""
    if not left:
        return
    for i, arc in enumerate(lattice.arcs):
        if arc.first == first:
            yield (i,), arc.last
            for rest, last in paths(lattice, arc.last, left - 1):
                yield (i, *rest), last


def expected(grammar: Grammar, lattice: Lattice, longest: int) -> list[Match]:
    rules = [grammar.rule(i) for i in range(len(grammar))]
    rows = []
    for first in range(lattice.positions):
        for k, (path, last) in enumerate(paths(lattice, first, longest)):
            words = tuple(word for i in path if (word := lattice.arcs[i].word) is not None)
            for number, rule in enumerate(rules):
                if words and rule.source == words and not rule.level:
                    rows.append((first, last, number, k, path))
    return [(first, last, number, path) for first, last, number, _, path in sorted(rows)]


words = st.sampled_from("abc")
sides = st.lists(words, max_size=3).map(tuple)
sources = st.one_of(sides, st.tuples(words, st.just(NonTerminal("X", 1))))
rules = st.builds(
    lambda lhs, source, target, level: Rule(lhs, source, target, level=level),
    st.sampled_from("XS"),
    sources,
    sides,
    st.sampled_from([0, 0, 0, 1]),
)
grammars = st.lists(st.lists(rules, max_size=8), min_size=1, max_size=2)


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    positions = draw(st.integers(1, 5))
    arcs = []
    for _ in range(draw(st.integers(0, 8)) if positions > 1 else 0):
        first = draw(st.integers(0, positions - 2))
        arcs.append(
            Arc(first, draw(st.integers(first + 1, positions - 1)), draw(st.sampled_from(["a", "b", "d", None])))
        )
    return Lattice(positions, tuple(arcs))


@settings(max_examples=300)
@given(grammars, lattices(), st.integers(0, 4))
def test_all_are_found(several: list[list[Rule]], lattice: Lattice, longest: int) -> None:
    grammar = Grammar([grammar_columns(one) for one in several], Tables())
    assert found(matches(grammar, lattice, longest)) == expected(grammar, lattice, longest)


@given(grammars, st.lists(st.sampled_from("abcd"), max_size=6), st.integers(0, 4))
def test_sentences(several: list[list[Rule]], sentence: list[str], longest: int) -> None:
    grammar = Grammar([grammar_columns(one) for one in several], Tables())
    made = matches(grammar, sentence, longest)
    assert found(made) == expected(grammar, Lattice.of_words(sentence), longest)
    for first, last, _, path in found(made):
        assert path == tuple(range(first, last))


def of_text(text: str, **options: int) -> Grammar:
    return Grammar(load(io.BytesIO(text.encode()), "x"), Tables(), **options)


def rows(grammar: Grammar, given: Lattice | Sequence[str], longest: int = 7) -> list[tuple[int, int, str]]:
    made = found(matches(grammar, given, longest))
    return [(first, last, " ".join(map(str, grammar.rule(rule).target))) for first, last, rule, _ in made]


TEXT = "a ||| x ||| 1\na b ||| y ||| 1\na ||| z ||| 1\nb ||| w ||| 1\n"


def test_the_order_is_that_of_the_file() -> None:
    grammar = of_text(TEXT)
    assert rows(grammar, "a b q a".split()) == [
        (0, 1, "x"), (0, 1, "z"), (0, 2, "y"), (1, 2, "w"), (3, 4, "x"), (3, 4, "z"),
    ]  # fmt: skip
    assert rows(grammar, "a b".split(), 1) == [(0, 1, "x"), (0, 1, "z"), (1, 2, "w")]
    assert rows(of_text(TEXT, span_limit=1), "a b".split()) == rows(grammar, "a b".split(), 1)
    assert rows(grammar, []) == rows(grammar, ["q"]) == rows(grammar, ["a"], 0) == []


def test_a_phrase_over_two_paths_is_found_twice() -> None:
    lattice = Lattice(3, (Arc(0, 1, "a"), Arc(0, 1, "a", {"cost": 1.0}), Arc(1, 2, "b"), Arc(0, 2, "b")))
    made = found(matches(of_text(TEXT), lattice, 7))
    assert made == [
        (0, 1, 0, (0,)), (0, 1, 0, (1,)), (0, 1, 2, (0,)), (0, 1, 2, (1,)),
        (0, 2, 1, (0, 2)), (0, 2, 1, (1, 2)), (0, 2, 3, (3,)), (1, 2, 3, (2,)),
    ]  # fmt: skip


def test_arcs_in_any_order() -> None:
    arcs = (Arc(1, 2, "b"), Arc(0, 1, "a"))
    assert found(matches(of_text(TEXT), Lattice(3, arcs), 7)) == [
        (0, 1, 0, (1,)), (0, 1, 2, (1,)), (0, 2, 1, (1, 0)), (1, 2, 3, (0,)),
    ]  # fmt: skip


def test_limits() -> None:
    grammar = of_text("a a a a a a a a a a a a a a a a a a a a ||| x ||| 1\n")
    wide = Lattice(21, tuple(Arc(i, i + 1, "a") for i in range(20) for _ in range(2)))
    assert len(matches(grammar, wide, 19)) == 0
    with pytest.raises(TooLarge, match="at most 1000 phrases and paths"):
        matches(grammar, wide, 20, max_paths=1000)
    with pytest.raises(TooLarge, match="4096 positions, found 4097"):
        matches(grammar, ["b"] * 4096, 7)
    deep = of_text("b ||| " + " ".join(["x"] * 50) + " ||| 1\n")
    assert len(matches(deep, ["b"] * 4095, 4095)) == 4095


def test_limited_grammars() -> None:
    import numpy as np

    grammar = of_text(TEXT).limited(np.array([0, 0, 1, 0], dtype=np.float32), 1)
    assert rows(grammar, "a b".split()) == [(0, 1, "z"), (0, 2, "y"), (1, 2, "w")]
