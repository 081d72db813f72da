"""Features with states on forests that decoders wrote: each node is split until its states are one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.contracts import Sentence
from smtplugins.host.errors import UsageError
from smtplugins.host.features.rule_columns import is_stateful

if TYPE_CHECKING:
    from smtplugins.core.graph.hypergraph import Hypergraph, Part
    from smtplugins.host.features.scoring import Active


def score_forest(
    graph: Hypergraph,
    features: Sequence[Active],
    weights: Mapping[str, float],
    sentence: Sentence | None = None,
    **search: Any,
) -> Part:
    """The forest with the columns of features behind its own, and what they are worth added to its scores.

    ``search`` are options of ``core/search/stateful_search.py refine``; ``exact=True`` keeps all derivations. A feature
    that needs the segmentation asks for a graph whose derivations are made of phrases and that says which source words
    they translate. Without a sentence, that is made of the source sides of the phrases, if they are there.
    """
    from smtplugins.core.search.phrase_spans import NoPhrases, phrase_spans
    from smtplugins.core.search.stateful_search import refine
    from smtplugins.core.vocabulary import Vocabulary
    from smtplugins.host.features.stateful import SearchScorers

    phrases = False
    for one in features:
        if not is_stateful(one.feature):
            raise UsageError(f"feature {one.label!r} has no states; `smt score` takes it on lists")
        if "segmentation" in one.offer.needs:
            phrases = True
            try:
                phrase_spans(graph)
            except NoPhrases as error:
                raise UsageError(f"feature {one.label!r} needs the segmentation, forest {graph.id}: {error}") from None
        if "source" in one.offer.needs and sentence is None:
            sentence = Sentence(graph.id, _source_of(graph, one.label))
    sentence = sentence or Sentence(graph.id, ())
    scorers = SearchScorers(features)
    parts, _ = scorers.prepared(sentence, Vocabulary(graph.grammar.words[:]))
    return refine(graph, scorers.weighted(parts, weights), phrases=phrases, **search)


def _source_of(graph: Hypergraph, label: str) -> tuple[str, ...]:
    """The sentence, word by word, as the phrases of a graph have it on their source sides."""
    found: dict[int, str] = {}
    for rule, (first, last) in zip(graph.rules.tolist(), graph.spans.tolist(), strict=True):
        words = [one for one in graph.grammar.rule(rule).source if isinstance(one, str)] if rule >= 0 else []
        if len(words) == last - first:
            found.update(zip(range(first, last), words, strict=True))
    size = max(graph.spans[:, 1].tolist(), default=0)
    if sorted(found) != list(range(size)):
        raise UsageError(
            f"feature {label!r} needs the source, which forest {graph.id} does not have (Moses' -osgx does)"
        )
    return tuple(found[i] for i in range(size))
