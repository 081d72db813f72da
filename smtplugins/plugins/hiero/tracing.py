"""The best derivation of a sentence, as an indented tree with a line for each rule, or as building steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtformats.grammar.rules import NonTerminal
from smtformats.records import dataclass
from smtplugins.contracts.decoders import BuiltStep
from smtplugins.contracts.tools.decoding import rule_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.grammar.rules import Rule
    from smtplugins.contracts.tools.decoding import SentenceForest
    from smtplugins.contracts.tools.graphs import Derivation
    from smtplugins.contracts.tools.search import BestDerivation, Refined


@dataclass(frozen=True)
class DerivationEdges:
    """The edges of a derivation in preorder: rules of the forest, rows of label, first and last word, scores."""

    rules: NDArray[Any]
    spans: NDArray[Any]
    scores: NDArray[Any]


def searched_edges(
    forest: SentenceForest, refined: Refined, derivation: BestDerivation | None
) -> DerivationEdges | None:
    """The edges of a derivation that a search found."""
    if derivation is None:
        return None
    native = forest.forest.native
    spans = native.nodes[refined.node_of[_heads(refined, derivation.edges.tolist())]][:, 1:]
    return DerivationEdges(native.rules[refined.edge_of[derivation.edges]], spans, refined.scores[derivation.edges])


def graph_edges(derivation: Derivation) -> DerivationEdges:
    """The edges of a derivation of a graph whose rules are the forest's."""
    graph, edges = derivation.graph, derivation.edges
    return DerivationEdges(graph.rules[edges], graph.spans[edges], graph.scores_or(None)[edges])


def traced(forest: SentenceForest, edges: DerivationEdges | None) -> Iterator[str]:
    """Yield lines ``[first, last) LABEL -> source ||| target`` with the scores of the edge and of its subtree."""
    if edges is None:
        yield "no derivation"
        return
    nodes = _tree(forest, edges)
    totals = [node.score for node in nodes]
    for i in range(len(nodes) - 1, 0, -1):
        totals[nodes[i].parent] += totals[i]
    for node, total in zip(nodes, totals, strict=True):
        sides = (" ".join(map(_symbol_text, side)) for side in (node.rule.source, node.rule.target))
        text = f"[{node.first}, {node.last}) {node.rule.lhs} -> {' ||| '.join(sides)}"
        yield f"{'  ' * node.depth}{text}  {node.score:.4f}  {total:.4f}"


def built(forest: SentenceForest, edges: DerivationEdges | None) -> list[BuiltStep]:
    """Return the steps in the order of chart parsing: shorter spans first, children before parents."""
    nodes = _tree(forest, edges) if edges is not None else []
    order = sorted(range(len(nodes)), key=lambda i: (nodes[i].last - nodes[i].first, nodes[i].first, -nodes[i].depth))
    place = {i: at for at, i in enumerate(order)}
    below: list[list[tuple[int, int]]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        if i:
            below[node.parent].append((place[i], node.child))
    steps = []
    for i in order:
        node = nodes[i]
        (beside, child), *rest = below[i] or [(-1, 0)]
        above = bool(below[i])
        steps.append(
            BuiltStep(rule_text(node.rule), node.first, node.last, beside, above, child, node.score, tuple(rest)),
        )
    return steps


@dataclass(frozen=True)
class _Node:
    """An edge of a derivation: its parent, and its child number in source order."""

    rule: Rule
    first: int
    last: int
    score: float
    depth: int
    parent: int
    child: int


def _tree(forest: SentenceForest, edges: DerivationEdges) -> list[_Node]:
    """Return the edges of a derivation in preorder; one without a span gets that from its first word to its last."""
    nodes: list[_Node] = []
    # Open places: parent, depth, child number.
    places = [(-1, 0, 0)]
    for number, (first, last), score in zip(
        edges.rules.tolist(), edges.spans.tolist(), edges.scores.tolist(), strict=True
    ):
        parent, depth, child = places.pop()
        rule = forest.forest.rule(number)
        places += [(len(nodes), depth + 1, i) for i in range(rule.arity - 1, -1, -1)]
        nodes.append(_Node(rule, first, last, score, depth, parent, child))
    for i in range(len(nodes) - 1, 0, -1):
        node, above = nodes[i], nodes[nodes[i].parent]
        if edges.spans[node.parent][0] < 0:
            first = node.first if above.first < 0 else min(above.first, node.first)
            nodes[node.parent] = replace(above, first=first, last=max(above.last, node.last))
    return nodes


def _symbol_text(symbol: object) -> str:
    return f"[{symbol.label},{symbol.index}]" if isinstance(symbol, NonTerminal) else str(symbol)


def _heads(refined: Refined, edges: list[int]) -> list[int]:
    import numpy as np

    ends = refined.rule_offsets[refined.node_bundles]
    heads: list[int] = (np.searchsorted(ends, edges, side="right") - 1).tolist()
    return heads
