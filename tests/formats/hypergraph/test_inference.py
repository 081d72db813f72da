"""The dynamic programs that other tests compare with, against the list of all derivations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns

from .inference import Derivation, kbest, log_partition, paths, text_of, viterbi

GAPS = [NonTerminal("X", 1), NonTerminal("X", 2)]
# Rule a*10+k has a gaps, in both orders if two; k makes its words its own.
RULES = [
    Rule("X", ("s", *GAPS[:arity]), (f"w{arity}{k}", *order))
    for arity in range(3)
    for order in itertools.permutations(GAPS[:arity])
    for k in range(2)
]
OF_ARITY = [[i for i, rule in enumerate(RULES) if rule.arity == arity] for arity in range(3)]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[GraphColumns, list[float]]:
    builder = GraphBuilder()
    for node in range(draw(st.integers(1, 5))):
        edges = []
        for _ in range(draw(st.integers(0, 3))):
            tails = draw(st.lists(st.integers(0, node - 1), max_size=2)) if node else []
            edges.append(Edge(tails, draw(st.sampled_from([*OF_ARITY[len(tails)], -1]))))
        builder.add(edges)
    graph = builder.graph("0", RULES)
    return graph, draw(st.lists(st.floats(-5, 5), min_size=len(graph), max_size=len(graph)))


def every(graph: GraphColumns, node: int) -> list[tuple[Derivation, list[str]]]:
    """All derivations from a node with their words, each by recursion."""
    first, last = int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1])
    spans: list[tuple[Derivation, list[str]]] = [] if first < last else [((), [])]
    for edge in range(first, last):
        tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
        for below in itertools.product(*(every(graph, tail) for tail in tails)):
            derivation = (edge, *(step for part, _ in below for step in part))
            parts = [words for _, words in below]
            rule = int(graph.rules[edge])
            target = GAPS[: len(tails)] if rule < 0 else RULES[rule].target
            words = [w for symbol in target for w in ([symbol] if isinstance(symbol, str) else parts[symbol.index - 1])]
            spans.append((derivation, words))
    return spans


@given(graphs())
def test_against_enumeration(case: tuple[GraphColumns, list[float]]) -> None:
    graph, scores = case
    if paths(graph) > 5000:
        return
    all_ways = every(graph, graph.nodes - 1)
    totals = sorted((math.fsum(scores[edge] for edge in derivation) for derivation, _ in all_ways), reverse=True)
    score, edges = viterbi(graph, scores)
    assert score == pytest.approx(totals[0], abs=1e-9)
    assert math.fsum(scores[edge] for edge in edges) == pytest.approx(score, abs=1e-9)
    assert paths(graph) == len(all_ways)
    assert log_partition(graph, scores) == pytest.approx(float(np.logaddexp.reduce(totals)), abs=1e-9)
    words = dict(all_ways)
    assert len(words) == len(all_ways)
    for k in (1, 3, len(all_ways) + 1):
        best = kbest(graph, scores, k)
        assert [item for item, _ in best] == pytest.approx(totals[:k], abs=1e-9)
        assert len({item for _, item in best}) == len(best)
        for total, derivation in best:
            assert total == pytest.approx(math.fsum(scores[edge] for edge in derivation), abs=1e-9)
            assert text_of(graph, derivation) == " ".join(words[derivation])


def test_no_nodes() -> None:
    graph = GraphBuilder().graph("0", [])
    assert viterbi(graph, []) == (-math.inf, ())
    assert log_partition(graph, []) == -math.inf
    assert paths(graph) == 0
    assert kbest(graph, [], 3) == []
    assert text_of(graph, ()) == ""


def test_a_deep_graph() -> None:
    builder = GraphBuilder()
    builder.add([Edge((), OF_ARITY[0][0])])
    for node in range(20000):
        builder.add([Edge((node,), OF_ARITY[1][0]), Edge((node,), OF_ARITY[1][1])])
    graph = builder.graph("0", RULES)
    scores = np.tile([0.0, -1.0], len(graph))[: len(graph)]
    score, edges = viterbi(graph, scores)
    assert score == float(np.delete(scores, 0).reshape(-1, 2).max(axis=1).sum() + scores[0])
    assert len(text_of(graph, edges).split()) == 20001
    assert paths(graph) == 2**20000
