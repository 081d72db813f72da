"""A model: weights, named artefacts and a hash, saved as plain files (text, JSON, npy), never pickle."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Protocol

from smtformats.records import dataclass
from smtplugins.contracts.errors import SmtError

WEIGHTS = "weights.txt"


class Artefact(Protocol):
    """A named part of a model that is more than a weight: trees, a policy, a language model."""

    def save(self, folder: Path) -> None: ...

    def digest(self) -> str: ...


@dataclass(frozen=True)
class Files:
    """An artefact as the plain files it was saved in, to be read by the code that wrote them.

    ``recorded`` is the hash from when it was saved, so a model keeps its hash through saving and loading.
    """

    folder: Path
    recorded: str = ""

    def save(self, folder: Path) -> None:
        """Copy the files."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)

    def digest(self) -> str:
        """The recorded hash, else a hash of the files' names and contents."""
        if self.recorded:
            return self.recorded
        total = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            if path.is_file():
                total.update(path.relative_to(self.folder).as_posix().encode() + b"\0" + path.read_bytes())
        return total.hexdigest()


@dataclass(frozen=True)
class Model:
    """Weights by feature name, and artefacts by name."""

    weights: Mapping[str, float] = field(default_factory=dict)
    artefacts: Mapping[str, Artefact] = field(default_factory=dict)

    def with_weights(self, weights: Mapping[str, float]) -> Model:
        """The same model with other weights; artefacts are shared."""
        return replace(self, weights=dict(weights))

    def digest(self) -> str:
        """A hash of the weights and artefacts."""
        total = hashlib.sha256()
        for name, value in sorted(self.weights.items()):
            total.update(f"{name} {float(value)!r}\n".encode())
        for name, artefact in sorted(self.artefacts.items()):
            total.update(f"{name} {artefact.digest()}\n".encode())
        return total.hexdigest()

    def save(self, folder: Path) -> None:
        """Write the model into a folder."""
        from smtformats.format import shortest

        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{name} {shortest(value)}\n" for name, value in sorted(self.weights.items())]
        (folder / WEIGHTS).write_text("".join(lines), encoding="utf-8")
        for name, artefact in self.artefacts.items():
            artefact.save(folder / name)
        digests = {name: artefact.digest() for name, artefact in sorted(self.artefacts.items())}
        record = {"artefacts": digests, "digest": self.digest()}
        (folder / "model.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Model:
        """Read a saved model; artefacts are returned as :class:`Files`."""
        from smtformats.files import open_lines
        from smtformats.weights.cdec import FORMAT

        try:
            record = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SmtError(f"{folder}: expected a saved model, found no model.json") from None
        except ValueError as error:
            raise SmtError(f"{folder / 'model.json'}: expected JSON, found {error}") from None
        weights = {}
        if (folder / WEIGHTS).read_text(encoding="utf-8").strip():
            with open_lines(folder / WEIGHTS) as lines:
                weights = FORMAT.read(lines)
        try:
            artefacts = {name: Files(folder / name, digest) for name, digest in record["artefacts"].items()}
            expected = record["digest"]
        except (TypeError, KeyError, AttributeError):
            raise SmtError(f"{folder / 'model.json'}: expected `artefacts` and `digest`, found other keys") from None
        model = cls(weights, artefacts)
        if model.digest() != expected:
            raise SmtError(f"{folder}: expected the model as saved, found changed files")
        return model
