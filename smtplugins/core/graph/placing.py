"""Place edge features where they cost least: on rules, in a dense block, or on single edges; and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtformats.hypergraph.graph import GraphColumns
from smtplugins.core.graph.hypergraph import Hypergraph

Ints = NDArray[np.integer]

DENSE_SHARE = 0.25  # a feature of at least this share of the edges gets a column
MOST_DENSE = 32


def place_features(columns: GraphColumns) -> dict[str, Any]:
    """The feature columns of a ``Hypergraph``, by name.

    A feature that has the same value on all edges of each rule goes on rules. A feature that differs between edges of
    a rule, such as a language model, goes on edges altogether, as do features of edges without a rule. Zeros are
    dropped.
    """
    edges, rules, names = len(columns), len(columns.grammar), len(columns.names)
    edge_of, name_of, values = _entries(columns)
    rule_of = np.asarray(columns.rules, dtype=np.int64)[edge_of]
    known = rule_of >= 0
    # Groups of entries with the same rule and name.
    groups, group_of = np.unique(rule_of[known] * names + name_of[known], return_inverse=True)
    group_rule, group_name = np.divmod(groups, max(names, 1))
    sizes = np.bincount(columns.rules[columns.rules >= 0], minlength=rules)
    least, most = np.full(len(groups), np.inf, np.float32), np.full(len(groups), -np.inf, np.float32)
    np.minimum.at(least, group_of, values[known])
    np.maximum.at(most, group_of, values[known])
    constant = (np.bincount(group_of, minlength=len(groups)) == sizes[group_rule]) & (least == most)
    local = np.zeros(names, dtype=bool)
    local[group_name[~constant]] = True
    on_rule = ~local[group_name]
    stays = ~known | local[name_of]
    edge_of, name_of, values = edge_of[stays], name_of[stays], values[stays]
    counts = np.bincount(name_of, minlength=names)
    often = np.flatnonzero((counts >= DENSE_SHARE * edges) & (counts > 0))
    dense_names = np.sort(often[np.argsort(-counts[often], kind="stable")[:MOST_DENSE]])
    column_of = np.full(names, -1)
    column_of[dense_names] = np.arange(len(dense_names))
    dense = np.zeros((edges, len(dense_names)), dtype=np.float32)
    in_block = column_of[name_of] >= 0
    dense[edge_of[in_block], column_of[name_of[in_block]]] = values[in_block]
    rest = ~in_block
    return {
        "rule_feature_ids": group_name[on_rule].astype(np.int32),
        "rule_values": most[on_rule],
        "rule_feature_offsets": _ends(np.bincount(group_rule[on_rule], minlength=rules)),
        "dense_names": dense_names.astype(np.int32),
        "dense": dense,
        "features": name_of[rest].astype(np.int32),
        "values": values[rest],
        "feature_offsets": _ends(np.bincount(edge_of[rest], minlength=edges)),
    }


def _entries(columns: GraphColumns) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Edges, names and values of all non-zero features, each name once per edge."""
    edge_of = np.repeat(np.arange(len(columns), dtype=np.int64), np.diff(columns.feature_offsets))
    name_of = np.asarray(columns.features, dtype=np.int64)
    values = np.asarray(columns.values, dtype=np.float64)
    keys = edge_of * max(len(columns.names), 1) + name_of
    once, at = np.unique(keys, return_inverse=True)
    if len(once) < len(keys):
        values = np.bincount(at, values, len(once)).astype(np.float64)
        edge_of, name_of = np.divmod(once, max(len(columns.names), 1))
    with np.errstate(over="ignore"):
        kept = values.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(kept))
    if len(wrong):
        at_first = int(wrong[0])
        name = columns.names[int(name_of[at_first])]
        raise ValueError(
            f"edge {edge_of[at_first]}, {name}: expected a number within the range of float32, found {values[at_first]}"
        )
    some = kept != 0
    return edge_of[some], name_of[some], kept[some]


def spread_features(graph: Hypergraph) -> tuple[Ints, NDArray[np.float64], Ints]:
    """All features as features of edges: name ids, values, offsets."""
    edges = len(graph)
    known = np.flatnonzero(graph.rules >= 0)
    of = graph.rules[known]
    counts = np.diff(graph.rule_feature_offsets)[of]
    begins = np.cumsum(counts) - counts
    at = np.repeat(graph.rule_feature_offsets[of] - begins, counts) + np.arange(counts.sum())
    row, column = np.nonzero(graph.dense)
    sparse = np.repeat(np.arange(edges), np.diff(graph.feature_offsets))
    edge_of = np.concatenate([np.repeat(known, counts), row, sparse])
    ids = np.concatenate([graph.rule_feature_ids[at], graph.dense_names[column], graph.features])
    values = np.concatenate([graph.rule_values[at], graph.dense[row, column], graph.values]).astype(np.float64)
    order = np.argsort(edge_of, kind="stable")
    return ids[order].astype(np.int32), values[order], _ends(np.bincount(edge_of, minlength=edges))


def _ends(counts: Ints) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
