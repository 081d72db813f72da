"""A stateful n-gram language model in plain Python: for decoders without native scorers, and as a test oracle.

The state of a piece of text is its first and last words, up to the model's order - 1. The first words are scored with
partial history, and rescored when the piece is put into context.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from smtplugins.contracts.tools.grammars import Edges

BEGIN = ""
"""The beginning of the sentence in histories; no word is empty."""


@dataclass(frozen=True)
class BoundaryWords:
    """The state of a piece: ``left``, the words that lack history, and ``right``, the history of a next word.

    ``closed``: the history on the right is complete.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    closed: bool


class WordStates:
    """The scorer of a sentence; ``shown`` maps target words to the model's words."""

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

    def combine(
        self, edges: Edges, tails: Sequence[Sequence[BoundaryWords]]
    ) -> tuple[list[float], list[BoundaryWords]]:
        """Return scores and states of edges."""
        results = [self._score_edge(edges.rules.target_of(i), tails[i]) for i in range(len(edges))]
        return [score * self._scale for score, _ in results], [piece for _, piece in results]

    def finish(self, states: Sequence[BoundaryWords]) -> list[float]:
        """Score sentence boundaries; 0 if the rules contain them."""
        return [0.0 if self._markers else self._score_end(state) * self._scale for state in states]

    def estimate(self, edges: Edges) -> list[float]:
        """Score the words between gaps out of context."""
        scores = []
        for i in range(len(edges)):
            score, history = 0.0, _Text(self)
            for symbol in edges.rules.target_of(i):
                if isinstance(symbol, int):
                    history = _Text(self)
                else:
                    score += history.add(symbol)
            scores.append(score * self._scale)
        return scores

    def _score_edge(self, target: Sequence[str | int], tails: Sequence[BoundaryWords]) -> tuple[float, BoundaryWords]:
        text = _Text(self)
        score = sum(text.add_piece(tails[symbol]) if isinstance(symbol, int) else text.add(symbol) for symbol in target)
        return score, text.piece()

    def _score_end(self, piece: BoundaryWords) -> float:
        text = _Text(self, begun=self._bos)
        score = text.add_piece(piece)
        return score + (self.log10(text.right, "</s>") if self._eos else 0.0)

    def log10(self, history: tuple[str, ...], word: str) -> float:
        """Return the log10 probability of a word given its history."""
        key = (*history, word)
        score = self._known.get(key)
        if score is None:
            begun = key[0] == BEGIN
            text = " ".join(self._shown(list(key[begun:])))
            score = self._known[key] = self._model.full_scores(text, begun, False)[-1][0]
        return score


class _Text:
    """A piece that is extended to the right."""

    def __init__(self, scorer: WordStates, begun: bool = False) -> None:
        self._scorer = scorer
        self._left: list[str] = []
        self.right: tuple[str, ...] = (BEGIN,) if begun else ()
        self._closed = begun or scorer._width == 0
        self._empty = True

    def add(self, word: str, known: float = 0.0) -> float:
        """Append a word; returns its score minus ``known``, its previous score."""
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

    def add_piece(self, piece: BoundaryWords) -> float:
        """Append a piece; returns the change in score."""
        score = 0.0
        for k, word in enumerate(piece.left):
            score += self.add(word, self._scorer.log10(piece.left[:k], word))
        if piece.closed and self._scorer._width:
            self.right, self._closed, self._empty = piece.right, True, False
        return score

    def piece(self) -> BoundaryWords:
        """Return the state."""
        return BoundaryWords(tuple(self._left), self.right, self._closed)
