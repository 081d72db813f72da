"""Feed files to the native scanners; lines that a scanner cannot read go to the Python parser of the format."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

from smtformats.errors import FormatError
from smtformats.files import Lines
from smtformats.pieces import pieces


class Scanner(Protocol):
    """A native scanner that can resume after a line that it could not read."""

    def feed(self, data: bytes) -> bool:
        """Scan the next piece of the file; returns false at a line that cannot be read."""

    def resume(self) -> bool:
        """Resume after the unreadable line; returns false at the next one."""

    def finish(self) -> bool:
        """Scan what is left at the end of the file; returns false at a line that cannot be read."""

    def columns(self) -> dict[str, Any]:
        """The columns read so far."""

    @property
    def fault(self) -> bytes:
        """The line that could not be read."""

    @property
    def lines(self) -> int:
        """The number of lines read, the unreadable line included."""


def scanned(
    scanner: Scanner, stream: BinaryIO, name: str, read: Callable[[Lines], None], max_bytes: int
) -> dict[str, Any]:
    """Scan a file, which may be compressed, and return its columns.

    ``read`` gets each line that the scanner could not read; it adds the record itself or raises the error.
    """

    def settle(sound: bool) -> None:
        while not sound:
            lines = Lines(io.BytesIO(scanner.fault), name, max_bytes=max_bytes)
            lines.number = scanner.lines - 1
            read(lines)
            sound = scanner.resume()

    try:
        for piece in pieces(stream):
            if not scanner.feed(piece):
                settle(False)
        settle(scanner.finish())
    except EOFError as error:
        line = scanner.lines + 1
        raise FormatError("a complete compressed file", str(error), file=name, line=line, field=1) from error
    return scanner.columns()
