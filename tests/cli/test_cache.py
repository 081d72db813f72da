"""``smt cache``: cached grammars listed and removed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtformats import all_formats
from smtformats.caching.folders import cached_load

Smt = Callable[..., Any]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an entry, one that is none, and a file of something else."""
    folder = tmp_path / "kept"
    monkeypatch.setenv("SMT_CACHE", str(folder))
    monkeypatch.setattr("smtformats.caching.folders._SETTLED_NS", -(10**12))
    record = next(fmt for fmt in all_formats() if fmt.name == "cdec-grammar")
    grammar = tmp_path / "grammar"
    grammar.write_text("[X] ||| a ||| A ||| F=1\n")
    cached_load(grammar, record, folder)
    (folder / "1234.part").write_bytes(b"torn")
    (folder / "mine").write_bytes(b"")
    return folder


def test_entries_are_shown(smt: Smt, kept: Path, tmp_path: Path) -> None:
    rows = json.loads(smt("cache", "show", "--format", "json").ok())
    torn, whole = sorted(rows, key=lambda row: int(row["bytes"]))
    assert torn == {"bytes": 4, "format": None, "source": None, "path": str(kept / "1234.part")}
    assert (whole["format"], whole["source"]) == ("cdec-grammar", str(tmp_path / "grammar"))
    assert whole["bytes"] == os.path.getsize(whole["path"])
    assert smt("cache", "show").ok().startswith("bytes ")


def test_entries_are_removed(smt: Smt, kept: Path) -> None:
    size = sum(file.stat().st_size for file in kept.iterdir())
    assert smt("cache", "clear").ok() == f"{kept}: 2 removed, {size} bytes\n"
    assert [file.name for file in kept.iterdir()] == ["mine"]
    assert smt("cache", "clear", "--cache", "absent").ok() == "absent: 0 removed, 0 bytes\n"
    assert smt("cache", "show", "--cache", "absent", "--format", "json").ok() == "[]\n"


def test_there_is_nothing_to_show_when_it_is_off(smt: Smt, kept: Path) -> None:
    for verb in ("show", "clear"):
        result = smt("cache", verb, "--cache", "off")
        assert (result.code, result.err) == (2, "smt: the cache is switched off ($SMT_CACHE or --cache is 'off')\n")
