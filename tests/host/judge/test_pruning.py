"""Pruning of minimum Bayes risk: bootstrap rates by enumeration, exact gains of what is left, fewer utilities."""

from __future__ import annotations

import functools
import itertools
import random
from typing import Any

import numpy as np
import pytest

from smtplugins.contracts.errors import UsageError
from smtplugins.host.files.lists import candidates
from smtplugins.host.host import Host
from smtplugins.host.judge.consensus import Consensus, PseudoReferences
from smtplugins.host.judge.pruning import Pruning, win_rates


class Overlap:
    """Word overlap (Jaccard); counts the pairs that it is asked for."""

    name = "overlap"

    def __init__(self, higher_is_better: bool = True) -> None:
        self.higher_is_better = higher_is_better
        self.pairs = 0

    def stats(self, hypotheses: Any, references: Any, sources: Any = None) -> Any:
        assert len(hypotheses) == len(references[0])
        self.pairs += len(hypotheses)
        numbers = {text: number for number, text in enumerate({*hypotheses, *references[0]})}
        words = [set(text.split()) for text in numbers]
        has = np.array([[word in each for word in sorted(set().union(*words))] for each in words], dtype=float)
        both, sizes = has @ has.T, has.sum(axis=1)
        shares = both / np.maximum(1, sizes[:, None] + sizes - both)
        first, second = ([numbers[text] for text in side] for side in (hypotheses, references[0]))
        values = shares[first, second][:, None]
        return values if self.higher_is_better else 1 - values

    def score(self, stats: Any) -> Any:
        return stats[..., 0]

    sentence = score

    def signature(self) -> str:
        return "overlap"


@functools.cache
def samples(seed: int, count: int = 100) -> Any:
    """Texts around one, some further off than others."""
    rng = random.Random(seed)
    base = [f"w{i}" for i in range(12)]
    texts = []
    for _ in range(count):
        noise = rng.uniform(0, 0.8)
        texts.append(" ".join(f"x{rng.randint(0, 40)}" if rng.random() < noise else word for word in base))
    return candidates(texts, id=seed, scores=[rng.uniform(-1, 0) for _ in texts])


def test_rates_are_those_of_all_resamples() -> None:
    rng = np.random.default_rng(3)
    gains = np.round(rng.normal(size=(6, 4)), 1)
    drawn = list(itertools.product(range(4), repeat=4))
    counts = np.array([[resample.count(i) for i in range(4)] for resample in drawn])
    best = max(range(6), key=lambda i: sum(gains[i]))
    wanted = [
        np.mean([sum(gains[i][j] - gains[best][j] for j in resample) >= -1e-9 for resample in drawn]) for i in range(6)
    ]
    assert win_rates(gains, counts).tolist() == pytest.approx(wanted)
    assert wanted[best] == 1.0 and min(wanted) < 0.5


@pytest.mark.parametrize("higher_is_better", [True, False])
@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_what_is_left_has_exact_gains(higher_is_better: bool, scale: float) -> None:
    agreed = 0
    for seed in range(10):
        nbest, metric = samples(seed), Overlap(higher_is_better)
        exact = Consensus(metric, scale).choose(nbest)
        every, metric.pairs = metric.pairs, 0
        pruned = Consensus(metric, scale, pruning=Pruning()).choose(nbest)
        assert metric.pairs < 0.7 * every
        left = [i for i, gain in enumerate(pruned.gains) if gain is not None]
        assert 0 < len(left) < len(nbest)
        assert [pruned.gains[i] for i in left] == pytest.approx([exact.gains[i] for i in left])
        agreed += pruned.text == exact.text
    assert agreed == 10


def test_short_lists_are_exact() -> None:
    for seed in range(5):
        nbest = samples(seed, 31)
        exact = Consensus(Overlap()).choose(nbest)
        assert Consensus(Overlap(), pruning=Pruning()).choose(nbest).gains == pytest.approx(exact.gains)
        # One reference alone, many hypotheses.
        one = PseudoReferences.of(samples(9, 1))
        long = samples(seed)
        pruned = Consensus(Overlap(), pruning=Pruning()).choose(long, None, one)
        assert pruned.gains == pytest.approx(Consensus(Overlap()).choose(long, None, one).gains)


def test_random_numbers_depend_on_seed_and_id_alone(host: Host) -> None:
    lists = [samples(seed) for seed in range(4)]

    def run(lists: Any, prune: float = 0.999, **options: Any) -> dict[str, Any]:
        return {nbest.id: (nbest.texts, nbest.totals) for nbest in host.mbr(lists, "chrf", prune=prune, **options)}

    whole = run(lists)
    assert run(lists, jobs=2) == whole
    assert run(lists[::-1][:2]) == {key: whole[key] for key in ("2", "3")}
    assert run(lists, seed=2) != whole
    # A lower confidence drops more.
    sizes = [sum(len(texts) for texts, _ in run(lists, prune).values()) for prune in (0.9, 0.999)]
    assert sizes[0] < sizes[1] < sum(map(len, lists))


def test_wrong_calls(host: Host) -> None:
    for alpha in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(UsageError, match=r"prune: expected a confidence between 0 and 1, such as 0\.99"):
            host.mbr([samples(0)], "chrf", prune=alpha)
    with pytest.raises(UsageError, match="seed: expected a whole number from 0 on, found -1"):
        host.mbr([samples(0)], "chrf", prune=0.9, seed=-1)
    with pytest.raises(UsageError, match=r"expected no utilities=\.\.\., which has all utilities"):
        host.mbr([samples(0)], "chrf", prune=0.9, utilities="x")
