"""``pro``: the kit, the pairs that are drawn, and the regression against scipy on all differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from scipy.optimize import minimize

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.host.learn.problems import matrix_of
from smtplugins.plugins.standard.metrics import Bleu
from smtplugins.plugins.tuning.common import bleu_counts, bleu_plus
from smtplugins.plugins.tuning.pro import Pro, sample_pairs
from smtplugins.testing.cases import LearnerChecks

from .made import NAMES, Errors, bleu_lists, lists


class TestKit(LearnerChecks):
    offer = "pro"


def last(problem: Any, start: Model | None = None, seed: int = 1, **options: Any) -> Any:
    return list(Pro(**options).learn(problem, start or Model(), seed=seed))[-1]


def test_pairs_are_apart_and_those_that_are_most_so() -> None:
    matrix = matrix_of(lists(3, count=8))
    gains = np.random.default_rng(0).random(len(matrix))
    better, worse = sample_pairs(matrix, gains, np.random.default_rng(1), 400, 5, 0.2)
    apart = gains[better] - gains[worse]
    assert len(apart) and np.all(apart >= 0.2)
    of = np.searchsorted(matrix.lists, better, side="right")
    assert np.all(of == np.searchsorted(matrix.lists, worse, side="right"))
    assert max(np.bincount(of)) <= 5
    # 400 draws from a list of at most 8 meet every pair: the best one of each list is there.
    for k in range(len(matrix.lists) - 1):
        own = gains[matrix.lists[k] : matrix.lists[k + 1]]
        if own.max() - own.min() >= 0.2:
            assert apart[of == k + 1].max() == own.max() - own.min()


def test_weights_are_those_of_a_logistic_regression() -> None:
    problem = lists(5, count=10)
    found = last(problem, rounds=1, l2=0.5, seed=4)
    matrix = matrix_of(problem)
    gains = problem.metric.sentence(matrix.stats) / 100
    better, worse = sample_pairs(matrix, gains, np.random.default_rng(4), 5000, 50, 0.05)
    apart = matrix.dense[better] - matrix.dense[worse]

    def loss(weights: Any) -> float:
        return float(np.log1p(np.exp(-apart @ weights)).sum() + 0.25 * weights @ weights)

    wanted = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-7}).x
    np.testing.assert_allclose([found.model.weights[name] for name in NAMES], wanted, atol=1e-4)


def test_a_rate_of_errors_is_to_be_low() -> None:
    one, other = last(lists(5, count=10)), last(lists(5, count=10, metric=Errors()))
    assert one.model.weights == pytest.approx(other.model.weights)
    assert one.objective == pytest.approx(100 - other.objective)


def test_fixed_bounded_and_former_weights() -> None:
    start = Model({"G": 0.25, "F": 0.1, "elsewhere": 3.0})
    found = last(lists(5), start, fixed="G", bounds="F=:0.2 H=0.1:").model.weights
    assert found["G"] == 0.25 and found["F"] <= 0.2 and found["H"] >= 0.1 and found["elsewhere"] == 3.0
    assert list(found) == sorted(found)
    whole, part = last(lists(5), start).model.weights, last(lists(5), start, interpolation=0.1).model.weights
    assert part["F"] == pytest.approx(0.1 * whole["F"] + 0.9 * 0.1)


def test_sentence_bleu_plus_one() -> None:
    pairs = [("a b c d e", "a b c x e f"), ("a b d c a a", "a b c d"), ("x y z u", "a b c d"), ("a c b d", "a b c d e")]
    metric, oracle = Bleu(tokenize="none"), BLEU(tokenize="none", smooth_method="add-k", smooth_value=1)
    oracle.effective_order = True
    texts, references = (list(side) for side in zip(*pairs, strict=True))
    stats = metric.stats(texts, [references])
    found = bleu_plus(bleu_counts(metric, stats, "pro: plus"), 1.0, False)
    np.testing.assert_allclose(found, [oracle.sentence_score(text, [ref]).score / 100 for text, ref in pairs])
    # A reference that is longer by a word: 1 - 7 / 5, 1 - 5 / 6 > 0, no match, 1 - 6 / 4.
    longer = bleu_plus(bleu_counts(metric, stats, "pro: plus"), 1.0, True)
    np.testing.assert_allclose(longer[[0, 1, 3]] / found[[0, 1, 3]], np.exp([-0.2, 0.0, -0.25]))
    assert longer[2] == 0


def test_pairs_by_bleu_plus_one() -> None:
    problem = bleu_lists(3)
    matrix = matrix_of(problem)
    gains = bleu_plus(bleu_counts(problem.metric, matrix.stats, "pro: plus"), 1.0, True)
    better, worse = sample_pairs(matrix, gains, np.random.default_rng(4), 5000, 50, 0.05)
    found = last(problem, rounds=1, seed=4, plus=1.0, smooth_brevity=True)
    assert found.metrics["pairs"] == len(better) == len(worse)
    assert found.model.weights != last(problem, rounds=1, seed=4).model.weights
    with pytest.raises(UsageError, match="pro: plus needs the metric BLEU, found overlap"):
        last(lists(1), plus=1)
    with pytest.raises(UsageError, match="expected plus of 0 or more, and above 0 with smooth_brevity"):
        Pro(smooth_brevity=True)


def test_a_penalty_on_sums_leaves_noise_out() -> None:
    problem = lists(8, count=12, extra=40)
    found = last(problem, rounds=1, l1=8.0, l2=0.0).model.weights
    kept = {name for name, value in found.items() if abs(value) > 1e-9}
    assert "F" in kept and len(kept) < 12
    assert len([value for value in last(problem, rounds=1).model.weights.values() if value]) > 30


def test_what_cannot_be_learnt_is_an_error() -> None:
    with pytest.raises(SmtError, match=r"no two hypotheses of a list differ by 2\.0 in overlap"):
        last(lists(1), threshold=2.0)
    with pytest.raises(UsageError, match="interpolation above 0"):
        Pro(interpolation=0)
    with pytest.raises(UsageError, match="no feature is called 'FF'"):
        last(lists(1), fixed="FF")
    with pytest.raises(UsageError, match="expected NAME=LOW:HIGH, found 'F=2:1'"):
        last(lists(1), bounds="F=2:1")
    with pytest.raises(UsageError, match="all features are fixed"):
        last(lists(1), fixed="*")


def test_a_name_that_only_the_start_has_may_be_fixed() -> None:
    found = last(lists(1), Model({"elsewhere": 1.0}), fixed="elsewh*", bounds="elsewhere=0:").model.weights
    assert found["elsewhere"] == 1.0
