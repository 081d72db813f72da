"""A sentence's hypergraph as columns, and the builder that readers use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from smtformats.columns import GrammarColumns, StringTable
from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.gather import Numbering, grammar_columns
from smtformats.hypergraph.shared.sentence import ends
from smtformats.records import dataclass
from smtformats.tokens import BadField

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.integer]
    Floats = NDArray[np.float64]


MAX_NODES = 10_000_000
MAX_EDGES = 100_000_000
# Extras that several formats understand; all others are private to the format that read the graph.
SHARED_EXTRAS = frozenset({"prev", "hashes"})


@dataclass(frozen=True)
class GraphColumns:
    """A sentence's hypergraph. Column c holds ``c[c_offsets[e]:c_offsets[e+1]]`` for edge e.

    Nodes are in topological order and the last one is the goal; a graph without nodes is a failed parse. The incoming
    edges of node v are ``edge_offsets[v]`` to ``edge_offsets[v+1]``; a node without incoming edges is a start node.
    Tail k of an edge, from 0, fills the gap ``-1 - k`` of its rule's target side. ``rules`` index ``grammar``, -1 for
    no rule; formats that print target words only give rules with an empty source side. ``spans`` are the first source
    position of an edge and the one after its last, -1 if unknown. ``scores`` are the edge scores a toolkit printed,
    instead of features or beside them. ``node_labels`` index ``labels``, the names of categories, -1 for none.
    ``extras`` hold what a format needs to write the graph again, and cdec's ``prev`` (spans in a second sentence) and
    node ``hashes``.
    """

    id: str
    node_labels: Ints
    edge_offsets: Ints
    tails: Ints
    tail_offsets: Ints
    rules: Ints
    spans: Ints
    features: Ints
    values: Floats
    feature_offsets: Ints
    scores: Floats | None
    grammar: GrammarColumns
    labels: StringTable
    names: StringTable
    extras: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
    line: int = 1

    def __len__(self) -> int:
        """The number of edges."""
        return len(self.rules)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.node_labels)

    @property
    def heads(self) -> NDArray[np.int32]:
        """The head node of each edge."""
        import numpy as np

        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.edge_offsets))

    def edge_features(self, edge: int) -> dict[str, float]:
        """The features of one edge."""
        first, last = self.feature_offsets[edge], self.feature_offsets[edge + 1]
        named = zip(self.features[first:last].tolist(), self.values[first:last].tolist(), strict=True)
        return {self.names[i]: value for i, value in named}

    def edge_scores(self, weights: Mapping[str, float]) -> Floats:
        """The dot products of edge features and weights; features without a weight count 0."""
        import numpy as np

        by_id = np.array([weights.get(name, 0.0) for name in self.names], dtype=np.float64)
        if not len(self.features):
            return np.zeros(len(self))
        edge_of = np.repeat(np.arange(len(self)), np.diff(self.feature_offsets))
        return np.bincount(edge_of, self.values * by_id[self.features], len(self)).astype(np.float64)


@dataclass
class Edge:
    """An edge of a graph under construction."""

    tails: Sequence[int]
    rule: int = -1
    features: Mapping[str, float] = field(default_factory=dict)
    span: tuple[int, int] = (-1, -1)
    score: float | None = None


def check_limits(nodes: int, edges: int, max_nodes: int, max_edges: int) -> None:
    """Raise BadField if the graph is too large."""
    for name, count, most in (("nodes", nodes, max_nodes), ("edges", edges, max_edges)):
        if count > most:
            raise BadField(f"at most {most} {name} (the option max_{name} sets the limit)", str(count))


class GraphBuilder:
    """Build a graph from nodes in topological order, each with its incoming edges."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = Numbering(names)
        self.labels = Numbering()
        self._node_labels: list[int] = []
        self._edge_offsets = [0]
        self._edges: list[Edge] = []

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self._node_labels)

    def add(self, edges: Iterable[Edge], label: str | None = None) -> int:
        """Add a node with its incoming edges; returns its number."""
        number = len(self)
        for edge in edges:
            if not all(0 <= tail < number for tail in edge.tails):
                raise ValueError(f"expected tails below node {number}, found {list(edge.tails)}")
            self._edges.append(edge)
        self._node_labels.append(-1 if label is None else self.labels.add(label))
        self._edge_offsets.append(len(self._edges))
        return number

    def graph(
        self,
        id: str,
        rules: Iterable[Rule],
        *,
        extras: Mapping[str, Any] | None = None,
        file: str = "",
        line: int = 1,
    ) -> GraphColumns:
        """Return the columns of the graph."""
        import numpy as np

        edges = self._edges
        features = [(self.names.add(name), value) for edge in edges for name, value in edge.features.items()]
        scored = bool(edges) and all(edge.score is not None for edge in edges)
        return GraphColumns(
            id=id,
            node_labels=np.array(self._node_labels, dtype=np.int32),
            edge_offsets=np.array(self._edge_offsets, dtype=np.int64),
            tails=np.array([tail for edge in edges for tail in edge.tails], dtype=np.int32),
            tail_offsets=ends(len(edge.tails) for edge in edges),
            rules=np.array([edge.rule for edge in edges], dtype=np.int32),
            spans=np.array([edge.span for edge in edges], dtype=np.int32).reshape(-1, 2),
            features=np.array([name for name, _ in features], dtype=np.int32),
            values=np.array([value for _, value in features], dtype=np.float64),
            feature_offsets=ends(len(edge.features) for edge in edges),
            scores=np.array([edge.score for edge in edges], dtype=np.float64) if scored else None,
            grammar=grammar_columns(rules),
            labels=self.labels.table(),
            names=self.names.table(),
            extras=extras or {},
            file=file,
            line=line,
        )
