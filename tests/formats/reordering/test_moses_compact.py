"""Compact reordering tables of Moses: the gold tables row for row, tables made here, conversion, damaged files."""

from __future__ import annotations

import gzip
import io
import math
import random
from pathlib import Path

import numpy as np
import pytest

from smtformats import FormatError, open_lines
from smtformats.files import Lines
from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtformats.reordering import moses
from smtformats.reordering.moses_compact import CompactReorderingFile, lookup, parse
from smtformats.reordering.rows import Reordering
from tests.formats.compact_tables import reordering_file

ROWS = {
    ("ein hut", "a hat"): (-0.5, -1.5),
    ("hut", "hat"): (-0.25, -100.0),
    ("straße", "street ü"): (-2.0, -3.0),
}


def made(rows: dict[tuple[str, ...], tuple[float, ...]] = ROWS, **options: int) -> bytes:  # type: ignore[assignment]
    return reordering_file({" ||| ".join((*pair, "")).encode(): values for pair, values in rows.items()}, **options)  # type: ignore[arg-type]


def opened(data: bytes) -> CompactReorderingFile:
    return CompactReorderingFile(np.frombuffer(data, dtype=np.uint8), "x.minlexr")


@pytest.mark.shared
@pytest.mark.parametrize("name", ["", ".fp8", ".fp24", ".join", ".quantize20"])
def test_every_row_of_the_original_tables(shared: Path, name: str) -> None:
    gold = shared / "gold/moses/binary/moses"
    text = gold / ("dumps/reordering-table.quantize20.txt.gz" if name == ".quantize20" else "reordering-table.gz")
    with open_lines(text) as lines:
        rows = list(moses.parse(lines))
    table = lookup(gold / f"compact/reordering-table{name}.minlexr")
    found = table.find([row.source for row in rows], [row.target or "" for row in rows])
    assert len(table) == len(rows) == len(found)
    np.testing.assert_allclose(np.exp(found), np.exp([row.values for row in rows]), rtol=1e-6)
    # Pairs of a source phrase with the target of another one are not there, but for wrong fingerprints of 8 bits.
    others = table.find([row.source for row in rows], [f"{row.target} x" for row in rows])
    expected = len(rows) / 256 if name == ".fp8" else 0
    assert abs(int((~np.isnan(others[:, 0])).sum()) - expected) <= 4 * math.sqrt(expected) + 2


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize(
    ("rows", "order_bits", "fingerprint_bits"), [(1, 10, 16), (2, 10, 16), (90, 5, 24), (300, 9, 32)]
)
def test_pairs_are_found(rows: int, order_bits: int, fingerprint_bits: int, joined: bool, signed: bool) -> None:
    draw = random.Random(rows)
    pairs = {
        (f"w{i} läuft über die {'x' * draw.randrange(1, 9)}", f"b{i}"): tuple(
            draw.choice([-0.5, -1.25]) for _ in range(6)
        )
        for i in range(rows)
    }
    table = opened(made(pairs, order_bits=order_bits, fingerprint_bits=fingerprint_bits, joined=joined, signed=signed))
    sources, targets = map(list, zip(*pairs, strict=True))
    assert len(table) == rows
    assert table.scores == 6
    assert table.find(sources, targets).tolist() == [list(values) for values in pairs.values()]
    assert np.isnan(table.find(sources, [f"{target} y" for target in targets])).all()
    rules = grammar_columns(Rule("X", tuple(s.split()), tuple(t.split())) for s, t in pairs)
    chosen = np.arange(rows)[::-1]
    assert table.find_rules(rules, chosen, paired=True).tolist() == [list(values) for values in pairs.values()][::-1]
    assert np.isnan(table.find_rules(rules, chosen, paired=False)).all()


def test_tables_of_source_phrases() -> None:
    table = opened(made({("ein hut",): (-0.5, -1.5), ("hut",): (-0.25, -1.0)}))
    assert table.find(["hut", "x", "", "\ud800"], None)[0].tolist() == [-0.25, -1.0]
    assert np.isnan(table.find(["x", "", "\ud800"], None)).all()
    assert table.find([], None).shape == (0, 2)
    rules = grammar_columns([Rule("X", ("ein", "hut"), ("y",))])
    assert table.find_rules(rules, np.arange(1), paired=False).tolist() == [[-0.5, -1.5]]


def test_listed_pairs_and_the_reason_without(tmp_path: Path) -> None:
    data = made()
    with pytest.raises(
        FormatError, match=r"^x:1: expected phrase pairs to look up, in a file named by the option phra"
    ):
        list(parse(Lines(io.BytesIO(data), "x")))
    listed = tmp_path / "phrases.gz"
    listed.write_bytes(gzip.compress("hut  ||| hat ||| 1 2\nx ||| y\nstraße ||| street ü\n".encode()))
    found = list(parse(Lines(io.BytesIO(data), "x"), phrases=str(listed)))
    assert found == [Reordering("hut", "hat", (-0.25, -100.0)), Reordering("straße", "street ü", (-2.0, -3.0))]
    listed.write_bytes(b"hut ||| hat\nhut\n")
    with pytest.raises(
        FormatError, match=r":2: field 1: expected source \|\|\| target, as on the first line, found 'hut'"
    ):
        list(parse(Lines(io.BytesIO(data), "x"), phrases=str(listed)))


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, 0, "expected 1 to 24 bits of order in a range of phrases, found 0"),
        (8, 33, "expected 1 to 32 bits of a fingerprint, found 33"),
        (16, 1 << 40, "expected the place of the index, within the file, found 1099511627776"),
        (24, 0, r"expected a hash function of CMPH \(CHD\), found another name"),
    ],
)
def test_bad_headers(place: int, value: int, message: str) -> None:
    data = made()
    with pytest.raises(FormatError, match=f"^x.minlexr:1: {message}"):
        opened(data[:place] + value.to_bytes(8, "little") + data[place + 8 :])


def test_no_part_of_a_table_is_a_table() -> None:
    data = made()
    for size in range(len(data) - 1):
        with pytest.raises(FormatError, match=r"^x.minlexr:1: "):
            opened(data[:size])


def test_changed_bytes_are_errors_or_other_scores() -> None:
    data, draw = made(order_bits=1), random.Random(1)
    sources, targets = map(list, zip(*ROWS, strict=True))
    for _ in range(500):
        changed = bytearray(data)
        for _ in range(draw.randrange(1, 4)):
            changed[draw.randrange(len(data))] = draw.choice([0, 1, 127, 128, 255])
        try:
            opened(bytes(changed)).find(sources, targets)
        except FormatError as error:
            if error.file != "x.minlexr":
                raise AssertionError(f"an error without its place: {error}") from error
