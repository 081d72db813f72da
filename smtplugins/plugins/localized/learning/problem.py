"""Event lists as learning problems: equations 5, 6 and 8 of Tillmann and Zhang (2005).

The alternatives of an event (b', o, b) are, for each true successor of b' in the sentence pair, the most frequent
blocks of its source phrase, with the successor's orientation; true successors are always included. Native code computes
features on the fly; ``pieces`` gives the same features as rows to learners without native support.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtformats.columns import Columns
from smtplugins.contracts.learners import EventProblem, EventRows
from smtplugins.plugins.localized._localized import Training
from smtplugins.plugins.localized.model.features import FLOATS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.localized.events.blocks import BlockSet
    from smtplugins.plugins.localized.events.event_lists import EventList
    from smtplugins.plugins.localized.model.features import BlockColumns, BoundaryLm

    Array = NDArray[Any]

KEEP = 9
_PIECE = 10000
BIGRAM = "block-bigram"
NEUTRAL = "neutral-"


@dataclass(frozen=True)
class BigramPairs:
    """The binary features: sorted pairs of blocks."""

    first: Array
    second: Array

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class BlockEvents(EventProblem):
    """Events of orientation bigrams, or of neutral blocks, with their alternatives."""

    blocks: BlockSet
    training: Training
    bigrams: BigramPairs
    neutral: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the five float features."""
        return tuple(f"{NEUTRAL}{name}" if self.neutral else name for name in FLOATS)

    def bigram_name(self, number: int) -> str:
        """Return the name of a binary feature; blanks in phrases become underscores."""
        pairs = (self.blocks.block(int(numbers[number])) for numbers in (self.bigrams.first, self.bigrams.second))
        shown = "~".join("|".join(phrase.replace(" ", "_") for phrase in pair) for pair in pairs)
        return f"{BIGRAM}:{shown}"


class _Pieces(Sequence[EventRows]):
    """The events as rows, computed on access."""

    def __init__(self, training: Training, owner: list[BlockEvents]) -> None:
        self._training = training
        self._owner = owner

    def __len__(self) -> int:
        return -(-len(self._training) // _PIECE)

    def __getitem__(self, index: Any) -> Any:
        import numpy as np

        number = range(len(self))[index]
        last = min(len(self._training), _PIECE * (number + 1))
        groups, right, offsets, ids, values, _, _ = self._training.rows(_PIECE * number, last)
        used, local = np.unique(ids, return_inverse=True)
        owner = self._owner[0]
        floats = len(FLOATS)
        names = [owner.names[at] if at < floats else owner.bigram_name(at - floats) for at in used]
        return EventRows(Columns(tuple(names), offsets, local.astype(np.int32), values), groups, right)


def _events(blocks: BlockSet, training: Training, bigrams: BigramPairs, lm: BoundaryLm, neutral: bool) -> BlockEvents:
    training.set_scores(lm.first_words(*training.wanted()))
    owner: list[BlockEvents] = []
    problem = BlockEvents(_Pieces(training, owner), blocks, training, bigrams, neutral)
    owner.append(problem)
    return problem


def bigram_problem(
    events: EventList, columns: BlockColumns, lm: BoundaryLm, bigrams: BigramPairs | None = None, *, keep: int = KEEP
) -> BlockEvents:
    """Make the problem of orientation events; ``keep`` is the number of alternatives for each source phrase."""
    import numpy as np

    used = bigrams or no_bigrams()
    training = Training(
        np.ascontiguousarray(events.bigram_offsets, dtype=np.int64),
        np.ascontiguousarray(events.predecessor, dtype=np.int32),
        np.ascontiguousarray(events.successor, dtype=np.int32),
        np.ascontiguousarray(events.orientation, dtype=np.uint8),
        lm.context_of,
        np.ascontiguousarray(events.blocks.starts, dtype=np.int64),
        keep,
        columns.unigram,
        columns.left,
        columns.right,
        lm.rest(),
        columns.lexical,
        used.first,
        used.second,
    )
    return _events(events.blocks, training, used, lm, False)


def neutral_problem(events: EventList, columns: BlockColumns, lm: BoundaryLm, *, keep: int = KEEP) -> BlockEvents:
    """Make the problem of neutral events, without bigrams; alternatives are blocks of the same source phrase."""
    import numpy as np

    around, numbers = lm.contexts_before(events.before)
    nothing = np.zeros(len(events.blocks), dtype=np.float32)
    used = no_bigrams()
    training = Training(
        np.arange(len(events.neutral) + 1, dtype=np.int64),
        numbers,
        np.ascontiguousarray(events.neutral, dtype=np.int32),
        None,
        np.arange(int(numbers.max(initial=-1)) + 1, dtype=np.int32),
        np.ascontiguousarray(events.blocks.starts, dtype=np.int64),
        keep,
        columns.unigram,
        nothing,
        nothing,
        lm.rest(),
        columns.lexical,
        used.first,
        used.second,
    )
    return _events(events.blocks, training, used, around, True)


def no_bigrams() -> BigramPairs:
    """Return an empty set of binary features."""
    import numpy as np

    return BigramPairs(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))
