"""The generative baseline: a top-down tree transducer (equation 7.14), trained by Viterbi EM.

A target node is generated given its parent and its source node, lexicalised as in H. Zhang and D. Gildea, "Stochastic
Lexicalized Inversion Transduction Grammar for Alignment" (2005): the root's head given the source word; the order of a
node's two parts given its production and heads; a sibling's head given the source word and the parent's head. Head
children inherit their parent's head. The hidden variable of a bitree is the order in which siblings join; each EM step
takes the most probable one (J. Graehl and K. Knight, "Training Tree Transducers", 2004, section 5, allow this).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.contracts.errors import SmtError
from smtplugins.plugins.bitree.transduce.joins import heads_of, production
from smtplugins.plugins.bitree.transduce.search import NULL
from smtplugins.plugins.bitree.trees.bitrees import (
    KEEP,
    ORDERS,
    SWAP,
    Bitree,
    Interval,
    Join,
    head_interval,
    joins_after,
)
from smtplugins.plugins.bitree.trees.source_trees import SourceTree

Array = NDArray[Any]
Context = tuple[str, ...]

FILES = ("words", "pairs", "roots", "orders")


class Backoff:
    """Counts of outcomes in contexts, with Witten-Bell interpolation of ever shorter contexts.

    ``levels`` are the lengths of the context prefixes, longest first. Without ``smooth`` only the longest counts.
    """

    def __init__(self, levels: Sequence[int], smooth: bool = True) -> None:
        self.levels = tuple(levels) if smooth else tuple(levels[:1])
        self.counts: Counter[tuple[Context, str]] = Counter()
        self._totals: Counter[Context] = Counter()
        self._kinds: Counter[Context] = Counter()
        self._sums: Counter[tuple[Context, str]] = Counter()

    def add(self, context: Context, outcome: str, count: int = 1) -> None:
        """Count an outcome."""
        self.counts[context, outcome] += count
        for level in self.levels:
            part = (*context[:level], str(level))
            self._kinds[part] += (part, outcome) not in self._sums
            self._sums[part, outcome] += count
            self._totals[part] += count

    def probability(self, context: Context, outcome: str, base: float = 0.0) -> float:
        """The probability of an outcome; ``base`` is its probability without context."""
        probability = base
        for level in reversed(self.levels):
            part = (*context[:level], str(level))
            total = self._totals[part]
            if total:
                new = self._kinds[part] if len(self.levels) > 1 or base else 0
                probability = (self._sums[part, outcome] + new * probability) / (total + new)
        return probability

    def save(self, path: Path) -> None:
        """Write a line of count, outcome and context, separated by tabs, for each pair of context and outcome."""
        lines = sorted("\t".join((str(count), outcome, *context)) for (context, outcome), count in self.counts.items())
        path.write_bytes("".join(f"{line}\n" for line in lines).encode())

    def load(self, path: Path) -> None:
        """Load counts written by save()."""
        try:
            lines = path.read_bytes().decode().split("\n")[:-1]
        except FileNotFoundError:
            raise SmtError(f"{path}: expected counts, found no file") from None
        for number, line in enumerate(lines, 1):
            count, *rest = line.split("\t")
            if not count.isdecimal() or not rest:
                raise SmtError(f"{path}:{number}: expected a count, an outcome and a context, found {line!r}")
            self.add(tuple(rest[1:]), rest[0], int(count))


def _cost(probability: float) -> float:
    return -math.log(probability) if probability > 0 else math.inf


class Generative:
    """The transducer's counts. ``smooth=False`` uses relative frequencies of whole contexts."""

    def __init__(self, smooth: bool = True) -> None:
        self._smooth = smooth
        # A word's translation alone; given its parent's translation; as the root, given the root's label.
        self.words = Backoff((1,))
        self.pairs = Backoff((2,), smooth)
        self.roots = Backoff((2,), smooth)
        self.orders = Backoff((7, 6, 4), smooth)
        self.candidates: dict[str, tuple[str, ...]] = {}

    def word(self, word: str, name: str) -> float:
        """The probability of a translation without context; an unknown word becomes NULL."""
        if word not in self.candidates:
            return float(name == NULL)
        return self.words.probability((word,), name)

    def sibling(self, word: str, above: str, name: str) -> float:
        """The probability of a sibling's translation, given the translation ``above`` of its parent's head."""
        return self.pairs.probability((word, above), name, self.word(word, name) if self._smooth else 0.0)

    def root(self, word: str, label: str, name: str) -> float:
        """The probability of the root's translation."""
        return self.roots.probability((word, label), name, self.word(word, name) if self._smooth else 0.0)

    def order(self, tree: SourceTree, join: Join, head: str, order: int) -> float:
        """The probability of an order, given the translation ``head`` of the head."""
        return self.orders.probability(_order_context(tree, join, head), ORDERS[order], 0.5 if self._smooth else 0.0)

    def cost(self, bitree: Bitree, path: Iterable[tuple[Join, int]]) -> float:
        """The cost of a bitree assembled by this sequence of joins."""
        tree, names = bitree.tree, bitree.translations
        total = sum(_cost(self.order(tree, join, names[heads_of(tree, join)[0]], order)) for join, order in path)
        for head, sibling in _attachments(tree):
            total += _cost(self.sibling(tree.words[sibling], names[head], names[sibling]))
        top = tree.nodes[tree.root]
        return total + _cost(self.root(tree.words[top.head], top.label, names[top.head]))

    def start(self, tree: SourceTree) -> GenerativeCosts:
        """The costs of a sentence."""
        return GenerativeCosts(self, tree)

    def save(self, folder: Path) -> None:
        """Write the counts."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            getattr(self, name).save(folder / f"{name}.tsv")

    @classmethod
    def load(cls, folder: Path) -> Generative:
        """Read counts."""
        model = cls()
        for name in FILES:
            getattr(model, name).load(Path(folder) / f"{name}.tsv")
        model.settle()
        return model

    def settle(self) -> None:
        """List the translations of each word, most frequent first."""
        counted: dict[str, list[tuple[int, str]]] = {}
        for ((word,), name), count in self.words.counts.items():
            counted.setdefault(word, []).append((-count, name))
        self.candidates = {word: tuple(name for _, name in sorted(pairs)) for word, pairs in counted.items()}


def _order_context(tree: SourceTree, join: Join, head: str) -> Context:
    head_word, sibling_word = heads_of(tree, join)
    return (*production(tree, join), tree.words[head_word], head, tree.words[sibling_word])


def _attachments(tree: SourceTree) -> Iterator[tuple[int, int]]:
    """Yield pairs of lexical heads: of a node, and of a child that is not its head child."""
    for node in tree.nodes:
        for place, child in enumerate(node.children):
            if place != node.head_child:
                yield node.head, tree.nodes[child].head


class GenerativeCosts:
    """``Costs`` of a sentence: a word's translation costs nothing until its parent's translation is known."""

    def __init__(self, model: Generative, tree: SourceTree) -> None:
        self._model = model
        self._tree = tree
        self._known: dict[tuple[str, str, str], float] = {}

    def words(self) -> list[tuple[Sequence[str], Array]]:
        """All translations of the words seen in training."""
        names = [self._model.candidates.get(word, (NULL,)) for word in self._tree.words]
        return [(candidates, np.zeros(len(candidates))) for candidates in names]

    def orders(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Array:
        """-log probabilities of the orders, which do not depend on the sibling's translation."""
        ways = [[_cost(self._model.order(self._tree, join, name, order)) for name in heads] for order in (KEEP, SWAP)]
        return np.repeat(np.array(ways)[:, :, None], len(siblings), axis=2)

    def attached(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Array:
        """-log probabilities of the sibling's translations."""
        word = self._tree.words[heads_of(self._tree, join)[1]]
        return np.array([[self._sibling(word, head, name) for name in siblings] for head in heads])

    def _sibling(self, word: str, head: str, name: str) -> float:
        key = word, head, name
        if key not in self._known:
            self._known[key] = _cost(self._model.sibling(word, head, name))
        return self._known[key]

    def roots(self, names: Sequence[str]) -> Array:
        """-log probabilities of the root's translations."""
        top = self._tree.nodes[self._tree.root]
        return np.array([_cost(self._model.root(self._tree.words[top.head], top.label, name)) for name in names])

    def guesses(self, word: int, names: Sequence[str]) -> Array:
        """-log probabilities of translations without context."""
        return np.array([_cost(self._model.word(self._tree.words[word], name)) for name in names])


def train(
    bitrees: Sequence[Bitree], *, iterations: int = 5, seed: int = 1, smooth: bool = True
) -> Iterator[Generative]:
    """Yield a model after each iteration; the first uses random orders of joins, later ones the most probable."""
    draw = random.Random(seed)
    model: Generative | None = None
    known = [bitree for bitree in bitrees if len(bitree.tree)]
    for _ in range(iterations):
        paths = [_random_path(bitree, draw) if model is None else most_probable(model, bitree) for bitree in known]
        model = _count(known, paths, smooth)
        yield model


def _count(bitrees: Iterable[Bitree], paths: Iterable[list[tuple[Join, int]]], smooth: bool) -> Generative:
    model = Generative(smooth)
    for bitree, path in zip(bitrees, paths, strict=True):
        tree, names = bitree.tree, bitree.translations
        for word, name in zip(tree.words, names, strict=True):
            model.words.add((word,), name)
        for head, sibling in _attachments(tree):
            model.pairs.add((tree.words[sibling], names[head]), names[sibling])
        for join, order in path:
            model.orders.add(_order_context(tree, join, names[heads_of(tree, join)[0]]), ORDERS[order])
        top = tree.nodes[tree.root]
        model.roots.add((tree.words[top.head], top.label), names[top.head])
    model.settle()
    return model


def _random_path(bitree: Bitree, draw: random.Random) -> list[tuple[Join, int]]:
    path = []
    for node, order in bitree.orders.items():
        state = head_interval(bitree.tree, node)
        while joins := [join for join in joins_after(bitree.tree, node, state) if order.good[join.after]]:
            join = draw.choice(joins)
            path += [(join, int(order.swapped(join)))] if order.inferred(join) else []
            state = join.after
    return path


def most_probable(model: Generative, bitree: Bitree) -> list[tuple[Join, int]]:
    """The most probable sequence of correct joins, node by node."""
    result: list[tuple[Join, int]] = []
    tree = bitree.tree
    for node, order in bitree.orders.items():
        start = head_interval(tree, node)
        best: dict[Interval, tuple[float, list[tuple[Join, int]]]] = {start: (0.0, [])}
        agenda = [start]
        for state in agenda:
            cost, path = best[state]
            for join in joins_after(tree, node, state):
                if not order.good[join.after]:
                    continue
                more: list[tuple[Join, int]] = []
                if order.inferred(join):
                    more = [(join, int(order.swapped(join)))]
                    name = bitree.translations[heads_of(tree, join)[0]]
                    more_cost = cost + _cost(model.order(tree, join, name, more[0][1]))
                else:
                    more_cost = cost
                if join.after not in best:
                    agenda.append(join.after)
                if join.after not in best or more_cost < best[join.after][0]:
                    best[join.after] = more_cost, path + more
        result += best[0, len(tree.nodes[node].children)][1]
    return result
