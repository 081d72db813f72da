"""The texts of n-best lists, one hypothesis per line, for external scorers (write only)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from smtformats.candidates import Candidates
from smtformats.errors import FormatError, quote
from smtformats.format import Format, Number

NAME = "text-nbest"


def write(lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
    """Write the text of each hypothesis; returns the number of lists."""
    count = 0
    for nbest in lists:
        for text in nbest.texts:
            if "\n" in text:
                expected = "a text without a line break (--to tsv or jsonl keeps it)"
                raise FormatError(expected, quote(text), file=nbest.file, line=nbest.line)
            out.write(text + "\n")
        count += 1
    return count


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="texts only, one hypothesis per line (write only)",
    write=write,
    ordered=True,
    suffixes=(".txt",),
)
