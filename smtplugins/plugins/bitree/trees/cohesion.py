"""Drop links that violate a source tree, in place of the paper's hierarchical aligner (section 7.4.1).

A link crosses a constituent if its source word is outside it and its target word strictly inside the target span of the
constituent. Links are dropped one by one, always the one that leaves the fewest crossings (on ties the last by source
and target), until none is left. Every subset of the result is free of crossings, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.plugins.bitree.trees.source_trees import SourceTree

Link = tuple[int, int]


def cohesive(tree: SourceTree, links: Iterable[Link]) -> tuple[Link, ...]:
    """The links that are kept, in order."""
    kept = sorted(set(links))
    if len(kept) < 2:
        return tuple(kept)
    sources, targets = np.array(kept, dtype=np.int64).T
    firsts = np.array([node.first for node in tree.nodes])
    lasts = np.array([node.last for node in tree.nodes])
    inside = (firsts[:, None] <= sources) & (sources < lasts[:, None])
    alive = np.ones(len(kept), dtype=bool)
    while (crossed := _crossings(inside, targets, alive)).any():
        # Only dropping a crossing link, or an outermost link of a crossed constituent, can help.
        left = [(_left_without(inside, targets, alive, link), -link) for link in np.flatnonzero(crossed).tolist()]
        alive[-min(left)[1]] = False
    return tuple(link for link, good in zip(kept, alive.tolist(), strict=True) if good)


def _extents(inside: NDArray[Any], targets: NDArray[Any], alive: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    mask = inside & alive
    far = len(targets) + int(targets.max()) + 1
    return np.where(mask, targets, far).min(axis=1), np.where(mask, targets, -1).max(axis=1)


def _crossing(inside: NDArray[Any], targets: NDArray[Any], alive: NDArray[Any]) -> NDArray[Any]:
    """Whether a link crosses a node (nodes x links)."""
    low, high = _extents(inside, targets, alive)
    crossing: NDArray[Any] = ~inside & alive & (targets > low[:, None]) & (targets < high[:, None])
    return crossing


def _crossings(inside: NDArray[Any], targets: NDArray[Any], alive: NDArray[Any]) -> NDArray[Any]:
    """The links involved in a crossing."""
    crossing = _crossing(inside, targets, alive)
    low, high = _extents(inside, targets, alive)
    rows = crossing.any(axis=1)
    outer = inside & alive & ((targets == low[:, None]) | (targets == high[:, None]))
    involved: NDArray[Any] = crossing.any(axis=0) | np.any(outer[rows], axis=0)
    return involved


def _left_without(inside: NDArray[Any], targets: NDArray[Any], alive: NDArray[Any], link: int) -> int:
    rest = alive.copy()
    rest[link] = False
    return int(_crossing(inside, targets, rest).sum())
