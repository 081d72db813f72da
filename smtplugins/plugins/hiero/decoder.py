"""The decoder ``hiero``: a chart for each sentence, cube pruning or exact intersection with the stateful features.

Parsing is the host's (``host/decode/parsing.py``), the search the core's (``core/search/stateful_search.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.options import fill, option
from smtplugins.contracts.tools.decoding import (
    BestFeatures,
    ForestDecoder,
    ParsingOptions,
    SentenceParser,
    Times,
    added,
    unknown_words,
)
from smtplugins.contracts.tools.features import SearchScorers
from smtplugins.contracts.tools.graphs import viterbi
from smtplugins.contracts.tools.search import (
    SearchLimit,
    SearchOptions,
    Stateful,
    contract_scorer,
    forest_of_parse,
    hypergraph_of,
    searcher,
)
from smtplugins.contracts.tools.search import best as best_derivation
from smtplugins.plugins.hiero.constraint import FAULT, NAME, TargetConstraint, target_of
from smtplugins.plugins.hiero.limits import TOOLKITS, own_limit, pruning
from smtplugins.plugins.hiero.passes import FurtherPasses, finished, pass_options
from smtplugins.plugins.hiero.tracing import built, graph_edges, searched_edges, traced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.decoding import Resources, SentenceForest, WeightedParser
    from smtplugins.contracts.tools.grammars import Vocabulary
    from smtplugins.contracts.tools.graphs import Hypergraph
    from smtplugins.contracts.tools.search import BestDerivation, Refined, Searcher


@dataclass(frozen=True, kw_only=True)
class HieroOptions(ParsingOptions):
    """The options of the decoder ``hiero``."""

    search: Literal["cube_pruning", "full"] = option(
        "cube_pruning", "`full` looks at all derivations: exact, and slow with a language model"
    )
    pop_limit: int = option(30, "edges that cube pruning pops for each node")
    pops: Literal["own", "cdec", "moses", "joshua"] = option(
        "own", "whose pops the limit counts; a toolkit's limit is converted to ours at equal model score"
    )
    adapt: float | None = option(
        None, "how fast the limit falls at nodes that stateless features score low, 0: constant; default by `pop_limit`"
    )
    beam: float | None = option(
        None, "drop edges this much below the best of their node; default by `pop_limit`, none for Joshua"
    )
    max_edges: int = option(1 << 28, "limit of the edges of a sentence; more are an error")
    beam_prune: float | None = option(None, "prune the forest by this beam after the search, as cdec's option", least=0)
    beam_by_length: bool = option(False, "multiply `beam_prune` by the number of input words, as cdec can")
    density_prune: float | None = option(
        None, "prune the forest after the search to this many times the edges of the best derivation, as cdec", least=1
    )
    summary: str | None = option(None, "the name of a feature of the forest's posteriors, for the passes that follow")
    summary_type: Literal["node_risk", "edge_risk", "edge_prob"] = option(
        "node_risk", "posterior of an edge's head, of the edge, or its logarithm given the head"
    )
    constraint_words: int = option(
        0, "boundary words that a sentence's target, `source ||| target`, must have; 0: no constraint (Joshua)", least=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pop_limit < 1 and not (self.pops == "joshua" and self.pop_limit == 0):
            raise UsageError(f"pop_limit: expected 1 or more, found {self.pop_limit}")

    def native(self, **more: Any) -> SearchOptions:
        """The options of the native search."""
        limit = own_limit(self.pop_limit, self.pops) if self.pops in TOOLKITS else self.pop_limit
        adapt, beam = pruning(limit)
        # Joshua's lists go deeper than a beam lets them.
        beam = math.inf if self.pops == "joshua" else beam
        computed = {
            "exact": self.search == "full",
            "pop_limit": limit,
            "adapt": adapt if self.adapt is None else self.adapt,
            "beam": beam if self.beam is None else self.beam,
        }
        return fill(SearchOptions, self, **{**computed, **more})


class Hiero(ForestDecoder["WeightedParser"]):
    """Charts with cube pruning, or exact intersection with the stateful features."""

    def __init__(self, *, resources: Resources, options: HieroOptions) -> None:
        super().__init__(SentenceParser(resources, options))
        self._options = options
        self._pass_options = pass_options(options, resources.passes)

    @property
    def passes(self) -> int:
        """The number of passes after the first."""
        return len(self._pass_options)

    def table_names(self, own: Iterable[str] = ()) -> tuple[str, ...]:
        """The features of the tables and of ``own`` per-sentence files, and the summaries of passes."""
        summaries = (options.summary for options in (self._options, *self._pass_options))
        return (*super().table_names(own), *(name for name in summaries if name is not None))

    def system(self, weights: Mapping[str, float]) -> WeightedParser:
        """Apply weights to the tables."""
        return self.parser.weighted(weights)

    def worker(self, system: WeightedParser, graphs: bool) -> _Worker:
        """Make a decoder for one thread."""
        passes = None
        if self._pass_options or self._options.summary is not None:
            passes = FurtherPasses(self._pass_options, self.parser.resources.passes, system.weights)
        return _Worker(system, self._options, graphs, passes)


class _Worker:
    """Decodes sentences one by one, in one thread; joins of the language model are kept between sentences."""

    def __init__(
        self, weighted: WeightedParser, options: HieroOptions, graphs: bool, passes: FurtherPasses | None
    ) -> None:
        self._weighted = weighted
        self._options = options
        self._graphs = graphs
        self._passes = passes
        self._features = weighted.parser.stateful
        # Without a stateful feature pruning saves nothing.
        exact = {} if self._features else {"exact": True}
        self._search = options.native(all_edges=graphs or passes is not None, **exact)
        self._scorers = SearchScorers(self._features)
        self._searcher: Searcher | None = None
        self.names: list[str] = []

    def decode(self, sentence: Sentence) -> Decoding:
        times = Times()
        forest = self._weighted.forest(sentence)
        with times("search"):
            given = forest_of_parse(forest.forest, forest.scores)
            target = target_of(sentence, self._options.max_length) if self._options.constraint_words else None
            searcher = self._prepared(sentence, forest.forest.tables.words, target)
            names = self.names
            try:
                refined = searcher.search(given, self._search)
            except SearchLimit:
                text = f"more than {self._search.max_edges} edges to look at: lower pop_limit or raise max_edges"
                raise SmtError(f"sentence {sentence.id}: {text}") from None
            best = best_derivation(refined, given)
            if target is not None and best is not None and best.score < -FAULT / 2:
                best = None
        stats = {**forest.stats, **_counts(refined)}
        if self._passes is not None and best is not None:
            return self._searched_again(forest, refined, self._passes, times, stats)
        with times("output"):
            if best is not None:
                text = self._text(forest, best.words.tolist())
            else:
                # Joshua gives back a sentence that it cannot translate.
                text = forest.sentence.text if self._options.joshua else ""
        stats = added(stats, times.sums)
        return Decoding(
            id=sentence.id,
            best=text,
            score=None if best is None else best.score,
            features=BestFeatures(forest, names, lambda: _steps(forest, refined, best)),
            graph=(lambda: self._graph(forest, refined, names)) if self._graphs else None,
            shown=self._options.shown,
            trace=lambda: traced(forest, searched_edges(forest, refined, best)),
            built=lambda: built(forest, searched_edges(forest, refined, best)),
            unknown=lambda: unknown_words(forest, markers=self._options.markers),
            stats=stats,
            found=best is not None,
        )

    def _searched_again(
        self, forest: SentenceForest, refined: Refined, passes: FurtherPasses, times: Times, stats: Mapping[str, float]
    ) -> Decoding:
        """What the passes after the first make of the first one's result."""
        sentence = forest.sentence
        with times("search"):
            forest, names = passes.with_rule_features(forest)
            try:
                graph = passes.run(self._graph(forest, refined, self.names), sentence, names)
            except SearchLimit:
                text = f"more than {self._search.max_edges} edges to look at: lower pop_limit or raise max_edges"
                raise SmtError(f"sentence {sentence.id}: {text}") from None
            best = viterbi(graph)
        if best is None:
            raise SmtError(f"sentence {sentence.id}: expected a derivation after the last pass, found none")
        features = dict(zip(graph.names[:], best.features().tolist(), strict=True))
        return Decoding(
            id=sentence.id,
            best=self._options.shown(best.text),
            score=best.score,
            features={name: value for name, value in features.items() if value},
            graph=(lambda: graph) if self._graphs else None,
            shown=self._options.shown,
            trace=lambda: traced(forest, graph_edges(best)),
            built=lambda: built(forest, graph_edges(best)),
            unknown=lambda: unknown_words(forest, markers=self._options.markers),
            stats=added(stats, times.sums),
        )

    def _text(self, forest: SentenceForest, words: list[int]) -> str:
        return self._options.shown(" ".join(map(forest.forest.tables.words.word, words)))

    def _graph(self, forest: SentenceForest, refined: Refined, names: Sequence[str]) -> Hypergraph:
        graph = hypergraph_of(forest.forest, refined, forest.features, names, id=forest.sentence.id)
        if NAME in names and len(graph):
            # Without the edges of illegal derivations, and empty if there are no others.
            graph = graph.restricted(graph.scores({NAME: 1.0}) >= 0).graph
        return finished(graph, self._options, forest.sentence, self._weighted.weights)

    def _prepared(self, sentence: Sentence, vocabulary: Vocabulary, target: str | None) -> Searcher:
        """The search, with the features' scorers set up for the sentence, and its target as a constraint."""
        parts, same = self._scorers.prepared(sentence, vocabulary)
        if target is not None:
            stateful = self._scorers.weighted(parts, self._weighted.weights)
            rule = contract_scorer(TargetConstraint(target, self._options.constraint_words), vocabulary)
            stateful.append(Stateful(rule, (NAME,), (1.0,)))
            self.names = [name for feature in stateful for name in feature.names]
            self._searcher = None
            return searcher(stateful)
        if self._searcher is None or not same:
            stateful = self._scorers.weighted(parts, self._weighted.weights)
            self.names = [name for feature in stateful for name in feature.names]
            self._searcher = searcher(stateful)
        return self._searcher


def _steps(
    forest: SentenceForest, refined: Refined, best: BestDerivation | None
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """The rules of the best derivation, and the values of its stateful features."""
    if best is None:
        return None
    edges = refined.edge_of
    return forest.forest.native.rules[edges[best.edges]], refined.values.reshape(len(edges), -1)[best.edges]


def _counts(refined: Refined) -> dict[str, float]:
    return {"pops": refined.pops, "lm_queries": refined.evaluated}
