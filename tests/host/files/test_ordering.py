"""Sorting lists by id."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import smtplugins as smt
from smtformats.files import Lines
from smtformats.nbest.jsonl import parse
from smtplugins.contracts.errors import SmtError
from smtplugins.host.files.lists import as_stream, write_best
from smtplugins.host.files.ordering import in_order, lists_in_order


def ordered(ids: list[str]) -> list[str]:
    return list(in_order(ids, str, "x"))


@given(st.lists(st.integers(0, 30), unique=True), st.randoms())
def test_numbers_rise(numbers: list[int], chance: random.Random) -> None:
    chance.shuffle(numbers)
    assert ordered([str(number) for number in numbers]) == [str(number) for number in sorted(numbers)]


def test_what_is_next_goes_through_at_once() -> None:
    taken: list[str] = []

    def ids() -> list[str]:
        return ["0", "1", "3", "2", "5", "4"]

    stream = in_order((taken.append(number) or number for number in ids()), str, "x")
    assert [(next(stream), len(taken)) for _ in ids()] == [("0", 1), ("1", 2), ("2", 4), ("3", 4), ("4", 6), ("5", 6)]


def test_other_ids_stay_as_they_come() -> None:
    assert ordered(["b", "a", "c"]) == ["b", "a", "c"]
    for ids in (["b", "0"], ["0", "b"], ["2", "b"]):
        with pytest.raises(SmtError, match="x: expected ids that are all whole numbers, or none of them, found 'b'"):
            ordered(ids)


def test_each_once() -> None:
    for ids in (["0", "0"], ["3", "03"], ["1", "0", "1"]):
        with pytest.raises(SmtError, match=r"x: expected each id once, found 0?[013] again"):
            ordered(ids)


def test_lists_keep_what_they_hold() -> None:
    text = "".join(f'{{"id": {i}, "nbest": [{{"text": "{i}", "lm": 1, "score": {-i}}}]}}\n' for i in (4, 0, 2))
    lists = list(parse(Lines(io.BytesIO(text.encode()), "x")))
    assert list(lists_in_order(iter(lists))) == [lists[1], lists[2], lists[0]]
    # A format that is in order needs no second look.
    moses = [smt.candidates(["a"], id=key) for key in (2, 7)]
    for nbest in moses:
        nbest.origin = "moses-nbest"
    assert list(lists_in_order(moses)) == moses


def test_the_best_are_written_by_id(tmp_path: Path) -> None:
    lists = as_stream([smt.candidates([f"text {i}"], id=i) for i in (5, 1, 2)])
    out = tmp_path / "best"
    assert write_best(lists, out) == 3
    assert out.read_text() == "text 1\ntext 2\ntext 5\n"
    assert write_best(lists, out, fill=True) == 3
    assert out.read_text() == "\ntext 1\ntext 2\n\n\ntext 5\n"
    named = as_stream([smt.candidates([key], id=key) for key in ("b", "a")])
    assert write_best(named, out, fill=None) == 0
    assert out.read_text() == "b\na\n"
    with pytest.raises(SmtError, match="fill=True: expected whole numbers as ids, found 'b'; without it"):
        write_best(named, out, fill=True)
