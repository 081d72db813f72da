"""Reduce a word alignment to one target word, or NULL, for each source word.

The paper turns GIZA++ alignments into one-to-one tree alignments by a hierarchical aligner (section 7.4.1). Here the
links of a sentence are chosen greedily, strongest first, each word at most once: the strength of a pair is
c(s, t)^2 / (c(s) c(t)), with counts of links in the training text. Ties are broken from left to right, by source, then
by target position. With source trees, links that cross a constituent are removed first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Link = tuple[int, int]
Words = Sequence[str]


@dataclass(frozen=True)
class LinkCounts:
    """Counts of linked word pairs in a text, and of links by source and by target word."""

    pairs: Counter[tuple[str, str]]
    sources: Counter[str]
    targets: Counter[str]

    @classmethod
    def of(cls, text: Iterable[tuple[Words, Words, Iterable[Link]]]) -> LinkCounts:
        """Count the links of aligned sentences."""
        pairs: Counter[tuple[str, str]] = Counter()
        for source, target, links in text:
            pairs.update((source[i], target[j]) for i, j in links)
        sources: Counter[str] = Counter()
        targets: Counter[str] = Counter()
        for (source_word, target_word), count in pairs.items():
            sources[source_word] += count
            targets[target_word] += count
        return cls(pairs, sources, targets)

    def strength(self, source: str, target: str) -> float:
        """The strength of a word pair, from 0 to 1."""
        count = self.pairs[source, target]
        return count * count / (self.sources[source] * self.targets[target]) if count else 0.0


def one_to_one(source: Words, target: Words, links: Iterable[Link], counts: LinkCounts) -> dict[int, int]:
    """The target position of each source position that keeps a link."""
    order = sorted(set(links), key=lambda link: (-counts.strength(source[link[0]], target[link[1]]), link))
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    for i, j in order:
        if i not in chosen and j not in taken:
            chosen[i] = j
            taken.add(j)
    return chosen
