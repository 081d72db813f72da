"""Statistics against the mean of weighted references: native rows against counts of n-grams by definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.core.metrics.statistics import MetricReferences

SEEDS = st.integers(0, 1 << 30)
SYMBOLS = ["a", "b", "cat", "the", "x.", "(hi)", "é", "猫猫", "🙂", "\u2003"]


def random_text(rng: random.Random) -> str:
    return rng.choice([" ", "  ", ""]).join(rng.choice(SYMBOLS) for _ in range(rng.choice([0, 1, 2, 5, 12])))


def random_weights(rng: random.Random, count: int) -> list[float]:
    """Some of them 0, all of them 1 in sum."""
    weights = [rng.choice([0.0, 1.0, rng.random()]) for _ in range(count)]
    whole = sum(weights)
    return [weight / whole for weight in weights] if whole else [1.0, *weights[1:]]


def ngrams(symbols: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(symbols[i : i + n]) for i in range(len(symbols) - n + 1))


def compared(own: Sequence[str], others: list[Sequence[str]], weights: list[float], n: int) -> list[float]:
    """N-grams of the hypothesis, mean number of those of the references, matches with the mean counts."""
    mean: Counter[tuple[str, ...]] = Counter()
    for other, weight in zip(others, weights, strict=True):
        for ngram, count in ngrams(other, n).items():
            mean[ngram] += weight * count  # type: ignore[assignment]
    counts = ngrams(own, n)
    return [
        float(sum(counts.values())),
        float(sum(mean.values())),
        float(sum(min(count, mean[ngram]) for ngram, count in counts.items())),
    ]


def parted(text: str) -> list[str]:
    """The words of chrF++, as sacrebleu parts them."""
    from sacrebleu.metrics.chrf import CHRF

    words: list[str] = CHRF(word_order=2)._remove_punctuation(text)
    return words


@given(SEEDS, st.integers(1, 5))
def test_bleu_against_the_mean(seed: int, order: int) -> None:
    rng = random.Random(seed)
    texts, references = ([random_text(rng) for _ in range(rng.randint(1, 5))] for _ in range(2))
    weights = random_weights(rng, len(references))
    rows = MetricReferences.bleu([[text] for text in references], order).aggregate(texts, np.array(weights))
    others: list[Sequence[str]] = [text.split() for text in references]
    length = sum(weight * len(other) for other, weight in zip(others, weights, strict=True))
    for text, row in zip(texts, rows.tolist(), strict=True):
        cells = [compared(text.split(), others, weights, n) for n in range(1, order + 1)]
        wanted = [len(text.split()), length, *(cell[2] for cell in cells), *(cell[0] for cell in cells)]
        assert row == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@given(SEEDS, st.integers(1, 7), st.sampled_from([0, 0, 2]), st.booleans())
def test_chrf_against_the_mean(seed: int, characters: int, words: int, whitespace: bool) -> None:
    rng = random.Random(seed)
    texts, references = ([random_text(rng) for _ in range(rng.randint(1, 5))] for _ in range(2))
    weights = random_weights(rng, len(references))
    native = MetricReferences.chrf([[text] for text in references], characters, words, whitespace=whitespace)

    def letters(text: str) -> str:
        return text if whitespace else "".join(text.split())

    for text, row in zip(texts, native.aggregate(texts, np.array(weights)).tolist(), strict=True):
        cells = [
            compared(letters(text), list(map(letters, references)), weights, n) for n in range(1, characters + 1)
        ] + [compared(parted(text), list(map(parted, references)), weights, n) for n in range(1, words + 1)]
        # An order without n-grams in any reference does not count.
        wanted = [value if cell[1] else 0.0 for cell in cells for value in cell]
        assert row == pytest.approx(wanted, rel=1e-12, abs=1e-12)


KINDS: list[Any] = [
    MetricReferences.bleu,
    MetricReferences.chrf,
    lambda references: MetricReferences.chrf(references, 6, 2),
]


@pytest.mark.parametrize("kind", KINDS)
def test_one_reference_gives_the_plain_statistics(kind: Any) -> None:
    rng = random.Random(3)
    for _ in range(50):
        text, other = random_text(rng), random_text(rng)
        plain = kind([[other]]).stats([text]).tolist()
        assert kind([[other]]).aggregate([text], np.ones(1)).tolist() == plain
        with_nothing = kind([["a cat"], [other], ["x"]]).aggregate([text], np.array([0.0, 1.0, 0.0]))
        assert with_nothing.tolist() == plain
        again = kind([[other], [other]]).aggregate([text, text], np.array([0.25, 0.75]))
        assert again.tolist() == plain * 2


@pytest.mark.parametrize("kind", KINDS)
def test_many_ngrams_make_the_index_grow(kind: Any) -> None:
    rng = random.Random(4)
    texts = [" ".join(str(rng.random()) for _ in range(20)) for _ in range(60)]
    weights = np.full(60, 1 / 60)
    rows = kind([[text] for text in texts]).aggregate(texts, weights)
    # No two texts share a word, so that each matches itself alone.
    if kind is MetricReferences.bleu:
        wanted = [[20.0, 20.0, *(k / 60 for k in (20, 19, 18, 17)), 20.0, 19.0, 18.0, 17.0]] * 60
        assert rows.tolist() == [pytest.approx(row, rel=1e-12) for row in wanted]
    lengths = np.array([kind([[text]]).stats(["x"])[0] for text in texts])
    reference = slice(1, 2) if kind is MetricReferences.bleu else slice(1, None, 3)
    assert rows[0, reference] == pytest.approx(lengths.mean(axis=0)[reference], rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MetricReferences.bleu([["a"], ["b"]]).aggregate(["a"], np.ones(1)), "a weight for each reference"),
        (lambda: MetricReferences.bleu([["a"]]).aggregate(["a"], np.array([-1.0])), "finite and not negative"),
        (lambda: MetricReferences.bleu([["a"]]).aggregate(["a"], np.array([np.nan])), "finite and not negative"),
        (lambda: MetricReferences.ter([["a"]]).aggregate(["a"], np.ones(1)), "does not aggregate references"),
    ],
)
def test_wrong_calls_are_told(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
