"""A language model in a search, in plain Python: for decoders that know no native scorers, and as an oracle for those.

What is known of a piece of text is its first and its last words, one fewer than the longest n-gram has. The first words
are scored by what is before them in the piece, and again, as a difference, when more of that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtplugins.core.grammar.rules import Edges

BEGIN = ""
"""Stands in histories for the beginning of the sentence: no word is empty."""


@dataclass(frozen=True)
class Piece:
    """``left``: the words whose history is not complete; ``right``: what a next word sees, all of it if ``closed``."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    closed: bool


class WordStates:
    """The scorer of one sentence. ``shown`` gives the model's own words for those of a target side."""

    def __init__(
        self, model: Any, scale: float, ends: tuple[bool, bool], markers: bool, shown: Callable[[list[str]], list[str]]
    ) -> None:
        self._model = model
        self._scale = scale
        self._bos, self._eos = ends
        self._markers = markers
        self._shown = shown
        self._width = model.order - 1
        self._known: dict[tuple[str, ...], float] = {}

    def combine(self, edges: Edges, tails: Sequence[Sequence[Piece]]) -> tuple[list[float], list[Piece]]:
        """Scores and pieces of edges."""
        results = [self._joined(edges.rules.target_of(i), tails[i]) for i in range(len(edges))]
        return [score * self._scale for score, _ in results], [piece for _, piece in results]

    def finish(self, states: Sequence[Piece]) -> list[float]:
        """What the ends of the sentence add; nothing if rules hold them."""
        return [0.0 if self._markers else self._finished(one) * self._scale for one in states]

    def estimate(self, edges: Edges) -> list[float]:
        """The words between gaps by themselves."""
        found = []
        for i in range(len(edges)):
            score, history = 0.0, _Text(self)
            for symbol in edges.rules.target_of(i):
                if isinstance(symbol, int):
                    history = _Text(self)
                else:
                    score += history.add(symbol)
            found.append(score * self._scale)
        return found

    def _joined(self, target: Sequence[str | int], tails: Sequence[Piece]) -> tuple[float, Piece]:
        text = _Text(self)
        score = sum(text.add_piece(tails[one]) if isinstance(one, int) else text.add(one) for one in target)
        return score, text.piece()

    def _finished(self, piece: Piece) -> float:
        text = _Text(self, begun=self._bos)
        score = text.add_piece(piece)
        return score + (self.log10(text.right, "</s>") if self._eos else 0.0)

    def log10(self, history: tuple[str, ...], word: str) -> float:
        """The word's log10 probability behind these."""
        key = (*history, word)
        found = self._known.get(key)
        if found is None:
            begun = key[0] == BEGIN
            text = " ".join(self._shown(list(key[begun:])))
            found = self._known[key] = self._model.full_scores(text, begun, False)[-1][0]
        return found


class _Text:
    """A piece while it grows to the right."""

    def __init__(self, scorer: WordStates, begun: bool = False) -> None:
        self._scorer = scorer
        self._left: list[str] = []
        self.right: tuple[str, ...] = (BEGIN,) if begun else ()
        self._closed = begun or scorer._width == 0
        self._empty = True

    def add(self, word: str, known: float = 0.0) -> float:
        """One more word; ``known`` is what it was scored already."""
        width = self._scorer._width
        if self._empty and self._scorer._markers and word == "<s>":
            self.right, self._closed, self._empty = (BEGIN,), True, False
            return 0.0
        self._empty = False
        score = self._scorer.log10(self.right, word) - known
        if not self._closed:
            self._left.append(word)
        self.right = (*self.right, word)[-width:] if width else ()
        self._closed = self._closed or len(self.right) == width
        return score

    def add_piece(self, piece: Piece) -> float:
        """One more piece."""
        score = 0.0
        for k, word in enumerate(piece.left):
            score += self.add(word, self._scorer.log10(piece.left[:k], word))
        if piece.closed and self._scorer._width:
            self.right, self._closed, self._empty = piece.right, True, False
        return score

    def piece(self) -> Piece:
        """What is known of it."""
        return Piece(tuple(self._left), self.right, self._closed)
