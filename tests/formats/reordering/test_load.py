"""Reordering tables as columns: the rows that the parser gives, and its errors."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smtformats import FormatError, pieces
from smtformats.files import Lines
from smtformats.reordering.moses import load, parse
from smtformats.reordering.rows import ReorderingColumns, key_of

TABLE = "ein hut ||| a hat ||| 0.6 0.2 0.2 0.2 0.2 0.6\nhut ||| hat ||| 0 0.5 0.5 1 0 0\n"


def loaded(data: bytes, **options: Any) -> ReorderingColumns | str:
    try:
        return load(io.BytesIO(data), "x", **options)
    except FormatError as error:
        return str(error)


def parsed(data: bytes, *, max_bytes: int = 1 << 20, **options: Any) -> list[tuple[str, list[float]]] | str:
    try:
        rows = list(parse(Lines(io.BytesIO(data), "x", max_bytes=max_bytes), **options))
    except FormatError as error:
        return str(error)
    return [(key_of(row.source, row.target), np.array(row.values, dtype=np.float32).tolist()) for row in rows]


def rows(columns: ReorderingColumns | str) -> list[tuple[str, list[float]]] | str:
    return columns if isinstance(columns, str) else list(zip(columns.keys[:], columns.values.tolist(), strict=True))


numbers = st.sampled_from(
    "0 1 0.5 0.2 0.777778 5e-324 1e-50 2 -0 -1 nan inf 1e999 0_1 x 1e39 .5 3. 0.123456789012345 +0.25 1E-3".split()
)
phrases = st.sampled_from(
    ["a", "ein hut", "a  b", "a\tb", "é", "\u2028", "|", "a||b", "a|||b", "", " ", "\x0b", "x" * 70, "0.5"]
)
bars = st.sampled_from([" ||| "] * 6 + ["|||", " |||", "||| ", "\t|||\t", " |||| ", "  |||  "])
ends = st.sampled_from(["\n"] * 8 + ["\r\n", " \n", " \r\n", "\n\n", ""])


@st.composite
def tables(draw: st.DrawFn) -> str:
    fields, width = draw(st.sampled_from([2, 3])), draw(st.integers(1, 9))
    text = ""
    for _ in range(draw(st.integers(0, 6))):
        strange = draw(st.integers(0, 9)) == 0
        count = draw(st.integers(0, 9)) if strange else width
        own = draw(st.integers(1, 4)) if strange else fields
        good = st.sampled_from(["0.2", "0.6", "0", "1", "0.333333"])
        some = draw(st.lists(numbers if strange else good, min_size=count, max_size=count))
        parts = [draw(phrases if strange else st.sampled_from(["a", "ein hut", "ü x"])) for _ in range(own - 1)]
        bar = draw(bars) if strange else " ||| "
        text += bar.join([*parts, " ".join(some)]) + draw(ends)
    return text


@settings(max_examples=400)
@given(tables().map(str.encode), st.sampled_from(["", "msd-bidirectional-fe", "msd-backward-f", "leftright"]))
@example(TABLE.encode(), "")
@example(b"", "")
@example(b"\n", "")
@example(b"a ||| \xff ||| 1\n", "")
@example(b"a ||| b ||| 1\na ||| \xff ||| 1\n", "")
@example(b"a ||| b ||| 1\n\xc3 ||| b ||| 1\n", "")
@example(b"a ||| b ||| 1\n" + b"a ||| b ||| 0.5\r\n" * 3, "")
def test_columns_are_what_the_parser_reads(data: bytes, model: str) -> None:
    assert rows(loaded(data, model=model)) == parsed(data, model=model)


@settings(max_examples=150)
@given(tables(), st.integers(1, 40))
def test_pieces_may_be_cut_anywhere(text: str, size: int) -> None:
    data = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "pieces", lambda stream: cut(stream.read(), size))
        actual = rows(loaded(data))
    assert actual == parsed(data)


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    for text in (data, TABLE.encode() + data):
        if text.startswith(b"\x1f\x8b"):  # packed
            continue
        assert rows(loaded(text)) == parsed(text)


def test_words_are_parted_by_single_blanks() -> None:
    columns = loaded(b"a ||| b ||| 1\n a  b\t c |||  d\te ||| 0.5\n")
    assert isinstance(columns, ReorderingColumns)
    assert columns.keys[:] == ["a ||| b", "a b c ||| d e"]
    assert columns.values.tolist() == [[0.0], [np.float32(np.log(0.5))]]
    assert columns.nbytes == sum(map(len, columns.keys[:])) + 3 * 8 + 2 * 4


def test_packed_files() -> None:
    packed = gzip.compress(TABLE.encode())
    assert rows(loaded(packed)) == parsed(TABLE.encode())
    assert re.fullmatch(r"x:\d: field 1: expected a complete compressed file, .*", str(loaded(packed[:-9])))


def test_limits() -> None:
    assert (
        loaded(TABLE.encode(), max_bytes=40) == "x:1: field 1: expected a line of at most 40 bytes, found a longer one"
    )
    text = b"a ||| b ||| 1 0\n" + b"a" * 60 + b" ||| b ||| 1 0\n"
    assert loaded(text, max_bytes=40) == "x:2: field 1: expected a line of at most 40 bytes, found a longer one"


def test_errors_name_their_lines() -> None:
    text = "".join(f"a{i} ||| b ||| 0.5 0.5\n" for i in range(5000))
    assert loaded((text + "a ||| b ||| 0.5 nan\n").encode()) == "x:5001: field 3: expected a probability, found 'nan'"
    assert loaded((text + "a ||| b ||| 0.5\n").encode(), model="leftright-fe") == (
        "x:5001: field 3: expected 2 probabilities, as leftright-fe has, found 1"
    )
    assert "a model name" in str(loaded(TABLE.encode(), model="no"))
