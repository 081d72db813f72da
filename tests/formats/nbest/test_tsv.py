"""N-best lists as a table."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import Candidates, FormatError, all_formats
from smtformats.files import Lines
from smtformats.format import detect, shortest
from smtformats.nbest.tsv import FORMAT, matches, parse, write

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


def test_a_byte_order_mark_is_no_part_of_the_first_column() -> None:
    text = "\ufeff" + written(LISTS)
    assert detect(text.encode(), all_formats(), "x").name == "tsv-nbest"
    lists = list(parse(Lines(io.BytesIO(text.encode()), "x")))
    assert [nbest.texts for nbest in lists] == [nbest.texts for nbest in LISTS]
    assert written(lists) == written(LISTS)


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


def read(text: str) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


def plain(lists: list[Candidates]) -> list[Any]:
    return [
        (nbest.id, nbest.source, [(text, row, repr(total)) for text, row, total in nbest.rows()], nbest.extras)
        for nbest in lists
    ]


TEXTS = st.text("a\u00e9 \\\t\n\r\u2028\0|", max_size=6)
NAMES = st.sampled_from(["LM0", "source", "extra.x", "feature.", "total", "a\tb", "", "\\"])
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw: st.DrawFn) -> list[Candidates]:
    lists = []
    for key in draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True)):
        count = draw(st.integers(1, 3))
        rows = [draw(st.dictionaries(NAMES, NUMBERS, max_size=3)) for _ in range(count)]
        extras = draw(st.dictionaries(NAMES, st.lists(TEXTS, min_size=count, max_size=count).filter(any), max_size=2))
        lists.append(
            Candidates(
                key,
                draw(st.lists(TEXTS, min_size=count, max_size=count)),
                [tuple(row) for row in rows],
                [list(row.values()) for row in rows],
                totals=draw(st.none() | st.lists(st.floats(allow_nan=False), min_size=count, max_size=count)),
                extras=extras,
                source=draw(st.none() | TEXTS.filter(bool)),
            )
        )
    return lists


@given(tables(), st.data())
def test_tables_are_read_back(lists: list[Candidates], data: st.DataObject) -> None:
    text = written(lists)
    assert matches(text.encode())
    again = read(text)
    assert plain(again) == plain(lists)
    assert written(again) == text
    changed = []
    for nbest in again:
        if data.draw(st.booleans()):
            nbest = nbest.with_totals([0.5] * len(nbest))
        if data.draw(st.booleans()):
            nbest = nbest.with_columns([("new", "extra.new")] * len(nbest), [[1.0, -2.5]] * len(nbest))
        if data.draw(st.booleans()):
            nbest = replace(nbest, source="joined")
        order = data.draw(st.permutations(range(len(nbest))))
        changed.append(nbest.select(order[: data.draw(st.integers(1, len(nbest)))]))
    kept = read(written(changed))
    assert plain(kept) == [
        (*rest, {name: column for name, column in extras.items() if any(column)}) for *rest, extras in plain(changed)
    ]


TABLE = "id\trank\ttext\ttotal\tsource\textra.system\tLM0\tfeature.x\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_others_wrote_comes_back(end: str) -> None:
    rows = ["s1\t2\ta  b\t-1.50\tein\tA\t1e0\t", "s1\t5\tc\t inf\tein\t\t\t+.5", "0\t1\t\t\t\t\t\t"]
    text = end.join([TABLE.rstrip("\n"), *rows])
    for whole in (text, text + end):
        lists = read(whole)
        assert written(lists) == whole
    first, second = lists
    assert (first.source, first.totals, first.extras) == ("ein", [-1.5, math.inf], {"system": ["A", ""]})
    assert (second.source, second.totals, second.extras) == (None, None, {})
    assert list(first.rows())[1] == ("c", {"x": 0.5}, math.inf)
    assert [nbest.line for nbest in lists] == [2, 4]
    turned = written([first.select([1, 0]).with_totals([3, 2])]).split(end)
    assert turned[1] == "s1\t1\tc\t3\tein\t\t\t+.5"
    assert written([second, first]).endswith("+.5" + end)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected the columns id, rank, text, total, found the end of the file"),
        ("id\trank\ttext\n", "1: field 4: expected the columns id, rank, text, total, then others, found 'id\\trank"),
        (TABLE, "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("id\trank\ttext\ttotal\tx\tfeature.x\n", "1: field 6: expected each column once, found 'feature.x' twice"),
        (TABLE + "0\t1\ta\t1\n", "2: field 1: expected 8 cells, as in the first line, found 4"),
        (TABLE + "\n", "2: field 1: expected 8 cells, as in the first line, found 1"),
        (TABLE + "0\tx\ta\t1\t\t\t\t\n", "2: field 2: expected a rank (a whole number), found 'x'"),
        (TABLE + "0\t1\ta\t1\t\t\t\t\n" * 2, "3: field 2: expected a rank after 1, found '1'"),
        (TABLE + "0\t1\ta\tx\t\t\t\t\n", "2: field 4: expected a number as total score, found 'x'"),
        (TABLE + "0\t1\ta\t1\t\t\tnan\t\n", "2: field 7: expected a finite number, found 'nan'"),
        (
            TABLE + "0\t1\ta\t1\t\t\t\t\n0\t2\ta\t\t\t\t\t\n",
            "3: field 4: expected a total for all hypotheses of a list or for none, found ''",
        ),
        (
            TABLE + "0\t1\ta\t1\ty\t\t\t\n0\t2\ta\t1\tz\t\t\t\n",
            "3: field 5: expected the source of the rows before, 'y', found 'z'",
        ),
        (TABLE + "0\t1\ta\\x\t1\t\t\t\t\n", "2: field 3: expected \\\\, \\t, \\n or \\r (a backslash is \\\\), found"),
        (TABLE + "0\\\t1\ta\t1\t\t\t\t\n", "2: field 1: expected \\\\, \\t, \\n or \\r (a backslash is \\\\), found"),
        (
            TABLE + "0\t1\ta\t1\t\t\t\t\n1\t1\ta\t1\t\t\t\t\n0\t2\ta\t1\t\t\t\t\n",
            "4: field 1: expected the rows of an id next to each other, found '0' again (first at x:2)",
        ),
    ],
)
def test_bad_tables(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_no_lists_and_record() -> None:
    assert written([]) == ""
    assert (FORMAT.name, FORMAT.kind) == ("tsv-nbest", "nbest")
    assert detect(TABLE.encode(), all_formats(), "x").name == "tsv-nbest"
    assert not matches(b"id\trank\ttext\ttotals\n")
    assert FORMAT.lost(["anything"]) == set()
