"""Read packages: the members of .deb and .tgz files, and the records of apt's Translation-XX indexes.

Folders of packages and of texts are written by :func:`new_folder`.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import re
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

INDEX = re.compile(r"(?:.*_)?Translation-([\w%]+)")


@dataclass(frozen=True)
class Package:
    """A file of text and where it is from; an index has no version, and its file's name for a name."""

    path: Path
    name: str
    version: str
    sha256: str


def open_package(path: Path) -> Package:
    """What a package says of itself."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if INDEX.fullmatch(path.name):
        return Package(path, path.name, "", digest)
    if path.suffix == ".deb":
        control = _only(path, r"control", "control.tar").decode()
        fields = dict(line.split(": ", 1) for line in control.splitlines() if re.match(r"\w+: ", line))
        return Package(path, fields["Package"], fields["Version"], digest)
    if path.suffix == ".tgz":
        record = json.loads(_only(path, r"package/package\.json"))
        return Package(path, record["name"], record["version"], digest)
    sys.exit(f"{path}: expected NAME.deb, NAME.tgz or an index NAME_Translation-XX")


def language_code(code: str) -> str:
    """One spelling of zh-CN, zh_CN and, in names of files, zh%5fCN."""
    return code.replace("%5f", "-").replace("_", "-").lower()


def members(path: Path, wanted: str, part: str = "data.tar") -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the files of a package whose name matches all of a pattern."""
    pattern = re.compile(wanted)
    try:
        with path.open("rb") as file:
            if path.suffix == ".deb":
                _seek_part(file, part)
            with tarfile.open(fileobj=file, mode="r|*" if path.suffix == ".deb" else "r:gz") as archive:
                for member in archive:
                    name = member.name.removeprefix("./")
                    if member.isfile() and pattern.fullmatch(name):
                        yield name, archive.extractfile(member).read()
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, ValueError) as error:
        sys.exit(f"{path}: expected a whole package, compressed by xz or gzip: {error}")


def descriptions(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Description-md5, short description and lines of the long one, of each record of an index."""
    for record in path.read_text(encoding="utf-8").split("\n\n"):
        lines = record.split("\n")
        digest = next((line.partition(": ")[2] for line in lines if line.startswith("Description-md5: ")), None)
        for number, line in enumerate(lines):
            if digest and re.match(r"Description-(?!md5)", line):
                long = takewhile(lambda one: one.startswith(" "), lines[number + 1 :])
                yield digest, line.partition(": ")[2], [one[1:] for one in long]


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder beside ``path``, which takes its name if the block succeeds."""
    if path.exists():
        sys.exit(f"{path}: exists: name another folder, or remove it")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.name}-") as work:
        folder = Path(work, path.name)
        folder.mkdir()
        yield folder
        folder.rename(path)


def _seek_part(file: BinaryIO, part: str) -> None:
    """Go to where a member begins of the ``ar`` archive that a .deb is."""
    if file.read(8) != b"!<arch>\n":
        raise ValueError("this is no ar archive")
    end = os.fstat(file.fileno()).st_size
    while len(header := file.read(60)) == 60:
        size = int(header[48:58])
        if file.tell() + size > end:
            raise ValueError(f"{header[:16].decode().strip()} is cut off")
        if header.startswith(part.encode()):
            return
        file.seek(size + size % 2, 1)
    raise ValueError(f"there is no {part}")


def _only(path: Path, name: str, part: str = "data.tar") -> bytes:
    for _, data in members(path, name, part):
        return data
    sys.exit(f"{path}: expected a file {name} in it")
