"""The database of kept scores: opened, read and written by many processes, and set aside if it is damaged.

A folder holds one SQLite database, ``scores-TOKEN.sqlite3``, in WAL mode, but on a network's file system, where the
machines would not see each other's index of the log. One that is damaged is renamed, and a new one with another token
begun, so that processes that still have the old one open never meet the new one's files.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from smtformats.records import dataclass

if TYPE_CHECKING:
    import sqlite3

_Result = TypeVar("_Result")

_PREFIX, _SUFFIX, _DAMAGED = "scores-", ".sqlite3", ".damaged"
_PATIENCE = 60.0
"""Seconds to wait for another process that writes."""
_ASKED = 500
"""Keys in a query: SQLite's limit is 999 in old releases."""
_SETTLED_NS = 2_000_000_000
"""A file changed later than this may change again without a new time."""
_MOUNTS = Path("/proc/self/mounts")
_REMOTE = {"9p", "afs", "beegfs", "ceph", "cifs", "glusterfs", "gpfs", "lustre", "ncpfs", "orangefs", "panfs", "smb3"}

_TABLES = (
    "CREATE TABLE IF NOT EXISTS scorers (id INTEGER PRIMARY KEY, identity BLOB UNIQUE, name TEXT, version TEXT)",
    "CREATE TABLE IF NOT EXISTS scores (scorer INTEGER, texts BLOB, value BLOB, PRIMARY KEY (scorer, texts)) "
    "WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS files (path BLOB PRIMARY KEY, state TEXT, hash BLOB)",
)


@dataclass(frozen=True)
class KeptScores:
    """The scores of a scorer in a cache folder, or a damaged database (``scorer`` is then empty).

    ``size`` is that of the whole database in bytes, which may have several scorers.
    """

    path: Path
    size: int
    scorer: str = ""
    version: str = ""
    count: int = 0


def kept_scores(folder: Path) -> list[KeptScores]:
    """List the scorers of a cache folder with the number of their scores, and its damaged databases."""
    import sqlite3

    listed = []
    for path in _databases(folder):
        try:
            database = ScoreDatabase(folder, path)
            with contextlib.closing(database):
                counts = database.run(
                    lambda connection: connection.execute(
                        "SELECT name, version, (SELECT COUNT(*) FROM scores WHERE scorer = id) FROM scorers ORDER BY id"
                    ).fetchall()
                )
            size = _size(path)
            listed += [KeptScores(path, size, str(name), str(version), int(count)) for name, version, count in counts]
        except (DamagedScores, OSError, ValueError, sqlite3.Error):
            listed.append(KeptScores(path, _size(path)))
    return listed + [KeptScores(path, _size(path)) for path in sorted(folder.glob(f"{_PREFIX}*{_DAMAGED}"))]


def _size(path: Path) -> int:
    """The bytes of a database with its log and index."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*") if file.exists())


def _files(folder: Path) -> list[Path]:
    """The databases of a folder, also damaged ones, with their logs and indices."""
    return [path for mark in (_SUFFIX, _DAMAGED) for path in sorted(folder.glob(f"{_PREFIX}*{mark}*"))]


def clear_scores(folder: Path) -> tuple[int, int]:
    """Remove all databases, also under processes that use them; return the number of scores and the size in bytes."""
    if not folder.is_dir():
        return 0, 0
    count = sum(kept.count for kept in kept_scores(folder))
    with _locked(folder):
        files = _files(folder)
        size = sum(path.stat().st_size for path in files)
        for path in files:
            path.unlink(missing_ok=True)
    return count, size


class DamagedScores(Exception):
    """The file is no database, or one that contradicts itself."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(why)
        self.path, self.why = path, why

    def set_aside(self) -> Path | None:
        """Rename the database and return its new name, unless another process did."""
        with _locked(self.path.parent):
            if not self.path.exists():
                return None
            # Its log stays under its name: no other database will ever have this token.
            target = self.path.with_suffix(_DAMAGED)
            os.replace(self.path, target)
            return target


class ScoreDatabase:
    """An open database of a folder; a new one if there is none."""

    def __init__(self, folder: Path, path: Path | None = None) -> None:
        import sqlite3

        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            there = _databases(folder) if path is None else [path]
            self.path = there[0] if there else folder / f"{_PREFIX}{os.urandom(4).hex()}{_SUFFIX}"
            self._connection = sqlite3.connect(
                self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                self.run(lambda connection: _prepare(connection, "TRUNCATE" if _is_remote(folder) else "WAL"))
            except BaseException:
                self.close()
                raise

    def run(self, action: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Apply an action to the connection; damage of the file raises DamagedScores."""
        import sqlite3

        try:
            return action(self._connection)
        except sqlite3.OperationalError as error:
            # A busy or full disk is no damage; but a table that is not as it was made is.
            if str(error).startswith(("no such", "table ")):
                raise DamagedScores(self.path, str(error)) from None
            raise
        except sqlite3.DatabaseError as error:
            raise DamagedScores(self.path, str(error)) from None

    def close(self) -> None:
        """Close the connection."""
        import sqlite3

        with contextlib.suppress(sqlite3.Error):
            self._connection.close()


def _prepare(connection: sqlite3.Connection, journal: str) -> None:
    connection.execute(f"PRAGMA journal_mode = {journal}").fetchall()
    connection.execute("PRAGMA synchronous = NORMAL")
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    if len(names) < len(_TABLES):
        with writing(connection):
            for table in _TABLES:
                connection.execute(table)


def _is_remote(folder: Path) -> bool:
    """Whether a folder is on a network's file system, as Linux tells; elsewhere false."""
    place, kind = Path(os.path.realpath(folder)), ""
    with contextlib.suppress(OSError):
        longest = -1
        for line in _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            _, point, found, *_ = [*line.split(" "), "", "", ""]
            point = point.replace("\\040", " ")
            # The last mount of a place hides those before.
            if len(point) >= longest and place.is_relative_to(point):
                longest, kind = len(point), found
    return kind in _REMOTE or kind.startswith(("fuse.", "nfs"))


@contextlib.contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction: all of it is kept, or nothing."""
    import sqlite3

    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other processes from opening, setting aside and removing databases."""
    import fcntl

    with open(folder / "scores.lock", "ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _databases(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}"))


def the_number(connection: sqlite3.Connection, query: str, *values: bytes) -> int:
    """The only number that a query yields."""
    import sqlite3

    row = connection.execute(query, values).fetchone()
    if row is None or not isinstance(row[0], int):
        raise sqlite3.DatabaseError("a row that was just added is not there")
    return row[0]


def select_scores(connection: sqlite3.Connection, number: int, hashes: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Select the texts and values of a scorer's rows with these hashes of texts."""
    rows: list[tuple[bytes, bytes]] = []
    for i in range(0, len(hashes), _ASKED):
        part = hashes[i : i + _ASKED]
        marks = ",".join("?" * len(part))
        query = f"SELECT texts, value FROM scores WHERE scorer = {number:d} AND texts IN ({marks})"
        rows += connection.execute(query, part).fetchall()
    return rows


def joined(texts: Iterable[str | None]) -> bytes:
    """An encoding that no other texts have."""
    told = "".join(["-" if text is None else f"{len(text)}:{text}" for text in texts])
    return told.encode("utf-8", "surrogatepass")


def contents_hash(connection: sqlite3.Connection, path: str) -> bytes:
    """The hash of a file, or of all files of a folder but Python's caches; it is kept, too, until the file changes."""
    if os.path.isdir(path):
        walked = ((folder, name) for folder, _, names in os.walk(path) for name in names)
        names = sorted(os.path.join(folder, name) for folder, name in walked if not name.endswith(".pyc"))
        total = hashlib.sha256()
        for inner in names:
            total.update(joined([os.path.relpath(inner, path)]) + contents_hash(connection, inner))
        return total.digest()
    status = os.stat(path)
    state = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino} {status.st_dev}"
    name = os.fsencode(path)
    kept = connection.execute("SELECT hash FROM files WHERE path = ? AND state = ?", (name, state)).fetchone()
    if kept is not None and isinstance(kept[0], bytes) and len(kept[0]) == 32:
        return kept[0]
    with open(path, "rb") as stream:
        total = hashlib.sha256()
        while block := stream.read(1 << 20):
            total.update(block)
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED_NS:
        with writing(connection):
            connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", (name, state, total.digest()))
    return total.digest()
