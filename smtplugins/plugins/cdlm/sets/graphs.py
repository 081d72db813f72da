"""Features of rules put on hypergraphs that are there already: rescoring, and training sets with another class map."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtplugins.plugins.cdlm.features.tsrb import Alphabet, Bigrams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Columns
    from smtplugins.core.graph.hypergraph import Hypergraph

    Array = NDArray[Any]


def graph_bigrams(graph: Hypergraph, alphabet: Alphabet) -> Bigrams:
    """The bigrams of each rule of a graph.

    Where derivations are made of phrases, the gap before a phrase is what was translated before it, no part of it.
    """
    grammar = graph.grammar
    found = alphabet.bigrams_of(alphabet.of_words(graph.words), *_sides(graph))
    assert not len(found.rows) or int(found.rows[-1]) < len(grammar)
    return found


def _sides(graph: Hypergraph) -> tuple[Array, Array]:
    """Symbols and offsets of the target sides, without the gaps before phrases."""
    import numpy as np

    from smtplugins.core.search.phrase_spans import NoPhrases, phrase_spans

    symbols, offsets = np.asarray(graph.grammar.target), np.asarray(graph.grammar.target_offsets, dtype=np.int64)
    try:
        phrase_spans(graph)
    except NoPhrases:
        return symbols, offsets
    words = symbols >= 0
    before = np.concatenate([[0], np.cumsum(words)])
    return symbols[words], before[offsets]


def with_rule_columns(graph: Hypergraph, columns: Columns) -> Hypergraph:
    """The graph with more features on its rules, a row for each rule; its scores are as they were.

    Rules that no edge has keep theirs, too. A name that the graph has already is an error.
    """
    import numpy as np

    from smtformats.columns import string_table

    if len(columns) != len(graph.grammar):
        raise ValueError(f"expected a row for each of {len(graph.grammar)} rules, found {len(columns)}")
    own = graph.names[:]
    twice = set(own).intersection(columns.names)
    if twice:
        raise ValueError(f"expected new names of features, found {min(twice)!r}, which the graph has already")
    sizes = np.diff(graph.rule_feature_offsets), np.diff(columns.offsets)
    offsets = np.concatenate([[0], np.cumsum(sizes[0] + sizes[1])]).astype(np.int64)
    ids = np.empty(int(offsets[-1]), dtype=np.int32)
    values = np.empty(int(offsets[-1]), dtype=np.float32)
    for starts, size, numbers, numbers_of in (
        (offsets[:-1], sizes[0], graph.rule_feature_ids, graph.rule_values),
        (offsets[:-1] + sizes[0], sizes[1], np.asarray(columns.ids) + len(own), columns.values),
    ):
        ends = np.cumsum(size)
        at = np.repeat(starts - (ends - size), size) + np.arange(int(ends[-1]) if len(ends) else 0)
        ids[at], values[at] = numbers, numbers_of
    return replace(
        graph,
        names=string_table([*own, *columns.names]),
        rule_feature_ids=ids,
        rule_values=values,
        rule_feature_offsets=offsets,
    )


def with_tsrb(graph: Hypergraph, alphabet: Alphabet) -> Hypergraph:
    """The graph with the features ``tsrb:LEFT_RIGHT`` on its rules."""
    return with_rule_columns(graph, alphabet.columns(graph_bigrams(graph, alphabet), len(graph.grammar)))


def with_column(graph: Hypergraph, label: str, values: Array) -> Hypergraph:
    """The graph with a number for each rule as the feature ``label``."""
    import numpy as np

    from smtformats import Columns

    return with_rule_columns(graph, Columns.dense((label,), np.asarray(values, dtype=np.float64)[:, None]))
