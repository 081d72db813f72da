"""Read the files shared by all slices of a packed Joshua grammar: vocabulary, features and their encoders."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtformats.errors import FormatError, quote

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
_BLANK = re.compile(r"[ \t\n\x0b\f\r]")
_GAP = re.compile(r"\[[^,].*\]")
_DENSE = re.compile(r"\+?[0-9]{1,10}")
_INT_END = 1 << 31
_ID_TYPES = {"byte": ">i1", "char": ">u2", "short": ">i2", "int": ">i4"}
_VALUE_TYPES = {**_ID_TYPES, "float": ">f4", "boolean": "", "8bit": ">i1"}
_KINDS = tuple(_VALUE_TYPES)
_BUCKETS = _KINDS.index("8bit")


class Bytes:
    """A big-endian file of the folder, read sequentially or at many positions at once."""

    def __init__(self, folder: str, name: str) -> None:
        self.name = os.path.join(folder, name)
        try:
            with open(self.name, "rb") as stream:
                self.data = stream.read()
        except FileNotFoundError:
            raise FormatError("a file of this name", "none", file=self.name, line=1) from None
        self.at = 0

    def error(self, expected: str, found: str, at: int) -> FormatError:
        """Return an error at a byte of this file."""
        return FormatError(expected, f"{found} at byte {at}", file=self.name, line=1)

    def take(self, size: int) -> bytes:
        """Read the next bytes."""
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise self.error(f"{size} bytes more", f"{len(self.data) - start}", start)
        return self.data[start : self.at]

    def number(self, shape: str = ">i") -> int:
        """Read an integer."""
        (number,) = struct.unpack(shape, self.take(struct.calcsize(shape)))
        return int(number)

    def count(self, what: str, smallest: int) -> int:
        """Read a number of items that take at least ``smallest`` bytes each."""
        count = self.number()
        most = (len(self.data) - self.at) // smallest
        if not 0 <= count <= most:
            raise self.error(f"a number of {what} that fits the file, at most {most}", str(count), self.at - 4)
        return count

    def text(self) -> str:
        """Read a string: its length, then Java's modified UTF-8 (NUL is C0 80, surrogates are encoded singly)."""
        start = self.at
        data = self.take(self.number(">H"))
        try:
            if b"\xc0" in data or b"\xed" in data:
                units = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
                return units.encode("utf-16", "surrogatepass").decode("utf-16")
            return data.decode()
        except UnicodeDecodeError:
            raise self.error("a string in modified UTF-8", quote(repr(data)[2:-1]), start) from None

    def end(self) -> None:
        """Raise an error unless this is the end of the file."""
        if self.at != len(self.data):
            raise self.error("the end of the file", f"{len(self.data) - self.at} bytes more", self.at)

    def array(self, width: int) -> NDArray[np.int32]:
        """Return the whole file as rows of ``width`` 32-bit integers."""
        if not self.data or len(self.data) % (4 * width):
            raise self.error(f"a multiple of {4 * width} bytes", str(len(self.data)), 0)
        return np.frombuffer(self.data, dtype=">i4").astype(np.int32).reshape(-1, width)

    def gather(self, places: Ints, shape: str) -> NDArray[Any]:
        """Read the numbers at many positions."""
        width = np.dtype(shape).itemsize
        self.check(places + width <= len(self.data), f"{width} bytes", lambda i: "the end of the file", places)
        if not len(places):
            return np.empty(0, dtype=shape)
        windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(self.data, dtype=np.uint8), width)
        return windows[places].view(shape).ravel()

    def check(self, good: Mask, expected: str, found: Callable[[int], object], places: Ints) -> None:
        """Raise an error for the first item that is not good."""
        if not good.all():
            i = int(good.argmin())
            raise self.error(expected, str(found(i)), int(places[i]))


class PackedVocabulary:
    """Words by number, and which of them are non-terminals; other files use their negative numbers."""

    def __init__(self, folder: str) -> None:
        file = Bytes(folder, "vocabulary")
        numbers = {"<unk>": 0}
        for i in range(1, file.count("words", 6) + 1):
            start = file.at
            if (number := file.number()) != i:
                raise file.error(f"the number {i}, as words are numbered in order", str(number), start)
            word = file.text()
            if _BLANK.search(word):
                raise file.error("a word without blanks", quote(word), start)
            if numbers.setdefault(word, i) != i:
                raise file.error("each word once", f"{quote(word)} again", start)
        file.end()
        self.words = tuple(numbers)
        self.is_gap = np.array([_GAP.fullmatch(word) is not None for word in self.words])
        self.empty = numbers.get("", -1)

    def is_label(self, symbols: Ints) -> Mask:
        """Which of these symbols are non-terminals."""
        mask: Mask = (symbols < 0) & (symbols > -len(self.words)) & self.is_gap[-symbols % len(self.words)]
        return mask

    def is_word(self, symbols: Ints) -> Mask:
        """Which of these symbols are words."""
        mask: Mask = (symbols >= 0) & (symbols < len(self.words)) & ~self.is_gap[symbols % len(self.words)]
        return mask

    def label(self, symbol: int) -> str:
        """Return the label of a non-terminal, without brackets and index."""
        return self.words[-symbol][1:-1].partition(",")[0]


class Encoding:
    """The features by number: their names and encoders."""

    def __init__(self, folder: str, vocabulary: PackedVocabulary, owner: str) -> None:
        file = Bytes(folder, "encoding")
        self.id_type = _ID_TYPES[self._key(file, _ID_TYPES)]
        labelled = file.number(">B")
        kinds: list[int] = []
        buckets: list[bytes] = []
        starts = [0]
        for _ in range(file.count("encoders", 2)):
            kinds.append(_KINDS.index(self._key(file, _VALUE_TYPES)))
            if kinds[-1] == _BUCKETS:
                buckets.append(file.take(4 * file.count("values", 4)))
            starts.append(starts[-1] + (len(buckets[-1]) // 4 if kinds[-1] == _BUCKETS else 0))
        self.count = file.count("features", 10)
        self.names = [""] * self.count
        self.sign = np.ones(self.count, dtype=np.float32)
        encoders = np.zeros(self.count, dtype=np.int64)
        named: set[str] = set()
        seen: set[int] = set()
        for _ in range(self.count):
            start = file.at
            name = file.text() if labelled else self._word(file, vocabulary)
            inner, encoder = file.number(), file.number()
            if not 0 <= inner < self.count or inner in seen:
                raise file.error(f"each number below {self.count} once", str(inner), file.at - 8)
            if not 0 <= encoder < len(kinds):
                raise file.error(f"the number of an encoder, below {len(kinds)}", str(encoder), file.at - 4)
            if not name or _BLANK.search(name):
                raise file.error("a feature name without blanks", quote(name), start)
            if _DENSE.fullmatch(name) and int(name) < _INT_END:
                name = f"tm_{owner}_{int(name)}"
                self.sign[inner] = -1
            if name in named:
                raise file.error("features of different names (owner= names the dense ones)", quote(name), start)
            named.add(name)
            seen.add(inner)
            self.names[inner], encoders[inner] = name, encoder
        file.end()
        self.kinds = np.array(kinds, dtype=np.int64)[encoders]
        self.sizes = np.array([np.dtype(shape).itemsize if shape else 0 for shape in _VALUE_TYPES.values()])[self.kinds]
        self.buckets = np.frombuffer(b"".join(buckets), dtype=">f4").astype(np.float32)
        self.bucket_starts = np.array(starts)[encoders]
        self.bucket_ends = np.array(starts)[encoders + 1]

    @staticmethod
    def _key(file: Bytes, known: Collection[str]) -> str:
        start = file.at
        key = file.text()
        if key not in known:
            raise file.error(f"one of {', '.join(known)}", quote(key), start)
        return key

    @staticmethod
    def _word(file: Bytes, vocabulary: PackedVocabulary) -> str:
        start = file.at
        number = file.number()
        if not 0 < number < len(vocabulary.words):
            raise file.error(f"the number of a word, below {len(vocabulary.words)}", str(number), start)
        return vocabulary.words[number]

    def read(self, file: Bytes, features: Ints, places: Ints) -> NDArray[np.float32]:
        """Read the values of these features at these positions."""
        values: NDArray[np.float32] = np.ones(len(features), dtype=np.float32)
        kinds = self.kinds[features]
        for kind in np.flatnonzero(np.bincount(kinds)):
            shape = _VALUE_TYPES[_KINDS[kind]]
            here = np.flatnonzero(kinds == kind)
            if not shape:
                continue
            numbers = file.gather(places[here], shape)
            if kind == _BUCKETS:
                bucket = self.bucket_starts[features[here]] + numbers + 128
                good = bucket < self.bucket_ends[features[here]]
                file.check(good, "the number of an encoder's value", numbers.__getitem__, places[here])
                numbers = self.buckets[bucket]
            values[here] = numbers
        file.check(np.isfinite(values), "a finite number", values.__getitem__, places)
        values *= self.sign[features]
        values += 0.0  # a flipped zero must not be -0
        return values
