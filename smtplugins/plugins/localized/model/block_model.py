"""``block-model``: the features (a) to (f) of blocks with orientation, and those of neutral blocks.

C. Tillmann and T. Zhang (ACL 2005), table 1 and section 5.1. On the source side, a block is right of its predecessor if
it begins where the predecessor ends, left if it ends where the predecessor begins, else neutral. The first block is
neutral.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.columns import Columns
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.plugins.localized._localized import BlockModel as Native
from smtplugins.plugins.localized._localized import block_scorer
from smtplugins.plugins.localized.events.event_lists import EventList
from smtplugins.plugins.localized.learning.problem import BIGRAM, NEUTRAL, no_bigrams
from smtplugins.plugins.localized.model.bigrams import BigramWeights
from smtplugins.plugins.localized.model.features import FLOATS, BoundaryLm, Estimates, LexNorm, block_columns
from smtplugins.plugins.localized.model.spans import orientation, spans_of, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.grammars import Edges, Vocabulary

    Array = NDArray[Any]

COLUMNS = (
    *FLOATS,
    BIGRAM,
    *(f"{NEUTRAL}{name}" for name in FLOATS if name != "orientation"),
    "rare-left",
)
"""Names of the features in the order of native code."""
RARE_LEFT = COLUMNS.index("rare-left")

_LN10 = math.log(10)
_ABSENT = math.log(0.5)
_State = tuple[tuple[int, int] | None, int, Any]
"""Source span of the last block, its number, and the language model state."""


class BlockModel:
    """The localized prediction model's score of a block after its predecessor, a column for each weight.

    ``events_path`` is an event list made by ``smt localized events``, ``lm_path`` a language model, ``bigrams_path`` a
    folder of block bigram weights made by ``smt localized train``. ``events_digest`` is the hash of the events that
    the model was trained on; a list with other blocks or counts is an error. Features are log probabilities; that of
    the unigram is divided by the number of source words. There are two sets of weights: ``unigram``, ``orientation``,
    ``lm-first``, ``lm-rest``, ``lexical`` and ``block-bigram`` for blocks right or left of their predecessor, and those
    that begin with ``neutral-`` for neutral blocks. ``rare-left`` is -1 for a left block with fewer than ``min_left``
    left events. With ``end`` the language model's sentence end counts as a first word. ``smoothing``, ``floor`` and
    ``lex_norm`` must be those of training.
    """

    components = len(COLUMNS)

    def __init__(
        self,
        *,
        events_path: Path,
        lm_path: Path,
        bigrams_path: Path | None = None,
        events_digest: str = "",
        min_left: int = 3,
        end: bool = True,
        smoothing: float = 0.5,
        floor: float = 1e-7,
        lex_norm: LexNorm = "paper",
    ) -> None:
        from smtplugins.contracts.tools.language_models import read_lm

        if min_left < 0:
            raise UsageError(f"block-model: min_left: expected 0 or more, found {min_left}")
        self._listed = EventList.open(events_path)
        if events_digest and (digest := self._listed.digest()) != events_digest:
            raise UsageError(
                f"block-model: events_path: expected the events that the model was learnt from, events_digest "
                f"{events_digest[:12]}, found other events in {events_path}, {digest[:12]}: make the former again, or "
                "train a model from these"
            )
        self._lm: Any = read_lm(lm_path)
        self._bigrams = None if bigrams_path is None else BigramWeights.load(bigrams_path)
        self._min_left, self._end = min_left, end
        self._estimates = Estimates(smoothing, floor, lex_norm)

    @classmethod
    def of(
        cls,
        listed: EventList,
        lm: Any,
        bigrams: BigramWeights | None = None,
        *,
        min_left: int = 3,
        end: bool = True,
        estimates: Estimates | None = None,
    ) -> BlockModel:
        """Make the feature from data in memory."""
        model = cls.__new__(cls)
        model._listed, model._lm, model._bigrams = listed, lm, bigrams
        model._min_left, model._end, model._estimates = min_left, end, estimates or Estimates()
        return model

    def column_names(self, label: str) -> tuple[str, ...]:
        """Return the weight names as in trained models; labels other than ``block-model`` are prefixed."""
        return COLUMNS if label == "block-model" else tuple(f"{label}-{name}" for name in COLUMNS)

    @cached_property
    def columns(self) -> tuple[Array, ...]:
        """Columns by block: unigram, left, right, rest, lexical, no-left; the last row is for unknown pairs."""
        import numpy as np

        blocks, counts = self._listed.blocks, self._listed.counts
        own = block_columns(blocks, counts, self._estimates)
        rest = BoundaryLm(self._lm, blocks).rest()
        alone = (
            math.log(0.5 / max(float(counts.total.sum()), 1.0)),
            _ABSENT,
            _ABSENT,
            0.0,
            math.log(self._estimates.floor),
        )
        columns = (own.unigram, own.left, own.right, rest, own.lexical)
        values = (np.append(column, np.float32(last)) for column, last in zip(columns, alone, strict=True))
        return (*values, np.append(counts.left < self._min_left, self._min_left > 0).astype(np.uint8))

    @cached_property
    def model(self) -> Any:
        """The native model, shared by all scorers."""
        import numpy as np

        blocks, none = self._listed.blocks, no_bigrams()
        pairs, weights = (none.first, none.second), np.zeros(0, dtype=np.float32)
        if self._bigrams is not None:
            kept = self._bigrams
            for mine, other in zip(blocks.arrays(), kept.blocks.arrays(), strict=True):
                if not np.array_equal(mine, other):
                    raise SmtError(
                        "block-model: expected block bigrams learnt from these events, found bigrams of other blocks"
                    )
            pairs = (np.ascontiguousarray(kept.first, np.int32), np.ascontiguousarray(kept.second, np.int32))
            weights = np.ascontiguousarray(kept.weights, dtype=np.float32)
        text, offsets = bytes(blocks.words.blob), np.ascontiguousarray(blocks.words.offsets, dtype=np.int64)
        arguments: list[Any] = [text, offsets, *blocks.arrays(), *self.columns, *pairs, weights]
        return Native(*arguments)

    def native(self) -> Any:
        """Return a native scorer for a single thread."""
        return block_scorer(self.model, self._lm, self._end)

    def numbers(self, vocabulary: Vocabulary) -> Array:
        """Return each word's id in the block set and in the language model."""
        import numpy as np

        words = [vocabulary.word(i) for i in range(len(vocabulary))]
        return np.column_stack([self.model.words(words), vocabulary.ids_in(self._lm)]).astype(np.int32)

    def start(self, sentence: Sentence) -> _BlockScorer:
        """Return a scorer for a sentence, in plain Python."""
        return _BlockScorer(self, words_of(sentence, "block-model"))

    def block(self, source: Sequence[str], target: Sequence[str]) -> int:
        """Return the number of a phrase pair."""
        return int(self.model.find(list(source), list(target)))


class _BlockScorer:
    """Scores edges of phrases; the state is the last block and the language model state."""

    def __init__(self, feature: BlockModel, tokens: Sequence[str]) -> None:
        self._feature = feature
        self._tokens = tokens
        self._lm = feature._lm

    def combine(self, edges: Edges, tails: Sequence[Sequence[_State]]) -> tuple[Columns, list[_State]]:
        import numpy as np

        scores = np.zeros((len(edges), len(COLUMNS)))
        states = []
        spans = spans_of(edges, tails, "block-model")
        for i, ((first, last), below) in enumerate(zip(spans, tails, strict=True)):
            before: _State = below[0] if below else (None, -1, self._lm.begin_state())
            if first == last:
                states.append(before)
                continue
            words = [symbol for symbol in edges.rules.target_of(i) if isinstance(symbol, str)]
            states.append(self._step(before, (first, last), words, scores[i]))
        return Columns.dense(COLUMNS, scores), states

    def _step(self, before: _State, span: tuple[int, int], words: list[str], out: Array) -> _State:
        last, previous, context = before
        side = "N" if last is None else orientation(last, span)
        feature, lm = self._feature, self._lm
        block = feature.block(self._tokens[span[0] : span[1]], words)
        unigram, left, right, rest, lexical, no_left = (column[block] for column in feature.columns)
        first = 0.0
        for k, word in enumerate(words):
            score, context = lm.score_word(context, lm.id(word))
            first = score * _LN10 if k == 0 else first
        values = [unigram / (span[1] - span[0]), first, rest, lexical]
        if side == "N":
            out[6:10] = values
        else:
            out[0], out[2:5] = values[0], values[1:]
            out[1] = left if side == "L" else right
            out[5] = feature.model.bigram(previous, block)
            out[10] = -float(no_left) if side == "L" else 0.0
        return span, block, context

    def finish(self, states: Sequence[_State]) -> Columns:
        import numpy as np

        scores = np.zeros((len(states), len(COLUMNS)))
        if self._feature._end:
            end = self._lm.id("</s>")
            for (last, _, context), row in zip(states, scores, strict=True):
                row[7 if last is None else 2] = self._lm.score_word(context, end)[0] * _LN10
        return Columns.dense(COLUMNS, scores)

    def estimate(self, edges: Edges) -> Columns:
        import numpy as np

        return Columns.dense(COLUMNS, np.zeros((len(edges), len(COLUMNS))))
