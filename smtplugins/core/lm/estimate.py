"""Estimate n-gram models from text: interpolated modified Kneser-Ney, as KenLM's lmplz does.

Chen & Goodman (1998) for the estimates, Heafield et al. (2013) for `<s>`, `<unk>` and pruning. Memory: 14 bytes per
word of the text and 12 per n-gram of the model; beyond a limit, the same result from sorted files, with only the
vocabulary in memory. N-grams are in lmplz's order: by the last word, then by the word before it, and so on, words
numbered by first use.
"""

from __future__ import annotations

import codecs
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtformats.corpus.text import open_text
from smtformats.errors import FormatError
from smtformats.files import shown_name
from smtplugins.core._core import KneserNey, KneserNeyModel, StreamedKneserNeyModel, StreamedRows
from smtplugins.core.lm.ngram_model import load_arpa, write_arpa

if TYPE_CHECKING:
    from smtplugins.core._core import LanguageModel

FALLBACK = (0.5, 1.0, 1.5)
"""lmplz's discounts for orders whose counts allow no estimate."""

MAX_ORDER = 16
"""The highest order of the language models that can be read."""

_MAX_THRESHOLD = (1 << 63) - 1
_PIECE_BYTES = 1 << 20
_PIECE_ROWS = 1 << 14


class BadSettings(ValueError):
    """Invalid settings of an estimation."""


@dataclass(eq=False)
class BadText(ValueError):
    """A text that no model can be estimated from. Line 0 stands for the whole text."""

    line: int
    expected: str
    found: str

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        return f"{place}expected {self.expected}, found {self.found}"


@dataclass(eq=False)
class NoDiscounts(ValueError):
    """The counts of counts allow no discounts, as in small or artificial texts."""

    order: int
    reason: str

    def __str__(self) -> str:
        return f"no discounts for {self.order}-grams follow from the text: {self.reason}"


@dataclass(eq=False)
class EstimateTooLarge(MemoryError):
    """The model would need more memory than allowed."""

    needed: int
    allowed: int

    def __str__(self) -> str:
        return f"the model needs at least {_size(self.needed)} of memory, {_size(self.allowed)} are allowed"


class Estimate:
    """An estimated model: an ARPA file to write, or a language model to score with.

    One that is estimated on disk keeps its files as long as it lives, or until ``close``.
    """

    def __init__(self, model: KneserNeyModel | StreamedKneserNeyModel, files: str | None = None) -> None:
        self._model = model
        self._remove = None if files is None else weakref.finalize(self, shutil.rmtree, files, ignore_errors=True)

    @property
    def on_disk(self) -> bool:
        """Whether the n-grams are in files."""
        return isinstance(self._model, StreamedKneserNeyModel)

    def close(self) -> None:
        """Remove the files; the n-grams are gone if they were on disk."""
        if self._remove is not None:
            self._remove()

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return self._model.order

    @property
    def counts(self) -> list[int]:
        """The number of n-grams of each order."""
        return [self._model.count(order) for order in range(1, self.order + 1)]

    @property
    def discounts(self) -> list[tuple[float, float, float]]:
        """For each order the discounts of adjusted counts of 1, 2, and 3 or more."""
        return [(once, twice, more) for once, twice, more in self._model.discounts]

    @property
    def fallen_back(self) -> list[int]:
        """The orders that use the fallback discounts."""
        return self._model.fallen_back

    @property
    def sentences(self) -> int:
        """The number of lines of the text."""
        return self._model.sentences

    @property
    def words(self) -> int:
        """The number of words of the text."""
        return self._model.words

    @property
    def peak_bytes(self) -> int:
        """The peak memory of the estimation, in bytes."""
        return self._model.peak_bytes

    def arpa(self) -> Iterator[bytes]:
        """The ARPA file in pieces."""
        lines = StreamedRows(self._model) if isinstance(self._model, StreamedKneserNeyModel) else self._model
        header = ["\\data\\", *(f"ngram {order}={count}" for order, count in enumerate(self.counts, 1)), "", ""]
        yield "\n".join(header).encode()
        for order, count in enumerate(self.counts, 1):
            yield f"\\{order}-grams:\n".encode()
            for begin in range(0, count, _PIECE_ROWS):
                yield lines.rows(order, begin, begin + _PIECE_ROWS)
            yield b"\n"
        yield b"\\end\\\n"

    def write_arpa(self, path: str | os.PathLike[str]) -> None:
        """Write an ARPA file, compressed by suffix; ``-`` is standard output."""
        write_arpa(self.arpa(), path)

    def language_model(self) -> LanguageModel:
        """The model for scoring, as if read from its ARPA file."""
        return load_arpa(self.arpa())


def estimate(
    text: Iterable[bytes],
    order: int,
    *,
    prune: Sequence[int] = (),
    fallback: tuple[float, float, float] | None = None,
    vocabulary: Iterable[str] | None = None,
    vocabulary_size: int | None = None,
    memory: int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Estimate:
    r"""Estimate a model from a text in pieces of any size, one sentence a line; space, tab, \r and NUL separate words.

    `prune` has a threshold for each order (the last also holds for higher orders): n-grams with at most that count are
    left out, and their mass goes to the back-off. `fallback` are the discounts of orders whose counts allow none. With
    a `vocabulary`, n-grams with other words are left out, and with a `vocabulary_size`, those with words that are not
    among so many most frequent ones (of equally frequent words, the first in the text). `memory` limits bytes (default:
    80 % of the machine's); a model that needs more is estimated in files of a new folder in `folder`, if there is one.
    """
    thresholds = _thresholds(order, prune)
    if vocabulary_size is not None and not 1 <= vocabulary_size <= _MAX_THRESHOLD:
        raise BadSettings(f"vocabulary size: expected 1 or more, found {vocabulary_size}")
    if fallback is not None:
        _check_discounts(fallback)
    allowed = memory if memory is not None else _machine_memory() * 4 // 5
    counter = KneserNey(order, thresholds, fallback, allowed, vocabulary_size or 0)
    words = None if vocabulary is None else list(vocabulary)
    files: list[str] = []

    def spill(error: EstimateTooLarge) -> None:
        if folder is None or files:
            raise error
        files.append(tempfile.mkdtemp(prefix=".lm.", suffix=".part", dir=folder))
        counter.spill(files[0])

    try:
        for piece in text:
            try:
                counter.feed(piece)
            except EstimateTooLarge as error:
                spill(error)
        if not files:
            try:
                return Estimate(counter.finish(words))
            except EstimateTooLarge as error:
                spill(error)
        return Estimate(counter.finish_streamed(words), files[0])
    except BaseException:
        for path in files:
            shutil.rmtree(path, ignore_errors=True)
        raise


def _thresholds(order: int, prune: Sequence[int]) -> list[int]:
    if not 1 <= order <= MAX_ORDER:
        raise BadSettings(f"order: expected 1 to {MAX_ORDER}, found {order}")
    if len(prune) > order:
        raise BadSettings(f"pruning: expected at most {order} thresholds, one for each order, found {len(prune)}")
    shown = " ".join(map(str, prune))
    if not all(0 <= threshold <= _MAX_THRESHOLD for threshold in prune):
        raise BadSettings(f"pruning: expected thresholds from 0 to {_MAX_THRESHOLD}, found {shown}")
    if sorted(prune) != list(prune):
        # Otherwise an n-gram would be kept without its context or suffix.
        raise BadSettings(f"pruning: expected thresholds that do not fall, found {shown}")
    return [*prune, *([prune[-1] if prune else 0] * (order - len(prune)))]


def _check_discounts(fallback: Sequence[float]) -> None:
    for count, discount in enumerate(fallback, 1):
        if not 0 <= discount <= count:
            counts = f"{count} or more" if count == 3 else f"{count}"
            raise BadSettings(f"fallback discount of counts of {counts}: expected 0 to {count}, found {discount:g}")


def read_pieces(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """The bytes of a text file in UTF-8 (compressed or not, ``-`` is standard input), for `estimate`."""
    check = codecs.getincrementaldecoder("utf-8")().decode
    lines = 0
    with open_text(path) as stream:
        try:
            while piece := stream.read(_PIECE_BYTES):
                check(piece)
                yield piece
                lines += piece.count(b"\n")
            check(b"", True)
        except EOFError as error:
            raise FormatError("a complete compressed file", str(error), file=shown_name(path)) from error
        except UnicodeDecodeError as error:
            line, byte = lines + error.object.count(b"\n", 0, error.start) + 1, error.object[error.start]
            raise FormatError("UTF-8 text", f"byte 0x{byte:02x}", file=shown_name(path), line=line) from error


def _size(count: int) -> str:
    return f"{count >> 20} MB" if count >= 10 << 20 else f"{count >> 10} KB"


def _machine_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
