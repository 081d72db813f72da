"""Choose the sentence pairs of a text to keep: their lengths, and whether an earlier pair is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtplugins.host.text.preparation import TextLimits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EMPTY, DUPLICATE = "empty", "duplicate"
_HASH_BYTES = 8


@dataclass
class Tally:
    """The number of lines of a kind, and the number of the first, from 1."""

    count: int = 0
    first: int | None = None

    def add(self, line: int) -> None:
        """Count a line."""
        self.count += 1
        if self.first is None:
            self.first = line


class SeenPairs:
    """The pairs of a text so far, by hashes of 8 bytes: two of a hundred million are confused with probability 0.0003.

    The hashes are in sorted arrays, each at least twice as long as the next.
    """

    def __init__(self) -> None:
        self._runs: list[NDArray[np.uint64]] = []

    def add(self, pairs: Iterable[Sequence[str]]) -> list[bool]:
        """Add pairs; return whether each is new."""
        import numpy as np

        hashed = (hashlib.blake2b("\n".join(pair).encode(), digest_size=_HASH_BYTES).digest() for pair in pairs)
        given = np.frombuffer(b"".join(hashed), dtype=np.uint64)
        values, firsts = np.unique(given, return_index=True)
        for run in self._runs:
            unseen = run[np.minimum(np.searchsorted(run, values), len(run) - 1)] != values
            values, firsts = values[unseen], firsts[unseen]
        new = np.zeros(len(given), dtype=np.bool_)
        new[firsts] = True
        if len(values):
            while self._runs and len(self._runs[-1]) < 2 * len(values):
                values = np.concatenate([self._runs.pop(), values])
                values.sort(kind="stable")
            self._runs.append(values)
        return [bool(first) for first in new]


class Sieve:
    """Says of the lines of a text, in blocks, which are dropped and why; ``None`` as limits drops nothing."""

    def __init__(self, limits: TextLimits | None, sides: int) -> None:
        self._limits = limits
        self._seen = SeenPairs() if limits is not None and not limits.keep_duplicates and sides > 1 else None
        self.reasons: tuple[str, ...] = ()
        if limits is not None:
            self._long, self._ratio = f"over {limits.max_length} words", f"length ratio over {limits.max_ratio:g}"
            between = (self._ratio,) if sides > 1 else ()
            self.reasons = (EMPTY, self._long, *between, *((DUPLICATE,) if self._seen is not None else ()))

    def reasons_for(self, block: Sequence[Sequence[Sequence[str]]]) -> list[str | None]:
        """The reason to drop each line of a block, or None; a line is the words of its sides."""
        if self._limits is None:
            return [None] * len(block)
        reasons = [self._judge(list(map(len, line))) for line in block]
        if self._seen is not None:
            left = [i for i, reason in enumerate(reasons) if reason is None]
            new = self._seen.add([" ".join(side) for side in block[i]] for i in left)
            for i, first in zip(left, new, strict=True):
                if not first:
                    reasons[i] = DUPLICATE
        return reasons

    def _judge(self, lengths: list[int]) -> str | None:
        assert self._limits is not None
        least, most = min(lengths), max(lengths)
        if not least:
            return EMPTY
        if most > self._limits.max_length:
            return self._long
        return self._ratio if most > self._limits.max_ratio * least else None
