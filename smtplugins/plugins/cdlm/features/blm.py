"""``blm``: the baseline language model, any n-gram model, as a feature of its own (section 5.3 of the paper)."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from smtplugins.host.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, GrammarColumns
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.grammar.rules import Edges
    from smtplugins.core.vocabulary import Vocabulary

    Array = NDArray[Any]

Words = tuple[str, ...]
_BEGIN = ""
"""Stands in histories for the beginning of the sentence: no word is empty."""


class Baseline:
    """Log probability with sentence ends under the baseline language model, an ARPA or KenLM file.

    ``base=e`` is natural, ``base=10`` is cdec's. ``markers=rules`` says that rules of the grammar hold ``<s>`` and
    ``</s>``, so that a decoder adds none. The model's values and the search are those of the feature ``lm``.
    """

    def __init__(
        self,
        path: Path,
        *,
        base: Literal["e", "10"] = "e",
        markers: Literal["sentence", "rules"] = "sentence",
    ) -> None:
        from smtplugins.core.lm.ngram_model import KenlmMissing, read_lm

        try:
            self.model: Any = read_lm(path)
        except KenlmMissing as error:
            raise SmtError(str(error)) from None
        self._path = path
        self.scale = math.log(10) if base == "e" else 1.0
        self.markers = markers == "rules"
        self._numbers: weakref.WeakKeyDictionary[Vocabulary, Array] = weakref.WeakKeyDictionary()

    def score_candidates(self, source: str | None, candidates: Candidates) -> Array:
        """One call of the model for the whole list."""
        import numpy as np

        scores, _ = self.model.score_sentences(candidates.texts)
        return np.asarray(scores) * self.scale

    def native(self, scale: float = 1.0) -> Any:
        """The model at work in searches, its values times ``scale``."""
        from smtplugins.core.search.stateful_search import lm_scorer

        if not hasattr(self.model, "ids"):
            raise SmtError(f"{self._path}: a decoder needs an ARPA file or a KenLM probing file (`smt lm` writes one)")
        return lm_scorer(self.model, (), markers=self.markers, scale=self.scale * scale)

    def numbers(self, vocabulary: Vocabulary) -> Array:
        """The model's numbers of all words of a vocabulary; those asked for before are kept."""
        import numpy as np

        known = self._numbers.get(vocabulary)
        if known is None or len(known) < len(vocabulary):
            more = vocabulary.ids_in(self.model, 0 if known is None else len(known))
            known = more if known is None else np.concatenate([known, more])
            self._numbers[vocabulary] = known
        return known

    def fragment_scores(self, columns: GrammarColumns) -> Array:
        """What is known of each rule's score without its neighbours."""
        from smtplugins.core.grammar.tables import fragment_scores

        scores: Array = fragment_scores(self.model, columns, markers=self.markers) * self.scale
        return scores

    def start(self, sentence: Sentence) -> Pieces:
        """The model at work on a sentence, in plain Python."""
        return Pieces(self)


class Piece(NamedTuple):
    """A piece of text: its first words, whose history is not complete, and its last ones.

    If it is ``closed``, there is a word with a complete history in it, and ``last`` is all that a next word sees.
    """

    first: Words
    last: Words
    closed: bool


class Pieces:
    """The model's scorer: first words are scored by what is before them in the piece, then again where more is."""

    def __init__(self, feature: Baseline) -> None:
        self._model, self._markers, self._scale = feature.model, feature.markers, feature.scale
        self._width: int = feature.model.order - 1
        self._known: dict[Words, float] = {}

    def combine(self, edges: Edges, tails: Sequence[Sequence[Piece]]) -> tuple[list[float], list[Piece]]:
        """Scores and pieces of edges."""
        found = [self._joined(edges.rules.target_of(i), tails[i]) for i in range(len(edges))]
        return [score * self._scale for score, _ in found], [piece for _, piece in found]

    def finish(self, states: Sequence[Piece]) -> list[float]:
        """What the ends of the sentence add; nothing if rules hold them."""
        return [0.0 if self._markers else self._finished(one) * self._scale for one in states]

    def estimate(self, edges: Edges) -> list[float]:
        """The words between gaps by themselves."""
        none = Piece((), (), True)
        found = []
        for i in range(len(edges)):
            target = edges.rules.target_of(i)
            found.append(self._joined(target, [none] * len(target))[0] * self._scale)
        return found

    def _joined(self, target: Sequence[str | int], tails: Sequence[Piece]) -> tuple[float, Piece]:
        text = _Text(self._width)
        score = 0.0
        for at, one in enumerate(target):
            if isinstance(one, int):
                score += self._put(text, tails[one])
            elif at == 0 and self._markers and one == "<s>":
                text.begin()
            else:
                score += self._log10(text.last, one)
                text.add(one)
        return score, Piece(tuple(text.first), text.last, text.closed)

    def _put(self, text: _Text, piece: Piece) -> float:
        score = 0.0
        for k, word in enumerate(piece.first):
            score += self._log10(text.last, word) - self._log10(piece.first[:k], word)
            text.add(word)
        if piece.closed:
            text.last, text.closed = piece.last, True
        return score

    def _finished(self, piece: Piece) -> float:
        text = _Text(self._width)
        text.begin()
        score = self._put(text, piece)
        return score + self._log10(text.last, "</s>")

    def _log10(self, history: Words, word: str) -> float:
        key = (*history, word)
        found = self._known.get(key)
        if found is None:
            begun = key[0] == _BEGIN
            found = self._model.full_scores(" ".join(key[begun:]), begun, False)[-1][0]
            self._known[key] = found
        return found


class _Text:
    """A piece while it grows to the right."""

    def __init__(self, width: int) -> None:
        self._width = width
        self.first: list[str] = []
        self.last: Words = ()
        self.closed = width == 0

    def begin(self) -> None:
        """The sentence begins here."""
        self.last, self.closed = ((_BEGIN,) if self._width else ()), True

    def add(self, word: str) -> None:
        """One more word."""
        if not self.closed:
            self.first.append(word)
        self.last = (*self.last, word)[-self._width :] if self._width else ()
        self.closed = self.closed or len(self.last) == self._width
