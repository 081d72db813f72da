"""The best derivation of a sentence for people to read: a line for each rule, indented as the tree is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smtplugins.core.search import Derivation, Refined
    from smtplugins.host.forests import SentenceForest


def traced(forest: SentenceForest, refined: Refined, found: Derivation | None) -> Iterator[str]:
    """``[first, last) LABEL -> source ||| target`` with the score of the edge and of all below it."""
    from smtformats.grammar.rules import NonTerminal

    if found is None:
        yield "no derivation"
        return
    native = forest.forest.native
    edges = refined.edge_of[found.edges].tolist()
    rules = [forest.forest.rule(int(native.rules[edge])) for edge in edges]
    own = refined.scores[found.edges].tolist()
    nodes = _heads(refined, found.edges.tolist())
    # Each edge is followed by those below it.
    depths, stack = [], [1]
    for rule in rules:
        while stack[-1] == 0:
            stack.pop()
        stack[-1] -= 1
        depths.append(len(stack) - 1)
        stack.append(sum(isinstance(one, NonTerminal) for one in rule.source))
    totals = list(own)
    for i in range(len(rules) - 1, -1, -1):
        j = i + 1
        while j < len(rules) and depths[j] > depths[i]:
            if depths[j] == depths[i] + 1:
                totals[i] += totals[j]
            j += 1
    for rule, node, depth, score, total in zip(rules, nodes, depths, own, totals, strict=True):
        _, first, last = native.nodes[refined.node_of[node]].tolist()
        sides = (" ".join(map(_shown, side)) for side in (rule.source, rule.target))
        yield f"{'  ' * depth}[{first}, {last}) {rule.lhs} -> {' ||| '.join(sides)}  {score:.4f}  {total:.4f}"


def _shown(symbol: object) -> str:
    from smtformats.grammar.rules import NonTerminal

    return f"[{symbol.label},{symbol.index}]" if isinstance(symbol, NonTerminal) else str(symbol)


def _heads(refined: Refined, edges: list[int]) -> list[int]:
    import numpy as np

    ends = refined.rule_offsets[refined.node_bundles]
    heads: list[int] = (np.searchsorted(ends, edges, side="right") - 1).tolist()
    return heads
