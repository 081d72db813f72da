"""Lattices as hypergraphs: code shared by their readers and writers.

A lattice is a hypergraph whose edges have one tail. Node 0 is the start and has one edge without tails and features, so
that hypergraph algorithms need no special case; the last node is the end. The words of an arc are the target side of
its rule after a gap: ``X -> [X,1] word``. An empty arc (``*EPS*``, ``<eps>``, ``!NULL``) has the rule ``X -> [X,1]``.
Nodes unreachable from the start are dropped with their arcs; dead ends are kept.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from smtformats.errors import quote
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns
from smtformats.records import dataclass
from smtformats.tokens import BadField

EPSILON = "*EPS*"
EPSILONS = frozenset({EPSILON, "<eps>"})
LABEL = "X"
_GAP = NonTerminal(LABEL, 1)


@dataclass(slots=True)
class Arc:
    """An arc of a lattice, with words (none for an empty arc) and features."""

    tail: int
    head: int
    words: tuple[str, ...] = ()
    features: Mapping[str, float] = field(default_factory=dict)
    span: tuple[int, int] = (-1, -1)


def order_of(arcs: Iterable[Arc], start: int, end: int) -> list[int]:
    """Return the nodes reachable from the start in topological order, the end last."""
    after: defaultdict[int, list[int]] = defaultdict(list)
    for arc in arcs:
        after[arc.tail].append(arc.head)
    entering: defaultdict[int, int] = defaultdict(int)
    seen = {start}
    todo = [start]
    while todo:
        for head in after.get(todo.pop(), ()):
            entering[head] += 1
            if head not in seen:
                seen.add(head)
                todo.append(head)
    if end not in seen:
        raise BadField("a path from the first node to the last", "none")
    ready = [] if entering[start] else [start]
    order: list[int] = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for head in after.get(node, ()):
            entering[head] -= 1
            if not entering[head]:
                heapq.heappush(ready, head)
    if len(order) < len(seen):
        raise BadField("arcs without a cycle", f"one through node {_on_cycle(after, seen.difference(order))}")
    order.remove(end)
    return [*order, end]


def _on_cycle(after: Mapping[int, Sequence[int]], nodes: Collection[int]) -> int:
    """Return a node on a cycle; ``nodes`` are all nodes on or after a cycle."""
    before = {head: node for node in sorted(nodes) for head in after.get(node, ()) if head in nodes}
    node = min(nodes)
    steps: dict[int, int] = {}
    while node not in steps:
        steps[node] = len(steps)
        node = before[node]
    return min(other for other, step in steps.items() if step >= steps[node])


def take_differences(arcs: Iterable[Arc], order: Sequence[int]) -> None:
    """Replace cumulative feature values of arcs by the increment of each arc.

    A node's sums are those of its first incoming arc. An arc whose values are all zero has no scores of its own.
    """
    into: dict[int, Arc] = {}
    reached = set(order)
    kept = [arc for arc in arcs if arc.tail in reached]
    for arc in kept:
        into.setdefault(arc.head, arc)
    sums: dict[int, Mapping[str, float]] = {order[0]: {}}
    for node in order[1:]:
        arc = into[node]
        sums[node] = arc.features if any(arc.features.values()) else sums[arc.tail]
    for arc in kept:
        if any(arc.features.values()):
            before = sums[arc.tail]
            arc.features = {name: value - before.get(name, 0.0) for name, value in arc.features.items()}


def lattice(
    id: str,
    order: Sequence[int],
    arcs: Iterable[Arc],
    *,
    first: tuple[str, ...] = (),
    names: Iterable[str] = (),
    extras: Mapping[str, Any] | None = None,
    file: str = "",
    line: int = 1,
) -> GraphColumns:
    """Build a graph with the nodes of ``order``; ``first`` are words at the start node."""
    place = {node: i for i, node in enumerate(order)}
    rules: dict[Rule, int] = {}
    into: list[list[Edge]] = [[] for _ in order]
    begin = rules.setdefault(Rule(LABEL, (), first), len(rules)) if first else -1
    into[0].append(Edge((), begin))
    for arc in arcs:
        if arc.tail in place:
            rule = rules.setdefault(Rule(LABEL, (), (_GAP, *arc.words)), len(rules))
            into[place[arc.head]].append(Edge((place[arc.tail],), rule, arc.features, arc.span))
    builder = GraphBuilder(names)
    for edges in into:
        builder.add(edges)
    return builder.graph(id, rules, extras=extras, file=file, line=line)


def arcs_of(graph: GraphColumns) -> tuple[int, list[Arc]]:
    """Return the number of nodes on complete paths, and the arcs, sorted by tail, with one word each or none.

    In a graph without features the scores become a feature with an empty name. An edge of several words becomes a
    chain of arcs; the first one has the features.
    """
    if not graph.nodes:
        raise BadField("a lattice", "a sentence without a graph")
    scored = graph.scores is not None and not len(graph.features)
    plain: list[Arc] = []
    starts: list[Arc] = []
    counts = [last - first for first, last in zip(graph.edge_offsets, graph.edge_offsets[1:], strict=False)]
    heads = graph.heads.tolist()
    for edge, head in enumerate(heads):
        tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
        if len(tails) > 1:
            raise BadField("a lattice, of edges with one tail each", f"an edge with {len(tails)}")
        features = {"": float(graph.scores[edge])} if scored and graph.scores is not None else graph.edge_features(edge)
        arc = Arc(tails[0] if tails else -1, head, _words(graph, edge, len(tails)), features)
        (plain if tails else starts).append(arc)
    starts += [Arc(-1, node) for node, count in enumerate(counts) if not count]
    begin = -1
    if len(starts) == 1:
        only = starts[0]
        bare = not only.words and (not any(only.features.values()) if scored else not only.features)
        if bare and counts[only.head] <= 1:
            begin, starts = only.head, []
    return _chain(_on_paths(starts + plain, begin, graph.nodes - 1), begin, graph.nodes - 1)


def _words(graph: GraphColumns, edge: int, tails: int) -> tuple[str, ...]:
    rule = int(graph.rules[edge])
    if rule < 0:
        return ()
    grammar = graph.grammar
    target = grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]].tolist()
    if [symbol for symbol in target if symbol < 0] != [-1] * tails or (tails and target[0] != -1):
        shown = " ".join(grammar.words[symbol] if symbol >= 0 else f"[{-symbol}]" for symbol in target)
        raise BadField("a lattice, whose edges append words to their tail", quote(shown))
    return tuple(grammar.words[symbol] for symbol in target[tails:])


def _on_paths(arcs: list[Arc], begin: int, end: int) -> list[Arc]:
    """Return the arcs on paths from ``begin`` to ``end``; the head of an arc is higher than its tail."""
    reached = {begin}
    ahead = [arc for arc in sorted(arcs, key=lambda arc: arc.tail) if _joins(reached, arc.tail, arc.head)]
    useful = {end}
    back = [arc for arc in sorted(ahead, key=lambda arc: -arc.head) if _joins(useful, arc.head, arc.tail)]
    if begin not in useful:
        raise BadField("a path from the first node to the last", "none")
    return sorted(back, key=lambda arc: arc.head)


def _joins(nodes: set[int], node: int, neighbour: int) -> bool:
    if node in nodes:
        nodes.add(neighbour)
    return node in nodes


def _chain(arcs: list[Arc], begin: int, end: int) -> tuple[int, list[Arc]]:
    """Split arcs into arcs of at most one word, and renumber the nodes."""
    place = {begin: 0}
    count = 1
    chained: list[Arc] = []
    at = 0
    while at < len(arcs):
        head = arcs[at].head
        into = at
        while at < len(arcs) and arcs[at].head == head:
            at += 1
        last: list[Arc] = []
        for arc in arcs[into:at]:
            tail, features = place[arc.tail], arc.features
            for word in arc.words[:-1]:
                chained.append(Arc(tail, count, (word,), features))
                tail, features, count = count, {}, count + 1
            last.append(Arc(tail, -1, arc.words[-1:], features))
        place[head] = count
        chained += [Arc(arc.tail, count, arc.words, arc.features) for arc in last]
        count += 1
    return count, sorted(chained, key=lambda arc: arc.tail)
