"""Columns kept in a folder: mapped when they are sound and fresh, made anew when they are not."""

from __future__ import annotations

import functools
import gzip
import io
import os
import pickle
import sys
import threading
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import FormatError, all_formats
from smtformats.caching import folders as cache
from smtformats.caching.folders import cache_folder, cached_load, clear, entries
from smtformats.caching.grammars import KEEPER
from smtformats.columns import GrammarColumns, StringTable
from smtformats.format import Format

TEXT = "[X] ||| a [X,1] ||| [1] A é ||| F=1 G=2.5 ||| 0-1 1-0\n[S] ||| b ||| B ||| F=3\n"
CDEC = next(record for record in all_formats() if record.name == "cdec-grammar")


class Kept:
    """A grammar, a cache folder, and how often the grammar was read."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "grammar"
        self.folder = folder / "new" / "cache"
        self.read = 0
        self.path.write_text(TEXT)

    def load(self, record: Format = CDEC, **options: Any) -> GrammarColumns:
        load: Any = record.load
        function, given = (load.func, load.keywords) if isinstance(load, functools.partial) else (load, {})

        def counted(*args: Any, **more: Any) -> Any:
            self.read += 1
            return function(*args, **more)

        made = functools.partial(counted, **given) if given else counted
        return cached_load(self.path, replace(record, load=made), self.folder, **options)

    @property
    def entry(self) -> Path:
        (entry,) = self.folder.iterdir()
        return entry

    def write(self, columns: GrammarColumns) -> None:
        """Put an entry with other columns in the place of the one there is, sound but for what they hold."""
        data = self.entry.read_bytes()
        header = KEEPER.layout.header(data, len(data))
        assert header is not None
        place, size = header.places["about"]
        about = memoryview(data)[place : place + size]
        KEEPER.layout.write(self.entry, header.key, header.state, {**KEEPER.parts(columns), "about": about})


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    # Tests change files faster than the clock of files ticks.
    monkeypatch.setattr(cache, "_SETTLED_NS", -(10**12))
    return Kept(tmp_path)


def same(columns: GrammarColumns, other: GrammarColumns) -> bool:
    parts = [(getattr(columns, field.name), getattr(other, field.name)) for field in fields(columns)]
    return all(a[:] == b[:] if isinstance(a, StringTable) else np.array_equal(a, b) for a, b in parts)


def test_the_second_load_maps_what_the_first_one_left(kept: Kept) -> None:
    first, second = kept.load(), kept.load()
    assert kept.read == 1
    assert same(first, second)
    assert [second.rule(i) for i in range(2)] == [first.rule(i) for i in range(2)]
    assert second.nbytes == first.nbytes
    assert second.words[1] == "A"
    assert second.words[-1:] == ["B"]
    for field in fields(second):
        part = getattr(second, field.name)
        array = part.offsets if isinstance(part, StringTable) else part
        assert (
            array.dtype == (first.words.offsets if isinstance(part, StringTable) else getattr(first, field.name)).dtype
        )
        assert not array.flags.writeable
        assert array.ctypes.data % 64 == 0
    again = pickle.loads(pickle.dumps(second))
    assert same(again, first)


def test_empty_columns_are_kept(kept: Kept) -> None:
    kept.path.write_text("[S] ||| a |||\n")
    first, second = kept.load(), kept.load()
    assert kept.read == 1
    assert same(first, second)
    assert len(second.names) == 0


def test_packed_files_and_other_formats(kept: Kept) -> None:
    kept.path.write_bytes(gzip.compress(b"a ||| A ||| 0.5\n"))
    record = next(record for record in all_formats() if record.name == "moses-phrases")
    assert same(kept.load(record), kept.load(record))
    assert kept.read == 1
    with pytest.raises(FormatError, match=r"more than 3 bytes, decompressed"):
        kept.load(replace(record, max_size=3))


def test_options_have_entries_of_their_own(kept: Kept) -> None:
    kept.load()
    kept.load(max_symbols=5)
    assert kept.read == 2
    assert CDEC.load is not None
    kept.load(replace(CDEC, load=functools.partial(CDEC.load, max_symbols=5)))
    assert kept.read == 2
    with pytest.raises(FormatError, match="1 to 1 source symbols"):
        kept.load(max_symbols=1)
    with pytest.raises(FormatError, match="a line of at most 9 bytes"):
        kept.load(replace(CDEC, max_line=9))
    assert len(entries(kept.folder)) == 2


def changed_in_place(kept: Kept) -> None:
    state = kept.path.stat()
    with kept.path.open("r+") as file:
        file.write(TEXT.replace("F=1", "F=7"))
    os.utime(kept.path, ns=(state.st_atime_ns, state.st_mtime_ns))


def changed_in_time(kept: Kept) -> None:
    state = kept.path.stat()
    os.utime(kept.path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))


def replaced(kept: Kept) -> None:
    state = kept.path.stat()
    other = kept.path.with_name("other")
    other.write_text(TEXT.replace("F=1", "F=7"))
    os.utime(other, ns=(state.st_atime_ns, state.st_mtime_ns))
    other.replace(kept.path)


def longer(kept: Kept) -> None:
    with kept.path.open("a") as file:
        file.write("[S] ||| c ||| C\n")


@pytest.mark.parametrize("change", [changed_in_place, changed_in_time, replaced, longer])
def test_a_changed_file_is_read_again(kept: Kept, change: Callable[[Kept], None]) -> None:
    kept.load()
    change(kept)
    columns = kept.load()
    assert kept.read == 2
    assert same(columns, cached_load(kept.path, CDEC, None))
    assert same(kept.load(), columns)
    assert kept.read == 2


def test_a_file_changed_just_now_is_not_kept(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_SETTLED_NS", 10**12)
    kept.load()
    assert not kept.folder.exists()


def test_a_file_that_changes_while_it_is_read_is_not_kept(kept: Kept) -> None:
    def load(stream: io.RawIOBase, name: str, **options: Any) -> Any:
        longer(kept)
        assert CDEC.load is not None
        return CDEC.load(stream, name, **options)

    cached_load(kept.path, replace(CDEC, load=load), kept.folder)
    assert not kept.folder.exists()


def test_no_spoilt_entry_is_believed(kept: Kept) -> None:
    first = kept.load()
    sound = kept.entry.read_bytes()
    spoilt = [sound[:length] for length in range(0, len(sound), 7)]
    for at in range(0, len(sound), 5):
        other = bytearray(sound)
        other[at] ^= 1 << at % 8
        spoilt.append(bytes(other))
    spoilt += [sound + b"\0", sound[:300] + bytes(len(sound) - 300), bytes(len(sound)), b"\xff" * len(sound)]
    for data in spoilt:
        kept.entry.write_bytes(data)
        before = kept.read
        assert same(kept.load(), first)
        assert kept.read == before + 1
        assert kept.entry.read_bytes() == sound


def with_column(columns: GrammarColumns, name: str, at: int, value: int) -> GrammarColumns:
    table, _, part = name.partition(".")
    array = np.array(getattr(getattr(columns, table), part) if part else getattr(columns, name))
    array.reshape(-1)[at] = value
    return replace(columns, **{table: StringTable(getattr(columns, table).blob, array) if part else array})


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("lhs", 0, 2),
        ("lhs", 1, -1),
        ("source", 0, 99),
        ("source", 1, -3),
        ("target", 1, 99),
        ("target", 0, -3),
        ("target", 0, -(2**31)),
        ("features", 0, 2),
        ("features", 0, -1),
        ("points", 0, -1),
        ("source_offsets", 0, 1),
        ("source_offsets", 1, 4),
        ("target_offsets", 2, 5),
        ("target_offsets", 1, -(2**63)),
        ("feature_offsets", 2, 2**40),
        ("point_offsets", 1, 3),
        ("words.offsets", 1, 50),
        ("labels.offsets", 0, -1),
        ("names.offsets", 2, 3),
    ],
)
def test_numbers_that_lead_out_of_the_columns_are_not_believed(kept: Kept, name: str, at: int, value: int) -> None:
    first = kept.load()
    kept.write(first)
    assert same(kept.load(), first)
    assert kept.read == 1
    kept.write(with_column(first, name, at, value))
    assert same(kept.load(), first)
    assert kept.read == 2


def test_columns_of_different_lengths_are_not_believed(kept: Kept) -> None:
    first = kept.load()
    for name in ("lhs", "level", "source", "values", "features", "point_offsets", "feature_offsets"):
        kept.write(replace(first, **{name: getattr(first, name)[:-1]}))
        before = kept.read
        assert same(kept.load(), first)
        assert kept.read == before + 1


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_may_not_be_written_to(kept: Kept) -> None:
    kept.folder.mkdir(parents=True)
    kept.folder.chmod(0o500)
    assert same(kept.load(), kept.load())
    assert kept.read == 2


def test_a_folder_that_cannot_be_made(kept: Kept) -> None:
    kept.folder.parent.write_text("a file")
    assert same(kept.load(), kept.load())
    assert kept.read == 2


def test_a_full_disk(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    kept.load()
    assert list(kept.folder.iterdir()) == []


def test_an_entry_that_is_no_file(kept: Kept) -> None:
    kept.load()
    entry = kept.entry
    entry.unlink()
    entry.mkdir()
    kept.load()
    assert kept.read == 2


def test_many_write_at_once(kept: Kept) -> None:
    wanted = cached_load(kept.path, CDEC, None)
    loads: list[GrammarColumns] = []

    def load() -> None:
        for _ in range(20):
            loads.append(kept.load())
            clear(kept.folder)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 80
    assert all(same(columns, wanted) for columns in loads)
    assert all(path.suffix == ".columns" for path in kept.folder.iterdir())


def test_what_is_there_is_shown_and_removed(kept: Kept) -> None:
    kept.load()
    (entry,) = entries(kept.folder)
    assert (entry.path, entry.source, entry.format) == (kept.entry, str(kept.path), "cdec-grammar")
    assert entry.size == kept.entry.stat().st_size
    in_use = kept.load()
    (kept.folder / "x.part").write_bytes(b"left behind")
    (kept.folder / "notes").write_text("not ours")
    assert clear(kept.folder) == (2, entry.size + 11)
    assert kept.entry.name == "notes"
    assert in_use.rule(0).lhs == "X"
    assert entries(kept.folder / "absent") == []


def test_formats_without_columns_and_folders_of_files(kept: Kept) -> None:
    with pytest.raises(TypeError, match="format cdec-grammar has no columns"):
        cached_load(kept.path, replace(CDEC, load=None), kept.folder)
    with pytest.raises(FileNotFoundError):
        cached_load(kept.path.with_name("absent"), CDEC, kept.folder)
    packed = replace(CDEC, folder=True, load=lambda path: path)
    assert cached_load(kept.path, packed, kept.folder) == kept.path
    assert not kept.folder.exists()


def test_which_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SMT_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/ann")
    assert cache_folder() == Path("/home/ann/.cache/smtplugins")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path("/home/ann/.cache/smtplugins")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/ann")
    assert cache_folder() == Path("/var/cache/ann/smtplugins")
    monkeypatch.setenv("SMT_CACHE", "/fast")
    assert cache_folder() == Path("/fast")
    assert cache_folder("/named") == Path("/named")
    assert cache_folder("off") is None
    monkeypatch.setenv("SMT_CACHE", "off")
    assert cache_folder() is None
