"""Helpers for readers and writers of graphs: sentence ids, file contents, sorted edges, checksums."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from smtformats.columns import GrammarColumns, StringTable
from smtformats.errors import FormatError
from smtformats.files import Lines, stem_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtformats.hypergraph.graph import GraphColumns


def sentence_id(name: str) -> str:
    """Return the number before the first point of a file name, else the name without its suffixes."""
    stem = stem_of(name)
    digits = re.match(r"[0-9]+(?=\.|\Z)", stem)
    return digits[0] if digits else stem


def read_all(lines: Lines) -> bytes:
    """Return all bytes of a file."""
    try:
        return lines.stream.read()
    except EOFError as error:
        raise lines.error("a complete compressed file", str(error), 1, 1) from error


def ends(counts: Iterable[int]) -> NDArray[np.int64]:
    """Return the offsets of parts of these sizes."""
    import numpy as np

    sizes = np.fromiter(counts, dtype=np.int64)
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


def reorder(order: NDArray[np.int64], offsets: NDArray[np.int64], *columns: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return new offsets, and columns whose part i is the former part ``order[i]``."""
    import numpy as np

    if np.array_equal(order, np.arange(len(offsets) - 1)):
        return (offsets, *columns)
    sizes = np.diff(offsets)[order]
    new = ends(sizes)
    at = np.arange(int(new[-1])) + np.repeat(offsets[:-1][order] - new[:-1], sizes)
    return (new, *(column[at] for column in columns))


def with_text(graph: GraphColumns, format: str, text: str, *, shows_id: bool = True) -> GraphColumns:
    """Return the graph with the text it was read from, for its writer; ``shows_id``: the text has the sentence id."""
    extras = {**graph.extras, "format": format, "raw": text, **({"id": graph.id} if shows_id else {})}
    graph = replace(graph, extras=extras)
    extras["read"] = checksum(graph)
    return graph


def spell(graph: GraphColumns, format: str, make: Callable[[], Iterable[str]]) -> str:
    """Return the text a graph was read from if this format read it and nothing changed, else compose it by ``make``."""
    extras = graph.extras
    own = extras.get("format") == format and extras.get("id", graph.id) == graph.id
    if own and extras["read"] == checksum(graph):
        text: str = extras["raw"]
        return text
    return "".join(make())


def only_one(graphs: Iterable[GraphColumns]) -> Iterator[GraphColumns]:
    """Yield the graph of a file that can hold only one."""
    for count, graph in enumerate(graphs):
        if count:
            raise FormatError("one graph in a file", "a second one", file=graph.file, line=graph.line)
        yield graph


def checksum(graph: GraphColumns) -> int:
    """Return a checksum of the columns of a graph and the arrays in its extras."""
    return _checksum(graph, _checksum(list(graph.extras.values()), 0))


def _checksum(value: Any, before: int) -> int:
    import numpy as np

    if isinstance(value, np.ndarray):
        return zlib.crc32(np.ascontiguousarray(value).data, zlib.crc32(f"{value.dtype}{value.shape}".encode(), before))
    if isinstance(value, StringTable):
        return _checksum(value.offsets, zlib.crc32(value.blob, before))
    if isinstance(value, list):
        parts = value
    elif isinstance(value, GrammarColumns) or hasattr(value, "edge_offsets"):
        parts = [getattr(value, field.name) for field in fields(value)]
    else:
        return before
    for part in parts:
        before = _checksum(part, before)
    return before
