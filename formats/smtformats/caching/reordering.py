"""Cache files of reordering tables."""

from __future__ import annotations

from smtformats.caching.arrays import Keeper, Layout, Parts, are_offsets
from smtformats.columns import StringTable
from smtformats.reordering.rows import ReorderingColumns

_LAYOUT = Layout(
    b"smtorder", 1, {"keys.blob": "u1", "keys.offsets": "i8", "values": "f4", "width": "i4", "index": "u8"}
)


def _parts(columns: ReorderingColumns) -> Parts:
    import numpy as np

    return {
        "keys.blob": np.frombuffer(columns.keys.blob, "u1"),
        "keys.offsets": columns.keys.offsets,
        "values": columns.values,
        "width": columns.values.shape[1:],
        "index": () if columns.index is None else columns.index,
    }


def _columns(parts: Parts) -> ReorderingColumns | None:
    offsets, width = parts["keys.offsets"], parts["width"].tolist()
    rows = len(offsets) - 1
    if len(width) != 1 or rows * width[0] != len(parts["values"]):
        return None
    if not are_offsets(offsets, len(parts["keys.blob"]), rows):
        return None
    keys = StringTable(memoryview(parts["keys.blob"]), offsets)
    index = parts["index"] if len(parts["index"]) else None
    return ReorderingColumns(keys, parts["values"].reshape(rows, width[0]), index)


KEEPER = Keeper(_LAYOUT, _parts, _columns)
