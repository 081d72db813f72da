"""Teaching tables: a pair and a number on each line; lines come back, bad ones are named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError
from smtformats.grammar import homework
from smtformats.grammar.rules import NonTerminal, Rule

from .faces import Faces

PAIRS = Faces(homework)


def test_a_line() -> None:
    rule = PAIRS.rule("ein haus ||| a house ||| -0.30103\n")
    assert rule == Rule(
        "X",
        ("ein", "haus"),
        ("a", "house"),
        ("log10p",),
        (-0.30103,),
        raw="ein haus ||| a house ||| -0.30103\n",
        origin="homework-phrases",
        file="x",
    )
    assert PAIRS.rule("ein haus ||| a house ||| -0.30103\n", feature="tm").names == ("tm",)


def test_other_spellings() -> None:
    assert PAIRS.rule("a |||  ||| -1").target == ()
    assert PAIRS.rule("a ||| ||| -1\r\n").target == ()
    assert PAIRS.rule("\ta  b |||\tA  |||  .5 \n").source == ("a", "b")
    assert PAIRS.rule("[X] a|||b ||| [1] ||| 0\n").source == ("[X]", "a|||b")
    assert PAIRS.rule("a\u00a0b\u2028 ||| \x85\r ||| 1e-3\n").target == ("\x85\r",)


def test_what_is_composed() -> None:
    rule = PAIRS.rule("ein haus ||| a house ||| -0.5\n")
    assert PAIRS.written([rule.with_features(("log10p",), (-0.25,))]) == "ein haus ||| a house ||| -0.25\n"
    other = Rule("X", ("a",), (), ("F", "F"), (1.0, 2.0))
    assert PAIRS.written([other], feature="F") == "a |||  ||| 2\n"
    with pytest.raises(FormatError) as caught:
        PAIRS.written([other])
    wanted = "expected only the feature log10p (the option feature names another), found F"
    assert str(caught.value) == f"<data>:1: field 3: {wanted}"


WORDS = st.text("ab[],1é語|=;-\u00a0\u2028\r", min_size=1, max_size=8).filter(lambda word: word != "|||")
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr), st.sampled_from(["0", "-.5", "1.", "1E-3"])
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    blank = draw(st.sampled_from([" ", " ", "  ", "\t"]))
    sides = [draw(st.lists(WORDS, min_size=least, max_size=4)) for least in (1, 0)]
    fields = [*map(blank.join, sides), draw(NUMBERS)]
    return f"{blank}|||{blank}".join(fields) + draw(st.sampled_from(["\n", "\n\n", " \n", "\r\n"]))


@given(st.lists(lines(), min_size=1, max_size=5))
def test_lines_come_back(texts: list[str]) -> None:
    text = "".join(texts)
    rules = PAIRS.read(text)
    assert PAIRS.written(rules) == text
    for rule in rules:
        again = PAIRS.rule(PAIRS.written([rule.with_features(rule.names, rule.values)]))
        assert (again.source, again.target, again.features()) == (rule.source, rule.target, rule.features())


FIELDS = "3 fields, source ||| target ||| number"
NUMBER = "field 3: expected a number that fits 32-bit floats, found"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a", f"field 2: expected {FIELDS}, found 1"),
        (" ", f"field 2: expected {FIELDS}, found 1"),
        ("a ||| A", f"field 3: expected {FIELDS}, found 2"),
        ("a|||A|||-1", f"field 2: expected {FIELDS}, found 1"),
        ("a ||| A ||| -1 ||| 0-0", f"field 4: expected {FIELDS}, found 4"),
        ("a ||| A ||| -1 |||", f"field 4: expected {FIELDS}, found 4"),
        (" ||| A ||| -1", "field 1: expected 1 to 1000 source symbols, found 0"),
        ("a ||| A ||| ", "field 3: expected 1 number, found 0"),
        ("a ||| A ||| -1 -2", "field 3: expected 1 number, found 2"),
        ("a ||| A ||| F=1", f"{NUMBER} 'F=1'"),
        ("a ||| A ||| -inf", f"{NUMBER} '-inf'"),
        ("a ||| A ||| nan", f"{NUMBER} 'nan'"),
        ("a ||| A ||| -1e39", f"{NUMBER} '-1e39'"),
        ("a ||| A ||| 0x10", f"{NUMBER} '0x10'"),
        ("a ||| A ||| 1_0", f"{NUMBER} '1_0'"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    for end in ("\n", "\na ||| A ||| -1\n", ""):
        assert PAIRS.error(f"a ||| A ||| -1\n\n{line}{end}") == f"x:3: {message}"


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (b"a\xff ||| A ||| 1\n", {}, "field 1: expected UTF-8 text, found byte 0xff at column 2"),
        (b"a b c ||| A ||| 1\n", {"max_symbols": 2}, "field 1: expected 1 to 2 source symbols, found 3"),
        (b"a ||| A B C ||| 1\n", {"max_symbols": 2}, "field 2: expected at most 2 target symbols, found 3"),
        (b"a ||| A ||| 1\n", {"max_bytes": 9}, "field 1: expected a line of at most 9 bytes, found a longer one"),
        (b"\n\n", {}, "field 1: expected a rule, source ||| target ||| number, found none in the file"),
    ],
)
def test_bad_bytes_and_limits(data: bytes, options: dict[str, Any], message: str) -> None:
    assert PAIRS.error(data, **options) == f"x:1: {message}"


GAP = NonTerminal("X", 1)


@pytest.mark.parametrize(
    "rule",
    [
        Rule("S", ("a",), ("c",), ("log10p",), (0.0,)),
        Rule("X", ("a b",), ("c",), ("log10p",), (0.0,)),
        Rule("X", ("a",), ("|||",), ("log10p",), (0.0,)),
        Rule("X", ("a\n",), ("c",), ("log10p",), (0.0,)),
        Rule("X", (), ("c",), ("log10p",), (0.0,)),
        Rule("X", (GAP,), (GAP,), ("log10p",), (0.0,)),
        Rule("X", ("a",), ("c",), ("log10p",), (float("nan"),)),
        Rule("X", ("a",), ("c",), ("log10p", "F"), (0.0, 0.0)),
        Rule("X", ("a",), ("c",)),
        Rule("X", ("a",), ("c",), ("log10p",), (0.0,), alignment=((0, 0),)),
        Rule("X", ("a",), ("c",), ("log10p",), (0.0,), counts=(1.0,)),
    ],
)
def test_rules_that_cannot_be_written(rule: Rule) -> None:
    with pytest.raises(FormatError):
        PAIRS.written([rule])
