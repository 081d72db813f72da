"""Scores of systems with intervals, and tests of their differences, under any metric and over optimiser runs.

A system is judged by its runs, each with the metric's statistics of all segments. Its score is the mean of those of
its runs. Resampling draws segments, the same for all runs of all systems; tests on sentences take the means of a
sentence's scores. Approximate randomisation over runs follows Clark, Dyer, Lavie and Smith (2011) and their multeval:
the statistics of a system's runs are pooled, and a segment's hypotheses are exchanged between systems and runs alike.
What it tests is whether all hypotheses of a sentence could come from one system. If runs agree with each other more
than systems do, although none is better on the whole, its p-values are too small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.contracts import Metric

TESTS = {
    "bootstrap": "paired bootstrap, with intervals; as sacrebleu, whose p is about that of a one-tailed test",
    "ar": "approximate randomisation, two-tailed, as sacrebleu; over runs as multeval",
    "sign": "sign test of sentence scores, one-tailed: better than the baseline",
    "wilcoxon": "signed ranks of sentence scores, two-tailed",
}
SAMPLES = {"bootstrap": 1000, "ar": 10000}
"""How many samples resampling takes unless told, as in sacrebleu."""
LEVEL = 0.95


@dataclass(frozen=True)
class Plan:
    """What to find out besides scores. ``samples`` 0 is what is usual; a ``level`` asks for intervals.

    The bootstrap gives intervals in any case, at 0.95 unless told.
    """

    tests: tuple[str, ...] = ()
    samples: int = 0
    level: float | None = None
    seed: int = 12345

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
            raise UsageError(f"confidence: expected a level between 0 and 1, as 0.95, found {self.level:g}")
        if self.seed < 0:
            raise UsageError(f"seed: expected a whole number from 0 on, found {self.seed}")

    @classmethod
    def of(
        cls,
        tests: Sequence[str],
        *,
        samples: int = 0,
        level: float | None = None,
        bootstrap: int = 0,
        seed: int = 12345,
    ) -> Plan:
        """A plan; ``bootstrap=N`` is short for that test with N samples, before all others."""
        if bootstrap < 0:
            raise UsageError(f"bootstrap: expected a number of samples, found {bootstrap}")
        if bootstrap and samples:
            raise UsageError("name a number of samples once, with bootstrap or with samples")
        if bootstrap and "bootstrap" not in tests:
            tests = ("bootstrap", *tests)
        return cls(tuple(tests), bootstrap or samples, level, seed)

    @property
    def intervals(self) -> bool:
        """Whether there are intervals."""
        return self.level is not None or "bootstrap" in self.tests

    def count(self, test: str) -> int:
        """How many samples a test takes."""
        return self.samples or SAMPLES[test]

    def signature(self) -> str:
        """What to add to a metric's signature."""
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
        if self.intervals or "ar" in self.tests:
            parts.append(f"rs:{self.seed}")
        return "".join(f"|{part}" for part in parts)


@dataclass
class Judgement:
    """What was found out about one system; ``deviation`` is that of its runs, if there are several.

    ``p`` has the p-value of each test against the first system, which has none itself.
    """

    score: float
    deviation: float | None = None
    low: float | None = None
    high: float | None = None
    p: dict[str, float] = field(default_factory=dict)


def judge(metric: Metric, systems: Sequence[Sequence[NDArray[Any]]], plan: Plan) -> list[Judgement]:
    """Judge systems by the statistics of their runs; the first is what the others are compared with."""
    import numpy as np

    from smtplugins.core.metrics import resampling

    found = []
    for runs in systems:
        scores = np.asarray(metric.score(np.stack([one.sum(axis=0) for one in runs])), dtype=np.float64)
        deviation = float(scores.std(ddof=1)) if len(runs) > 1 else None
        found.append(Judgement(float(scores.mean()), deviation))
    if plan.intervals:
        sampled = _sampled(metric, systems, plan)
        for one, column in zip(found, sampled.T, strict=True):
            one.low, one.high = resampling.interval(column, plan.level or LEVEL)
    for test in plan.tests:
        values: Sequence[float]
        if test == "bootstrap":
            values = [
                resampling.bootstrap_p(sampled[:, 0], sampled[:, i], found[i].score - found[0].score)
                for i in range(1, len(systems))
            ]
        elif test == "ar":
            values = _randomised(metric, systems, plan)
        else:
            values = _on_sentences(metric, systems, test)
        for one, p in zip(found[1:], values, strict=True):
            one.p[test] = p
    return found


def _sampled(metric: Metric, systems: Sequence[Sequence[NDArray[Any]]], plan: Plan) -> NDArray[Any]:
    """Scores of bootstrap samples: samples x systems."""
    import numpy as np

    from smtplugins.core.metrics import resampling

    runs = [one for system in systems for one in system]
    count = plan.count("bootstrap")
    sums = resampling.bootstrap_sums(np.stack(runs), count, plan.seed)
    scores = np.asarray(metric.score(sums))
    starts = np.cumsum([0] + [len(system) for system in systems[:-1]])
    sizes = np.array([len(system) for system in systems])
    means: NDArray[Any] = np.add.reduceat(scores, starts, axis=0).T / sizes
    return means


def _randomised(metric: Metric, systems: Sequence[Sequence[NDArray[Any]]], plan: Plan) -> list[float]:
    base = systems[0]
    alone = [i for i in range(1, len(systems)) if len(base) == len(systems[i]) == 1]
    found = dict(zip(alone, _swapped(metric, base[0], [systems[i][0] for i in alone], plan), strict=True))
    for i in range(1, len(systems)):
        if i not in found:
            found[i] = _regrouped(metric, base, systems[i], plan)
    return [found[i] for i in range(1, len(systems))]


def _swapped(metric: Metric, base: NDArray[Any], others: Sequence[NDArray[Any]], plan: Plan) -> list[float]:
    """Each segment stays or is exchanged; the same coins for all systems."""
    import numpy as np

    from smtplugins.core.metrics import resampling

    if not others:
        return []
    trials, width = plan.count("ar"), base.shape[1]
    # A column more says how many of the segments that differ were exchanged.
    changes = [np.column_stack([base - one, (base != one).any(axis=1)]) for one in others]
    sums = resampling.swapped_sums(np.stack(changes), trials, plan.seed)
    found = []
    for one, change, part in zip(others, changes, sums, strict=True):
        first = part[:, :width] + one.sum(axis=0)
        second = base.sum(axis=0) + one.sum(axis=0) - first
        exchanged, all_of_them = part[:, width], change[:, width].sum()
        same = (exchanged == 0) | (exchanged == all_of_them)
        found.append(_p(metric, (base.sum(axis=0), one.sum(axis=0)), (first, second), same))
    return found


def _regrouped(metric: Metric, base: Sequence[NDArray[Any]], system: Sequence[NDArray[Any]], plan: Plan) -> float:
    """Which of the hypotheses of a segment are the baseline's is drawn anew in each trial."""
    import numpy as np

    from smtplugins.core.metrics import resampling

    pool = np.stack([*base, *system], axis=1)
    differ = (pool != pool[:, :1]).any(axis=(1, 2))
    # A column more says how many of the baseline's hypotheses it kept where there is a choice.
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

    one, other = np.asarray(metric.score(np.stack(real))).tolist()
    first, second = (np.asarray(metric.score(part)) for part in shuffled)
    return resampling.randomisation_p(first, second, one - other, same)


def _on_sentences(metric: Metric, systems: Sequence[Sequence[NDArray[Any]]], test: str) -> list[float]:
    import numpy as np

    from smtplugins.core.metrics import signed

    sign = 1 if metric.higher_is_better else -1
    means = [sign * np.mean([metric.sentence(one) for one in runs], axis=0) for runs in systems]
    function = signed.sign_p if test == "sign" else signed.wilcoxon_p
    found = [function(signed.differences(means[0], one)) for one in means[1:]]
    assert all(math.isfinite(p) for p in found)
    return found
