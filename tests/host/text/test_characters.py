"""Clean words of raw lines, against the definition by single characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.tokens import words
from smtplugins.host.text.characters import clean_words, is_clean, needs_escapes

_ODD = "\0\t\r\x0b\x1c\x7f\x85\xa0\u2028\u2029\u3000\ufeff\ufffe\U000e0001 aß"


def is_invalid(char: str) -> bool:
    """Control characters but tabs, separators of lines and paragraphs, and two non-characters."""
    return (unicodedata.category(char) in ("Cc", "Zl", "Zp") and char != "\t") or char in "\ufffe\uffff"


@given(st.text(st.one_of(st.sampled_from(_ODD), st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_invalid_characters_end_words(line: str) -> None:
    cleaned = "".join(" " if is_invalid(char) else char for char in line if char != "\ufeff")
    assert clean_words(line) == words(cleaned)
    assert is_clean(line) == (cleaned == line)
    assert all(is_clean(word) for word in clean_words(line))


@pytest.mark.parametrize("text", ["[X]", "a [X] b", "[]", "a|||b", "a <s>", "</s> a", "<unk>", "<UNK>"])
def test_words_that_tables_or_models_refuse(text: str) -> None:
    assert needs_escapes(text)


@pytest.mark.parametrize(
    "text", ["", "[", "[X", "a[X]", "[X].", "||", "a | b", "<", "<s>.", "a<unk>", "< s >", "[a b]"]
)
def test_other_words(text: str) -> None:
    assert not needs_escapes(text)
