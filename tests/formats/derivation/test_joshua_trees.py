"""Trees with spans: Joshua's %t and cdec's -J, round brackets as words, the trees of real runs."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_bytes, open_lines
from smtformats.derivation import cdec
from smtformats.derivation.derivations import PrintedDerivation
from smtformats.derivation.joshua_trees import FORMAT, parse
from smtformats.files import Lines, head
from smtformats.grammar.rules import NonTerminal
from smtformats.nbest import joshua as nbest_joshua


def read(text: str) -> list[PrintedDerivation]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


def test_tree() -> None:
    first, second = read("(GOAL{0-4} (X{1-3} a (NP\\DT{2-3} house) b) </s>)\n()\n")
    assert (first.id, first.rank, first.score) == ("0", 0, None)
    assert [(node.label, node.span, node.children) for node in first.nodes] == [
        ("GOAL", (0, 4), (1,)),
        ("X", (1, 3), (2,)),
        ("NP\\DT", (2, 3), ()),
    ]
    rule = first.nodes[1].rule
    assert rule is not None
    assert (rule.lhs, rule.source, rule.target) == ("X", (), ("a", NonTerminal("NP\\DT", 1), "b"))
    assert first.target() == ["a", "house", "b", "</s>"]
    assert (second.id, second.nodes, second.target(), second.line) == ("1", (), [], 2)


def test_cdecs_lines() -> None:
    first, second, third = read("7 ||| (S{0-2} (X{0-2} a b)) ||| 1.0 ||| -1\n9 |||  ||| 1.0 ||| -1\n(S{0-1} c)\n")
    assert (first.id, first.target()) == ("7", ["a", "b"])
    assert (second.id, second.nodes) == ("9", ())
    assert (third.id, third.target()) == ("10", ["c"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(X{0-1} ()", ["("]),
        ("(X{0-1} ))", [")"]),
        ("(X{0-3} (X{0-1} () b (X{1-2} )))", ["(", "b", ")"]),
        ("(X{0-3} ( a ) (Y{1-2} b) ))", ["(", "a", ")", "b", ")"]),
        ("(X{0-1} )", []),
        ("(X{0-2} (Y{0-1} ) (Z{1-2} a))", ["a"]),
        ("(X{0-2} (a b{0-1} {1-2})", ["(a", "b{0-1}", "{1-2}"]),
        ("(X{-1--1} (S{0-1} a))", ["a"]),
    ],
)
def test_brackets(text: str, words: list[str]) -> None:
    (tree,) = read(text)
    assert tree.target() == words


WORDS = st.text("ab{}-0é\u2028\u00a0", min_size=1, max_size=3) | st.sampled_from(["(", ")"])


@st.composite
def lines(draw: st.DrawFn) -> tuple[str, list[str], int]:
    """A tree with words, these, and how many brackets there are; each bracket has a word or a bracket inside."""
    words: list[str] = []
    count = 0

    def node(depth: int) -> str:
        nonlocal count
        count += 1
        parts = []
        for _ in range(draw(st.integers(1, 3))):
            if depth and draw(st.booleans()):
                parts.append(node(depth - 1))
            else:
                words.append(draw(WORDS))
                parts.append(words[-1])
        return f"(X{{{depth}-9}} {' '.join(parts)})"

    return node(3), words, count


@given(lines())
def test_words_come_back(drawn: tuple[str, list[str], int]) -> None:
    text, words, count = drawn
    for line in (text, f"3 ||| {text} ||| 1.0 ||| -1\n"):
        (tree,) = read(line)
        assert (tree.target(), len(tree.nodes)) == (words, count)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n", "field 1: expected (LABEL{i-j} ...), or `id ||| (LABEL{i-j} ...) ||| number ||| number`, found 'a'"),
        ("\n", "field 1: expected (LABEL{i-j} ...), or `id ||| (LABEL{i-j} ...) ||| number ||| number`, found ''"),
        ("x ||| (X{0-1} a) ||| 1 ||| 1\n", "field 1: expected (LABEL{i-j} ...), or `id ||| (LABEL{i-j} ...)"),
        ("0 ||| (X{0-1} a) ||| 1\n", "field 1: expected (LABEL{i-j} ...), or `id ||| (LABEL{i-j} ...)"),
        ("0 ||| (X{0-1} a) ||| 1 ||| b\n", "field 1: expected (LABEL{i-j} ...), or `id ||| (LABEL{i-j} ...)"),
        ("0 ||| a ||| 1 ||| 1\n", "field 2: expected a label with a span, (LABEL{i-j}, found 'a'"),
        ("(X a)\n", "field 1: expected a label with a span, (LABEL{i-j}, found '(X'"),
        ("(X{0-1 a)\n", "field 1: expected a label with a span, (LABEL{i-j}, found '(X{0-1'"),
        ("(X{0-1234567890} a)\n", "field 1: expected a label with a span, (LABEL{i-j}, found '(X{0-1234567890}'"),
        ("(X{0-1} a\n", "field 1: expected 1 more ), found the end of the tree"),
        ("0 ||| (X{0-1} (Y{0-1} a ||| 1 ||| 1\n", "field 2: expected 2 more ), found the end of the tree"),
        ("(X{0-1} a))\n", "field 1: expected at most 1 ), found 'a))'"),
        ("(X{0-1} a) b\n", "field 1: expected one tree in round brackets, found 'b'"),
        ("(X{0-1} a) (Y{0-1} b)\n", "field 1: expected one tree in round brackets, found '(Y{0-1}'"),
    ],
)
def test_bad_lines(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read("()\n" + text)
    assert str(caught.value).startswith(f"x:2: {message}")


@given(
    st.lists(
        st.sampled_from("(X{0-1} |(Y{-1-2}|a|)|(| |\n|0 ||| | ||| 1.0 ||| -1\n|{0-1}|()\n".split("|||")), max_size=9
    )
)
def test_any_text_gives_derivations_or_a_format_error(parts: list[str]) -> None:
    try:
        derivations = read("".join(parts))
    except FormatError:
        return
    assert all(
        0 < child < len(derivation.nodes)
        for derivation in derivations
        for node in derivation.nodes
        for child in node.children
    )


@pytest.mark.parametrize("text", ["()\n(X{0-1} a)\n", "0 ||| (S{0-1} (X{0-1} a)) ||| 1.0 ||| -1\n", FORMAT.example])
def test_shape(text: str) -> None:
    assert detect(text.encode(), all_formats(), "x") is FORMAT


@pytest.mark.parametrize("text", ["(S (X a))\n", "()\n", "0 ||| a ||| 1.0 ||| -1\n", "", "((('a',1,1),),)\n"])
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


@pytest.mark.shared
def test_joshuas_own(shared: Path) -> None:
    path = shared / "gold/joshua/tree-output/output.gold"
    with open_bytes(path) as stream:
        assert detect(head(stream), all_formats(), str(path)) is FORMAT
    with open_lines(path) as text:
        trees = list(parse(text))
    assert [len(tree.nodes) for tree in trees] == [8, 0, 4, 4, 3]
    assert trees[0].target() == "<s> foo bar baz </s>".split()
    assert trees[1].target() == []
    assert trees[4].nodes[1].label == "NP\\DT"


@pytest.mark.shared
def test_joshuas_subtrees_are_swapped(shared: Path) -> None:
    """The words of Joshua's tree are the translation but for the order of what the rules swap."""
    with open_lines(shared / "gold/joshua/wa/output.gold") as text:
        (nbest,) = nbest_joshua.parse(text)
    trees = read("".join(tree + "\n" for tree in nbest.extras["tree"]))
    assert len(trees) == 8
    swapped = 0
    for tree, words in zip(trees, nbest.texts, strict=True):
        words_of = [word for word in tree.target() if word not in ("<s>", "</s>")]
        assert sorted(words_of) == sorted(words.split())
        swapped += words_of != words.split()
    assert swapped == 4


@pytest.mark.shared
def test_cdecs_own(shared: Path) -> None:
    """The words of the derivations that cdec shows rule by rule; equal scores may have other rules."""
    folder = shared / "gold/cdec/first50"
    with open_lines(folder / "joshua_viz.txt") as text:
        trees = list(parse(text))
    assert len(trees) == 50
    same = 0
    for tree in trees:
        with open_lines(folder / f"derivs.k1.all/derivs.{tree.id}") as text:
            (derivation,) = cdec.parse(text)
        assert tree.target() == derivation.target()
        spans = Counter((node.label, node.span) for node in derivation.nodes if node.label != "Goal")
        same += Counter((node.label, node.span) for node in tree.nodes) == spans
    assert same == 32
