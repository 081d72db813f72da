"""The result of tuning is compared with its start, and with itself without a feature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtformats import Candidates
from smtplugins.contracts.learners import ListProblem
from smtplugins.host.host import Host
from smtplugins.host.learn.gains import MOST, SAMPLES, SEED, compare, leave_out
from smtplugins.host.learn.training_data import Material
from tests.host.teaching import BLEU, REFS, lists, teaching_host


@pytest.fixture(scope="module")
def host() -> Host:
    return teaching_host()


def score(host: Host, weights: dict[str, float], metric: str) -> float:
    """The score by the commands: sort the lists, then evaluate."""
    return host.evaluate([REFS], {"x": smt.rescore(lists(), weights, missing=0.0)}, [metric]).scores[0].score


@pytest.mark.parametrize("metric", [BLEU, "wer"])
def test_the_bootstrap_is_that_of_evaluate_and_the_interval_that_of_numpy(host: Host, metric: str) -> None:
    start = {"good": -0.2, "noise": 1.0}
    done = host.tune(lists(), [REFS], learner="mert", metric=metric, start=start)
    gain = done.gain
    assert gain is not None
    assert (gain.before, gain.after) == (done.begun, done.score)
    systems = {name: smt.rescore(lists(), weights) for name, weights in (("a", start), ("b", done))}
    judged = host.evaluate([REFS], systems, [metric], bootstrap=SAMPLES).scores
    assert gain.p == judged[1].p
    # The interval of the difference, sample by sample.
    made = host.metric(metric)
    before, after = (made.stats(texts.best(), [REFS]) for texts in systems.values())
    drawn = np.random.default_rng(SEED).choice(len(REFS), size=(SAMPLES, len(REFS)))
    differences = [
        float(made.score(after[which].sum(axis=0)) - made.score(before[which].sum(axis=0))) for which in drawn
    ]
    assert (gain.low, gain.high) == pytest.approx(tuple(np.quantile(differences, [0.025, 0.975])))
    assert gain.verdict == "gain"
    assert compare(made, before, after) == gain
    backwards = compare(made, after, before)
    assert backwards is not None and backwards.verdict == "worse than the start weights"
    same = compare(made, after, after)
    assert same is not None and (same.low, same.high, same.p, same.verdict) == (0, 0, 1, "no clear gain")


def test_a_gain_in_a_line(host: Host) -> None:
    made = host.metric(BLEU)
    before, after = (made.stats(texts, [REFS]) for texts in (["x", *REFS[1:]], REFS))
    gain = compare(made, before, after)
    assert gain is not None
    scores = f"BLEU {gain.before:.2f} -> 100.00 in-sample: +{100 - gain.before:.2f}"
    line = f"{scores} [+0.00, +{gain.high:.2f}], p {gain.p:.2g} (bootstrap, 1000 samples)"
    assert str(gain) == f"{line}: no clear gain, as the interval includes 0"
    assert str(replace(gain, verdict="gain")) == line
    assert compare(made, before[:1], after[:1]) is None


def test_without_start_weights_nothing_is_compared(host: Host) -> None:
    done = host.tune(lists(), [REFS], learner="mert", metric=BLEU)
    assert (done.begun, done.gain) == (None, None)
    assert {row.feature for row in done.left_out} == {name for name, weight in done.items() if weight}


@pytest.mark.parametrize("metric", [BLEU, "wer"])
def test_each_feature_is_left_out_in_turn(host: Host, metric: str) -> None:
    done = host.tune(lists(), [REFS], learner="mert", metric=metric, start={"good": 0.1, "noise": 0.9})
    rows = {row.feature: row for row in done.left_out}
    assert rows.keys() == {"good", "noise"}
    for name, row in rows.items():
        assert row.weight == done[name]
        assert row.score == pytest.approx(score(host, {**done, name: 0.0}, metric))
        assert row.change == row.score - done.score
    losses = [row.change if metric == BLEU else -row.change for row in done.left_out]
    assert losses == sorted(losses)
    assert done.left_out[0].feature == "good"


def test_of_many_features_the_most_important_are_left_out(host: Host) -> None:
    rng = np.random.default_rng(1)
    names = tuple(f"f{k:02}" for k in range(50))
    made: Any = host.metric(BLEU)
    given = [Candidates(n.id, n.texts, [names] * len(n), rng.normal(size=(len(n), 50)).tolist()) for n in lists()]
    stats = [made.stats(n.texts, [[ref] * len(n)]) for n, ref in zip(lists(), REFS, strict=True)]
    material = Material(ListProblem(given, stats, made), made.signature)
    weights = {name: float(k) for k, name in enumerate(names)}
    rows = leave_out(material, weights)
    shares = dict(zip(names, abs(np.arange(50) * material.matrix.spread), strict=True))
    assert {row.feature for row in rows} == set(sorted(shares, key=lambda name: -shares[name])[:MOST])
