"""Decoders with KenLM files of every kind: the translations are those of Moses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]


@pytest.mark.shared
@pytest.mark.parametrize("model", ["en.4.trie", "en.4.trie.a22", "en.4.rest"])
@pytest.mark.parametrize(("system", "gold"), [("moses", "nolex.1best.txt"), ("moses-scfg", "1best.txt")])
def test_translations_are_those_of_moses(smt: Smt, shared: Path, model: str, system: str, gold: str) -> None:
    folder = shared / "gold/moses/binary"
    text = (folder / system / "memory.ini").read_text()
    assert text.count("path=../kenlm/en.4.probing.klm") == 1
    text = text.replace("path=../kenlm/en.4.probing.klm", f"path={folder}/kenlm/{model}.klm")
    for table in ("phrase-table.gz", "rule-table.gz", "glue-grammar"):
        text = text.replace(f"path={table}", f"path={folder}/{system}/{table}")
    Path("moses.ini").write_text(text)
    translated = smt("decode", "-c", "moses.ini", "-i", folder / system / "in.de", "-q").ok().splitlines()
    expected = (folder / system / "expected" / gold).read_text().splitlines()
    assert translated == [line.rstrip() for line in expected]
