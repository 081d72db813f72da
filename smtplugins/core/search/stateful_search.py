"""Search forests with stateful features: intersect a forest with the features' states.

Cube pruning (L. Huang and D. Chiang, "Forest Rescoring", 2007) expands only the best edges of each node; exact
intersection expands all. Both give every derivation they keep its exact score.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from smtformats.grammar.shared.gather import Numbering
from smtformats.records import dataclass
from smtplugins.core import _core
from smtplugins.core._core import Refined as Refined
from smtplugins.core._core import Searcher as Searcher
from smtplugins.core._core import SearchForest as SearchForest
from smtplugins.core.grammar.rules import Edges, Rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.hypergraph.graph import GraphColumns
    from smtplugins.core.grammar.parsed_forest import Forest
    from smtplugins.core.graph.hypergraph import Hypergraph, Subgraph
    from smtplugins.core.vocabulary import Vocabulary


class SearchLimit(RuntimeError):
    """A search needed more edges than allowed."""


class NativeFault(RuntimeError):
    """A feature in C failed or broke the contract of its header."""


@dataclass(frozen=True)
class BestDerivation:
    """One derivation of a refined forest; `edges` start at the goal, each before those of its children."""

    edges: NDArray[Any]
    words: NDArray[Any]
    score: float


def forest_of(
    graph: GraphColumns | Hypergraph, scores: Any, *, phrases: bool = False
) -> tuple[_core.SearchForest, NDArray[Any]]:
    """Convert a graph for searches; also return the graph's edge behind each edge, -1 for edges into start nodes.

    ``scores`` are the scores of the graph's edges without the stateful features. Words of target sides are numbered as
    in ``graph.grammar.words``. With ``phrases``, features see the source words that each edge's own rule translates;
    raises ``NoPhrases`` if the graph does not have them.
    """
    import numpy as np

    grammar = graph.grammar
    if len(graph.rules) and int(np.min(graph.rules)) < 0:
        raise ValueError("a search needs a rule for every edge, found edges without one")
    heads = graph.heads.astype(np.int64)
    edge_scores = np.asarray(scores, dtype=np.float32)
    if edge_scores.shape != heads.shape:
        raise ValueError(f"expected {len(heads)} scores, one for each edge, found shape {edge_scores.shape}")

    # A start node gets an edge without tails, whose rule has no words.
    starts = np.flatnonzero(np.diff(graph.edge_offsets) == 0)
    edges = np.concatenate([np.arange(len(heads)), np.full(len(starts), -1, dtype=np.int64)])
    heads = np.concatenate([heads, starts])
    widths = np.concatenate([np.diff(graph.tail_offsets), np.zeros(len(starts), dtype=np.int64)]).astype(np.int64)
    widest = int(widths.max(initial=0))
    tails = np.full((len(heads), widest), -1, dtype=np.int64)
    tails[np.arange(widest) < widths[:, None]] = graph.tails

    # Group edges by head and tails, in stable order.
    order = np.lexsort([*tails.T[::-1], heads])
    keys = np.column_stack([heads, tails])[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    firsts = np.flatnonzero(fresh)
    bundle_heads, bundle_tails = keys[firsts, 0], keys[firsts, 1:]

    kinds, kind_of = _distinct_rules(graph, edge_scores, len(starts), phrases)
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
        target_offsets=_ends([len(target) for target in targets]),
        scores=np.ascontiguousarray(kinds["score"]),
        rule_firsts=_ints(kinds["first"]) if phrases else None,
        rule_lasts=_ints(kinds["last"]) if phrases else None,
    )
    return forest, edges[order]


def _distinct_rules(
    graph: GraphColumns | Hypergraph, edge_scores: Any, starts: int, phrases: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a row for each combination of grammar rule, score and span, and the row of each edge.

    The last ``starts`` edges are those without tails, into start nodes.
    """
    import numpy as np

    numbers = np.concatenate([graph.rules, np.full(starts, -1, dtype=np.int64)]).astype(np.int64)
    all_scores = np.concatenate([edge_scores, np.zeros(starts, dtype=np.float32)])
    fields: list[tuple[str, Any, Any]] = [("rule", np.int64, numbers), ("score", np.float32, all_scores)]
    if phrases:
        from smtplugins.core.search.phrase_spans import phrase_spans

        ends = [np.concatenate([column, np.zeros(starts, dtype=np.int32)]) for column in phrase_spans(graph)]
        fields += [("first", np.int32, ends[0]), ("last", np.int32, ends[1])]
    pairs = np.empty(len(numbers), dtype=[(name, kind) for name, kind, _ in fields])
    for name, _, column in fields:
        pairs[name] = column
    kinds, kind_of = np.unique(pairs, return_inverse=True)
    return kinds, kind_of


def forest_of_parse(forest: Forest, scores: Any = None) -> _core.SearchForest:
    """Convert a parsed forest for searches; ``scores`` replace the scores of its rules."""
    import numpy as np

    if not isinstance(forest.native, _core.ParsedForest):
        # An edited forest (``core/search/phrase_options.py``).
        return forest.native.search_forest(scores)
    return SearchForest.of_parsed(forest.native, None if scores is None else np.ascontiguousarray(scores, np.float32))


def best(refined: _core.Refined, forest: _core.SearchForest) -> BestDerivation | None:
    """The best derivation of a refined forest, None if there is none."""
    edges, words, score = refined.derivation(forest)
    return BestDerivation(edges, words, score) if len(edges) else None


class _Contract:
    """Adapt a scorer of the contracts (``combine``, ``finish``, ``estimate``) to native searches.

    States are numbered in order of arrival; native code compares the numbers. Natively the tails of an edge are in
    source order, in the contracts in target order. A scorer that takes edges one by one may have ``combine_targets``,
    which gets target sides as cached lists.
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
            gaps = [-1 - symbol for symbol in symbols[first:last] if symbol < 0]
            places = {gap: -1 - k for k, gap in enumerate(gaps)}
            self._rules.append([symbol if symbol >= 0 else places[-1 - symbol] for symbol in symbols[first:last]])
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
        return self._values(scores, len(chosen)), np.array([self._number(state) for state in results], dtype=np.int64)

    def finish(self, state: int) -> NDArray[Any]:
        known = self._finished.get(state)
        if known is None:
            known = self._finished[state] = self._values(self._scorer.finish([self._states[state]]), 1)
        return known

    def _target(self, rule: int) -> list[str | int]:
        target = self._targets.get(rule)
        if target is None:
            word = self._vocabulary.word
            target = [word(symbol) if symbol >= 0 else -1 - symbol for symbol in self._rules[rule]]
            self._targets[rule] = target
        # A copy, as the scorer may change it.
        return target.copy()

    def _edges(self, chosen: Iterable[int]) -> Any:
        import numpy as np

        numbers = list(chosen)
        rows = [self._rules[rule] for rule in numbers]
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
    """Adapt a scorer of the contracts, started for a sentence, to native searches; words are ids of ``vocabulary``."""
    return _core.CallbackScorer(_Contract(scorer, vocabulary, components), components)


def lm_scorer(
    model: Any, words: Iterable[str], *, memo: bool = True, markers: bool = False, scale: float = 1.0
) -> _core.LmScorer:
    """A language model scorer; word i of target sides is the i-th of ``words``. Values are log10 times ``scale``.

    ``markers``: the rules contain ``<s>`` and ``</s>``, as the glue rules of Moses and Joshua do. Then ``<s>`` at the
    start of a target side begins the sentence, ``</s>`` is a word, and the goal adds nothing.

    ``scorer.add_words(model.ids(more))`` appends words. ``scorer.share_words(other)`` takes the words of another scorer
    of the model; only words appended to that one are copied.
    """
    scorer = _core.lm_scorer(model, memo, markers, scale)
    scorer.set_words(model.ids(list(words)))
    return scorer


# The words of each vocabulary as features in C read them.
_WORDS: WeakKeyDictionary[Vocabulary, _core.WordTexts] = WeakKeyDictionary()


def is_lm_scorer(scorer: Any) -> bool:
    """Whether a scorer is a language model."""
    return isinstance(scorer, _core.LmScorer)


def native_words(vocabulary: Vocabulary) -> _core.WordTexts:
    """A vocabulary for features in C; calling again adds its new words, also for sentences that have started."""
    words = _WORDS.get(vocabulary)
    if words is None:
        words = _WORDS.setdefault(vocabulary, _core.WordTexts())
    first = len(words)
    words.add(first, [vocabulary.word(number) for number in range(first, len(vocabulary))])
    return words


def native_scorer(feature: Any, vocabulary: Vocabulary, sentence: Any, *, name: str = "") -> _core.TableScorer:
    """A scorer of a feature in C: a capsule ``smt_feature_v1`` (see ``smt_feature.h``), or an object that has one.

    Words of target sides are ids of ``vocabulary``. The scorer is for one thread; :func:`start_native` starts the next
    sentence. ``scorer.names`` are the names of its components; ``name`` is the name of the feature.
    """
    scorer = _core.TableScorer(getattr(feature, "smt_feature_v1", feature), name or type(feature).__name__)
    start_native(scorer, vocabulary, sentence)
    return scorer


def start_native(scorer: _core.TableScorer, vocabulary: Vocabulary, sentence: Any) -> None:
    """Start a sentence (``id``, ``tokens``, ``annotations``) for the scorer's next search, with the words known now."""
    notes = {str(name): str(value) for name, value in sentence.annotations.items()}
    scorer.start(sentence.id, list(sentence.tokens), list(notes), list(notes.values()), native_words(vocabulary))


@dataclass(frozen=True)
class Stateful:
    """A stateful feature for :func:`refine`: its scorer, and a name and a weight for each component."""

    scorer: _core.Scorer
    names: tuple[str, ...]
    weights: tuple[float, ...]


def searcher(features: Sequence[Stateful]) -> _core.Searcher:
    """A searcher for one forest after another, in one thread at a time; it caches language model scores between them.

    ``search(forest, options)`` takes the options of :func:`refine` as a ``SearchOptions``.
    """
    import numpy as np

    scorer = joint_scorer(features)
    weights = np.array([weight for feature in features for weight in feature.weights], dtype=np.float64)
    return Searcher(scorer, weights)


def joint_scorer(features: Sequence[Stateful]) -> _core.Scorer:
    """One scorer with the components of all features in order; of a single feature, its own scorer."""
    for feature in features:
        if not len(feature.names) == len(feature.weights) == feature.scorer.components:
            wanted = f"{feature.scorer.components} names and weights, one for each component"
            raise ValueError(f"expected {wanted}, found {len(feature.names)} and {len(feature.weights)}")
    parts = [feature.scorer for feature in features]
    return parts[0] if len(parts) == 1 else _core.Scorers(parts)


def refine(graph: Hypergraph, features: Sequence[Stateful], *, phrases: bool = False, **options: Any) -> Subgraph:
    """Intersect a scored graph with stateful features: each node of the result has one state of the features.

    ``options`` are search options: ``exact=True`` for all derivations, or ``pop_limit``, ``adapt``, ``beam``,
    ``early_begin``, ``all_edges``; ``max_edges`` for both. Each edge keeps its features; the stateful features are
    added as columns of ``dense``. Words of target sides are numbered as in ``graph.grammar.words``; ``phrases`` as for
    :func:`forest_of`.
    """
    import numpy as np

    from smtplugins.core.graph.hypergraph import Subgraph, core_graph
    from smtplugins.core.search.search_options import SearchOptions

    if graph.edge_scores is None:
        raise ValueError("a search needs edge scores: take graph.reweighted(weights)")
    forest, edges = forest_of(graph, graph.edge_scores, phrases=phrases)
    refined = searcher(features).search(forest, SearchOptions(**options))

    bundles = np.repeat(np.arange(len(refined.tail_offsets) - 1), np.diff(refined.rule_offsets))
    starts, widths = refined.tail_offsets[:-1][bundles], np.diff(refined.tail_offsets)[bundles]
    tail_offsets = _ends(widths)
    tails = refined.tails[np.repeat(starts - tail_offsets[:-1], widths) + np.arange(tail_offsets[-1])]
    chosen = edges[refined.edge_of]
    core = core_graph(refined.rule_offsets[refined.node_bundles], tails, tail_offsets)
    refined_graph = graph.part(core, refined.node_of, chosen, refined.scores.copy())

    numbering = Numbering(graph.names)
    names = [numbering.add(name) for feature in features for name in feature.names]
    dense = np.column_stack([refined_graph.dense, refined.values.reshape(len(chosen), len(names))])
    dense_names = _ints([*refined_graph.dense_names.tolist(), *names])
    named = replace(refined_graph, names=numbering.table(), dense=dense, dense_names=dense_names)
    return Subgraph(named, chosen)


def _ints(values: Any) -> NDArray[Any]:
    import numpy as np

    return np.ascontiguousarray(values, dtype=np.int32)


def _ends(counts: Any) -> NDArray[Any]:
    import numpy as np

    return np.concatenate([[0], np.cumsum(np.asarray(counts, dtype=np.int64))]).astype(np.int64)
