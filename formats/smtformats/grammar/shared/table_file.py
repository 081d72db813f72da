"""A folder of arrays that are mapped into memory, each part of a file checked when it is first read.

    smt-table.json  arrays  checksums

The header has the version, the names, types, places, lengths and CRC-32 of the arrays, and what they are; its last key
is the CRC-32 of the others. ``arrays`` holds them one after another, in little-endian order, each from a multiple of
4096 bytes on. ``checksums`` has the CRC-32 of each 4096 bytes of it. Opening the folder reads the header and the
checksums alone, so that it takes no longer for a large table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from isal.isal_zlib import crc32
from numpy.typing import NDArray

from smtformats.columns import spans
from smtformats.errors import FormatError
from smtformats.files import mapped

HEADER, ARRAYS, SUMS = "smt-table.json", "arrays", "checksums"
VERSION = 1
BLOCK = 4096
Array = NDArray[Any]


class TableFile:
    """An opened folder; ``about`` is what its header says of the arrays."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)
        header = self._header()
        self.about: dict[str, Any] = header["about"]
        self._bytes = self._mapped(ARRAYS, header["bytes"])
        sums = self._mapped(SUMS, 4 * -(-header["bytes"] // BLOCK))
        if crc32(sums) != header["checksums"]:
            raise self._damaged(SUMS)
        self._sums = sums.view("<u4")
        self._checked = np.zeros(len(self._sums), dtype=bool)
        self._places: dict[str, tuple[str, int, int, int]] = {
            name: tuple(place) for name, place in header["arrays"].items()
        }

    def _header(self) -> dict[str, Any]:
        path = os.path.join(self.folder, HEADER)
        try:
            header: Any = json.loads(Path(path).read_bytes())
        except ValueError:
            header = None
        if not isinstance(header, dict):
            raise FormatError("the header of a table, a JSON object", "something else", file=path, line=1)
        if header.get("version") != VERSION:
            found = str(header.get("version", "none"))
            raise FormatError(f"version {VERSION} of tables (convert the table again)", found, file=path, line=1)
        if header.pop("sum", None) != _sum_of(header):
            raise self._damaged(HEADER)
        return header

    def _mapped(self, name: str, size: int) -> NDArray[np.uint8]:
        path = os.path.join(self.folder, name)
        try:
            found = mapped(path)
        except FileNotFoundError:
            raise FormatError("a file of this name", "none", file=path, line=1) from None
        if len(found) != size:
            raise FormatError(f"{size} bytes, as {HEADER} says", str(len(found)), file=path, line=1)
        return found

    def _damaged(self, name: str, where: str = "") -> FormatError:
        expected = f"what was written{where}, by its checksum (convert the table again)"
        return FormatError(expected, "other bytes", file=os.path.join(self.folder, name), line=1)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(os.path.getsize(os.path.join(self.folder, name)) for name in (HEADER, ARRAYS, SUMS))

    def count(self, name: str) -> int:
        """The length of an array."""
        return self._places[name][2]

    def whole(self, name: str) -> Array:
        """An array, all of which is checked."""
        dtype, at, count, total = self._places[name]
        array = self._bytes[at : at + count * np.dtype(dtype).itemsize]
        if crc32(array) != total:
            raise self._damaged(ARRAYS, f" in {name}")
        return array.view(dtype)

    def checked(self, name: str, firsts: Array, ends: Array) -> Array:
        """An array of which the parts ``[first, end)`` are checked."""
        dtype, at, count, _ = self._places[name]
        if len(firsts) and not (firsts.min() >= 0 and (firsts <= ends).all() and ends.max() <= count):
            raise self._damaged(ARRAYS, f" in {name}")
        size = np.dtype(dtype).itemsize
        self._check(at + size * firsts, at + size * ends)
        return self._bytes[at : at + count * size].view(dtype)

    def ranges(self, name: str, firsts: Array, ends: Array) -> Array:
        """The parts ``[first, end)`` of an array, one after another; they are checked."""
        firsts, ends = firsts.astype(np.int64, copy=False), ends.astype(np.int64, copy=False)
        if len(firsts) and (firsts[1:] == ends[:-1]).all():
            first, end = firsts[:1], ends[-1:]
            return self.checked(name, first, end)[int(first[0]) : int(end[0])]
        return self.checked(name, firsts, ends)[spans(firsts, ends)[1]]

    def at(self, name: str, places: Array) -> Array:
        """The elements of an array at these places."""
        return self.ranges(name, places, places + 1)

    def _check(self, firsts: Array, ends: Array) -> None:
        """Compare the checksums of the blocks with these bytes, unless that was done before."""
        begins, lasts = firsts // BLOCK, (ends - 1) // BLOCK
        # Most parts are in one block or two, checked before; an empty part may begin where the file ends.
        known = self._checked
        if (
            len(known)
            and (known.take(begins, mode="clip") & known.take(lasts, mode="clip") & (lasts <= begins + 1)).all()
        ):
            return
        some = ends > firsts
        blocks = spans(begins[some], lasts[some] + 1)[1]
        fresh = blocks[~self._checked[blocks]]
        for block in set(fresh.tolist()):
            if crc32(self._bytes[block * BLOCK : (block + 1) * BLOCK]) != self._sums[block]:
                raise self._damaged(ARRAYS, f" from byte {block * BLOCK} on")
        self._checked[fresh] = True


def write_folder(folder: str | os.PathLike[str], arrays: Mapping[str, Array], about: Mapping[str, Any]) -> None:
    """Write arrays into a folder that exists."""
    places: dict[str, tuple[str, int, int, int]] = {}
    with open(os.path.join(folder, ARRAYS), "wb") as out:
        for name, array in arrays.items():
            out.write(bytes(-out.tell() % BLOCK))
            little: Any = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
            places[name] = little.dtype.str, out.tell(), len(little), crc32(little.view("u1"))
            out.write(little.view("u1"))
        size = out.tell()
    written = mapped(os.path.join(folder, ARRAYS))
    sums = np.array([crc32(written[at : at + BLOCK]) for at in range(0, size, BLOCK)], dtype="<u4")
    sums.tofile(os.path.join(folder, SUMS))
    header = {
        "version": VERSION,
        "about": dict(about),
        "arrays": places,
        "bytes": size,
        "checksums": crc32(sums.view("u1")),
    }
    text = json.dumps({**header, "sum": _sum_of(header)}, indent=1)
    Path(folder, HEADER).write_text(text + "\n", encoding="utf-8")


def _sum_of(header: Mapping[str, Any]) -> int:
    return crc32(json.dumps(header, sort_keys=True).encode())
