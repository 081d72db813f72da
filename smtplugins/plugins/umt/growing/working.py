"""Features at work while trees grow: which columns they have, what they are weighed with, what lists show of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.contracts import UndirectedFeature
from smtplugins.host.errors import UsageError
from smtplugins.host.features.rule_columns import column_names
from smtplugins.plugins.umt.features.carries import Carries, Completed, Part
from smtplugins.plugins.umt.features.shape import KINDS, Shape
from smtplugins.plugins.umt.growing.search import Grown, LmMode, Searcher, lm_part, python_part, shape_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.search.stateful_search import SearchForest
    from smtplugins.core.vocabulary import Vocabulary
    from smtplugins.host.features.scoring import Active
    from smtplugins.plugins.umt.features.cff import Cff

    Array = NDArray[Any]


@dataclass
class _Native:
    """A language model: its scorer, its part, and what lists show if the part's values are something else."""

    feature: Any
    scorer: Any
    part: Any
    names: tuple[str, ...]
    shown: tuple[str, ...]
    told: Any = None
    starts: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Python:
    """A feature in Python, undirected itself or made so."""

    one: Active
    names: tuple[str, ...]

    def part(self, sentence: Sentence) -> Part:
        """It at work on a sentence."""
        if isinstance(self.one.feature, UndirectedFeature):
            return Part(self.one.feature.undirected(sentence), len(self.names))
        return Part(Completed(self.one.start(sentence), len(self.names)), len(self.names))


class Working:
    """The features of a run in one thread; language models keep what they learnt of joins from sentence to sentence."""

    def __init__(
        self, features: Sequence[Active], stateful: Sequence[Active], cff: Cff, cff_label: str, mode: LmMode
    ) -> None:
        self._cff = cff
        self._shapes = [one for one in features if isinstance(one.feature, Shape)]
        self._own = cff.names(cff_label)
        self._natives: list[_Native] = []
        self._pythons: list[_Python] = []
        for one in stateful:
            native = _native(one, mode)
            if native is not None:
                self._natives.append(native)
            elif hasattr(one.feature, "undirected") or hasattr(one.feature, "start"):
                width = getattr(one.feature, "components", 1)
                self._pythons.append(_Python(one, column_names(one, width)[:width]))
            else:
                raise UsageError(
                    f"feature {one.label!r} has neither `undirected` nor `start`: decoder umt cannot use it"
                )
        python = tuple(name for one in self._pythons for name in one.names)
        models = (name for one in self._natives for name in one.names)
        shapes = (name for one in self._shapes for name in one.feature.names(one.label))
        self.names: tuple[str, ...] = (*self._own, *models, *shapes, *python)
        """The columns of values: bounds, then language models, then shapes, then features in Python."""
        self.shown: tuple[str, ...] = (*(name for one in self._natives for name in one.shown), *python)
        """The columns that lists show: those whose sums over a tree are what they are in any decoder."""
        self._searcher: Searcher | None = None
        self._teller: Searcher | None = None

    @property
    def completed(self) -> list[str]:
        """Features that count only when all below a rule is known, as they have no undirected form."""
        return [one.one.label for one in self._pythons if not isinstance(one.one.feature, UndirectedFeature)]

    def starts(self, weights: Mapping[str, float]) -> dict[str, float]:
        """What columns count that have no weight: the bounds their own, a split language model that of the whole."""
        found = dict.fromkeys(self._own, self._cff.weight)
        for one in self._natives:
            found |= {name: weights.get(other, 0.0) for name, other in one.starts.items()}
        return {name: value for name, value in found.items() if name not in weights}

    def column(self, weights: Mapping[str, float]) -> Array:
        """A weight for each column."""
        import numpy as np

        both = {**self.starts(weights), **weights}
        return np.array([both.get(name, 0.0) for name in self.names], dtype=np.float64)

    def estimates(self, first_pass: Mapping[str, float]) -> list[float]:
        """How much of what parts know of a rule alone is in the bounds."""
        found = [self._cff.lm * first_pass.get(one.shown[0], 0.0) for one in self._natives]
        return found + [0.0] * (len(self._shapes) + bool(self._pythons))

    def searcher(self, sentence: Sentence, vocabulary: Vocabulary) -> Searcher:
        """The search with the features ready for a sentence."""
        for one in self._natives:
            one.scorer.set_words(one.feature.numbers(vocabulary))
        if self._searcher is None or self._pythons:
            parts = [one.part for one in self._natives] + [shape_part() for _ in self._shapes]
            if self._pythons:
                carries = Carries(vocabulary, [one.part(sentence) for one in self._pythons])
                parts.append(python_part(carries, carries.components))
            self._searcher = Searcher(parts, self._cff.mode, self._cff.scale, self._cff.joins)
        return self._searcher

    def told(self, grown: Grown, forest: SearchForest, rules: int) -> Array:
        """The columns that lists show, a row for each step."""
        import numpy as np

        replayed = [one.told for one in self._natives if one.told is not None]
        again: Iterator[Array] = iter(())
        if replayed:
            if self._teller is None:
                self._teller = Searcher(replayed, "none")
            blank = np.zeros(rules, dtype=np.float32)
            self._teller.begin(forest, blank, blank, np.zeros(len(replayed)))
            again = iter(self._teller.follow(grown.actions).values.T)
        at, columns = len(self._own), []
        for one in self._natives:
            columns.append(grown.values[:, at] if one.told is None else next(again))
            at += len(one.names)
        at += len(self._shapes) * len(KINDS)
        return np.column_stack([*columns, grown.values[:, at:]]) if columns else grown.values[:, at:]


def _native(one: Active, mode: LmMode) -> _Native | None:
    from smtplugins.core.search.stateful_search import is_lm_scorer

    scorer = one.feature.native() if hasattr(one.feature, "native") else None
    if scorer is None or not is_lm_scorer(scorer):
        return None
    shown = column_names(one, 1)[:1]
    mode = getattr(one.feature, "lm_mode", mode)
    part = lm_part(scorer, mode)
    told = None if mode == "delta" else lm_part(scorer, "delta")
    if mode != "split":
        return _Native(one.feature, scorer, part, shown, shown, told)
    lengths = range(part.components // 3)
    kinds = {kind: [f"{shown[0]}-{kind}[{n}]" for n in lengths] for kind in ("sum", "count", "mean")}
    names = tuple(name for some in kinds.values() for name in some)
    return _Native(one.feature, scorer, part, names, shown, told, dict.fromkeys(kinds["sum"], shown[0]))
