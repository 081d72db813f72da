"""The part of a parsed forest that a search kept, as a hypergraph with all features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from smtformats.columns import string_table
from smtformats.grammar.shared.gather import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.grammar.parsed_forest import Forest
    from smtplugins.core.graph.hypergraph import Hypergraph

    RuleFeatures = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    FeaturesOf = Callable[[NDArray[Any]], RuleFeatures]


class SearchResultEdges(Protocol):
    """The result of a search, such as ``Refined`` of ``core/search/stateful_search.py``: nodes with bundles of edges.

    ``node_of`` and ``edge_of`` are nodes and edges of the forest searched; ``tails`` are nodes of the result. Each edge
    has one of ``scores`` and a row of ``values``, with a column for each of the search's names.
    """

    @property
    def node_of(self) -> NDArray[Any]: ...
    @property
    def node_bundles(self) -> NDArray[Any]: ...
    @property
    def tails(self) -> NDArray[Any]: ...
    @property
    def tail_offsets(self) -> NDArray[Any]: ...
    @property
    def rule_offsets(self) -> NDArray[Any]: ...
    @property
    def edge_of(self) -> NDArray[Any]: ...
    @property
    def scores(self) -> NDArray[Any]: ...
    @property
    def values(self) -> NDArray[Any]: ...


def hypergraph_of(
    forest: Forest,
    refined: SearchResultEdges,
    features_of: FeaturesOf,
    names: Sequence[str],
    id: str = "",
) -> Hypergraph:
    """The nodes, edges and rules that a search kept, with scores.

    ``features_of`` gives the features of some of the forest's rules: offsets, ids in ``forest.tables.names``, values.
    ``names`` are the names of the search's own values, in order.
    """
    import numpy as np

    from smtplugins.core.graph.hypergraph import core_graph

    native = forest.native
    bundles = np.repeat(np.arange(len(refined.tail_offsets) - 1), np.diff(refined.rule_offsets))
    starts, widths = refined.tail_offsets[:-1][bundles], np.diff(refined.tail_offsets)[bundles]
    tail_offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    places = np.repeat(starts - tail_offsets[:-1], widths) + np.arange(tail_offsets[-1])
    edge_offsets = refined.rule_offsets[refined.node_bundles] if len(refined.node_of) else np.zeros(1, np.int64)
    used, rules = np.unique(native.rules[refined.edge_of], return_inverse=True)
    nodes = native.nodes[refined.node_of]
    labels, own = np.unique(nodes[:, 0], return_inverse=True)
    heads = np.repeat(np.arange(len(nodes)), np.diff(edge_offsets))
    return search_graph(
        forest,
        features_of(used),
        names,
        refined.values,
        id=id,
        core=core_graph(edge_offsets, refined.tails[places], tail_offsets),
        node_labels=own.reshape(-1).astype(np.int32),
        labels=string_table(forest.tables.labels.words(labels.tolist())),
        rules=rules.reshape(-1).astype(np.int32),
        spans=nodes[heads, 1:].astype(np.int32),
        edge_scores=refined.scores.copy(),
        grammar=forest.columns_of(used),
    )


def search_graph(
    forest: Forest, rule_features: RuleFeatures, names: Sequence[str], edge_values: NDArray[Any], **columns: Any
) -> Hypergraph:
    """A hypergraph with the features of rules and those of the search, whose values are in rows for the edges.

    ``columns`` are its other columns; further columns of values, which have no name, are left out.
    """
    import numpy as np

    from smtplugins.core.graph.hypergraph import Hypergraph

    edges = len(columns["rules"])
    offsets, ids, values = rule_features
    used, first, numbers = np.unique(ids, return_index=True, return_inverse=True)
    # In the order of the rules: a process numbers features as it meets them, in whatever it parsed before.
    order = np.argsort(first)
    numbers = np.argsort(order)[numbers]
    table = Numbering(forest.tables.names.words(used[order].tolist()))
    dense_names = [table.add(name) for name in names]
    dense = edge_values.reshape(edges, -1)[:, : len(names)] if edges else np.zeros((0, len(names)), np.float32)
    return Hypergraph(
        rule_feature_ids=numbers.reshape(-1).astype(np.int32),
        rule_values=values.astype(np.float32),
        rule_feature_offsets=offsets,
        dense_names=np.array(dense_names, dtype=np.int32),
        dense=np.ascontiguousarray(dense),
        features=np.empty(0, dtype=np.int32),
        values=np.empty(0, dtype=np.float32),
        feature_offsets=np.zeros(edges + 1, dtype=np.int64),
        names=table.table(),
        **columns,
    )
