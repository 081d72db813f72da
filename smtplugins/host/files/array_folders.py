"""Folders of plain arrays: written piece by piece, complete or not there at all, mapped when they are read."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.runs import prepared_folder

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    Array = NDArray[Any]


class Growing:
    """A .npy file of one dimension that grows."""

    def __init__(self, path: Path, dtype: str) -> None:
        import numpy as np

        self.size = 0
        self._dtype = np.dtype(dtype)
        self._stream: IO[bytes] = path.open("wb")
        self._head()

    def _head(self) -> None:
        # numpy leaves room for a longer number in the header, so that it can be written again.
        import numpy as np

        self._stream.seek(0)
        head = {"descr": self._dtype.str, "fortran_order": False, "shape": (self.size,)}
        np.lib.format.write_array_header_1_0(self._stream, head)

    def append(self, values: Array) -> None:
        """More values behind those that are there."""
        self._stream.write(values.astype(self._dtype, copy=False).tobytes())
        self.size += len(values)

    def close(self) -> None:
        """Say in the header how many there are."""
        self._stream.seek(0, os.SEEK_END)
        self._head()
        self._stream.close()


def read_array(folder: Path, name: str, kind: str) -> Array:
    """An array of a folder, mapped; ``kind`` are the kinds of numbers it may have."""
    import numpy as np

    try:
        found: Array = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise SmtError(f"{folder}: expected {name}.npy, found none") from None
    except (ValueError, EOFError) as error:
        raise SmtError(f"{folder / name}.npy: expected an array of numpy, found {error}") from None
    if found.dtype.kind not in kind:
        raise SmtError(f"{folder / name}.npy: expected numbers of kind {kind}, found {found.dtype}")
    return found


def write_arrays(folder: Path, arrays: Mapping[str, Array]) -> None:
    """Each array in a file of its name."""
    import numpy as np

    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values, allow_pickle=False)


def read_record(folder: Path, name: str, what: str, version: int) -> dict[str, Any]:
    """The JSON that describes a folder."""
    path = folder / name
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise SmtError(f"{folder}: expected a folder of {what}, found no {name} in it") from None
    except ValueError as error:
        raise SmtError(f"{path}: expected JSON, found {error}") from None
    if not isinstance(record, dict) or record.get("version") != version:
        found = record.get("version") if isinstance(record, dict) else record
        raise SmtError(f"{path}: expected version {version} of {what}, found {found!r}")
    return record


def add_output(parser: argparse.ArgumentParser) -> None:
    """The options of a command that writes such a folder."""
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder to be written")
    parser.add_argument("--force", action="store_true", help="replace the folder of that name made by this command")


def check_folder(path: Path, name: str, *, force: bool = False) -> None:
    """Refuse a folder to be written that holds something: with ``force``, unless it has a file ``name``."""
    path = Path(path)
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not (path / name).is_file():
        raise UsageError(f"{path}: expected a folder that is new, empty or has {name}, found another")
    if not force:
        raise UsageError(
            f"{path}: expected a folder that is new or empty, found one with {name}, which models may be using; "
            "--force replaces it"
        )


@contextmanager
def new_folder(path: Path, name: str, *, force: bool = False) -> Iterator[Path]:
    """A folder that takes its name when it is complete; with ``force`` it replaces one that has a file ``name``."""
    path = Path(path)
    check_folder(path, name, force=force)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
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
