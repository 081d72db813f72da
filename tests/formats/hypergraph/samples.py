"""Small graphs as cdec's forests hold them, drawn at random, and what a graph says, for comparing two."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns

WORDS = st.sampled_from(["a", "é", "U2", 'q"', "s\\", "/", "<s>", "[0]", "日本", "\x7f", "\x01"])
LABELS = st.sampled_from(["X", "S", "NP-1", "Ü"])
NAMES = st.sampled_from(["F", "G_1", 'H"', "a/b", "Ä", "a\\u0041"])
VALUES = st.one_of(st.sampled_from([1.0, -0.5, 1e-7, 1.5e300, 12345678.0, 0.602059991328]), st.floats(-1e30, 1e30))
FEATURES = st.dictionaries(NAMES, VALUES.filter(bool), max_size=4)
SHORT_VALUES = st.sampled_from([1.0, -0.25, 0.5, 0.0, 3e10])


@st.composite
def rules(draw: st.DrawFn, arity: int, labels: list[str]) -> Rule:
    """A rule whose gaps have these labels."""
    gaps = [NonTerminal(label, k) for k, label in enumerate(labels, 1)]

    def side(symbols: list[NonTerminal], fewest: int) -> tuple[Symbol, ...]:
        parts: list[Symbol] = list(
            draw(st.lists(WORDS.filter(lambda word: word != "[0]"), min_size=fewest, max_size=3))
        )
        places = sorted(draw(st.lists(st.integers(0, len(parts)), min_size=arity, max_size=arity)), reverse=True)
        for place, gap in zip(places, reversed(symbols), strict=True):
            parts.insert(place, gap)
        return tuple(parts)

    features = draw(st.dictionaries(NAMES, SHORT_VALUES, max_size=2))
    source = side(gaps, 0 if gaps else 1)
    target = side(draw(st.permutations(gaps)), 0)
    return Rule(draw(LABELS), source, target, tuple(features), tuple(features.values()))


@st.composite
def graphs(draw: st.DrawFn) -> GraphColumns:
    """A graph with spans, labels and rules, without any extras."""
    builder = GraphBuilder()
    made: list[Rule] = []
    labels: list[str] = []
    for node in range(draw(st.integers(0, 5))):
        edges = []
        for _ in range(draw(st.integers(0, 3))):
            tails = draw(st.lists(st.integers(0, node - 1), max_size=3)) if node else []
            rule = -1
            fitting = [i for i, candidate in enumerate(made) if candidate.arity == len(tails)]
            if fitting and draw(st.booleans()):
                rule = draw(st.sampled_from(fitting))
            elif draw(st.integers(0, 9)):
                made.append(draw(rules(len(tails), [labels[tail] for tail in tails])))
                rule = len(made) - 1
            span = draw(st.tuples(st.integers(-1, 40), st.integers(-1, 32767)))
            edges.append(Edge(tails, rule, draw(FEATURES), span))
        labels.append(draw(LABELS))
        builder.add(edges, labels[-1])
    return builder.graph("x", made, file="x")


def content(graph: GraphColumns) -> list[Any]:
    """All that a graph says, whatever its numbers of rules, names and labels are; features without zeros."""
    nodes: list[Any] = []
    for node in range(graph.nodes):
        edges = []
        for edge in range(int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1])):
            rule = int(graph.rules[edge])
            edges.append(
                (
                    graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist(),
                    None if rule < 0 else graph.grammar.rule(rule),
                    graph.spans[edge].tolist(),
                    {name: value for name, value in graph.edge_features(edge).items() if value},
                )
            )
        label = int(graph.node_labels[node])
        nodes.append((None if label < 0 else graph.labels[label], edges))
    return nodes
