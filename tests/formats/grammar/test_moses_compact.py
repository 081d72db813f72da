"""Compact phrase tables of Moses: the gold tables row for row, tables made here in every encoding, damaged files."""

from __future__ import annotations

import gzip
import io
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import FormatError, detect
from smtformats.columns import GrammarColumns
from smtformats.files import Lines
from smtformats.grammar import moses_compact
from smtformats.grammar.moses_compact import FORMAT, CompactPhraseTable, load, lookup, parse
from smtformats.grammar.rules import Rule
from smtformats.reordering.moses_compact import CompactReorderingFile
from tests.formats.compact_tables import Entry, phrase_file, reordering_file

WORDS = ["__SPECIAL_STOP_SYMBOL__", "a", "house", "the", "straße", "red"]
A, HOUSE, THE, STREET, RED = range(1, 6)
SCORES = (-0.5, -1.25)
SIMPLE: dict[bytes, Entry] = {
    b"ein": [([A], SCORES, [(0, 0)]), ([], (-2.0, -1.25), [])],
    b"ein haus": [([A, HOUSE], SCORES, [(0, 0), (1, 1)]), ([THE, HOUSE], (-0.5, -3.0), [(1, 1)])],
    b"rot": [([RED], SCORES, [(0, 0)])],
    "straße".encode(): [([STREET], SCORES, [(0, 0)])],
}


def made(entries: dict[bytes, Entry], words: Sequence[str] = WORDS, **options: Any) -> bytes:
    """A file with one more phrase, whose scores make codes long: a last translation of a byte is dropped."""
    width = len(next(iter(entries.values()))[0][1])
    filler: Entry = [([], [-10.0 - k] * width, []) for k in range(300)]
    return phrase_file({**entries, b"~": filler}, words, **options)


def opened(data: bytes, table: str = "T") -> CompactPhraseTable:
    return CompactPhraseTable(np.frombuffer(data, dtype=np.uint8), "x.minphr", table)


def rules(columns: GrammarColumns) -> list[Rule]:
    return [columns.rule(i) for i in range(len(columns))]


def texts(found: list[Rule]) -> list[str]:
    return [" ".join(map(str, rule.target)) for rule in found]


def dumped(rule: Rule) -> str:
    points = " ".join(f"{s}-{t}" for s, t in rule.alignment)
    scores = " ".join(f"{np.exp(np.float32(value)):.9g}" for value in rule.values)
    fields = [" ".join(map(str, rule.source)), " ".join(map(str, rule.target)), points, scores]
    return " ||| ".join(field for field in fields if field)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "dump"),
    [
        ("", "default"),
        (".fp8", "default"),
        (".fp24", "default"),
        (".join", "default"),
        (".none", "none"),
        (".renc", "none"),
        (".noalign", "noalign"),
        (".quantize50", "quantize50"),
    ],
)
def test_every_row_of_the_original_tables(shared: Path, name: str, dump: str) -> None:
    gold = shared / "gold/moses/binary/moses"
    table = lookup(gold / f"compact/phrase-table{name}.minphr")
    with gzip.open(gold / f"dumps/phrase-table.{dump}.txt.gz", "rt") as lines:
        wanted = lines.read().splitlines()
    sources = list(dict.fromkeys(line.split(" ||| ")[0] for line in wanted))
    columns = table.columns(sources)
    # The program printed exp() in single precision: the last of nine digits may differ.
    for rule, line in zip(rules(columns), wanted, strict=True):
        own, theirs = dumped(rule).split(" ||| "), line.split(" ||| ")
        assert own[:-1] == theirs[:-1]
        assert list(map(float, own[-1].split())) == pytest.approx(list(map(float, theirs[-1].split())), rel=2e-7)
    absent = (gold / "dumps/absent.txt").read_text().splitlines()
    found = {phrase: len(table.columns([phrase])) for phrase in absent}
    hits = [line.rsplit(" ", 1) for line in (gold / "dumps/absent.fp8.hits.txt").read_text().splitlines()]
    assert {phrase: size for phrase, size in found.items() if size} == (
        {phrase: int(size) for phrase, size in hits} if name == ".fp8" else {}
    )


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(("order_bits", "fingerprint_bits"), [(10, 16), (4, 8), (5, 32)])
@pytest.mark.parametrize("joined", [False, True])
def test_phrases_are_found_and_others_are_not(
    order_bits: int, fingerprint_bits: int, joined: bool, signed: bool
) -> None:
    draw = random.Random(order_bits + joined)
    entries: dict[bytes, Entry] = {}
    for i in range(150):
        words = [[draw.randrange(1, 6) for _ in range(draw.randrange(4))] for _ in range(2)]
        own = [(some, (-0.5 * draw.randrange(64), -0.25 * draw.randrange(64)), [(0, 0)]) for some in words]
        entries[f"straße {i} über {'x' * draw.randrange(1, 9)}".encode()] = own
    options = {"order_bits": order_bits, "fingerprint_bits": fingerprint_bits, "joined": joined, "signed": signed}
    table = opened(made(entries, **options))
    phrases = [key.decode() for key in entries]
    found = rules(table.columns(phrases))
    assert len(table) == 151
    assert texts(found) == [" ".join(WORDS[w] for w in own) for entry in entries.values() for own, _, _ in entry]
    assert [rule.values for rule in found] == [values for entry in entries.values() for _, values, _ in entry]
    assert [" ".join(map(str, rule.source)) for rule in found] == [p for p in phrases for _ in range(2)]
    others = len(table.columns([f"{phrase} y" for phrase in phrases]))
    assert others == 0 or fingerprint_bits == 8


@pytest.mark.parametrize("count", [1, 2, 3, 17])
@pytest.mark.parametrize(("order_bits", "fingerprint_bits"), [(1, 4), (2, 24), (24, 32)])
def test_scores_that_are_all_equal_and_ranges_of_one(count: int, order_bits: int, fingerprint_bits: int) -> None:
    """The last score of tables of old is always 2.718; a range of one phrase gets a key that is none."""
    keys = sorted(f"w{i}" for i in range(count))
    entries: dict[bytes, Entry] = {key.encode(): [([1], (-0.5, 1.0), [(0, 0)])] for key in keys}
    table = opened(made(entries, order_bits=order_bits, fingerprint_bits=fingerprint_bits))
    assert [(rule.source, rule.values) for rule in rules(table.columns(keys))] == [((k,), (-0.5, 1.0)) for k in keys]
    assert table.sources() is None
    rows = {f"{key} ||| ".encode(): (-0.25,) * 3 for key in keys}
    data = np.frombuffer(reordering_file(rows, order_bits=order_bits, fingerprint_bits=fingerprint_bits), np.uint8)
    assert (CompactReorderingFile(data, "order").find(keys, None) == -0.25).all()


def test_columns_of_a_table() -> None:
    table = opened(made(SIMPLE))
    assert (table.longest, table.names) == (2, ("T[0]", "T[1]"))
    first, empty, both, other = rules(table.columns(["ein", "nix", "", "ein haus", "ein haus ist", "\ud800"]))
    assert first == Rule("X", ("ein",), ("a",), table.names, SCORES, ((0, 0),))
    assert (empty.target, empty.values) == ((), (-2.0, -1.25))
    assert (both.target, both.alignment) == (("a", "house"), ((0, 0), (1, 1)))
    assert (other.target, other.alignment) == (("the", "house"), ((1, 1),))
    nothing = table.columns([])
    assert (len(nothing), nothing.names[:]) == (0, ["T[0]", "T[1]"])
    assert table.facts()["encoding"] == "None"
    bare = opened(made(SIMPLE, aligned=False))
    assert [rule.alignment for rule in rules(bare.columns(["ein haus"]))] == [(), ()]


def test_ranks_of_translations_of_words() -> None:
    """REnc: a word, the rank at a position of the source, the rank at the same position."""
    entries: dict[bytes, Entry] = {
        b"rot haus": [([1 << 30 | 1 << 24 | 1, RED], (-1.0,), []), ([2 << 30, 2 << 30 | 1], (-2.0,), [(0, 1)])],
        b"x haus": [([1 << 30], (-1.0,), [])],
        b"rot x": [([1 << 30 | 9], (-1.0,), [])],
        b"a b": [([1 << 30 | 5 << 24], (-1.0,), [])],
    }
    lexicon = {"haus": [THE, HOUSE], "rot": [RED]}
    table = opened(made(entries, coding=1, lexicon=lexicon))
    assert table.facts()["encoding"] == "REnc"
    first, second = rules(table.columns(["rot haus"]))
    assert (first.target, first.alignment) == (("house", "red"), ((1, 0),))
    assert (second.target, second.alignment) == (("red", "house"), ((0, 0), (0, 1), (1, 1)))
    # What only a wrong fingerprint can ask for: an unknown word, a rank or a position that is not there.
    assert len(table.columns(["x haus", "rot x", "a b"])) == 0


def part(left: int, right: int, rank: int) -> int:
    return 1 << 31 | (left + 32) << 25 | (right + 32) << 19 | rank


def test_ranks_of_translations_of_parts() -> None:
    """PREnc: a translation of a part of the phrase with its alignment, or an earlier one of the phrase itself."""
    entries: dict[bytes, Entry] = {
        b"das": [([THE], (-1.0,), [(0, 0)])],
        b"rote haus": [([RED, HOUSE], (-1.0,), [(0, 0), (1, 1)]), ([HOUSE], (-2.0,), [(1, 0)])],
        b"das rote haus": [
            ([part(0, 2, 0), part(0, 0, 0)], (-1.0,), []),
            ([part(0, 0, 0), A], (-2.0,), []),
            ([part(1, 0, 1), part(-1, 2, 0)], (-3.0,), [(2, 1)]),
        ],
        b"ein haus": [([part(0, 1, 0)], (-1.0,), [])],
        b"das haus": [([part(0, 1, 7)], (-1.0,), [])],
        b"haus": [([part(0, 0, 0)], (-1.0,), [])],
        b"haus das": [([part(0, -1, 0)], (-1.0,), [])],
    }
    table = opened(made(entries, coding=2))
    assert table.facts()["encoding"] == "PREnc"
    found = rules(table.columns(["das rote haus"]))
    assert texts(found) == ["the red house", "the red house a", "house the"]
    assert [rule.alignment for rule in found] == [
        ((0, 0), (1, 1), (2, 2)),
        ((0, 0), (1, 1), (2, 2)),
        ((0, 1), (2, 0), (2, 1)),
    ]
    # A part without translations, a rank that is not there, a phrase that is its own part, a part beyond the phrase.
    assert len(table.columns(["ein haus", "das haus", "haus", "haus das"])) == 0


def test_only_the_first_ranks_are_referred_to() -> None:
    some: Entry = [([A] * n, (-1.0,), []) for n in range(1, 6)]
    entries = {
        b"x": some,
        b"y x": [([part(1, 0, k)], (-1.0,), []) for k in (0, 1)],
        b"z x": [([part(1, 0, 2)], (-1.0,), [])],
    }
    table = opened(made(entries, coding=2, most_ranks=2))
    assert texts(rules(table.columns(["y x", "x"]))) == ["a", "a a", *(" ".join(["a"] * n) for n in range(1, 6))]
    assert len(table.columns(["z x"])) == 0
    assert texts(rules(opened(made(entries, coding=2, most_ranks=0)).columns(["z x"]))) == ["a a a"]


def test_points_outside_the_phrases_are_dropped() -> None:
    entries: dict[bytes, Entry] = {b"x": [([A], (-1.0,), [(0, 0), (3, 0), (0, 7)])]}
    assert rules(opened(made(entries)).columns(["x"]))[0].alignment == ((0, 0),)


def test_listed_phrases_and_the_reason_without(tmp_path: Path) -> None:
    data = made(SIMPLE)
    assert detect(data, [FORMAT], "x") is FORMAT
    with pytest.raises(FormatError, match=r"^x:1: expected source phrases to look up, in a file named by the option "):
        list(parse(Lines(io.BytesIO(data), "x")))
    with pytest.raises(FormatError, match=r"found a table of fingerprints of its 5 source phrases$"):
        load(io.BytesIO(data), "x")
    phrases = tmp_path / "phrases"
    phrases.write_text("ein  haus ||| more\nstraße\n\nein haus\nnix\r\n")
    found = list(parse(Lines(io.BytesIO(data), "x"), phrases=str(phrases), table="T"))
    assert texts(found) == ["a house", "the house", "straße"]
    assert rules(load(io.BytesIO(data), "x", phrases=str(phrases), table="T")) == found


@pytest.mark.parametrize("at_once", [1, 2])
def test_many_listed_phrases(at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moses_compact, "_AT_ONCE", at_once)
    (tmp_path / "phrases").write_text("ein\nein haus\nstraße\n")
    found = parse(Lines(io.BytesIO(made(SIMPLE)), "x"), phrases=str(tmp_path / "phrases"))
    assert texts(list(found)) == ["a", "", "a house", "the house", "straße"]


def test_a_reordering_table_is_named() -> None:
    data = reordering_file({b"a ||| b ||| ": (-1.0, -2.0), b"b ||| b ||| ": (-1.5, -2.0)})
    with pytest.raises(FormatError, match="expected a compact phrase table, found a compact reordering table"):
        opened(data)


def test_words_that_no_file_may_have() -> None:
    table = opened(made(SIMPLE, ["", "a b", "house", "the", "straße", "red"]))
    with pytest.raises(FormatError, match="expected words without blanks, found 'a b'"):
        table.columns(["ein"])
    data = made(SIMPLE, [*WORDS[:5], "STREET"]).replace(b"STREET", b"STR\xff\xfeT")
    with pytest.raises(FormatError, match="expected words in UTF-8"):
        opened(data).columns(["rot"])


def test_a_hostile_table_does_not_grow() -> None:
    """Each translation is twice the one before: a table of a few bytes would have 2^40 words."""
    entry: Entry = [([A], (-1.0,), [])]
    entry += [([part(0, 0, k), part(-(1 << k), 0, k)] if k < 5 else [part(0, 0, k)], (-1.0,), []) for k in range(40)]
    table = opened(made({b"x": entry, b"y": [([A], (-1.0,), [])]}, coding=2))
    columns = table.columns(["x", "y"])
    assert len(columns.target) < 5000


def damaged(data: bytes, draw: random.Random) -> bytes:
    kind = draw.randrange(4)
    at = draw.randrange(len(data))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
    if kind == 2:
        return (
            data[:at]
            + struct.pack("<Q", draw.choice([0, 1, 1 << 31, 1 << 32, (1 << 63) - 1, (1 << 64) - 1]))
            + data[at + 8 :]
        )
    return data[:at] + data[at + draw.randrange(1, 9) :]


def is_refused(data: bytes, phrases: list[str]) -> bool:
    """Read what may be damaged: rules, or an error that names the file."""
    try:
        rules(opened(data).columns(phrases))
    except FormatError as error:
        if (error.file, error.line) != ("x.minphr", 1):
            raise AssertionError(f"an error without its place: {error}") from error
        return True
    return False


@pytest.mark.parametrize("coding", [0, 1, 2])
def test_damaged_tables_are_errors(coding: int) -> None:
    entries = dict(SIMPLE)
    if coding == 2:
        entries[b"das rote haus"] = [([part(0, 2, 0), HOUSE], SCORES, [])]
    data = made(entries, coding=coding, lexicon={"ein": [A, THE], "haus": [HOUSE]}, order_bits=1)
    phrases = [key.decode() for key in entries]
    draw = random.Random(coding)
    refused = 0
    for _ in range(400):
        refused += is_refused(damaged(data, draw), phrases)
    assert refused > 100


@pytest.mark.shared
@pytest.mark.parametrize("name", ["", ".renc"])
def test_damaged_real_tables_are_errors(shared: Path, name: str) -> None:
    path = shared / f"gold/moses/binary/moses/compact/phrase-table{name}.minphr"
    with gzip.open(shared / "gold/moses/binary/moses/phrase-table.gz", "rt") as lines:
        phrases = list(dict.fromkeys(line.split(" ||| ")[0] for line in lines))[::8]
    data, draw = path.read_bytes(), random.Random(3)
    for _ in range(100):
        is_refused(damaged(data, draw), phrases)
