"""Small random forests for searches, with all their derivations; and small random language models."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from smtplugins.core._core import ArpaReader, Refined, Searcher, SearchForest

WORDS = ["a", "b", "c", "d"]
Words = tuple[int, ...]
Pairs = dict[tuple[int, int], float]
BEGIN, END = -1, -2


@dataclass
class Made:
    """A forest as lists: each node's bundles are pairs of tails and rules."""

    nodes: list[list[tuple[tuple[int, ...], list[int]]]] = field(default_factory=list)
    targets: list[Words] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    def native(self, **more: Any) -> SearchForest:
        bundles = [bundle for node in self.nodes for bundle in node]

        def ends(parts: Sequence[Sequence[Any]]) -> Any:
            return np.cumsum([0, *map(len, parts)]).astype(np.int64)

        def flat(parts: Sequence[Sequence[int]]) -> Any:
            return np.array(list(itertools.chain.from_iterable(parts)), dtype=np.int32)

        blank = np.zeros(len(self.nodes), dtype=np.int32)
        tails, rules = [tails for tails, _ in bundles], [rules for _, rules in bundles]
        return SearchForest.of(
            labels=blank,
            firsts=blank,
            lasts=blank,
            node_bundles=ends(self.nodes),
            tails=flat(tails),
            tail_offsets=ends(tails),
            rules=flat(rules),
            rule_offsets=ends(rules),
            targets=flat(self.targets),
            target_offsets=ends(self.targets),
            scores=np.array(self.scores, dtype=np.float32),
            **more,
        )

    def count(self) -> int:
        """How many derivations the goal has, and any other node at most."""
        counts: list[int] = []
        for node in self.nodes:
            counts.append(sum(len(rules) * math.prod(counts[tail] for tail in tails) for tails, rules in node))
        return max(counts)

    def derivations(self) -> list[tuple[float, Words]]:
        """All derivations of the goal: score of the rules, words."""
        below: list[list[tuple[float, Words]]] = []
        for node in self.nodes:
            here = []
            for tails, rules in node:
                for parts in itertools.product(*[below[tail] for tail in tails]):
                    for rule in rules:
                        words: Words = ()
                        for symbol in self.targets[rule]:
                            words += (symbol,) if symbol >= 0 else parts[-1 - symbol][1]
                        score = float(np.float32(self.scores[rule])) + sum(score for score, _ in parts)
                        here.append((score, words))
            below.append(here)
        return below[-1] if below else []

    def shuffled(self, rng: random.Random) -> Made:
        return Made([rng.sample(node, len(node)) for node in self.nodes], self.targets, self.scores)


def random_forest(rng: random.Random, most: int = 400) -> Made:
    """Small enough to be enumerated; some nodes without edges, rules without words, arities up to three."""
    while True:
        made = Made()
        shapes: dict[int, list[int]] = {0: [], 1: [], 2: [], 3: []}
        for arity, rules in shapes.items():
            for _ in range(rng.randint(1, 4)):
                target = [rng.randrange(len(WORDS)) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
                for gap in rng.sample(range(arity), arity):
                    target.insert(rng.randint(0, len(target)), -1 - gap)
                rules.append(len(made.targets))
                made.targets.append(tuple(target))
                made.scores.append(rng.choice([-1.0, rng.uniform(-2, 1)]))
        for v in range(rng.randint(1, 6)):
            bundles = []
            for _ in range(rng.randint(0, 3) if rng.random() < 0.2 else rng.randint(1, 3)):
                arity = rng.choice([0, 0, 1, 1, 2, 3]) if v else 0
                tails = tuple(rng.randrange(max(0, v - 3), v) for _ in range(arity))
                bundles.append((tails, rng.sample(shapes[arity], rng.randint(1, len(shapes[arity])))))
            made.nodes.append(bundles)
        if made.count() <= most:
            return made


def glue_forest(rng: random.Random, length: int = 5) -> Made:
    """Spans of a sentence, a left spine of glue above them and a goal: what begins the sentence is told early."""
    made = Made()

    def rule(*target: int) -> int:
        made.targets.append(target)
        made.scores.append(rng.uniform(-2, 1))
        return len(made.targets) - 1

    start, glue, goal = rule(-1), rule(-1, -2), rule(-1)
    swap, join = [rule(-2, -1), rule(-2, 3, -1)], [rule(-1, -2), rule(-1, 0, -2), rule(1, -1, -2)]
    spans: dict[tuple[str, int, int], int] = {}
    for width in range(1, length + 1):
        for i in range(length - width + 1):
            j = i + width
            bundles: list[tuple[tuple[int, ...], list[int]]] = []
            if width <= 2:
                word = [rng.randrange(len(WORDS)) for _ in range(2)]
                bundles.append(((), [rule(word[0]), rule(*word)]))
            for k in range(i + 1, j):
                if width <= 3:
                    bundles.append(((spans["X", i, k], spans["X", k, j]), rng.sample(swap + join, 2)))
            if bundles:
                spans["X", i, j] = len(made.nodes)
                made.nodes.append(bundles)
            if i == 0:
                bundles = [((spans["X", 0, j],), [start])] if ("X", 0, j) in spans else []
                bundles += [((spans["S", 0, k], spans["X", k, j]), [glue]) for k in range(1, j) if ("X", k, j) in spans]
                spans["S", 0, j] = len(made.nodes)
                made.nodes.append(bundles)
    made.nodes.append([((len(made.nodes) - 1,), [goal])])
    return made


def searcher(scorer: Any, weights: Sequence[float] = (1.0,)) -> Searcher:
    return Searcher(scorer, np.array(weights, dtype=np.float64))


def refined_derivations(refined: Refined, made: Made) -> list[tuple[float, Words]]:
    """All derivations of what a search found, by the scores of its edges."""
    derivations: list[list[tuple[float, Words]]] = []
    rules, scores = refined.rules.tolist(), refined.scores.tolist()
    tail_offsets, tails = refined.tail_offsets.tolist(), refined.tails.tolist()
    rule_offsets = refined.rule_offsets.tolist()
    for first, last in itertools.pairwise(refined.node_bundles.tolist()):
        here = []
        for b in range(first, last):
            below = tails[tail_offsets[b] : tail_offsets[b + 1]]
            for parts in itertools.product(*[derivations[tail] for tail in below]):
                for e in range(rule_offsets[b], rule_offsets[b + 1]):
                    words: Words = ()
                    for symbol in made.targets[rules[e]]:
                        words += (symbol,) if symbol >= 0 else parts[-1 - symbol][1]
                    here.append((scores[e] + sum(score for score, _ in parts), words))
        derivations.append(here)
    return derivations[-1] if derivations else []


def same(actual: list[tuple[float, Words]], expected: list[tuple[float, Words]]) -> None:
    """Equal as multisets, scores to 1e-5, or to what 32-bit floats have."""
    assert Counter(words for _, words in actual) == Counter(words for _, words in expected)
    ours, theirs = (sorted((words, score) for score, words in side) for side in (actual, expected))
    for (_, a), (_, b) in zip(ours, theirs, strict=True):
        assert a == pytest.approx(b, rel=2**-22, abs=1e-5)


def arpa(rng: random.Random, order: int, begin: str = "-99") -> bytes:
    """A model as KenLM wants one: beginnings and endings of n-grams are n-grams. `begin`: what <s> as a word has."""
    table: dict[tuple[str, ...], str] = {("<s>",): begin, ("</s>",): "-1", ("<unk>",): "-2.5"}
    table |= {(word,): f"{-2 * rng.random():.4f}" for word in WORDS[:-1]}
    for n in range(2, order + 1):
        for ngram in itertools.product(["<s>", *WORDS[:-1]], *[WORDS[:-1]] * (n - 2), [*WORDS[:-1], "</s>"]):
            if rng.random() < 0.6 and ngram[:-1] in table and ngram[1:] in table:
                table[ngram] = f"{-rng.random():.4f}"
    lines = ["\\data\\"]
    orders = [[ngram for ngram in table if len(ngram) == n] for n in range(1, order + 1)]
    lines += [f"ngram {n}={len(ngrams)}" for n, ngrams in enumerate(orders, 1)]
    for n, ngrams in enumerate(orders, 1):
        lines += ["", f"\\{n}-grams:"]
        for ngram in ngrams:
            backoff = f"\t{-rng.random():.4f}" if n < order and ngram[-1] != "</s>" else ""
            lines.append(f"{table[ngram]}\t{' '.join(ngram)}{backoff}")
    return "\n".join([*lines, "", "\\end\\", ""]).encode()


def pair_model(pairs: Pairs, other: float) -> Any:
    """A bigram model of these pairs of neighbours (none above 0), BEGIN and END among them; all others have `other`."""
    spelt = {BEGIN: "<s>", END: "</s>", **dict(enumerate(WORDS))}
    unigrams = [f"{other}\t{word}" + ("\t0" if word != "</s>" else "") for word in [*spelt.values(), "<unk>"]]
    bigrams = [f"{value:.9f}\t{spelt[left]} {spelt[right]}" for (left, right), value in pairs.items()]
    counts = [f"ngram {n}={len(ngrams)}" for n, ngrams in enumerate((unigrams, bigrams), 1)]
    lines = ["\\data\\", *counts, "", "\\1-grams:", *unigrams, "", "\\2-grams:", *bigrams, "", "\\end\\", ""]
    reader = ArpaReader()
    reader.feed("\n".join(lines).encode())
    return reader.finish()


def language_model(rng: random.Random, order: int, begin: str = "-99") -> Any:
    reader = ArpaReader()
    reader.feed(arpa(rng, order, begin))
    return reader.finish()


def lm_score(model: Any, words: Words) -> float:
    return float(model.score_sentences([" ".join(WORDS[word] for word in words)])[0][0])
