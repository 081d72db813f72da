"""The decoder ``amasis``: left-to-right beam search with a stack of fragments, which a policy's labels combine.

D. Zhang, L. Sun, W. Li, "A Structured Prediction Approach for Statistical Machine Translation" (2008), section 5.
The phrases of a sentence are those of phrase decoders (``host/decode/parsing.py``), the search is native
(``native/amasis_*``).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.options import check_bounds, fill, option
from smtplugins.contracts.tools.decoding import (
    ForestDecoder,
    PhraseTableOptions,
    SentenceParser,
    Times,
    added,
    check_phrases,
    nats,
)
from smtplugins.contracts.tools.features import SearchScorers
from smtplugins.contracts.tools.search import SearchLimit, forest_of_parse, joint_scorer
from smtplugins.plugins.searn.decoding.following import Follower, load_policy, monotone
from smtplugins.plugins.searn.decoding.fragments import built, hypergraph_of_fragments, path_features, traced
from smtplugins.plugins.searn.decoding.history import COLUMNS, ItgHistory
from smtplugins.plugins.searn.labels.nulls import NULL, NULLS, null_rules

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.decoding import Resources, SentenceForest, WeightedParser
    from smtplugins.contracts.tools.features import Active
    from smtplugins.contracts.tools.graphs import Hypergraph
    from smtplugins.plugins.searn._searn import Amasis as Searcher
    from smtplugins.plugins.searn._searn import AmasisGraph
    from smtplugins.plugins.searn._searn import AmasisOptions as NativeOptions
    from smtplugins.plugins.searn.learning.policy import Policy


@dataclass(frozen=True, kw_only=True)
class AmasisOptions(PhraseTableOptions):
    """The options of the decoder ``amasis``."""

    policy: Literal["learnt", "monotone"] = option(
        "learnt", "`monotone` needs no model: every label is `S,R+`, the order of the source"
    )
    policy_path: Path | None = option(
        None, "a model of `smt searn train`, or a policy in it; else that of the feature `itg-history`"
    )
    decide: Literal["vote", "draw", "last"] = option(
        "vote",
        "how a mixture decides: all vote by their shares, one is drawn for each decision, or the last one decides",
    )
    seed: int = option(1, "seed of the draws", least=0)
    labels: int = option(
        1, "labels tried for each option, 0 for all; if several, only those that reduce as soon as possible", least=0
    )
    stack_size: int = option(100, "hypotheses kept for each number of source words, 0 for all", least=0)
    beam_threshold: float = option(
        0.0, "drop hypotheses less probable than this times the best of their stack; 0 for none", probability=True
    )
    recombine: Literal["states", "strings"] = option(
        "states", "recombine hypotheses whose fragments have equal feature states; `strings`: and the same words"
    )
    nulls_path: Path | None = option(
        None, "words that may be left out, each with the probability that it has no translation (`smt searn label`)"
    )
    null_threshold: float = option(0.0, "ignore words of that file below this probability", probability=True)
    max_options: int = 20
    max_edges: int = option(1 << 28, "limit of the hypotheses of a sentence; more are an error", least=1)

    def __post_init__(self) -> None:
        check_bounds(self, "amasis")

    def native(self, **more: Any) -> NativeOptions:
        """The options of the native search."""
        from smtplugins.plugins.searn._searn import AmasisOptions as Native

        return fill(Native, self, beam=nats(self.beam_threshold), strings=self.recombine == "strings", **more)


class Amasis(ForestDecoder["WeightedParser"]):
    """Left to right, a stack of fragments for each hypothesis.

    For each option of the next source words a policy names a label: the option is put on the stack as a fragment, and
    the reductions of the label join the two fragments on top, in order or in reverse order. Reductions for which the
    stack has too few fragments are skipped, and the fragments left at the end are joined in order. Words without an
    option are copied; the feature ``null`` is the logarithm of the probability that a left-out word has no translation.
    """

    usual_features = ("lm", "word-penalty", "oov,value=-100,tuneable=false")

    def __init__(self, *, resources: Resources, options: AmasisOptions) -> None:
        own = [active for active in resources.features if isinstance(active.feature, ItgHistory)]
        self._history = _only(own)
        self._follower = Follower(_policy(options.policy, options.policy_path, self._history))
        rest = tuple(active for active in resources.features if active not in own)
        for active in rest:
            if "segmentation" in active.offer.needs:
                raise UsageError(
                    f"amasis: feature {active.label!r} needs phrases appended from left to right, but labels combine "
                    "fragments in any order: use it with the decoder phrase"
                )
        silent = null_rules(options.nulls_path, options.null_threshold) if options.nulls_path is not None else []
        self._silent = bool(silent)
        self._options = options
        self.start_weights: Mapping[str, float] = {NULL: 0.2} if silent else {}
        own_rules = {NULLS: silent} if silent else None
        super().__init__(
            SentenceParser(replace(resources, features=rest), options.parsing(), options.input_options(), own=own_rules)
        )

    def system(self, weights: Mapping[str, float]) -> WeightedParser:
        """Apply weights to the tables; the policy numbers their rules."""
        if self._silent and NULL not in weights:
            raise UsageError(f"amasis: expected a weight of {NULL!r}, as words may be left out, found none")
        weighted = self.parser.weighted(weights)
        columns = self.parser.static_columns()
        for owner, part in columns:
            check_phrases(owner, part)
        self._follower.begin(self.parser.tables, sum(len(part) for _, part in columns))
        return weighted

    def worker(self, system: WeightedParser, graphs: bool) -> _Worker:
        """Make a decoder for one thread."""
        return _Worker(system, self._follower, self._history, self._options, graphs)


def _only(own: Sequence[Active]) -> Active | None:
    if len(own) > 1:
        raise UsageError(f"amasis: expected one feature itg-history, found {', '.join(active.label for active in own)}")
    return own[0] if own else None


def _policy(kind: str, path: Path | None, history: Active | None) -> Policy:
    """The policy to follow; the feature, if there is one, must have the same."""
    if kind == "monotone":
        if path is not None:
            raise UsageError("amasis: expected policy=monotone or policy_path, found both")
        policy = monotone()
    elif path is not None:
        policy = load_policy(path)
    elif history is not None:
        policy = history.feature.policy
    else:
        raise UsageError(
            "amasis: expected policy_path, a model that `smt searn train` made, found none (policy=monotone leaves all "
            "in the order of the source)"
        )
    if history is not None and history.feature.policy.digest() != policy.digest():
        raise UsageError(f"amasis: feature {history.label!r} has another policy than the decoder")
    return policy


class _Worker:
    """Decodes sentences one by one, in one thread."""

    def __init__(
        self, weighted: WeightedParser, follower: Follower, history: Active | None, options: AmasisOptions, graphs: bool
    ) -> None:
        self._weighted = weighted
        self._follower = follower
        self._labels = follower.labels()
        self._own = () if history is None else history.feature.names(history.label)
        self._search = options.native(logs=bool(self._own), all_edges=graphs)
        self._graphs = graphs
        self._scorers = SearchScorers(weighted.parser.stateful)
        self._searcher: Searcher | None = None
        self.names: list[str] = []

    def decode(self, sentence: Sentence) -> Decoding:
        if sentence.lattice is not None:
            raise UsageError(f"sentence {sentence.id}: amasis: expected words, found a lattice")
        times = Times()
        forest = self._weighted.forest(sentence)
        with times("search"):
            searcher = self._prepared(sentence, forest)
            sums, fragments = self._follower.sums(forest)
            given = forest_of_parse(forest.forest, forest.scores)
            try:
                graph = searcher.search(given, sums, fragments, zlib.crc32(sentence.id.encode()))
            except SearchLimit:
                text = f"more than {self._search.max_edges} hypotheses: lower stack_size or raise max_edges"
                raise SmtError(f"sentence {sentence.id}: {text}") from None
        # A sentence without words has a translation without words.
        there = bool(graph.nodes) or not sentence.tokens
        with times("output"):
            best = " ".join(map(forest.forest.tables.words.word, graph.words.tolist()))
        counts = {"hypotheses": graph.made, "lm_queries": graph.asked}
        labels = self._follower.policy.labels
        return Decoding(
            id=sentence.id,
            best=best,
            score=graph.score if there else None,
            features=path_features(forest, graph, self.names),
            graph=(lambda: self._graph(forest, graph)) if self._graphs else None,
            trace=lambda: traced(forest, graph, labels),
            built=lambda: built(forest, graph),
            stats=added({**forest.stats, **counts}, times.sums),
            found=there,
        )

    def _graph(self, forest: SentenceForest, graph: AmasisGraph) -> Hypergraph:
        return hypergraph_of_fragments(forest.forest, graph, forest.features, self.names, id=forest.sentence.id)

    def _prepared(self, sentence: Sentence, forest: SentenceForest) -> Searcher:
        """The search, with the features' scorers set up for the sentence."""
        from smtplugins.plugins.searn._searn import Amasis as Native

        parts, same = self._scorers.prepared(sentence, forest.forest.tables.words)
        if self._searcher is None or not same:
            weights = self._weighted.weights
            stateful = self._scorers.weighted(parts, weights)
            self.names = [*(name for feature in stateful for name in feature.names), *self._own]
            by = [weight for feature in stateful for weight in feature.weights]
            by += [weights.get(name, 0.0) for name in self._own] or [0.0] * len(COLUMNS)
            self._searcher = Native(joint_scorer(stateful), np.array(by, dtype=np.float64), self._labels, self._search)
        return self._searcher
