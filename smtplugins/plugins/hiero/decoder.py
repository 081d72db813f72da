"""The decoder ``hiero``: a chart for each sentence, cube pruning or exact intersection with the stateful features.

Parsing is the host's (``host/decode/forests.py``), searching the core's (``core/search/stateful_search.py``): here they
meet, sentence by sentence, in one thread or several.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.contracts import Decoding
from smtplugins.core.search.refining import hypergraph_of
from smtplugins.core.search.stateful_search import SearchLimit, best, forest_of_parse
from smtplugins.host.decode.forest_decoding import ForestDecoder
from smtplugins.host.decode.forests import Conventions, Forests, Times, added, oov_labels
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.features.stateful import SearchScorers
from smtplugins.plugins.hiero.limits import TOOLKITS, own_limit, pruning
from smtplugins.plugins.hiero.tracing import built, traced

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.search.stateful_search import Derivation, Refined, Searcher
    from smtplugins.core.vocabulary import Vocabulary
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.decode.forests import SentenceForest, Weighted


class Hiero(ForestDecoder["Weighted"]):
    """Charts with cube pruning.

    ``search``: ``cube_pruning`` looks at ``pop_limit`` edges of a node, fewer where the best derivation through it
    lacks much without stateful features (``adapt``), and at none that lack more than ``beam`` against the node's best;
    ``full`` looks at all. ``pops`` says whose pop limit it is: a toolkit's is made into as many of ours as it takes to
    score as well. ``max_edges`` bounds the edges looked at.

    The rest is how toolkits parse. ``goal`` and ``nonterminal`` are labels; ``max_span`` is the longest span of a rule;
    ``glue`` makes glue rules, ``glue_path`` adds a file of them; ``markers`` puts ``<s>`` and ``</s>`` around sentences
    and into glue rules; ``pass_through`` makes rules for ``all`` words, for the ``unknown`` ones or for ``none``, with
    the labels and probabilities of ``oov_list`` or a file of them; ``mark_oovs`` puts ``_OOV`` behind such words;
    ``max_length`` is that of a sentence, ``max_options`` the number of target sides of a source side;
    ``beam_prune`` and ``density_prune`` prune the graphs that are written.
    """

    def __init__(
        self,
        *,
        resources: Resources,
        search: Literal["cube_pruning", "full"] = "cube_pruning",
        pop_limit: int = 30,
        pops: Literal["own", "cdec", "moses", "joshua"] = "own",
        adapt: float | None = None,
        beam: float | None = None,
        max_edges: int = 1 << 28,
        goal: str = "S",
        nonterminal: str = "X",
        max_span: int | None = None,
        glue: bool = True,
        glue_path: Path | None = None,
        markers: bool = False,
        pass_through: Literal["all", "unknown", "none"] = "all",
        oov_list: str | None = None,
        oov_path: Path | None = None,
        mark_oovs: bool = False,
        max_length: int | None = None,
        max_options: int = 0,
        input: Literal["text", "lattice"] = "text",
        joshua: bool = False,
        beam_prune: float | None = None,
        density_prune: float | None = None,
    ) -> None:
        if pop_limit < 1 and not (pops == "joshua" and pop_limit == 0):
            raise UsageError(f"pop_limit: expected 1 or more, found {pop_limit}")
        if beam_prune is not None and density_prune is not None:
            raise UsageError("expected beam_prune or density_prune, found both")
        self._options: dict[str, Any] = {"max_edges": max_edges}
        if search == "full":
            self._options["exact"] = True
        else:
            limit = own_limit(pop_limit, pops) if pops in TOOLKITS else pop_limit
            usual = pruning(limit)
            # Joshua's lists go far down, where a beam has cut everything off.
            usual_beam = math.inf if pops == "joshua" else usual[1]
            self._options["pop_limit"] = limit
            self._options["adapt"] = usual[0] if adapt is None else adapt
            self._options["beam"] = usual_beam if beam is None else beam
        self._prune = {"beam": beam_prune, "density": density_prune}
        conventions = Conventions(
            goal=goal,
            nonterminal=nonterminal,
            max_span=max_span,
            glue=glue,
            glue_path=glue_path,
            markers=markers,
            pass_through=pass_through,
            oov_labels=oov_labels(oov_list, oov_path),
            mark_oovs=mark_oovs,
            max_length=max_length,
            max_options=max_options,
            joshua=joshua,
            lattice=input == "lattice",
        )
        super().__init__(Forests(resources, conventions))

    def table_names(self, own: Iterable[str] = ()) -> tuple[str, ...] | None:
        """The features of tables, ``own`` files of sentences among them; all others are the configuration's."""
        return self.forests.table_names(own)

    def system(self, weights: Mapping[str, float]) -> Weighted:
        """The tables under weights."""
        return self.forests.weighted(weights)

    def worker(self, system: Weighted, graphs: bool) -> _Worker:
        """What decodes in one thread."""
        return _Worker(system, self._options, self._prune, graphs)


class _Worker:
    """Decodes one sentence after the other, in one thread: scorers keep what they learnt of joins."""

    def __init__(
        self, weighted: Weighted, options: dict[str, Any], prune: dict[str, float | None], graphs: bool
    ) -> None:
        self._weighted = weighted
        self._options = options if graphs else {**options, "all_edges": False}
        self._prune = prune
        self._graphs = graphs
        self._conventions = weighted.maker.conventions
        self._features = weighted.maker.stateful
        self._scorers = SearchScorers(self._features)
        self._searcher: Searcher | None = None
        self.names: list[str] = []

    def decode(self, sentence: Sentence) -> Decoding:
        times = Times()
        forest = self._weighted.forest(sentence)
        with times("search"):
            # Without a stateful feature there is nothing that pruning could save.
            options = self._options if self._features else {**self._options, "exact": True}
            given = forest_of_parse(forest.forest, forest.scores)
            searcher = self._prepared(sentence, forest.forest.tables.words)
            try:
                refined = searcher.search(given, **options)
            except SearchLimit:
                text = f"more than {options['max_edges']} edges to look at: lower pop_limit or raise max_edges"
                raise SmtError(f"sentence {sentence.id}: {text}") from None
            found = best(refined, given)
        stats = {**forest.stats, **_counts(refined)}
        with times("output"):
            if found is not None:
                text = self._text(forest, found.words.tolist())
            else:
                # Joshua gives the sentence back.
                text = forest.sentence.text if self._conventions.joshua else ""
        stats = added(stats, times.sums)
        return Decoding(
            id=sentence.id,
            best=text,
            score=None if found is None else found.score,
            features=_Sums(forest, refined, found, self.names),
            graph=(lambda: self._graph(forest, refined)) if self._graphs else None,
            shown=self._conventions.shown,
            trace=lambda: traced(forest, refined, found),
            built=lambda: built(forest, refined, found),
            stats=stats,
            found=found is not None,
        )

    def _text(self, forest: SentenceForest, words: list[int]) -> str:
        return self._conventions.shown(" ".join(map(forest.forest.tables.words.word, words)))

    def _graph(self, forest: SentenceForest, refined: Refined) -> Hypergraph:
        graph = hypergraph_of(forest.forest, refined, forest.features, self.names, id=forest.sentence.id)
        if any(value is not None for value in self._prune.values()) and len(graph):
            from smtplugins.core.graph.inference import prune

            graph = prune(graph, beam=self._prune["beam"], density=self._prune["density"]).graph
        return graph

    def _prepared(self, sentence: Sentence, vocabulary: Vocabulary) -> Searcher:
        """The search with the features' scorers ready for the sentence."""
        from smtplugins.core.search.stateful_search import searcher

        parts, same = self._scorers.prepared(sentence, vocabulary)
        if self._searcher is None or not same:
            stateful = self._scorers.weighted(parts, self._weighted.weights)
            self.names = [name for one in stateful for name in one.names]
            self._searcher = searcher(stateful)
        return self._searcher


class _Sums(collections.abc.Mapping[str, float]):
    """The features of the best derivation, summed when somebody asks."""

    def __init__(
        self, forest: SentenceForest, refined: Refined, found: Derivation | None, names: Sequence[str]
    ) -> None:
        self._given = (forest, refined, found, names)
        self._sums: dict[str, float] | None = None

    def _made(self) -> dict[str, float]:
        if self._sums is None:
            forest, refined, found, names = self._given
            self._sums = {}
            if found is not None:
                rules = forest.forest.native.rules[refined.edge_of[found.edges]]
                self._sums = forest.sums(rules.tolist())
                if names:
                    values = refined.values.reshape(-1, len(names))[found.edges].sum(axis=0, dtype="float64")
                    self._sums |= dict(zip(names, values.tolist(), strict=True))
        return self._sums

    def __getitem__(self, name: str) -> float:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


def _counts(refined: Refined) -> dict[str, float]:
    return {"pops": refined.pops, "lm_queries": refined.evaluated}
