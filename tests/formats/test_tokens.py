"""Words, numbers and names in the fields of all formats."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.tokens import BadField, Layouts, blanks, is_id, is_number, numbers, total_of, trim, vector


@pytest.mark.parametrize("word", ["", "\u00e9", "\u00a0", "\u2028", "\u3000\x85"])
@given(text=st.text("ab \t\r\n\x0b\x0c\x1c\x1f", max_size=12))
def test_blanks_are_ascii_alone(word: str, text: str) -> None:
    # Without the word the text is ASCII, where str.split() defines the blanks.
    assert blanks(text.replace("b", f"b{word}")) == [token.replace("b", f"b{word}") for token in text.split()]


def test_only_ascii_blanks_are_trimmed() -> None:
    assert trim(" \t\x1f\u00a0a b\u2028 \r\n") == "\u00a0a b\u2028"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4))
def test_numbers(values: list[float]) -> None:
    for spell in (repr, "{:.6g}".format, "{:+e}".format):
        tokens = [spell(value) for value in values]
        assert numbers(tokens) == [float(token) for token in tokens]


def test_sums_beyond_the_largest_number_are_no_fault() -> None:
    assert numbers(["1e308", "1e308", "-5"]) == [1e308, 1e308, -5]


@pytest.mark.parametrize(
    "token",
    ["nan", "inf", "-Infinity", "1_0", "0x1p3", "", "1e", ".", "+", "--1", "1e400", "\u0663", "1,5", "1\u00a0"],
)
def test_what_is_no_number(token: str) -> None:
    with pytest.raises(BadField) as caught:
        numbers(["1", token, "2"])
    assert (caught.value.expected, caught.value.found) == ("a finite number", repr(token))


def test_totals_may_be_infinite() -> None:
    assert (total_of(" inf"), total_of("-inf\r\n"), total_of("1e-3 \n")) == (math.inf, -math.inf, 1e-3)
    for text in ("nan", "+inf", "1\u2028", "1 2"):
        with pytest.raises(BadField):
            total_of(text)


@pytest.mark.parametrize(
    ("token", "number", "key"),
    [
        ("7", True, True),
        ("007", True, True),
        ("-7", True, False),
        (".5", True, False),
        ("1_0", False, False),
        ("\u0663", False, False),
        ("", False, False),
        ("1" * 19, True, False),
    ],
)
def test_what_is_told_by_its_shape(token: str, number: bool, key: bool) -> None:
    assert (is_number(token), is_id(token)) == (number, key)


def test_the_names_of_vectors_are_shared() -> None:
    assert vector("LM", 1) == ("LM",)
    assert vector("TM", 2) == ("TM[0]", "TM[1]")
    layouts = Layouts()
    first = layouts.share(vector("TM", 2))
    assert layouts.share(vector("TM", 2)) is first
    with pytest.raises(BadField) as caught:
        layouts.share(("F", "G", "F"))
    assert (caught.value.expected, caught.value.found) == ("each feature once", "'F' twice")
