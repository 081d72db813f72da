"""Run directories and manifests: what was run, on what, with which versions, so that a result can be made again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import State, Step
    from smtplugins.contracts.offers import PluginInfo
    from smtplugins.host.model import Model

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
    """The folder of a learning run: a manifest, and a model and state for each finished step.

    As a context it goes again, if it was made for this run, when the block fails before any piece of work is complete:
    a call that is corrected finds the place free.
    """

    path: Path
    made: tuple[Path, ...] | None = field(default=None, compare=False)

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None and self.made is not None and not _has_work(self.path):
            _clear(self.path, self.made)

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
        run = cls(path, _make(path))
        write_manifest(existing, record)
        return run

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
        from smtplugins.contracts.contracts import State
        from smtplugins.host.model import Model

        steps = {int(path.name[5:]): path for path in self.path.glob("step-*")}
        if not steps:
            return None
        last = max(steps)
        return last, Model.load(steps[last] / "model"), State.load(steps[last] / "state")


@contextlib.contextmanager
def prepared_folder(path: Path, kept: str | None = None) -> Iterator[None]:
    """A folder to write into; one that was not there before is removed if the block fails and leaves no ``kept``."""
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: expected a folder to write to, found a file")
    made = _make(path)
    try:
        yield
    except BaseException:
        if made and (kept is None or not (path / kept).exists()):
            _clear(path, made)
        raise


def _make(path: Path) -> tuple[Path, ...]:
    """Make a folder; gives those that were not there, from the inside out."""
    missing = tuple(one for one in (path, *path.parents) if not one.exists())
    path.mkdir(parents=True, exist_ok=True)
    return missing


def _clear(path: Path, made: Iterable[Path]) -> None:
    """Remove what is in a folder, and the folders that were made for it."""
    for one in path.iterdir():
        if one.is_dir() and not one.is_symlink():
            _remove(one)
        else:
            one.unlink(missing_ok=True)
    for one in made:
        # Somebody else may have put something there by now.
        with contextlib.suppress(OSError):
            one.rmdir()


def _has_work(folder: Path) -> bool:
    """Whether there is a file beside the manifest that has its name, which it takes when it is complete."""
    for path in folder.rglob("*"):
        inner = path.relative_to(folder)
        aside = any(part.startswith(".") and ".part" in part for part in inner.parts)
        if path.is_file() and not aside and inner != Path(MANIFEST):
            return True
    return False


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
