"""Search for the cheapest bitree of a source tree: an agenda of cells, a chart of items (section 7.4.4).

A cell is a word, or a node with an interval of its children; cells are processed bottom-up. Items recombine hypotheses
that later inferences cannot tell apart: those with the same translation of the lexical head, and the same answer to
whether all words became NULL. The cost of an inference depends only on these, the source and the join, so without
pruning the search is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from smtplugins.plugins.bitree.trees.bitrees import KEEP, SWAP, Interval, Join, head_interval, joins_after
from smtplugins.plugins.bitree.trees.source_trees import SourceTree

Array = NDArray[Any]

NULL = ""
THRESHOLD = 1e-3
CELL_SIZE = 40


class Costs(Protocol):
    """The costs of inferences in a sentence, as arrays over the given translations of heads and siblings.

    ``words`` gives the translations of each word with their costs. ``orders`` is the cost of keeping and swapping two
    parts that both have words (orders x heads x siblings), ``attached`` the cost of a join in either order (heads x
    siblings), ``roots`` the cost of the root's translations. ``guesses`` is an outside estimate, added when items of a
    cell are compared for pruning.
    """

    def words(self) -> Sequence[tuple[Sequence[str], Array]]: ...

    def orders(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Array: ...

    def attached(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Array | None: ...

    def roots(self, names: Sequence[str]) -> Array | None: ...

    def guesses(self, word: int, names: Sequence[str]) -> Array | None: ...


@dataclass(frozen=True)
class SearchLimits:
    """Pruning: keep items with at least ``threshold`` times the best probability, at most ``size`` a cell (0: all)."""

    threshold: float = THRESHOLD
    size: int = CELL_SIZE

    @property
    def lack(self) -> float:
        """The threshold as a maximum cost above the best item."""
        return -math.log(self.threshold) if self.threshold > 0 else math.inf


@dataclass(eq=False, slots=True)
class BitreeItem:
    """A chart item; ``edges`` are its derivations, only the cheapest unless all are requested."""

    node: int
    interval: Interval
    word: int
    name: str
    empty: bool
    cost: float = math.inf
    edges: list[BitreeEdge] = field(default_factory=list)

    def best(self) -> BitreeEdge:
        """The cheapest edge, the first on ties."""
        return min(self.edges, key=lambda edge: edge.total)


@dataclass(eq=False, slots=True)
class BitreeEdge:
    """An inference and its antecedents; a word has neither join nor parts. ``total`` includes the cost of the parts."""

    cost: float
    total: float
    join: Join | None = None
    order: int = KEEP
    head: BitreeItem | None = None
    sibling: BitreeItem | None = None

    @property
    def parts(self) -> tuple[BitreeItem, ...]:
        """Head and sibling in source order."""
        if self.join is None or self.head is None or self.sibling is None:
            return ()
        return (self.sibling, self.head) if self.join.left else (self.head, self.sibling)


@dataclass(frozen=True)
class SearchResult:
    """The root items, cheapest first, with their additional cost as roots; counts of items and edges."""

    tree: SourceTree
    roots: tuple[tuple[BitreeItem, float], ...]
    items: int
    edges: int

    @property
    def cost(self) -> float:
        """The cost of the cheapest bitree."""
        item, more = self.roots[0]
        return item.cost + more

    def derivation(self) -> Iterator[tuple[BitreeItem, BitreeEdge]]:
        """Yield the inferences of the cheapest bitree bottom-up, from left to right."""
        done: list[tuple[BitreeItem, BitreeEdge]] = []
        todo = [self.roots[0][0]] if self.roots else []
        while todo:
            item = todo.pop()
            edge = item.best()
            done.append((item, edge))
            todo += edge.parts
        yield from reversed(done)

    def translations(self) -> list[str]:
        """The translation of each source word."""
        words = [NULL] * len(self.tree)
        for item, edge in self.derivation():
            if edge.join is None:
                words[item.word] = item.name
        return words

    def target(self) -> list[str]:
        """The target words of the cheapest bitree, without NULL."""
        words: list[str] = []
        todo = [self.roots[0][0]] if self.roots else []
        while todo:
            item = todo.pop()
            edge = item.best()
            if edge.join is None:
                words += [item.name] if item.name else []
            else:
                todo += edge.parts if edge.order == SWAP else edge.parts[::-1]
        return words


def search(tree: SourceTree, costs: Costs, limits: SearchLimits | None = None, *, every: bool = False) -> SearchResult:
    """Find the cheapest bitree; with ``every``, items keep all edges."""
    limits = limits or SearchLimits()
    chart = _Chart(tree, costs, limits, every)
    for word, (names, values) in enumerate(costs.words()):
        cell = {(name, name == NULL): BitreeItem(word, (0, 0), word, name, name == NULL) for name in names}
        for item, cost in zip(cell.values(), values.tolist(), strict=True):
            item.cost = cost
            item.edges.append(BitreeEdge(cost, cost))
        chart.done(word, cell)
    for number in range(len(tree), len(tree.nodes)):
        chart.node(number)
    if not len(tree):
        return SearchResult(tree, (), 0, 0)
    last = chart.cells[tree.root]
    more = costs.roots([item.name for item in last])
    extra = np.zeros(len(last)) if more is None else more
    pairs = sorted(zip(last, extra.tolist(), strict=True), key=lambda pair: pair[0].cost + pair[1])
    return SearchResult(tree, tuple(pairs), chart.items, chart.edges)


_Cell = dict[tuple[str, bool], BitreeItem]


class _Chart:
    def __init__(self, tree: SourceTree, costs: Costs, limits: SearchLimits, every: bool) -> None:
        self.tree = tree
        self.costs = costs
        self.limits = limits
        self.every = every
        self.cells: dict[int, list[BitreeItem]] = {}
        self.items = self.edges = 0

    def done(self, node: int, cell: _Cell) -> list[BitreeItem]:
        """Finish a cell: prune it and store its items."""
        items = list(cell.values())
        self.items += len(items)
        self.edges += sum(len(item.edges) for item in items)
        guesses = self.costs.guesses(items[0].word, [item.name for item in items])
        values = [item.cost for item in items]
        if guesses is not None:
            values = [cost + more for cost, more in zip(values, guesses.tolist(), strict=True)]
        order = sorted(range(len(items)), key=values.__getitem__)
        most = values[order[0]] + self.limits.lack
        kept = [items[k] for k in order[: self.limits.size or None] if values[k] <= most]
        self.cells[node] = kept
        return kept

    def node(self, number: int) -> None:
        """Fill all cells of a node, from its head child to all children."""
        children = self.tree.nodes[number].children
        head = head_interval(self.tree, number)
        known = {head: self.cells[children[head[0]]]}
        agenda = [head]
        cells: dict[Interval, _Cell] = {}
        for interval in agenda:
            if interval in cells:
                known[interval] = self.done(number, cells[interval])
            for join in joins_after(self.tree, number, interval):
                if join.after not in cells:
                    cells[join.after] = {}
                    agenda.append(join.after)
                self._join(join, known[interval], self.cells[children[join.sibling]], cells[join.after])
        self.cells[number] = known[0, len(children)]

    def _join(self, join: Join, heads: Sequence[BitreeItem], siblings: Sequence[BitreeItem], cell: _Cell) -> None:
        """Join all pairs of items of two cells."""
        costs = np.full((2, len(heads), len(siblings)), np.inf)
        full = [[k for k, item in enumerate(items) if not item.empty] for items in (heads, siblings)]
        # A part without words cannot be swapped.
        costs[KEEP] = 0.0
        if all(full):
            names = [[items[k].name for k in indices] for items, indices in zip((heads, siblings), full, strict=True)]
            costs[np.ix_([KEEP, SWAP], *full)] = self.costs.orders(join, *names)
        more = self.costs.attached(join, [item.name for item in heads], [item.name for item in siblings])
        if more is not None:
            costs += more
        total = costs + np.array([item.cost for item in heads])[:, None] + np.array([item.cost for item in siblings])
        silent = np.array([item.empty for item in siblings])
        for place, head in enumerate(heads):
            for empty in (False, True):
                columns = np.flatnonzero(silent == empty) if head.empty else np.arange(0 if empty else len(siblings))
                if len(columns):
                    item = cell.get((head.name, empty))
                    if item is None:
                        item = cell[head.name, empty] = BitreeItem(join.node, join.after, head.word, head.name, empty)
                    part = total[:, place, columns]
                    for order, column in self._ways(part, item):
                        other = int(columns[column])
                        cost, sums = float(costs[order, place, other]), float(part[order, column])
                        item.edges.append(BitreeEdge(cost, sums, join, order, head, siblings[other]))
                        item.cost = min(item.cost, sums)

    def _ways(self, part: Array, item: BitreeItem) -> list[tuple[int, int]]:
        """The (order, column) pairs an item keeps as edges: all with ``every``, else a new cheapest one, if any."""
        if self.every:
            return [(int(order), int(column)) for order, column in np.argwhere(np.isfinite(part))]
        order, column = divmod(int(np.argmin(part)), part.shape[1])
        if part[order, column] >= item.cost:
            return []
        item.edges.clear()
        return [(order, column)]
