"""An n-best list: new columns, totals and orders give new lists and leave the old one unchanged."""

from __future__ import annotations

import copy
import io
from dataclasses import replace

import pytest

from smtformats import Candidates, FormatError, all_formats
from smtformats.files import Lines

AB, AC = ("a", "b"), ("a", "c")


@pytest.fixture
def nbest() -> Candidates:
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


def test_views(nbest: Candidates) -> None:
    assert len(nbest) == 3
    assert nbest.names() == ("a", "b", "c")
    assert list(nbest.rows()) == [
        ("x", {"a": 1.0, "b": 2.0}, 0.3),
        ("y y", {"a": 3.0, "c": 4.0}, 0.2),
        ("", {"a": 5.0, "b": 6.0}, 0.1),
    ]
    columns = nbest.features()
    assert [columns.row(i) for i in range(3)] == [features for _, features, _ in nbest.rows()]
    assert repr(nbest) == "Candidates(id='4', 3 hypotheses, 3 features)"


def test_with_columns(nbest: Candidates) -> None:
    before = copy.deepcopy(nbest)
    more = nbest.with_columns([("n",), ("n",), ("m", "n")], [[7.0], [8.0], [9.0, 10.0]])
    assert more.layouts == [("a", "b", "n"), ("a", "c", "n"), ("a", "b", "m", "n")]
    assert more.values == [[1.0, 2.0, 7.0], [3.0, 4.0, 8.0], [5.0, 6.0, 9.0, 10.0]]
    assert more.original == [2, 2, 2]
    again = more.with_columns([("z",)] * 3, [[0.0]] * 3)
    assert again.original == [2, 2, 2]
    assert again.layouts[2] == ("a", "b", "m", "n", "z")
    assert nbest == before


def test_with_columns_keeps_layouts_shared(nbest: Candidates) -> None:
    same = Candidates("0", ["x", "y"], [AB, AB], [[1.0, 2.0], [3.0, 4.0]])
    more = same.with_columns([("n",)] * 2, [[1.0], [2.0]])
    assert more.layouts[0] is more.layouts[1]


def test_with_columns_refuses_what_does_not_fit(nbest: Candidates) -> None:
    with pytest.raises(ValueError, match="found 'b', which the list already has"):
        nbest.with_columns([("n", "b")] * 3, [[1.0, 2.0]] * 3)
    with pytest.raises(ValueError):
        nbest.with_columns([("n",)] * 2, [[1.0]] * 2)
    with pytest.raises(ValueError):
        nbest.with_columns([("n",)] * 3, [[1.0]] * 2)


def test_with_totals(nbest: Candidates) -> None:
    new = nbest.with_totals((1, 2, 3))
    assert (new.totals, new.rescored) == ([1, 2, 3], True)
    assert (nbest.totals, nbest.rescored) == ([0.3, 0.2, 0.1], False)


def test_select(nbest: Candidates) -> None:
    before = copy.deepcopy(nbest)
    some = nbest.with_columns([("n",)] * 3, [[1.0], [2.0], [3.0]]).select([2, 0])
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
    assert nbest == before


def test_select_without_totals_and_lines() -> None:
    bare = Candidates("0", ["x", "y"], [(), ()], [[], []])
    assert bare.select([1]).texts == ["y"]
    assert bare.select([]).ranks == []
    assert (bare.select([1]).totals, bare.select([1]).raw) == (None, None)


def test_structure_is_taken_from_the_fields_that_carry_it(nbest: Candidates) -> None:
    assert nbest.alignment == [((0, 0),), (), ((1, 1),)]
    assert (nbest.segmentation, nbest.derivations) == (None, None)
    assert nbest.select([2, 0]).alignment == [((1, 1),), ((0, 0),)]
    more = Candidates(
        "0",
        ["a b", "", "c"],
        [()] * 3,
        [[]] * 3,
        extras={
            "segmentation": ["0-3=0-1 4=2", "", "2=0-11"],
            "tree": ["[S [X a] b]", "", "(GOAL{0-2} (X{0-1} <s>) (X{1-2} c))"],
        },
    )
    assert more.segmentation == [(((0, 3), (0, 1)), ((4, 4), (2, 2))), (), (((2, 2), (0, 11)),)]
    assert more.derivations is not None
    assert [str(tree) for tree in more.derivations] == ["(S (X a) b)", "()", "(GOAL{0-2} (X{0-1} <s>) (X{1-2} c))"]
    assert more.alignment is None


@pytest.mark.parametrize(
    ("name", "field", "text", "message"),
    [
        ("alignment", "alignment", "0-0 1", "an alignment like 0-0 1-2, found '0-0 1'"),
        ("alignment", "alignment", "0-0,1-1", "an alignment like 0-0 1-2, found '0-0,1-1'"),
        ("alignment", "alignment", "0-9999999999", "an alignment like 0-0 1-2, found '0-9999999999'"),
        ("alignment", "alignment", "0-0\u00a01-1", "an alignment like 0-0 1-2, found '0-0\\xa01-1'"),
        ("segmentation", "segmentation", "0-1=0 2", "a segmentation like 0-3=0-2 4=3, found '0-1=0 2'"),
        ("segmentation", "segmentation", "0-1-2=0", "a segmentation like 0-3=0-2 4=3, found '0-1-2=0'"),
        ("derivations", "tree", "[S a", "a tree in brackets, nested at most 1000 deep, found '[S a'"),
        ("derivations", "tree", "[S a]]", "a tree in brackets, nested at most 1000 deep, found '[S a]]'"),
        ("derivations", "tree", "[S a] b", "a tree in brackets, nested at most 1000 deep, found '[S a] b'"),
        ("derivations", "tree", "[[X a] b]", "a tree in brackets, nested at most 1000 deep, found '[[X a] b]'"),
        ("derivations", "tree", "S a", "a tree in brackets, nested at most 1000 deep, found 'S a'"),
        ("derivations", "tree", "[X " * 1001 + "a" + "]" * 1001, "a tree in brackets, nested at most 1000 deep, found"),
    ],
)
def test_a_bad_spelling_is_named_with_its_place(name: str, field: str, text: str, message: str) -> None:
    lines = [f"4 ||| a  ||| LM= 1 ||| 2 ||| {text} \n" for text in ("", text)]
    nbest = Candidates(
        "4", ["a", "a"], [()] * 2, [[]] * 2, extras={field: ["", text]}, raw=lines, file="x.nbest", line=7
    )
    with pytest.raises(FormatError) as caught:
        getattr(nbest, name)
    assert str(caught.value).startswith(f"x.nbest:8: field 5: expected {message}")
    with pytest.raises(FormatError) as caught:
        getattr(nbest.select([1]), name)
    assert str(caught.value).startswith(f"x.nbest:8: field 5: expected {message}")
    with pytest.raises(FormatError) as caught:
        getattr(replace(nbest, raw=None), name)
    assert str(caught.value).startswith(f"x.nbest:7: expected {message}")


def test_a_tree_may_be_deep() -> None:
    depth = 1000
    nbest = Candidates("0", ["a"], [()], [[]], extras={"tree": ["(X " * depth + "a" + ")" * depth]})
    assert nbest.derivations is not None
    (tree,) = nbest.derivations
    assert tree.spans() == [("X", 0, 1)] * depth


def test_what_readers_fill_is_taken_apart() -> None:
    def read(format: str, text: str) -> Candidates:
        record = next(entry for entry in all_formats() if entry.name == format)
        nbest: Candidates = record.read(Lines(io.BytesIO(text.encode()), "x"))
        return nbest

    moses = read("moses-nbest", "0 ||| a b  ||| LM0= -1 ||| -1 ||| 0-1=0 2=1 ||| 0-0 2-1 \n")
    assert (moses.segmentation, moses.alignment) == ([(((0, 1), (0, 0)), ((2, 2), (1, 1)))], [((0, 0), (2, 1))])
    marian = read("marian-nbest", "0 ||| a b ||| 0-0 1-1 ||| F0= -1 ||| -1\n0 ||| a ||| 0.5,0.5 ||| F0= -1 ||| -1\n")
    with pytest.raises(FormatError, match=r"^x:2: field 3: expected an alignment like 0-0 1-2, found '0.5,0.5'"):
        _ = marian.alignment
    joshua = read("joshua-nbest", "0 ||| a ||| tm_pt_0=-1.000 ||| -1.000 ||| 0-0\n")
    assert joshua.alignment == [((0, 0),)]
    assert replace(marian.select([0]), raw=None).alignment == [((0, 0), (1, 1))]
