"""Files of a recipe: a worker that has them checks that they are the same, others are sent copies by their hash."""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.caching.folders import default_folder
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.spec import Spec

if TYPE_CHECKING:
    from smtplugins.host.config.run_yaml import RunConfig

_END = 1 << 16
_PART = 1 << 20


@dataclass
class Shipment:
    """Files and folders to send, by the hash of their contents."""

    paths: dict[str, Path] = field(default_factory=dict)


_SHIPMENT: contextvars.ContextVar[Shipment | None] = contextvars.ContextVar("shipment", default=None)


@contextlib.contextmanager
def shipping(ship: bool) -> Iterator[Shipment]:
    """Recipes made inside the block name copies of their files, which the shipment holds, if ``ship``."""
    shipment = Shipment()
    token = _SHIPMENT.set(shipment if ship else None)
    try:
        yield shipment
    finally:
        _SHIPMENT.reset(token)


class _Sent:
    """A path on its way: another machine finds its own file of that name, or the copy."""

    def __init__(self, path: str | Path) -> None:
        shipment = _SHIPMENT.get()
        place = Path(os.path.abspath(path))
        self._kind: type = str if isinstance(path, str) else Path
        self._path = str(place)
        self._digest = None if shipment is None else digest(place)
        self._mark = None if shipment is not None else _mark(place)
        if shipment is not None and self._digest is not None:
            shipment.paths[self._digest] = place

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self._kind, self._path, self._digest, self._mark)


def _arrived(kind: type, path: str, sent: str | None, mark: str | None) -> str | Path:
    if sent is not None:
        path = str(shipped_place(sent) / os.path.basename(path))
    elif not os.path.exists(path):
        raise SmtError(f"{path}: missing on this worker: share its folder, or send files (`ship=true` of the runner)")
    elif _mark(Path(path)) != mark:
        raise SmtError(f"{path}: this worker has another file of that name: copy it, or send files (`ship=true`)")
    found: str | Path = kind(path)
    return found


def shipped_place(sent: str) -> Path:
    """The folder on this machine in which a file or folder with this hash is kept."""
    return default_folder() / "shipped" / sent


def files_of(path: Path) -> Iterator[tuple[str, Path]]:
    """A file, or the files of a folder, with their names from its parent."""
    if not path.is_dir():
        yield path.name, path
        return
    for one in sorted(path.rglob("*")):
        if one.is_file():
            yield f"{path.name}/{one.relative_to(path).as_posix()}", one


def digest(path: Path) -> str:
    """The hash of the names and contents of a file or folder."""
    whole = hashlib.sha256()
    for name, file in files_of(path):
        whole.update(f"{name}\0{file.stat().st_size}\0".encode("utf-8", "surrogateescape"))
        with file.open("rb") as stream:
            while part := stream.read(_PART):
                whole.update(part)
    return whole.hexdigest()[:32]


def _mark(path: Path) -> str:
    """What tells files apart at little cost: names, sizes, and how they begin and end."""
    whole = hashlib.sha256()
    for name, file in files_of(path):
        size = file.stat().st_size
        whole.update(f"{name}\0{size}\0".encode("utf-8", "surrogateescape"))
        with file.open("rb") as stream:
            whole.update(stream.read(_END))
            if size > _END:
                stream.seek(max(size - _END, _END))
                whole.update(stream.read(_END))
    return whole.hexdigest()


def sent_spec(spec: Spec) -> Spec:
    """A spec whose options that are files travel."""
    return Spec(spec.name, {name: _sent_option(name, value) for name, value in spec.options.items()})


def _sent_option(name: str, value: Any) -> Any:
    named = name == "path" or name.endswith("_path") or (isinstance(value, str) and os.sep in value)
    return _Sent(value) if named and isinstance(value, (str, Path)) and os.path.exists(value) else value


def sent_config(config: RunConfig) -> RunConfig:
    """A configuration whose files travel: those of its model, its decoder and its prepared text."""

    def sent(path: Path | None) -> Any:
        return path if path is None or not path.exists() else _Sent(path)

    model = config.model
    passes = tuple(
        replace(one, weights=sent(one.weights), features=tuple(map(sent_spec, one.features))) for one in model.passes
    )
    model = replace(
        model,
        tables=tuple(replace(table, path=sent(table.path)) for table in model.tables),
        features=tuple(map(sent_spec, model.features)),
        weights=sent(model.weights),
        passes=passes,
    )
    decoder = None if config.decoder is None else sent_spec(config.decoder)
    text = None if config.text is None else replace(config.text, path=sent(config.text.path))
    return config.with_parts(model=model, decoder=decoder, text=text)
