"""Inference over scored hypergraphs: the native functions. ``tests/core/reference.py`` has them in plain Python.

Scores are natural logarithms, -inf for an impossible edge; None takes the graph's own ``edge_scores``, or 0 for each
edge. The score of a derivation is the sum over its edges; a start node has one derivation, with score 0. ``semiring``
is ``log`` for sums over derivations, ``max`` for the best. A node that is a tail of an edge twice is derived twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smtplugins.core.graph.acceptors import acceptor
from smtplugins.core.graph.derivations import Covariance, Derivation, Derivations, Expectation, Gradient, Posteriors
from smtplugins.core.graph.hypergraph import Hypergraph, Subgraph

Floats = NDArray[np.float64]

MAX_EDGES = 10_000_000
NO_DERIVATION = "the graph has no derivation with a score above -inf"
SLACK = 1e-9  # max-marginals of the edges of one derivation differ by rounding


def inside(graph: Hypergraph, scores: ArrayLike | None = None, semiring: str = "log") -> Floats:
    """Inside scores: for each node the sum or the best over its derivations."""
    return graph.core.inside(graph.scores_or(scores), _best(semiring))


def outside(graph: Hypergraph, scores: ArrayLike | None = None, semiring: str = "log") -> Floats:
    """Outside scores: for each node the sum or the best over its contexts."""
    by = graph.scores_or(scores)
    return graph.core.outside(by, graph.core.inside(by, _best(semiring)), _best(semiring))


def posteriors(graph: Hypergraph, scores: ArrayLike | None = None, semiring: str = "log") -> Posteriors:
    """Expected counts of edges and nodes (probabilities if no derivation repeats them), or max-marginals."""
    by, best = graph.scores_or(scores), _best(semiring)
    inner = graph.core.inside(by, best)
    total = float(inner[-1]) if graph.nodes else -float("inf")
    if not best:
        return Posteriors(total, *graph.core.posteriors(by, inner))
    outer = graph.core.outside(by, inner, True)
    return Posteriors(total, graph.core.max_marginals(by, inner, outer), inner + outer)


def feature_expectations(graph: Hypergraph, scores: ArrayLike | None = None) -> Floats:
    """The expected feature sums, in the order of the graph's names."""
    return graph.feature_sums(posteriors(graph, scores).edges)


def paths(graph: Hypergraph) -> float:
    """The number of derivations, whatever their scores."""
    return graph.core.paths()


def viterbi(graph: Hypergraph, scores: ArrayLike | None = None) -> Derivation | None:
    """The best derivation, None if there is none; of equal edges into a node the first wins."""
    derivations = Derivations(graph, *graph.core.viterbi(graph.scores_or(scores)))
    return derivations[0] if len(derivations) else None


def kbest(graph: Hypergraph, scores: ArrayLike | None = None, k: int = 1, *, unique: bool = False) -> Derivations:
    """The k best derivations, or with ``unique`` the best derivations of k distinct texts.

    L. Huang and D. Chiang, "Better k-best Parsing" (2005), algorithm 3.
    """
    return Derivations(graph, *graph.core.kbest(graph.scores_or(scores), k, *(graph.targets if unique else ())))


def sample(graph: Hypergraph, scores: ArrayLike | None = None, count: int = 1, *, seed: int = 0) -> Derivations:
    """Sample derivations by their probabilities; the same seed gives the same sample."""
    derivations = Derivations(graph, *graph.core.sample(graph.scores_or(scores), count, seed % 2**64))
    if len(derivations) < count:
        raise ValueError(NO_DERIVATION)
    return derivations


def prune(
    graph: Hypergraph,
    scores: ArrayLike | None = None,
    *,
    beam: float | None = None,
    density: float | None = None,
    words: int | None = None,
) -> Subgraph:
    """Drop edges with a low max-marginal.

    ``beam``: keep edges whose best derivation scores at most this much below the best of all. ``density``: keep the
    best edges, this many for each source word, and always the best derivation. ``words`` is the number of source words,
    by default the end of the last span, or the best derivation's words if spans are unknown. R. Zens and H. Ney, "Word
    Graphs for Statistical Machine Translation" (2005).
    """
    return prune_by_max_marginals(graph, scores, posteriors(graph, scores, "max"), beam, density, words)


def prune_by_max_marginals(
    graph: Hypergraph,
    scores: ArrayLike | None,
    best: Posteriors,
    beam: float | None,
    density: float | None,
    words: int | None,
) -> Subgraph:
    """As ``prune``, with known max-marginals."""
    if (beam is None) == (density is None):
        raise ValueError("expected either beam or density")
    if not best.total > -float("inf"):
        return (
            graph.restricted(np.zeros(len(graph), dtype=bool), scores) if len(graph) else Subgraph(graph, np.arange(0))
        )
    slack = SLACK * max(1.0, abs(best.total))
    if beam is not None:
        if not beam >= 0:
            raise ValueError(f"expected a beam of at least 0, found {beam}")
        limit = best.total - beam
    else:
        assert density is not None
        if not density > 0:
            raise ValueError(f"expected a density above 0, found {density}")
        count = int(density * (words if words is not None else _words(graph, scores)))
        limit = _limit(best, count, slack)
    return graph.restricted(best.edges >= limit - slack, scores)


def _limit(best: Posteriors, count: int, slack: float) -> float:
    """The lowest max-marginal to keep, so that at most ``count`` edges stay; equal ones stay or go together."""
    falling = np.sort(best.edges[best.edges > -np.inf])[::-1]
    if len(falling) <= count:
        return float(falling[-1]) if len(falling) else best.total
    # If equal max-marginals would exceed the count, none stays: a derivation is kept or dropped as a whole.
    above = falling[:count][falling[:count] > falling[count] + 2 * slack]
    return min(best.total, float(above[-1])) if len(above) else best.total


def _words(graph: Hypergraph, scores: ArrayLike | None) -> int:
    last = int(graph.spans[:, 1].max(initial=-1))
    if last > 0:
        return last
    return len(kbest(graph, scores, 1).word_ids()[1])


def intersect(
    graph: Hypergraph,
    target: str | Sequence[str] | Hypergraph,
    scores: ArrayLike | None = None,
    *,
    semiring: str = "log",
    max_edges: int = MAX_EDGES,
) -> Subgraph:
    """Keep the derivations with these words (forced decoding), or with the words of a path of a lattice.

    The result's ``edge_scores`` include the scores of lattice arcs. A derivation occurs once for each path; paths that
    differ in empty arcs only are added up by the semiring. Edges and nodes of the result are copies of the graph's; if
    the lattice ends in several states or with empty arcs, a new goal is on top.
    """
    _best(semiring)
    arcs = acceptor(target, graph, semiring)
    try:
        core, nodes, edges, _, weights = graph.core.intersect(
            *graph.targets, arcs.offsets, arcs.words, arcs.targets, arcs.weights, arcs.finals, max_edges
        )
    except ValueError as error:
        raise ValueError(f"graph {graph.id}: {error}") from error
    return product_part(graph, core, nodes, edges, graph.scores_or(scores), weights)


def product_part(graph: Hypergraph, core: Any, nodes: Any, edges: Any, scores: Floats, weights: Floats) -> Subgraph:
    """The graph of an intersection."""
    if scores.shape != (len(graph),):
        raise ValueError(f"expected {len(graph)} scores, one for each edge, found shape {scores.shape}")
    return Subgraph(graph.part(core, nodes, edges, np.append(scores, 0.0)[edges] + weights), edges)


def expectation(graph: Hypergraph, scores: ArrayLike | None, values: ArrayLike) -> Expectation:
    """The mean over derivations of the sum of edge values."""
    log_z, mean, nodes, _ = _moments(graph, scores, values)
    return Expectation(log_z, mean, nodes)


def covariance(graph: Hypergraph, scores: ArrayLike | None, values: ArrayLike) -> Covariance:
    """The covariances of the sum of edge values with other such sums.

    Z. Li and J. Eisner, "First- and Second-Order Expectation Semirings" (2009), computed with probabilities and
    conditional means.
    """
    log_z, mean, _, edges = _moments(graph, scores, values)
    return Covariance(log_z, mean, edges)


def _moments(graph: Hypergraph, scores: ArrayLike | None, values: ArrayLike) -> tuple[float, float, Floats, Floats]:
    moments = graph.core.moments(graph.scores_or(scores), np.ascontiguousarray(values, dtype=np.float64))
    if moments[0] == -float("inf"):
        raise ValueError(NO_DERIVATION)
    return moments


def risk(graph: Hypergraph, scores: ArrayLike | None, losses: ArrayLike) -> Gradient:
    """The expected loss (a sum over edges) and its gradient."""
    loss = covariance(graph, scores, losses)
    return Gradient(loss.mean, graph.feature_sums(loss.edges))


def entropy(graph: Hypergraph, scores: ArrayLike | None = None) -> Gradient:
    """The entropy of the derivations, in nats, and its gradient."""
    by = graph.scores_or(scores)
    score = covariance(graph, by, np.where(np.isneginf(by), 0.0, by))
    return Gradient(score.log_z - score.mean, -graph.feature_sums(score.edges))


def _best(semiring: str) -> bool:
    if semiring not in ("log", "max"):
        raise ValueError(f"expected the semiring log or max, found {semiring}")
    return semiring == "max"
