"""Strings to int32 ids and back."""

from __future__ import annotations

from collections.abc import Iterable


class _Ids(dict[str, int]):
    """Gives an unknown string the next number, so that a run of strings is looked up without Python code."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class Vocabulary:
    """Numbers strings in order of first use. Ids are local to the object and never decide an order of output."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._ids = _Ids()
        self._words: list[str] = []
        self.ids(words)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def id(self, word: str) -> int:
        """The id of a string, new if it was not seen before."""
        return self._ids[word]

    def ids(self, words: Iterable[str]) -> list[int]:
        """The ids of many strings."""
        return list(map(self._ids.__getitem__, words))

    def word(self, number: int) -> str:
        """The string with this id."""
        if len(self._words) < len(self._ids):
            self._words = list(self._ids)
        return self._words[number]
