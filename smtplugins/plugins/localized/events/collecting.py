"""Events of a bitext: which blocks of a set stand beside each other in its sentence pairs.

C. Tillmann and T. Zhang (ACL 2005), section 2: all places where both sides of a block match, covered consistently
or not; b' precedes b if it ends where b begins, on the target side below, on the source side to the left (b is right of
b') or to the right (b is left of it). A block without a predecessor is neutral.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError
from smtplugins.host.files.array_folders import Growing, new_folder
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
# In the order of the finder's answer; None is what goes into offsets or sums.
_ANSWER = (None, "predecessor", "successor", "orientation", None, "neutral", "before", None)


class Finder:
    """Finds the events of sentence pairs, block numbers as in the set."""

    def __init__(self, blocks: BlockSet) -> None:
        import numpy as np

        from smtplugins.plugins.localized._localized import BlockFinder

        text, offsets = bytes(blocks.words.blob), np.ascontiguousarray(blocks.words.offsets, dtype=np.int64)
        self._native = BlockFinder(text, offsets, *blocks.arrays())

    def counts(self) -> Array:
        """How often each block was found so far."""
        found: Array = self._native.counts()
        return found

    def answer(self, pairs: Sequence[Pair]) -> tuple[Array, ...]:
        """The columns of a batch."""
        import numpy as np

        links, offsets = None, None
        if pairs and pairs[0][2] is not None:
            each = [one.points if one is not None else () for _, _, one in pairs]
            flat = list(itertools.chain.from_iterable(itertools.chain.from_iterable(each)))
            links = np.array(flat, dtype=np.int32)
            offsets = np.concatenate([[0], np.cumsum([len(one) for one in each])]).astype(np.int64)
        return self._native.collect([one[0] for one in pairs], [one[1] for one in pairs], links, offsets)


def frequent(blocks: BlockSet, pairs: Iterable[Pair], least: int) -> BlockSet:
    """The blocks that are in these sentence pairs at so many places."""
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
    """Write the event list of sentence pairs into a folder, with ``force`` in place of another, and open it.

    With a word alignment only those places count that agree with it. ``settings`` are put into the record.
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
    """The columns of a list while it is written."""

    def __init__(self, folder: Path, open_files: contextlib.ExitStack) -> None:
        import numpy as np

        def column(name: str, kind: str) -> Growing:
            made = Growing(folder / f"{name}.npy", kind)
            open_files.callback(made.close)
            return made

        self._columns = {name: column(name, kind) for name, kind in _COLUMNS.items()}
        self._ends = {name: column(name, "int64") for name in ("bigram_offsets", "neutral_offsets")}
        for one in self._ends.values():
            one.append(np.zeros(1, dtype=np.int64))
        self._occurrences = 0

    def add(self, found: tuple[Array, ...]) -> None:
        """A finder's answer."""
        import numpy as np

        for name, sizes, bound in (("bigram_offsets", found[0], "successor"), ("neutral_offsets", found[4], "neutral")):
            self._ends[name].append(self._columns[bound].size + np.cumsum(sizes))
        for key, values in zip(_ANSWER, found, strict=True):
            if key is not None:
                self._columns[key].append(values)
        self._occurrences += int(found[7].sum())

    def sizes(self) -> dict[str, int]:
        """How many there are of everything."""
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
    """Order the blocks of each source phrase by their counts, and number them anew in the events."""
    import numpy as np

    found = {name: np.load(folder / f"{name}.npy", mmap_mode="r+") for name in ("predecessor", "successor", "neutral")}
    after, alone = (np.bincount(found[name], minlength=len(blocks)) for name in ("successor", "neutral"))
    ranked, numbers = blocks.ranked(after + alone)
    for column in found.values():
        for first in range(0, len(column), 1 << 20):
            part = slice(first, first + (1 << 20))
            column[part] = numbers[column[part]]
        if isinstance(column, np.memmap):
            column.flush()
    return ranked
