"""Moses' reordering tables: rows come back byte for byte, models fix the columns, bad lines are named."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_bytes
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.reordering.moses import FORMAT, counts_of, parse, write
from smtformats.reordering.rows import Reordering
from smtformats.tokens import BadField

TABLE = "ein hut ||| a hat ||| 0.6 0.2 0.2 0.2 0.2 0.6\nhut ||| hat ||| 0 0.5 0.5 1 0 0\n"


def read(text: str | bytes, **options: Any) -> list[Reordering]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(parse(Lines(io.BytesIO(data), "x"), **options))


def written(rows: Iterable[Reordering]) -> str:
    out = io.StringIO()
    rows = list(rows)
    assert write(rows, out, shortest) == len(rows)
    return out.getvalue()


def test_rows() -> None:
    first, second = read(TABLE)
    assert (first.source, first.target, first.line, second.line, first.file) == ("ein hut", "a hat", 1, 2, "x")
    assert first.values == pytest.approx([math.log(p) for p in (0.6, 0.2, 0.2, 0.2, 0.2, 0.6)])
    assert second.values == (-100, math.log(0.5), math.log(0.5), 0, -100, -100)
    assert written([first, second]) == TABLE
    assert written([replace(second, values=(math.log(0.25), -100.0), raw=None)]) == "hut ||| hat ||| 0.25 0\n"


@pytest.mark.parametrize(
    ("line", "source", "target", "values"),
    [
        ("a b ||| 0.5 0.5\n", "a b", None, (math.log(0.5),) * 2),
        (" a|||b |||\t1  1e-300 \r\n", "a", "b", (0.0, -100.0)),
        ("| ||| a||b ||| 1", "|", "a||b", (0.0,)),
        ("a\u00a0 ||| \u2028 ||| 1 0\n", "a\u00a0", "\u2028", (0.0, -100.0)),
        ("&quot; ||| 5 ||| 2\n", "&quot;", "5", (math.log(2),)),
    ],
)
def test_spellings(line: str, source: str, target: str | None, values: tuple[float, ...]) -> None:
    (row,) = read(line)
    assert (row.source, row.target, row.values) == (source, target, values)
    assert written([row]) == line
    if max(values) <= 0:
        (again,) = read(written([replace(row, raw=None)]))
        assert (again.source, again.target) == (source, target)
        assert again.values == pytest.approx(values)


@pytest.mark.parametrize(
    ("model", "counts"),
    [
        ("wbe-msd-bidirectional-fe", (6, 3)),
        ("hier-mslr-backward-f-allff", (4, 2)),
        ("monotonicity", (2, 0)),
        ("fe-bidirectional-leftright-phrase-collapseff", (4, 3)),
        ("mslr-bidirectional-fe", (8, 3)),
        ("msd-unidirectional", (3, 0)),
        ("msd-forward", (3, 0)),
    ],
)
def test_models(model: str, counts: tuple[int, int]) -> None:
    assert counts_of(model) == counts


@pytest.mark.parametrize(
    "model", ["wbe-bidirectional-fe", "msd-e", "msd-mslr", "msd-f-fe", "msd-forward-backward", "-"]
)
def test_no_models(model: str) -> None:
    with pytest.raises(BadField, match="model"):
        counts_of(model)
    with pytest.raises(FormatError, match=r"^x:1: expected .* model"):
        read(TABLE, model=model)


def test_a_model_fits_its_table() -> None:
    assert len(read(TABLE, model="wbe-msd-bidirectional-fe-allff")) == 2
    with pytest.raises(FormatError) as caught:
        read(TABLE, model="wbe-mslr-bidirectional-fe")
    assert str(caught.value) == "x:1: field 3: expected 8 probabilities, as wbe-mslr-bidirectional-fe has, found 6"
    with pytest.raises(FormatError) as caught:
        read(TABLE, model="wbe-msd-bidirectional-f")
    assert str(caught.value) == "x:1: field 3: expected 2 fields, as wbe-msd-bidirectional-f has, found 3 fields"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("hello", "field 1: expected 3 fields, as on the first line, found 'hello'"),
        ("", "field 1: expected 3 fields, as on the first line, found ''"),
        ("a ||| 1 0 0 0 0 0", "field 2: expected 3 fields, as on the first line, found 2 fields"),
        ("a ||| b ||| 0 ||| 1", "field 4: expected 3 fields, as on the first line, found 4 fields"),
        ("a ||| b ||| 0 ||| 1 ||| 2", "field 4: expected 3 fields, as on the first line, found 5 fields"),
        (" ||| b ||| 1 0 0 0 0 1", "field 1: expected a phrase, found none"),
        ("a |||  ||| 1 0 0 0 0 1", "field 2: expected a phrase, found none"),
        ("a ||| b |||", "field 3: expected 6 probabilities, as on the first line, found none"),
        ("a ||| b ||| 1 0 0 0 0", "field 3: expected 6 probabilities, as on the first line, found 5"),
        ("a ||| b ||| 1 0 0 0 0 1 1", "field 3: expected 6 probabilities, as on the first line, found 7"),
        ("a ||| b ||| 1 0 0 0 0 x", "field 3: expected a probability, found 'x'"),
        ("a ||| b ||| 1 0 0 0 0 nan", "field 3: expected a probability, found 'nan'"),
        ("a ||| b ||| 1 0 0 0 0 -0.5", "field 3: expected a probability, found '-0.5'"),
        ("a ||| b ||| 1 0 0 0 0 1e999", "field 3: expected a probability, found '1e999'"),
        ("a ||| b ||| 1 0 0 0 0 0_1", "field 3: expected a probability, found '0_1'"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    for end in ("\n", "\nhut ||| hat ||| 1 0 0 1 0 0\n"):
        with pytest.raises(FormatError) as caught:
            read(TABLE + line + end)
        assert str(caught.value) == f"x:3: {message}"


def test_bad_files() -> None:
    for text, message in (
        ("", "x:1: field 1: expected source ||| target ||| probabilities, found an empty file"),
        ("a b\n", "x:1: field 1: expected source ||| target ||| probabilities, found 'a b'"),
        ("a ||| b |||\n", "x:1: field 3: expected probabilities, found none"),
        (b"a ||| \xff ||| 1\n", "x:1: field 2: expected UTF-8 text, found byte 0xff at column 7"),
    ):
        with pytest.raises(FormatError) as caught:
            read(text)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (Reordering("a|||b", "c", (0.0,)), "field 1: expected a phrase without `|||`, found 'a|||b'"),
        (Reordering("a", "", (0.0,)), "field 2: expected a phrase without `|||`, found ''"),
        (Reordering("a", "b ", (0.0,)), "field 2: expected a phrase without `|||`, found 'b '"),
        (Reordering("a", "b\nc", (0.0,)), "field 2: expected a phrase without `|||`, found 'b\\nc'"),
        (Reordering("a", "b", ()), "field 3: expected logarithms of probabilities, found ()"),
        (Reordering("a", None, (1.0,)), "field 2: expected logarithms of probabilities, found (1.0,)"),
        (Reordering("a", "b", (math.nan,)), "field 3: expected logarithms of probabilities, found (nan,)"),
    ],
)
def test_rows_that_cannot_be_written(row: Reordering, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        written([row])
    assert message in str(caught.value)


PHRASES = st.lists(st.text(st.characters(whitelist_categories=("L", "N", "P")), min_size=1), min_size=1, max_size=3)
TEXTS = PHRASES.map(" ".join).filter(lambda text: "|||" not in text)
ROWS = st.lists(st.tuples(TEXTS, TEXTS, st.tuples(*[st.floats(-120, 0)] * 3)), min_size=1, max_size=4)


@given(ROWS, st.booleans())
def test_what_is_composed_reads_back(rows: list[tuple[str, str, tuple[float, ...]]], both: bool) -> None:
    text = written(Reordering(source, target if both else None, values) for source, target, values in rows)
    again = read(text)
    assert [(row.source, row.target) for row in again] == [(row[0], row[1] if both else None) for row in rows]
    for row, (_, _, values) in zip(again, rows, strict=True):
        assert row.values == pytest.approx([max(value, -100) for value in values], abs=1e-9)
    assert written(again) == text
    assert written(read(text[:-1])) == text[:-1]


def test_an_open_end_between_files() -> None:
    assert written([*read("a ||| 1"), *read("b ||| 1\n")]) == "a ||| 1\nb ||| 1\n"


def test_shape() -> None:
    for text in (TABLE, "a ||| 0.5 0.5\n", "a ||| 6 ||| 0.1 0.2 0.3 0.4\n"):
        assert FORMAT.matches(text.encode())
        assert detect(text.encode(), all_formats(), "x").name == "moses-reordering"
    others = [
        "a ||| b ||| 0.5 0.25 0.5 0.25\n",  # a phrase table
        "a ||| b ||| -0.30103\n",  # of a homework
        "a ||| b ||| 1\n",
        "a ||| b ||| 0.6 0.2 0.2\nc ||| d ||| 0.6 0.2\n",
        "a ||| b ||| 0.6 0.2 0.2\nc ||| 0.6 0.2 0.2\n",
        "a ||| b ||| 1.5 -0.5\n",
        "0 ||| a b ||| lm=1 ||| 0\n",
        "a ||| b ||| 0.5 0.5 ||| 0-0\n",
        "",
    ]
    for text in others:
        assert not FORMAT.matches(text.encode())


@pytest.mark.shared
@pytest.mark.parametrize(("folder", "lines"), [("model", 52854), ("train/first3k", 88395)])
def test_gold_comes_back(shared: Path, folder: str, lines: int) -> None:
    path = shared / "gold/moses" / folder / "reordering-table.wbe-msd-bidirectional-fe.gz"
    with open_bytes(path) as stream:
        data = stream.read()
    assert detect(data[: 1 << 16], all_formats(), "x").name == "moses-reordering"
    rows = read(data, model="wbe-msd-bidirectional-fe")
    assert len(rows) == lines
    assert written(rows).encode() == data
    for row in rows[::997]:
        assert math.fsum(map(math.exp, row.values[:3])) == pytest.approx(1, abs=2e-6)
        (again,) = read(written([replace(row, raw=None)]))
        assert again.values == pytest.approx(row.values)
