r"""Plain dynamic programs over hypergraphs: what tests compare scores, path counts and texts with.

A derivation is the tuple of its edges from the goal down, each edge before those of its tails, tails in their order.
A node without edges into it is a start: it counts one path of score 0 without words. A graph without nodes has none.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from smtformats.hypergraph.graph import GraphColumns

    Floats = NDArray[np.float64]

Derivation = tuple[int, ...]


def _sums(graph: GraphColumns, edge_scores: ArrayLike, nodes: Floats) -> Iterator[tuple[int, int, Floats]]:
    """Each node with edges, its first edge, the edges' scores with those of their tails (in ``nodes``, filled on)."""
    scores = np.asarray(edge_scores, dtype=np.float64)
    edge_of = np.repeat(np.arange(len(graph)), np.diff(graph.tail_offsets))
    for node in range(graph.nodes):
        first, last = int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1])
        if first == last:
            continue
        part = slice(int(graph.tail_offsets[first]), int(graph.tail_offsets[last]))
        below = np.bincount(edge_of[part] - first, nodes[graph.tails[part]], last - first)
        yield node, first, scores[first:last] + below


def _tails(graph: GraphColumns, edge: int) -> list[int]:
    tails: list[int] = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
    return tails


def viterbi(graph: GraphColumns, edge_scores: ArrayLike) -> tuple[float, Derivation]:
    """The best score and its derivation; of equal ones the first edge's."""
    if not graph.nodes:
        return -np.inf, ()
    best = np.zeros(graph.nodes)
    choice = np.full(graph.nodes, -1)
    for node, first, sums in _sums(graph, edge_scores, best):
        at = int(np.argmax(sums))
        best[node], choice[node] = sums[at], first + at
    edges: list[int] = []
    todo = [graph.nodes - 1]
    while todo:
        edge = int(choice[todo.pop()])
        if edge >= 0:
            edges.append(edge)
            todo += reversed(_tails(graph, edge))
    return float(best[-1]), tuple(edges)


def log_partition(graph: GraphColumns, edge_scores: ArrayLike) -> float:
    """The logarithm of the sum over all derivations of exp(score)."""
    if not graph.nodes:
        return -np.inf
    inside = np.zeros(graph.nodes)
    for node, _, sums in _sums(graph, edge_scores, inside):
        inside[node] = np.logaddexp.reduce(sums)
    return float(inside[-1])


def paths(graph: GraphColumns) -> int:
    """How many derivations there are, exactly."""
    counts: list[int] = []
    for first, last in zip(graph.edge_offsets[:-1].tolist(), graph.edge_offsets[1:].tolist(), strict=True):
        total = int(first == last)
        for edge in range(first, last):
            product = 1
            for tail in _tails(graph, edge):
                product *= counts[tail]
            total += product
        counts.append(total)
    return counts[-1] if counts else 0


def kbest(graph: GraphColumns, edge_scores: ArrayLike, k: int) -> list[tuple[float, Derivation]]:
    """The k best derivations, best first: at each node the k best of the products of its tails' lists."""
    scores = np.asarray(edge_scores, dtype=np.float64).tolist()
    best: list[list[tuple[float, int, tuple[int, ...]]]] = []  # by node: score, edge, the rank in each tail's list
    tails = [_tails(graph, edge) for edge in range(len(graph))]

    def scored(edge: int, ranks: tuple[int, ...]) -> tuple[float, int, tuple[int, ...]]:
        below = (best[tail][rank][0] for tail, rank in zip(tails[edge], ranks, strict=True))
        return -(scores[edge] + sum(below)), edge, ranks

    for node in range(graph.nodes):
        edges = range(int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1]))
        heap = [scored(edge, (0,) * len(tails[edge])) for edge in edges if all(best[tail] for tail in tails[edge])]
        heapq.heapify(heap)
        seen: set[tuple[int, tuple[int, ...]]] = set()
        ranked = [] if edges else [(0.0, -1, ())]
        while heap and len(ranked) < k:
            cost, edge, ranks = heapq.heappop(heap)
            ranked.append((-cost, edge, ranks))
            for place, tail in enumerate(tails[edge]):
                next_ranks = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
                if next_ranks[place] < len(best[tail]) and (edge, next_ranks) not in seen:
                    seen.add((edge, next_ranks))
                    heapq.heappush(heap, scored(edge, next_ranks))
        best.append(ranked)

    def derivation(rank: int) -> Derivation:
        edges: list[int] = []
        todo = [(graph.nodes - 1, rank)]
        while todo:
            node, at = todo.pop()
            _, edge, ranks = best[node][at]
            if edge >= 0:
                edges.append(edge)
                todo += reversed(list(zip(tails[edge], ranks, strict=True)))
        return tuple(edges)

    return [(ranked_path[0], derivation(rank)) for rank, ranked_path in enumerate(best[-1])] if best else []


def text_of(graph: GraphColumns, derivation: Sequence[int]) -> str:
    """The target words of a derivation; an edge without a rule has those of its tails."""
    grammar = graph.grammar
    starts = np.diff(graph.edge_offsets) == 0
    below: list[list[int]] = []  # by place, from the last: the places of the edges that fill the gaps, -1 for a start
    ends: dict[int, int] = {}
    for place in range(len(derivation) - 1, -1, -1):
        after, fillers = place + 1, []
        for tail in _tails(graph, derivation[place]):
            fillers.append(-1 if starts[tail] else after)
            after = after if starts[tail] else ends[after]
        below.append(fillers)
        ends[place] = after
    below.reverse()
    words: list[str] = []
    todo: list[int | str] = [0] if derivation else []
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            words.append(item)
        elif item >= 0:
            rule = int(graph.rules[derivation[item]])
            if rule < 0:
                todo += reversed(below[item])
                continue
            target = grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]].tolist()
            todo += [grammar.words[at] if at >= 0 else below[item][-1 - at] for at in reversed(target)]
    return " ".join(words)
