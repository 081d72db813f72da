"""Grammars kept as columns in a folder: what was read once is mapped the next time.

An entry belongs to a file, a format and its options, and is written aside and renamed. It is not believed: it must be
whole by its length and checksum, made from the file as it is now, and hold no number that leads out of its columns.
One that is not is made anew; a folder that cannot be written to is no error.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import mmap
import os
import struct
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.files import MAX_UNPACKED_BYTES, open_bytes, shown_name
from smtformats.format import Format

if TYPE_CHECKING:
    from smtformats.columns import GrammarColumns

OFF = "off"
SUFFIX = ".columns"
_PART = ".part"
_MAGIC = b"smtcache"
_LAYOUT = 1
_ALIGNMENT = 64
_TABLES = ("words", "labels", "names")
_DTYPES = {
    "lhs": "i4",
    "level": "u1",
    "source": "i4",
    "source_offsets": "i8",
    "target": "i4",
    "target_offsets": "i8",
    "features": "i4",
    "values": "f4",
    "feature_offsets": "i8",
    "points": "i2",
    "point_offsets": "i8",
    **{f"{table}.{part}": dtype for table in _TABLES for part, dtype in (("blob", "u1"), ("offsets", "i8"))},
    "about": "u1",
}
# In this machine's byte order: the magic, the layout's number, the checksum of the header; and this: the checksum of
# what is behind it, the entry's length, the key, the state of the file it was made from, how many values a column has.
_FRONT = struct.Struct("=8sII")
_HEADER = struct.Struct(f"=4xIQ32s5q{len(_DTYPES)}Q")
_BEGIN = _FRONT.size + _HEADER.size
_SETTLED_NS = 20_000_000  # more than a tick of the clock that files are stamped with
State = tuple[int, ...]
Parts = dict[str, Any]  # arrays


def cache_folder(named: str | None = None) -> Path | None:
    """A folder as it is named, or ``$SMT_CACHE``, or ``smtplugins`` in ``$XDG_CACHE_HOME`` or ``~/.cache``.

    ``off`` is no folder.
    """
    named = named or os.environ.get("SMT_CACHE", "")
    if named:
        return None if named == OFF else Path(named)
    # Relative paths in this variable are to be ignored, its specification says.
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~/.cache"))) / "smtplugins"


def cached_load(
    path: str | os.PathLike[str], record: Format, folder: str | os.PathLike[str] | None, **options: Any
) -> GrammarColumns:
    """The columns of a grammar, from the cache folder if they are there; ``None`` is no folder.

    Columns from the folder are read-only, and their pages are read when they are used.
    """
    if folder is None or record.folder or os.fspath(path) == "-" or not os.path.isfile(path):
        return _load(path, record, options)
    begun, state = time.time_ns(), _state(path)
    about = _about(path, record, options)
    key = hashlib.sha256(b"%d\0%s" % (_LAYOUT, about)).digest()
    entry = Path(folder) / f"{key.hex()[:32]}{SUFFIX}"
    found = _read(entry, key, state)
    if found is not None:
        return found
    columns = _load(path, record, options)
    # A file changed a moment ago may be changed again within the same tick of its clock.
    settled = begun - max(state[1], state[2]) > _SETTLED_NS
    if settled and _state(path) == state:
        with contextlib.suppress(OSError):
            _write(entry, key, state, about, columns)
    return columns


@dataclass(frozen=True)
class Entry:
    """A file of the cache folder: what it was made from, nothing if it is no whole entry."""

    path: Path
    size: int
    source: str = ""
    format: str = ""


def entries(folder: str | os.PathLike[str]) -> list[Entry]:
    """The files of the cache in a folder, those left behind by a writer that was killed, too."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for path in sorted(Path(folder).iterdir()):
            if path.suffix in (SUFFIX, _PART):
                with contextlib.suppress(FileNotFoundError):
                    found.append(_entry(path))
    return found


def clear(folder: str | os.PathLike[str]) -> tuple[int, int]:
    """Remove them; how many they were, and how many bytes. Columns in use stay mapped."""
    count = size = 0
    for one in entries(folder):
        one.path.unlink(missing_ok=True)
        count, size = count + 1, size + one.size
    return count, size


def _load(path: str | os.PathLike[str], record: Format, options: dict[str, Any]) -> GrammarColumns:
    if record.load is None:
        raise TypeError(f"format {record.name} has no columns")
    if record.folder:
        folder: GrammarColumns = record.load(Path(path), **options)
        return folder
    with _open(path, record.max_size) as stream:
        limits = {"max_bytes": record.max_line, **options}
        found: GrammarColumns = record.load(stream, shown_name(path), **limits)
    return found


def _open(path: str | os.PathLike[str], max_size: int) -> io.RawIOBase | io.BufferedReader:
    """A file for ``load``, which unpacks gzip faster than a stream does."""
    if max_size == MAX_UNPACKED_BYTES and os.path.isfile(path):
        stream = io.FileIO(path)
        packed = stream.read(2) == b"\x1f\x8b"
        stream.seek(0)
        if packed:
            return stream
        stream.close()
    return open_bytes(path, max_size=max_size)


def _state(path: str | os.PathLike[str]) -> State:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev


def _about(path: str | os.PathLike[str], record: Format, options: dict[str, Any]) -> bytes:
    """Where columns come from: the file, the format, this release's reader of it, its limits and options."""
    load: Any = record.load
    while isinstance(load, functools.partial):
        options = {**load.keywords, **options}
        load = load.func
    told = [f"{name}={value!r}" for name, value in sorted(options.items())]
    texts = [os.path.abspath(path), record.name, _release(), str(record.max_line), str(record.max_size), *told]
    return "\0".join(texts).encode("utf-8", "surrogateescape")


@functools.cache
def _release() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("smtplugins")
    except PackageNotFoundError:
        return ""


def _layout(counts: Sequence[int]) -> tuple[dict[str, tuple[int, int]], int]:
    """Where each column begins and how many bytes it has, and the length of all."""
    places = {}
    at = _BEGIN
    for (name, dtype), count in zip(_DTYPES.items(), counts, strict=True):
        at += -at % _ALIGNMENT
        size = count * int(dtype[1:])
        places[name] = at, size
        at += size
    return places, at


def _read(entry: Path, key: bytes, state: State) -> GrammarColumns | None:
    """The columns of a sound entry that was made from the file as it is."""
    try:
        with entry.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # not there, or empty
        return None
    parts = _checked(mapped, key, state)
    return None if parts is None else _columns(parts)


def _header(data: bytes | mmap.mmap, length: int) -> tuple[int, bytes, State, dict[str, tuple[int, int]]] | None:
    """What the header of an entry of this length says, if it is sound: checksum, key, state, and place of columns."""
    if len(data) < _BEGIN:
        return None
    magic, layout, head_sum = _FRONT.unpack_from(data)
    data_sum, total, key, *numbers = _HEADER.unpack_from(data, _FRONT.size)
    if (magic, layout, head_sum, total) != (_MAGIC, _LAYOUT, _sum(data[_FRONT.size : _BEGIN]), length):
        return None
    counts = numbers[-len(_DTYPES) :]
    places, end = _layout(counts)
    return (data_sum, key, tuple(numbers[: -len(counts)]), places) if end == total else None


def _checked(mapped: mmap.mmap, key: bytes, state: State) -> Parts | None:
    import numpy as np

    found = _header(mapped, len(mapped))
    if found is None:
        return None
    data_sum, its_key, its_state, places = found
    if (its_key, its_state) != (key, state) or _sum(memoryview(mapped)[_BEGIN:]) != data_sum:
        return None
    parts = {
        name: np.frombuffer(mapped, dtype, size // int(dtype[1:]), at)
        for (name, dtype), (at, size) in zip(_DTYPES.items(), places.values(), strict=True)
    }
    return parts if _stays_within(parts) else None


def _sum(data: Any, start: int = 0) -> int:
    from isal.isal_zlib import crc32

    return crc32(data, start)


def _stays_within(parts: Parts) -> bool:
    """Whether all offsets and numbers stay within the columns they lead to."""
    rules = len(parts["lhs"])
    spans = [("source", "source"), ("target", "target"), ("feature", "features"), ("feature", "values")]
    ends = [(f"{name}_offsets", len(parts[part]), rules) for name, part in spans]
    ends.append(("point_offsets", len(parts["points"]) // 2, rules))
    sizes = {table: len(parts[f"{table}.offsets"]) - 1 for table in _TABLES}
    ends += [(f"{table}.offsets", len(parts[f"{table}.blob"]), size) for table, size in sizes.items()]
    if len(parts["level"]) != rules or len(parts["points"]) % 2:
        return False
    if not all(_are_offsets(parts[name], end, count) for name, end, count in ends):
        return False
    words, labels, names = sizes.values()
    longest = int((parts["source_offsets"][1:] - parts["source_offsets"][:-1]).max(initial=0))
    return (
        _within(parts["lhs"], 0, labels)
        and _within(parts["source"], -labels, words)
        and _within(parts["target"], -longest, words)
        and _within(parts["features"], 0, names)
        and _within(parts["points"], 0, 1 << 15)
    )


def _are_offsets(offsets: Any, end: int, count: int) -> bool:
    if len(offsets) != count + 1 or offsets[0] != 0 or offsets[-1] != end:
        return False
    return bool((offsets[1:] >= offsets[:-1]).all())


def _within(values: Any, least: int, end: int) -> bool:
    return not len(values) or bool(values.min() >= least and values.max() < end)


def _columns(parts: Parts) -> GrammarColumns:
    from smtformats.columns import GrammarColumns

    tables = {table: (memoryview(parts[f"{table}.blob"]), parts[f"{table}.offsets"]) for table in _TABLES}
    arrays = {name: parts[name] for name in _DTYPES if "." not in name and name != "about"}
    return GrammarColumns.of({**arrays, **tables})


def _parts(columns: GrammarColumns, about: bytes) -> Iterator[tuple[str, Any]]:
    import numpy as np

    for name, dtype in _DTYPES.items():
        table, _, part = name.partition(".")
        value: Any = about if name == "about" else getattr(columns, table)
        if part:
            value = getattr(value, part)
        if isinstance(value, bytes | memoryview):
            value = np.frombuffer(value, "u1")
        yield name, np.ascontiguousarray(value, dtype).ravel()


def _write(entry: Path, key: bytes, state: State, about: bytes, columns: GrammarColumns) -> None:
    parts = dict(_parts(columns, about))
    counts = [len(part) for part in parts.values()]
    places, total = _layout(counts)
    pieces: list[Any] = []
    data_sum, at = 0, _BEGIN
    for name, part in parts.items():
        place, size = places[name]
        for piece in (bytes(place - at), part.view("u1")):
            pieces.append(piece)
            data_sum = _sum(piece, data_sum)
        at = place + size
    header = _HEADER.pack(data_sum, total, key, *state, *counts)
    entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(prefix=entry.stem, suffix=_PART, dir=entry.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            for piece in (_FRONT.pack(_MAGIC, _LAYOUT, _sum(header)), header, *pieces):
                out.write(piece)
        os.replace(aside, entry)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def _entry(path: Path) -> Entry:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        found = _header(file.read(_BEGIN), size)
        if found is None:
            return Entry(path, size)
        place, length = found[3]["about"]
        file.seek(place)
        source, name, *_ = file.read(length).decode("utf-8", "surrogateescape").split("\0")
    return Entry(path, size, source, name)
