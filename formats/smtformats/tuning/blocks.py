"""Files that Moses' extractor writes for its tuners: a block per sentence, features and scores in separate files.

Entry k of a block in the feature file and entry k of the same block in the score file belong to the same hypothesis.
The extractor omits duplicates, so entries do not have the positions of the n-best list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Number
from smtformats.tokens import BadField, blanks, is_id, numbers
from smtformats.writing import own, write_each

_MAX_VALUES = 1 << 16
_FLOAT_BYTES = 4


@dataclass(frozen=True)
class Block:
    """The hypotheses of one sentence: their features, or the sufficient statistics of a scorer.

    ``rows`` holds the values of ``names``, or the statistics of ``scorer``; ``sparse`` holds the features that only
    some entries have. ``raw`` is the block as read and ``origin`` the format that read it; a writer of that format
    copies it.
    """

    id: str
    rows: tuple[tuple[float, ...], ...]
    names: tuple[str, ...] = ()
    scorer: str | None = None
    sparse: tuple[dict[str, float], ...] = ()
    raw: str | None = None
    origin: str = ""
    line: int = 1

    def __len__(self) -> int:
        return len(self.rows)

    def named(self) -> Iterator[dict[str, float]]:
        """Each entry as a dictionary; statistics are named ``BLEU[0]``, ``BLEU[1]``, ..."""
        for i, row in enumerate(self.rows):
            names = self.names if self.scorer is None else [f"{self.scorer}[{k}]" for k in range(len(row))]
            yield {**dict(zip(names, row, strict=True)), **(self.sparse[i] if self.sparse else {})}


class Reader:
    """Parse the blocks of a file; ``word`` is the first word of the lines that delimit blocks."""

    def __init__(self, lines: Lines, origin: str, word: str) -> None:
        self.lines = lines
        self.stream = iter(lines)
        self.origin = origin
        self.word = word

    def blocks(self) -> Iterator[Block]:
        """Parse one block at a time."""
        for header in self.stream:
            yield self._block(header)
        if not self.lines.number:
            raise self.lines.error(f"`{self.word}_TXT_BEGIN_0 ...`", "an empty file", 1)

    def _block(self, header: str) -> Block:
        first = self.lines.number
        binary, key, count, width, names = self._header(header)
        dense: list[tuple[float, ...]] = []
        sparse: list[dict[str, float]] = []
        raw = [header]
        for entry in range(1, count + 1):
            if binary:
                dense.append(self._floats(self.lines.read(_FLOAT_BYTES * width), entry))
                continue
            line = self.lines.next(self.stream, f"entry {entry} of {count} on the next line")
            row, more = self._row(line, width)
            dense.append(row)
            sparse.append(more)
            raw.append(line)
        end = f"{self.word}_{'BIN' if binary else 'TXT'}_END_0"
        line = self.lines.next(self.stream, f"`{end}` after {count} entries on the next line")
        if blanks(line) != [end]:
            raise self.lines.error(f"`{end}` after {count} entries", _shown(line), 1)
        raw.append(line)
        return Block(
            id=key,
            rows=tuple(dense),
            names=() if self.word == "SCORES" else names,
            scorer=names[0] if self.word == "SCORES" else None,
            sparse=tuple(sparse) if any(sparse) else (),
            raw=None if binary else "".join(raw),
            origin=self.origin,
            line=first,
        )

    def _header(self, header: str) -> tuple[bool, str, int, int, tuple[str, ...]]:
        """Parse a header: whether values are binary, the id, the numbers of entries and values, and the names."""
        tokens = blanks(header)
        binary = tokens[:1] == [f"{self.word}_BIN_BEGIN_0"]
        if not binary and tokens[:1] != [f"{self.word}_TXT_BEGIN_0"]:
            raise self.lines.error(f"`{self.word}_TXT_BEGIN_0` or `{self.word}_BIN_BEGIN_0`", _shown(header), 1)
        for field, what in ((2, "a sentence id"), (3, "the number of entries"), (4, "the number of values")):
            token = "".join(tokens[field - 1 : field])
            if not is_id(token):
                raise self.lines.error(f"{what}, a whole number", quote(token), field)
        width, names = int(tokens[3]), tokens[4:]
        # Binary entries without values take no bytes, so a header could claim any number of them.
        if not binary <= width <= _MAX_VALUES:
            raise self.lines.error(f"{int(binary)} to {_MAX_VALUES} values", f"{width}", 4)
        wanted = 1 if self.word == "SCORES" else width
        if len(names) != wanted:
            expected = "the name of a scorer" if self.word == "SCORES" else f"{width} names"
            raise self.lines.error(expected, f"{len(names)}", 5 + min(len(names), wanted))
        if len(set(names)) != len(names):
            twice = next(i for i, name in enumerate(names) if name in names[:i])
            raise self.lines.error("each feature once", f"{quote(names[twice])} again", 5 + twice)
        return binary, tokens[1], int(tokens[2]), width, tuple(names)

    def _row(self, line: str, width: int) -> tuple[tuple[float, ...], dict[str, float]]:
        tokens = blanks(line)
        dense: list[float] = []
        sparse: dict[str, float] = {}
        for field, token in enumerate(tokens, 1):
            name, mark, text = token.rpartition("=")
            try:
                value = numbers([text])[0]
            except BadField as bad:
                if token.startswith(f"{self.word}_"):
                    raise self.lines.error(f"{width} values", quote(token), field) from None
                raise self.lines.locate(bad, field) from None
            if not mark:
                dense.append(value)
            elif not name or name in sparse or self.word == "SCORES":
                expected = "a number" if self.word == "SCORES" else "a name before `=`, each once"
                raise self.lines.error(expected, quote(token), field)
            else:
                sparse[name] = value
        if len(dense) != width:
            raise self.lines.error(f"{width} values", f"{len(dense)}", min(len(dense), width) + 1)
        return tuple(dense), sparse

    def _floats(self, data: bytes, entry: int) -> tuple[float, ...]:
        import numpy as np

        floats = np.frombuffer(data, dtype="<f4")
        # The shortest decimal of the float32: -1.68191, not -1.6819100379943848.
        values = tuple(floats.astype("U32").astype(np.float64).tolist())
        for field, value in enumerate(values, 1):
            if not math.isfinite(value):
                raise self.lines.error(f"a finite number in entry {entry}", f"{value}", field)
        return values


def _shown(line: str) -> str:
    return quote(line.rstrip("\r\n"))


def write_blocks(records: Iterable[Block], out: TextIO, number: Number, origin: str, word: str) -> int:
    """Write blocks as text, unchanged if read by this format; returns their count."""

    def spell(block: Block) -> str:
        if (block.scorer is not None) != (word == "SCORES"):
            wanted = "statistics of a scorer" if word == "SCORES" else "features"
            actual = "features" if block.scorer is None else f"statistics of {block.scorer}"
            raise BadField(wanted, actual, 1)
        return own(block, origin) or _compose(block, number, word)

    return write_each(records, out, spell)


def _compose(block: Block, number: Number, word: str) -> str:
    for name in (*block.names, *(block.scorer or "x",), *(name for row in block.sparse for name in row)):
        if blanks(name) != [name]:
            raise BadField("a name without blanks", quote(name), 5)
    width = len(block.rows[0]) if block.rows and block.scorer is not None else len(block.names)
    for row in block.rows:
        if len(row) != width:
            raise BadField(f"{width} values in each entry", f"{len(row)}", 4)
    title = block.scorer if block.scorer is not None else "".join(f"{name} " for name in block.names)
    parts = [f"{word}_TXT_BEGIN_0 {block.id} {len(block)} {width} {title}\n"]
    for i, row in enumerate(block.rows):
        more = block.sparse[i] if block.sparse else {}
        items = [*map(number, row), *(f"{name}={number(value)}" for name, value in more.items())]
        parts.append("".join(f"{item} " for item in items) + "\n")
    return "".join(parts) + f"{word}_TXT_END_0\n"
