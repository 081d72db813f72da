"""Which source words edges translate: in native searches, told to scorers in Python; in graphs of phrases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder
from smtplugins.core.grammar.rules import Edges
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.search.phrase_spans import NoPhrases, phrase_spans
from smtplugins.core.search.stateful_search import Stateful, contract_scorer, forest_of, refine
from smtplugins.core.vocabulary import Vocabulary

GAP = NonTerminal("X", 1)


def graph(*steps: tuple[list[tuple[tuple[int, ...], tuple[int, int], str]]], gap_first: bool = True) -> Hypergraph:
    """Node 0 is the start; each step is the edges of a node: tails, span, words."""
    builder, rules = GraphBuilder(), []
    builder.add([])
    for edges in steps:
        made = []
        for tails, span, words in edges:
            gaps = tuple(NonTerminal("X", k + 1) for k in range(len(tails)))
            target = (*gaps, *words.split()) if gap_first else (*words.split(), *gaps)
            rules.append(Rule("X", gaps, target))
            made.append(Edge(tails, len(rules) - 1, span=span, score=0.0))
        builder.add(made)
    return Hypergraph.from_columns(builder.graph("0", rules))


def two() -> Hypergraph:
    """Two words and one, in both orders, and a goal."""
    return graph(
        [((0,), (2, 3), "c")],
        [((0,), (0, 2), "a b")],
        [((1,), (0, 2), "a b"), ((2,), (2, 3), "c")],
        [((3,), (-1, -1), "")],
    )


class Places:
    """Remembers where each edge was said to be, and sums distances from the end before."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def combine(self, edges: Edges, tails: Sequence[Sequence[int]]) -> tuple[Any, list[int]]:
        assert edges.firsts is not None and edges.lasts is not None
        assert edges.firsts.dtype == edges.lasts.dtype == np.int32
        scores, states = [], []
        for first, last, below in zip(edges.firsts.tolist(), edges.lasts.tolist(), tails, strict=True):
            self.seen.append((first, last))
            before = below[0] if below else 0
            scores.append(0.0 if first == last else -abs(first - before))
            states.append(before if first == last else last)
        return scores, states

    def finish(self, states: Sequence[int]) -> Any:
        return [0.0] * len(states)

    def estimate(self, edges: Edges) -> Any:
        assert edges.firsts is not None
        return [0.0] * len(edges)


def test_scorers_in_python_see_the_phrases_of_a_graph() -> None:
    own, given = Places(), two()
    scorer = contract_scorer(own, Vocabulary(given.grammar.words[:]))
    made = refine(given.with_scores(np.zeros(len(given))), [Stateful(scorer, ("d",), (1.0,))], exact=True, phrases=True)
    # A start for node 0, phrases with their places, and nothing above the last phrase.
    assert set(own.seen) == {(0, 0), (2, 3), (0, 2)}
    by_edge = dict(zip(made.edges.tolist(), made.graph.dense[:, -1].tolist(), strict=True))
    assert by_edge == {-1: 0.0, 0: -2.0, 1: 0.0, 2: -3.0, 3: 0.0, 4: 0.0}


def test_without_phrases_nothing_is_said_of_places() -> None:
    class Blind(Places):
        def combine(self, edges: Edges, tails: Sequence[Sequence[int]]) -> tuple[Any, list[int]]:
            assert edges.firsts is None and edges.lasts is None
            return [0.0] * len(edges), [0] * len(edges)

        def estimate(self, edges: Edges) -> Any:
            return [0.0] * len(edges)

    given = two()
    scorer = contract_scorer(Blind(), Vocabulary(given.grammar.words[:]))
    refine(given.with_scores(np.zeros(len(given))), [Stateful(scorer, ("d",), (1.0,))], exact=True)


def test_spans_of_phrases() -> None:
    firsts, lasts = phrase_spans(two())
    assert firsts.tolist() == [2, 0, 0, 2, 0]
    assert lasts.tolist() == [3, 2, 2, 3, 0]


@pytest.mark.parametrize(
    ("edge", "gap_first", "message"),
    [
        (((0, 1), (0, 2), "b"), True, "at most one tail"),
        (((1,), (-1, -1), "b"), True, "does not say which source words"),
        (((1,), (0, 2), "b"), True, "found those of its tail"),
        (((1,), (1, 2), "b"), False, "found words before it"),
    ],
)
def test_graphs_that_do_not_know(edge: Any, gap_first: bool, message: str) -> None:
    made = graph([((0,), (0, 1), "a")], [edge], gap_first=gap_first)
    with pytest.raises(NoPhrases, match=message):
        phrase_spans(made)
    with pytest.raises(NoPhrases, match=message):
        forest_of(made, np.zeros(len(made)), phrases=True)


def test_spans_of_rules_are_checked() -> None:
    from tests.core.forests import Made

    made = Made([[((), [0])]], [(1,)], [0.0])
    zero = np.zeros(1, dtype=np.int32)
    made.native(rule_firsts=zero, rule_lasts=zero)
    with pytest.raises(ValueError, match="belong together"):
        made.native(rule_firsts=zero)
    with pytest.raises(ValueError, match="as many as the rules"):
        made.native(rule_firsts=np.zeros(2, dtype=np.int32), rule_lasts=zero)
