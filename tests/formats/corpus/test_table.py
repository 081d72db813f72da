"""Sentences with ids in tab-separated columns."""

from __future__ import annotations

import io

import pytest

from smtformats import FormatError, all_formats, detect
from smtformats.corpus.segments import Segment
from smtformats.corpus.table import FORMAT, parse
from smtformats.files import Lines


def read(text: str) -> list[Segment]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


def test_named_columns() -> None:
    text = "lang\tID\tref\tsrc\r\nde\tseg-1\tthe house\tdas Haus\r\nde\tseg-0\ta house\tein Haus\r\n"
    first, second = read(text)
    assert (first.key, first.source, first.references, first.attributes) == (
        "seg-1",
        "das Haus",
        ("the house",),
        {"lang": "de"},
    )
    assert (second.key, second.line, second.side) == ("seg-0", 3, "source")
    assert detect(text.encode(), all_formats(), "x").name == "tsv-sentences"
    assert [segment.side for segment in read("id\tref\n1\ta\n")] == ["reference"]


def test_two_columns_without_names() -> None:
    text = "seg-1\tthe house .\nseg-0\t42 .\n"
    assert [(segment.key, segment.source, segment.side) for segment in read(text)] == [
        ("seg-1", "the house .", "text"),
        ("seg-0", "42 .", "text"),
    ]
    assert [(segment.id, segment.key) for segment in read("3\ta\n1\tb\n")] == [(3, None), (1, None)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("seg-1\tthe house .\nseg-0\ta house .\n", "tsv-sentences"),
        ("0\tthe house .\n1\ta house .\n", "tsv-sentences"),
        ("0.5\tthe house .\n0.7\ta house .\n", "text"),
        ("ein haus\ta house\ndas haus\tthe house\n", "tsv-corpus"),
        ("seg1\ta house\nseg1\tthe house\n", "tsv-corpus"),
        ("seg1\ta house\tb\nseg2\tthe house\tb\n", "tsv-corpus"),
        ("S-1\tein haus\nS-2\tdas haus\n", "fairseq-nbest"),
    ],
)
def test_shape(text: str, name: str) -> None:
    assert detect(text.encode(), all_formats(), "x").name == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id\tref\n1\ta\n1\tb\n", "3: field 1: expected each id once, found '1' again (first at x:2)"),
        ("id\tref\n1\ta\tb\n", "2: field 3: expected 2 columns, id, ref, found 3"),
        ("id\tref\n\ta\n", "2: field 1: expected an id, found ''"),
        ("s1\ta\nthe\tb\n", "2: field 1: expected an id, found 'the'"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


def test_a_byte_order_mark_is_no_part_of_the_first_column() -> None:
    for text in ("id\tref\n1\ta\n", "s1\ta\ns2\tb\n"):
        assert detect(f"\ufeff{text}".encode(), all_formats(), "x").name == "tsv-sentences"
        assert [segment.key for segment in read(f"\ufeff{text}")] == [segment.key for segment in read(text)]


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind, read("")) == ("tsv-sentences", "corpus", [])
