"""Choose a translation by the n-grams of the search graph: lattice minimum Bayes risk and consensus, as in Moses.

The candidates are the texts of an n-best list, as of :class:`MinimumRisk`; the n-grams are those of the best part of
the graph (``search_graph.py``). Of equal gains the text that comes first in the list is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import option
from smtplugins.host.decode.printing.choice import ChosenText, ListChoice, one_of
from smtplugins.host.decode.printing.search_graph import ORDER, Ngram, best_part, ngram_counts, ngram_scores

if TYPE_CHECKING:
    from smtplugins.core.graph.hypergraph import Hypergraph

_UNSEEN = -20.0  # Moses' logarithm of the probability of an n-gram that the part of the graph lacks


@dataclass(frozen=True, kw_only=True)
class GraphChoice(ListChoice):
    """Options of choices by a search graph."""

    density: int = option(30, "steps of the pruned graph for each word of the best derivation", least=1)

    def ngrams(self, graph: Hypergraph, endings: Callable[[], Sequence[int]] | None, words: int) -> dict[Ngram, float]:
        """The n-grams of the graph's best part, which are more for more ``words``; see :func:`ngram_scores`."""
        if endings is None:
            raise UsageError("needs the decoder `phrase` without constraints (a plugin's decoder: `Decoding.endings`)")
        part = best_part(graph, endings(), self.density * words)
        return ngram_scores(part, self.scale, once=isinstance(self, LatticeRisk))


@dataclass(frozen=True, kw_only=True)
class LatticeRisk(GraphChoice):
    """Lattice minimum Bayes risk (R. Tromble et al. 2008).

    The gain of a text is the sum over its n-grams, of the theta of their length times their probability, and theta 0
    for each word. Without ``thetas`` these are -1, 1 / (4 ``precision``), and for each further word the last one
    divided by ``ratio``.
    """

    precision: float = option(0.8, "the expected precision of words", least=0)
    ratio: float = option(0.6, "how much smaller the precision of an n-gram is for each word more", least=0)
    thetas: str = option("", "five weights, of a word and of n-grams of one to four words, instead of these")
    map_weight: float = option(0.0, "weight of the best derivation's score, added to the gain of its text alone")
    listed: int = option(0, "texts of the list with gains (`output.gains`), 0 for all", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("precision", self.precision), ("ratio", self.ratio)):
            if not value:
                raise UsageError(f"{name}: expected a number above 0, found {value}")
        self.weights()

    def weights(self) -> list[float]:
        """The thetas."""
        if not self.thetas:
            return [-1.0, *(1 / (ORDER * self.precision * self.ratio**n) for n in range(ORDER))]
        try:
            thetas = [float(text) for text in self.thetas.split()]
        except ValueError:
            thetas = []
        if len(thetas) != 1 + ORDER or not all(map(math.isfinite, thetas)):
            raise UsageError(f"thetas: expected {1 + ORDER} numbers, found {self.thetas!r}")
        return thetas

    def choose(self, graph: Hypergraph, endings: Callable[[], Sequence[int]] | None) -> ChosenText:
        """The text of the highest gain, and the list of gains as Moses prints it."""
        derivations, texts, firsts = self.distinct(graph)
        if not firsts:
            return ChosenText(derivations)
        known = self.ngrams(graph, endings, len(texts[0].split()))
        thetas = self.weights()
        listed = []
        for i, text in enumerate(texts):
            words = text.split()
            sums = _sums(words, known)
            score = float(derivations.scores[firsts[i]]) if not i else 0.0
            gain = sum(theta * value for theta, value in zip(thetas, (len(words), *sums), strict=True))
            listed.append((gain + score * self.map_weight, score, sums, text, i))
        listed.sort(key=lambda entry: -entry[0])
        lines = [
            f"{text} ||| map: {score:g} w: {len(text.split())} {' '.join(f'{value:g}' for value in sums)} ||| {gain:g}"
            for gain, score, sums, text, _ in listed[: self.listed or None]
        ]
        return ChosenText(one_of(derivations, firsts[listed[0][-1]]), tuple(lines))


@dataclass(frozen=True, kw_only=True)
class GraphConsensus(GraphChoice):
    """Fast consensus (J. DeNero et al. 2009): BLEU against the expected numbers of n-grams, with one more from bigrams.

    The length of the reference is the expected number of words.
    """

    def choose(self, graph: Hypergraph, endings: Callable[[], Sequence[int]] | None) -> ChosenText:
        """The text of the highest BLEU."""
        derivations, texts, firsts = self.distinct(graph)
        if not firsts:
            return ChosenText(derivations)
        known = self.ngrams(graph, endings, len(texts[0].split()))
        expected = {ngram: math.exp(value) for ngram, value in known.items()}
        length = math.fsum(value for ngram, value in expected.items() if len(ngram) == 1)
        gains = [_bleu(text.split(), expected, length) for text in texts]
        return ChosenText(one_of(derivations, firsts[max(range(len(texts)), key=lambda i: (gains[i], -i))]))


def _sums(words: Sequence[str], known: Mapping[Ngram, float]) -> list[float]:
    """The summed probabilities of a text's n-grams, by length."""
    sums = [0.0] * ORDER
    for ngram, count in ngram_counts(words).items():
        sums[len(ngram) - 1] += count * math.exp(known.get(ngram, _UNSEEN))
    return sums


def _bleu(words: Sequence[str], expected: Mapping[Ngram, float], length: float) -> float:
    matches = [0.0] * ORDER
    for ngram, count in ngram_counts(words).items():
        matches[len(ngram) - 1] += min(count, expected.get(ngram, 0.0))
    if not matches[0]:
        return 0.0
    logs = 0.0
    for n, matched in enumerate(matches):
        more = int(n > 0)
        logs += math.log(matched + more) - math.log(max(len(words) - n, 0) + more)
    return math.exp(logs / ORDER + min(0.0, 1 - length / len(words)))
