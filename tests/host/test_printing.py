"""Tables in four styles."""

from __future__ import annotations

import json
from pathlib import Path

from smtplugins.host.printing import cell, render

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
