"""Cache the columns of grammars and reordering tables in a folder: read once, memory-mapped the next time.

An entry belongs to a file or folder, a format and its options; it is written under a temporary name and renamed. It is
used only if its length and checksum are right, no file of the source has changed, nor one that an option names, and all
its indices are in range; otherwise it is rebuilt. A cache folder that cannot be written to is no error.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from smtformats.caching.arrays import ABOUT, PART, Keeper, State
from smtformats.columns import GrammarColumns
from smtformats.files import MAX_UNPACKED_BYTES, open_bytes, shown_name
from smtformats.format import Format
from smtformats.records import dataclass

OFF = "off"
SUFFIX = ".columns"
_SETTLED_NS = 20_000_000  # more than a tick of the file system's clock


def cache_folder(named: str | None = None) -> Path | None:
    """Return the cache folder, or None for ``off``.

    The folder is ``named``, else ``$SMT_CACHE``, else ``smtplugins`` in ``$XDG_CACHE_HOME`` or ``~/.cache``.
    """
    named = named or os.environ.get("SMT_CACHE", "")
    if named:
        return None if named == OFF else Path(named)
    return default_folder()


def default_folder() -> Path:
    """Return ``smtplugins`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    # The XDG specification says to ignore relative paths.
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~/.cache"))) / "smtplugins"


def cached_load(
    path: str | os.PathLike[str],
    record: Format,
    folder: str | os.PathLike[str] | None,
    *,
    index: Callable[[GrammarColumns], GrammarColumns] | None = None,
    **options: Any,
) -> GrammarColumns:
    """Load the columns of a grammar, from the cache folder if possible; ``None`` means no cache.

    Cached columns are read-only and paged in on use. ``index`` is called with freshly read columns and returns them
    with an index to be cached too.
    """
    columns: GrammarColumns = load_kept(path, record, folder, index=index, **options)
    return columns


def load_kept(
    path: str | os.PathLike[str],
    record: Format,
    folder: str | os.PathLike[str] | None,
    *,
    index: Callable[[Any], Any] | None = None,
    **options: Any,
) -> Any:
    """Like :func:`cached_load`, for any kind of format with columns."""
    is_there = os.path.isdir(path) if record.folder else os.path.isfile(path)
    if folder is None or record.mapped or os.fspath(path) == "-" or not is_there:
        return _load(path, record, options)
    named = [value for value in _options(record, options).values() if isinstance(value, str) and os.path.isfile(value)]
    begun, state = time.time_ns(), _state(path, named)
    about = _about(path, record, options)
    keeper = _keeper(record.kind)
    told = b"%s%d\0%s%s" % (keeper.layout.magic, keeper.layout.number, about, b"\0index" if index else b"")
    key = hashlib.sha256(told).digest()
    entry = Path(folder) / f"{key.hex()[:32]}{SUFFIX}"
    parts = keeper.layout.read(entry, key, state)
    kept = None if parts is None else keeper.columns(parts)
    if kept is not None:
        return kept
    columns = _load(path, record, options)
    if index is not None:
        columns = index(columns)
    # A file just changed may change again within the same clock tick.
    settled = begun - max(state[1], state[2]) > _SETTLED_NS
    if settled and _state(path, named) == state:
        with contextlib.suppress(OSError):
            keeper.layout.write(entry, key, state, {**keeper.parts(columns), ABOUT: memoryview(about)})
    return columns


def _keeper(kind: str) -> Keeper:
    if kind == "reordering":
        from smtformats.caching.reordering import KEEPER
    else:
        from smtformats.caching.grammars import KEEPER
    return KEEPER


@dataclass(frozen=True)
class CacheEntry:
    """A file of the cache folder, and its source and format, both empty if the file is invalid."""

    path: Path
    size: int
    source: str = ""
    format: str = ""


def entries(folder: str | os.PathLike[str]) -> list[CacheEntry]:
    """List the cache files in a folder, including temporary files left by killed processes."""
    listed = []
    with contextlib.suppress(FileNotFoundError):
        for path in sorted(Path(folder).iterdir()):
            if path.suffix in (SUFFIX, PART):
                with contextlib.suppress(FileNotFoundError):
                    listed.append(_entry(path))
    return listed


def clear(folder: str | os.PathLike[str]) -> tuple[int, int]:
    """Remove all cache files; returns their number and total size in bytes. Columns in use stay mapped."""
    count = size = 0
    for entry in entries(folder):
        entry.path.unlink(missing_ok=True)
        count, size = count + 1, size + entry.size
    return count, size


def _load(path: str | os.PathLike[str], record: Format, options: dict[str, Any]) -> Any:
    if record.load is None:
        raise TypeError(f"format {record.name} has no columns")
    if record.folder:
        return record.load(Path(path), **options)
    with _open(path, record.max_size) as stream:
        limits = {"max_bytes": record.max_line, **options}
        return record.load(stream, shown_name(path), **limits)


def _open(path: str | os.PathLike[str], max_size: int) -> io.RawIOBase | io.BufferedReader:
    """Open a file for ``load``; gzip is passed on packed, as ``load`` unpacks it faster."""
    if max_size == MAX_UNPACKED_BYTES and os.path.isfile(path):
        stream = io.FileIO(path)
        packed = stream.read(2) == b"\x1f\x8b"
        stream.seek(0)
        if packed:
            return stream
        stream.close()
    return open_bytes(path, max_size=max_size)


def _state(path: str | os.PathLike[str], named: Iterable[str]) -> State:
    """Size, times, and number of a file; of several, their sum, the latest times and a digest of all."""
    folder = os.path.isdir(path)
    files = [os.path.join(path, name) for name in sorted(os.listdir(path))] if folder else [os.fspath(path)]
    states = []
    for file in (*files, *named):
        status = os.stat(file)
        states.append((status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev))
    if len(states) == 1 and not folder:
        return states[0]
    sizes, changed, moved = list(zip(*states, strict=True))[:3] if states else [(0,)] * 3
    digest = hashlib.sha256(repr((files, states)).encode("utf-8", "surrogateescape")).digest()
    return (
        sum(sizes),
        max(changed),
        max(moved),
        *(int.from_bytes(digest[i : i + 8], "little", signed=True) for i in (0, 8)),
    )


def _about(path: str | os.PathLike[str], record: Format, options: dict[str, Any]) -> bytes:
    """Describe the origin of columns: file, format, release, limits and options."""
    from smtformats._scan import release

    told = [f"{name}={value!r}" for name, value in sorted(_options(record, options).items())]
    texts = [os.path.abspath(path), record.name, release(), str(record.max_line), str(record.max_size), *told]
    return "\0".join(texts).encode("utf-8", "surrogateescape")


def _options(record: Format, options: dict[str, Any]) -> dict[str, Any]:
    """The options of ``load``, those set in the format among them."""
    load: Any = record.load
    while isinstance(load, functools.partial):
        options = {**load.keywords, **options}
        load = load.func
    return options


def _entry(path: Path) -> CacheEntry:
    size = path.stat().st_size
    for kind in ("grammar", "reordering"):
        about = _keeper(kind).layout.about(path)
        if about is not None:
            source, name, *_ = about.decode("utf-8", "surrogateescape").split("\0")
            return CacheEntry(path, size, source, name)
    return CacheEntry(path, size)
