"""The hypergraph that decoders make, readers fill and inference reads: immutable columns, features in three places.

What all edges of a rule share lies on the rule, so that new weights cost one product over rules and a gather; what most
edges have lies in a dense block, a column a feature; the rest in sparse rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtformats.columns import GrammarColumns, StringTable
from smtformats.hypergraph.graph import GraphBuilder, GraphColumns
from smtplugins.core import _core

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from smtformats.grammar.rules import Rule

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
    """One sentence's hypergraph; the part of edge e in a column c is ``c[c_offsets[e]:c_offsets[e+1]]``.

    Nodes, edges, tails, rules and spans are as in ``GraphColumns``: nodes in topological order, the goal last, none at
    all if there was no parse; the edges into a node together; a node without edges is a start, derived from nothing.
    The features of an edge are those of its rule (``rule_feature_ids``, ``rule_values``), of its row in ``dense``
    (columns ``dense_names``), and its own sparse ones (``features``, ``values``); all are numbers in ``names``.
    ``edge_scores`` are natural logarithms, made from weights or given. All arrays are read-only.
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
        import numpy as np

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
        """How many edges there are."""
        return self.core.edges

    def __repr__(self) -> str:
        about = f"{self.nodes} nodes, {len(self)} edges, {len(self.grammar)} rules, {len(self.names)} features"
        return f"<Hypergraph {self.id!r}: {about}>"

    def __eq__(self, other: object) -> bool:
        """Whether all columns are the same."""
        import numpy as np

        if not isinstance(other, Hypergraph):
            return NotImplemented
        one, two = self._arrays(), other._arrays()
        return one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)

    __hash__ = None  # type: ignore[assignment]

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return self.core.nodes

    @cached_property
    def edge_offsets(self) -> NDArray[np.int64]:
        """Where the edges into each node begin."""
        return self.core.edge_offsets

    @cached_property
    def tails(self) -> NDArray[np.int32]:
        """The tails of all edges, in their order."""
        return self.core.tails

    @cached_property
    def tail_offsets(self) -> NDArray[np.int64]:
        """Where the tails of each edge begin."""
        return self.core.tail_offsets

    @property
    def heads(self) -> NDArray[np.int32]:
        """The node each edge leads to."""
        import numpy as np

        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.edge_offsets))

    @cached_property
    def words(self) -> list[str]:
        """The words of the rules."""
        return list(self.grammar.words)

    @cached_property
    def word_ids(self) -> dict[str, int]:
        """The words' numbers; the first of a word that is there twice."""
        found: dict[str, int] = {}
        for number, word in enumerate(self.words):
            found.setdefault(word, number)
        return found

    @cached_property
    def targets(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
        """The rules of the edges, and offsets and symbols of target sides, as native functions take them."""
        import numpy as np

        symbols = np.ascontiguousarray(self.grammar.target, dtype=np.int32)
        if len(self.word_ids) < len(self.words):
            first = np.array([self.word_ids[word] for word in self.words], dtype=np.int32)
            symbols = np.where(symbols >= 0, first[np.maximum(symbols, 0)], symbols)
        offsets = np.ascontiguousarray(self.grammar.target_offsets, dtype=np.int64)
        return np.ascontiguousarray(self.rules, dtype=np.int32), offsets, symbols

    def rule_features(self, rule: int) -> dict[str, float]:
        """What all edges of a rule share."""
        part = slice(self.rule_feature_offsets[rule], self.rule_feature_offsets[rule + 1])
        return {self.names[i]: value for i, value in _pairs(self.rule_feature_ids[part], self.rule_values[part])}

    def edge_features(self, edge: int) -> dict[str, float]:
        """All features of an edge that are not 0."""
        rule = int(self.rules[edge])
        found = self.rule_features(rule) if rule >= 0 else {}
        part = slice(self.feature_offsets[edge], self.feature_offsets[edge + 1])
        own = [*_pairs(self.dense_names, self.dense[edge]), *_pairs(self.features[part], self.values[part])]
        for name, value in own:
            if value:
                found[self.names[name]] = found.get(self.names[name], 0.0) + value
        return found

    def weight_column(self, weights: Weights) -> Floats:
        """A weight for each name, 0 for one that is not given."""
        import numpy as np

        if isinstance(weights, Mapping):
            return np.array([weights.get(name, 0.0) for name in self.names], dtype=np.float64)
        found = np.ascontiguousarray(weights, dtype=np.float64)
        if found.shape != (len(self.names),):
            raise ValueError(f"expected {len(self.names)} weights, one for each name, found shape {found.shape}")
        return found

    def scores(self, weights: Weights) -> Floats:
        """The weighted feature sums of all edges: a sparse product over rules, gathered, and what edges add."""
        import numpy as np

        by = self.weight_column(weights)
        of_rules = _core.sparse_scores(self.rule_feature_offsets, self.rule_feature_ids, self.rule_values, by)
        found: Floats = np.append(of_rules, 0.0)[self.rules]  # -1, no rule, is the last one
        if len(self.dense_names):
            found += self.dense @ by[self.dense_names]
        if len(self.values):
            found += _core.sparse_scores(self.feature_offsets, self.features, self.values, by)
        return found

    def feature_sums(self, mass: ArrayLike) -> Floats:
        """The features of all edges, each edge counted with its mass: what gradients are made of."""
        import numpy as np

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
        """The same graph with the scores that weights give; nothing else is copied."""
        return self.with_scores(self.scores(weights))

    def scores_or(self, scores: ArrayLike | None) -> Floats:
        """These scores, or else the graph's own, or else 0 for each edge."""
        import numpy as np

        if scores is None:
            return np.zeros(len(self)) if self.edge_scores is None else self.edge_scores
        return np.ascontiguousarray(scores, dtype=np.float64)

    def bundles(self) -> Bundles:
        """The edges grouped by head and tails."""
        return Bundles(*self.core.bundles())

    def restricted(self, keep: ArrayLike, scores: ArrayLike | None = None) -> Part:
        """What is left when only some edges (a flag each) stay: what can be derived and leads to the goal."""
        import numpy as np

        core, nodes, edges = self.core.restricted(np.ascontiguousarray(keep, dtype=np.bool_))
        return Part(self.part(core, nodes, edges, self.scores_or(scores)[edges]), edges)

    def part(self, core: _core.Graph, nodes: Ints, edges: Ints, scores: Floats) -> Hypergraph:
        """A graph whose nodes and edges are those of this one, each any number of times; -1 for a new one."""
        import numpy as np

        def taken(column: NDArray[Any], which: Ints, empty: int) -> NDArray[Any]:
            found = np.full((len(which), *column.shape[1:]), empty, dtype=column.dtype)
            found[which >= 0] = column[which[which >= 0]]
            return found

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
        """What a reader gave, its features put where they belong."""
        import numpy as np

        from smtplugins.core.graph.placing import placed

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
            **placed(columns),
        )

    def to_columns(self) -> GraphColumns:
        """The columns that formats write, all features on edges."""
        from smtplugins.core.graph.placing import spread

        ids, values, offsets = spread(self)
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
        """Keep it: in one file if the path ends in .npz, else in a folder with an .npy file for each column."""
        from smtplugins.core.graph.storage import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Hypergraph:
        """What ``save`` kept; every column is checked."""
        from smtplugins.core.graph.storage import load

        return load(path)


@dataclass(frozen=True)
class Bundles:
    """Edges with the same head and tails; group b is ``edges[offsets[b]:offsets[b+1]]``, those of node v are groups
    ``node_offsets[v]`` to ``node_offsets[v+1]``, in the order of their tails."""

    node_offsets: NDArray[np.int64]
    offsets: NDArray[np.int64]
    edges: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True)
class Part:
    """A graph made from another one's edges: ``edges`` says which one each was, -1 for a new one."""

    graph: Hypergraph
    edges: NDArray[np.int64]


class HypergraphBuilder(GraphBuilder):
    """Takes nodes, each with the edges into it, in topological order."""

    def build(self, id: str, rules: Iterable[Rule]) -> Hypergraph:
        """The graph of all that was added."""
        return Hypergraph.from_columns(self.graph(id, rules))


def core_graph(edge_offsets: ArrayLike, tails: ArrayLike, tail_offsets: ArrayLike) -> _core.Graph:
    """The native part of a graph."""
    import numpy as np

    return _core.Graph(
        np.ascontiguousarray(edge_offsets, dtype=np.int64),
        np.ascontiguousarray(tails, dtype=np.int32),
        np.ascontiguousarray(tail_offsets, dtype=np.int64),
    )


def _pairs(ids: Ints, values: NDArray[np.float32]) -> Iterable[tuple[int, float]]:
    return zip(ids.tolist(), values.tolist(), strict=True)


def _expect(good: bool, name: str, wanted: str) -> None:
    if not good:
        raise ValueError(f"{name}: expected {wanted}")


def _within(numbers: Ints, least: int, end: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= least and numbers.max() < end)


def _check_offsets(name: str, offsets: Ints, rows: int, end: int) -> None:
    import numpy as np

    good = (
        offsets.shape == (rows + 1,) and offsets[0] == 0 and offsets[-1] == end and bool(np.all(np.diff(offsets) >= 0))
    )
    _expect(good, name, f"{rows + 1} numbers that rise from 0 to {end}")


def _frozen(name: str, values: ArrayLike, kind: str) -> NDArray[Any]:
    """A read-only view, or a copy if the kind of number differs."""
    import numpy as np

    found = np.asarray(values)
    _expect(found.dtype.kind == np.dtype(kind).kind or not found.size, name, f"an array of {kind}")
    kept: NDArray[Any] = np.ascontiguousarray(found, dtype=kind).view()
    kept.flags.writeable = False
    return kept
