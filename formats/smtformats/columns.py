"""Plain columns: numpy arrays and a local string table, without a class per value.

``Columns`` are sparse named numbers, a row per hypothesis (or rule); ``ListColumns`` a whole file of n-best
lists, ``GrammarColumns`` a grammar. Lists keep float64, not the float32 of rules and edges: what was read has to be
printed again to its last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from smtformats.candidates import Candidates
    from smtformats.grammar.rules import Rule

    Ints = NDArray[np.integer]
    Floats = NDArray[np.floating]


@dataclass(frozen=True)
class Columns:
    """Sparse rows of named values: row i holds ``values[offsets[i]:offsets[i+1]]``, named by ``names[ids[...]]``."""

    names: tuple[str, ...]
    offsets: Ints
    ids: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def dense(cls, names: Sequence[str], values: ArrayLike) -> Columns:
        """Columns in which every row has every name; ``values`` is rows x names."""
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
        """Columns of rows that each bring their own names."""
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
        """Columns of dictionaries; names are ordered by name in each row."""
        ordered = [sorted(row) for row in rows]
        values = [[row[name] for name in names] for row, names in zip(rows, ordered, strict=True)]
        return cls.from_rows([tuple(names) for names in ordered], values)

    def row(self, index: int) -> dict[str, float]:
        """One row as a dictionary."""
        first, last = self.offsets[index], self.offsets[index + 1]
        named = zip(self.ids[first:last], self.values[first:last], strict=True)
        return {self.names[i]: float(value) for i, value in named}

    def dot(self, weights: Floats) -> NDArray[np.float64]:
        """Row sums of value x weight, ``weights`` by the local name table: float64, in the order of the names.

        Adding in the order of names, not of arrival, gives the same total whatever order a toolkit wrote.
        """
        import numpy as np

        rows = len(self)
        width = len(self.names)
        rank = np.empty(width, dtype=np.int64)
        rank[sorted(range(width), key=self.names.__getitem__)] = np.arange(width)
        products = np.asarray(self.values, dtype=np.float64) * weights[self.ids]
        row_of = np.repeat(np.arange(rows), np.diff(self.offsets))
        order = np.lexsort((rank[self.ids], row_of))
        totals = np.zeros(rows)
        np.add.at(totals, row_of[order], products[order])
        return totals

    def __add__(self, other: Columns) -> Columns:
        """The same rows with the values of both; a name in both is summed."""
        if len(self) != len(other):
            raise ValueError(f"expected {len(self)} rows, found {len(other)}")
        rows = [self.row(i) for i in range(len(self))]
        for i, row in enumerate(rows):
            for name, value in other.row(i).items():
                row[name] = row.get(name, 0.0) + value
        return Columns.from_mappings(rows)


@dataclass(frozen=True)
class ListColumns:
    """A whole file of n-best lists: list k is the hypotheses ``offsets[k]:offsets[k+1]``."""

    ids: tuple[str, ...]
    offsets: Ints
    texts: tuple[str, ...]
    features: Columns
    totals: Floats | None
    sources: tuple[str | None, ...]
    lists: tuple[Candidates, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Candidates]:
        return iter(self.lists)

    @classmethod
    def from_lists(cls, lists: Iterable[Candidates]) -> ListColumns:
        """Gather a stream of lists."""
        import numpy as np

        kept = tuple(lists)
        sizes = [len(one) for one in kept]
        totals = None
        if kept and all(one.totals is not None for one in kept):
            every = (total for one in kept for total in one.totals or ())
            totals = np.fromiter(every, dtype=np.float64, count=sum(sizes))
        layouts = [layout for one in kept for layout in one.layouts]
        values = [row for one in kept for row in one.values]
        return cls(
            ids=tuple(one.id for one in kept),
            offsets=np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]),
            texts=tuple(text for one in kept for text in one.texts),
            features=Columns.from_rows(layouts, values),
            totals=totals,
            sources=tuple(one.source for one in kept),
            lists=kept,
        )


class StringTable(Sequence[str]):
    """Strings by number: one blob of UTF-8 bytes with offsets, decoded when asked for."""

    def __init__(self, blob: bytes, offsets: Ints) -> None:
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
            return [self[i] for i in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        return self.blob[self.offsets[at] : self.offsets[at + 1]].decode()

    def __repr__(self) -> str:
        return f"<{len(self)} strings>"

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return len(self.blob) + int(self.offsets.nbytes)


@dataclass(frozen=True)
class GrammarColumns:
    """A synchronous grammar; the part of rule i in a column c is ``c[c_offsets[i]:c_offsets[i+1]]``.

    ``lhs`` are numbers of labels. ``source`` are numbers of words, or -1 - label; ``target`` numbers of words, or
    -1 - k for the k-th non-terminal of the source side, from 0. ``features`` are numbers of names, each once a rule,
    with their ``values``; ``points`` are pairs of source and target positions. ``level`` is how often a rule refines
    a coarser one before it: a decoder that does not search coarse-to-fine uses those of level 0.
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
        """The columns of a scanner: arrays by field, string tables as bytes and offsets."""
        tables = {name: StringTable(*parts[name]) for name in ("words", "labels", "names")}
        return cls(**{**parts, **tables, "points": parts["points"].reshape(-1, 2)})

    def __len__(self) -> int:
        return len(self.lhs)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(int(getattr(self, one.name).nbytes) for one in fields(self))

    def rule(self, i: int) -> Rule:
        """Rule i as a record."""
        from smtformats.grammar.rules import NonTerminal, Rule, Symbol

        def part(column: Ints | Floats, offsets: Ints) -> list[Any]:
            found: list[Any] = column[offsets[i] : offsets[i + 1]].tolist()
            return found

        source: list[Symbol] = []
        gaps: list[NonTerminal] = []
        for one in part(self.source, self.source_offsets):
            if one < 0:
                gaps.append(NonTerminal(self.labels[-1 - one], len(gaps) + 1))
            source.append(self.words[one] if one >= 0 else gaps[-1])
        target = part(self.target, self.target_offsets)
        return Rule(
            lhs=self.labels[int(self.lhs[i])],
            source=tuple(source),
            target=tuple(self.words[one] if one >= 0 else gaps[-1 - one] for one in target),
            names=tuple(self.names[one] for one in part(self.features, self.feature_offsets)),
            values=tuple(part(self.values, self.feature_offsets)),
            alignment=tuple((s, t) for s, t in part(self.points, self.point_offsets)),
            level=int(self.level[i]),
        )
