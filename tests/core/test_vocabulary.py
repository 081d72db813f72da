"""Strings and their numbers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.grammar.shared.gather import Numbering
from smtplugins.core.vocabulary import Vocabulary

from .ngrams import native

# Any text, parts of surrogate pairs too.
TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)


@given(st.lists(TEXTS))
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


@given(st.lists(st.text()), st.lists(st.text(), max_size=5))
def test_a_table_is_numbered_as_its_strings_are(words: list[str], before: list[str]) -> None:
    table = Numbering(words).table()
    batch, other = Vocabulary(before), Vocabulary(before)
    ids = batch.ids_of_table(table)
    assert ids.dtype == np.int32
    assert ids.tolist() == other.ids(table[:])
    assert [batch.word(number) for number in ids.tolist()] == table[:]
    assert len(batch) == len(other)


def test_many_strings() -> None:
    words = [f"{number:x}" for number in range(20_000)]
    vocabulary = Vocabulary(words)
    assert vocabulary.ids(reversed(words)) == list(range(20_000))[::-1]
    assert vocabulary.ids_of_table(Numbering(words).table()).tolist() == list(range(20_000))
    assert "zz" not in vocabulary


@given(st.lists(TEXTS))
def test_copies(words: list[str]) -> None:
    vocabulary = Vocabulary(words)
    copy = pickle.loads(pickle.dumps(vocabulary))
    assert copy.ids(words) == vocabulary.ids(words)
    copy.id("a word that was not there")
    assert len(copy) == len(vocabulary) + 1


def test_what_a_language_model_calls_them() -> None:
    model = native({("<s>",): (-99.0, 0.0), ("</s>",): (-1.0, 0.0), ("a",): (-2.0, 0.0), ("é",): (-2.0, 0.0)}, 1)
    words = ["é", "zzz", "a", "</s>", "<unk>"]
    vocabulary = Vocabulary(words)
    assert vocabulary.ids_in(model).tolist() == model.ids(words).tolist()
    assert vocabulary.ids_in(model, 3).tolist() == model.ids(words[3:]).tolist()
    assert vocabulary.ids_in(model, 5).tolist() == []
    for first in (-1, 6):
        with pytest.raises(ValueError, match="not there"):
            vocabulary.ids_in(model, first)


@pytest.mark.parametrize("words", [[b"a"], [1], ["a", None]])
def test_what_is_no_string_is_refused(words: list[Any]) -> None:
    with pytest.raises(TypeError, match="str"):
        Vocabulary(words)


def test_a_table_that_leads_out_is_refused() -> None:
    native = Vocabulary()._native
    for text, offsets, message in (([97], [0, 2], "out of"), ([97], [1, 0], "fall"), ([97], [], "offset more")):
        with pytest.raises(ValueError, match=message):
            native.ids_of_table(np.array(text, np.uint8), np.array(offsets, np.int64))
