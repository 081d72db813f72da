"""Aggregated references and shortlists against their definitions."""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import smtplugins as smt
from smtformats import Candidates
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.metrics import Metric
from smtplugins.host.files.lists import candidates
from smtplugins.host.host import Host
from smtplugins.host.judge.consensus import Consensus, PseudoReferences, choices
from smtplugins.host.judge.shortlists import Shortlist

SEEDS = st.integers(0, 1 << 30)


@functools.cache
def metric_of(spec: str) -> Metric:
    return smt.load_plugins().metric(spec)


def random_list(rng: random.Random) -> Any:
    texts = [
        " ".join(rng.choice(["a", "b", "cd."]) for _ in range(rng.randint(0, 5))) for _ in range(rng.randint(1, 7))
    ]
    scores = [rng.choice([0.0, rng.uniform(-3, 0)]) for _ in texts]
    return with_features(texts, scores, [{"f": float(rng.randint(0, 3))} for _ in texts])


def with_features(texts: list[str], totals: list[float], features: list[dict[str, float]]) -> Candidates:
    return Candidates("0", texts, list(map(tuple, features)), [list(row.values()) for row in features], totals)


def matches(own: str | list[str], others: list[Any], weights: list[float], n: int) -> tuple[float, float, float]:
    """Matches of n-grams with the mean counts of the others, n-grams of the text, mean n-grams of the others."""
    mean: Counter[Any] = Counter()
    for other, weight in zip(others, weights, strict=True):
        for i in range(len(other) - n + 1):
            mean[tuple(other[i : i + n])] += weight  # type: ignore[assignment]
    counts = Counter(tuple(own[i : i + n]) for i in range(len(own) - n + 1))
    hits = sum(min(count, mean[ngram]) for ngram, count in counts.items())
    return hits, float(sum(counts.values())), float(sum(mean.values()))


def bleu(text: str, others: list[str], weights: list[float]) -> float:
    """Sentence BLEU against mean counts and the mean length: effective order, exponential smoothing."""
    own, words = text.split(), [other.split() for other in others]
    length = sum(weight * len(other) for other, weight in zip(words, weights, strict=True))
    logs, smooth, orders = 0.0, 1.0, 0
    cells = [matches(own, words, weights, n) for n in range(1, 5)]
    if not any(hits for hits, _, _ in cells):
        return 0.0
    for hits, count, _ in cells:
        if not count:
            break
        orders += 1
        smooth = smooth if hits else smooth * 2
        logs += math.log(hits / count if hits else 1 / smooth / count)
    return 100 * math.exp(logs / orders) * min(1.0, math.exp(1 - length / len(own)))


def chrf(text: str, others: list[str], weights: list[float]) -> float:
    own, letters = text.replace(" ", ""), [other.replace(" ", "") for other in others]
    cells = [matches(own, list(letters), weights, n) for n in range(1, 7)]
    used = [(hits / count, hits / total) for hits, count, total in cells if count and total]
    if not used:
        return 0.0
    precision, recall = (sum(values) / len(used) for values in zip(*used, strict=True))
    return 100 * 5 * precision * recall / (4 * precision + recall) if precision + recall else 0.0


METRICS = {"bleu,tokenize=none": bleu, "chrf": chrf}


@given(
    SEEDS, st.sampled_from(list(METRICS)), st.sampled_from([0.0, 0.7, 500.0]), st.sampled_from([0, 3]), st.booleans()
)
def test_each_hypothesis_against_the_mean(seed: int, spec: str, scale: float, top: int, own: bool) -> None:
    rng, metric = random.Random(seed), metric_of(spec)
    nbest, others = random_list(rng), random_list(rng)
    ranked = sorted(range(len(nbest)), key=lambda i: -nbest.totals[i])
    kept = list(dict.fromkeys(nbest.texts[i] for i in ranked))[: top or None]
    judged = others if not own else nbest.select([i for i in ranked if nbest.texts[i] in kept])
    references = None if own else PseudoReferences.of(others, None, scale)
    choice = Consensus(metric, scale, top, aggregate=True).choose(nbest, None, references)
    best = max(judged.totals)
    weights = [math.exp(scale * (total - best)) for total in judged.totals]
    weights = [weight / sum(weights) for weight in weights]
    for text, gain in zip(nbest.texts, choice.gains, strict=True):
        wanted = METRICS[spec](text, judged.texts, weights)
        assert gain == (pytest.approx(wanted, rel=1e-12, abs=1e-12) if text in kept else None)
    assert choice.gains[choice.best] == max(gain for gain in choice.gains if gain is not None)


@pytest.mark.parametrize("spec", ["bleu", "chrf", "chrf,word_order=2,whitespace=true"])
def test_one_reference_leaves_the_exact_gains(host: Host, spec: str) -> None:
    metric = host.metric(spec)
    nbest = candidates(["a cat.", "", "The cat, he said", "the cat"])
    [reference] = [PseudoReferences(["the cat, he said"], [1.0])]
    exact = Consensus(metric, 0.0).choose(nbest, None, reference)
    assert Consensus(metric, 0.0, aggregate=True).choose(nbest, None, reference) == exact
    for text in ("", "a cat"):
        alone = candidates([text, text], scores=[-1.0, 0.0])
        choice = Consensus(metric, aggregate=True).choose(alone)
        assert choice == Consensus(metric).choose(alone)
        assert choice.best == 1


@given(SEEDS, st.sampled_from(["total", "f", "aggregate"]), st.integers(1, 4), st.booleans())
@example(806, "total", 1, False)
def test_shortlists_are_judged_against_all(seed: int, by: str, size: int, own: bool) -> None:
    rng, metric = random.Random(seed), metric_of("chrf")
    nbest = random_list(rng)
    references = None if own else PseudoReferences.of(random_list(rng))
    exact = Consensus(metric).choose(nbest, None, references)
    means = Consensus(metric, aggregate=True).choose(nbest, None, references)
    choice = Consensus(metric, shortlist=Shortlist(size, by)).choose(nbest, None, references)
    values: dict[str, tuple[float, float, int]] = {}
    for i, text in enumerate(nbest.texts):
        value = {"total": nbest.totals[i], "f": nbest.features()[i]["f"], "aggregate": means.gains[i]}[by]
        before = values.get(text, (-math.inf, -math.inf, 0))
        # Of equal values the higher total counts, and of equal totals the first hypothesis that has it.
        values[text] = (max(value, before[0]), *max((nbest.totals[i], -i), before[1:]))
    kept = sorted(values, key=lambda text: values[text], reverse=True)[:size]
    for text, gain, wanted in zip(nbest.texts, choice.gains, exact.gains, strict=True):
        assert gain == (pytest.approx(wanted, abs=1e-9) if text in kept else None)
    assert choice.gains[choice.best] == max(gain for gain in choice.gains if gain is not None)


def test_shortlists_work_with_other_options(host: Host) -> None:
    nbest = [random_list(random.Random(7))]

    def sorted_texts(spec: str, **options: Any) -> list[str]:
        [result] = host.mbr(nbest, spec, **options)
        return result.texts

    assert sorted_texts("wer", shortlist=(2, "f"), prune=0.9) == sorted_texts("wer", shortlist=(2, "f"))
    means = sorted_texts("chrf", aggregate=True)
    few = sorted_texts("chrf", shortlist=(2, "f"), aggregate=True)
    assert few == [text for text in means if text in few]
    assert set(sorted_texts("chrf", shortlist=3, top=1)) == set(sorted_texts("chrf", shortlist=1))
    assert sorted_texts("chrf", aggregate=True, jobs=2) == means
    [choice] = choices(nbest, Consensus(host.metric("chrf"), aggregate=True))
    assert choice.resort().texts == means


def test_lower_is_better_for_a_plugins_metric(host: Host) -> None:
    plain: Any = host.metric("chrf")

    class Loss:
        name, higher_is_better = "loss", False
        stats, matrix, prepare, aggregate = plain.stats, plain.matrix, plain.prepare, plain.aggregate

        def sentence(self, stats: Any) -> Any:
            return 100 - plain.sentence(stats)

    rng = random.Random(3)
    for _ in range(5):
        nbest = random_list(rng)
        gains = Consensus(Loss(), aggregate=True).choose(nbest).gains  # type: ignore[arg-type]
        wanted = Consensus(plain, aggregate=True).choose(nbest).gains
        assert gains == pytest.approx([gain - 100 for gain in wanted if gain is not None])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "ter", "aggregate": True}, "metric 'TER' does not average references; use bleu or chrf, or leave"),
        ({"metric": "wer", "shortlist": (3, "aggregate")}, "metric 'WER' does not average references; use bleu or"),
        ({"aggregate": True, "prune": 0.99}, "aggregate=True: expected no prune=..., as no pairs of texts are scored"),
        ({"aggregate": True, "utilities": "x"}, "aggregate=True: expected no utilities=..., as no pairs of texts"),
        ({"aggregate": True, "shortlist": (3, "aggregate")}, "expected no shortlist=... by aggregate"),
        ({"shortlist": 0}, "shortlist: expected a number of hypotheses from 1 on, .* found 0,total"),
        ({"shortlist": (1, "")}, "shortlist: expected a number of hypotheses from 1 on"),
    ],
)
def test_wrong_calls_are_told(host: Host, options: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        host.mbr([candidates(["a"])], **{"metric": "chrf", **options})


def test_features_that_no_hypothesis_has_are_told(host: Host) -> None:
    nbest = with_features(["a", "b"], [0.0, 0.0], [{"quality": 1.0}, {"lm": math.nan}])
    [kept] = host.mbr([nbest], "chrf", shortlist=(1, "quality"))
    assert kept.texts == ["a"]
    with pytest.raises(SmtError, match=r"list 0 .*: shortlist: no feature 'qualty'; did you mean 'quality'\?"):
        list(host.mbr([nbest], "chrf", shortlist=(1, "qualty")))
    with pytest.raises(SmtError, match=r"list 0 .*: shortlist: expected numbers of feature 'lm', found nan"):
        list(host.mbr([nbest], "chrf", shortlist=(1, "lm")))
