"""Rules and edges as columns, which features score in batches.

A target side is a run of int32: a word's id, or ``-1 - k`` for child k (children are numbered in target order).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtformats.records import dataclass
from smtplugins.core._core import count_flags, target_order
from smtplugins.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.columns import GrammarColumns

GLUE, MINTED = "glue", "oov"


@dataclass(frozen=True)
class Origins:
    """The sources of a decoder's rules: rules ``starts[i]:starts[i+1]`` belong to ``owners[i]``.

    An owner is the owner of a table, ``glue`` or ``oov`` (minted for words of the input). ``columns()`` gives the whole
    rules: left-hand sides, source sides, alignments and features.
    """

    owners: tuple[str, ...]
    starts: Sequence[int]
    numbers: NDArray[Any]
    columns: Callable[[], GrammarColumns]

    def of(self, *owners: str) -> NDArray[Any]:
        """A flag for each rule: whether one of these owners has it."""
        import numpy as np

        flags = np.zeros(len(self.numbers), dtype=bool)
        for owner, first, last in zip(self.owners, self.starts, [*self.starts, None][1:], strict=True):
            if owner in owners:
                flags |= (self.numbers >= first) & (True if last is None else self.numbers < last)
        return flags


@dataclass(frozen=True)
class Rules:
    """Target sides of many rules; rule i is ``target[offsets[i]:offsets[i+1]]``.

    ``symbols`` are the same, except that children may be numbered in another order unless ``ordered``. ``origins`` are
    set by decoders, not on lists.
    """

    vocabulary: Vocabulary
    symbols: NDArray[Any]
    offsets: NDArray[Any]
    origins: Origins | None = None
    ordered: bool = True

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def from_targets(cls, targets: Iterable[Sequence[str | int]], vocabulary: Vocabulary | None = None) -> Rules:
        """Rules from words and child numbers."""
        import numpy as np

        words = vocabulary if vocabulary is not None else Vocabulary()
        flat: list[int] = []
        offsets = [0]
        for symbols in targets:
            flat.extend(-1 - symbol if isinstance(symbol, int) else words.id(symbol) for symbol in symbols)
            offsets.append(len(flat))
        return cls(words, np.array(flat, dtype=np.int32), np.array(offsets, dtype=np.int64))

    @classmethod
    def from_words(cls, sentences: Iterable[Sequence[str]]) -> Rules:
        """Rules without children, one for each sentence."""
        import numpy as np

        words = Vocabulary()
        rows = [words.ids(sentence) for sentence in sentences]
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(list(map(len, rows)), out=offsets[1:])
        flat = np.fromiter(itertools.chain.from_iterable(rows), dtype=np.int32, count=int(offsets[-1]))
        return cls(words, flat, offsets)

    @cached_property
    def target(self) -> NDArray[Any]:
        """The symbols of all target sides, children numbered in target order."""
        import numpy as np

        if self.ordered:
            return self.symbols
        return target_order(
            np.ascontiguousarray(self.symbols, dtype=np.int32), np.ascontiguousarray(self.offsets, dtype=np.int64)
        )

    @cached_property
    def is_word(self) -> NDArray[Any]:
        """A flag for each symbol: whether it is a word."""
        flags: NDArray[Any] = self.symbols >= 0
        return flags

    def target_of(self, index: int) -> list[str | int]:
        """The target side of one rule: words, and child numbers."""
        row = self.target[self.offsets[index] : self.offsets[index + 1]].tolist()
        return [self.vocabulary.word(symbol) if symbol >= 0 else -1 - symbol for symbol in row]

    def word_counts(self) -> NDArray[Any]:
        """The number of words (not children) of each target side."""
        return self.counts(self.is_word)

    def counts(self, flags: NDArray[Any]) -> NDArray[Any]:
        """The number of flagged symbols of each target side."""
        import numpy as np

        return count_flags(np.ascontiguousarray(flags, dtype=np.bool_), np.ascontiguousarray(self.offsets, np.int64))


@dataclass(frozen=True)
class Edges:
    """A batch of edges with one head and the same tails; edge i applies rule i.

    ``firsts`` and ``lasts`` are the source words ``[first, last)`` that each edge's own rule translates (in a lattice,
    the nodes at its ends). They are set in phrase-based derivations, where child 0 of a phrase is the hypothesis it
    extends. An edge with ``first == last`` translates nothing: the start of a derivation, which has no words and no
    children, or an edge above the last phrase.
    """

    rules: Rules
    firsts: NDArray[Any] | None = None
    lasts: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.rules)
