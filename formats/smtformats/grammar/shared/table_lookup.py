"""Look up the phrases of a folder of ``smt-table``, or read all its rules.

It imports numpy: import it in the function that reads.
"""

from __future__ import annotations

import functools
import itertools
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtformats.caching.grammars import stays_within
from smtformats.columns import GrammarColumns, IndexedColumns, StringTable, spans, string_table
from smtformats.errors import FormatError
from smtformats.grammar.shared.lookup import encodable
from smtformats.grammar.shared.table_arrays import COLUMNS, HEAD, PHRASES, TABLES, phrase_hash, word_hash
from smtformats.grammar.shared.table_file import ARRAYS, TableFile
from smtformats.tokens import vector

Array = NDArray[Any]
_KEPT_HASHES = 1 << 16
_PIECE = 4096


class SmtTable:
    """An opened folder. ``table`` and ``owner`` rename its features, as those of the text that it was made of."""

    def __init__(self, file: TableFile, table: str = "", owner: str = "") -> None:
        self.file = file
        self.about = file.about
        self._table, self._owner = table, owner

    @property
    def has_phrases(self) -> bool:
        """Whether there are phrases alone, which can be looked up."""
        return bool(self.about["kind"] == PHRASES)

    @functools.cached_property
    def names(self) -> list[str]:
        """The names of all features."""
        return renamed(self._strings("names")[:], self.about, self._table, self._owner)

    def rules(self) -> GrammarColumns:
        """All rules, in the order of the text."""
        if self.has_phrases:
            rows = np.arange(self.about["rules"], dtype=np.int64)
            return self._phrases(rows, self._side_of_rule(), whole=True)
        tables = {name: self._strings(name) for name in TABLES} | {"names": string_table(self.names)}
        columns = self._checked({name: self.file.whole(name) for name in COLUMNS}, tables)
        index = [f"index.{number}" for number in range(5)]
        if not all(name in self.file for name in index):
            return columns
        return IndexedColumns.indexed(columns, tuple(self.file.whole(name) for name in index))

    def pieces(self) -> Iterator[GrammarColumns]:
        """All rules, in the order of the text; phrases some at a time."""
        if not self.has_phrases:
            yield self.rules()
            return
        sides = self._side_of_rule()
        for first in range(0, len(sides), _PIECE):
            rows = np.arange(first, min(first + _PIECE, len(sides)), dtype=np.int64)
            yield self._phrases(rows, sides[rows], whole=False)

    def _side_of_rule(self) -> Array:
        """The number of each rule's source side."""
        starts = self.file.whole("starts")
        sides = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        if "rows" not in self.file:
            return sides
        ordered = np.empty_like(sides)
        ordered[self.file.whole("rows")] = sides
        return ordered

    def _strings(self, name: str) -> StringTable:
        blob: Any = self.file.whole(f"{name}.blob")
        return StringTable(memoryview(blob), self.file.whole(f"{name}.offsets").astype(np.int64))

    def _wrong(self) -> FormatError:
        expected = "offsets and numbers in range (convert the table again)"
        return FormatError(expected, "others", file=f"{self.file.folder}/{ARRAYS}", line=1)

    # Look-ups.

    @property
    def longest(self) -> int:
        """The number of words of the longest source phrase."""
        return int(self.about["longest"])

    @functools.cached_property
    def _heads(self) -> list[int]:
        heads: list[int] = self.file.whole("heads").tolist()
        return heads

    @functools.cached_property
    def _word_hash(self) -> Any:
        salt = self.about["salt"]
        return functools.lru_cache(_KEPT_HASHES)(lambda word: word_hash(word.encode(), salt))

    def columns(self, phrases: Sequence[str]) -> GrammarColumns:
        """Return the rules of source phrases, words separated by single blanks."""
        phrases = encodable(phrases)
        hashes = [phrase_hash([self._word_hash(word) for word in phrase.split(" ")]) for phrase in phrases]
        # The head that a key follows is checked with the whole block, which is all that is searched.
        firsts = HEAD * np.array([max(bisect_right(self._heads, key) - 1, 0) for key in hashes], dtype=np.int64)
        ends = np.minimum(firsts + HEAD, self.about["sides"])
        keys = self.file.checked("keys", firsts, ends)
        found: list[tuple[int, str]] = []
        for phrase, key, first, end in zip(phrases, hashes, firsts.tolist(), ends.tolist(), strict=True):
            place = first + int(keys[first:end].searchsorted(np.uint64(key)))
            if place < end and int(keys[place]) == key:
                found.append((place, phrase))
        sides = self.file.at("sides", np.array([place for place, _ in found], dtype=np.int64)).astype(np.int64)
        same = [text == phrase for text, (_, phrase) in zip(self._texts(sides), found, strict=True)]
        sides = sides[np.array(same, dtype=bool)]
        firsts, ends = (
            self.file.at("starts", sides).astype(np.int64),
            self.file.at("starts", sides + 1).astype(np.int64),
        )
        if "rows" in self.file:
            rows = self.file.ranges("rows", firsts, ends).astype(np.int64)
        elif (firsts <= ends).all():
            rows = spans(firsts, ends)[1]
        else:
            raise self._wrong()
        return self._phrases(rows, np.repeat(sides, ends - firsts), whole=False)

    def _texts(self, sides: Array) -> list[str]:
        """The phrases of source sides."""
        source, offsets = self._parts("source", "source_offsets", sides)
        words, numbers = self._used_words(source)
        texts = words[:]
        spelt = [texts[number] for number in numbers.tolist()]
        return [" ".join(spelt[first:end]) for first, end in itertools.pairwise(offsets.tolist())]

    def sources(self) -> list[str]:
        """Return all source phrases."""
        return self._texts(np.arange(self.about["sides"], dtype=np.int64))

    def _parts(self, name: str, bounds: str, rows: Array, width: int = 1) -> tuple[Array, Array]:
        """The parts of a column that belong to these rows, and their offsets."""
        firsts, ends = self.file.at(bounds, rows).astype(np.int64), self.file.at(bounds, rows + 1).astype(np.int64)
        values = self.file.ranges(name, width * firsts, width * ends)
        return values, np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - firsts, dtype=np.int64)])

    def _phrases(self, rows: Array, sides: Array, *, whole: bool) -> GrammarColumns:
        """The rules of these numbers, with their source sides: of the ``whole`` table or with the words that occur."""
        source, source_offsets = self._parts("source", "source_offsets", sides)
        target, target_offsets = self._parts("target", "target_offsets", rows)
        count, offsets = len(rows), np.zeros(len(rows) + 1, dtype=np.int64)
        if whole:
            words = self._strings("words")
        else:
            words, used = self._used_words(np.concatenate([source, target]))
            source, target = used[: len(source)], used[len(source) :]
        points, point_offsets = np.empty(0, np.int16), offsets
        if "points" in self.file:
            points, point_offsets = self._parts("points", "point_offsets", rows, 2)
        names, features, values, feature_offsets = self._features(rows, whole or not count)
        labels = self._strings("labels")
        lhs = self.file.at("lhs", rows) if "lhs" in self.file else np.zeros(count, dtype=np.int32)
        found: dict[str, Any] = {
            "lhs": lhs,
            "level": np.zeros(count, dtype=np.uint8),
            "source": np.asarray(source, dtype=np.int32),
            "source_offsets": source_offsets,
            "target": np.asarray(target, dtype=np.int32),
            "target_offsets": target_offsets,
            "features": features,
            "values": values,
            "feature_offsets": feature_offsets,
            "points": np.asarray(points, dtype=np.int16),
            "point_offsets": point_offsets,
        }
        return self._checked(found, {"words": words, "labels": labels, "names": names})

    def _checked(self, arrays: Mapping[str, Array], tables: Mapping[str, StringTable]) -> GrammarColumns:
        """The columns of arrays and string tables, whose offsets and numbers are in range."""
        blobs = {f"{name}.blob": np.frombuffer(table.blob, "u1") for name, table in tables.items()}
        offsets = {f"{name}.offsets": table.offsets for name, table in tables.items()}
        if not stays_within({**arrays, **blobs, **offsets}):
            raise self._wrong()
        return GrammarColumns.of({**arrays, **{name: (table.blob, table.offsets) for name, table in tables.items()}})

    def _used_words(self, numbers: Array) -> tuple[StringTable, Array]:
        """The words of these numbers, each once, and the numbers in this table."""
        used, places = np.unique(numbers, return_inverse=True)
        if len(used) and not (used[0] >= 0 and used[-1] < self.file.count("words.offsets") - 1):
            raise self._wrong()
        found: tuple[Any, Array] = self._parts("words.blob", "words.offsets", used.astype(np.int64))
        return StringTable(memoryview(found[0]), found[1]), places.reshape(-1)

    def _features(self, rows: Array, all_names: bool) -> tuple[StringTable, Array, Array, Array]:
        """The names, numbers and values of the features of these rules, and their offsets."""
        width, count = self.about["width"], len(rows)
        dense = self._dense(rows).reshape(count, width)
        names, ends = self.names if all_names else self.names[:width], np.arange(count + 1, dtype=np.int64) * width
        features = np.tile(np.arange(width, dtype=np.int32), count)
        if "features" not in self.file:
            return string_table(names), features, dense.reshape(-1), ends
        more, offsets = self._parts("features", "feature_offsets", rows)
        extra, _ = self._parts("extra", "feature_offsets", rows)
        if not all_names:
            used, places = np.unique(more, return_inverse=True)
            if len(used) and not (used[0] >= 0 and used[-1] < len(self.names)):
                raise self._wrong()
            more = width + places.reshape(-1)
            names = [*names, *(self.names[number] for number in used.tolist())]
        both = ends + offsets
        # Behind the first features of each rule are its others.
        order_of_dense = (both[:-1, None] + np.arange(width)).reshape(-1)
        order_of_extra = np.arange(len(more)) + np.repeat(ends[1:], np.diff(offsets))
        numbers, values = np.empty(int(both[-1]), dtype=np.int32), np.empty(int(both[-1]), dtype=np.float32)
        numbers[order_of_dense], values[order_of_dense] = features, dense.reshape(-1)
        numbers[order_of_extra], values[order_of_extra] = more, extra
        return string_table(names), numbers, values, both

    def _dense(self, rows: Array) -> Array:
        width = self.about["width"]
        if not self.about["bits"]:
            return self.file.ranges("values", width * rows, width * (rows + 1))
        codes = self.file.ranges("codes", width * rows, width * (rows + 1)).reshape(len(rows), width)
        books = self.file.whole("books").reshape(width, 1 << self.about["bits"])
        values: Array = np.take_along_axis(books.T, codes.astype(np.int64), axis=0)
        return values

    def facts(self) -> dict[str, Any]:
        """Describe the table."""
        about = self.about
        quantised = f"to {about['bits']} bits of each value, from more digits" if about["bits"] else None
        return {
            "bytes": self.file.size,
            "used by": "look-ups of phrases" if self.has_phrases else "loading all rules",
            "source phrases": about.get("sides"),
            "quantised": quantised,
        }


def scores_of(names: Sequence[str], table: str) -> int:
    """The number of features that are scores of a table of this name, the first ones."""
    return max((n for n in range(1, len(names) + 1) if tuple(names[:n]) == vector(table, n)), default=0)


def renamed(names: Sequence[str], about: dict[str, Any], table: str, owner: str) -> list[str]:
    """The names of features with another table or owner, as the text that a folder was made of names them."""
    stored, joshuas = about.get("table"), about.get("owner")
    if joshuas and owner:
        old, new = f"tm_{joshuas}_", f"tm_{owner}_"
        return [new + name.removeprefix(old) if name.startswith(old) else name for name in names]
    if not stored or not (table or owner):
        return list(names)
    scores = scores_of(names, stored)
    dense = [f"tm_{owner}_{k}" for k in range(scores)] if owner else vector(table, scores)
    old, new = f"{stored}_", f"{stored if owner else table}_"
    rest = [new + name.removeprefix(old) if name.startswith(old) else name for name in names[scores:]]
    return [*dense[:scores], *rest]
