"""Graphs without rules that no edge has: everything that can be asked of them is as before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from smtformats.columns import string_table
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder
from smtplugins.core.graph import inference
from smtplugins.core.graph.compacting import compacted
from smtplugins.core.graph.hypergraph import Hypergraph
from tests.core.graphs import random_case


@given(st.integers(0, 1 << 30), st.floats(0, 1))
def test_the_same_answers(seed: int, share: float) -> None:
    graph, _ = random_case(seed)
    if not len(graph):
        assert compacted(graph) == compacted(compacted(graph))
        return
    rng = np.random.default_rng(seed)
    part = graph.restricted(rng.random(len(graph)) < max(share, 0.5)).graph
    made = compacted(part)
    assert compacted(renamed(part, rng.permutation(len(part.names)))) == made
    assert compacted(made) == made
    assert sorted({*made.rules.tolist()} - {-1}) == list(range(len(made.grammar)))
    assert made.nodes == part.nodes and len(made) == len(part)
    for edge in range(len(part)):
        assert made.edge_features(edge) == part.edge_features(edge)
        if part.rules[edge] >= 0:
            assert made.grammar.rule(int(made.rules[edge])) == part.grammar.rule(int(part.rules[edge]))
    if len(part):
        best, two = inference.kbest(made, k=5), inference.kbest(part, k=5)
        assert best.scores.tolist() == two.scores.tolist()
        weights = {name: rng.normal() for name in part.names}
        assert made.scores(weights) == pytest.approx(part.scores(weights))


def renamed(graph: Hypergraph, order: NDArray[Any]) -> Hypergraph:
    """The same graph with its names in another order, as of a decoder that met them in this order."""
    names, numbers = list(graph.names), np.argsort(order)
    return replace(
        graph,
        names=string_table([names[i] for i in order]),
        rule_feature_ids=numbers[graph.rule_feature_ids],
        dense_names=numbers[graph.dense_names],
        features=numbers[graph.features],
    )


def test_rules_words_and_names_that_nobody_needs_are_gone() -> None:
    rules = [
        Rule("X", ("a",), ("b",), (), ()),
        Rule("X", ("c",), ("d",), (), (), ((0, 0),)),
        Rule("X", (NonTerminal("X", 1), "e"), ("c", NonTerminal("X", 1)), (), (), ((1, 0),)),
    ]
    builder = GraphBuilder()
    builder.add([Edge([], 1, {"F": 2.0}, (0, 1))], "X")
    builder.add([Edge([0], 2, {"H": 1.0}, (0, 2))], "X")
    graph = Hypergraph.from_columns(builder.graph("0", rules))
    made = compacted(graph)
    assert [made.grammar.rule(i) for i in range(2)] == [graph.grammar.rule(1), graph.grammar.rule(2)]
    assert list(made.grammar.words) == [word for word in graph.grammar.words if word in ("c", "d", "e")]
    assert [derivation.text for derivation in inference.kbest(made)] == ["c d"]
