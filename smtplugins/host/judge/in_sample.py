"""Whether systems are judged on what they were tuned on: told by the hashes in a run's manifest, or by the texts.

A manifest's ``tuned_on`` names those of its inputs that weights were learnt from. In one without it, all inputs count;
then only the folder of a learning run is known by itself, which is one that has steps or that ``smt tune`` made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from smtplugins.host.errors import UsageError
from smtplugins.host.runs import MANIFEST, file_hash

_PARENTS = 3
"""How many folders up the manifest of the run is looked for that a system's file came from."""


class Judged:
    """The files that systems are judged by: references, sources and the systems' own."""

    def __init__(self, paths: Iterable[Any]) -> None:
        self._paths = [os.fspath(one) for one in paths if isinstance(one, (str, os.PathLike))]
        self._hashes: set[str] | None = None

    def any_of(self, tuned_on: Sequence[str | os.PathLike[str]]) -> bool:
        """Whether one is among what a run read (its folder or manifest), or has the lines of a file named here."""
        found = [self._is(Path(one)) for one in tuned_on]
        return any(found)

    def by_run_of(self, system: Any) -> bool:
        """Whether the run that a system's file lies in read one of them."""
        if not isinstance(system, (str, os.PathLike)):
            return False
        folders = Path(os.path.abspath(system)).parents[:_PARENTS]
        found = next((one / MANIFEST for one in folders if (one / MANIFEST).is_file()), None)
        return found is not None and self._among(_learnt_from(found, named=False) or ())

    def _is(self, path: Path) -> bool:
        if path.is_dir():
            if not (path / MANIFEST).is_file():
                raise UsageError(f"{path}: expected a run with a {MANIFEST}, or a file; found a folder without one")
            path = path / MANIFEST
        hashes = _learnt_from(path, named=True)
        if hashes is not None:
            return self._among(hashes)
        return file_hash(path) in self._hashed() or any(_same_lines(path, one) for one in self._paths)

    def _among(self, hashes: Iterable[str]) -> bool:
        return not self._hashed().isdisjoint(hashes)

    def _hashed(self) -> set[str]:
        if self._hashes is None:
            self._hashes = {file_hash(one) for one in self._paths if os.path.isfile(one)}
        return self._hashes


def _learnt_from(path: Path, *, named: bool) -> list[str] | None:
    """Hashes of what weights were learnt from, by a manifest; ``None`` of other files.

    One that was not named, but found, has to be that of a learning run.
    """
    try:
        with path.open("rb") as stream:
            if stream.read(1) != b"{":
                return None
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    inputs = record.get("inputs")
    if not isinstance(inputs, dict):
        return None
    names = record.get("tuned_on")
    if not isinstance(names, list):
        command = record.get("command")
        learnt = any(path.parent.glob("step-*")) or (isinstance(command, list) and command[1:2] == ["tune"])
        names = list(inputs) if named or learnt else []
    return [value for name in names if isinstance(name, str) and isinstance(value := inputs.get(name), str)]


def _same_lines(one: Path, other: str) -> bool:
    """Whether two files hold the same lines, one of them perhaps compressed. Blanks at the end do not count."""
    from itertools import zip_longest

    from smtformats.files import open_lines

    if not os.path.isfile(other):
        return False
    with open_lines(one) as mine, open_lines(other) as theirs:
        pairs = zip_longest(mine, theirs)
        return all(a is not None and b is not None and a.rstrip() == b.rstrip() for a, b in pairs)
