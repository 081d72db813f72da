"""CoNLL-U: byte-exact copies, and errors for bad lines."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.tree.conllu import FORMAT, parse, write
from smtformats.tree.dependencies import Dependencies, Word
from smtformats.tree.trees import Parse, Tree


def row(*columns: str) -> str:
    return "\t".join(columns + ("_",) * (10 - len(columns))) + "\n"


FIRST = (
    "# sent_id = 1\n# text = Vámonos al mar, él no.\n"
    + row("1-2", "Vámonos")
    + row("1", "vamos", "ir", "VERB", "_", "Mood=Imp", "0", "root")
    + row("2", "nos", "nosotros", "PRON", "_", "_", "1", "obj")
    + row("3-4", "al")
    + row("3", "a", "a", "ADP", "_", "_", "5", "case")
    + row("4", "el", "el", "DET", "_", "_", "5", "det")
    + row("5", "mar", "mar", "NOUN", "_", "_", "1", "obl", "_", "SpaceAfter=No")
    + row("6", "él", "él", "PRON", "_", "_", "1", "conj")
    + row("6.1", "va", "ir", "VERB", "_", "_", "_", "_", "1:conj")
    + row("6.2", "x")
    + row("7", "no", "no", "ADV", "_", "_", "6", "orphan", "6.1:advmod")
    + "\n"
)
SECOND = row("0.1", "x") + row("1", "mit Blank\u00a0\u2028") + row("2", "#", "_", "_", "_", "_", "1")


def read(text: str, **limits: int) -> list[Dependencies]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), **limits))


def written(records: Iterable[Any]) -> str:
    out = io.StringIO()
    records = list(records)
    assert write(records, out, shortest) == len(records)
    return out.getvalue()


def test_sentences() -> None:
    first, second = read(FIRST + SECOND)
    assert first.words() == ["vamos", "nos", "a", "el", "mar", "él", "no"]
    assert first.tokens() == ["Vámonos", "al", "mar", "él", "no"]
    assert first.heads() == [0, 1, 5, 5, 1, 1, 6]
    assert first.comments == ("# sent_id = 1", "# text = Vámonos al mar, él no.")
    assert first.rows[1] == Word("1", "vamos", "ir", "VERB", "_", "Mood=Imp", "0", "root", "_", "_")
    assert [parsed.id for parsed in first.rows] == "1-2 1 2 3-4 3 4 5 6 6.1 6.2 7".split()
    assert second.heads() == [-1, 1]
    assert second.tokens() == second.words() == ["mit Blank\u00a0\u2028", "#"]
    assert (first.line, second.line) == (1, 15)


@pytest.mark.parametrize(
    "text",
    [
        FIRST + SECOND,
        FIRST + SECOND + "\n",
        "\n\n" + FIRST + "\n\n" + FIRST,
        (FIRST + SECOND).replace("\n", "\r\n"),
        SECOND.rstrip("\n"),
        "\r\n" + SECOND + "\r\n\n",
    ],
)
def test_bytes_come_back(text: str) -> None:
    sentences = read(text)
    assert written(sentences) == text
    parts = [(parsed.rows, parsed.comments) for parsed in sentences]
    again = read(written(replace(parsed, raw=None) for parsed in sentences))
    assert [(parsed.rows, parsed.comments) for parsed in again] == parts
    # A missing line end is added before the next sentence.
    assert [(parsed.rows, parsed.comments) for parsed in read(written(sentences * 2))] == parts * 2


def test_composed() -> None:
    (parsed,) = read(SECOND)
    rows = (parsed.rows[0], replace(parsed.rows[1], form="ein"), parsed.rows[2])
    changed = replace(parsed, rows=rows, raw=None)
    assert written([changed]) == SECOND.replace("mit Blank\u00a0\u2028", "ein") + "\n"
    assert written([replace(parsed, origin="other")]) == SECOND + "\n"


COLUMNS = st.text("ab_#|-1. é\u2028\x0b", min_size=1, max_size=3)


@st.composite
def sentences(draw: st.DrawFn) -> Dependencies:
    count = draw(st.integers(1, 5))
    rows = []
    for i in range(1, count + 1):
        head = draw(st.sampled_from(["_", *(str(n) for n in range(count + 1) if n != i)]))
        some = draw(st.lists(COLUMNS, min_size=8, max_size=8))
        rows.append(Word(str(i), some[0], some[1], some[2], some[3], some[4], head, some[5], some[6], some[7]))
    if draw(st.booleans()):
        rows.append(Word(f"{count}.1", draw(COLUMNS)))
    if count > 1 and draw(st.booleans()):
        rows.insert(count - 2, Word(f"{count - 1}-{count}", draw(COLUMNS)))
    comments = draw(st.lists(COLUMNS.map("#".__add__), max_size=2))
    return Dependencies(tuple(rows), tuple(comments))


@given(st.lists(sentences(), min_size=1, max_size=3))
def test_what_is_written_is_read(some: list[Dependencies]) -> None:
    assert [(parsed.rows, parsed.comments) for parsed in read(written(some))] == [
        (parsed.rows, parsed.comments) for parsed in some
    ]


@given(
    st.lists(st.sampled_from([*FIRST.splitlines(True), *SECOND.splitlines(True), "\n", "# c\n", "\r\n"]), max_size=9)
)
def test_what_is_read_comes_back(lines: list[str]) -> None:
    try:
        sentences = read("".join(lines))
    except FormatError:
        return
    assert written(sentences) == "".join(lines)


@pytest.mark.parametrize(
    "sentence",
    [
        Dependencies((Word("1", "a\tb"),)),
        Dependencies((Word("1", "a\nb"),)),
        Dependencies((Word("1", ""),)),
        Dependencies((Word("1", "a", misc="b\r"),)),
        Dependencies((Word("1", "a"), Word("1", "b"))),
        Dependencies((Word("2", "a"),)),
        Dependencies((Word("1", "a", head="2"),)),
        Dependencies((Word("1", "\ud800"),)),
        Dependencies((Word("1", "a"),), ("no comment",)),
        Dependencies((Word("1", "a"),), ("# two\n# lines",)),
        Dependencies(()),
    ],
)
def test_what_cannot_be_written(sentence: Dependencies) -> None:
    with pytest.raises(FormatError):
        written([sentence])


def test_other_trees_cannot_be_written() -> None:
    with pytest.raises(FormatError) as caught:
        written([Parse(Tree("S", ("a",)), file="x", line=3)])
    assert str(caught.value) == "x:3: expected dependencies, found Parse"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected a sentence, a word on each line, found none in the file"),
        ("\n\n", "1: field 1: expected a sentence, a word on each line, found none in the file"),
        ("# only\n\n", "2: field 1: expected a word after the comments, found the end of the sentence"),
        ("# only", "1: field 1: expected a word after the comments, found the end of the sentence"),
        ("1 a _ _ _ _ _ _ _ _\n", "1: field 2: expected 10 columns with tabs between them, found 1"),
        (row("1", "a")[:-3] + "\n", "1: field 10: expected 10 columns with tabs between them, found 9"),
        (row("1", "a")[:-1] + "\t_\n", "1: field 10: expected 10 columns with tabs between them, found 11"),
        (row("1", ""), "1: field 2: expected a column that is not empty (_ means no value), found ''"),
        (row("2", "a"), "1: field 1: expected the number 1, found '2'"),
        (row("1", "a") + row("1", "b"), "2: field 1: expected the number 2, found '1'"),
        (row("01", "a"), "1: field 1: expected the number 1, found '01'"),
        (row("x", "a"), "1: field 1: expected the number 1, found 'x'"),
        (row("9" * 30, "a"), "1: field 1: expected the number 1, found '9999"),
        (row("1.1", "a"), "1: field 1: expected the number 0.1, found '1.1'"),
        (row("1", "a") + row("1.2", "b"), "2: field 1: expected the number 1.1, found '1.2'"),
        (row("2-3", "a"), "1: field 1: expected a token from 1 to a greater number, found '2-3'"),
        (row("1-1", "a"), "1: field 1: expected a token from 1 to a greater number, found '1-1'"),
        (
            row("1-3", "a") + row("1", "a") + row("2-3", "a"),
            "3: field 1: expected a token from 4 to a greater number, found '2-3'",
        ),
        (
            row("1-3", "a") + row("1", "a") + "\n",
            "3: field 1: expected words up to 3, the end of a multiword token, found 1",
        ),
        (row("1", "a", *"____", "2") + "\n", "1: field 7: expected a head from 0 to 1, another word, found '2'"),
        (row("1", "a", *"____", "1"), "1: field 7: expected a head from 0 to 1, another word, found '1'"),
        (row("1", "a", *"____", "-1"), "1: field 7: expected a head from 0 to 1, another word, found '-1'"),
        (row("1", "a", *"____", "0.1"), "1: field 7: expected a head from 0 to 1, another word, found '0.1'"),
        (
            row("0.1", "a", *"____", "1") + row("1", "b") + "\n" + row("1", "c"),
            "1: field 7: expected _ (only words have heads), found '1'",
        ),
        (row("1", "a") + "# late\n", "2: field 2: expected 10 columns with tabs between them, found 1"),
        (
            "".join(row(str(i), "a") for i in range(1, 8)),
            "7: field 1: expected at most 6 words in a sentence, found more",
        ),
    ],
)
def test_bad_lines(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text, max_words=6)
    assert str(caught.value).startswith(f"x:{message}")


def test_many_empty_lines() -> None:
    assert len(read(FIRST + "\n" * 300000 + FIRST)) == 2


@pytest.mark.parametrize("text", [FIRST, SECOND, row("1", "a"), "\n# x\n" + row("1-2", "a")])
def test_shape(text: str) -> None:
    assert detect(text.encode(), all_formats(), "x") is FORMAT


@pytest.mark.parametrize(
    "text", ["1\ta\n", row("2", "a"), "# a\n", "", "1" + row("_", "a"), row("1", "a")[:-1] + "\t_\n"]
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())
