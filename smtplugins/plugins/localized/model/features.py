"""The float features (a) to (e), as columns by block.

C. Tillmann and T. Zhang (ACL 2005), table 1 and sections 3 and 3.4. Values are natural logarithms where the paper has
negative logarithms: weights have the opposite sign, and learning is the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.localized._localized import lexical_weights
from smtplugins.plugins.localized.events.event_lists import BOUNDARY, UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.localized.events.blocks import BlockSet
    from smtplugins.plugins.localized.events.event_lists import Counts

    Array = NDArray[Any]

FLOATS = ("unigram", "orientation", "lm-first", "lm-rest", "lexical")
"""Names of the features (a) to (e), in the order of native code."""

LexNorm = Literal["paper", "koehn"]
_NOTHING = -3
_CHUNK = 1 << 18
_LEAST_COUNT = 0.5


@dataclass(frozen=True)
class Estimates:
    """Smoothing of probability estimates.

    ``smoothing`` is added to the left and right counts of each block before the orientation probability is estimated.
    ``floor`` is the minimum orientation probability, and the lexical probability of a source word that no target word
    translates. ``lex_norm`` is the denominator of p(s|t): ``paper`` the count of the source word, as printed, ``koehn``
    the count of the target word.
    """

    smoothing: float = 0.5
    floor: float = 1e-7
    lex_norm: LexNorm = "paper"

    def __post_init__(self) -> None:
        if not self.smoothing >= 0 or not 0 < self.floor <= 1:
            raise UsageError("expected a smoothing of 0 or more and a floor above 0, at most 1")


@dataclass(frozen=True)
class BlockColumns:
    """Log probabilities by block: unigram, left orientation, right orientation, lexical."""

    unigram: Array
    left: Array
    right: Array
    lexical: Array

    def chosen(self, kept: Array) -> BlockColumns:
        """Return the columns of the selected blocks."""
        return BlockColumns(self.unigram[kept], self.left[kept], self.right[kept], self.lexical[kept])


def block_columns(blocks: BlockSet, counts: Counts, estimates: Estimates | None = None) -> BlockColumns:
    """Estimate the features of each block from event counts.

    A block without events counts as half an event.
    """
    import numpy as np

    chosen = estimates or Estimates()
    total = np.maximum(counts.total, _LEAST_COUNT)
    both = counts.left + counts.right + 2 * chosen.smoothing
    sides = []
    for count in (counts.left, counts.right):
        share = (count + chosen.smoothing) / np.where(both > 0, both, 1.0)
        sides.append(np.log(np.maximum(np.where(both > 0, share, 0.5), chosen.floor)))
    relative = "source" if chosen.lex_norm == "paper" else "target"
    own = np.ascontiguousarray(counts.total, dtype=np.int64)
    arguments: list[Any] = [*blocks.arrays(), own, relative, chosen.floor]
    lexical = lexical_weights(*arguments)
    columns = (np.log(total / max(float(counts.total.sum()), 1.0)), *sides, np.log(lexical))
    return BlockColumns(*(column.astype(np.float32) for column in columns))


class BoundaryLm:
    """The features (c) and (d): a language model at the boundary between target phrases, and within them.

    The context of a block is the last two words of its target phrase; words before them are unknown. Equal contexts
    share a number.
    """

    def __init__(self, model: Any, blocks: BlockSet) -> None:
        import numpy as np

        self.model = model
        self.blocks = blocks
        self._ids = model.ids(list(blocks.words))
        last = np.full((len(blocks.target_offsets) - 1, 2), _NOTHING, dtype=np.int64)
        ends = blocks.target_offsets[1:]
        last[:, 1] = blocks.target_words[ends - 1]
        longer = np.diff(blocks.target_offsets) > 1
        last[longer, 0] = blocks.target_words[ends[longer] - 2]
        self._contexts, by_phrase = np.unique(last, axis=0, return_inverse=True)
        self.context_of = by_phrase.reshape(-1)[blocks.target_of].astype(np.int32)
        """The context number after each block."""

    def contexts_before(self, before: Array) -> tuple[BoundaryLm, Array]:
        """Return a copy with contexts from pairs of words before neutral blocks, and the context number of each."""
        import numpy as np

        boundary = BoundaryLm.__new__(BoundaryLm)
        boundary.model, boundary.blocks, boundary._ids = self.model, self.blocks, self._ids
        rows = np.asarray(before, dtype=np.int64).reshape(-1, 2)
        boundary._contexts, numbers = np.unique(rows, axis=0, return_inverse=True)
        boundary.context_of = numbers.reshape(-1).astype(np.int32)
        return boundary, boundary.context_of

    def _states(self) -> Array:
        """Return the language model state of each context."""
        import numpy as np

        model, count = self.model, len(self._contexts)
        begun = (self._contexts == BOUNDARY).any(axis=1)
        states: Array = model.states(count, bos=False)
        if begun.any():
            states[begun] = model.states(int(begun.sum()), bos=True)
        for column in self._contexts.T:
            words = np.flatnonzero(column >= UNKNOWN)
            if len(words):
                states[words] = model.step(np.ascontiguousarray(states[words]), self._lm_ids(column[words]))[1]
        return states

    def _lm_ids(self, words: Array) -> Array:
        import numpy as np

        ids: Array = np.where(words == UNKNOWN, 0, self._ids[np.maximum(words, 0)]).astype(np.int32)
        return ids

    def first_words(self, contexts: Array, first: Array, count: Array) -> Array:
        """Return ln p of the first words of blocks ``first`` to ``first + count`` - 1 after each context."""
        import numpy as np

        states = self._states()
        words = self._ids[self.blocks.target_words[self.blocks.target_offsets[self.blocks.target_of]]].astype(np.int32)
        ends = np.concatenate([[0], np.cumsum(count)])
        scores = np.empty(int(ends[-1]), dtype=np.float32)
        at = 0
        while at < len(count):
            stop = max(at + 1, int(np.searchsorted(ends, ends[at] + _CHUNK, side="right")) - 1)
            sizes = count[at:stop]
            places = np.arange(ends[at], ends[stop]) + np.repeat(first[at:stop] - ends[at:stop], sizes)
            behind = np.ascontiguousarray(states[np.repeat(contexts[at:stop], sizes)])
            scores[ends[at] : ends[stop]] = self.model.step(behind, words[places])[0]
            at = stop
        scaled: Array = scores * np.float32(math.log(10))
        return scaled

    def rest(self) -> Array:
        """Return ln p of the words after the first of each block's target phrase, given the phrase's earlier words."""
        import numpy as np

        offsets = self.blocks.target_offsets
        lengths = np.diff(offsets)
        total = np.zeros(len(lengths))
        alive = np.arange(len(lengths))
        states = self.model.states(len(lengths), bos=False)
        for position in range(int(lengths.max(initial=0))):
            longer = lengths[alive] > position
            alive, states = alive[longer], states[longer]
            words = self._ids[self.blocks.target_words[offsets[alive] + position]].astype(np.int32)
            scores, states = self.model.step(np.ascontiguousarray(states), words)
            if position:
                total[alive] += scores
        total_scores: Array = (total * math.log(10))[self.blocks.target_of].astype(np.float32)
        return total_scores
