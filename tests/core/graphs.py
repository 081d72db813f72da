"""Small random graphs, and all their derivations written out: what every dynamic program is compared with."""

from __future__ import annotations

import itertools
import math
import random
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns
from smtplugins.core.graph.hypergraph import Hypergraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_PATHS = 150
NAMES = ("F0", "F1", "G", "H")


def random_rule(rng: random.Random, arity: int) -> Rule:
    """A rule that uses each tail once, with few words, so that yields repeat."""
    gaps = [NonTerminal("X", k) for k in range(1, arity + 1)]
    target: list[Symbol] = [rng.choice("ab") for _ in range(rng.choice((0, 1, 1, 2)))]
    for gap in gaps:
        target.insert(rng.randint(0, len(target)), gap)
    return Rule("X", tuple(gaps) or ("s",), tuple(target), (), ())


def random_columns(rng: random.Random) -> GraphColumns:
    """A graph of up to eight nodes: starts, edges of up to four tails, nodes twice as a tail, edges without rules."""
    while True:
        builder = GraphBuilder()
        rules: list[Rule] = []
        of_rule: list[dict[str, float]] = []
        paths: list[int] = []
        for node in range(rng.randint(1, 8)):
            edges: list[Edge] = []
            total = 0
            for _ in range(0 if rng.random() < 0.1 else rng.randint(1, 4)):
                arity = rng.choice((0, 1, 1, 2, 2, 3, 4)) if node else 0
                tails = [rng.randrange(max(0, node - 3), node) for _ in range(arity)]
                if rng.random() < 0.3 and edges and len(edges[-1].tails) == arity:
                    tails = list(edges[-1].tails)
                rule = -1
                if rng.random() < 0.9:
                    same = [i for i, rule in enumerate(rules) if len(rule.source) == arity and rule.source != ("s",)]
                    if same and rng.random() < 0.5:
                        rule = rng.choice(same)
                    else:
                        rule = len(rules)
                        rules.append(random_rule(rng, arity))
                        of_rule.append({name: rng.gauss(0, 1) for name in NAMES[:2] if rng.random() < 0.7})
                features = dict(of_rule[rule]) if rule >= 0 else {}
                features |= {name: rng.gauss(0, 1) for name in NAMES[1:] if rng.random() < 0.4}
                edges.append(Edge(tails, rule, features, (rng.randint(0, 2), 3)))
                total += math.prod(paths[tail] for tail in tails)
            builder.add(edges, rng.choice(("X", "S", None)))
            paths.append(total if edges else 1)
        if max(paths) <= MOST_PATHS:
            return builder.graph("7", rules)


def random_scores(rng: random.Random, edges: int) -> Floats:
    """Scores, some of them -inf, some equal."""
    spread = rng.choice((0.5, 2.0, 2.0, 50.0))
    impossible = rng.choice((0.0, 0.0, 0.15))
    scores = [-math.inf if rng.random() < impossible else rng.gauss(0, spread) for _ in range(edges)]
    for i in range(1, edges):
        if rng.random() < 0.1:
            scores[i] = scores[i - 1]
    return np.array(scores, dtype=np.float64)


def random_case(seed: int) -> tuple[Hypergraph, Floats]:
    """A graph and scores for its edges."""
    rng = random.Random(seed)
    graph = Hypergraph.from_columns(random_columns(rng))
    return graph, random_scores(rng, len(graph))


SEEDS = st.integers(0, 10**9)
CASES = SEEDS.map(random_case)

Path = tuple[int, ...]


def all_paths(graph: Hypergraph) -> list[list[tuple[Path, tuple[str, ...]]]]:
    """Of each node all derivations: their edges from the top down, and their words."""
    paths: list[list[tuple[Path, tuple[str, ...]]]] = []
    for node in range(graph.nodes):
        first, last = int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1])
        here: list[tuple[Path, tuple[str, ...]]] = [((), ())] if first == last else []
        for edge in range(first, last):
            tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
            for below in itertools.product(*(paths[tail] for tail in tails)):
                edges = (edge, *itertools.chain.from_iterable(path for path, _ in below))
                here.append((edges, words_of(graph, edge, [words for _, words in below])))
        paths.append(here)
    return paths


def words_of(graph: Hypergraph, edge: int, below: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The words of an edge when those of its tails are known."""
    rule = int(graph.rules[edge])
    if rule < 0:
        return tuple(itertools.chain.from_iterable(below))
    words: list[str] = []
    for symbol in graph.grammar.rule(rule).target:
        words += below[symbol.index - 1] if isinstance(symbol, NonTerminal) else [symbol]
    return tuple(words)


def score_of(path: Path, scores: Floats) -> float:
    return float(sum(scores[edge] for edge in path))


def log_sum(values: list[float]) -> float:
    return float(np.logaddexp.reduce([-np.inf, *values]))
