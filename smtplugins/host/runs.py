"""Run directories and manifests, which record command, inputs and versions so that a result can be reproduced."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.records import dataclass
from smtplugins.contracts.errors import UsageError
from smtplugins.host.arguments import argument

if TYPE_CHECKING:
    from smtplugins.contracts.learners import LearnerState, LearnerStep
    from smtplugins.contracts.models import Model
    from smtplugins.contracts.offers import PluginInfo

MANIFEST = "manifest.json"
_STATE = "state.npz"


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file as it is on disk."""
    total = hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(1 << 20):
            total.update(block)
    return total.hexdigest()


def input_hashes(paths: Iterable[str | os.PathLike[str]]) -> dict[str, str]:
    """The hash of each input file, taken before a run changes anything; pipes are not hashed.

    The hash of the folder of a run is that of its weights.
    """
    hashes = {}
    for name in sorted({os.fspath(path) for path in paths}):
        file = os.path.join(name, "weights") if os.path.isdir(name) else name
        hashes[name] = file_hash(file) if name != "-" and os.path.isfile(file) else "not a file"
    return hashes


def manifest(
    *,
    command: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
    inputs: Mapping[str, str] | None = None,
    plugins: Iterable[PluginInfo] = (),
    seed: int | None = None,
    signatures: Iterable[str] = (),
) -> dict[str, Any]:
    """The record of a run. It holds no times and no machine name, so the same run gives the same manifest."""
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
            plugin.name: {"distribution": plugin.distribution, "version": plugin.version, "status": plugin.status}
            for plugin in plugins
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

    As a context manager it removes a folder created for this run if the block fails before any piece of work is
    complete, so that a corrected call can use the same name.
    """

    path: Path
    made: tuple[Path, ...] | None = field(default=None, compare=False)

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None and self.made is not None and not _has_work(self.path):
            _clear(self.path, self.made)

    @classmethod
    def create(
        cls, path: Path, record: Mapping[str, Any], *, resume: bool = False, learns: bool = True
    ) -> RunDirectory:
        """Create the folder, or resume one whose manifest describes the same run.

        ``learns``: its weights can be the start of another run, says the error for one that differs.
        """
        existing = path / MANIFEST
        if existing.exists():
            if not resume:
                raise UsageError(
                    f"{path}: already contains a run; resume it ({argument('resume=True')}) or name another folder"
                )
            old = json.loads(existing.read_text(encoding="utf-8"))
            for key in ("options", "inputs", "seed"):
                before, now = old.get(key), json.loads(json.dumps(record.get(key), default=str))
                if before != now:
                    start = f"can begin with this one's weights ({argument('start', '-w')} {path})"
                    raise UsageError(
                        f"{path}: cannot resume, {key} differ from those of the run in the folder"
                        f"{_difference(before, now)}. A new run in another folder {start if learns else 'is possible'}"
                    )
            # The manifest stays as written, though the resuming command differs.
            sweep(path)
            return cls(path)
        for aside in path.glob(f".{MANIFEST}.*.part"):
            aside.unlink(missing_ok=True)
        if path.exists() and any(path.iterdir()):
            raise UsageError(f"{path}: expected an empty folder or a run, found other files")
        run = cls(path, _make(path))
        write_manifest(existing, record)
        return run

    def save_step(self, number: int, step: LearnerStep) -> None:
        """Save a finished step; it is renamed into place when all its files are complete."""
        target = self.path / f"step-{number:04d}"
        aside = self.path / f".step-{number:04d}.part"
        _remove(aside)
        _remove(target)
        step.model.save(aside / "model")
        step.state.save(aside / _STATE)
        record = {"objective": step.objective, "metrics": dict(step.metrics)}
        (aside / "step.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        os.replace(aside, target)

    def forget_states(self) -> None:
        """Delete the learner's state of all steps but the last, from which a run resumes; models and metrics stay."""
        states = []
        for path in reversed(self._steps()[:-1]):
            if not (path / _STATE).exists():
                break
            states.append(path / _STATE)
        # The oldest first: if this is killed, those that remain still stand together, where they are looked for.
        for state in reversed(states):
            state.unlink(missing_ok=True)

    def rows(self) -> list[tuple[float, dict[str, float]]]:
        """Objective and metrics of all finished steps, in order."""
        records = [json.loads((path / "step.json").read_text(encoding="utf-8")) for path in self._steps()]
        return [(float(record["objective"]), dict(record["metrics"])) for record in records]

    def step(self, number: int) -> tuple[Model, dict[str, float]]:
        """Model and metrics of a finished step."""
        from smtplugins.contracts.models import Model

        folder = self.path / f"step-{number:04d}"
        return Model.load(folder / "model"), self.rows()[self._steps().index(folder)][1]

    def _steps(self) -> list[Path]:
        return sorted(self.path.glob("step-*"), key=lambda path: int(path.name[5:]))

    def last_step(self) -> tuple[int, Model, LearnerState] | None:
        """The last finished step: its number, model and state."""
        from smtplugins.contracts.learners import LearnerState
        from smtplugins.contracts.models import Model

        steps = {int(path.name[5:]): path for path in self.path.glob("step-*")}
        if not steps:
            return None
        last = max(steps)
        return last, Model.load(steps[last] / "model"), LearnerState.load(steps[last] / _STATE)


@contextlib.contextmanager
def prepared_folder(path: Path, kept: str | None = None) -> Iterator[None]:
    """Create a folder to write into; if the block fails, remove it if it is new and has no file ``kept``."""
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: expected a folder to write to, found a file")
    created = _make(path)
    try:
        yield
    except BaseException:
        if created and (kept is None or not (path / kept).exists()):
            _clear(path, created)
        raise


def _make(path: Path) -> tuple[Path, ...]:
    """Create a folder and its parents; return those created, innermost first."""
    missing = tuple(folder for folder in (path, *path.parents) if not folder.exists())
    path.mkdir(parents=True, exist_ok=True)
    return missing


def _clear(path: Path, created: Iterable[Path]) -> None:
    """Remove the contents of a folder, and the folders created for it."""
    for item in path.iterdir():
        if item.is_dir() and not item.is_symlink():
            _remove(item)
        else:
            item.unlink(missing_ok=True)
    for item in created:
        # Another process may have put something there by now.
        with contextlib.suppress(OSError):
            item.rmdir()


def _difference(before: Any, now: Any) -> str:
    """The names of the entries that differ, after a colon."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return ""
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    return f": {', '.join(names[:5])}{' and others' * (len(names) > 5)}"


def _has_work(folder: Path) -> bool:
    """Whether a folder has a complete file besides the manifest; incomplete ones still have temporary names."""
    for path in folder.rglob("*"):
        inner = path.relative_to(folder)
        aside = any(part.startswith(".") and ".part" in part for part in inner.parts)
        if path.is_file() and not aside and inner != Path(MANIFEST):
            return True
    return False


def sweep(folder: Path) -> None:
    """Remove temporary files of a killed run."""
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
