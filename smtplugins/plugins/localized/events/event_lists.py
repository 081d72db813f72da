"""Event lists: which blocks are neighbours in sentence pairs, with orientations (Tillmann and Zhang, 2005, equation 2).

A list is a folder of numpy arrays, memory-mapped when it is read:

    events.json                 version, sizes, and the settings the list was made with
    predecessor, successor      int32, blocks of each orientation bigram (b', o, b), sentence by sentence
    orientation                 uint8, 1 for left, 2 for right
    bigram_offsets              int64, the first bigram of each sentence pair, then the number of bigrams
    neutral                     int32, blocks without a predecessor
    before                      int32, the two target words before each neutral block, in text order: word
                                numbers, -1 for a word that no block has, -2 before the sentence
    neutral_offsets             int64, as bigram_offsets
    words, word_offsets         UTF-8 text of all words, and the offset of each
    source_words, source_offsets, target_words, target_offsets, starts, target_of      the block set
    (``events/blocks.py``);
                                the blocks of a source phrase are sorted by decreasing number of events
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tools.files import read_array, read_record
from smtplugins.plugins.localized._localized import count_bigrams
from smtplugins.plugins.localized.events.blocks import BlockSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[Any]

VERSION = 1
RECORD = "events.json"
NEUTRAL, LEFT, RIGHT = 0, 1, 2
UNKNOWN, BOUNDARY = -1, -2
LETTERS = "NLR"


@dataclass(frozen=True)
class Counts:
    """Each block's number of events as successor: all, left, and right."""

    total: Array
    left: Array
    right: Array

    def chosen(self, kept: Array) -> Counts:
        """Return the counts of the selected blocks."""
        return Counts(self.total[kept], self.left[kept], self.right[kept])


@dataclass(frozen=True)
class EventList:
    """Orientation bigrams and neutral blocks of sentence pairs, with the block set that they refer to."""

    blocks: BlockSet
    bigram_offsets: Array
    predecessor: Array
    successor: Array
    orientation: Array
    neutral_offsets: Array
    neutral: Array
    before: Array
    record: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of sentence pairs."""
        return len(self.bigram_offsets) - 1

    @cached_property
    def counts(self) -> Counts:
        """Unigram counts and orientation counts, section 2."""
        import numpy as np

        size = len(self.blocks)
        left, right = (np.bincount(self.successor[self.orientation == side], minlength=size) for side in (LEFT, RIGHT))
        return Counts(left + right + np.bincount(self.neutral, minlength=size), left, right)

    def digest(self) -> str:
        """Return a hash of the blocks and their event counts, which is all that features depend on."""
        counts = (self.counts.total, self.counts.left, self.counts.right)
        total = hashlib.sha256()
        for column in (*self.blocks.arrays(), *(count.astype("<i8") for count in counts), self.blocks.words.offsets):
            total.update(column.tobytes() + b"\0")
        total.update(bytes(self.blocks.words.blob))
        return total.hexdigest()

    def sentence(self, number: int) -> list[tuple[int | None, str, int]]:
        """Return the events (b', o, b) of a sentence pair, neutral events last; o is N, L or R."""
        first, last = self.bigram_offsets[number : number + 2].tolist()
        columns = (column[first:last].tolist() for column in (self.predecessor, self.orientation, self.successor))
        events: list[tuple[int | None, str, int]] = [(b, LETTERS[o], c) for b, o, c in zip(*columns, strict=True)]
        first, last = self.neutral_offsets[number : number + 2].tolist()
        return events + [(None, "N", b) for b in self.neutral[first:last].tolist()]

    def bigrams(self, threshold: int) -> tuple[Array, Array, Array]:
        """Return the sorted pairs of neighbours with more than ``threshold`` events, and their counts: equation 3."""
        import numpy as np

        before, after = (np.ascontiguousarray(column, dtype=np.int32) for column in (self.predecessor, self.successor))
        first, second, counts = count_bigrams(before, after, threshold)
        return first, second, counts

    @classmethod
    def open(cls, folder: Path) -> EventList:
        """Open a list written by ``events/collecting.py``."""
        folder = Path(folder)
        record = read_record(folder, RECORD, "events", VERSION)
        names = ("bigram_offsets", "predecessor", "successor", "orientation", "neutral_offsets", "neutral", "before")
        columns: dict[str, Any] = {name: read_array(folder, name, "iu") for name in names}
        events = cls(BlockSet.load(folder), record=record, **columns)
        bigrams, neutrals = len(events.successor), len(events.neutral)
        sizes = (len(events.predecessor), len(events.orientation), events.bigram_offsets[-1])
        others = (len(events.before) // 2, events.neutral_offsets[-1])
        if any(size != bigrams for size in sizes) or any(size != neutrals for size in others):
            raise SmtError(f"{folder}: expected the arrays of an event list, found arrays of inconsistent lengths")
        return events

    def described(self) -> str:
        """Return the record as JSON text."""
        return json.dumps(dict(self.record), indent=1) + "\n"
