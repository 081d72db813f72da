"""Files of a recipe: a worker that has them checks that they are the same, others are sent copies by their hash."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import hashlib
import os
from collections.abc import Iterator, Sequence
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


Files = Sequence[tuple[str, Path]]
"""A file, or those of a folder, with their names from its parent."""


@dataclass
class Shipment:
    """Files and folders to send, by the hash of their contents."""

    contents: dict[str, Files] = field(default_factory=dict)


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

    def __init__(self, path: str | Path, used: Sequence[Path] | None = None) -> None:
        shipment, place = _SHIPMENT.get(), Path(os.path.abspath(path))
        self._kind: type = str if isinstance(path, str) else Path
        self._path = str(place)
        files = _files(place) if used is None else [(f"{place.name}/{one.name}", one) for one in used]
        self._digest, self._mark = None, ""
        if shipment is None:
            self._mark = _mark(files)
        else:
            self._digest = digest(files)
            shipment.contents[self._digest] = files
        self._used = None if used is None else tuple(one.name for one in used)
        # Not compared, as copies have times of their own; but a recipe with changed files is another one.
        self._changed = max((file.stat().st_mtime_ns for _, file in files), default=0)

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self._kind, self._path, self._digest, self._mark, self._used, self._changed)


def _arrived(
    kind: type, path: str, sent: str | None, mark: str, used: tuple[str, ...] | None, changed: int
) -> str | Path:
    place = Path(path)
    if sent is not None:
        place = shipped_place(sent) / place.name
    else:
        missing = next((one for one in (place, *(place / name for name in used or ())) if not one.exists()), None)
        if missing is not None:
            raise SmtError(
                f"{missing}: missing: share its folder with workers, or send files (ship=true of the runner)"
            )
        if _mark(_files(place) if used is None else [(f"{place.name}/{name}", place / name) for name in used]) != mark:
            raise SmtError(
                f"{path}: expected what the client has, found other contents: copy it, or send files (ship=true)"
            )
    found: str | Path = kind(place)
    return found


def shipped_place(sent: str) -> Path:
    """The folder on this machine in which a file or folder with this hash is kept."""
    return default_folder() / "shipped" / sent


def _files(path: Path) -> Files:
    if not path.is_dir():
        return [(path.name, path)]
    inside = (one for one in sorted(path.rglob("*")) if one.is_file())
    return [(f"{path.name}/{one.relative_to(path).as_posix()}", one) for one in inside]


def digest(files: Files) -> str:
    """The hash of the names and contents of files."""
    whole = hashlib.sha256()
    for name, file in files:
        about = file.stat()
        whole.update(f"{name}\0{about.st_size}\0".encode("utf-8", "surrogateescape"))
        whole.update(_contents(file, about.st_size, about.st_mtime_ns))
    return whole.hexdigest()[:32]


@functools.lru_cache(maxsize=1024)
def _contents(file: Path, size: int, changed: int) -> bytes:
    """The hash of a file, computed once while its size and time are the same."""
    whole = hashlib.sha256()
    with file.open("rb") as stream:
        while part := stream.read(_PART):
            whole.update(part)
    return whole.digest()


def _mark(files: Files) -> str:
    """What tells files apart at little cost: names, sizes, and how they begin and end."""
    whole = hashlib.sha256()
    for name, file in files:
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
    text = config.text
    if text is not None:
        prepared: Any = _Sent(text.path, text.paths)
        text = replace(text, path=prepared)
    return config.with_parts(model=model, decoder=decoder, text=text)
