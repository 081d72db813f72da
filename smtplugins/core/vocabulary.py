"""Strings to int32 ids and back."""

from __future__ import annotations

from collections.abc import Iterable


class Vocabulary:
    """Numbers strings in order of first use. Ids are local to the object and never decide an order of output."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words: list[str] = []
        self._ids: dict[str, int] = {}
        for word in words:
            self.id(word)

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    def id(self, word: str) -> int:
        """The id of a string, new if it was not seen before."""
        found = self._ids.setdefault(word, len(self._words))
        if found == len(self._words):
            self._words.append(word)
        return found

    def word(self, number: int) -> str:
        """The string with this id."""
        return self._words[number]
