"""Errors name the place and the problem, and can be pickled."""

from __future__ import annotations

import pickle

import pytest

from smtformats import FormatError
from smtformats.errors import first_of, quote


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FormatError("a", "b", file="x", line=3, field=2), "x:3: field 2: expected a, found b"),
        (FormatError("a", "b", file="x", line=3), "x:3: expected a, found b"),
        (FormatError("a", "b", file="x"), "x: expected a, found b"),
        (FormatError("a", "b"), "<data>: expected a, found b"),
    ],
)
def test_prints_its_place(error: FormatError, text: str) -> None:
    assert str(error) == text
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == text
    assert (again.file, again.line, again.field) == (error.file, error.line, error.field)


def test_quote_escapes_and_cuts() -> None:
    assert quote("a\nb\x1b") == r"'a\nb\x1b'"
    assert quote("x" * 60) == repr("x" * 60)
    assert quote("x" * 61) == repr("x" * 57 + "...")


def test_the_first_of_some_names() -> None:
    assert [first_of("abc"[:n], 2) for n in range(4)] == ["", "a", "a, b", "a, b and 1 more"]
