"""Detect systems that are judged on their tuning data, by the hashes in a run's manifest or by comparing texts.

A manifest's ``tuned_on`` lists the inputs that weights were learnt from. Without it all inputs count; then only the
folder of a learning run is recognised automatically, which is one with steps or one written by ``smt tune``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from smtformats.files import open_lines
from smtplugins.contracts.errors import UsageError
from smtplugins.host.runs import MANIFEST, file_hash

_PARENTS = 3
"""How many parent folders of a system's file are searched for the manifest of its run."""


class EvaluationFiles:
    """The files of an evaluation: references, sources and system outputs."""

    def __init__(self, paths: Iterable[Any]) -> None:
        self._paths = [os.fspath(path) for path in paths if isinstance(path, (str, os.PathLike))]
        self._hashes: set[str] | None = None

    def any_of(self, tuned_on: Sequence[str | os.PathLike[str]]) -> bool:
        """Whether any file was read by one of these runs (folders or manifests), or equals one of these files."""
        matches = [self._is(Path(path)) for path in tuned_on]
        return any(matches)

    def by_run_of(self, system: Any) -> bool:
        """Whether the run whose folder contains a system's file learnt from one of the files."""
        if not isinstance(system, (str, os.PathLike)):
            return False
        folders = Path(os.path.abspath(system)).parents[:_PARENTS]
        manifest = next((folder / MANIFEST for folder in folders if (folder / MANIFEST).is_file()), None)
        return manifest is not None and self._among(_learnt_from(manifest, named=False) or ())

    def _is(self, path: Path) -> bool:
        if path.is_dir():
            if not (path / MANIFEST).is_file():
                raise UsageError(f"{path}: expected a file or a run with a {MANIFEST}, found a folder without one")
            path = path / MANIFEST
        hashes = _learnt_from(path, named=True)
        if hashes is not None:
            return self._among(hashes)
        return file_hash(path) in self._file_hashes() or any(_same_lines(path, judged) for judged in self._paths)

    def _among(self, hashes: Iterable[str]) -> bool:
        return not self._file_hashes().isdisjoint(hashes)

    def _file_hashes(self) -> set[str]:
        if self._hashes is None:
            self._hashes = {file_hash(path) for path in self._paths if os.path.isfile(path)}
        return self._hashes


def _learnt_from(path: Path, *, named: bool) -> list[str] | None:
    """Hashes of the inputs that weights were learnt from, read from a manifest; ``None`` for other files.

    A manifest that the user did not name must belong to a learning run.
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


def _same_lines(first: Path, second: str) -> bool:
    """Whether two files, compressed or not, have the same lines, ignoring trailing whitespace."""
    from itertools import zip_longest

    if not os.path.isfile(second):
        return False
    with open_lines(first) as mine, open_lines(second) as theirs:
        pairs = zip_longest(mine, theirs)
        return all(a is not None and b is not None and a.rstrip() == b.rstrip() for a, b in pairs)
