"""Look-ups in ProbingPT folders: the rules and reordering scores that loading the whole folder gives; damaged files."""

from __future__ import annotations

import gc
import math
import os
import random
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import FormatError
from smtformats.columns import GrammarColumns
from smtformats.grammar.moses_probing import FORMAT, load, lookup
from smtformats.grammar.shared.lookup import NotListed
from smtformats.grammar.shared.probing_lookup import open_folder
from smtformats.reordering import moses_probing as reordering
from smtplugins.core.grammar.reordering import load_reordering

from .probing_folders import key_of, write_folder
from .test_moses_probing import FILES, GOLD, PHRASES, RULES

LOOKED_UP = ("source_vocabids", "TargetVocab.dat", "Alignments.dat", "probing_hash.dat", "TargetColl.dat", "config")
QUARTER, DAS = struct.pack("<f", math.log(0.25)), struct.pack("<Q", key_of(["das"]))
LEXICAL = [f"{line} ||| ||| {{{{LexRO 0.6 0.2 0.{i} 1}}}}" for i, line in enumerate(PHRASES, 1)]


def found(path: Path, phrases: list[str]) -> GrammarColumns:
    table = lookup(path)
    assert table is not None
    return table.columns(phrases)


def rows(columns: GrammarColumns) -> list[Any]:
    rules = map(columns.rule, range(len(columns)))
    return [(rule.source, rule.target, rule.names, rule.values, rule.alignment) for rule in rules]


def phrases_of(columns: GrammarColumns) -> list[str]:
    return list(dict.fromkeys(" ".join(map(str, columns.rule(i).source)) for i in range(len(columns))))


@pytest.mark.shared
@pytest.mark.parametrize("folder", [name for name in GOLD if "scfg" not in name])
def test_gold_folders(shared: Path, folder: str) -> None:
    path = shared / "gold/moses/binary" / folder
    whole = load(path)
    sources = phrases_of(whole)
    absent = (shared / "gold/moses/binary/moses/dumps/absent.txt").read_text().splitlines()
    assert rows(found(path, sources)) == rows(whole)
    assert rows(found(path, absent)) == []


@pytest.mark.shared
def test_gold_reordering_scores(shared: Path) -> None:
    folder = shared / "gold/moses/binary/moses/probing/log-lex"
    wanted = reordering.load(folder)
    table = load_reordering(folder, model="wbe-msd-bidirectional-fe-allff", property_index=0)
    sources, targets = zip(*(key.split(" ||| ") for key in wanted.keys), strict=True)
    assert np.array_equal(table.scores(sources, targets), wanted.values)
    columns = load(folder)
    assert np.array_equal(table.scores_of_rules(columns, np.arange(len(columns))), wanted.values)


@pytest.mark.parametrize("log_prob", [True, False])
def test_made_folders(tmp_path: Path, log_prob: bool) -> None:
    lines = [*PHRASES, "das ||| this ||| 0.5 0.25 ||| 0-0 ||| 4 4 2"]
    path = write_folder(tmp_path / "made", lines, log_prob=log_prob)
    whole = load(path)
    table = lookup(path, table="TM", sources="none", only="none")
    assert table is not None
    assert rows(table.columns(phrases_of(whole))) == rows(load(path, table="TM"))
    missing = ["", " ", "ist", "das  haus", "the", "nein", "haus das", "\ud800", "das " * 64 + "das"]
    assert rows(found(path, missing)) == rows(found(path, ["das haus"]))
    assert table.longest == 64
    assert table.facts()["source phrases"] == 7


def test_source_sides_that_nothing_tells(tmp_path: Path) -> None:
    far = "w1 w2 w3 w4 w5 w6 ||| x ||| 1 1 ||| ||| 1 1 1"
    path = write_folder(tmp_path / "made", [*PHRASES[:1], far], cached=0)
    with pytest.raises(NotListed):
        load(path)
    assert [row[1] for row in rows(found(path, ["w1", "w1 w2 w3 w4 w5 w6"]))] == [("x",)]
    (tmp_path / "text").write_text("w1 w2 w3 w4 w5 w6\n")
    for options, listed in (({}, None), ({"sources": str(tmp_path / "text")}, ["das", "w1 w2 w3 w4 w5 w6"])):
        table = lookup(path, **options)
        assert table is not None
        assert table.sources() == listed


def test_rules_are_loaded(tmp_path: Path) -> None:
    assert lookup(write_folder(tmp_path / "rules", RULES, scfg=True)) is None
    alone = write_folder(tmp_path / "alone", RULES[2:], scfg=True)
    assert lookup(alone) is None
    assert load(alone).rule(0).lhs == "X][VP"
    with pytest.raises(FormatError, match=r"rules:1: expected phrases, as reordering needs them, found rules"):
        load_reordering(tmp_path / "rules", model="wbe-msd-backward-fe-allff", property_index=0)


def test_words_in_brackets_of_phrases(tmp_path: Path) -> None:
    """Phrases may have such words, as in Moses, which takes them for labels in rules only."""
    path = write_folder(tmp_path / "made", [*PHRASES[:1], "das [1] ||| the [1] ||| 1 1 ||| 0-0 ||| 1 1 1"])
    assert rows(found(path, ["das [1]"])) == rows(load(path))[1:]
    assert rows(load(path))[1][:2] == (("das", "[1]"), ("the", "[1]"))


def test_reordering_scores(tmp_path: Path) -> None:
    twice = "haus ||| house ||| 0.75 0.5 ||| 0-0 ||| 1 5 1 ||| ||| {{LexRO 0.6 0.2 0.25 1}}"
    lines = sorted([*LEXICAL, twice], key=lambda line: line.split(" ||| ")[0])
    path = write_folder(tmp_path / "made", lines, lex=4)
    table = load_reordering(path, model="wbe-msd-backward-fe-allff", property_index=1)
    pairs = [("das", "the"), ("das", "house"), ("haus", "house"), ("das", "the"), ("nein", "the"), ("das", "")]
    scores = table.scores(*zip(*pairs, strict=True))
    first, last = [math.log(0.2), math.log(0.1), 0.0], [math.log(0.2), math.log(0.25), 0.0]
    assert np.allclose(scores[[0, 2, 3]], [first, last, first])
    assert np.isnan(scores[[1, 4, 5]]).all()
    columns = found(path, ["das haus", "das"])
    chosen = np.array([1, 0, 1])
    assert np.allclose(table.scores_of_rules(columns, chosen)[:, 1], [math.log(0.1), math.log(0.2), math.log(0.1)])
    with pytest.raises(FormatError, match=r"config:1: expected num_lex_scores of at least 6, for 3 scores from 3 on"):
        load_reordering(path, model="wbe-msd-backward-fe-allff", property_index=3)


def test_a_folder_is_opened_once(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "made", LEXICAL, lex=4)
    first = open_folder(path)
    assert open_folder(os.path.relpath(path)) is first
    os.utime(path / "TargetColl.dat", ns=(1, 1))
    second = open_folder(path)
    assert second is not first
    kept = id(second)
    del first
    gc.collect()
    assert id(open_folder(path)) == kept


def damaged(folder: Path, phrases: list[str]) -> str | None:
    """The file that an error names; ``None`` without one."""
    try:
        found(folder, phrases)
        load_reordering(folder, model="wbe-msd-backward-fe-allff", property_index=1).scores(["das"], ["the"])
    except FormatError as error:
        return error.file
    return None


def test_damage_is_an_error_with_the_name_of_a_file(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "made", LEXICAL, lex=4)
    phrases = phrases_of(load(folder))
    draw = random.Random(3)
    named: set[str | None] = set()
    for name in LOOKED_UP:
        good = (folder / name).read_bytes()
        for size in (*range(0, len(good), 1 if len(good) < 150 else 5), None):
            at, length = draw.randrange(len(good)), draw.choice((1, 2, 4, 8, 16))
            new = draw.choice((draw.randbytes(length), b"", draw.randbytes(length) + good[at : at + length]))
            data = good[:at] + new + good[at + length :] if size is None or draw.random() < 0.5 else good[:size]
            # A new file: what is mapped must not change.
            (folder / "new").write_bytes(data)
            (folder / "new").replace(folder / name)
            named.add(damaged(folder, phrases))
        (folder / "new").write_bytes(good)
        (folder / "new").replace(folder / name)
    assert named - {None} == {str(folder / name) for name in LOOKED_UP}
    assert damaged(folder, phrases) is None


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("source_vocabids", b"das\t", b"dass\t", ":1: field 2: expected the hash of the word"),
        ("TargetVocab.dat", b"the\t1\n", b"red\t1\n", "expected each word once, found 'red' again"),
        ("Alignments.dat", b"0\t0 0 \n", b"0\t0 \n", "expected pairs of positions, found 1 positions"),
        ("Alignments.dat", b"0\t0 0 \n", b"0\t0  0 \n", "expected a file as CreateProbingPT writes it"),
        ("TargetColl.dat", QUARTER, struct.pack("<f", math.nan), "expected a logarithm from -100 on, found nan"),
        ("TargetColl.dat", QUARTER + b"\1", QUARTER + b"\x99", "expected numbers of words in TargetVocab.dat"),
        ("probing_hash.dat", DAS + bytes(8), DAS + b"\0\0\1" + bytes(5), "the place of a block of TargetColl.dat"),
    ],
)
def test_errors_say_what_and_where(tmp_path: Path, name: str, old: bytes, new: bytes, message: str) -> None:
    folder = write_folder(tmp_path / "made", PHRASES)
    data = (folder / name).read_bytes()
    assert old in data
    (folder / name).write_bytes(data.replace(old, new, 1))
    with pytest.raises(FormatError) as raised:
        found(folder, ["das"])
    assert str(raised.value).startswith(f"{folder / name}:")
    assert message in str(raised.value)


def test_missing_files_are_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "made", PHRASES)
    for name in LOOKED_UP:
        shutil.copytree(folder, tmp_path / "other")
        (tmp_path / "other" / name).unlink()
        with pytest.raises(FormatError, match=rf"other/{name}:1: expected a file of this name, found none"):
            lookup(tmp_path / "other")
        shutil.rmtree(tmp_path / "other")
    assert set(LOOKED_UP) < set(FILES)
    assert FORMAT.lookup is not None
