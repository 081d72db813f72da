"""An undirected feature as an example: bigrams, in a directed form and in one for trees that grow in any order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from smtplugins.contracts.adapters import SimpleStateful, SimpleUndirected
from smtplugins.contracts.features import OUTSIDE

Known = tuple[str | None, ...]
"""Words that are known; ``None`` is a hole between them."""


class Bigrams(SimpleStateful, SimpleUndirected):
    """How often a word follows another one, weighed by their lengths; ``<s>`` and ``</s>`` are around a sentence.

    All that a neighbour has to know of words is which one is next to it. A child shows its first and its last word,
    the edge above a child those before and behind it. Put together they are a text, in which a pair of neighbours is
    new: no two words of one context are next to each other, there is a hole between them.
    """

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Known]) -> tuple[float, Known]:
        own = text_of(target, tails)
        return pairs(own), ends(own)

    def finish_one(self, state: Known) -> float:
        return pairs(("<s>", *state, "</s>"))

    def attach_one(self, target: Sequence[str | int], links: Sequence[Any]) -> tuple[float, list[Known]]:
        above: Known = (None, None) if links[0] is None else ("<s>", "</s>") if links[0] is OUTSIDE else links[0]
        before, behind = above
        children = [(None,) if link is None else link for link in links[1:]]
        own = text_of(target, children)
        contexts = [ends(own)]
        places = {child: i for i, child in enumerate(target) if isinstance(child, int)}
        for child in range(len(children)):
            left = (before, *text_of(target[: places[child]], children))
            right = (*text_of(target[places[child] + 1 :], children), behind)
            contexts.append((left[-1], right[0]))
        return pairs((before, *own, behind)), contexts


def text_of(target: Sequence[str | int], children: Sequence[Known]) -> Known:
    """The words of a target side, those of its children put in."""
    parts: list[Known] = [(symbol,) if isinstance(symbol, str) else children[symbol] for symbol in target]
    return tuple(itertools.chain.from_iterable(parts))


def ends(text: Known) -> Known:
    """The first and the last word of a text; one or none if it is so short."""
    return text if len(text) < 2 else (text[0], None, text[-1])


def pairs(text: Known) -> float:
    """The values of neighbours that are both known."""
    known = [(a, b) for a, b in itertools.pairwise(text) if a is not None and b is not None]
    return float(sum(3 * len(a) + len(b) + ord(a[0]) * ord(b[0]) % 7 for a, b in known))
