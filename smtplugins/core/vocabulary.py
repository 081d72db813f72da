"""Strings to int32 ids and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from smtplugins.core._core import Vocabulary as Native

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtformats.columns import StringTable
    from smtplugins.core._core import LanguageModel


class Vocabulary:
    """Numbers strings in order of first use. Ids are local to the object and never decide an order of output."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._native = Native()
        self._words: list[str] = []  # the first words, as far as they were looked up
        self.ids(words)

    def __len__(self) -> int:
        return len(self._native)

    def __contains__(self, word: str) -> bool:
        return self._native.find(word) >= 0

    def __reduce__(self) -> tuple[type[Vocabulary], tuple[list[str]]]:
        return Vocabulary, (self._native.words_from(0),)

    def id(self, word: str) -> int:
        """The id of a string, new if it was not seen before."""
        return self._native.id(word)

    def ids(self, words: Iterable[str]) -> list[int]:
        """The ids of many strings."""
        return self._native.ids(words)

    def ids_of_table(self, table: StringTable) -> NDArray[np.int32]:
        """The ids of a table's strings, without making Python strings of them."""
        import numpy as np

        offsets = np.ascontiguousarray(table.offsets, dtype=np.int64)
        return self._native.ids_of_table(np.frombuffer(table.blob, dtype=np.uint8), offsets)

    def ids_in(self, model: LanguageModel, first: int = 0) -> NDArray[np.int32]:
        """A language model's ids of the strings from id ``first`` on."""
        return self._native.ids_in(model, first)

    def word(self, number: int) -> str:
        """The string with this id."""
        if number >= len(self._words):
            self._words += self._native.words_from(len(self._words))
        return self._words[number]

    def words(self, numbers: Sequence[int]) -> list[str]:
        """The strings with these ids."""
        if numbers:
            self.word(max(numbers))
        return list(map(self._words.__getitem__, numbers))
