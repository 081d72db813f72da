"""Passes over the forest of a sentence: what one search kept is pruned, and the next adds features to it.

C. Dyer et al., "cdec: A Decoder, Alignment, and Learning Framework" (2010), whose order this is: a pass weighs all
features so far, adds its own, adds its summary, prunes. Weights of a pass count from there on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtformats.records import dataclass
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.tools.features import SearchScorers, blocks_of
from smtplugins.contracts.tools.grammars import Vocabulary
from smtplugins.contracts.tools.graphs import posteriors, viterbi
from smtplugins.contracts.tools.search import refine

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.decoding import LoadedPass, SentenceForest
    from smtplugins.contracts.tools.graphs import Hypergraph
    from smtplugins.plugins.hiero.options import HieroOptions

SLACK = 1e-9
_LIMITS = ("exact", "pop_limit", "adapt", "beam", "max_edges")


def pass_options(first: HieroOptions, passes: Sequence[LoadedPass]) -> list[HieroOptions]:
    """The options of the passes after the first."""
    made = []
    for number, one in enumerate(passes, start=2):
        if one.options.get("search", "full") not in ("cube_pruning", "full"):
            raise UsageError(f"model.passes: search: expected cube_pruning or full, found {one.options['search']!r}")
        try:
            made.append(replace(first, **one.options))
        except UsageError as error:
            raise UsageError(f"model.passes: pass {number}: {error}") from None
    return made


@dataclass(frozen=True)
class _Pass:
    scorers: SearchScorers
    phrases: bool
    weights: Mapping[str, float]
    search: Mapping[str, Any]
    options: HieroOptions


class FurtherPasses:
    """The passes after the first, for one thread."""

    def __init__(
        self, options: Sequence[HieroOptions], passes: Sequence[LoadedPass], first: Mapping[str, float]
    ) -> None:
        """``first`` are the weights of the first pass."""
        self._loaded = passes
        self._later: list[_Pass] = []
        weights = first
        for one, own in zip(passes, options, strict=True):
            weights = weights if one.weights is None else one.weights
            # Without a stateful feature pruning saves nothing.
            search = own.native(**({} if one.stateful else {"exact": True}))
            phrases = any("segmentation" in active.offer.needs for active in one.stateful)
            limits = {name: getattr(search, name) for name in _LIMITS}
            self._later.append(_Pass(SearchScorers(one.stateful), phrases, weights, limits, own))

    def with_rule_features(self, forest: SentenceForest) -> tuple[SentenceForest, list[set[str]]]:
        """The forest with the values of all passes' features of rules, and the names of these by pass."""
        nobodys = -1 if len(forest.rules) else None
        each = [list(blocks_of(one.rule_features, forest.rules, nobodys)) for one in self._loaded]
        names = [{name for block in blocks for name in block.names} for blocks in each]
        return replace(forest, blocks=[*forest.blocks, *(block for blocks in each for block in blocks)]), names

    def run(self, graph: Hypergraph, sentence: Sentence, names: Sequence[set[str]]) -> Hypergraph:
        """Search a forest again, pass by pass; ``names`` are those of the passes' features of rules."""
        for number, one in enumerate(self._later):
            if not len(graph):
                return graph
            later = set().union(*names[number + 1 :])
            graph = graph.reweighted({name: value for name, value in one.weights.items() if name not in later})
            if self._loaded[number].stateful:
                parts, _ = one.scorers.prepared(sentence, Vocabulary(graph.grammar.words[:]))
                stateful = one.scorers.weighted(parts, one.weights)
                graph = refine(graph, stateful, phrases=one.phrases, **one.search).graph
            graph = finished(graph, one.options, sentence, one.weights)
        return graph


def finished(graph: Hypergraph, options: HieroOptions, sentence: Sentence, weights: Mapping[str, float]) -> Hypergraph:
    """What a pass leaves of a forest: with its summary, and pruned."""
    if not len(graph):
        return graph
    if options.summary is not None:
        graph = _with_summary(graph, options.summary, options.summary_type, weights.get(options.summary, 0.0))
    beam = options.beam_prune
    if beam is not None and options.beam_by_length:
        if sentence.lattice is not None:
            raise SmtError(f"sentence {sentence.id}: beam_by_length: expected words, found a lattice")
        beam *= len(sentence.tokens)
    return pruned(graph, beam, options.density_prune)


def pruned(graph: Hypergraph, beam: float | None, density: float | None) -> Hypergraph:
    """Drop edges by their max-marginals, as cdec does; with both limits by the stricter one.

    ``beam`` is the distance from the best derivation. ``density`` times the number of edges of that derivation is the
    rank of the last edge to stay; the best derivation stays, and so do equally good edges.
    """
    import numpy as np

    best = posteriors(graph, None, "max")
    limits = [] if beam is None else [best.total - beam]
    derivation = viterbi(graph) if density is not None else None
    if density is not None and derivation is not None:
        count = int(density * len(derivation))
        if count < len(graph):
            limits.append(float(np.sort(best.edges)[::-1][count]))
    if not limits:
        return graph
    limit = min(best.total, max(limits))
    return graph.restricted(best.edges >= limit - SLACK * max(1.0, abs(best.total))).graph


def _with_summary(graph: Hypergraph, name: str, kind: str, weight: float) -> Hypergraph:
    """The forest with a feature of its edges' posteriors; in its own pass only edge_prob counts, as in cdec."""
    import numpy as np

    found = posteriors(graph)
    nodes = np.bincount(graph.heads, found.edges, graph.nodes)[graph.heads]
    with np.errstate(divide="ignore"):
        values = nodes if kind == "node_risk" else found.edges
        values = np.log(found.edges) - np.log(nodes) if kind == "edge_prob" else values
    if name in graph.names[:]:
        raise SmtError(f"summary: expected a name that no feature has, found {name!r}")
    if not np.isfinite(values).all():
        raise SmtError(f"forest {graph.id}: summary {name}: expected derivations that are possible, found others")
    graph = graph.with_column(name, values)
    return graph.with_scores(graph.scores_or(None) + weight * values) if weight and kind == "edge_prob" else graph
