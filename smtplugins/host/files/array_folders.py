"""Folders of .npy arrays: written piece by piece, renamed into place when complete, memory-mapped for reading."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.runs import prepared_folder

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    from smtformats import Format

    Array = NDArray[Any]


class Growing:
    """A one-dimensional .npy file that values are appended to."""

    def __init__(self, path: Path, dtype: str) -> None:
        import numpy as np

        self.size = 0
        self._dtype = np.dtype(dtype)
        self._stream: IO[bytes] = path.open("wb")
        self._head()

    def _head(self) -> None:
        # numpy pads the header, so a longer number fits when it is rewritten.
        import numpy as np

        self._stream.seek(0)
        head = {"descr": self._dtype.str, "fortran_order": False, "shape": (self.size,)}
        np.lib.format.write_array_header_1_0(self._stream, head)

    def append(self, values: Array) -> None:
        """Append values."""
        self._stream.write(values.astype(self._dtype, copy=False).tobytes())
        self.size += len(values)

    def close(self) -> None:
        """Write the final size into the header and close the file."""
        self._stream.seek(0, os.SEEK_END)
        self._head()
        self._stream.close()


def write_object(record: Format, item: Any, target: str | os.PathLike[str]) -> int:
    """Write a folder that holds one object; it replaces one of the same format when it is complete."""
    from smtformats.format import shortest
    from smtformats.tokens import BadField

    assert record.write is not None
    if os.fspath(target) == "-":
        raise UsageError(f"{record.name} is a folder: name it, standard output cannot hold one")
    try:
        with new_folder(Path(target), f"{record.name}.json", force=True) as aside:
            return record.write(item, aside, shortest)
    except BadField as bad:
        raise UsageError(f"{os.fspath(target)}: expected {bad.expected}, found {bad.found}") from None


def read_array(folder: Path, name: str, kind: str) -> Array:
    """Map an array of a folder into memory; ``kind`` lists the numpy dtype kinds it may have."""
    import numpy as np

    try:
        array: Array = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise SmtError(f"{folder}: expected {name}.npy, found none") from None
    except (ValueError, EOFError) as error:
        raise SmtError(f"{folder / name}.npy: expected a numpy array, found {error}") from None
    if array.dtype.kind not in kind:
        raise SmtError(f"{folder / name}.npy: expected numbers of kind {kind}, found {array.dtype}")
    return array


def write_arrays(folder: Path, arrays: Mapping[str, Array]) -> None:
    """Write each array to NAME.npy."""
    import numpy as np

    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values, allow_pickle=False)


def read_record(folder: Path, name: str, what: str, version: int) -> dict[str, Any]:
    """Read the JSON file that describes a folder and check its version."""
    path = folder / name
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise SmtError(f"{folder}: expected a folder of {what}, found no {name} in it") from None
    except ValueError as error:
        raise SmtError(f"{path}: expected JSON, found {error}") from None
    if not isinstance(record, dict) or record.get("version") != version:
        version_found = record.get("version") if isinstance(record, dict) else record
        raise SmtError(f"{path}: expected version {version} of {what}, found {version_found!r}")
    return record


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that writes such a folder."""
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder to write")
    parser.add_argument("--force", action="store_true", help="replace a folder written by this command")


def check_folder(path: Path, name: str, *, force: bool = False) -> None:
    """Raise UsageError if the output folder is not empty; ``force`` accepts one that contains the file ``name``."""
    path = Path(path)
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not (path / name).is_file():
        raise UsageError(f"{path}: expected a folder that is new, empty or contains {name}, found another")
    if not force:
        raise UsageError(
            f"{path}: expected a new or empty folder, found one with {name}, which models may be using; "
            "--force replaces it"
        )


@contextmanager
def new_folder(path: Path, name: str, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary folder and rename it to ``path`` on success.

    ``force`` replaces an existing folder that contains the file ``name``.
    """
    path = Path(path)
    if path.is_symlink():
        # The folder is replaced, not the link.
        path = Path(os.path.realpath(path))
    check_folder(path, name, force=force)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    with prepared_folder(path.parent):
        aside.mkdir()
        try:
            yield aside
            check_folder(path, name, force=force)
            if path.exists():
                shutil.rmtree(path)
            aside.replace(path)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
