"""How lists and columns are shown: short texts, tables with escaped texts."""

from __future__ import annotations

import pytest

from smtformats import Candidates, Columns, ListColumns
from smtformats.display import html_table


def nbest(count: int, features: int = 1) -> Candidates:
    names = tuple(f"f{k}" for k in range(features))
    texts = [f"<b>{i}" for i in range(count)]
    return Candidates("7", texts, [names] * count, [[0.5] * features] * count, [-1.0] * count, source="x & y")


def test_texts_are_escaped_and_numbers_are_short() -> None:
    table = html_table(["<a>"], [["<script>"], [1 / 3], [None], [True], [3]], caption="<c>")
    assert "<caption>&lt;c&gt;</caption>" in table and "<th>&lt;a&gt;</th>" in table and "&lt;script&gt;" in table
    assert '<td style="text-align: right">0.333333</td>' in table
    assert "<td></td>" in table and ">True<" in table and '<td style="text-align: right">3</td>' in table


def test_lists() -> None:
    shown = nbest(2)._repr_html_()
    assert "<caption>list 7: x &amp; y</caption>" in shown and "&lt;b&gt;1" in shown and "<th>f0</th>" in shown
    long = nbest(50, 20)._repr_html_()
    assert "50 hypotheses, 20 features" in long and "&lt;b&gt;10" not in long and "<th>f12</th>" not in long


def test_a_hypothesis_by_its_position() -> None:
    listed = nbest(3)
    assert listed[0] == ("<b>0", {"f0": 0.5}, -1.0)
    assert listed[-1] == list(listed.rows())[2]
    with pytest.raises(IndexError):
        listed[3]


def test_columns() -> None:
    columns = Columns.from_mappings([{"a": 1.0}, {"b": 2.0}])
    assert repr(columns) == "<Columns: 2 rows of a, b>"
    assert columns[-1] == {"b": 2.0}
    with pytest.raises(IndexError):
        columns[2]
    assert columns._repr_html_().count("<td></td>") == 2
    wide = nbest(30, 20).features()
    assert repr(wide) == "<Columns: 30 rows of f0, f1, f2, f3, f4 and 15 more>"
    assert "30 rows of" in wide._repr_html_()
    assert repr(Columns.from_mappings([])) == "<Columns: 0 rows of no names>"


def test_files_of_lists() -> None:
    lists = ListColumns.from_lists([nbest(2), nbest(0)])
    assert repr(lists) == "<ListColumns of <data>: 2 lists, 2 hypotheses, 1 features>"
    shown = lists._repr_html_()
    assert "&lt;b&gt;0" in shown and "&lt;b&gt;1" not in shown and "&lt;data&gt;" in shown
