"""Columns: numpy arrays and local string tables.

``Columns`` are sparse rows of named numbers, one row per hypothesis (or rule); ``GrammarColumns`` hold a grammar. Lists
use float64, unlike the float32 of rules and edges, because their numbers have to print again to the last digit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, overload

from smtformats.display import NAMES, ROWS, html_table
from smtformats.errors import first_of
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Ints = NDArray[np.integer]
    Floats = NDArray[np.floating]
    Bounds = NDArray[np.int64]
    Symbols = NDArray[np.int32]
    Sides = tuple[NDArray[np.uint8], Bounds, Symbols, Bounds, Symbols, Bounds, Symbols]


@dataclass(frozen=True, repr=False)
class Columns:
    """Sparse rows of named values: row i holds ``values[offsets[i]:offsets[i+1]]``, named by ``names[ids[...]]``."""

    names: tuple[str, ...]
    offsets: Ints
    ids: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<Columns: {len(self)} rows of {first_of(self.names, 5) or 'no names'}>"

    def _repr_html_(self) -> str:
        rows = [[i, *map(self[i].get, self.names[:NAMES])] for i in range(min(len(self), ROWS))]
        more = len(self) > ROWS or len(self.names) > NAMES
        return html_table(["", *self.names[:NAMES]], rows, caption=repr(self)[1:-1] if more else "")

    def __getitem__(self, index: int) -> dict[str, float]:
        return self.row(range(len(self))[index])

    @classmethod
    def dense(cls, names: Sequence[str], values: ArrayLike) -> Columns:
        """Build columns in which every row has every name; ``values`` is a matrix of rows x names."""
        import numpy as np

        table = np.asarray(values, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != len(names):
            wanted = f"{len(names)} values a row for {', '.join(names)}"
            raise ValueError(f"expected {wanted}, found shape {table.shape}")
        rows, width = table.shape
        offsets = np.arange(rows + 1, dtype=np.int64) * width
        ids = np.tile(np.arange(width, dtype=np.int32), rows)
        return cls(tuple(names), offsets, ids, np.ascontiguousarray(table).ravel())

    @classmethod
    def from_rows(cls, layouts: Sequence[tuple[str, ...]], values: Sequence[Sequence[float]]) -> Columns:
        """Build columns from rows with their own names."""
        import numpy as np

        if layouts and all(layout is layouts[0] or layout == layouts[0] for layout in layouts):
            if not layouts[0]:
                return cls.dense((), np.empty((len(layouts), 0)))
            return cls.dense(layouts[0], values)
        table: dict[str, int] = {}
        lengths = np.fromiter(map(len, layouts), dtype=np.int64, count=len(layouts))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        count = int(offsets[-1])
        named = (table.setdefault(name, len(table)) for layout in layouts for name in layout)
        ids = np.fromiter(named, dtype=np.int32, count=count)
        flat = np.fromiter((value for row in values for value in row), dtype=np.float64, count=count)
        return cls(tuple(table), offsets, ids, flat)

    @classmethod
    def from_mappings(cls, rows: Sequence[Mapping[str, float]]) -> Columns:
        """Build columns from dictionaries; each row is sorted by name."""
        ordered = [sorted(row) for row in rows]
        values = [[row[name] for name in names] for row, names in zip(rows, ordered, strict=True)]
        return cls.from_rows([tuple(names) for names in ordered], values)

    def row(self, index: int) -> dict[str, float]:
        """One row as a dictionary."""
        first, last = self.offsets[index], self.offsets[index + 1]
        named = zip(self.ids[first:last], self.values[first:last], strict=True)
        return {self.names[i]: float(value) for i, value in named}

    def rows(self, first: int, last: int) -> tuple[list[tuple[str, ...]], list[list[float]]]:
        """Names and values of rows ``first`` to ``last`` (exclusive); rows with the same names share one tuple."""
        bounds = self.offsets[first : last + 1].tolist()
        start = bounds[0]
        ids, values = self.ids[start : bounds[-1]], self.values[start : bounds[-1]].tolist()
        known: dict[bytes, tuple[str, ...]] = {}
        layouts, rows = [], []
        for a, b in itertools.pairwise(bound - start for bound in bounds):
            numbers = ids[a:b]
            key = numbers.tobytes()
            if key not in known:
                known[key] = tuple([self.names[i] for i in numbers.tolist()])
            layouts.append(known[key])
            rows.append(values[a:b])
        return layouts, rows

    def table(self) -> Floats | None:
        """The values as a matrix of rows x names, if every row has all names in the order of ``names``."""
        import numpy as np

        shape = len(self), len(self.names)
        if len(self.values) != shape[0] * shape[1] or (np.diff(self.offsets) != shape[1]).any():
            return None
        if (self.ids.reshape(shape) != np.arange(shape[1])).any():
            return None
        return self.values.reshape(shape)

    def dot(self, weights: Floats) -> NDArray[np.float64]:
        """The dot product of each row with ``weights`` (indexed as ``names``), in float64.

        Products are added in alphabetical order of their names, so that the total does not depend on the order in
        which a toolkit wrote the features.
        """
        import numpy as np

        rows = len(self)
        totals = np.zeros(rows)
        order_of_names = sorted(range(len(self.names)), key=self.names.__getitem__)
        table = self.table()
        if table is not None:
            for i in order_of_names:
                totals += table[:, i].astype(np.float64) * weights[i]
            return totals
        rank = np.empty(len(self.names), dtype=np.int64)
        rank[order_of_names] = np.arange(len(self.names))
        products = np.asarray(self.values, dtype=np.float64) * weights[self.ids]
        row_of = np.repeat(np.arange(rows), np.diff(self.offsets))
        order = np.lexsort((rank[self.ids], row_of))
        np.add.at(totals, row_of[order], products[order])
        return totals

    def __add__(self, other: Columns) -> Columns:
        """Merge two tables of the same rows; values of the same name are added."""
        if len(self) != len(other):
            raise ValueError(f"expected {len(self)} rows, found {len(other)}")
        rows = [self.row(i) for i in range(len(self))]
        for i, row in enumerate(rows):
            for name, value in other.row(i).items():
                row[name] = row.get(name, 0.0) + value
        return Columns.from_mappings(rows)


class StringTable(Sequence[str]):
    """Strings by number: one blob of UTF-8 bytes with offsets, decoded on access."""

    def __init__(self, blob: bytes | memoryview, offsets: Ints) -> None:
        self.blob = blob
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            first, last, step = index.indices(len(self))
            if step != 1:
                return [self[i] for i in range(first, last, step)]
            bounds = self.offsets[first : last + 1].tolist()
            return [str(self.blob[a:b], "utf-8") for a, b in itertools.pairwise(bounds)]
        at = range(len(self))[index]
        return str(self.blob[self.offsets[at] : self.offsets[at + 1]], "utf-8")

    def __reduce__(self) -> tuple[Any, ...]:
        # Copy a blob that is mapped from a file, as pickling copies the offsets.
        return StringTable, (bytes(self.blob), self.offsets)

    def __repr__(self) -> str:
        return f"<{len(self)} strings>"

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return len(self.blob) + int(self.offsets.nbytes)


def spans(firsts: Ints, ends: Ints) -> tuple[Bounds, Bounds]:
    """The offsets of these parts of a column joined in this order, and the position of each of their values in it."""
    import numpy as np

    sizes = ends - firsts
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    return offsets, np.arange(int(offsets[-1]), dtype=np.int64) + np.repeat(firsts - offsets[:-1], sizes)


def gathered(offsets: Ints, rows: Ints) -> tuple[Bounds, Bounds]:
    """The offsets of these rows joined in this order, and the position of each of their values in the column."""
    import numpy as np

    return spans(offsets[rows].astype(np.int64), offsets[rows + 1].astype(np.int64))


def string_table(strings: Iterable[str]) -> StringTable:
    """Build a table of strings in the given order; duplicates are kept."""
    import numpy as np

    encoded = [text.encode() for text in strings]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(list(map(len, encoded)), dtype=np.int64)])
    return StringTable(b"".join(encoded), offsets)


@dataclass(frozen=True)
class GrammarColumns:
    """A synchronous grammar; in a column c, rule i has ``c[c_offsets[i]:c_offsets[i+1]]``.

    ``lhs`` holds label numbers. ``source`` holds word numbers, or -1 - label for a non-terminal; ``target`` holds word
    numbers, or -1 - k for the k-th non-terminal of the source side, from 0. ``features`` holds name numbers, without
    duplicates in a rule, and ``values`` their values; ``points`` are pairs of source and target positions. ``level`` is
    the refinement level for coarse-to-fine search: a rule of level n > 0 refines a preceding rule of level n - 1.
    Decoders without coarse-to-fine search use level 0 only.
    """

    lhs: Ints
    level: Ints
    source: Ints
    source_offsets: Ints
    target: Ints
    target_offsets: Ints
    features: Ints
    values: Floats
    feature_offsets: Ints
    points: Ints
    point_offsets: Ints
    words: StringTable
    labels: StringTable
    names: StringTable

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> GrammarColumns:
        """Build columns from a native scanner's output: arrays by field, string tables as bytes and offsets."""
        tables = {name: StringTable(*parts[name]) for name in ("words", "labels", "names")}
        return cls(**{**parts, **tables, "points": parts["points"].reshape(-1, 2)})

    def __len__(self) -> int:
        return len(self.lhs)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(int(getattr(self, column.name).nbytes) for column in fields(GrammarColumns))

    def take(self, rows: Ints) -> GrammarColumns:
        """The rules of these numbers, in this order; the string tables stay."""
        taken: dict[str, Any] = {"lhs": self.lhs[rows], "level": self.level[rows]}
        for name in ("source", "target", "feature", "point"):
            offsets, places = gathered(getattr(self, f"{name}_offsets"), rows)
            taken[f"{name}_offsets"] = offsets
            for column in {"feature": ("features", "values"), "point": ("points",)}.get(name, (name,)):
                taken[column] = getattr(self, column)[places]
        return GrammarColumns(**taken, words=self.words, labels=self.labels, names=self.names)

    def native_sides(self, chosen: Ints) -> Sides:
        """Words, sources, targets and the ``chosen`` rules' numbers, as native look-ups of phrase pairs take them."""
        import numpy as np

        offsets = (self.words.offsets, self.source_offsets, self.target_offsets)
        words, sources, targets = (np.ascontiguousarray(bounds, dtype=np.int64) for bounds in offsets)
        source, target, rules = (
            np.ascontiguousarray(ids, dtype=np.int32) for ids in (self.source, self.target, chosen)
        )
        return np.frombuffer(self.words.blob, dtype=np.uint8), words, source, sources, target, targets, rules

    def rule(self, i: int) -> Rule:
        """Rule i as a record."""

        def part(column: Ints | Floats, offsets: Ints) -> list[Any]:
            values: list[Any] = column[offsets[i] : offsets[i + 1]].tolist()
            return values

        source: list[Symbol] = []
        gaps: list[NonTerminal] = []
        for symbol in part(self.source, self.source_offsets):
            if symbol < 0:
                gaps.append(NonTerminal(self.labels[-1 - symbol], len(gaps) + 1))
            source.append(self.words[symbol] if symbol >= 0 else gaps[-1])
        target = part(self.target, self.target_offsets)
        # A format without source sides does not know the labels of the target's non-terminals.
        gaps += [NonTerminal("", k) for k in range(len(gaps) + 1, 1 - min(target, default=0))]
        return Rule(
            lhs=self.labels[int(self.lhs[i])],
            source=tuple(source),
            target=tuple(self.words[symbol] if symbol >= 0 else gaps[-1 - symbol] for symbol in target),
            names=tuple(self.names[name] for name in part(self.features, self.feature_offsets)),
            values=tuple(part(self.values, self.feature_offsets)),
            alignment=tuple((s, t) for s, t in part(self.points, self.point_offsets)),
            level=int(self.level[i]),
        )


@dataclass(frozen=True)
class IndexedColumns(GrammarColumns):
    """Columns with an index of their rules: int32 arrays that only the code that built them interprets."""

    built: tuple[Ints, ...] = ()
    sides: tuple[object, ...] = ()

    @classmethod
    def indexed(cls, columns: GrammarColumns, index: tuple[Ints, ...]) -> IndexedColumns:
        """Attach an index of the source sides."""
        arrays = {column.name: getattr(columns, column.name) for column in fields(GrammarColumns)}
        return cls(**arrays, built=index, sides=_source_sides(columns))

    @property
    def index(self) -> tuple[Ints, ...] | None:
        """The index, or ``None`` if the source sides were replaced after it was built."""
        same = all(side is other for side, other in zip(self.sides, _source_sides(self), strict=True))
        return self.built if same else None


def _source_sides(columns: GrammarColumns) -> tuple[object, ...]:
    return columns.lhs, columns.level, columns.source, columns.source_offsets, columns.words, columns.labels
