"""Small random problems, and metrics that can be checked by hand."""

from __future__ import annotations

import itertools
import operator
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from smtformats import Candidates
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.hypergraph.graph import Edge, GraphBuilder
from smtplugins.contracts.adapters import SimpleStateful
from smtplugins.contracts.learners import ForestProblem, ListProblem
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.plugins.standard.metrics import Bleu

WORDS = "abcd"
NAMES = ("F", "G", "H")
SEEDS = st.integers(0, 10**9)


class Overlap:
    """Words in common with the first reference, clipped: F1 in per cent; its linear form counts known pairs, too."""

    name = "overlap"
    higher_is_better = True

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> Any:
        rows = []
        for hyp, *refs in zip(hypotheses, *references, strict=True):
            # The nearest of several references.
            counts = [
                (sum(min(hyp.split().count(w), ref.split().count(w)) for w in set(hyp.split())), len(ref.split()))
                for ref in refs
            ]
            both, length = max(counts)
            rows.append([both, len(hyp.split()), length])
        return np.array(rows, dtype=np.float64)

    def score(self, stats: Any) -> Any:
        return 200 * stats[..., 0] / np.maximum(stats[..., 1] + stats[..., 2], 1e-9)

    def sentence(self, stats: Any) -> Any:
        return self.score(stats)

    def signature(self) -> str:
        return "overlap"

    def linear(self, references: Sequence[str]) -> Pairs:
        return Pairs(references)


class Errors(Overlap):
    """The same as a rate of errors."""

    name = "errors"
    higher_is_better = False

    def score(self, stats: Any) -> Any:
        return 100 - super().score(stats)


class Bleulike(Overlap):
    """The same under a name that asks for a background."""

    name = "BLEU-like"


class Pairs(SimpleStateful):
    """1 for each word that a reference has, half for each pair of neighbours, minus 0.3 for each word."""

    def __init__(self, references: Sequence[str]) -> None:
        self.known = {word for text in references for word in text.split()}
        self.known |= {pair for text in references for pair in itertools.pairwise(text.split())}

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        total = 0.0
        ends: list[tuple[str, str] | None] = []
        for symbol in target:
            if isinstance(symbol, int):
                ends.append(tails[symbol])
            else:
                total += (symbol in self.known) - 0.3
                ends.append((symbol, symbol))
        words = [end for end in ends if end is not None]
        total += sum(0.5 * ((one[1], two[0]) in self.known) for one, two in itertools.pairwise(words))
        return total, ((words[0][0], words[-1][1]) if words else None)

    def of(self, words: Sequence[str]) -> float:
        """The same of a whole sentence."""
        pairs = itertools.pairwise(words)
        return sum((word in self.known) - 0.3 for word in words) + 0.5 * sum(pair in self.known for pair in pairs)


def lists(seed: int, count: int = 6, metric: Any = None, extra: int = 0) -> ListProblem:
    """Lists in which two features tell good hypotheses from bad ones; ``extra`` sparse ones are noise."""
    rng = random.Random(seed)
    chosen = Overlap() if metric is None else metric
    made, stats = [], []
    for number in range(count):
        reference = [rng.choice(WORDS) for _ in range(6)]
        texts, layouts, values = [], [], []
        for _ in range(rng.randint(1, 8)):
            words = [word if rng.random() < 0.6 else "x" for word in reference]
            right = float(sum(a == b for a, b in zip(words, reference, strict=True)))
            texts.append(" ".join(words))
            sparse = sorted({f"s{rng.randrange(extra)}" for _ in range(3)}) if extra else []
            layouts.append((*NAMES, *sparse))
            values.append([right + rng.gauss(0, 1), rng.gauss(0, 1), -right + rng.gauss(0, 2), *(1.0 for _ in sparse)])
        made.append(Candidates(id=str(number), texts=texts, layouts=layouts, values=values, file="made"))
        stats.append(chosen.stats(texts, [[" ".join(reference)] * len(texts)]))
    return ListProblem(made, stats, chosen)


def bleu_lists(seed: int) -> ListProblem:
    """Lists of sentences with some words replaced, left out and swapped, and features that tell."""
    rng = random.Random(seed)
    metric, made, stats = Bleu(tokenize="none", smooth_method="none"), [], []
    for number in range(12):
        reference = [rng.choice("abcdefgh") for _ in range(rng.randint(5, 12))]
        texts, values = [], []
        for _ in range(rng.randint(1, 9)):
            words = [word if rng.random() < 0.75 else rng.choice("abx") for word in reference if rng.random() < 0.95]
            right = sum(map(operator.eq, words, reference))
            texts.append(" ".join(words or reference))
            values.append([0.3 * right + rng.gauss(0, 1), rng.gauss(0, 1), float(len(words)), rng.gauss(0, 3)])
        made.append(Candidates(str(number), texts, [("F", "G", "H", "I")] * len(texts), values))
        stats.append(metric.stats(texts, [[" ".join(reference)] * len(texts)]))
    return ListProblem(made, stats, metric)


def forest(rng: random.Random, key: str = "0") -> Hypergraph:
    """A graph of a few nodes, each edge with a rule and features."""
    builder, rules = GraphBuilder(), []
    nodes = rng.randint(2, 4)
    for node in range(nodes):
        edges = []
        for number in range(rng.randint(1, 3)):
            arity = 0 if not node else rng.choice((0, 1, 2)) if number else 1
            # The first edge leads on, so that all nodes are used.
            tails = [node - 1] * bool(arity) + [rng.randrange(node) for _ in range(arity - 1)]
            target: list[Symbol] = [rng.choice(WORDS) for _ in range(rng.choice((0, 1, 2)) if arity else 2)]
            gaps = [NonTerminal("X", k) for k in range(1, arity + 1)]
            for gap in gaps:
                target.insert(rng.randint(0, len(target)), gap)
            rules.append(Rule("X", tuple(gaps) or ("s",), tuple(target), (), ()))
            features = {name: rng.gauss(0, 1) for name in NAMES if rng.random() < 0.7}
            edges.append(Edge(tails, len(rules) - 1, features, (0, 1)))
        builder.add(edges, "X")
    return Hypergraph.from_columns(builder.graph(key, rules))


def forests(seed: int, count: int = 3, each: int = 1) -> ForestProblem:
    """Forests and two references a sentence."""
    rng = random.Random(seed)
    graphs = [[forest(rng, str(k)) for _ in range(each)] for k in range(count)]
    references = [[" ".join(rng.choice(WORDS) for _ in range(4)) for _ in range(count)] for _ in range(2)]
    return ForestProblem(graphs, references, Overlap())


def slopes(function: Any, at: Any, step: float = 1e-5) -> Any:
    """The derivatives of a function of weights by differences."""
    found = np.zeros(len(at))
    for i in range(len(at)):
        move = np.zeros(len(at))
        move[i] = step
        found[i] = (function(at + move) - function(at - move)) / (2 * step)
    return found
