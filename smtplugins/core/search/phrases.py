"""Phrase-based search: from the translation options of a sentence to a graph of hypotheses.

P. Koehn, F. J. Och and D. Marcu, "Statistical Phrase-Based Translation" (2003), with cube pruning of stacks (L. Huang
and D. Chiang, 2007) as an alternative. The options are a forest that was parsed without a goal: a node for each span of
the input, whose edges are the span's phrases. The sentence ends where the last span ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtformats.grammar.shared.gather import Numbering
from smtplugins.core._core import OrderFeature as OrderFeature
from smtplugins.core._core import PhraseGraph as PhraseGraph
from smtplugins.core._core import PhraseSearcher as PhraseSearcher

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.columns import GrammarColumns
    from smtplugins.core.grammar.parsed_forest import Forest
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.search.refining import FeaturesOf
    from smtplugins.core.search.stateful_search import Stateful

ORDERS = ("free", "window", "monotone", "swap")
_LABEL = "X"


def position_feature(kind: str, weights: Sequence[float]) -> OrderFeature:
    """A feature without a model: ``jump`` is distortion, minus the distance from the end of a phrase to the next."""
    import numpy as np

    return OrderFeature(kind, False, False, False, np.array(weights, dtype=np.float64))


def reordering(
    orientation: str, weights: Sequence[float], *, backward: bool, forward: bool, collapsed: bool
) -> OrderFeature:
    """Lexicalised reordering with the orientations ``msd``, ``mslr``, ``monotonicity`` or ``leftright``.

    The search takes a row for each rule: a score for each orientation, backward before forward.
    """
    import numpy as np

    return OrderFeature(orientation, backward, forward, collapsed, np.array(weights, dtype=np.float64))


def phrase_searcher(features: Sequence[Stateful], orders: Sequence[OrderFeature]) -> PhraseSearcher:
    """A searcher for one sentence after another, in one thread at a time; it caches language model scores.

    ``search(forest, rows, distances, options)`` takes the phrases as
    :func:`smtplugins.core.search.stateful_search.forest_of_parse` has them, the rows of each reordering model, rule
    after rule, and a ``PhraseSearchOptions``. Values of edges are those of ``features``, then ``orders``.
    """
    import numpy as np

    scorers = [(feature.scorer, np.array(feature.weights, dtype=np.float64)) for feature in features]
    return PhraseSearcher(scorers, list(orders))


def hypergraph_of_phrases(
    forest: Forest,
    graph: PhraseGraph,
    features_of: FeaturesOf,
    names: Sequence[str],
    id: str = "",
) -> Hypergraph:
    """The hypotheses of a search as a hypergraph: each step is an edge with one tail, the hypothesis it extends.

    An edge's rule begins with a gap for the tail; its span is the source words of its own phrase. ``features_of`` gives
    the features of some of the forest's rules: offsets, ids in ``forest.tables.names``, values. ``names`` are the names
    of the search's own values, in order.
    """
    import numpy as np

    tail_offsets = np.arange(len(graph.rules) + 1, dtype=np.int64)
    used, rules = np.unique(graph.rules, return_inverse=True)
    # The last rule of a forest is the goal's, which has a gap already.
    phrases = int(np.searchsorted(used, len(forest.native.origins) - 1))
    steps, own = steps_of(forest.columns_of(used), phrases), features_of(used)
    return hypergraph_of_spans(forest, graph, own, names, tail_offsets, steps, id, numbers=rules.reshape(-1))


def hypergraph_of_spans(
    forest: Forest,
    graph: Any,
    rule_features: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    names: Sequence[str],
    tail_offsets: NDArray[Any],
    rules: GrammarColumns,
    id: str = "",
    *,
    numbers: NDArray[Any] | None = None,
) -> Hypergraph:
    """The graph of a search over phrases, with the columns of :class:`PhraseGraph`, as a hypergraph.

    ``rules`` are its rules and ``rule_features`` their features, ``numbers`` the rules of its edges if the graph
    numbers others; ``tail_offsets`` part its tails by edges. The rest is as in :func:`hypergraph_of_phrases`.
    """
    import numpy as np

    from smtplugins.core.graph.hypergraph import core_graph
    from smtplugins.core.search.refining import search_graph

    return search_graph(
        forest,
        rule_features,
        names,
        graph.values,
        id=id,
        core=core_graph(graph.node_edges, graph.tails, tail_offsets),
        node_labels=np.zeros(graph.nodes, dtype=np.int32),
        labels=Numbering([_LABEL]).table(),
        rules=(graph.rules if numbers is None else numbers).astype(np.int32),
        spans=np.column_stack([graph.firsts, graph.lasts]).astype(np.int32),
        edge_scores=graph.scores,
        grammar=rules,
    )


def steps_of(rules: GrammarColumns, count: int) -> GrammarColumns:
    """The first ``count`` rules, which are phrases, as search steps: each with a gap in front on both sides."""
    import numpy as np

    added = np.minimum(np.arange(len(rules) + 1), count)
    return replace(
        rules,
        # The gap has the label of the phrase itself.
        source=np.insert(rules.source, rules.source_offsets[:count], -1 - rules.lhs[:count]).astype(np.int32),
        source_offsets=rules.source_offsets + added,
        target=np.insert(rules.target, rules.target_offsets[:count], -1).astype(np.int32),
        target_offsets=rules.target_offsets + added,
        points=(rules.points + 1).astype(np.int32),
    )
