"""Bitrees: a source tree with the translation of each word and the target order of children (section 7.4.4).

A node with several children is assembled around its head child: the head and the siblings joined so far are an interval
of children, and the next sibling on the left or right joins it, either kept in place or swapped to the other side. A
part whose words are all NULL joins without an inference.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from smtplugins.plugins.bitree.trees.source_trees import SourceTree

KEEP, SWAP = 0, 1
ORDERS = ("keep", "swap")
Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Join:
    """Child ``sibling`` of a node joins the interval of children from ``first`` up to ``last``, which has the head."""

    node: int
    first: int
    last: int
    sibling: int

    @property
    def left(self) -> bool:
        """Whether the sibling comes from the left."""
        return self.sibling < self.first

    @property
    def after(self) -> Interval:
        """The interval of children after the join."""
        return (self.sibling, self.last) if self.left else (self.first, self.last + 1)


def joins_after(tree: SourceTree, node: int, interval: Interval) -> list[Join]:
    """The possible next joins: of the sibling on the left, and of that on the right."""
    first, last = interval
    joins = [Join(node, first, last, first - 1)] if first else []
    return [*joins, Join(node, first, last, last)] if last < len(tree.nodes[node].children) else joins


def head_interval(tree: SourceTree, node: int) -> Interval:
    """The initial interval of a node: its head child."""
    head = tree.nodes[node].head_child
    return head, head + 1


@dataclass(frozen=True)
class Inference:
    """A training candidate: a join, and for each order whether it leads to the bitree."""

    join: Join
    correct: tuple[bool, bool]


@dataclass(frozen=True)
class Bitree:
    """A source tree with the translation of each word, empty for NULL, and its target position, -1 for NULL."""

    tree: SourceTree
    translations: tuple[str, ...]
    places: tuple[int, ...]

    @classmethod
    def of(cls, tree: SourceTree, target: Sequence[str], chosen: dict[int, int]) -> Bitree:
        """The bitree of an aligned sentence pair; ``chosen`` is the target position of each linked source word."""
        places = tuple(chosen.get(word, -1) for word in range(len(tree)))
        return cls(tree, tuple(target[place] if place >= 0 else "" for place in places), places)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of words that are not NULL below each node."""
        linked = [0]
        for place in self.places:
            linked.append(linked[-1] + (place >= 0))
        return tuple(linked[node.last] - linked[node.first] for node in self.tree.nodes)

    @cached_property
    def orders(self) -> dict[int, Order]:
        """The target order of children, for each node with several."""
        return {number: _order(self, number) for number, node in enumerate(self.tree.nodes) if len(node.children) > 1}

    @property
    def loose(self) -> int:
        """The number of children whose position no sequence of joins can produce."""
        return sum(order.loose for order in self.orders.values())

    def sequence(self, draw: random.Random) -> Iterator[Inference]:
        """Yield the candidate joins at each state of a random sequence of correct joins, node by node.

        The next join is drawn uniformly from the correct ones. Joins of parts without words, and of children whose
        position joins cannot produce, are made silently.
        """
        for node, order in self.orders.items():
            state = head_interval(self.tree, node)
            while True:
                joins = joins_after(self.tree, node, state)
                if not joins:
                    break
                for join in joins:
                    if order.inferred(join):
                        good = order.good[join.after]
                        swap = order.swapped(join)
                        yield Inference(join, (good and not swap, good and swap))
                state = draw.choice([join.after for join in joins if order.good[join.after]])

    def paths(self, node: int) -> list[list[tuple[Join, int]]]:
        """All sequences of correct joins of a node, each join with its order; silent joins are left out."""
        order = self.orders[node]
        paths: list[list[tuple[Join, int]]] = []

        def grow(state: Interval, done: list[tuple[Join, int]]) -> None:
            joins = joins_after(self.tree, node, state)
            if not joins:
                paths.append(done)
            for join in joins:
                if order.good[join.after]:
                    step = [(join, int(order.swapped(join)))] if order.inferred(join) else []
                    grow(join.after, done + step)

        grow(head_interval(self.tree, node), [])
        return paths


@dataclass(frozen=True)
class Order:
    """The target order of a node's children: the rank of each (-1 without words, or if loose)."""

    ranks: tuple[int, ...]
    good: dict[Interval, bool]
    loose: int

    def inferred(self, join: Join) -> bool:
        """Whether both parts have words with a known order."""
        return self.ranks[join.sibling] >= 0 and any(rank >= 0 for rank in self.ranks[join.first : join.last])

    def swapped(self, join: Join) -> bool:
        """Whether the sibling moves to the other side of the joined children."""
        here = next((rank for rank in self.ranks[join.first : join.last] if rank >= 0), -1)
        return (self.ranks[join.sibling] < here) != join.left


def _order(bitree: Bitree, number: int) -> Order:
    node = bitree.tree.nodes[number]
    places: list[tuple[int, int] | None] = []
    for child in node.children:
        below = bitree.tree.nodes[child]
        linked = [place for place in bitree.places[below.first : below.last] if place >= 0]
        places.append((min(linked), max(linked)) if linked else None)
    head = node.head_child
    loose = 0
    while not _good(_ranks(places), head)[head, head + 1]:
        # Drop the smallest child whose absence helps, or else the smallest; the last on ties.
        linked = [k for k, place in enumerate(places) if place is not None and k != head]
        linked.sort(key=lambda k: (bitree.sizes[node.children[k]], -k))
        places[next((k for k in linked if _good(_ranks(_without(places, k)), head)[head, head + 1]), linked[0])] = None
        loose += 1
    ranks = _ranks(places)
    return Order(ranks, _good(ranks, head), loose)


def _without(places: Sequence[tuple[int, int] | None], child: int) -> list[tuple[int, int] | None]:
    return [None if k == child else place for k, place in enumerate(places)]


def _ranks(places: Sequence[tuple[int, int] | None]) -> tuple[int, ...]:
    order = sorted((place, k) for k, place in enumerate(places) if place is not None)
    ranks = [-1] * len(places)
    for rank, (_, k) in enumerate(order):
        ranks[k] = rank
    return tuple(ranks)


def _good(ranks: Sequence[int], head: int) -> dict[Interval, bool]:
    """For each interval around the head, whether correct joins lead from it to the whole node."""
    count = len(ranks)
    good: dict[Interval, bool] = {}
    for width in range(count, 0, -1):
        for first in range(max(0, head - width + 1), min(head, count - width) + 1):
            last = first + width
            inside = [rank for rank in ranks[first:last] if rank >= 0]
            whole = not inside or max(inside) - min(inside) == len(inside) - 1
            after = good.get((first - 1, last), False) or good.get((first, last + 1), False)
            good[first, last] = whole and (after or width == count)
    return good
