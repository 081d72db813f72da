"""Run directories and manifests: what was run, on what, with which versions, so that a result can be made again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.host.contracts import State, Step
    from smtplugins.host.model import Model
    from smtplugins.host.offers import PluginInfo

MANIFEST = "manifest.json"


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file as it is on disk."""
    total = hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(1 << 20):
            total.update(block)
    return total.hexdigest()


def input_hashes(paths: Iterable[str | os.PathLike[str]]) -> dict[str, str]:
    """The hash of each input, taken before a run changes anything; a pipe can be read only once and has none."""
    names = sorted({os.fspath(path) for path in paths})
    return {name: file_hash(name) if name != "-" and os.path.isfile(name) else "not a file" for name in names}


def manifest(
    *,
    command: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
    inputs: Mapping[str, str] | None = None,
    plugins: Iterable[PluginInfo] = (),
    seed: int | None = None,
    signatures: Iterable[str] = (),
) -> dict[str, Any]:
    """The record of a run. It holds no time and no machine: the same run gives the same manifest."""
    from importlib.metadata import version

    import numpy

    record: dict[str, Any] = {
        "command": list(command),
        "options": dict(options or {}),
        "seed": seed,
        "inputs": dict(inputs or {}),
        "signatures": list(signatures),
        "versions": {
            "smtplugins": version("smtplugins"),
            "python": platform.python_version(),
            "numpy": numpy.__version__,
            "sacrebleu": version("sacrebleu"),
        },
        "plugins": {
            one.name: {"distribution": one.distribution, "version": one.version, "status": one.status}
            for one in plugins
        },
    }
    return record


def write_manifest(path: str | os.PathLike[str], record: Mapping[str, Any]) -> None:
    """Write a manifest as JSON."""
    from smtformats.files import open_write

    with open_write(path) as out:
        json.dump(record, out, indent=1, ensure_ascii=False, default=str)
        out.write("\n")


@dataclass(frozen=True)
class RunDirectory:
    """The folder of a learning run: a manifest, and a model and state for each finished step."""

    path: Path

    @classmethod
    def create(cls, path: Path, record: Mapping[str, Any], *, resume: bool = False) -> RunDirectory:
        """Make the folder, or go on in one whose manifest says it is the same run."""
        existing = path / MANIFEST
        if existing.exists():
            if not resume:
                raise UsageError(f"{path}: a run is already there; resume it (--resume) or name another folder")
            old = json.loads(existing.read_text(encoding="utf-8"))
            for key in ("options", "inputs", "seed"):
                if old.get(key) != json.loads(json.dumps(record.get(key), default=str)):
                    raise UsageError(f"{path}: cannot resume, {key} differ from those of the run there")
            # As it was written: the command that resumes is another one.
            sweep(path)
            return cls(path)
        for aside in path.glob(f".{MANIFEST}.*.part"):
            aside.unlink(missing_ok=True)
        if path.exists() and any(path.iterdir()):
            raise UsageError(f"{path}: expected an empty folder or a run, found other files")
        path.mkdir(parents=True, exist_ok=True)
        write_manifest(existing, record)
        return cls(path)

    def save_step(self, number: int, step: Step) -> None:
        """Keep a finished step; a step counts only once all its files are there."""
        target = self.path / f"step-{number:04d}"
        aside = self.path / f".step-{number:04d}.part"
        _remove(aside)
        _remove(target)
        step.model.save(aside / "model")
        step.state.save(aside / "state")
        record = {"objective": step.objective, "metrics": dict(step.metrics)}
        (aside / "step.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        os.replace(aside, target)

    def forget_states(self) -> None:
        """Only the last step is resumed from: the states of the others are let go, and what is told of them stays."""
        for path in self._steps()[:-1]:
            _remove(path / "state")

    def rows(self) -> list[tuple[float, dict[str, float]]]:
        """Objective and metrics of all finished steps, in their order."""
        records = [json.loads((path / "step.json").read_text(encoding="utf-8")) for path in self._steps()]
        return [(float(one["objective"]), dict(one["metrics"])) for one in records]

    def step(self, number: int) -> tuple[Model, dict[str, float]]:
        """Model and metrics of a finished step."""
        from smtplugins.host.model import Model

        folder = self.path / f"step-{number:04d}"
        return Model.load(folder / "model"), self.rows()[self._steps().index(folder)][1]

    def _steps(self) -> list[Path]:
        return sorted(self.path.glob("step-*"), key=lambda path: int(path.name[5:]))

    def last_step(self) -> tuple[int, Model, State] | None:
        """The last finished step: its number, model and state."""
        from smtplugins.host.contracts import State
        from smtplugins.host.model import Model

        steps = {int(path.name[5:]): path for path in self.path.glob("step-*")}
        if not steps:
            return None
        last = max(steps)
        return last, Model.load(steps[last] / "model"), State.load(steps[last] / "state")


def sweep(folder: Path) -> None:
    """Remove what was being written aside when a run was killed."""
    for path in sorted(folder.rglob(".*.part*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            _remove(path)
        else:
            path.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    import shutil

    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


def argv() -> list[str]:
    """The command line of this process."""
    return ["smt", *sys.argv[1:]]
