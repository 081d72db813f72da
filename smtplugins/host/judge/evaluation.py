"""Score systems under any metric, with confidence intervals and significance tests against the first system."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from smtformats.display import html_table
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.metrics import PreparedMetric
from smtplugins.host.arguments import argument
from smtplugins.host.files.joining import Joined, formats_by_system, references_of
from smtplugins.host.files.joining import System as System
from smtplugins.host.files.joining import Texts as Texts
from smtplugins.host.files.joining import texts_of as texts_of
from smtplugins.host.judge import in_sample
from smtplugins.host.judge.sentence_scores import SentenceScores, score_sentences
from smtplugins.host.judge.significance import Judgement, SignificancePlan, judge
from smtplugins.host.pooling.origins import COLUMNS, chosen_rows, count_chosen, shown_counts
from smtplugins.host.spread.workers import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Format
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.runners import Runner
    from smtplugins.host.judge.postprocess import Post


@dataclass(frozen=True)
class Runs:
    """Outputs of one system from several optimiser runs, each in any form of a system."""

    outputs: tuple[System, ...]


@dataclass(frozen=True)
class Score:
    """The score of one system under one metric; values not requested are ``None``.

    Over several optimiser runs, ``score`` is the mean and ``deviation`` the standard deviation. ``tests`` holds the
    p-value of each test against the first system, ``p`` that of the first test. ``corrected`` holds them corrected for
    the number of tested pairs, if that was asked for.
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
    corrected: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PairScore:
    """The tests of two systems under one metric; ``difference`` is the score of the second minus that of the first.

    ``tests`` holds the p-value of each test of the second against the first, ``corrected`` the same corrected for the
    number of pairs by ``correction``, and is empty if that is ``none``.
    """

    first: str
    second: str
    metric: str
    difference: float
    tests: Mapping[str, float]
    correction: str = "none"
    corrected: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Evaluation(Sequence[Score]):
    """All scores, with systems in the given order; the first is the baseline.

    ``pairs`` has every two systems, if all pairs were tested, ``sentences`` the scores of sentences, if asked for.
    ``chosen`` says of each judged pool how many of the ``judged`` sentences each of its systems has, and how many
    no other system has; over several optimiser runs these are sums.
    """

    scores: tuple[Score, ...]
    pairs: tuple[PairScore, ...] = ()
    sentences: SentenceScores | None = None
    chosen: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    judged: int = 0

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, index: int) -> Score: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Score, ...]: ...
    def __getitem__(self, index: int | slice) -> Score | tuple[Score, ...]:
        return self.scores[index]

    def __repr__(self) -> str:
        return f"<Evaluation: {', '.join(f'{s.system} {s.metric} {s.score:.2f}' for s in self.scores)}>"

    def _repr_html_(self) -> str:
        names = ["system", "metric", "score"]
        names += ["deviation"] * any(score.deviation is not None for score in self)
        names += ["low", "high"] * any(score.low is not None for score in self)
        tests = list(dict.fromkeys(test for score in self for test in score.tests))
        corrected = list(dict.fromkeys(test for score in self for test in score.corrected))
        rows = [
            [
                *(_shown(getattr(score, name)) for name in names),
                *map(score.tests.get, tests),
                *map(score.corrected.get, corrected),
                score.signature,
            ]
            for score in self
        ]
        heads = [*names, *(f"p({test})" for test in tests), *(f"corrected({test})" for test in corrected), "signature"]
        chosen = [list(row.values()) for row in self.chosen_rows()]
        return html_table(heads, rows) + self._pairs_html() + (html_table(COLUMNS, chosen) if chosen else "")

    def _pairs_html(self) -> str:
        if not self.pairs:
            return ""
        tests, corrected = list(self.pairs[0].tests), list(self.pairs[0].corrected)
        heads = ["first", "second", "metric", "difference", *(f"p({test})" for test in tests)]
        heads += ["correction", *(f"corrected({test})" for test in corrected)]
        return html_table(
            heads,
            [
                [pair.first, pair.second, pair.metric, _shown(pair.difference), *pair.tests.values(), pair.correction,
                 *pair.corrected.values()]
                for pair in self.pairs
            ],
        )  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """One row per score, for tables and JSON; with ``corrected`` p-values if any, ``chosen`` for pools."""
        names = ["system", "metric", "score", "runs", "deviation", "low", "high", "p", "tests", "signature"]
        names += ["corrected"] * any(score.corrected for score in self.scores)
        rows = [{name: getattr(score, name) for name in names} for score in self.scores]
        for row in rows if self.chosen else ():
            counts = self.chosen.get(row["system"], {})
            row["chosen"] = {name: {"sentences": count, "alone": alone} for name, (count, alone) in counts.items()}
        return rows

    def pair_rows(self) -> list[dict[str, Any]]:
        """One row per pair of systems and metric, if all pairs were tested."""
        names = ("first", "second", "metric", "difference", "tests", "correction", "corrected")
        return [{name: getattr(pair, name) for name in names} for pair in self.pairs]

    def chosen_rows(self) -> list[dict[str, Any]]:
        """One row per pool and system of it: the number of sentences chosen from it, in per cent, and from it alone."""
        runs = {score.system: score.runs for score in self.scores}
        return [row for pool in self.chosen for row in chosen_rows(pool, self.chosen[pool], self.judged * runs[pool])]

    def __str__(self) -> str:
        lines = []
        for score in self.scores:
            extra = "" if score.deviation is None else f" ±{score.deviation:.2f}"
            extra += "" if score.low is None else f" [{score.low:.2f}, {score.high:.2f}]"
            if len(score.tests) == 1:
                extra += f" p={score.p:.4f}"
            else:
                extra += "".join(f" p({name})={p:.4f}" for name, p in score.tests.items())
            extra += "".join(f" corrected({name})={p:.4f}" for name, p in score.corrected.items())
            lines.append(f"{score.system}\t{score.metric} {score.score:.2f}{extra}\t{score.signature}")
        for pair in self.pairs:
            values = [f"p({name})={p:.4f}" for name, p in pair.tests.items()]
            values += [f"{pair.correction}({name})={p:.4f}" for name, p in pair.corrected.items()]
            shown = f"{pair.second} - {pair.first}\t{pair.metric} {pair.difference:+.2f}"
            lines.append(f"{shown} {' '.join(values)}")
        runs = {score.system: score.runs for score in self.scores}
        for pool, counts in self.chosen.items():
            lines.append(f"{pool}\tchosen: {shown_counts(counts, self.judged * runs[pool])}")
        return "\n".join(lines)


def _shown(value: Any) -> Any:
    return round(value, 2) if isinstance(value, float) else value


def evaluate(
    systems: Mapping[str, System],
    refs: Sequence[System],
    metrics: Sequence[Metric],
    *,
    sources: System | None = None,
    plan: SignificancePlan | None = None,
    tuned_on: Sequence[str | os.PathLike[str]] = (),
    post: Post | None = None,
    sentences: bool = False,
    allow_partial: bool = False,
    format: str | Mapping[str, str] | None = None,
    formats: Iterable[Format] | None = None,
    runner: Runner | None = None,
) -> Evaluation:
    """Score every system under every metric, with the intervals and tests against the first system set by ``plan``.

    ``tuned_on`` names runs, manifests or files that weights were learnt from; scores on the same sentences are marked
    in-sample. Outputs inside the folder of their learning run are recognised without it. ``sentences`` also scores
    each sentence. ``runner`` spreads the outputs of systems, and their samples.
    """
    if not systems:
        raise UsageError("systems: expected at least one, found none")
    plan = plan or SignificancePlan()
    plan.check_systems(len(systems))
    outputs = {name: _outputs(name, system) for name, system in systems.items()}
    named = formats_by_system(systems, format)
    texts = _Aligned.read(outputs, refs, sources, None if formats is None else list(formats), named)
    if allow_partial and texts.references:
        _check_partial([output for runs in texts.systems.values() for output in runs], texts.references[0], texts.count)
    kept = _common(texts.all(), allow_partial)
    changed = f"|post:{post.spec}" if post is not None else ""
    partial = f"|segments:{len(kept)}" if len(kept) < texts.count else ""
    tuned = _in_sample_marks(outputs, [*refs, sources], tuned_on)
    source_texts = None if texts.sources is None else _pick(texts.sources, kept)
    references = [_pick(stream, kept) for stream in texts.references]
    hypotheses = _hypotheses(texts.systems, kept, post, references)
    scores: list[Score] = []
    pairs: list[PairScore] = []
    kept_stats: list[dict[str, list[NDArray[Any]]]] = []
    for metric in metrics:
        all_runs = [run for runs in hypotheses.values() for run in runs]
        given = list(spread(_stats, all_runs, _Judge(metric, references, source_texts), runner))
        signature = given[-1][1] + changed + plan.signature() + partial
        rest = iter(given)
        stats = {
            name: [_check_stats(next(rest)[0], metric, texts.systems[name][i], kept) for i in range(len(runs))]
            for name, runs in hypotheses.items()
        }
        judgements = judge(metric, list(stats.values()), plan, runner)
        for (name, runs), judgement in zip(stats.items(), judgements, strict=True):
            scores.append(_score(name, metric, judgement, plan, signature + tuned[name], len(runs)))
        if plan.all_pairs:
            pairs += _pairs(list(stats), metric, judgements, plan)
        if sentences:
            kept_stats.append(stats)
    ids = [texts.all()[0].id(i) for i in kept]
    scored = score_sentences(ids, metrics, kept_stats) if sentences else None
    return Evaluation(tuple(scores), tuple(pairs), scored, _chosen(texts.systems, kept), len(kept))


def _hypotheses(
    systems: Mapping[str, Sequence[Texts]], kept: Sequence[int], post: Post | None, references: Sequence[Sequence[str]]
) -> dict[str, list[list[str]]]:
    """The texts of each system's runs that are judged."""
    from smtplugins.host.judge.postprocess import check_pieces

    shown = post or list
    found = {name: [shown(_pick(output, kept)) for output in runs] for name, runs in systems.items()}
    for name, runs in found.items():
        check_pieces(f"system {name!r}", [text for run in runs for text in run], references)
    return found


def _chosen(systems: Mapping[str, Sequence[Texts]], kept: Sequence[int]) -> dict[str, dict[str, tuple[int, int]]]:
    """How often the systems of each pool were chosen."""
    counts = {
        name: count_chosen(run.origins[i] for run in runs if run.origins is not None for i in kept)
        for name, runs in systems.items()
    }
    return {name: chosen for name, chosen in counts.items() if chosen}


@dataclass(frozen=True)
class _Aligned:
    """References, system outputs and sources with the same ids at the same positions.

    ``count`` is the number of sentences of the first reference, or else of the first system, before they were aligned.
    """

    references: Sequence[Texts]
    systems: Mapping[str, Sequence[Texts]]
    sources: Texts | None
    count: int

    @classmethod
    def read(
        cls,
        outputs: Mapping[str, Sequence[System]],
        refs: Sequence[System],
        sources: System | None,
        formats: Sequence[Format] | None,
        named: Mapping[str, str | None],
    ) -> _Aligned:
        """Read all texts and align them by id; ``named`` are the formats of systems."""
        references = references_of(refs, formats)
        option = argument("format", "--from")
        read = {
            name: [texts_of(output, formats, format=named[name], option=option) for output in runs]
            for name, runs in outputs.items()
        }
        side = [texts_of(sources, formats, "source")] if sources is not None else []
        count = len(references[0]) if references else len(next(iter(read.values()))[0])
        rest = iter(Joined([*references, *(output for runs in read.values() for output in runs), *side]).streams)
        aligned = [next(rest) for _ in references], {name: [next(rest) for _ in runs] for name, runs in read.items()}
        return cls(*aligned, next(rest, None), count)

    def all(self) -> list[Texts]:
        """All texts, references first and sources last."""
        outputs = [output for runs in self.systems.values() for output in runs]
        return [*self.references, *outputs, *([] if self.sources is None else [self.sources])]


def _in_sample_marks(
    outputs: Mapping[str, Sequence[System]],
    judged_files: Sequence[System | None],
    tuned_on: Sequence[str | os.PathLike[str]],
) -> dict[str, str]:
    """What the signature of each system adds if its weights were learnt from the judged sentences."""
    judged = in_sample.EvaluationFiles([*judged_files, *(output for runs in outputs.values() for output in runs)])
    everywhere = judged.any_of(tuned_on)
    return {
        name: "|in-sample" if everywhere or any(map(judged.by_run_of, runs)) else "" for name, runs in outputs.items()
    }


def _score(name: str, metric: Metric, judgement: Judgement, plan: SignificancePlan, signature: str, runs: int) -> Score:
    if not math.isfinite(judgement.score):
        raise SmtError(f"metric {metric.name!r}: expected a score of {name}, found {judgement.score}")
    return Score(
        name,
        metric.name,
        judgement.score,
        signature,
        judgement.low,
        judgement.high,
        judgement.p[plan.tests[0]] if judgement.p else None,
        runs,
        judgement.deviation,
        judgement.p,
        judgement.corrected[0] if judgement.corrected else {},
    )


def _pairs(
    names: Sequence[str], metric: Metric, judgements: Sequence[Judgement], plan: SignificancePlan
) -> list[PairScore]:
    """All pairs of systems in the order of the first, then of the second."""
    return [
        PairScore(
            names[i],
            names[j],
            metric.name,
            judgements[j].score - judgements[i].score,
            judgements[j].pairs[i],
            plan.correct,
            judgements[j].corrected[i] if plan.corrects else {},
        )
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]


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
            numbered = any(texts.numbered for texts in everything)
            hint = f"; {argument('allow_partial=True')} judges what all have" if numbered else ""
            raise SmtError(lacking.lacks(i, other) + hint)
    if not kept:
        raise SmtError("no sentence is in all files")
    return kept


def _pick(texts: Texts, kept: Iterable[int]) -> list[str]:
    return [texts.texts[i] or "" for i in kept]


@dataclass(frozen=True)
class _Judge:
    """A metric and what it needs; called, it makes the function from hypotheses to statistics."""

    metric: Metric
    references: Sequence[Sequence[str]]
    sources: Sequence[str] | None

    def __call__(self) -> Callable[[Sequence[str]], tuple[Any, str]]:
        """Statistics come with the signature, which some metrics complete when they read references."""
        metric, references, sources = self.metric, self.references, self.sources
        # The references are processed once for all systems.
        if references and sources is None and isinstance(metric, PreparedMetric):
            prepared = metric.prepare(references)
            return lambda hypotheses: (prepared.stats(hypotheses), metric.signature())
        return lambda hypotheses: (metric.stats(hypotheses, references, sources), metric.signature())


def _stats(judged: Callable[[Sequence[str]], tuple[Any, str]], hypotheses: Sequence[str]) -> tuple[Any, str]:
    return judged(hypotheses)


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
