"""N-best lists as Parquet files, read back by pyarrow."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from smtformats import Candidates, FormatError
from smtformats.format import shortest
from smtformats.nbest.parquet import FORMAT, write

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
    assert (FORMAT.name, FORMAT.kind, FORMAT.parse, FORMAT.binary) == ("parquet-nbest", "nbest", None, True)
    write([Candidates("0", ["a"], [()], [[]])], out, shortest)
    assert read(out.getvalue()).column_names == ["id", "rank", "text", "total"]


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FormatError) as caught:
        write(LISTS, io.BytesIO(), shortest)
    assert str(caught.value) == (
        "parquet-nbest: expected the package pyarrow (pip install 'smtplugins[parquet]'), found none"
    )
