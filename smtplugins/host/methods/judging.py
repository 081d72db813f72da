"""Methods of the host that judge: scores, oracles, minimum Bayes-risk decoding, reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from smtplugins.contracts.errors import UsageError
from smtplugins.host.arguments import argument, listed, stream_of, weights_of
from smtplugins.host.files.lists import ListStream
from smtplugins.host.files.opening import find_format, write_all
from smtplugins.host.spread.choice import make_runner, parallel_runner

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.runners import Jobs
    from smtplugins.host.files.opening import Path
    from smtplugins.host.host import AnySpec, Host
    from smtplugins.host.judge.evaluation import Evaluation, System
    from smtplugins.host.judge.oracles import Oracles
    from smtplugins.host.judge.postprocess import Post
    from smtplugins.host.judge.reporting import Report


class Judging:
    """Judge translations and lists."""

    def metric(self, spec: AnySpec) -> Metric:
        """Make a metric by name."""
        metric: Metric = cast("Host", self).registry.make("metrics", spec)
        return metric

    def evaluate(
        self,
        refs: System | Sequence[System],
        systems: System | Mapping[str, System],
        metrics: AnySpec | Sequence[AnySpec] = ("bleu",),
        *,
        sources: System | None = None,
        tests: str | Sequence[str] = (),
        samples: int = 0,
        confidence: float | None = None,
        bootstrap: int = 0,
        seed: int = 12345,
        all_pairs: bool = False,
        correct: str = "none",
        sentences: Path | None = None,
        tuned_on: Path | Sequence[Path] = (),
        post: str | Post | None = None,
        allow_partial: bool = False,
        format: str | Mapping[str, str] | None = None,
        jobs: Jobs = None,
    ) -> Evaluation:
        """Score systems (the first is the baseline) against references.

        ``systems``: by name, or a single one. A system is a path (a text, or lists of which the best is used), a stream
        of lists or a list of texts, and so are references. ``tests``: any of ``bootstrap``, ``ar``, ``sign`` and
        ``wilcoxon``. ``samples``: by default 1000 for the bootstrap and 10000 for approximate randomisation;
        ``bootstrap=N`` is short for that test with N samples. ``confidence``: the level of intervals. ``all_pairs``:
        test every two systems, not only each against the first. ``correct="holm"``: correct the p-values of a metric
        and test for the number of pairs. ``sentences``: a file for the scores of sentences, a table or ``.jsonl``.
        ``tuned_on``: runs or files that weights were learnt from, to mark in-sample scores. ``post``: postprocessing,
        as ``detok:en``. ``allow_partial``: judge the ids that all files have. ``format``: of the files of all systems,
        or by name. ``jobs``: processes, or a runner.
        """
        from smtplugins.host.judge.evaluation import evaluate
        from smtplugins.host.judge.postprocess import make_post
        from smtplugins.host.judge.sentence_scores import check_path
        from smtplugins.host.judge.significance import SignificancePlan

        host = cast("Host", self)
        if sentences is not None:
            check_path(sentences)
        sizes = {"samples": samples, "bootstrap": bootstrap, "seed": seed}
        plan = SignificancePlan.of(listed(tests), level=confidence, all_pairs=all_pairs, correct=correct, **sizes)
        result = evaluate(
            systems if isinstance(systems, Mapping) else {_name_of(systems): systems},
            listed(refs),
            [self.metric(metric) for metric in listed(metrics)],
            sources=sources,
            plan=plan,
            tuned_on=listed(tuned_on),
            post=make_post(post),
            sentences=sentences is not None,
            allow_partial=allow_partial,
            format=format,
            formats=host.formats(),
            runner=parallel_runner(host, jobs),
        )
        if sentences is not None and result.sentences is not None:
            result.sentences.write(sentences)
        return result

    def oracle(
        self,
        lists: ListStream | Iterable[Candidates] | Path,
        refs: System | Sequence[System] = (),
        metrics: AnySpec | Sequence[AnySpec] = ("bleu",),
        *,
        sources: System | None = None,
        post: str | Post | None = None,
        allow_partial: bool = False,
    ) -> Oracles:
        """Score the best hypothesis (by sentence score) among the first 1, 2, 4, 8, ... of each list.

        The result has a row per metric and size, and the oracle texts of whole lists under the first metric.
        Arguments are those of :meth:`evaluate`.
        """
        from smtplugins.host.judge.oracles import oracles
        from smtplugins.host.judge.postprocess import make_post

        host = cast("Host", self)
        return oracles(
            stream_of(host, lists),
            listed(refs),
            [self.metric(metric) for metric in listed(metrics)],
            sources=sources,
            post=make_post(post),
            allow_partial=allow_partial,
            formats=host.formats(),
        )

    def mbr(
        self,
        lists: ListStream | Iterable[Candidates] | Path,
        metric: AnySpec = "bleu",
        *,
        references: ListStream | Iterable[Candidates] | Path | None = None,
        utilities: Path | None = None,
        prune: float | None = None,
        aggregate: bool = False,
        shortlist: int | tuple[int, str] | None = None,
        seed: int = 1,
        scale: float = 1.0,
        top: int = 0,
        post: str | Post | None = None,
        jobs: Jobs = None,
        whole: bool = True,
    ) -> ListStream:
        """Sort each list by expected score under a metric: minimum Bayes-risk decoding. Totals become these scores.

        Posterior probabilities are proportional to ``exp(scale * total)``; scale 0 makes all equal. ``references``:
        lists of pseudo-references with the same ids and their own totals (default: the hypotheses themselves).
        ``utilities``: a file (npz) of the scores of all pairs of texts, read if it exists, else written with the last
        list. ``prune``: a confidence such as 0.99; drop hypotheses that a bootstrap on some of the references shows to
        be worse than the best by then, with random numbers from ``seed``. ``aggregate``: average the references into
        one and score each hypothesis once, for metrics that can (bleu, chrf). ``shortlist``: ``N`` or ``(N, BY)``;
        choose among the N texts of highest BY, with all texts as references. BY is ``"total"`` (the default),
        ``"aggregate"``, the score against the average reference, or the name of a feature. ``top``: consider only the
        N texts of highest total, 0 for all. ``jobs``: processes, same result for any number. ``whole=False`` keeps the
        chosen hypothesis alone, with its old total. Metrics that read the source take it from the lists.
        """
        from smtplugins.host.judge.consensus import Consensus, ReferenceLists, choices
        from smtplugins.host.judge.postprocess import make_post
        from smtplugins.host.judge.pruning import Pruning
        from smtplugins.host.judge.shortlists import Shortlist
        from smtplugins.host.judge.utilities import check_path

        _check_mbr(prune=prune, utilities=utilities, aggregate=aggregate, shortlist=shortlist)
        host = cast("Host", self)
        pruning = None if prune is None else Pruning(prune, seed)
        short = None if shortlist is None else Shortlist.of(shortlist)
        how = Consensus(self.metric(metric), scale, top, pruning=pruning, aggregate=aggregate, shortlist=short)
        stream = stream_of(host, lists)
        postprocess, runner = make_post(post), make_runner(host, jobs)

        if utilities is not None:
            check_path(utilities)
        others = None if references is None else stream_of(host, references)

        def start() -> Iterator[Candidates]:
            judged = None if others is None else ReferenceLists(others, scale, postprocess)
            made = choices(stream, how, references=judged, utilities=utilities, post=postprocess, runner=runner)
            for choice in made:
                yield choice.resort() if whole else choice.candidates.select([choice.best])

        return ListStream(start, stream.name, stream.format)

    def mbr_forests(
        self,
        forests: Path,
        samples: int,
        metric: AnySpec = "bleu",
        *,
        linear: bool = False,
        aggregate: bool = False,
        shortlist: int | tuple[int, str] | None = None,
        scale: float = 1.0,
        top: int = 0,
        weights: Mapping[str, float] | Path | None = None,
        seed: int = 1,
        format: str | None = None,
        source: Path | None = None,
        post: str | Post | None = None,
        allow_partial: bool = False,
        jobs: Jobs = None,
        whole: bool = True,
    ) -> ListStream:
        """Minimum Bayes-risk decoding of forests: of the distinct texts of ``samples`` derivations of each.

        Derivations are sampled in proportion to ``exp(scale * score)``, with scores under ``weights`` or, by default,
        those of the file. ``linear`` searches the whole forest instead, with the metric's linear form and n-gram
        probabilities from the samples; its lists hold one text. ``source`` is for metrics that read it. Other
        arguments are those of :meth:`mbr`.
        """
        from smtplugins.host.judge.forest_consensus import Forests, linear_choices, sample_lists

        if linear and (aggregate or shortlist is not None):
            other = argument("aggregate=True") if aggregate else argument("shortlist=...")
            raise UsageError(f"{argument('linear=True')}: expected no {other}, as no hypotheses are compared")
        host = cast("Host", self)
        table = weights_of(host, weights)
        sampled = Forests(forests, samples, scale, table, seed, format, host.formats())
        lists = sample_lists(sampled, source=source, allow_partial=allow_partial)
        if linear:
            judge = self.metric(metric)
            return ListStream(lambda: linear_choices(sampled, judge), lists.name, lists.format)
        return self.mbr(
            lists, metric, aggregate=aggregate, shortlist=shortlist, top=top, post=post, jobs=jobs, whole=whole
        )

    def report(
        self,
        runs: Path | Sequence[Path] = (),
        output: Path | None = None,
        *,
        lists: Path | None = None,
        refs: Path | Sequence[Path] = (),
        weights: Path | None = None,
        missing: float | None = None,
        source: Path | None = None,
        baseline: Path | None = None,
        metric: str | None = None,
        format: str | None = None,
        allow_partial: bool = False,
        built: Path | None = None,
        title: str | None = None,
        to_format: str = "html",
        note: Callable[[str], None] = lambda text: None,
    ) -> Report:
        """Report on learning runs, on lists, or on trees step by step; written to ``output`` if given.

        ``runs``: folders of learning runs. ``lists``: by default those of the first run; ``weights`` (default: the
        result of the runs) sort them, ``missing`` is the weight of features without one, ``baseline`` what they are
        compared with (default: the best before sorting). ``built``: the building steps of trees, from :meth:`decode`.
        """
        from smtplugins.host.judge.reporting import ReportInputs, make_report

        host = cast("Host", self)
        record = find_format(to_format, "report", host.formats())
        inputs = ReportInputs(
            _text_of(lists),
            tuple(map(os.fspath, listed(refs))),
            _text_of(weights),
            missing,
            _text_of(source),
            _text_of(baseline),
            metric,
            format,
            allow_partial,
            _text_of(built),
        )
        report = make_report(host, [os.fspath(run) for run in listed(runs)], inputs, title=title, note=note)
        if output is not None:
            write_all(record, [report], output)
        return report


def _check_mbr(*, prune: float | None, utilities: Path | None, aggregate: bool, shortlist: Any) -> None:
    """Raise UsageError for arguments of which one leaves nothing for the other."""
    if prune is not None and utilities is not None:
        raise UsageError(f"{argument('prune=...')}: expected no {argument('utilities=...')}, which has all utilities")
    if not aggregate:
        return
    name = argument("aggregate=True")
    for other, value in (("prune=...", prune), ("utilities=...", utilities)):
        if value is not None:
            raise UsageError(f"{name}: expected no {argument(other)}, as no pairs of texts are scored")
    if isinstance(shortlist, tuple) and shortlist[1:] == ("aggregate",):
        raise UsageError(
            f"{name}: expected no {argument('shortlist=...')} by aggregate, after which scores are exact; "
            "leave one of them out"
        )


def _text_of(path: Path | None) -> str | None:
    return None if path is None else os.fspath(path)


def _name_of(system: Any) -> str:
    """The name of a single system: that of its file or stream."""
    return os.fspath(system) if isinstance(system, (str, os.PathLike)) else str(getattr(system, "name", "system"))
