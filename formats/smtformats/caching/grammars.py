"""Cache files of grammars."""

from __future__ import annotations

from smtformats.caching.arrays import Keeper, Layout, Parts, are_offsets, within
from smtformats.columns import GrammarColumns, IndexedColumns

_TABLES = ("words", "labels", "names")
_INDEX = tuple(f"index.{i}" for i in range(5))
_ARRAYS = {
    "lhs": "i4",
    "level": "u1",
    "source": "i4",
    "source_offsets": "i8",
    "target": "i4",
    "target_offsets": "i8",
    "features": "i4",
    "values": "f4",
    "feature_offsets": "i8",
    "points": "i2",
    "point_offsets": "i8",
}
_BYTES = {f"{table}.{part}": dtype for table in _TABLES for part, dtype in (("blob", "u1"), ("offsets", "i8"))}
_LAYOUT = Layout(b"smtcache", 3, {**_ARRAYS, **_BYTES, **dict.fromkeys(_INDEX, "i4")})


def _parts(columns: GrammarColumns) -> Parts:
    import numpy as np

    parts: Parts = {name: getattr(columns, name) for name in _ARRAYS}
    for name in _TABLES:
        table = getattr(columns, name)
        parts[f"{name}.blob"] = np.frombuffer(table.blob, "u1")
        parts[f"{name}.offsets"] = table.offsets
    index = (isinstance(columns, IndexedColumns) and columns.index) or ()
    return parts | {name: index[i] if i < len(index) else () for i, name in enumerate(_INDEX)}


def _columns(parts: Parts) -> GrammarColumns | None:
    if not stays_within(parts):
        return None
    tables = {table: (memoryview(parts[f"{table}.blob"]), parts[f"{table}.offsets"]) for table in _TABLES}
    columns = GrammarColumns.of({**{name: parts[name] for name in _ARRAYS}, **tables})
    index = tuple(parts[name] for name in _INDEX)
    return IndexedColumns.indexed(columns, index) if any(map(len, index)) else columns


def stays_within(parts: Parts) -> bool:
    """Whether all offsets and numbers are in range; the code that built the index checks it."""
    rules = len(parts["lhs"])
    spans = [("source", "source"), ("target", "target"), ("feature", "features"), ("feature", "values")]
    ends = [(f"{name}_offsets", len(parts[part]), rules) for name, part in spans]
    ends.append(("point_offsets", len(parts["points"]) // 2, rules))
    sizes = {table: len(parts[f"{table}.offsets"]) - 1 for table in _TABLES}
    ends += [(f"{table}.offsets", len(parts[f"{table}.blob"]), size) for table, size in sizes.items()]
    if len(parts["level"]) != rules or len(parts["points"]) % 2:
        return False
    if not all(are_offsets(parts[name], end, count) for name, end, count in ends):
        return False
    words, labels, names = sizes.values()
    longest = int((parts["source_offsets"][1:] - parts["source_offsets"][:-1]).max(initial=0))
    return (
        within(parts["lhs"], 0, labels)
        and within(parts["source"], -labels, words)
        and within(parts["target"], -longest, words)
        and within(parts["features"], 0, names)
        and within(parts["points"], 0, 1 << 15)
    )


KEEPER = Keeper(_LAYOUT, _parts, _columns)
