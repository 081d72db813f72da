"""Search results as a hypergraph, as steps that build the best bitree, and as a trace for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge as GraphEdge
from smtplugins.plugins.bitree.trees.bitrees import SWAP

if TYPE_CHECKING:
    from smtplugins.contracts.decoders import BuiltStep
    from smtplugins.contracts.tools.graphs import Hypergraph
    from smtplugins.plugins.bitree.transduce.search import BitreeEdge, BitreeItem, SearchResult
    from smtplugins.plugins.bitree.trees.source_trees import SourceTree

COLUMN = "bitree"
_TOP = "TOP"


def _label(tree: SourceTree, item: BitreeItem) -> str:
    node = tree.nodes[item.node]
    label = node.label or "X"
    whole = not node.children or item.interval == (0, len(node.children))
    return label if whole else f"{label}'"


def _span(tree: SourceTree, item: BitreeItem) -> tuple[int, int]:
    node = tree.nodes[item.node]
    if not node.children:
        return node.first, node.last
    first, last = item.interval
    return tree.nodes[node.children[first]].first, tree.nodes[node.children[last - 1]].last


def rule_of(tree: SourceTree, item: BitreeItem, edge: BitreeEdge) -> Rule:
    """An inference as a synchronous rule; NULL becomes an empty target side."""
    label = _label(tree, item)
    if edge.join is None:
        return Rule(label, (tree.words[item.word],), (item.name,) if item.name else ())
    gaps = tuple(NonTerminal(_label(tree, part), place) for place, part in enumerate(edge.parts, 1))
    return Rule(label, gaps, gaps[::-1] if edge.order == SWAP else gaps)


def hypergraph(result: SearchResult, weight: float, id: str = "") -> Hypergraph:
    """The part of the chart below the root as a hypergraph: items are nodes, inferences are edges."""
    from smtplugins.contracts.tools.graphs import HypergraphBuilder

    builder = HypergraphBuilder([COLUMN])
    rules: dict[Rule, int] = {}
    numbers: dict[int, int] = {}

    def graph_edge(rule: Rule, cost: float, tails: list[int], span: tuple[int, int]) -> GraphEdge:
        number = rules.setdefault(rule, len(rules))
        return GraphEdge(tails, number, {COLUMN: -cost}, span, -cost * weight)

    for item in _upwards(result):
        edges = [
            graph_edge(
                rule_of(result.tree, item, edge),
                edge.cost,
                [numbers[id_of(part)] for part in edge.parts],
                _span(result.tree, item),
            )
            for edge in item.edges
        ]
        numbers[id_of(item)] = builder.add(edges, _label(result.tree, item))
    whole = (0, len(result.tree))
    tops = []
    for item, cost in result.roots:
        gap = (NonTerminal(_label(result.tree, item), 1),)
        tops.append(graph_edge(Rule(_TOP, gap, gap), cost, [numbers[id_of(item)]], whole))
    if tops:
        builder.add(tops, _TOP)
    return builder.build(id, rules)


def id_of(item: BitreeItem) -> int:
    """A key of an item, valid while all items are alive."""
    return id(item)


def _upwards(result: SearchResult) -> Iterator[BitreeItem]:
    """Yield the items below the roots, bottom-up."""
    done: set[int] = set()
    todo = [(item, False) for item, _ in reversed(result.roots)]
    while todo:
        item, entered = todo.pop()
        if entered:
            yield item
        elif id_of(item) not in done:
            done.add(id_of(item))
            todo.append((item, True))
            todo += [(part, False) for edge in reversed(item.edges) for part in reversed(edge.parts)]


def built(result: SearchResult, weight: float) -> list[BuiltStep]:
    """The inferences of the best bitree as steps, bottom-up; the root's own cost is in the last step."""
    from smtplugins.contracts.decoders import BuiltStep
    from smtplugins.contracts.tools.decoding import rule_text

    steps: list[BuiltStep] = []
    numbers: dict[int, int] = {}
    chain = list(result.derivation())
    for place, (item, edge) in enumerate(chain, 1):
        below = [numbers[id_of(part)] for part in edge.parts]
        cost = edge.cost + (result.roots[0][1] if place == len(chain) else 0.0)
        first, last = _span(result.tree, item)
        further = tuple((step, child) for child, step in enumerate(below[1:], 1))
        rule = rule_text(rule_of(result.tree, item, edge))
        numbers[id_of(item)] = len(steps)
        steps.append(BuiltStep(rule, first, last, below[0] if below else -1, bool(below), 0, -cost * weight, further))
    return steps


def traced(result: SearchResult) -> Iterator[str]:
    """Yield ``[first, last) rule  cost`` for each inference of the best bitree, then the total cost."""
    from smtplugins.contracts.tools.decoding import rule_text

    if not result.roots:
        yield "no words"
        return
    for item, edge in result.derivation():
        first, last = _span(result.tree, item)
        yield f"[{first}, {last}) {rule_text(rule_of(result.tree, item, edge))}  {edge.cost:.4f}"
    yield f"all  {result.cost:.4f}"
