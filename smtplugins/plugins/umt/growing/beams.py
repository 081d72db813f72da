"""Several trees at once: at each step those are kept whose score so far, bounds of missing branches included, is best.

Not in the paper, which keeps one tree: a wider search for lists, and to tell a policy's errors from the search's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.umt.growing.search import Grown, Searcher

    Array = NDArray[Any]


@dataclass(frozen=True)
class _Item:
    score: float
    actions: Array
    edges: frozenset[int]


def beams(searcher: Searcher, size: int) -> list[Grown]:
    """The complete trees that a beam of this size leads to, the best first."""
    import numpy as np

    items = [_Item(0.0, np.empty((0, 4), dtype=np.int64), frozenset())]
    complete: list[_Item] = []
    scored = 0
    while items:
        found: dict[frozenset[int], _Item] = {}
        for item in items:
            actions, scores = searcher.expanded(item.actions)
            scored += len(actions)
            if not len(actions):
                complete.append(item)
                continue
            for at in np.argsort(-scores, kind="stable")[:size].tolist():
                edges = item.edges | {int(actions[at, 0])}
                total = item.score + float(scores[at])
                # The same tree may have been grown in another order.
                if edges not in found or found[edges].score < total:
                    found[edges] = _Item(total, np.concatenate([item.actions, actions[at : at + 1]]), edges)
        items = sorted(found.values(), key=lambda one: (-one.score, sorted(one.edges)))[:size]
    complete.sort(key=lambda one: (-one.score, sorted(one.edges)))
    first, *rest = (searcher.follow(one.actions) for one in complete)
    return [replace(first, scored=scored), *rest]
