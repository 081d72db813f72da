"""Tables in four styles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smtplugins.host.printing import cell, chart, prints_dots, render

ROWS = [{"name": "a_b", "value": 0.5, "more": [1, 2]}, {"name": "c\td", "value": None, "hidden": Path("x")}]
COLUMNS = ["name", "value"]


def test_text_is_aligned() -> None:
    assert render(ROWS, COLUMNS, "text").splitlines() == ["name  value", "a_b   0.5", "c\td"]
    assert render([], COLUMNS, "text") == "name  value"


def test_json_keeps_everything() -> None:
    assert json.loads(render(ROWS, COLUMNS, "json")) == [
        {"name": "a_b", "value": 0.5, "more": [1, 2]},
        {"name": "c\td", "value": None, "hidden": "x"},
    ]
    assert "ü" in render([{"a": "ü"}], ["a"], "json")


def test_tsv_keeps_its_columns() -> None:
    assert render([*ROWS, {"name": "e\nf", "value": 1}], COLUMNS, "tsv").splitlines() == [
        "name\tvalue",
        "a_b\t0.5",
        "c d\t",
        "e f\t1",
    ]


def test_latex_is_escaped() -> None:
    text = render([{"name": r"50% & a_b #1 $x {y} ~ ^ \z", "value": 1}], COLUMNS, "latex")
    assert text.splitlines() == [
        r"\begin{tabular}{ll}",
        r"name & value \\",
        r"50\% \& a\_b \#1 \$x \{y\} \textasciitilde{} \textasciicircum{} \textbackslash{}z & 1 \\",
        r"\end{tabular}",
    ]


def test_cells_are_for_people() -> None:
    assert [cell(value) for value in (None, 0.00012345, 12.3456, 3, "x", ["b", "a"], {"b", "a"}, ("b", 1))] == [
        "", "0.0001234", "12.35", "3", "x", "b, a", "a, b", "b, 1"
    ]  # fmt: skip


def test_a_chart_has_a_stroke_for_each_number() -> None:
    assert chart([[1.0, 2.5, 8.0]], 14, plain=True).splitlines() == [
        "8 |      ***",
        "  |",
        "  |",
        "  |",
        "  |",
        "  |",
        "  |   ***",
        "1 |***",
        "   1       3",
    ]
    assert chart([[1.0, 8.0]], 10).splitlines()[0] == "8 |    ⠉" + "⠉" * 3
    assert chart([[3.0]], 80, plain=True).splitlines()[-2:] == ["3 |******", "   1"]


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("count", [1, 2, 20, 79, 200, 5000])
def test_a_chart_fits(plain: bool, count: int) -> None:
    lines = [[-0.5 + (i * 7919 % 101) / 3 for i in range(count)], [38.03] * (count // 2)]
    for width in (20, 80, 200):
        drawn = chart(lines, width, plain=plain)
        assert len(drawn.splitlines()) == 9
        assert max(map(len, drawn.splitlines())) <= width
        assert drawn.isascii() == plain
        assert drawn.splitlines()[-1].split() == ["1", str(count)][: 1 + (count > 1)]


def test_dots_need_an_encoding_that_has_them() -> None:
    assert [prints_dots(name) for name in ("utf-8", "ascii", "latin-1", None, "unknown")] == [True, *[False] * 4]
