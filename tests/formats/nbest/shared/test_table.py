"""Tables that others wrote: read by the names of their columns, and never taken for text."""

from __future__ import annotations

import io
from typing import Any

import pytest

from smtformats import Candidates, FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.nbest.tsv import parse

TABLE = "seg\thyp\tscore\tlm\tnote\n0\ta house\t-1\t-3.5\tx\n0\thouse\t-2\t\t\ns-1\tthe \\n man\t-1.5\t1e0\t7\n"
OPTIONS: dict[str, Any] = {"id": "seg", "text": "hyp", "total": "score"}


def read(text: str, /, **options: Any) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), **options))


def refused(text: str, /, **options: Any) -> str:
    with pytest.raises(FormatError) as caught:
        read(text, **options)
    return str(caught.value)


def plain(lists: list[Candidates]) -> list[Any]:
    return [(nbest.id, nbest.source, list(nbest.rows()), nbest.extras) for nbest in lists]


WANTED = [
    ("0", None, [("a house", {"lm": -3.5}, -1), ("house", {}, -2)], {"note": ["x", ""]}),
    ("s-1", None, [("the \\n man", {"lm": 1}, -1.5)], {"note": ["7"]}),
]


def test_columns_are_named() -> None:
    assert plain(read(TABLE, **OPTIONS)) == WANTED
    assert plain(read("\ufeff" + TABLE.replace("\n", "\r\n"), **OPTIONS)) == WANTED
    assert plain(read(TABLE.replace("\t", ","), separator="comma", **OPTIONS)) == WANTED
    quoted = TABLE.replace("seg", '"seg"').replace("a house", '"a house"')
    assert plain(read(quoted, quotes="csv", **OPTIONS)) == WANTED
    assert "1: field 1: expected the option quotes=csv" in refused(quoted, **OPTIONS)
    cell = 'id,text\n0,"a ""house"", b\nc"\n'
    assert read(cell, separator="comma")[0].texts == ['a "house", b\nc']
    assert read('id\thyp\n0\t"a" b\n', text="hyp", quotes="none")[0].texts == ['"a" b']
    names = read("total\tb\ttext\tid\n-1\t2\ta\t0\n", source="b")
    assert plain(names) == [("0", "2", [("a", {}, -1)], {})]
    prefixed = read("id\ttext\tfeature.total\textra.n\n0\ta\t1\t2\n", rank=None, rows="lists", quotes="none")
    assert plain(prefixed) == [("0", None, [("a", {"total": 1}, None)], {"n": ["2"]})]


def test_each_row_a_sentence() -> None:
    lists = read("src\tmt\nein haus\ta house\nder mann\tthe man\n", text="mt", source="src", rows="sentences")
    assert [(nbest.id, nbest.source, nbest.texts) for nbest in lists] == [
        ("0", "ein haus", ["a house"]),
        ("1", "der mann", ["the man"]),
    ]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            TABLE,
            {"text": "nix"},
            "1: field 1: expected one column nix, as the option text=nix says, found 0 among",
        ),
        (TABLE, {"text": "hyp"}, "1: field 1: expected a column id (the option id=COLUMN names it, or rows=sentences"),
        (TABLE, {"id": "seg"}, "1: field 1: expected a column text (the option text=COLUMN names it), found seg, hyp"),
        (TABLE, {**OPTIONS, "source": "hyp"}, "1: field 1: expected a column for each part, found hyp as text and"),
        (TABLE, {"separator": "comma"}, "1: field 1: expected a column text"),
        (TABLE.replace("\t7", ""), OPTIONS, "4: field 5: expected 5 cells, as in the first line, found 4"),
        (
            TABLE.replace("\t1e0", "\ty"),
            OPTIONS,
            "4: field 4: expected a number in the column lm, as in the rows",
        ),
        (TABLE.replace("\t-2\t", "\t\t"), OPTIONS, "2: expected a total for all hypotheses of a list or for none"),
        (TABLE.replace("\t-2\t", "\tb\t"), OPTIONS, "3: field 1: expected a number as total score, found 'b'"),
        (TABLE + TABLE.split("\n")[1], OPTIONS, "5: field 1: expected the rows of an id next to each other, found '0'"),
        (TABLE.replace("s-1", ""), OPTIONS, "4: field 1: expected an id, found an empty cell"),
        (TABLE.replace("note", "extra.lm"), OPTIONS, "1: field 1: expected each column once, found 'lm' twice"),
        (TABLE.replace("note", "lm"), OPTIONS, "1: field 1: expected each column once, found 'lm' twice"),
        (TABLE, {**OPTIONS, "rows": "sentences"}, "1: field 1: expected rows without ids, as rows=sentences says"),
        (TABLE, {**OPTIONS, "rank": "lm"}, "2: field 4: expected a rank (a whole number), found '-3.5'"),
        ("id\ttext\tn\n0\ta\t2\n0\tb\t1\n", {"rank": "n"}, "3: field 3: expected a rank after 2, found '1'"),
        ("id\ts\ttext\n0\ta\tb\n0\tb\tb\n", {"source": "s"}, "3: field 1: expected the source of the rows before, 'a'"),
        ('id,text\n0,"a\n', {"separator": "comma"}, "2: field 1: expected cells with quotes around them or none"),
        ("", {"text": "a"}, "1: field 1: expected a line of column names, found an empty file"),
        ("id\ttext\n", {"quotes": "csv"}, "1: field 1: expected an n-best list, found no hypothesis in the file"),
    ],
)
def test_bad_tables(text: str, options: dict[str, Any], message: str) -> None:
    assert refused(text, **options).startswith(f"x:{message}")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (TABLE, "id=seg,text=hyp,total=score"),
        (TABLE.replace("\t", ","), "id=seg,text=hyp,total=score,separator=comma"),
        ("\ufeffsrc\tmt\tscore\nein haus\ta house\t-1\n", "text=mt,total=score,source=src"),
        ('"ID","Hypothesis"\n0,"a, b"\n', "id=ID,text=Hypothesis,separator=comma"),
        ("source\ttarget\nein haus\ta house\n", "text=COLUMN"),
    ],
)
def test_tables_are_no_text(text: str, hint: str) -> None:
    for kinds in (("nbest", "hypergraph"), ("nbest", "corpus"), ("corpus",)):
        with pytest.raises(FormatError) as caught:
            detect(text.encode(), [record for record in all_formats() if record.kind in kinds], "x")
        assert "x:1: field 1: expected the columns id, rank, text, total of a list" in str(caught.value)
        assert f"(smt convert --from tsv-nbest,{hint} reads others)" in str(caught.value)
        assert "found a table with the columns " in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["yes,no\n", "the text, score and rank .\n", "a\tb\n", "ein haus\ta house\n", "text\n", "id\n"],
)
def test_sentences_are_no_tables(text: str) -> None:
    corpora = [record for record in all_formats() if record.kind == "corpus"]
    assert detect(text.encode(), corpora, "x").name in ("text", "tsv-corpus")
