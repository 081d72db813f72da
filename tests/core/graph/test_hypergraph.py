"""The hypergraph's columns: in, out, kept on disk, shown."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge
from smtplugins.core.graph.hypergraph import Hypergraph, HypergraphBuilder
from smtplugins.core.graph.inference import kbest
from tests.core.graphs import CASES, NAMES, SEEDS, random_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

Case = tuple[Hypergraph, "NDArray[Any]"]


def small() -> Hypergraph:
    builder = HypergraphBuilder()
    first = builder.add([Edge((), 0, {"F": 1.0}, (0, 1)), Edge((), 1, {"F": 2.0, "LM": 0.25}, (0, 1))], "X")
    second = builder.add([Edge((), 0, {"F": 1.0, "LM": -1.0}, (1, 2))], "X")
    builder.add([Edge((first, second), 2, {"LM": 0.5}, (0, 2)), Edge((first, second), 3, {"Z": 3.0}, (0, 2))], "S")
    x1, x2 = NonTerminal("X", 1), NonTerminal("X", 2)
    sides: list[tuple[tuple[str | NonTerminal, ...], tuple[str | NonTerminal, ...]]]
    sides = [(("s",), ("a",)), (("s",), ("b", "c")), ((x1, x2), (x1, x2)), ((x1, x2), (x2, "x", x1))]
    return builder.build("9", [Rule("X", source, target, (), ()) for source, target in sides])


@settings(max_examples=150)
@given(SEEDS)
def test_columns_come_back(seed: int) -> None:
    columns = random_columns(random.Random(seed))
    graph = Hypergraph.from_columns(columns)
    back = graph.to_columns()
    for name in ("node_labels", "edge_offsets", "tails", "tail_offsets", "rules", "spans"):
        assert np.array_equal(getattr(back, name), getattr(columns, name)), name
    assert back.id == columns.id
    assert list(back.labels) == list(columns.labels)
    assert len(back.grammar) == len(columns.grammar)
    for edge in range(len(graph)):
        wanted = {name: float(np.float32(value)) for name, value in columns.edge_features(edge).items()}
        assert graph.edge_features(edge) == wanted == back.edge_features(edge)


@settings(max_examples=150)
@given(SEEDS)
def test_scores_are_those_of_the_columns(seed: int) -> None:
    columns = random_columns(random.Random(seed))
    graph = Hypergraph.from_columns(columns)
    weights = {
        name: float(value) for name, value in zip(NAMES, np.random.default_rng(seed).normal(size=4), strict=True)
    }
    assert graph.scores(weights) == pytest.approx(columns.edge_scores(weights), abs=1e-5)
    by_number = np.array([weights[name] for name in graph.names])
    assert np.array_equal(graph.scores(by_number), graph.scores(weights))
    again = graph.reweighted(weights)
    assert again.edge_scores is not None and np.array_equal(again.edge_scores, graph.scores(weights))
    assert again.tails is not None and np.array_equal(again.tails, graph.tails)
    mass = np.random.default_rng(seed).random(len(graph))
    sums = graph.feature_sums(mass)
    assert float(sums @ by_number) == pytest.approx(float(mass @ graph.scores(weights)), abs=1e-6)


@settings(max_examples=100)
@given(SEEDS)
def test_features_of_derivations_are_those_of_their_edges(seed: int) -> None:
    graph = Hypergraph.from_columns(random_columns(random.Random(seed)))
    derivations = kbest(graph, np.zeros(len(graph)), 20)
    rows = derivations.features()
    assert rows.shape == (len(derivations), len(graph.names))
    for derivation, row in zip(derivations, rows, strict=True):
        mass = np.bincount(derivation.edges, minlength=len(graph))
        assert row == pytest.approx(graph.feature_sums(mass), abs=1e-12)
        assert np.array_equal(row, derivation.features())


def test_features_lie_where_they_belong() -> None:
    """On rules what is the same on all their edges; what differs anywhere is on edges, in the block if many have it."""
    graph = small()
    names = list(graph.names)
    assert dict(graph.rule_features(0)) == {"F": 1.0}
    assert [names[name] for name in graph.dense_names] == ["LM"]
    assert graph.dense.dtype == np.float32
    assert graph.dense[:, 0].tolist() == [0.0, 0.25, -1.0, 0.5, 0.0]
    assert dict(graph.rule_features(1)) == {"F": 2.0}
    assert dict(graph.rule_features(3)) == {"Z": 3.0}
    assert not len(graph.values)


@settings(max_examples=100)
@given(CASES)
def test_bundles(case: Case) -> None:
    graph, _ = case
    bundles = graph.bundles()
    groups: dict[tuple[int, ...], list[int]] = {}
    heads = graph.heads.tolist()
    for edge, head in enumerate(heads):
        tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
        groups.setdefault((head, *tails), []).append(edge)
    members = [bundles.edges[a:b].tolist() for a, b in zip(bundles.offsets[:-1], bundles.offsets[1:], strict=True)]
    assert members == [groups[key] for key in sorted(groups)]
    assert len(bundles) == len(groups)
    for node in range(graph.nodes):
        inside = range(int(bundles.node_offsets[node]), int(bundles.node_offsets[node + 1]))
        assert all(heads[members[bundle][0]] == node for bundle in inside)
    assert bundles.node_offsets[-1] == len(bundles)


@settings(max_examples=20)
@given(CASES)
def test_kept_on_disk(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    folder = tmp_path_factory.mktemp("graphs")
    graph, scores = case
    graph = graph.with_scores(scores)
    for path in (folder / "graph", folder / "graph.npz"):
        graph.save(path)
        assert equal(Hypergraph.load(path), graph)
        graph.save(path)  # over it
    assert equal(pickle.loads(pickle.dumps(graph)), graph)
    assert (folder / "graph").is_dir() and (folder / "graph.npz").is_file()


def equal(a: Hypergraph, b: Hypergraph) -> bool:
    return a == b and a.id == b.id and list(a.names) == list(b.names)


def test_equal_is_the_same_content() -> None:
    assert small() == small()
    assert small() != small().reweighted({"F": 1.0})
    assert small() != "a graph"
    with pytest.raises(TypeError):
        hash(small())


def test_files_are_not_trusted(tmp_path: Path) -> None:
    graph = small()
    graph.save(tmp_path / "graph")
    np.save(tmp_path / "graph" / "tails.npy", np.array([5, 5, 5, 5], dtype=np.int32))
    with pytest.raises(ValueError, match="tail"):
        Hypergraph.load(tmp_path / "graph")
    np.save(tmp_path / "graph" / "tails.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="tails"):
        Hypergraph.load(tmp_path / "graph")
    (tmp_path / "graph" / "tails.npy").unlink()
    with pytest.raises(ValueError, match="tails"):
        Hypergraph.load(tmp_path / "graph")
    with pytest.raises(FileNotFoundError):
        Hypergraph.load(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("rules", [0, 1, 0, 2, 4]),
        ("rules", [0, 1, 0, 2, -2]),
        ("rules", [0, 1]),
        ("node_labels", [0, 0, 7]),
        ("dense_names", [9]),
        ("feature_offsets", [0, 0, 0, 0, 0, 3]),
        ("rule_feature_ids", [0, 0, 0, 44]),
        ("edge_offsets", [0, 2, 3]),
        ("edge_offsets", [0, 3, 2, 5]),
    ],
)
def test_columns_are_checked(tmp_path: Path, column: str, values: list[int]) -> None:
    small().save(tmp_path / "graph")
    path = tmp_path / "graph" / f"{column}.npy"
    np.save(path, np.array(values, dtype=np.load(path).dtype))
    with pytest.raises(ValueError):
        Hypergraph.load(tmp_path / "graph")


def test_nothing_can_be_changed() -> None:
    graph = small().reweighted({"F": 1.0})
    for name in ("tails", "edge_offsets", "tail_offsets", "rules", "dense", "values", "edge_scores", "spans"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(graph, name)[...] = 0


def test_views_outlive_the_graph() -> None:
    tails = small().tails
    assert tails.tolist() == [0, 1, 0, 1]


def test_shown() -> None:
    assert repr(small()) == "<Hypergraph '9': 3 nodes, 5 edges, 4 rules, 3 features>"


def test_dot() -> None:
    text = small().to_dot()
    assert text.startswith('digraph "9" {\n')
    assert text.count("->") == 4 + 5
    assert '[label="S 2"' in text
    assert "[2] x [1]" in text
    assert text.endswith("}\n")
    odd = HypergraphBuilder()
    odd.add([Edge((), 0)], 'a"\\b\n')
    assert r"a\"\\b\n" in odd.build('"', [Rule("X", ("s",), ('"', "\\"), (), ())]).to_dot()


def test_values_too_large_to_keep() -> None:
    builder = HypergraphBuilder()
    builder.add([Edge((), -1, {"F": 1e300})])
    with pytest.raises(ValueError, match="F"):
        builder.build("0", [])


def test_unknown_weights_count_nothing() -> None:
    assert small().scores({"other": 1.0}).tolist() == [0.0] * 5
    with pytest.raises(ValueError, match="3"):
        small().scores(np.zeros(2))
