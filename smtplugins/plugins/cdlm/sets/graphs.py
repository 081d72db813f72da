"""Add rule features to existing hypergraphs, for rescoring and for training with another class map."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtformats import Columns
from smtformats.columns import string_table
from smtplugins.contracts.tools.graphs import Hypergraph
from smtplugins.contracts.tools.search import NoPhrases, phrase_spans
from smtplugins.plugins.cdlm.features.tsrb import Alphabet, ClassBigrams

Array = NDArray[Any]


def graph_bigrams(graph: Hypergraph, alphabet: Alphabet) -> ClassBigrams:
    """Return the class bigrams of each rule of a graph.

    In graphs of phrases the gap before a phrase stands for the partial translation and is not part of the phrase.
    """
    grammar = graph.grammar
    bigrams = alphabet.bigrams_of(alphabet.of_words(graph.words), *_sides(graph))
    assert not len(bigrams.rows) or int(bigrams.rows[-1]) < len(grammar)
    return bigrams


def _sides(graph: Hypergraph) -> tuple[Array, Array]:
    """Return symbols and offsets of the target sides, without the gaps before phrases."""
    symbols, offsets = np.asarray(graph.grammar.target), np.asarray(graph.grammar.target_offsets, dtype=np.int64)
    try:
        phrase_spans(graph)
    except NoPhrases:
        return symbols, offsets
    words = symbols >= 0
    before = np.concatenate([[0], np.cumsum(words)])
    return symbols[words], before[offsets]


def with_rule_columns(graph: Hypergraph, columns: Columns) -> Hypergraph:
    """Add features, a row of ``columns`` for each rule of the graph; scores are not changed.

    Rules without edges get their features, too. Raises ValueError for a name that the graph already has.
    """
    if len(columns) != len(graph.grammar):
        raise ValueError(f"expected a row for each of {len(graph.grammar)} rules, found {len(columns)}")
    own = graph.names[:]
    twice = set(own).intersection(columns.names)
    if twice:
        raise ValueError(f"expected new feature names, found {min(twice)!r}, which the graph already has")
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
    """Add the features ``tsrb:LEFT_RIGHT`` to the rules of a graph."""
    return with_rule_columns(graph, alphabet.columns(graph_bigrams(graph, alphabet), len(graph.grammar)))
