"""Decompress a file in pieces with few copies, and present pieces as a stream."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

PIECE_BYTES = 1 << 19
_PACKED_BYTES = 1 << 18
_BUFFER = 1 << 17
_GZIP = b"\x1f\x8b"


def pieces(stream: BinaryIO) -> Iterator[bytes]:
    """The decompressed bytes of a stream, from its beginning. Corrupt data raises ``EOFError``."""
    data = stream.read(_PACKED_BYTES)
    if data.startswith(_GZIP):
        yield from _gunzip(stream, data)
        return
    while data:
        yield data
        data = stream.read(PIECE_BYTES)


def _gunzip(stream: BinaryIO, data: bytes) -> Iterator[bytes]:
    """Decompress all members of a gzip file; isal checks their length and checksum."""
    from isal import isal_zlib

    while data:
        if not data.startswith(_GZIP[: len(data)]):
            if data.strip(b"\0"):
                raise EOFError("text after the end of the compressed data")
            data = stream.read(_PACKED_BYTES)
            continue
        member = isal_zlib.decompressobj(wbits=31)
        while not member.eof:
            if not data:
                raise EOFError("the compressed data ends too early")
            try:
                piece = member.decompress(data, PIECE_BYTES)
            except Exception as error:  # isal.error, which isal's stub does not declare as an exception
                raise EOFError(str(error)) from error
            data = member.unconsumed_tail or (b"" if member.eof else stream.read(_PACKED_BYTES))
            if piece:
                yield piece
        data = member.unused_data or stream.read(_PACKED_BYTES)


def stream_of(pieces: Iterator[bytes]) -> io.BufferedReader:
    """A buffered stream over pieces, for readers of lines."""
    return io.BufferedReader(_Joined(pieces), _BUFFER)


class _Joined(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count
