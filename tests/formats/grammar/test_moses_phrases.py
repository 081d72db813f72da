"""Moses' phrase tables: scores, sparse features and properties; lines come back, bad ones are named."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, open_bytes
from smtformats.grammar import moses_phrases
from smtformats.grammar.rules import NonTerminal, Rule

from .faces import Faces

PHRASES = Faces(moses_phrases)
LINE = (
    "a b ||| A ||| 0.5 1 0 2.718 ||| 0-0 1-0 ||| 6 185 3 ||| sp 2 po_x -1.5 ||| "
    "{{Counts 1 2 1}} {{Tree [NP [DT the]]}}\n"
)
NAMES = tuple(f"TranslationModel0[{k}]" for k in range(4))


def test_a_line() -> None:
    rule = PHRASES.rule(LINE)
    assert (rule.lhs, rule.source, rule.target) == ("X", ("a", "b"), ("A",))
    assert rule.names == (*NAMES, "TranslationModel0_sp", "TranslationModel0_po_x")
    assert rule.values == (math.log(0.5), 0, -100, math.log(2.718), 2, -1.5)
    assert rule.alignment == ((0, 0), (1, 0))
    assert rule.counts == (6, 185, 3)
    assert rule.properties == (("Counts", "1 2 1"), ("Tree", "[NP [DT the]]"))


@pytest.mark.parametrize(
    ("score", "value"),
    [("1", 0), ("0", -100), ("1e-300", -100), ("1e-400", -100), ("4e-44", math.log(4e-44)), ("1e30", math.log(1e30))],
)
def test_logarithms_have_a_floor(score: str, value: float) -> None:
    rule = PHRASES.rule(f"a ||| A ||| {score}\n")
    assert rule.features() == {"TranslationModel0": value}


def test_names_of_scores() -> None:
    assert PHRASES.rule("a ||| A ||| 1\n").names == ("TranslationModel0",)
    assert PHRASES.rule(LINE, table="TM1").names[:1] == ("TM1[0]",)
    assert PHRASES.rule(LINE, table="TM1").names[4:] == ("TM1_sp", "TM1_po_x")
    named = PHRASES.rule(LINE, features="a  b c d").names
    assert named == ("a", "b", "c", "d", "TranslationModel0_sp", "TranslationModel0_po_x")


def test_other_spellings() -> None:
    assert PHRASES.rule("a ||| A ||| 1").alignment == ()
    assert PHRASES.rule("a |||  ||| 1 |||\n").target == ()
    assert PHRASES.rule("a|||A B|||.5 1.\n").target == ("A", "B")
    assert PHRASES.rule("a\tb  |||  A\t|||  1 ||| 1-0 0-1 ||| |||\r\n").alignment == ((1, 0), (0, 1))
    assert PHRASES.rule("haus|NN [ ] ||| A|N |-| ||| 1\n").source == ("haus|NN", "[", "]")
    assert PHRASES.rule("a ||| A ||| 1 ||| 0-7\n").alignment == ((0, 7),)
    assert PHRASES.rule("a ||| A ||| 1 ||| ||| 6 185 3 ||| |||\n").counts == (6, 185, 3)
    assert PHRASES.rule("a\u00a0b\u2028 ||| \x85 \r ||| 1\n").target == ("\x85", "\r")
    odd = PHRASES.rule("a ||| A ||| 1 |||  |||  |||  ||| {{A [T }]}}{{B  x = {y}}}\t\n").properties
    assert odd == (("A", "[T }]"), ("B", " x = {y}"))


def test_what_is_composed() -> None:
    rule = PHRASES.rule(LINE)
    changed = rule.with_features((*NAMES, "TranslationModel0_new"), (0.0, -100.0, -1.0, 0.5, 7.0))
    wanted = "a b ||| A ||| 1 0 0.36787944117144233 1.6487212707001282 ||| 0-0 1-0 ||| 6 185 3 ||| new 7 ||| "
    assert PHRASES.written([changed]) == wanted + "{{Counts 1 2 1}} {{Tree [NP [DT the]]}}\n"
    assert PHRASES.written([Rule("X", ("a",), (), ("p",), (0.0,))]) == "a |||  ||| 1\n"
    assert PHRASES.written([Rule("X", ("a",), (), ("p",), (0.0,), counts=(2.0,))]) == "a |||  ||| 1 |||  ||| 2\n"


def test_blank_lines_and_a_missing_end_come_back() -> None:
    text = "\n\r\n" + LINE + "\n" + LINE.replace("\n", "\r\n") + "\n" + LINE.removesuffix("\n")
    assert PHRASES.written(PHRASES.read(text)) == text


WORDS = st.text("ab[],1é語|=;{}-\u00a0\u2028\r", min_size=1, max_size=8).filter(
    lambda word: "|||" not in word and not (word[0] == "[" and word[-1] == "]")
)
SCORES = st.one_of(
    st.floats(0, 3e38).map(repr),
    st.floats(0, 1).map("{:.6g}".format),
    st.sampled_from(["0", "1", "+1", ".5", "1e-400"]),
)
VALUES = st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr)


@st.composite
def tables(draw: st.DrawFn) -> str:
    scores = draw(st.integers(1, 5))
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        properties = draw(st.lists(st.sampled_from(["{{A b}}", "{{Tree [X [T }]]}}", "{{é  = x }}"]), max_size=2))
        fields = [
            draw(st.lists(WORDS, min_size=1, max_size=4)),
            draw(st.lists(WORDS, max_size=4)),
            draw(st.lists(SCORES, min_size=scores, max_size=scores)),
            draw(st.lists(st.sampled_from(["0-0", "1-12", "00-1", "32767-3"]), max_size=4)),
            draw(st.lists(VALUES, max_size=3)),
            [token for pair in draw(st.lists(st.tuples(WORDS, VALUES), max_size=3)) for token in pair],
            properties,
        ]
        fields = fields[: draw(st.integers(3, 7))]
        blank = draw(st.sampled_from([" ", " ", "  ", "\t"]))
        bar = draw(st.sampled_from([" ||| ", " ||| ", " |||", "\t|||  "]))
        lines.append(bar.join(blank.join(field) for field in fields) + draw(st.sampled_from(["\n", "\n\n", " \n"])))
    return "".join(lines)


@given(tables(), st.booleans())
def test_lines_come_back(text: str, cut: bool) -> None:
    text = text.removesuffix("\n") if cut and not text.endswith("\n\n") else text
    assert PHRASES.written(PHRASES.read(text)) == text


@given(tables())
def test_what_is_composed_reads_back(text: str) -> None:
    rules = PHRASES.read(text)
    rules = [rule.with_features(tuple(rule.features()), tuple(rule.features().values())) for rule in rules]
    reread = PHRASES.read(PHRASES.written(rules))
    for again, rule in zip(reread, rules, strict=True):
        assert again.names == rule.names
        assert again.values == pytest.approx(rule.values, rel=1e-6, abs=1e-12)
        assert replace(again, values=rule.values, line=rule.line, raw=None) == rule


@given(tables(), st.data())
def test_spoilt_text_is_refused_or_comes_back(text: str, data: st.DataObject) -> None:
    spoilt = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(spoilt) - 1))
        spoil = data.draw(st.sampled_from([b"", b" ", b"\n", b"|", b"|||", b"{{", b"}}", b"\xff", b"\r", b"0", b"\0"]))
        spoilt[at : at + data.draw(st.integers(0, 2))] = spoil
    try:
        rules = PHRASES.read(bytes(spoilt))
    except FormatError:
        return
    assert PHRASES.written(rules).encode() == spoilt


PROBABILITY = "field 3: expected a probability of 0 or more, found"
POINT = "field 4: expected an alignment point s-t of positions up to 32767, found"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a", "field 2: expected 3 to 7 fields, source ||| target ||| probabilities, found 1"),
        ("a ||| A", "field 3: expected 3 to 7 fields, source ||| target ||| probabilities, found 2"),
        (
            "a ||| A ||| 1 1 ||| ||| ||| ||| |||",
            "field 8: expected 3 to 7 fields, source ||| target ||| probabilities, found 8",
        ),
        (" ", "field 2: expected 3 to 7 fields, source ||| target ||| probabilities, found 1"),
        (" ||| A ||| 1 1", "field 1: expected 1 to 1000 source symbols, found 0"),
        (
            "a [X] ||| A ||| 1 1",
            "field 1: expected words without brackets (moses-rules has gaps), found '[X]'",
        ),
        (
            "a ||| [X][X] ||| 1 1",
            "field 2: expected words without brackets (moses-rules has gaps), found '[X][X]'",
        ),
        ("a ||| A ||| 1", "field 3: expected 2 scores, as line 1 has, found 1"),
        ("a ||| A ||| 1 1 1", "field 3: expected 2 scores, as line 1 has, found 3"),
        ("a ||| A |||  ||| 0-0", "field 3: expected 1 score or more, found none"),
        ("a ||| A ||| 1 x", f"{PROBABILITY} 'x'"),
        ("a ||| A ||| -0.5 1", f"{PROBABILITY} '-0.5'"),
        ("a ||| A ||| nan 1", f"{PROBABILITY} 'nan'"),
        ("a ||| A ||| 1 inf", f"{PROBABILITY} 'inf'"),
        ("a ||| A ||| 1 1e39", f"{PROBABILITY} '1e39'"),
        ("a ||| A ||| 1 0x1", f"{PROBABILITY} '0x1'"),
        ("a ||| A ||| F=1 G=1", f"{PROBABILITY} 'F=1'"),
        ("a ||| A ||| 1 1 ||| 0", f"{POINT} '0'"),
        ("a ||| A ||| 1 1 ||| 0-0 -1-0", f"{POINT} '-1-0'"),
        ("a ||| A ||| 1 1 ||| 99999999999999999999-0", f"{POINT} '99999999999999999999-0'"),
        ("a ||| A ||| 1 1 ||| (0) (0)", f"{POINT} '(0)'"),
        ("a ||| A ||| 1 1 ||| 0-0 ||| 1 x", "field 5: expected a number that fits 32-bit floats, found 'x'"),
        ("a ||| A ||| 1 1 ||| 0-0 ||| 1 ||| sp", "field 6: expected pairs of a name and a value, found 1 item"),
        ("a ||| A ||| 1 1 ||| ||| ||| sp=1", "field 6: expected pairs of a name and a value, found 1 item"),
        ("a ||| A ||| 1 1 ||| ||| ||| sp x", "field 6: expected a number that fits 32-bit floats, found 'x'"),
        ("a ||| A ||| 1 1 ||| ||| ||| ||| A b", "field 7: expected properties, {{Key value}}, found 'A b'"),
        ("a ||| A ||| 1 1 ||| ||| ||| ||| {{A}}", "field 7: expected properties, {{Key value}}, found '{{A}}'"),
        ("a ||| A ||| 1 1 ||| ||| ||| ||| {{ A}}", "field 7: expected properties, {{Key value}}, found '{{ A}}'"),
        ("a ||| A ||| 1 1 ||| ||| ||| ||| {{A b} }", "field 7: expected properties, {{Key value}}, found '{{A b} }'"),
        ("a ||| A ||| 1 1 ||| ||| ||| ||| {{A b}} c", "field 7: expected properties, {{Key value}}, found '{{A b}} c'"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    for end in ("\n", "\na ||| A ||| 1 1\n", ""):
        assert PHRASES.error(f"a ||| A ||| 1 1\n\n{line}{end}") == f"x:3: {message}"


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (b"a\xff ||| A ||| 1\n", {}, "field 1: expected UTF-8 text, found byte 0xff at column 2"),
        (b"a ||| A\xed\xa0\x80 ||| 1\n", {}, "field 2: expected UTF-8 text, found byte 0xed at column 8"),
        (b"a b c ||| A ||| 1\n", {"max_symbols": 2}, "field 1: expected 1 to 2 source symbols, found 3"),
        (b"a ||| A B C ||| 1\n", {"max_symbols": 2}, "field 2: expected at most 2 target symbols, found 3"),
        (b"a ||| A ||| 1 1\n", {"max_features": 1}, "field 3: expected at most 1 score, found 2"),
        (b"a ||| A ||| 1 ||| 0-0 0-1\n", {"max_features": 1}, "field 4: expected at most 1 alignment point, found 2"),
        (b"a ||| A ||| 1 ||| ||| 1 2\n", {"max_features": 1}, "field 5: expected at most 1 count, found 2"),
        (b"a ||| A ||| 1 ||| ||| ||| a 2\n", {"max_features": 1}, "field 6: expected at most 1 item, found 2"),
        (
            b"a ||| A ||| 1 ||| ||| ||| ||| {{a 2}} {{a 2}}\n",
            {"max_features": 1},
            "field 7: expected at most 1 property, found 2",
        ),
        (b"a ||| A ||| 1\n", {"max_bytes": 9}, "field 1: expected a line of at most 9 bytes, found a longer one"),
        (
            b"a ||| A ||| 1\n",
            {"features": "p q"},
            "field 3: expected 2 scores, as the option features names, found 1",
        ),
        (
            b"a ||| A ||| 1 1\n",
            {"features": "p p"},
            "field 3: expected different names in the option features, found 'p p'",
        ),
        (b"", {}, "field 1: expected a rule, source ||| target ||| probabilities, found none in the file"),
    ],
)
def test_bad_bytes_and_options(data: bytes, options: dict[str, Any], message: str) -> None:
    assert PHRASES.error(data, **options) == f"x:1: {message}"


@pytest.mark.parametrize(
    "rule",
    [
        Rule("X", ("a b",), ("c",), ("p",), (0.0,)),
        Rule("X", ("a|||b",), ("c",), ("p",), (0.0,)),
        Rule("X", ("a\n",), ("c",), ("p",), (0.0,)),
        Rule("X", (), ("c",), ("p",), (0.0,)),
        Rule("X", ("a",), ("[c]",), ("p",), (0.0,)),
        Rule("S", ("a",), ("c",), ("p",), (0.0,)),
        Rule("X", ("a",), ("c",)),
        Rule("X", ("a",), ("c",), ("p", "TranslationModel0_a b"), (0.0, 1.0)),
        Rule("X", ("a",), ("c",), ("p", "TranslationModel0_a"), (0.0, float("inf"))),
        Rule("X", ("a",), ("c",), ("p",), (0.0,), level=1),
        Rule("X", ("a",), ("c",), ("p",), (0.0,), tree="(S c)"),
        Rule("X", ("a",), ("c",), ("p",), (0.0,), properties=(("A", ""),)),
        Rule("X", ("a",), ("c",), ("p",), (0.0,), properties=(("A", "{{"),)),
    ],
)
def test_rules_that_cannot_be_written(rule: Rule) -> None:
    with pytest.raises(FormatError):
        PHRASES.written([rule])


def test_gaps_cannot_be_written() -> None:
    gap = NonTerminal("X", 1)
    with pytest.raises(FormatError) as caught:
        PHRASES.written([Rule("X", (gap, "a"), ("A", gap), ("p",), (0.0,), file="f", line=7)])
    assert str(caught.value) == "f:7: field 1: expected words only, found the gap [X]"


@pytest.mark.shared
def test_gold_comes_back(shared: Path) -> None:
    gold = shared / "gold"
    names = ("moses/model/phrase-table.gz", "moses/train/first3k/phrase-table.gz", "moses/edge/pt.txt")
    for name in (*names, "joshua/phrase_decoder/rules.1.gz"):
        with open_bytes(gold / name) as stream:
            # The beginning; the large ones were seen to come back as a whole.
            data = b"".join(stream.readlines(300000))
        assert PHRASES.written(PHRASES.read(data)).encode() == data, name


@given(
    st.from_regex(r"[1-9]\.[0-9]{5}e-(0[0-9]|[1-3][0-9])", fullmatch=True, alphabet=st.characters(max_codepoint=127))
)
def test_probabilities_are_composed_as_they_were(score: str) -> None:
    rule = PHRASES.rule(f"a ||| A ||| {score}\n")
    text = PHRASES.written([rule.with_features(rule.names, rule.values)])
    assert float(text.split()[-1]) == float(score)


@pytest.mark.shared
def test_the_edges_that_moses_showed(shared: Path) -> None:
    rules = PHRASES.read((shared / "gold/moses/edge/pt.txt").read_bytes())
    assert [rule.values[:4] for rule in rules[2:]] == [
        (*[math.log(0.5)] * 3, -100),
        (math.log(0.5),) * 4,
        (-100, *[math.log(0.5)] * 3),
    ]
    assert rules[0].features()["TranslationModel0_po_x"] == 1.5
    assert rules[3].target == ()
