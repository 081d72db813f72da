"""Tables that are folders, and files that options name: cached as files are, until one of their files changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtformats.caching import folders as cache
from smtformats.caching.folders import cached_load, entries
from smtformats.columns import GrammarColumns
from smtformats.grammar import moses_probing
from smtplugins.host.files.opening import with_options
from tests.formats.grammar.probing_folders import write_folder
from tests.formats.grammar.test_moses_probing import RULES


class Kept:
    """A folder of rules, a cache, and how often the folder was read."""

    def __init__(self, path: Path) -> None:
        self.folder = write_folder(path / "rules", RULES, scfg=True)
        self.cache = path / "cache"
        self.text = path / "text"
        self.text.write_text("[X][NP] schläft\n")
        self.read = 0

    def load(self, **options: Any) -> GrammarColumns:
        return cached_load(self.folder, with_options(moses_probing.FORMAT, options), self.cache)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.setattr(cache, "_SETTLED_NS", -(10**12))
    made = Kept(tmp_path)
    plain = cache._load

    def counted(*args: Any) -> Any:
        made.read += 1
        return plain(*args)

    monkeypatch.setattr(cache, "_load", counted)
    return made


def test_the_second_load_is_mapped(kept: Kept) -> None:
    first, second = kept.load(), kept.load()
    assert kept.read == 1
    assert [first.rule(i) for i in range(3)] == [second.rule(i) for i in range(3)]
    assert not second.values.flags.writeable
    (entry,) = entries(kept.cache)
    assert (entry.source, entry.format) == (str(kept.folder), "moses-probing")


def touched(kept: Kept) -> None:
    path = kept.folder / "cache"
    path.write_bytes(path.read_bytes())


def smaller(kept: Kept) -> None:
    (kept.folder / "cache").write_text("0\n")


def more(kept: Kept) -> None:
    (kept.folder / "more").write_text("")


@pytest.mark.parametrize("change", [touched, smaller, more])
def test_a_change_of_any_file_counts(kept: Kept, change: Callable[[Kept], None]) -> None:
    kept.load()
    change(kept)
    kept.load()
    kept.load()
    assert kept.read == 2


def test_files_that_options_name_count(kept: Kept) -> None:
    assert len(kept.load(sources=str(kept.text))) == 3
    kept.load(sources=str(kept.text))
    assert kept.read == 1
    kept.text.write_text("schläft\n")
    kept.load(sources=str(kept.text))
    kept.load()
    assert kept.read == 3
