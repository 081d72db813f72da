"""Extract phrase pairs from word-aligned text and write their tables, as Moses' `train-model` does (steps 4 to 7).

Consistent pairs: Och, Tillmann & Ney (1999). Lexical weights: Koehn, Och & Marcu (2003), section 4.4. Orientations:
Koehn et al. (2005), Galley & Manning (2008). Smoothing: Foster, Kuhn & Johnson (2006). Pairs are counted in memory up
to a limit, beyond it in sorted runs that are merged from disk; the output is the same. Words and linked word pairs stay
in memory.

Moses' peculiarities are kept: after a phrase, its extractor takes a phrase that ends with the next target word for the
neighbour (models `phrase` and `hier`), and never asks for one that would end at the last source word; a link written
twice counts twice for words. Unlike in Moses, words that no reader of tables accepts (with `|||`, in brackets) and bad
links are refused, words end where they do for decoders (control characters such as form feeds are blanks), and counts
of 2^24 and more are exact.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from smtformats.corpus.text import open_text
from smtformats.files import open_bytes
from smtplugins.core._core import PhraseExtraction

if TYPE_CHECKING:
    from io import BufferedReader

    import numpy as np
    from numpy.typing import NDArray

    from smtformats.reordering.models import ReorderingModel
    from smtplugins.core._core import RuleExtraction

SIDES = ("source", "target", "alignment")
SMOOTHINGS = ("none", "good-turing", "kneser-ney")
MAX_PHRASE = 255
EXTRACT_FILES = ("extract", "extract.inv", "extract.o")
"""Moses' files with a line per occurrence, in the order of `Phrases.new_lines`."""

_EXTRACTIONS = ("wbe", "phrase", "hier")
_KINDS: Mapping[str, int] = MappingProxyType({"monotonicity": 1, "msd": 2, "mslr": 3, "leftright": 3})
_MONOTONE, _SWAP, _LEFT, _RIGHT = range(4)
_COLUMNS: Mapping[str, list[list[int]]] = MappingProxyType(
    {
        "msd": [[_MONOTONE], [_SWAP], [_LEFT, _RIGHT]],
        "mslr": [[_MONOTONE], [_SWAP], [_LEFT], [_RIGHT]],
        "monotonicity": [[_MONOTONE], [_SWAP, _LEFT, _RIGHT]],
        "leftright": [[_MONOTONE, _RIGHT], [_SWAP, _LEFT]],
    }
)
_BLOCK_BYTES = 1 << 18
_PIECE_BYTES = 1 << 20


@dataclass(eq=False)
class BadBitext(ValueError):
    """An invalid line; ``side`` is an index into ``SIDES``."""

    side: int
    line: int
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{SIDES[self.side]}, line {self.line}: expected {self.expected}, found {self.found}"


class NoSmoothing(ValueError):
    """The counts of counts allow no smoothing, as in small or artificial texts."""


def read_bitext(
    source: str | os.PathLike[str], target: str | os.PathLike[str], alignment: str | os.PathLike[str]
) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Read three files (compressed or not) in pieces of whole lines, equally many of each."""
    line = 0
    with ExitStack() as stack:
        streams = [stack.enter_context(open_text(path)) for path in (source, target)]
        streams.append(stack.enter_context(open_bytes(alignment)))
        while True:
            lines = [_lines(0, streams[0], line)]
            count = len(lines[0])
            lines += [_lines(side, streams[side], line, count) for side in (1, 2)]
            for side in (1, 2):
                if len(lines[side]) < count:
                    last = line + len(lines[side]) + 1
                    raise BadBitext(side, last, f"a line for line {last} of the source side", "the end of the file")
                if not count and _lines(side, streams[side], line, 1):
                    raise BadBitext(side, line + 1, f"{line} lines, as the source side has", "more")
            if not count:
                return
            yield _join_utf8(0, lines[0], line), _join_utf8(1, lines[1], line), _join_utf8(2, lines[2], line)
            line += count


def _lines(side: int, stream: BufferedReader, line: int, count: int | None = None) -> list[bytes]:
    """Read some more lines, or up to ``count``."""
    try:
        return stream.readlines(_BLOCK_BYTES) if count is None else list(itertools.islice(stream, count))
    except EOFError as error:
        raise BadBitext(side, line + 1, "a complete compressed file", str(error)) from error


def _join_utf8(side: int, lines: Sequence[bytes], line: int) -> bytes:
    block = b"".join(lines)
    try:
        block.decode()
    except UnicodeDecodeError as error:
        at = line + block.count(b"\n", 0, error.start) + 1
        raise BadBitext(side, at, "UTF-8 text", f"byte 0x{block[error.start]:02x}") from error
    return block


class BitextCounts:
    """What phrase pairs and rules have in common: a native extraction fed with text, its lexical tables and counts."""

    _native: PhraseExtraction | RuleExtraction

    def feed(self, source: bytes, target: bytes, alignment: bytes) -> None:
        """Add sentence pairs: whole lines, equally many of each."""
        self._native.feed(source, target, alignment)

    def pack(self) -> bytes:
        """The counts as bytes, for ``add_packed`` of another one that was made with the same options."""
        return self._native.pack()

    def add_packed(self, packed: bytes) -> None:
        """Add counts as if their text were fed here."""
        self._native.add_packed(packed)

    def read_lexical(self, lines: bytes, *, forward: bool) -> None:
        """Add whole lines of a lexical table: p(target word | source word), lex.f2e, if ``forward``, else lex.e2f."""
        self._native.read_lexical(forward, lines)

    def lexical(self, *, forward: bool) -> bytes:
        """The lines of a lexical table, in byte order."""
        return self._native.lexical(forward)

    @property
    def sentences(self) -> int:
        """The number of sentence pairs fed."""
        return self._native.sentences

    @property
    def empty(self) -> int:
        """The number of sentence pairs with an empty side."""
        return self._native.empty

    @property
    def skipped(self) -> int:
        """The number of sentence pairs left out for links outside them."""
        return self._native.skipped

    @property
    def spilled(self) -> bool:
        """Whether counts went to disk."""
        return self._native.spilled


class Phrases(BitextCounts):
    """Count the phrase pairs of a text fed in pieces, then give their tables.

    Phrases have at most ``max_length`` words on either side. ``models`` are the reordering tables to make. ``skip_bad``
    leaves out sentence pairs with links outside the sentences, as Moses does. ``lexical`` counts words for lexical
    tables. ``keep_lines`` keeps single occurrences for ``new_lines``. ``folder`` is an empty folder for pairs that need
    more than ``memory`` bytes.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        max_length: int = 7,
        models: Sequence[ReorderingModel] = (),
        skip_bad: bool = False,
        lexical: bool = True,
        keep_lines: bool = False,
        memory: int | None = None,
    ) -> None:
        kinds = [0] * len(_EXTRACTIONS)
        for model in models:
            at = _EXTRACTIONS.index(model.extraction)
            kinds[at] = max(kinds[at], _KINDS[model.orientation])
        self._models = models
        self._lexical = lexical
        self._native: PhraseExtraction = PhraseExtraction(
            max_length, kinds, skip_bad, lexical, keep_lines, table_bytes(memory), os.fspath(folder)
        )

    def feed_stretches(self, source: bytes, target: bytes, alignment: bytes, stretches: NDArray[np.int32]) -> None:
        """Add sentence pairs of which only the given stretches are phrase pairs; no link may lead out of a stretch.

        A row has the line (from 0), first and last source word, first and last target word; rows are in line order, and
        each stretch has a link. Stretches that are too long are left out. There are no orientations.
        """
        self._native.feed_stretches(source, target, alignment, stretches)

    def new_lines(self) -> tuple[bytes, bytes, bytes]:
        """Lines of Moses' files extract, extract.inv and extract.o for the text fed since the last call."""
        plain, inverse, oriented = self._native.take_lines()
        return plain, inverse, oriented

    def tables(
        self, smoothing: str = "none", *, reordering_smoothing: float = 0.5, penalty: float = 0.0
    ) -> Iterator[list[bytes]]:
        """Pieces of the phrase table and of each reordering table, all in the order of `LC_ALL=C sort`.

        ``penalty`` is a last score for each phrase pair, as Moses once had (2.718); 0 is none.
        """
        tables = []
        for model in self._models:
            before, behind = ("backward" in model.directions, "forward" in model.directions)
            at = _EXTRACTIONS.index(model.extraction)
            tables.append((at, _COLUMNS[model.orientation], before, behind, model.condition != "f"))
        if self._lexical:
            self._native.count_lexical()
        self._native.finish(SMOOTHINGS.index(smoothing), tables, reordering_smoothing, penalty)
        return iter(self._pieces, None)

    def _pieces(self) -> list[bytes] | None:
        return self._native.next(_PIECE_BYTES)

    @property
    def occurrences(self) -> int:
        """The number of phrase pair occurrences."""
        return self._native.occurrences

    @property
    def pairs(self) -> int:
        """The number of distinct phrase pairs, once all are counted."""
        return self._native.pairs


def read_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Read a file in pieces of whole lines."""
    with open_bytes(path) as stream:
        while lines := stream.readlines(_BLOCK_BYTES):
            yield b"".join(lines)


def default_memory() -> int:
    """Half of the machine's memory, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def table_bytes(memory: int | None) -> int:
    """How large tables may grow where ``memory`` bytes are allowed: half as large."""
    # They double as they grow, and sorting needs extra space.
    return (default_memory() if memory is None else memory) // 2
