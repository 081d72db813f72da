"""What readers and writers of lattices share: orders of nodes, starts and ends, differences, chains of arcs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns, check_limits
from smtformats.hypergraph.lattices import (
    Arc,
    arcs_of,
    lattice,
    order_of,
    take_differences,
)
from smtformats.hypergraph.shared.sentence import checksum
from smtformats.tokens import BadField

from .inference import kbest, paths, text_of

GAP = NonTerminal("X", 1)
DIAMOND = [Arc(0, 2, ("a",), {"f": 1}), Arc(0, 1, ("b",)), Arc(2, 3), Arc(1, 3, ("c",), {"g": 2, "f": 3})]


def shown(graph: GraphColumns) -> list[tuple[int, int, tuple[str, ...], dict[str, float]]]:
    return [(arc.tail, arc.head, arc.words, dict(arc.features)) for arc in arcs_of(graph)[1]]


def texts(graph: GraphColumns) -> list[str]:
    return sorted(text_of(graph, edges) for _, edges in kbest(graph, np.zeros(len(graph)), 100))


def test_a_lattice_is_a_graph_with_one_edge_more() -> None:
    graph = lattice("7", [0, 1, 2, 3], DIAMOND, file="x", line=3)
    assert (graph.id, graph.nodes, len(graph), graph.file, graph.line) == ("7", 4, 5, "x", 3)
    assert graph.tails.tolist() == [0, 0, 2, 1]
    assert graph.heads.tolist() == [0, 1, 2, 3, 3]
    assert [graph.edge_features(i) for i in range(5)] == [{}, {}, {"f": 1}, {}, {"g": 2, "f": 3}]
    assert graph.rules[0] == -1
    assert paths(graph) == 2
    assert texts(graph) == ["a", "b c"]
    nodes, arcs = arcs_of(graph)
    assert (nodes, [(arc.tail, arc.head) for arc in arcs]) == (4, [(0, 1), (0, 2), (1, 3), (2, 3)])


def test_words_at_the_start() -> None:
    graph = lattice("0", [4, 9], [Arc(4, 9, ("b", "c"), {"f": 1})], first=("a",))
    assert texts(graph) == ["a b c"]
    assert shown(graph) == [(0, 1, ("a",), {}), (1, 2, ("b",), {"f": 1}), (2, 3, ("c",), {})]


def test_order() -> None:
    arcs = [Arc(5, 2), Arc(5, 9), Arc(9, 2), Arc(2, 7), Arc(2, 1), Arc(3, 7)]
    assert order_of(arcs, 5, 7) == [5, 9, 2, 1, 7]
    assert lattice("0", order_of(arcs, 5, 7), arcs).nodes == 5
    assert order_of([], 0, 0) == [0]


@pytest.mark.parametrize(
    ("arcs", "actual"),
    [
        ([(0, 1), (1, 2), (2, 1), (2, 3)], "one through node 1"),
        ([(0, 1), (1, 0), (1, 3)], "one through node 0"),
        ([(0, 3), (0, 1), (1, 2), (2, 5), (5, 1)], "one through node 1"),
        ([(0, 3), (3, 4), (4, 4)], "one through node 4"),
    ],
)
def test_cycles(arcs: list[tuple[int, int]], actual: str) -> None:
    with pytest.raises(BadField) as caught:
        order_of([Arc(*arc) for arc in arcs], 0, 3)
    assert (caught.value.expected, caught.value.found) == ("arcs without a cycle", actual)


def test_no_path() -> None:
    with pytest.raises(BadField) as caught:
        order_of([Arc(0, 1), Arc(2, 3)], 0, 3)
    assert caught.value.expected == "a path from the first node to the last"


def test_limits() -> None:
    check_limits(3, 5, 3, 5)
    for nodes, arcs, name, most in ((4, 5, "nodes", 3), (3, 6, "edges", 5)):
        with pytest.raises(BadField) as caught:
            check_limits(nodes, arcs, 3, 5)
        assert caught.value.expected == f"at most {most} {name} (the option max_{name} sets the limit)"


def test_differences() -> None:
    arcs = [
        Arc(0, 1, ("a",), {"f": 1.0}),
        Arc(1, 2, ("b",), {"f": 0.0}),
        Arc(2, 3, ("c",), {"f": 4.0}),
        Arc(0, 3, ("d",), {"f": 7.0, "g": 1.0}),
        Arc(3, 4),
        Arc(3, 5, ("e",), {"f": 5.0}),
        Arc(9, 3, ("x",), {"f": 5.0}),
    ]
    take_differences(arcs, order_of(arcs, 0, 4))
    assert [dict(arc.features) for arc in arcs] == [
        {"f": 1},
        {"f": 0},
        {"f": 3},
        {"f": 7, "g": 1},
        {},
        {"f": 1},
        {"f": 5},
    ]


def test_a_checksum_tells_changes() -> None:
    graph = lattice("0", [0, 1, 2, 3], DIAMOND)
    assert checksum(graph) == checksum(replace(graph, id="1", extras={"a": 1}))
    values = graph.values.copy()
    values[0] += 1e-12
    arcs = [replace(arc) for arc in DIAMOND]
    changed = [replace(graph, values=values), replace(graph, scores=values), lattice("0", [0, 2, 1, 3], DIAMOND)]
    for i, words in ((0, ("z",)), (2, ("a",)), (1, ())):
        changed.append(lattice("0", [0, 1, 2, 3], [*arcs[:i], replace(arcs[i], words=words), *arcs[i + 1 :]]))
    changed.append(lattice("0", [0, 1, 2, 3], [replace(arcs[0], features={"h": 1}), *arcs[1:]]))
    assert len({checksum(graph), *map(checksum, changed)}) == 1 + len(changed)


def built(nodes: list[list[Edge]], rules: list[Rule]) -> GraphColumns:
    builder = GraphBuilder()
    for edges in nodes:
        builder.add(edges)
    return builder.graph("0", rules)


RULES = [Rule("X", (), ("a",)), Rule("X", (), (GAP, "b", "c")), Rule("X", ("s",), (GAP,)), Rule("X", (), ("d", GAP))]


def test_graphs_of_other_formats() -> None:
    # Two starts with words, a node without edges, an edge without a rule, a dead end.
    graph = built(
        [
            [Edge((), 0, {"f": 1})],
            [],
            [Edge((), 0)],
            [Edge((0,), 1, {"f": 2}), Edge((1,))],
            [Edge((2,)), Edge((3,), 2)],
        ],
        RULES,
    )
    assert sorted(shown(graph)) == [
        (0, 1, ("a",), {"f": 1}),
        (0, 2, (), {}),
        (0, 3, ("a",), {}),
        (1, 4, ("b",), {"f": 2}),
        (2, 5, (), {}),
        (3, 6, (), {}),
        (4, 5, ("c",), {}),
        (5, 6, (), {}),
    ]
    dead = built([[Edge(())], [Edge((0,), 1)], [Edge((0,), 1)]], RULES)
    assert shown(dead) == [(0, 1, ("b",), {}), (1, 2, ("c",), {})]


def test_scores_stand_for_features() -> None:
    graph = built([[Edge((), score=0.0)], [Edge((0,), 2, score=-2.5)]], RULES)
    assert shown(graph) == [(0, 1, (), {"": -2.5})]
    graph = built([[Edge((), score=0.5)], [Edge((0,), 2, score=-2.5)]], RULES)
    assert shown(graph) == [(0, 1, (), {"": 0.5}), (1, 2, (), {"": -2.5})]


@pytest.mark.parametrize(
    ("graph", "expected", "actual"),
    [
        (built([], []), "a lattice", "a sentence without a graph"),
        (built([[], [], [Edge((0, 1))]], []), "a lattice, of edges with one tail each", "an edge with 2"),
        (built([[], [Edge((0,), 3)]], RULES), "a lattice, whose edges append words to their tail", "'d [1]'"),
        (built([[], [Edge((0,), 0)]], RULES), "a lattice, whose edges append words to their tail", "'a'"),
    ],
)
def test_no_lattices(graph: GraphColumns, expected: str, actual: str) -> None:
    with pytest.raises(BadField) as caught:
        arcs_of(graph)
    assert (caught.value.expected, caught.value.found) == (expected, actual)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_orders_are_topological(pairs: list[tuple[int, int]]) -> None:
    arcs = [Arc(a, b) for a, b in pairs if a < b]
    try:
        order = order_of(arcs, 0, 6)
    except BadField:
        return
    place = {node: i for i, node in enumerate(order)}
    assert (order[0], order[-1]) == (0, 6)
    assert all(place[arc.tail] < place[arc.head] for arc in arcs if arc.tail in place)
    graph = lattice("0", order, [replace(arc, words=(f"{arc.tail}-{arc.head}",)) for arc in arcs])
    count, kept = arcs_of(graph)
    again = lattice("0", order_of(kept, 0, count - 1), kept)
    assert texts(again) == texts(graph)
    assert paths(again) == paths(graph)
