"""A hypergraph on disk: plain arrays, in a folder of .npy files or in one .npz, never pickled."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.columns import GrammarColumns, StringTable
from smtplugins.core.graph.hypergraph import COLUMNS, Hypergraph, core_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[Any]

VERSION = 1
CORE = ("edge_offsets", "tails", "tail_offsets")
TABLES = ("words", "labels", "names")


def arrays(graph: Hypergraph) -> dict[str, Array]:
    """All columns of a graph, as arrays by name."""
    import numpy as np

    columns: dict[str, Array] = {"version": np.array([VERSION], dtype=np.int32), "id": _bytes(graph.id.encode())}
    columns |= {name: getattr(graph, name) for name in (*CORE, *COLUMNS)}
    if graph.edge_scores is not None:
        columns["edge_scores"] = graph.edge_scores
    for prefix, owner in (("", graph), ("grammar.", graph.grammar)):
        for name in TABLES:
            table = getattr(owner, name) if (prefix or name != "words") else None
            if table is not None:
                columns[f"{prefix}{name}.text"] = _bytes(bytes(table.blob))
                columns[f"{prefix}{name}.offsets"] = table.offsets
    for field in fields(GrammarColumns):
        if field.name not in TABLES:
            columns[f"grammar.{field.name}"] = getattr(graph.grammar, field.name)
    return columns


def _bytes(text: bytes) -> Array:
    import numpy as np

    return np.frombuffer(text, dtype=np.uint8)


def save(graph: Hypergraph, path: str | Path) -> None:
    """Write each file under a temporary name, then rename it."""
    import numpy as np

    path = Path(path)
    columns = arrays(graph)
    if path.suffix == ".npz":
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        with aside.open("wb") as stream:
            np.savez(stream, **columns)  # type: ignore[arg-type]
        aside.replace(path)
        return
    path.mkdir(parents=True, exist_ok=True)
    for old in set(path.glob("*.npy")) - {path / f"{name}.npy" for name in columns}:
        old.unlink()
    for name, values in columns.items():
        aside = path / f".{name}.{os.getpid()}"
        with aside.open("wb") as stream:
            np.save(stream, values)
        aside.replace(path / f"{name}.npy")


def load(path: str | Path) -> Hypergraph:
    """Read and check the arrays; raises ValueError with the name of a wrong column."""
    import numpy as np

    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    if path.is_dir():
        return _graph(_Columns({file.stem: file for file in path.glob("*.npy")}, str(path)))
    with np.load(path, allow_pickle=False) as kept:
        return _graph(_Columns(kept, str(path)))


class _Columns:
    """Arrays by name, read on demand."""

    def __init__(self, kept: Mapping[str, Any], where: str) -> None:
        self.kept = kept
        self.where = where

    def __contains__(self, name: str) -> bool:
        return name in self.kept

    def get(self, name: str, kinds: str, dimensions: int = 1) -> Array:
        import numpy as np

        if name not in self.kept:
            raise ValueError(f"{self.where}: expected a column {name}, found none")
        try:
            stored = self.kept[name]
            array: Array = np.load(stored, allow_pickle=False) if isinstance(stored, Path) else stored
        except (ValueError, EOFError) as error:
            raise ValueError(f"{self.where}, {name}: {error}") from error
        if array.dtype.kind not in kinds or array.ndim != dimensions:
            wanted = f"{dimensions} dimensions of kind {' or '.join(kinds)}"
            raise ValueError(f"{self.where}, {name}: expected {wanted}, found {array.dtype}, shape {array.shape}")
        return array

    def offsets(self, name: str, rows: int | None, end: int) -> Array:
        import numpy as np

        offsets = self.get(name, "i")
        good = len(offsets) and offsets[0] == 0 and offsets[-1] == end and bool(np.all(np.diff(offsets) >= 0))
        if not good or (rows is not None and len(offsets) != rows + 1):
            raise ValueError(f"{self.where}, {name}: expected offsets that increase from 0 to {end}")
        return offsets

    def numbers(self, name: str, least: int, end: int) -> Array:
        numbers = self.get(name, "i")
        if len(numbers) and (numbers.min() < least or numbers.max() >= end):
            raise ValueError(f"{self.where}, {name}: expected numbers from {least} to below {end}")
        return numbers

    def table(self, name: str) -> StringTable:
        text = self.get(f"{name}.text", "u").astype("uint8").tobytes()
        offsets = self.offsets(f"{name}.offsets", None, len(text))
        table = StringTable(text, offsets)
        try:
            for _ in table:
                pass
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.where}, {name}: {error}") from error
        return table


def _graph(columns: _Columns) -> Hypergraph:
    import numpy as np

    if (version := columns.get("version", "i").tolist()) != [VERSION]:
        raise ValueError(f"{columns.where}, version: expected {VERSION}, found {version}")
    words, labels, names = (columns.table(f"grammar.{name}") for name in TABLES)
    lhs = columns.numbers("grammar.lhs", 0, len(labels))
    rules = len(lhs)
    parts: dict[str, Any] = {
        "source": columns.numbers("grammar.source", -len(labels), len(words)),
        "target": columns.numbers("grammar.target", np.iinfo(np.int32).min, len(words)),
        "features": columns.numbers("grammar.features", 0, len(names)),
        "points": columns.get("grammar.points", "i", 2),
    }
    ends = {
        f"{name}_offsets": columns.offsets(
            f"grammar.{name}_offsets", rules, len(parts[f"{name}s" if name == "point" else name])
        )
        for name in ("source", "target", "point")
    }
    ends["feature_offsets"] = columns.offsets("grammar.feature_offsets", rules, len(parts["features"]))
    grammar = GrammarColumns(
        lhs=lhs,
        level=columns.get("grammar.level", "iu"),
        values=columns.get("grammar.values", "f"),
        words=words,
        labels=labels,
        names=names,
        **parts,
        **ends,
    )
    kinds = {"int32": "i", "int64": "i", "float32": "f"}
    return Hypergraph(
        id=columns.get("id", "u").astype("uint8").tobytes().decode(),
        core=core_graph(*(columns.get(name, "i") for name in CORE)),
        edge_scores=columns.get("edge_scores", "f") if "edge_scores" in columns else None,
        grammar=grammar,
        labels=columns.table("labels"),
        names=columns.table("names"),
        **{
            name: columns.get(name, kinds[kind], 2 if name in ("spans", "dense") else 1)
            for name, kind in COLUMNS.items()
        },
    )
