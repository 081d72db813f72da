"""The hypergraph of decoders, readers and inference: immutable columns, with features in three places.

Features shared by all edges of a rule are stored on the rule, so that new weights cost one product over rules and a
gather; features of most edges in a dense block, a column for each; the rest in sparse rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smtformats.columns import GrammarColumns, StringTable
from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.gather import Numbering
from smtformats.hypergraph.graph import GraphBuilder, GraphColumns
from smtformats.records import dataclass
from smtplugins.core import _core

Ints = NDArray[np.integer]
Floats = NDArray[np.float64]
Weights = Mapping[str, float] | ArrayLike

INTS, LONGS, SINGLES = "int32", "int64", "float32"
COLUMNS = {
    "node_labels": INTS, "rules": INTS, "spans": INTS, "rule_feature_ids": INTS, "rule_values": SINGLES,
    "rule_feature_offsets": LONGS, "dense_names": INTS, "dense": SINGLES, "features": INTS, "values": SINGLES,
    "feature_offsets": LONGS,
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Hypergraph:
    """One sentence's hypergraph; edge e has ``c[c_offsets[e]:c_offsets[e+1]]`` of a column c.

    Nodes, edges, tails, rules and spans are as in ``GraphColumns``: nodes in topological order, the goal last, no nodes
    if there was no parse; the edges into a node are adjacent; a node without edges is a start node. The features of an
    edge are those of its rule (``rule_feature_ids``, ``rule_values``), its row of ``dense`` (columns ``dense_names``)
    and its own sparse features (``features``, ``values``); all feature ids are indices into ``names``. ``edge_scores``
    are natural logarithms, from weights or from a file. All arrays are read-only.
    """

    id: str
    core: _core.Graph
    node_labels: NDArray[np.int32]
    rules: NDArray[np.int32]
    spans: NDArray[np.int32]
    rule_feature_ids: NDArray[np.int32]
    rule_values: NDArray[np.float32]
    rule_feature_offsets: NDArray[np.int64]
    dense_names: NDArray[np.int32]
    dense: NDArray[np.float32]
    features: NDArray[np.int32]
    values: NDArray[np.float32]
    feature_offsets: NDArray[np.int64]
    edge_scores: Floats | None
    grammar: GrammarColumns
    labels: StringTable
    names: StringTable

    def __post_init__(self) -> None:
        for name, kind in COLUMNS.items():
            object.__setattr__(self, name, _frozen(name, getattr(self, name), kind))
        if self.edge_scores is not None:
            scores = _frozen("edge_scores", self.edge_scores, "float64")
            object.__setattr__(self, "edge_scores", scores)
            _expect(scores.shape == (len(self),), "edge_scores", f"{len(self)} numbers")
            _expect(not np.any(np.isnan(scores) | (scores == np.inf)), "edge_scores", "numbers or -inf")
        edges, names = len(self), len(self.names)
        _expect(self.node_labels.shape == (self.nodes,), "node_labels", f"{self.nodes} numbers")
        _expect(_within(self.node_labels, -1, len(self.labels)), "node_labels", "numbers of labels")
        _expect(self.rules.shape == (edges,), "rules", f"{edges} numbers")
        _expect(_within(self.rules, -1, len(self.grammar)), "rules", "numbers of rules")
        _expect(self.spans.shape == (edges, 2), "spans", f"{edges} pairs")
        _expect(_within(self.dense_names, 0, names) and self.dense_names.ndim == 1, "dense_names", "numbers of names")
        _expect(self.dense.shape == (edges, len(self.dense_names)), "dense", "a row for each edge")
        for kind, rows in (("", edges), ("rule_", len(self.grammar))):
            ids = self.features if not kind else self.rule_feature_ids
            values, offsets = getattr(self, f"{kind}values"), getattr(self, f"{kind}feature_offsets")
            _expect(ids.shape == values.shape == (len(ids),), f"{kind}values", "as many as ids")
            _expect(_within(ids, 0, names), f"{kind}features", "numbers of names")
            _check_offsets(f"{kind}feature_offsets", offsets, rows, len(ids))
        for name in ("rule_values", "dense", "values"):
            _expect(bool(np.isfinite(getattr(self, name)).all()), name, "finite numbers")

    def __len__(self) -> int:
        """The number of edges."""
        return self.core.edges

    def __repr__(self) -> str:
        about = f"{self.nodes} nodes, {len(self)} edges, {len(self.grammar)} rules, {len(self.names)} features"
        return f"<Hypergraph {self.id!r}: {about}>"

    def __eq__(self, other: object) -> bool:
        """Whether all columns are equal."""
        if not isinstance(other, Hypergraph):
            return NotImplemented
        mine, theirs = self._arrays(), other._arrays()
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        core = self.core
        columns = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "core"}
        return _unpickled, ((core.edge_offsets, core.tails, core.tail_offsets), columns)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.core.nodes

    @cached_property
    def edge_offsets(self) -> NDArray[np.int64]:
        """The offsets of the edges into each node."""
        return self.core.edge_offsets

    @cached_property
    def tails(self) -> NDArray[np.int32]:
        """The tails of all edges, edge by edge."""
        return self.core.tails

    @cached_property
    def tail_offsets(self) -> NDArray[np.int64]:
        """The offsets of the tails of each edge."""
        return self.core.tail_offsets

    @property
    def heads(self) -> NDArray[np.int32]:
        """The head of each edge."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.edge_offsets))

    @cached_property
    def words(self) -> list[str]:
        """The words of the rules."""
        return self.grammar.words[:]

    @cached_property
    def word_ids(self) -> dict[str, int]:
        """The id of each word; the first id of a word that occurs twice."""
        ids: dict[str, int] = {}
        for number, word in enumerate(self.words):
            ids.setdefault(word, number)
        return ids

    @cached_property
    def targets(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
        """The rules of edges, and the offsets and symbols of target sides, as arguments of native functions."""
        symbols = np.ascontiguousarray(self.grammar.target, dtype=np.int32)
        if len(set(self.words)) < len(self.words):
            first = np.array([self.word_ids[word] for word in self.words], dtype=np.int32)
            symbols = np.where(symbols >= 0, first[np.maximum(symbols, 0)], symbols)
        offsets = np.ascontiguousarray(self.grammar.target_offsets, dtype=np.int64)
        return np.ascontiguousarray(self.rules, dtype=np.int32), offsets, symbols

    def rule_features(self, rule: int) -> dict[str, float]:
        """The features shared by all edges of a rule."""
        part = slice(self.rule_feature_offsets[rule], self.rule_feature_offsets[rule + 1])
        return {self.names[i]: value for i, value in _pairs(self.rule_feature_ids[part], self.rule_values[part])}

    def edge_features(self, edge: int) -> dict[str, float]:
        """All non-zero features of an edge."""
        rule = int(self.rules[edge])
        features = self.rule_features(rule) if rule >= 0 else {}
        part = slice(self.feature_offsets[edge], self.feature_offsets[edge + 1])
        own = [*_pairs(self.dense_names, self.dense[edge]), *_pairs(self.features[part], self.values[part])]
        for name, value in own:
            if value:
                features[self.names[name]] = features.get(self.names[name], 0.0) + value
        return features

    def weight_column(self, weights: Weights) -> Floats:
        """A weight for each feature name, 0 for names without a weight."""
        if isinstance(weights, Mapping):
            return np.array([weights.get(name, 0.0) for name in self.names], dtype=np.float64)
        column = np.ascontiguousarray(weights, dtype=np.float64)
        if column.shape != (len(self.names),):
            raise ValueError(f"expected {len(self.names)} weights, one for each name, found shape {column.shape}")
        return column

    def scores(self, weights: Weights) -> Floats:
        """The weighted feature sums of all edges: those of their rules, computed once per rule, plus the edges' own."""
        by = self.weight_column(weights)
        of_rules = _core.sparse_scores(self.rule_feature_offsets, self.rule_feature_ids, self.rule_values, by)
        sums: Floats = np.append(of_rules, 0.0)[self.rules]  # -1, no rule, takes the last
        if len(self.dense_names):
            sums += self.dense @ by[self.dense_names]
        if len(self.values):
            sums += _core.sparse_scores(self.feature_offsets, self.features, self.values, by)
        return sums

    def feature_sums(self, mass: ArrayLike) -> Floats:
        """The sum of all edges' features, each edge times its mass: used for gradients."""
        by = np.ascontiguousarray(mass, dtype=np.float64)
        if by.shape != (len(self),):
            raise ValueError(f"expected {len(self)} numbers, one for each edge, found shape {by.shape}")
        known = self.rules >= 0
        by_rule = np.bincount(self.rules[known], by[known], len(self.grammar)).astype(np.float64)  # ints if empty
        width = len(self.names)
        sums: Floats = _core.sparse_sums(
            self.rule_feature_offsets, self.rule_feature_ids, self.rule_values, by_rule, width
        )
        np.add.at(sums, self.dense_names, by @ self.dense)
        if len(self.values):
            sums += _core.sparse_sums(self.feature_offsets, self.features, self.values, by, width)
        return sums

    def with_scores(self, scores: ArrayLike | None) -> Hypergraph:
        """The same graph with these scores on its edges."""
        return replace(self, edge_scores=scores)  # type: ignore[arg-type]  # __post_init__ converts

    def reweighted(self, weights: Weights) -> Hypergraph:
        """The same graph scored with these weights; nothing else is copied."""
        return self.with_scores(self.scores(weights))

    def with_column(self, name: str, values: ArrayLike) -> Hypergraph:
        """The same graph with a further feature, which has a value for each edge; scores stay as they are."""
        names = [*self.names[:], name]
        column = np.asarray(values, dtype=np.float32)[:, None]
        dense_names = np.append(self.dense_names, len(names) - 1).astype(np.int32)
        dense = np.ascontiguousarray(np.hstack([self.dense, column]))
        return replace(self, names=Numbering(names).table(), dense=dense, dense_names=dense_names)

    def scores_or(self, scores: ArrayLike | None) -> Floats:
        """These scores, or the graph's own if None, or 0 for each edge if it has none."""
        if scores is None:
            return np.zeros(len(self)) if self.edge_scores is None else self.edge_scores
        return np.ascontiguousarray(scores, dtype=np.float64)

    def bundles(self) -> Bundles:
        """The edges grouped by head and tails."""
        return Bundles(*self.core.bundles())

    def restricted(self, keep: ArrayLike, scores: ArrayLike | None = None) -> Subgraph:
        """Keep only some edges (a flag for each), without nodes that have no derivation or do not lead to the goal."""
        core, nodes, edges = self.core.restricted(np.ascontiguousarray(keep, dtype=np.bool_))
        return Subgraph(self.part(core, nodes, edges, self.scores_or(scores)[edges]), edges)

    def part(self, core: _core.Graph, nodes: Ints, edges: Ints, scores: Floats) -> Hypergraph:
        """A graph of copies of this graph's nodes and edges, any number of each; -1 for a new node or edge."""

        def taken(column: NDArray[Any], which: Ints, empty: int) -> NDArray[Any]:
            rows = np.full((len(which), *column.shape[1:]), empty, dtype=column.dtype)
            rows[which >= 0] = column[which[which >= 0]]
            return rows

        counts = taken(np.diff(self.feature_offsets), edges, 0)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        at = np.repeat(taken(self.feature_offsets[:-1], edges, 0) - offsets[:-1], counts) + np.arange(offsets[-1])
        return replace(
            self,
            core=core,
            node_labels=taken(self.node_labels, nodes, -1),
            rules=taken(self.rules, edges, -1),
            spans=taken(self.spans, edges, -1),
            dense=taken(self.dense, edges, 0),
            features=self.features[at],
            values=self.values[at],
            feature_offsets=offsets,
            edge_scores=scores,
        )

    @classmethod
    def from_columns(cls, columns: GraphColumns) -> Hypergraph:
        """Convert a reader's columns, placing features on rules, in the dense block or on edges."""
        from smtplugins.core.graph.placing import place_features

        return cls(
            id=columns.id,
            core=core_graph(columns.edge_offsets, columns.tails, columns.tail_offsets),
            node_labels=np.asarray(columns.node_labels, dtype=np.int32),
            rules=np.asarray(columns.rules, dtype=np.int32),
            spans=np.asarray(columns.spans, dtype=np.int32),
            edge_scores=columns.scores,
            grammar=columns.grammar,
            labels=columns.labels,
            names=columns.names,
            **place_features(columns),
        )

    def to_columns(self) -> GraphColumns:
        """The columns that formats write, all features on edges."""
        from smtplugins.core.graph.placing import spread_features

        ids, values, offsets = spread_features(self)
        return GraphColumns(
            id=self.id,
            node_labels=self.node_labels,
            edge_offsets=self.edge_offsets,
            tails=self.tails,
            tail_offsets=self.tail_offsets,
            rules=self.rules,
            spans=self.spans,
            features=ids,
            values=values,
            feature_offsets=offsets,
            scores=self.edge_scores,
            grammar=self.grammar,
            labels=self.labels,
            names=self.names,
        )

    def to_dot(self) -> str:
        """The graph in Graphviz' language: nodes are boxes, each edge a point with its rule's target side."""
        from smtplugins.core.graph.drawing import dot

        return dot(self)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        from smtplugins.core.graph.storage import arrays

        return arrays(self)

    def save(self, path: str | Path) -> None:
        """Save to one file if the path ends in .npz, else to a folder with an .npy file for each column."""
        from smtplugins.core.graph.storage import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Hypergraph:
        """Load what ``save`` wrote, checking every column."""
        from smtplugins.core.graph.storage import load

        return load(path)


@dataclass(frozen=True)
class Bundles:
    """Edges grouped by head and tails. Bundle b is ``edges[offsets[b]:offsets[b+1]]``; node v has the bundles
    ``node_offsets[v]`` to ``node_offsets[v+1]``, in the order of their tails."""

    node_offsets: NDArray[np.int64]
    offsets: NDArray[np.int64]
    edges: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True)
class Subgraph:
    """A graph made from another graph's edges; ``edges`` are their indices there, -1 for a new edge."""

    graph: Hypergraph
    edges: NDArray[np.int64]


class HypergraphBuilder(GraphBuilder):
    """Build a graph from nodes in topological order, each with the edges into it."""

    def build(self, id: str, rules: Iterable[Rule]) -> Hypergraph:
        """The graph of all nodes added."""
        return Hypergraph.from_columns(self.graph(id, rules))


def core_graph(edge_offsets: ArrayLike, tails: ArrayLike, tail_offsets: ArrayLike) -> _core.Graph:
    """The native part of a graph."""
    return _core.Graph(
        np.ascontiguousarray(edge_offsets, dtype=np.int64),
        np.ascontiguousarray(tails, dtype=np.int32),
        np.ascontiguousarray(tail_offsets, dtype=np.int64),
    )


def _unpickled(core: tuple[ArrayLike, ArrayLike, ArrayLike], columns: Mapping[str, Any]) -> Hypergraph:
    return Hypergraph(core=core_graph(*core), **columns)


def _pairs(ids: Ints, values: NDArray[np.float32]) -> Iterable[tuple[int, float]]:
    return zip(ids.tolist(), values.tolist(), strict=True)


def _expect(good: bool, name: str, wanted: str) -> None:
    if not good:
        raise ValueError(f"{name}: expected {wanted}")


def _within(numbers: Ints, least: int, end: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= least and numbers.max() < end)


def _check_offsets(name: str, offsets: Ints, rows: int, end: int) -> None:
    good = (
        offsets.shape == (rows + 1,) and offsets[0] == 0 and offsets[-1] == end and bool(np.all(np.diff(offsets) >= 0))
    )
    _expect(good, name, f"{rows + 1} offsets that increase from 0 to {end}")


def _frozen(name: str, values: ArrayLike, kind: str) -> NDArray[Any]:
    """A read-only view, or a copy if the dtype differs."""
    array = np.asarray(values)
    _expect(array.dtype.kind == np.dtype(kind).kind or not array.size, name, f"an array of {kind}")
    kept: NDArray[Any] = np.ascontiguousarray(array, dtype=kind).view()
    kept.flags.writeable = False
    return kept
