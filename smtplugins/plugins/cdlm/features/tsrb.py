"""``tsrb``: bigrams of classes on the target sides of the rules of a derivation (section 5.3 of the paper).

Z. Li, Z. Wang, S. Khudanpur and J. Eisner (COLING 2010): of the rule <X0 of X1, X0 of the X1> these are "X of",
"of the" and "the X". A gap is X whatever its number and label. A rule counts as often as it is used, glue rules with
their "X X" included; the goal rule has a single symbol and thus no bigram. Sentence markers are not words and are in no
bigram. All this is visible in a rule's target side, so decoders, forests and the trees of lists agree.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from smtformats import Columns
from smtformats.tokens import blanks
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.grammars import Rules
from smtplugins.plugins.cdlm.features.classes import ClassMap, read_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtformats.tree.trees import Tree
    from smtplugins.contracts.tools.grammars import Vocabulary

    Array = NDArray[Any]

NAMESPACE = "tsrb"
GAP = "X"
MARKS = ("<s>", "</s>")
_UNSAFE = frozenset(' %_=|:#[]()"\\,')


def escape_class(name: str) -> str:
    """Escape a class for feature names: characters with a meaning in files become %XX."""
    unsafe = name == GAP
    return "".join(_percent(char) if unsafe or char in _UNSAFE or not char.isprintable() else char for char in name)


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())


def feature_name(left: str | None, right: str | None) -> str:
    """Return ``tsrb:LEFT_RIGHT``; ``None`` is a gap."""
    return f"{NAMESPACE}:" + "_".join(GAP if side is None else escape_class(side) for side in (left, right))


def bigram_of(name: str) -> tuple[str | None, str | None] | None:
    """Parse a name made by `feature_name`; None for other names."""
    space, mark, rest = name.partition(":")
    cells = rest.split("_")
    if space != NAMESPACE or not mark or len(cells) != 2 or not all(cells):
        return None
    left, right = (None if cell == GAP else unquote(cell) for cell in cells)
    return left, right


@dataclass(frozen=True)
class ClassBigrams:
    """Occurrences of class bigrams: for each its row (a rule or hypothesis) and the key of the pair of classes."""

    rows: Array
    keys: Array


class Alphabet:
    """Numbered classes of a map, the gap last; maps the words of vocabularies to them.

    The key of a pair is ``left * size + right``.
    """

    def __init__(self, classes: ClassMap) -> None:
        self.classes = classes
        self.names = classes.names
        self.gap = len(self.names)
        self.size = self.gap + 1
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._known: weakref.WeakKeyDictionary[Vocabulary, Array] = weakref.WeakKeyDictionary()

    def numbers(self, vocabulary: Vocabulary) -> Array:
        """Return the class of each word of a vocabulary, -1 for sentence markers; cached for each vocabulary."""
        import numpy as np

        known = self._known.get(vocabulary)
        first, size = 0 if known is None else len(known), len(vocabulary)
        if known is None or first < size:
            more = self.of_words([vocabulary.word(i) for i in range(first, size)])
            known = more if known is None else np.concatenate([known, more])
            self._known[vocabulary] = known
        return known

    def of_words(self, words: Sequence[str]) -> Array:
        """Return the class of each word, -1 for sentence markers."""
        import numpy as np

        of, numbers = self.classes.of, self._numbers
        classes = (-1 if word in MARKS else numbers[of(word)] for word in words)
        return np.fromiter(classes, np.int32, len(words))

    def bigrams(self, rules: Rules) -> ClassBigrams:
        """Return all class bigrams of the rules' target sides, in order."""
        return self.bigrams_of(self.numbers(rules.vocabulary), rules.symbols, rules.offsets)

    def bigrams_of(self, numbers: Array, symbols: Array, offsets: Array) -> ClassBigrams:
        """Return the class bigrams of symbol columns; ``numbers`` are the classes by word id, gaps are below 0."""
        import numpy as np

        offsets = np.asarray(offsets, dtype=np.int64)
        first, last = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
        if last - first < 2:
            return ClassBigrams(np.empty(0, np.int64), np.empty(0, np.int64))
        used = np.asarray(symbols[first:last])
        # Index -1 is the gap's class, appended after those of all words.
        classes = np.append(numbers, self.gap).astype(np.int64)[np.maximum(used, -1)]
        left, right = classes[:-1], classes[1:]
        good = (left >= 0) & (right >= 0)
        # Bigrams do not cross rule boundaries.
        starts = offsets[1:-1] - first
        good[starts[(starts > 0) & (starts < last - first)] - 1] = False
        at = np.flatnonzero(good)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[at]
        return ClassBigrams(rows, left[at] * self.size + right[at])

    def name(self, key: int) -> str:
        """Return the feature name of a key."""
        left, right = (None if side == self.gap else self.names[side] for side in divmod(key, self.size))
        return feature_name(left, right)

    def key(self, name: str) -> int | None:
        """Return the key of a feature name; None if the map lacks one of its classes."""
        bigram = bigram_of(name)
        if bigram is None:
            return None
        numbers = [self.gap if side is None else self._numbers.get(side, -1) for side in bigram]
        return None if min(numbers) < 0 else numbers[0] * self.size + numbers[1]

    def columns(self, bigrams: ClassBigrams, rows: int) -> Columns:
        """Count bigrams as sparse columns, sorted by key within a row."""
        import numpy as np

        pairs = self.size * self.size
        both, counts = np.unique(bigrams.rows * pairs + bigrams.keys, return_counts=True)
        keys, ids = np.unique(both % pairs, return_inverse=True)
        offsets = np.zeros(rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(both // pairs, minlength=rows), out=offsets[1:])
        names = tuple(map(self.name, keys.tolist()))
        return Columns(names, offsets, ids.reshape(-1).astype(np.int32), counts.astype(np.float64))

    def weighted(self, weights: Mapping[str, float]) -> PairWeights:
        """Return the weights by key; raises UsageError for classes that the map lacks."""
        import numpy as np

        keys = {}
        for name, value in weights.items():
            key = self.key(name)
            if key is None:
                raise UsageError(f"weight {name!r}: expected `{NAMESPACE}:` and two of the {self.gap} classes, or X")
            keys[key] = value
        order = sorted(keys)
        return PairWeights(np.array(order, np.int64), np.array([keys[number] for number in order], np.float64))


@dataclass(frozen=True)
class PairWeights:
    """The weights of class pairs, sorted by key."""

    keys: Array
    values: Array

    def sums(self, bigrams: ClassBigrams, rows: int) -> Array:
        """Sum the weights of the bigrams of each row, in order of occurrence."""
        import numpy as np

        if not len(self.keys):
            return np.zeros(rows)
        at = np.minimum(np.searchsorted(self.keys, bigrams.keys), len(self.keys) - 1)
        weights = np.where(self.keys[at] == bigrams.keys, self.values[at], 0.0)
        return np.bincount(bigrams.rows, weights, rows).astype(np.float64)


def rules_of_trees(trees: Iterable[Tree]) -> tuple[Rules, Array]:
    """Return the target sides of all tree nodes, and the tree number of each."""
    import numpy as np

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


def bigrams_of_list(alphabet: Alphabet, candidates: Candidates, label: str) -> ClassBigrams:
    """Return the class bigrams of each hypothesis of a list with trees."""
    trees = candidates.derivations
    if trees is None:
        raise UsageError(f"feature {label!r} needs the derivation: expected a list with trees, found none in it")
    for i, (tree, text) in enumerate(zip(trees, candidates.texts, strict=True)):
        if not tree.children and blanks(text):
            place = f"{candidates.file or '<data>'}:{candidates.line}"
            raise UsageError(f"{place}: feature {label!r}: expected a tree for hypothesis {i}, found an empty one")
    rules, owners = rules_of_trees(trees)
    bigrams = alphabet.bigrams(rules)
    return ClassBigrams(owners[bigrams.rows], bigrams.keys)


def classes_at(classes: Path | None, path: Path | None) -> ClassMap:
    """Read the class map from whichever of the two options is given."""
    if (classes is None) == (path is None):
        raise UsageError(
            "tsrb: expected a file of classes as `classes` or as `path`, found " + ("both" if path else "none")
        )
    return read_classes(classes or path or "")


class Tsrb:
    """Counts of class bigrams on the target sides of a derivation's rules, a column ``tsrb:LEFT_RIGHT`` for each.

    ``classes`` is a class file (``smt cdlm classes`` makes one); so is ``path``, which configurations resolve relative
    to themselves. A gap is ``X``. Characters of classes with a meaning in weights files are written as %XX.
    """

    def __init__(self, classes: Path | None = None, *, path: Path | None = None) -> None:
        self._given = classes_at(classes, path)

    @classmethod
    def of(cls, classes: ClassMap) -> Tsrb:
        """Make the feature from a class map in memory."""
        feature = cls.__new__(cls)
        feature._given = classes
        return feature

    @cached_property
    def alphabet(self) -> Alphabet:
        """The numbered classes."""
        return Alphabet(self._given)

    def column_names(self, label: str) -> tuple[str, ...]:
        """Return no names: all columns are sparse."""
        return ()

    def score_rules(self, rules: Rules) -> Columns:
        """Count the bigrams of each rule."""
        return self.alphabet.columns(self.alphabet.bigrams(rules), len(rules))

    def score_candidates(self, source: str | None, candidates: Candidates) -> Columns:
        """Count the bigrams of each hypothesis by its tree."""
        bigrams = bigrams_of_list(self.alphabet, candidates, NAMESPACE)
        return self.alphabet.columns(bigrams, len(candidates))
