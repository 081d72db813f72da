"""The texts of n-best lists."""

from __future__ import annotations

import io

import pytest

from smtformats import Candidates, FormatError
from smtformats.format import shortest
from smtformats.nbest.text import FORMAT, write


def test_each_text_on_a_line() -> None:
    lists = [
        Candidates("0", ["a b", "", "c\u2028d\u00a0e\tf"], [()] * 3, [[]] * 3, totals=[1, 2, 3]),
        Candidates("1", [], [], []),
        Candidates("9", ["z"], [()], [[]]),
    ]
    out = io.StringIO()
    assert write(iter(lists), out, shortest) == 3
    assert out.getvalue() == "a b\n\nc\u2028d\u00a0e\tf\nz\n"


def test_a_text_of_two_lines_is_an_error() -> None:
    with pytest.raises(FormatError) as caught:
        write([Candidates("0", ["a\nb"], [()], [[]], file="x", line=4)], io.StringIO(), shortest)
    expected = "a text without a line break (--to tsv or jsonl keeps it)"
    assert str(caught.value) == rf"x:4: expected {expected}, found 'a\nb'"


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind, FORMAT.parse) == ("text-nbest", "nbest", None)
