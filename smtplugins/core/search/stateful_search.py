"""Searches with stateful features: a forest without states in, one that knows them out.

Cube pruning (L. Huang and D. Chiang, "Forest Rescoring", 2007) looks at the best edges of each node and nothing else;
exact intersection looks at all. Both give every derivation they keep its exact score.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.hypergraph.graph import GraphColumns
    from smtplugins.core import _core
    from smtplugins.core._core import Refined as Refined
    from smtplugins.core._core import Searcher as Searcher
    from smtplugins.core._core import SearchForest as SearchForest
    from smtplugins.core.grammar.parsed_forest import Forest
    from smtplugins.core.graph.hypergraph import Hypergraph, Part
    from smtplugins.core.vocabulary import Vocabulary


class SearchLimit(RuntimeError):
    """More edges than a search was allowed to look at."""


class NativeFault(RuntimeError):
    """A feature in C failed, or did what its header forbids."""


@dataclass(frozen=True)
class Derivation:
    """One derivation of a refined forest; `edges` go from the goal, each before its children's."""

    edges: NDArray[Any]
    words: NDArray[Any]
    score: float


def forest_of(
    graph: GraphColumns | Hypergraph, scores: Any, *, phrases: bool = False
) -> tuple[_core.SearchForest, NDArray[Any]]:
    """A graph for searches, and which edge of the graph each of its edges is, -1 for what a start begins with.

    ``scores`` are numbers for the graph's edges, what stateful features will add left out. Target sides hold the word
    numbers of ``graph.grammar.words``. With ``phrases`` features see which source words each edge's own rule
    translates; a graph that does not say so is a ``NoPhrases``.
    """
    import numpy as np

    from smtplugins.core._core import SearchForest

    grammar = graph.grammar
    if len(graph.rules) and int(np.min(graph.rules)) < 0:
        raise ValueError("a search needs the rule of every edge")
    heads = graph.heads.astype(np.int64)
    edge_scores = np.asarray(scores, dtype=np.float32)
    if edge_scores.shape != heads.shape:
        raise ValueError(f"expected {len(heads)} scores, one for each edge, found shape {edge_scores.shape}")

    # A start is derived from nothing: by a rule without words.
    starts = np.flatnonzero(np.diff(graph.edge_offsets) == 0)
    edges = np.concatenate([np.arange(len(heads)), np.full(len(starts), -1, dtype=np.int64)])
    heads = np.concatenate([heads, starts])
    widths = np.concatenate([np.diff(graph.tail_offsets), np.zeros(len(starts), dtype=np.int64)]).astype(np.int64)
    widest = int(widths.max(initial=0))
    tails = np.full((len(heads), widest), -1, dtype=np.int64)
    tails[np.arange(widest) < widths[:, None]] = graph.tails

    # Edges by head and tails; those of a group stay in their order.
    order = np.lexsort([*tails.T[::-1], heads])
    keys = np.column_stack([heads, tails])[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    firsts = np.flatnonzero(fresh)
    bundle_heads, bundle_tails = keys[firsts, 0], keys[firsts, 1:]

    # A rule for each rule of the grammar, each score and each place it comes with.
    numbers = np.concatenate([graph.rules, np.full(len(starts), -1, dtype=np.int64)]).astype(np.int64)
    all_scores = np.concatenate([edge_scores, np.zeros(len(starts), dtype=np.float32)])
    fields: list[tuple[str, Any, Any]] = [("rule", np.int64, numbers), ("score", np.float32, all_scores)]
    if phrases:
        from smtplugins.core.search.phrase_spans import phrase_spans

        ends = [np.concatenate([one, np.zeros(len(starts), dtype=np.int32)]) for one in phrase_spans(graph)]
        fields += [("first", np.int32, ends[0]), ("last", np.int32, ends[1])]
    pairs = np.empty(len(order), dtype=[(name, kind) for name, kind, _ in fields])
    for name, _, column in fields:
        pairs[name] = column
    kinds, kind_of = np.unique(pairs, return_inverse=True)
    targets = [
        grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]] if rule >= 0 else ()
        for rule in kinds["rule"].tolist()
    ]
    forest = SearchForest.of(
        labels=_ints(graph.node_labels),
        firsts=np.full(graph.nodes, -1, dtype=np.int32),
        lasts=np.full(graph.nodes, -1, dtype=np.int32),
        node_bundles=_ends(np.bincount(bundle_heads, minlength=graph.nodes)),
        tails=_ints(bundle_tails[bundle_tails >= 0]),
        tail_offsets=_ends((bundle_tails >= 0).sum(axis=1)),
        rules=_ints(kind_of.reshape(-1)[order]),
        rule_offsets=np.append(firsts, len(order)).astype(np.int64),
        targets=_ints(np.concatenate([np.empty(0, dtype=np.int32), *targets])),
        target_offsets=_ends([len(one) for one in targets]),
        scores=np.ascontiguousarray(kinds["score"]),
        rule_firsts=_ints(kinds["first"]) if phrases else None,
        rule_lasts=_ints(kinds["last"]) if phrases else None,
    )
    return forest, edges[order]


def forest_of_parse(forest: Forest, scores: Any = None) -> _core.SearchForest:
    """What a parser made, for searches; ``scores`` of its rules replace those it was parsed with."""
    import numpy as np

    from smtplugins.core._core import ParsedForest, SearchForest

    if not isinstance(forest.native, ParsedForest):
        # One that was edited (``core/search/phrase_options.py``).
        return forest.native.search_forest(scores)
    return SearchForest.of_parsed(forest.native, None if scores is None else np.ascontiguousarray(scores, np.float32))


def best(refined: _core.Refined, forest: _core.SearchForest) -> Derivation | None:
    """The best derivation of a refined forest; ``None`` if there is none."""
    edges, words, score = refined.derivation(forest)
    return Derivation(edges, words, score) if len(edges) else None


class _Contract:
    """A scorer of the contracts (``combine``, ``finish``, ``estimate``) as native searches call one.

    States are numbered as they come: native code compares numbers. The native order of an edge's tails is that of its
    source side, that of the contracts follows the target side. A scorer that takes edges one by one may have
    ``combine_targets``, whose target sides are lists that were made once.
    """

    def __init__(self, scorer: Any, vocabulary: Vocabulary, components: int) -> None:
        self._scorer = scorer
        self._vocabulary = vocabulary
        self._components = components
        self._by_targets = getattr(scorer, "combine_targets", None)
        self._targets: dict[int, list[str | int]] = {}
        self._numbers: dict[Any, int] = {}
        self._states: list[Any] = []
        self._finished: dict[int, NDArray[Any]] = {}

    def prepare(
        self,
        targets: NDArray[Any],
        offsets: NDArray[Any],
        firsts: NDArray[Any] | None = None,
        lasts: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        import numpy as np

        self._firsts, self._lasts = firsts, lasts
        self._targets.clear()
        self._numbers.clear()
        self._states.clear()
        self._finished.clear()
        symbols = targets.tolist()
        self._rules: list[list[int]] = []
        self._gaps: list[list[int]] = []
        for first, last in itertools.pairwise(offsets.tolist()):
            gaps = [-1 - one for one in symbols[first:last] if one < 0]
            places = {gap: -1 - k for k, gap in enumerate(gaps)}
            self._rules.append([one if one >= 0 else places[-1 - one] for one in symbols[first:last]])
            self._gaps.append(gaps)
        if not self._rules:
            return np.empty(0, dtype=np.float32)
        return self._values(self._scorer.estimate(self._edges(range(len(self._rules)))), len(self._rules))

    def combine(
        self, rules: NDArray[Any], tails: NDArray[Any], offsets: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        import numpy as np

        below, firsts, chosen = tails.tolist(), offsets.tolist(), rules.tolist()
        states = [
            [self._states[below[first + gap]] for gap in self._gaps[rule]]
            for rule, first in zip(chosen, firsts, strict=False)
        ]
        if self._by_targets is None:
            scores, results = self._scorer.combine(self._edges(chosen), states)
        else:
            scores, results = self._by_targets(list(map(self._target, chosen)), states)
        return self._values(scores, len(chosen)), np.array([self._number(one) for one in results], dtype=np.int64)

    def finish(self, state: int) -> NDArray[Any]:
        known = self._finished.get(state)
        if known is None:
            known = self._finished[state] = self._values(self._scorer.finish([self._states[state]]), 1)
        return known

    def _target(self, rule: int) -> list[str | int]:
        found = self._targets.get(rule)
        if found is None:
            word = self._vocabulary.word
            found = [word(symbol) if symbol >= 0 else -1 - symbol for symbol in self._rules[rule]]
            self._targets[rule] = found
        # A copy: whoever gets it may change it.
        return found.copy()

    def _edges(self, chosen: Iterable[int]) -> Any:
        import numpy as np

        from smtplugins.core.grammar.rules import Edges, Rules

        numbers = list(chosen)
        rows = [self._rules[one] for one in numbers]
        flat = np.array([symbol for row in rows for symbol in row], dtype=np.int32)
        rules = Rules(self._vocabulary, flat, _ends([len(row) for row in rows]))
        if self._firsts is None or self._lasts is None:
            return Edges(rules)
        return Edges(rules, self._firsts[numbers], self._lasts[numbers])

    def _number(self, state: Any) -> int:
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
        return number

    def _values(self, scores: Any, rows: int) -> NDArray[Any]:
        import numpy as np

        values = np.asarray(scores, dtype=np.float32).reshape(-1)
        if len(values) != rows * self._components:
            raise ValueError(f"expected {self._components} scores for each of {rows} edges, found {len(values)}")
        if not np.isfinite(values).all():
            raise ValueError("expected finite scores")
        return np.ascontiguousarray(values)


def contract_scorer(scorer: Any, vocabulary: Vocabulary, components: int = 1) -> _core.Scorer:
    """A scorer of the contracts, made for one sentence, for native searches; words are ids of ``vocabulary``."""
    from smtplugins.core._core import CallbackScorer

    return CallbackScorer(_Contract(scorer, vocabulary, components), components)


def lm_scorer(
    model: Any, words: Iterable[str], *, memo: bool = True, markers: bool = False, scale: float = 1.0
) -> _core.LmScorer:
    """A language model for searches; word i of target sides is the i-th of ``words``. Its value is a log10 times scale.

    ``markers``: the rules hold ``<s>`` and ``</s>`` themselves, as the glue rules of Moses and Joshua do. ``<s>`` at
    the start of a target side begins the sentence then, ``</s>`` is a word, and the goal adds nothing.

    ``scorer.add_words(model.ids(more))`` puts words behind those that it has. ``scorer.share_words(other)`` takes the
    words of another scorer of the model without copying those that one was made with.
    """
    from smtplugins.core._core import lm_scorer as native

    scorer = native(model, memo, markers, scale)
    scorer.set_words(model.ids(list(words)))
    return scorer


# The words of vocabularies as features in C read them.
_WORDS: WeakKeyDictionary[Vocabulary, _core.WordTexts] = WeakKeyDictionary()


def is_lm_scorer(scorer: Any) -> bool:
    """Whether a scorer is that of a language model."""
    from smtplugins.core._core import LmScorer

    return isinstance(scorer, LmScorer)


def native_words(vocabulary: Vocabulary) -> _core.WordTexts:
    """A vocabulary for features in C; called again it has the words that came since, for sentences begun before too."""
    from smtplugins.core._core import WordTexts

    words = _WORDS.get(vocabulary)
    if words is None:
        words = _WORDS.setdefault(vocabulary, WordTexts())
    first = len(words)
    words.add(first, [vocabulary.word(number) for number in range(first, len(vocabulary))])
    return words


def native_scorer(feature: Any, vocabulary: Vocabulary, sentence: Any, *, name: str = "") -> _core.TableScorer:
    """A feature in C for searches: a capsule ``smt_feature_v1`` (see ``smt_feature.h``), or an object that has one.

    Words of target sides are ids of ``vocabulary``. The scorer is for one thread; :func:`start_native` takes it to the
    next sentence. ``scorer.names`` are those of its components; ``name`` is the feature's.
    """
    from smtplugins.core._core import TableScorer

    scorer = TableScorer(getattr(feature, "smt_feature_v1", feature), name or type(feature).__name__)
    start_native(scorer, vocabulary, sentence)
    return scorer


def start_native(scorer: _core.TableScorer, vocabulary: Vocabulary, sentence: Any) -> None:
    """Lets the scorer's next search begin a sentence (``id``, ``tokens``, ``annotations``) with the words known now."""
    notes = {str(name): str(value) for name, value in sentence.annotations.items()}
    scorer.start(sentence.id, list(sentence.tokens), list(notes), list(notes.values()), native_words(vocabulary))


@dataclass(frozen=True)
class Stateful:
    """A stateful feature for :func:`refine`: its scorer, and a name and a weight for each of its components."""

    scorer: _core.Scorer
    names: tuple[str, ...]
    weights: tuple[float, ...]


def searcher(features: Sequence[Stateful]) -> _core.Searcher:
    """Searches forests, one after another, in one thread at a time; joins of language models are kept between them.

    ``search(forest, ...)`` takes the options of :func:`refine`.
    """
    import numpy as np

    from smtplugins.core._core import Searcher

    scorer = joint_scorer(features)
    weights = np.array([weight for feature in features for weight in feature.weights], dtype=np.float64)
    return Searcher(scorer, weights)


def joint_scorer(features: Sequence[Stateful]) -> _core.Scorer:
    """Features as one, whose components are those of all in their order; of one feature, its own scorer."""
    from smtplugins.core._core import Scorers

    for feature in features:
        if not len(feature.names) == len(feature.weights) == feature.scorer.components:
            wanted = f"{feature.scorer.components} names and weights, one for each component"
            raise ValueError(f"expected {wanted}, found {len(feature.names)} and {len(feature.weights)}")
    parts = [feature.scorer for feature in features]
    return parts[0] if len(parts) == 1 else Scorers(parts)


def refine(graph: Hypergraph, features: Sequence[Stateful], *, phrases: bool = False, **options: Any) -> Part:
    """Intersect a graph that has scores with stateful features: nodes of the result know the features' states.

    ``options`` are those of the search: ``exact=True`` for all derivations, or ``pop_limit``, ``adapt``, ``beam``,
    ``early_begin``, ``all_edges``; ``max_edges`` for both. Each edge keeps its features and gets the stateful ones' in
    columns of ``dense``. Words of target sides are numbered as in ``graph.grammar.words``; ``phrases`` as for
    :func:`forest_of`.
    """
    import numpy as np

    from smtformats.grammar.shared.gather import Numbering
    from smtplugins.core.graph.hypergraph import Part, core_graph

    if graph.edge_scores is None:
        raise ValueError("a search needs the scores of edges: graph.reweighted(weights) has them")
    forest, edges = forest_of(graph, graph.edge_scores, phrases=phrases)
    refined = searcher(features).search(forest, **options)

    bundles = np.repeat(np.arange(len(refined.tail_offsets) - 1), np.diff(refined.rule_offsets))
    starts, widths = refined.tail_offsets[:-1][bundles], np.diff(refined.tail_offsets)[bundles]
    tail_offsets = _ends(widths)
    tails = refined.tails[np.repeat(starts - tail_offsets[:-1], widths) + np.arange(tail_offsets[-1])]
    chosen = edges[refined.edge_of]
    core = core_graph(refined.rule_offsets[refined.node_bundles], tails, tail_offsets)
    made = graph.part(core, refined.node_of, chosen, refined.scores.copy())

    numbering = Numbering(graph.names)
    names = [numbering.add(name) for feature in features for name in feature.names]
    dense = np.column_stack([made.dense, refined.values.reshape(len(chosen), len(names))])
    named = replace(made, names=numbering.table(), dense=dense, dense_names=_ints([*made.dense_names.tolist(), *names]))
    return Part(named, chosen)


def _ints(values: Any) -> NDArray[Any]:
    import numpy as np

    return np.ascontiguousarray(values, dtype=np.int32)


def _ends(counts: Any) -> NDArray[Any]:
    import numpy as np

    return np.concatenate([[0], np.cumsum(np.asarray(counts, dtype=np.int64))]).astype(np.int64)
