"""N-best lists as Parquet files, read back by pyarrow."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from smtformats import Candidates, FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.parquet import FORMAT, parse, write

LISTS = [
    Candidates(
        "0",
        ["a\tb\n", "é", ""],
        [("LM0", "extra.x"), ("extra.x", "LM0"), ()],
        [[-3.5, 1e300], [5, -0.25], []],
        totals=[-0.125, -1, float("-inf")],
        extras={"system": ["A", "", "B"]},
        source="ein Haus",
    ),
    Candidates("seg-7", ["no total"], [("total",)], [[2]]),
]


def read(data: bytes) -> Any:
    from pyarrow import parquet

    return parquet.read_table(io.BytesIO(data))


def test_columns() -> None:
    out = io.BytesIO()
    assert write(iter(LISTS), out, shortest) == 2
    table = read(out.getvalue())
    assert {name: str(kind) for name, kind in zip(table.column_names, table.schema.types, strict=True)} == {
        "id": "string",
        "rank": "int32",
        "text": "string",
        "total": "double",
        "source": "string",
        "LM0": "double",
        "feature.extra.x": "double",
        "feature.total": "double",
        "extra.system": "string",
    }
    assert table.to_pydict() == {
        "id": ["0", "0", "0", "seg-7"],
        "rank": [1, 2, 3, 1],
        "text": ["a\tb\n", "é", "", "no total"],
        "total": [-0.125, -1, float("-inf"), None],
        "source": ["ein Haus", "ein Haus", "ein Haus", None],
        "LM0": [-3.5, -0.25, None, None],
        "feature.extra.x": [1e300, 5, None, None],
        "feature.total": [None, None, None, 2],
        "extra.system": ["A", None, "B", None],
    }


def test_no_lists_and_record() -> None:
    out = io.BytesIO()
    assert write([], out, shortest) == 0
    assert not out.getvalue()
    assert (FORMAT.name, FORMAT.kind, FORMAT.binary) == ("parquet-nbest", "nbest", True)
    write([Candidates("0", ["a"], [()], [[]])], out, shortest)
    assert read(out.getvalue()).column_names == ["id", "rank", "text", "total"]


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FormatError) as caught:
        write(LISTS, io.BytesIO(), shortest)
    assert str(caught.value) == (
        "parquet-nbest: expected the package pyarrow (pip install 'smtplugins[parquet]'), found none"
    )


def lists_in(data: bytes, **options: Any) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(data), "x"), **options))


def table(**columns: list[Any]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


def test_lists_are_read_back() -> None:
    out = io.BytesIO()
    write(iter(LISTS), out, shortest)
    assert detect(out.getvalue(), all_formats(), "x").name == "parquet-nbest"
    for nbest, wanted in zip(lists_in(out.getvalue()), LISTS, strict=True):
        assert (nbest.id, nbest.source, nbest.extras) == (wanted.id, wanted.source, wanted.extras)
        assert [(text, features, total) for text, features, total in nbest.rows()] == list(wanted.rows())


def test_other_columns() -> None:
    ids, texts = [0.0, 0.0, 1.0], ["a house", "", "the man"]
    data = table(seg=ids, hyp=texts, score=[-1, -2, -3], lm=[0.5, None, float("nan")], note=["x", None, "y"])
    first, second = lists_in(data, id="seg", text="hyp", total="score")
    assert (first.id, list(first.rows()), first.extras) == (
        *("0", [("a house", {"lm": 0.5}, -1), ("", {}, -2)]),
        {"note": ["x", ""]},
    )
    assert (second.id, list(second.rows()), second.line) == ("1", [("the man", {}, -3)], 3)
    assert [nbest.id for nbest in lists_in(table(mt=texts), text="mt", rows="sentences")] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"seg": [0], "hyp": ["a"]}, {}, "1: field 1: expected a column text (the option text=COLUMN names it), found"),
        ({"id": [0], "text": [None]}, {}, "1: field 2: expected a text, found null"),
        ({"id": ["a", "b", "a"], "text": ["a"] * 3}, {}, "3: field 1: expected the rows of an id next to each other"),
        ({"id": ["a", "a"], "text": ["a"] * 2, "total": [1, None]}, {}, "1: expected a total for all hypo"),
        ({"id": [0], "text": ["a"]}, {"total": "b"}, "1: field 1: expected one column b, as the option total=b says"),
    ],
)
def test_bad_tables(columns: dict[str, list[Any]], options: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        lists_in(table(**columns), **options)
    assert str(caught.value).startswith(f"x:{message}")


def test_cut_files() -> None:
    data = table(id=[0], text=["a"])
    for part in (data[:-1], data[:200], data[:4]):
        with pytest.raises(FormatError, match="x:1: field 1: expected a complete Parquet file"):
            lists_in(part)
