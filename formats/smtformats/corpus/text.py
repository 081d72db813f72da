r"""Plain text: a sentence on each line, UTF-8, split on ``\n`` only."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.corpus.segments import Segment
from smtformats.errors import FormatError
from smtformats.files import BOM, Lines, head, open_bytes, shown_name
from smtformats.format import Format, Number, formats_of, refuse_table

NAME = "text"
_OTHERS = ("nist-sgm", "tsv-corpus", "tsv-sentences")


@contextlib.contextmanager
def open_text(path: str | os.PathLike[str]) -> Iterator[io.BufferedReader]:
    """Open a file with a sentence on each line, behind a byte order mark; JSON, tables and documents are errors."""
    from smtformats.json_shapes import refuse_json

    with open_bytes(path) as stream:
        start, name = head(stream, shown_name(path)), shown_name(path)
        if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[", b'"', b"d", b"#", b"/"):
            refuse_json(start, name)
        refuse_table(start, name)
        _refuse_corpora(start, name)
        if start.startswith(BOM.encode()):
            stream.read(len(BOM.encode()))
        yield stream


def _refuse_corpora(start: bytes, name: str) -> None:
    """Raise a ``FormatError`` for documents and columns; tags, ``|||`` and the tab of a lone line may be text."""
    if b"\n" not in start.rstrip():
        return
    for record in formats_of("corpus"):
        if record.name in _OTHERS and record.matches(start):
            found = f"{record.name} (smt convert --to text writes the sources)"
            raise FormatError("plain text, a sentence on each line", found, file=name, line=1)


@contextlib.contextmanager
def open_sentences(path: str | os.PathLike[str]) -> Iterator[Lines]:
    """Open a file with a sentence on each line, as :func:`open_text` does, for its lines."""
    with open_text(path) as stream:
        yield Lines(stream, shown_name(path))


def parse(lines: Lines) -> Iterator[str]:
    r"""Parse one sentence at a time, without its line end (``\n`` or ``\r\n``); a byte order mark is no part of it."""
    for line in lines:
        sentence = line.removesuffix("\n").removesuffix("\r")
        yield sentence.removeprefix(BOM) if lines.number == 1 else sentence


def write(records: Iterable[str | Segment], out: TextIO, number: Number) -> int:
    """Write the sentences, of segments the source only; returns their count."""
    count = 0
    for sentence in records:
        out.write((sentence if isinstance(sentence, str) else sentence.source) + "\n")
        count += 1
    return count


def matches(head: bytes) -> bool:
    """Match text without NUL bytes and tags, unless most lines have fields: a malformed list is not plain text."""
    lines = [line for line in head.split(b"\n")[:50] if line.strip()]
    if b"\x00" in head or (lines and lines[0].startswith(b"<seg")):
        return False
    return 2 * sum(b" |||" in line for line in lines) < max(1, len(lines))


FORMAT = Format(
    name=NAME,
    kind="corpus",
    summary="plain text, a sentence on each line",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".txt",),
    fallback=2,
    example="das haus ist klein .\n",
)
