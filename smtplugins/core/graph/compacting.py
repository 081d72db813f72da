"""Drop rules, words and feature names that no edge of a graph uses: a search keeps few of its forest's rules.

Rules and words keep their order; the graph is equivalent otherwise. Names are sorted: decoders number features as they
meet them, so their order depends on the sentences that a process decoded before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtformats.columns import GrammarColumns, StringTable, string_table
from smtplugins.core.graph.hypergraph import Hypergraph

Array = NDArray[Any]


def compacted(graph: Hypergraph) -> Hypergraph:
    """The same graph with only the rules that edges use, their words, and the names of features in use."""
    used = np.unique(graph.rules)
    rows = used[used >= 0].astype(np.int64)
    numbers = np.full(len(graph.grammar) + 1, -1, dtype=np.int32)
    numbers[rows] = np.arange(len(rows), dtype=np.int32)
    (ids, values), offsets = _take_rows(graph.rule_feature_offsets, rows, graph.rule_feature_ids, graph.rule_values)
    wanted = np.zeros(len(graph.names), dtype=bool)
    for column in (ids, graph.dense_names, graph.features):
        wanted[column] = True
    names = sorted((graph.names[i], i) for i in np.flatnonzero(wanted).tolist())
    named = np.full(len(graph.names), -1, dtype=np.int32)
    named[[i for _, i in names]] = np.arange(len(names), dtype=np.int32)
    return replace(
        graph,
        rules=numbers[graph.rules],
        rule_feature_ids=named[ids],
        rule_values=values,
        rule_feature_offsets=offsets,
        dense_names=named[graph.dense_names],
        features=named[graph.features],
        names=string_table([name for name, _ in names]),
        grammar=_rules(graph.grammar, rows),
    )


def _rules(grammar: GrammarColumns, rows: Array) -> GrammarColumns:
    """Some rules of a grammar, with only their words."""
    (source,), source_offsets = _take_rows(grammar.source_offsets, rows, grammar.source)
    (target,), target_offsets = _take_rows(grammar.target_offsets, rows, grammar.target)
    (features, values), feature_offsets = _take_rows(grammar.feature_offsets, rows, grammar.features, grammar.values)
    (points,), point_offsets = _take_rows(grammar.point_offsets, rows, grammar.points)
    words = np.unique(np.concatenate([source, target]))
    words = words[words >= 0]

    def renumbered(symbols: Array) -> Array:
        ids: Array = np.where(symbols >= 0, np.searchsorted(words, symbols), symbols).astype(np.int32)
        return ids

    return replace(
        grammar,
        lhs=grammar.lhs[rows],
        level=grammar.level[rows],
        source=renumbered(source),
        source_offsets=source_offsets,
        target=renumbered(target),
        target_offsets=target_offsets,
        features=features,
        values=values,
        feature_offsets=feature_offsets,
        points=points,
        point_offsets=point_offsets,
        words=_keep_strings(grammar.words, words),
    )


def _take_rows(offsets: Array, rows: Array, *columns: Array) -> tuple[list[Array], Array]:
    """The values of some rows in columns, and their new offsets."""
    counts = np.diff(offsets)[rows]
    new = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    at = np.repeat(np.asarray(offsets)[:-1][rows] - new[:-1], counts) + np.arange(new[-1])
    return [np.asarray(column)[at] for column in columns], new


def _keep_strings(table: StringTable, which: Array) -> StringTable:
    return string_table([table[i] for i in which.tolist()])
