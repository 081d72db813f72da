"""Hypergraphs and inference over them: Viterbi, k best, posteriors, expectations, intersection, pruning."""

from __future__ import annotations

from smtplugins.core.graph.compacting import compacted
from smtplugins.core.graph.derivations import Derivation
from smtplugins.core.graph.hypergraph import Hypergraph, HypergraphBuilder, core_graph
from smtplugins.core.graph.inference import (
    covariance,
    entropy,
    expectation,
    feature_expectations,
    inside,
    intersect,
    kbest,
    outside,
    posteriors,
    prune,
    risk,
    viterbi,
)
from smtplugins.core.graph.weighing import Weighing

__all__ = [
    "Derivation",
    "Hypergraph",
    "HypergraphBuilder",
    "Weighing",
    "compacted",
    "core_graph",
    "covariance",
    "entropy",
    "expectation",
    "feature_expectations",
    "inside",
    "intersect",
    "kbest",
    "outside",
    "posteriors",
    "prune",
    "risk",
    "viterbi",
]
