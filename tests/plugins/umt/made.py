"""Small random forests and language models for undirected decoding; all numbers are multiples of 1/64.

Sums of such numbers are exact, so that ties are ties for whoever adds, in whatever order.
"""

from __future__ import annotations

import functools
import itertools
import random
from pathlib import Path
from typing import Any

from smtplugins.core.lm.ngram_model import read_lm
from smtplugins.plugins.umt._umt import BoundOptions
from smtplugins.plugins.umt.features.cff import Cff

from .oracle import Plain, Target

WORDS = "abcde"
Bundles = list[tuple[tuple[int, ...], list[int]]]


def bound_options(mode: Any = "sum", scale: float = 1.0, joins: bool = False) -> BoundOptions:
    """The search's options for bounds, by default as the search has them."""
    return Cff(mode=mode, scale=scale, joins=joins).bounds()


def dyadic(rng: random.Random, low: int = -128, high: int = 64) -> float:
    """A number between -2 and 1, of few digits in base two."""
    return rng.randint(low, high) / 64


class _Rules:
    """Target sides, shared among bundles now and then."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.targets: list[Target] = []
        self.scores: list[float] = []
        self.bounds: list[float] = []
        self.by_arity: dict[int, list[int]] = {}

    def some(self, arity: int) -> list[int]:
        """The rules of a bundle."""
        return [self.one(arity) for _ in range(self.rng.choice((1, 1, 2, 3)))]

    def one(self, arity: int) -> int:
        rng, known = self.rng, self.by_arity.setdefault(arity, [])
        if known and rng.random() < 0.3:
            return rng.choice(known)
        target: list[str | int] = [rng.choice(WORDS) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
        for gap in rng.sample(range(arity), arity):
            target.insert(rng.randint(0, len(target)), gap)
        known.append(len(self.targets))
        self.targets.append(tuple(target))
        self.scores.append(dyadic(rng))
        self.bounds.append(rng.choice((self.scores[-1], dyadic(rng))))
        return known[-1]


def span_forest(rng: random.Random, length: int | None = None) -> Plain:
    """Spans with up to two labels, one above the other, glue on the left, a goal on top."""
    rules = _Rules(rng)
    n = rng.randint(1, 6) if length is None else length
    nodes: list[Bundles] = []
    spans: dict[tuple[int, int], list[int]] = {}
    for width in range(1, n + 1):
        for first in range(n - width + 1):
            last = first + width
            bundles: Bundles = []
            if width == 1 or rng.random() < 0.15:
                bundles.append(((), rules.some(0)))
            for _ in range(rng.randint(1, 3) if width > 1 else 0):
                tails = tuple(rng.choice(spans[span]) for span in _parts(rng, first, last) if span in spans)
                bundles.append((tails, rules.some(len(tails))))
            spans[first, last] = [len(nodes)]
            nodes.append(bundles)
            for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
                bundles = [((spans[first, last][-1],), rules.some(1))]
                spans[first, last].append(len(nodes))
                nodes.append(bundles)
    goal: Bundles = [((node,), rules.some(1)) for node in spans[0, n]]
    if rng.random() < 0.2:
        goal.append(((), rules.some(0)))
    for k in range(1, n):
        if rng.random() < 0.4:
            tails = (rng.choice(spans[0, k]), rng.choice(spans[k, n]))
            goal.append((tails, rules.some(2)))
    return trimmed([*nodes, goal], rules)


def _parts(rng: random.Random, first: int, last: int) -> list[tuple[int, int]]:
    """Up to three spans within a span, but not the whole."""
    cuts = sorted(rng.sample(range(first, last + 1), min(last - first + 1, rng.choice((3, 4)))))
    found = [pair for pair in itertools.pairwise(cuts) if pair != (first, last)]
    return rng.sample(found, rng.choice((1, len(found), len(found))) if found else 0)


def loose_forest(rng: random.Random) -> Plain:
    """Any graph: a node twice as a tail, nodes and edges of no derivation, bundles of the same tails."""
    while True:
        rules = _Rules(rng)
        nodes: list[Bundles] = []
        for v in range(rng.choice((1, 2, 4, 5, 6, 7))):
            bundles: Bundles = []
            for _ in range(rng.randint(0 if rng.random() < 0.2 else 1, 3)):
                arity = rng.choice((0, 1, 2, 2, 3) if v > 1 else (0, 0, 1, 2)) if v else 0
                tails = tuple(rng.randrange(max(0, v - 3), v) for _ in range(arity))
                bundles.append((tails, rules.some(arity)))
            nodes.append(bundles)
        made = Plain(nodes, rules.targets, rules.scores, rules.bounds)
        if made.alive and _largest(made) <= 40:
            return made


def _largest(plain: Plain) -> int:
    """How many edges the largest derivation has."""
    sizes = [0] * len(plain.nodes)
    for edge in plain.alive:
        sizes[edge.head] = max(sizes[edge.head], 1 + sum(sizes[tail] for tail in edge.tails))
    return sizes[-1]


def trimmed(nodes: list[Bundles], rules: _Rules) -> Plain:
    """The forest without what is in no derivation."""
    plain = Plain(nodes, rules.targets, rules.scores, rules.bounds)
    kept = sorted({plain.goal, *plain.into})
    numbers = {v: i for i, v in enumerate(kept)}
    left = [
        [
            (tuple(numbers[tail] for tail in tails), some)
            for tails, some in nodes[v]
            if all(tail in plain.into for tail in tails)
        ]
        for v in kept
    ]
    return Plain(left, rules.targets, rules.scores, rules.bounds)


def random_forest(rng: random.Random) -> Plain:
    return span_forest(rng) if rng.random() < 0.6 else loose_forest(rng)


def seeded_forest(seed: int) -> tuple[Plain, random.Random]:
    """The random forest of a seed, made once for all tests, and the generator behind it."""
    plain, state = _seeded(seed)
    rng = random.Random()
    rng.setstate(state)
    return plain, rng


@functools.cache
def _seeded(seed: int) -> tuple[Plain, Any]:
    rng = random.Random(seed)
    return random_forest(rng), rng.getstate()


def language_model(rng: random.Random, order: int, folder: Path) -> Any:
    """A model of some of the words, as KenLM wants one: beginnings and endings of n-grams are n-grams."""
    words = WORDS[: rng.randint(2, 5)]
    table: dict[tuple[str, ...], float] = {("<s>",): -99.0, ("</s>",): -dyadic(rng, 1), ("<unk>",): -2.5}
    table |= {(word,): -dyadic(rng, 1, 128) for word in words}
    kept = rng.choice((0.2, 0.5, 0.9))
    for n in range(2, order + 1):
        ends = [ngram for ngram in table if len(ngram) == n - 1]
        for ngram in [(*left, right[-1]) for left in ends for right in ends if left[1:] == right[:-1]]:
            if ngram[-1] != "<s>" and "</s>" not in ngram[:-1] and "<unk>" not in ngram and rng.random() < kept:
                table[ngram] = -dyadic(rng, 1, 128)
    lines = ["\\data\\", *(f"ngram {n}={sum(len(one) == n for one in table)}" for n in range(1, order + 1))]
    for n in range(1, order + 1):
        lines += ["", f"\\{n}-grams:"]
        for ngram in (one for one in table if len(one) == n):
            back = f"\t{-dyadic(rng, 1)}" if n < order and ngram[-1] != "</s>" and rng.random() < 0.8 else ""
            lines.append(f"{table[ngram]}\t{' '.join(ngram)}{back}")
    path = folder / f"{order}-{rng.randrange(1 << 40)}.arpa"
    path.write_text("\n".join([*lines, "", "\\end\\", ""]))
    return read_lm(path)
