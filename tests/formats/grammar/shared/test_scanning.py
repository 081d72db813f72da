"""Tables of Moses through the native scanner: whatever it is given, it says what the parser says."""

from __future__ import annotations

import gzip
import io
import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, open_lines, pieces
from smtformats.columns import GrammarColumns
from smtformats.files import Lines
from smtformats.grammar import moses_phrases, moses_rules
from smtformats.grammar.shared.gather import grammar_columns
from tests.formats.grammar.faces import Faces

PHRASES, RULES = Faces(moses_phrases), Faces(moses_rules)
PAIRS = """\
ein haus ||| a house ||| 0.5 0.25 1 0.125 ||| 0-0 1-1 ||| 4 2 2 ||| domain_tv 1 ||| {{Counts 4 2 2}}
ein haus ||| a home ||| 1e-300 0.00035 7.88108e-05 1 ||| 0-0 1-1 ||| 4 2 2 ||| |||
ein haus ||| ||| 0 -0 +1 2.718 ||| ||| 0.322063 2.4059 0.0292735
größer als ||| bigger\tthan ||| .5 1. 1E-2 0.5  |||  0-0 10-12 0-0 ||| ||| a 1 b -2.5 a 3 ||| {{A b}} {{C d e}}
a|||b|||1 1 1 1|||0-0\r
"""
TABLE = """\
[X][X] , während [X][X] [X] ||| while [X][X] others [X][X] [X] ||| 0.0908937 0.45 ||| 0-3 3-1 2-0 ||| 1 2 1 ||| |||
[X][X] , während [X][X] [X] ||| [X][X] [X][X] [X] ||| 1 0.25 ||| 0-0 3-1 ||| 1 2 1
[X][NP] a [X][X] [X] ||| [X][X] [X][NP] A [S] ||| 0.5 0.25 ||| 2-0 0-1 1-2 ||| ||| f 2
a [X] ||| [X] ||| 0.5 1e-9
"""


@pytest.mark.parametrize(("faces", "text"), [(PHRASES, PAIRS), (RULES, TABLE)])
def test_sample(faces: Faces, text: str) -> None:
    assert len(faces.read(text)) == text.count("\n")
    assert len(faces.read(text.replace("\r", "").replace("\n", "\r\n\n\r\n"))) == text.count("\n")
    assert len(faces.read(text.rstrip("\n"))) == text.count("\n")


def test_values_of_probabilities() -> None:
    words = ["1", "0", "0.5", "3.7e-44", "3.8e-44", "1e-300", "0.1", "0.123456789012345678", "5e37", "-0", "007.5"]
    columns = moses_phrases.load(io.BytesIO(f"x ||| y ||| {' '.join(words)}\n".encode() * 2), "x")
    with np.errstate(divide="ignore"):
        wanted = np.maximum(np.log([float(word) for word in words]), -100).astype(np.float32)
    assert columns.values.tolist() == [*wanted.tolist(), *wanted.tolist()]


@pytest.mark.parametrize("number", ["1.5e-05", "1.5e-00", "1.e-05", "0.0e-05", "9.99999e-22", "9.99999e-17", "1.25e-9"])
def test_small_probabilities(number: str) -> None:
    first, second = PHRASES.read(f"a ||| b ||| 1 {number} ||| 0-0\n" * 2)
    assert first.values == second.values == pytest.approx((0.0, max(np.log(float(number) or 1e-300), -100)))


@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 17])
@pytest.mark.parametrize(
    "odd", ["", " 3-10", " 10-3", "  4-4", "\t4-4", " 4-4 ", " 5-5 ||| 1  22 333", " 5-5 ||| 1.5 1e2"]
)
def test_many_points(count: int, odd: str) -> None:
    points = " ".join(f"{i % 10}-{i * 7 % 10}" for i in range(count))
    for rule in PHRASES.read(f"a ||| b ||| 1 ||| {points}{odd}\n" * 3, max_features=count + 2):
        assert len(rule.alignment) == count + bool(odd)
    message = PHRASES.error(f"a ||| b ||| 1\na ||| b ||| 1 ||| {points} 0-0 1-1\n", max_features=count + 1)
    assert message.startswith("x:2: field 4: ")


@pytest.mark.parametrize(
    "counts", ["123456789 12345", "123456789 123456", "123456789 1234567", "1 2 3 4 5 6 7", "1\t2", "12|"]
)
def test_counts_of_any_length(counts: str) -> None:
    line = f"a ||| b ||| 1 ||| 0-0 ||| {counts} |||\n"
    if "|" in counts:
        assert "field 5" in PHRASES.error(line * 3)
    else:
        assert len(PHRASES.read(line * 3, max_features=8)) == 3


@pytest.mark.parametrize("length", [15, 16, 17, 58, 59, 60, 63, 64, 65, 128, 200])
def test_sources_that_differ_late(length: int) -> None:
    for end in ("x", "y", "x y"):
        text = "".join(f"{'a' * (length - len(word))}{word} ||| b ||| 1\n" for word in ("x", "x", end, "x", end))
        assert len({rule.source for rule in PHRASES.read(text)}) == 1 + (end != "x")


def test_a_sparse_feature_counts_once() -> None:
    rule = "a ||| b ||| 1 0.5 ||| ||| ||| x 1 y 2 x 3\n"
    columns = moses_phrases.load(io.BytesIO(rule.encode() * 2), "x", table="T", features="T_y p")
    for i in range(2):
        assert columns.rule(i).features() == {"T_y": 2, "p": pytest.approx(np.log(0.5)), "T_x": 3}


def test_gaps_far_into_a_rule() -> None:
    for place in (62, 63, 64, 65, 200):
        side = "a " * place + "[X][X] b [X]"
        RULES.read(f"{side} ||| {side} ||| 1 ||| {place}-{place}\n" * 3)
    words = "a " * 500 + "[X]"
    RULES.read(f"{words} ||| {words} ||| 1 ||| 70-70 63-64 64-63 499-499\n" * 3)


BAD = [
    "a ||| b ||| 0.5\n",
    "a ||| b ||| 1 1 1\n",
    "a ||| b ||| 1 -1\n",
    "a ||| b ||| 1 nan\n",
    "a ||| b ||| 1 inf\n",
    "a ||| b ||| 1 1e39\n",
    "a ||| b ||| 1 1_0\n",
    "a ||| b ||| 1 1 ||| 0\n",
    "a ||| b ||| 1 1 ||| 0-32768\n",
    "a ||| b ||| 1 1 ||| 0-0 ||| x\n",
    "a ||| b ||| 1 1 ||| 0-0 ||| 1e40\n",
    "a ||| b ||| 1 1 ||| 0-0 ||| 1 ||| x\n",
    "a ||| b ||| 1 1 ||| 0-0 ||| 1 ||| x y\n",
    "a ||| b ||| 1 1 ||| 0-0 ||| 1 ||| x 1 ||| {{A}}\n",
    "a ||| b ||| 1 1 ||| 0-0 ||| 1 ||| x 1 ||| x {{A b}}\n",
    "a ||| b ||| 1 1 ||| 0-0 ||| 1 ||| x 1 ||| {{ b}}\n",
    "a ||| b ||| 1 1 ||| 0-0 ||| 1 ||| x 1 ||| {{A b} }\n",
    "a ||| b ||| 1 1 ||| 0-0 ||| 1 ||| x 1 ||| {{A b}} |||\n",
    "a ||| b\n",
    " ||| b ||| 1 1\n",
    "[a] ||| b ||| 1 1\n",
    "a ||| b [] ||| 1 1\n",
    "a a a a ||| b ||| 1 1\n",
    "a ||| b b b b ||| 1 1\n",
    "a ||| b ||| 1 1 ||| 0-0 0-0 0-0 0-0\n",
    "a ||| b ||| 1 1 ||| ||| 1 1 1 1\n",
    "a ||| b ||| 1 1 ||| ||| ||| a 1 a 1\n",
    "a ||| b ||| 1 1 ||| ||| ||| ||| {{A b}} {{A b}} {{A b}} {{A b}}\n",
    "   \n",
]


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_behind_good_ones(line: str) -> None:
    good = "ein ||| a ||| 1 0.5 ||| 0-0\n" * 40
    message = PHRASES.error(good + line + good, max_symbols=3, max_features=3)
    assert message.startswith("x:41: field ")


def test_limits_of_lines() -> None:
    line = "ein ||| a ||| 1 0.5 ||| 0-0\n"
    PHRASES.read(line * 30, max_bytes=len(line))
    PHRASES.read(line * 30 + line[:-1], max_bytes=len(line))
    for data in (line * 30 + "b" + line, line * 30 + "bb" + line[:-1], "x" * 100):
        assert "a line of at most 28 bytes" in PHRASES.error(data, max_bytes=len(line))


def test_spoilt_text() -> None:
    for line in (b"\xff ||| b ||| 1\n", b"a ||| b\xc3 ||| 1\n", b"a ||| b ||| 1 ||| ||| ||| \xe9 1\n"):
        assert "x:2: " in PHRASES.error(b"a ||| b ||| 1\n" + line)
    assert "UTF-8" in PHRASES.error(b"a ||| b ||| 1\na ||| b ||| 1 ||| ||| ||| ||| {{K \xed\xa0\x80}}\n")


def test_empty_and_torn_files() -> None:
    for data in (b"", b"\n\n", b"\r\n"):
        assert (
            PHRASES.error(data)
            == "x:1: field 1: expected a rule, source ||| target ||| probabilities, found none in the file"
        )
    packed = gzip.compress(PAIRS.encode() * 50)
    with pytest.raises(FormatError, match="expected a complete compressed file"):
        moses_phrases.load(io.BytesIO(packed[:-20]), "x")
    assert len(moses_phrases.load(io.BytesIO(packed), "x")) == 250


WORDS = st.text("ab[]|é語-\u00a0\r", min_size=1, max_size=4)
FIELDS = st.lists(WORDS, max_size=3).map(" ".join)
NUMBERS = st.one_of(st.floats(0, 2).map(repr), st.sampled_from(["1", "0", "0.5", "1e-5", ".5", "-1", "x", "1e-400"]))
SCORES = st.lists(NUMBERS, min_size=1, max_size=2).map(" ".join)
POINTS = st.lists(st.sampled_from(["0-0", "1-0", "0-1", "2-2", "33-1", "0"]), max_size=3).map(" ".join)
SPARSE = st.sampled_from(["", "a 1", "a 1 b 2", "a 1 a -2", "a", "é 1"])
KEYS = st.sampled_from(["", "{{A b}}", "{{A b}} {{{C d}}}", "{{A }}", "{{A b", "}}"])
GAPS = st.lists(st.sampled_from(["[X][X]", "[A][B]", "a", "[X]", "é"]), max_size=4).map(" ".join)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(FIELDS, FIELDS, SCORES, POINTS, SCORES, SPARSE, KEYS), min_size=1, max_size=5),
    st.sampled_from([" ||| ", "|||", " |||", "\t|||  "]),
    st.integers(3, 7),
)
def test_both_faces_on_pairs(lines: list[tuple[str, ...]], bar: str, fields: int) -> None:
    both_ways(PHRASES, "".join(bar.join(line[:fields]) + "\n" for line in lines).encode())


@settings(max_examples=300)
@given(st.lists(st.tuples(GAPS, GAPS, SCORES, POINTS), min_size=1, max_size=5), st.sampled_from([" [X]", " [S]", ""]))
def test_both_faces_on_rules(lines: list[tuple[str, str, str, str]], end: str) -> None:
    texts = [f"{source} [X] ||| {target}{end} ||| {scores} ||| {points}\n" for source, target, scores, points in lines]
    both_ways(RULES, "".join(texts).encode())


@pytest.mark.parametrize(("faces", "text"), [(PHRASES, PAIRS), (RULES, TABLE)])
def test_both_faces_on_mutations(faces: Faces, text: str) -> None:
    chance = random.Random(5)
    sound = text.encode()
    for _ in range(600):
        data = bytearray(sound)
        for _ in range(chance.choice((1, 1, 2, 5))):
            at = chance.randrange(len(data))
            piece = bytes(chance.choices(b"|[]{} \t\n\r0159.-eE+aX\xc3\xa9\xff\0", k=chance.randrange(3)))
            data[at : at + chance.randrange(3)] = piece
        both_ways(faces, bytes(data))


def both_ways(faces: Faces, data: bytes) -> None:
    """What is read one way is read the other way, and what is refused is refused with the same words."""
    try:
        faces.read(data)
    except FormatError:
        return
    assert faces.format.parse is not None
    assert faces.format.load is not None
    wanted = grammar_columns(faces.format.parse(Lines(io.BytesIO(data), "x")))
    same_words(faces.format.load(io.BytesIO(data), "x"), wanted)


def same_words(actual: GrammarColumns, wanted: GrammarColumns) -> None:
    assert sorted(actual.words[:]) == sorted(wanted.words[:])
    assert sorted(actual.labels[:]) == sorted(wanted.labels[:])
    assert sorted(actual.names[:]) == sorted(wanted.names[:])


@pytest.mark.parametrize(("faces", "text"), [(PHRASES, PAIRS), (RULES, TABLE)])
def test_pieces_cut_anywhere(faces: Faces, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert faces.format.load is not None
    data = text.encode() * 3
    whole = faces.format.load(io.BytesIO(data), "x")
    for size in (1, 2, 7, 63, 64, 65, 130, 500):
        monkeypatch.setattr(pieces, "PIECE_BYTES", size)
        monkeypatch.setattr(pieces, "_PACKED_BYTES", size)
        columns = faces.format.load(io.BytesIO(data), "x")
        assert [columns.rule(i) for i in range(len(columns))] == [whole.rule(i) for i in range(len(whole))]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("moses-phrases", "train/first3k/phrase-table.gz"),
        ("moses-phrases", "model/phrase-table.gz"),
        ("moses-rules", "model/rule-table.gz"),
        ("moses-rules", "trees/rule-table.tree.gz"),
        ("moses-rules", "train/first300/rule-table.gz"),
    ],
)
def test_tables_of_moses(shared: Path, tmp_path: Path, name: str, path: str) -> None:
    """A part of each, from the beginning and from further on."""
    record = next(record for record in all_formats() if record.name == name)
    assert record.parse is not None
    assert record.load is not None
    with gzip.open(shared / "gold/moses" / path, "rb") as packed:
        data = b"".join([*itertools.islice(packed, 1500), *itertools.islice(packed, 10_000, 11_000)])
    part = tmp_path / "part"
    part.write_bytes(data)
    with open_lines(part) as lines:
        wanted = grammar_columns(record.parse(lines))
    with part.open("rb") as stream:
        columns = record.load(stream, "x")
    assert len(columns) == data.count(b"\n")
    for column in ("level", "source_offsets", "target_offsets", "values", "feature_offsets", "points", "point_offsets"):
        np.testing.assert_array_equal(getattr(columns, column), getattr(wanted, column))
    assert [columns.rule(i) for i in range(len(columns))] == [wanted.rule(i) for i in range(len(wanted))]
    same_words(columns, wanted)
