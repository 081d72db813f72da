"""Beam search over growing trees, ranked by score so far plus the bounds of missing branches.

Not in the paper, which keeps one tree. Used for n-best lists and to tell model errors from search errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.plugins.umt.growing.search import Grown, Searcher

Array = NDArray[Any]


@dataclass(frozen=True)
class _Item:
    score: float
    actions: Array
    edges: frozenset[int]


def beams(searcher: Searcher, size: int) -> list[Grown]:
    """Return the complete trees of a beam of this size, best first."""
    items = [_Item(0.0, np.empty((0, 4), dtype=np.int64), frozenset())]
    complete: list[_Item] = []
    scored = 0
    while items:
        best: dict[frozenset[int], _Item] = {}
        for item in items:
            actions, scores = searcher.expanded(item.actions)
            scored += len(actions)
            if not len(actions):
                complete.append(item)
                continue
            for at in np.argsort(-scores, kind="stable")[:size].tolist():
                edges = item.edges | {int(actions[at, 0])}
                total = item.score + float(scores[at])
                # Recombination: the same edges may have been added in another order.
                if edges not in best or best[edges].score < total:
                    best[edges] = _Item(total, np.concatenate([item.actions, actions[at : at + 1]]), edges)
        items = sorted(best.values(), key=lambda item: (-item.score, sorted(item.edges)))[:size]
    complete.sort(key=lambda item: (-item.score, sorted(item.edges)))
    first, *rest = (searcher.follow(item.actions) for item in complete)
    return [replace(first, scored=scored), *rest]
