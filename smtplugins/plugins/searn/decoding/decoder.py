"""The decoder ``amasis``: from left to right with a stack of fragments, which labels of a policy put together.

D. Zhang, L. Sun, W. Li, "A Structured Prediction Approach for Statistical Machine Translation" (2008), section 5.
Options of a sentence are those of phrase decoders (``host/decode/forests.py``), the search is native
(``native/amasis_*``).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from smtplugins.contracts.contracts import Decoding
from smtplugins.core.search.stateful_search import SearchLimit, forest_of_parse
from smtplugins.host.decode.forest_decoding import ForestDecoder
from smtplugins.host.decode.forests import Conventions, Forests, Times, added
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.features.stateful import SearchScorers
from smtplugins.plugins.searn.decoding.following import Follower, load_policy, monotone
from smtplugins.plugins.searn.decoding.fragments import Sums, built, hypergraph_of_fragments, traced
from smtplugins.plugins.searn.decoding.history import COLUMNS, ItgHistory
from smtplugins.plugins.searn.labels.nulls import NULL, NULLS, null_rules

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.config.resources import Resources
    from smtplugins.host.decode.forests import SentenceForest, Weighted
    from smtplugins.host.features.scoring import Active
    from smtplugins.plugins.searn._searn import Amasis as Searcher
    from smtplugins.plugins.searn._searn import AmasisGraph
    from smtplugins.plugins.searn.learning.policy import Policy


@dataclass(frozen=True)
class Search:
    """How sentences are searched."""

    stack_size: int
    beam_threshold: float
    labels: int
    decide: str
    seed: int
    strings: bool
    max_edges: int


class Amasis(ForestDecoder["Weighted"]):
    """Left to right, a stack of fragments for each hypothesis.

    For each option of the next source words a policy names a label: the option is put on the stack as a fragment, and
    the reductions of the label join the two fragments on top, in order or in reverse order. Reductions that the stack
    is too low for are left out, and what is left at the end is joined in order.

    ``policy_path`` is a model of ``smt searn train`` or a policy in it; without one it is that of the feature
    ``itg-history``. ``policy=monotone`` needs none: everything stays in the order of the source. Where a policy is a
    mixture, ``decide`` lets all ``vote`` with their shares, asks one that is a ``draw`` for each decision (from
    ``seed``), or the ``last`` one. ``labels`` is how many labels are tried, 0 for all; if there are more than one, only
    those that reduce what can be reduced as soon as that is possible.

    For each number of source words ``stack_size`` hypotheses are kept (0: all) and none whose probability is less than
    ``beam_threshold`` times that of the best. Hypotheses are one if features cannot tell their fragments apart, with
    ``recombine=strings`` if the words of these are the same, too.

    ``nulls_path`` are words that may be left out, each with the probability that it has no translation, as ``smt searn
    label`` writes them; those below ``null_threshold`` are not used. The logarithm is the feature ``null``.

    ``max_phrase_length`` is that of source sides, ``max_options`` the number of target sides for the same words (0:
    all), for each table that has no limit of its own. Words without an option of their own are copied.
    """

    def __init__(
        self,
        *,
        resources: Resources,
        policy: Literal["learnt", "monotone"] = "learnt",
        policy_path: Path | None = None,
        decide: Literal["vote", "draw", "last"] = "vote",
        seed: int = 1,
        labels: int = 1,
        stack_size: int = 100,
        beam_threshold: float = 0.0,
        recombine: Literal["states", "strings"] = "states",
        nulls_path: Path | None = None,
        null_threshold: float = 0.0,
        max_phrase_length: int = 20,
        max_options: int = 20,
        max_edges: int = 1 << 28,
    ) -> None:
        for name, value, least in (
            ("seed", seed, 0),
            ("labels", labels, 0),
            ("stack_size", stack_size, 0),
            ("max_phrase_length", max_phrase_length, 1),
            ("max_options", max_options, 0),
            ("max_edges", max_edges, 1),
        ):
            if value < least:
                raise UsageError(f"amasis: {name}: expected {least} or more, found {value}")
        for name, share in (("beam_threshold", beam_threshold), ("null_threshold", null_threshold)):
            if not 0.0 <= share <= 1.0:
                raise UsageError(f"amasis: {name}: expected a probability, found {share}")
        own = [one for one in resources.features if isinstance(one.feature, ItgHistory)]
        self._history = _only(own)
        self._follower = Follower(_policy(policy, policy_path, self._history))
        rest = tuple(one for one in resources.features if one not in own)
        for one in rest:
            if "segmentation" in one.offer.needs:
                raise UsageError(
                    f"amasis: feature {one.label!r} needs phrases one behind the other: fragments are put together in "
                    "the order that labels say, which the decoder phrase does not"
                )
        conventions = Conventions(
            goal=None, glue=False, pass_through="unknown", max_span=max_phrase_length, max_options=max_options
        )
        silent = null_rules(nulls_path, null_threshold) if nulls_path is not None else []
        self._silent = bool(silent)
        super().__init__(
            Forests(replace(resources, features=rest), conventions, own={NULLS: silent} if silent else None)
        )
        self._search = Search(stack_size, beam_threshold, labels, decide, seed, recombine == "strings", max_edges)

    def system(self, weights: Mapping[str, float]) -> Weighted:
        """The tables under weights; the policy knows their rules."""
        if self._silent and NULL not in weights:
            raise UsageError(f"amasis: expected a weight of {NULL!r}, as words may be left out, found none")
        weighted = self.forests.weighted(weights)
        columns = self.forests.static_columns()
        for owner, one in columns:
            if len(one.source) and int(one.source.min()) < 0:
                raise UsageError(f"{owner}: expected phrases, found rules with gaps: the decoder hiero is for them")
        self._follower.begin(self.forests.tables, sum(len(one) for _, one in columns))
        return weighted

    def worker(self, system: Weighted, graphs: bool) -> _Worker:
        """What decodes in one thread."""
        return _Worker(system, self._follower, self._history, self._search, graphs)


def _only(own: Sequence[Active]) -> Active | None:
    if len(own) > 1:
        raise UsageError(f"amasis: expected one feature itg-history, found {', '.join(one.label for one in own)}")
    return own[0] if own else None


def _policy(kind: str, path: Path | None, history: Active | None) -> Policy:
    """The policy to follow; that of the feature has to be the same."""
    if kind == "monotone":
        if path is not None:
            raise UsageError("amasis: expected policy=monotone or policy_path, found both")
        found = monotone()
    elif path is not None:
        found = load_policy(path)
    elif history is not None:
        found = history.feature.policy
    else:
        raise UsageError(
            "amasis: expected policy_path, a model that `smt searn train` made, found none (policy=monotone leaves all "
            "in the order of the source)"
        )
    if history is not None and history.feature.policy.digest() != found.digest():
        raise UsageError(f"amasis: feature {history.label!r} has another policy than the decoder")
    return found


class _Worker:
    """Decodes one sentence after the other, in one thread."""

    def __init__(
        self, weighted: Weighted, follower: Follower, history: Active | None, search: Search, graphs: bool
    ) -> None:
        self._weighted = weighted
        self._follower = follower
        self._labels = follower.labels()
        self._search = search
        self._graphs = graphs
        self._scorers = SearchScorers(weighted.maker.stateful)
        self._searcher: Searcher | None = None
        self._own = () if history is None else history.feature.names(history.label)
        self.names: list[str] = []

    def decode(self, sentence: Sentence) -> Decoding:
        if sentence.lattice is not None:
            raise UsageError(f"sentence {sentence.id}: amasis: expected words, found a lattice")
        times = Times()
        made = self._weighted.forest(sentence)
        with times("search"):
            searcher = self._prepared(sentence, made)
            sums, fragments = self._follower.sums(made)
            given = forest_of_parse(made.forest, made.scores)
            try:
                found = searcher.search(given, sums, fragments, zlib.crc32(sentence.id.encode()))
            except SearchLimit:
                text = f"more than {self._search.max_edges} hypotheses: lower stack_size or raise max_edges"
                raise SmtError(f"sentence {sentence.id}: {text}") from None
        # A sentence without words has a translation without words.
        there = bool(found.nodes) or not sentence.tokens
        with times("output"):
            best = " ".join(map(made.forest.tables.words.word, found.words.tolist()))
        counts = {"hypotheses": found.made, "lm_queries": found.asked}
        labels = self._follower.policy.labels
        return Decoding(
            id=sentence.id,
            best=best,
            score=found.score if there else None,
            features=Sums(made, found, self.names),
            graph=(lambda: self._graph(made, found)) if self._graphs else None,
            trace=lambda: traced(made, found, labels),
            built=lambda: built(made, found),
            stats=added({**made.stats, **counts}, times.sums),
            found=there,
        )

    def _graph(self, made: SentenceForest, found: AmasisGraph) -> Hypergraph:
        return hypergraph_of_fragments(made.forest, found, made.features, self.names, id=made.sentence.id)

    def _prepared(self, sentence: Sentence, made: SentenceForest) -> Searcher:
        """The search with the features' scorers ready for the sentence."""
        import numpy as np

        from smtplugins.core.search.stateful_search import joint_scorer
        from smtplugins.plugins.searn._searn import Amasis as Native

        parts, same = self._scorers.prepared(sentence, made.forest.tables.words)
        if self._searcher is None or not same:
            weights = self._weighted.weights
            stateful = self._scorers.weighted(parts, weights)
            self.names = [*(name for one in stateful for name in one.names), *self._own]
            by = [*(weight for one in stateful for weight in one.weights)]
            by += [weights.get(name, 0.0) for name in self._own] or [0.0] * len(COLUMNS)
            search = self._search
            self._searcher = Native(
                joint_scorer(stateful),
                np.array(by, dtype=np.float64),
                self._labels,
                search.stack_size,
                _lack(search.beam_threshold),
                search.labels,
                search.decide,
                search.seed,
                bool(self._own),
                search.strings,
                self._graphs,
                search.max_edges,
            )
        return self._searcher


def _lack(probability: float) -> float:
    """What a score may be below another one."""
    return -math.log(probability) if probability > 0 else math.inf
