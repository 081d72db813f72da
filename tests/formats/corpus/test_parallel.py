"""Sentences and their translations in tab-separated columns."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect
from smtformats.corpus.parallel import FORMAT, parse, write
from smtformats.corpus.segments import Segment
from smtformats.files import Lines
from smtformats.format import shortest


def read(text: str | bytes) -> list[Segment]:
    return list(parse(Lines(io.BytesIO(text if isinstance(text, bytes) else text.encode()), "x")))


def written(records: list[str | Segment]) -> str:
    out = io.StringIO()
    assert write(records, out, shortest) == len(records)
    return out.getvalue()


def plain(segment: Segment) -> Segment:
    return Segment(segment.source, segment.references, {}, segment.id)


def test_columns() -> None:
    assert [plain(segment) for segment in read('ein "haus\ta house\r\n\tb\u2028\nc\t')] == [
        Segment('ein "haus', ("a house",), {}, 0),
        Segment("", ("b\u2028",), {}, 1),
        Segment("c", ("",), {}, 2),
    ]
    assert read("a\tb\tc\n")[0].references == ("b", "c")
    assert read("") == []


def test_texts_without_references_get_an_empty_column() -> None:
    assert written(["a b", Segment("c", ("d",))]) == "a b\t\nc\td\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n", "1: field 1: expected a source and a target, with a tab between them, found 'a'"),
        ("\n", "1: field 1: expected a source and a target, with a tab between them, found ''"),
        ("a\tb\n\nc\td\n", "2: field 2: expected 2 columns, as in line 1, found 1"),
        ("a\tb\nc\n", "2: field 2: expected 2 columns, as in line 1, found 1"),
        ("a\tb\nc\td\te\n", "2: field 3: expected 2 columns, as in line 1, found 3"),
        ("a\tb\tc\nd\te\n", "2: field 3: expected 3 columns, as in line 1, found 2"),
        ("a\tb\tc\nd\te\tf\tg\n", "2: field 4: expected 3 columns, as in line 1, found 4"),
        (b"a\tb\n\xff\tc\n", "2: field 1: expected UTF-8 text, found byte 0xff at column 1"),
        (b"a\tb\xe2\x80\n", "1: field 1: expected UTF-8 text, found byte 0xe2 at column 4"),
        (" ||| a ||| b\n", "1: field 1: expected a source and a target, with a tab between them, found ' ||| a ||| b'"),
    ],
)
def test_bad_files(text: str | bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (["a\tb"], "<data>:1: field 1: expected a text without a tab or a line break, found 'a\\tb'"),
        ([Segment("a", ("b\n",))], "<data>:1: field 2: expected a text without a tab or a line break, found 'b\\n'"),
        ([Segment("a", ("b\r",))], "<data>:1: field 2: expected a text without a tab or a line break, found 'b\\r'"),
        (["a", Segment("a", ("b", "c"), line=2)], "<data>:2: field 1: expected 2 columns, as in line 1, found 3"),
    ],
)
def test_what_no_column_holds(records: list[str | Segment], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        written(records)
    assert str(caught.value) == message


@given(st.text(st.sampled_from('ab \t\r\n\u2028"é|'), max_size=30))
def test_the_same_bytes(text: str) -> None:
    try:
        records = read(text)
    except FormatError:
        return
    assert written([*records]) == text
    # Only `\r\r` leaves a carriage return at the end of the last column.
    if any(segment.references[-1][-1:] == "\r" for segment in records):
        return
    assert [plain(segment) for segment in read(written([plain(segment) for segment in records]))] == [
        plain(segment) for segment in records
    ]


@pytest.mark.parametrize(
    "text", ["ein haus\ta house\n", "a\tb\tc\n" * 60, "ja .\tyes .\n\nso\t\n", "x\ty\nA-b c\td\n", "Ü\té\r\n"]
)
def test_shape(text: str) -> None:
    assert detect(text.encode(), all_formats(), "x").name == "tsv-corpus"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ein haus\n",
        "a\tb\nc\n",
        "a\tb\nc\td\te\n",
        "F\t1\nG\t2\n",
        "1\tja\n",
        "a\tLM=-1.5 x=2\n",
        "S-1\tein haus\nT-1\ta house\n",
        "a\t||| 1 Fix 0 0 0 0\n",
        "0 ||| a\tb ||| LM= 1 ||| 0\n",
        "\t\n\t\n",
    ],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())
