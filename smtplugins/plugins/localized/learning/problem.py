"""Event lists as problems for learners: equations 5, 6 and 8 of Tillmann and Zhang (2005).

The alternatives of an event (b', o, b) are, for each true successor of b' in the sentence pair, the blocks of its
source phrase, the most frequent ones, with the successor's orientation; true successors are always among them. Native
code makes the features when it passes an event; ``pieces`` shows the same to learners that know only rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtformats.columns import Columns
from smtplugins.contracts.contracts import EventRows, Events
from smtplugins.plugins.localized.model.features import FLOATS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.localized._localized import Training
    from smtplugins.plugins.localized.events.blocks import BlockSet
    from smtplugins.plugins.localized.events.event_lists import EventList
    from smtplugins.plugins.localized.model.features import BlockColumns, BoundaryLm

    Array = NDArray[Any]

KEEP = 9
_PIECE = 10000
BIGRAM = "block-bigram"
NEUTRAL = "neutral-"


@dataclass(frozen=True)
class Bigrams:
    """The binary features: pairs of blocks, ordered."""

    first: Array
    second: Array

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class BlockEvents(Events):
    """Orientation bigrams, or neutral blocks, with their alternatives."""

    blocks: BlockSet
    training: Training
    bigrams: Bigrams
    neutral: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the five float features."""
        return tuple(f"{NEUTRAL}{name}" if self.neutral else name for name in FLOATS)

    def bigram_name(self, number: int) -> str:
        """The name of a binary feature; blanks in phrases are underscores."""
        pairs = (self.blocks.block(int(one[number])) for one in (self.bigrams.first, self.bigrams.second))
        shown = "~".join("|".join(phrase.replace(" ", "_") for phrase in pair) for pair in pairs)
        return f"{BIGRAM}:{shown}"


class _Pieces(Sequence[EventRows]):
    """The events as rows, made when they are asked for."""

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
        names = [owner.names[one] if one < len(FLOATS) else owner.bigram_name(one - len(FLOATS)) for one in used]
        return EventRows(Columns(tuple(names), offsets, local.astype(np.int32), values), groups, right)


def _events(blocks: BlockSet, training: Training, bigrams: Bigrams, lm: BoundaryLm, neutral: bool) -> BlockEvents:
    training.set_scores(lm.first_words(*training.wanted()))
    owner: list[BlockEvents] = []
    made = BlockEvents(_Pieces(training, owner), blocks, training, bigrams, neutral)
    owner.append(made)
    return made


def bigram_problem(
    events: EventList, columns: BlockColumns, lm: BoundaryLm, bigrams: Bigrams | None = None, *, keep: int = KEEP
) -> BlockEvents:
    """The events with an orientation; ``keep`` is how many blocks of a source phrase are alternatives."""
    import numpy as np

    from smtplugins.plugins.localized._localized import Training

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
    """The neutral events: without orientation and bigrams; alternatives are blocks of the same source phrase."""
    import numpy as np

    from smtplugins.plugins.localized._localized import Training

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


def no_bigrams() -> Bigrams:
    """No binary features."""
    import numpy as np

    return Bigrams(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))
