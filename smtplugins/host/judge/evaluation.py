"""Score systems under any metric, with confidence intervals and significance tests against the first system."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.files.joining import Joined, references_of
from smtplugins.host.files.joining import System as System
from smtplugins.host.files.joining import Texts as Texts
from smtplugins.host.files.joining import texts_of as texts_of
from smtplugins.host.judge import in_sample
from smtplugins.host.judge.significance import SignificancePlan, judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Format
    from smtplugins.contracts.metrics import Metric
    from smtplugins.host.judge.postprocess import Post


@dataclass(frozen=True)
class Runs:
    """Outputs of one system from several optimiser runs, each in any form of a system."""

    outputs: tuple[System, ...]


@dataclass(frozen=True)
class Score:
    """The score of one system under one metric; values not requested are ``None``.

    Over several optimiser runs, ``score`` is the mean and ``deviation`` the standard deviation. ``tests`` holds the
    p-value of each test against the first system, ``p`` that of the first test.
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
    """All scores, with systems in the given order; the first is the baseline."""

    scores: tuple[Score, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One row per score, for tables and JSON."""
        names = ("system", "metric", "score", "runs", "deviation", "low", "high", "p", "tests", "signature")
        return [{name: getattr(score, name) for name in names} for score in self.scores]

    def __str__(self) -> str:
        lines = []
        for score in self.scores:
            extra = "" if score.deviation is None else f" ±{score.deviation:.2f}"
            extra += "" if score.low is None else f" [{score.low:.2f}, {score.high:.2f}]"
            if len(score.tests) == 1:
                extra += f" p={score.p:.4f}"
            else:
                extra += "".join(f" p({name})={p:.4f}" for name, p in score.tests.items())
            lines.append(f"{score.system}\t{score.metric} {score.score:.2f}{extra}\t{score.signature}")
        return "\n".join(lines)


def evaluate(
    systems: Mapping[str, System],
    refs: Sequence[System],
    metrics: Sequence[Metric],
    *,
    sources: System | None = None,
    plan: SignificancePlan | None = None,
    tuned_on: Sequence[str | os.PathLike[str]] = (),
    post: Post | None = None,
    allow_partial: bool = False,
    formats: Iterable[Format] | None = None,
) -> Evaluation:
    """Score every system under every metric, with the intervals and tests against the first system set by ``plan``.

    ``tuned_on`` names runs, manifests or files that weights were learnt from; scores on the same sentences are marked
    in-sample. Outputs inside the folder of their learning run are recognised without it.
    """
    if not systems:
        raise UsageError("systems: expected at least one, found none")
    if isinstance(refs, (str, os.PathLike)):
        raise UsageError(f"refs: expected a list of references, found {os.fspath(refs)!r}")
    plan = plan or SignificancePlan()
    known = None if formats is None else list(formats)
    outputs = {name: _outputs(name, system) for name, system in systems.items()}
    streams = references_of(refs, known)
    read = {name: [texts_of(output, known) for output in runs] for name, runs in outputs.items()}
    side = [texts_of(sources, known, "source")] if sources is not None else []
    counted = len(streams[0]) if streams else len(next(iter(read.values()))[0])
    everything = Joined([*streams, *(output for runs in read.values() for output in runs), *side]).streams
    rest = iter(everything)
    streams = [next(rest) for _ in streams]
    read = {name: [next(rest) for _ in runs] for name, runs in read.items()}
    side = list(rest)
    if allow_partial and streams:
        _check_partial([output for runs in read.values() for output in runs], streams[0], counted)
    kept = _common(everything, allow_partial)
    changed = f"|post:{post.spec}" if post is not None else ""
    partial = f"|segments:{len(kept)}" if len(kept) < counted else ""
    judged = in_sample.EvaluationFiles([*refs, sources, *(output for runs in outputs.values() for output in runs)])
    everywhere = judged.any_of(tuned_on)
    tuned = {
        name: "|in-sample" if everywhere or any(map(judged.by_run_of, runs)) else "" for name, runs in outputs.items()
    }
    source_texts = _pick(side[0], kept) if side else None
    references = [_pick(stream, kept) for stream in streams]
    texts = {name: [_postprocess(output, kept, post) for output in runs] for name, runs in read.items()}
    scores = []
    for metric in metrics:
        extract = _extractor(metric, references, source_texts)
        stats = [[_check_stats(extract(hypotheses), metric, read[name][i], kept) for i, hypotheses in enumerate(runs)]
                 for name, runs in texts.items()]  # fmt: skip
        signature = metric.signature() + changed + plan.signature() + partial
        for name, runs, judgement in zip(texts, stats, judge(metric, stats, plan), strict=True):
            if not math.isfinite(judgement.score):
                raise SmtError(f"metric {metric.name!r}: expected a score of {name}, found {judgement.score}")
            p = judgement.p[plan.tests[0]] if judgement.p else None
            full = signature + tuned[name]
            scores.append(
                Score(
                    name,
                    metric.name,
                    judgement.score,
                    full,
                    judgement.low,
                    judgement.high,
                    p,
                    len(runs),
                    judgement.deviation,
                    judgement.p,
                )
            )
    return Evaluation(tuple(scores))


def _outputs(name: str, system: System) -> tuple[System, ...]:
    if not isinstance(system, Runs):
        return (system,)
    if not system.outputs:
        raise UsageError(f"system {name!r}: expected at least one run, found none")
    paths = [os.fspath(path) for path in system.outputs if isinstance(path, (str, os.PathLike))]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise UsageError(f"system {name!r}: expected different runs, found {twice!r} twice")
    return system.outputs


def _check_partial(systems: Sequence[Texts], first: Texts, lines: int) -> None:
    for output in systems:
        count = sum(text is not None for text in output.texts)
        if not output.numbered and count != lines:
            raise SmtError(
                f"{output.name}: expected {lines} lines, as {first.name} has, found {count}: a text has "
                "no ids that show which are missing (`smt best --fill` keeps a line for each id)"
            )


def _common(everything: Sequence[Texts], partial: bool) -> list[int]:
    """The positions that all texts have; raises SmtError if some text lacks a sentence, unless ``partial``."""
    longest = max(everything, key=len)
    if not len(longest):
        raise SmtError(f"{longest.name}: expected sentences to judge, found none")
    kept = []
    for i in range(len(longest)):
        lacking = next((texts for texts in everything if i >= len(texts) or texts.texts[i] is None), None)
        if lacking is None:
            kept.append(i)
        elif not partial:
            other = next(texts for texts in everything if i < len(texts) and texts.texts[i] is not None)
            hint = "; --allow-partial judges what all have" if any(texts.numbered for texts in everything) else ""
            raise SmtError(lacking.lacks(i, other) + hint)
    if not kept:
        raise SmtError("no sentence is in all files")
    return kept


def _pick(texts: Texts, kept: Iterable[int]) -> list[str]:
    return [texts.texts[i] or "" for i in kept]


def _postprocess(output: Texts, kept: Sequence[int], post: Post | None) -> list[str]:
    before = _pick(output, kept)
    if post is None:
        return before
    return post(before)


def _extractor(
    metric: Metric, references: Sequence[Sequence[str]], sources: Sequence[str] | None
) -> Callable[[Sequence[str]], NDArray[Any]]:
    """A function from hypotheses to statistics; a `PreparedMetric` processes the references once for all systems."""
    from smtplugins.contracts.metrics import PreparedMetric

    if references and sources is None and isinstance(metric, PreparedMetric):
        prepared = metric.prepare(references)
        return lambda hypotheses: prepared.stats(hypotheses)
    return lambda hypotheses: metric.stats(hypotheses, references, sources)


def _check_stats(stats: Any, metric: Metric, output: Texts, kept: Sequence[int]) -> NDArray[Any]:
    """Check that statistics are finite, with a row per segment, and return them as an array."""
    import numpy as np

    array = np.asarray(stats, dtype=np.float64)
    if array.ndim != 2 or len(array) != len(kept):
        raise SmtError(
            f"metric {metric.name!r}: expected statistics of {len(kept)} segments, a row each, found an array of "
            f"{' x '.join(map(str, array.shape))}"
        )
    rows = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(rows):
        i = kept[int(rows[0])]
        place = f"{output.place(i)}: metric {metric.name!r}"
        raise SmtError(f"{place}: expected finite statistics of id {output.id(i)}, found others")
    return array
