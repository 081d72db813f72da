"""Kept scores: exact, of one scorer, shared by processes, and sound after whatever happens to the file."""

from __future__ import annotations

import math
import os
import random
import signal
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.running import ScoreCache, ScoreFolder
from smtplugins.host.scores import score_database as kept
from smtplugins.host.scores.score_cache import score_folder
from smtplugins.host.scores.score_database import clear_scores, kept_scores

KEYS = [("ein haus", "a house"), (None, "a house"), ("ein haus", ""), ("", "ein hausa house"), ("\ud800", "\0x")]


def lengths(calls: list[list[Any]]) -> Callable[[list[Sequence[str | None]]], list[float]]:
    def compute(keys: list[Sequence[str | None]]) -> list[float]:
        calls.append(list(keys))
        return [math.sqrt(sum(len(text or "None") for text in key)) for key in keys]

    return compute


def database(folder: Path) -> Path:
    (path,) = folder.glob("scores-*.sqlite3")
    return path


def test_scores_are_computed_once_and_kept_to_the_last_bit(tmp_path: Path) -> None:
    calls: list[list[Any]] = []
    asked = [*KEYS, KEYS[0]]
    with ScoreCache(tmp_path, "length") as cache:
        first = cache.scores(asked, lengths(calls), batch=2)
        assert (cache.hits, cache.stored) == (0, 5)
    assert calls == [KEYS[:2], KEYS[2:4], KEYS[4:]]
    with ScoreCache(tmp_path, "length") as cache:
        again = cache.scores(asked, lengths(calls))
        assert (cache.hits, cache.stored) == (6, 0)
    assert len(calls) == 3
    assert first.tobytes() == again.tobytes()
    assert first.shape == (6, 1)


def test_any_finite_double_is_kept_in_rows(tmp_path: Path) -> None:
    rows = [(5e-324, -0.0), (0.1 + 0.2, 1e308), (math.nan, 1.0), (1.0, -math.inf)]
    keys = [(str(i),) for i in range(4)]
    with ScoreCache(tmp_path, "pairs", width=2) as cache:
        cache.store(keys, rows)
        cache.store(keys[:1], [(1.0, 1.0)])
        assert [None if row is None else list(map(float.hex, row)) for row in cache.lookup(keys)] == [
            *(list(map(float.hex, row)) for row in rows[:2]),
            None,
            None,
        ]
        with pytest.raises(ValueError, match="expected 1 rows of 2 scores"):
            cache.scores([("new",)], lambda missing: [1.0])
    with pytest.raises(ValueError, match="expected a width of 1 or more, found 0"):
        ScoreCache(tmp_path, "none", width=0)


def test_a_scorer_is_its_name_version_width_and_files(tmp_path: Path) -> None:
    folder, model = tmp_path / "kept", tmp_path / "model"
    (model / "inner").mkdir(parents=True)
    (model / "inner/weights").write_bytes(b"1")
    made: list[dict[str, Any]] = [
        {"scorer": "a"},
        {"scorer": "b"},
        {"scorer": "a", "version": "2"},
        {"scorer": "a", "width": 2},
        {"scorer": "a", "files": [model / "inner/weights"]},
        {"scorer": "a", "files": [model]},
    ]
    for i, options in enumerate(made):
        width = options.get("width", 1)
        with ScoreCache(folder, **options) as cache:
            assert cache.lookup([("x",)]) == [None]
            cache.store([("x",)], [(float(i),) * width])
            assert cache.lookup([("x",)]) == [(float(i),) * width]
    (model / "inner/weights").write_bytes(b"2")
    for options in made[4:]:
        with ScoreCache(folder, **options) as cache:
            assert cache.lookup([("x",)]) == [None]
    (model / "inner/weights").write_bytes(b"1")
    for i, options in enumerate(made[4:]):
        with ScoreCache(folder, **options) as cache:
            assert cache.lookup([("x",)]) == [(4.0 + i,)]


def test_hashes_of_files_are_kept_until_they_change(tmp_path: Path) -> None:
    folder, model = tmp_path / "kept", tmp_path / "model"
    model.write_bytes(b"1")
    os.utime(model, ns=(1, 1))
    later = kept._SETTLED_NS
    kept._SETTLED_NS = -(10**12)
    try:
        for content in (b"1", b"1", b"2"):
            model.write_bytes(content)
            with ScoreCache(folder, "a", files=[model]) as cache:
                cache.lookup([("x",)])
    finally:
        kept._SETTLED_NS = later
    with sqlite3.connect(database(folder)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM files").fetchall() == [(1,)]
    assert [entry.scorer for entry in kept_scores(folder)] == ["a", "a"]


def test_off_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMT_SCORE_CACHE", "kept")
    calls: list[list[Any]] = []
    for where in ("off", None, ScoreFolder(None)):
        with ScoreCache(where, "a") as cache:
            assert not cache.active
            assert cache.scores([("ab", "cd")], lengths(calls)).tolist() == [[2.0]]
            cache.store([("x",)], [(1.0,)])
    assert len(calls) == 3
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_named_or_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    assert score_folder("here") == Path("here")
    monkeypatch.setenv("SMT_SCORE_CACHE", "there")
    assert (score_folder(), score_folder("off")) == (Path("there"), None)
    monkeypatch.setenv("SMT_SCORE_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert score_folder() == Path("/xdg/smtplugins/scores")


def test_the_first_use_of_kept_scores_is_told_once_by_all_processes(tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    def note(text: str) -> None:
        with notes.open("a") as out:
            out.write(text + "\n")

    with ScoreCache(tmp_path / "kept", "metric 'judge'") as cache:
        cache.store([("x",)], [(1.0,)])
    with ScoreCache(ScoreFolder(tmp_path / "kept", note), "metric 'judge'") as cache:
        assert cache.lookup([("y",)]) == [None]
        assert not notes.exists()
        forked(lambda: cache.lookup([("x",), ("x",)]))
        assert cache.lookup([("x",)]) == [(1.0,)]
    told = f"metric 'judge': uses scores kept in {tmp_path / 'kept'}; score_cache='off' computes them anew\n"
    assert notes.read_text() == told


def forked(work: Callable[[], Any]) -> None:
    """Do some work in a forked process, which must not fail."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_processes_and_threads_share_a_database(tmp_path: Path) -> None:
    cache = ScoreCache(tmp_path, "a")
    cache.store([("parent",)], [(0.5,)])

    def work(start: int) -> None:
        for i in range(start, start + 40, 4):
            cache.store([(str(i + k),) for k in range(4)], [(float(i + k),) for k in range(4)])
            assert cache.lookup([("parent",), (str(i),)]) == [(0.5,), (float(i),)]

    children = []
    for n in range(3):
        child = os.fork()
        if child == 0:
            try:
                work(20 * n)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    threads = [threading.Thread(target=work, args=(20 * n,)) for n in range(3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert cache.lookup([(str(i),) for i in range(120)]) == [(float(i),) for i in range(120)]
    cache.close()
    assert [(entry.scorer, entry.count) for entry in kept_scores(tmp_path)] == [("a", 121)]


def test_a_killed_process_leaves_a_sound_database(tmp_path: Path) -> None:
    """Killed at some moments while it stores: what was stored before is there, and each batch wholly or not at all."""
    rounds = random.Random(5)
    for n in range(6):
        folder = tmp_path / str(n)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            cache = ScoreCache(folder, "a")
            for i in range(100_000):
                cache.store([(f"{i} {k}",) for k in range(50)], [(float(i),)] * 50)
                os.write(writing, b".")
        before = rounds.randrange(n + 1) + 1
        for _ in range(before):
            os.read(reading, 1)
        threading.Event().wait(rounds.random() / 100)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(writing)
        done = before
        while data := os.read(reading, 1 << 16):
            done += len(data)
        os.close(reading)
        notes: list[str] = []
        with ScoreCache(ScoreFolder(folder, notes.append), "a") as cache:
            found = [cache.lookup([(f"{i} {k}",) for k in range(50)]) for i in range(done + 5)]
            assert found[:done] == [[(float(i),)] * 50 for i in range(done)]
            assert all(set(batch) in ({None}, {(float(i),)}) for i, batch in enumerate(found))
        assert [note for note in notes if "uses scores" not in note] == []
        assert sqlite3.connect(database(folder)).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def filled(folder: Path, count: int = 300) -> None:
    with ScoreCache(folder, "a") as cache:
        cache.store([(str(i), "text") for i in range(count)], [(i / 7,) for i in range(count)])


def test_a_damaged_database_is_set_aside_with_a_note(tmp_path: Path) -> None:
    filled(tmp_path)
    path = database(tmp_path)
    path.write_bytes(b"no database at all " * 500)
    notes: list[str] = []
    with ScoreCache(ScoreFolder(tmp_path, notes.append), "a") as cache:
        calls: list[list[Any]] = []
        assert cache.scores([("1", "text")], lengths(calls)).tolist() == [[math.sqrt(5)]]
        assert cache.lookup([("1", "text")]) == [(math.sqrt(5),)]
    aside = path.with_suffix(".damaged")
    assert notes[0] == f"score cache {path} is damaged (file is not a database): set aside as {aside.name}"
    assert aside.read_bytes().startswith(b"no database")
    assert database(tmp_path) != path
    assert [(entry.path, entry.scorer, entry.count) for entry in kept_scores(tmp_path)] == [
        (database(tmp_path), "a", 1),
        (aside, "", 0),
    ]


def test_no_damage_gives_another_score(tmp_path: Path) -> None:
    """Bytes changed, cut and added anywhere: a score is the right one or absent, and storing works again."""
    filled(tmp_path / "whole")
    whole = database(tmp_path / "whole").read_bytes()
    draw = random.Random(3)
    keys = [(str(i), "text") for i in range(300)]
    reported = 0
    for n in range(60):
        data = bytearray(whole)
        if n % 4 == 0:
            del data[draw.randrange(len(data)) :]
        else:
            start = draw.randrange(len(data))
            for i in range(start, min(len(data), start + draw.choice([1, 40, 4000]))):
                data[i] = draw.randrange(256)
        folder = tmp_path / str(n)
        folder.mkdir()
        (folder / "scores-12345678.sqlite3").write_bytes(data)
        notes: list[str] = []
        with ScoreCache(ScoreFolder(folder, notes.append), "a") as cache:
            for i, row in enumerate(cache.lookup(keys)):
                assert row in (None, (i / 7,))
            cache.store([("new",)], [(1.0,)])
            assert cache.lookup([("new",)]) == ([(1.0,)] if cache.active else [None])
            kept_scores(folder)
        reported += any("set aside" in note for note in notes)
    assert reported > 20


def test_two_processes_set_a_damaged_database_aside_once(tmp_path: Path) -> None:
    filled(tmp_path)
    path = database(tmp_path)
    notes: list[str] = []
    caches = [ScoreCache(ScoreFolder(tmp_path, notes.append), "a") for _ in range(2)]
    for cache in caches:
        assert cache.lookup([("1", "text")]) == [(1 / 7,)]
    del notes[:]
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE scores SET value = zeroblob(12)")
    assert caches[0].lookup([("1", "text")]) == [None]
    caches[0].store([("1", "text")], [(2.0,)])
    assert caches[1].lookup([("1", "text")]) == [(2.0,)]
    assert [note.partition(" is ")[2] for note in notes if " is " in note] == [
        f"damaged (wrong checksum of a score): set aside as {path.with_suffix('.damaged').name}"
    ]


def test_a_folder_that_cannot_be_used_is_told_and_scores_are_computed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    notes: list[str] = []
    with ScoreCache(ScoreFolder(tmp_path / "file", notes.append), "a") as cache:
        for _ in range(2):
            assert cache.scores([("ab", "cd")], lengths([])).tolist() == [[2.0]]
        assert not cache.active
    (note,) = notes
    assert note.startswith(f"score cache {tmp_path / 'file'} cannot be used, scores are not kept: [Errno 17]")


@pytest.mark.parametrize(
    ("kind", "journal"), [("ext4", "wal"), ("nfs4", "truncate"), ("fuse.sshfs", "truncate"), ("lustre", "truncate")]
)
def test_a_database_of_a_network_has_no_shared_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, journal: str
) -> None:
    home = tmp_path / "my home"
    mounts = tmp_path / "mounts"
    place = str(home).replace(" ", "\\040")
    mounts.write_text(
        f"server:/x / nfs rw 0 0\n/dev/a {tmp_path} ext4 rw 0 0\nserver:/y {place} {kind} rw 0 0\n\nodd\n"
    )
    monkeypatch.setattr(kept, "_MOUNTS", mounts)
    filled(home / "kept", 3)
    filled(home / "kept", 5)
    (entry,) = kept_scores(home / "kept")
    assert entry.count == 5
    connection = sqlite3.connect(database(home / "kept"))
    assert connection.execute("PRAGMA journal_mode").fetchone() == (("delete" if journal == "truncate" else journal),)


def test_a_cleared_folder_is_filled_again_under_those_who_use_it(tmp_path: Path) -> None:
    assert clear_scores(tmp_path / "absent") == (0, 0)
    filled(tmp_path, 3)
    (tmp_path / "mine").write_bytes(b"")
    old = ScoreCache(tmp_path, "a")
    assert old.lookup([("1", "text")]) == [(1 / 7,)]
    size = sum(path.stat().st_size for path in tmp_path.glob("scores-*"))
    assert clear_scores(tmp_path) == (3, size)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "scores.lock"]
    filled(tmp_path, 5)
    old.store([("mine", "text")], [(1.0,)])
    old.close()
    with ScoreCache(tmp_path, "a") as cache:
        assert cache.lookup([(str(i), "text") for i in range(5)]) == [(i / 7,) for i in range(5)]


def test_the_host_gives_the_folder_to_what_it_makes(tmp_path: Path) -> None:
    module = tmp_path / "mine.py"
    module.write_text(
        "from smtplugins import Offer, hookimpl\n"
        "class Mine:\n"
        "    def __init__(self, size: int = 1, *, note=None, score_cache=None):\n"
        "        self.given = (size, note, score_cache)\n"
        "@hookimpl\n"
        "def smt_features():\n"
        "    yield Offer(name='mine', make=Mine, summary='mine')\n"
    )
    notes: list[str] = []
    host = smt.load_plugins([module], score_cache=tmp_path / "kept", note=notes.append)
    size, note, folder = host.registry.make("features", "mine,size=3").given
    assert (size, note, folder.path) == (3, notes.append, tmp_path / "kept")
    with pytest.raises(UsageError, match="has no option 'score_cache'"):
        host.registry.make("features", "mine,score_cache=x")
