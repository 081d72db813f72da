"""Draw a hypergraph in Graphviz' language."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtplugins.core.graph.hypergraph import Hypergraph


def dot(graph: Hypergraph) -> str:
    """The graph as text: nodes are boxes, each edge a point with arrows from its tails and to its head."""
    return "".join(f"{line}\n" for line in _lines(graph))


def _lines(graph: Hypergraph) -> Iterator[str]:
    yield f"digraph {_quoted(graph.id)} {{"
    yield "  rankdir=BT;"
    yield "  node [shape=box];"
    for node, label in enumerate(graph.node_labels.tolist()):
        name = f"{graph.labels[label]} {node}" if label >= 0 else str(node)
        yield f"  n{node} [label={_quoted(name)}];"
    for edge, head in enumerate(graph.heads.tolist()):
        about = _target(graph, int(graph.rules[edge]))
        if graph.edge_scores is not None:
            about = f"{about} {graph.edge_scores[edge]:.4g}".lstrip()
        yield f"  e{edge} [shape=point, xlabel={_quoted(about)}];"
        for place, tail in enumerate(graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()):
            yield f"  n{tail} -> e{edge} [label={place + 1}, arrowhead=none];"
        yield f"  e{edge} -> n{head};"
    yield "}"


def _target(graph: Hypergraph, rule: int) -> str:
    if rule < 0:
        return ""
    grammar = graph.grammar
    symbols = grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]].tolist()
    return " ".join(graph.words[symbol] if symbol >= 0 else f"[{-symbol}]" for symbol in symbols)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
