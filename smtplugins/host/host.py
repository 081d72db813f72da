"""The host: loaded plugins, their registry, and a method for each job. Every command is a parser and one such call."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.files.lists import ListStream, as_stream, read_lists, read_weights
from smtplugins.host.files.opening import Path
from smtplugins.host.loading.registry import Registry

if TYPE_CHECKING:
    from smtformats import Candidates, Format
    from smtformats.alignment.links import Alignment
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.runners import Runner
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.translator import Translator
    from smtplugins.host.estimate.align import Text
    from smtplugins.host.judge.evaluation import Evaluation, System
    from smtplugins.host.judge.postprocess import Post
    from smtplugins.host.learn.reranking import Reranked
    from smtplugins.host.learn.tuning import Tuned
    from smtplugins.host.loading.manager import _Loader

AnySpec = str | Mapping[str, Any] | Spec


class Host:
    """Loaded plugins (``plugins``), their offers (``registry``), and a method for each job."""

    def __init__(self, loaded: _Loader) -> None:
        self.plugins = loaded.infos
        self.registry = Registry(loaded.infos)
        self.hooks = loaded.manager
        for kind, record, info in loaded.records:
            self.registry.add(kind, record, info)

    def __repr__(self) -> str:
        return f"<smtplugins host, plugins: {', '.join(plugin.name for plugin in self.plugins)}>"

    def formats(self) -> list[Format]:
        """All formats, built-in and from plugins."""
        return [entry.record for entry in self.registry.entries("formats")]

    def read(
        self,
        path: Path,
        *,
        source: Path | None = None,
        annotations: Mapping[str, Path] | None = None,
        format: str | None = None,
        allow_partial: bool = False,
    ) -> ListStream:
        """Open n-best lists in any known format."""
        return read_lists(
            path,
            source=source,
            annotations=annotations,
            format=format,
            allow_partial=allow_partial,
            formats=self.formats(),
        )

    def read_weights(self, path: Path, format: str | None = None) -> dict[str, float]:
        """Read weights in any known format."""
        return read_weights(path, format, self.formats())

    def score(
        self,
        lists: ListStream | Iterable[Candidates] | Path,
        features: Sequence[AnySpec | Callable[..., Any]],
        *,
        jobs: int = 1,
        runner: AnySpec | None = None,
    ) -> ListStream:
        """Append the features' columns to the lists."""
        from smtplugins.host.features.scoring import activate, score_lists

        stream = as_stream(lists)
        active = activate(self.registry, features)

        def start() -> Iterator[Candidates]:
            spread: Runner = self.registry.make("runners", runner or default_runner(jobs))
            yield from score_lists(stream, active, spread)

        return ListStream(start, stream.name, stream.format)

    def translator(
        self,
        config: Path | RunConfig,
        overrides: Iterable[str] = (),
        *,
        weights: Mapping[str, float] | None = None,
        cache: str | None = None,
        ignore: Iterable[str] = (),
    ) -> Translator:
        """Make a decoder with its model from a run.yaml, cdec.ini, moses.ini or joshua.config.

        ``overrides`` are written as on the command line, ``decoder.pop_limit=200``; ``weights`` replace the
        configuration's; ``ignore`` names unsupported toolkit settings to ignore, although they change translations.
        ``host.translator("run.yaml").decode(sentences)`` translates; sentences are texts, words or records.
        """
        from smtplugins.host.config.run_yaml import RunConfig, load_config
        from smtplugins.host.decode.translator import make_translator

        record = config if isinstance(config, RunConfig) else load_config(config, overrides, ignore=ignore)
        return make_translator(self, record, weights, cache)

    def metric(self, spec: AnySpec) -> Metric:
        """Make a metric by name."""
        metric: Metric = self.registry.make("metrics", spec)
        return metric

    def evaluate(
        self,
        refs: Sequence[System],
        systems: Mapping[str, System],
        metrics: Sequence[AnySpec] = ("bleu",),
        *,
        sources: System | None = None,
        tests: Sequence[str] = (),
        samples: int = 0,
        confidence: float | None = None,
        bootstrap: int = 0,
        seed: int = 12345,
        tuned_on: Sequence[Path] = (),
        post: str | Post | None = None,
        allow_partial: bool = False,
    ) -> Evaluation:
        """Score systems (the first is the baseline) against references.

        ``tests``: any of ``bootstrap``, ``ar``, ``sign`` and ``wilcoxon``. ``samples``: by default 1000 for the
        bootstrap and 10000 for approximate randomisation; ``bootstrap=N`` is short for that test with N samples.
        ``confidence``: the level of intervals. ``tuned_on``: runs or files that weights were learnt from, to mark
        in-sample scores. ``post``: postprocessing of hypotheses, such as ``detok:en``.
        """
        from smtplugins.host.judge.evaluation import evaluate
        from smtplugins.host.judge.postprocess import make_post
        from smtplugins.host.judge.significance import SignificancePlan

        return evaluate(
            systems,
            refs,
            [self.metric(metric) for metric in metrics],
            sources=sources,
            plan=SignificancePlan.of(tests, samples=samples, level=confidence, bootstrap=bootstrap, seed=seed),
            tuned_on=tuned_on,
            post=make_post(post) if isinstance(post, str) else post,
            allow_partial=allow_partial,
            formats=self.formats(),
        )

    def tune(
        self,
        lists: ListStream | Iterable[Candidates] | Path | Sequence[Path] = (),
        refs: Sequence[System] = (),
        *,
        learner: AnySpec = "mert",
        metric: AnySpec = "bleu",
        seed: int = 1,
        runs: int | None = None,
        start: Mapping[str, float] | Path | None = None,
        keep: Sequence[str] = (),
        folds: int = 0,
        jobs: int | None = None,
        **options: Any,
    ) -> Tuned:
        """Learn weights from lists (several paths are merged); the result is a mapping that also holds the runs.

        ``start``: start weights, by default estimated from the lists' totals. ``keep``: features whose weights stay
        fixed. Further options are those of ``Inputs`` in ``host/learn/tuning_inputs.py``, ``post``, ``combine``,
        ``folder`` (where steps are saved) and ``note``.
        """
        from smtplugins.host.learn.training_data import metric_of
        from smtplugins.host.learn.tuning import plan_of
        from smtplugins.host.learn.tuning_inputs import Inputs, tune_inputs

        judge = metric_of(self, metric, options.pop("post", None))
        note = options.pop("note", lambda text: None)
        kept = {name: options.pop(name) for name in ("folder", "combine") if name in options}
        plan = plan_of(self, learner, keep, runs, seed=seed, jobs=jobs, **kept)
        return tune_inputs(self, Inputs(lists, refs, judge, **options), plan, start, folds, note)

    def tune_policy(
        self,
        config: Path | RunConfig,
        overrides: Iterable[str] = (),
        *,
        folder: Path | None = None,
        learner: AnySpec | None = None,
        start: Mapping[str, float] | Path | None = None,
        keep: Sequence[str] = (),
        runs: int | None = None,
        combine: Literal["average", "best"] = "average",
        jobs: int | None = None,
        **options: Any,
    ) -> Tuned:
        """Learn weights for a configuration's decoder from its own decisions, with a learner of search tasks.

        ``folder`` (or output.dir) holds the run. Source, references, metric and seed are the configuration's; so are
        learner, start weights and runner unless ``learner``, ``start`` and ``jobs`` are given. Further options are
        those of ``host/learn/policies.py``.
        """
        import pathlib

        from smtplugins.host.config.run_yaml import RunConfig, load_config
        from smtplugins.host.learn.policies import tune_policy
        from smtplugins.host.learn.tuning import plan_of

        record = config if isinstance(config, RunConfig) else load_config(config, overrides)
        place = record.output.dir if folder is None else folder
        chosen = record.learner if learner is None else learner
        if place is None or chosen is None:
            what = "a folder for the run (or output.dir)" if place is None else "a learner"
            raise UsageError(f"tune_policy: name {what}")
        plan = plan_of(self, chosen, keep, runs, seed=record.seed, combine=combine, jobs=jobs)
        begin = self.read_weights(start) if isinstance(start, (str, os.PathLike)) else start
        return tune_policy(self, record, plan, pathlib.Path(place), start=begin, **options)

    def align(
        self,
        source: Text | None = None,
        target: Text | None = None,
        *,
        forward: Path | None = None,
        backward: Path | None = None,
        model: AnySpec | None = None,
        heuristic: str = "grow-diag-final-and",
        **options: Any,
    ) -> Iterator[Alignment]:
        """Align the words of a text (files or sequences of sentences) by a model trained on it in both directions.

        Alternatively, ``forward`` and ``backward`` are files with alignments of both directions to symmetrise; then the
        text is optional. Further options are those of ``align`` in ``host/estimate/align.py``: ``iterations``,
        ``seed``, ``jobs``, ``format``, ``keep_forward``, ``keep_backward``, ``note`` and ``quiet``.
        """
        from smtplugins.host.estimate.align import align

        return align(
            self, source, target, forward=forward, backward=backward, model=model, heuristic=heuristic, **options
        )

    def rerank(
        self,
        dev: ListStream | Iterable[Candidates] | Path,
        dev_refs: Sequence[System],
        test: ListStream | Iterable[Candidates] | Path,
        test_refs: Sequence[System] = (),
        *,
        features: Sequence[AnySpec | Callable[..., Any]] = (),
        metric: AnySpec = "bleu",
        **options: Any,
    ) -> Reranked:
        """Learn weights on one set of lists, sort another by them, and evaluate both.

        Other options are those of :meth:`tune`, and ``missing``, the weight of features without a weight.
        """
        from smtplugins.host.learn.reranking import rerank

        first, second = as_stream(dev), as_stream(test)
        return rerank(self, first, dev_refs, second, test_refs, features=features, metric=metric, **options)


def default_runner(jobs: int | None, configured: Spec | None = None) -> Spec:
    """The runner for a number of jobs: serial, or that many processes; without a number, the configured one."""
    if jobs is None:
        return Spec("serial") if configured is None else configured
    if jobs < 1:
        raise UsageError(f"jobs: expected 1 or more, found {jobs}")
    return Spec("serial") if jobs == 1 else Spec("processes", {"jobs": jobs})


def runner_of(host: Host, jobs: int | None, config: RunConfig) -> Runner:
    """Make the runner for a number of jobs, or the configuration's if ``jobs`` is None."""
    with config.at("runner") if jobs is None else contextlib.nullcontext():
        runner: Runner = host.registry.make("runners", default_runner(jobs, config.runner))
    return runner
