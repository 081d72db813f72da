"""N-gram language models from ARPA files and from KenLM's binary files of all kinds."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from smtformats.errors import FormatError
from smtformats.files import open_binary_write, open_bytes, shown_name
from smtformats.records import dataclass
from smtplugins.core._core import ArpaReader, load_binary

if TYPE_CHECKING:
    from smtplugins.core._core import LanguageModel

_KENLM_MAGIC = b"mmap lm http://kheafield.com/code"
_PIECE_BYTES = 1 << 20


@dataclass(eq=False)
class ArpaError(ValueError):
    """An error in an ARPA file. `read_lm` adds the file name and raises it as a FormatError."""

    line: int
    expected: str
    found: str

    def __str__(self) -> str:
        return f"line {self.line}: expected {self.expected}, found {self.found}"


@dataclass(eq=False)
class KenlmFileError(ValueError):
    """An error in a KenLM binary file. `read_lm` adds the file name and raises it as a FormatError."""

    expected: str
    found: str

    def __str__(self) -> str:
        return f"expected {self.expected}, found {self.found}"


def read_lm(path: str | os.PathLike[str], *, copy: bool = False) -> LanguageModel:
    """Read an ARPA file (compressed or not, ``-`` is standard input) or a KenLM binary file of any kind.

    A binary file is memory-mapped: it loads at once, and processes share its pages. `copy` reads it into private
    memory instead, in huge pages where the system has them. Scores are log10; only spaces and tabs separate words.
    """
    name = shown_name(path)
    if os.fspath(path) != "-" and os.path.isfile(path):
        with open(path, "rb") as file:
            binary = file.read(len(_KENLM_MAGIC)) == _KENLM_MAGIC
        if binary:
            try:
                return load_binary(os.fspath(path), copy)
            except KenlmFileError as error:
                raise FormatError(error.expected, error.found, file=name) from None
    return _read_arpa(path, name)


def write_lm(model: LanguageModel, path: str | os.PathLike[str]) -> None:
    """Write a KenLM probing file, which KenLM loads, too; a model that came from a KenLM file is written as it was.

    An existing file is replaced once all is written.
    """
    # Follow links; a device or a pipe cannot be replaced by renaming.
    name = os.path.realpath(path)
    if os.path.exists(name) and not os.path.isfile(name):
        raise OSError(errno.EINVAL, "a language model can only be written to a regular file", os.fspath(path))
    folder, base = os.path.split(name)
    part = os.path.join(folder, f".{base}.{os.getpid()}.part")
    try:
        model.write_binary(part)
        os.replace(part, name)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def load_arpa(pieces: Iterable[bytes], write: Callable[[bytes], object] = lambda piece: None) -> LanguageModel:
    """The model of an ARPA file in pieces, which are also passed on to ``write``."""
    reader = ArpaReader()
    for piece in pieces:
        write(piece)
        reader.feed(piece)
    return reader.finish()


def write_arpa(
    pieces: Iterable[bytes],
    arpa: str | os.PathLike[str] | None,
    binary: str | os.PathLike[str] | None = None,
    *,
    load: bool = False,
) -> LanguageModel | None:
    """Write an ARPA file in pieces, a KenLM probing file of it, or both, which appear together.

    Only for the probing file, or if it is to be returned (`load`), the model is in memory.
    """
    with contextlib.ExitStack() as stack:
        write = (lambda piece: None) if arpa is None else stack.enter_context(open_binary_write(arpa)).write
        if binary is not None or load:
            model = load_arpa(pieces, write)
            if binary is not None:
                write_lm(model, binary)
            return model
        if arpa is not None:
            for piece in pieces:
                write(piece)
    return None


def lm_format(path: str | os.PathLike[str]) -> str | None:
    """Return `arpa` or `kenlm` if a file begins like one, else None."""
    with open(path, "rb") as file:
        if file.read(len(_KENLM_MAGIC)) == _KENLM_MAGIC:
            return "kenlm"
    try:
        with open_bytes(path) as stream:
            start = stream.read(_PIECE_BYTES)
    except (OSError, EOFError, FormatError):
        return None
    return "arpa" if start.lstrip().partition(b"\n")[0].strip() == b"\\data\\" else None


def check_lm(path: str | os.PathLike[str]) -> None:
    """Check that a file begins like a language model: an early error for runs that load it hours later."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        # Pipes can be read only once: the reader will check them.
        return
    reader = ArpaReader()
    with open_bytes(path) as stream, _arpa_errors(shown_name(path)):
        piece = stream.read(_PIECE_BYTES)
        if not piece.startswith(_KENLM_MAGIC):
            reader.feed(piece)
            if len(piece) < _PIECE_BYTES:
                reader.finish()


def _read_arpa(path: str | os.PathLike[str], name: str) -> LanguageModel:
    reader = ArpaReader()
    with open_bytes(path) as stream, _arpa_errors(name):
        piece = stream.read(_PIECE_BYTES)
        if piece.startswith(_KENLM_MAGIC):
            raise FormatError("a KenLM file that can be mapped", "a compressed file or a stream", file=name)
        while piece:
            reader.feed(piece)
            piece = stream.read(_PIECE_BYTES)
        return reader.finish()


@contextlib.contextmanager
def _arpa_errors(name: str) -> Iterator[None]:
    """Raise errors of reading an ARPA file as FormatErrors with its name."""
    try:
        yield
    except ArpaError as error:
        raise FormatError(error.expected, error.found, file=name, line=error.line) from None
    except (OSError, EOFError) as error:
        raise FormatError("a complete compressed file", str(error), file=name) from error
