"""Unchanged records are written as they were read, each on its own line."""

from __future__ import annotations

import io

import pytest

from smtformats import Rule
from smtformats.writing import own, write_each


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        ([], ""),
        (["a\n", "b\n"], "a\nb\n"),
        (["a", "b\n", "c"], "a\nb\nc"),
        (["a\r", "", "b\n"], "a\r\n\nb\n"),
    ],
)
def test_texts_without_a_line_end_get_one_before_the_next(texts: list[str], wanted: str) -> None:
    out = io.StringIO(newline="")
    assert write_each(iter(texts), out, str) == len(texts)
    assert out.getvalue() == wanted


def test_what_another_format_read_or_nobody_is_composed() -> None:
    read = Rule("X", ("a",), ("A",), raw="a ||| A\n", origin="homework-phrases")
    assert own(read, "homework-phrases") == "a ||| A\n"
    assert own(read, "cdec-grammar") is None
    assert own(read.with_features(("F",), (1.0,)), "homework-phrases") is None
