"""A file of n-best lists as columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtformats.candidates import Candidates
from smtformats.columns import Columns, StringTable
from smtformats.display import ROWS, html_table
from smtformats.records import dataclass

if TYPE_CHECKING:
    from smtformats.columns import Floats, Ints


@dataclass(frozen=True, repr=False)
class ListColumns:
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

    def __repr__(self) -> str:
        counts = f"{len(self)} lists, {len(self.texts)} hypotheses, {len(self.features.names)} features"
        return f"<ListColumns of {self.file or '<data>'}: {counts}>"

    def _repr_html_(self) -> str:
        rows = []
        for k in range(min(len(self), ROWS)):
            first, last = int(self.offsets[k]), int(self.offsets[k + 1])
            total = None if self.totals is None or first == last else float(self.totals[first])
            text = self.texts[first] if first < last else None
            rows.append([self.ids[k], self.sources[k], last - first, text, total])
        return html_table(["id", "source", "hypotheses", "first", "total"], rows, caption=repr(self)[1:-1])

    def __getitem__(self, k: int) -> Candidates:
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
