"""The features of a growing tree: their columns, their weights, and the columns shown in n-best lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.features import UndirectedFeature
from smtplugins.contracts.tools.features import column_names
from smtplugins.contracts.tools.search import is_lm_scorer
from smtplugins.plugins.umt._umt import BoundOptions
from smtplugins.plugins.umt.features.carries import Carries, Completed, ScorerPart
from smtplugins.plugins.umt.features.shape import KINDS, UndirectedShape
from smtplugins.plugins.umt.growing.search import Grown, LmMode, Searcher, lm_part, python_part, shape_part

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.features import Active
    from smtplugins.contracts.tools.grammars import Vocabulary
    from smtplugins.contracts.tools.search import SearchForest
    from smtplugins.plugins.umt.features.cff import Cff

    Array = NDArray[Any]


@dataclass
class _Native:
    """A native language model: its scorer, its part of the search, and the column shown in n-best lists.

    ``replay`` recomputes that column if the part's own values differ from it.
    """

    feature: Any
    scorer: Any
    part: Any
    names: tuple[str, ...]
    shown: tuple[str, ...]
    replay: Any = None
    starts: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Python:
    """A Python feature, undirected or adapted by :class:`Completed`."""

    active: Active
    names: tuple[str, ...]

    def part(self, sentence: Sentence) -> ScorerPart:
        """Start the feature's scorer for a sentence."""
        if isinstance(self.active.feature, UndirectedFeature):
            return ScorerPart(self.active.feature.undirected(sentence), len(self.names))
        return ScorerPart(Completed(self.active.start(sentence), len(self.names)), len(self.names))


class Working:
    """The features of a run in one thread; language models cache the scores of joins across sentences."""

    def __init__(
        self, features: Sequence[Active], stateful: Sequence[Active], cff: Cff, cff_label: str, mode: LmMode
    ) -> None:
        self._cff = cff
        self._shapes = [active for active in features if isinstance(active.feature, UndirectedShape)]
        self._own = cff.names(cff_label)
        self._natives: list[_Native] = []
        self._pythons: list[_Python] = []
        for active in stateful:
            native = _native(active, mode)
            if native is not None:
                self._natives.append(native)
            elif hasattr(active.feature, "undirected") or hasattr(active.feature, "start"):
                width = getattr(active.feature, "components", 1)
                self._pythons.append(_Python(active, column_names(active, width)[:width]))
            else:
                raise UsageError(
                    f"decoder umt cannot use feature {active.label!r}: expected a method `undirected` or `start`"
                )
        python = tuple(name for feature in self._pythons for name in feature.names)
        models = (name for feature in self._natives for name in feature.names)
        shapes = (name for active in self._shapes for name in active.feature.names(active.label))
        self.names: tuple[str, ...] = (*self._own, *models, *shapes, *python)
        """Names of the value columns: bounds, language models, shapes, then Python features."""
        self.shown: tuple[str, ...] = (*(name for feature in self._natives for name in feature.shown), *python)
        """Names of the columns shown in n-best lists: those whose sum over a tree is the same in any decoder."""
        self._searcher: Searcher | None = None
        self._replayer: Searcher | None = None

    @property
    def completed(self) -> list[str]:
        """Labels of features without an undirected form: they score a rule once its whole subtree is known."""
        return [
            feature.active.label
            for feature in self._pythons
            if not isinstance(feature.active.feature, UndirectedFeature)
        ]

    def starts(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Default weights of columns without one: ``Cff.weight`` for bounds, the model's weight if it is ``split``."""
        weighted = dict.fromkeys(self._own, self._cff.weight)
        for model in self._natives:
            weighted |= {name: weights.get(other, 0.0) for name, other in model.starts.items()}
        return {name: value for name, value in weighted.items() if name not in weights}

    def column(self, weights: Mapping[str, float]) -> Array:
        """Return the weight of each column."""
        both = {**self.starts(weights), **weights}
        return np.array([both.get(name, 0.0) for name in self.names], dtype=np.float64)

    def estimates(self, first_pass: Mapping[str, float]) -> list[float]:
        """Return, for each part, the weight of its rule-alone estimate in the bounds."""
        weighted = [self._cff.lm * first_pass.get(model.shown[0], 0.0) for model in self._natives]
        return weighted + [0.0] * (len(self._shapes) + bool(self._pythons))

    def searcher(self, sentence: Sentence, vocabulary: Vocabulary) -> Searcher:
        """Return the search with all features set up for a sentence."""
        for model in self._natives:
            model.scorer.set_words(model.feature.numbers(vocabulary))
        if self._searcher is None or self._pythons:
            parts = [model.part for model in self._natives] + [shape_part() for _ in self._shapes]
            if self._pythons:
                carries = Carries(vocabulary, [feature.part(sentence) for feature in self._pythons])
                parts.append(python_part(carries, carries.components))
            self._searcher = Searcher(parts, self._cff.bounds())
        return self._searcher

    def told(self, grown: Grown, forest: SearchForest, rules: int) -> Array:
        """Return the columns shown in n-best lists, a row for each step."""
        replayed = [model.replay for model in self._natives if model.replay is not None]
        again: Iterator[Array] = iter(())
        if replayed:
            if self._replayer is None:
                self._replayer = Searcher(replayed, BoundOptions(components=0))
            blank = np.zeros(rules, dtype=np.float32)
            self._replayer.begin(forest, blank, blank, np.zeros(len(replayed)))
            again = iter(self._replayer.follow(grown.actions).values.T)
        at, columns = len(self._own), []
        for model in self._natives:
            columns.append(grown.values[:, at] if model.replay is None else next(again))
            at += len(model.names)
        at += len(self._shapes) * len(KINDS)
        return np.column_stack([*columns, grown.values[:, at:]]) if columns else grown.values[:, at:]


def _native(active: Active, mode: LmMode) -> _Native | None:
    scorer = active.feature.native() if hasattr(active.feature, "native") else None
    if scorer is None or not is_lm_scorer(scorer):
        return None
    shown = column_names(active, 1)[:1]
    mode = getattr(active.feature, "lm_mode", mode)
    part = lm_part(scorer, mode)
    replay = None if mode == "delta" else lm_part(scorer, "delta")
    if mode != "split":
        return _Native(active.feature, scorer, part, shown, shown, replay)
    lengths = range(part.components // 3)
    kinds = {kind: [f"{shown[0]}-{kind}[{n}]" for n in lengths] for kind in ("sum", "count", "mean")}
    names = tuple(name for some in kinds.values() for name in some)
    return _Native(active.feature, scorer, part, names, shown, replay, dict.fromkeys(kinds["sum"], shown[0]))
