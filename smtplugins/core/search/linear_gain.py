"""Linear BLEU, a stateful feature: a gain for each word, and for each n-gram that occurs in a reference.

R. Tromble, S. Kumar, F. Och and W. Macherey, "Lattice Minimum Bayes-Risk Decoding for Statistical Machine Translation"
(2008), equation 5: ``G(E) = t0 |E| + sum over n of tn * (n-grams of E in a reference)``, counts not clipped, with
``t0 = -1/T`` and ``tn = 1 / (N T p r^(n-1))`` for n-grams up to N, unigram precision p and decay r. Here T is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.core._core import GainScorer as Native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core import _core
    from smtplugins.core.grammar.rules import Edges
    from smtplugins.core.vocabulary import Vocabulary

Ends = tuple[tuple[str, ...], tuple[str, ...]]
"""The first and the last words of a string, up to the longest n-gram's length minus one each."""


def published_gains(order: int = 4, precision: float = 0.85, decay: float = 0.7) -> tuple[float, ...]:
    """The gains of a word and of an n-gram of each length."""
    if order < 1 or not precision > 0 or not decay > 0:
        values = f"{order}, {precision}, {decay}"
        raise ValueError(f"expected an order of 1 or more, precision and decay above 0, found {values}")
    return (-1.0, *(1 / (order * precision * decay**n) for n in range(order)))


def ngrams_of(words: tuple[str, ...], n: int) -> list[tuple[str, ...]]:
    """The n-grams of a string of words."""
    return [words[i : i + n] for i in range(len(words) - n + 1)]


class LinearGain:
    """Linear BLEU against the references of one sentence, given as words. Searches use the native scorer.

    ``fold`` maps words of graphs to words of the references, such as lower-casing. ``shares`` are factors of the gains
    of n-grams, such as posterior probabilities; an n-gram that is not among them gains nothing.
    """

    def __init__(
        self,
        references: Iterable[Sequence[str]],
        gains: Sequence[float],
        fold: Callable[[str], str] | None = None,
        shares: Mapping[tuple[str, ...], float] | None = None,
    ) -> None:
        self._references = [tuple(reference) for reference in references]
        self.gains = tuple(gains)
        self._fold = fold
        self._numbers: dict[str, int] = {}
        for words in self._references:
            for word in words:
                self._numbers.setdefault(word, len(self._numbers))
        order = len(self.gains) - 1
        self._shared = shares is not None
        self.ngrams = {
            gram: self.gains[n] * (1.0 if shares is None else shares.get(gram, 0.0))
            for words in self._references
            for n in range(1, order + 1)
            for gram in ngrams_of(words, n)
        }

    def with_shares(self, shares: Mapping[tuple[str, ...], float]) -> LinearGain:
        """The same feature with factors of n-grams."""
        return LinearGain(self._references, self.gains, self._fold, shares)

    def gain(self, words: Sequence[str]) -> float:
        """The gain of a whole translation, from its words."""
        folded = self.folded(words)
        total = self.gains[0] * len(folded)
        for n in range(1, len(self.gains)):
            total += sum(self.ngrams.get(gram, 0.0) for gram in ngrams_of(folded, n))
        return total

    def folded(self, words: Iterable[str]) -> tuple[str, ...]:
        """Words in the spelling of the references."""
        return tuple(words) if self._fold is None else tuple(map(self._fold, words))

    def start(self, sentence: Any) -> GainScorer:
        """A scorer in Python, for one sentence."""
        return GainScorer(self)

    def native(self) -> _core.GainScorer:
        """A scorer for native searches."""
        import numpy as np

        numbers = self._numbers
        rows = [np.array([numbers[word] for word in words], dtype=np.int32) for words in self._references]
        scorer = Native(rows, np.array(self.gains, dtype=np.float64))
        if self._shared:
            for gram, gain in self.ngrams.items():
                scorer.set_gain(np.array([numbers[word] for word in gram], dtype=np.int32), gain)
        return scorer

    def numbers(self, vocabulary: Vocabulary) -> NDArray[Any]:
        """The native scorer's ids of the words of a vocabulary."""
        return self.numbers_of(vocabulary.word(i) for i in range(len(vocabulary)))

    def numbers_of(self, words: Iterable[str]) -> NDArray[Any]:
        """The native scorer's ids of these words, -1 for words in no reference."""
        import numpy as np

        return np.array([self._numbers.get(word, -1) for word in self.folded(words)], dtype=np.int32)

    def scorer_for(self, words: Iterable[str]) -> _core.GainScorer:
        """A native scorer for target sides whose word i is the i-th of ``words``, such as ``graph.grammar.words``."""
        scorer = self.native()
        scorer.set_words(self.numbers_of(words))
        return scorer


class GainScorer:
    """The scorer of one sentence in plain Python; the oracle of the native scorer."""

    def __init__(self, feature: LinearGain) -> None:
        self._feature = feature
        self._width = len(feature.gains) - 2

    def combine(self, edges: Edges, tails: Sequence[Sequence[Ends]]) -> tuple[list[float], list[Ends]]:
        """The gains and states of edges."""
        results = [self._join(edges.rules.target_of(i), tails[i]) for i in range(len(edges))]
        return [gain for gain, _ in results], [ends for _, ends in results]

    def finish(self, states: Sequence[Ends]) -> list[float]:
        """The ends of a sentence gain nothing."""
        return [0.0] * len(states)

    def estimate(self, edges: Edges) -> list[float]:
        """The gains of the word runs between gaps."""
        estimates = []
        for i in range(len(edges)):
            total, run = 0.0, list[str]()
            for symbol in [*edges.rules.target_of(i), 0]:
                if isinstance(symbol, int):
                    total, run = total + self._feature.gain(run), []
                else:
                    run.append(symbol)
            estimates.append(total)
        return estimates

    def _join(self, target: Sequence[str | int], tails: Sequence[Ends]) -> tuple[float, Ends]:
        total = 0.0
        left: tuple[str, ...] = ()
        right: tuple[str, ...] = ()
        for symbol in target:
            if isinstance(symbol, int):
                first, last = tails[symbol]
            else:
                total += self._feature.gain([symbol])
                first = last = self._feature.folded([symbol])[: self._width]
            total += self._across(right, first)
            if len(left) < self._width:
                left = (left + first)[: self._width]
            right = last if len(last) == self._width else (right + last)[-self._width :]
        return total, (left, right)

    def _across(self, right: tuple[str, ...], first: tuple[str, ...]) -> float:
        """The gain of the n-grams across the seam of two strings."""
        gains, ngrams = self._feature.gains, self._feature.ngrams
        total = 0.0
        for a in range(1, len(right) + 1):
            for b in range(1, min(len(first), len(gains) - 1 - a) + 1):
                total += ngrams.get(right[-a:] + first[:b], 0.0)
        return total
