"""Hierarchical decoding: a CKY chart over a sentence, and cube pruning in it. The README goes through it step by step.

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
from smtplugins.core.grammar.parsed_forest import TOP
from smtplugins.core.grammar.tables import own_label

Node = tuple[int, int, str]  # a label over the words from the first position to before the second
Chart = Mapping[Node, list[tuple[list["Applied"], tuple[Node, ...]]]]  # for each node rules, and nodes for their gaps


@dataclass(eq=False)
class Applied:
    """A rule, the spans it applies to (``from_start``: only those that begin the sentence), and what it is worth."""

    rule: Rule
    owner: str
    limit: float = math.inf
    from_start: bool = False
    number: int = -1
    features: Mapping[str, float] = field(default_factory=dict)
    score: float = 0.0
    guess: float = 0.0  # what stateful features may add
    edges: Any = None  # the target side as they see it


@dataclass(eq=False)
class Edge:
    """A rule over an item for each gap; ``values`` are those of stateful features, ``total`` has all below it."""

    applied: Applied
    tails: Sequence[Item]
    values: list[float]
    score: float
    total: float


@dataclass(eq=False)
class Item:
    """Translations of a node with equal states, so that whatever follows treats them alike; the best edge is first."""

    node: Node
    states: tuple[Any, ...]
    edges: list[Edge]


def parse(words: Sequence[str], rules: Sequence[Applied]) -> Chart:
    """The chart of a sentence: shorter spans come before longer ones."""
    trie: dict[Any, Any] = {}
    for one in rules:
        at = trie
        for symbol in one.rule.source:
            at = at.setdefault((own_label(symbol.label),) if isinstance(symbol, NonTerminal) else symbol, {})
        at.setdefault(None, defaultdict(list))[own_label(one.rule.lhs)].append(one)
    chart = defaultdict(list)
    dots: dict[Any, list[Any]] = {(i, i): [(trie, ())] for i in range(len(words))}  # rules begun, and nodes so far
    for first, last in sorted(combinations(range(len(words) + 1), 2), key=lambda span: span[1] - span[0]):
        begun = [(at[words[last - 1]], tails) for at, tails in dots[first, last - 1] if words[last - 1] in at]
        for middle in range(first + 1, last):
            for at, tails in dots[first, middle]:
                nodes = [(middle, last, symbol[0]) for symbol in at if isinstance(symbol, tuple)]
                begun += [(at[node[2:]], (*tails, node)) for node in nodes if node in chart]
        for at, tails in begun:  # it grows meanwhile: rules can begin with a node of this very span
            for label, group in at.get(None, {}).items():
                node = (first, last, label)
                fitting = [one for one in group if last - first <= one.limit and not (one.from_start and first)]
                if fitting and node not in chart and (label,) in trie:
                    begun.append((trie[label,], (node,)))
                if fitting:
                    chart[node].append((fitting, tails))
        dots[first, last] = begun
    return chart


class Search:
    """Cube pruning in a chart. ``weights`` are those of all components of the scorers, in their order."""

    def __init__(self, chart: Chart, scorers: Sequence[Any], weights: Sequence[float], pop_limit: float) -> None:
        self.chart, self.scorers, self.weights, self.pop_limit = chart, scorers, weights, pop_limit
        self.known: dict[Node, list[Item]] = {}
        self.steps: list[tuple[Node, Edge, tuple[Any, ...]]] = []

    def goal(self, node: Node) -> Item | None:
        """The goal above a node, where scorers add what only the whole sentence shows."""
        top = Applied(Rule(TOP, (gap := NonTerminal(node[2], 1),), (gap,)), "goal")
        edges = []
        for one in self.items(node):
            ends = [scorer.finish([state]) for scorer, state in zip(self.scorers, one.states, strict=True)]
            edges.append(self.edge(top, [one], ends))
        return Item((*node[:2], TOP), (), sorted(edges, key=lambda edge: -edge.total)) if edges else None

    def items(self, node: Node) -> list[Item]:
        """The items of a node, the best first."""
        if node in self.known:
            return self.known[node]
        self.known[node] = []  # what a circle of unary rules finds that comes back here
        # A cube has a side for the rules of one source side, and one for the items of each gap; all are best first.
        cubes: list[list[list[Any]]] = [
            [sorted(rules, key=lambda one: -one.score - one.guess), *map(self.items, tails)]
            for rules, tails in self.chart.get(node, ())
        ]
        heap: list[Any] = []
        seen: set[tuple[int, ...]] = set()

        def look(place: tuple[int, ...]) -> None:
            """Score the edge at a place: the number of a cube, and one on each of its sides."""
            sides = cubes[place[0]]
            if place not in seen and all(k < len(side) for k, side in zip(place[1:], sides, strict=True)):
                seen.add(place)
                applied, *tails = (side[k] for k, side in zip(place[1:], sides, strict=True))
                inner = [tails[one.index - 1].states for one in applied.rule.target if isinstance(one, NonTerminal)]
                told = [s.combine(applied.edges, [[one[i] for one in inner]]) for i, s in enumerate(self.scorers)]
                edge = self.edge(applied, tails, [scores for scores, _ in told])
                heapq.heappush(heap, (-edge.total, place, edge, tuple(states[0] for _, states in told)))

        for number, sides in enumerate(cubes):
            look((number, *(0 for _ in sides)))
        found: dict[tuple[Any, ...], Item] = {}
        pops = 0
        while heap and (pops := pops + 1) <= self.pop_limit:
            _, place, edge, states = heapq.heappop(heap)
            self.steps.append((node, edge, states))
            insort(found.setdefault(states, Item(node, states, [])).edges, edge, key=lambda one: -one.total)
            for k in range(1, len(place)):
                look((*place[:k], place[k] + 1, *place[k + 1 :]))
        self.known[node] = sorted(found.values(), key=lambda item: -item.edges[0].total)
        return self.known[node]

    def edge(self, applied: Applied, tails: Sequence[Item], scores: Sequence[Any]) -> Edge:
        """An edge, from what each scorer says of it."""
        values = [value for one in scores for value in np.ravel(one).tolist()]
        score = applied.score + sum(weight * value for weight, value in zip(self.weights, values, strict=True))
        return Edge(applied, tails, values, score, score + sum(tail.edges[0].total for tail in tails))
