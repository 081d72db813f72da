"""The decoder ``umt``: one tree grows from any leaf of the forest, upwards and downwards, and nothing is taken back.

A. Gesmundo and J. Henderson, "Undirected Machine Translation with Discriminative Reinforcement Learning" (2014). The
forest is that of the other decoders (``host/decode/forests.py``), the search native (``growing/search.py``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.contracts import Decoding
from smtplugins.host.decode.forest_decoding import ForestDecoder
from smtplugins.host.decode.forests import Conventions, Forests, Times, added, oov_labels
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.plugins.umt.features.cff import Cff
from smtplugins.plugins.umt.growing.beams import beams
from smtplugins.plugins.umt.growing.search import CffMode, LmMode
from smtplugins.plugins.umt.growing.trees import GrownTree, built, kept, traced
from smtplugins.plugins.umt.growing.working import Working

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.contracts import Metric, Sentence, Task
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.search.stateful_search import SearchForest
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.decode.forests import SentenceForest, Weighted
    from smtplugins.host.model import Model
    from smtplugins.plugins.umt.growing.search import Grown, Searcher

    Array = NDArray[Any]


@dataclass(frozen=True)
class Search:
    """How trees are grown: how many more are drawn, or how many are kept at each step."""

    samples: int = 0
    temperature: float = 1.0
    beam: int = 1
    seed: int = 1


class Umt(ForestDecoder["System"]):
    """Undirected greedy decoding.

    ``cff``, ``cff_scale``, ``cff_lm``, ``cff_joins`` and ``first_pass_path`` say how the missing branches are bounded,
    as the feature ``cff`` does, which counts if the run has it (``cff_lm=0,cff_scale=8.5``: as in the paper).
    ``lm_mode``: a language model is the change of its score (``delta``), the scores of new words and of those behind
    them (``rescored``), or these by length of context (``split``).

    One tree is grown. ``samples`` draws as many more, by exp(score / ``temperature``), from ``seed``; ``beam`` keeps as
    many at each step. Of several trees that with the highest score is the translation, and lists and graphs have all.

    The rest is how sentences are parsed, as in ``hiero``: ``goal`` and ``nonterminal`` are labels; ``max_span`` is the
    longest span of a rule; ``glue`` makes glue rules, ``glue_path`` adds a file of them; ``markers`` puts ``<s>`` and
    ``</s>`` around sentences and into glue rules; ``pass_through`` makes rules for ``all`` words, for the ``unknown``
    ones or for ``none``, with the labels and probabilities of ``oov_list`` or a file of them; ``mark_oovs`` puts
    ``_OOV`` behind such words; ``max_length`` is that of a sentence, ``max_options`` the number of target sides of a
    source side.
    """

    def __init__(
        self,
        *,
        resources: Resources,
        cff: CffMode = "sum",
        cff_scale: float = 1.0,
        cff_lm: float = 0.9,
        cff_joins: bool = True,
        first_pass_path: Path | None = None,
        lm_mode: LmMode = "delta",
        samples: int = 0,
        temperature: float = 1.0,
        beam: int = 1,
        seed: int = 1,
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
    ) -> None:
        if samples < 0 or beam < 1 or seed < 0:
            raise UsageError("umt: expected samples and seed of 0 or more, and a beam of 1 or more")
        if not (temperature > 0 and math.isfinite(temperature)):
            raise UsageError(f"umt: temperature: expected a number above 0, found {temperature}")
        if samples and beam > 1:
            raise UsageError("umt: expected samples or a beam, found both")
        self.search = Search(samples, temperature, beam, seed)
        self.lm_mode: LmMode = lm_mode
        own = [one for one in resources.features if isinstance(one.feature, Cff)]
        if len(own) > 1:
            raise UsageError(f"umt: expected one feature cff, found {', '.join(one.label for one in own)}")
        if own:
            self.cff, self.cff_label = own[0].feature, own[0].label
        else:
            self.cff = Cff(mode=cff, scale=cff_scale, first_pass_path=first_pass_path, lm=cff_lm, joins=cff_joins)
            self.cff_label = "cff"
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
        self._configured = resources.weights
        super().__init__(Forests(resources, conventions))

    @property
    def notes(self) -> list[str]:
        """What a user should know of a run."""
        late = self.working().completed
        if not late:
            return []
        return [f"decoder umt: {', '.join(late)} cannot be scored in part: counted when all below a rule is known"]

    def working(self) -> Working:
        """The features at work, for one thread."""
        features = self.forests.resources.features
        return Working(features, self.forests.stateful, self.cff, self.cff_label, self.lm_mode)

    def system(self, weights: Mapping[str, float]) -> System:
        """The tables under weights, and under those of the first pass."""
        first = self.cff.first_pass(self.cff_label, weights, self._configured)
        weighted = self.forests.weighted(weights)
        return System(weighted, weighted if first == weights else self.forests.weighted(first), first)

    def kept_first_pass(self, weights: Mapping[str, float]) -> dict[str, float]:
        """The weights that bounds are made with, by the names under which they stay with learnt ones."""
        first = self.cff.first_pass(self.cff_label, weights, self._configured)
        return {f"{self.cff_label}:{name}": value for name, value in first.items() if self.cff.components}

    def worker(self, system: System, graphs: bool) -> _Worker:
        """What decodes in one thread."""
        return _Worker(system, self.working(), self.search, graphs)

    def task(
        self, sentences: Sequence[Sentence], references: Sequence[Sequence[str]], metric: Metric, model: Model
    ) -> Task:
        """Its decisions, to be learnt."""
        from smtplugins.plugins.umt.growing.task import make_task

        return make_task(self, sentences, references, metric, model.weights)


@dataclass(frozen=True)
class System:
    """Tables under the weights of a run, and under those that bounds are made with."""

    weighted: Weighted
    first: Weighted
    first_pass: Mapping[str, float]

    def forest(self, sentence: Sentence) -> tuple[SentenceForest, Array]:
        """The forest of a sentence, whose rules have scores, and the scores that bounds are made of."""
        forest = self.weighted.forest(sentence)
        if self.first is self.weighted:
            return forest, forest.scores
        times = Times()
        with times("parsing"):
            bounds = self.first.scores_of(forest)
        forest.stats.update(added(forest.stats, times.sums))
        return forest, bounds


@dataclass(frozen=True)
class Derivation:
    """A tree that was grown; scores of its edges and the columns that lists show, a row for each step."""

    grown: Grown
    tree: GrownTree
    scores: Array
    shown: Array

    @cached_property
    def score(self) -> float:
        """Of the whole: the bounds do not count."""
        return float(self.scores.sum())


class _Worker:
    """Decodes one sentence after the other, in one thread."""

    def __init__(self, system: System, working: Working, search: Search, graphs: bool) -> None:
        self._system = system
        self._graphs = graphs
        self._working = working
        self._search = search
        weights = system.weighted.weights
        self._column = working.column(weights)
        self._shown = [weights.get(name, 0.0) for name in working.shown]
        self._estimates = working.estimates(system.first_pass)
        self._conventions = system.weighted.maker.conventions

    def decode(self, sentence: Sentence) -> Decoding:
        from smtplugins.core.search.stateful_search import forest_of_parse

        forest, bounds = self._system.forest(sentence)
        times = Times()
        found: list[Derivation] = []
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
                scored = sum(one.scored for one in trees)
                found = [self._derivation(one, forest, given) for one in trees]
                # A stable order: the one grown first is the first of equals.
                found.sort(key=lambda one: -one.score)
        best = found[0] if found else None
        with times("output"):
            if best is not None:
                text = self._conventions.shown(best.tree.text())
            else:
                # Joshua gives the sentence back.
                text = sentence.text if self._conventions.joshua else ""
        counts = {"pops": sum(len(one.grown) for one in found), "lm_queries": scored}
        return Decoding(
            id=sentence.id,
            best=text,
            score=None if best is None else best.score,
            features={} if best is None else self._features(forest, best),
            graph=(lambda: self._graph(forest, found)) if self._graphs else None,
            shown=self._conventions.shown,
            trace=lambda: ["no derivation"] if best is None else traced(best.tree, best.grown, self._working.names),
            built=lambda: [] if best is None else built(best.tree, best.grown),
            stats=added({**forest.stats, **counts}, times.sums),
            found=best is not None,
        )

    def _grown(self, searcher: Searcher) -> list[Grown]:
        """The trees, each once."""
        options = self._search
        if options.beam > 1:
            return beams(searcher, options.beam)
        first = searcher.follow()
        once = {frozenset(first.actions[:, 0].tolist()): first}
        for number in range(options.samples):
            seed = options.seed * 1_000_003 + number
            one = searcher.draw(temperature=options.temperature, seed=seed)
            once.setdefault(frozenset(one.actions[:, 0].tolist()), one)
        return list(once.values())

    def _derivation(self, grown: Grown, forest: SentenceForest, given: SearchForest) -> Derivation:
        import numpy as np

        tree = GrownTree.of(forest.forest, grown.actions)
        shown = self._working.told(grown, given, len(forest.scores))
        scores = forest.scores[tree.rules()].astype(np.float64) + shown @ np.array(self._shown, dtype=np.float64)
        return Derivation(grown, tree, scores, shown)

    def _features(self, forest: SentenceForest, one: Derivation) -> dict[str, float]:
        sums = forest.sums(one.tree.rules().tolist())
        return sums | dict(zip(self._working.shown, one.shown.sum(axis=0).tolist(), strict=True))

    def _graph(self, forest: SentenceForest, found: Sequence[Derivation]) -> Hypergraph:
        from smtplugins.core.search.refining import hypergraph_of

        made = kept((one.tree, one.scores, one.shown) for one in found)
        return hypergraph_of(forest.forest, made, forest.features, self._working.shown, id=forest.sentence.id)
