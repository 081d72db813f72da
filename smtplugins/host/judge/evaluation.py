"""Scores of systems by any metric, with intervals and tests against the first system."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.files.joining import Joined, references_of
from smtplugins.host.files.joining import System as System
from smtplugins.host.files.joining import Texts as Texts
from smtplugins.host.files.joining import texts_of as texts_of
from smtplugins.host.judge import in_sample
from smtplugins.host.judge.significance import Plan, judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Format
    from smtplugins.contracts.contracts import Metric
    from smtplugins.host.judge.postprocess import Post


@dataclass(frozen=True)
class Runs:
    """Outputs of one system by several optimiser runs, each as any system comes."""

    outputs: tuple[System, ...]


@dataclass(frozen=True)
class Score:
    """One system under one metric, what was not asked for being ``None``.

    Of several optimiser runs, ``score`` is the mean and ``deviation`` the standard deviation. ``tests`` has the p-value
    of each test against the first system, and ``p`` that of the first test.
    """

    system: str
    metric: str
    score: float
    signature: str
    low: float | None = None
    high: float | None = None
    p: float | None = None
    runs: int = 1
    deviation: float | None = None
    tests: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Evaluation:
    """All scores, systems in the order given, the first being the baseline."""

    scores: tuple[Score, ...]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each score, for tables and JSON."""
        names = ("system", "metric", "score", "runs", "deviation", "low", "high", "p", "tests", "signature")
        return [{name: getattr(one, name) for name in names} for one in self.scores]

    def __str__(self) -> str:
        lines = []
        for one in self.scores:
            extra = "" if one.deviation is None else f" ±{one.deviation:.2f}"
            extra += "" if one.low is None else f" [{one.low:.2f}, {one.high:.2f}]"
            if len(one.tests) == 1:
                extra += f" p={one.p:.4f}"
            else:
                extra += "".join(f" p({name})={p:.4f}" for name, p in one.tests.items())
            lines.append(f"{one.system}\t{one.metric} {one.score:.2f}{extra}\t{one.signature}")
        return "\n".join(lines)


def evaluate(
    systems: Mapping[str, System],
    refs: Sequence[System],
    metrics: Sequence[Metric],
    *,
    sources: System | None = None,
    plan: Plan | None = None,
    tuned_on: Sequence[str | os.PathLike[str]] = (),
    post: Post | None = None,
    allow_partial: bool = False,
    formats: Iterable[Format] | None = None,
) -> Evaluation:
    """Score every system under every metric; with intervals and tests against the first system as ``plan`` says.

    ``tuned_on`` names runs, manifests or files that weights were learnt from: what is judged on the same sentences is
    called in-sample. It is found out without that for outputs that lie in the folder of their run.
    """
    if not systems:
        raise UsageError("name at least one system")
    if isinstance(refs, (str, os.PathLike)):
        raise UsageError(f"refs: expected a list of references, found {os.fspath(refs)!r}")
    plan = plan or Plan()
    known = None if formats is None else list(formats)
    outputs = {name: _outputs(name, system) for name, system in systems.items()}
    streams = references_of(refs, known)
    read = {name: [texts_of(one, known) for one in runs] for name, runs in outputs.items()}
    side = [texts_of(sources, known, "source")] if sources is not None else []
    counted = len(streams[0]) if streams else len(next(iter(read.values()))[0])
    everything = Joined([*streams, *(one for runs in read.values() for one in runs), *side]).streams
    rest = iter(everything)
    streams = [next(rest) for _ in streams]
    read = {name: [next(rest) for _ in runs] for name, runs in read.items()}
    side = list(rest)
    if allow_partial and streams:
        _check_partial([one for runs in read.values() for one in runs], streams[0], counted)
    kept = _common(everything, allow_partial)
    changed = f"|post:{post.spec}" if post is not None else ""
    partial = f"|segments:{len(kept)}" if len(kept) < counted else ""
    judged = in_sample.Judged([*refs, sources, *(one for runs in outputs.values() for one in runs)])
    everywhere = judged.any_of(tuned_on)
    tuned = {
        name: "|in-sample" if everywhere or any(map(judged.by_run_of, runs)) else "" for name, runs in outputs.items()
    }
    source_texts = _pick(side[0], kept) if side else None
    references = [_pick(one, kept) for one in streams]
    texts = {name: [_posted(one, kept, post) for one in runs] for name, runs in read.items()}
    scores = []
    for metric in metrics:
        extract = _extractor(metric, references, source_texts)
        stats = [[_checked(extract(one), metric, read[name][i], kept) for i, one in enumerate(runs)]
                 for name, runs in texts.items()]  # fmt: skip
        signature = metric.signature() + changed + plan.signature() + partial
        for name, runs, one in zip(texts, stats, judge(metric, stats, plan), strict=True):
            if not math.isfinite(one.score):
                raise SmtError(f"metric {metric.name!r}: expected a score of {name}, found {one.score}")
            p = one.p[plan.tests[0]] if one.p else None
            full = signature + tuned[name]
            scores.append(
                Score(name, metric.name, one.score, full, one.low, one.high, p, len(runs), one.deviation, one.p)
            )
    return Evaluation(tuple(scores))


def _outputs(name: str, system: System) -> tuple[System, ...]:
    if not isinstance(system, Runs):
        return (system,)
    if not system.outputs:
        raise UsageError(f"system {name!r}: expected a run at least, found none")
    paths = [os.fspath(one) for one in system.outputs if isinstance(one, (str, os.PathLike))]
    twice = next((one for one in paths if paths.count(one) > 1), None)
    if twice is not None:
        raise UsageError(f"system {name!r}: run {twice!r} is named twice; a copy is no other run")
    return system.outputs


def _check_partial(systems: Sequence[Texts], first: Texts, lines: int) -> None:
    for one in systems:
        found = sum(text is not None for text in one.texts)
        if not one.numbered and found != lines:
            raise SmtError(
                f"{one.name}: expected {lines} lines, as {first.name} has, found {found}: a text has "
                "no ids to tell which are missing (`smt best --fill` keeps a line for each id)"
            )


def _common(everything: Sequence[Texts], partial: bool) -> list[int]:
    """The ids that all have; anything less than all is an error unless ``partial``."""
    longest = max(everything, key=len)
    if not len(longest):
        raise SmtError(f"{longest.name}: expected sentences to judge, found none")
    kept = []
    for i in range(len(longest)):
        lacking = next((one for one in everything if i >= len(one) or one.texts[i] is None), None)
        if lacking is None:
            kept.append(i)
        elif not partial:
            other = next(one for one in everything if i < len(one) and one.texts[i] is not None)
            hint = "; --allow-partial judges what all have" if any(one.numbered for one in everything) else ""
            raise SmtError(lacking.lacks(i, other) + hint)
    if not kept:
        raise SmtError("no sentence is in all files")
    return kept


def _pick(one: Texts, kept: Iterable[int]) -> list[str]:
    return [one.texts[i] or "" for i in kept]


def _posted(one: Texts, kept: Sequence[int], post: Post | None) -> list[str]:
    before = _pick(one, kept)
    if post is None:
        return before
    return post(before)


def _extractor(
    metric: Metric, references: Sequence[Sequence[str]], sources: Sequence[str] | None
) -> Callable[[Sequence[str]], NDArray[Any]]:
    """Statistics of hypotheses; a metric that can do so looks at the references once for all systems."""
    from smtplugins.contracts.contracts import PreparedMetric

    if references and sources is None and isinstance(metric, PreparedMetric):
        prepared = metric.prepare(references)
        return lambda hypotheses: prepared.stats(hypotheses)
    return lambda hypotheses: metric.stats(hypotheses, references, sources)


def _checked(stats: Any, metric: Metric, one: Texts, kept: Sequence[int]) -> NDArray[Any]:
    """Statistics as an array, a row for each segment, all of them numbers."""
    import numpy as np

    made = np.asarray(stats, dtype=np.float64)
    if made.ndim != 2 or len(made) != len(kept):
        raise SmtError(
            f"metric {metric.name!r}: expected statistics of {len(kept)} segments, a row each, found an array of "
            f"{' x '.join(map(str, made.shape))}"
        )
    rows = np.flatnonzero(~np.isfinite(made).all(axis=1))
    if len(rows):
        i = kept[int(rows[0])]
        place = f"{one.place(i)}: metric {metric.name!r}"
        raise SmtError(f"{place}: expected finite statistics of id {one.id(i)}, found others")
    return made
