"""One target word, or NULL, for each source word: what is taken of an alignment with several links.

The paper has links of GIZA++ that a hierarchical aligner made into tree alignments, one word to one word (section
7.4.1). Here a sentence's links are taken one by one, those of words that are linked most often first, and each word
once: the strength of a pair is c(s, t)^2 / (c(s) c(t)), c being counts of links in the training text. Equal ones are
taken from left to right, by source words and then by target words. With source trees, links that cross
a constituent are gone before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Link = tuple[int, int]
Words = Sequence[str]


@dataclass(frozen=True)
class LinkCounts:
    """How often words are linked to each other in a text."""

    pairs: Counter[tuple[str, str]]
    sources: Counter[str]
    targets: Counter[str]

    @classmethod
    def of(cls, text: Iterable[tuple[Words, Words, Iterable[Link]]]) -> LinkCounts:
        """The counts of aligned sentences."""
        pairs: Counter[tuple[str, str]] = Counter()
        for source, target, links in text:
            pairs.update((source[i], target[j]) for i, j in links)
        sources: Counter[str] = Counter()
        targets: Counter[str] = Counter()
        for (one, other), count in pairs.items():
            sources[one] += count
            targets[other] += count
        return cls(pairs, sources, targets)

    def strength(self, source: str, target: str) -> float:
        """How strong a pair is, 0 to 1."""
        count = self.pairs[source, target]
        return count * count / (self.sources[source] * self.targets[target]) if count else 0.0


def one_to_one(source: Words, target: Words, links: Iterable[Link], counts: LinkCounts) -> dict[int, int]:
    """The target word of each source word that keeps a link."""
    order = sorted(set(links), key=lambda link: (-counts.strength(source[link[0]], target[link[1]]), link))
    found: dict[int, int] = {}
    taken: set[int] = set()
    for i, j in order:
        if i not in found and j not in taken:
            found[i] = j
            taken.add(j)
    return found
