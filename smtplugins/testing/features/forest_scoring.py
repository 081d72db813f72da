"""Score forests with stateful features: nodes are split by state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.host.features.rule_columns import is_stateful

if TYPE_CHECKING:
    from smtplugins.core.graph.hypergraph import Hypergraph, Subgraph
    from smtplugins.host.features.scoring import Active


def score_forest(
    graph: Hypergraph,
    features: Sequence[Active],
    weights: Mapping[str, float],
    sentence: Sentence | None = None,
    **search: Any,
) -> Subgraph:
    """Return the forest with the features' columns appended and their weighted values added to its scores.

    ``search`` are options of ``core/search/stateful_search.py refine``; ``exact=True`` keeps all derivations. A feature
    that needs the segmentation requires a phrase-based graph with source spans. Without ``sentence``, the source is
    taken from the source sides of the phrases, if there are any.
    """
    from smtplugins.core.search.phrase_spans import NoPhrases, phrase_spans
    from smtplugins.core.search.stateful_search import refine
    from smtplugins.core.vocabulary import Vocabulary
    from smtplugins.host.features.stateful import SearchScorers

    phrases = False
    for feature in features:
        if not is_stateful(feature.feature):
            raise UsageError(f"feature {feature.label!r} has no states; `smt score` takes it on lists")
        if "segmentation" in feature.offer.needs:
            phrases = True
            try:
                phrase_spans(graph)
            except NoPhrases as error:
                raise UsageError(
                    f"feature {feature.label!r} needs the segmentation, forest {graph.id}: {error}"
                ) from None
        if "source" in feature.offer.needs and sentence is None:
            sentence = Sentence(graph.id, _source_of(graph, feature.label))
    sentence = sentence or Sentence(graph.id, ())
    scorers = SearchScorers(features)
    parts, _ = scorers.prepared(sentence, Vocabulary(graph.grammar.words[:]))
    return refine(graph, scorers.weighted(parts, weights), phrases=phrases, **search)


def _source_of(graph: Hypergraph, label: str) -> tuple[str, ...]:
    """Return the source sentence, taken from the source sides of a graph's phrases."""
    tokens: dict[int, str] = {}
    for rule, (first, last) in zip(graph.rules.tolist(), graph.spans.tolist(), strict=True):
        words = [symbol for symbol in graph.grammar.rule(rule).source if isinstance(symbol, str)] if rule >= 0 else []
        if len(words) == last - first:
            tokens.update(zip(range(first, last), words, strict=True))
    size = max(graph.spans[:, 1].tolist(), default=0)
    if sorted(tokens) != list(range(size)):
        raise UsageError(
            f"feature {label!r} needs the source, which forest {graph.id} does not have (Moses' -osgx does)"
        )
    return tuple(tokens[i] for i in range(size))
