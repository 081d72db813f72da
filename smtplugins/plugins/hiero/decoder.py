"""The decoder ``hiero``: a chart for each sentence, cube pruning or exact intersection with the stateful features.

Parsing is the host's (``host/decode/parsing.py``), the search the core's (``core/search/stateful_search.py``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
from smtplugins.plugins.hiero.tracing import built, traced

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
    beam_prune: float | None = option(None, "prune written graphs and lists by this beam, as cdec's option")
    beam_by_length: bool = option(False, "multiply `beam_prune` by the number of input words, as cdec can")
    density_prune: float | None = option(None, "prune written graphs and lists to this density, as cdec's option")
    constraint_words: int = option(
        0, "boundary words that a sentence's target, `source ||| target`, must have; 0: no constraint (Joshua)", least=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pop_limit < 1 and not (self.pops == "joshua" and self.pop_limit == 0):
            raise UsageError(f"pop_limit: expected 1 or more, found {self.pop_limit}")
        if self.beam_prune is not None and self.density_prune is not None:
            raise UsageError("expected beam_prune or density_prune, found both")

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

    def system(self, weights: Mapping[str, float]) -> WeightedParser:
        """Apply weights to the tables."""
        return self.parser.weighted(weights)

    def worker(self, system: WeightedParser, graphs: bool) -> _Worker:
        """Make a decoder for one thread."""
        return _Worker(system, self._options, graphs)


class _Worker:
    """Decodes sentences one by one, in one thread; joins of the language model are kept between sentences."""

    def __init__(self, weighted: WeightedParser, options: HieroOptions, graphs: bool) -> None:
        self._weighted = weighted
        self._options = options
        self._graphs = graphs
        self._features = weighted.parser.stateful
        # Without a stateful feature pruning saves nothing.
        exact = {} if self._features else {"exact": True}
        self._search = options.native(all_edges=graphs, **exact)
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
            trace=lambda: traced(forest, refined, best),
            built=lambda: built(forest, refined, best),
            unknown=lambda: unknown_words(forest, markers=self._options.markers),
            stats=stats,
            found=best is not None,
        )

    def _text(self, forest: SentenceForest, words: list[int]) -> str:
        return self._options.shown(" ".join(map(forest.forest.tables.words.word, words)))

    def _graph(self, forest: SentenceForest, refined: Refined, names: Sequence[str]) -> Hypergraph:
        graph = hypergraph_of(forest.forest, refined, forest.features, names, id=forest.sentence.id)
        if NAME in names and len(graph):
            # Without the edges of illegal derivations, and empty if there are no others.
            graph = graph.restricted(graph.scores({NAME: 1.0}) >= 0).graph
        beam, density = self._options.beam_prune, self._options.density_prune
        if beam is not None and self._options.beam_by_length:
            if forest.sentence.lattice is not None:
                raise SmtError(f"sentence {forest.sentence.id}: beam_by_length: expected words, found a lattice")
            beam *= len(forest.sentence.tokens)
        if (beam is not None or density is not None) and len(graph):
            from smtplugins.contracts.tools.graphs import prune

            graph = prune(graph, beam=beam, density=density).graph
        return graph

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
