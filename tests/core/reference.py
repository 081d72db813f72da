"""Inference in plain Python: the oracle of the native functions in ``smtplugins.core.graph.inference``.

Functions, arguments and results are the same as there.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from smtplugins.core.graph.acceptors import acceptor
from smtplugins.core.graph.derivations import Covariance, Derivation, Derivations, Expectation, Gradient, Posteriors
from smtplugins.core.graph.hypergraph import Subgraph, core_graph
from smtplugins.core.graph.inference import MAX_EDGES, NO_DERIVATION, product_part, prune_by_max_marginals

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from smtplugins.core.graph.hypergraph import Hypergraph

    Floats = NDArray[np.float64]

MAX_DERIVATION = 2**18
IMPOSSIBLE = -math.inf


def tails_of(graph: Hypergraph) -> list[list[int]]:
    """The tails of each edge."""
    tails, ends = graph.tails.tolist(), graph.tail_offsets.tolist()
    return [tails[a:b] for a, b in itertools.pairwise(ends)]


def edges_of(graph: Hypergraph) -> list[range]:
    """The edges into each node."""
    return [range(a, b) for a, b in itertools.pairwise(graph.edge_offsets.tolist())]


def _check_scores(graph: Hypergraph, scores: ArrayLike | None) -> list[float]:
    numbers = graph.scores_or(scores)
    if numbers.shape != (len(graph),):
        raise ValueError(f"expected {len(graph)} scores, one for each edge, found shape {numbers.shape}")
    if np.any(np.isnan(numbers) | (numbers == np.inf)):
        raise ValueError("scores must be numbers or -inf")
    checked: list[float] = numbers.tolist()
    return checked


def _plus(semiring: str, values: list[float]) -> float:
    """The sum of the semiring."""
    if semiring not in ("log", "max"):
        raise ValueError(f"expected the semiring log or max, found {semiring}")
    most = max(values, default=IMPOSSIBLE)
    if semiring == "max" or most == IMPOSSIBLE:
        return most
    return most + math.log(math.fsum(math.exp(value - most) for value in values))


def inside(graph: Hypergraph, scores: ArrayLike | None = None, semiring: str = "log") -> Floats:
    """For each node the sum or the best over its derivations."""
    by, tails = _check_scores(graph, scores), tails_of(graph)
    inner: list[float] = []
    for edges in edges_of(graph):
        sums = [by[edge] + sum(inner[tail] for tail in tails[edge]) for edge in edges]
        inner.append(_plus(semiring, sums) if edges else 0.0)
    return np.array(inner, dtype=np.float64)


def outside(graph: Hypergraph, scores: ArrayLike | None = None, semiring: str = "log") -> Floats:
    """For each node the sum or the best over what can be around it."""
    by, tails, inner = _check_scores(graph, scores), tails_of(graph), inside(graph, scores, semiring).tolist()
    around: list[list[float]] = [[] for _ in range(graph.nodes)]
    outer = [0.0] * graph.nodes
    for node, edges in reversed(list(enumerate(edges_of(graph)))):
        outer[node] = _plus(semiring, around[node]) if node < graph.nodes - 1 else 0.0
        for edge in edges:
            for place, tail in enumerate(tails[edge]):
                others = tails[edge][:place] + tails[edge][place + 1 :]
                around[tail].append(outer[node] + by[edge] + sum(inner[other] for other in others))
    return np.array(outer, dtype=np.float64)


def posteriors(graph: Hypergraph, scores: ArrayLike | None = None, semiring: str = "log") -> Posteriors:
    """Expected counts of edges and nodes, or max-marginals."""
    inner, outer = inside(graph, scores, semiring), outside(graph, scores, semiring)
    total = float(inner[-1]) if graph.nodes else IMPOSSIBLE
    by = _check_scores(graph, scores)
    edges = np.array(
        [outer[head] + by[edge] + sum(inner[tail] for tail in tails)
         for edge, (head, tails) in enumerate(zip(graph.heads, tails_of(graph), strict=True))],
        dtype=np.float64,
    )  # fmt: skip
    nodes = inner + outer
    if semiring == "max":
        return Posteriors(total, edges, nodes)
    if total == IMPOSSIBLE:
        return Posteriors(total, np.zeros(len(edges)), np.zeros(len(nodes)))
    return Posteriors(total, np.exp(edges - total), np.exp(nodes - total))


def feature_expectations(graph: Hypergraph, scores: ArrayLike | None = None) -> Floats:
    """The expected sums of the features, by the graph's names."""
    return _feature_sums(graph, posteriors(graph, scores).edges)


def _feature_sums(graph: Hypergraph, mass: Floats) -> Floats:
    sums: defaultdict[str, float] = defaultdict(float)
    for edge, by in enumerate(mass.tolist()):
        for name, value in graph.edge_features(edge).items():
            sums[name] += by * value
    return np.array([sums[name] for name in graph.names], dtype=np.float64)


def paths(graph: Hypergraph) -> int:
    """How many derivations there are, exactly."""
    tails = tails_of(graph)
    counts: list[int] = []
    for edges in edges_of(graph):
        counts.append(sum(math.prod(counts[tail] for tail in tails[edge]) for edge in edges) if edges else 1)
    return counts[-1] if counts else 0


def viterbi(graph: Hypergraph, scores: ArrayLike | None = None) -> Derivation | None:
    """The best derivation, or None."""
    by, tails, inner = _check_scores(graph, scores), tails_of(graph), inside(graph, scores, "max").tolist()
    if not inner or inner[-1] == IMPOSSIBLE:
        return None
    edges_into = edges_of(graph)
    derivation: list[int] = []
    todo = [graph.nodes - 1]
    while todo:
        edges = edges_into[todo.pop()]
        if edges:
            best = max(edges, key=lambda edge: by[edge] + sum(inner[tail] for tail in tails[edge]))
            _add(derivation, best)
            todo += reversed(tails[best])
    return Derivation(graph, inner[-1], np.array(derivation, dtype=np.int32))


def _add(edges: list[int], edge: int) -> None:
    if len(edges) == MAX_DERIVATION:
        raise ValueError("derivations of too many edges")
    edges.append(edge)


Ranked = tuple[float, int, tuple[int, ...]]  # cost, edge, a rank in the list of each tail


def kbest(graph: Hypergraph, scores: ArrayLike | None = None, k: int = 1, *, unique: bool = False) -> Derivations:
    """The k best derivations, not lazily: at each node the k best of the products of its tails' lists."""
    by, tails = _check_scores(graph, scores), tails_of(graph)
    best: list[list[Ranked]] = []
    texts: list[list[tuple[int, ...]]] = []
    for edges in edges_of(graph):
        heap = [candidate for edge in edges if (candidate := _ranked(edge, (0,) * len(tails[edge]), by, tails, best))]
        heapq.heapify(heap)
        seen = {candidate[1:] for candidate in heap}
        ranked: list[Ranked] = [] if edges else [(0.0, -1, ())]
        spelt: list[tuple[int, ...]] = [] if edges else [()]
        known: set[tuple[int, ...]] = set()
        while heap and len(ranked) < k:
            cost, edge, ranks = heapq.heappop(heap)
            text = _text(
                graph, edge, [texts[tail][at] for tail, at in zip(tails[edge], ranks, strict=True)] if unique else []
            )
            if not unique or text not in known:
                known.add(text)
                ranked.append((cost, edge, ranks))
                spelt.append(text)
            for place in range(len(ranks)):
                more = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
                if (edge, more) not in seen and (candidate := _ranked(edge, more, by, tails, best)):
                    seen.add((edge, more))
                    heapq.heappush(heap, candidate)
        best.append(ranked)
        texts.append(spelt)
    chosen = best[-1][:k] if best else []
    goal = graph.nodes - 1
    return _derivations(graph, [(-cost, _edges(goal, at, tails, best)) for at, (cost, _, _) in enumerate(chosen)])


def _ranked(
    edge: int, ranks: tuple[int, ...], by: list[float], tails: list[list[int]], best: list[list[Ranked]]
) -> Ranked | None:
    if by[edge] == IMPOSSIBLE or any(at >= len(best[tail]) for tail, at in zip(tails[edge], ranks, strict=True)):
        return None
    below = sum(best[tail][at][0] for tail, at in zip(tails[edge], ranks, strict=True))
    return below - by[edge], edge, ranks


def _text(graph: Hypergraph, edge: int, below: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The words of an edge when those of its tails are known."""
    parts = ((symbol,) if symbol >= 0 else below[-1 - symbol] for symbol in _symbols(graph, edge)) if below else ()
    if not below and not graph.tail_offsets[edge + 1] - graph.tail_offsets[edge]:
        return tuple(_symbols(graph, edge))
    return tuple(itertools.chain.from_iterable(parts))


def _symbols(graph: Hypergraph, edge: int) -> list[int]:
    rules, offsets, symbols = graph.targets
    rule = int(rules[edge])
    if rule < 0:
        return [-1 - k for k in range(int(graph.tail_offsets[edge + 1] - graph.tail_offsets[edge]))]
    target: list[int] = symbols[offsets[rule] : offsets[rule + 1]].tolist()
    return target


def _edges(node: int, rank: int, tails: list[list[int]], best: list[list[Ranked]]) -> list[int]:
    edges: list[int] = []
    todo = [(node, rank)]
    while todo:
        at, number = todo.pop()
        _, edge, ranks = best[at][number]
        if edge >= 0:
            _add(edges, edge)
            todo += reversed(list(zip(tails[edge], ranks, strict=True)))
    return edges


def _derivations(graph: Hypergraph, scored: list[tuple[float, list[int]]]) -> Derivations:
    return Derivations(
        graph,
        np.array([score for score, _ in scored], dtype=np.float64),
        np.cumsum([0, *(len(edges) for _, edges in scored)]).astype(np.int64),
        np.array([edge for _, edges in scored for edge in edges], dtype=np.int32),
    )


def sample(graph: Hypergraph, scores: ArrayLike | None = None, count: int = 1, *, seed: int = 0) -> Derivations:
    """Derivations drawn with their probabilities (others than the native function's, from another generator)."""
    by, tails, inner = _check_scores(graph, scores), tails_of(graph), inside(graph, scores).tolist()
    if not inner or inner[-1] == IMPOSSIBLE:
        raise ValueError(NO_DERIVATION)
    rng = random.Random(seed)
    edges_into = edges_of(graph)
    drawn_paths: list[tuple[float, list[int]]] = []
    for _ in range(count):
        drawn: list[int] = []
        todo = [graph.nodes - 1]
        while todo:
            node = todo.pop()
            edges = edges_into[node]
            if edges:
                sums = (by[edge] + sum(inner[tail] for tail in tails[edge]) for edge in edges)
                (edge,) = rng.choices(edges, [math.exp(total - inner[node]) for total in sums])
                _add(drawn, edge)
                todo += reversed(tails[edge])
        drawn_paths.append((sum(by[edge] for edge in drawn), drawn))
    return _derivations(graph, drawn_paths)


def prune(
    graph: Hypergraph,
    scores: ArrayLike | None = None,
    *,
    beam: float | None = None,
    density: float | None = None,
    words: int | None = None,
) -> Subgraph:
    """The graph without edges whose max-marginal is low."""
    return prune_by_max_marginals(graph, scores, posteriors(graph, scores, "max"), beam, density, words)


Item = tuple[int, int, int]  # a node, with the states before and behind its words
Match = tuple[int, list[Item], float]  # an edge, what fills its tails, the weight of the arcs


def intersect(
    graph: Hypergraph,
    target: str | Sequence[str] | Hypergraph,
    scores: ArrayLike | None = None,
    *,
    semiring: str = "log",
    max_edges: int = MAX_EDGES,
) -> Subgraph:
    """The derivations that have these words, or those of a path of a lattice."""
    _plus(semiring, [])
    arcs = acceptor(target, graph, semiring)
    ends = arcs.offsets.tolist()
    after = [
        list(zip(arcs.words[a:b].tolist(), arcs.targets[a:b].tolist(), arcs.weights[a:b].tolist(), strict=True))
        for a, b in itertools.pairwise(ends)
    ]
    tails, into = tails_of(graph), edges_of(graph)
    below: list[defaultdict[int, list[int]]] = []  # of each node: states behind its words, by those before them
    items: dict[Item, list[Match]] = {}
    matches = 0

    def read(
        symbols: list[int], at: int, state: int, filled: dict[int, Item], weight: float
    ) -> Iterator[tuple[int, dict[int, Item], float]]:
        if at == len(symbols):
            yield state, filled, weight
        elif symbols[at] >= 0:
            for word, to, more in after[state]:
                if word == symbols[at]:
                    yield from read(symbols, at + 1, to, filled, weight + more)
        else:
            tail = here[-1 - symbols[at]]
            for to in below[tail][state]:
                yield from read(symbols, at + 1, to, {**filled, -1 - symbols[at]: (tail, state, to)}, weight)

    for node, edges in enumerate(into):
        reached: defaultdict[int, list[int]] = defaultdict(list)
        for state in range(len(after)):
            if not edges:
                items[node, state, state] = []
                reached[state].append(state)
            for edge in edges:
                here = tails[edge]
                symbols = _symbols(graph, edge)
                if sorted(symbol for symbol in symbols if symbol < 0) != list(range(-len(here), 0)):
                    raise ValueError("a rule must use each tail once to be intersected")
                for to, filled, weight in read(symbols, 0, state, {}, 0.0):
                    if (node, state, to) not in items:
                        items[node, state, to] = []
                        reached[state].append(to)
                    items[node, state, to].append((edge, [filled[k] for k in range(len(here))], weight))
                    matches += 1
        below.append(reached)
        if matches > max_edges or len(items) > max_edges:
            raise ValueError("the intersection has more edges than max_edges allows")
    goals = [(item, float(arcs.finals[item[2]])) for item in items
             if item[:2] == (graph.nodes - 1, 0) and arcs.finals[item[2]] > IMPOSSIBLE]  # fmt: skip
    goal: Item = (graph.nodes, 0, 0)
    if len(goals) == 1 and goals[0][1] == 0.0:
        goal = goals[0][0]
    else:
        items[goal] = [(-1, [item], weight) for item, weight in goals]
    return _product(graph, items, goal if goals else None, _check_scores(graph, scores))


def _product(graph: Hypergraph, items: dict[Item, list[Match]], goal: Item | None, scores: list[float]) -> Subgraph:
    """The part of the items that the goal is made of, as a graph."""
    reached = {goal} if goal else set()
    todo = list(reached)
    while todo:
        for _, filled, _ in items[todo.pop()]:
            todo += {item for item in filled if item not in reached}
            reached.update(filled)
    order = sorted(reached)
    number = {item: at for at, item in enumerate(order)}
    matches = [match for item in order for match in items[item]]
    core = core_graph(
        np.cumsum([0, *(len(items[item]) for item in order)]),
        np.array([number[item] for _, filled, _ in matches for item in filled], dtype=np.int32),
        np.cumsum([0, *(len(filled) for _, filled, _ in matches)]),
    )
    nodes = np.array([item[0] if item[0] < graph.nodes else -1 for item in order], dtype=np.int32)
    edges = np.array([edge for edge, _, _ in matches], dtype=np.int64)
    weights = np.array([weight for _, _, weight in matches], dtype=np.float64)
    return product_part(graph, core, nodes, edges, np.array(scores, dtype=np.float64), weights)


def expectation(graph: Hypergraph, scores: ArrayLike | None, values: ArrayLike) -> Expectation:
    """The mean over derivations of the sum of edges' values."""
    log_z, means, _ = _moments(graph, scores, values)
    return Expectation(log_z, float(means[-1]), means)


def covariance(graph: Hypergraph, scores: ArrayLike | None, values: ArrayLike) -> Covariance:
    """What the covariances of the sum of edges' values with others are made of."""
    log_z, means, edges = _moments(graph, scores, values)
    return Covariance(log_z, float(means[-1]), edges)


def _moments(graph: Hypergraph, scores: ArrayLike | None, values: ArrayLike) -> tuple[float, Floats, Floats]:
    """log Z; for each node the mean below; for each edge its probability times how far the mean of the derivations with
    it lies from that of all."""
    by, tails, inner = _check_scores(graph, scores), tails_of(graph), inside(graph, scores).tolist()
    if not inner or inner[-1] == IMPOSSIBLE:
        raise ValueError(NO_DERIVATION)
    value = np.asarray(values, dtype=np.float64).tolist()
    given = [0.0] * len(graph)  # P(edge | head)
    whole = [0.0] * len(graph)
    means: list[float] = []
    for node, edges in enumerate(edges_of(graph)):
        for edge in edges:
            if inner[node] > IMPOSSIBLE:
                given[edge] = math.exp(by[edge] + sum(inner[tail] for tail in tails[edge]) - inner[node])
            whole[edge] = value[edge] + sum(means[tail] for tail in tails[edge])
        means.append(sum(given[edge] * whole[edge] for edge in edges))
    reached, around = [0.0] * graph.nodes, [0.0] * graph.nodes
    reached[-1] = 1.0
    coefficients = np.zeros(len(graph))
    for node, edges in reversed(list(enumerate(edges_of(graph)))):
        outer = around[node] / reached[node] if reached[node] else 0.0
        for edge in edges:
            posterior = reached[node] * given[edge]
            coefficients[edge] = posterior * (outer + whole[edge] - means[-1])
            for tail in tails[edge]:
                reached[tail] += posterior
                around[tail] += posterior * (outer + whole[edge] - means[tail])
    return inner[-1], np.array(means), coefficients


def risk(graph: Hypergraph, scores: ArrayLike | None, losses: ArrayLike) -> Gradient:
    """The expected loss, a sum over edges, and its gradient."""
    loss = covariance(graph, scores, losses)
    return Gradient(loss.mean, _feature_sums(graph, loss.edges))


def entropy(graph: Hypergraph, scores: ArrayLike | None = None) -> Gradient:
    """The entropy of the derivations, in nats, and its gradient."""
    by = np.array(_check_scores(graph, scores), dtype=np.float64)
    score = covariance(graph, by, np.where(np.isneginf(by), 0.0, by))
    return Gradient(score.log_z - score.mean, -_feature_sums(graph, score.edges))
