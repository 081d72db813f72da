"""The translation table of Zhang, Sun and Li (2008), section 5: the leaves of trees, with five scores.

Counts, the first four scores and the order are those of `smt extract --phrases`; the fifth is a phrase penalty, 2.718.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from smtplugins.contracts.tools.extraction import MAX_PHRASE, Phrases, read_lines
from smtplugins.plugins.searn.labels.items import ItemArrays

PENALTY = 2.718


class LeafTable:
    """Count leaves of sentence pairs and write their table; counts that are large spill to ``folder``."""

    def __init__(self, folder: str, *, max_length: int | None = None, parts: bool = True):
        self._phrases = Phrases(folder, max_length=max_length or MAX_PHRASE)
        self._parts = parts

    def add(
        self, pairs: Sequence[tuple[Sequence[str], Sequence[str], Sequence[tuple[int, int]]]], items: ItemArrays
    ) -> None:
        """Add sentence pairs, given as source words, target words and links, with their items."""
        counts = np.diff(items.offsets)
        numbers = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        rows = np.column_stack([numbers, items.spans])[items.kinds > 0]
        if self._parts:
            rows = np.concatenate([rows, items.parts])
        rows = rows[np.argsort(rows[:, 0], kind="stable")].astype(np.int32)
        rows[:, [2, 4]] -= 1
        sources = "".join(f"{' '.join(pair[0])}\n" for pair in pairs).encode()
        targets = "".join(f"{' '.join(pair[1])}\n" for pair in pairs).encode()
        links = "".join(" ".join(f"{i}-{j}" for i, j in pair[2]) + "\n" for pair in pairs).encode()
        self._phrases.feed_stretches(sources, targets, links, np.ascontiguousarray(rows))

    def write(self, stream: BinaryIO) -> Counter[int]:
        """Write the table; return the number of entries by source length."""
        lengths: Counter[int] = Counter()
        for (piece,) in self._phrases.tables(penalty=PENALTY):
            stream.write(piece)
            lengths += source_lengths(piece)
        return lengths


def source_lengths(lines: bytes) -> Counter[int]:
    """The number of table lines by source length in words."""
    return Counter(line.split(b" ||| ", 1)[0].count(b" ") + 1 for line in lines.splitlines())


def table_lengths(path: Path) -> Counter[int]:
    """The number of entries of a table file by source length in words."""
    lengths: Counter[int] = Counter()
    for lines in read_lines(path):
        lengths += source_lengths(lines)
    return lengths


def shares(lengths: Counter[int]) -> dict[str, float | int]:
    """The size of a table, and its share of single-word entries, as in the paper's figures."""
    entries = lengths.total()
    return {
        "entries": entries,
        "single_word_entries": lengths[1],
        "single_word_share": lengths[1] / entries if entries else 0.0,
        "longest": max(lengths, default=0),
    }
