"""The search against enumeration of all bitrees of tiny trees, with costs of any kind."""

from __future__ import annotations

import itertools
import math
import random
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from smtplugins.plugins.bitree.transduce.search import SearchLimits, search
from smtplugins.plugins.bitree.trees.bitrees import KEEP, SWAP, Interval, Join, head_interval, joins_after
from smtplugins.plugins.bitree.trees.source_trees import SourceTree, TreeMaker

Derivation = tuple[float, tuple[str, ...], str]
EXACT = SearchLimits(threshold=0.0, size=0)


def _random_tree(draw: random.Random, size: int) -> SourceTree:
    maker = TreeMaker(tuple(f"w{k}" for k in range(size)), ("T",) * size)
    row = list(range(size))
    while len(row) > 1:
        first = draw.randrange(len(row) - 1)
        last = draw.randrange(first + 2, min(first + 4, len(row)) + 1)
        row[first:last] = [maker.add(draw.choice("XY"), tuple(row[first:last]), draw.randrange(last - first))]
        if draw.random() < 0.2:
            row[first] = maker.add("U", (row[first],), 0)
    return maker.tree("constituents")


class AnyCosts:
    """Numbers that depend on all that costs may depend on; ``full`` adds the generative kind."""

    def __init__(self, tree: SourceTree, full: bool) -> None:
        self.tree, self.full = tree, full
        self.names = [("", "a", "b") if k % 2 else ("c", "", "d") for k in range(len(tree))]

    def _number(self, *key: Any) -> float:
        return zlib.crc32(repr(key).encode()) % 1000 / 250

    def words(self) -> list[tuple[Sequence[str], Any]]:
        return [(names, np.array([self._number(k, one) for one in names])) for k, names in enumerate(self.names)]

    def orders(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Any:
        return np.array([[[self._number(o, join, h, s) for s in siblings] for h in heads] for o in (KEEP, SWAP)])

    def attached(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Any:
        if not self.full:
            return None
        return np.array([[self._number("a", join, h, s) for s in siblings] for h in heads])

    def roots(self, names: Sequence[str]) -> Any:
        return np.array([self._number("r", one) for one in names]) if self.full else None

    def guesses(self, word: int, names: Sequence[str]) -> Any:
        return np.array([self._number("g", word, one) for one in names]) if self.full else None


def derivations(tree: SourceTree, costs: AnyCosts) -> Iterator[Derivation]:
    """All bitrees with all ways to make them: cost, words, translation of the root's head."""

    def of(node: int) -> list[Derivation]:
        children = tree.nodes[node].children
        if not children:
            names, values = costs.words()[node]
            return [(v, (n,) if n else (), n) for n, v in zip(names, values.tolist(), strict=True)]
        below = [of(child) for child in children]
        return [one for start in below[head_interval(tree, node)[0]] for one in grown(node, below, start)]

    def grown(node: int, below: list[list[Derivation]], start: Derivation) -> Iterator[Derivation]:
        def grow(state: Interval, made: Derivation) -> Iterator[Derivation]:
            joins = joins_after(tree, node, state)
            if not joins:
                yield made
            for join in joins:
                for other in below[join.sibling]:
                    cost = made[0] + other[0]
                    if costs.full:
                        cost += costs.attached(join, [made[2]], [other[2]])[0, 0]
                    orders = costs.orders(join, [made[2]], [other[2]])[:, 0, 0]
                    before, behind = (other[1], made[1]) if join.left else (made[1], other[1])
                    if not before or not behind:
                        yield from grow(join.after, (cost, before + behind, made[2]))
                        continue
                    yield from grow(join.after, (cost + orders[KEEP], before + behind, made[2]))
                    yield from grow(join.after, (cost + orders[SWAP], behind + before, made[2]))

        yield from grow(head_interval(tree, node), start)

    for cost, words, name in of(tree.root):
        yield cost + (costs.roots([name])[0] if costs.full else 0.0), words, name


@pytest.mark.parametrize("full", [False, True])
def test_the_cheapest_of_all(full: bool) -> None:
    draw = random.Random(11)
    for _ in range(25):
        tree = _random_tree(draw, draw.randrange(1, 5))
        costs = AnyCosts(tree, full)
        every = list(derivations(tree, costs))
        wanted = min(every)
        for keep in (False, True):
            found = search(tree, costs, EXACT, every=keep)
            assert math.isclose(found.cost, wanted[0])
            assert tuple(found.target()) == wanted[1]
            assert math.isclose(sum(edge.cost for _, edge in found.derivation()) + found.roots[0][1], wanted[0])


def test_what_is_kept_is_all_there_is() -> None:
    draw = random.Random(12)
    for _ in range(15):
        tree = _random_tree(draw, draw.randrange(1, 5))
        costs = AnyCosts(tree, True)
        found = search(tree, costs, EXACT, every=True)

        def ways(item: Any) -> list[float]:
            return [
                edge.cost + sum(parts)
                for edge in item.edges
                for parts in itertools.product(*(ways(part) for part in edge.parts))
            ]

        mine = sorted(value + more for item, more in found.roots for value in ways(item))
        assert np.allclose(mine, sorted(one[0] for one in derivations(tree, costs)))


def test_pruning() -> None:
    draw = random.Random(13)
    worse = 0
    for _ in range(30):
        tree = _random_tree(draw, draw.randrange(2, 7))
        costs = AnyCosts(tree, False)
        exact = search(tree, costs, EXACT)
        narrow = search(tree, costs, SearchLimits(threshold=0.0, size=1))
        tight = search(tree, costs, SearchLimits(threshold=0.5, size=0))
        assert exact.cost <= tight.cost + 1e-9
        assert exact.cost <= narrow.cost + 1e-9
        assert narrow.items < exact.items
        worse += narrow.cost > exact.cost + 1e-9
    assert worse > 0


def test_without_words() -> None:
    tree = TreeMaker((), ()).tree("balanced")
    found = search(tree, AnyCosts(tree, False))
    assert found.roots == ()
    assert found.target() == []
    assert found.translations() == []
