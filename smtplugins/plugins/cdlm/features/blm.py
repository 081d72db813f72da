"""``blm``: the baseline language model, any n-gram model, as a feature (section 5.3 of the paper)."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from smtplugins.contracts.tools.grammars import fragment_scores
from smtplugins.contracts.tools.language_models import read_lm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, GrammarColumns
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.grammars import Edges, Vocabulary

    Array = NDArray[Any]

Words = tuple[str, ...]
_BEGIN = ""
"""The beginning of the sentence in histories; no word is empty."""


class Baseline:
    """Log probability, with sentence boundaries, under the baseline language model, an ARPA or KenLM file.

    ``base=e`` is the natural logarithm, ``base=10`` is cdec's. ``markers=rules`` says that the grammar's rules contain
    ``<s>`` and ``</s>``, so that decoders add none. Values and search are the same as for the feature ``lm``.
    """

    def __init__(
        self,
        path: Path,
        *,
        base: Literal["e", "10"] = "e",
        markers: Literal["sentence", "rules"] = "sentence",
    ) -> None:
        self.model: Any = read_lm(path)
        self.scale = math.log(10) if base == "e" else 1.0
        self.markers = markers == "rules"
        self._numbers: weakref.WeakKeyDictionary[Vocabulary, Array] = weakref.WeakKeyDictionary()

    def score_candidates(self, source: str | None, candidates: Candidates) -> Array:
        """Score a whole list in a single call of the model."""
        import numpy as np

        scores, _ = self.model.score_sentences(candidates.texts)
        return np.asarray(scores) * self.scale

    def native(self, scale: float = 1.0) -> Any:
        """Return the model's scorer for native searches, its values multiplied by ``scale``."""
        from smtplugins.contracts.tools.search import lm_scorer

        return lm_scorer(self.model, (), markers=self.markers, scale=self.scale * scale)

    def numbers(self, vocabulary: Vocabulary) -> Array:
        """Return the model's word ids for a vocabulary; cached for each vocabulary."""
        import numpy as np

        known = self._numbers.get(vocabulary)
        if known is None or len(known) < len(vocabulary):
            more = vocabulary.ids_in(self.model, 0 if known is None else len(known))
            known = more if known is None else np.concatenate([known, more])
            self._numbers[vocabulary] = known
        return known

    def fragment_scores(self, columns: GrammarColumns) -> Array:
        """Score each rule out of context."""
        scores: Array = fragment_scores(self.model, columns, markers=self.markers) * self.scale
        return scores

    def start(self, sentence: Sentence) -> PieceScorer:
        """Return the model's scorer in plain Python."""
        return PieceScorer(self)


class LmPiece(NamedTuple):
    """The language model state of a piece of text: its first words, which lack history, and its last words.

    If it is ``closed``, some word has a complete history, and ``last`` is the whole history of a next word.
    """

    first: Words
    last: Words
    closed: bool


class PieceScorer:
    """The model's scorer: the first words of a piece are scored with partial history and rescored in context."""

    def __init__(self, feature: Baseline) -> None:
        self._model, self._markers, self._scale = feature.model, feature.markers, feature.scale
        self._width: int = feature.model.order - 1
        self._known: dict[Words, float] = {}

    def combine(self, edges: Edges, tails: Sequence[Sequence[LmPiece]]) -> tuple[list[float], list[LmPiece]]:
        """Return scores and states of edges."""
        scored = [self._score_edge(edges.rules.target_of(i), tails[i]) for i in range(len(edges))]
        return [score * self._scale for score, _ in scored], [piece for _, piece in scored]

    def finish(self, states: Sequence[LmPiece]) -> list[float]:
        """Score sentence boundaries; 0 if the rules contain them."""
        return [0.0 if self._markers else self._score_end(state) * self._scale for state in states]

    def estimate(self, edges: Edges) -> list[float]:
        """Score the words between gaps out of context."""
        none = LmPiece((), (), True)
        scores = []
        for i in range(len(edges)):
            target = edges.rules.target_of(i)
            scores.append(self._score_edge(target, [none] * len(target))[0] * self._scale)
        return scores

    def _score_edge(self, target: Sequence[str | int], tails: Sequence[LmPiece]) -> tuple[float, LmPiece]:
        text = _Text(self._width)
        score = 0.0
        for at, symbol in enumerate(target):
            if isinstance(symbol, int):
                score += self._add_piece(text, tails[symbol])
            elif at == 0 and self._markers and symbol == "<s>":
                text.begin()
            else:
                score += self._log10(text.last, symbol)
                text.add(symbol)
        return score, LmPiece(tuple(text.first), text.last, text.closed)

    def _add_piece(self, text: _Text, piece: LmPiece) -> float:
        score = 0.0
        for k, word in enumerate(piece.first):
            score += self._log10(text.last, word) - self._log10(piece.first[:k], word)
            text.add(word)
        if piece.closed:
            text.last, text.closed = piece.last, True
        return score

    def _score_end(self, piece: LmPiece) -> float:
        text = _Text(self._width)
        text.begin()
        score = self._add_piece(text, piece)
        return score + self._log10(text.last, "</s>")

    def _log10(self, history: Words, word: str) -> float:
        key = (*history, word)
        score = self._known.get(key)
        if score is None:
            begun = key[0] == _BEGIN
            score = self._model.full_scores(" ".join(key[begun:]), begun, False)[-1][0]
            self._known[key] = score
        return score


class _Text:
    """A piece that is extended to the right."""

    def __init__(self, width: int) -> None:
        self._width = width
        self.first: list[str] = []
        self.last: Words = ()
        self.closed = width == 0

    def begin(self) -> None:
        """Begin the sentence."""
        self.last, self.closed = ((_BEGIN,) if self._width else ()), True

    def add(self, word: str) -> None:
        """Append a word."""
        if not self.closed:
            self.first.append(word)
        self.last = (*self.last, word)[-self._width :] if self._width else ()
        self.closed = self.closed or len(self.last) == self._width
