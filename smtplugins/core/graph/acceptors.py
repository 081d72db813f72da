"""Word sequences and lattices as acceptors without empty arcs, for intersection."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from smtformats.records import dataclass
from smtplugins.core.graph.hypergraph import Hypergraph

NOWHERE = float("-inf")


@dataclass(frozen=True)
class Acceptor:
    """A weighted acceptor whose start state is 0; the arcs of state i are ``offsets[i]`` to ``offsets[i+1]``.

    Words are ids of a graph, -1 for unknown words. ``finals`` are final weights, -inf for states that are not final.
    """

    offsets: NDArray[np.int64]
    words: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float64]
    finals: NDArray[np.float64]


Arcs = list[tuple[str, int, float]]


def acceptor(target: str | Sequence[str] | Hypergraph, graph: Hypergraph, semiring: str) -> Acceptor:
    """Accept a text (split at white space), a sequence of words, or the paths of a lattice, in a graph's word ids."""
    if isinstance(target, str):
        target = target.split()
    if isinstance(target, Sequence):
        arcs: list[Arcs] = [[(word, at + 1, 0.0)] for at, word in enumerate(target)] + [[]]
        finals = [NOWHERE] * len(target) + [0.0]
    else:
        arcs, finals = _of_lattice(target, np.logaddexp if semiring == "log" else np.maximum)
    flat = [arc for some in arcs for arc in some]
    known = graph.word_ids
    return Acceptor(
        offsets=np.concatenate([[0], np.cumsum([len(some) for some in arcs])]).astype(np.int64),
        words=np.array([known.get(word, -1) for word, _, _ in flat], dtype=np.int32),
        targets=np.array([state for _, state, _ in flat], dtype=np.int32),
        weights=np.array([weight for _, _, weight in flat], dtype=np.float64),
        finals=np.array(finals, dtype=np.float64),
    )


def _of_lattice(lattice: Hypergraph, plus: np.ufunc) -> tuple[list[Arcs], list[float]]:
    """Arcs and final weights. State 0 is before all nodes, state 1 + v is node v; more states are within edges.

    Empty arcs are removed: joined with the word after them and with the final weight. Parallel paths of empty arcs are
    added up by the semiring.
    """
    if not lattice.nodes:
        return [[]], [NOWHERE]
    arcs: defaultdict[int, Arcs] = defaultdict(list)
    empty: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    states = lattice.nodes + 1
    for tail, head, words, weight in _edges(lattice):
        if not words:
            empty[tail].append((head, weight))
            continue
        for word in words[:-1]:
            arcs[tail].append((word, states, weight))
            tail, weight, states = states, 0.0, states + 1
        arcs[tail].append((words[-1], head, weight))
    end = lattice.nodes
    outgoing: list[Arcs] = []
    finals: list[float] = []
    for state in range(states):
        within = _closure(state, empty, plus)
        outgoing.append([(word, to, by + weight) for at, by in within.items() for word, to, weight in arcs.get(at, ())])
        finals.append(within.get(end, NOWHERE))
    return outgoing, finals


def _closure(state: int, empty: dict[int, list[tuple[int, float]]], plus: np.ufunc) -> dict[int, float]:
    """The states reachable by empty arcs, with their summed weights. Nodes are numbered in topological order."""
    weights = {state: 0.0}
    todo = [state]
    while todo:
        at = heapq.heappop(todo)
        for to, weight in empty.get(at, ()):
            if to not in weights:
                weights[to] = NOWHERE
                heapq.heappush(todo, to)
            weights[to] = float(plus(weights[to], weights[at] + weight))
    return weights


def _edges(lattice: Hypergraph) -> Iterator[tuple[int, int, list[str], float]]:
    """The first state, last state, words and weight of all edges and start nodes."""
    scores = lattice.scores_or(None).tolist()
    grammar = lattice.grammar
    for node, (first, last) in enumerate(
        zip(lattice.edge_offsets[:-1].tolist(), lattice.edge_offsets[1:].tolist(), strict=True)
    ):
        if first == last:
            yield 0, node + 1, [], 0.0
        for edge in range(first, last):
            tails = lattice.tails[lattice.tail_offsets[edge] : lattice.tail_offsets[edge + 1]].tolist()
            rule = int(lattice.rules[edge])
            symbols = [-1 - k for k in range(len(tails))]
            if rule >= 0:
                symbols = grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]].tolist()
            if (
                len(tails) > 1
                or symbols[: len(tails)] != [-1][: len(tails)]
                or min(symbols[len(tails) :], default=0) < 0
            ):
                raise ValueError(f"edge {edge}: expected a lattice edge, at most one tail followed by words")
            words = [lattice.words[word] for word in symbols[len(tails) :]]
            yield (tails[0] + 1 if tails else 0), node + 1, words, scores[edge]
