"""Hierarchical decoding: CKY parsing of a sentence, then cube pruning. The README explains it step by step.

D. Chiang, "Hierarchical Phrase-Based Translation" (2007); L. Huang and D. Chiang, "Forest Rescoring" (2007).
"""

from __future__ import annotations

import heapq
import math
from bisect import insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.contracts.tools.grammars import TOP, own_label

Node = tuple[int, int, str]  # a label over the span [first, last)
Chart = Mapping[Node, list[tuple[list["Applied"], tuple[Node, ...]]]]  # for each node: rules, and nodes for their gaps


@dataclass(eq=False)
class Applied:
    """A rule with its span limit (``from_start``: only spans that begin the sentence), features and score."""

    rule: Rule
    owner: str
    limit: float = math.inf
    from_start: bool = False
    number: int = -1
    features: Mapping[str, float] = field(default_factory=dict)
    score: float = 0.0
    guess: float = 0.0  # estimate of the stateful features
    edges: Any = None  # the target side in the form that they take


@dataclass(eq=False)
class ChartEdge:
    """A rule with an item for each gap; ``values`` are those of stateful features, ``total`` includes the subtree."""

    applied: Applied
    tails: Sequence[ChartItem]
    values: list[float]
    score: float
    total: float


@dataclass(eq=False)
class ChartItem:
    """Translations of a node with equal states (recombination); the best edge is first."""

    node: Node
    states: tuple[Any, ...]
    edges: list[ChartEdge]


def parse(words: Sequence[str], rules: Sequence[Applied]) -> Chart:
    """Parse a sentence bottom-up, shorter spans first."""
    trie: dict[Any, Any] = {}
    for applied in rules:
        at = trie
        for symbol in applied.rule.source:
            at = at.setdefault((own_label(symbol.label),) if isinstance(symbol, NonTerminal) else symbol, {})
        at.setdefault(None, defaultdict(list))[own_label(applied.rule.lhs)].append(applied)
    chart = defaultdict(list)
    dots: dict[Any, list[Any]] = {(i, i): [(trie, ())] for i in range(len(words))}  # dotted rules with their nodes
    for first, last in sorted(combinations(range(len(words) + 1), 2), key=lambda span: span[1] - span[0]):
        begun = [(at[words[last - 1]], tails) for at, tails in dots[first, last - 1] if words[last - 1] in at]
        for middle in range(first + 1, last):
            for at, tails in dots[first, middle]:
                nodes = [(middle, last, symbol[0]) for symbol in at if isinstance(symbol, tuple)]
                begun += [(at[node[2:]], (*tails, node)) for node in nodes if node in chart]
        for at, tails in begun:  # grows while it is iterated: rules can begin with a node of this span
            for label, group in at.get(None, {}).items():
                node = (first, last, label)
                fitting = [rule for rule in group if last - first <= rule.limit and not (rule.from_start and first)]
                if fitting and node not in chart and (label,) in trie:
                    begun.append((trie[label,], (node,)))
                if fitting:
                    chart[node].append((fitting, tails))
        dots[first, last] = begun
    return chart


class ChartSearch:
    """Cube pruning in a chart; ``weights`` are those of all components of the scorers, in order."""

    def __init__(self, chart: Chart, scorers: Sequence[Any], weights: Sequence[float], pop_limit: float) -> None:
        self.chart, self.scorers, self.weights, self.pop_limit = chart, scorers, weights, pop_limit
        self.known: dict[Node, list[ChartItem]] = {}
        self.steps: list[tuple[Node, ChartEdge, tuple[Any, ...]]] = []

    def goal(self, node: Node) -> ChartItem | None:
        """Return the goal item above a node, with the scorers' sentence-end scores; None without a derivation."""
        top = Applied(Rule(TOP, (gap := NonTerminal(node[2], 1),), (gap,)), "goal")
        edges = []
        for item in self.items(node):
            ends = [scorer.finish([state]) for scorer, state in zip(self.scorers, item.states, strict=True)]
            edges.append(self.edge(top, [item], ends))
        return ChartItem((*node[:2], TOP), (), sorted(edges, key=lambda edge: -edge.total)) if edges else None

    def items(self, node: Node) -> list[ChartItem]:
        """Return the items of a node, best first."""
        if node in self.known:
            return self.known[node]
        self.known[node] = []  # ends cycles of unary rules
        # A cube has a dimension for the rules of a source side, and one for the items of each gap; all are best first.
        cubes: list[list[list[Any]]] = [
            [sorted(rules, key=lambda rule: -rule.score - rule.guess), *map(self.items, tails)]
            for rules, tails in self.chart.get(node, ())
        ]
        heap: list[Any] = []
        seen: set[tuple[int, ...]] = set()

        def look(place: tuple[int, ...]) -> None:
            """Score the edge at a place: the number of a cube, and a coordinate in each of its dimensions."""
            sides = cubes[place[0]]
            if place not in seen and all(k < len(side) for k, side in zip(place[1:], sides, strict=True)):
                seen.add(place)
                applied, *tails = (side[k] for k, side in zip(place[1:], sides, strict=True))
                inner = [tails[gap.index - 1].states for gap in applied.rule.target if isinstance(gap, NonTerminal)]
                results = [s.combine(applied.edges, [[own[i] for own in inner]]) for i, s in enumerate(self.scorers)]
                edge = self.edge(applied, tails, [scores for scores, _ in results])
                heapq.heappush(heap, (-edge.total, place, edge, tuple(states[0] for _, states in results)))

        for number, sides in enumerate(cubes):
            look((number, *(0 for _ in sides)))
        merged: dict[tuple[Any, ...], ChartItem] = {}
        pops = 0
        while heap and (pops := pops + 1) <= self.pop_limit:
            _, place, edge, states = heapq.heappop(heap)
            self.steps.append((node, edge, states))
            insort(merged.setdefault(states, ChartItem(node, states, [])).edges, edge, key=lambda other: -other.total)
            for k in range(1, len(place)):
                look((*place[:k], place[k] + 1, *place[k + 1 :]))
        self.known[node] = sorted(merged.values(), key=lambda item: -item.edges[0].total)
        return self.known[node]

    def edge(self, applied: Applied, tails: Sequence[ChartItem], scores: Sequence[Any]) -> ChartEdge:
        """Make an edge from its scores by each scorer."""
        values = [value for score in scores for value in np.ravel(score).tolist()]
        score = applied.score + sum(weight * value for weight, value in zip(self.weights, values, strict=True))
        return ChartEdge(applied, tails, values, score, score + sum(tail.edges[0].total for tail in tails))
