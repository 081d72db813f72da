"""cdec's lists for MapReduce MIRA: a size before each list, features in base64, blank lines after it."""

from __future__ import annotations

import base64
import io
import struct
from collections.abc import Iterable, Mapping

import pytest

from smtformats import Candidates, FormatError
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.cdec_mira import FORMAT, parse, write


def raw(features: Mapping[str, float]) -> bytes:
    return b"".join(name.encode() + b"\0" + struct.pack("<d", value) for name, value in features.items())


def cdec(features: Mapping[str, float] | bytes) -> str:
    """Encode as cdec does: a remainder of two bytes loses the low half of the second."""
    data = features if isinstance(features, bytes) else raw(features)
    whole = len(data) - len(data) % 3
    rest = data[whole:]
    if len(rest) == 2:
        rest = bytes([rest[0]])
        tail = base64.b64encode(bytes([data[whole], data[whole + 1] & 0xF0]))[:2] + b"=="
    else:
        tail = base64.b64encode(rest)
    return (base64.b64encode(data[:whole]) + tail).decode()


A = {"WordPenalty": -1.7371779276130073, "LanguageModel": -8.25, "LM0": -0.1}
B = {"Glue": 2.0, "LanguageModel": -9.0}
LISTS = f"""\
3
0 ||| 4 ||| the market opens early ||| {cdec(A)} ||| -7.125
0 ||| 4 ||| the market soon opens ||| {cdec(B)} ||| -8


1
2 ||| 0 |||  |||  ||| 1e-3
"""
PADDED = LISTS.replace("\n\n\n", "\n\n")


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
        ("the market opens early", A, -7.125),
        ("the market soon opens", B, -8),
    ]
    assert list(second.rows()) == [("", {}, 1e-3)]
    assert first.extras == {"source_length": ["4", "4"]}
    assert (first.line, first.first, second.line, second.first) == (2, 0, 7, 2)
    assert (first.before, first.after, second.before, second.after) == ("3\n", "\n", "\n1\n", "")
    assert written([first, second]) == LISTS


@pytest.mark.parametrize(
    "text",
    [
        PADDED,
        PADDED[:-1],
        PADDED.replace("\n", "\r\n"),
        "\n\n" + PADDED,
        "0\n" + PADDED + "2\n\n\n\n0\n",
        PADDED + "\n",
        PADDED.replace("the", "\u00a0t\u2028h\te\x85"),
        PADDED.replace(" -7.125", "  -7.1250 ").replace("3\n0", " 3 \n0"),
    ],
)
def test_untouched_lists_are_copied(text: str) -> None:
    lists = read(text)
    assert [nbest.id for nbest in lists] == ["0", "2"]
    assert written(lists) == text


@pytest.mark.parametrize("length", range(1, 7))
@pytest.mark.parametrize("value", [-15.5, 3.0, 0.7, -1.0, 1e-300, 200000.0])
def test_encodings_of_every_length(length: int, value: float) -> None:
    data = raw({"n" * length: value})
    (nbest,) = read(f"1\n0 ||| 1 ||| a ||| {cdec(data)} ||| 0\n")
    high = data[-1]
    lost = len(data) % 3 == 2 and high & 0x0F
    # cdec's own reader decodes the same bytes without the half that was dropped.
    seen = struct.unpack("<d", data[-9:][1:8] + bytes([high & 0xF0 if lost else high]))[0]
    assert nbest.values == [[seen]]
    assert (seen == value) == (not lost)
    # Standard base64 keeps that half and is read completely.
    (whole,) = read(f"1\n0 ||| 1 ||| a ||| {base64.b64encode(data).decode()} ||| 0\n")
    assert whole.values == [[value]]
    # Our output loses nothing, even if features were added to a field of cdec's.
    more = nbest.with_columns([("m",)], [[0.3]])
    (again,) = read(written([more]))
    assert list(again.rows()) == list(more.rows())


def test_new_columns_change_the_features_alone() -> None:
    lists = [nbest.with_columns([("len", "v[0]")] * len(nbest), [[1, -0.0]] * len(nbest)) for nbest in read(PADDED)]
    new = {"len": 1, "v[0]": -0.0}
    wanted = PADDED.replace("|||  ||| 1e-3", f"||| {base64.b64encode(raw(new)).decode()} ||| 1e-3")
    for old in (A, B):
        wanted = wanted.replace(cdec(old), base64.b64encode(raw(old | new)).decode())
    assert written(lists) == wanted
    assert [list(nbest.rows()) for nbest in read(wanted)] == [list(nbest.rows()) for nbest in lists]


def test_new_totals_change_the_total_alone() -> None:
    first, second = read(PADDED)
    assert written([first.with_totals([-0.1, 2.0]), second]) == PADDED.replace("-7.125", "-0.1").replace("-8", "2")


def test_a_shorter_list_gets_its_new_size() -> None:
    text = "\n3\r\n" + PADDED[2:] + "0\n"
    first, second = read(text)
    line = PADDED.split("\n")[2]
    assert written([first.select([1]), second]) == f"\n1\r\n{line}\n1\n2 ||| 0 |||  |||  ||| 1e-3\n0\n"
    assert written([first.select([1, 0])]).startswith("\n3\r\n" + line)
    assert [len(nbest) for nbest in read(written([first.select([1, 0, 0, 1]), second.select([])]) + PADDED[:0])] == [4]


def test_composed() -> None:
    nbest = Candidates("7", ["a b", ""], [("F", "a b=c"), ()], [[-1.5, 0], []], totals=[-0.1, 5], before="lost\n")
    text = written([nbest])
    field = base64.b64encode(raw({"F": -1.5, "a b=c": 0.0})).decode()
    assert text == f"2\n7 ||| 0 ||| a b ||| {field} ||| -0.1\n7 ||| 0 |||  |||  ||| 5\n"
    (again,) = read(text)
    assert list(again.rows()) == list(nbest.rows())


def test_source_length_is_kept_or_counted() -> None:
    nbest = Candidates("7", ["a"], [()], [[]], totals=[1], source="das \u00a0 haus\tist")
    assert written([nbest]) == "1\n7 ||| 4 ||| a |||  ||| 1\n"
    nbest.extras["source_length"] = ["9"]
    assert written([nbest]) == "1\n7 ||| 9 ||| a |||  ||| 1\n"


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_names_that_cannot_be_written(name: str) -> None:
    nbest = Candidates("0", ["a"], [(name,)], [[1.0]], totals=[1.0], file="x", line=3)
    with pytest.raises(FormatError, match="x:3: field 4: expected a feature name without NUL"):
        written([nbest])


def line(field: str, key: str = "0") -> str:
    return f"{key} ||| 1 ||| a ||| {field} ||| -5\n"


def standard(data: bytes) -> str:
    return base64.b64encode(data).decode()


GOOD = "1\n" + line(cdec(B))
FIELDS = "expected 5 fields, `id ||| source length ||| text ||| features in base64 ||| score`, found"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("\n2\n\n\n", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        (line(""), "1: field 1: expected the number of lines of the next list, found '0 ||| 1 ||| a"),
        ("-1\n", "1: field 1: expected the number of lines of the next list, found '-1'"),
        ("9" * 5000 + "\n", "1: field 1: expected the number of lines of the next list, found '999"),
        (GOOD + "garbage\n", "3: field 1: expected the number of lines of the next list, found 'garbage'"),
        (
            "3\n" + line(""),
            "2: field 1: expected 2 more lines of the list (by its size), found the end of the file",
        ),
        ("3\n" + line("") + "\n" + line(""), "4: field 1: expected no hypothesis after the blank lines of a list"),
        ("2\n\n" + line(""), "3: field 1: expected no hypothesis after the blank lines of a list, found '0'"),
        (
            "3\n" + line("") + line("", "1"),
            "3: field 1: expected 2 more lines of the list (by its size), found id '1'",
        ),
        (GOOD + GOOD, "4: field 1: expected an id after 0 (ids ascend), found '0'"),
        ("1\n" + line("", "5") + GOOD, "4: field 1: expected an id after 5 (ids ascend), found '0'"),
        ("1\n" + line("", "x"), "2: field 1: expected a sentence id (a whole number), found 'x'"),
        ("1\nhello\n", f"2: field 1: {FIELDS} 1"),
        ("1\n0 ||| 1 ||| a\n", f"2: field 4: {FIELDS} 3"),
        ("1\n0 ||| a ||| F=1 ||| 1\n", f"2: field 5: {FIELDS} 4"),
        ("1\n0 ||| 1 ||| a |||  ||| 1 ||| 2\n", f"2: field 6: {FIELDS} 6"),
        ("1\n0 ||| x ||| a |||  ||| 1\n", "2: field 2: expected the length of the source (a whole number), found 'x'"),
        ("1\n0 ||| 1 ||| a |||  ||| x\n", "2: field 5: expected a number as total score, found 'x'"),
        ("1\n" + line("F=1"), "2: field 4: expected features in base64, found 'F=1'"),
        ("1\n" + line("AAA"), "2: field 4: expected features in base64, found 'AAA'"),
        ("1\n" + line("A==="), "2: field 4: expected features in base64, found 'A==='"),
        ("1\n" + line("RgAA AAAA"), "2: field 4: expected features in base64, found 'RgAA AAAA'"),
        ("1\n" + line("Ü" * 4), "2: field 4: expected features in base64, found 'ÜÜÜÜ'"),
        (
            "1\n" + line(standard(b"Feature")),
            "2: field 4: expected a name, a NUL and 8 bytes for each feature, found 9 bytes left over",
        ),
        (
            "1\n" + line(standard(b"F\0\0\0\0\0\0\0\0")),
            "2: field 4: expected a name, a NUL and 8 bytes for each feature, found 9 bytes left over",
        ),
        (
            "1\n" + line(standard(raw({"F": 1.0}) + b"\0\0" + raw({"G": 1.0}))),
            "2: field 4: expected a feature name, found an empty one",
        ),
        ("1\n" + line(standard(raw({"F": 1.0}) + b"\0" * 8)), "2: field 4: expected a feature name, found an empty"),
        (
            "1\n" + line(standard(b"\xff" + raw({"F": 1.0}))),
            r"2: field 4: expected a feature name in UTF-8, found b'\xffF'",
        ),
        ("1\n" + line(cdec({"F": float("nan")})), "2: field 4: expected a finite number, found nan for 'F'"),
        ("1\n" + line(cdec({"F": -float("inf")})), "2: field 4: expected a finite number, found -inf for 'F'"),
        ("1\n" + line(standard(raw({"F": 1.0}) * 2)), "2: field 4: expected each feature once, found 'F' twice"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind) == ("cdec-mira-nbest", "nbest")
