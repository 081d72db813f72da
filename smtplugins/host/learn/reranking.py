"""Rerank n-best lists in one call: score, tune on one set, rescore another, evaluate.

It is the chain of ``smt score``, ``tune``, ``rescore``, ``best`` and ``evaluate``, and writes the same bytes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.host.files.lists import ListStream
from smtplugins.host.learn.training_data import Statistics, metric_of
from smtplugins.host.runs import prepared_folder

if TYPE_CHECKING:
    from smtformats import Candidates, Format
    from smtplugins.host.files.joining import Joined
    from smtplugins.host.host import Host
    from smtplugins.host.judge.evaluation import Evaluation
    from smtplugins.host.learn.tuning import Tuned

Note = Callable[[str], None]
WEIGHTS, TEXT, LISTS = "weights", "best.txt", "rescored"
SEED, SAMPLES = 12345, 1000
SIGNIFICANT = 0.05
NO_DIFFERENCE = "no significant difference"
_METRIC = "bleu"
_ELSE = "try more sentences, fewer features, several --runs, other start weights (-w) or another --learner"


@dataclass(frozen=True)
class Reranked:
    """Learnt weights, the test lists sorted by them, and the scores on dev and, given references, on test."""

    tuned: Tuned
    lists: ListStream
    dev: Evaluation
    test: Evaluation | None
    higher_is_better: bool = True

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
                p = None if row["system"] == "oracle" else row["p"]
                verdict = self._verdict(judged) if row["system"] == "result" else None
                rows.append({"set": name, **row, "p": p, "verdict": verdict})
        return rows

    def warnings(self) -> list[str]:
        """Warnings, as sentences, if the result scores worse than the baseline."""
        warnings = []
        for name, judged in self._sets():
            before, after = judged.scores[:2]
            if (after.score >= before.score) if self.higher_is_better else (after.score <= before.score):
                continue
            scores = f"{name} {after.metric} went from {before.score:.2f} to {after.score:.2f}"
            if name == "dev":
                warnings.append(f"no gain on the tuning data: {scores}; {_ELSE}")
            elif self._verdict(judged) == NO_DIFFERENCE:
                warnings.append(f"no gain: {scores} (p = {after.p:.4g}, no significant difference)")
            else:
                tested = "not tested: --bootstrap N" if after.p is None else f"p = {after.p:.4g}"
                warnings.append(f"the sorted lists are WORSE: {scores} ({tested}). Keep the original lists; {_ELSE}")
        return warnings

    def _sets(self) -> list[tuple[str, Evaluation]]:
        return [("dev", self.dev), *([("test", self.test)] if self.test is not None else [])]

    def _verdict(self, judged: Evaluation) -> str:
        """Compare the result with the baseline; a tested difference has to be significant."""
        before, after = judged.scores[:2]
        if before.score == after.score:
            return "equal"
        if after.p is not None and after.p >= SIGNIFICANT:
            return NO_DIFFERENCE
        return "better" if (after.score > before.score) == self.higher_is_better else "worse"


def rerank(
    host: Host,
    dev: ListStream,
    dev_refs: Sequence[Any],
    test: ListStream,
    test_refs: Sequence[Any] = (),
    *,
    features: Sequence[Any] = (),
    metric: Any = _METRIC,
    post: Any = None,
    missing: float | None = None,
    samples: int = SAMPLES,
    jobs: int = 1,
    allow_partial: bool = False,
    output: Path | None = None,
    to_format: str | None = None,
    note: Note = lambda text: None,
    **learning: Any,
) -> Reranked:
    """Learn on ``dev`` and sort ``test``; ``output`` is a folder for weights, text and lists."""
    _check(host, output, to_format or test.format, test_refs, samples)
    scored = host.score(dev, features, jobs=jobs) if features else dev
    # Features may be slow, so each list is scored once.
    kept = scored.load() if features else None
    learnt_from = ListStream(lambda: iter(kept), dev.name, dev.format, lambda: kept) if kept is not None else scored
    tuned = host.tune(
        learnt_from, dev_refs, metric=metric, post=post, jobs=jobs, allow_partial=allow_partial, note=note, **learning
    )
    scored_test = host.score(test, features, jobs=jobs) if features else test
    rescored = scored_test.rescore(tuned.weights, missing=missing, note=note)
    judging: dict[str, Any] = {"post": post, "allow_partial": allow_partial}
    with contextlib.nullcontext() if output is None else prepared_folder(output):
        if output is not None:
            rescored = _write_results(
                host, rescored, tuned, output, to_format, note if not allow_partial else lambda _: None
            )
        else:
            lists = list(rescored)
            rescored = ListStream(lambda: iter(lists), test.name, test.format)
        now = learnt_from.rescore(tuned.weights, missing=0.0)
        judged = host.evaluate(dev_refs, _systems(host, dev, now, dev_refs, metric, post), [metric], **judging)
        test_scores = None
        if test_refs:
            systems = _systems(host, test, rescored, test_refs, metric, post)
            test_scores = host.evaluate(test_refs, systems, [metric], bootstrap=samples, seed=SEED, **judging)
    own = tuple(
        replace(score, signature=f"{score.signature}|in-sample") if score.system == "result" else score
        for score in judged.scores
    )
    higher = metric_of(host, metric, post).higher_is_better
    return Reranked(tuned, rescored, replace(judged, scores=own), test_scores, higher)


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


def _systems(
    host: Host, before: ListStream, after: ListStream, refs: Sequence[Any], metric: Any, post: Any
) -> dict[str, Any]:
    from smtplugins.host.files.joining import Joined, references_of

    joined = Joined(references_of(refs, host.formats()))
    return {"baseline": before, "result": after, "oracle": oracle(after, joined, metric_of(host, metric, post))}


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
