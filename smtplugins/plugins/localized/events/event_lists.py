"""Event lists: which blocks are neighbours in sentence pairs, and how (Tillmann and Zhang, 2005, equation 2).

A list is a folder of numpy arrays, mapped when it is read:

    events.json                 version, how many of everything there are, what the list was made of
    predecessor, successor      int32, blocks of each orientation bigram (b', o, b), sentence by sentence
    orientation                 uint8, 1 for left, 2 for right
    bigram_offsets              int64, where the bigrams of each sentence pair begin, and the end
    neutral                     int32, blocks without a predecessor
    before                      int32, the two target words before each of these, in the order of the text: numbers
                                of words, -1 for one that no block has, -2 before the sentence
    neutral_offsets             int64, as bigram_offsets
    words, word_offsets         UTF-8 text of all words, and where each begins
    source_words, source_offsets, target_words, target_offsets, starts, target_of      the block set
    (``events/blocks.py``);
                                the blocks of a source phrase are ordered by how many events they are in
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError
from smtplugins.host.files.array_folders import read_array, read_record
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
    """How many events each block is in as the later one: all, and by orientation."""

    total: Array
    left: Array
    right: Array

    def chosen(self, kept: Array) -> Counts:
        """Those of the blocks that are marked."""
        return Counts(self.total[kept], self.left[kept], self.right[kept])


@dataclass(frozen=True)
class EventList:
    """Orientation bigrams and neutral blocks of sentence pairs, and the block set that their numbers belong to."""

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
        left, right = (np.bincount(self.successor[self.orientation == one], minlength=size) for one in (LEFT, RIGHT))
        return Counts(left + right + np.bincount(self.neutral, minlength=size), left, right)

    def digest(self) -> str:
        """A hash of what features know of the list: the blocks, and how often each is in an event."""
        counts = (self.counts.total, self.counts.left, self.counts.right)
        total = hashlib.sha256()
        for column in (*self.blocks.arrays(), *(one.astype("<i8") for one in counts), self.blocks.words.offsets):
            total.update(column.tobytes() + b"\0")
        total.update(bytes(self.blocks.words.blob))
        return total.hexdigest()

    def sentence(self, number: int) -> list[tuple[int | None, str, int]]:
        """The events (b', o, b) of a sentence pair, neutral ones last; o is N, L or R."""
        first, last = self.bigram_offsets[number : number + 2].tolist()
        columns = (one[first:last].tolist() for one in (self.predecessor, self.orientation, self.successor))
        found: list[tuple[int | None, str, int]] = [(b, LETTERS[o], c) for b, o, c in zip(*columns, strict=True)]
        first, last = self.neutral_offsets[number : number + 2].tolist()
        return found + [(None, "N", b) for b in self.neutral[first:last].tolist()]

    def bigrams(self, threshold: int) -> tuple[Array, Array, Array]:
        """Pairs of neighbours that come more often than the threshold, in order, and how often: equation 3."""
        import numpy as np

        from smtplugins.plugins.localized._localized import count_bigrams

        before, after = (np.ascontiguousarray(one, dtype=np.int32) for one in (self.predecessor, self.successor))
        first, second, counts = count_bigrams(before, after, threshold)
        return first, second, counts

    @classmethod
    def open(cls, folder: Path) -> EventList:
        """A list that was made by ``events/collecting.py``."""
        folder = Path(folder)
        record = read_record(folder, RECORD, "events", VERSION)
        names = ("bigram_offsets", "predecessor", "successor", "orientation", "neutral_offsets", "neutral", "before")
        columns: dict[str, Any] = {name: read_array(folder, name, "iu") for name in names}
        made = cls(BlockSet.load(folder), record=record, **columns)
        bigrams, neutrals = len(made.successor), len(made.neutral)
        sizes = (len(made.predecessor), len(made.orientation), made.bigram_offsets[-1])
        others = (len(made.before) // 2, made.neutral_offsets[-1])
        if any(one != bigrams for one in sizes) or any(one != neutrals for one in others):
            raise SmtError(f"{folder}: expected the arrays of an event list, found some that do not fit together")
        return made

    def described(self) -> str:
        """The record as text."""
        return json.dumps(dict(self.record), indent=1) + "\n"
