"""Algorithm 7.1 read off the page: dictionaries, all atoms at every node, bisection. Slow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

Conjunction = frozenset[tuple[int, bool]]
EMPTY: Conjunction = frozenset()
SAME = 1e-9
"""Gains that differ by less are equal: the atom with the lower number is taken."""


@dataclass
class Leaf:
    conjunction: Conjunction
    change: float


@dataclass
class Node:
    atom: int
    yes: Leaf | Node
    no: Leaf | Node


@dataclass
class PlainBoosting:
    """Rows are sets of true atoms, labels +1 and -1."""

    rows: Sequence[frozenset[int]]
    labels: Sequence[int]
    weights: Sequence[float]
    atoms: int
    eta: float = 0.9
    epsilon: float = 1e-5
    theta: dict[Conjunction, float] = field(default_factory=dict)
    penalty: float = math.inf
    trees: list[tuple[float, Leaf | Node]] = field(default_factory=list)
    risks: list[tuple[float, float]] = field(default_factory=list)
    insides: dict[Conjunction, frozenset[int]] = field(default_factory=dict)

    def holds(self, conjunction: Conjunction, row: int) -> bool:
        return all((atom in self.rows[row]) == wanted for atom, wanted in conjunction)

    def inside(self, conjunction: Conjunction) -> frozenset[int]:
        """The rows where a conjunction holds; rows do not change, so they are listed once."""
        if conjunction not in self.insides:
            self.insides[conjunction] = frozenset(i for i in range(len(self.rows)) if self.holds(conjunction, i))
        return self.insides[conjunction]

    def margin(self, row: int) -> float:
        return self.labels[row] * math.fsum(v for f, v in self.theta.items() if row in self.inside(f))

    def pull(self, conjunction: Conjunction) -> float:
        """-dL/dTheta, equations 7.10 and 7.11."""
        return math.fsum(
            self.weights[i] * self.labels[i] / (1 + math.exp(self.margins[i])) for i in self.inside(conjunction)
        )

    def gain(self, conjunction: Conjunction) -> float:
        """Equations 7.7 and 7.8."""
        value, pull = self.theta.get(conjunction, 0.0), self.pull(conjunction)
        if value == 0:
            return max(abs(pull) - self.penalty, 0.0)
        return abs(-pull + self.penalty * math.copysign(1, value))

    def loss(self, margins: Sequence[float]) -> float:
        return math.fsum(w * math.log1p(math.exp(-m)) for w, m in zip(self.weights, margins, strict=True))

    def risk(self) -> float:
        total = self.loss([self.margin(i) for i in range(len(self.rows))])
        return total + self.penalty * math.fsum(abs(v) for v in self.theta.values()) if self.theta else total

    def grow(self, conjunction: Conjunction) -> Leaf | Node:
        best, atom = self.gain(conjunction), -1
        for a in range(self.atoms):
            if any(a == other for other, _ in conjunction):
                continue  # One child would be the node itself, the other without gain.
            both = self.gain(conjunction | {(a, True)}) + self.gain(conjunction | {(a, False)})
            if both > best + SAME:
                best, atom = both, a
        if atom < 0:
            return Leaf(conjunction, self.search(conjunction))
        return Node(atom, *(self.grow(conjunction | {(atom, wanted)}) for wanted in (True, False)))

    def search(self, conjunction: Conjunction) -> float:
        """The change that minimises the risk over the examples of a leaf, by bisection of its slope."""
        inside = self.inside(conjunction)
        value = self.theta.get(conjunction, 0.0)

        def slope(change: float) -> float:
            return -math.fsum(
                self.weights[i] * self.labels[i] / (1 + math.exp(self.margins[i] + self.labels[i] * change))
                for i in inside
            )

        if abs(slope(-value)) <= self.penalty:
            return -value
        sign = -1 if slope(-value) > 0 else 1
        low, high = (-value, -value + 60) if sign > 0 else (-value - 60, -value)
        for _ in range(200):
            middle = (low + high) / 2
            if slope(middle) + sign * self.penalty < 0:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    def run(self, least: float) -> None:
        while True:
            self.margins = [self.margin(i) for i in range(len(self.rows))]
            roots = [EMPTY, *(frozenset({(a, w)}) for a in range(self.atoms) for w in (True, False))]
            self.penalty = min(self.penalty, self.eta * max(abs(self.pull(one)) for one in roots))
            if self.penalty < least:
                return
            tree, before, old = self.grow(EMPTY), self.risk(), dict(self.theta)
            for leaf in leaves(tree):
                changed = self.theta.get(leaf.conjunction, 0.0) + leaf.change
                self.theta[leaf.conjunction] = 0.0 if abs(changed) < 1e-15 else changed
            after = self.risk()
            if after < before - self.epsilon * before:
                self.trees.append((self.penalty, tree))
                self.risks.append((before, after))
            else:
                self.theta = old
                self.penalty *= self.eta


def leaves(tree: Leaf | Node) -> list[Leaf]:
    return [tree] if isinstance(tree, Leaf) else [*leaves(tree.yes), *leaves(tree.no)]


def flat(tree: Leaf | Node) -> list[tuple[int, float]]:
    """Splits and values from the root on, examples with the atom first; branches that change nothing are leaves."""
    if isinstance(tree, Leaf):
        return [(-1, tree.change)]
    if all(leaf.change == 0 for leaf in leaves(tree)):
        return [(-1, 0.0)]
    return [(tree.atom, 0.0), *flat(tree.yes), *flat(tree.no)]
