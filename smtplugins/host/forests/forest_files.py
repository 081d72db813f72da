"""Write each sentence's forest to a folder, one file per sentence, in any hypergraph format."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtformats.format import rounded
from smtformats.grammar.shared.gather import Numbering
from smtformats.records import dataclass
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.files.opening import Path, find_format, number, write_all
from smtplugins.host.spread.folders import OutputFolder, Parcel

if TYPE_CHECKING:
    from typing import TextIO

    from smtformats import Format
    from smtformats.hypergraph.graph import GraphColumns
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.host import Host

DEFAULT = "cdec-json-hypergraph"
_SEARCH, _NODES, _LINKS = "moses-search-graph", "moses-hypergraph", "slf-lattice"
_WEIGHTS = "weights"


@dataclass(frozen=True)
class ForestFiles:
    """Output of graphs: the folder, the format and the number precision.

    ``names`` are the features in the order of the configuration, used by Moses' formats; ``weights`` are the scales in
    Moses' SLF files and the weights file beside its hypergraphs.
    """

    folder: Path
    record: Format
    names: Sequence[str]
    weights: Mapping[str, float]
    precision: int | None
    output: OutputFolder

    @classmethod
    def of(
        cls,
        host: Host,
        folder: Path,
        format: str | None,
        names: Sequence[str],
        weights: Mapping[str, float],
        precision: int | None,
    ) -> ForestFiles:
        """Find the format; the folder is created when the first graph is written."""
        record = find_format(format or DEFAULT, "hypergraph", host.formats("hypergraph"))
        if record.write is None:
            fitting = [fmt.name for fmt in host.formats("hypergraph") if fmt.write is not None]
            raise UsageError(f"{record.name} can only be read; name another format: {', '.join(fitting)}")
        if record.name == _SEARCH:
            spec = Spec.parse(format or DEFAULT)
            # Moses identifies scores by order, not by name.
            named = Spec(spec.name, {"names": " ".join(names), **spec.options})
            record = find_format(named, "hypergraph", host.formats("hypergraph"))
        return cls(folder, record, names, weights, precision, OutputFolder(pathlib.Path(folder)))

    def write(self, graph: Hypergraph | None, key: str) -> Parcel:
        """Write the graph of a sentence; a sentence without a derivation gets no file.

        What is written on another machine is returned, for ``output.unpack`` of the process that spreads the work.
        """
        if graph is None:
            raise UsageError("forest output needs a decoder that returns graphs; this one does not")
        if not graph.nodes:
            return {}
        suffix = self.record.suffixes[0] if self.record.suffixes else ".txt"
        compressed = "" if self.record.binary or suffix.endswith(".gz") else ".gz"
        with self.output.written() as (folder, parcel):
            name = os.path.join(folder, f"{key}{suffix}{compressed}")
            if os.path.dirname(os.path.abspath(name)) != os.path.abspath(folder):
                raise UsageError(f"expected an id that is a valid file name, found {key!r}")
            os.makedirs(folder, exist_ok=True)
            write_all(self.record, [self._columns(graph, key)], name, self.precision)
        return parcel

    def write_into(self, graph: Hypergraph, key: str, out: TextIO) -> None:
        """Write the graph of a sentence into a file of text; a sentence without a derivation has no lines."""
        if graph.nodes and self.record.write is not None:
            self.record.write([self._columns(graph, key)], out, number(self.precision))

    def write_beside(self) -> None:
        """Write the weights file that Moses puts beside its hypergraphs."""
        if self.record.name == _NODES:
            os.makedirs(self.folder, exist_ok=True)
            named = {name: self.weights.get(name, 0.0) for name in self.names}
            record = find_format("moses-hypergraph-weights", "weights")
            write_all(record, [named], os.path.join(os.fspath(self.folder), _WEIGHTS), self.precision)

    def _columns(self, graph: Hypergraph, key: str) -> GraphColumns:
        columns = replace(graph.to_columns(), id=key)
        if self.record.name == _LINKS:
            used = [name for name in columns.names if name in self.weights]
            columns = replace(columns, extras={"scales": {name: self.weights[name] for name in used}})
        if self.record.name in (_LINKS, _SEARCH, _NODES):
            return _in_order(columns, self.names)
        return columns


def _in_order(graph: GraphColumns, names: Sequence[str]) -> GraphColumns:
    """Give every edge that has features the named ones in this order, zeros included, followed by any others."""
    import numpy as np

    numbering = Numbering(names)
    own = np.array([numbering.add(name) for name in graph.names], dtype=np.int64)
    counts = np.diff(graph.feature_offsets)
    some = np.flatnonzero(counts)
    width = len(names)
    ids = own[graph.features] if len(own) else graph.features.astype(np.int64)
    edge_of = np.repeat(np.arange(len(graph)), counts)
    dense = np.zeros((len(graph), width))
    always = ids < width
    np.add.at(dense, (edge_of[always], ids[always]), graph.values[always])
    edges = np.concatenate([np.repeat(some, width), edge_of[~always]])
    numbers = np.concatenate([np.tile(np.arange(width), len(some)), ids[~always]])
    values = np.concatenate([dense[some].reshape(-1), graph.values[~always]])
    order = np.argsort(edges, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(edges, minlength=len(graph)))])
    changed: dict[str, Any] = {
        "features": numbers[order].astype(np.int32),
        "values": np.array(rounded(values[order]), dtype=np.float64),
        "feature_offsets": offsets.astype(np.int64),
        "names": numbering.table(),
    }
    return replace(graph, **changed)
