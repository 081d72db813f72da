"""Moses' rule tables: gaps, their links and labels, glue grammars; lines come back, bad ones are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, open_bytes
from smtformats.grammar import moses_rules
from smtformats.grammar.rules import NonTerminal, Rule

from .faces import Faces

TABLE = Faces(moses_rules)
X1, X2 = NonTerminal("X", 1), NonTerminal("X", 2)
GLUE = """\
<s> [X] ||| <s> [S] ||| 1 ||| 0-0 ||| 0 ||| |||
[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 1-1 ||| 0 ||| |||
[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1 ||| 0 ||| |||
"""


def test_a_line() -> None:
    rule = TABLE.rule(
        "an [X][X] auf [X][X] [X] ||| [X][X] on [X][X] [X] ||| 0.5 1 ||| 0-1 3-0 1-2 ||| 0.3 2.4 0.1 ||| |||\n"
    )
    assert rule.lhs == "X"
    assert rule.source == ("an", X1, "auf", X2)
    assert rule.target == (X2, "on", X1)
    assert rule.alignment == ((0, 1), (3, 0), (1, 2))
    assert rule.counts == (0.3, 2.4, 0.1)
    assert rule.features() == {"TranslationModel0[0]": -0.6931471805599453, "TranslationModel0[1]": 0}


def test_labels() -> None:
    rule = TABLE.rule("[X][NP] [A][A] [X] ||| [A][A] [X][NP] [S] ||| 1 ||| 0-1 1-0\n")
    assert rule.lhs == "X][S"
    assert rule.source == (NonTerminal("X][NP", 1), NonTerminal("A", 2))
    assert rule.target == (NonTerminal("A", 2), NonTerminal("X][NP", 1))
    again = TABLE.again("[X][NP] [A][A] [X] ||| [A][A] [X][NP] [S] ||| 1 ||| 0-1 1-0\n")
    assert (again.lhs, again.source, again.target) == (rule.lhs, rule.source, rule.target)


def test_glue_grammar() -> None:
    rules = TABLE.read(GLUE, table="TranslationModel1")
    assert [rule.lhs for rule in rules] == ["X][S"] * 3
    assert rules[2].target == (NonTerminal("X][S", 1), X2)
    assert rules[2].features()["TranslationModel1"] == pytest.approx(0.9999, rel=1e-4)
    assert TABLE.written(rules) == GLUE
    anew = TABLE.written([rule.with_features(rule.names, rule.values) for rule in rules])
    assert anew == GLUE.replace(" ||| |||", "")


def test_other_spellings() -> None:
    assert TABLE.rule("a [X] ||| [X] ||| 1\n").target == ()
    assert TABLE.rule("a [X]|||A [X]|||1|||0-0\n").target == ("A",)
    assert TABLE.rule("[ ] a[X][X] [X] ||| A [X] ||| 1\n").arity == 0
    assert TABLE.rule("[X][X] [X] ||| [X][X] [X] ||| 1 ||| 0-0 0-0\n").alignment == ((0, 0), (0, 0))


def test_links_are_added_where_they_lack() -> None:
    rule = Rule("X", (X1, "a", X2), ("A", X2, X1), ("p",), (0.0,), alignment=((1, 0),))
    text = TABLE.written([rule])
    assert text == "[X][X] a [X][X] [X] ||| A [X][X] [X][X] [X] ||| 1 ||| 1-0 0-2 2-1\n"
    assert TABLE.rule(text).target == rule.target


WORDS = st.text("ab[],1é語|=;-\u00a0\u2028", min_size=1, max_size=8).filter(
    lambda word: "|||" not in word and not (word[0] == "[" and word[-1] == "]")
)
LABELS = st.text("XY1é|,", min_size=1, max_size=2)


@st.composite
def lines(draw: st.DrawFn) -> str:
    gaps = [f"[{left}][{right}]" for left, right in draw(st.lists(st.tuples(LABELS, LABELS), max_size=3))]
    source: list[Any] = [None] * draw(st.integers(0 if gaps else 1, 3))
    target: list[Any] = [None] * draw(st.integers(0, 3))
    for k in range(len(gaps)):
        source.insert(draw(st.integers(0, len(source))), k)
        target.insert(draw(st.integers(0, len(target))), k)
    words = [(s, t) for s, left in enumerate(source) for t, right in enumerate(target) if left is right is None]
    points = [(source.index(k), target.index(k)) for k in range(len(gaps))]
    points += draw(st.lists(st.sampled_from(words), max_size=3)) if words else []
    points = draw(st.permutations(points))
    sides = [[draw(WORDS) if k is None else gaps[k] for k in side] + [f"[{draw(LABELS)}]"] for side in (source, target)]
    fields = [*map(" ".join, sides), "0.5 1", " ".join(f"{s}-{t}" for s, t in points)]
    fields += draw(st.sampled_from([[], ["2 2 1"], ["2 2 1", "", ""], ["", "sp 1", "{{Tree [X [X] [Y]]}}"]]))
    return " ||| ".join(fields) + draw(st.sampled_from(["\n", "\n\n", " \n", "\r\n"]))


@given(st.lists(lines(), min_size=1, max_size=4))
def test_lines_come_back(texts: list[str]) -> None:
    text = "".join(texts)
    assert TABLE.written(TABLE.read(text)) == text


@given(lines())
def test_what_is_composed_reads_back(text: str) -> None:
    rule, again = TABLE.rule(text), TABLE.again(text)
    assert again.with_features(rule.names, rule.values) == rule.with_features(rule.names, rule.values)
    assert again.values == pytest.approx(rule.values)


@given(st.lists(lines(), min_size=1, max_size=3), st.data())
def test_spoilt_text_is_refused_or_comes_back(texts: list[str], data: st.DataObject) -> None:
    text = bytearray("".join(texts).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        spoil = data.draw(st.sampled_from([b"", b" ", b"\n", b"|", b"[X]", b"0-1", b"[", b"]", b"\xff", b"\r", b"\0"]))
        text[at : at + data.draw(st.integers(0, 2))] = spoil
    try:
        rules = TABLE.read(bytes(text))
    except FormatError:
        return
    assert TABLE.written(rules).encode() == text


PAIR = "expected a pair of labels, [X][X], or a word without brackets, found"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a [X] ||| A [X]", "field 3: expected 3 to 7 fields, source [X] ||| target [X] ||| probabilities, found 2"),
        ("[X] ||| A [X] ||| 1", "field 1: expected 2 to 1000 source symbols, found 1"),
        ("a [X] |||  ||| 1", "field 2: expected 1 to 1000 source symbols, found 0"),
        ("a b ||| A [X] ||| 1", "field 1: expected a label at the end of the side, [X], found 'b'"),
        ("a [X] ||| A ||| 1", "field 2: expected a label at the end of the side, [X], found 'A'"),
        ("a [X][X] ||| A [X] ||| 1", "field 1: expected a label at the end of the side, [X], found '[X][X]'"),
        ("a [] ||| A [X] ||| 1", "field 1: expected a label at the end of the side, [X], found '[]'"),
        ("[X] a [X] ||| A [X] ||| 1", f"field 1: {PAIR} '[X]'"),
        ("a [X] ||| [X,1] [X] ||| 1", f"field 2: {PAIR} '[X,1]'"),
        ("a [] [X] ||| A [X] ||| 1", f"field 1: {PAIR} '[]'"),
        ("[X][X] [X] ||| A [X] ||| 1 ||| 0-0", "field 2: expected 1 gap, as on the source side, found 0"),
        (
            "[X][X] [X] ||| [X][Y] [X] ||| 1 ||| 0-0",
            "field 2: expected the labels [X][X], as on the source side, found '[X][Y]'",
        ),
        ("[X][X] [X] ||| [X][X] [X] ||| 1", "field 4: expected one point for each of 1 gap, found 0"),
        (
            "[X][X] [X][X] [X] ||| [X][X] [X][X] [X] ||| 1 ||| 0-0",
            "field 4: expected one point for each of 2 gaps, found 1",
        ),
        (
            "[X][X] [X][X] [X] ||| [X][X] [X][X] [X] ||| 1 ||| 0-0 0-1",
            "field 4: expected one point for each of 2 gaps, found 2",
        ),
        (
            "[X][X] [X][X] [X] ||| [X][X] [X][X] [X] ||| 1 ||| 0-0 1-0",
            "field 4: expected one point for each gap, found '1-0'",
        ),
        (
            "[X][X] a [X] ||| [X][X] A [X] ||| 1 ||| 0-0 1-0",
            "field 4: expected points that link gaps to gaps, found '1-0'",
        ),
        (
            "[X][X] a [X] ||| [X][X] A [X] ||| 1 ||| 0-0 0-1",
            "field 4: expected points that link gaps to gaps, found '0-1'",
        ),
        ("a [X] ||| A [X] ||| 1 1", "field 3: expected 1 score, as line 1 has, found 2"),
        ("a [X] ||| A [X] ||| F=1", "field 3: expected a probability of 0 or more, found 'F=1'"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    for end in ("\n", "\n" + GLUE, ""):
        assert TABLE.error(f"a [X] ||| A [X] ||| 1\n\n{line}{end}") == f"x:3: {message}"


@pytest.mark.parametrize(
    "rule",
    [
        Rule("X", (), (), ("p",), (0.0,)),
        Rule("X", ("a b",), ("c",), ("p",), (0.0,)),
        Rule("X", ("[a]",), ("c",), ("p",), (0.0,)),
        Rule("X Y", ("a",), ("c",), ("p",), (0.0,)),
        Rule("X][X", ("a",), ("c",), ("p",), (0.0,)),
        Rule("A][B][C", ("a",), ("c",), ("p",), (0.0,)),
        Rule("X", (NonTerminal("X][X", 1),), (NonTerminal("X][X", 1),), ("p",), (0.0,)),
        Rule("X", (X1,), ("c",), ("p",), (0.0,)),
        Rule("X", ("a",), (X1,), ("p",), (0.0,)),
        Rule("X", (X1,), (X1,), ("p",), (0.0,), alignment=((0, 1),)),
        Rule("X", (X1,), (X1,), ("p",), (0.0,), tree="(S [X])"),
    ],
)
def test_rules_that_cannot_be_written(rule: Rule) -> None:
    with pytest.raises(FormatError):
        TABLE.written([rule])


@pytest.mark.shared
@pytest.mark.parametrize(
    "name",
    [
        "model/glue-grammar",
        "model/rule-table.gz",
        "train/first300/glue",
        "train/first300/rule-table.gz",
        "trees/glue-grammar.tree.gz",
        "trees/rule-table.tree.gz",
    ],
)
def test_gold_comes_back(shared: Path, name: str) -> None:
    with open_bytes(shared / "gold/moses" / name) as stream:
        # The beginning; the large ones were seen to come back as a whole.
        data = b"".join(stream.readlines(300000))
    rules = TABLE.read(data)
    assert TABLE.written(rules).encode() == data
    if "tree" in name:
        assert all(dict(rule.properties)["Tree"][:1] == "[" for rule in rules)
