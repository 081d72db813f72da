"""Phrase tables that are looked up by source phrase: what a format's ``lookup`` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from smtformats.columns import GrammarColumns, string_table
from smtformats.errors import FormatError
from smtformats.files import open_lines
from smtformats.tokens import blanks


class NotListed(FormatError):
    """The entries of a table that knows its phrases by fingerprints or hashes only cannot be listed."""


class PhraseLookup(Protocol):
    """A phrase table that is asked for source phrases, which it may know by fingerprints or hashes only."""

    @property
    def longest(self) -> int:
        """The number of words of the longest source phrase."""

    def columns(self, phrases: Sequence[str]) -> GrammarColumns:
        """Return the rules of source phrases, given as words separated by single blanks.

        Phrases that the table does not have are left out. The result has the names of the table's features even if it
        is empty. Raises FormatError for a damaged file.
        """

    def sources(self) -> Sequence[str] | None:
        """Return all source phrases, ``None`` if they cannot be listed."""

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


def columns_of(found: Mapping[str, Any], names: Sequence[str]) -> GrammarColumns:
    """Rules that a native table found, with the left-hand side X; each has the features ``names``."""
    import numpy as np

    rules, width = len(found["source_offsets"]) - 1, len(names)
    labels, features = string_table(("X",)), string_table(names)
    return GrammarColumns.of(
        {
            **found,
            "lhs": np.zeros(rules, dtype=np.int32),
            "level": np.zeros(rules, dtype=np.uint8),
            "features": np.tile(np.arange(width, dtype=np.int32), rules),
            "feature_offsets": np.arange(rules + 1, dtype=np.int64) * width,
            "names": (features.blob, features.offsets),
            "labels": (labels.blob, labels.offsets),
        }
    )


def encodable(phrases: Sequence[str]) -> list[str]:
    """The phrases that can be in a file: a lone surrogate cannot."""
    try:
        "".join(phrases).encode()
    except UnicodeEncodeError:
        return [phrase for phrase in phrases if not any("\ud800" <= c <= "\udfff" for c in phrase)]
    return list(phrases)
