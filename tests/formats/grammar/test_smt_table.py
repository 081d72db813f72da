"""Tables of our own: what is written is read, looked up and found by any name; damaged folders are errors."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smtformats import FormatError
from smtformats.columns import GrammarColumns, IndexedColumns
from smtformats.format import shortest
from smtformats.grammar import smt_table
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared import table_arrays, table_lookup
from smtformats.grammar.shared.gather import grammar_columns
from smtformats.tokens import BadField
from smtplugins.core.grammar.tables import source_index

X = NonTerminal("X", 1)
WORDS = st.lists(st.sampled_from(["a", "b", "ab", "ä", "\u3000"]), min_size=1, max_size=3)
VALUES = st.floats(-200, 9, width=32)
FEATURES = st.lists(st.tuples(st.sampled_from("FGH"), VALUES), max_size=3, unique_by=lambda pair: pair[0])


@st.composite
def phrases(draw: st.DrawFn) -> Rule:
    pairs = [("p[0]", draw(VALUES)), ("p[1]", draw(VALUES)), *draw(FEATURES)]
    names, values = zip(*pairs, strict=True)
    points = tuple(draw(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=2)))
    label = draw(st.sampled_from("XXXY"))
    return Rule(label, tuple(draw(WORDS)), tuple(draw(WORDS)[1:]), names, values, points)


def facts(rule: Rule) -> tuple[Any, ...]:
    return rule.lhs, rule.source, rule.target, rule.names, rule.values, rule.alignment, rule.level


def rules_of(columns: GrammarColumns) -> list[tuple[Any, ...]]:
    return [facts(columns.rule(i)) for i in range(len(columns))]


def written(folder: Path, rules: Any, **options: Any) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    assert smt_table.write(rules, folder, shortest, **options) == len(rules)
    return folder


def looked_up(folder: Path, sides: list[str], **options: Any) -> GrammarColumns:
    table = smt_table.lookup(folder, **options)
    assert table is not None
    return table.columns(sides)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rules=st.lists(phrases(), min_size=1, max_size=8))
def test_phrases(tmp_path: Path, rules: list[Rule]) -> None:
    folder = written(tmp_path / "table", rules)
    assert rules_of(smt_table.load(folder)) == list(map(facts, rules))
    table = smt_table.lookup(folder)
    assert table is not None
    sides = list(dict.fromkeys(" ".join(map(str, rule.source)) for rule in rules))
    assert table.sources() == sides
    assert table.longest == max(len(rule.source) for rule in rules)
    for side in [*sides, "a a a a", "\udcff"]:
        assert rules_of(table.columns([side])) == [facts(r) for r in rules if " ".join(map(str, r.source)) == side]
    whole = [facts(r) for side in sides[::-1] for r in rules if " ".join(map(str, r.source)) == side]
    assert rules_of(table.columns(sides[::-1])) == whole
    assert set(table.columns(()).names[:]) == {name for rule in rules for name in rule.names}


def test_rules_with_gaps_are_loaded_with_their_index(tmp_path: Path) -> None:
    rules = [
        Rule("X", ("a", X), (X, "A"), ("F", "G"), (0.5, 2), ((0, 1),)),
        Rule("S", ("a", X), (X, "A"), ("G",), (1.5,), level=1),
        Rule("X", ("b",), ("B",)),
    ]
    for columns in (grammar_columns(rules), source_index(grammar_columns(rules))):
        folder = written(tmp_path / "table", columns)
        assert smt_table.lookup(folder) is None
        loaded = smt_table.load(folder)
        assert rules_of(loaded) == list(map(facts, rules))
        assert not loaded.source.flags.writeable
        if isinstance(columns, IndexedColumns):
            assert isinstance(loaded, IndexedColumns)
            assert columns.index is not None and loaded.index is not None
            assert all(map(np.array_equal, columns.index, loaded.index))
    with pytest.raises(BadField):
        smt_table.write(rules, tmp_path / "table", shortest, quantise=8)


def test_a_hash_of_two_phrases_is_salted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = table_arrays.word_hash
    monkeypatch.setattr(table_arrays, "word_hash", lambda word, salt: 7 if salt < 3 else plain(word, salt))
    folder = written(tmp_path / "table", [Rule("X", (word,), ("A",)) for word in "ab"])
    assert json.loads((folder / smt_table.HEADER).read_text())["about"]["salt"] == 3
    assert rules_of(looked_up(folder, ["b"])) == [("X", ("b",), ("A",), (), (), (), 0)]


def test_many_phrases_are_found(tmp_path: Path) -> None:
    rules = [Rule("X", (f"a{i % 40}", f"b{i}"), ("A",), ("F",), (float(i),)) for i in range(3000)]
    folder = written(tmp_path / "table", rules)
    sides = [" ".join(map(str, rule.source)) for rule in rules]
    assert looked_up(folder, sides).values.tolist() == list(map(float, range(3000)))
    assert len(looked_up(folder, [side + "x" for side in sides])) == 0


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ["T[0]", "T[1]", "T_s"]),
        ({"table": "U"}, ["U[0]", "U[1]", "U_s"]),
        ({"owner": "pt"}, ["tm_pt_0", "tm_pt_1", "T_s"]),
    ],
)
def test_names_of_scores(tmp_path: Path, options: dict[str, str], names: list[str]) -> None:
    rules = [Rule("X", ("a",), ("A",), ("T[0]", "T[1]", "T_s"), (0.0, -1.0, 2.0))]
    folder = written(tmp_path / "table", rules, source={"table": "T"})
    assert looked_up(folder, ["a"], **options).names[:] == names
    assert smt_table.load(folder, **options).names[:] == names
    assert next(smt_table.parse(folder, **options)).names == tuple(names)


def test_names_of_joshuas_scores(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "table", [Rule("X", ("a",), ("A",), ("tm_pt_0", "F"), (0.0, 1.0))], source={"owner": "pt"}
    )
    assert looked_up(folder, ["a"], owner="glue").names[:] == ["tm_glue_0", "F"]
    assert looked_up(folder, ["a"], table="T").names[:] == ["tm_pt_0", "F"]


def test_records_have_decimals_of_few_digits(tmp_path: Path) -> None:
    values = tuple(map(math.log, (0.5, 0.0123, 1)))
    names = ("T[0]", "T[1]", "T[2]", "F", "G")
    folder = written(tmp_path / "table", [Rule("X", ("a",), (), names, (*values, 0.1, -100.0))], source={"table": "T"})
    assert next(smt_table.parse(folder)).values == (*values, 0.1, -100.0)


def test_quantised_scores(tmp_path: Path) -> None:
    some = np.random.default_rng(1).normal(size=1000).astype(np.float32)
    rules = [Rule("X", (f"a{i}",), ("A",), ("T", "U"), (float(some[i]), i % 2)) for i in range(1000)]
    folder = written(tmp_path / "table", rules, quantise=4)
    loaded = smt_table.load(folder).values.reshape(-1, 2)
    assert len(np.unique(loaded[:, 0])) == 16
    assert np.abs(loaded[:, 0] - some).mean() < 0.1
    assert loaded[:, 1].tolist() == [i % 2 for i in range(1000)]
    assert looked_up(folder, ["a7"]).values.tolist() == loaded[7].tolist()
    table = smt_table.lookup(folder)
    assert table is not None
    assert "4 bits" in table.facts()["quantised"]
    # What has so few values already is kept.
    again = written(tmp_path / "again", smt_table.load(folder), quantise=4)
    assert smt_table.load(again).values.tolist() == loaded.reshape(-1).tolist()
    with pytest.raises(BadField):
        smt_table.write(rules, tmp_path / "table", shortest, quantise=17)


def made(folder: Path, gaps: bool) -> Path:
    rules = [Rule("X", (*([X] * gaps), f"a{i}"), (*([X] * gaps), "A"), ("F",), (i,), ((0, 0),)) for i in range(5)]
    return written(folder, rules)


@pytest.mark.parametrize("gaps", [False, True])
def test_damaged_folders_are_errors(tmp_path: Path, gaps: bool) -> None:
    whole = made(tmp_path / "whole", gaps)
    wanted = rules_of(smt_table.load(whole))
    for name in ("arrays", "checksums", smt_table.HEADER):
        data = (whole / name).read_bytes()
        # Padding between arrays belongs to no array, and blanks to no key.
        places = range(0, len(data), 997 if name == "arrays" else 29)
        for changed in (data[:-1], b"", data + b"x", *(_flipped(data, place) for place in places)):
            (whole / name).write_bytes(changed)
            try:
                found = rules_of(smt_table.load(whole))
                sides = [" ".join(map(str, rule[1])) for rule in wanted]
                again = wanted if gaps else rules_of(looked_up(whole, sides))
            except FormatError as error:
                where = str(error.file)
            else:
                where = str(whole)
                assert found == again == wanted
            assert where.startswith(str(whole))
        (whole / name).unlink()
        with pytest.raises((FormatError, FileNotFoundError)):
            smt_table.load(whole)
        (whole / name).write_bytes(data)


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def test_look_ups_check_what_they_read(tmp_path: Path) -> None:
    folder = made(tmp_path / "table", False)
    header = json.loads((folder / smt_table.HEADER).read_text())
    at = header["arrays"]["values"][1]
    data = (folder / "arrays").read_bytes()
    (folder / "arrays").write_bytes(_flipped(data, at))
    table = smt_table.lookup(folder)
    assert table is not None
    with pytest.raises(FormatError, match=f"what was written from byte {at} on"):
        table.columns(["a0"])


def test_another_version(tmp_path: Path) -> None:
    folder = made(tmp_path / "table", False)
    (folder / smt_table.HEADER).write_text('{"version": 2}')
    with pytest.raises(FormatError, match="version 1 of tables"):
        smt_table.load(folder)
    (folder / smt_table.HEADER).write_text("[]")
    with pytest.raises(FormatError, match="the header of a table"):
        smt_table.lookup(folder)


@pytest.mark.parametrize("bits", [0, 8])
def test_phrases_without_features(tmp_path: Path, bits: int) -> None:
    rules = [Rule("X", ("a",), ("A",)), Rule("X", ("b",), ())]
    folder = written(tmp_path / "table", rules, quantise=bits)
    assert rules_of(smt_table.load(folder)) == rules_of(looked_up(folder, ["a", "b"])) == list(map(facts, rules))


@pytest.mark.parametrize("gaps", [False, True])
def test_records_come_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gaps: bool) -> None:
    folder = made(tmp_path / "table", gaps)
    monkeypatch.setattr(table_lookup, "_PIECE", 2)
    assert list(map(facts, smt_table.parse(folder))) == rules_of(smt_table.load(folder))
