"""cdec's grammars: the parser and the scanner say the same, lines come back, bad ones are named."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, open_bytes, open_lines
from smtformats.columns import GrammarColumns
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.format import shortest
from smtformats.grammar.cdec import FORMAT, load, parse, write
from smtformats.grammar.rules import NonTerminal, Rule

X1, X2 = NonTerminal("X", 1), NonTerminal("X", 2)


def read(data: bytes, max_bytes: int = MAX_LINE_BYTES, **limits: int) -> list[Rule]:
    return list(parse(Lines(io.BytesIO(data), "x", max_bytes=max_bytes), **limits))


def loaded(data: bytes, **limits: int) -> GrammarColumns:
    return load(io.BytesIO(data), "x", **limits)


def plain(rule: Rule) -> Rule:
    """What columns keep of a rule."""
    features = rule.features()
    values = tuple(float(np.float32(value)) for value in features.values())
    return Rule(rule.lhs, rule.source, rule.target, tuple(features), values, rule.alignment, level=rule.level)


def same(data: bytes) -> list[Rule]:
    """The rules of a text, read both ways."""
    rules = read(data)
    columns = loaded(data)
    actual = [columns.rule(i) for i in range(len(columns))]
    wanted = [plain(rule) for rule in rules]
    assert actual == wanted
    assert [list(map(repr, rule.values)) for rule in actual] == [list(map(repr, rule.values)) for rule in wanted]
    return rules


def rule_of(text: str) -> Rule:
    (rule,) = same(text.encode())
    return rule


def written(rules: list[Rule]) -> str:
    out = io.StringIO()
    assert write(rules, out, shortest) == len(rules)
    return out.getvalue()


def test_a_line_of_the_extractor() -> None:
    rule = rule_of("[X] ||| [X,1] ein [X,2] ||| [X,2] a [X,1] ||| CountEF=0.602059991328 F=0 ||| 1-0 12-3\n")
    assert rule.lhs == "X"
    assert rule.source == (X1, "ein", X2)
    assert rule.target == (X2, "a", X1)
    assert rule.features() == {"CountEF": 0.602059991328, "F": 0}
    assert rule.alignment == ((1, 0), (12, 3))
    assert rule.arity == 2


def test_other_spellings() -> None:
    assert rule_of("[S] ||| [A] x [B] ||| [2] y [A,1]").target == (NonTerminal("B", 2), "y", NonTerminal("A", 1))
    assert rule_of("[S]\t|||\ta  ||| A   A  |||  F=1\tG=2 ;H=3 \n").features() == {"F": 1, "G": 2, "H": 3}
    assert rule_of("[S]|||a ||| A\n").source == ("a",)
    assert rule_of("[S] ||| a |||  ||| F=1\n").target == ()
    assert rule_of("[S] ||| a |||\n").target == ()
    assert rule_of("[S] ||| c ||| C |||  ||| 0-0\n").alignment == ((0, 0),)
    assert rule_of("[NP/VP-1:x\\+] ||| a ||| A ||| [F]|x=5 |||a=2\n").features() == {"[F]|x": 5, "|||a": 2}
    assert rule_of("[S] ||| a\u00a0b\u2028 ||| \x85\r\x0b A ||| F=1\n").target == ("\x85\r\x0b", "A")
    assert rule_of("[S] ||| a ||| A ||| 0.5 -1.25 F=3 7\n").names == (
        "PhraseModel_0",
        "PhraseModel_1",
        "F",
        "PhraseModel_3",
    )
    assert rule_of("[S] ||| a ||| A ||| F=1 G=2 F=5 7\n").features() == {"F": 5, "G": 2, "PhraseModel_3": 7}


def test_what_only_looks_like_a_gap_is_a_word() -> None:
    rule = rule_of("[S] ||| [X]foo x[1] [X,01] [X,100] [] [X ||| [0] [100] x[1] [X] [X,1]y [X]\n")
    assert rule.arity == 0
    assert rule.target[:3] == ("[0]", "[100]", "x[1]")
    rule = rule_of("[S] ||| [1] [0] ||| [2] [1]\n")
    assert rule.source == (NonTerminal("1", 1), NonTerminal("0", 2))
    assert rule.target == (NonTerminal("0", 2), NonTerminal("1", 1))


def test_many_gaps() -> None:
    gaps = " ".join(f"[X,{i}]" for i in range(1, 100))
    back = " ".join(f"[{i}]" for i in range(99, 0, -1))
    assert rule_of(f"[X] ||| {gaps} ||| {back}\n").arity == 99


def test_tree() -> None:
    text = "[S] ||| [NP] x ||| x [1] ||| F=1 ||| 0-0 ||| (S [NP] (VP  (V x)))"
    rule = rule_of(text)
    assert rule.tree == "(S [NP] (VP  (V x)))"
    assert rule_of("[S] ||| a ||| A |||  |||  ||| \n").tree == ""
    assert rule_of("[S] ||| a ||| A |||  |||  ||| ([S] a)\n").tree == "([S] a)"
    assert written([rule.with_features(("G",), (2.0,))]) == text.replace("F=1", "G=2") + "\n"


def test_refinements() -> None:
    text = "[X] ||| a [X] ||| [1] A\n [X1] ||| a [Y] ||| [1] A ||| F=1\n"
    text += "\t [X11] ||| a [Z] ||| [1] A\n [X2] ||| a [X] ||| [1] A\n"
    rules = same(text.encode())
    assert [rule.level for rule in rules] == [0, 1, 2, 1]
    assert written(rules) == text
    fine = rules[1].with_features(("F",), (2.0,))
    assert written([rules[0], fine]) == text.splitlines(keepends=True)[0] + " [X1] ||| a [Y] ||| [1] A ||| F=2\n"


def test_blank_lines_and_a_missing_end_come_back() -> None:
    text = "\n\n[S] ||| a ||| A\n\n[S] ||| a ||| A ||| F=1\n\n\n[S] ||| b ||| B ||| 1"
    assert written(same(text.encode())) == text
    assert written(same(text.encode() + b"\n\n")) == text + "\n\n"
    for empty in (b"", b"\n"):
        for face in (read, loaded):
            with pytest.raises(FormatError, match=r"^x:1: field 1: expected a rule, .* found none in the file$"):
                face(empty)
    first, last = read(b"[S] ||| a ||| A")[0], read(b"[S] ||| b ||| B\n")[0]
    assert written([first, last]) == "[S] ||| a ||| A\n[S] ||| b ||| B\n"


# Not the default, all of UTF-8, which takes hypothesis 0.7 s to list.
ASCII = st.characters(max_codepoint=127)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.from_regex(r"[0-9]\.[0-9]{0,17}", fullmatch=True, alphabet=ASCII),
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9])?", fullmatch=True, alphabet=ASCII),
    st.sampled_from(
        ["1e-400", "-1e-46", "0." + "0" * 400 + "1", "0e999999999999999999999", "1.", "+2", "-0", "00012.50"]
    ),
    # Halfway between two floats, and beside it.
    st.integers(0, 1 << 24).map(lambda i: f"{(2 * i + 1) / (1 << 25):.14f}"),
)


@given(st.lists(NUMBERS, min_size=1, max_size=12))
def test_numbers(numbers: list[str]) -> None:
    items = " ".join(f"F{i}={number}" for i, number in enumerate(numbers))
    line = f"[S] ||| a ||| A ||| {items}\n"
    (rule, again) = same(line.encode() * 2)
    assert rule.values == again.values == tuple(map(float, numbers))


WORDS = st.text("ab[],1é語|=;-\u00a0\u2028\r", min_size=1, max_size=20).filter(lambda word: word != "|||")
LABELS = st.text("XY1é|=", min_size=1, max_size=3)
NAMES = st.one_of(st.sampled_from(["F", "CountEF", "MaxLexFgivenEandmore", "x" * 40]), st.text("FG|[é1", min_size=1))
BLANKS = st.sampled_from([" ", " ", " ", "  ", "\t"])


@st.composite
def lines(draw: st.DrawFn) -> str:
    blank = draw(BLANKS)
    labels = draw(st.lists(LABELS, max_size=3))
    source = draw(st.lists(WORDS, min_size=0 if labels else 1, max_size=4))
    for i, label in enumerate(labels, 1):
        source.insert(
            draw(st.integers(0, len(source))) if i == 1 else len(source),
            draw(st.sampled_from([f"[{label}]", f"[{label},{i}]"])),
        )
    target = draw(st.lists(WORDS, max_size=4))
    for i, label in enumerate(labels, 1):
        target.insert(draw(st.integers(0, len(target))), draw(st.sampled_from([f"[{i}]", f"[{label},{i}]"])))
    items = draw(st.lists(st.one_of(NUMBERS, st.tuples(NAMES, NUMBERS).map("=".join)), max_size=6))
    points = draw(st.lists(st.sampled_from(["0-0", "1-12", "00-1", "32767-3"]), max_size=4))
    fields = [
        f"[{draw(LABELS)}]",
        blank.join(source),
        blank.join(target),
        draw(st.sampled_from([" ", ";", " ; "])).join(items),
    ]
    if points:
        fields.append(blank.join(points))
    return f"{blank}|||{blank}".join(fields) + draw(st.sampled_from(["\n", "\n", " \n", "\n\n"]))


def outcome(data: bytes, face: str, **limits: int) -> str | list[Rule]:
    try:
        if face == "parse":
            return [plain(rule) for rule in read(data, **limits)]
        columns = loaded(data, **limits)
        return [columns.rule(i) for i in range(len(columns))]
    except FormatError as error:
        return str(error)


@given(st.lists(lines(), max_size=6))
def test_both_faces_agree(texts: list[str]) -> None:
    data = "".join(texts).encode()
    assert outcome(data, "parse") == outcome(data, "load")


@given(st.lists(lines(), min_size=1, max_size=4), st.data())
def test_both_faces_agree_on_spoilt_text(texts: list[str], data: st.DataObject) -> None:
    text = bytearray("".join(texts).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from([b"", b" ", b"\n", b"|", b"=", b"[X]", b"\xff", b"\r", b"0", b"\xc3"])
        )
    assert outcome(bytes(text), "parse") == outcome(bytes(text), "load")


class Chopped(io.RawIOBase):
    """A stream that gives out pieces of the lengths given, again and again."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self.pieces = self._cut(data, sizes)

    @staticmethod
    def _cut(data: bytes, sizes: list[int]) -> Iterator[bytes]:
        at = step = 0
        while at < len(data):
            yield data[at : at + sizes[step % len(sizes)]]
            at += sizes[step % len(sizes)]
            step += 1

    def read(self, size: int = -1) -> bytes:
        return next(self.pieces, b"")


@given(st.lists(lines(), min_size=1, max_size=8), st.lists(st.integers(1, 300), min_size=1, max_size=5))
def test_pieces_of_any_size(texts: list[str], sizes: list[int]) -> None:
    data = "".join(texts).encode()

    def cut() -> str | list[Rule]:
        try:
            columns = load(Chopped(data, sizes), "x")
        except FormatError as error:
            return str(error)
        return [columns.rule(i) for i in range(len(columns))]

    assert cut() == outcome(data, "parse")


@given(lines())
def test_what_is_composed_reads_back(text: str) -> None:
    try:
        rules = read(text.encode())
    except FormatError:
        return
    for rule in rules:
        bare = rule.with_features(rule.names, rule.values)
        (again,) = read(written([bare]).encode())
        assert plain(again) == plain(rule)


@pytest.mark.parametrize(
    "rule",
    [
        Rule("X", ("a b",), ("c",)),
        Rule("X Y", ("a",), ("c",)),
        Rule("X", ("[X]",), ("c",)),
        Rule("X", ("a",), ("[1]",)),
        Rule("X", ("a",), ("|||",)),
        Rule("X", ("a\n",), ("c",)),
        Rule("X", (), ("c",)),
        Rule("X", (X1,), ("c",)),
        Rule("X", ("a",), ("c",), ("F=G",), (1.0,)),
        Rule("X", ("a",), ("c",), ("F",), (float("inf"),)),
        Rule("X", ("a",), ("c",), tree="(S"),
    ],
)
def test_rules_that_cannot_be_written(rule: Rule) -> None:
    with pytest.raises(FormatError):
        written([rule])


GOOD = "[X] ||| [X,1] b ||| B [1] ||| F=1 ||| 0-0\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("# comment", "field 1: expected a left-hand side, [LABEL] |||, found '# comment'"),
        ("X ||| a ||| A", "field 1: expected a left-hand side, [LABEL] |||, found 'X'"),
        ("[S X] ||| a ||| A", "field 1: expected a left-hand side, [LABEL] |||, found '[S X]'"),
        ("[] ||| a ||| A", "field 1: expected a left-hand side, [LABEL] |||, found '[]'"),
        (
            "  ",
            "field 1: expected [LABEL] ||| source ||| target ||| name=value ..., or an empty line, found only blanks",
        ),
        ("  [X] ||| a ||| A", "field 1: expected at most 1 leading blank (each means a refinement), found 2"),
        (" [X] ||| a ||| A", "field 1: expected the words and gap order of the rule it refines, found 'a'"),
        (
            "[S]|||a|||A|||F=5",
            "field 2: expected ||| and a target side after the source side, found the end of the line",
        ),
        ("[S] ||| ||| A", "field 2: expected 1 to 1000 source symbols, found 0"),
        ("[S] ||| [A,2] ||| [1]", "field 2: expected index 1, as indices go in order, found '[A,2]'"),
        ("[S] ||| [A,1] ||| [B,1]", "field 3: expected [A,1], as on the source side, found '[B,1]'"),
        ("[S] ||| [A] ||| [1] [1]", "field 3: expected each index once, found '[1]' again"),
        ("[S] ||| [A] ||| [1] [2]", "field 3: expected an index up to 1, as on the source side, found '[2]'"),
        ("[S] ||| a ||| [1]", "field 3: expected no non-terminal, as on the source side, found '[1]'"),
        ("[S] ||| [A] [B] ||| [2]", "field 3: expected 2 non-terminals, as on the source side, found 1"),
        ("[S] ||| a ||| A\r", "field 3: expected a line that ends in '\\n' alone, found '\\r\\n'"),
        ("[S] ||| a ||| A ||| F=1\r", "field 4: expected a line that ends in '\\n' alone, found '\\r\\n'"),
        ("[S] ||| a ||| A ||| Novalue F=5", "field 4: expected name=value or a number, found 'Novalue'"),
        ("[S] ||| a ||| A ||| =5", "field 4: expected name=value or a number, found '=5'"),
        ("[S] ||| a ||| A ||| F=1;||| 0-0", "field 4: expected name=value or a number, found '|||'"),
        ("[S] ||| a ||| A ||| F=", "field 4: expected a number that fits 32-bit floats, found ''"),
        ("[S] ||| a ||| A ||| F:x=y=5", "field 4: expected a number that fits 32-bit floats, found 'y=5'"),
        ("[S] ||| a ||| A ||| F=.5", "field 4: expected a number that fits 32-bit floats, found '.5'"),
        ("[S] ||| a ||| A ||| F=nan", "field 4: expected a number that fits 32-bit floats, found 'nan'"),
        ("[S] ||| a ||| A ||| F=1e--5", "field 4: expected a number that fits 32-bit floats, found '1e--5'"),
        ("[S] ||| a ||| A ||| F=1e39", "field 4: expected a number that fits 32-bit floats, found '1e39'"),
        ("[S] ||| a ||| A ||| F=1_0", "field 4: expected a number that fits 32-bit floats, found '1_0'"),
        (
            "[S] ||| a ||| A ||| F=1.234567a901",
            "field 4: expected a number that fits 32-bit floats, found '1.234567a901'",
        ),
        ("[S] ||| a ||| A ||| " + "1 " * 101, "field 4: expected a name for a feature after 100 others, found '1'"),
        (
            "[S] ||| a ||| A ||| F=1 ||| 0_0",
            "field 5: expected an alignment point s-t of positions up to 32767, found '0_0'",
        ),
        (
            "[S] ||| a ||| A |||  ||| 0-32768",
            "field 5: expected an alignment point s-t of positions up to 32767, found '0-32768'",
        ),
        (
            "[S] ||| a ||| A |||  ||| 0-",
            "field 5: expected an alignment point s-t of positions up to 32767, found '0-'",
        ),
        ("[S] ||| a ||| A |||  |||  ||| (S a) x", "field 6: expected a tree in round brackets, found '(S a) x'"),
        ("[S] ||| a ||| A |||  |||  ||| (S (A a)", "field 6: expected a tree in round brackets, found '(S (A a)'"),
        (
            "[S] ||| a ||| A |||  |||  ||| (S [A])",
            "field 6: expected a tree with 0 [LABEL] leaves, as on the source side, found 1",
        ),
        ("[S] ||| a ||| A |||  |||  ||| (S |)", "field 6: expected a tree in round brackets, found '(S |)'"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    for end in ("\n", "\n" + GOOD, ""):
        data = f"{GOOD}\n{line}{end}".encode()
        assert outcome(data, "parse") == f"x:3: {message}"
        assert outcome(data, "load") == f"x:3: {message}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[S] ||| a\xff ||| A\n", "field 2: expected UTF-8 text, found byte 0xff at column 10"),
        (b"[\xc3] ||| a ||| A\n", "field 1: expected UTF-8 text, found byte 0xc3 at column 2"),
        (b"[S] ||| a ||| A ||| \xed\xa0\x80=1\n", "field 4: expected UTF-8 text, found byte 0xed at column 21"),
        (
            b"[S] ||| a ||| A |||  |||  ||| (S \xf4\x90\x80\x80)\n",
            "field 6: expected UTF-8 text, found byte 0xf4 at column 34",
        ),
    ],
)
def test_bad_bytes(data: bytes, message: str) -> None:
    assert outcome(data, "parse") == outcome(data, "load") == f"x:1: {message}"


@pytest.mark.parametrize(
    ("limits", "line", "message"),
    [
        ({"max_symbols": 2}, "[S] ||| a b c ||| A", "field 2: expected 1 to 2 source symbols, found 3"),
        ({"max_symbols": 2}, "[S] ||| a ||| A B C", "field 3: expected at most 2 target symbols, found 3"),
        ({"max_features": 1}, "[S] ||| a ||| A ||| F=1 G=2", "field 4: expected at most 1 feature, found 2"),
        (
            {"max_features": 1},
            "[S] ||| a ||| A |||  ||| 0-0 0-1",
            "field 5: expected at most 1 alignment point, found 2",
        ),
        ({"max_bytes": 20}, "[S] ||| a ||| AAAAAA", "field 1: expected a line of at most 20 bytes, found a longer one"),
        ({"max_bytes": 20}, "[S] ||| " + "a" * 500, "field 1: expected a line of at most 20 bytes, found a longer one"),
    ],
)
def test_limits(limits: dict[str, int], line: str, message: str) -> None:
    data = f"[S] ||| a ||| A\n{line}\n".encode()
    assert outcome(data, "parse", **limits) == outcome(data, "load", **limits) == f"x:2: {message}"


def test_a_line_as_long_as_may_be() -> None:
    for line in ("[S] ||| a ||| AAAAA\n", "[S] ||| a ||| AAAAAA"):
        data = line.encode()
        assert len(data) == 20
        assert outcome(data, "parse", max_bytes=20) == outcome(data, "load", max_bytes=20)
        assert (
            outcome(data, "load", max_bytes=19)
            == "x:1: field 1: expected a line of at most 19 bytes, found a longer one"
        )


def test_compressed(tmp_path: Path) -> None:
    text = GOOD.encode() * 20000
    wanted = len(loaded(text))
    members = gzip.compress(text[: len(GOOD) * 300 + 7]) + gzip.compress(text[len(GOOD) * 300 + 7 :]) + b"\0" * 99
    assert len(load(io.BytesIO(members), "x")) == wanted
    path = tmp_path / "x.bz2"
    path.write_bytes(bz2.compress(text))
    with open_bytes(path) as stream:
        assert len(load(stream, "x")) == wanted


@pytest.mark.parametrize("spoil", ["cut", "checksum", "behind"])
def test_spoilt_compression(spoil: str) -> None:
    data = bytearray(gzip.compress(GOOD.encode() * 1000))
    if spoil == "cut":
        del data[-20:]
    elif spoil == "checksum":
        data[-6] ^= 1
    else:
        data += b"more"
    with pytest.raises(FormatError, match=r"x:\d+: field 1: expected a complete compressed file, found "):
        load(io.BytesIO(data), "x")


def test_columns() -> None:
    columns = loaded(b"[X] ||| [Y] a ||| a [1] ||| F=1 ||| 0-1\n[Y] ||| b ||| a ||| G=2.5 F=3\n")
    assert (len(columns), list(columns.words), list(columns.labels), list(columns.names)) == (
        2,
        ["a", "b"],
        ["X", "Y"],
        ["F", "G"],
    )
    assert columns.source.tolist() == [-2, 0, 1]
    assert columns.target.tolist() == [0, -1, 0]
    assert columns.source_offsets.tolist() == [0, 2, 3]
    assert (columns.features.tolist(), columns.values.tolist()) == ([0, 1, 0], [1, 2.5, 3])
    assert (columns.points.tolist(), columns.point_offsets.tolist()) == ([[0, 1]], [0, 1, 1])
    kinds = [getattr(columns, name).dtype for name in ("lhs", "source", "values", "points", "source_offsets", "level")]
    assert [kind.name for kind in kinds] == ["int32", "int32", "float32", "int16", "int64", "uint8"]
    assert columns.nbytes == 8 + 2 + 12 + 12 + 12 + 12 + 4 + 4 * 24 + (2 + 24) + (2 + 24) + (2 + 24)
    assert columns.words[-1] == "b"
    assert columns.words[:1] == ["a"]
    with pytest.raises(IndexError):
        columns.words[2]


@pytest.mark.parametrize("text", [GOOD, "[S]|||a ||| b", "\n" + GOOD, "[S] ||| " + "a " * 50 + "||| b"])
def test_shape(text: str) -> None:
    assert FORMAT.matches(text.encode())


@pytest.mark.parametrize(
    "text", ["0 ||| a ||| F=1 ||| 0\n", "a ||| b\n", "[weight]\nLM0= 1\n", "[S] ||| a\n", "F 1\n", ""]
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


QUIRKS = {
    "q2": "1: field 1: expected a left-hand side, [LABEL] |||, found '# comment'",
    "q5_.5": "1: field 4: expected a number that fits 32-bit floats, found '.5'",
    "q5_0x10": "1: field 4: expected a number that fits 32-bit floats, found '0x10'",
    "q5_1e--5": "1: field 4: expected a number that fits 32-bit floats, found '1e--5'",
    "q5_inf": "1: field 4: expected a number that fits 32-bit floats, found 'inf'",
    "q5_nan": "1: field 4: expected a number that fits 32-bit floats, found 'nan'",
    "q6a": "1: field 3: expected 1 non-terminal, as on the source side, found 0",
    "q7c": "1: field 3: expected [B,2], as on the source side, found '[A,2]'",
    "q7d": "1: field 2: expected index 1, as indices go in order, found '[A,2]'",
    "q7e": "1: field 3: expected each index once, found '[1]' again",
    "q7f": "1: field 3: expected 2 non-terminals, as on the source side, found 1",
    "q8": "1: field 1: expected at most 0 leading blanks (each means a refinement), found 1",
    "q9b": "1: field 4: expected a line that ends in '\\n' alone, found '\\r\\n'",
    "q9e": "1: field 4: expected a number that fits 32-bit floats, found 'y=5'",
    "q9g": "1: field 2: expected ||| and a target side after the source side, found the end of the line",
    "q9i": "1: field 4: expected name=value or a number, found 'Novalue'",
    "q9j": "1: field 1: expected a left-hand side, [LABEL] |||, found '[S X]'",
}


@pytest.mark.shared
def test_quirks(shared: Path) -> None:
    paths = sorted((shared / "gold/cdec/quirks").glob("*.scfg"))
    assert len(paths) >= 45
    for path in paths:
        data = path.read_bytes()
        parsed = outcome(data, "parse")
        assert parsed == outcome(data, "load"), path
        if path.stem in QUIRKS:
            assert parsed == f"x:{QUIRKS[path.stem]}", path
        else:
            assert isinstance(parsed, list), path
            assert written(read(data)).encode() == data, path


@pytest.mark.shared
def test_gold_comes_back(shared: Path) -> None:
    gold = shared / "gold/cdec"
    paths = [gold / f"grammars/test300/grammar.{i}.gz" for i in range(3)]
    paths += [
        path for path in (gold / "system_tests").rglob("*") if path.match("*.scfg*") or path.name.endswith("grammar.gz")
    ]
    assert len(paths) >= 8
    for path in paths:
        with open_bytes(path) as stream:
            data = stream.read()
        out = io.StringIO()
        with open_lines(path) as text:
            rules = list(parse(text))
        write(rules, out, shortest)
        assert out.getvalue().encode() == data, path
        columns = load(io.BytesIO(path.read_bytes()), str(path))
        assert len(columns) == len(rules)
        assert all(columns.rule(i) == plain(rule) for i, rule in enumerate(rules)), path


@pytest.mark.parametrize(
    "text",
    [
        "[X] ||| a [X,1] ||| A [1]\n [Y] ||| a [Z,1] ||| A [1]\n[X] ||| a [X,1] ||| B [1]\n",
        "[X] ||| b ||| B\n[Y] ||| a |||\n[X] ||| b ||| C\n",
    ],
)
def test_a_source_side_is_that_of_its_own_line(text: str) -> None:
    """A rule after a refinement or an empty target side, with the source side of the rule before that."""
    columns = load(io.BytesIO(text.encode()), "x")
    wanted = list(parse(Lines(io.BytesIO(text.encode()), "x")))
    found = [columns.rule(i) for i in range(len(columns))]
    assert [(rule.lhs, rule.source, rule.target) for rule in found] == [
        (rule.lhs, rule.source, rule.target) for rule in wanted
    ]


def phrases(text: str) -> list[Rule]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), label="X"))


def test_phrase_pairs_without_left_hand_sides() -> None:
    """As in the tables of the formalism pb: values without a name are numbered among themselves."""
    (first, second) = phrases("ein haus ||| a house ||| F=2 0.5 G=1;-3 ||| 0-0 1-1\n\nx |||  |||\n")
    assert (first.lhs, first.source, first.target) == ("X", ("ein", "haus"), ("a", "house"))
    assert first.features() == {"F": 2.0, "PhraseModel_0": 0.5, "G": 1.0, "PhraseModel_1": -3.0}
    assert (first.alignment, first.line) == (((0, 0), (1, 1)), 1)
    assert (second.source, second.target, second.features(), second.line) == (("x",), (), {}, 3)
    # As a rule of a grammar it is written anew.
    out = io.StringIO()
    write([second], out, str)
    assert out.getvalue() == "[X] ||| x |||  ||| \n"


@pytest.mark.parametrize("compressed", [False, True])
def test_columns_of_phrase_pairs(compressed: bool) -> None:
    data = b"ein haus ||| a house ||| F=2 0.5\n"
    columns = load(io.BytesIO(gzip.compress(data) if compressed else data), "x", label="NP")
    (wanted,) = phrases(data.decode())
    assert replace(columns.rule(0), raw="", origin="", line=1) == replace(wanted, lhs="NP", file="")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a ||| b\n[X,1] a ||| A [1]\n", "x:2: field 1: expected a phrase without gaps, found '[X,1] a'"),
        ("[X] ||| a ||| A ||| F=1\n", "x:1: field 2: expected 1 non-terminal, as on the source side, found 0"),
        ("a b\n", "x:1: field 1: expected ||| and a target side after the source side, found the end of the line"),
        (" ||| b\n", "x:1: field 1: "),
        ("a ||| b ||| F\n", "x:1: field 3: expected name=value or a number, found 'F'"),
        ("a ||| b ||| F=x\n", "x:1: field 3: expected a number that fits 32-bit floats, found 'x'"),
        (f"a ||| b ||| {'1 ' * 11}\n", "x:1: field 3: expected at most 10 values without a name, found 11"),
        ("  \n", "x:1: field 1: expected source ||| target ||| name=value ..., or an empty line, found only blanks"),
    ],
)
def test_faults_of_phrase_pairs(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        phrases(text)
    assert str(caught.value).startswith(message)


def test_a_label_is_a_word() -> None:
    with pytest.raises(ValueError, match=r"label: expected a word without brackets and commas, found 'X\]'"):
        list(parse(Lines(io.BytesIO(b"a ||| b\n"), "x"), label="X]"))


@given(
    st.lists(st.sampled_from(["a", "[X,1]", "[1]", "|||", " ", "\t", "F=1", ";", "0.5", "\n", "(", "0-0", "\r"])).map(
        "".join
    )
)
def test_any_text_is_phrases_or_an_error(text: str) -> None:
    try:
        found = phrases(text)
    except FormatError:
        return
    assert all(rule.lhs == "X" and not rule.arity for rule in found)
