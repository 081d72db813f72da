"""A hypergraph on disk: plain arrays, in a folder of .npy files or in one .npz, never pickled."""

from __future__ import annotations

import functools
import io
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtformats.columns import GrammarColumns, StringTable
from smtplugins.core.graph.hypergraph import COLUMNS, Hypergraph, core_graph

Array = NDArray[Any]

VERSION = 1
CORE = ("edge_offsets", "tails", "tail_offsets")
TABLES = ("words", "labels", "names")
# Graphs have dozens of short arrays: most of the time of numpy's functions goes into headers. Arrays of these kinds are
# written and read without them, in the same bytes.
_PLAIN = "biuf"


def arrays(graph: Hypergraph) -> dict[str, Array]:
    """All columns of a graph, as arrays by name."""
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
    return np.frombuffer(text, dtype=np.uint8)


def save(graph: Hypergraph, path: str | Path) -> None:
    """Write each file under a temporary name, then rename it."""
    path = Path(path)
    columns = arrays(graph)
    if path.suffix == ".npz":
        aside = path.with_name(f".{path.name}.{os.getpid()}.part")
        archive = io.BytesIO()  # of many short members, each of which would seek in a file
        with zipfile.ZipFile(archive, "w") as members:
            for name, values in columns.items():
                with members.open(f"{name}.npy", "w", force_zip64=True) as out:
                    out.write(_array_bytes(values))
        aside.write_bytes(archive.getbuffer())
        aside.replace(path)
        return
    path.mkdir(parents=True, exist_ok=True)
    for old in set(path.glob("*.npy")) - {path / f"{name}.npy" for name in columns}:
        old.unlink()
    for name, values in columns.items():
        aside = path / f".{name}.{os.getpid()}.part"
        with aside.open("wb") as stream:
            np.save(stream, values)
        aside.replace(path / f"{name}.npy")


def _array_bytes(values: Array) -> bytes:
    """The content of an .npy file."""
    if values.dtype.kind in _PLAIN and values.flags.c_contiguous:
        return _header(values.dtype.str, values.shape) + values.tobytes()
    out = io.BytesIO()
    np.lib.format.write_array(out, values, allow_pickle=False)
    return out.getvalue()


@functools.lru_cache(maxsize=1 << 12)
def _header(kind: str, shape: tuple[int, ...]) -> bytes:
    """What precedes the numbers in an .npy file of version 1."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": kind, "fortran_order": False, "shape": shape})
    return out.getvalue()


def _array(content: bytes) -> Array:
    """The array of an .npy file."""
    if content.startswith(b"\x93NUMPY\x01\x00"):
        start = 10 + int.from_bytes(content[8:10], "little")
        shape, fortran, kind = _layout(content[8:start])
        if kind.kind in _PLAIN and not fortran and len(content) == start + kind.itemsize * math.prod(shape):
            view: Array = np.ndarray(shape, kind, content, start)
            return view
    array: Array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    return array


@functools.lru_cache(maxsize=1 << 12)
def _layout(header: bytes) -> tuple[tuple[int, ...], bool, Any]:
    """The shape, Fortran order and dtype that the header of an .npy file of version 1 says."""
    return np.lib.format.read_array_header_1_0(io.BytesIO(header))


def load(path: str | Path) -> Hypergraph:
    """Read and check the arrays; raises ValueError with the name of a wrong column."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    if path.is_dir():
        return _graph(_Columns({file.stem: file.read_bytes for file in path.glob("*.npy")}, str(path)))
    try:
        members = zipfile.ZipFile(io.BytesIO(path.read_bytes()))
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path}: {error}") from error
    with members:
        names = [name.removesuffix(".npy") for name in members.namelist()]
        return _graph(_Columns({name: functools.partial(members.read, f"{name}.npy") for name in names}, str(path)))


class _Columns:
    """Arrays by name, read on demand."""

    def __init__(self, kept: Mapping[str, Callable[[], bytes]], where: str) -> None:
        self.kept = kept
        self.where = where

    def __contains__(self, name: str) -> bool:
        return name in self.kept

    def get(self, name: str, kinds: str, dimensions: int = 1) -> Array:
        if name not in self.kept:
            raise ValueError(f"{self.where}: expected a column {name}, found none")
        try:
            array = _array(self.kept[name]())
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{self.where}, {name}: {error}") from error
        if array.dtype.kind not in kinds or array.ndim != dimensions:
            wanted = f"{dimensions} dimensions of kind {' or '.join(kinds)}"
            raise ValueError(f"{self.where}, {name}: expected {wanted}, found {array.dtype}, shape {array.shape}")
        return array

    def offsets(self, name: str, rows: int | None, end: int) -> Array:
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
