"""Joshua's grammars: the sign rule, the spellings of Joshua and Thrax, lines that come back, bad ones named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, open_bytes
from smtformats.grammar import joshua
from smtformats.grammar.rules import NonTerminal, Rule

from .faces import Faces

X1, X2 = NonTerminal("X", 1), NonTerminal("X", 2)
JOSHUA = Faces(joshua)
GLUE = """\
[GOAL] ||| <s> ||| <s> ||| 0
[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1
[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0
[GOAL] ||| <s> [X,1] </s> ||| <s> [X,1] </s> ||| 0
"""


def test_a_line() -> None:
    rule = JOSHUA.rule("[X] ||| A [X,1] B1 [X,2] C ||| a b [X,2] c1 [X,1] ||| 1 2.5 OOV=1 ||| 0-0 2-1 4-1\n")
    assert rule.lhs == "X"
    assert rule.source == ("A", X1, "B1", X2, "C")
    assert rule.target == ("a", "b", X2, "c1", X1)
    assert rule.features() == {"tm_pt_0": -1, "tm_pt_1": -2.5, "OOV": 1}
    assert rule.alignment == ((0, 0), (2, 1), (4, 1))
    assert rule.counts == ()


@pytest.mark.parametrize(
    ("features", "owner", "names", "values"),
    [
        # Joshua itself gives -1, -2.5, 0.5 and sp=4 for these.
        ("1 2.5 tm_pt_2=3 sp=4 -0.5", "pt", "tm_pt_0 tm_pt_1 tm_pt_2 sp tm_pt_2", (-1, -2.5, 3, 4, 0.5)),
        ("tm_pt_0=2 3", "pt", "tm_pt_0 tm_pt_0", (2, -3)),
        ("3 tm_pt_0=2", "pt", "tm_pt_0 tm_pt_0", (-3, 2)),
        ("tm_pt_007=2 7", "pt", "tm_pt_7 tm_pt_0", (2, -7)),
        ("1 tm_pt_0=2", "glue", "tm_glue_0 tm_pt_0", (-1, 2)),
        ("tm_pt_x=1 tm_pt_=2", "pt", "tm_pt_x tm_pt_", (1, 2)),
        ("a=1e-3 .5 +2 -3. 4E2", "pt", "a tm_pt_0 tm_pt_1 tm_pt_2 tm_pt_3", (0.001, -0.5, -2, 3, -400)),
    ],
)
def test_the_sign_rule(features: str, owner: str, names: str, values: tuple[float, ...]) -> None:
    rule = JOSHUA.rule(f"[X] ||| a ||| b ||| {features}\n", owner=owner)
    assert rule.names == tuple(names.split())
    assert rule.values == values


def test_the_last_value_counts() -> None:
    rule = JOSHUA.rule("[X] ||| a ||| b ||| 1 2.5 tm_pt_2=3 sp=4 -0.5\n")
    assert rule.features() == {"tm_pt_0": -1, "tm_pt_1": -2.5, "tm_pt_2": 0.5, "sp": 4}


def test_a_cost_of_zero_has_no_sign() -> None:
    rule = JOSHUA.rule("[X] ||| a ||| b ||| 0 -0 F=-0\n")
    assert list(map(repr, rule.values)) == ["0.0", "0.0", "-0.0"]


def test_composed_features_have_names() -> None:
    text = "[X] ||| [X,1] a [Y,2] ||| [Y,2] [X,1] ||| 1 F=2 0.5 ||| 1-0 ||| 2\n"
    rule = JOSHUA.rule(text, owner="glue")
    changed = rule.with_features((*rule.names, "new"), (*rule.values, 0.25))
    wanted = "[X] ||| [X,1] a [Y,2] ||| [Y,2] [X,1] ||| tm_glue_0=-1 F=2 tm_glue_1=-0.5 new=0.25 ||| 1-0 ||| 2\n"
    assert JOSHUA.written([changed]) == wanted
    assert JOSHUA.rule(wanted, owner="glue").features() == changed.features()
    assert JOSHUA.rule(wanted).features() == changed.features()


def test_thrax() -> None:
    rule = JOSHUA.rule("[X] ||| come ||| eats ||| e_given_f_lex=0 rarity=0.36788 ||| 0-0 ||| 2\n")
    assert rule.counts == (2,)
    assert rule.features() == {"e_given_f_lex": 0, "rarity": 0.36788}
    blank = JOSHUA.rule("[X] ||| come ||| eats ||| 0 0.36788 |||  ||| 2\n")
    assert (blank.alignment, blank.counts) == ((), (2,))
    assert JOSHUA.rule("[X] ||| a ||| b ||| 1 ||| 0-0 ||| anything at all ||| 0-0 |||\t\n").counts == ()


def test_other_spellings() -> None:
    assert JOSHUA.rule("[X] ||| a ||| b\n").names == ()
    assert JOSHUA.rule("[X] ||| a ||| b ||| \n").names == ()
    assert JOSHUA.rule("[X] ||| a |||  ||| 1\n").target == ()
    assert JOSHUA.rule("[X] ||| a ||| \n").target == ()
    assert JOSHUA.rule("[X] |||  a  b  ||| c\t d ||| 1  2 \n").source == ("a", "b")
    assert JOSHUA.rule("[X]\t|||\ta\t|||\tb\t|||\t1\r\n").values == (-1,)
    assert JOSHUA.rule("[NP\\DT] ||| a [NN,1] ||| [NN,1] b\n").lhs == "NP\\DT"
    assert JOSHUA.rule("[X] ||| [] [ ] a[X,1] [X,1]a ||| [] [X\n").arity == 0
    assert JOSHUA.rule("[X] ||| [NP] b ||| [NP,1]\n").source == (NonTerminal("NP", 1), "b")
    assert JOSHUA.rule("[X] ||| [X][S,1] b ||| [X][S,1]\n").source == (NonTerminal("X][S", 1), "b")
    assert JOSHUA.rule("[X] ||| a\u00a0b\u2028 \x85|||c ||| d\n").source == ("a\u00a0b\u2028", "\x85|||c")


def test_labels_of_the_target_side_are_not_looked_at() -> None:
    text = "[S] ||| [NP,1] [VP,2] ||| [,2] [Y,1] ||| 0\n"
    rule = JOSHUA.rule(text)
    assert rule.target == (NonTerminal("VP", 2), NonTerminal("NP", 1))
    assert JOSHUA.written([rule]) == text


def test_many_gaps() -> None:
    gaps = " ".join(f"[X,{i}]" for i in range(1, 201))
    back = " ".join(f"[X,{i}]" for i in range(200, 0, -1))
    assert JOSHUA.rule(f"[X] ||| {gaps} ||| {back}\n").arity == 200


def test_glue_grammar() -> None:
    rules = JOSHUA.read(GLUE, owner="glue")
    assert [rule.features() for rule in rules] == [{"tm_glue_0": value} for value in (0, 1, 0, 0)]
    assert rules[1].source == (NonTerminal("GOAL", 1), X2)
    assert JOSHUA.written(rules) == GLUE
    anew = JOSHUA.written([rule.with_features(rule.names, rule.values) for rule in rules])
    assert [rule.features() for rule in JOSHUA.read(anew)] == [rule.features() for rule in rules]


def test_blank_lines_and_a_missing_end_come_back() -> None:
    text = "\n\r\n[S] ||| a ||| A\n\n[S] ||| a ||| A ||| F=1\r\n\n[S] ||| b ||| B ||| 1"
    assert JOSHUA.written(JOSHUA.read(text)) == text
    first, last = JOSHUA.read("[S] ||| a ||| A")[0], JOSHUA.read("[S] ||| b ||| B\n")[0]
    assert JOSHUA.written([first, last]) == "[S] ||| a ||| A\n[S] ||| b ||| B\n"


WORDS = st.text("ab[],1é語|=;-\u00a0\u2028", min_size=1, max_size=8).filter(
    lambda word: word != "|||" and not (len(word) > 2 and word[0] == "[" and word[-1] == "]")
)
LABELS = st.text("XY1é|=[]", min_size=1, max_size=3)
# Not the default, all of UTF-8, which takes hypothesis 0.7 s to list.
ASCII = st.characters(max_codepoint=127)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,9})?([eE][+-]?[0-9])?", fullmatch=True, alphabet=ASCII),
    st.sampled_from(["1e-400", ".5", "1.", "-0", "00012.50"]),
)
NAMES = st.one_of(st.sampled_from(["F", "tm_pt_0", "tm_pt_02", "tm_glue_0"]), st.text("FG|[é1", min_size=1))
BLANKS = st.sampled_from([" ", " ", " ", "  ", "\t"])


@st.composite
def lines(draw: st.DrawFn) -> str:
    blank = draw(BLANKS)
    labels = draw(st.lists(LABELS, max_size=3))
    source = draw(st.lists(WORDS, min_size=0 if labels else 1, max_size=4))
    for i, label in enumerate(labels, 1):
        at = draw(st.integers(0, len(source))) if i == 1 else len(source)
        source.insert(at, draw(st.sampled_from([f"[{label}]", f"[{label},{i}]"])))
    target = draw(st.lists(WORDS, max_size=4))
    for i, label in enumerate(labels, 1):
        target.insert(draw(st.integers(0, len(target))), f"[{label},{i}]")
    items = draw(st.lists(st.one_of(NUMBERS, st.tuples(NAMES, NUMBERS).map("=".join)), max_size=6))
    points = draw(st.lists(st.sampled_from(["0-0", "1-12", "00-1", "32767-3"]), max_size=4))
    fields = [f"[{draw(LABELS)}]", blank.join(source), blank.join(target), blank.join(items), blank.join(points)]
    fields += draw(st.sampled_from([[], [], ["2"], ["0.5 1 3"], ["x"], ["2", "more"]]))
    return " ||| ".join(fields) + draw(st.sampled_from(["\n", "\n", " \n", "\n\n", "\r\n"]))


@given(st.lists(lines(), min_size=1, max_size=6), st.booleans())
def test_lines_come_back(texts: list[str], cut: bool) -> None:
    text = "".join(texts)
    text = text.removesuffix("\n") if cut and not text.endswith("\n\n") else text
    assert JOSHUA.written(JOSHUA.read(text)) == text


@given(lines())
def test_what_is_composed_reads_back(text: str) -> None:
    rule = JOSHUA.rule(text)
    again = JOSHUA.again(text)
    assert again.with_features(rule.names, rule.values) == rule.with_features(rule.names, rule.values)
    assert again.values == rule.values


@given(st.lists(lines(), min_size=1, max_size=3), st.data())
def test_spoilt_text_is_refused_or_comes_back(texts: list[str], data: st.DataObject) -> None:
    text = bytearray("".join(texts).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        spoil = data.draw(st.sampled_from([b"", b" ", b"\n", b"|", b"=", b"[X]", b"\xff", b"\r", b"0", b"\xc3", b"\0"]))
        text[at : at + data.draw(st.integers(0, 2))] = spoil
    try:
        rules = JOSHUA.read(bytes(text))
    except FormatError:
        return
    assert JOSHUA.written(rules).encode() == text


FLOAT = "expected a number that fits 32-bit floats, found"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("# comment", "field 1: expected a left-hand side, [LABEL], and one blank, found '# comment'"),
        ("X ||| a ||| A", "field 1: expected a left-hand side, [LABEL], and one blank, found 'X'"),
        (" [X] ||| a ||| A", "field 1: expected a left-hand side, [LABEL], and one blank, found ' [X]'"),
        ("[X]  ||| a ||| A", "field 1: expected a left-hand side, [LABEL], and one blank, found '[X] '"),
        ("[X,1] ||| a ||| A", "field 1: expected a left-hand side, [LABEL], and one blank, found '[X,1]'"),
        ("[S X] ||| a ||| A", "field 1: expected a left-hand side, [LABEL], and one blank, found '[S X]'"),
        (
            "[X] ||| a",
            "field 3: expected 3 fields or more, [LABEL] ||| source ||| target ||| numbers or name=value ..., found 2",
        ),
        ("[X] ||| a ||| A |||", "field 3: expected a blank after the last |||, found the end of the line"),
        ("[X] ||| a ||| ||| 1", "field 3: expected an empty field with two blanks, `|||  |||`, found '||| |||'"),
        ("[X] |||  ||| A", "field 2: expected 1 to 1000 source symbols, found 0"),
        ("[X] ||| [,1] ||| [X,1]", "field 2: expected a label of the gap, found '[,1]'"),
        ("[X] ||| [X,2] ||| [X,2]", "field 2: expected index 1, as Joshua numbers gaps in order, found '[X,2]'"),
        ("[X] ||| [X,a] ||| [X,1]", "field 2: expected index 1, as Joshua numbers gaps in order, found '[X,a]'"),
        ("[X] ||| [X,1] ||| [X]", "field 3: expected a gap with its index, [LABEL,1], found '[X]'"),
        ("[X] ||| [X,1] ||| [1]", "field 3: expected a gap with its index, [LABEL,1], found '[1]'"),
        ("[X] ||| [X,1] ||| [X,2]", "field 3: expected 1 gap, as on the source side, found '[X,2]'"),
        ("[X] ||| a ||| [X,1]", "field 3: expected 0 gaps, as on the source side, found '[X,1]'"),
        ("[X] ||| [X,1] ||| [X,1] [X,1]", "field 3: expected each index once, found '[X,1]' again"),
        ("[X] ||| [X,1] [X,2] ||| [X,2]", "field 3: expected 2 gaps, as on the source side, found 1"),
        ("[X] ||| a ||| A ||| =5", "field 4: expected name=value or a number, found '=5'"),
        ("[X] ||| a ||| A ||| 1 F", f"field 4: {FLOAT} 'F'"),
        ("[X] ||| a ||| A ||| NaN", f"field 4: {FLOAT} 'NaN'"),
        ("[X] ||| a ||| A ||| F=Infinity", f"field 4: {FLOAT} 'Infinity'"),
        ("[X] ||| a ||| A ||| 1f", f"field 4: {FLOAT} '1f'"),
        ("[X] ||| a ||| A ||| 0x1p3", f"field 4: {FLOAT} '0x1p3'"),
        ("[X] ||| a ||| A ||| F=1e39", f"field 4: {FLOAT} '1e39'"),
        ("[X] ||| a ||| A ||| F=G=1", f"field 4: {FLOAT} 'G=1'"),
        ("[X] ||| a ||| A ||| F=", f"field 4: {FLOAT} ''"),
        ("[X] ||| a ||| A ||| 1_0", f"field 4: {FLOAT} '1_0'"),
        ("[X] ||| a ||| A ||| ١", f"field 4: {FLOAT} '١'"),
        ("[X] ||| a ||| A ||| 1 ||| 0", "field 5: expected an alignment point s-t of positions up to 32767, found '0'"),
        (
            "[X] ||| a ||| A ||| 1 ||| 0-32768",
            "field 5: expected an alignment point s-t of positions up to 32767, found '0-32768'",
        ),
        ("[X] ||| a ||| A ||| 1 |||  ||| 1e39", f"field 6: {FLOAT} '1e39'"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    for end in ("\n", "\n" + GLUE, ""):
        assert JOSHUA.error(f"[X] ||| a ||| b\n\n{line}{end}") == f"x:3: {message}"


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (b"[X] ||| a\xff ||| A\n", {}, "field 2: expected UTF-8 text, found byte 0xff at column 10"),
        (b"[X] ||| a ||| A ||| \xed\xa0\x80=1\n", {}, "field 4: expected UTF-8 text, found byte 0xed at column 21"),
        (b"[X] ||| a b c ||| A\n", {"max_symbols": 2}, "field 2: expected 1 to 2 source symbols, found 3"),
        (b"[X] ||| a ||| A B C\n", {"max_symbols": 2}, "field 3: expected at most 2 target symbols, found 3"),
        (b"[X] ||| a ||| A ||| 1 1\n", {"max_features": 1}, "field 4: expected at most 1 feature, found 2"),
        (
            b"[X] ||| a ||| A ||| 1 ||| 0-0 0-1\n",
            {"max_features": 1},
            "field 5: expected at most 1 alignment point, found 2",
        ),
        (
            b"[X] ||| a ||| A ||| 1\n",
            {"max_bytes": 20},
            "field 1: expected a line of at most 20 bytes, found a longer one",
        ),
        (
            b"\n",
            {},
            "field 1: expected a rule, [LABEL] ||| source ||| target ||| numbers or name=value ..., "
            "found none in the file",
        ),
    ],
)
def test_bad_bytes_and_limits(data: bytes, options: dict[str, Any], message: str) -> None:
    assert JOSHUA.error(data, **options) == f"x:1: {message}"


@pytest.mark.parametrize(
    "rule",
    [
        Rule("X", ("a b",), ("c",)),
        Rule("X Y", ("a",), ("c",)),
        Rule("X,1", ("a",), ("c",)),
        Rule("X", ("[X]",), ("c",)),
        Rule("X", ("a",), ("|||",)),
        Rule("X", ("a\n",), ("c",)),
        Rule("X", ("",), ("c",)),
        Rule("X", (), ("c",)),
        Rule("X", (X1,), ("c",)),
        Rule("X", ("a",), ("c",), ("F=G",), (1.0,)),
        Rule("X", ("a",), ("c",), ("tm_pt_01",), (1.0,)),
        Rule("X", ("a",), ("c",), ("F",), (float("inf"),)),
        Rule("X", ("a",), ("c",), tree="(S a)"),
        Rule("X", ("a",), ("c",), level=1),
        Rule("X", ("a",), ("c",), properties=(("Tree", "[S a]"),)),
    ],
)
def test_rules_that_cannot_be_written(rule: Rule) -> None:
    with pytest.raises(FormatError):
        JOSHUA.written([rule])


def test_what_cannot_be_written_is_named() -> None:
    rule = Rule("X", ("a",), ("c",), level=1, file="f", line=7)
    with pytest.raises(FormatError) as caught:
        JOSHUA.written([rule])
    assert (
        str(caught.value) == "f:7: field 1: expected a rule that Joshua's format can hold, found '[X] ||| a ||| c ||| '"
    )


@pytest.mark.shared
def test_gold_comes_back(shared: Path) -> None:
    seen = 0
    for path in sorted((shared / "gold/joshua").glob("*/*grammar*")):
        if path.is_dir():
            continue
        with open_bytes(path) as stream:
            # The beginning of the two large ones, which were seen to come back as a whole.
            data = b"".join(stream.readlines(300000)[:2000])
        assert joshua.matches(data[:60000])
        assert JOSHUA.written(JOSHUA.read(data)).encode() == data, path
        seen += 1
    assert seen == 24


@pytest.mark.shared
def test_thrax_with_and_without_names_says_the_same(shared: Path) -> None:
    bare, named = (
        JOSHUA.read((shared / f"gold/joshua/thrax/hiero-{kind}.grammar").read_bytes()) for kind in ("u", "l")
    )
    assert len(bare) == len(named) == 57
    for cost, value in zip(bare, named, strict=True):
        assert tuple(0.0 - number for number in cost.values) == value.values
        assert cost.counts == value.counts
        assert cost.source == value.source
