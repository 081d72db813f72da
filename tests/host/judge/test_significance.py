"""Significance tests against sacrebleu, and the distribution of p-values: uniform under the null, else small."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest

from smtplugins.contracts.errors import UsageError
from smtplugins.host.host import Host
from smtplugins.host.judge.significance import TESTS, SignificancePlan, judge

WORDS = ["the", "old", "house", "on", "a", "hill", "was", "sold", "to", "her", "."]


class Mean:
    """The mean of one number for each segment; statistics are the number and 1."""

    name = "mean"

    def __init__(self, higher_is_better: bool = True) -> None:
        self.higher_is_better = higher_is_better

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> NDArray[Any]:
        return numbers([float(text) for text in hypotheses])

    def score(self, stats: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(stats[..., 0] / stats[..., 1])

    sentence = score

    def signature(self) -> str:
        return "mean"


def numbers(values: Any) -> NDArray[Any]:
    return np.column_stack([values, np.ones(len(values))])


def sentences(seed: int, noise: float, count: int = 30) -> list[str]:
    """Random sentences, the same for any noise but for the words it changes."""
    rng, change = random.Random(7), random.Random(seed)
    texts = []
    for _ in range(count):
        words = [rng.choice(WORDS) for _ in range(rng.randint(4, 12))]
        texts.append(" ".join(change.choice(WORDS) if change.random() < noise else word for word in words))
    return texts


REFS = sentences(1, 0.0)
SYSTEMS = {"base": sentences(2, 0.35), "new": sentences(3, 0.3), "near": sentences(4, 0.33)}


@pytest.mark.parametrize("seed", [12345, 6])
@pytest.mark.parametrize("test", ["bootstrap", "ar"])
@pytest.mark.parametrize(
    ("spec", "own"), [("bleu", BLEU()), ("chrf", CHRF()), ("ter", TER())], ids=["bleu", "chrf", "ter"]
)
def test_p_is_sacrebleus(
    host: Host, spec: str, own: BLEU, test: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    short = "bs" if test == "bootstrap" else "ar"
    _, expected = PairedTest(list(SYSTEMS.items()), {"metric": own}, [REFS], test_type=short, n_samples=200)()
    scores = host.evaluate([REFS], SYSTEMS, [spec], tests=[test], samples=200, seed=seed).scores
    for score, result in zip(scores, expected[scores[0].metric], strict=True):
        assert score.score == pytest.approx(result.score)
        assert score.p == result.p_value
        if test == "bootstrap":
            assert score.low is not None
            assert score.high is not None
            # sacrebleu cuts the tails a sample further out or in.
            assert (score.high - score.low) / 2 == pytest.approx(result.ci, rel=0.03)


def test_numbers_of_samples_are_sacrebleus() -> None:
    plan = SignificancePlan(("bootstrap", "ar", "sign"))
    assert (plan.count("bootstrap"), plan.count("ar")) == (1000, 10000)
    assert plan.signature() == "|bs:1000|ar:10000|test:sign|rs:12345"
    assert SignificancePlan(("ar",), 50, 0.9, 3).signature() == "|bs:50|ci:0.9|ar:50|rs:3"
    assert SignificancePlan(("sign", "wilcoxon")).signature() == "|test:sign,wilcoxon"
    assert SignificancePlan().signature() == ""
    assert SignificancePlan.of(("ar",), bootstrap=70) == SignificancePlan(("bootstrap", "ar"), 70)


def test_randomisation_is_that_of_all_exchanges() -> None:
    """Against all ways to exchange ten segments, and all ways to regroup five of two runs each."""
    rng = np.random.default_rng(2)
    base, other = rng.normal(size=10), rng.normal(0.4, 1, size=10)
    real = abs(base.mean() - other.mean())
    coins = np.array(list(itertools.product((-1, 1), repeat=10)))
    exact = np.mean(np.abs(coins @ (base - other)) / 10 >= real - 1e-12)
    plan = SignificancePlan(("ar",), 20000)
    p = judge(Mean(), [[numbers(base)], [numbers(other)]], plan)[1].p["ar"]
    assert p == pytest.approx(exact, abs=0.01)

    pool = np.stack([base.reshape(2, 5), other.reshape(2, 5)]).reshape(4, 5)
    pairs = list(itertools.combinations(range(4), 2))
    # Of each segment the sum of each pair of rows, and these in every combination.
    sums = [[pool[list(part), i].sum() for part in pairs] for i in range(5)]
    totals = functools.reduce(np.add.outer, sums).ravel()
    exact = np.mean(np.abs(2 * totals - pool.sum()) / 10 >= real - 1e-12)
    runs = [[numbers(values) for values in pool[:2]], [numbers(values) for values in pool[2:]]]
    assert judge(Mean(), runs, plan)[1].p["ar"] == pytest.approx(exact, abs=0.01)


def test_one_sentence_that_differs_is_no_proof() -> None:
    """As different in every trial: sacrebleu counts what is greater only, and has the least p there is."""
    base = np.arange(20.0)
    other = base.copy()
    other[7] += 5
    assert judge(Mean(), [[numbers(base)], [numbers(other)]], SignificancePlan(("ar",), 500))[1].p["ar"] == 1
    other[8] += 5
    two = judge(Mean(), [[numbers(base)], [numbers(other)]], SignificancePlan(("ar",), 4000))[1].p["ar"]
    assert two == pytest.approx(0.5, abs=0.05)


def uniform(values: list[float], step: float = 0.1) -> float:
    """The largest distance from the uniform distribution."""
    ordered = np.sort(values)
    return max(abs(float((ordered <= t).mean()) - t) for t in np.arange(step, 1, step))


@pytest.mark.parametrize("runs", [(1, 1), (3, 3), (2, 4)])
def test_randomisation_is_uniform_if_nothing_differs(runs: tuple[int, int]) -> None:
    rng = np.random.default_rng(11)
    values = []
    for _ in range(400):
        hard = rng.normal(size=60)
        made = [[numbers(hard + rng.normal(size=60)) for _ in range(count)] for count in runs]
        values.append(judge(Mean(), made, SignificancePlan(("ar",), 99, seed=int(rng.integers(1 << 30))))[1].p["ar"])
    # Kolmogorov's 0.1 % point for 400 values is 0.098.
    assert uniform(values) < 0.098


def test_runs_that_agree_make_randomisation_too_sure() -> None:
    """multeval's test takes it for a difference if runs agree on a sentence and systems do not; others do not."""
    rng = np.random.default_rng(20)
    p_values: dict[str, list[float]] = {"ar": [], "wilcoxon": []}
    for seed in range(200):
        own = rng.normal(size=(2, 1, 60))
        made = [[numbers(run) for run in system] for system in own + 0.5 * rng.normal(size=(2, 3, 60))]
        for name, p in judge(Mean(), made, SignificancePlan(("ar", "wilcoxon"), 99, seed=seed))[1].p.items():
            p_values[name].append(p)
    assert np.mean(np.array(p_values["ar"]) <= 0.05) > 0.15
    assert np.mean(np.array(p_values["wilcoxon"]) <= 0.05) < 0.1


@pytest.mark.parametrize("size", [20, 80])
def test_tests_on_sentences_are_uniform_if_nothing_differs(size: int) -> None:
    rng = np.random.default_rng(12)
    p_values: dict[str, list[float]] = {"sign": [], "wilcoxon": []}
    for _ in range(600):
        made = [[numbers(rng.normal(size=size))] for _ in range(2)]
        for name, p in judge(Mean(), made, SignificancePlan(("sign", "wilcoxon")))[1].p.items():
            p_values[name].append(p)
    assert uniform(p_values["wilcoxon"]) < 0.08
    # The sign test has few values: never too often below t, and exactly as often at its own values.
    for p in sorted(set(p_values["sign"])):
        assert np.mean(np.array(p_values["sign"]) <= p + 1e-12) == pytest.approx(p, abs=0.08)


def test_bootstrap_p_is_about_one_tailed() -> None:
    """sacrebleu's p rejects what is true twice as often as it says: the help page says so, too."""
    rng = np.random.default_rng(13)
    values = []
    for _ in range(500):
        made = [[numbers(rng.normal(size=100))] for _ in range(2)]
        values.append(
            judge(Mean(), made, SignificancePlan(("bootstrap",), 300, seed=int(rng.integers(1 << 30))))[1].p[
                "bootstrap"
            ]
        )
    assert np.mean(np.array(values) <= 0.05) == pytest.approx(0.1, abs=0.04)
    assert np.mean(np.array(values) <= 0.1) == pytest.approx(0.2, abs=0.06)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(14)
    for level in (0.8, 0.95):
        held = 0
        for seed in range(500):
            judgement = judge(Mean(), [[numbers(rng.normal(size=80))]], SignificancePlan((), 300, level, seed))[0]
            assert judgement.low is not None
            assert judgement.high is not None
            held += judgement.low < 0 < judgement.high
        assert held / 500 == pytest.approx(level, abs=0.04)


@pytest.mark.parametrize("runs", [1, 2])
def test_p_falls_as_the_difference_grows(runs: int) -> None:
    rng = np.random.default_rng(15)
    noise = rng.normal(size=(6, 2, runs, 60))
    tests = tuple(TESTS)
    medians = []
    for shift in (0.0, 0.25, 0.5, 1.0):
        p_values = []
        for systems in noise:
            made = [[numbers(run) for run in systems[0]], [numbers(run + shift) for run in systems[1]]]
            p_values.append(list(judge(Mean(), made, SignificancePlan(tests, 400))[1].p.values()))
        medians.append(np.median(p_values, axis=0))
    assert (np.diff(np.array(medians[1:]), axis=0) <= 0).all()
    assert (medians[3] < 0.01).all()
    assert (medians[0] > 0.05).all()


def test_lower_may_be_better() -> None:
    rng = np.random.default_rng(16)
    base = rng.normal(size=50)
    made = [[numbers(base)], [numbers(base - 0.5 + 0.1 * rng.normal(size=50))]]
    assert judge(Mean(higher_is_better=False), made, SignificancePlan(("sign",)))[1].p["sign"] < 1e-6
    assert judge(Mean(), made, SignificancePlan(("sign",)))[1].p["sign"] > 0.999


@pytest.mark.parametrize("runs", [1, 3])
def test_identical_systems_have_p_one(runs: int) -> None:
    rng = np.random.default_rng(17)
    made = [numbers(rng.normal(size=40)) for _ in range(runs)]
    judgement = judge(Mean(), [made, made], SignificancePlan(tuple(TESTS), 100))[1]
    expected = dict.fromkeys(TESTS, 1.0)
    if runs > 1:
        # Runs that differ among themselves can be regrouped; no difference at all is still the least there is.
        expected["ar"] = pytest.approx(1, abs=0.02)
    assert judgement.p == expected


def test_runs_have_mean_deviation_and_interval() -> None:
    rng = np.random.default_rng(18)
    runs = [rng.normal(size=50) + shift for shift in (0, 0.1, 0.5)]
    judgement = judge(Mean(), [[numbers(run) for run in runs]], SignificancePlan((), 4000, 0.95))[0]
    means = [run.mean() for run in runs]
    assert judgement.score == pytest.approx(np.mean(means))
    assert judgement.deviation == pytest.approx(np.std(means, ddof=1))
    assert judgement.low is not None
    assert judgement.high is not None
    # The interval is that of the mean over runs on other sentences.
    spread = np.mean(runs, axis=0).std() / np.sqrt(50)
    assert (judgement.high - judgement.low) / 2 == pytest.approx(1.96 * spread, rel=0.08)


def test_same_seed_same_p_whatever_the_other_systems() -> None:
    rng = np.random.default_rng(19)
    made = [[numbers(rng.normal(size=40))] for _ in range(4)]
    plan = SignificancePlan(tuple(TESTS), 200)
    together = judge(Mean(), made, plan)
    for i in (1, 2, 3):
        assert judge(Mean(), [made[0], made[i]], plan)[1] == together[i]
    assert judge(Mean(), made, SignificancePlan(tuple(TESTS), 200, seed=5)) != together


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SignificancePlan(("t",)), "unknown test 't'"),
        (lambda: SignificancePlan(("ar", "ar")), "test 'ar' is named twice"),
        (lambda: SignificancePlan((), -1), "samples: expected a number of samples, found -1"),
        (lambda: SignificancePlan((), 0, 95), "confidence: expected a level between 0 and 1, such as 0.95, found 95"),
        (lambda: SignificancePlan((), 0, None, -1), "seed: expected a whole number from 0 on, found -1"),
        (
            lambda: SignificancePlan.of((), bootstrap=5, samples=7),
            "expected bootstrap or samples as the number of samples",
        ),
    ],
)
def test_wrong_plans(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def pairs_of(made: Sequence[Any], plan: SignificancePlan) -> dict[tuple[int, int], dict[str, float]]:
    judgements = judge(Mean(), made, plan)
    return {(i, j): judgement.pairs[i] for j, judgement in enumerate(judgements) for i in range(len(judgement.pairs))}


@pytest.mark.parametrize("runs", [1, 2])
def test_all_pairs_are_those_judged_alone(runs: int) -> None:
    rng = np.random.default_rng(23)
    made = [[numbers(rng.normal(i / 8, size=40)) for _ in range(runs)] for i in range(4)]
    plan = SignificancePlan(tuple(TESTS), 200, all_pairs=True)
    pairs = pairs_of(made, plan)
    assert set(pairs) == set(itertools.combinations(range(4), 2))
    for (i, j), values in pairs.items():
        assert values == judge(Mean(), [made[i], made[j]], SignificancePlan(tuple(TESTS), 200))[1].p
    assert [judgement.corrected for judgement in judge(Mean(), made, plan)] == [[], [], [], []]
    assert set(pairs_of(made, SignificancePlan(("ar",), 200))) == {(0, 1), (0, 2), (0, 3)}


@pytest.mark.parametrize("all_pairs", [False, True])
def test_correction_is_over_the_pairs_that_are_tested(all_pairs: bool) -> None:
    rng = np.random.default_rng(29)
    made = [[numbers(rng.normal(i / 4, size=40))] for i in range(4)]
    judgements = judge(Mean(), made, SignificancePlan(("ar", "wilcoxon"), 500, all_pairs=all_pairs, correct="holm"))
    for test in ("ar", "wilcoxon"):
        plain = [pair[test] for judgement in judgements for pair in judgement.pairs]
        count = len(plain)
        assert count == (6 if all_pairs else 3)
        order = sorted(range(count), key=plain.__getitem__)
        # By hand: the k-th smallest times the number of those not smaller, and no less than the ones before it.
        wanted = {
            i: max(min(1.0, plain[j] * (count - at)) for at, j in enumerate(order[: rank + 1]))
            for rank, i in enumerate(order)
        }
        assert [pair[test] for judgement in judgements for pair in judgement.corrected] == [
            wanted[i] for i in range(count)
        ]


def test_correction_needs_tests_and_pairs() -> None:
    assert SignificancePlan(("ar",), correct="holm").signature() == "|ar:10000|correct:holm|rs:12345"
    with pytest.raises(UsageError, match="unknown correction 'hol'; did you mean 'holm'"):
        SignificancePlan(("ar",), correct="hol")
    with pytest.raises(UsageError, match=r"correct=holm: expected a test, found none; add tests=.*, one of bootstrap"):
        SignificancePlan(correct="holm")
    with pytest.raises(UsageError, match="all_pairs=True: expected a test, found none"):
        SignificancePlan(all_pairs=True)
    for options in ({"correct": "holm"}, {"all_pairs": True}, {"all_pairs": True, "correct": "holm"}):
        with pytest.raises(UsageError, match="expected at least two systems, found 1"):
            SignificancePlan(("ar",), **options).check_systems(1)  # type: ignore[arg-type]
    SignificancePlan(("ar",)).check_systems(1)
