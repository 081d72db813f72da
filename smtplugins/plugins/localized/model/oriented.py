"""``orientation`` and ``block-bigram``: two of the model's features, each by itself, for any decoder of phrases.

C. Tillmann and T. Zhang (ACL 2005), features (b) and (f): how probable it is that a block stands to the right or to
the left of the one before, and the weight that was learnt for this pair of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError
from smtplugins.plugins.localized.events.event_lists import EventList
from smtplugins.plugins.localized.model.bigrams import BigramWeights
from smtplugins.plugins.localized.model.spans import Span, orientation, spans_of, words_of

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.grammar.rules import Edges
    from smtplugins.plugins.localized.events.blocks import BlockSet

Block = tuple[str, str]


class Orientation:
    """The logarithm of how often a block is right (or left) of the one before, of all times that it is either.

    ``path`` is an event list that ``smt localized events`` made. ``smoothing`` is added to both counts of a block,
    and ``floor`` is the least probability. A block that is in no event is to the right as often as to the left. Where
    it is neither the value is 0.
    """

    def __init__(self, path: Path, *, smoothing: float = 0.5, floor: float = 1e-7) -> None:
        if not smoothing >= 0 or not 0 < floor <= 1:
            raise UsageError("orientation: expected a smoothing of 0 or more and a floor above 0, at most 1")
        listed = EventList.open(path)
        self._known = _Numbers(listed.blocks)
        self._counts = {"L": listed.counts.left, "R": listed.counts.right}
        self._smoothing, self._floor = smoothing, floor

    def start(self, sentence: Sentence) -> _Walk:
        """At work on a sentence."""
        return _Walk("orientation", words_of(sentence, "orientation"), self._value, keep=False)

    def _value(self, before: Block | None, side: str, block: Block) -> float:
        number = self._known.number(block)
        if side == "N":
            return 0.0
        left, right = (float(self._counts[one][number]) if number is not None else 0.0 for one in "LR")
        both = left + right + 2 * self._smoothing
        own = (left if side == "L" else right) + self._smoothing
        return math.log(max(own / both if both else 0.5, self._floor))


class BlockBigram:
    """The weight that was learnt for a block behind another one that is its neighbour on both sides; else 0.

    ``path`` is the folder ``block-bigram`` that ``smt localized train`` made.
    """

    def __init__(self, path: Path) -> None:
        learnt = BigramWeights.load(path)
        self._known = _Numbers(learnt.blocks)
        columns = (one.tolist() for one in (learnt.first, learnt.second, learnt.weights))
        self._weights: dict[Any, float] = {
            (first, second): weight for first, second, weight in zip(*columns, strict=True)
        }
        self._firsts = frozenset(learnt.first.tolist())

    def start(self, sentence: Sentence) -> _Walk:
        """At work on a sentence."""
        return _Walk("block-bigram", words_of(sentence, "block-bigram"), self._value, keep=True)

    def _value(self, before: Block | None, side: str, block: Block) -> float:
        if side == "N" or before is None:
            return 0.0
        pair = (self._known.number(before), self._known.number(block))
        return float(self._weights.get(pair, 0.0))


class _Numbers:
    """Numbers of blocks, looked up when asked for."""

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


class _Walk:
    """A feature of a block, its orientation and the block before. A state is where the last phrase is, and which."""

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
            words = [one for one in edges.rules.target_of(i) if isinstance(one, str)]
            block = " ".join(self._tokens[span[0] : span[1]]), " ".join(words)
            place: Span | None = before[0]
            scores.append(self._value(before[1], "N" if place is None else orientation(place, span), block))
            states.append((span, block if self._keep else None))
        return scores, states

    def finish(self, states: Sequence[Any]) -> list[float]:
        return [0.0] * len(states)

    def estimate(self, edges: Edges) -> list[float]:
        return [0.0] * len(edges)
