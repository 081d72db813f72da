"""Files for workers that share no folder: sent in parts, once to each worker, and kept on its machine by their hash."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tools.running import Files, digest, shipped_place

PART = 16 << 20


@dataclass(frozen=True)
class Parts:
    """How a file or folder is cut: the names and sizes of its files, one after the other, and the number of parts."""

    digest: str
    files: tuple[tuple[str, int], ...]
    count: int


class FilePart(WorkerPlugin):  # type: ignore[misc]
    """One part; the scheduler gives it to each worker, also to those that join later."""

    def __init__(self, parts: Parts, number: int, data: bytes) -> None:
        self.name = f"smt-file-{parts.digest}-{number}"
        self._parts, self._number, self._data = parts, number, data

    def setup(self, worker: Any) -> None:
        """Keep the part; the last one puts the file together."""
        place = shipped_place(self._parts.digest)
        if place.exists():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        # One for all files of the machine, which stays: a lock in a folder that others remove would keep nobody out.
        with (place.parent / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if place.exists():
                return
            folder = place.with_name(f".{place.name}.parts")
            folder.mkdir(exist_ok=True)
            aside = folder / f"{self._number}.new"
            aside.write_bytes(self._data)
            aside.replace(folder / str(self._number))
            if all((folder / str(number)).exists() for number in range(self._parts.count)):
                _put_together(self._parts, folder, place)


def parts_of(files: Files, named: str) -> Iterator[FilePart]:
    """The parts of files with this digest."""
    sizes = tuple((name, file.stat().st_size) for name, file in files)
    parts = Parts(named, sizes, max(1, -(-sum(size for _, size in sizes) // PART)))
    rest, number = b"", 0
    for _, file in files:
        with file.open("rb") as stream:
            while data := stream.read(PART - len(rest)):
                rest += data
                if len(rest) == PART:
                    yield FilePart(parts, number, rest)
                    rest, number = b"", number + 1
    if rest or not number:
        yield FilePart(parts, number, rest)


def _put_together(parts: Parts, folder: Path, place: Path) -> None:
    aside = folder / "whole"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    stream = _stream(folder, parts.count)
    rest = b""
    for name, size in parts.files:
        target = Path(os.path.normpath(aside / name))
        if os.path.commonpath([aside, target]) != str(aside):
            raise SmtError(f"expected a file in a folder, found {name!r}")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as out:
            while size:
                rest = rest or next(stream)
                out.write(rest[:size])
                size, rest = size - len(rest[:size]), rest[size:]
    if digest([(name, aside / name) for name, _ in parts.files]) != parts.digest:
        raise SmtError(f"{parts.files[0][0]}: what arrived differs from what was sent")
    aside.rename(place)
    shutil.rmtree(folder, ignore_errors=True)


def _stream(folder: Path, count: int) -> Iterator[bytes]:
    for number in range(count):
        yield (folder / str(number)).read_bytes()
