"""The source words that each edge's own rule translates, in graphs of phrase-based decoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.hypergraph.graph import GraphColumns
    from smtplugins.core.graph.hypergraph import Hypergraph


class NoPhrases(ValueError):
    """The graph does not have the spans of its phrases; the message says what it lacks."""


def phrase_spans(graph: GraphColumns | Hypergraph) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first and last-plus-one source word of each edge's own rule, ``(0, 0)`` for a rule that translates nothing.

    An edge of such a graph has at most one tail, and appends its words to the tail's.
    """
    import numpy as np

    widths = np.diff(graph.tail_offsets)
    if (widths > 1).any():
        raise NoPhrases("expected edges with at most one tail, as in a phrase-based decoder's graph")
    grammar, rules = graph.grammar, np.asarray(graph.rules)
    if len(rules) and int(rules.min()) < 0:
        raise NoPhrases("expected a rule for every edge, found edges without one")
    gaps = np.concatenate([[0], np.cumsum(np.asarray(grammar.target) < 0)])
    firsts, lasts = grammar.target_offsets[:-1][rules], grammar.target_offsets[1:][rules]
    behind = gaps[lasts] - gaps[np.minimum(firsts + 1, lasts)]
    if behind.any():
        raise NoPhrases("expected rules with their words after the gap, found words before it")
    spans = np.array(graph.spans, dtype=np.int32).reshape(-1, 2)
    unknown = (spans < 0).any(axis=1)
    words = lasts - firsts - (gaps[lasts] - gaps[firsts])
    if (unknown & (words > 0)).any():
        raise NoPhrases("the graph does not say which source words its phrases translate (Moses' -osg and -osgx do)")
    spans[unknown] = 0
    # In other graphs the span of an edge includes the span of its tail.
    below = graph.tails[graph.tail_offsets[:-1][widths == 1]]
    inner = graph.edge_offsets[below]
    has_edges = inner < graph.edge_offsets[below + 1]
    outer, inner = spans[widths == 1][has_edges], spans[inner[has_edges]]
    shared = np.minimum(outer[:, 1], inner[:, 1]) - np.maximum(outer[:, 0], inner[:, 0])
    if (shared > 0).any():
        raise NoPhrases("expected the source words of each edge's own phrase, found those of its tail, too")
    return np.ascontiguousarray(spans[:, 0]), np.ascontiguousarray(spans[:, 1])
