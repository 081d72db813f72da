"""One sentence's list: new columns, totals and orders give new lists and leave the old one."""

from __future__ import annotations

import copy

import pytest

from smtformats import Candidates

AB, AC = ("a", "b"), ("a", "c")


@pytest.fixture
def one() -> Candidates:
    return Candidates(
        id="4",
        texts=["x", "y y", ""],
        layouts=[AB, AC, AB],
        values=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        totals=[0.3, 0.2, 0.1],
        extras={"alignment": ["0-0", "", "1-1"]},
        raw=["line x\n", "line y\n", "line\n"],
        origin="some-nbest",
        source="quelle",
    )


def test_views(one: Candidates) -> None:
    assert len(one) == 3
    assert one.names() == ("a", "b", "c")
    assert list(one.rows()) == [
        ("x", {"a": 1.0, "b": 2.0}, 0.3),
        ("y y", {"a": 3.0, "c": 4.0}, 0.2),
        ("", {"a": 5.0, "b": 6.0}, 0.1),
    ]
    columns = one.features()
    assert [columns.row(i) for i in range(3)] == [features for _, features, _ in one.rows()]
    assert repr(one) == "Candidates(id='4', 3 hypotheses, 3 features)"


def test_with_columns(one: Candidates) -> None:
    before = copy.deepcopy(one)
    more = one.with_columns([("n",), ("n",), ("m", "n")], [[7.0], [8.0], [9.0, 10.0]])
    assert more.layouts == [("a", "b", "n"), ("a", "c", "n"), ("a", "b", "m", "n")]
    assert more.values == [[1.0, 2.0, 7.0], [3.0, 4.0, 8.0], [5.0, 6.0, 9.0, 10.0]]
    assert more.original == [2, 2, 2]
    again = more.with_columns([("z",)] * 3, [[0.0]] * 3)
    assert again.original == [2, 2, 2]
    assert again.layouts[2] == ("a", "b", "m", "n", "z")
    assert one == before


def test_with_columns_keeps_layouts_shared(one: Candidates) -> None:
    same = Candidates("0", ["x", "y"], [AB, AB], [[1.0, 2.0], [3.0, 4.0]])
    more = same.with_columns([("n",)] * 2, [[1.0], [2.0]])
    assert more.layouts[0] is more.layouts[1]


def test_with_columns_refuses_what_does_not_fit(one: Candidates) -> None:
    with pytest.raises(ValueError, match="found 'b', which is there already"):
        one.with_columns([("n", "b")] * 3, [[1.0, 2.0]] * 3)
    with pytest.raises(ValueError):
        one.with_columns([("n",)] * 2, [[1.0]] * 2)
    with pytest.raises(ValueError):
        one.with_columns([("n",)] * 3, [[1.0]] * 2)


def test_with_totals(one: Candidates) -> None:
    new = one.with_totals((1, 2, 3))
    assert (new.totals, new.rescored) == ([1, 2, 3], True)
    assert (one.totals, one.rescored) == ([0.3, 0.2, 0.1], False)


def test_select(one: Candidates) -> None:
    before = copy.deepcopy(one)
    some = one.with_columns([("n",)] * 3, [[1.0], [2.0], [3.0]]).select([2, 0])
    assert some.texts == ["", "x"]
    assert some.layouts == [("a", "b", "n"), ("a", "b", "n")]
    assert some.values == [[5.0, 6.0, 3.0], [1.0, 2.0, 1.0]]
    assert some.totals == [0.1, 0.3]
    assert some.extras == {"alignment": ["1-1", "0-0"]}
    assert some.raw == ["line\n", "line x\n"]
    assert some.original == [2, 2]
    assert some.ranks == [2, 0]
    assert some.select([1]).ranks == [0]
    assert (some.id, some.source) == ("4", "quelle")
    assert one == before


def test_select_without_totals_and_lines() -> None:
    bare = Candidates("0", ["x", "y"], [(), ()], [[], []])
    assert bare.select([1]).texts == ["y"]
    assert bare.select([]).ranks == []
    assert (bare.select([1]).totals, bare.select([1]).raw) == (None, None)
