"""A language model as an undirected feature: scored where its words' neighbours are known, corrected when more are.

A. Gesmundo and J. Henderson (2014), section 4: around a part of a tree its words at both ends are known, and around a
gap those before and behind it. The decoder ``umt`` has all this in native code; here it is plain Python, for features
that are checked or read, and for decoders that call features one by one.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from smtplugins.contracts.contracts import OUTSIDE, SimpleStateful, SimpleUndirected
from smtplugins.plugins.umt.growing.search import LmMode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtplugins.core.vocabulary import Vocabulary

Words = tuple[str, ...]
BEGIN, END = "<s>", "</s>"


class Around(NamedTuple):
    """What stands before and behind a gap, as far as it is known and matters."""

    before: Words
    behind: Words


class Ends(NamedTuple):
    """What a part begins and ends with; if it is ``closed``, no gap is in it. A short one begins and ends with all."""

    first: Words
    last: Words
    closed: bool


class _Token(NamedTuple):
    """A word of a text that an edge makes; ``None`` where something is unknown, or known and of no matter here."""

    word: str | None
    run: int  # 0: the edge's own words; words that have a score already: one number for each neighbour they are of
    counts: bool = True


_GAP = _Token(None, 0)


class UndirectedLm(SimpleStateful, SimpleUndirected):
    """Log probability of a text with sentence ends, for the decoder ``umt`` in one of its modes.

    ``mode``: ``delta``, the change of what is known; ``rescored``, the new words and anew those behind them; ``split``,
    these by length of context. Any other decoder has the model's score of the whole, as lists have. ``base=e`` is
    natural, ``base=10`` is cdec's; ``markers=rules`` says that rules of the grammar hold ``<s>`` and ``</s>``.
    """

    def __init__(
        self,
        path: Path,
        *,
        mode: LmMode = "delta",
        base: Literal["e", "10"] = "e",
        markers: Literal["sentence", "rules"] = "sentence",
    ) -> None:
        from smtplugins.core.lm.ngram_model import read_native_lm

        self._model = read_native_lm(path)
        self.lm_mode = mode
        self._markers = markers == "rules"
        self._scale = math.log(10) if base == "e" else 1.0
        self._context = self._model.order - 1
        self._numbers: weakref.WeakKeyDictionary[Vocabulary, NDArray[Any]] = weakref.WeakKeyDictionary()

    def native(self) -> Any:
        """The model at work in native searches."""
        from smtplugins.core.search.stateful_search import lm_scorer

        return lm_scorer(self._model, (), markers=self._markers, scale=self._scale)

    def numbers(self, vocabulary: Vocabulary) -> NDArray[Any]:
        """The model's numbers of all words of a vocabulary; those asked for before are kept."""
        import numpy as np

        known = self._numbers.get(vocabulary, np.empty(0, dtype=np.int32))
        if len(known) < len(vocabulary):
            known = np.concatenate([known, vocabulary.ids_in(self._model, len(known))])
            self._numbers[vocabulary] = known
        return known

    def score_candidates(self, source: str | None, candidates: Candidates) -> NDArray[Any]:
        """One call of the model for the whole list."""
        import numpy as np

        scores, _ = self._model.score_sentences(candidates.texts)
        return np.asarray(scores) * self._scale

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        """An edge whose children are all known."""
        score, contexts = self.attach_one(target, [None, *tails])
        return score, contexts[0]

    def finish_one(self, state: Any) -> float:
        """The ends of the sentence."""
        return 0.0 if self._markers else self.attach_one([0], [OUTSIDE, state])[0]

    def estimate_one(self, target: Sequence[str | int]) -> float:
        """The words of the edge alone."""
        return self.attach_one(target, [None] * (1 + sum(isinstance(one, int) for one in target)))[0]

    def attach_one(self, target: Sequence[str | int], links: Sequence[Any]) -> tuple[float, Sequence[Any]]:
        """What the edge adds beside those of its neighbours that are known, and what each of them is shown."""
        above, *children = links
        places: dict[int, tuple[int, int]] = {}
        inner: list[_Token] = []
        begun = self._markers and target[:1] == [BEGIN]
        for at, one in enumerate(target):
            if isinstance(one, str):
                inner.append(_Token(one, 0, counts=not (begun and at == 0)))
            else:
                first = len(inner)
                inner += self._of_child(children[one], 1 + one)
                places[one] = (first, len(inner))
        before, behind = [_GAP], [_GAP]
        if above is OUTSIDE:
            edge = [] if self._markers else [_Token(BEGIN, 0, counts=False)]
            before, behind = edge, [] if self._markers else [_Token(END, 0)]
        elif above is not None:
            # The run of what is behind ends the text: no child has its number.
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
        # What the part ends with has its score, whatever stands before the part.
        return [*first, _GAP, *(_Token(word, run, counts=False) for word in child.last)]

    def _ends(self, inner: Sequence[_Token], children: Sequence[Ends | None]) -> Ends:
        closed = all(child is not None and child.closed for child in children)
        first, last = _known(inner, self._context), _known(inner[::-1], self._context)[::-1]
        return Ends(first, last, closed)

    def _score(self, tokens: Sequence[_Token]) -> float:
        """New words count, words that have a score already by how much it changes."""
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
    """The words up to the first gap."""
    found: list[str] = []
    for token in tokens[:most]:
        if token.word is None:
            break
        found.append(token.word)
    return tuple(found)


def _pieces(tokens: Sequence[_Token]) -> list[list[_Token]]:
    """What stands between gaps."""
    pieces: list[list[_Token]] = [[]]
    for token in tokens:
        if token.word is None:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if piece]
