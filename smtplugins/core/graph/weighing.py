"""A graph's features under the ids of a larger set of names, mapped once for repeated scoring."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.core import _core
from smtplugins.core.graph.hypergraph import Hypergraph

Array = NDArray[Any]


class Weighing:
    """Score edges with weights of all names, and sum features over all names.

    ``own`` is the id of each of the graph's names; ``width`` is the number of all names, and as an id it stands for a
    name that is not among them. Results equal those of the graph (``scores``, ``feature_sums``).
    """

    def __init__(self, graph: Hypergraph, own: Array, width: int) -> None:
        self._graph, self._width = graph, width
        numbers = np.asarray(own, dtype=np.int32)
        self._of_rules = numbers[graph.rule_feature_ids]
        self._of_edges = numbers[graph.features]
        self._dense = numbers[graph.dense_names]
        # An edge without a rule gets the row after the last.
        self._rules = np.where(graph.rules < 0, len(graph.grammar), graph.rules).astype(np.int64)

    def scores(self, weights: Array) -> Array:
        """The scores of the edges."""
        graph, by = self._graph, np.append(weights, 0.0)
        rows = _core.sparse_scores(graph.rule_feature_offsets, self._of_rules, graph.rule_values, by)
        scores: Array = np.append(rows, 0.0)[self._rules]
        if len(self._dense):
            scores += graph.dense @ by[self._dense]
        if len(self._of_edges):
            scores += _core.sparse_scores(graph.feature_offsets, self._of_edges, graph.values, by)
        return scores

    def sums(self, mass: Array) -> Array:
        """The sum of all edges' features, each edge times its mass."""
        graph, width = self._graph, self._width + 1
        rows = np.bincount(self._rules, mass, len(graph.grammar) + 1)[:-1].astype(np.float64)  # ints if empty
        sums: Array = _core.sparse_sums(graph.rule_feature_offsets, self._of_rules, graph.rule_values, rows, width)
        if len(self._dense):
            np.add.at(sums, self._dense, mass @ graph.dense)
        if len(self._of_edges):
            sums += _core.sparse_sums(graph.feature_offsets, self._of_edges, graph.values, mass, width)
        return sums[:-1]
