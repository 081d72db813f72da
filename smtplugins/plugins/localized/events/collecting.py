"""Collect events from a bitext: which blocks of a set are neighbours in its sentence pairs.

C. Tillmann and T. Zhang (ACL 2005), section 2: all occurrences where both sides of a block match, whether or not they
form a consistent segmentation. b' precedes b if it ends where b begins on the target side and is adjacent on the source
side, to the left (b is right of b') or to the right (b is left of b'). A block without a predecessor is neutral.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tools.files import Growing, new_folder
from smtplugins.plugins.localized._localized import BlockFinder
from smtplugins.plugins.localized.events.blocks import BlockSet
from smtplugins.plugins.localized.events.event_lists import RECORD, VERSION, EventList

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.alignment.links import Alignment

    Array = NDArray[Any]
    Pair = tuple[str, str, Alignment | None]

_BATCH = 2000
_COLUMNS = {
    "predecessor": "int32",
    "successor": "int32",
    "orientation": "uint8",
    "neutral": "int32",
    "before": "int32",
}
# Columns in the order of the finder's result; None marks those that go into offsets or sums.
_ANSWER = (None, "predecessor", "successor", "orientation", None, "neutral", "before", None)


class Finder:
    """Finds the events of sentence pairs, with the block numbers of the set."""

    def __init__(self, blocks: BlockSet) -> None:
        import numpy as np

        text, offsets = bytes(blocks.words.blob), np.ascontiguousarray(blocks.words.offsets, dtype=np.int64)
        self._native = BlockFinder(text, offsets, *blocks.arrays())

    def counts(self) -> Array:
        """Return each block's number of occurrences so far."""
        counts: Array = self._native.counts()
        return counts

    def answer(self, pairs: Sequence[Pair]) -> tuple[Array, ...]:
        """Find the events of a batch; returns their columns."""
        import numpy as np

        links, offsets = None, None
        if pairs and pairs[0][2] is not None:
            points = [alignment.points if alignment is not None else () for _, _, alignment in pairs]
            flat = list(itertools.chain.from_iterable(itertools.chain.from_iterable(points)))
            links = np.array(flat, dtype=np.int32)
            offsets = np.concatenate([[0], np.cumsum(list(map(len, points)))]).astype(np.int64)
        return self._native.collect([pair[0] for pair in pairs], [pair[1] for pair in pairs], links, offsets)


def frequent(blocks: BlockSet, pairs: Iterable[Pair], least: int) -> BlockSet:
    """Return the blocks with at least ``least`` occurrences in these sentence pairs."""
    finder = Finder(blocks)
    for _, batch in _batches(pairs):
        finder.answer(batch)
    return blocks.chosen(finder.counts() >= least)


def collect(
    blocks: BlockSet,
    pairs: Iterable[Pair],
    folder: Path,
    settings: Mapping[str, Any] | None = None,
    *,
    force: bool = False,
) -> EventList:
    """Write the event list of sentence pairs into a folder and open it; ``force`` replaces an existing list.

    With a word alignment only occurrences consistent with it count. ``settings`` are stored in the record.
    """
    finder = Finder(blocks)
    with new_folder(folder, RECORD, force=force) as aside:
        with contextlib.ExitStack() as open_files:
            written = _Written(aside, open_files)
            for done, batch in _batches(pairs):
                try:
                    written.add(finder.answer(batch))
                except IndexError as error:
                    at, _, what = str(error).partition(" ")
                    raise SmtError(f"sentence pair {done + int(at) + 1}: {what}") from None
        _rank(blocks, aside).save(aside)
        record = {"version": VERSION, **written.sizes(), "blocks": len(blocks), "settings": dict(settings or {})}
        (aside / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return EventList.open(folder)


class _Written:
    """The columns of an event list being written."""

    def __init__(self, folder: Path, open_files: contextlib.ExitStack) -> None:
        import numpy as np

        def column(name: str, kind: str) -> Growing:
            growing = Growing(folder / f"{name}.npy", kind)
            open_files.callback(growing.close)
            return growing

        self._columns = {name: column(name, kind) for name, kind in _COLUMNS.items()}
        self._ends = {name: column(name, "int64") for name in ("bigram_offsets", "neutral_offsets")}
        for offsets in self._ends.values():
            offsets.append(np.zeros(1, dtype=np.int64))
        self._occurrences = 0

    def add(self, columns: tuple[Array, ...]) -> None:
        """Append a finder's result."""
        import numpy as np

        parts = (("bigram_offsets", columns[0], "successor"), ("neutral_offsets", columns[4], "neutral"))
        for name, sizes, bound in parts:
            self._ends[name].append(self._columns[bound].size + np.cumsum(sizes))
        for key, values in zip(_ANSWER, columns, strict=True):
            if key is not None:
                self._columns[key].append(values)
        self._occurrences += int(columns[7].sum())

    def sizes(self) -> dict[str, int]:
        """Return the sizes for the record."""
        return {
            "sentences": self._ends["bigram_offsets"].size - 1,
            "occurrences": self._occurrences,
            "bigrams": self._columns["successor"].size,
            "neutral": self._columns["neutral"].size,
        }


def _batches(pairs: Iterable[Pair]) -> Iterator[tuple[int, list[Pair]]]:
    stream = iter(pairs)
    done = 0
    while batch := list(itertools.islice(stream, _BATCH)):
        yield done, batch
        done += len(batch)


def _rank(blocks: BlockSet, folder: Path) -> BlockSet:
    """Sort the blocks of each source phrase by count, and renumber them in the events."""
    import numpy as np

    columns = {
        name: np.load(folder / f"{name}.npy", mmap_mode="r+") for name in ("predecessor", "successor", "neutral")
    }
    after, alone = (np.bincount(columns[name], minlength=len(blocks)) for name in ("successor", "neutral"))
    ranked, numbers = blocks.ranked(after + alone)
    for column in columns.values():
        for first in range(0, len(column), 1 << 20):
            part = slice(first, first + (1 << 20))
            column[part] = numbers[column[part]]
        if isinstance(column, np.memmap):
            column.flush()
    return ranked
