"""ProbingPT folders: those that Moses wrote have the rules of their text tables; ones made here, and damaged ones."""

from __future__ import annotations

import gzip
import math
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smtformats import FormatError, open_lines
from smtformats.grammar import moses_phrases, moses_rules
from smtformats.grammar.moses_probing import FORMAT, load, parse
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.reordering import moses_probing as reordering
from smtplugins.host.files.opening import open_known

from .probing_folders import key_of, word_hash, write_folder

PHRASES = """
das ||| the ||| 0.5 0.25 ||| 0-0 ||| 4 4 2
das haus ||| the house ||| 1 0.125 ||| 0-0 1-1 ||| 1 3 1
das haus ist ||| the house is ||| 0.000453926 1.37566e-06 ||| 0-0 1-1 2-2 ||| 1 1 1
das haus ist ||| house ||| 0 0.125 ||| ||| 1 1 1
das rote haus da ||| the red house ||| 0.25 0.75 ||| 0-0 1-1 2-2 ||| 1 1 1
haus ||| house ||| 0.75 0.5 ||| 0-0 ||| 1 5 1
rote ||| red ||| 0.75 0.5 ||| 0-0 ||| 1 2 1
""".strip().splitlines()
RULES = """
[X][NP] schläft [X] ||| [X][NP] sleeps [S] ||| 0.5 0.25 ||| 0-0 1-1 ||| 4 2 2
[X][NP] schläft [X][X] [X] ||| [X][X] while [X][NP] sleeps [X] ||| 0.5 0.25 ||| 0-2 1-1 1-3 2-0 ||| 4 3 2
schläft [X] ||| sleeps [VP] ||| 0.5 0.25 ||| 0-0 ||| 4 4 2
""".strip().splitlines()
FILES = [
    "Alignments.dat",
    "TargetColl.dat",
    "TargetVocab.dat",
    "cache",
    "config",
    "probing_hash.dat",
    "source_vocabids",
]
GOLD = {
    "moses/probing/log": "moses/phrase-table.gz",
    "moses/probing/nolog": "moses/phrase-table.gz",
    "moses/probing/log-lex": "moses/phrase-table.lexro.gz",
    "moses/probing/nolog-lex": "moses/phrase-table.lexro.gz",
    "moses-scfg/probing": "moses-scfg/rule-table.gz",
}
WRITTEN: dict[str, dict[str, Any]] = {
    "moses/probing/log": {},
    "moses/probing/nolog": {"log_prob": False},
    "moses/probing/log-lex": {"lex": 6},
    "moses/probing/nolog-lex": {"log_prob": False, "lex": 6, "cached": 0},
    "moses-scfg/probing": {"scfg": True},
}


def plain(rule: Rule) -> tuple[object, ...]:
    return rule.lhs, rule.source, rule.target, rule.names, rule.alignment, rule.properties


def text_of(path: Path) -> list[Rule]:
    reader = moses_rules if path.name.startswith("rule") else moses_phrases
    with open_lines(path) as lines:
        return list(reader.parse(lines))


@pytest.mark.shared
@pytest.mark.parametrize("folder", GOLD)
def test_rows_of_gold_folders_are_those_of_the_text(shared: Path, folder: str) -> None:
    gold = shared / "gold/moses/binary"
    found, wanted = list(parse(gold / folder)), text_of(gold / GOLD[folder])
    if "scfg" in folder:  # sorted anew, without the source side's label
        found.sort(key=lambda rule: str(plain(rule)))
        wanted.sort(key=lambda rule: str(plain(rule)))
    assert list(map(plain, found)) == list(map(plain, wanted))
    values = np.array([rule.values for rule in found])
    right = np.array([rule.values for rule in wanted])
    assert np.allclose(values, right, rtol=1.2e-7, atol=1.2e-7)
    # Logarithms of small probabilities do not keep the sixth digit.
    assert (values == right)[right > -8].all()
    if "nolog" in folder:
        assert (values == right).all()
    columns = load(gold / folder)
    assert len(columns) == len(found)
    assert np.allclose(columns.values, np.array([rule.values for rule in parse(gold / folder)]).ravel(), atol=2e-6)


@pytest.mark.shared
@pytest.mark.parametrize("folder", GOLD)
def test_writer_of_the_tests_writes_what_the_tool_wrote(shared: Path, tmp_path: Path, folder: str) -> None:
    gold = shared / "gold/moses/binary"
    lines = gzip.decompress((gold / GOLD[folder]).read_bytes()).decode().splitlines()
    if "scfg" in folder:
        lines.sort(key=lambda line: line.replace(" [X] |||", " |||", 1).encode())
    made = write_folder(tmp_path / "made", lines, **WRITTEN[folder])
    for name in FILES:
        ours, theirs = (made / name).read_bytes(), (gold / folder / name).read_bytes()
        if name == "TargetColl.dat":  # padding was not initialised, and logarithms differ in the last bit
            assert len(ours) == len(theirs)
        elif name == "probing_hash.dat":
            pairs = [struct.iter_unpack("<QQ", data) for data in (ours, theirs)]
            made_of, wanted = ({pair for pair in entries if pair[1] + 1 < 1 << 64} for entries in pairs)
            assert made_of == wanted
        else:
            assert sorted(ours.splitlines()) == sorted(theirs.splitlines())


@pytest.mark.parametrize("log_prob", [True, False])
@pytest.mark.parametrize("cached", [0, 2, 50000])
def test_rows_without_reference_data(tmp_path: Path, log_prob: bool, cached: int) -> None:
    folder = write_folder(tmp_path / "made", PHRASES, log_prob=log_prob, cached=cached)
    with open_lines(_text(tmp_path / "text", PHRASES)) as text:
        wanted = list(moses_phrases.parse(text, table="TM"))
    found = list(parse(folder, table="TM"))
    assert list(map(plain, found)) == list(map(plain, wanted))
    assert [rule.values for rule in found] == [pytest.approx(rule.values, abs=1e-6) for rule in wanted]
    assert found[3].values[0] == -100
    assert found[1].values[0] == 0
    same_as_columns(folder)


def test_rules_with_labels(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "made", RULES, scfg=True)
    found = list(parse(folder))
    noun, x = NonTerminal("X][NP", 1), NonTerminal("X", 2)
    assert [(rule.lhs, rule.source, rule.target) for rule in found] == [
        ("X][S", (noun, "schläft"), (noun, "sleeps")),
        ("X", (noun, "schläft", x), (x, "while", noun, "sleeps")),
        ("X][VP", ("schläft",), ("sleeps",)),
    ]
    assert found[1].alignment == ((0, 2), (1, 1), (1, 3), (2, 0))
    assert [rule.lhs for rule in parse(folder, lhs="S")] == ["S", "S][X", "S][VP"]
    same_as_columns(folder)


def same_as_columns(folder: Path) -> None:
    columns = load(folder)
    for i, rule in enumerate(parse(folder)):
        other = columns.rule(i)
        assert (rule.lhs, rule.source, rule.target, rule.alignment) == (
            other.lhs, other.source, other.target, other.alignment,
        )  # fmt: skip
        assert rule.values == pytest.approx(other.values, abs=2e-6)


words = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(words, min_size=1, max_size=30))
def test_sources_are_found_or_named_as_unknown(tmp_path: Path, phrases: list[list[str]]) -> None:
    sources = sorted({" ".join(phrase) for phrase in phrases})
    folder = tmp_path / "made"
    shutil.rmtree(folder, ignore_errors=True)
    write_folder(folder, [f"{source} ||| x ||| 1 ||| ||| 1 1 1" for source in sources], cached=0)
    try:
        found = [" ".join(map(str, rule.source)) for rule in parse(folder)]
    except FormatError as error:
        named, message = error.file, str(error)
    else:
        assert found == sources
        return
    assert named == str(folder / "probing_hash.dat")
    assert "sources=" in message
    _text(tmp_path / "text", sources)
    found = [" ".join(map(str, rule.source)) for rule in parse(folder, sources=str(tmp_path / "text"))]
    assert found == sources


def test_source_sides_that_nothing_tells(tmp_path: Path) -> None:
    """A text that has them is named; sentences are enough."""
    far = "w1 w2 w3 w4 w5 w6 ||| x ||| 1 1 ||| ||| 1 1 1"
    folder = write_folder(tmp_path / "made", [*PHRASES[:1], far], cached=0)
    with pytest.raises(
        FormatError, match=r"probing_hash.dat:1: expected source sides .*sources=.* found 1 of 2 unknown"
    ):
        load(folder)
    text = _text(tmp_path / "text", ["he w1 w2 w3 w4 w5 w6 w7", "no"])
    assert [rule.source[0] for rule in parse(folder, only=str(text))] == ["w1"]
    assert len(load(folder, only=str(_text(tmp_path / "other", ["alles das hier"])))) == 1
    assert load(folder, sources=str(text)).rule(1).source == ("w1", "w2", "w3", "w4", "w5", "w6")


def test_only_what_a_text_asks_for(tmp_path: Path) -> None:
    text = _text(tmp_path / "text", ["das rote haus da", "haus ist rote"])
    folder = write_folder(tmp_path / "made", PHRASES)
    sources = [" ".join(map(str, rule.source)) for rule in parse(folder, only=str(text))]
    assert sources == ["das", "das rote haus da", "haus", "rote"]
    rules = write_folder(tmp_path / "rules", RULES, scfg=True)
    with pytest.raises(FormatError, match=r"source_vocabids:1: expected phrases, .* found the gap \[X\]\[NP\]"):
        load(rules, only=str(text))
    assert len(load(folder, only=str(_text(tmp_path / "none", ["nichts"])))) == 0


def test_later_of_two_places_is_lost(tmp_path: Path) -> None:
    lines = [*PHRASES, "das ||| this ||| 0.5 0.25 ||| 0-0 ||| 4 4 2"]
    folder = write_folder(tmp_path / "made", lines)
    assert [rule.target for rule in parse(folder) if rule.source == ("das",)] == [("the",)]
    assert len(load(folder)) == len(PHRASES)


def test_reordering_scores(tmp_path: Path) -> None:
    lines = [f"{line} ||| ||| {{{{LexRO 0.6 0.2 0.{i} 1}}}}" for i, line in enumerate(PHRASES, 1)]
    folder = write_folder(tmp_path / "made", lines, lex=4)
    rules = list(parse(folder))
    assert [rule.properties for rule in rules] == [(("LexRO", f"0.6 0.2 0.{i} 1"),) for i in range(1, 8)]
    rows = list(reordering.parse(folder, model="wbe-msd-backward-fe-allff", property_index=1))
    assert [(row.source, row.target) for row in rows[:2]] == [("das", "the"), ("das haus", "the house")]
    assert [row.values for row in rows] == [(math.log(0.2), math.log(i / 10), 0) for i in range(1, 8)]
    assert len(reordering.load(folder).values[0]) == 4
    with pytest.raises(FormatError, match=r"config:1: expected num_lex_scores of at least 6, for 3 scores from 3 on"):
        reordering.load(folder, model="wbe-msd-backward-fe-allff", property_index=3)
    with pytest.raises(FormatError, match=r"config:1: expected num_lex_scores of more than property_index"):
        reordering.load(folder, property_index=4)


def test_commands_know_the_folder(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "made", PHRASES[:1])
    assert FORMAT.matches("\n".join(FILES).encode())
    assert not FORMAT.matches(b"config\ncache\n")
    with open_known(folder, None) as opened:
        assert opened.record.name == "moses-probing"
        assert [rule.source for rule in opened.records()] == [("das",)]
    with open_known(folder, "reordering") as opened:
        assert opened.record.name == "moses-probing-reordering"
    (folder / "TargetColl.dat").unlink()
    with (
        open_known(folder, "grammar") as opened,
        pytest.raises(FormatError, match=r"TargetColl\.dat:1: expected a file of this name, found none"),
    ):
        list(opened.records())


def _text(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def edit(name: str, old: bytes, new: bytes) -> Callable[[Path], str]:
    def change(folder: Path) -> str:
        data = (folder / name).read_bytes()
        assert old in data
        (folder / name).write_bytes(data.replace(old, new, 1))
        return name

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit("config", b"API_VERSION\t15", b"API_VERSION\t11"), ":1: field 2: expected version 15"),
        (edit("config", b"log_prob\t1", b"log_prob\t2"), ":5: field 2: expected a whole number up to 1, found '2'"),
        (edit("config", b"num_lex_scores\t0\n", b""), ": expected a line num_lex_scores, found none"),
        (edit("config", b"uniq_entries\t6", b"uniq_entries\t7"), "expected 7 entries, as config says, found 6"),
        (edit("source_vocabids", b"das\t", b"dass\t"), ":1: field 2: expected the hash of the word"),
        (edit("source_vocabids", b"das\t", b"d s\t"), ":1: field 1: expected a word without blanks"),
        (edit("TargetVocab.dat", b"the\t1\n", b"the\t9\n"), "expected each number from 1 to 4 once, found 9"),
        (edit("TargetVocab.dat", b"the\t1\n", b"red\t1\n"), "expected each word once, found 'red' again"),
        (edit("TargetVocab.dat", b"the\t", b"t\xffe\t"), "expected UTF-8, found byte 0xff"),
        (edit("Alignments.dat", b"0\t0 0 \n", b"0\t0 \n"), "expected pairs of positions, found 1 positions"),
        (edit("Alignments.dat", b"0 \n", b"0\n"), "expected a blank after each position"),
        (edit("cache", b"\thaus\n", b"\thaut\n"), "expected a source side of the table and its key, found 'haut'"),
        (edit("TargetColl.dat", b"\x01\0\0\0\0\0\0\0", b"\x02\0\0\0\0\0\0\0"), "found other data at byte"),
    ],
)  # fmt: skip
def test_errors_name_file_and_place(tmp_path: Path, change: Callable[[Path], str], message: str) -> None:
    folder = write_folder(tmp_path / "made", PHRASES)
    name = change(folder)
    with pytest.raises(FormatError) as raised:
        load(folder)
    assert message in str(raised.value)
    assert str(raised.value).startswith(str(folder / ("probing_hash.dat" if "entries" in message else name)))


def test_keys_and_scores_that_no_tool_writes(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "made", PHRASES)
    hashed = (folder / "probing_hash.dat").read_bytes()
    at = hashed.index(struct.pack("<Q", key_of(["das"])))
    (folder / "probing_hash.dat").write_bytes(hashed[:at] + struct.pack("<Q", word_hash("x")) + hashed[at + 8 :])
    with pytest.raises(FormatError, match=r"probing_hash.dat:1: expected a key that its hash leads to|cache:"):
        load(folder)
    (folder / "probing_hash.dat").write_bytes(hashed)
    blocks = (folder / "TargetColl.dat").read_bytes()
    for value, found in ((math.nan, "nan"), (-101.0, "-101.0")):
        (folder / "TargetColl.dat").write_bytes(blocks[:24] + struct.pack("<f", value) + blocks[28:])
        with pytest.raises(FormatError, match=f"TargetColl.dat:1: expected a logarithm .*, found {found} at byte 8"):
            load(folder)


@pytest.mark.parametrize("scfg", [False, True])
def test_damage_is_an_error_with_the_name_of_a_file(tmp_path: Path, scfg: bool) -> None:
    """Every truncation, and bytes changed, left out and added at random places."""
    folder = write_folder(tmp_path / "made", RULES if scfg else PHRASES, scfg=scfg)
    whole = len(load(folder))
    draw = random.Random(7)
    named: set[str] = set()

    def tried(name: str, data: bytes) -> bool:
        (folder / name).write_bytes(data)
        try:
            rules = len(load(folder))
        except FormatError as error:
            named.add(error.file)
            return True
        assert rules == whole
        return False

    for name in FILES:
        good = (folder / name).read_bytes()
        for size in range(0, len(good), 1 if len(good) < 150 else 3):
            # Without some of its last lines the cache tells less, but nothing else.
            assert tried(name, good[:size]) or (name == "cache" and good[:size].endswith(b"\n")), (name, size)
        for _ in range(40):
            at, size = draw.randrange(len(good)), draw.choice((1, 2, 4, 8, 16))
            for new in (draw.randbytes(size), b"", draw.randbytes(size) + good[at : at + size]):
                tried(name, good[:at] + new + good[at + size :])
        (folder / name).write_bytes(good)
    assert named == {str(folder / name) for name in FILES}
    load(folder)
