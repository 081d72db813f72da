"""Token numbers of pairs of texts, each different source split into tokens once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from smtplugins.plugins.neural.batches import encode

_PROBES = (("a b", "c"), ("d", ""), ("", "e f g"))
_REMEMBERED = 1 << 12

Row = tuple[list[int], list[int]]
"""The numbers of a pair's tokens, and the number of the text that each belongs to (token_type_ids)."""


@dataclass(frozen=True)
class _Frame:
    """The tokens before, between and after the texts of a pair; ``kinds`` are those of these and of the two texts."""

    tokens: tuple[list[int], list[int], list[int]]
    kinds: tuple[list[int], int, list[int], int, list[int]]

    @classmethod
    def of(cls, tokenizer: Any) -> _Frame | None:
        """The frame that a tokenizer puts around a pair; None if it does more than this, as far as probes show."""
        (whole,) = encode(tokenizer, _PROBES[:1])
        sides = list(whole.sequence_ids)
        if 0 not in sides or 1 not in sides:
            return None
        first, second = sides.index(0), sides.index(1)
        ends = first + sides.count(0), second + sides.count(1)
        ids, kinds = whole.ids, whole.type_ids
        cuts = (slice(first), slice(ends[0], second), slice(ends[1], None))
        before, between, after = (kinds[cut] for cut in cuts)
        frame = cls((ids[cuts[0]], ids[cuts[1]], ids[cuts[2]]), (before, kinds[first], between, kinds[second], after))
        singles = [encode(tokenizer, pair, special=False) for pair in _PROBES]
        joined = [frame.joined(one.ids, other.ids) for one, other in singles]
        same = joined == [(whole.ids, whole.type_ids) for whole in encode(tokenizer, _PROBES)]
        return frame if same else None

    def joined(self, first: list[int], second: list[int]) -> Row:
        """The pair of two texts' tokens."""
        before, between, after = self.tokens
        start, one, middle, other, end = self.kinds
        kinds = [*start, *[one] * len(first), *middle, *[other] * len(second), *end]
        return [*before, *first, *between, *second, *after], kinds

    def __len__(self) -> int:
        return sum(map(len, self.tokens))


class PairTokens:
    """The tokens of pairs, as the tokenizer has them for the two texts together.

    A tokenizer splits each text by itself, puts special tokens around both and cuts what is longer than ``limit``. So
    the pairs of a source are joined from its tokens and those of the hypotheses; pairs that are too long are encoded
    as they are, and so is one of each call: if it differs from what was joined, all are.
    """

    def __init__(self, tokenizer: Any, limit: int | None, *, swapped: bool = False) -> None:
        self._tokenizer, self._swapped = tokenizer, swapped
        self._limit = limit
        self._frame = _Frame.of(tokenizer)
        self._sources: dict[str, list[int]] = {}

    def rows(self, pairs: Sequence[tuple[str, str]]) -> list[Row]:
        """The tokens of pairs of source and target."""
        frame = self._frame
        if frame is None or not pairs:
            return self._whole(pairs)
        sources = self._source_tokens(pairs)
        targets = [one.ids for one in encode(self._tokenizer, [target for _, target in pairs], special=False)]
        found: list[Row] = []
        long = []
        for i, (row, target) in enumerate(zip(sources, targets, strict=True)):
            if self._limit is not None and len(row) + len(target) + len(frame) > self._limit:
                long.append(i)
            found.append(frame.joined(target, row) if self._swapped else frame.joined(row, target))
        for i, whole in zip(long, self._whole([pairs[i] for i in long]), strict=True):
            found[i] = whole
        if self._whole(pairs[:1]) != found[:1]:
            self._frame = None
            return self._whole(pairs)
        return found

    def _whole(self, pairs: Sequence[tuple[str, str]]) -> list[Row]:
        ordered = [(target, source) for source, target in pairs] if self._swapped else pairs
        return [(one.ids, one.type_ids) for one in encode(self._tokenizer, ordered)]

    def _source_tokens(self, pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
        missing = [text for text in dict.fromkeys(source for source, _ in pairs) if text not in self._sources]
        if len(self._sources) + len(missing) > _REMEMBERED:
            self._sources.clear()
            missing = list(dict.fromkeys(source for source, _ in pairs))
        encoded = encode(self._tokenizer, missing, special=False)
        self._sources.update((text, one.ids) for text, one in zip(missing, encoded, strict=True))
        return [self._sources[source] for source, _ in pairs]
