"""What a search kept of each sentence, written to a folder in any format of hypergraphs, a file for each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.spec import Spec
from smtplugins.host.errors import UsageError
from smtplugins.host.files.opening import Path, find_format, rounded, write_all

if TYPE_CHECKING:
    from smtformats import Format
    from smtformats.hypergraph.graph import GraphColumns
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.host import Host

DEFAULT = "cdec-json-hypergraph"
_SEARCH, _NODES, _LINKS = "moses-search-graph", "moses-hypergraph", "slf-lattice"
_WEIGHTS = "weights"


@dataclass(frozen=True)
class ForestFiles:
    """Where graphs go: a folder, their format, and how numbers are printed.

    ``names`` are the features of the configuration in its order, which Moses' formats have theirs in; ``weights`` are
    what Moses' SLF files have as scales, and what lies beside its hypergraphs.
    """

    folder: Path
    record: Format
    names: Sequence[str]
    weights: Mapping[str, float]
    precision: int | None

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
        """The files of a run; the folder is made when there is something to write."""
        record = find_format(format or DEFAULT, "hypergraph", host.formats())
        if record.write is None:
            fitting = [one.name for one in host.formats() if one.kind == "hypergraph" and one.write is not None]
            raise UsageError(f"{record.name} can only be read; name another format: {', '.join(fitting)}")
        if record.name == _SEARCH:
            spec = Spec.parse(format or DEFAULT)
            # Moses' order of scores, which have no names there.
            record = find_format(
                str(Spec(spec.name, {"names": " ".join(names), **spec.options})), "hypergraph", host.formats()
            )
        return cls(folder, record, names, weights, precision)

    def write(self, graph: Hypergraph | None, key: str) -> None:
        """Write the graph of a sentence; a sentence without a derivation has no file."""
        if graph is None:
            raise UsageError("the decoder gives no graphs, so that there are no forests to write")
        if not graph.nodes:
            return
        os.makedirs(self.folder, exist_ok=True)
        suffix = self.record.suffixes[0] if self.record.suffixes else ".txt"
        compressed = "" if self.record.binary or suffix.endswith(".gz") else ".gz"
        name = os.path.join(os.fspath(self.folder), f"{key}{suffix}{compressed}")
        if os.path.dirname(os.path.abspath(name)) != os.path.abspath(self.folder):
            raise UsageError(f"expected an id that can be a file's name, found {key!r}")
        write_all(self.record, [self._columns(graph, key)], name, self.precision)

    def write_beside(self) -> None:
        """What Moses puts beside its hypergraphs."""
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
    """The graph with these features on each edge that has any, in their order, zeros too, and others behind them."""
    import numpy as np

    from smtformats.grammar.shared.gather import Numbering

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
