"""What Moses made of Multi30k: tables of the first 3,000 pairs, line by line, and lexical tables of all."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from smtformats.reordering.models import ReorderingModel
from smtplugins.core.extract.phrase_pairs import Phrases, read_bitext

pytestmark = pytest.mark.shared

MODEL = "wbe-msd-bidirectional-fe"


def head(path: Path, lines: int) -> bytes:
    with gzip.open(path) as stream:
        return b"".join(line for line, _ in zip(stream, range(lines), strict=False))


def by_bytes(path: Path) -> bytes:
    return b"".join(sorted(gzip.decompress(path.read_bytes()).splitlines(keepends=True)))


def paths(shared: Path) -> tuple[Path, Path, Path]:
    data = shared / "data/multi30k"
    return data / "train.de.gz", data / "train.en.gz", shared / "gold/moses/train/aligned.gdfa.gz"


@pytest.mark.parametrize("memory", [1 << 30, 1 << 20])
def test_first_3000_pairs(shared: Path, tmp_path: Path, memory: int) -> None:
    gold = shared / "gold/moses/train/first3k"
    source, target, links = (head(path, 3000) for path in paths(shared))
    phrases = Phrases(tmp_path, models=[ReorderingModel.parse(MODEL)], keep_lines=True, memory=memory)
    phrases.feed(source, target, links)
    oriented = phrases.new_lines()[2].splitlines(keepends=True)
    expected = gzip.decompress((gold / "extract.o.head60k.gz").read_bytes())
    assert b"".join(oriented[: expected.count(b"\n")]) == expected
    table, reordering = (b"".join(pieces) for pieces in zip(*phrases.tables(), strict=True))
    assert table == gzip.decompress((gold / "phrase-table.gz").read_bytes())
    assert reordering == gzip.decompress((gold / f"reordering-table.{MODEL}.gz").read_bytes())
    assert phrases.lexical(forward=True) == by_bytes(gold / "lex.f2e.gz")
    assert phrases.lexical(forward=False) == by_bytes(gold / "lex.e2f.gz")
    assert phrases.spilled == (memory < 1 << 30)


def test_all_pairs(shared: Path, tmp_path: Path) -> None:
    gold = shared / "gold/moses/train"
    phrases = Phrases(tmp_path, memory=64 << 20)
    for piece in read_bitext(*paths(shared)):
        phrases.feed(*piece)
    lines = sum(table.count(b"\n") for (table,) in phrases.tables())
    assert lines == phrases.pairs == 791_348
    assert phrases.spilled
    assert phrases.lexical(forward=True) == by_bytes(gold / "lex.f2e.gz")
    assert phrases.lexical(forward=False) == by_bytes(gold / "lex.e2f.gz")
