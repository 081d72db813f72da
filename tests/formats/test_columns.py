"""Sparse columns compared with dictionaries, and files of lists as columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import Candidates, Columns, ListColumns
from smtformats.columns import StringTable

VALUES = st.floats(-1e6, 1e6, width=32)
ROWS = st.lists(st.dictionaries(st.sampled_from(["a", "b", "c[0]", "c[1]", "é"]), VALUES), max_size=6)


@given(ROWS)
def test_mappings_come_back(rows: list[dict[str, float]]) -> None:
    columns = Columns.from_mappings(rows)
    assert len(columns) == len(rows)
    assert [columns.row(i) for i in range(len(rows))] == rows
    assert columns.values.dtype == np.float64
    assert set(columns.names) == {name for row in rows for name in row}


@given(ROWS)
def test_rows_keep_their_own_order(rows: list[dict[str, float]]) -> None:
    columns = Columns.from_rows([tuple(row) for row in rows], [list(row.values()) for row in rows])
    assert [list(columns.row(i).items()) for i in range(len(rows))] == [list(row.items()) for row in rows]


def test_dense() -> None:
    columns = Columns.dense(["a", "b"], [[1, 2], [3, 4], [5, 6]])
    assert [columns.row(i) for i in range(3)] == [{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5, "b": 6}]
    assert len(Columns.dense(["a", "b"], np.empty((0, 2)))) == 0
    assert Columns.dense([], np.empty((2, 0))).row(1) == {}
    for table in ([[1.0]], [1.0, 2.0], [[1.0, 2.0, 3.0]]):
        with pytest.raises(ValueError, match="expected 2 values a row for a, b, found shape"):
            Columns.dense(["a", "b"], table)


@given(ROWS, st.data())
def test_dot(rows: list[dict[str, float]], data: st.DataObject) -> None:
    columns = Columns.from_rows([tuple(row) for row in rows], [list(row.values()) for row in rows])
    weights = {name: data.draw(VALUES) for name in columns.names}
    totals = columns.dot(np.array([weights[name] for name in columns.names]))
    assert totals.dtype == np.float64
    # Exactly this sum: in the order of the names, not of the row.
    wanted = []
    for row in rows:
        total = 0.0
        for name in sorted(row):
            total += row[name] * weights[name]
        wanted.append(total)
    assert totals.tolist() == wanted


def test_dot_does_not_depend_on_order() -> None:
    values = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 1e16, "e": -1e16}
    totals = set()
    for names in (tuple(values), tuple(reversed(values)), ("c", "e", "a", "d", "b")):
        columns = Columns.from_rows([names], [[values[name] for name in names]])
        totals.add(columns.dot(np.ones(5))[0])
    assert len(totals) == 1


def test_sum() -> None:
    left = Columns.from_mappings([{"a": 1.0, "b": 2.0}, {}])
    right = Columns.from_mappings([{"b": 3.0, "c": 4.0}, {"a": 5.0}])
    both = left + right
    assert [both.row(i) for i in range(2)] == [{"a": 1.0, "b": 5.0, "c": 4.0}, {"a": 5.0}]
    with pytest.raises(ValueError, match="expected 2 rows, found 1"):
        left + Columns.from_mappings([{}])


LISTS = [
    Candidates(
        "0", ["x", ""], [("a", "b"), ("b",)], [[1.0, -0.0], [2.0]], totals=[0.5, 0.25], source="s", file="f", first=0
    ),
    Candidates(
        "3",
        ["z é"],
        [("a", "b")],
        [[3.0, 1e-300]],
        totals=[0.125],
        extras={"alignment": ["0-0"]},
        file="f",
        line=3,
        first=2,
        annotations={"domain": "news"},
    ),
]


def test_list_columns() -> None:
    columns = ListColumns.from_lists(iter(LISTS))
    assert (columns.ids, columns.sources, columns.file) == (("0", "3"), ("s", None), "f")
    assert list(columns.texts) == ["x", "", "z é"]
    assert columns.offsets.tolist() == [0, 2, 3]
    assert columns.lines.tolist() == [1, 3]
    assert columns.totals is not None
    assert columns.totals.tolist() == [0.5, 0.25, 0.125]
    assert columns.features.names == ("a", "b")
    assert [columns.features.row(i) for i in range(3)] == [{"a": 1.0, "b": 0.0}, {"b": 2.0}, {"a": 3.0, "b": 1e-300}]
    assert {name: list(column) for name, column in columns.extras.items()} == {"alignment": ["", "", "0-0"]}
    assert len(columns) == 2
    # texts and alignments with 4 and 4 offsets, 5 features, 4 offsets of theirs, 3 totals, offsets and lines of lists
    assert columns.nbytes == 5 + 3 + 8 * 8 + 5 * (4 + 8) + 8 * 4 + 8 * 3 + 8 * (3 + 2)


def test_lists_are_made_from_columns_when_asked_for() -> None:
    columns = ListColumns.from_lists(LISTS)
    first, second = columns
    # If one list of a file has an extra field, all have it.
    assert first == replace(LISTS[0], extras={"alignment": ["", ""]})
    assert second == LISTS[1] == columns[1] == columns[-1]
    assert second.layouts[0] == first.layouts[0]
    with pytest.raises(IndexError):
        columns[2]


def test_rows_of_the_same_names_share_them() -> None:
    columns = ListColumns.from_lists([Candidates("0", ["x"] * 3, [("a", "b")] * 3, [[1.0, 2.0]] * 3)])
    (nbest,) = columns
    assert nbest.layouts[0] is nbest.layouts[1] is nbest.layouts[2]


def test_list_columns_without_totals_or_lists() -> None:
    some = ListColumns.from_lists([Candidates("0", ["x"], [()], [[]]), Candidates("1", ["y"], [()], [[]], [1.0])])
    assert some.totals is None
    assert some[1].totals is None
    none = ListColumns.from_lists([])
    assert (len(none), len(none.features), none.offsets.tolist(), none.totals, list(none)) == (0, 0, [0], None, [])


def test_lists_of_several_files_have_no_common_one() -> None:
    columns = ListColumns.from_lists([LISTS[0], replace(LISTS[1], file="g")])
    assert columns.file == ""


def test_table() -> None:
    columns = Columns.dense(("b", "a"), [[1, 2], [3, 4]])
    table = columns.table()
    assert table is not None
    assert table.tolist() == [[1, 2], [3, 4]]
    assert columns.dot(np.array([1.0, 10.0])).tolist() == [21, 43]
    for rows in ([("a", "b"), ("b", "a")], [("a", "b"), ("a",), ("a", "b", "c")]):
        assert Columns.from_rows(rows, [[1.0] * len(row) for row in rows]).table() is None


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


@given(st.lists(TEXTS, max_size=5), st.integers(-7, 7), st.integers(-7, 7), st.sampled_from([1, 2, -1]))
def test_string_table_slices(texts: list[str], first: int, last: int, step: int) -> None:
    parts = [text.encode() for text in texts]
    table = StringTable(b"".join(parts), np.cumsum([0, *map(len, parts)]))
    assert table[first:last:step] == texts[first:last:step]
    assert list(table) == table[:] == texts
