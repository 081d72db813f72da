"""The search for the cheapest bitree of a source tree: an agenda of cells, a chart of items (section 7.4.4).

A cell is a word, or a node with an interval of its children; cells come on the agenda from small ones to large ones.
Its items are what its words may have become, as far as a later inference can tell: the translation of the lexical head,
and whether all words became NULL. Costs of inferences are nothing but these, the source and the join, so that the
search is exact where nothing is pruned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from smtplugins.plugins.bitree.trees.bitrees import KEEP, SWAP, Interval, Join, head_interval, joins_after

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.bitree.trees.source_trees import SourceTree

    Array = NDArray[Any]

NULL = ""
THRESHOLD = 1e-3
CELL_SIZE = 40


class Costs(Protocol):
    """What inferences cost in one sentence; arrays go over the given translations of heads and siblings.

    ``words`` are the translations of each word and what they cost. ``orders`` is the cost of keeping and swapping two
    parts that both have words (orders x heads x siblings), ``attached`` that of a join however it turns out (heads x
    siblings), ``roots`` that of the root's translations. ``guesses`` is added where items of a cell are compared.
    """

    def words(self) -> Sequence[tuple[Sequence[str], Array]]: ...

    def orders(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Array: ...

    def attached(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Array | None: ...

    def roots(self, names: Sequence[str]) -> Array | None: ...

    def guesses(self, word: int, names: Sequence[str]) -> Array | None: ...


class CostModel(Protocol):
    """Knows costs."""

    def start(self, tree: SourceTree) -> Costs: ...


@dataclass(frozen=True)
class Limits:
    """Kept are items whose probability is ``threshold`` times the best one's or more, ``size`` of them (0: all)."""

    threshold: float = THRESHOLD
    size: int = CELL_SIZE

    @property
    def lack(self) -> float:
        """How much more than the best an item may cost."""
        return -math.log(self.threshold) if self.threshold > 0 else math.inf


@dataclass(eq=False, slots=True)
class Item:
    """``edges`` are the ways in which it was made, the cheapest first if only that was asked for."""

    node: int
    interval: Interval
    word: int
    name: str
    empty: bool
    cost: float = math.inf
    edges: list[Edge] = field(default_factory=list)

    def best(self) -> Edge:
        """The cheapest way; the first of several."""
        return min(self.edges, key=lambda edge: edge.total)


@dataclass(eq=False, slots=True)
class Edge:
    """An inference and what it was made of; a word has neither join nor parts. ``total`` includes the parts."""

    cost: float
    total: float
    join: Join | None = None
    order: int = KEEP
    head: Item | None = None
    sibling: Item | None = None

    @property
    def parts(self) -> tuple[Item, ...]:
        """Head and sibling as they stand on the source side."""
        if self.join is None or self.head is None or self.sibling is None:
            return ()
        return (self.sibling, self.head) if self.join.left else (self.head, self.sibling)


@dataclass(frozen=True)
class Found:
    """Items of the root, the cheapest first, with what they cost as roots; counts for statistics."""

    tree: SourceTree
    roots: tuple[tuple[Item, float], ...]
    items: int
    edges: int

    @property
    def cost(self) -> float:
        """What the cheapest bitree costs."""
        item, more = self.roots[0]
        return item.cost + more

    def derivation(self) -> Iterator[tuple[Item, Edge]]:
        """The inferences of the cheapest bitree, parts before what is made of them, from left to right."""
        done: list[tuple[Item, Edge]] = []
        todo = [self.roots[0][0]] if self.roots else []
        while todo:
            item = todo.pop()
            edge = item.best()
            done.append((item, edge))
            todo += edge.parts
        yield from reversed(done)

    def translations(self) -> list[str]:
        """What each word became."""
        found = [NULL] * len(self.tree)
        for item, edge in self.derivation():
            if edge.join is None:
                found[item.word] = item.name
        return found

    def target(self) -> list[str]:
        """The words of the cheapest bitree, NULL erased."""
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


def search(tree: SourceTree, costs: Costs, limits: Limits | None = None, *, every: bool = False) -> Found:
    """The cheapest bitree; with ``every``, items keep all ways in which they were made."""
    import numpy as np

    limits = limits or Limits()
    chart = _Chart(tree, costs, limits, every)
    for word, (names, values) in enumerate(costs.words()):
        cell = {(name, name == NULL): Item(word, (0, 0), word, name, name == NULL) for name in names}
        for item, cost in zip(cell.values(), values.tolist(), strict=True):
            item.cost = cost
            item.edges.append(Edge(cost, cost))
        chart.done(word, cell)
    for number in range(len(tree), len(tree.nodes)):
        chart.node(number)
    if not len(tree):
        return Found(tree, (), 0, 0)
    last = chart.cells[tree.root]
    more = costs.roots([item.name for item in last])
    extra = np.zeros(len(last)) if more is None else more
    pairs = sorted(zip(last, extra.tolist(), strict=True), key=lambda pair: pair[0].cost + pair[1])
    return Found(tree, tuple(pairs), chart.items, chart.edges)


_Cell = dict[tuple[str, bool], Item]


class _Chart:
    def __init__(self, tree: SourceTree, costs: Costs, limits: Limits, every: bool) -> None:
        self.tree = tree
        self.costs = costs
        self.limits = limits
        self.every = every
        self.cells: dict[int, list[Item]] = {}
        self.items = self.edges = 0

    def done(self, node: int, cell: _Cell) -> list[Item]:
        """A cell is complete: it is pruned, and a node's items are known."""
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
        """All cells of a node, from its head child to all children."""
        children = self.tree.nodes[number].children
        head = head_interval(self.tree, number)
        known = {head: self.cells[children[head[0]]]}
        agenda = [head]
        made: dict[Interval, _Cell] = {}
        for interval in agenda:
            if interval in made:
                known[interval] = self.done(number, made[interval])
            for join in joins_after(self.tree, number, interval):
                if join.after not in made:
                    made[join.after] = {}
                    agenda.append(join.after)
                self._join(join, known[interval], self.cells[children[join.sibling]], made[join.after])
        self.cells[number] = known[0, len(children)]

    def _join(self, join: Join, heads: Sequence[Item], siblings: Sequence[Item], cell: _Cell) -> None:
        """All ways to join items of two cells."""
        import numpy as np

        costs = np.full((2, len(heads), len(siblings)), np.inf)
        full = [[k for k, item in enumerate(items) if not item.empty] for items in (heads, siblings)]
        # Of parts without words there is nothing to swap.
        costs[KEEP] = 0.0
        if all(full):
            names = [[items[k].name for k in some] for items, some in zip((heads, siblings), full, strict=True)]
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
                        item = cell[head.name, empty] = Item(join.node, join.after, head.word, head.name, empty)
                    part = total[:, place, columns]
                    for order, column in self._ways(part, item):
                        other = int(columns[column])
                        cost, sums = float(costs[order, place, other]), float(part[order, column])
                        item.edges.append(Edge(cost, sums, join, order, head, siblings[other]))
                        item.cost = min(item.cost, sums)

    def _ways(self, part: Array, item: Item) -> list[tuple[int, int]]:
        """Which of these ways an item keeps; the cheapest so far alone unless all are asked for."""
        import numpy as np

        if self.every:
            return [(int(order), int(column)) for order, column in np.argwhere(np.isfinite(part))]
        order, column = divmod(int(np.argmin(part)), part.shape[1])
        if part[order, column] >= item.cost:
            return []
        item.edges.clear()
        return [(order, column)]
