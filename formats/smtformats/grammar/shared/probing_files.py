"""Read the smaller files of a ProbingPT folder: settings, vocabularies, alignments, hash table and cache."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtformats._scan import probing_hashes
from smtformats.columns import string_table
from smtformats.errors import FormatError, quote

Keys = NDArray[np.uint64]
VERSION = 15
_KEYS = ("API_VERSION", "uniq_entries", "num_scores", "num_lex_scores", "log_prob")
_BLANK = re.compile(r"[ \t\x0b\f\r]")
_MOST = {"num_scores": 10_000, "num_lex_scores": 10_000, "log_prob": 1}
_LARGEST_POINT = 32767
_PREFIX = np.uint64((1 << 64) - 1)
_BITS = (1 << 64) - 1


class TextFile:
    """A text file of the folder: UTF-8 lines of fields between tabs, each with its newline."""

    def __init__(self, folder: str, name: str) -> None:
        self.name = os.path.join(folder, name)
        self.data = read_bytes(folder, name)
        self.line = 0

    def lines(self, fields: int) -> Iterator[list[str]]:
        """Yield the fields of each line."""
        if self.data[-1:] not in (b"", b"\n"):
            self.line = self.data.count(b"\n") + 1
            raise self.error("a newline at the end of the file", "none")
        for number, line in enumerate(self.data.split(b"\n")[:-1], 1):
            self.line = number
            try:
                texts = line.decode().split("\t")
            except UnicodeDecodeError as error:
                raise self.error("UTF-8", f"byte 0x{line[error.start]:02x}") from None
            if len(texts) != fields:
                raise self.error(f"{fields} fields between tabs", str(len(texts)), None)
            yield texts

    def error(self, expected: str, found: str, field: int | None = None) -> FormatError:
        """Return an error at the current line."""
        return FormatError(expected, found, file=self.name, line=max(self.line, 1), field=field)

    def number(self, text: str, field: int, most: int = _BITS) -> int:
        """Parse a whole number up to ``most``."""
        if not (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) <= most):
            raise self.error(f"a whole number up to {most}", quote(text), field)
        return int(text)

    def word(self, text: str) -> str:
        """Check a word, the first field."""
        if not text or _BLANK.search(text):
            raise self.error("a word without blanks", quote(text), 1)
        return text


def read_bytes(folder: str, name: str) -> bytes:
    """Read a file of the folder; FormatError if there is none."""
    path = os.path.join(folder, name)
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        raise FormatError("a file of this name", "none", file=path, line=1) from None


@dataclass(frozen=True)
class ProbingSettings:
    """The file ``config``."""

    entries: int
    scores: int
    lex_scores: int
    log_prob: bool

    @classmethod
    def read(cls, folder: str) -> ProbingSettings:
        """Read and check the settings."""
        file = TextFile(folder, "config")
        values: dict[str, int] = {}
        for key, text in file.lines(2):
            if key not in _KEYS or key in values:
                raise file.error(f"each of {', '.join(_KEYS)} once", quote(key), 1)
            values[key] = file.number(text, 2, _MOST.get(key, _BITS))
            if key == "API_VERSION" and values[key] != VERSION:
                raise file.error(f"version {VERSION}, of CreateProbingPT since 2016", text, 2)
        for key in _KEYS:
            if key not in values:
                raise file.error(f"a line {key}", "none")
        if not values["num_scores"]:
            raise file.error("num_scores of 1 or more", "0")
        return cls(values["uniq_entries"], values["num_scores"], values["num_lex_scores"], values["log_prob"] == 1)


class SourceWords:
    """The words of source sides and their 64-bit hashes."""

    def __init__(self, folder: str) -> None:
        file = TextFile(folder, "source_vocabids")
        hashes: list[int] = []
        self.ids: dict[str, int] = {}
        for word, text in file.lines(2):
            if self.ids.setdefault(file.word(word), len(hashes)) != len(hashes):
                raise file.error("each word once", f"{quote(word)} again", 1)
            hashes.append(file.number(text, 2))
        self.words = tuple(self.ids)
        self.hashes = hashes
        self.array: Keys = np.array(hashes, dtype=np.uint64)
        table = string_table(self.words)
        good = probing_hashes(bytes(table.blob), table.offsets) == self.array
        if not good.all():
            file.line = int(good.argmin()) + 1
            raise file.error("the hash of the word", str(hashes[file.line - 1]), 2)

    def numbers(self, words: list[str]) -> list[int] | None:
        """The numbers of words, None if one is not in the vocabulary."""
        numbers = [self.ids.get(word, -1) for word in words]
        return None if -1 in numbers else numbers

    def order(self) -> NDArray[np.int32]:
        """The numbers of the words in the order of their bytes, as in a sorted table."""
        shown = [word.encode() + b" " for word in self.words]
        return np.array(sorted(range(len(shown)), key=shown.__getitem__), dtype=np.int32)

    def key(self, numbers: list[int]) -> int:
        """The key of a source side."""
        return sum(self.hashes[number] << i for i, number in enumerate(numbers)) & _BITS


def read_target_words(folder: str) -> list[str]:
    """Read the target vocabulary, words by number; number 0 is none."""
    file = TextFile(folder, "TargetVocab.dat")
    size = file.data.count(b"\n")
    words = [""] * (size + 1)
    known: set[str] = set()
    for word, text in file.lines(2):
        number = file.number(text, 2)
        if not 1 <= number <= size or words[number]:
            raise file.error(f"each number from 1 to {size} once", text, 2)
        words[number] = file.word(word)
        known.add(word)
        if len(known) < file.line:
            raise file.error("each word once", f"{quote(word)} again", 1)
    return words


def read_alignments(folder: str) -> list[list[tuple[int, int]]]:
    """Read the alignments by number."""
    file = TextFile(folder, "Alignments.dat")
    size = file.data.count(b"\n")
    alignments: list[list[tuple[int, int]] | None] = [None] * size
    for text, points in file.lines(2):
        number = file.number(text, 1)
        if number >= size or alignments[number] is not None:
            raise file.error(f"each number below {size} once", text, 1)
        if points and points[-1] != " ":
            raise file.error("a blank after each position", quote(points[-20:]), 2)
        places = [file.number(place, 2, _LARGEST_POINT) for place in points.split()]
        if len(places) % 2:
            raise file.error("pairs of positions", f"{len(places)} positions", 2)
        alignments[number] = list(zip(places[::2], places[1::2], strict=True))
    return [points or [] for points in alignments]


@dataclass(frozen=True)
class SourceKeys:
    """The keys of the blocks of ``TargetColl.dat``, in its order; ``seen`` tells which of them Moses finds."""

    name: str
    keys: Keys
    seen: NDArray[np.bool_]


def read_keys(folder: str, settings: ProbingSettings, starts: NDArray[np.int64]) -> SourceKeys:
    """Read the hash table: which key leads to which block.

    A key that occurs twice leads to its first block, as in Moses; keys of mere prefixes are left out.
    """
    name = os.path.join(folder, "probing_hash.dat")
    data = read_bytes(folder, "probing_hash.dat")
    if not data or len(data) % 16:
        raise FormatError("a multiple of 16 bytes", str(len(data)), file=name, line=1)
    table = np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(-1, 2)
    size, slots = len(table), np.arange(len(table))
    used = table.any(axis=1)
    distance = (slots - (table[:, 0] % np.uint64(size)).astype(np.int64)) % size
    # An entry is found if no slot between its first choice and its place is empty.
    empty = np.where(used, -size - 1, slots)
    before = np.maximum.accumulate(np.concatenate([empty - size, empty]))[size:]
    lost = used & ((slots - before <= distance) | (table[:, 0] == 0))
    if lost.any():
        at = int(lost.argmax())
        raise FormatError("a key that its hash leads to", f"{table[at, 0]} at byte {16 * at}", file=name, line=1)
    filled = np.flatnonzero(used & (table[:, 1] != _PREFIX))
    if len(filled) != settings.entries:
        expected = f"{settings.entries} entries, as config says"
        raise FormatError(expected, str(len(filled)), file=name, line=1)
    filled = filled[np.argsort(table[filled, 1], kind="stable")]
    if len(filled) != len(starts) or (table[filled, 1] != starts.astype(np.uint64)).any():
        expected = f"one entry for each of {len(starts)} blocks of TargetColl.dat"
        raise FormatError(expected, f"{len(filled)}, some of which lead elsewhere", file=name, line=1)
    keys = table[filled, 0]
    seen = np.zeros(len(keys), dtype=np.bool_)
    order = np.lexsort((distance[filled], keys))
    seen[order[np.concatenate([[True], keys[order][1:] != keys[order][:-1]])]] = True
    return SourceKeys(name, keys, seen)


def read_cache(folder: str, words: SourceWords, keys: set[int], places: dict[int, int]) -> dict[int, list[int]]:
    """Read the source sides of the cache, numbers of words by number of block."""
    file = TextFile(folder, "cache")
    head, newline, file.data = file.data.partition(b"\n")
    file.line = 1
    if not newline:
        raise file.error("a newline at the end of the line", "none")
    _count(file, head.decode("utf-8", "replace"))
    cached: dict[int, list[int]] = {}
    try:
        for count, text, source in file.lines(3):
            _count(file, count)
            numbers = words.numbers(source.split(" "))
            if numbers is None or words.key(numbers) != file.number(text, 2):
                raise file.error("a source side of the table and its key", quote(source), 3)
            if words.key(numbers) not in keys:
                raise file.error("the key of a source side of the table", text, 2)
            if words.key(numbers) in places:
                cached[places[words.key(numbers)]] = numbers
    except FormatError as error:
        error.line = (error.line or 1) + 1
        raise
    return cached


def _count(file: TextFile, text: str) -> None:
    try:
        good = text.isascii() and "_" not in text and float(text) >= 0
    except ValueError:
        good = False
    if not good:
        raise file.error("a number", quote(text), 1)


def text_sources(name: str, words: SourceWords, places: dict[int, int], longest: int) -> Any:
    """Yield the number of a block and its source side for each source side of the table in a text of sentences."""
    from smtformats.files import open_lines
    from smtformats.tokens import blanks

    hashes = words.hashes
    with open_lines(name) as lines:
        for line in lines:
            numbers = [words.ids.get(word, -1) for word in blanks(line.partition("|||")[0])]
            for first in range(len(numbers)):
                key = 0
                for length, number in enumerate(numbers[first : first + longest]):
                    if number < 0:
                        break
                    key = (key + (hashes[number] << length)) & _BITS
                    place = places.get(key)
                    if place is not None:
                        yield place, numbers[first : first + length + 1]
