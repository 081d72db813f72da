"""N-best lists as a table."""

from __future__ import annotations

import io
from collections.abc import Callable

from smtformats import Candidates
from smtformats.format import shortest
from smtformats.nbest.tsv import FORMAT, write

LISTS = [
    Candidates(
        "0",
        ["the key , please", "tab\there \\t", ""],
        [("LM0", "TM0[0]", "TM0[1]"), ("TM0[0]", "LM0", "TM0[1]"), ("LM0",)],
        [[-3.5, 1, 2], [5, -4, 6], [1e-05]],
        totals=[-0.125, -1, -2],
    ),
    Candidates("7", ["no\u00a0total\u2028"], [()], [[]]),
]


def written(lists: list[Candidates]) -> str:
    out = io.StringIO()
    assert write(lists, out, shortest) == len(lists)
    return out.getvalue()


def test_table(golden: Callable[[str, str], None]) -> None:
    text = written(LISTS)
    golden(text, "formats/nbest.tsv")
    table = [line.split("\t") for line in text.split("\n")[:-1]]
    assert table[0] == ["id", "rank", "text", "total", "LM0", "TM0[0]", "TM0[1]"]
    assert {len(row) for row in table} == {7}


def test_ranks_are_those_written() -> None:
    rows = written([LISTS[0].select([2, 0])]).split("\n")[1:-1]
    assert [row.split("\t")[:3] for row in rows] == [["0", "1", ""], ["0", "2", "the key , please"]]


def test_feature_that_comes_later_adds_a_column() -> None:
    lists = [LISTS[0], Candidates("3", ["a", "b"], [("LM0",), ("new",)], [[1], [2]])]
    table = [line.split("\t") for line in written(lists).split("\n")[:-1]]
    assert table[0][4:] == ["LM0", "TM0[0]", "TM0[1]", "new"]
    assert [row[4:] for row in table[1:]] == [
        ["-3.5", "1", "2", ""],
        ["-4", "5", "6", ""],
        ["1e-05", "", "", ""],
        ["1", "", "", ""],
        ["", "", "", "2"],
    ]


def test_no_lists_and_record() -> None:
    assert written([]) == ""
    assert (FORMAT.name, FORMAT.kind, FORMAT.parse) == ("tsv-nbest", "nbest", None)
