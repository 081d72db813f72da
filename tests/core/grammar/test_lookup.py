"""The phrases of sentences and lattices that a table is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from smtplugins.core.grammar import lookup
from smtplugins.core.grammar.lookup import looked_up, source_phrases
from smtplugins.core.grammar.parsing import InputArc, Lattice, TooLarge


def test_phrases_of_a_sentence() -> None:
    assert source_phrases("a b a".split(), 2) == ["a", "b", "a b", "b a"]
    assert source_phrases(("a", "b"), 7) == ["a", "b", "a b"]
    assert source_phrases((), 3) == []
    assert source_phrases(("a",), 0) == []


def test_phrases_on_the_paths_of_a_lattice() -> None:
    arcs = [(0, 1, "a"), (0, 1, None), (0, 2, "x"), (1, 2, "b"), (1, 2, "c"), (2, 3, "d")]
    lattice = Lattice(4, tuple(InputArc(first, last, word) for first, last, word in arcs))
    assert source_phrases(lattice, 1) == ["a", "b", "c", "d", "x"]
    assert source_phrases(lattice, 2) == ["a", "b", "c", "d", "x", "a b", "a c", "b d", "c d", "x d"]
    assert source_phrases(lattice, 9)[-2:] == ["a b d", "a c d"]


def test_a_lattice_is_that_of_its_words() -> None:
    words = "a b c b a".split()
    assert set(source_phrases(Lattice.of_words(words), 3)) == set(source_phrases(words, 3))


def test_a_lattice_of_too_many_phrases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "MOST_PHRASES", 1000)
    arcs = tuple(InputArc(i, i + 1, f"{i}{k}") for i in range(8) for k in range(4))
    with pytest.raises(TooLarge, match=r"^expected at most 1000 phrases of 5 words in a lattice, found more$"):
        source_phrases(Lattice(9, arcs), 5)


class Table:
    """A table that tells what it is asked for."""

    longest = 9

    def __init__(self, listed: list[str] | None) -> None:
        self.listed = listed
        self.asked: list[str] = []

    def sources(self) -> list[str] | None:
        return self.listed

    def columns(self, phrases: list[str]) -> Any:
        self.asked = phrases

    def facts(self) -> dict[str, Any]:
        return {}


def test_a_large_lattice_is_looked_up_by_the_phrases_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "MOST_PHRASES", 1000)
    large = Lattice(9, tuple(InputArc(i, i + 1, f"{i}{k}") for i in range(8) for k in range(4)))
    table = Table(["00", "00 10", "00 99", "73 00"])
    looked_up(table, large, 5)
    assert table.asked == ["00", "00 10", "73 00"]
    looked_up(table, Lattice.of_words(("00", "10")), 5)
    assert table.asked == ["00", "10", "00 10"]
    with pytest.raises(TooLarge):
        looked_up(Table(None), large, 5)
