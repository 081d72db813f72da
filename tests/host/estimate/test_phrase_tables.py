"""Extraction into a folder: errors that name the file, outputs that appear together, counts."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import smtplugins as smt
from smtformats.errors import FormatError
from smtplugins.contracts.errors import UsageError
from smtplugins.host.estimate.phrase_tables import (
    Bitext,
    PhraseSettings,
    extract_phrases,
    outputs,
    spill_folder,
    tell,
)


@pytest.fixture
def bitext(tmp_path: Path) -> Bitext:
    paths = [tmp_path / name for name in ("s", "t", "a")]
    for path, text in zip(paths, ("ein haus\nein hut\n", "a house\na hat\n", "0-0 1-1\n0-0 1-1\n"), strict=True):
        path.write_text(text)
    return Bitext(*paths)


def test_phrases_into_a_folder(bitext: Bitext, tmp_path: Path) -> None:
    notes: list[str] = []
    settings = PhraseSettings(max_length=1, reordering=["msd-backward"])
    out = tmp_path / "new/one"
    assert extract_phrases(smt.load_plugins(), bitext, out, settings, note=notes.append) == 3
    assert notes == []
    assert sorted(os.listdir(out)) == [
        "lex.e2f",
        "lex.f2e",
        "phrase-table.gz",
        "reordering-table.wbe-msd-backward-fe.gz",
    ]
    assert gzip.decompress((out / "phrase-table.gz").read_bytes()).decode().splitlines() == [
        "ein ||| a ||| 1 1 1 1 ||| 0-0 ||| 2 2 2 ||| |||",
        "haus ||| house ||| 1 1 1 1 ||| 0-0 ||| 1 1 1 ||| |||",
        "hut ||| hat ||| 1 1 1 1 ||| 0-0 ||| 1 1 1 ||| |||",
    ]


def test_bad_lines_name_their_file(bitext: Bitext, tmp_path: Path) -> None:
    Path(bitext.alignment).write_text("0-0\n0:0\n")
    with pytest.raises(FormatError, match=r"a:2: expected links as 0-0 1-2, found '0:0'"):
        extract_phrases(smt.load_plugins(), bitext, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(UsageError, match="only one of source, target and alignment"):
        Bitext("-", "-", bitext.alignment)


def test_outputs_come_up_together(tmp_path: Path) -> None:
    out = tmp_path / "new"
    with outputs(out, ["one", "two.gz"]) as files, spill_folder(out) as aside:
        files["one"].write(b"1")
        files["two.gz"].write(b"2")
        assert os.listdir(aside) == []
        assert not {"one", "two.gz"} & set(os.listdir(out))
    assert sorted(os.listdir(out)) == ["one", "two.gz"]
    assert gzip.decompress((out / "two.gz").read_bytes()) == b"2"
    with pytest.raises(ZeroDivisionError), outputs(out, ["one"]) as files:
        files["one"].write(bytes(1 // 0))
    assert (out / "one").read_bytes() == b"1"
    assert sorted(os.listdir(out)) == ["one", "two.gz"]
    with pytest.raises(UsageError, match="expected a folder"), outputs(out / "one", ["x"]):
        pass


def test_what_was_left_out_is_told() -> None:
    notes: list[str] = []
    for empty, skipped in ((0, 0), (1, 2)):
        counts: Any = SimpleNamespace(spilled=False, empty=empty, skipped=skipped)
        tell(counts, notes.append)
    assert notes == [
        "1 sentence pair with an empty side: left out",
        "2 sentence pairs with links outside the sentences: left out",
    ]
