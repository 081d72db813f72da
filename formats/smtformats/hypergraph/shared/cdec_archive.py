"""Read boost's binary archives as cdec writes them; every size is checked against the bytes left."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NoReturn

from smtformats.errors import FormatError
from smtformats.grammar.rules import NonTerminal, Rule, Symbol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

MAX_SYMBOLS = 64
MAGIC = struct.pack("<Q", 22) + b"serialization::archive"
VERSIONS = range(10, 19)
SIZES = bytes((4, 8, 4, 8)) + struct.pack("<I", 1)
RULE = 6  # boost's class number of rules
# Written at the first object of each class: whether its objects are shared, and the version of the class.
CLASSES = {
    name: struct.pack("<BI", *about)
    for name, about in {
        "graph": (0, 0),
        "node": (0, 0),
        "edge": (0, 0),
        "tail": (0, 0),
        "pointer": (0, 1),
        "rule": (1, 0),
        "features": (0, 0),
        "feature": (0, 0),
    }.items()
}
U16, I16, I32, U32, U64, F64 = (struct.Struct(f"<{code}") for code in "HhiIQd")
HEADED, PLACED, COUNTS, FLAGS, NODE = (struct.Struct(f"<{codes}") for codes in ("iH", "hhhhi", "II", "ii", "Qi"))
_END = "more bytes"


class Archive:
    """The bytes of a file, and the read position."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        self.at = 0
        self.seen: set[str] = set()
        self.texts: dict[bytes, str] = {}

    def fail(self, expected: str, found: str, at: int | None = None) -> NoReturn:
        place = self.at if at is None else at
        raise FormatError(expected, f"{found} at byte {place}", file=self.name, line=1, field=1)

    def take(self, code: struct.Struct) -> tuple[Any, ...]:
        """Read the next numbers, packed as ``code`` says."""
        at, self.at = self.at, self.at + code.size
        if self.at > len(self.data):
            self.fail(_END, "the end of the file", len(self.data))
        return code.unpack_from(self.data, at)

    def constant(self, wanted: bytes, what: str) -> None:
        actual = self.data[self.at : self.at + len(wanted)]
        if actual != wanted:
            if wanted.startswith(actual):
                self.fail(_END, "the end of the file", len(self.data))
            self.fail(what, actual.hex(" "))
        self.at += len(wanted)

    def begin(self, kind: str) -> None:
        """Read the class header at the first object of a class."""
        if kind not in self.seen:
            self.seen.add(kind)
            self.constant(CLASSES[kind], f"the class of a {kind}, {CLASSES[kind].hex(' ')}")

    def size(self, count: int, each: int) -> int:
        """Return ``count``; raise an error unless the rest of the file has ``each`` bytes for every item."""
        if count * each > len(self.data) - self.at:
            self.fail(f"at most {(len(self.data) - self.at) // each} items in the rest of the file", str(count))
        return count

    def blob(self) -> bytes:
        (length,) = self.take(U64)
        end = self.at + self.size(length, 1)
        data, self.at = self.data[self.at : end], end
        return data

    def text(self) -> str:
        return self.decoded(self.blob())

    def decoded(self, data: bytes) -> str:
        text = self.texts.get(data)
        if text is None:
            try:
                text = self.texts[data] = data.decode()
            except UnicodeDecodeError as error:
                self.fail("UTF-8 text", f"byte 0x{data[error.start]:02x}")
        return text

    def integers(self) -> Ints:
        import numpy as np

        (count,) = self.take(U64)
        at, self.at = self.at, self.at + 4 * self.size(count, 4)
        return np.frombuffer(self.data, "<i4", count, at)

    def features(self) -> tuple[tuple[bytes, ...], list[float]]:
        """Return feature names and values."""
        self.begin("features")
        (count,) = self.take(I32)
        if count < 0:
            self.fail("a number of features", str(count), self.at - 4)
        self.size(count, 16)
        if not count:
            return (), []
        self.begin("feature")
        data, at, end = self.data, self.at, len(self.data)
        names, values = [], []
        for _ in range(count):
            if at + 8 > end or (stop := at + 8 + U64.unpack_from(data, at)[0]) + 8 > end:
                self.fail(_END, "the end of the file", end)
            names.append(data[at + 8 : stop])
            values.append(F64.unpack_from(data, stop)[0])
            at = stop + 8
        self.at = at
        return tuple(names), values

    def rule(self) -> Rule:
        lhs = self.text()
        source: list[Symbol] = []
        gaps: list[NonTerminal] = []
        count, mask = self.side()
        for k in range(count):
            word = self.text()
            if mask >> k & 1:
                gaps.append(NonTerminal(word, len(gaps) + 1))
            source.append(gaps[-1] if mask >> k & 1 else word)
        target: list[Symbol] = []
        used: set[int] = set()
        count, mask = self.side()
        for k in range(count):
            if not mask >> k & 1:
                target.append(self.text())
                continue
            (gap,) = self.take(I32)
            if not -len(gaps) < gap <= 0 or gap in used:
                self.fail(f"each of the {len(gaps)} non-terminals once (0, -1, ...)", str(gap), self.at - 4)
            used.add(gap)
            target.append(gaps[-gap])
        arity = self.data[self.at : self.at + 1]
        self.at += self.size(1, 1)
        if not len(used) == len(gaps) == arity[0]:
            self.fail(f"{len(gaps)} non-terminals, as on the source side", f"{len(used)}, arity {arity[0]}")
        names, values = self.features()
        return Rule(lhs, tuple(source), tuple(target), tuple(map(self.decoded, names)), tuple(values))

    def side(self) -> tuple[int, int]:
        """Return the number of symbols on a rule's side, and the bit mask of its non-terminals."""
        (count,) = self.take(U32)
        if count > MAX_SYMBOLS:
            self.fail(f"at most {MAX_SYMBOLS} symbols", str(count), self.at - 4)
        (mask,) = self.take(U64)
        if mask >> count:
            self.fail(f"a mask of {count} bits", f"{mask:x}", self.at - 8)
        return count, mask
