"""Rules and edges as columns: what features score in batches.

A target side is a run of int32: a word's id, or ``-1 - k`` for child k (children are numbered in target order).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Rules:
    """Target sides of many rules; rule i is ``target[offsets[i]:offsets[i+1]]``."""

    vocabulary: Vocabulary
    target: NDArray[Any]
    offsets: NDArray[Any]

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
        """Rules without children, as whole sentences are."""
        import numpy as np

        words = Vocabulary()
        rows = [words.ids(sentence) for sentence in sentences]
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(list(map(len, rows)), out=offsets[1:])
        flat = np.fromiter(itertools.chain.from_iterable(rows), dtype=np.int32, count=int(offsets[-1]))
        return cls(words, flat, offsets)

    def target_of(self, index: int) -> list[str | int]:
        """The target side of one rule: words, and child numbers."""
        row = self.target[self.offsets[index] : self.offsets[index + 1]].tolist()
        return [self.vocabulary.word(symbol) if symbol >= 0 else -1 - symbol for symbol in row]

    def word_counts(self) -> NDArray[Any]:
        """How many words (not children) each target side has."""
        import numpy as np

        sums = np.concatenate([[0], np.cumsum(self.target >= 0)])
        counts: NDArray[Any] = sums[self.offsets[1:]] - sums[self.offsets[:-1]]
        return counts


@dataclass(frozen=True)
class Edges:
    """A batch of edges with one head and the same tails: rule i is that of edge i."""

    rules: Rules

    def __len__(self) -> int:
        return len(self.rules)
