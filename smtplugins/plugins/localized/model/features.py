"""The float features (a) to (e) of blocks, as columns by block.

C. Tillmann and T. Zhang (ACL 2005), table 1 and sections 3 and 3.4. Values are natural logarithms where the paper has
negative ones: weights have the other sign, and learning is the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.host.errors import UsageError
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
    """How probabilities are estimated where the counts are small.

    ``smoothing`` is added to the counts of left and right of each block, whose share is the orientation probability.
    ``floor`` is the least of orientation probabilities, and what a source word has in a lexical weight if none of
    the target words translates it. ``lex_norm`` is what p(s|t) is relative to: ``paper`` all blocks of the source
    word, as printed, ``koehn`` all of the target word.
    """

    smoothing: float = 0.5
    floor: float = 1e-7
    lex_norm: LexNorm = "paper"

    def __post_init__(self) -> None:
        if not self.smoothing >= 0 or not 0 < self.floor <= 1:
            raise UsageError("expected a smoothing of 0 or more and a floor above 0, at most 1")


@dataclass(frozen=True)
class BlockColumns:
    """Logarithms by block: unigram, orientation to the left and to the right, and lexical probability."""

    unigram: Array
    left: Array
    right: Array
    lexical: Array

    def chosen(self, kept: Array) -> BlockColumns:
        """Those of the blocks that are marked."""
        return BlockColumns(self.unigram[kept], self.left[kept], self.right[kept], self.lexical[kept])


def block_columns(blocks: BlockSet, counts: Counts, estimates: Estimates | None = None) -> BlockColumns:
    """What counts of events say of each block.

    A block that is in no event counts as half of one.
    """
    import numpy as np

    from smtplugins.plugins.localized._localized import lexical_weights

    chosen = estimates or Estimates()
    total = np.maximum(counts.total, _LEAST_COUNT)
    both = counts.left + counts.right + 2 * chosen.smoothing
    sides = []
    for one in (counts.left, counts.right):
        share = (one + chosen.smoothing) / np.where(both > 0, both, 1.0)
        sides.append(np.log(np.maximum(np.where(both > 0, share, 0.5), chosen.floor)))
    relative = "source" if chosen.lex_norm == "paper" else "target"
    own = np.ascontiguousarray(counts.total, dtype=np.int64)
    given: list[Any] = [*blocks.arrays(), own, relative, chosen.floor]
    lexical = lexical_weights(*given)
    columns = (np.log(total / max(float(counts.total.sum()), 1.0)), *sides, np.log(lexical))
    return BlockColumns(*(one.astype(np.float32) for one in columns))


class BoundaryLm:
    """The features (c) and (d): a language model inside of target phrases, and where two of them meet.

    The context of a phrase is its last words, two for a trigram model, and nothing is known of what is before them.
    Contexts that are alike are one.
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
        """The context behind each block."""

    def contexts_before(self, before: Array) -> tuple[BoundaryLm, Array]:
        """The same with the contexts of neutral blocks, and the number of each: pairs of words before them."""
        import numpy as np

        made = BoundaryLm.__new__(BoundaryLm)
        made.model, made.blocks, made._ids = self.model, self.blocks, self._ids
        rows = np.asarray(before, dtype=np.int64).reshape(-1, 2)
        made._contexts, numbers = np.unique(rows, axis=0, return_inverse=True)
        made.context_of = numbers.reshape(-1).astype(np.int32)
        return made, made.context_of

    def _states(self) -> Array:
        """The language model's state of each context."""
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

        found: Array = np.where(words == UNKNOWN, 0, self._ids[np.maximum(words, 0)]).astype(np.int32)
        return found

    def first_words(self, contexts: Array, first: Array, count: Array) -> Array:
        """ln p of the first word of blocks ``first`` to before ``first + count`` behind a context each."""
        import numpy as np

        states = self._states()
        words = self._ids[self.blocks.target_words[self.blocks.target_offsets[self.blocks.target_of]]].astype(np.int32)
        ends = np.concatenate([[0], np.cumsum(count)])
        found = np.empty(int(ends[-1]), dtype=np.float32)
        at = 0
        while at < len(count):
            stop = max(at + 1, int(np.searchsorted(ends, ends[at] + _CHUNK, side="right")) - 1)
            sizes = count[at:stop]
            places = np.arange(ends[at], ends[stop]) + np.repeat(first[at:stop] - ends[at:stop], sizes)
            behind = np.ascontiguousarray(states[np.repeat(contexts[at:stop], sizes)])
            found[ends[at] : ends[stop]] = self.model.step(behind, words[places])[0]
            at = stop
        scaled: Array = found * np.float32(math.log(10))
        return scaled

    def rest(self) -> Array:
        """ln p of the words of each block's target phrase behind the first one, given those before them in it."""
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
        found: Array = (total * math.log(10))[self.blocks.target_of].astype(np.float32)
        return found
