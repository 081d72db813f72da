"""The decoder ``umt``: one tree grows from any leaf of the forest, upwards and downwards, and nothing is taken back.

A. Gesmundo and J. Henderson, "Undirected Machine Translation with Discriminative Reinforcement Learning" (2014). The
forest is that of the other decoders (``host/decode/parsing.py``), the search native (``growing/search.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.options import option
from smtplugins.contracts.tools.decoding import ForestDecoder, ParsingOptions, SentenceParser, Times, added
from smtplugins.contracts.tools.search import forest_of_parse, hypergraph_of
from smtplugins.plugins.umt.features.cff import Cff
from smtplugins.plugins.umt.growing.beams import beams
from smtplugins.plugins.umt.growing.search import CffMode, LmMode
from smtplugins.plugins.umt.growing.trees import GrownTree, built, kept, traced
from smtplugins.plugins.umt.growing.working import Working

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tasks import TaskProblem
    from smtplugins.contracts.tools.decoding import Resources, SentenceForest, WeightedParser
    from smtplugins.contracts.tools.graphs import Hypergraph
    from smtplugins.contracts.tools.search import SearchForest
    from smtplugins.plugins.umt.growing.search import Grown, Searcher

    Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class UmtOptions(ParsingOptions):
    """The options of the decoder ``umt``: bounds and search, and the parsing of ``hiero``.

    If the run has the feature ``cff``, that feature's options take precedence over those of the bounds.
    """

    cff: CffMode = option(
        "sum",
        "features of the bounds of missing branches: their sum, one per link, the sum less the branch filled, or none",
    )
    cff_scale: float = option(1.0, "bounds are divided by this; 8.5 in the author's earlier code")
    cff_lm: float = option(
        0.9, "share of the language model's score of a rule's own words in the bounds; the paper has 0 (context-free)"
    )
    cff_joins: bool = option(
        True, "add its scores where the best branches join: bounds become estimates; not in the paper"
    )
    first_pass_path: Path | None = option(
        None, "weights of the bounds; else those saved with learnt weights, the configuration's, or the run's"
    )
    lm_mode: LmMode = option(
        "delta",
        "language model feature: change of the score, score of words with new context, or that by context length",
    )
    samples: int = option(0, "additional trees to sample")
    temperature: float = option(1.0, "samples draw actions in proportion to exp(score / temperature)")
    beam: int = option(1, "trees kept at each step; not in the paper")
    seed: int = option(1, "random seed of the samples")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples < 0 or self.beam < 1 or self.seed < 0:
            raise UsageError("umt: expected samples and seed of 0 or more, and a beam of 1 or more")
        if not (self.temperature > 0 and math.isfinite(self.temperature)):
            raise UsageError(f"umt: temperature: expected a number above 0, found {self.temperature}")
        if self.samples and self.beam > 1:
            raise UsageError("umt: expected samples or a beam, found both")


class Umt(ForestDecoder["WeightedTables"]):
    """Undirected greedy decoding: one tree grows from any leaf of the forest, in any direction."""

    usual_features = ("lm", "word-penalty", "phrase-penalty", "glue", "oov,value=-100,tuneable=false")

    def __init__(self, *, resources: Resources, options: UmtOptions) -> None:
        self.options = options
        own = [active for active in resources.features if isinstance(active.feature, Cff)]
        if len(own) > 1:
            raise UsageError(f"umt: expected one feature cff, found {', '.join(active.label for active in own)}")
        if own:
            self.cff, self.cff_label = own[0].feature, own[0].label
        else:
            self.cff = Cff(
                mode=options.cff,
                scale=options.cff_scale,
                first_pass_path=options.first_pass_path,
                lm=options.cff_lm,
                joins=options.cff_joins,
            )
            self.cff_label = "cff"
        self._configured = resources.weights
        super().__init__(SentenceParser(resources, options))

    @property
    def notes(self) -> list[str]:
        """Warnings to print before decoding."""
        late = self.working().completed
        if not late:
            return []
        return [f"decoder umt: {', '.join(late)} cannot be scored in part: counted when all below a rule is known"]

    def working(self) -> Working:
        """The features set up for one thread."""
        features = self.parser.resources.features
        return Working(features, self.parser.stateful, self.cff, self.cff_label, self.options.lm_mode)

    def table_names(self, own: Iterable[str] = ()) -> tuple[str, ...]:
        """The features of the tables and of ``own`` per-sentence files, and those of the bounds."""
        return (*super().table_names(own), *self.cff.names(self.cff_label))

    def system(self, weights: Mapping[str, float]) -> WeightedTables:
        """Apply the weights, and those of the first pass, to the tables."""
        first = self.cff.first_pass(self.cff_label, weights, self._configured)
        weighted = self.parser.weighted(weights)
        return WeightedTables(weighted, weighted if first == weights else self.parser.weighted(first), first)

    def kept_first_pass(self, weights: Mapping[str, float]) -> dict[str, float]:
        """The weights that bounds are made with, by the names under which they are saved with learnt weights."""
        first = self.cff.first_pass(self.cff_label, weights, self._configured)
        return {f"{self.cff_label}:{name}": value for name, value in first.items() if self.cff.components}

    def worker(self, system: WeightedTables, graphs: bool) -> _Worker:
        """Make a decoder for one thread."""
        return _Worker(system, self.working(), self.options, graphs)

    def task(
        self, sentences: Sequence[Sentence], references: Sequence[Sequence[str]], metric: Metric, model: Model
    ) -> TaskProblem:
        """The decoder's decisions as a task for learners of policies."""
        from smtplugins.plugins.umt.growing.task import make_task

        return make_task(self, sentences, references, metric, model.weights)


@dataclass(frozen=True)
class WeightedTables:
    """The tables under the weights of the run, and under the weights of the bounds."""

    weighted: WeightedParser
    first: WeightedParser
    first_pass: Mapping[str, float]

    def forest(self, sentence: Sentence) -> tuple[SentenceForest, Array]:
        """Parse a sentence; return its forest with scored rules, and the scores that bounds are made of."""
        forest = self.weighted.forest(sentence)
        if self.first is self.weighted:
            return forest, forest.scores
        times = Times()
        with times("parsing"):
            bounds = self.first.scores_of(forest)
        forest.stats.update(added(forest.stats, times.sums))
        return forest, bounds


@dataclass(frozen=True)
class GrownDerivation:
    """A grown tree, with the scores of its edges and the feature columns of lists, a row for each step."""

    grown: Grown
    tree: GrownTree
    scores: Array
    shown: Array

    @cached_property
    def score(self) -> float:
        """The score of the whole tree, without bounds."""
        return float(self.scores.sum())


class _Worker:
    """Decodes sentences one by one, in one thread."""

    def __init__(self, system: WeightedTables, working: Working, options: UmtOptions, graphs: bool) -> None:
        self._system = system
        self._graphs = graphs
        self._working = working
        self._options = options
        weights = system.weighted.weights
        self._column = working.column(weights)
        self._shown = [weights.get(name, 0.0) for name in working.shown]
        self._estimates = working.estimates(system.first_pass)

    def decode(self, sentence: Sentence) -> Decoding:
        forest, bounds = self._system.forest(sentence)
        times = Times()
        derivations: list[GrownDerivation] = []
        scored = 0
        with times("search"):
            if forest.forest:
                given = forest_of_parse(forest.forest, forest.scores)
                searcher = self._working.searcher(sentence, forest.forest.tables.words)
                try:
                    searcher.begin(given, forest.scores, bounds, self._column, self._estimates)
                except ValueError as error:
                    raise SmtError(f"sentence {sentence.id}: {error}") from None
                trees = self._grown(searcher)
                scored = sum(grown.scored for grown in trees)
                derivations = [self._derivation(grown, forest, given) for grown in trees]
                # The sort is stable: of equal scores the tree grown first comes first.
                derivations.sort(key=lambda derivation: -derivation.score)
        best = derivations[0] if derivations else None
        with times("output"):
            if best is not None:
                text = self._options.shown(best.tree.text())
            else:
                # Joshua gives back a sentence that it cannot translate.
                text = sentence.text if self._options.joshua else ""
        counts = {"pops": sum(len(derivation.grown) for derivation in derivations), "lm_queries": scored}
        return Decoding(
            id=sentence.id,
            best=text,
            score=None if best is None else best.score,
            features={} if best is None else self._features(forest, best),
            graph=(lambda: self._graph(forest, derivations)) if self._graphs else None,
            shown=self._options.shown,
            trace=lambda: ["no derivation"] if best is None else traced(best.tree, best.grown, self._working.names),
            built=lambda: [] if best is None else built(best.tree, best.grown),
            stats=added({**forest.stats, **counts}, times.sums),
            found=best is not None,
        )

    def _grown(self, searcher: Searcher) -> list[Grown]:
        """The distinct trees."""
        options = self._options
        if options.beam > 1:
            return beams(searcher, options.beam)
        first = searcher.follow()
        once = {frozenset(first.actions[:, 0].tolist()): first}
        for number in range(options.samples):
            seed = options.seed * 1_000_003 + number
            grown = searcher.draw(temperature=options.temperature, seed=seed)
            once.setdefault(frozenset(grown.actions[:, 0].tolist()), grown)
        return list(once.values())

    def _derivation(self, grown: Grown, forest: SentenceForest, given: SearchForest) -> GrownDerivation:
        tree = GrownTree.of(forest.forest, grown.actions)
        shown = self._working.told(grown, given, len(forest.scores))
        scores = forest.scores[tree.rules()].astype(np.float64) + shown @ np.array(self._shown, dtype=np.float64)
        return GrownDerivation(grown, tree, scores, shown)

    def _features(self, forest: SentenceForest, best: GrownDerivation) -> dict[str, float]:
        sums = forest.sums(best.tree.rules().tolist())
        return sums | dict(zip(self._working.shown, best.shown.sum(axis=0).tolist(), strict=True))

    def _graph(self, forest: SentenceForest, derivations: Sequence[GrownDerivation]) -> Hypergraph:
        refined = kept((grown.tree, grown.scores, grown.shown) for grown in derivations)
        return hypergraph_of(forest.forest, refined, forest.features_of, self._working.shown, id=forest.sentence.id)
