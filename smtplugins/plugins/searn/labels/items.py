"""Items of a word-aligned sentence pair, the leaves of its tree (Zhang, Sun and Li 2008, section 3.1).

Words linked directly or transitively form an item, together with the words between them on either side. Groups whose
spans cross are merged. Items in an order that no reduction of two neighbours can undo (2413, 3142 and larger simple
permutations) are merged, too. An unaligned source word outside these is an item without target words; an unaligned
target word joins the item before it on the target side, or the following one at the beginning of the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smtplugins.plugins.searn._searn import find_items as native

Span: TypeAlias = tuple[int, int]
"""Position of the first word, and of the last plus 1."""

KINDS = ("unaligned", "linked", "crossing", "simple")
"""No links; linked words; several crossing groups of linked words; a simple permutation of groups."""


@dataclass(frozen=True)
class AlignedItem:
    """A leaf of the tree. Without target words, the target span is (0, 0)."""

    source: Span
    target: Span
    kind: str = "linked"
    parts: tuple[tuple[Span, Span], ...] = ()
    """Source and target spans of the items inside an indecomposable item."""


@dataclass(frozen=True)
class ItemArrays:
    """Items of sentence pairs as arrays, in source order; pair ``i`` has items ``offsets[i]`` to ``offsets[i + 1]``."""

    offsets: NDArray[np.int64]
    spans: NDArray[np.int32]
    """Begin and end of the source words, then of the target words."""
    kinds: NDArray[np.uint8]
    """Indices into ``KINDS``."""
    labels: NDArray[np.int32]
    """Indices into ``label_names``."""
    label_names: list[str]
    parts: NDArray[np.int32]
    """Pair, begin and end of the source words, then of the target words."""

    def of(self, number: int) -> list[AlignedItem]:
        """The items of a pair."""
        own = self.parts[self.parts[:, 0] == number][:, 1:].tolist()
        items = []
        for at in range(int(self.offsets[number]), int(self.offsets[number + 1])):
            first, end, first_target, end_target = self.spans[at].tolist()
            inside = tuple(((a, b), (c, d)) for a, b, c, d in own if first <= a and b <= end)
            items.append(AlignedItem((first, end), (first_target, end_target), KINDS[self.kinds[at]], inside))
        return items


def find_items(pairs: Sequence[tuple[int, int, Sequence[tuple[int, int]]]]) -> ItemArrays:
    """Find the items of sentence pairs, given as (number of source words, number of target words, links from 0)."""
    sources, targets = (np.array([pair[side] for pair in pairs], np.int32) for side in (0, 1))
    offsets = np.zeros(len(pairs) + 1, np.int64)
    np.cumsum([len(pair[2]) for pair in pairs], out=offsets[1:])
    links = np.array([point for pair in pairs for point in pair[2]], np.int32).reshape(-1, 2)
    return ItemArrays(*native(sources, targets, offsets, links))


def items_of(source: Sequence[str], target: Sequence[str], links: Iterable[tuple[int, int]]) -> list[AlignedItem]:
    """Find the items of a sentence pair, in source order; none if it has no links."""
    return find_items([(len(source), len(target), list(links))]).of(0)
