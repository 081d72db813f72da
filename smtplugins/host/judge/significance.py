"""Confidence intervals and significance tests of systems under any metric, over one or several optimiser runs.

A system consists of its runs, each with the metric's statistics for all segments; its score is the mean over runs.
Resampling draws the same segments for all runs of all systems; sentence-level tests use a sentence's mean score over
runs. Approximate randomisation over runs follows Clark, Dyer, Lavie and Smith (2011) and their multeval: the runs of
both systems are pooled, and a segment's hypotheses are exchanged between systems and runs alike. It tests whether all
hypotheses of a sentence could come from one system. If a system's runs resemble each other more than they resemble the
other system's, its p-values are too small even though neither system is better overall.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.host.arguments import argument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.runners import Runner

TESTS = {
    "bootstrap": "paired bootstrap with intervals, as sacrebleu (p is close to that of a one-tailed test)",
    "ar": "approximate randomisation, two-tailed, as sacrebleu (over runs as multeval)",
    "sign": "sign test of sentence scores, one-tailed (better than the baseline)",
    "wilcoxon": "Wilcoxon signed-rank test of sentence scores, two-tailed",
}
CORRECTIONS = {"none": "p-values as they are", "holm": "for the number of pairs, step-down (Holm 1979)"}
SAMPLES = {"bootstrap": 1000, "ar": 10000}
"""Default numbers of samples, as in sacrebleu."""
LEVEL = 0.95


@dataclass(frozen=True)
class SignificancePlan:
    """Which tests and intervals to compute. ``samples`` 0 means the default; ``level`` requests intervals.

    The bootstrap always gives intervals, at level 0.95 by default. ``all_pairs`` tests each pair of systems, not only
    those with the first. ``correct`` adjusts the p-values of one metric and test for the number of pairs.
    """

    tests: tuple[str, ...] = ()
    samples: int = 0
    level: float | None = None
    seed: int = 12345
    all_pairs: bool = False
    correct: str = "none"

    def __post_init__(self) -> None:
        from smtplugins.contracts.spec import suggestion

        for test in self.tests:
            if test not in TESTS:
                raise UsageError(f"unknown test {test!r}{suggestion(test, TESTS)}")
            if self.tests.count(test) > 1:
                raise UsageError(f"test {test!r} is named twice")
        if self.samples < 0:
            raise UsageError(f"samples: expected a number of samples, found {self.samples}")
        if self.level is not None and not 0 < self.level < 1:
            raise UsageError(f"confidence: expected a level between 0 and 1, such as 0.95, found {self.level:g}")
        if self.seed < 0:
            raise UsageError(f"seed: expected a whole number from 0 on, found {self.seed}")
        if self.correct not in CORRECTIONS:
            raise UsageError(f"unknown correction {self.correct!r}{suggestion(self.correct, CORRECTIONS)}")
        for name, wanted in ((f"correct={self.correct}", self.corrects), ("all_pairs=True", self.all_pairs)):
            if wanted and not self.tests:
                raise UsageError(
                    f"{argument(name)}: expected a test, found none; add {argument('tests=[...]', '--test')}, "
                    f"one of {', '.join(TESTS)}"
                )

    @classmethod
    def of(
        cls,
        tests: Sequence[str],
        *,
        samples: int = 0,
        level: float | None = None,
        bootstrap: int = 0,
        seed: int = 12345,
        all_pairs: bool = False,
        correct: str = "none",
    ) -> SignificancePlan:
        """Make a plan; ``bootstrap=N`` is short for the bootstrap with N samples, run before all other tests."""
        if bootstrap < 0:
            raise UsageError(f"bootstrap: expected a number of samples, found {bootstrap}")
        if bootstrap and samples:
            raise UsageError("expected bootstrap or samples as the number of samples, found both")
        if bootstrap and "bootstrap" not in tests:
            tests = ("bootstrap", *tests)
        return cls(tuple(tests), bootstrap or samples, level, seed, all_pairs, correct)

    def check_systems(self, count: int) -> None:
        """Raise UsageError if pairs are asked for and there are none."""
        if count > 1 or not (self.all_pairs or self.corrects):
            return
        name = argument("all_pairs=True") if self.all_pairs else argument(f"correct={self.correct}")
        raise UsageError(f"{name}: expected at least two systems, found {count}; name those to compare")

    @property
    def corrects(self) -> bool:
        """Whether p-values are corrected."""
        return self.correct != "none"

    @property
    def intervals(self) -> bool:
        """Whether intervals are computed."""
        return self.level is not None or "bootstrap" in self.tests

    def count(self, test: str) -> int:
        """The number of samples of a test."""
        return self.samples or SAMPLES[test]

    def signature(self) -> str:
        """The part to append to a metric's signature."""
        parts = []
        if self.intervals:
            parts.append(f"bs:{self.count('bootstrap')}")
            if self.level not in (None, LEVEL):
                parts.append(f"ci:{self.level:g}")
        if "ar" in self.tests:
            parts.append(f"ar:{self.count('ar')}")
        exact = [test for test in self.tests if test not in SAMPLES]
        if exact:
            parts.append("test:" + ",".join(exact))
        if self.corrects:
            parts.append(f"correct:{self.correct}")
        if self.intervals or "ar" in self.tests:
            parts.append(f"rs:{self.seed}")
        return "".join(f"|{part}" for part in parts)


@dataclass
class Judgement:
    """Score, interval and p-values of one system; ``deviation`` is the standard deviation over several runs.

    ``pairs`` holds the p-value of each test against each earlier system that it was tested against: the first, or with
    ``all_pairs`` all of them. ``corrected`` holds those for the number of pairs, if they are corrected.
    """

    score: float
    deviation: float | None = None
    low: float | None = None
    high: float | None = None
    pairs: list[dict[str, float]] = field(default_factory=list)
    corrected: list[dict[str, float]] = field(default_factory=list)

    @property
    def p(self) -> dict[str, float]:
        """The p-value of each test against the first system; empty for the first system itself."""
        return self.pairs[0] if self.pairs else {}


def judge(
    metric: Metric, systems: Sequence[Sequence[NDArray[Any]]], plan: SignificancePlan, runner: Runner | None = None
) -> list[Judgement]:
    """Judge systems by the statistics of their runs; the first is the baseline of the tests.

    ``runner`` spreads the runs to draw samples of.
    """
    import numpy as np

    from smtplugins.core.metrics import resampling

    judgements = []
    for runs in systems:
        scores = np.asarray(metric.score(np.stack([stats.sum(axis=0) for stats in runs])), dtype=np.float64)
        deviation = float(scores.std(ddof=1)) if len(runs) > 1 else None
        judgements.append(Judgement(float(scores.mean()), deviation))
    sampled: NDArray[Any] | None = None
    if plan.intervals:
        sampled = _sample_scores(metric, systems, plan, runner)
        for judgement, column in zip(judgements, sampled.T, strict=True):
            judgement.low, judgement.high = resampling.interval(column, plan.level or LEVEL)
    means = [judgement.score for judgement in judgements]
    for base in range(len(systems) - 1 if plan.all_pairs else min(1, len(systems) - 1)):
        drawn = None if sampled is None else sampled[:, base:]
        values = {test: _test(test, metric, systems[base:], means[base:], drawn, plan) for test in plan.tests}
        for i, judgement in enumerate(judgements[base + 1 :]):
            judgement.pairs.append({test: p_values[i] for test, p_values in values.items()})
    if plan.corrects:
        _correct(judgements, plan)
    return judgements


def _correct(judgements: Sequence[Judgement], plan: SignificancePlan) -> None:
    """Correct the p-values of each test over all pairs."""
    from smtplugins.core.metrics.multiplicity import holm

    pairs = [pair for judgement in judgements for pair in judgement.pairs]
    columns = {test: holm([pair[test] for pair in pairs]) for test in plan.tests}
    corrected = iter([{test: column[i] for test, column in columns.items()} for i in range(len(pairs))])
    for judgement in judgements:
        judgement.corrected = [next(corrected) for _ in judgement.pairs]


def _test(
    test: str,
    metric: Metric,
    systems: Sequence[Sequence[NDArray[Any]]],
    scores: Sequence[float],
    sampled: NDArray[Any] | None,
    plan: SignificancePlan,
) -> list[float]:
    """The p-value of each system but the first against the first."""
    from smtplugins.core.metrics import resampling

    if test == "bootstrap":
        assert sampled is not None
        return [
            resampling.bootstrap_p(sampled[:, 0], sampled[:, i], scores[i] - scores[0]) for i in range(1, len(systems))
        ]
    if test == "ar":
        return _randomise(metric, systems, plan)
    return _on_sentences(metric, systems, test)


def _sample_scores(
    metric: Metric, systems: Sequence[Sequence[NDArray[Any]]], plan: SignificancePlan, runner: Runner | None
) -> NDArray[Any]:
    """Scores of bootstrap samples: samples x systems."""
    import numpy as np

    runs = np.stack([run for system in systems for run in system])
    draw = functools.partial(_drawn_scores, metric, plan)
    # Samples are those of the seed, whatever systems they are drawn for.
    scores = draw(runs) if runner is None else np.concatenate(list(runner.map(draw, np.split(runs, len(runs)))))
    starts = np.cumsum([0] + [len(system) for system in systems[:-1]])
    sizes = np.array([len(system) for system in systems])
    means: NDArray[Any] = np.add.reduceat(scores, starts, axis=0).T / sizes
    return means


def _drawn_scores(metric: Metric, plan: SignificancePlan, runs: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    from smtplugins.core.metrics import resampling

    return np.asarray(metric.score(resampling.bootstrap_sums(runs, plan.count("bootstrap"), plan.seed)))


def _randomise(metric: Metric, systems: Sequence[Sequence[NDArray[Any]]], plan: SignificancePlan) -> list[float]:
    base = systems[0]
    alone = [i for i in range(1, len(systems)) if len(base) == len(systems[i]) == 1]
    p_values = dict(zip(alone, _swap_segments(metric, base[0], [systems[i][0] for i in alone], plan), strict=True))
    for i in range(1, len(systems)):
        if i not in p_values:
            p_values[i] = _regroup_runs(metric, base, systems[i], plan)
    return [p_values[i] for i in range(1, len(systems))]


def _swap_segments(
    metric: Metric, base: NDArray[Any], others: Sequence[NDArray[Any]], plan: SignificancePlan
) -> list[float]:
    """Approximate randomisation of single runs: swap segments at random, with the same coin flips for all systems."""
    import numpy as np

    from smtplugins.core.metrics import resampling

    if not others:
        return []
    trials, width = plan.count("ar"), base.shape[1]
    # An extra column counts the differing segments that were exchanged.
    changes = [np.column_stack([base - other, (base != other).any(axis=1)]) for other in others]
    sums = resampling.swapped_sums(np.stack(changes), trials, plan.seed)
    p_values = []
    for other, change, part in zip(others, changes, sums, strict=True):
        first = part[:, :width] + other.sum(axis=0)
        second = base.sum(axis=0) + other.sum(axis=0) - first
        exchanged, all_of_them = part[:, width], change[:, width].sum()
        same = (exchanged == 0) | (exchanged == all_of_them)
        p_values.append(_p(metric, (base.sum(axis=0), other.sum(axis=0)), (first, second), same))
    return p_values


def _regroup_runs(
    metric: Metric, base: Sequence[NDArray[Any]], system: Sequence[NDArray[Any]], plan: SignificancePlan
) -> float:
    """Approximate randomisation over runs: each trial reassigns a segment's pooled hypotheses to the two systems."""
    import numpy as np

    from smtplugins.core.metrics import resampling

    pool = np.stack([*base, *system], axis=1)
    differ = (pool != pool[:, :1]).any(axis=(1, 2))
    # An extra column counts the baseline's hypotheses that it kept in segments where hypotheses differ.
    own = np.zeros((*pool.shape[:2], 1))
    own[:, : len(base), 0] = differ[:, None]
    trials, width = plan.count("ar"), pool.shape[2]
    sums = resampling.regrouped_sums(np.concatenate([pool, own], axis=2), len(base), trials, plan.seed)
    first, kept = sums[:, :width], sums[:, width]
    total, mine = pool.sum(axis=(0, 1)), pool[:, : len(base)].sum(axis=(0, 1))
    same = kept == own.sum()
    if len(base) == len(system):
        same |= kept == 0
    return _p(metric, (mine, total - mine), (first, total - first), same)


def _p(metric: Metric, real: Sequence[Any], shuffled: Sequence[Any], same: NDArray[Any]) -> float:
    import numpy as np

    from smtplugins.core.metrics import resampling

    score, other_score = np.asarray(metric.score(np.stack(real))).tolist()
    first, second = (np.asarray(metric.score(part)) for part in shuffled)
    return resampling.randomisation_p(first, second, score - other_score, same)


def _on_sentences(metric: Metric, systems: Sequence[Sequence[NDArray[Any]]], test: str) -> list[float]:
    import numpy as np

    from smtplugins.core.metrics import signed

    sign = 1 if metric.higher_is_better else -1
    means = [sign * np.mean([metric.sentence(stats) for stats in runs], axis=0) for runs in systems]
    function = signed.sign_p if test == "sign" else signed.wilcoxon_p
    p_values = [function(signed.differences(means[0], mean)) for mean in means[1:]]
    assert all(math.isfinite(p) for p in p_values)
    return p_values
