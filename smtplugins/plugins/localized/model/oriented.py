"""``orientation`` and ``block-bigram``: two of the model's features as separate features for any phrase decoder.

C. Tillmann and T. Zhang (ACL 2005), features (b) and (f): the probability that a block is right or left of its
predecessor, and the learnt weight of this pair of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.grammars import Edges
from smtplugins.plugins.localized.events.blocks import BlockSet
from smtplugins.plugins.localized.events.event_lists import EventList
from smtplugins.plugins.localized.model.bigrams import BigramWeights
from smtplugins.plugins.localized.model.spans import Span, orientation, spans_of, words_of

Block = tuple[str, str]


class Orientation:
    """Log probability that a block is right (or left) of its predecessor, given that it is either.

    ``path`` is an event list made by ``smt localized events``. ``smoothing`` is added to both counts of a block;
    ``floor`` is the minimum probability. A block without events has probability 0.5 for either side. Neutral blocks
    score 0.
    """

    def __init__(self, path: Path, *, smoothing: float = 0.5, floor: float = 1e-7) -> None:
        if not smoothing >= 0 or not 0 < floor <= 1:
            raise UsageError("orientation: expected a smoothing of 0 or more and a floor above 0, at most 1")
        listed = EventList.open(path)
        self._known = _Numbers(listed.blocks)
        self._counts = {"L": listed.counts.left, "R": listed.counts.right}
        self._smoothing, self._floor = smoothing, floor

    def start(self, sentence: Sentence) -> _PairScorer:
        """Return a scorer for a sentence."""
        return _PairScorer("orientation", words_of(sentence, "orientation"), self._value, keep=False)

    def _value(self, before: Block | None, side: str, block: Block) -> float:
        number = self._known.number(block)
        if side == "N":
            return 0.0
        left, right = (float(self._counts[letter][number]) if number is not None else 0.0 for letter in "LR")
        both = left + right + 2 * self._smoothing
        own = (left if side == "L" else right) + self._smoothing
        return math.log(max(own / both if both else 0.5, self._floor))


class BlockBigram:
    """The learnt weight of a block after its predecessor, if they are neighbours on the source side, too; else 0.

    ``path`` is the folder ``block-bigram`` made by ``smt localized train``.
    """

    def __init__(self, path: Path) -> None:
        learnt = BigramWeights.load(path)
        self._known = _Numbers(learnt.blocks)
        columns = (column.tolist() for column in (learnt.first, learnt.second, learnt.weights))
        self._weights: dict[Any, float] = {
            (first, second): weight for first, second, weight in zip(*columns, strict=True)
        }
        self._firsts = frozenset(learnt.first.tolist())

    def start(self, sentence: Sentence) -> _PairScorer:
        """Return a scorer for a sentence."""
        return _PairScorer("block-bigram", words_of(sentence, "block-bigram"), self._value, keep=True)

    def _value(self, before: Block | None, side: str, block: Block) -> float:
        if side == "N" or before is None:
            return 0.0
        pair = (self._known.number(before), self._known.number(block))
        return float(self._weights.get(pair, 0.0))


class _Numbers:
    """Maps blocks to their numbers, indexed on first use."""

    def __init__(self, blocks: BlockSet) -> None:
        self._blocks = blocks
        self._sources = {blocks.phrase("source", i): i for i in range(len(blocks.starts) - 1)}
        self._known: dict[str, dict[str, int]] = {}

    def number(self, block: Block) -> int | None:
        source, target = block
        if source not in self._known:
            at = self._sources.get(source)
            span = range(0) if at is None else range(*self._blocks.starts[at : at + 2].tolist())
            self._known[source] = {self._blocks.phrase("target", int(self._blocks.target_of[b])): b for b in span}
        return self._known[source].get(target)


class _PairScorer:
    """Scores a block by its orientation and predecessor; the state is the source span and text of the last block."""

    def __init__(self, name: str, tokens: Sequence[str], value: Any, *, keep: bool) -> None:
        self._name, self._tokens, self._value, self._keep = name, tokens, value, keep

    def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[list[float], list[Any]]:
        scores, states = [], []
        spans = spans_of(edges, tails, self._name)
        for i, (span, below) in enumerate(zip(spans, tails, strict=True)):
            before = below[0] if below else (None, None)
            if span[0] == span[1]:
                scores.append(0.0)
                states.append(before)
                continue
            words = [symbol for symbol in edges.rules.target_of(i) if isinstance(symbol, str)]
            block = " ".join(self._tokens[span[0] : span[1]]), " ".join(words)
            place: Span | None = before[0]
            scores.append(self._value(before[1], "N" if place is None else orientation(place, span), block))
            states.append((span, block if self._keep else None))
        return scores, states

    def finish(self, states: Sequence[Any]) -> list[float]:
        return [0.0] * len(states)

    def estimate(self, edges: Edges) -> list[float]:
        return [0.0] * len(edges)
