"""Open files: compression, standard streams, line limits, atomic output (written aside, then renamed)."""

from __future__ import annotations

import contextlib
import errno
import io
import mmap
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, TypeVar

from smtformats.errors import FormatError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtformats.tokens import BadField

BOM = "\ufeff"
"""The byte order mark, with which some programs begin a file."""
HEAD_BYTES = 1 << 16
MAX_LINE_BYTES = 1 << 24
MAX_UNPACKED_BYTES = 1 << 36
_BUFFER = 1 << 18
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
_DESCRIPTOR = re.compile(r"/dev/(?:(stdout|stderr)|fd/(\d+))|/proc/self/fd/(\d+)", re.ASCII)
_Stream = TypeVar("_Stream", bound=io.IOBase)
_OF_SENTENCES = re.compile(r"(?<=.)\.(?:bin|bz2|fst|gz|json|lat|lattice|nbest|plf|score|slf|txt|xz|zst|Z)$")
COMPRESSIONS = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".zst": "zst"}


class _Filled(io.RawIOBase):
    """A stream that fills the whole buffer on each read, so that the head of a pipe is enough to detect its format."""

    def __init__(self, stream: io.RawIOBase | BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        filled = 0
        while filled < len(view):
            data = self._stream.read(len(view) - filled)
            if not data:
                break
            view[filled : filled + len(data)] = data
            filled += len(data)
        return filled

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class _Unpacked(_Filled):
    """A decompressed stream. It closes the compressed stream too and reports all corruption as ``EOFError``."""

    def __init__(self, packed: io.BufferedReader, kind: str, most: int) -> None:
        self._packed = packed
        self._left = self._most = most
        super().__init__(_unpacking(packed, kind))

    def readinto(self, buffer: Any) -> int:
        try:
            count = super().readinto(buffer)
        except Exception as error:
            # zlib, lzma and zstd each raise their own exception for corrupt data.
            raise EOFError(str(error)) from error
        self._left -= count
        if self._left < 0:
            raise EOFError(f"more than {self._most} bytes, decompressed (the option max_size sets the limit)")
        return count

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._packed.close()


def _unpacking(packed: io.BufferedReader, kind: str) -> BinaryIO:
    """The decompressed bytes; gzip by what ``xopen`` would take, whose import costs as much as a small command."""
    if kind == "gz":
        with contextlib.suppress(ImportError):
            from isal.igzip import IGzipFile

            unpacked: BinaryIO = IGzipFile(fileobj=packed, mode="rb")  # type: ignore[assignment, no-untyped-call]
            return unpacked
    from xopen import xopen

    return xopen(packed, "rb", threads=0, format=kind)


def open_bytes(
    path: str | os.PathLike[str], *, max_size: int = MAX_UNPACKED_BYTES, filled: bool = True
) -> io.BufferedReader:
    """Open a file (``-`` is standard input) for reading; compression is detected from the content, not the name.

    A pipe is read until the buffer is full, so that its format can be detected. With ``filled`` false it is not: for
    callers that answer each line before the next one arrives.
    """
    name = os.fspath(path)
    if name == "-":
        if sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed", "standard input")
        file = io.FileIO(sys.stdin.fileno(), closefd=False)
    else:
        file = io.FileIO(name)
    # Reads from a regular file are always full.
    regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    raw: io.BufferedReader = io.BufferedReader(file if regular or not filled else _Filled(file), _BUFFER)
    start = raw.peek(6)[:6]
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return io.BufferedReader(_Unpacked(raw, kind, max_size), _BUFFER)
    return raw


def mapped(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    """The bytes of a file, paged in on use; the file must not become shorter while they are in use."""
    import numpy as np

    with open(path, "rb") as file:
        # An empty file cannot be mapped.
        if os.fstat(file.fileno()).st_size == 0:
            return np.empty(0, dtype=np.uint8)
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)


def head(stream: io.BufferedReader, name: str = "") -> bytes:
    """The first bytes of a stream, for format detection; they are not consumed."""
    try:
        return stream.peek(HEAD_BYTES)[:HEAD_BYTES]
    except EOFError as error:
        raise FormatError("a complete compressed file", str(error), file=name, line=1, field=1) from error


class Lines:
    r"""The lines of an opened stream, each with its ``\n``; keeps the file name and the current line number.

    Text is UTF-8 and split on ``\n`` only: U+2028, U+0085 and ``\r`` stay inside a line.
    """

    def __init__(self, stream: BinaryIO | io.BufferedReader, name: str, *, max_bytes: int = MAX_LINE_BYTES) -> None:
        self.stream = stream
        self.name = name
        self.number = 0
        self.max_bytes = max_bytes

    def __iter__(self) -> Iterator[str]:
        readline = self.stream.readline
        limit = self.max_bytes
        while True:
            try:
                data = readline(limit + 1)
            except EOFError as error:
                line = self.number + 1
                raise self.error("a complete compressed file", str(error), 1, line) from error
            if not data:
                return
            self.number += 1
            if len(data) > limit:
                raise self.error(f"a line of at most {limit} bytes", "a longer one", 1)
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                byte, field = data[error.start], data.count(b" |||", 0, error.start) + 1
                raise self.error("UTF-8 text", f"byte 0x{byte:02x} at column {error.start + 1}", field) from error
            yield text

    def read(self, size: int) -> bytes:
        """Read exactly ``size`` bytes of a binary part; its line breaks count as lines."""
        try:
            data = self.stream.read(size)
        except EOFError as error:
            raise self.error("a complete compressed file", str(error), 1, self.number + 1) from error
        self.number += data.count(b"\n")
        if len(data) < size:
            raise self.error(f"{size} more bytes", f"{len(data)} at the end of the file", 1)
        return data

    def locate(self, bad: BadField, field: int | None = None, line: int | None = None) -> FormatError:
        """The error for a bad field of the current line; ``field`` is its number unless the exception has one."""
        return self.error(bad.expected, bad.found, bad.field or field, line)

    def next(self, stream: Iterator[str], expected: str) -> str:
        """Take the next line from an iterator over these lines; the end of the file is an error."""
        line = next(stream, None)
        if line is None:
            raise self.error(expected, "the end of the file", 1)
        return line

    def error(self, expected: str, found: str, field: int | None = None, line: int | None = None) -> FormatError:
        """An error at the current line (or at another line of this file)."""
        return FormatError(expected, found, file=self.name, line=line or max(self.number, 1), field=field)


def stem_of(name: str) -> str:
    """The name of a file of one sentence without folder and suffixes, the sentence's id: ``utt0.slf.gz`` is utt0."""
    base = os.path.basename(name)
    while (shorter := _OF_SENTENCES.sub("", base)) != base:
        base = shorter
    return base


def shown_name(path: str | os.PathLike[str]) -> str:
    """The name of a path in messages."""
    name = os.fspath(path)
    return "<stdin>" if name == "-" else name


@contextlib.contextmanager
def open_lines(path: str | os.PathLike[str]) -> Iterator[Lines]:
    """Open a text file for reading line by line."""
    with open_bytes(path) as stream:
        yield Lines(stream, shown_name(path))


@contextlib.contextmanager
def open_write(path: str | os.PathLike[str]) -> Iterator[io.TextIOWrapper]:
    """Open a file (``-`` is standard output) for writing text; the suffix selects the compression.

    The text is written to a temporary file, which is renamed when the block ends without an error. If the block fails,
    an existing file stays unchanged and no new one appears.
    """
    if os.fspath(path) == "-":
        with _standard_output() as stream, _closed(io.TextIOWrapper(stream, encoding="utf-8", newline="")) as out:
            yield out
        return
    with open_binary_write(path) as binary:
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


class _Reserved:
    """Move standard output to a private descriptor and point descriptor 1 and ``sys.stdout`` at standard error."""

    def __init__(self, printed: TextIO) -> None:
        self._printed = printed
        self._before = os.dup(1)
        own = os.dup(printed.fileno())
        self.stream = open(own, "w", encoding=printed.encoding, errors=printed.errors)  # noqa: SIM115
        other = sys.stderr.fileno() if sys.stderr is not None else os.open(os.devnull, os.O_WRONLY)
        os.dup2(other, 1)
        sys.stdout = sys.stderr

    def release(self) -> None:
        self._printed.flush()
        os.dup2(self._before, 1)
        os.close(self._before)
        sys.stdout = self._printed
        self.stream.close()


_reserved: _Reserved | None = None


def reserve_output() -> None:
    """Reserve standard output for :func:`standard_output` and for files named ``-`` or ``/dev/stdout``.

    From now on, output of anything else (plugins, native code, child processes) goes to standard error.
    """
    global _reserved
    if _reserved is None and sys.stdout is not None:
        sys.stdout.flush()
        _reserved = _Reserved(sys.stdout)


def release_output() -> None:
    """Undo :func:`reserve_output`."""
    global _reserved
    if _reserved is not None:
        reserved, _reserved = _reserved, None
        reserved.release()


def standard_output() -> TextIO:
    """Standard output, reserved or not."""
    if _reserved is not None:
        return _reserved.stream
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed", "standard output")
    return sys.stdout


@contextlib.contextmanager
def _closed(stream: _Stream) -> Iterator[_Stream]:
    """Close a stream now, after an error too: a broken pipe would raise again when its buffer is garbage-collected."""
    try:
        yield stream
    except BaseException:
        with contextlib.suppress(BrokenPipeError):
            stream.close()
        raise
    stream.close()


def _standard_output() -> contextlib.AbstractContextManager[io.BufferedWriter[Any]]:
    return _closed(io.BufferedWriter(io.FileIO(standard_output().fileno(), "w", closefd=False), _BUFFER))


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def open_binary_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing bytes, as :func:`open_write` does for text."""
    name = os.fspath(path)
    if name == "-":
        with _standard_output() as out:
            yield out
        return
    descriptor = _DESCRIPTOR.fullmatch(name)
    if descriptor is not None:
        # Already open, perhaps for appending: opening it again by name would truncate the file.
        number = {"stdout": 1, "stderr": 2}.get(descriptor[1] or "") or int(descriptor[2] or descriptor[3])
        if number == 1 and _reserved is not None:
            number = _reserved.stream.fileno()
        with os.fdopen(os.dup(number), "wb") as stream:
            yield stream
        return
    if name.endswith(os.sep):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    # Follow links: renaming onto a link would replace the link itself.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        # Renaming cannot replace a device or a named pipe.
        with open(target, "wb") as stream:
            yield stream
        return
    # Choose the name before creating the file, so that an interrupt in between leaves no file behind.
    aside = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
    try:
        try:
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            error.filename = os.fspath(path)
            raise
        with contextlib.ExitStack() as stack:
            raw = stack.enter_context(os.fdopen(handle, "wb"))
            kind = COMPRESSIONS.get(Path(path).suffix)
            if kind is None:
                yield raw
            else:
                from xopen import xopen

                yield stack.enter_context(xopen(raw, "wb", threads=0, format=kind))
        os.chmod(aside, _mode_of(target))
        os.replace(aside, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in _FULL:
            # Another of several files may be the one that was written to.
            error.filename = str(target.parent)
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def _mode_of(target: Path) -> int:
    """The permissions that a plain ``open`` would give a new file or keep for an existing one."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
