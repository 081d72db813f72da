"""``tsrb``: bigrams of classes on the target sides of the rules of a derivation (section 5.3 of the paper).

Z. Li, Z. Wang, S. Khudanpur and J. Eisner (COLING 2010): of the rule <X0 of X1, X0 of the X1> these are "X of",
"of the" and "the X". A gap is X whatever its number and label; a rule counts as often as it is used, glue with its
"X X" like any other; what stands above the goal has one symbol and thus no bigram. Marks of the sentence are no words:
no bigram has one. All this shows in a rule's target side, so that decoders, forests and the trees of lists agree.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from smtplugins.host.errors import UsageError
from smtplugins.plugins.cdlm.features.classes import ClassMap, read_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Columns
    from smtformats.tree.trees import Tree
    from smtplugins.core.grammar.rules import Rules
    from smtplugins.core.vocabulary import Vocabulary

    Array = NDArray[Any]

NAMESPACE = "tsrb"
GAP = "X"
MARKS = ("<s>", "</s>")
_UNSAFE = frozenset(' %_=|:#[]()"\\,')


def spelt(name: str) -> str:
    """A class in the name of a feature: characters that mean something in files are %XX."""
    unsafe = name == GAP
    return "".join(_percent(one) if unsafe or one in _UNSAFE or not one.isprintable() else one for one in name)


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())


def feature_name(left: str | None, right: str | None) -> str:
    """``tsrb:LEFT_RIGHT``; ``None`` is a gap."""
    return f"{NAMESPACE}:" + "_".join(GAP if one is None else spelt(one) for one in (left, right))


def bigram_of(name: str) -> tuple[str | None, str | None] | None:
    """The bigram of such a name; nothing if it is another's."""
    space, mark, rest = name.partition(":")
    cells = rest.split("_")
    if space != NAMESPACE or not mark or len(cells) != 2 or not all(cells):
        return None
    left, right = (None if cell == GAP else unquote(cell) for cell in cells)
    return left, right


@dataclass(frozen=True)
class Bigrams:
    """Occurrences of bigrams: a row (a rule, or a hypothesis) and a pair of classes, whose number is its key."""

    rows: Array
    keys: Array


class Alphabet:
    """The classes of a map as numbers, with the gap behind them, and those of the words of vocabularies.

    A pair's key is ``left * size + right``.
    """

    def __init__(self, classes: ClassMap) -> None:
        self.classes = classes
        self.names = classes.names
        self.gap = len(self.names)
        self.size = self.gap + 1
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._known: weakref.WeakKeyDictionary[Vocabulary, Array] = weakref.WeakKeyDictionary()

    def numbers(self, vocabulary: Vocabulary) -> Array:
        """The class of each word of a vocabulary, -1 for a mark of sentences; those asked for before are kept."""
        import numpy as np

        known = self._known.get(vocabulary)
        first, size = 0 if known is None else len(known), len(vocabulary)
        if known is None or first < size:
            more = self.of_words([vocabulary.word(i) for i in range(first, size)])
            known = more if known is None else np.concatenate([known, more])
            self._known[vocabulary] = known
        return known

    def of_words(self, words: Sequence[str]) -> Array:
        """The class of each word, -1 for a mark of sentences."""
        import numpy as np

        of, numbers = self.classes.of, self._numbers
        found = (-1 if word in MARKS else numbers[of(word)] for word in words)
        return np.fromiter(found, np.int32, len(words))

    def bigrams(self, rules: Rules) -> Bigrams:
        """All occurrences of bigrams in target sides, by rule, in their order."""
        return self.bigrams_of(self.numbers(rules.vocabulary), rules.symbols, rules.offsets)

    def bigrams_of(self, numbers: Array, symbols: Array, offsets: Array) -> Bigrams:
        """The same of columns: ``numbers`` are the classes of the words, by number; gaps are below 0."""
        import numpy as np

        offsets = np.asarray(offsets, dtype=np.int64)
        first, last = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
        if last - first < 2:
            return Bigrams(np.empty(0, np.int64), np.empty(0, np.int64))
        given = np.asarray(symbols[first:last])
        # The class behind all words is that of gaps, which -1 then finds.
        classes = np.append(numbers, self.gap).astype(np.int64)[np.maximum(given, -1)]
        left, right = classes[:-1], classes[1:]
        good = (left >= 0) & (right >= 0)
        # No bigram goes from one rule to the next.
        starts = offsets[1:-1] - first
        good[starts[(starts > 0) & (starts < last - first)] - 1] = False
        at = np.flatnonzero(good)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[at]
        return Bigrams(rows, left[at] * self.size + right[at])

    def name(self, key: int) -> str:
        """The name of a pair's feature."""
        left, right = (None if one == self.gap else self.names[one] for one in divmod(key, self.size))
        return feature_name(left, right)

    def key(self, name: str) -> int | None:
        """The key of a feature's name; nothing if one of its classes is not in the map."""
        found = bigram_of(name)
        if found is None:
            return None
        numbers = [self.gap if one is None else self._numbers.get(one, -1) for one in found]
        return None if min(numbers) < 0 else numbers[0] * self.size + numbers[1]

    def columns(self, found: Bigrams, rows: int) -> Columns:
        """Counts as sparse columns, in each row by key."""
        import numpy as np

        from smtformats import Columns

        pairs = self.size * self.size
        both, counts = np.unique(found.rows * pairs + found.keys, return_counts=True)
        keys, ids = np.unique(both % pairs, return_inverse=True)
        offsets = np.zeros(rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(both // pairs, minlength=rows), out=offsets[1:])
        names = tuple(map(self.name, keys.tolist()))
        return Columns(names, offsets, ids.reshape(-1).astype(np.int32), counts.astype(np.float64))

    def weighted(self, weights: Mapping[str, float]) -> PairWeights:
        """The weights of pairs. Names of classes that the map does not have are an error."""
        import numpy as np

        keys = {}
        for name, value in weights.items():
            key = self.key(name)
            if key is None:
                raise UsageError(f"weight {name!r}: expected `{NAMESPACE}:` and two of the {self.gap} classes, or X")
            keys[key] = value
        order = sorted(keys)
        return PairWeights(np.array(order, np.int64), np.array([keys[one] for one in order], np.float64))


@dataclass(frozen=True)
class PairWeights:
    """The weights of pairs by key."""

    keys: Array
    values: Array

    def sums(self, found: Bigrams, rows: int) -> Array:
        """The weighted counts of each row, added up in the order of the occurrences."""
        import numpy as np

        if not len(self.keys):
            return np.zeros(rows)
        at = np.minimum(np.searchsorted(self.keys, found.keys), len(self.keys) - 1)
        worth = np.where(self.keys[at] == found.keys, self.values[at], 0.0)
        return np.bincount(found.rows, worth, rows).astype(np.float64)


def rules_of_trees(trees: Iterable[Tree]) -> tuple[Rules, Array]:
    """The target sides of all nodes of trees, and the number of the tree that each is of."""
    import numpy as np

    from smtplugins.core.grammar.rules import Rules

    targets: list[list[str | int]] = []
    owners: list[int] = []
    for number, tree in enumerate(trees):
        waiting = [tree]
        while waiting:
            node = waiting.pop()
            side: list[str | int] = []
            gaps = 0
            for child in node.children:
                if isinstance(child, str):
                    side.append(child)
                else:
                    side.append(gaps)
                    gaps += 1
                    waiting.append(child)
            targets.append(side)
            owners.append(number)
    return Rules.from_targets(targets), np.array(owners, dtype=np.int64)


def bigrams_of_list(alphabet: Alphabet, candidates: Candidates, label: str) -> Bigrams:
    """The bigrams of each hypothesis of a list, whose derivations it shows as trees."""
    from smtformats.tokens import blanks

    trees = candidates.derivations
    if trees is None:
        raise UsageError(f"feature {label!r} needs the derivation: expected a list with trees, found none in it")
    for i, (tree, text) in enumerate(zip(trees, candidates.texts, strict=True)):
        if not tree.children and blanks(text):
            place = f"{candidates.file or '<data>'}:{candidates.line}"
            raise UsageError(f"{place}: feature {label!r}: expected a tree for hypothesis {i}, found an empty one")
    rules, owners = rules_of_trees(trees)
    found = alphabet.bigrams(rules)
    return Bigrams(owners[found.rows], found.keys)


def classes_at(classes: Path | None, path: Path | None) -> ClassMap:
    """The class map of one of two options."""
    if (classes is None) == (path is None):
        raise UsageError(
            "tsrb: expected a file of classes as `classes` or as `path`, found " + ("both" if path else "none")
        )
    return read_classes(classes or path or "")


class Tsrb:
    """Counts of bigrams on the target sides of the rules of a derivation, a column ``tsrb:LEFT_RIGHT`` for each.

    ``classes`` is a file of words and their classes (``smt cdlm classes`` makes one), or ``path``, which a
    configuration takes to be beside itself. A gap is ``X``. In classes the characters that would mean something in a
    file of weights are spelt as %XX.
    """

    def __init__(self, classes: Path | None = None, *, path: Path | None = None) -> None:
        self._given = classes_at(classes, path)

    @classmethod
    def of(cls, classes: ClassMap) -> Tsrb:
        """The feature of a map in memory."""
        made = cls.__new__(cls)
        made._given = classes
        return made

    @cached_property
    def alphabet(self) -> Alphabet:
        """The classes as numbers."""
        return Alphabet(self._given)

    def column_names(self, label: str) -> tuple[str, ...]:
        """None that each rule has."""
        return ()

    def score_rules(self, rules: Rules) -> Columns:
        """The bigrams of each rule."""
        return self.alphabet.columns(self.alphabet.bigrams(rules), len(rules))

    def score_candidates(self, source: str | None, candidates: Candidates) -> Columns:
        """The bigrams of each hypothesis, by its tree."""
        found = bigrams_of_list(self.alphabet, candidates, NAMESPACE)
        return self.alphabet.columns(found, len(candidates))
