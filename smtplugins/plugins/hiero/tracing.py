"""The best derivation of a sentence: for people a line for each rule, indented as the tree is; or its steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtplugins.contracts.contracts import Built

if TYPE_CHECKING:
    from smtformats.grammar.rules import Rule
    from smtplugins.core.search.stateful_search import Derivation, Refined
    from smtplugins.host.decode.forests import SentenceForest


def traced(forest: SentenceForest, refined: Refined, found: Derivation | None) -> Iterator[str]:
    """``[first, last) LABEL -> source ||| target`` with the score of the edge and of all below it."""
    if found is None:
        yield "no derivation"
        return
    nodes = _tree(forest, refined, found)
    totals = [one.score for one in nodes]
    for i in range(len(nodes) - 1, 0, -1):
        totals[nodes[i].parent] += totals[i]
    for one, total in zip(nodes, totals, strict=True):
        sides = (" ".join(map(_shown, side)) for side in (one.rule.source, one.rule.target))
        text = f"[{one.first}, {one.last}) {one.rule.lhs} -> {' ||| '.join(sides)}"
        yield f"{'  ' * one.depth}{text}  {one.score:.4f}  {total:.4f}"


def built(forest: SentenceForest, refined: Refined, found: Derivation | None) -> list[Built]:
    """The same in the order in which a chart is filled: narrow spans first, what is below before what is above."""
    from smtplugins.host.decode.built_steps import rule_text

    nodes = _tree(forest, refined, found) if found is not None else []
    order = sorted(range(len(nodes)), key=lambda i: (nodes[i].last - nodes[i].first, nodes[i].first, -nodes[i].depth))
    place = {i: at for at, i in enumerate(order)}
    below: list[list[tuple[int, int]]] = [[] for _ in nodes]
    for i, one in enumerate(nodes):
        if i:
            below[one.parent].append((place[i], one.child))
    steps = []
    for i in order:
        one = nodes[i]
        (beside, child), *rest = below[i] or [(-1, 0)]
        above = bool(below[i])
        steps.append(
            Built(rule_text(one.rule), one.first, one.last, beside, above, child, one.score, tuple(rest)),
        )
    return steps


@dataclass(frozen=True)
class _Node:
    """An edge of a derivation; which child of which other one it is, counted in the order of the source side."""

    rule: Rule
    first: int
    last: int
    score: float
    depth: int
    parent: int
    child: int


def _tree(forest: SentenceForest, refined: Refined, found: Derivation) -> list[_Node]:
    """The edges from the goal down: each is followed by those below it."""
    native = forest.forest.native
    edges = refined.edge_of[found.edges].tolist()
    spans = native.nodes[refined.node_of[_heads(refined, found.edges.tolist())]].tolist()
    nodes: list[_Node] = []
    # What is waited for: a place below, its depth, which child it is.
    places = [(-1, 0, 0)]
    for edge, (_, first, last), score in zip(edges, spans, refined.scores[found.edges].tolist(), strict=True):
        parent, depth, child = places.pop()
        rule = forest.forest.rule(int(native.rules[edge]))
        places += [(len(nodes), depth + 1, i) for i in range(rule.arity - 1, -1, -1)]
        nodes.append(_Node(rule, first, last, score, depth, parent, child))
    return nodes


def _shown(symbol: object) -> str:
    from smtformats.grammar.rules import NonTerminal

    return f"[{symbol.label},{symbol.index}]" if isinstance(symbol, NonTerminal) else str(symbol)


def _heads(refined: Refined, edges: list[int]) -> list[int]:
    import numpy as np

    ends = refined.rule_offsets[refined.node_bundles]
    heads: list[int] = (np.searchsorted(ends, edges, side="right") - 1).tolist()
    return heads
