"""Competing rules of a hypergraph: rules on edges into the same node, or over the same source span."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smtformats.hypergraph.graph import GraphColumns
from smtplugins.contracts.errors import UsageError

Scope = Literal["item", "cell"]


def competing_rules(
    graph: GraphColumns, scope: Scope = "item", marks: str | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """Return the rules of edges grouped by node or span, the group offsets, and the number of edges left out.

    Edges without a rule are in no group. Edges left out are those of unknown-word rules: rules of at most one word with
    a feature whose name begins with a match of ``marks`` (None: leave out none).
    """
    used = graph.rules >= 0
    minted = used & _unknown_word_edges(graph, marks) if marks is not None else np.zeros(len(graph), dtype=bool)
    edges = np.flatnonzero(used & ~minted)
    if scope == "cell":
        spans = graph.spans[edges].astype(np.int64)
        if (spans < 0).any():
            name = graph.file or f"graph {graph.id!r}"
            raise UsageError(f"scope cell: expected spans on all edges, found edges without in {name}; use scope item")
        keys = spans[:, 0] << 32 | spans[:, 1]
    else:
        keys = graph.heads[edges].astype(np.int64)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    groups = np.append(begins, len(keys)).astype(np.int64)
    return np.ascontiguousarray(graph.rules[edges[order]], dtype=np.int32), groups, int(minted.sum())


def _unknown_word_edges(graph: GraphColumns, marks: str) -> NDArray[np.bool_]:
    """Return a mask of the edges with unknown-word rules."""
    begins = re.compile(marks)
    marked = np.array([begins.match(name) is not None for name in graph.names[:]], dtype=bool)
    minted = np.zeros(len(graph), dtype=bool)
    if marked.any():
        here = marked[graph.features] & (graph.values != 0)
        minted[np.repeat(np.arange(len(graph)), np.diff(graph.feature_offsets))[here]] = True
    if not minted.any():
        return minted
    grammar = graph.grammar
    longest = np.maximum(np.diff(grammar.source_offsets), np.diff(grammar.target_offsets))
    single: NDArray[np.bool_] = np.append(longest <= 1, False)[graph.rules]
    return minted & single
