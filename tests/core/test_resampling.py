"""Resampled scores and p-values against sacrebleu's own paired bootstrap."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest

from smtplugins.core import resampling
from smtplugins.plugins.standard import metrics

WORDS = ["the", "old", "house", "on", "a", "hill", "was", "sold", "to", "her", "."]


def sentences(seed: int, noise: float) -> list[str]:
    """Random sentences, the same for any noise but for the words it changes."""
    rng, change = random.Random(7), random.Random(seed)
    texts = []
    for _ in range(30):
        words = [rng.choice(WORDS) for _ in range(rng.randint(4, 12))]
        texts.append(" ".join(change.choice(WORDS) if change.random() < noise else word for word in words))
    return texts


REFS, BASE, NEW = sentences(1, 0.0), sentences(2, 0.35), sentences(3, 0.3)


@pytest.mark.parametrize("seed", [12345, 6])
@pytest.mark.parametrize(
    ("ours", "own"),
    [(metrics.Bleu(), BLEU()), (metrics.Chrf(), CHRF()), (metrics.Ter(), TER())],
    ids=["bleu", "chrf", "ter"],
)
def test_paired_bootstrap_is_sacrebleus(
    ours: metrics.Bleu, own: BLEU, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    systems = [("base", BASE), ("new", NEW), ("near", sentences(4, 0.33))]
    _, expected = PairedTest(systems, {"metric": own}, [REFS], test_type="bs", n_samples=200)()
    results = expected[ours.name]
    counts = resampling.sample_counts(len(REFS), 200, seed)
    base = None
    for (_, texts), result in zip(systems, results, strict=True):
        stats = ours.stats(texts, [REFS])
        score = float(ours.score(stats.sum(axis=0)))
        sampled = resampling.sampled_scores(stats, ours.score, counts)
        assert score == pytest.approx(result.score)
        assert sampled.mean() == pytest.approx(result.mean, rel=1e-5)
        if base is None:
            base = (score, sampled)
        else:
            assert resampling.paired_p(base[1], sampled, score - base[0]) == result.p_value


def test_samples_draw_every_segment_equally() -> None:
    counts = resampling.sample_counts(50, 400, 3)
    assert counts.shape == (400, 50)
    assert set(counts.sum(axis=1)) == {50.0}
    assert counts.mean(axis=0).min() > 0.75
    assert counts.mean(axis=0).max() < 1.25
    assert (counts == resampling.sample_counts(50, 400, 3)).all()
    assert (counts != resampling.sample_counts(50, 400, 4)).any()


def test_interval_cuts_both_tails() -> None:
    scores = np.arange(1001.0)
    assert resampling.interval(scores) == pytest.approx((25.0, 975.0))
    assert resampling.interval(scores[::-1], 0.5) == pytest.approx((250.0, 750.0))


def test_systems_that_never_differ_are_no_discovery() -> None:
    scores = np.array([31.0, 29.5, 30.25])
    assert resampling.paired_p(scores, scores.copy(), 0.0) == 1.0


def test_p_is_small_for_a_clear_difference_and_never_zero() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(size=999)
    assert resampling.paired_p(base, base + 10 + 0.1 * rng.normal(size=999), 10.0) == 1 / 1000
    assert resampling.paired_p(base, base + rng.normal(size=999), 0.0) > 0.3
