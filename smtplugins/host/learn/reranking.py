"""Rerank n-best lists in one call: score, tune on one set, rescore another, evaluate.

It is the chain of ``smt score``, ``tune``, ``rescore``, ``best`` and ``evaluate``, and writes the same bytes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.files.lists import ListStream
from smtplugins.host.learn.training_data import Statistics, metric_of
from smtplugins.host.runs import prepared_folder

if TYPE_CHECKING:
    from smtformats import Candidates, Format
    from smtplugins.contracts.runners import Jobs
    from smtplugins.host.files.joining import Joined
    from smtplugins.host.host import AnySpec, Host
    from smtplugins.host.judge.evaluation import Evaluation
    from smtplugins.host.learn.tuning import Tuned

Note = Callable[[str], None]
WEIGHTS, TEXT, LISTS = "weights", "best.txt", "rescored"
SEED = 12345
SIGNIFICANT = 0.05
NO_DIFFERENCE = "no significant difference"


@dataclass(frozen=True)
class Reranked:
    """Learnt weights, the test lists sorted by them, and the scores on dev and, given references, on test."""

    tuned: Tuned
    lists: ListStream
    dev: Evaluation
    test: Evaluation | None
    higher_is_better: bool = True

    def __repr__(self) -> str:
        sets = "; ".join(f"{name} {self._change(judged)}" for name, judged in self._sets())
        return f"<Reranked {self.lists.name}: {sets}>"

    def _repr_html_(self) -> str:
        from smtformats.display import html_table

        names = ("set", "system", "metric", "score", "p", "verdict", "signature")
        rows = [[round(row[n], 2) if n == "score" else row[n] for n in names] for row in self.rows()]
        return html_table(names, rows)

    @property
    def weights(self) -> Mapping[str, float]:
        """The learnt weights."""
        return self.tuned.weights

    def best(self) -> list[str]:
        """The best text of each test list."""
        return self.lists.best()

    def rows(self) -> list[dict[str, Any]]:
        """A row per set and system (baseline, result, oracle), for tables and JSON; result rows have a verdict."""
        rows = []
        for name, judged in self._sets():
            for row in judged.rows():
                # What was learnt from is judged for the warning; an interval of it would be taken for one of new text.
                untold = ("low", "high", "p") if name == "dev" else ("p",) if row["system"] == "oracle" else ()
                verdict = self._verdict(judged) if row["system"] == "result" else None
                tests = {} if "p" in untold else row["tests"]
                rows.append({"set": name, **row, **dict.fromkeys(untold), "tests": tests, "verdict": verdict})
        return rows

    def chosen_rows(self) -> list[dict[str, Any]]:
        """For pools, a row per set, result (baseline, result, oracle) and system: how often it was chosen."""
        return [{"set": name, **row} for name, judged in self._sets() for row in judged.chosen_rows()]

    def warnings(self) -> list[str]:
        """Warnings, as sentences, if the result scores worse than the baseline."""
        warnings = []
        for name, judged in self._sets():
            before, after = judged.scores[:2]
            if (after.score >= before.score) if self.higher_is_better else (after.score <= before.score):
                continue
            scores = f"{name} {after.metric} went from {before.score:.2f} to {after.score:.2f}"
            tested = (
                f"not tested: {argument('samples=N', '--bootstrap N')}" if after.p is None else f"p = {after.p:.4g}"
            )
            if name == "dev":
                warnings.append(f"no gain on the tuning data: {scores} ({tested}); {_advice()}")
            elif self._verdict(judged) == NO_DIFFERENCE:
                warnings.append(f"no gain: {scores} ({tested}, no significant difference)")
            else:
                warnings.append(
                    f"the sorted lists are WORSE: {scores} ({tested}). Keep the original lists; {_advice()}"
                )
        return warnings

    def _sets(self) -> list[tuple[str, Evaluation]]:
        return [("dev", self.dev), *([("test", self.test)] if self.test is not None else [])]

    def _change(self, judged: Evaluation) -> str:
        before, after = judged.scores[:2]
        return f"{after.metric} {before.score:.2f} to {after.score:.2f}, {self._verdict(judged)}"

    def _verdict(self, judged: Evaluation) -> str:
        """Compare the result with the baseline; a tested difference has to be significant."""
        before, after = judged.scores[:2]
        if before.score == after.score:
            return "equal"
        if after.p is not None and after.p >= SIGNIFICANT:
            return NO_DIFFERENCE
        return "better" if (after.score > before.score) == self.higher_is_better else "worse"


def _advice() -> str:
    start = argument("start", "-w")
    return (
        f"try more sentences, fewer features, several {argument('runs')}, other start weights ({start}) or another "
        f"{argument('learner')}"
    )


@dataclass(frozen=True)
class RerankSettings:
    """What to learn and to write; see :meth:`smtplugins.host.host.Host.rerank`."""

    features: Sequence[Any] = ()
    metric: Any = "bleu"
    learner: AnySpec | None = None
    seed: int = 1
    runs: int | None = None
    combine: Literal["average", "best"] = "average"
    start: Mapping[str, float] | str | os.PathLike[str] | None = None
    keep: Sequence[str] = ()
    missing: float | None = None
    post: Any = None
    samples: int = 1000
    jobs: Jobs = None
    allow_partial: bool = False
    output: Path | None = None
    to_format: str | None = None


def rerank(
    host: Host,
    dev: ListStream,
    dev_refs: Sequence[Any],
    test: ListStream,
    test_refs: Sequence[Any],
    settings: RerankSettings,
    note: Note = lambda text: None,
) -> Reranked:
    """Learn on ``dev`` and sort ``test``; ``settings.output`` is a folder for weights, text and lists."""
    output, features, jobs = settings.output, settings.features, settings.jobs
    _check(host, output, settings.to_format or test.format, test_refs, settings.samples)
    scored = host.score(dev, features, jobs=jobs) if features else dev
    # Features may be slow, so each list is scored once.
    kept = scored.load() if features else None
    learnt_from = ListStream(lambda: iter(kept), dev.name, dev.format, lambda: kept) if kept is not None else scored
    tuned = _tune(host, learnt_from, dev_refs, settings, note)
    scored_test = host.score(test, features, jobs=jobs) if features else test
    rescored = scored_test.rescore(tuned.weights, missing=settings.missing, note=note)
    with contextlib.nullcontext() if output is None else prepared_folder(output):
        if output is not None:
            told = note if not settings.allow_partial else lambda _: None
            rescored = _write_results(host, rescored, tuned, output, settings.to_format, told)
        else:
            lists = list(rescored)
            rescored = ListStream(lambda: iter(lists), test.name, test.format)
        now = learnt_from.rescore(tuned.weights, missing=0.0)
        judged = _evaluate(host, dev, now, dev_refs, settings, settings.samples)
        judged_test = _evaluate(host, test, rescored, test_refs, settings, settings.samples) if test_refs else None
    own = tuple(
        replace(score, signature=f"{score.signature}|in-sample") if score.system == "result" else score
        for score in judged.scores
    )
    higher = metric_of(host, settings.metric, settings.post).higher_is_better
    return Reranked(tuned, rescored, replace(judged, scores=own), judged_test, higher)


def _tune(host: Host, lists: ListStream, refs: Sequence[Any], settings: RerankSettings, note: Note) -> Tuned:
    return host.tune(
        lists,
        refs,
        learner=settings.learner,
        metric=settings.metric,
        seed=settings.seed,
        runs=settings.runs,
        combine=settings.combine,
        start=settings.start,
        keep=settings.keep,
        jobs=settings.jobs,
        post=settings.post,
        allow_partial=settings.allow_partial,
        note=note,
    )


def _evaluate(
    host: Host, before: ListStream, after: ListStream, refs: Sequence[Any], settings: RerankSettings, samples: int
) -> Evaluation:
    """Score the lists before and after sorting and their oracles; ``samples`` is 0 for no test."""
    from smtplugins.host.files.joining import Joined, references_of

    metric, post = settings.metric, settings.post
    joined = Joined(references_of(refs, host.formats()))
    systems = {"baseline": before, "result": after, "oracle": oracle(after, joined, metric_of(host, metric, post))}
    partial = settings.allow_partial
    return host.evaluate(refs, systems, [metric], bootstrap=samples, seed=SEED, post=post, allow_partial=partial)


def _check(host: Host, output: Path | None, to: str | Format | None, refs: Sequence[Any], samples: int) -> None:
    """Check output and references before hours of learning."""
    from smtplugins.host.decode.decoded_lists import writable_lists
    from smtplugins.host.files.opening import find_format
    from smtplugins.host.judge.significance import SignificancePlan

    if output is not None and output.exists() and not output.is_dir():
        raise UsageError(f"{output}: expected a folder to write to, found a file")
    if to is not None and output is not None:
        writable_lists(find_format(to, "nbest", host.formats()) if isinstance(to, str) else to)
    SignificancePlan.of((), bootstrap=samples)
    for path in refs:
        if isinstance(path, (str, os.PathLike)):
            os.stat(path)


def _write_results(
    host: Host, rescored: ListStream, tuned: Tuned, output: Path, to_format: str | None, note: Note
) -> ListStream:
    """Write lists, weights and texts into the folder; return the lists as written."""
    from smtplugins.host.files.lists import write_best
    from smtplugins.host.files.opening import find_format, write_all

    name = output / (LISTS + _suffix(rescored.name))
    rescored.write(name, to_format)
    written = host.read(name, format=to_format or (rescored.format.name if rescored.format is not None else None))
    write_all(find_format("cdec-weights", "weights"), [dict(tuned.weights)], output / WEIGHTS)
    if write_best(written, output / TEXT, fill=None):
        note(f"some ids have no list: {output / TEXT} has an empty line for each")
    return written


def _suffix(name: str) -> str:
    """The suffixes of a file name, such as `.nbest.gz`."""
    return "".join(Path(name).suffixes[-2:]) if os.path.basename(name) == Path(name).name else ""


def oracle(lists: ListStream, references: Joined, metric: Any) -> ListStream:
    """The hypothesis with the best sentence score of each list, the first on a tie."""
    import numpy as np

    from smtplugins.host.files.joining import where_of

    judge = Statistics(metric, references.streams)

    def start() -> Iterator[Candidates]:
        for nbest in lists:
            scores = metric.sentence(judge(nbest.texts, references.place(nbest.id, where_of(nbest, lists.name))))
            at = int(np.argmax(scores if metric.higher_is_better else -scores))
            yield nbest.select([at])

    return ListStream(start, lists.name, lists.format)
