"""Moses' compact phrase tables, ``.minphr``: ``processPhraseTableMin`` writes, ``PhraseDictionaryCompact`` reads them.

A table has an index of fingerprints of its source phrases (by a perfect hash function, with the first of each 1,024
phrases in full), the target words, Huffman codes, and an entry of coded translations for each source phrase. All of
its encodings are read, None, REnc and PREnc, scores quantised or with one set of codes, and tables without alignment.

Source phrases cannot be listed: a decoder asks for those of a sentence. To convert a table, name a file of source
phrases, one on each line (or a table whose first field they are) with the option ``phrases``:

    smt convert phrase-table.minphr table.txt --from moses-compact,phrases=FILE --to moses-phrases

Moses' own ``queryPhraseTableMin`` prints the translations of phrases, too. A phrase that the table does not have is
found with a probability of 2^-16 (2^-8 with ``-fingerprint 8``), with the translations of another, as in Moses.

The k-th score becomes the feature ``TranslationModel0[k]``, the natural logarithm that the file has; the option
``table`` replaces ``TranslationModel0``. PREnc gives a target phrase the alignment of the parts that it was encoded by,
which is not always that of the table it was made of, and the translations of a phrase come in the order of their rank.
Alignment points outside the phrases, which a wrong fingerprint may lead to, are dropped. The left-hand side is X.

The file must be as the tool writes it on x86-64, not compressed. Errors: parts that lead out
of the file, numbers out of range, codes without a symbol, words that are not UTF-8, translations of more than 4096
words.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from smtformats._scan import CompactPhrases, CompactReordering
from smtformats.columns import GrammarColumns
from smtformats.errors import FormatError, quote
from smtformats.files import MAX_LINE_BYTES, Lines, mapped, shown_name
from smtformats.format import Format
from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.lookup import NotListed, columns_of, encodable, listed_phrases
from smtformats.grammar.shared.moses_tables import TABLE
from smtformats.grammar.shared.shapes import VECTORS
from smtformats.tokens import vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "moses-compact"
_AT_ONCE = 1000
_ORDER_BITS, _FINGERPRINT_BITS = range(1, 25), range(1, 33)
_HASH = b"chd\0"


class CompactPhraseTable:
    """An opened table; see :class:`smtformats.grammar.shared.lookup.PhraseLookup`."""

    def __init__(self, data: NDArray[np.uint8], name: str, table: str = TABLE) -> None:
        """Use the bytes of a file; ``name`` is the file's in errors."""
        self.name = name
        try:
            self._native = CompactPhrases(data)
        except FormatError as error:
            raise self._located(error, data) from None
        self.names = vector(table, self._native.scores)

    def __len__(self) -> int:
        return len(self._native)

    @property
    def longest(self) -> int:
        """The number of words of the longest source phrase."""
        return self._native.longest

    def columns(self, phrases: Sequence[str]) -> GrammarColumns:
        """Return the rules of source phrases, words separated by single blanks."""
        try:
            found = self._native.find(encodable(phrases))
        except FormatError as error:
            raise self._located(error) from None
        result = columns_of(found, self.names)
        self._check_words(result)
        return result

    def sources(self) -> None:
        """Source phrases cannot be listed."""

    def facts(self) -> dict[str, Any]:
        """Describe the table."""
        native = self._native
        return {
            "source phrases": len(native),
            "longest": native.longest,
            "scores": native.scores,
            "encoding": native.coding,
            "alignment": "yes" if native.has_alignments else "no",
            "fingerprints": f"{native.fingerprint_bits} bits",
        }

    def _check_words(self, columns: GrammarColumns) -> None:
        try:
            words = columns.words[:]
        except UnicodeDecodeError:
            raise FormatError("words in UTF-8", "other bytes", file=self.name, line=1) from None
        for word in words:
            if not word or any(mark in word for mark in "\0\t\n\r "):
                raise FormatError("words without blanks", quote(word), file=self.name, line=1)

    def _located(self, error: FormatError, data: NDArray[np.uint8] | None = None) -> FormatError:
        """Name the file in an error, or say that it is a table of another kind."""
        if data is not None:
            try:
                CompactReordering(data)
            except FormatError:
                pass
            else:
                other = "a compact reordering table (name it with --from moses-compact-reordering)"
                return FormatError("a compact phrase table", other, file=self.name, line=1)
        return FormatError(error.expected, error.found, file=self.name, line=1)


def lookup(path: str | os.PathLike[str], *, table: str = TABLE, phrases: str = "") -> CompactPhraseTable:
    """Open a table; ``phrases``, which is for readers of a whole table, changes nothing."""
    return CompactPhraseTable(mapped(path), shown_name(path), table)


def parse(lines: Lines, *, table: str = TABLE, phrases: str = "") -> Iterator[Rule]:
    """Yield the rules of the source phrases in the file ``phrases``; ``table`` names the feature."""
    opened = _whole(lines, table, phrases)
    some: list[str] = []
    for phrase in listed_phrases(phrases):
        some.append(phrase)
        if len(some) == _AT_ONCE:
            yield from _rules(opened.columns(some))
            some = []
    yield from _rules(opened.columns(some))


def _rules(columns: GrammarColumns) -> Iterator[Rule]:
    return map(columns.rule, range(len(columns)))


def load(
    stream: BinaryIO, name: str, *, table: str = TABLE, phrases: str = "", max_bytes: int = MAX_LINE_BYTES
) -> GrammarColumns:
    """Load the rules of the source phrases in the file ``phrases`` as columns."""
    return _whole(Lines(stream, name), table, phrases).columns(list(listed_phrases(phrases)))


def _whole(lines: Lines, table: str, phrases: str) -> CompactPhraseTable:
    import numpy as np

    try:
        data = lines.stream.read()
    except EOFError as error:
        raise lines.error("a complete compressed file", str(error), 1) from error
    opened = CompactPhraseTable(np.frombuffer(data, dtype=np.uint8), lines.name, table)
    if not phrases:
        named = f"source phrases to look up, in a file named by the option phrases ({NAME},phrases=FILE)"
        found = f"a table of fingerprints of its {len(opened)} source phrases"
        raise NotListed(named, found, file=lines.name, line=1)
    return opened


def confirms(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a table of phrases, not of reordering scores."""
    try:
        CompactPhrases(mapped(path))
    except FormatError:
        return False
    return True


def matches(head: bytes) -> bool:
    """Match the sizes of orders and fingerprints before a hash function of CMPH."""
    numbers = [int.from_bytes(head[at : at + 8], "little") for at in (0, 8)]
    return numbers[0] in _ORDER_BITS and numbers[1] in _FINGERPRINT_BITS and head[24:28] == _HASH


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="Moses compact phrase table, .minphr: translations by fingerprints of source phrases",
    matches=matches,
    parse=parse,
    load=load,
    lookup=lookup,
    confirms=confirms,
    probabilities=VECTORS,
)
