"""N-best lists without totals, of homework and of toolkits that write a score or no features."""

from __future__ import annotations

import io

import pytest

from smtformats import Candidates, FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.plain import FORMAT, parse


def read(text: str) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            "0 ||| a b ||| p(e)=-30.1 p(e|f)=-2 \n0 |||  ||| p(e)=1e-3\n",
            [("a b", {"p(e)": -30.1, "p(e|f)": -2}), ("", {"p(e)": 1e-3})],
        ),
        ("0 ||| a b ||| -1.25\r\n", [("a b", {"score": -1.25})]),
        ("0 ||| a b ||| -1.25 2 +.5", [("a b", {"score[0]": -1.25, "score[1]": 2, "score[2]": 0.5})]),
        ("0 ||| a b ||| -1.25 lm=-3\n", [("a b", {"score": -1.25, "lm": -3})]),
        ("0 ||| a b\n0 ||| c\u2028\n0 ||| \n", [("a b", {}), ("c\u2028", {}), ("", {})]),
        ("0 ||| a b ||| \n", [("a b", {})]),
        ("0 ||| a b \r\n", [("a b", {})]),
    ],
)
def test_lists(text: str, rows: list[tuple[str, dict[str, float]]]) -> None:
    (nbest,) = read(text)
    assert [(hyp, features) for hyp, features, _ in nbest.rows()] == rows
    assert nbest.totals is None
    assert detect(text.encode(), all_formats(), "x").name == "plain-nbest"


def test_several_lists() -> None:
    first, second = read("0 ||| a ||| f=1\n0 ||| b ||| f=2\n7 ||| c ||| f=3\n")
    assert [(nbest.id, nbest.line, nbest.first, len(nbest)) for nbest in (first, second)] == [
        ("0", 1, 0, 2),
        ("7", 3, 2, 1),
    ]
    assert first.layouts[0] is second.layouts[0]


def test_conversion() -> None:
    records = {record.name: record for record in all_formats()}
    lists = [nbest.with_totals([1.5]) for nbest in read("0 ||| a ||| -1.25 lm=-3\n")]
    for name in ("moses-nbest", "cdec-nbest", "joshua-nbest", "jsonl-nbest"):
        record, out = records[name], io.StringIO()
        assert record.parse is not None
        assert record.write is not None
        record.write(lists, out, shortest)
        (again,) = record.parse(Lines(io.BytesIO(out.getvalue().encode()), "x"))
        assert list(again.rows()) == [("a", {"score": -1.25, "lm": -3}, 1.5)]


GOOD = "0 ||| a ||| f=1\n"
SHAPE = "fields, `id ||| text [||| features]`, found"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("hello\n", f"1: field 1: expected 2 or 3 {SHAPE} 1"),
        (GOOD + "\n", f"2: field 1: expected 2 or 3 {SHAPE} 1"),
        (GOOD + "0 ||| a ||| f=1 ||| 5\n", f"2: field 4: expected 2 or 3 {SHAPE} 4"),
        ("x ||| a ||| f=1\n", "1: field 1: expected a sentence id (a whole number), found 'x'"),
        ("5 ||| a ||| f=1\n" + GOOD, "2: field 1: expected an id after 5 (ids ascend), found '0'"),
        ("0 ||| a ||| f=x\n", "1: field 3: expected a finite number, found 'x'"),
        ("0 ||| a ||| f=nan\n", "1: field 3: expected a finite number, found 'nan'"),
        ("0 ||| a ||| f=1 f=2\n", "1: field 3: expected each feature once, found 'f' twice"),
        ("0 ||| a ||| f=1 2\n", "1: field 3: expected name=value, found '2'"),
        ("0 ||| a ||| x\n", "1: field 3: expected a finite number or name=value, found 'x'"),
        ("0 ||| a ||| -inf\n", "1: field 3: expected a finite number or name=value, found '-inf'"),
        ("0 ||| a ||| 1 score=2\n", "1: field 3: expected each feature once, found 'score' twice"),
        ("0 ||| a ||| =2\n", "1: field 3: expected name=value, found '=2'"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


@pytest.mark.parametrize(
    ("head", "known"),
    [
        ("0 ||| a ||| F0=1\n0 ||| b ||| F0=2\n1 ||| c ||| F0=x", True),
        ("5 ||| five\n1 ||| one\n", False),
        ("0 ||| a ||| f=1\n0 ||| a\n", False),
        ("0 ||| a ||| f= 1\n", False),
        ("0 ||| a ||| f=1 ||| 5\n", False),
        ("x ||| a\n", False),
        ("", False),
    ],
)
def test_shape(head: str, known: bool) -> None:
    assert FORMAT.matches(head.encode()) is known


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind, FORMAT.write) == ("plain-nbest", "nbest", None)
