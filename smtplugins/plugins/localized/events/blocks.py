"""Block sets: phrase pairs grouped by source phrase.

C. Tillmann and T. Zhang, "A Localized Prediction Model for Statistical Machine Translation" (ACL 2005), section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.columns import StringTable
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tools.files import read_array, write_arrays
from smtplugins.plugins.localized._localized import number_phrases

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats.columns import GrammarColumns

    Array = NDArray[Any]

_ARRAYS = {
    "source_words": "int32",
    "source_offsets": "int64",
    "target_words": "int32",
    "target_offsets": "int64",
    "starts": "int64",
    "target_of": "int32",
}


@dataclass(frozen=True)
class BlockSet:
    """A set of blocks: source phrase p has blocks ``starts[p]:starts[p + 1]``; block b has target ``target_of[b]``.

    A phrase is the range of ``source_words`` or ``target_words`` between two offsets; its items index ``words``.
    """

    words: StringTable
    source_words: Array
    source_offsets: Array
    target_words: Array
    target_offsets: Array
    starts: Array
    target_of: Array

    def __len__(self) -> int:
        return len(self.target_of)

    @classmethod
    def from_grammar(cls, grammar: GrammarColumns, longest: int | None = None) -> BlockSet:
        """Make the set of a table's distinct phrase pairs; ``longest`` is the maximum number of words on a side."""
        import numpy as np

        if (grammar.source < 0).any() or (grammar.target < 0).any():
            raise SmtError("expected a table of phrases, found rules with gaps")
        sides = []
        kept = np.ones(len(grammar), dtype=bool)
        for words, offsets in ((grammar.source, grammar.source_offsets), (grammar.target, grammar.target_offsets)):
            own = np.ascontiguousarray(words, dtype=np.int32), np.ascontiguousarray(offsets, dtype=np.int64)
            lengths = np.diff(own[1])
            kept &= lengths > 0
            if longest is not None:
                kept &= lengths <= longest
            sides.append((*own, *number_phrases(*own)))
        source: Array
        target: Array
        source, target = (side[2][kept] for side in sides)
        order = np.lexsort((np.arange(len(source)), source))
        keys = (source.astype(np.int64) << 32 | target)[order]
        first = np.sort(np.unique(keys, return_index=True)[1])
        source, target = source[order][first], target[order][first]
        sources, source = np.unique(source, return_inverse=True)
        targets, target = np.unique(target, return_inverse=True)
        runs = [_runs(side[0], side[1], side[3][used]) for side, used in zip(sides, (sources, targets), strict=True)]
        starts = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=len(sources)))])
        return cls(grammar.words, *runs[0], *runs[1], starts.astype(np.int64), target.astype(np.int32))

    @cached_property
    def source_of(self) -> Array:
        """The source phrase of each block."""
        import numpy as np

        sources: Array = np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))
        return sources

    def phrase(self, side: str, number: int) -> str:
        """Return the words of a phrase of the ``source`` or ``target`` side."""
        words, offsets = getattr(self, f"{side}_words"), getattr(self, f"{side}_offsets")
        return " ".join(self.words[word] for word in words[offsets[number] : offsets[number + 1]].tolist())

    def block(self, number: int) -> tuple[str, str]:
        """Return the source and target phrase of a block."""
        return self.phrase("source", int(self.source_of[number])), self.phrase("target", int(self.target_of[number]))

    def ranked(self, counts: Array) -> tuple[BlockSet, Array]:
        """Sort the blocks of each source phrase by decreasing count, ties in order; returns the new number of each."""
        import numpy as np

        order = np.lexsort((np.arange(len(self)), -counts, self.source_of))
        numbers = np.empty(len(self), dtype=np.int32)
        numbers[order] = np.arange(len(self), dtype=np.int32)
        return self._with(self.starts, self.target_of[order]), numbers

    def chosen(self, kept: Array) -> BlockSet:
        """Return the selected blocks; phrases keep their numbers."""
        import numpy as np

        sizes = np.bincount(self.source_of[kept], minlength=len(self.starts) - 1)
        return self._with(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), self.target_of[kept])

    def gathered(self, sources: Array, starts: Array, rows: Array) -> BlockSet:
        """Return a set of the blocks ``rows``; those from ``starts[k]`` on have source phrase ``sources[k]``."""
        words, offsets = _runs(self.source_words, self.source_offsets, sources)
        targets = (self.target_words, self.target_offsets)
        return BlockSet(self.words, words, offsets, *targets, starts, self.target_of[rows])

    def _with(self, starts: Array, target_of: Array) -> BlockSet:
        sides = (self.source_words, self.source_offsets, self.target_words, self.target_offsets)
        return BlockSet(self.words, *sides, starts, target_of)

    def arrays(self) -> tuple[Array, ...]:
        """Return the arrays that native code takes, in its order."""
        import numpy as np

        return tuple(np.ascontiguousarray(getattr(self, name), dtype=kind) for name, kind in _ARRAYS.items())

    def save(self, folder: Path) -> None:
        """Write the arrays into a folder."""
        import numpy as np

        text = np.frombuffer(bytes(self.words.blob), dtype=np.uint8)
        arrays = {name: getattr(self, name).astype(kind, copy=False) for name, kind in _ARRAYS.items()}
        write_arrays(folder, {"words": text, "word_offsets": self.words.offsets.astype(np.int64), **arrays})

    @classmethod
    def load(cls, folder: Path) -> BlockSet:
        """Load a block set from a folder."""
        text, offsets = read_array(folder, "words", "u"), read_array(folder, "word_offsets", "i")
        blocks = cls(StringTable(text.tobytes(), offsets), *(read_array(folder, name, "i") for name in _ARRAYS))
        ends = (
            (offsets, len(text)),
            (blocks.source_offsets, len(blocks.source_words)),
            (blocks.target_offsets, len(blocks.target_words)),
            (blocks.starts, len(blocks.target_of)),
        )
        if any(not len(values) or values[-1] != end for values, end in ends):
            raise SmtError(f"{folder}: expected the arrays of a block set, found arrays of inconsistent lengths")
        return blocks


def _runs(words: Array, offsets: Array, rows: Array) -> tuple[Array, Array]:
    """Return selected rows of a ragged column, concatenated."""
    import numpy as np

    lengths = offsets[rows + 1] - offsets[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.arange(ends[-1]) + np.repeat(offsets[rows] - ends[:-1], lengths)
    return np.ascontiguousarray(words[places]), ends
