"""Items of a word-aligned sentence pair (Zhang, Sun and Li 2008, section 3.1): what leaves of its tree are.

Words that are linked, directly or by others, are one item, with what lies between them on either side. Where two such
groups lie in each other's way, they are one. Items whose order no reduction of two neighbours leads out of (2413, 3142
and larger simple permutations) are one, too. A source word without links beside them is an item without target words;
a target word without links belongs to what stands before it on the target side, at the beginning to what follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Span: TypeAlias = tuple[int, int]
"""First word, and the one behind the last."""

KINDS = ("unaligned", "linked", "crossing", "simple")
"""No links; linked words; several groups of them that lie in each other's way; a simple permutation of those."""


@dataclass(frozen=True)
class Item:
    """A leaf of the tree. Of one without target words, the target span is (0, 0)."""

    source: Span
    target: Span
    kind: str = "linked"
    parts: tuple[tuple[Span, Span], ...] = ()
    """Sides of the items that the inside of this one would have, if that is what could not be decomposed."""


@dataclass(frozen=True)
class FoundItems:
    """Items of several sentence pairs; those of pair ``i`` are ``offsets[i]`` to ``offsets[i + 1]``, by source."""

    offsets: NDArray[np.int64]
    spans: NDArray[np.int32]
    """First and end of source words, then of target words."""
    kinds: NDArray[np.uint8]
    """Places in ``KINDS``."""
    labels: NDArray[np.int32]
    """Places in ``label_names``."""
    label_names: list[str]
    parts: NDArray[np.int32]
    """Pair, first and end of source words, then of target words."""

    def of(self, number: int) -> list[Item]:
        """The items of a pair."""
        own = self.parts[self.parts[:, 0] == number][:, 1:].tolist()
        found = []
        for at in range(int(self.offsets[number]), int(self.offsets[number + 1])):
            first, end, first_target, end_target = self.spans[at].tolist()
            inside = tuple(((a, b), (c, d)) for a, b, c, d in own if first <= a and b <= end)
            found.append(Item((first, end), (first_target, end_target), KINDS[self.kinds[at]], inside))
        return found


def find_items(pairs: Sequence[tuple[int, int, Sequence[tuple[int, int]]]]) -> FoundItems:
    """Items of sentence pairs, given as source words, target words (how many of each), and links (from 0)."""
    import numpy as np

    from smtplugins.plugins.searn._searn import find_items as native

    sources, targets = (np.array([pair[side] for pair in pairs], np.int32) for side in (0, 1))
    offsets = np.zeros(len(pairs) + 1, np.int64)
    np.cumsum([len(pair[2]) for pair in pairs], out=offsets[1:])
    links = np.array([point for pair in pairs for point in pair[2]], np.int32).reshape(-1, 2)
    return FoundItems(*native(sources, targets, offsets, links))


def items_of(source: Sequence[str], target: Sequence[str], links: Iterable[tuple[int, int]]) -> list[Item]:
    """The items of one sentence pair, by source; none if it has no links."""
    return find_items([(len(source), len(target), list(links))]).of(0)
