"""Scores kept on disk: what a command or model computed for some texts is not computed again.

Any number of processes read and write the scores of a folder (``score_database.py``) at the same time. A scorer is
known by its name, version and the contents of its files; a score by the hash of its texts. A cache that is damaged or
cannot be used is no error: scores are computed, and a note says so.
"""

from __future__ import annotations

import functools
import hashlib
import math
import mmap
import os
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from smtformats.caching.folders import OFF, default_folder
from smtformats.records import dataclass
from smtplugins.host.arguments import argument
from smtplugins.host.scores.score_database import (
    DamagedScores,
    ScoreDatabase,
    contents_hash,
    joined,
    select_scores,
    the_number,
    writing,
)

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

Texts = Sequence["str | None"]
Row = tuple[float, ...]
_Result = TypeVar("_Result")

_KEPT: list[Any] = []
"""Connections of the process that this one was forked from: closing them would unlock the database under it."""


def score_folder(named: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder of cached scores, or None for ``off``.

    The folder is ``named``, else ``$SMT_SCORE_CACHE``, else ``scores`` in the folder ``smtplugins`` of
    ``$XDG_CACHE_HOME`` or ``~/.cache``.
    """
    text = os.fspath(named) if named else os.environ.get("SMT_SCORE_CACHE", "")
    if text:
        return None if text == OFF else Path(text)
    return default_folder() / "scores"


@dataclass(frozen=True)
class ScoreFolder:
    """Where a run keeps its scores, given to factories with a parameter ``score_cache``; ``None``: nowhere.

    ``note`` is told that a database was set aside, or cannot be used.
    """

    path: Path | None
    note: Callable[[str], None] = lambda text: None


class ScoreCache:
    """The kept scores of one scorer, each a row of ``width`` doubles, by the texts it was computed from.

    ``where`` is what the host gives as ``score_cache``, or a folder; with None and ``off`` nothing is kept. A scorer is
    ``scorer`` (the kind and options of a feature or metric: all that changes its scores), its ``version`` and the
    contents of ``files`` (folders: of all files in them). Texts may be None. Nothing is opened before the first use, so
    that an object with a cache can be forked; each process and thread may use it. ``hits`` and ``stored`` count scores
    that were found and added. The first use of a kept score is noted.

        with ScoreCache(score_cache, "neural onnx sum", files=[model]) as cache:
            rows = cache.scores([(source, text) for text in texts], lambda missing: run(missing))
    """

    def __init__(
        self,
        where: ScoreFolder | str | os.PathLike[str] | None,
        scorer: str,
        *,
        version: str = "",
        files: Iterable[str | os.PathLike[str]] = (),
        width: int = 1,
    ) -> None:
        if width < 1:
            raise ValueError(f"expected a width of 1 or more, found {width}")
        folder = where if isinstance(where, ScoreFolder) else ScoreFolder(score_folder(where or OFF))
        self._folder, self._note = folder.path, folder.note
        self._scorer, self._version, self._width = scorer, version, width
        self._files = [os.path.abspath(path) for path in files]
        self._packed = struct.Struct(f"<{width}d")
        self._lock = threading.RLock()
        self._database: ScoreDatabase | None = None
        self._owner = 0
        self._number = self._seed = 0
        self.hits = self.stored = 0
        # Shared by processes forked later, so that one of them alone tells the user.
        self._told = mmap.mmap(-1, 1)

    def __reduce__(self) -> tuple[Any, ...]:
        again = functools.partial(ScoreCache, version=self._version, files=self._files, width=self._width)
        return again, (ScoreFolder(self._folder, self._note), self._scorer)

    def __enter__(self) -> ScoreCache:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def active(self) -> bool:
        """Whether scores are kept: false if the cache is off or could not be used."""
        return self._folder is not None

    def lookup(self, keys: Sequence[Texts]) -> list[Row | None]:
        """Return the kept row of each key, or None."""
        if self._folder is None or not keys:
            return [None] * len(keys)
        hashes = _hashes(keys)
        found = self._use(lambda database: self._found(database, hashes)) or {}
        rows = [found.get(one) for one in hashes]
        hits = len(rows) - rows.count(None)
        self.hits += hits
        if hits and not self._told[0]:
            self._told[0] = 1
            anew = argument("score_cache='off'", "--score-cache off")
            self._note(f"{self._scorer}: uses scores kept in {self._folder}; {anew} computes them anew")
        return rows

    def store(self, keys: Sequence[Texts], rows: Sequence[Row]) -> None:
        """Keep rows; a key that has one already keeps it. Rows with infinities or NaNs, which are errors, are not."""
        if self._folder is None:
            return
        pairs = []
        for texts, row in zip(_hashes(keys), rows, strict=True):
            if all(map(math.isfinite, row)):
                pairs.append((texts, self._packed.pack(*row)))
        # In the order of the table, which writes each of its pages once.
        pairs.sort()
        if pairs and self._use(lambda database: self._add(database, pairs)) is not None:
            self.stored += len(pairs)

    def scores(
        self, keys: Sequence[Texts], compute: Callable[[list[Texts]], Any], *, batch: int = 1024
    ) -> NDArray[Any]:
        """Return an array with a row for each key; ``compute`` is called for those that are not kept.

        It gets at most ``batch`` keys at a time, none of them twice, in the order of ``keys``, and returns a number (or
        ``width`` numbers) for each. These are kept after each call, so that a killed run loses the last batch only.
        """
        import numpy as np

        rows = dict(zip(map(tuple, keys), self.lookup(keys), strict=True))
        missing: list[Texts] = [key for key, row in rows.items() if row is None]
        for i in range(0, len(missing), batch):
            part = missing[i : i + batch]
            values = np.asarray(compute(part), dtype=np.float64)
            if values.size != len(part) * self._width:
                raise ValueError(f"expected {len(part)} rows of {self._width} scores, found the shape {values.shape}")
            computed = [tuple(row) for row in values.reshape(-1, self._width).tolist()]
            self.store(part, computed)
            rows.update(zip(map(tuple, part), computed, strict=True))
        return np.array([rows[tuple(key)] for key in keys], dtype=np.float64).reshape(-1, self._width)

    def stop(self, why: str) -> None:
        """Keep no further scores, and look none up; the user is told why."""
        if self._folder is not None:
            self._note(f"{self._scorer}: {why}; its scores are not kept")
        self.close()
        self._folder = None

    def close(self) -> None:
        """Close the database; a later use opens it again."""
        with self._lock:
            database, self._database = self._database, None
            if database is not None and self._owner == os.getpid():
                database.close()
            elif database is not None:
                _KEPT.append(database)

    def _use(self, action: Callable[[ScoreDatabase], _Result]) -> _Result | None:
        """Apply an action to the open database: once more if it is damaged, not at all if it cannot be used."""
        import sqlite3

        with self._lock:
            for _ in range(2):
                try:
                    return action(self._opened())
                except DamagedScores as damage:
                    self._set_aside(damage)
                except (OSError, sqlite3.Error) as error:
                    self._give_up(error)
                    break
                if self._folder is None:
                    break
        return None

    def _opened(self) -> ScoreDatabase:
        if self._database is not None and self._owner != os.getpid():
            _KEPT.append(self._database)
            self._database = None
        if self._database is None:
            assert self._folder is not None
            self._database, self._owner = ScoreDatabase(self._folder), os.getpid()
            self._number = self._database.run(self._scorer_number)
        return self._database

    def _set_aside(self, damage: DamagedScores) -> None:
        self.close()
        try:
            aside = damage.set_aside()
        except OSError as error:
            self._give_up(error)
        else:
            if aside is not None:
                self._note(f"score cache {damage.path} is damaged ({damage.why}): set aside as {aside.name}")

    def _give_up(self, error: Exception) -> None:
        self._note(f"score cache {self._folder} cannot be used, scores are not kept: {error}")
        self.close()
        self._folder = None

    def _scorer_number(self, connection: sqlite3.Connection) -> int:
        """The number of this scorer in the database."""
        total = hashlib.sha256(joined([self._scorer, self._version, str(self._width)]))
        for path in self._files:
            total.update(contents_hash(connection, path))
        identity = total.digest()
        self._seed = zlib.crc32(identity)
        with writing(connection):
            connection.execute(
                "INSERT OR IGNORE INTO scorers (identity, name, version) VALUES (?, ?, ?)",
                (identity, _storable(self._scorer), _storable(self._version)),
            )
            return the_number(connection, "SELECT id FROM scorers WHERE identity = ?", identity)

    def _found(self, database: ScoreDatabase, hashes: Sequence[bytes]) -> dict[bytes, Row]:
        """The rows of those hashes that have one."""
        rows = database.run(lambda connection: select_scores(connection, self._number, hashes))
        size, found = self._packed.size, {}
        for texts, value in rows:
            right = isinstance(value, bytes) and len(value) == size + 4
            if not right or self._checked(texts, value[:size]) != value:
                raise DamagedScores(database.path, "wrong checksum of a score")
            found[texts] = self._packed.unpack_from(value)
        return found

    def _add(self, database: ScoreDatabase, pairs: list[tuple[bytes, bytes]]) -> bool:
        def add(connection: sqlite3.Connection) -> bool:
            with writing(connection):
                rows = [(texts, self._checked(texts, value)) for texts, value in pairs]
                connection.executemany(f"INSERT OR IGNORE INTO scores VALUES ({self._number:d}, ?, ?)", rows)
            return True

        return database.run(add)

    def _checked(self, texts: bytes, value: bytes) -> bytes:
        """The value with a checksum: SQLite has none, and a score that changed on disk must not be believed."""
        return value + zlib.crc32(value, zlib.crc32(texts, self._seed)).to_bytes(4, "little")


def _hashes(keys: Sequence[Texts]) -> list[bytes]:
    """16 bytes for each key, 4 of which are of its first text, so that rows of a list are near each other on disk."""
    hashes, before, start = [], object(), b""
    for key in keys:
        first = key[0] if key else None
        if first != before:
            before, start = first, hashlib.blake2b(joined([first]), digest_size=4).digest()
        hashes.append(start + hashlib.blake2b(joined(key), digest_size=12).digest())
    return hashes


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
