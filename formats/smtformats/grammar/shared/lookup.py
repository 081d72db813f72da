"""Phrase tables that are looked up by source phrase: what a format's ``lookup`` returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from smtformats.columns import GrammarColumns
from smtformats.files import open_lines
from smtformats.tokens import blanks


class PhraseLookup(Protocol):
    """A phrase table that knows its source phrases by fingerprints only: it can be asked for them, but not listed."""

    @property
    def longest(self) -> int:
        """The number of words of the longest source phrase."""

    def columns(self, phrases: Sequence[str]) -> GrammarColumns:
        """Return the rules of source phrases, given as words separated by single blanks.

        Phrases that the table does not have are left out. The result has the names of the table's features even if it
        is empty. Raises FormatError for a damaged file.
        """

    def facts(self) -> dict[str, Any]:
        """Describe the table."""


def listed_phrases(path: str) -> Iterator[str]:
    """The distinct phrases of a file with one on each line, its first field: a phrase table will do."""
    seen = set()
    with open_lines(path) as lines:
        for line in lines:
            phrase = " ".join(blanks(line.split("|||", 1)[0].rstrip("\r\n")))
            if phrase and phrase not in seen:
                seen.add(phrase)
                yield phrase
