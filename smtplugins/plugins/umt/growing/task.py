"""Translation as a search task: a state is the actions taken so far, the reward is the sentence-level metric.

A. Gesmundo and J. Henderson (2014), 3.2: transitions connect rules; all rewards are 0 except the last, which is the
metric's score of the complete translation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smtformats import Columns
from smtplugins.contracts.tasks import TaskProblem
from smtplugins.contracts.tools.grammars import gathered, row_scores
from smtplugins.contracts.tools.judging import prepare_references
from smtplugins.contracts.tools.learning import Path, Weights
from smtplugins.contracts.tools.search import forest_of_parse
from smtplugins.plugins.umt.growing.search import rows
from smtplugins.plugins.umt.growing.trees import GrownTree

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.tools.decoding import SentenceForest
    from smtplugins.contracts.tools.search import SearchForest
    from smtplugins.plugins.umt.growing.decoder import Umt, WeightedTables
    from smtplugins.plugins.umt.growing.search import Searcher

    Array = NDArray[Any]

KEPT_EDGES = 50_000_000
"""Maximum total edges of cached forests (about 20 bytes each); other forests are parsed again when needed."""


def make_task(
    decoder: Umt,
    sentences: Sequence[Sentence],
    references: Sequence[Sequence[str]],
    metric: Metric,
    weights: Mapping[str, float],
) -> TaskProblem:
    """Return the decoder's search task; an example is a sentence number."""
    search = TranslationSearch(decoder, sentences, references, metric, weights)
    return TaskProblem(search, range(len(sentences)), search.starts)


@dataclass(frozen=True)
class GrowingState:
    """A sentence number and the actions taken for it."""

    sentence: int
    actions: Array


@dataclass(frozen=True)
class _Example:
    """A sentence's forest, bounds, and sparse rule features; ``ids`` index ``names``."""

    sentence: Sentence
    forest: SentenceForest
    search_forest: SearchForest
    bounds: Array
    names: tuple[str, ...]
    offsets: Array
    ids: Array
    values: Array


class _States(Sequence[GrowingState]):
    """The states of a path, created on access."""

    def __init__(self, sentence: int, actions: Array, first: int) -> None:
        self._sentence, self._actions, self._first = sentence, actions, first

    def __len__(self) -> int:
        return len(self._actions) - self._first + 1

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return GrowingState(self._sentence, self._actions[: self._first + at % len(self)])


class _Rows(Sequence[Any]):
    """Actions as tuples, created on access because few of the many candidates are read."""

    def __init__(self, actions: Array) -> None:
        self._actions = actions

    def __len__(self) -> int:
        return len(self._actions)

    def __getitem__(self, at: Any) -> Any:
        return tuple(self._actions[at].tolist())


class TranslationSearch:
    """The decisions of the decoder ``umt`` as a ``GuidedTask``: policies are followed in native code."""

    def __init__(
        self,
        decoder: Umt,
        sentences: Sequence[Sentence],
        references: Sequence[Sequence[str]],
        metric: Metric,
        weights: Mapping[str, float],
    ) -> None:
        self._system: WeightedTables = decoder.system(weights)
        self._sentences = sentences
        self._metric = metric
        self._references = prepare_references(metric, references)
        self._working = decoder.working()
        self._estimates = self._working.estimates(self._system.first_pass)
        self._shown = self._system.weighted.parser.options.shown
        self._kept: dict[int, _Example] = {}
        self._edges = 0
        self._begun: tuple[int, Array, Array] | None = None
        self._searcher: Searcher | None = None
        self.starts = {**self._working.starts(weights), **decoder.kept_first_pass(weights)}

    def begin(self, example: int) -> GrowingState:
        """Return the state without actions."""
        return GrowingState(example, rows(()))

    def actions(self, state: GrowingState) -> Sequence[Any]:
        """Return the possible actions, ordered by edge, slot and place."""
        searcher, _ = self._ready(state.sentence)
        actions, _ = searcher.ranked(state.actions)
        edges, steps, links, slots = actions.T
        return _Rows(actions[np.lexsort((links, steps, slots, edges))])

    def features(self, state: GrowingState, actions: Sequence[Any]) -> Columns:
        """Return a row for each action: its rule's features, bounds, and contextual features."""
        weights = Weights()
        searcher, prepared = self._ready(state.sentence)
        taken = rows([*actions])
        features = self._rows(prepared, weights, taken, searcher.values(state.actions, taken))
        return Columns(tuple(weights.names), *features)

    def after(self, state: GrowingState, action: Any) -> GrowingState:
        """Return the state after an action."""
        return GrowingState(state.sentence, np.concatenate([state.actions, rows(action)]))

    def reward(self, state: GrowingState) -> float:
        """Return the translation's metric score if the tree is complete, else 0; higher is better."""
        if not len(state.actions) or len(self._ready(state.sentence)[0].ranked(state.actions)[0]):
            return 0.0
        return self._reward(state.sentence, state.actions)

    def follow(self, state: GrowingState, weights: Weights, first: Any = None) -> Path:
        """Follow the policy from a state to the end, after the action ``first`` if one is given."""
        searcher, prepared = self._ready(state.sentence, weights)
        taken = len(state.actions)
        prefix = state.actions if first is None else np.concatenate([state.actions, rows(first)])
        grown = searcher.follow(prefix)
        own = grown.actions[taken:]
        offsets, ids, values = self._rows(prepared, weights, own, grown.values[taken:])
        rewards = [0.0] * len(own)
        if len(own):
            rewards[-1] = self._reward(state.sentence, grown.actions)
        return Path(
            _States(state.sentence, grown.actions, taken), [*map(tuple, own.tolist())], offsets, ids, values, rewards
        )

    def ranked(self, state: GrowingState, weights: Weights) -> tuple[Sequence[Any], Array]:
        """Return all actions of a state and their scores, best first."""
        searcher, _ = self._ready(state.sentence, weights)
        actions, scores = searcher.ranked(state.actions)
        return _Rows(actions), scores

    def _rows(self, prepared: _Example, weights: Weights, actions: Array, values: Array) -> tuple[Array, Array, Array]:
        """Return the sparse features of actions: their rules' features, then the search's columns."""
        rules = prepared.forest.forest.native.rules[actions[:, 0]]
        starts, places = gathered(prepared.offsets, rules)
        columns = values.shape[1]
        widths = np.diff(starts)
        offsets = np.concatenate([[0], np.cumsum(widths + columns)]).astype(np.int64)
        ids = np.empty(offsets[-1], dtype=np.int64)
        features = np.empty(offsets[-1])
        searched = np.zeros(offsets[-1], dtype=bool)
        if columns:
            searched[(offsets[1:, None] - np.arange(columns, 0, -1)).reshape(-1)] = True
        ids[~searched] = weights.numbers(prepared.names)[prepared.ids[places]]
        features[~searched] = prepared.values[places]
        ids[searched] = np.tile(weights.numbers(self._working.names), len(actions))
        features[searched] = values.reshape(-1)
        return offsets, ids, features

    def _reward(self, sentence: int, actions: Array) -> float:
        text = self._shown(GrownTree.of(self._example(sentence).forest.forest, actions).text())
        stats = self._references.stats([text], [sentence])
        score = float(self._metric.sentence(stats)[0])
        return score if self._metric.higher_is_better else -score

    def _ready(self, sentence: int, weights: Weights | None = None) -> tuple[Searcher, _Example]:
        """Set up the search for the sentence and weights, unless it is already set up; None for any weights."""
        prepared = self._example(sentence)
        if weights is None:
            if self._begun is not None and self._begun[0] == sentence:
                assert self._searcher is not None
                return self._searcher, prepared
            weights = Weights()
        local = weights.column(prepared.names)
        column = weights.column(self._working.names)
        begun = self._begun
        same = begun is not None and begun[0] == sentence
        if same and begun is not None and np.array_equal(begun[1], local) and np.array_equal(begun[2], column):
            assert self._searcher is not None
            return self._searcher, prepared
        searcher = self._working.searcher(prepared.sentence, prepared.forest.forest.tables.words)
        scores = row_scores(prepared.ids, prepared.values, prepared.offsets, local)
        searcher.begin(prepared.search_forest, scores, prepared.bounds, column, self._estimates)
        self._searcher, self._begun = searcher, (sentence, local, column)
        return searcher, prepared

    def _example(self, sentence: int) -> _Example:
        known = self._kept.get(sentence)
        if known is None:
            known = self._prepare(self._sentences[sentence])
            if self._edges + known.forest.forest.edges <= KEPT_EDGES:
                self._edges += known.forest.forest.edges
                self._kept[sentence] = known
        return known

    def _prepare(self, sentence: Sentence) -> _Example:
        forest, bounds = self._system.forest(sentence)
        offsets, ids, values = forest.features
        used, numbers = np.unique(ids, return_inverse=True)
        names = tuple(map(forest.forest.tables.names.word, used.tolist()))
        return _Example(
            sentence,
            forest,
            forest_of_parse(forest.forest, forest.scores),
            bounds,
            names,
            offsets,
            numbers.reshape(-1).astype(np.int32),
            values.astype(np.float32),
        )
