"""Trees built from actions: their text, their edges as a graph, and the steps in which they grew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.contracts.decoders import BuiltStep
from smtplugins.contracts.tools.decoding import rule_text

if TYPE_CHECKING:
    from smtplugins.contracts.tools.grammars import Forest
    from smtplugins.plugins.umt.growing.search import Grown

    Array = NDArray[Any]


@dataclass(frozen=True)
class GrownTree:
    """A complete tree: the edge of each step, and its child steps in tail order."""

    forest: Forest
    edges: list[int]
    children: list[list[int]]
    top: int

    @classmethod
    def of(cls, forest: Forest, actions: Array) -> GrownTree:
        """Build the tree from actions (see ``growing/search.py``)."""
        native = forest.native
        edges = actions[:, 0].tolist()
        bundles = np.searchsorted(native.rule_offsets, actions[:, 0], side="right") - 1
        widths = (native.tail_offsets[bundles + 1] - native.tail_offsets[bundles]).tolist()
        children = [[-1] * width for width in widths]
        below = [False] * len(edges)
        for step, (_, place, link, slot) in enumerate(actions.tolist()):
            if slot >= 0:
                children[step][slot] = place
                below[place] = True
            elif place >= 0:
                children[place][link - 1] = step
                below[step] = True
        return cls(forest, edges, children, below.index(False) if below else -1)

    def rules(self) -> Array:
        """The rule of each step."""
        rules: Array = self.forest.native.rules[self.edges]
        return rules

    def text(self) -> str:
        """The target-side words."""
        native, word = self.forest.native, self.forest.tables.words.word
        rules, targets = self.rules(), native.targets
        bounds = zip(native.target_offsets[rules].tolist(), native.target_offsets[rules + 1].tolist(), strict=True)
        sides = [targets[first:last].tolist() for first, last in bounds]
        words: list[str] = []
        # What is still to be spelled, last first: a word, or a gap of a step as (step, number).
        waiting: list[int | tuple[int, int]] = [(-1, 0)]
        while waiting:
            entry = waiting.pop()
            if isinstance(entry, int):
                words.append(word(entry))
                continue
            step, gap = entry
            below = self.top if step < 0 else self.children[step][gap]
            waiting += [symbol if symbol >= 0 else (below, -1 - symbol) for symbol in reversed(sides[below])]
        return " ".join(words)

    def upwards(self) -> list[int]:
        """The steps in bottom-up order."""
        order, stack = [], [self.top]
        while stack:
            order.append(stack.pop())
            stack += self.children[order[-1]]
        return order[::-1]

    def heads(self) -> Array:
        """The forest node at the head of each step's edge."""
        native = self.forest.native
        ends = native.rule_offsets[native.node_bundles]
        nodes: Array = np.searchsorted(ends, self.edges, side="right") - 1
        return nodes


@dataclass(frozen=True)
class KeptTrees:
    """Trees in the layout of ``Kept`` (``core/search/refining.py``); they share only the goal node."""

    node_of: Array
    node_bundles: Array
    tails: Array
    tail_offsets: Array
    rule_offsets: Array
    edge_of: Array
    scores: Array
    values: Array


def kept(trees: Iterable[tuple[GrownTree, Array, Array]]) -> KeptTrees:
    """Pack trees, each with the scores and the feature values of its steps."""
    nodes: list[int] = []
    bundles: list[int] = []
    tails: list[list[int]] = []
    edges: list[int] = []
    scores: list[float] = []
    rows: list[Array] = []
    tops = []
    for tree, own, values in trees:
        heads = tree.heads().tolist()
        numbers: dict[int, int] = {}
        for step in tree.upwards()[:-1]:
            numbers[step] = len(nodes)
            nodes.append(heads[step])
            bundles.append(1)
            tails.append([numbers[child] for child in tree.children[step]])
            edges.append(tree.edges[step])
            scores.append(own[step])
            rows.append(values[step])
        goal = heads[tree.top]
        below = [numbers[child] for child in tree.children[tree.top]]
        tops.append((below, tree.edges[tree.top], own[tree.top], values[tree.top]))
    if tops:
        nodes.append(goal)
        bundles.append(len(tops))
    for below, edge, score, row in tops:
        tails.append(below)
        edges.append(edge)
        scores.append(score)
        rows.append(row)
    return KeptTrees(
        node_of=np.array(nodes, dtype=np.int32),
        node_bundles=np.cumsum([0, *bundles], dtype=np.int64),
        tails=np.array([tail for row in tails for tail in row], dtype=np.int32),
        tail_offsets=np.cumsum([0, *map(len, tails)], dtype=np.int64),
        rule_offsets=np.arange(len(edges) + 1, dtype=np.int64),
        edge_of=np.array(edges, dtype=np.int64),
        scores=np.array(scores, dtype=np.float64),
        values=np.concatenate(rows).astype(np.float32) if rows else np.empty(0, dtype=np.float32),
    )


def built(tree: GrownTree, grown: Grown) -> list[BuiltStep]:
    """The steps in which the tree grew."""
    nodes = tree.forest.native.nodes[tree.heads()][:, 1:].tolist()
    steps = []
    for step, (_, place, link, slot) in enumerate(grown.actions.tolist()):
        rule = tree.forest.rule(int(tree.forest.native.rules[tree.edges[step]]))
        above = slot >= 0
        child = slot if above else max(link - 1, 0)
        first, last = nodes[step]
        steps.append(BuiltStep(rule_text(rule), first, last, place, above, child, float(grown.scores[step])))
    return steps


def traced(tree: GrownTree, grown: Grown, names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each step: number, attachment, span, rule, score, and nonzero feature values."""
    for number, step in enumerate(built(tree, grown)):
        where = "first" if step.beside < 0 else f"{'above' if step.above else 'below'} {step.beside}"
        pairs = zip(names, grown.values[number].tolist(), strict=True)
        values = " ".join(f"{name}={value:.4g}" for name, value in pairs if value)
        tail = f"  {values}" if values else ""
        yield f"{number}  {where}  [{step.first}, {step.last}) {step.rule}  {step.score:.4f}{tail}"
