"""Cache files of arrays, memory-mapped when they are read.

A cache file records its source and is written under a temporary name, then renamed. It is used only if its length and
checksums are right and its source has not changed since.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from smtformats.records import dataclass

State = tuple[int, ...]
Parts = dict[str, Any]  # arrays by name
PART = ".part"
ABOUT = "about"
_ALIGNMENT = 64


@dataclass(frozen=True)
class Header:
    """The header of a valid file; ``sum`` is the data's checksum, ``places`` are the arrays' offsets and sizes."""

    sum: int
    key: bytes
    state: State
    places: dict[str, tuple[int, int]]


class Layout:
    """The layout of cache files: arrays of these names and types, and ``about``, which describes their source.

    A file starts, in native byte order, with the magic, the layout number and the checksum of the header. The header
    has the checksum of the data, the file length, the key, the state of the source file, and the length of each array.
    """

    _FRONT = struct.Struct("=8sII")

    def __init__(self, magic: bytes, number: int, dtypes: Mapping[str, str]) -> None:
        self.magic = magic
        self.number = number
        self.dtypes = {**dtypes, ABOUT: "u1"}
        self._header = struct.Struct(f"=4xIQ32s5q{len(self.dtypes)}Q")
        self.begin = self._FRONT.size + self._header.size

    def places(self, counts: Sequence[int]) -> tuple[dict[str, tuple[int, int]], int]:
        """Return the offset and size in bytes of each array, and the file length."""
        places = {}
        at = self.begin
        for (name, dtype), count in zip(self.dtypes.items(), counts, strict=True):
            at += -at % _ALIGNMENT
            size = count * int(dtype[1:])
            places[name] = at, size
            at += size
        return places, at

    def header(self, data: bytes | mmap.mmap, length: int) -> Header | None:
        """Return the header of a file of this length, or None if it is invalid."""
        if len(data) < self.begin:
            return None
        magic, layout, head_sum = self._FRONT.unpack_from(data)
        data_sum, total, key, *numbers = self._header.unpack_from(data, self._FRONT.size)
        head = data[self._FRONT.size : self.begin]
        if (magic, layout, head_sum, total) != (self.magic, self.number, _sum(head), length):
            return None
        counts = numbers[-len(self.dtypes) :]
        places, end = self.places(counts)
        return Header(data_sum, key, tuple(numbers[: -len(counts)]), places) if end == total else None

    def read(self, path: Path, key: bytes, state: State) -> Parts | None:
        """Return the arrays of a cache file, or None if it is invalid or has another key or source state."""
        import numpy as np

        try:
            with path.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):  # missing or empty
            return None
        header = self.header(mapped, len(mapped))
        if header is None or (header.key, header.state) != (key, state):
            return None
        if _sum(memoryview(mapped)[self.begin :]) != header.sum:
            return None
        return {
            name: np.frombuffer(mapped, dtype, size // int(dtype[1:]), at)
            for (name, dtype), (at, size) in zip(self.dtypes.items(), header.places.values(), strict=True)
        }

    def write(self, path: Path, key: bytes, state: State, parts: Mapping[str, Any]) -> None:
        """Write a cache file; ``parts`` has all arrays of the layout."""
        import numpy as np

        arrays = {name: np.ascontiguousarray(parts[name], dtype).ravel() for name, dtype in self.dtypes.items()}
        import tempfile

        counts = [len(array) for array in arrays.values()]
        places, total = self.places(counts)
        pieces: list[Any] = []
        data_sum, at = 0, self.begin
        for name, array in arrays.items():
            place, size = places[name]
            for piece in (bytes(place - at), array.view("u1")):
                pieces.append(piece)
                data_sum = _sum(piece, data_sum)
            at = place + size
        header = self._header.pack(data_sum, total, key, *state, *counts)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(prefix=path.stem, suffix=PART, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                for piece in (self._FRONT.pack(self.magic, self.number, _sum(header)), header, *pieces):
                    out.write(piece)
            os.replace(aside, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(aside)
            raise

    def about(self, path: Path) -> bytes | None:
        """Return the description of a file's source, or None if its header is invalid."""
        with path.open("rb") as file:
            header = self.header(file.read(self.begin), os.fstat(file.fileno()).st_size)
            if header is None:
                return None
            place, length = header.places[ABOUT]
            file.seek(place)
            return file.read(length)


@dataclass(frozen=True)
class Keeper:
    """How columns of one kind are cached: ``parts`` turns them into arrays (without ``about``).

    ``columns`` turns arrays back into columns; it returns None if an offset or index is out of range.
    """

    layout: Layout
    parts: Callable[[Any], Mapping[str, Any]]
    columns: Callable[[Parts], Any]


def _sum(data: Any, start: int = 0) -> int:
    from isal.isal_zlib import crc32

    return crc32(data, start)


def are_offsets(offsets: Any, end: int, count: int) -> bool:
    """Whether these are offsets of ``count`` parts in a column of length ``end``."""
    if len(offsets) != count + 1 or offsets[0] != 0 or offsets[-1] != end:
        return False
    return bool((offsets[1:] >= offsets[:-1]).all())


def within(values: Any, least: int, end: int) -> bool:
    """Whether all values lie in ``least <= value < end``."""
    return not len(values) or bool(values.min() >= least and values.max() < end)
