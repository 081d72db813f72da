"""Inference against all derivations written out; the native functions and the reference alike."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge
from smtplugins.core.graph import inference
from smtplugins.core.graph.hypergraph import Hypergraph, HypergraphBuilder
from tests.core import reference
from tests.core.graphs import CASES, SEEDS, all_paths, log_sum, random_case, score_of

if TYPE_CHECKING:
    from tests.core.graphs import Floats

pytestmark = pytest.mark.parametrize("core", [inference, reference], ids=["native", "reference"])
GRAPHS = settings(max_examples=60)
Case = tuple[Hypergraph, "Floats"]


@GRAPHS
@given(CASES)
def test_inside_is_the_sum_of_all(core: ModuleType, case: Case) -> None:
    graph, scores = case
    sums, best = core.inside(graph, scores), core.inside(graph, scores, "max")
    for node, paths in enumerate(all_paths(graph)):
        path_scores = [score_of(path, scores) for path, _ in paths]
        assert sums[node] == pytest.approx(log_sum(path_scores), abs=1e-10)
        assert best[node] == pytest.approx(max(path_scores), abs=1e-10)


def heads(graph: Hypergraph) -> list[int]:
    return graph.heads.tolist()


def around(graph: Hypergraph, scores: Floats) -> tuple[list[list[float]], list[list[float]]]:
    """Of each node and each edge the scores of the derivations with it, as often as it is in them."""
    nodes: list[list[float]] = [[] for _ in range(graph.nodes)]
    edges: list[list[float]] = [[] for _ in range(len(graph))]
    starts = np.diff(graph.edge_offsets) == 0
    for path, _ in all_paths(graph)[-1]:
        score = score_of(path, scores)
        seen = [graph.nodes - 1] if not path else []
        for edge in path:
            edges[edge].append(score)
            seen.append(heads(graph)[edge])
            tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
            seen += [tail for tail in tails if starts[tail]]
        for node in seen:
            nodes[node].append(score)
    return nodes, edges


@GRAPHS
@given(CASES)
def test_outside_is_what_is_around(core: ModuleType, case: Case) -> None:
    graph, scores = case
    nodes, _ = around(graph, scores)
    both = core.inside(graph, scores) + core.outside(graph, scores)
    best = core.inside(graph, scores, "max") + core.outside(graph, scores, "max")
    for node, sums in enumerate(nodes):
        assert both[node] == pytest.approx(log_sum(sums), abs=1e-9)
        assert best[node] == pytest.approx(max(sums, default=-math.inf), abs=1e-9)


@GRAPHS
@given(CASES)
def test_posteriors(core: ModuleType, case: Case) -> None:
    graph, scores = case
    nodes, edges = around(graph, scores)
    counts, best = core.posteriors(graph, scores), core.posteriors(graph, scores, "max")
    total = log_sum([score_of(path, scores) for path, _ in all_paths(graph)[-1]])
    assert counts.total == pytest.approx(total, abs=1e-10)
    for want, got, most in ((nodes, counts.nodes, best.nodes), (edges, counts.edges, best.edges)):
        for at, sums in enumerate(want):
            probability = math.exp(log_sum(sums) - total) if total > -math.inf else 0.0
            assert got[at] == pytest.approx(probability, abs=1e-10)
            assert most[at] == pytest.approx(max(sums, default=-math.inf), abs=1e-9)


@GRAPHS
@given(CASES)
def test_feature_expectations(core: ModuleType, case: Case) -> None:
    graph, scores = case
    actual = dict(zip(graph.names, core.feature_expectations(graph, scores).tolist(), strict=True))
    paths = [path for path, _ in all_paths(graph)[-1]]
    total = log_sum([score_of(path, scores) for path in paths])
    wanted: dict[str, float] = defaultdict(float)
    for path in paths:
        probability = math.exp(score_of(path, scores) - total) if total > -math.inf else 0.0
        for edge in path:
            for name, value in graph.edge_features(edge).items():
                wanted[name] += probability * value
    for name, value in wanted.items():
        assert actual[name] == pytest.approx(value, abs=1e-6)


@GRAPHS
@given(CASES)
def test_paths(core: ModuleType, case: Case) -> None:
    graph, _ = case
    assert core.paths(graph) == len(all_paths(graph)[-1])


def ranked(graph: Hypergraph, scores: Floats) -> list[tuple[float, str]]:
    scored = [(score_of(path, scores), " ".join(words)) for path, words in all_paths(graph)[-1]]
    return sorted((pair for pair in scored if pair[0] > -math.inf), key=lambda pair: -pair[0])


@GRAPHS
@given(CASES)
def test_viterbi(core: ModuleType, case: Case) -> None:
    graph, scores = case
    best = core.viterbi(graph, scores)
    wanted = ranked(graph, scores)
    if not wanted:
        assert best is None
        return
    assert best.score == pytest.approx(wanted[0][0], abs=1e-10)
    words = {path: " ".join(words) for path, words in all_paths(graph)[-1]}
    path = tuple(best.edges.tolist())
    assert score_of(path, scores) == pytest.approx(best.score, abs=1e-10)
    assert best.text == words[path]


@GRAPHS
@given(CASES, SEEDS)
def test_kbest(core: ModuleType, case: Case, seed: int) -> None:
    graph, scores = case
    wanted = ranked(graph, scores)
    k = seed % 12 + 1 if seed % 3 else 1000
    words = {path: " ".join(words) for path, words in all_paths(graph)[-1]}
    derivations = core.kbest(graph, scores, k)
    assert derivations.scores.tolist() == pytest.approx([score for score, _ in wanted[:k]], abs=1e-9)
    paths = [tuple(derivation.edges.tolist()) for derivation in derivations]
    assert len(set(paths)) == len(paths)
    for path, derivation, text in zip(paths, derivations, derivations.texts(), strict=True):
        assert score_of(path, scores) == pytest.approx(derivation.score, abs=1e-9)
        assert derivation.text == text == words[path]


@GRAPHS
@given(CASES, SEEDS)
def test_kbest_of_different_words(core: ModuleType, case: Case, seed: int) -> None:
    graph, scores = case
    k = seed % 12 + 1 if seed % 3 else 1000
    best: dict[str, float] = {}
    for score, text in ranked(graph, scores):
        best.setdefault(text, score)
    derivations = core.kbest(graph, scores, k, unique=True)
    texts = derivations.texts()
    assert derivations.scores.tolist() == pytest.approx(list(best.values())[:k], abs=1e-9)
    assert len(set(texts)) == len(texts)
    for derivation, text in zip(derivations, texts, strict=True):
        assert derivation.score == pytest.approx(best[text], abs=1e-9)
        assert score_of(tuple(derivation.edges.tolist()), scores) == pytest.approx(derivation.score, abs=1e-9)


@settings(max_examples=25)
@given(SEEDS)
def test_samples_come_as_often_as_they_should(core: ModuleType, seed: int) -> None:
    graph, scores = random_case(seed)
    scores = np.where(np.isinf(scores), scores, scores / max(1.0, np.abs(scores[~np.isinf(scores)]).max(initial=0)))
    paths = [path for path, _ in all_paths(graph)[-1]]
    total = log_sum([score_of(path, scores) for path in paths])
    if total == -math.inf:
        with pytest.raises(ValueError, match="derivation"):
            core.sample(graph, scores, 10, seed=1)
        return
    count = 300
    drawn = core.sample(graph, scores, count, seed=seed)
    assert drawn.edges.tolist() == core.sample(graph, scores, count, seed=seed).edges.tolist()
    seen = Counter(tuple(derivation.edges.tolist()) for derivation in drawn)
    assert seen.keys() <= set(paths)
    for derivation in drawn:
        assert derivation.score == pytest.approx(score_of(tuple(derivation.edges.tolist()), scores), abs=1e-9)
    # Six standard deviations, at some hundred paths and graphs.
    for path in paths:
        probability = math.exp(score_of(path, scores) - total)
        assert abs(seen[path] - count * probability) <= 6 * math.sqrt(count * probability) + 3


@GRAPHS
@given(CASES, SEEDS)
def test_beam(core: ModuleType, case: Case, seed: int) -> None:
    """An edge stays when a derivation with it is within the beam; so do all such derivations."""
    graph, scores = case
    beam = (0.0, 0.5, 2.0, 10.0)[seed % 4]
    part = core.prune(graph, scores, beam=beam)
    wanted = ranked(graph, scores)
    if not wanted:
        assert part.graph.nodes == 0
        return
    _, edges = around(graph, scores)
    limit = wanted[0][0] - beam
    assert part.edges.tolist() == [at for at, sums in enumerate(edges) if max(sums, default=-math.inf) >= limit - 1e-9]
    near = [score for score, _ in wanted if score >= limit - 1e-9]
    left = core.kbest(part.graph, None, 1000).scores.tolist()
    assert left[: len(near)] == pytest.approx(near, abs=1e-9)
    assert same_edges(graph, part.graph, part.edges.tolist())


def same_edges(graph: Hypergraph, part: Hypergraph, origins: list[int]) -> bool:
    """Whether the edges of a part are those they come from."""
    return all(
        part.rules[at] == graph.rules[origin]
        and part.edge_features(at) == graph.edge_features(origin)
        and np.array_equal(part.spans[at], graph.spans[origin])
        and part.tail_offsets[at + 1] - part.tail_offsets[at]
        == graph.tail_offsets[origin + 1] - graph.tail_offsets[origin]
        for at, origin in enumerate(origins)
        if origin >= 0
    )


@GRAPHS
@given(CASES, SEEDS)
def test_density(core: ModuleType, case: Case, seed: int) -> None:
    graph, scores = case
    wanted = ranked(graph, scores)
    words, density = seed % 4 + 1, seed % 3 + 1
    part = core.prune(graph, scores, density=density, words=words)
    if not wanted:
        assert part.graph.nodes == 0
        return
    best = core.posteriors(graph, scores, "max").edges
    least_needed = int(np.sum(best >= wanted[0][0] - 1e-9))
    assert len(part.graph) <= max(words * density, least_needed)
    assert core.inside(part.graph, None, "max")[-1] == pytest.approx(wanted[0][0], abs=1e-9)
    kept = set(part.edges.tolist())
    if kept:
        worst = min(best[list(kept)])
        assert all(best[edge] <= worst + 1e-9 for edge in range(len(graph)) if edge not in kept)


@GRAPHS
@given(CASES)
def test_only_one_way_to_prune(core: ModuleType, case: Case) -> None:
    graph, scores = case
    with pytest.raises(ValueError, match="beam"):
        core.prune(graph, scores)
    with pytest.raises(ValueError, match="beam"):
        core.prune(graph, scores, beam=1.0, density=2.0)


def values_for(graph: Hypergraph, seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=len(graph))


@GRAPHS
@given(CASES, SEEDS)
def test_moments_are_those_of_all_derivations(core: ModuleType, case: Case, seed: int) -> None:
    graph, scores = case
    first, second = values_for(graph, seed), values_for(graph, seed + 1)
    by_node = all_paths(graph)
    total = log_sum([score_of(path, scores) for path, _ in by_node[-1]])
    if total == -math.inf:
        for call in (core.expectation, core.covariance):
            with pytest.raises(ValueError, match="derivation"):
                call(graph, scores, first)
        return
    mean = core.expectation(graph, scores, first)
    spread = core.covariance(graph, scores, first)
    assert mean.log_z == pytest.approx(total, abs=1e-10)
    for node, paths in enumerate(by_node):
        below = log_sum([score_of(path, scores) for path, _ in paths])
        if below > -math.inf:
            wanted = sum(math.exp(score_of(path, scores) - below) * score_of(path, first) for path, _ in paths)
            assert mean.nodes[node] == pytest.approx(wanted, abs=1e-10)
    sums = [(math.exp(score_of(path, scores) - total), score_of(path, first), score_of(path, second))
            for path, _ in by_node[-1]]  # fmt: skip
    a, b = sum(p * x for p, x, _ in sums), sum(p * y for p, _, y in sums)
    assert mean.mean == pytest.approx(a, abs=1e-10)
    assert spread.mean == pytest.approx(a, abs=1e-10)
    assert spread.of(second) == pytest.approx(sum(p * (x - a) * (y - b) for p, x, y in sums), abs=1e-10)
    assert spread.of(first) == pytest.approx(sum(p * (x - a) ** 2 for p, x, _ in sums), abs=1e-10)


@settings(max_examples=60)
@given(SEEDS)
def test_gradients_are_finite_differences(core: ModuleType, seed: int) -> None:
    graph, _ = random_case(seed)
    rng = np.random.default_rng(seed)
    weights, loss, gamma = rng.normal(size=len(graph.names)), rng.normal(size=len(graph)), 1.3
    step = 1e-5

    def risk_at(moved: Floats) -> float:
        return float(core.risk(graph, gamma * graph.scores(moved), loss).value)

    def entropy_at(moved: Floats) -> float:
        return float(core.entropy(graph, gamma * graph.scores(moved)).value)

    for at, result in (
        (risk_at, core.risk(graph, gamma * graph.scores(weights), loss)),
        (entropy_at, core.entropy(graph, gamma * graph.scores(weights))),
    ):
        assert result.value == pytest.approx(at(weights), abs=1e-12)
        for feature in range(len(weights)):
            moved = np.zeros(len(weights))
            moved[feature] = step
            slope = (at(weights + moved) - at(weights - moved)) / (2 * step)
            assert gamma * result.gradient[feature] == pytest.approx(slope, abs=1e-6)


@GRAPHS
@given(CASES)
def test_entropy(core: ModuleType, case: Case) -> None:
    graph, scores = case
    path_scores = [score_of(path, scores) for path, _ in all_paths(graph)[-1]]
    total = log_sum(path_scores)
    if total == -math.inf:
        return
    wanted = -sum(math.exp(score - total) * (score - total) for score in path_scores if score > -math.inf)
    assert core.entropy(graph, scores).value == pytest.approx(wanted, abs=1e-9)


@GRAPHS
@given(CASES, SEEDS)
def test_forced_decoding(core: ModuleType, case: Case, seed: int) -> None:
    graph, scores = case
    paths = all_paths(graph)[-1]
    texts = sorted({words for _, words in paths})
    reference = (*texts[seed % len(texts)], *(("b",) if seed % 5 == 0 else ()))
    part = core.intersect(graph, reference, scores)
    wanted = sorted(path for path, words in paths if words == reference)
    kept = sorted(tuple(part.edges[list(path)].tolist()) for path, _ in derivations(part.graph))
    assert kept == wanted
    assert core.paths(part.graph) == len(wanted)
    assert same_edges(graph, part.graph, part.edges.tolist())
    assert {words for _, words in derivations(part.graph)} <= {reference}
    if part.graph.nodes:
        sums = [score_of(path, scores) for path in wanted]
        assert core.inside(part.graph)[-1] == pytest.approx(log_sum(sums), abs=1e-9)


def derivations(graph: Hypergraph) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
    return all_paths(graph)[-1] if graph.nodes else []


def random_lattice(seed: int, empty: bool) -> Hypergraph:
    """A lattice as readers give them: node 0 begins, arcs have words behind what came before."""
    rng = np.random.default_rng(seed)
    builder = HypergraphBuilder()
    rules: list[Rule] = [Rule("X", ("s",), (), (), ())]
    builder.add([Edge((), 0)])
    size = int(rng.integers(2, 6))
    for node in range(1, size):
        edges = []
        for tail in range(node):
            for _ in range(int(rng.integers(0, 3)) or int(tail == node - 1)):
                count = int(rng.integers(0 if empty else 1, 3))
                words = tuple(str(rng.choice(["a", "b"])) for _ in range(count))
                gap = NonTerminal("X", 1)
                rules.append(Rule("X", (gap, *words), (gap, *words), (), ()))
                edges.append(Edge((tail,), len(rules) - 1, {"L": float(rng.normal())}))
        builder.add(edges)
    return builder.build("lattice", rules)


@settings(max_examples=60)
@given(CASES, SEEDS)
def test_intersection_with_a_lattice(core: ModuleType, case: Case, seed: int) -> None:
    """Every pair of a derivation and a way through the lattice with the same words, once."""
    graph, scores = case
    lattice = random_lattice(seed, empty=False).reweighted({"L": 1.0})
    ways: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for path, words in all_paths(lattice)[-1]:
        assert lattice.edge_scores is not None
        ways[words].append(score_of(path, lattice.edge_scores))
    part = core.intersect(graph, lattice, scores)
    wanted = sorted(
        score_of(path, scores) + other for path, words in all_paths(graph)[-1] for other in ways.get(words, ())
    )
    kept = sorted(score_of(path, part.graph.edge_scores) for path, _ in derivations(part.graph))
    assert kept == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=60)
@given(CASES, SEEDS)
def test_empty_arcs_add_up(core: ModuleType, case: Case, seed: int) -> None:
    graph, scores = case
    lattice = random_lattice(seed, empty=True).reweighted({"L": 1.0})
    assert lattice.edge_scores is not None
    ways: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for path, words in all_paths(lattice)[-1]:
        ways[words].append(score_of(path, lattice.edge_scores))
    texts = [(score_of(path, scores), words) for path, words in all_paths(graph)[-1] if words in ways]
    for semiring, choose in (("log", log_sum), ("max", max)):
        part = core.intersect(graph, lattice, scores, semiring=semiring)
        wanted = choose([-math.inf, *(score + choose(ways[words]) for score, words in texts)])
        got = core.inside(part.graph, None, semiring)[-1] if part.graph.nodes else -math.inf
        assert got == pytest.approx(wanted, abs=1e-9)


def test_a_sentence_without_a_parse(core: ModuleType) -> None:
    graph = HypergraphBuilder().build("0", [])
    assert graph.nodes == len(graph) == 0
    assert core.inside(graph).tolist() == core.outside(graph).tolist() == []
    assert core.viterbi(graph) is None
    assert len(core.kbest(graph, None, 5)) == len(core.kbest(graph, None, 5, unique=True)) == 0
    assert core.posteriors(graph).total == -math.inf
    assert core.paths(graph) == 0
    assert core.prune(graph, beam=1.0).graph.nodes == core.intersect(graph, ("a",)).graph.nodes == 0
    with pytest.raises(ValueError, match="derivation"):
        core.sample(graph, None, 1)


def chain(length: int, tails: int) -> Hypergraph:
    """Node above node, each the only tail of the next one, as often as said."""
    builder = HypergraphBuilder()
    gaps = tuple(NonTerminal("X", k + 1) for k in range(tails))
    builder.add([Edge((), 0)])
    for node in range(length):
        builder.add([Edge((node,) * tails, 1)])
    return builder.build("0", [Rule("X", ("s",), ("a",), (), ()), Rule("X", gaps, gaps, (), ())])


def test_what_is_deep_is_no_trouble(core: ModuleType) -> None:
    graph = chain(5_000, 1)
    assert core.viterbi(graph).text == "a"
    assert len(core.kbest(graph, None, 3)) == len(core.kbest(graph, None, 3, unique=True)) == 1
    assert core.sample(graph, None, 2).texts() == ["a", "a"]
    assert core.intersect(graph, ("a",)).graph.nodes == graph.nodes


def test_derivations_beyond_all_bounds_are_refused(core: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    if core is reference:
        # It is slow at each edge.
        monkeypatch.setattr(core, "MAX_DERIVATION", 2**10)
    graph = chain(60, 2)
    assert core.paths(graph) == 1
    assert core.inside(graph).tolist() == [0.0] * 61
    for call in (core.viterbi, core.kbest, core.sample):
        with pytest.raises(ValueError, match="too many"):
            call(graph)


def test_wrong_scores_are_told(core: ModuleType) -> None:
    graph = chain(3, 1)
    with pytest.raises(ValueError, match="each edge"):
        core.inside(graph, np.zeros(3))
    for wrong in (math.nan, math.inf):
        with pytest.raises(ValueError, match="scores"):
            core.inside(graph, np.full(4, wrong))
    with pytest.raises(ValueError, match="semiring"):
        core.inside(graph, None, "min")
    with pytest.raises(ValueError, match="max_edges"):
        core.intersect(graph, ("a",), max_edges=2)
