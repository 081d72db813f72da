"""Reordering tables: rows found by the text of phrase pairs, from the file and from the cache; what is refused."""

from __future__ import annotations

import gzip
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtformats import FormatError
from smtformats.caching import folders as cache
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtformats.reordering.models import ReorderingModel
from smtformats.tokens import BadField
from smtplugins.core import _core
from smtplugins.core.grammar.reordering import ReorderingTable, find_table

TABLE = """ein hut ||| a hat ||| 0.6 0.2 0.2 0.2 0.2 0.6
hut ||| hat ||| 0 0.5 0.5 1 0 0
hut ||| a  hat ||| 1 0 0 1 0 0
hut ||| hat ||| 0.25 0.5 0.25 1 0 0
"""
MODEL = "wbe-msd-bidirectional-fe-allff"


def table(path: Path, text: str = TABLE, model: str = MODEL, scores: int = 0, folder: str = "off") -> ReorderingTable:
    path.write_text(text)
    return ReorderingTable.load(path, model=model, scores=scores, cache=folder)


@pytest.mark.parametrize(
    ("text", "model", "scores", "weights"),
    [
        ("wbe-msd-bidirectional-fe-allff", ReorderingModel("msd", "bidirectional", "fe"), 6, 6),
        ("mslr-f", ReorderingModel("mslr", condition="f"), 4, 4),
        ("collapseff-hier-leftright-bidirectional-fe",
         ReorderingModel("leftright", "bidirectional", "fe", "hier", collapsed=True), 4, 2),
        ("phrase-monotonicity-forward", ReorderingModel("monotonicity", "forward", extraction="phrase"), 2, 2),
        ("msd-unidirectional-collapseff", ReorderingModel("msd", collapsed=True), 3, 1),
    ],
)  # fmt: skip
def test_models(text: str, model: ReorderingModel, scores: int, weights: int) -> None:
    parsed = ReorderingModel.parse(text)
    assert parsed == model
    assert (parsed.scores, parsed.weights) == (scores, weights)
    assert len(parsed.classes) * len(parsed.directions) == scores


@pytest.mark.parametrize(
    "text", ["", "wbe", "msd-e", "msd-mslr", "msd-backward-forward", "msd-allff-collapseff", "msd--f"]
)
def test_what_is_no_model(text: str) -> None:
    with pytest.raises(BadField) as caught:
        ReorderingModel.parse(text)
    assert repr(text) in caught.value.found


def test_rows(tmp_path: Path) -> None:
    loaded = table(tmp_path / "table", scores=6)
    assert len(loaded) == 4
    assert loaded.values.dtype == np.float32
    assert loaded.values[0] == pytest.approx([math.log(p) for p in (0.6, 0.2, 0.2, 0.2, 0.2, 0.6)])
    assert loaded.values[1].tolist() == [
        -100.0,
        np.float32(math.log(0.5)),
        np.float32(math.log(0.5)),
        0.0,
        -100.0,
        -100.0,
    ]
    sources = ["hut", "ein hut", "hut", "hut", "", "hut\ud800", "hut ||| a hat"]
    targets = ["hat", "a hat", "a hat", "a", "hat", "hat", ""]
    rows = loaded.rows(sources, targets)
    assert rows.dtype == np.int32
    # Of a pair that is there twice, the later row.
    assert rows.tolist() == [3, 0, 2, -1, -1, -1, -1]
    assert loaded.rows([], []).tolist() == []
    with pytest.raises(ValueError, match="as many targets"):
        loaded.rows(["hut"], [])
    with pytest.raises(TypeError, match="str"):
        loaded.rows([b"hut"], ["hat"])  # type: ignore[list-item]


def test_rows_of_a_tables_rules(tmp_path: Path) -> None:
    columns = grammar_columns(
        [Rule("X", ("hut",), ("hat",)), Rule("X", ("ein", "hut"), ("a", "hat")), Rule("X", ("hut",), ("a",)),
         Rule("X", (NonTerminal("X", 1),), ("a",))]
    )  # fmt: skip
    both, sources = table(tmp_path / "both"), table(tmp_path / "f", "ein hut ||| 1 0 0\nhut ||| 1 0 0\n", "msd-f")
    chosen = np.array([2, 1, 0, 1], dtype=np.int32)
    assert both.rows_of_rules(columns, chosen).tolist() == [-1, 0, 3, 0]
    assert sources.rows_of_rules(columns, chosen).tolist() == [1, 0, 1, 0]
    for wrong, message in ((4, "a rule is not there"), (-1, "a rule is not there"), (3, "words alone")):
        with pytest.raises(ValueError, match=message):
            both.rows_of_rules(columns, np.array([wrong], dtype=np.int32))


def test_source_phrases_alone(tmp_path: Path) -> None:
    for model in ("msd-backward-f", "msd"):
        loaded = table(tmp_path / "table", "ein hut ||| 0.6 0.2 0.2\nhut ||| 1 0 0\n", model)
        assert loaded.rows(["hut", "ein hut", "ein"], ["hat", "", "x"]).tolist() == [1, 0, -1]


def test_what_moses_looks_for(tmp_path: Path) -> None:
    (tmp_path / "table.gz").write_bytes(gzip.compress(TABLE.encode()))
    assert len(ReorderingTable.load(tmp_path / "table", model=MODEL, cache="off")) == 4
    table(tmp_path / "table", TABLE[: TABLE.index("\n") + 1])
    assert find_table(tmp_path / "table") == tmp_path / "table"
    with pytest.raises(FileNotFoundError, match="absent"):
        find_table(tmp_path / "absent")
    (tmp_path / "binary.minlexr").write_bytes(b"")
    with pytest.raises(
        FormatError, match=r"expected the text of a reordering table, found only a binary table, .*minlexr"
    ):
        find_table(tmp_path / "binary")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected source ||| target ||| probabilities, found an empty file"),
        (TABLE + "a ||| b ||| 1 0 0 1 0\n", f"5: field 3: expected 6 probabilities, as {MODEL} has, found 5"),
        (TABLE + "a ||| 1 0 0 1 0 0\n", f"5: field 2: expected 3 fields, as {MODEL} has, found 2 fields"),
        (TABLE + "a ||| b ||| 1 0 0 1 0 nan\n", "5: field 3: expected a probability, found 'nan'"),
        (TABLE + "a ||| b ||| 1 0 0 1 0 -1\n", "5: field 3: expected a probability, found '-1'"),
        (TABLE + "\n", f"5: field 1: expected 3 fields, as {MODEL} has, found ''"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        table(tmp_path / "table", text)
    assert str(caught.value) == f"{tmp_path / 'table'}:{message}"


def test_bad_calls(tmp_path: Path) -> None:
    with pytest.raises(BadField) as caught:
        table(tmp_path / "table", scores=4)
    assert (caught.value.expected, caught.value.found) == (f"6 scores, as {MODEL} has", "4")
    with pytest.raises(BadField, match="model"):
        table(tmp_path / "table", model="msd-e")


def test_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_SETTLED_NS", -(10**12))
    folder = tmp_path / "cache"
    first = table(tmp_path / "table", folder=str(folder))
    (entry,) = cache.entries(folder)
    assert (entry.source, entry.format) == (str(tmp_path / "table"), "moses-reordering")
    state = entry.path.stat().st_mtime_ns
    monkeypatch.setattr(_core, "text_slots", None)  # it is there already
    second = ReorderingTable.load(tmp_path / "table", model=MODEL, cache=str(folder))
    monkeypatch.undo()
    monkeypatch.setattr(cache, "_SETTLED_NS", -(10**12))
    assert entry.path.stat().st_mtime_ns == state
    assert not second.values.flags.writeable
    assert np.array_equal(first.values, second.values)
    pairs = ["hut", "ein hut", "x"], ["hat", "a hat", "y"]
    assert first.rows(*pairs).tolist() == second.rows(*pairs).tolist() == [3, 0, -1]
    # A table read by another model is another one, and so is a changed file.
    with pytest.raises(FormatError, match="8 probabilities"):
        ReorderingTable.load(tmp_path / "table", model="mslr-bidirectional-fe", cache=str(folder))
    assert len(table(tmp_path / "table", TABLE + "x ||| y ||| 1 0 0 1 0 0\n", folder=str(folder))) == 5
    assert cache.clear(folder)[0] == 1


texts = st.lists(st.sampled_from(["", "a", "b", "ab", "é", "a ||| b", "x" * 40]), max_size=40)


@settings(max_examples=200)
@given(texts, st.lists(st.text("ab", max_size=3)))
def test_texts_are_found_by_their_bytes(given: list[str], others: list[str]) -> None:
    encoded = [text.encode() for text in given]
    blob = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    slots = _core.text_slots(blob, offsets)
    index = _core.PairIndex(blob, offsets, slots)
    wanted = given + others
    last = {text: i for i, text in enumerate(given)}
    assert index.find(wanted, None).tolist() == [last.get(text, -1) for text in wanted]
    pairs = [text.partition(" ||| ") for text in wanted]
    rows = index.find([source for source, _, _ in pairs], [target for _, _, target in pairs])
    assert rows.tolist() == [last.get(f"{source} ||| {target}", -1) for source, _, target in pairs]


def test_texts_of_one_hash_are_told_apart() -> None:
    encoded = [str(i).encode() for i in range(100)]
    blob, offsets = np.frombuffer(b"".join(encoded), dtype=np.uint8), np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    slots = np.array(_core.text_slots(blob, offsets))
    # Each text's bits of the hash lead to the next text, as if they were the same.
    low = np.uint64(0xFFFFFFFF)
    slots[slots > 0] = (slots[slots > 0] & ~low) | (slots[slots > 0] & low) % np.uint64(100) + np.uint64(1)
    index = _core.PairIndex(blob, offsets, slots)
    assert index.find([str(i) for i in range(100)], None).tolist() == [-1] * 100


@pytest.mark.parametrize(
    ("offsets", "slots", "message"),
    [
        ([], [0, 0], "an offset more than texts"),
        ([0, 3], [0, 0], "must rise and not lead out"),
        ([1, 0], [0, 0], "must rise"),
        ([0, 2], [], "slots are not those"),
        ([0, 2], [0, 0, 0], "slots are not those"),
        ([0, 2], [1], "slots are not those"),
        ([0, 2], [1, 1], "slots are not those"),
        ([0, 2], [2, 0], "slots are not those"),
    ],
)
def test_arrays_that_lead_out_are_refused(offsets: list[int], slots: list[int], message: str) -> None:
    text = np.frombuffer(b"ab", dtype=np.uint8)
    with pytest.raises(ValueError, match=re.escape(message)):
        _core.PairIndex(text, np.array(offsets, dtype=np.int64), np.array(slots, dtype=np.uint64))


@pytest.mark.shared
def test_every_pair_of_a_real_table(shared: Path) -> None:
    from smtformats import open_lines
    from smtformats.reordering.moses import parse

    path = shared / "gold/moses/model/reordering-table.wbe-msd-bidirectional-fe"
    loaded = ReorderingTable.load(path, model=MODEL, scores=6, cache="off")
    with open_lines(f"{path}.gz") as lines:
        rows = list(parse(lines))
    assert loaded.rows([row.source for row in rows], [row.target or "" for row in rows]).tolist() == list(
        range(len(rows))
    )
    assert np.array_equal(loaded.values, np.array([row.values for row in rows], dtype=np.float32))
