"""The texts of n-best lists, one hypothesis per line, for external scorers (write only)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from smtformats.candidates import Candidates
from smtformats.errors import quote
from smtformats.format import Format, Number
from smtformats.tokens import BadField
from smtformats.writing import write_each

NAME = "text-nbest"


def write(lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
    """Write the text of each hypothesis; returns the number of lists."""
    return write_each(lists, out, _spell)


def _spell(nbest: Candidates) -> str | None:
    for text in nbest.texts:
        if "\n" in text:
            raise BadField("a text without a line break (--to tsv or jsonl keeps it)", quote(text))
    return "".join(f"{text}\n" for text in nbest.texts) or None


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="texts only, one hypothesis per line (write only)",
    write=write,
    ordered=True,
    suffixes=(".txt",),
)
