"""Marian n-best lists: fields before the features, glued labels, empty hypotheses."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest

from smtformats import Candidates, FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.marian import FORMAT, parse, write

LISTS = """\
0 ||| the market opens early ||| 0-0 1-2 ||| WordScores= -0.5 -0.25 ||| F0= -8.157 Score= -1e-3 ||| -1.545
0 |||  |||  ||| WordScores= ||| F0= -9 Score= -2 ||| -9
2 ||| where is the key ? ||| 0-0 ||| WordScores= -1 ||| F0= -3.5 Score= 0 ||| -0.7
"""


def read(text: str) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


def written(lists: Iterable[Candidates]) -> str:
    out = io.StringIO()
    write(lists, out, shortest)
    return out.getvalue()


def test_lists() -> None:
    first, second = read(LISTS)
    assert (first.id, second.id) == ("0", "2")
    assert list(first.rows()) == [
        ("the market opens early", {"F0": -8.157, "Score": -0.001}, -1.545),
        ("", {"F0": -9, "Score": -2}, -9),
    ]
    assert first.extras == {"alignment": ["0-0 1-2", ""], "word_scores": ["-0.5 -0.25", ""]}
    assert list(second.rows()) == [("where is the key ?", {"F0": -3.5, "Score": 0}, -0.7)]
    assert (first.line, first.first, second.line, second.first) == (1, 0, 3, 2)
    assert written([first, second]) == LISTS


@pytest.mark.parametrize(
    ("line", "features", "extras"),
    [
        ("0 ||| a b ||| F0= -1.2 ||| -0.6\n", {"F0": -1.2}, {}),
        ("0 ||| a b ||| F0=-1.2 ||| -0.6\n", {"F0": -1.2}, {}),
        ("0 ||| a b |||  F0=-1.2 F1= .5\tF2=+1e-3 ||| -0.6", {"F0": -1.2, "F1": 0.5, "F2": 1e-3}, {}),
        ("0 ||| a b ||| F0= -1.2 Score= 1 2 ||| 0\r\n", {"F0": -1.2, "Score[0]": 1, "Score[1]": 2}, {}),
        ("0 ||| a b ||| 0-0 1-1 ||| F0= 1 ||| 0\n", {"F0": 1}, {"alignment": ["0-0 1-1"]}),
        ("0 ||| a b ||| 0.5,0.5 1,0 ||| F0= 1 ||| 0\n", {"F0": 1}, {"alignment": ["0.5,0.5 1,0"]}),
        ("0 ||| a b ||| WordScores= -1 -2 ||| F0= 1 ||| 0\n", {"F0": 1}, {"word_scores": ["-1 -2"]}),
        ("0 ||| a b ||| F0= 1 WordScores= -1 -2 ||| 0\n", {"F0": 1}, {"word_scores": ["-1 -2"]}),
        ("0 ||| a b ||| F0= 1 WordScores=-1 -2 F1=3 ||| 0\n", {"F0": 1, "F1": 3}, {"word_scores": ["-1 -2"]}),
        ("0 ||| a b ||| WordScores= -1 ||| 0-0 ||| LM= 1 ||| 0\n", {"LM": 1}, None),
    ],
)
def test_spellings(line: str, features: dict[str, float], extras: dict[str, list[str]] | None) -> None:
    (nbest,) = read(line)
    assert [row for _, row, _ in nbest.rows()] == [features]
    assert nbest.extras == (extras if extras is not None else {"word_scores": ["-1"], "alignment": ["0-0"]})
    assert written([nbest]) == line
    assert detect(line.encode(), all_formats(), "x").name == "marian-nbest"


def test_fields_may_be_there_for_some_hypotheses_alone() -> None:
    (nbest,) = read("0 ||| a ||| F0= 1 ||| 0\n0 ||| b ||| 0-0 ||| F0= 1 ||| 0\n0 ||| c ||| F0= 1 ||| 0\n")
    assert nbest.extras == {"alignment": ["", "0-0", ""]}


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_changes_touch_their_field_alone(end: str) -> None:
    text = f"0 ||| a ||| 0-0 ||| WordScores= -1 ||| F0=-1.20  ||| -0.60\n0 ||| b ||| F0= -2 ||| -1{end}"
    (nbest,) = read(text)
    wider = nbest.with_columns([("len", "v[0]", "v[1]")] * 2, [[1, 2, 3]] * 2)
    assert written([wider]) == text.replace("-1.20", "-1.20 len= 1 v= 2 3").replace("F0= -2", "F0= -2 len= 1 v= 2 3")
    rescored = nbest.with_totals([-0.1, 2])
    assert written([rescored]) == text.replace("-0.60", "-0.1").replace("||| -1" + end, "||| 2" + end)
    for changed in (wider, rescored):
        assert list(read(written([changed]))[0].rows()) == list(changed.rows())


def test_composed() -> None:
    nbest = Candidates(
        "7",
        ["a b", ""],
        [("LM0", "TM0[0]", "TM0[1]"), ("F[0]",)],
        [[-1.5, 1, 2], [5]],
        totals=[-0.1, 5],
        extras={"alignment": ["0-0", ""], "word_scores": ["-1 -2", ""], "tree": ["x", "y"]},
    )
    text = written([nbest])
    assert text == (
        "7 ||| a b ||| 0-0 ||| WordScores= -1 -2 ||| LM0= -1.5 TM0= 1 2 ||| -0.1\n"
        "7 |||  |||  ||| WordScores= ||| F[0]= 5 ||| 5\n"
    )
    (again,) = read(text)
    assert list(again.rows()) == list(nbest.rows())
    assert again.extras == {"alignment": ["0-0", ""], "word_scores": ["-1 -2", ""]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layouts": [("WordScores",)]}, "field 3: expected a feature name other than WordScores, found WordScores"),
        ({"layouts": [("WordScores[0]",)]}, "field 3: expected a feature name other than WordScores, found WordScores"),
        ({"layouts": [("a b",)]}, "field 3: expected a feature name without blanks, found 'a b'"),
        ({"extras": {"alignment": ["[S a]"]}}, "field 3: expected an alignment like 0-0 1-1, found '[S a]'"),
        ({"texts": ["a ||| b"]}, "field 2: expected a text without `|||` or a line break, found 'a ||| b'"),
        ({"totals": None}, "field 4: expected a total score (rescore the list with weights first), found none"),
        ({"id": "d"}, "field 1: expected a sentence id (a whole number), found 'd'"),
    ],
)
def test_what_cannot_be_written(change: dict[str, object], message: str) -> None:
    parts = {"id": "0", "texts": ["a"], "layouts": [("n",)], "values": [[1.0]], "totals": [1.0]} | change
    with pytest.raises(FormatError) as caught:
        written([Candidates(**parts, file="x", line=4)])  # type: ignore[arg-type]
    assert str(caught.value) == f"x:4: {message}"


GOOD = "0 ||| a ||| F0= -3 ||| -5\n"
SHAPE = "expected 4 to 6 fields, `id ||| text [||| alignment] [||| WordScores= ...] ||| features ||| total`, found"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("hello\n", f"1: field 1: {SHAPE} 1"),
        (GOOD + "\n", f"2: field 1: {SHAPE} 1"),
        (GOOD + "0 ||| a ||| F0= 1\n", f"2: field 4: {SHAPE} 3"),
        ("0 ||| a ||| 0-0 ||| 0-0 ||| 0-0 ||| F0= 1 ||| 1\n", f"1: field 7: {SHAPE} 7"),
        (
            "0 ||| a ||| 0-0 ||| 1-1 ||| F0= 1 ||| 1\n",
            "1: field 4: expected at most one alignment and one WordScores=, found",
        ),
        ("0 ||| a ||| x-y ||| F0= 1 ||| 1\n", "1: field 3: expected an alignment or WordScores=, found 'x-y'"),
        ("0 ||| a ||| F0= 1 ||| 1 ||| 0-0\n", "1: field 3: expected an alignment or WordScores=, found 'F0= 1'"),
        ("0 ||| a ||| WordScores= x ||| F0= 1 ||| 1\n", "1: field 3: expected a finite number, found 'x'"),
        ("0 ||| a ||| WordScores= nan ||| F0= 1 ||| 1\n", "1: field 3: expected a finite number, found 'nan'"),
        (
            "0 ||| a ||| WordScores= 1 ||| F0= 1 WordScores= 2 ||| 1\n",
            "1: field 4: expected at most one alignment and one WordScores=, found",
        ),
        ("0 ||| a ||| F0= nan ||| 1\n", "1: field 3: expected a finite number, found 'nan'"),
        ("0 ||| a ||| F0=nan ||| 1\n", "1: field 3: expected a finite number, found 'F0=nan'"),
        ("0 ||| a ||| F0= ||| 1\n", "1: field 3: expected a number after the label, found 'F0=' alone"),
        ("0 ||| a ||| 0-0 ||| F0= 1 F0= 2 ||| 1\n", "1: field 4: expected each feature once, found 'F0' twice"),
        ("0 ||| a ||| 0-0 ||| F0= 1 ||| x\n", "1: field 5: expected a number as total score, found 'x'"),
        ("0 ||| a ||| F0= 1 ||| nan\n", "1: field 4: expected a number as total score, found 'nan'"),
        ("x ||| a ||| F0= 1 ||| 1\n", "1: field 1: expected a sentence id (a whole number), found 'x'"),
        ("5 ||| a ||| F0= 1 ||| 1\n" + GOOD, "2: field 1: expected an id after 5 (ids ascend), found '0'"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind) == ("marian-nbest", "nbest")
