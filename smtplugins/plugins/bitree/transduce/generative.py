"""The generative baseline: a top-down tree transducer, equation 7.14, learnt by Viterbi EM.

A target node is generated from its parent and from its source node. Lexicalised as H. Zhang and D. Gildea, "Stochastic
Lexicalized Inversion Transduction Grammar for Alignment" (2005) do, that is: the root's head from the source word; the
order of a node's two parts from its production and heads; a sibling's head from the source word and from the parent's
head. Head children have their parent's head. What is hidden in a bitree is the order in which siblings join; each step
of EM takes the most probable one, as J. Graehl and K. Knight, "Training Tree Transducers" (2004), section 5, may do.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError
from smtplugins.plugins.bitree.transduce.joins import heads_of, production
from smtplugins.plugins.bitree.transduce.search import NULL
from smtplugins.plugins.bitree.trees.bitrees import KEEP, ORDERS, SWAP, Interval, Join, head_interval, joins_after

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.bitree.trees.bitrees import Bitree
    from smtplugins.plugins.bitree.trees.source_trees import SourceTree

    Array = NDArray[Any]
    Context = tuple[str, ...]

FILES = ("words", "pairs", "roots", "orders")


class Backoff:
    """Outcomes counted in contexts that become shorter; each level is interpolated with the next (Witten and Bell).

    ``levels`` are the lengths of the contexts' beginnings, the longest first. Without ``smooth`` only the whole
    context counts.
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
        """The probability of an outcome; ``base`` is the one without any context."""
        found = base
        for level in reversed(self.levels):
            part = (*context[:level], str(level))
            total = self._totals[part]
            if total:
                new = self._kinds[part] if len(self.levels) > 1 or base else 0
                found = (self._sums[part, outcome] + new * found) / (total + new)
        return found

    def save(self, path: Path) -> None:
        """A line for each context and outcome: its count, the outcome, the context, with tabs."""
        lines = sorted("\t".join((str(count), outcome, *context)) for (context, outcome), count in self.counts.items())
        path.write_bytes("".join(f"{line}\n" for line in lines).encode())

    def load(self, path: Path) -> None:
        """Read what was saved."""
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
    """The transducer's counts. ``smooth=False`` takes relative frequencies of whole contexts."""

    def __init__(self, smooth: bool = True) -> None:
        self._smooth = smooth
        # What a word becomes at all; beside its parent's translation; as the root, by the root's label.
        self.words = Backoff((1,))
        self.pairs = Backoff((2,), smooth)
        self.roots = Backoff((2,), smooth)
        self.orders = Backoff((7, 6, 4), smooth)
        self.candidates: dict[str, tuple[str, ...]] = {}

    def word(self, word: str, name: str) -> float:
        """The probability of a translation whatever is above; a word that is not known becomes NULL."""
        if word not in self.candidates:
            return float(name == NULL)
        return self.words.probability((word,), name)

    def sibling(self, word: str, above: str, name: str) -> float:
        """The probability of a sibling's translation, its parent's head being ``above``."""
        return self.pairs.probability((word, above), name, self.word(word, name) if self._smooth else 0.0)

    def root(self, word: str, label: str, name: str) -> float:
        """The probability of the root's translation."""
        return self.roots.probability((word, label), name, self.word(word, name) if self._smooth else 0.0)

    def order(self, tree: SourceTree, join: Join, head: str, order: int) -> float:
        """The probability of an order, the head being translated as ``head``."""
        return self.orders.probability(_order_context(tree, join, head), ORDERS[order], 0.5 if self._smooth else 0.0)

    def cost(self, bitree: Bitree, path: Iterable[tuple[Join, int]]) -> float:
        """What a bitree costs that was put together in this way."""
        tree, names = bitree.tree, bitree.translations
        found = sum(_cost(self.order(tree, join, names[heads_of(tree, join)[0]], order)) for join, order in path)
        for head, sibling in _attached(tree):
            found += _cost(self.sibling(tree.words[sibling], names[head], names[sibling]))
        top = tree.nodes[tree.root]
        return found + _cost(self.root(tree.words[top.head], top.label, names[top.head]))

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
        made = cls()
        for name in FILES:
            getattr(made, name).load(Path(folder) / f"{name}.tsv")
        made.settle()
        return made

    def settle(self) -> None:
        """Note what each word may become, the most frequent first."""
        found: dict[str, list[tuple[int, str]]] = {}
        for ((word,), name), count in self.words.counts.items():
            found.setdefault(word, []).append((-count, name))
        self.candidates = {word: tuple(name for _, name in sorted(pairs)) for word, pairs in found.items()}


def _order_context(tree: SourceTree, join: Join, head: str) -> Context:
    one, other = heads_of(tree, join)
    return (*production(tree, join), tree.words[one], head, tree.words[other])


def _attached(tree: SourceTree) -> Iterator[tuple[int, int]]:
    """The lexical heads of each node and of its children that are not the head child."""
    for node in tree.nodes:
        for place, child in enumerate(node.children):
            if place != node.head_child:
                yield node.head, tree.nodes[child].head


class GenerativeCosts:
    """``Costs`` of a sentence: a word's translation costs nothing until what is above it is known."""

    def __init__(self, model: Generative, tree: SourceTree) -> None:
        self._model = model
        self._tree = tree
        self._known: dict[tuple[str, str, str], float] = {}

    def words(self) -> list[tuple[Sequence[str], Array]]:
        """All that the words became in training."""
        import numpy as np

        names = [self._model.candidates.get(word, (NULL,)) for word in self._tree.words]
        return [(some, np.zeros(len(some))) for some in names]

    def orders(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Array:
        """-log of the probabilities; those of an order do not depend on the sibling's translation."""
        import numpy as np

        ways = [[_cost(self._model.order(self._tree, join, name, order)) for name in heads] for order in (KEEP, SWAP)]
        return np.repeat(np.array(ways)[:, :, None], len(siblings), axis=2)

    def attached(self, join: Join, heads: Sequence[str], siblings: Sequence[str]) -> Array:
        """-log of the probabilities of the sibling's translations."""
        import numpy as np

        word = self._tree.words[heads_of(self._tree, join)[1]]
        return np.array([[self._sibling(word, head, name) for name in siblings] for head in heads])

    def _sibling(self, word: str, head: str, name: str) -> float:
        key = word, head, name
        if key not in self._known:
            self._known[key] = _cost(self._model.sibling(word, head, name))
        return self._known[key]

    def roots(self, names: Sequence[str]) -> Array:
        """-log of the probabilities of the root's translations."""
        import numpy as np

        top = self._tree.nodes[self._tree.root]
        return np.array([_cost(self._model.root(self._tree.words[top.head], top.label, name)) for name in names])

    def guesses(self, word: int, names: Sequence[str]) -> Array:
        """-log of the probabilities of translations whatever is above them."""
        import numpy as np

        return np.array([_cost(self._model.word(self._tree.words[word], name)) for name in names])


def train(
    bitrees: Sequence[Bitree], *, iterations: int = 5, seed: int = 1, smooth: bool = True
) -> Iterator[Generative]:
    """A model after each iteration: the first from random orders of joins, the others from the most probable ones."""
    draw = random.Random(seed)
    model: Generative | None = None
    known = [one for one in bitrees if len(one.tree)]
    for _ in range(iterations):
        paths = [_random_path(one, draw) if model is None else most_probable(model, one) for one in known]
        model = _counted(known, paths, smooth)
        yield model


def _counted(bitrees: Iterable[Bitree], paths: Iterable[list[tuple[Join, int]]], smooth: bool) -> Generative:
    made = Generative(smooth)
    for bitree, path in zip(bitrees, paths, strict=True):
        tree, names = bitree.tree, bitree.translations
        for word, name in zip(tree.words, names, strict=True):
            made.words.add((word,), name)
        for head, sibling in _attached(tree):
            made.pairs.add((tree.words[sibling], names[head]), names[sibling])
        for join, order in path:
            made.orders.add(_order_context(tree, join, names[heads_of(tree, join)[0]]), ORDERS[order])
        top = tree.nodes[tree.root]
        made.roots.add((tree.words[top.head], top.label), names[top.head])
    made.settle()
    return made


def _random_path(bitree: Bitree, draw: random.Random) -> list[tuple[Join, int]]:
    found = []
    for node, order in bitree.orders.items():
        state = head_interval(bitree.tree, node)
        while joins := [one for one in joins_after(bitree.tree, node, state) if order.good[one.after]]:
            join = draw.choice(joins)
            found += [(join, int(order.swapped(join)))] if order.inferred(join) else []
            state = join.after
    return found


def most_probable(model: Generative, bitree: Bitree) -> list[tuple[Join, int]]:
    """The sequence of correct joins with the highest probability, node by node."""
    found: list[tuple[Join, int]] = []
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
        found += best[0, len(tree.nodes[node].children)][1]
    return found
