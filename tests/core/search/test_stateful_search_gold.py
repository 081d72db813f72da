"""Searches on cdec's forests: exact intersection against its own, cube pruning against the scores it reached."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import open_lines
from smtformats.hypergraph.cdec_json import FORMAT
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns
from smtplugins.core._core import Refined, Searcher, SearchForest
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import inside
from smtplugins.core.lm.ngram_model import read_lm
from smtplugins.core.search.search_options import SearchOptions
from smtplugins.core.search.stateful_search import Stateful, best, forest_of, lm_scorer, refine

pytestmark = pytest.mark.shared

LM, OOV = "LanguageModel", "LanguageModel_OOV"


def graph_of(path: Path) -> GraphColumns:
    with open_lines(path) as lines:
        assert FORMAT.parse is not None
        (graph,) = FORMAT.parse(lines)
    return graph


def weights_of(path: Path) -> dict[str, float]:
    return {name: float(value) for name, value in (line.split() for line in path.read_text().splitlines())}


@cache
def model_of(path: Path) -> Any:
    return read_lm(path)


def without_states(graph: GraphColumns) -> GraphColumns:
    """The forest an exact intersection was made from: nodes of one label and span are one."""
    spans = graph.spans[:, :2].tolist()
    keys = []
    for v in range(graph.nodes):
        first = int(graph.edge_offsets[v])
        keys.append((graph.labels[int(graph.node_labels[v])], *spans[first]))
    numbers: dict[Any, int] = {}
    edges: dict[Any, dict[Any, Edge]] = {}
    for v, key in enumerate(keys):
        for e in range(graph.edge_offsets[v], graph.edge_offsets[v + 1]):
            tails = tuple(
                keys[tail] for tail in graph.tails[graph.tail_offsets[e] : graph.tail_offsets[e + 1]].tolist()
            )
            features = {name: value for name, value in graph.edge_features(e).items() if name != LM}
            rule = int(graph.rules[e])
            edges.setdefault(key, {})[rule, tails] = Edge(tails, rule, features, tuple(spans[e]))  # type: ignore[arg-type]
    builder = GraphBuilder(graph.names)
    done: set[Any] = set()

    def add(key: Any) -> None:
        if key in done:
            return
        done.add(key)
        for edge in edges[key].values():
            for tail in edge.tails:
                add(tail)
        own = [Edge([numbers[tail] for tail in e.tails], e.rule, e.features, e.span) for e in edges[key].values()]  # type: ignore[index]
        numbers[key] = builder.add(own, key[0])

    add(keys[-1])
    made = builder.graph(graph.id, [])
    return GraphColumns(**{**vars(made), "grammar": graph.grammar})


def with_words(graph: GraphColumns, weights: Mapping[str, float], model: Any) -> np.ndarray[Any, Any]:
    """Scores of edges as cdec sees them in its second pass, the language model's own left out."""
    words = graph.grammar.words[:]
    unknown = np.array([number == 0 for number in model.ids(list(words))], dtype=bool)
    target, offsets = graph.grammar.target, graph.grammar.target_offsets
    is_word = target >= 0
    is_unknown = is_word & unknown[np.maximum(target, 0)]
    sums = [np.concatenate([[0], np.cumsum(flags)]) for flags in (is_word, is_unknown)]
    counts, unknowns = (ends[offsets[1:]] - ends[offsets[:-1]] for ends in sums)
    extra = -counts / math.log(10) * weights["WordPenalty"] + unknowns * weights[OOV]
    return graph.edge_scores(weights) + extra[graph.rules]


def counted(refined: Refined) -> tuple[int, float, float]:
    """Edges, paths and the log partition."""
    paths: list[float] = []
    logs: list[float] = []
    tails, tail_offsets = refined.tails.tolist(), refined.tail_offsets.tolist()
    scores, rule_offsets = refined.scores, refined.rule_offsets.tolist()
    for first, last in itertools.pairwise(refined.node_bundles.tolist()):
        count, parts = 0.0, []
        for b in range(first, last):
            below = tails[tail_offsets[b] : tail_offsets[b + 1]]
            count += (rule_offsets[b + 1] - rule_offsets[b]) * math.prod(paths[tail] for tail in below)
            own = scores[rule_offsets[b] : rule_offsets[b + 1]]
            parts.append(np.logaddexp.reduce(own) + sum(logs[tail] for tail in below))
        paths.append(count)
        logs.append(float(np.logaddexp.reduce(parts)))
    return len(refined.rules), paths[-1], logs[-1]


def k_best(refined: Refined, k: int) -> list[float]:
    """Scores of the k best derivations, by sorting all sums of each bundle's tails."""
    best: list[list[float]] = []
    tails, tail_offsets = refined.tails.tolist(), refined.tail_offsets.tolist()
    scores, rule_offsets = refined.scores, refined.rule_offsets.tolist()
    for first, last in itertools.pairwise(refined.node_bundles.tolist()):
        here: list[np.ndarray[Any, Any]] = []
        for b in range(first, last):
            sums = np.sort(scores[rule_offsets[b] : rule_offsets[b + 1]])[::-1][:k]
            for tail in tails[tail_offsets[b] : tail_offsets[b + 1]]:
                sums = np.sort(np.add.outer(sums, best[tail]).ravel())[::-1][:k]
            here.append(sums)
        best.append(np.sort(np.concatenate(here))[::-1][:k].tolist())
    return best[-1]


def searcher(model: Any, graph: GraphColumns, weight: float, *, memo: bool = True) -> Searcher:
    return Searcher(lm_scorer(model, graph.grammar.words, memo=memo), np.array([weight]))


def recomputed(
    refined: Refined, forest: SearchForest, scores: Any, edges: Any, graph: GraphColumns, model: Any
) -> float:
    """The best derivation's score again: its edges' own, and the model's of the whole string."""
    derivation = best(refined, forest)
    assert derivation is not None
    weights = scores[edges[refined.edge_of[derivation.edges]]].sum()
    text = " ".join(graph.grammar.words[word] for word in derivation.words.tolist())
    return float(weights) + 0.8572648558235834 * float(model.score_sentences([text])[0][0])


@pytest.mark.parametrize(("folder", "log", "lm"), [
    ("forest", "full", "exact_lm/en.2.arpa.gz"), ("forest.4gram", "full.4gram", "lm/en.4.arpa.gz"),
])  # fmt: skip
def test_exact_intersection_is_cdecs(shared: Path, folder: str, log: str, lm: str) -> None:
    gold = shared / "gold/cdec"
    weights = weights_of(gold / "exact_lm/weights.tuned")
    model = model_of(gold / lm)
    text = (gold / f"exact_lm/{log}.log").read_text()
    expected = re.findall(
        r"nodes/edges\): (\d+)/(\d+)\s+Pass1 forest +\(paths\): (\S+)\s+Pass1 forest +Viterbi logp: (\S+)\s+"
        r"Pass1 forest +Viterbi: (.*)\s+Pass1 partition +log\(Z\): (\S+)",
        text,
    )
    lists: dict[int, list[float]] = {}
    for line in (gold / f"exact_lm/{log}.kbest100.txt").read_text().splitlines():
        number, *_, score = line.split(" ||| ")
        lists.setdefault(int(number), []).append(float(score))
    assert len(expected) == len(lists) == 6
    for i, (nodes, edges, paths, viterbi, string, partition) in enumerate(expected):
        with_states = graph_of(gold / f"exact_lm/{folder}/{i}.json.gz")
        graph = without_states(with_states)
        scores = np.float32(graph.edge_scores(weights)).astype(np.float64)
        forest, edge_of = forest_of(graph, scores)
        search = searcher(model, graph, weights[LM])
        for early in (False, True):
            refined = search.search(forest, SearchOptions(exact=True, early_begin=early))
            found_edges, found_paths, log_z = counted(refined)
            assert found_paths == pytest.approx(float(paths), rel=1e-5)
            assert refined.best[-1] == pytest.approx(float(viterbi), abs=1e-4)
            assert log_z == pytest.approx(float(partition), abs=1e-4)
            assert k_best(refined, 100)[: len(lists[i])] == pytest.approx(lists[i], abs=1e-4)
            assert recomputed(refined, forest, scores, edge_of, graph, model) == pytest.approx(
                refined.best[-1], abs=1e-5
            )
        found_nodes = len(refined.node_of)
        derivation = best(refined, forest)
        assert derivation is not None
        assert " ".join(graph.grammar.words[word] for word in derivation.words.tolist()) == string
        late = search.search(forest, SearchOptions(exact=True, early_begin=False))
        # The same states, and the same values at each edge.
        assert (len(late.node_of), len(late.rules)) == (int(nodes), int(edges))
        theirs = np.array([with_states.edge_features(e).get(LM, 0.0) for e in range(len(with_states))])
        assert np.sort(late.values) == pytest.approx(np.sort(theirs), abs=1e-4)
        part = refine(
            Hypergraph.from_columns(graph).reweighted(weights),
            [Stateful(lm_scorer(model, graph.grammar.words), (LM,), (weights[LM],))],
            exact=True,
        )
        again = part.graph.reweighted(weights)
        assert (again.nodes, len(again)) == (found_nodes, found_edges)
        assert inside(again)[-1] == pytest.approx(float(partition), abs=1e-4)
        assert again.edge_scores == pytest.approx(part.graph.edge_scores, abs=1e-5)
        # Cube pruning without limit finds all of it.
        cube = search.search(forest, SearchOptions(pop_limit=-1, early_begin=False))
        assert (len(cube.node_of), len(cube.rules)) == (int(nodes), int(edges))
        assert cube.best[-1] == pytest.approx(late.best[-1], abs=1e-9)


@pytest.mark.parametrize("sentence", [0, 1, 8])
def test_scores_of_searches_are_those_of_their_strings(shared: Path, sentence: int) -> None:
    gold = shared / "gold/cdec"
    weights = weights_of(gold / "first50/weights.tuned")
    model = model_of(gold / "lm/en.4.arpa.gz")
    graph = graph_of(gold / f"first50/forest.nolm/{sentence}.json.gz")
    scores = np.float32(with_words(graph, weights, model)).astype(np.float64)
    forest, edge_of = forest_of(graph, scores)
    search, fresh = (searcher(model, graph, weights[LM], memo=memo) for memo in (True, False))
    logged = {
        limit: float((gold / f"decode/k{limit}.tsv").read_text().splitlines()[sentence + 1].split("\t")[8])
        for limit in (30, 200, 1000)
    }
    best = {}
    for limit in (1, 30, 200, 2000):
        for early, edges in ((True, True), (True, False), (False, True)):
            refined = search.search(forest, SearchOptions(pop_limit=limit, early_begin=early, all_edges=edges))
            again = fresh.search(forest, SearchOptions(pop_limit=limit, early_begin=early, all_edges=edges))
            assert refined.scores.tobytes() == again.scores.tobytes()
            assert recomputed(refined, forest, scores, edge_of, graph, model) == pytest.approx(
                refined.best[-1], abs=1e-5
            )
            best[limit] = max(best.get(limit, -math.inf), float(refined.best[-1]))
    assert best[200] > logged[30] - 0.05
    assert best[2000] > logged[1000] - 1e-3
