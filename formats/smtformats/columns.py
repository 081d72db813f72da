"""N-best lists and grammars as columns: numpy arrays and local string tables.

``Columns`` are sparse rows of named numbers, one row per hypothesis (or rule); ``ListColumns`` hold a file of n-best
lists, ``GrammarColumns`` a grammar. Lists use float64, unlike the float32 of rules and edges, because their numbers
have to print again to the last digit.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, overload

from smtformats.display import DisplayedColumns, DisplayedLists

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from smtformats.candidates import Candidates
    from smtformats.grammar.rules import Rule

    Ints = NDArray[np.integer]
    Floats = NDArray[np.floating]


@dataclass(frozen=True, repr=False)
class Columns(DisplayedColumns):
    """Sparse rows of named values: row i holds ``values[offsets[i]:offsets[i+1]]``, named by ``names[ids[...]]``."""

    names: tuple[str, ...]
    offsets: Ints
    ids: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.offsets) - 1

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


def string_table(strings: Iterable[str]) -> StringTable:
    """Build a table of strings in the given order; duplicates are kept."""
    table = _Strings()
    table.extend(strings)
    return table.table()


class _Strings:
    """A string table that grows."""

    def __init__(self, empty: int = 0) -> None:
        self._blob = bytearray()
        self._offsets = array("q", bytes(8 * (empty + 1)))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def extend(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._blob += text.encode()
            self._offsets.append(len(self._blob))

    def table(self) -> StringTable:
        import numpy as np

        return StringTable(bytes(self._blob), np.array(self._offsets, dtype=np.int64))


class _Rows:
    """Rows of named values that grow."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._ids = array("i")
        self._values = array("d")
        self._offsets = array("q", [0])

    def extend(self, layouts: Iterable[tuple[str, ...]], values: Iterable[Sequence[float]]) -> None:
        last: tuple[str, ...] | None = None
        numbers = array("i")
        for layout, row in zip(layouts, values, strict=True):
            if layout is not last:
                last, numbers = layout, array("i", [self._names.setdefault(name, len(self._names)) for name in layout])
            self._ids += numbers
            self._values.extend(row)
            self._offsets.append(len(self._values))

    def columns(self) -> Columns:
        import numpy as np

        ids = np.array(self._ids, dtype=np.int32)
        return Columns(tuple(self._names), np.array(self._offsets, dtype=np.int64), ids, np.array(self._values))


@dataclass(frozen=True, repr=False)
class ListColumns(DisplayedLists):
    """A file of n-best lists; indexing gives list k, hypotheses ``offsets[k]:offsets[k+1]``, as :class:`Candidates`.

    ``texts``, ``features`` and ``totals`` (``None`` unless every list has them) are indexed by hypothesis, and so are
    the extra fields in ``extras``, which are empty where a hypothesis has none. ``sources``, ``annotations`` and
    ``lines``, the line of ``file`` where each list begins, are indexed by list. Raw lines are not kept: lists written
    from columns are composed anew.
    """

    ids: tuple[str, ...]
    offsets: Ints
    texts: StringTable
    features: Columns
    totals: Floats | None
    extras: Mapping[str, StringTable]
    sources: tuple[str | None, ...]
    annotations: tuple[Mapping[str, str], ...]
    lines: Ints
    file: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, k: int) -> Candidates:
        from smtformats.candidates import Candidates

        k = range(len(self))[k]
        first, last = int(self.offsets[k]), int(self.offsets[k + 1])
        layouts, values = self.features.rows(first, last)
        return Candidates(
            id=self.ids[k],
            texts=self.texts[first:last],
            layouts=layouts,
            values=values,
            totals=None if self.totals is None else self.totals[first:last].tolist(),
            extras={name: table[first:last] for name, table in self.extras.items()},
            file=self.file,
            line=int(self.lines[k]),
            first=first,
            source=self.sources[k],
            annotations=self.annotations[k],
        )

    def __iter__(self) -> Iterator[Candidates]:
        return (self[k] for k in range(len(self)))

    @property
    def nbytes(self) -> int:
        """Bytes of memory, without ids, sources and annotations."""
        features = self.features
        tables = self.texts.nbytes + sum(table.nbytes for table in self.extras.values())
        arrays = (self.offsets, self.lines, features.offsets, features.ids, features.values, self.totals)
        return tables + sum(int(column.nbytes) for column in arrays if column is not None)

    @classmethod
    def of(cls, parts: Mapping[str, Any], file: str) -> ListColumns:
        """Build columns from a native scanner's output: arrays by field, string tables as bytes and offsets."""
        ids, names = (tuple(StringTable(*parts[name])[:]) for name in ("ids", "names"))
        return cls(
            ids=ids,
            offsets=parts["offsets"],
            texts=StringTable(*parts["texts"]),
            features=Columns(names, parts["feature_offsets"], parts["features"], parts["values"]),
            totals=parts["totals"],
            extras={name: StringTable(*table) for name, table in parts["extras"].items()},
            sources=(None,) * len(ids),
            annotations=({},) * len(ids),
            lines=parts["lines"],
            file=file,
        )

    @classmethod
    def from_lists(cls, lists: Iterable[Candidates]) -> ListColumns:
        """Build columns from a stream of lists."""
        import numpy as np

        ids, sources, annotations, files = [], [], [], set()
        texts = _Strings()
        extras: dict[str, _Strings] = {}
        rows = _Rows()
        totals: array[float] | None = array("d")
        sizes, lines = array("q", [0]), array("q")
        for nbest in lists:
            ids.append(nbest.id)
            sources.append(nbest.source)
            annotations.append(nbest.annotations)
            files.add(nbest.file)
            lines.append(nbest.line)
            for name in nbest.extras:
                if name not in extras:
                    extras[name] = _Strings(len(texts))
            for name, column in extras.items():
                column.extend(nbest.extras.get(name) or [""] * len(nbest))
            texts.extend(nbest.texts)
            rows.extend(nbest.layouts, nbest.values)
            if nbest.totals is None:
                totals = None
            elif totals is not None:
                totals.extend(nbest.totals)
            sizes.append(len(texts))
        return cls(
            ids=tuple(ids),
            offsets=np.array(sizes, dtype=np.int64),
            texts=texts.table(),
            features=rows.columns(),
            totals=None if totals is None or not ids else np.array(totals),
            extras={name: column.table() for name, column in extras.items()},
            sources=tuple(sources),
            annotations=tuple(annotations),
            lines=np.array(lines, dtype=np.int64),
            file=files.pop() if len(files) == 1 else "",
        )


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

    def rule(self, i: int) -> Rule:
        """Rule i as a record."""
        from smtformats.grammar.rules import NonTerminal, Rule, Symbol

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
