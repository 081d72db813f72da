"""The decoder ``hiero``: a chart for each sentence, cube pruning or exact intersection with the stateful features.

Parsing is the host's (``host/decode/parsing.py``), the search the core's (``core/search/stateful_search.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tools.decoding import (
    BestFeatures,
    ForestDecoder,
    PhraseTableOptions,
    SentenceParser,
    Times,
    added,
    check_phrases,
    target_of,
    unknown_words,
)
from smtplugins.contracts.tools.features import SearchScorers
from smtplugins.contracts.tools.search import (
    CoarseToFine,
    NoRefinement,
    PhraseOrders,
    SearchLimit,
    Stateful,
    TooManySteps,
    contract_scorer,
    forest_of_parse,
    hypergraph_of,
    searcher,
)
from smtplugins.contracts.tools.search import best as best_derivation
from smtplugins.plugins.hiero.constraint import FAULT, NAME, BoundaryStates, TargetConstraint
from smtplugins.plugins.hiero.options import HieroOptions as HieroOptions
from smtplugins.plugins.hiero.tracing import built, graph_edges, searched_edges, traced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.decoding import Resources, SentenceForest, WeightedParser
    from smtplugins.contracts.tools.grammars import Vocabulary
    from smtplugins.contracts.tools.graphs import Hypergraph
    from smtplugins.contracts.tools.search import BestDerivation, Refined, Searcher
    from smtplugins.plugins.hiero.passes import FurtherPasses


class Hiero(ForestDecoder["WeightedParser"]):
    """Charts, or phrases in any order, with cube pruning or exact intersection with the stateful features."""

    usual_features = ("lm", "word-penalty", "phrase-penalty", "glue", "oov,value=-100,tuneable=false")

    def __init__(self, *, resources: Resources, options: HieroOptions) -> None:
        super().__init__(_parser(resources, options))
        self._options = options
        self._pass_options: list[HieroOptions] = []
        if resources.passes:
            from smtplugins.plugins.hiero.passes import pass_options

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
        """Apply weights to the tables, which hold phrases if ``reach`` is set."""
        if self._options.reach is not None:
            for owner, columns in self.parser.static_columns():
                check_phrases(owner, columns)
        return self.parser.weighted(weights)

    def worker(self, system: WeightedParser, graphs: bool) -> _Worker:
        """Make a decoder for one thread."""
        passes = None
        if self._pass_options or self._options.summary is not None:
            from smtplugins.plugins.hiero.passes import FurtherPasses

            passes = FurtherPasses(self._pass_options, self.parser.resources.passes, system.weights)
        return _Worker(system, self._options, graphs, passes)


def _parser(resources: Resources, options: HieroOptions) -> SentenceParser:
    if options.coarse_beam is not None:
        limits = (options.coarse_beam, options.coarse_widening, options.coarse_widenings, options.coarse_exhaustive)
        coarse = CoarseToFine(*limits, frozenset((options.coarse_features or "").split()))
        return SentenceParser(resources, options, coarse=coarse)
    if options.reach is None:
        return SentenceParser(resources, options)
    orders = PhraseOrders(options.reach, options.max_steps)
    phrases = PhraseTableOptions().input_options()
    return SentenceParser(resources, replace(options, glue=False, glue_path=None), phrases, orders=orders)


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
        if sentence.lattice is not None and self._weighted.parser.orders is not None:
            raise SmtError(f"sentence {sentence.id}: expected words, found a lattice, whose words have no order")
        try:
            forest = self._weighted.forest(sentence)
        except TooManySteps as error:
            raise SmtError(f"sentence {sentence.id}: {error}: lower reach or raise max_steps") from None
        except NoRefinement as error:
            raise SmtError(f"sentence {sentence.id}: coarse_beam: {error}") from None
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
        from smtplugins.contracts.tools.graphs import viterbi

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
        from smtplugins.plugins.hiero.passes import finished

        graph = hypergraph_of(forest.forest, refined, forest.features_of, names, id=forest.sentence.id)
        if NAME in names and len(graph):
            # Without the edges of illegal derivations, and empty if there are no others.
            graph = graph.restricted(graph.scores({NAME: 1.0}) >= 0).graph
        return finished(graph, self._options, forest.sentence, self._weighted.weights)

    def _prepared(self, sentence: Sentence, vocabulary: Vocabulary, target: str | None) -> Searcher:
        """The search, with the features' scorers set up for the sentence, and its target as a constraint."""
        parts, same = self._scorers.prepared(sentence, vocabulary)
        apart = self._options.boundary_words
        if target is not None or apart:
            stateful = self._scorers.weighted(parts, self._weighted.weights)
            width = self._options.constraint_words
            rule = BoundaryStates(apart) if target is None else TargetConstraint(target, width)
            stateful.append(Stateful(contract_scorer(rule, vocabulary), (NAME,), (1.0,)))
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
