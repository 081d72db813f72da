"""A language model as an undirected feature: words are scored with the known context and rescored when it grows.

A. Gesmundo and J. Henderson (2014), section 4: a partial tree has boundary words at both ends, a gap has known words
before and after it. The decoder ``umt`` computes this in native code; this Python version serves tests, readers, and
decoders that call features one at a time.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from smtplugins.contracts.adapters import SimpleStateful, SimpleUndirected
from smtplugins.contracts.features import OUTSIDE
from smtplugins.plugins.umt.growing.search import LmMode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtplugins.contracts.tools.grammars import Vocabulary

Words = tuple[str, ...]
BEGIN, END = "<s>", "</s>"


class Around(NamedTuple):
    """The known words before and after a gap, up to the model's order - 1."""

    before: Words
    behind: Words


class Ends(NamedTuple):
    """The boundary words of a partial translation; ``closed`` means that it has no gap.

    If it is shorter than the model's context, both ends hold all of its words.
    """

    first: Words
    last: Words
    closed: bool


class _Token(NamedTuple):
    """A word of the text around an edge; ``None`` marks a gap or words that do not matter."""

    word: str | None
    run: int  # 0: the edge's own words; other numbers: words of a neighbour, which already have a score
    counts: bool = True


_GAP = _Token(None, 0)


class UndirectedLm(SimpleStateful, SimpleUndirected):
    """Language model log probability including sentence boundaries, for the decoder ``umt``.

    ``mode``: ``delta``, the change of the known score; ``rescored``, the score of new words and of those whose context
    they extend; ``split``, the same by context length. Other decoders and n-best lists use the score of the whole
    sentence. ``base=e`` is the natural logarithm, ``base=10`` is cdec's. ``markers=rules``: the grammar's rules
    contain ``<s>`` and ``</s>``.
    """

    start_weights = (0.5,)

    def __init__(
        self,
        path: Path,
        *,
        mode: LmMode = "delta",
        base: Literal["e", "10"] = "e",
        markers: Literal["sentence", "rules"] = "sentence",
    ) -> None:
        from smtplugins.contracts.tools.language_models import read_lm

        self._model = read_lm(path)
        self.lm_mode = mode
        self._markers = markers == "rules"
        self._scale = math.log(10) if base == "e" else 1.0
        self._context = self._model.order - 1
        self._numbers: weakref.WeakKeyDictionary[Vocabulary, NDArray[Any]] = weakref.WeakKeyDictionary()

    def native(self) -> Any:
        """Return the model's scorer for native searches."""
        from smtplugins.contracts.tools.search import lm_scorer

        return lm_scorer(self._model, (), markers=self._markers, scale=self._scale)

    def numbers(self, vocabulary: Vocabulary) -> NDArray[Any]:
        """Return the model's word ids for a vocabulary; cached for each vocabulary."""
        import numpy as np

        known = self._numbers.get(vocabulary, np.empty(0, dtype=np.int32))
        if len(known) < len(vocabulary):
            known = np.concatenate([known, vocabulary.ids_in(self._model, len(known))])
            self._numbers[vocabulary] = known
        return known

    def score_candidates(self, source: str | None, candidates: Candidates) -> NDArray[Any]:
        """Score a whole list in a single call of the model."""
        import numpy as np

        scores, _ = self._model.score_sentences(candidates.texts)
        return np.asarray(scores) * self._scale

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        """Score an edge whose children are all known."""
        score, contexts = self.attach_one(target, [None, *tails])
        return score, contexts[0]

    def finish_one(self, state: Any) -> float:
        """Score the sentence boundaries."""
        return 0.0 if self._markers else self.attach_one([0], [OUTSIDE, state])[0]

    def estimate_one(self, target: Sequence[str | int]) -> float:
        """Score the edge's own words out of context."""
        return self.attach_one(target, [None] * (1 + sum(isinstance(symbol, int) for symbol in target)))[0]

    def attach_one(self, target: Sequence[str | int], links: Sequence[Any]) -> tuple[float, Sequence[Any]]:
        """Score an edge beside its known neighbours; returns the score and the context shown at each link."""
        above, *children = links
        places: dict[int, tuple[int, int]] = {}
        inner: list[_Token] = []
        begun = self._markers and target[:1] == [BEGIN]
        for at, symbol in enumerate(target):
            if isinstance(symbol, str):
                inner.append(_Token(symbol, 0, counts=not (begun and at == 0)))
            else:
                first = len(inner)
                inner += self._of_child(children[symbol], 1 + symbol)
                places[symbol] = (first, len(inner))
        before, behind = [_GAP], [_GAP]
        if above is OUTSIDE:
            edge = [] if self._markers else [_Token(BEGIN, 0, counts=False)]
            before, behind = edge, [] if self._markers else [_Token(END, 0)]
        elif above is not None:
            # Words after the gap get a run number that no child has.
            before = [_Token(word, -1, counts=False) for word in above.before]
            behind = [_Token(word, len(children) + 1) for word in above.behind]
        tokens = [*before, *inner, *behind]
        shown: list[Any] = [self._ends(inner, children)]
        for child in range(len(children)):
            if child not in places:
                shown.append(Around((), ()))
                continue
            first, last = (len(before) + at for at in places[child])
            left = _known(tokens[:first][::-1], self._context)[::-1]
            shown.append(Around(left, _known(tokens[last:], self._context)))
        return self._scale * self._score(tokens), shown

    def _of_child(self, child: Ends | None, run: int) -> list[_Token]:
        if child is None:
            return [_GAP]
        first = [_Token(word, run) for word in child.first]
        if child.closed and len(child.first) < self._context:
            return first
        # The last words of the part have their full context, so their scores do not change.
        return [*first, _GAP, *(_Token(word, run, counts=False) for word in child.last)]

    def _ends(self, inner: Sequence[_Token], children: Sequence[Ends | None]) -> Ends:
        closed = all(child is not None and child.closed for child in children)
        first, last = _known(inner, self._context), _known(inner[::-1], self._context)[::-1]
        return Ends(first, last, closed)

    def _score(self, tokens: Sequence[_Token]) -> float:
        """Sum the scores of new words and the score changes of known words."""
        total = 0.0
        for piece in _pieces(tokens):
            for token, now in zip(piece, self._probabilities(piece), strict=True):
                total += now if token.counts else 0.0
            runs = {token.run for token in piece if token.run > 0 and token.counts}
            for run in sorted(runs):
                total -= sum(self._probabilities([token for token in piece if token.run == run and token.counts]))
        return total

    def _probabilities(self, piece: Sequence[_Token]) -> list[float]:
        words = [token.word or "" for token in piece]
        begun = words[:1] == [BEGIN]
        scored = self._model.full_scores(" ".join(words[begun:]), begun, False)
        return [0.0] * begun + [score for score, _, _ in scored]


def _known(tokens: Sequence[_Token], most: int) -> Words:
    """Return the words up to the first gap."""
    words: list[str] = []
    for token in tokens[:most]:
        if token.word is None:
            break
        words.append(token.word)
    return tuple(words)


def _pieces(tokens: Sequence[_Token]) -> list[list[_Token]]:
    """Split tokens at gaps; drops empty pieces."""
    pieces: list[list[_Token]] = [[]]
    for token in tokens:
        if token.word is None:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if piece]
