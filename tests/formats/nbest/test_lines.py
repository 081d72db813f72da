"""Texts only, N lines for each source, with or without a file of scores."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats import Candidates, FormatError
from smtformats.files import Lines
from smtformats.nbest.lines import FORMAT, parse

TEXT = "a man\nthe man\n a\u2028b \n\n"


def read(text: str, n: int = 2, scores: Path | None = None) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), n=n, scores=scores))


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return tmp_path / "scores"


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n")])
def test_lists(text: str) -> None:
    first, second = read(text)
    assert list(first.rows()) == [("a man", {}, None), ("the man", {}, None)]
    assert list(second.rows()) == [(" a\u2028b ", {}, None), ("", {}, None)]
    assert [(nbest.id, nbest.line, nbest.first) for nbest in (first, second)] == [("0", 1, 0), ("1", 3, 2)]
    assert [nbest.texts for nbest in read("a\nb", 1)] == [["a"], ["b"]]


def test_scores(scores: Path) -> None:
    scores.write_text("-1\n-2.5 7\n-3\n-4\n")
    first, second = read(TEXT, scores=scores)
    assert list(first.rows()) == [("a man", {"score": -1}, -1), ("the man", {"score[0]": -2.5, "score[1]": 7}, -2.5)]
    assert second.totals == [-3, -4]
    assert first.layouts[0] is second.layouts[0]


def test_options_on_the_command_line(tmp_path: Path, scores: Path) -> None:
    scores.write_text("-1\n-2\n-3\n-0.5\n")
    (tmp_path / "lines").write_text("a\nb\nc\nd\n")
    lists = smt.read(tmp_path / "lines", format=f"lines,n=2,scores={scores}")
    assert lists.best() == ["a", "d"]


@pytest.mark.parametrize(
    ("text", "n", "numbers", "message"),
    [
        ("", 2, None, "x:1: field 1: expected an n-best list, found no hypothesis in the file"),
        (
            "a\nb\n",
            0,
            None,
            "x:1: expected the number of lines in each list, at least 1, as in lines-nbest,n=4, found 0",
        ),
        (
            "a\nb\n",
            -1,
            None,
            "x:1: expected the number of lines in each list, at least 1, as in lines-nbest,n=4, found -1",
        ),
        ("a\nb\nc\n", 2, None, "x:3: field 1: expected 1 more lines (each list has 2), found the end of the file"),
        ("a\n", 4, None, "x:1: field 1: expected 3 more lines (each list has 4), found the end of the file"),
        (
            "a\nb\n",
            2,
            "1\n",
            "{s}:1: field 1: expected a line of numbers for each hypothesis, found the end of the file",
        ),
        ("a\nb\n", 2, "1\n2\n3\n", "{s}:3: field 1: expected 2 lines, as x has, found more"),
        ("a\nb\n", 2, "1\n2\n\n", "{s}:3: field 1: expected 2 lines, as x has, found more"),
        ("a\nb\n", 2, "1\n\n", "{s}:2: field 1: expected a finite number, found none"),
        ("a\nb\n", 2, "1\nx\n", "{s}:2: field 1: expected a finite number, found 'x'"),
        ("a\nb\n", 2, "nan\n2\n", "{s}:1: field 1: expected a finite number, found 'nan'"),
        ("a\nb\n", 2, "1 -inf\n2\n", "{s}:1: field 1: expected a finite number, found '-inf'"),
    ],
)
def test_bad_input(scores: Path, text: str, n: int, numbers: str | None, message: str) -> None:
    if numbers is not None:
        scores.write_text(numbers)
    with pytest.raises(FormatError) as caught:
        read(text, n, None if numbers is None else scores)
    assert str(caught.value) == message.format(s=scores)


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind, FORMAT.write) == ("lines-nbest", "nbest", None)
    assert not FORMAT.matches(TEXT.encode())


NEMO = "a man with a hat\t-4.25\nthe man with a hat\t-5.5\na dog\t-1\n\t-1\n"


def test_scores_behind_tabs() -> None:
    first, second = read(NEMO, scores=Path("tab"))
    assert list(first.rows()) == [
        ("a man with a hat", {"score": -4.25}, -4.25),
        ("the man with a hat", {"score": -5.5}, -5.5),
    ]
    assert (second.id, second.texts, second.totals, second.line, second.first) == ("1", ["a dog", ""], [-1, -1], 3, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x:1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("a\n", "x:1: field 1: expected a text, a tab and a score, found 'a'"),
        ("a\tb\n", "x:1: field 2: expected a finite number, found 'b'"),
        (
            "a\t-2\nb\t-1\n",
            "x:2: field 2: expected scores that fall within a list of 2 lines, as .*, found -1 after -2.0",
        ),
        (NEMO + "a\t-1\n", r"x:5: field 1: expected 1 more lines \(each list has 2\), found the end of the file"),
    ],
)
def test_bad_scores_behind_tabs(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(text, scores=Path("tab"))
