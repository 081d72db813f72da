"""A feature in Python for undirected decoding: values of all n-grams that are known, and its directed form."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from smtplugins.contracts.adapters import SimpleStateful
from smtplugins.contracts.features import OUTSIDE

HOLE = ""
Text = tuple[str, ...]


def value(ngram: Sequence[str]) -> float:
    """Any value: a multiple of 1/64 between -1 and 1."""
    return zlib.crc32(" ".join(ngram).encode()) % 129 / 64 - 1


def total(text: Sequence[str], n: int) -> float:
    """The values of all n-grams of a text without holes in them."""
    windows = (tuple(text[i : i + n]) for i in range(len(text) - n + 1))
    return sum(value(window) for window in windows if HOLE not in window)


def first_words(text: Text, most: int) -> Text:
    """What is known from the left, and a hole behind it if there is more."""
    end = text.index(HOLE) if HOLE in text else len(text)
    return text[: min(end, most)]


def last_words(text: Text, most: int) -> Text:
    return first_words(text[::-1], most)[::-1]


class Ngrams(SimpleStateful):
    """Two components: values of n-grams, and how many there are. ``<s>`` and ``</s>`` are around a sentence.

    A neighbour below shows its words, those in the middle cut out; one above those on both sides of the place. Cut to
    n - 1 words they have no n-gram of their own, so that all that are in the text put together are new.
    """

    components = 2

    def __init__(self, n: int) -> None:
        self.n = n

    def undirected(self, sentence: Any) -> Any:
        return _Undirected(self.n)

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[Any, Text]:
        text: Text = ()
        for symbol in target:
            text += (symbol,) if isinstance(symbol, str) else tails[symbol]
        return self.scores(text), trimmed(text, self.n - 1)

    def finish_one(self, state: Text) -> Any:
        return self.scores(("<s>", *state, "</s>"))

    def estimate_one(self, target: Sequence[str | int]) -> Any:
        return [0.0, 0.0]

    def scores(self, text: Sequence[str]) -> list[float]:
        return [total(text, self.n), float(count(text, self.n))]


def count(text: Sequence[str], n: int) -> int:
    return sum(HOLE not in text[i : i + n] for i in range(len(text) - n + 1))


def trimmed(text: Text, most: int) -> Text:
    """Both ends of a text, and a hole between them if that is not all."""
    if HOLE not in text and len(text) <= most:
        return text
    return (*first_words(text, most), HOLE, *last_words(text, most))


class _Undirected:
    def __init__(self, n: int) -> None:
        self.n = n

    def attach(self, edges: Any, links: Sequence[Sequence[Any]]) -> tuple[list[Any], list[list[Any]]]:
        rows = [self.one(edges.rules.target_of(i), links[i]) for i in range(len(edges))]
        return [scores for scores, _ in rows], [contexts for _, contexts in rows]

    def one(self, target: Sequence[str | int], links: Sequence[Any]) -> tuple[Any, list[Any]]:
        most = self.n - 1
        above = {None: ((HOLE,), (HOLE,)), OUTSIDE: (("<s>",), ("</s>",))}
        left, right = above.get(links[0], links[0])
        parts = [(one,) if isinstance(one, str) else links[1 + one] or self.empty(links[1 + one]) for one in target]
        own: Text = sum(parts, ())
        text = (*left, *own, *right)
        contexts: list[Any] = [trimmed(own, most)]
        for i, symbol in enumerate(target):
            if isinstance(symbol, int):
                before, behind = (*left, *sum(parts[:i], ())), (*sum(parts[i + 1 :], ()), *right)
                contexts.append((last_words(before, most), first_words(behind, most)))
        return [total(text, self.n), float(count(text, self.n))], contexts

    def empty(self, context: Text | None) -> Text:
        """A child without words, or none at all."""
        return (HOLE,) if context is None else ()
