"""The texts of n-best lists alone, a hypothesis on each line (write only): what outside scorers want to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from smtformats.candidates import Candidates
from smtformats.errors import FormatError, quote
from smtformats.format import Format, Number

NAME = "text-nbest"


def write(lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
    """Write each hypothesis; returns the number of lists."""
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
    summary="the hypotheses alone, one on each line (write only)",
    write=write,
    ordered=True,
    suffixes=(".txt",),
)
