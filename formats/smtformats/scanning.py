"""What feeds the native scanners; a line that these leave alone goes to the parser of its format."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

from smtformats.errors import FormatError
from smtformats.files import Lines


class Scanner(Protocol):
    """A scanner that goes on behind a line that it could not read."""

    def feed(self, data: bytes) -> bool:
        """The next piece of the file; false at a line that cannot be read."""

    def resume(self) -> bool:
        """Goes on behind it."""

    def finish(self) -> bool:
        """The end of the file."""

    def columns(self) -> dict[str, Any]:
        """What was read."""

    @property
    def fault(self) -> bytes:
        """The line that could not be read."""

    @property
    def lines(self) -> int:
        """How many lines were read, that one, too."""


def scanned(
    scanner: Scanner, stream: BinaryIO, name: str, read: Callable[[Lines], None], max_bytes: int
) -> dict[str, Any]:
    """The columns of a file, which may be compressed still.

    ``read`` gets a line that the scanner could not read, and either adds what it holds or raises what is wrong with it.
    """
    from smtformats.pieces import pieces

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
