"""Folders that workers write into: what is written on another machine comes back with the results."""

from __future__ import annotations

import contextlib
import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from smtplugins.contracts.errors import SmtError

Parcel = Mapping[str, bytes]
"""Files by their names in a folder."""

_HERE: set[str] = set()
"""The folders of this process, and of those that it was forked from."""


def _here() -> str:
    token = uuid.uuid4().hex
    _HERE.add(token)
    return token


@dataclass(frozen=True)
class OutputFolder:
    """A folder of the process that spreads work, in which it and its forked workers write."""

    path: Path
    _token: str = field(default_factory=_here, repr=False)

    @contextlib.contextmanager
    def written(self) -> Iterator[tuple[Path, dict[str, bytes]]]:
        """A folder to write into, and a parcel that at the end holds what has to be brought to the other one."""
        parcel: dict[str, bytes] = {}
        if self._token in _HERE:
            yield self.path, parcel
            return
        with tempfile.TemporaryDirectory(prefix="smt-") as name:
            yield Path(name), parcel
            for one in sorted(Path(name).rglob("*")):
                if one.is_file():
                    parcel[one.relative_to(name).as_posix()] = one.read_bytes()

    def unpack(self, parcel: Parcel) -> None:
        """Write what came back."""
        folder = os.path.abspath(self.path)
        for name, data in parcel.items():
            place = Path(os.path.normpath(os.path.join(folder, name)))
            if os.path.commonpath([folder, place]) != folder:
                raise SmtError(f"a worker wrote {name!r}, outside {folder}")
            place.parent.mkdir(parents=True, exist_ok=True)
            aside = place.with_name(f".{place.name}.part")
            aside.write_bytes(data)
            aside.replace(place)
