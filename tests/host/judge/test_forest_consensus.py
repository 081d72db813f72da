"""Minimum Bayes-risk decoding of forests: sampled texts, and linear gains against enumeration of all outputs."""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import all_formats
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.core.graph import inference
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.host.files.opening import write_all
from smtplugins.host.host import Host
from smtplugins.host.judge.consensus import posteriors
from smtplugins.host.judge.forest_consensus import Forests, best_output, linear_choices, sample_lists, shared_gain


def written(path: Path) -> Path:
    """A forest of two outputs, the first having f=1."""
    builder = GraphBuilder()
    rules = [Rule("X", ("a",), ("x",)), Rule("X", ("a",), ("y", "z"))]
    builder.add([Edge([], 0, {"f": 1.0}), Edge([], 1, {"f": 0.0})])
    record = next(fmt for fmt in all_formats() if fmt.name == "cdec-json-hypergraph")
    write_all(record, [builder.graph("0", rules)], path, None)
    return path


def random_graph(rng: random.Random) -> Hypergraph:
    """Words in a row with a choice each, and swaps of neighbours."""
    builder, rules = GraphBuilder(), list[Rule]()
    below = -1
    for _ in range(4):
        words = []
        for _ in range(3):
            rules.append(Rule("X", ("a",), tuple(rng.choice("abc") for _ in range(rng.choice([1, 1, 2])))))
            words.append(Edge([], len(rules) - 1))
        node = builder.add(words)
        if below >= 0:
            pair = (NonTerminal("X", 1), NonTerminal("X", 2))
            rules += [Rule("X", pair, pair), Rule("X", pair, pair[::-1])]
            node = builder.add([Edge([below, node], len(rules) - 2), Edge([below, node], len(rules) - 1)])
        below = node
    graph = Hypergraph.from_columns(builder.graph("0", rules))
    return graph.with_scores(np.array([rng.gauss(0, 1) for _ in range(len(graph))]))


def test_lists_have_the_posteriors_of_their_texts(tmp_path: Path) -> None:
    path = written(tmp_path / "0.json")
    [nbest] = sample_lists(Forests(path, 4000, 0.5, {"f": 2.0}))
    assert (nbest.id, nbest.texts) == ("0", ["x", "y z"])
    assert posteriors(nbest.totals or [])[0] == pytest.approx(1 / (1 + math.exp(-1)), abs=0.03)
    (tmp_path / "source").write_text("src\n")
    lists = sample_lists(Forests(path, 50, 1.0, {"f": 1.0}), source=tmp_path / "source")
    [first], [second] = list(lists), list(lists)
    assert first == second
    assert first.source == "src"


@pytest.mark.parametrize("seed", range(8))
def test_output_of_the_highest_linear_gain(host: Host, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(random.Random(seed))
    counts = Counter(inference.sample(graph, None, 50, seed=seed).texts())
    feature = shared_gain(host.metric("bleu,tokenize=none"), counts)
    outputs = set(inference.kbest(graph, None, 100_000, unique=True).texts())
    assert len(outputs) > 20

    @functools.cache
    def having(*gram: str) -> int:
        """How many of the sampled texts have the words side by side."""
        n = len(gram)
        texts = ((tuple(other.split()), count) for other, count in counts.items())
        return sum(count for words, count in texts if any(words[k : k + n] == gram for k in range(len(words))))

    def gain(text: str) -> float:
        """By the definition of Tromble and others."""
        words, total = text.split(), -1.0 * len(text.split())
        for n in range(1, 5):
            for i in range(len(words) - n + 1):
                total += having(*words[i : i + n]) / 50 / (4 * 0.85 * 0.7 ** (n - 1))
        return total

    text, best = best_output(graph, feature)
    assert best == pytest.approx(gain(text), abs=1e-5)
    assert best == pytest.approx(max(map(gain, outputs)), abs=1e-5)
    monkeypatch.setattr("smtplugins.host.judge.forest_consensus._MOST_EDGES", 3)
    assert best_output(graph, feature)[1] == pytest.approx(best, abs=1e-5)


def test_impossible_edges_are_never_taken(host: Host, tmp_path: Path) -> None:
    [nbest] = linear_choices(
        Forests(written(tmp_path / "0.json"), 20, 1.0, {"f": 50.0}), host.metric("bleu,tokenize=none")
    )
    assert (nbest.id, nbest.texts) == ("0", ["x"])
    assert nbest.totals == pytest.approx([-1 + 1 / 3.4])
    graph = random_graph(random.Random(3))
    scores = graph.scores_or(None).copy()
    scores[0] = -np.inf
    cut = graph.with_scores(scores)
    counts = Counter(inference.sample(cut, None, 5, seed=1).texts())
    text, _ = best_output(cut, shared_gain(host.metric("bleu,tokenize=none"), counts))
    assert text in inference.kbest(cut, None, 100_000, unique=True).texts()


def test_faults_are_told(host: Host, tmp_path: Path) -> None:
    path = written(tmp_path / "0.json")
    with pytest.raises(SmtError, match="forest 0: expected scores, found none; weights computes them"):
        list(sample_lists(Forests(path, 10)))
    with pytest.raises(SmtError, match="none of the 1 weights names a feature of the forests"):
        list(sample_lists(Forests(path, 10, 1.0, {"g": 2.0})))
    for options in ({"samples": 0}, {"samples": 1, "scale": math.nan}):
        given: Any = options
        with pytest.raises(UsageError, match="expected"):
            Forests(path, **given)
    for spec in ("bleu", "chrf"):
        with pytest.raises(UsageError, match="has no linear form with these options; bleu,tokenize=none has one"):
            shared_gain(host.metric(spec), {"a": 1})
