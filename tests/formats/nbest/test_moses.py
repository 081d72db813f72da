"""Moses n-best lists in all spellings."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest

from smtformats import Candidates, FormatError
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.moses import FORMAT, parse, vectors, write

PHRASE = """\
0 ||| the market opens early  ||| LexicalReordering0= -1.5 0 0 Distortion0= -2 LM0= -20.25 TM0= -1 -2.5 ||| -7.125
0 ||| the market opens soon  ||| LexicalReordering0= -1 0 -3 Distortion0= 0 LM0= -21 TM0= -1 -2 ||| -8
2 ||| where is the key ?  ||| LexicalReordering0= 0 0 0 Distortion0= 0 LM0= -9 TM0= -3 -4e-05 ||| 1e-3
"""


def read(text: str) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


def written(lists: Iterable[Candidates]) -> str:
    out = io.StringIO()
    write(lists, out, shortest)
    return out.getvalue()


def rows(text: str) -> list[tuple[str, dict[str, float], float | None]]:
    return [row for nbest in read(text) for row in nbest.rows()]


def test_phrase_based() -> None:
    first, second = read(PHRASE)
    assert (first.id, second.id) == ("0", "2")
    assert first.texts == ["the market opens early", "the market opens soon"]
    names = (
        *(f"LexicalReordering0[{k}]" for k in range(3)),
        "Distortion0",
        "LM0",
        "TM0[0]",
        "TM0[1]",
    )
    assert first.layouts == [names, names]
    assert first.layouts[0] is first.layouts[1] is second.layouts[0]
    assert first.values == [[-1.5, 0, 0, -2, -20.25, -1, -2.5], [-1, 0, -3, 0, -21, -1, -2]]
    assert first.totals == [-7.125, -8]
    assert second.values == [[0, 0, 0, 0, -9, -3, -4e-05]]
    assert second.totals == [1e-3]
    assert (first.line, first.first, second.line, second.first) == (1, 0, 3, 2)
    assert (first.file, first.origin, first.raw) == ("x", "moses-nbest", PHRASE.splitlines(keepends=True)[:2])


@pytest.mark.parametrize(
    ("line", "text", "features"),
    [
        ("0 ||| a b  |||  LM0= -3 W0= -2 ||| -5\n", "a b", {"LM0": -3, "W0": -2}),
        ("0 ||| a  ||| d: 0 -1.5 lm: -3 w: 1 ||| -5\n", "a", {"d[0]": 0, "d[1]": -1.5, "lm": -3, "w": 1}),
        ("0 |||a b ||| map: 0 w: 2 1.5 ||| 0.5\n", "a b", {"map": 0, "w[0]": 2, "w[1]": 1.5}),
        ("0 ||| a  ||| -1 0 2.5 ||| 0\n", "a", {"F[0]": -1, "F[1]": 0, "F[2]": 2.5}),
        ("0 ||| a  ||| -1 0 tm_po= 2.5 ||| 0\n", "a", {"F[0]": -1, "F[1]": 0, "tm_po": 2.5}),
        ("0 ||| a  ||| 7 ||| 0\n", "a", {"F[0]": 7}),
        ("0 ||| a  |||  ||| 0\n", "a", {}),
        ("0 |||  ||| LM0= -3 ||| 0\n", "", {"LM0": -3}),
        ("0 ||| a=b c: | x  ||| LM0= -3 ||| 0\n", "a=b c: | x", {"LM0": -3}),
        ("0 ||| a\u00a0b\u2028c\td  ||| LM0= -3 ||| 0\n", "a\u00a0b\u2028c\td", {"LM0": -3}),
        ("0 ||| a  ||| Grün\u00a0x= -3 \t A=b= 1 ||| 0\n", "a", {"Grün\u00a0x": -3, "A=b": 1}),
        ("0 ||| a  ||| LM0= +.5 1. -2E+3 ||| 0", "a", {"LM0[0]": 0.5, "LM0[1]": 1, "LM0[2]": -2000}),
    ],
)
def test_spellings(line: str, text: str, features: dict[str, float]) -> None:
    assert rows(line) == [(text, features, read(line)[0].totals[0])]  # type: ignore[index]
    assert written(read(line)) == line


def test_labels_may_change_from_line_to_line() -> None:
    lines = [
        "0 ||| a ||| A= 1 2 B= 3 ||| 0\n",
        "0 ||| b ||| A= 1 2 B= 4 ||| 0\n",
        "0 ||| c ||| A= 1 B= 2 3 ||| 0\n",
        "0 ||| d ||| A= 1 2 C= 3 ||| 0\n",
        "0 ||| e ||| A= 1 2 B= 5 ||| 0\n",
    ]
    assert [list(features.items()) for _, features, _ in rows("".join(lines))] == [
        [("A[0]", 1), ("A[1]", 2), ("B", 3)],
        [("A[0]", 1), ("A[1]", 2), ("B", 4)],
        [("A", 1), ("B[0]", 2), ("B[1]", 3)],
        [("A[0]", 1), ("A[1]", 2), ("C", 3)],
        [("A[0]", 1), ("A[1]", 2), ("B", 5)],
    ]


@pytest.mark.parametrize("total", ["inf", "-inf"])
def test_infinite_total(total: str) -> None:
    (nbest,) = read(f"0 ||| a ||| LM0= 1 ||| {total}\n")
    assert nbest.totals == [float(total)]
    assert written([nbest.with_totals([float(total)])]) == f"0 ||| a ||| LM0= 1 ||| {total}\n"


def test_extras() -> None:
    text = (
        "0 ||| a b  ||| LM0= -3 ||| -5 ||| 0-1=0 2=1 ||| 0-0 1-0 2-1 \n"
        "0 ||| c  ||| LM0= -3 ||| -5\n"
        "0 ||| d  ||| LM0= -3 ||| -5 ||| [S [X d]]\n"
        "0 ||| e  ||| LM0= -3 ||| -5 ||| 0-0  ||| [S [X e]]\n"
        "0 |||   ||| LM0= -3 ||| -5 |||  ||| \n"
        "1 ||| f  ||| LM0= -3 ||| -5 ||| ein wort \n"
    )
    first, second = read(text)
    assert first.extras == {
        "segmentation": ["0-1=0 2=1", "", "", "", ""],
        "alignment": ["0-0 1-0 2-1", "", "", "0-0", ""],
        "tree": ["", "", "[S [X d]]", "[S [X e]]", ""],
    }
    assert second.extras == {"input": ["ein wort"]}
    assert written([first, second]) == text
    assert first.select([3, 1]).extras["alignment"] == ["0-0", ""]


def test_untouched_lines_are_copied() -> None:
    odd = PHRASE.replace("LM0= -20.25", "LM0=   -20.250 ").replace("-7.125", " -7.1250 ")
    for text in (PHRASE, odd, odd[:-1], odd.replace("\n", "\r\n")):
        assert written(read(text)) == text


def test_new_columns_change_the_features_alone() -> None:
    text = (
        "0 ||| a  ||| LM0= -3  ||| -5 ||| 0-0 \n"
        "0 ||| b  |||  ||| -6\n"
        "0 ||| c  ||| d: 1 2 ||| -6.0\n"
        "1 ||| d  ||| -1 -2 ||| -7\r\n"
        "1 |||e ||| map: 0 w: 2 ||| -8"
    )
    lists = [
        nbest.with_columns([("len", "v[0]", "v[1]")] * len(nbest), [[1, 2, 0.5]] * len(nbest)) for nbest in read(text)
    ]
    assert written(lists) == (
        "0 ||| a  ||| LM0= -3 len= 1 v= 2 0.5  ||| -5 ||| 0-0 \n"
        "0 ||| b  ||| len= 1 v= 2 0.5 ||| -6\n"
        "0 ||| c  ||| d: 1 2 len: 1 v: 2 0.5 ||| -6.0\n"
        "1 ||| d  ||| -1 -2 len= 1 v= 2 0.5 ||| -7\r\n"
        "1 |||e ||| map: 0 w: 2 len: 1 v: 2 0.5 ||| -8"
    )
    assert [list(nbest.rows()) for nbest in read(written(lists))] == [list(nbest.rows()) for nbest in lists]


def test_new_totals_change_the_total_alone() -> None:
    text = "0 ||| a  ||| LM0=  -3 ||| -5.00 ||| 0-0 \n0 ||| b  ||| LM0= -4 ||| -6 \r\n"
    (nbest,) = read(text)
    assert written([nbest.with_totals([-0.1, 2.0])]) == text.replace("-5.00", "-0.1").replace("-6", "2")


def test_selection_moves_lines() -> None:
    text = PHRASE[:-1]
    first, second = read(text)
    lines = text.split("\n")
    assert written([first.select([1, 0]), second]) == "\n".join([lines[1], lines[0], lines[2]])
    assert written([first.select([]), second]) == lines[2]
    (later,) = read(f"7{lines[1][1:]}\n")
    assert written([second, later]) == "\n".join([lines[2], f"7{lines[1][1:]}", ""])
    (whole,) = read("0 ||| a ||| F0= 1 ||| 1\n0 ||| b ||| F0= 1 ||| 1")
    assert written([whole.select([1, 0])]) == "0 ||| b ||| F0= 1 ||| 1\n0 ||| a ||| F0= 1 ||| 1\n"
    assert written([whole, whole.select([]), second]).count("\n") == 2


def test_ids_ascend() -> None:
    first, second = read("0 ||| a ||| F0= 1 ||| 1\n3 ||| b ||| F0= 1 ||| 1\n")
    with pytest.raises(FormatError, match=r"^x:1: field 1: expected an id after 3, the id at x:2 \(ids .*, found '0'$"):
        written([second, first])
    composed = Candidates(id="3", texts=["a"], layouts=[()], values=[[]], totals=[0.0])
    with pytest.raises(FormatError, match=r"<data>:1: field 1: expected an id after 3, the id at x:2 .*, found '3'$"):
        written([first, second, composed])


def test_composed() -> None:
    nbest = Candidates(
        id="7",
        texts=["a b", ""],
        layouts=[("LM0", "TM0[0]", "TM0[1]", "x[2]", "A=b"), ("F[0]", "F[1]", "LM0")],
        values=[[-1.5, 1, 2, 3, 0], [1, 2, 3]],
        totals=[-0.1, 5],
        extras={"alignment": ["0-0", ""], "source_length": ["1", "1"]},
    )
    text = written([nbest])
    assert text == (
        "7 ||| a b  ||| LM0= -1.5 TM0= 1 2 x[2]= 3 A=b= 0 ||| -0.1 ||| 0-0 \n7 |||   ||| 1 2 LM0= 3 ||| 5 |||  \n"
    )
    (again,) = read(text)
    assert list(again.rows()) == list(nbest.rows())
    assert again.extras["alignment"] == ["0-0", ""]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"texts": ["a ||| b"]}, "x:4: field 2: expected a text without `|||` or a line break, found 'a ||| b'"),
        ({"texts": ["a\nb"]}, r"x:4: field 2: expected a text without `|||` or a line break, found 'a\nb'"),
        ({"layouts": [("a b",)]}, "x:4: field 3: expected a feature name without blanks, found 'a b'"),
        ({"layouts": [("",)]}, "x:4: field 3: expected a feature name without blanks, found ''"),
        ({"id": "doc1"}, "x:4: field 1: expected a sentence id (a whole number), found 'doc1'"),
        (
            {"totals": None},
            "x:4: field 4: expected a total score (rescore the list with weights first), found none",
        ),
    ],
)
def test_what_cannot_be_written(change: dict[str, object], message: str) -> None:
    parts = {"id": "0", "texts": ["a"], "layouts": [("n",)], "values": [[1.0]], "totals": [1.0]} | change
    with pytest.raises(FormatError) as caught:
        written([Candidates(**parts, file="x", line=4)])  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_vectors() -> None:
    layout = ("a[0]", "a[1]", "b", "c[1]", "c[0]", "d[0]", "d[1]", "d[3]", "d")
    assert list(vectors(layout)) == [
        ("a", 0, 2),
        ("b", 2, 3),
        ("c[1]", 3, 4),
        ("c[0]", 4, 5),
        ("d", 5, 7),
        ("d[3]", 7, 8),
        ("d", 8, 9),
    ]


GOOD = "0 ||| a  ||| LM0= -3 ||| -5\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("hello\n", "1: field 1: expected `id ||| text ||| features ||| total`: the id, found the end of the line"),
        (GOOD + "\n" + GOOD, "2: field 1: expected `id ||| text ||| features ||| total`: the id,"),
        (GOOD + "0 ||| a\n", "2: field 3: expected `id ||| text ||| features ||| total`: the features,"),
        (GOOD + "0 ||| a ||| LM0= 1\n", "2: field 4: expected `id ||| text ||| features ||| total`: the total score,"),
        ("0 ||| a ||| LM0= -3 ||| x\n", "1: field 4: expected a number as total score, found 'x'"),
        ("0 ||| a ||| LM0= -3 ||| \n", "1: field 4: expected a number as total score, found ''"),
        ("0 ||| a ||| LM0= -3 ||| nan\n", "1: field 4: expected a number as total score, found 'nan'"),
        ("0 ||| a ||| LM0= -3 ||| -5\u00a0\n", r"1: field 4: expected a number as total score, found '-5\xa0'"),
        ("0 ||| a ||| LM0= nan ||| -5\n", "1: field 3: expected a finite number, found 'nan'"),
        ("0 ||| a ||| LM0= 1 inf ||| -5\n", "1: field 3: expected a finite number, found 'inf'"),
        ("0 ||| a ||| LM0= -1e999 ||| -5\n", "1: field 3: expected a finite number, found '-1e999'"),
        ("0 ||| a ||| LM0= 1_0 ||| -5\n", "1: field 3: expected a finite number, found '1_0'"),
        ("0 ||| a ||| LM0= 0x10 ||| -5\n", "1: field 3: expected a finite number, found '0x10'"),
        ("0 ||| a ||| LM0= ٣ ||| -5\n", "1: field 3: expected a finite number, found '٣'"),
        ("0 ||| a ||| LM0= -3 junk ||| -5\n", "1: field 3: expected a finite number, found 'junk'"),
        ("0 ||| a ||| LM0= TM0= 1 ||| -5\n", "1: field 3: expected a number after the label, found 'LM0=' alone"),
        ("0 ||| a ||| LM0= 1 TM0= ||| -5\n", "1: field 3: expected a number after the label, found 'TM0=' alone"),
        ("0 ||| a ||| = 1 ||| -5\n", "1: field 3: expected a finite number, found '='"),
        ("0 ||| a ||| A= 1 B= 2 A= 3 ||| -5\n", "1: field 3: expected each feature once, found 'A' twice"),
        (GOOD + "0 ||| a ||| LM0= -3 ||| -5_0\n", "2: field 4: expected a number as total score, found '-5_0'"),
        ("5 ||| a ||| LM0= 1 ||| 1\n" + GOOD, "2: field 1: expected an id after 5 (ids ascend), found '0'"),
        (GOOD + "00 ||| a ||| LM0= 1 ||| 1\n", "2: field 1: expected an id after 0 (ids ascend), found '00'"),
        ("x ||| a ||| LM0= 1 ||| 1\n", "1: field 1: expected a sentence id (a whole number), found 'x'"),
        ("-1 ||| a ||| LM0= 1 ||| 1\n", "1: field 1: expected a sentence id (a whole number), found '-1'"),
        ("² ||| a ||| LM0= 1 ||| 1\n", "1: field 1: expected a sentence id (a whole number), found '²'"),
        ("9" * 5000 + GOOD, "1: field 1: expected a sentence id (a whole number), found '99999"),
        (GOOD + "trailing words\n", "2: field 1: expected `id ||| text ||| features ||| total`: the id,"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_good_lists_come_before_the_bad_line() -> None:
    stream = parse(Lines(io.BytesIO((PHRASE + "bad\n").encode()), "x"))
    assert next(stream).id == "0"
    with pytest.raises(FormatError, match="x:4: field 1"):
        next(stream)


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind) == ("moses-nbest", "nbest")
