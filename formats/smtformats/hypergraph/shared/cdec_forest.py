"""A forest under construction, shared by the readers of cdec's forests; edges keep the order of the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.gather import Numbering, grammar_columns
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.shared.sentence import ends, reorder, sentence_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class CdecForest:
    """A graph under construction. Lists hold nodes and edges in file order."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.arities: list[int] = []
        self.names = Numbering()
        self.labels = Numbering()
        self.tails: list[int] = []
        self.tail_counts: list[int] = []
        self.edge_rules: list[int] = []
        self.places: list[int] = []
        """Four numbers per edge: its span, and its span in a second sentence."""
        self.features: list[int] = []
        self.values: list[float] = []
        self.feature_counts: list[int] = []
        self.edge_counts: list[int] = []
        """The number of incoming edges of each node."""
        self.node_labels: list[int] = []
        self.hashes: list[int] = []

    def columns(self, order: NDArray[np.int64], extras: Mapping[str, Any], file: str) -> GraphColumns:
        """Return the graph with its edges sorted by head; ``order[i]`` is the file number of edge i."""
        import numpy as np

        tail_offsets, tails = reorder(order, ends(self.tail_counts), np.array(self.tails, dtype=np.int32))
        features, values = np.array(self.features, dtype=np.int32), np.array(self.values, dtype=np.float64)
        feature_offsets, features, values = reorder(order, ends(self.feature_counts), features, values)
        places = np.array(self.places, dtype=np.int32).reshape(-1, 4)[order]
        return GraphColumns(
            id=sentence_id(file),
            node_labels=np.array(self.node_labels, dtype=np.int32),
            edge_offsets=ends(self.edge_counts),
            tails=tails,
            tail_offsets=tail_offsets,
            rules=np.array(self.edge_rules, dtype=np.int32)[order],
            spans=places[:, :2].copy(),
            features=features,
            values=values,
            feature_offsets=feature_offsets,
            scores=None,
            grammar=grammar_columns(self.rules),
            labels=self.labels.table(),
            names=self.names.table(),
            extras={"prev": places[:, 2:].copy(), "hashes": np.array(self.hashes, dtype=np.uint64), **extras},
            file=file,
        )
