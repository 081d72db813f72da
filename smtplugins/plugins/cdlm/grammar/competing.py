"""Rules of a hypergraph that competed: those on edges into the same node, or over the same source words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtformats.hypergraph.graph import GraphColumns

Scope = Literal["item", "cell"]


def competing_rules(
    graph: GraphColumns, scope: Scope = "item", marks: str | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """The rules of edges, group by group, where groups begin and end, and how many edges were left out.

    Edges without a rule are in none. Those left out have rules minted for unknown words: of one word at most, and with
    a feature whose name begins as ``marks`` says, if that is told.
    """
    import numpy as np

    used = graph.rules >= 0
    minted = used & _minted(graph, marks) if marks is not None else np.zeros(len(graph), dtype=bool)
    edges = np.flatnonzero(used & ~minted)
    if scope == "cell":
        spans = graph.spans[edges].astype(np.int64)
        if (spans < 0).any():
            name = graph.file or f"graph {graph.id!r}"
            raise UsageError(f"scope cell: expected edges with spans, found some without in {name} (item needs none)")
        keys = spans[:, 0] << 32 | spans[:, 1]
    else:
        keys = graph.heads[edges].astype(np.int64)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    groups = np.append(begins, len(keys)).astype(np.int64)
    return np.ascontiguousarray(graph.rules[edges[order]], dtype=np.int32), groups, int(minted.sum())


def _minted(graph: GraphColumns, marks: str) -> NDArray[np.bool_]:
    """Which edges have rules minted for unknown words."""
    import numpy as np

    begins = re.compile(marks)
    marked = np.array([begins.match(name) is not None for name in graph.names[:]], dtype=bool)
    found = np.zeros(len(graph), dtype=bool)
    if marked.any():
        here = marked[graph.features] & (graph.values != 0)
        found[np.repeat(np.arange(len(graph)), np.diff(graph.feature_offsets))[here]] = True
    if not found.any():
        return found
    grammar = graph.grammar
    longest = np.maximum(np.diff(grammar.source_offsets), np.diff(grammar.target_offsets))
    single: NDArray[np.bool_] = np.append(longest <= 1, False)[graph.rules]
    return found & single
