"""Joshua's %d blocks: rules, what may stand in front of them, failures, bad lines."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect
from smtformats.derivation.derivations import PrintedDerivation
from smtformats.derivation.joshua import FORMAT, parse
from smtformats.files import Lines
from smtformats.grammar.rules import NonTerminal

BLOCK = """\
  0-5 ||| [GOAL] -> [GOAL] [X] /// [GOAL,1] [X,2] ||| < <s> two | of one > ||| tm_pt_0=0.000 tm_glue_0=1.000 ||| 0.5
    0-1 ||| [GOAL] -> <s> /// <s> ||| < <s> | <s> > ||| tm_glue_0=0.000 ||| 0.0
    1-4 ||| [X] -> [A] de [B] /// [B,2] of [A,1] ||| < two of | of one > ||| tm_pt_0=-0.250 ||| -1.0E-4 ||| [1, 1]
      1-2 ||| [A] -> uno /// one ||| ||| F=1 ||| -Infinity ||| []
      3-4 ||| [B] -> dos /// two |||  |||  ||| -0.56570554 ||| [0, 0, 1, 2]

"""


def read(text: str, **limits: int) -> list[PrintedDerivation]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), **limits))


def test_block() -> None:
    (derivation,) = read(BLOCK)
    assert (derivation.id, derivation.rank, derivation.score, derivation.line) == ("0", 0, None, 1)
    assert [(node.label, node.span, node.children) for node in derivation.nodes] == [
        ("GOAL", (0, 5), (1, 2)),
        ("GOAL", (0, 1), ()),
        ("X", (1, 4), (3, 4)),
        ("A", (1, 2), ()),
        ("B", (3, 4), ()),
    ]
    assert derivation.source() == ["<s>", "uno", "de", "dos"]
    assert derivation.target() == ["<s>", "two", "of", "one"]
    rule = derivation.nodes[2].rule
    assert rule is not None
    assert rule.target == (NonTerminal("B", 2), "of", NonTerminal("A", 1))
    assert (rule.alignment, rule.line) == (((1, 1),), 3)
    assert derivation.nodes[0].features() == {"tm_pt_0": 0, "tm_glue_0": 1}
    assert [node.score for node in derivation.nodes] == [0.5, 0, -1e-4, float("-inf"), -0.56570554]
    assert derivation.nodes[4].rule is not None
    assert derivation.nodes[4].rule.alignment == ((0, 0), (1, 2))


@pytest.mark.parametrize(
    ("fronts", "expected"),
    [
        (["", ""], [("0", 0, None), ("1", 0, None)]),
        (["3 ||| ", "3 ||| ", "5 ||| "], [("3", 0, None), ("3", 1, None), ("5", 0, None)]),
        (["3 ||| -1.250 ||| ", "4 ||| -Infinity ||| "], [("3", 0, -1.25), ("4", 0, float("-inf"))]),
        (["0 ||| 1 ||| 2 ||| ", "0 ||| 7 ||| -3 ||| "], [("0", 0, 2.0), ("0", 6, -3.0)]),
    ],
)
def test_fronts(fronts: list[str], expected: list[tuple[str, int, float | None]]) -> None:
    text = "".join(front + BLOCK for front in fronts)
    derivations = read(text)
    assert [(derivation.id, derivation.rank, derivation.score) for derivation in derivations] == expected
    assert all(len(derivation.nodes) == 5 for derivation in derivations)
    assert detect(text.encode(), all_formats(), "x") is FORMAT
    # The last empty line may be absent, lines may end in \\r\\n.
    assert [(derivation.id, len(derivation.nodes)) for derivation in read(text[:-1].replace("\n", "\r\n"))] == [
        (key, 5) for key, _, _ in expected
    ]


def test_failures() -> None:
    derivations = read("%d\n" + BLOCK + "%d\n%d\n")
    assert [(derivation.id, len(derivation.nodes)) for derivation in derivations] == [
        ("0", 0),
        ("1", 5),
        ("2", 0),
        ("3", 0),
    ]
    derivations = read("0 ||| %d\n1 ||| " + BLOCK + "2 ||| %k ||| 0.000 ||| %d\n")
    assert [
        (derivation.id, derivation.rank, derivation.score, len(derivation.nodes)) for derivation in derivations
    ] == [
        ("0", 0, None, 0),
        ("1", 0, None, 5),
        ("2", 0, 0.0, 0),
    ]
    assert derivations[0].target() == []
    assert detect(("%d\n" + BLOCK).encode(), all_formats(), "x") is FORMAT


def test_odd_rules() -> None:
    (derivation,) = read("  0-1 ||| [A/B\\C] -> [x [] ///  ||| a ||| b=1 ||| 0\n")
    assert derivation.nodes[0].rule is not None
    assert (derivation.nodes[0].label, derivation.nodes[0].rule.target) == ("A/B\\C", ())
    (derivation,) = read("  0-1 ||| [X] -> a ///x /// ///y ||| a ||| ||| 0\n")
    assert (derivation.source(), derivation.target()) == (["a", "///x"], ["///y"])


LEAF = "  0-1 ||| [X] -> a /// b ||| s ||| F=1 ||| 0\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected i-j ||| [LABEL] -> source /// target ||| ..., or %d, found an empty file"),
        ("a\n", "1: field 1: expected i-j ||| [LABEL] -> source /// target ||| ..., or %d, found 'a'"),
        (LEAF + "x\n", "2: field 1: expected i-j ||| [LABEL] -> source /// target ||| ..., or %d, found 'x'"),
        ("0-1 ||| [X] -> a /// b\n", "1: field 1: expected i-j ||| [LABEL] -> source /// target ||| ..., or %d"),
        ("x" + LEAF, "1: field 1: expected nothing before a rule, or %i |||, found 'x'"),
        ("x ||| " + LEAF, "1: field 1: expected a sentence id (a whole number), found 'x'"),
        ("0 ||| x ||| " + LEAF, "1: field 2: expected a number as total score, found 'x'"),
        ("0 ||| 0 ||| 1 ||| " + LEAF, "1: field 2: expected a rank from 1 on, found '0'"),
        ("0 ||| 1 ||| nan ||| " + LEAF, "1: field 3: expected a number as total score, found 'nan'"),
        ("0 ||| 1 ||| 2 ||| 3 ||| " + LEAF, "1: field 4: expected %i, %k and %c at most in front of a derivation"),
        (LEAF[1:], "1: field 1: expected an even number of blanks from 2 to 2, found 1"),
        ("  " + LEAF, "1: field 1: expected an even number of blanks from 2 to 2, found 4"),
        (LEAF + "    " + LEAF, "2: field 1: expected an even number of blanks from 2 to 4, found 6"),
        (LEAF + LEAF, "2: field 1: expected one root, or an empty line before the next derivation"),
        (LEAF + "  " + LEAF, "1: field 1: expected 0 children, one per gap of the rule, found 1"),
        (LEAF.replace("a ///", "[A] ///").replace("/ b", "/ [A,1]"), "1: field 1: expected 1 children"),
        (LEAF.replace("///", "//"), "1: field 2: expected /// between source and target side, found ' a // b '"),
        (LEAF.replace(" a ///", "  ///"), "1: field 2: expected a source side, found none"),
        (LEAF.replace("a ///", "[A] ///"), "1: field 2: expected 1 gaps, as on the source side, found 0"),
        (LEAF.replace("/ b", "/ [A,1]"), "1: field 2: expected each of 0 gaps once, [LABEL,1], found '[A,1]'"),
        (LEAF.replace("/ b", "/ [A]"), "1: field 2: expected each of 0 gaps once, [LABEL,1], found '[A]'"),
        (
            LEAF.replace("a ///", "[A] ///").replace("/ b", "/ [A,1] [A,1]"),
            "1: field 2: expected each of 1 gaps once, [LABEL,1], found '[A,1]'",
        ),
        (LEAF.replace("F=1", "F"), "1: field 4: expected name=value, found 'F'"),
        (LEAF.replace("F=1", "F=nan"), "1: field 4: expected a finite number, found 'nan'"),
        (LEAF.replace("||| 0\n", "||| x\n"), "1: field 5: expected a number as total score, found 'x'"),
        (LEAF.replace("||| 0\n", "||| 0 ||| 0-0\n"), "1: field 6: expected alignment points [s, t, s, t], found '0-0'"),
        (LEAF.replace("||| 0\n", "||| 0 ||| [0]\n"), "1: field 6: expected alignment points [s, t, s, t], found '[0]'"),
        ("7 ||| " + LEAF.replace("||| F=1", ""), "1: field 2: expected 5 or 6 fields, span ||| rule ||| states |||"),
        (LEAF + "    " + LEAF[2:] + "    " + LEAF[2:] + "    " + LEAF[2:], "4: field 1: expected at most 3 rules"),
    ],
)
def test_bad_lines(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text, max_nodes=3)
    assert str(caught.value).startswith(f"x:{message}")


@given(
    st.lists(st.sampled_from([*BLOCK.splitlines(True), LEAF, "%d\n", "1 ||| ", "1 ||| 2 ||| ", "  ", "\n"]), max_size=9)
)
def test_any_lines_give_derivations_or_a_format_error(lines: list[str]) -> None:
    try:
        derivations = read("".join(lines))
    except FormatError:
        return
    assert sum(len(derivation.nodes) for derivation in derivations) == "".join(lines).count(" -> ")


def test_many_blanks() -> None:
    with pytest.raises(FormatError, match="expected i-j"):
        read(" " * 1000000 + "x\n")


@pytest.mark.parametrize("text", ["%d\n", "0-1 ||| a\n", "", "  0-1 ||| [X] -> a\n", "a   0-1 ||| [X] -> a /// b\n"])
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())
