"""All derivations of a small graph, written out."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass

from smtformats.grammar.rules import NonTerminal
from smtplugins.core.graph.hypergraph import Hypergraph


@dataclass(frozen=True)
class Written:
    """One derivation: its words, and the sums of its features."""

    words: tuple[str, ...]
    features: dict[str, float]


def derivations(graph: Hypergraph) -> list[Written]:
    """Of the goal, by the edges of each node."""
    found: list[list[Written]] = []
    for node in range(graph.nodes):
        here = []
        for edge in range(int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1])):
            tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
            for below in itertools.product(*(found[tail] for tail in tails)):
                sums: Counter[str] = Counter()
                for features in (graph.edge_features(edge), *(one.features for one in below)):
                    for name, value in features.items():
                        sums[name] += value  # type: ignore[assignment]
                words: list[str] = []
                for symbol in graph.grammar.rule(int(graph.rules[edge])).target:
                    words += below[symbol.index - 1].words if isinstance(symbol, NonTerminal) else [symbol]
                here.append(Written(tuple(words), dict(sums)))
        found.append(here)
    return found[-1]
