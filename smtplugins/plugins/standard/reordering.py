"""Reordering features of phrases: distance-based distortion, and lexicalised reordering models.

P. Koehn et al., "Edinburgh System Description for the 2005 IWSLT Speech Translation Evaluation" (2005); M. Galley and
C. Manning, "A Simple and Effective Hierarchical Phrase Reordering Model" (2008), for models of the kind ``hier``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.records import dataclass
from smtformats.tokens import BadField, numbers
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.grammars import distances, load_reordering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.columns import GrammarColumns
    from smtformats.reordering.models import ReorderingModel
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.features import Scorer
    from smtplugins.contracts.tools.grammars import Edges

FLOOR = -100.0
# Orientation class of a phrase directly after its predecessor, directly before it, further left, further right.
_CLASSES = {"msd": (0, 1, 2, 2), "mslr": (0, 1, 2, 3), "monotonicity": (0, 1, 1, 1), "leftright": (0, 1, 1, 0)}
_BEHIND, _BEFORE, _LEFT, _RIGHT = range(4)

Span = tuple[int, int]


class Distortion:
    """Minus the number of source words between the end of a phrase and the start of the next; the first jump is from 0.

    The end of the sentence costs nothing. In a lattice the distance is the shortest path between nodes, in arcs.
    """

    positional = "jump"
    start_weights = (0.3,)

    def start(self, sentence: Sentence) -> Scorer[int]:
        """Return a scorer whose state is the end of the last phrase."""
        if sentence.lattice is None:
            return _Jumps(None)
        return _Jumps(distances(sentence.lattice))


class _Jumps:
    def __init__(self, distances: NDArray[Any] | None) -> None:
        self._distances = distances

    def combine(self, edges: Edges, tails: Sequence[Sequence[int]]) -> tuple[Any, list[int]]:
        scores, ends = [], []
        for (first, last), before in zip(_spans(edges), _before(tails, 0), strict=True):
            scores.append(0.0 if first == last else -float(self._distance(before, first)))
            ends.append(before if first == last else last)
        return scores, ends

    def finish(self, states: Sequence[int]) -> Any:
        return [0.0] * len(states)

    def estimate(self, edges: Edges) -> Any:
        return [0.0] * len(edges)

    def _distance(self, end: int, first: int) -> int:
        if self._distances is None:
            return abs(first - end)
        return int(self._distances[min(end, first), max(end, first)])


class LexicalReordering:
    """Log probabilities of a phrase pair's orientation to its predecessor (backward) and successor (forward).

    ``path`` is a reordering table of Moses, as text or compact (``path.minlexr``, if that is there), or a ProbingPT
    folder, which has the scores from ``property_index`` on (0). ``model`` is its type
    (``wbe-msd-bidirectional-fe-allff``), ``scores`` the expected number of weights. ``default_scores``, comma-separated
    probabilities, are used for phrase pairs that are not in the table; without them such pairs score 0. The columns are
    the backward orientations, then the forward ones; with ``collapseff`` there is a single column for each direction.

    As in Moses, the first phrase has only a backward orientation, monotone at the beginning of the sentence, and the
    end has none. Also as in Moses, a ``bidirectional`` model with ``collapseff`` takes its forward scores from the
    second column on.
    """

    start_weights = (0.3,)

    def __init__(
        self,
        path: Path,
        *,
        model: str,
        scores: int | None = None,
        default_scores: str | None = None,
        property_index: int | None = None,
    ) -> None:
        import numpy as np

        try:
            self._table = load_reordering(path, model=model, scores=scores or 0, property_index=property_index)
        except BadField as bad:
            raise UsageError(f"lexical-reordering: expected {bad.expected}, found {bad.found}") from None
        self.model: ReorderingModel = self._table.model
        self.components = self.model.weights
        self._missing = np.array(_defaults(default_scores, self.model.scores), dtype=np.float32)
        self.positional = "" if self.model.extraction == "hier" else "orientation"

    def table_rows(self, sources: Sequence[str], targets: Sequence[str]) -> NDArray[Any]:
        """Return the scores of phrase pairs, ``model.scores`` each; missing pairs have the default scores, or 0.

        Column ``d * classes + k`` is class k in direction d. With ``collapseff`` all classes of a direction share a
        weight.
        """
        return self._completed(self._table.scores(sources, targets))

    def rule_rows(self, columns: GrammarColumns, chosen: NDArray[Any]) -> NDArray[Any]:
        """Return the scores of rules, given by their numbers in a table's columns."""
        return self._completed(self._table.scores_of_rules(columns, chosen))

    def _completed(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Replace missing scores, which are NaN, and arrange the columns."""
        import numpy as np

        scores[np.isnan(scores[:, 0])] = self._missing
        if self.model.collapsed and self.model.direction == "bidirectional":
            classes = len(self.model.classes)
            scores[:, classes:] = scores[:, 1 : classes + 1].copy()
        return scores

    def start(self, sentence: Sentence) -> Scorer[Any]:
        """Return a scorer for a sentence; raises UsageError for a lattice."""
        if sentence.lattice is not None:
            raise UsageError(
                "lexical-reordering: expected a plain sentence, found a lattice, whose spans do not tell source words"
            )
        orientations = _OfPhrases()
        if self.model.extraction == "hier":
            orientations = _Hierarchical(*(direction in self.model.directions for direction in ("backward", "forward")))
        return _Orientations(self, sentence.tokens, orientations)


def _defaults(text: str | None, count: int) -> list[float]:
    if text is None:
        return [0.0] * count
    try:
        values = numbers(text.split(","), what="a probability")
        if len(values) != count or min(values) < 0:
            raise BadField(f"{count} probabilities", text)
    except BadField as bad:
        raise UsageError(f"lexical-reordering: default_scores: expected {bad.expected}, found {bad.found}") from None
    return [max(math.log(value), FLOOR) if value else FLOOR for value in values]


@dataclass(frozen=True)
class _Last:
    """The state: the place of the last phrase, and its forward scores for the next orientation."""

    place: Any
    forward: tuple[float, ...] = ()


class _Orientations:
    """A reordering model's scorer; the state before the first phrase is ``None``."""

    def __init__(self, feature: LexicalReordering, tokens: Sequence[str], orientations: _OfPhrases) -> None:
        self._feature = feature
        self._tokens = tokens
        self._of = orientations
        model = feature.model
        self._classes = len(model.classes)
        self._by = _CLASSES[model.orientation]
        self._backward = "backward" in model.directions
        self._forward = "forward" in model.directions
        self._known: dict[tuple[Span, str], list[float]] = {}

    def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[NDArray[Any], list[Any]]:
        import numpy as np

        scores = np.zeros((len(edges), self._feature.components))
        spans, states = _spans(edges), []
        for span, row, before, out in zip(spans, self._rows(edges, spans), _before(tails, None), scores, strict=True):
            states.append(before if row is None else self._step(before, span, row, out))
        return scores, states

    def finish(self, states: Sequence[Any]) -> NDArray[Any]:
        import numpy as np

        return np.zeros((len(states), self._feature.components))

    def estimate(self, edges: Edges) -> NDArray[Any]:
        import numpy as np

        return np.zeros((len(edges), self._feature.components))

    def _rows(self, edges: Edges, spans: Sequence[Span]) -> list[list[float] | None]:
        """Return the scores of each edge's phrase pair, ``None`` for an empty source span."""
        keys = [
            (span, " ".join(symbol for symbol in edges.rules.target_of(i) if isinstance(symbol, str)))
            for i, span in enumerate(spans)
        ]
        fresh = list(dict.fromkeys(key for key in keys if key not in self._known))
        sources = [" ".join(self._tokens[first:last]) for (first, last), _ in fresh]
        rows = self._feature.table_rows(sources, [target for _, target in fresh])
        self._known.update(zip(fresh, rows.tolist(), strict=True))
        return [self._known[key] if key[0][0] < key[0][1] else None for key in keys]

    def _step(self, before: _Last | None, span: Span, row: list[float], out: NDArray[Any]) -> _Last:
        backward, forward, place = self._of.step(None if before is None else before.place, span)
        if self._backward:
            self._add(out, 0, row, backward)
        if self._forward and before is not None:
            self._add(out, len(self._feature.model.directions) - 1, before.forward, forward)
        # The last columns of a row are the forward scores.
        return _Last(place, tuple(row[-self._classes :]) if self._forward else ())

    def _add(self, out: NDArray[Any], direction: int, row: Sequence[float], orientation: int) -> None:
        k = self._by[orientation]
        out[direction if self._feature.model.collapsed else direction * self._classes + k] += row[k]


class _OfPhrases:
    """Orientations relative to the previous phrase; the place is its span."""

    def step(self, before: Any, span: Span) -> tuple[int, int, Any]:
        """The backward and the forward orientation of a phrase, and the place it leads to."""
        orientation = _first(span) if before is None else _orientation(before, span)
        return orientation, orientation, span


class _Hierarchical(_OfPhrases):
    """Orientations relative to maximal blocks of phrases.

    The place holds, for backward orientations, the stack of blocks that cannot be joined; for forward orientations,
    the last phrase and the coverage bits.
    """

    def __init__(self, backward: bool, forward: bool) -> None:
        self._directions = backward, forward

    def step(self, before: Any, span: Span) -> tuple[int, int, Any]:
        """The backward and the forward orientation of a phrase, and the place it leads to."""
        backward, forward = self._directions
        blocks, last, covered = before or ((), None, 0)
        covered |= (1 << span[1]) - (1 << span[0])
        behind = _orientation(blocks[-1], span) if blocks else _first(span)
        ahead = self._forward(last, span, covered) if last is not None else _BEHIND
        place = self._push(blocks, span) if backward else (), span if forward else None, covered if forward else 0
        return behind, ahead, place

    def _forward(self, last: Span, span: Span, covered: int) -> int:
        """Phrases further away count as adjacent as long as the word next to the last phrase is not covered."""
        if span[0] == last[1] or (span[0] > last[1] and not covered >> last[1] & 1):
            return _BEHIND
        if span[1] == last[0] or (span[1] < last[0] and not covered >> (last[0] - 1) & 1):
            return _BEFORE
        return _RIGHT if span[0] >= last[1] else _LEFT

    def _push(self, blocks: tuple[Span, ...], span: Span) -> tuple[Span, ...]:
        """Push a block on the stack and join it with its neighbours."""
        stack = list(blocks)
        while stack and (stack[-1][1] == span[0] or span[1] == stack[-1][0]):
            other = stack.pop()
            span = min(other[0], span[0]), max(other[1], span[1])
        return (*stack, span)


def _first(span: Span) -> int:
    """Return the orientation of the first phrase."""
    return _BEHIND if span[0] == 0 else _RIGHT


def _orientation(before: Span, span: Span) -> int:
    if span[0] == before[1]:
        return _BEHIND
    if span[1] == before[0]:
        return _BEFORE
    return _RIGHT if span[0] > before[0] else _LEFT


def _spans(edges: Edges) -> list[Span]:
    """Return the source span of each edge's own phrase."""
    if edges.firsts is None or edges.lasts is None:
        known = "use a phrase decoder, or a list with a segmentation"
        raise UsageError(f"expected edges with source spans, found edges without: {known}")
    return list(zip(edges.firsts.tolist(), edges.lasts.tolist(), strict=True))


def _before(tails: Sequence[Sequence[Any]], start: Any) -> list[Any]:
    """Return the state before each edge."""
    if any(len(below) > 1 for below in tails):
        raise UsageError("expected phrases, each with at most one predecessor, found rules with several children")
    return [below[0] if below else start for below in tails]
