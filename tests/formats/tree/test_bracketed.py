"""Bracketed trees: byte-exact copies, and errors for bad lines."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_bytes, open_lines
from smtformats.files import HEAD_BYTES, Lines
from smtformats.format import shortest
from smtformats.tree import conllu
from smtformats.tree.bracketed import FORMAT, parse, write
from smtformats.tree.trees import Parse, Tree

TEXT = (
    "(S (NP (DT the) (NN house)) (VP (VBZ is)))\n\n( (S (NP (PRP it))) (. .) )\n()\n(())\n \t\n"
    "(S(X a -LRB- |||(X\tb) c)  )\r\n(X (Y z))"
)


def read(text: str | bytes, **limits: int) -> list[Parse]:
    return list(parse(Lines(io.BytesIO(text.encode() if isinstance(text, str) else text), "x"), **limits))


def written(records: list[Parse]) -> str:
    out = io.StringIO()
    assert write(records, out, shortest) == len(records)
    return out.getvalue()


def test_lines() -> None:
    parses = read(TEXT)
    assert [parsed.tree and str(parsed.tree) for parsed in parses] == [
        "(S (NP (DT the) (NN house)) (VP (VBZ is)))",
        None,
        "( (S (NP (PRP it))) (. .))",
        None,
        None,
        None,
        "(S (X a -LRB- ||| (X b) c))",
        "(X (Y z))",
    ]
    assert parses[6].tree is not None
    assert parses[6].tree.words() == ["a", "-LRB-", "|||", "b", "c"]
    assert (parses[6].file, parses[6].line) == ("x", 7)
    assert written(parses) == TEXT


def test_composed() -> None:
    trees = [Parse(Tree("S", (Tree("X", ("a",)), "b"))), Parse(None), Parse(Tree("", (Tree("S", ("é\u2028",)),)))]
    text = written(trees)
    assert text == "(S (X a) b)\n\n( (S é\u2028))\n"
    assert [parsed.tree for parsed in read(text)] == [parsed.tree for parsed in trees]
    assert written([replace(parsed, raw=None) for parsed in read(TEXT)]).splitlines()[2] == "( (S (NP (PRP it))) (. .))"
    # A line of this format without its end, and one that another format read.
    assert written([*read("(S (X a))"), replace(read("(S (X  a))")[0], origin="other")]) == "(S (X a))\n(S (X a))\n"


@given(st.lists(st.sampled_from("(S |(X | a|)|(|) | (|\t|\r|é|b".split("|")), max_size=12).map("".join))
def test_what_is_read_comes_back(text: str) -> None:
    try:
        parses = read(text)
    except FormatError:
        return
    assert written(parses) == text
    again = read(written([replace(parsed, raw=None) for parsed in parses]))
    assert [parsed.tree for parsed in again] == [parsed.tree for parsed in parses]


@pytest.mark.parametrize(
    "tree",
    [
        Tree("S", ("a b",)),
        Tree("S", ("(",)),
        Tree("S", ("",)),
        Tree("S", ("a\nb",)),
        Tree("", ("a",)),
        Tree("", ()),
        Tree("S", (Tree("", ("a",)),)),
        Tree("S x", ()),
    ],
)
def test_what_cannot_be_written(tree: Tree) -> None:
    with pytest.raises(FormatError) as caught:
        written([Parse(tree, file="x", line=4)])
    assert str(caught.value).startswith(
        "x:4: field 1: expected a tree of words and labels without blanks and round brackets, found '("
    )


def test_other_trees_cannot_be_written() -> None:
    dependencies = next(conllu.parse(Lines(io.BytesIO(conllu.FORMAT.example.encode()), "x")))
    with pytest.raises(FormatError) as caught:
        write([dependencies], io.StringIO(), shortest)
    assert str(caught.value) == "x:1: expected a tree with brackets, found Dependencies"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n", "x:1: field 1: expected one tree in round brackets, found 'a'"),
        ("\n) (S a)\n", "x:2: field 1: expected one tree in round brackets, found ') (S a)'"),
        ("(S a\n", "x:1: field 1: expected 1 more ), found the end of the line"),
        ("(S (X (Y a)\n", "x:1: field 1: expected 2 more ), found the end of the line"),
        ("(S a))\n", "x:1: field 1: expected one tree in round brackets, found ')'"),
        ("(S a) (S b)\n", "x:1: field 1: expected one tree in round brackets, found '(S b)'"),
        ("(S a) b\n", "x:1: field 1: expected one tree in round brackets, found 'b'"),
        ("(S ((X a)))\n", "x:1: field 1: expected a label after each inner (, found '((X a)))'"),
        ("((()))\n", "x:1: field 1: expected a label after each inner (, found '(()))'"),
        ("( a (X b))\n", "x:1: field 1: expected a label after (, found 'a'"),
        ("(S (X (Y (Z a))))\n", "x:1: field 1: expected at most 3 nested brackets, found more"),
        ("(S a)\n(S \xff)\n", "x:2: field 1: expected UTF-8 text, found byte 0xff at column 4"),
        ("(" * 99999, "x:1: field 1: expected a label after each inner (, found '(((((((((("),
        ("(X" * 99999, "x:1: field 1: expected at most 3 nested brackets, found more"),
    ],
)
def test_bad_lines(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text.encode("latin-1"), max_nesting=3)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", [TEXT, "\n\n(S (X a))\n", "(S (X a))", "(())\n(TOP (S (X a)))\n"])
def test_shape(text: str) -> None:
    assert detect(text.encode(), all_formats(), "x") is FORMAT


@pytest.mark.parametrize(
    "text",
    ["(applause)\n", "(S a)\n(S b)\n", "(S (X a))\nb\n", "((('a',0.1,1),),)\n", "(S{0-1} (X{0-1} a))\n", "\n", "()\n"],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


def test_a_line_longer_than_the_head() -> None:
    line = ("(S " + "(X (Y a) b) " * 9000 + ")\n").encode()
    assert FORMAT.matches(line[:HEAD_BYTES])
    assert FORMAT.matches((b"(S (X a))\n" * 9000)[:HEAD_BYTES])


@pytest.mark.shared
def test_gold_comes_back(shared: Path) -> None:
    path = shared / "gold/cdec/system_tests/t2s/input.txt"
    with open_bytes(path) as stream:
        data = stream.read()
    assert detect(data, all_formats(), str(path)) is FORMAT
    with open_lines(path) as lines:
        (parsed,) = parse(lines)
    assert written([parsed]).encode() == data
    assert parsed.tree is not None
    assert parsed.tree.words() == "the gunman was killed by the police .".split()
