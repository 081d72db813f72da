"""Strings and their numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.core.vocabulary import Vocabulary


@given(st.lists(st.text()))
def test_numbers_are_those_of_first_use(words: list[str]) -> None:
    vocabulary = Vocabulary()
    ids = [vocabulary.id(word) for word in words]
    distinct = list(dict.fromkeys(words))
    assert ids == [distinct.index(word) for word in words]
    assert [vocabulary.word(number) for number in ids] == words
    assert len(vocabulary) == len(distinct)
    assert Vocabulary().ids(words) == Vocabulary(words).ids(words) == ids


def test_looking_up_and_asking_whether_it_is_there_differ() -> None:
    vocabulary = Vocabulary(["a"])
    assert "b" not in vocabulary
    assert len(vocabulary) == 1
    assert vocabulary.id("b") == 1
    assert "b" in vocabulary
    assert vocabulary.word(1) == "b"


def test_words_added_after_a_look_are_found() -> None:
    vocabulary = Vocabulary(["a"])
    assert vocabulary.word(0) == "a"
    vocabulary.ids(["b", "c"])
    assert vocabulary.word(2) == "c"


def test_unknown_number() -> None:
    with pytest.raises(IndexError):
        Vocabulary(["a"]).word(1)
