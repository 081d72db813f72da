"""Moses' own model with the tables cut to the words of a test, so that it is there in no time."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def cut_model(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Iterable[str]], Path]:
    """``cut_model(ini, words)``: a folder with that ini as ``moses.ini``, and its tables for these words."""

    def cut(ini: str, words: Iterable[str]) -> Path:
        given, folder = shared / "gold/moses", tmp_path_factory.mktemp("moses")
        known = set(words)
        (folder / "model").mkdir()
        text = (given / ini).read_text().replace("../cdec", str(shared / "gold/cdec"))
        for name in re.findall(r"path=(model/\S+)", text):
            with gzip.open(given / name, "rt", encoding="utf-8") as table:
                kept = [line for line in table if known.issuperset(line.partition(" ||| ")[0].split())]
            with gzip.open(folder / name, "wt", encoding="utf-8") as made:
                made.writelines(kept)
        (folder / "moses.ini").write_text(text)
        return folder

    return cut
