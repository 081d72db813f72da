"""Methods of the host that learn weights: from lists, in a loop around a decoder, of its decisions; reranking."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from smtplugins.contracts.errors import UsageError
from smtplugins.host.arguments import argument, config_of, listed, stream_of, weights_of

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtplugins.contracts.runners import Jobs
    from smtplugins.host.arguments import Overrides
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.files.lists import ListStream
    from smtplugins.host.files.opening import Path
    from smtplugins.host.host import AnySpec, Host
    from smtplugins.host.judge.evaluation import System
    from smtplugins.host.judge.postprocess import Post
    from smtplugins.host.learn.loop import Ended
    from smtplugins.host.learn.reranking import Reranked
    from smtplugins.host.learn.tuning import Tuned

Note = Callable[[str], None]


class Learning:
    """Learn weights."""

    def tune(
        self,
        lists: ListStream | Iterable[Candidates] | Path | Sequence[Path] = (),
        refs: System | Sequence[System] = (),
        *,
        learner: AnySpec | None = None,
        metric: AnySpec = "bleu",
        seed: int = 1,
        runs: int | None = None,
        combine: Literal["average", "best"] = "average",
        start: Mapping[str, float] | Path | None = None,
        keep: str | Sequence[str] = (),
        folds: int = 0,
        jobs: Jobs = None,
        scores: Path | Sequence[Path] = (),
        forests: Path | None = None,
        sources: System | None = None,
        post: str | Post | None = None,
        format: str | None = None,
        allow_partial: bool = False,
        folder: Path | None = None,
        note: Note = lambda text: None,
    ) -> Tuned:
        """Learn weights from lists (several paths are merged); the result is a mapping that also holds the runs.

        ``learner``: by default ``minrisk`` for lists and ``mert`` for forests, which did best on sentences that they
        did not learn from. ``start``: start weights, by default estimated from the lists' totals. ``keep``: features
        whose weights stay fixed. ``runs``: this many, with seeds from ``seed`` on (default 1); ``combine``: use the
        average of their weights, or the best run's. ``folds``: also cross-validate with this many. ``jobs``: processes,
        same weights for any number. ``forests``: a folder or file of forests, in place of lists. ``scores``: statistics
        files of Moses' extractor, whose feature files are then ``lists``. ``sources`` are for metrics that read them;
        ``post`` postprocesses hypotheses; ``format`` is that of the lists or forests. ``folder``: save steps there, and
        resume from them. ``note`` is called with remarks for the user.
        """
        from smtplugins.host.learn.training_data import metric_of
        from smtplugins.host.learn.tuning import FORESTS, LISTS, plan_of
        from smtplugins.host.learn.tuning_inputs import Inputs, tune_inputs

        host = cast("Host", self)
        place = None if folder is None else pathlib.Path(folder)
        chosen = learner or (LISTS if forests is None else FORESTS)
        plan = plan_of(host, chosen, listed(keep), runs, seed=seed, combine=combine, jobs=jobs, folder=place)
        judge = metric_of(host, metric, post)
        inputs = Inputs(lists, listed(refs), judge, listed(scores), forests, sources, format, allow_partial)
        return tune_inputs(host, inputs, plan, start, folds, note)

    def tune_decoder(
        self,
        config: Path | RunConfig,
        overrides: Overrides = (),
        *,
        folder: Path | None = None,
        features: AnySpec | Sequence[AnySpec] = (),
        learner: AnySpec | None = None,
        start: Mapping[str, float] | Path | None = None,
        keep: str | Sequence[str] = (),
        runs: int | None = None,
        combine: Literal["average", "best"] = "average",
        jobs: Jobs = None,
        nbest: int | None = None,
        forests: bool = False,
        iterations: int = 10,
        epsilon: float = 1e-5,
        gain: float = 0.001,
        select: Literal["best", "last"] = "best",
        rounds: int = 0,
        reach: float | None = None,
        folds: int | None = None,
        ignore: str | Iterable[str] = (),
        resume: bool = False,
        command: Sequence[str] = (),
        cache: str | None = None,
        post: str | None = None,
        note: Note = lambda text: None,
        told: Note = lambda text: None,
        quiet: bool = True,
    ) -> Ended:
        """Learn weights in a loop around a configuration's decoder: decode, learn, until no translation is new.

        ``folder`` (or output.dir) holds the run; ``resume`` continues it. ``features`` are added to those configured.
        Source, references, metric, seed and, if not given here, learner, start weights and runner are configured, too.
        ``nbest``: length of lists (100); others are those of :class:`LoopPlan`. ``told`` is told each iteration.
        """
        from smtplugins.host.learn import loop
        from smtplugins.host.learn.tuning import LOOP, plan_of

        host = cast("Host", self)
        record = config_of(config, overrides, ignore).with_features(listed(features))
        chosen, place = learner or record.learner or LOOP, _place(folder, record, "tune_decoder")
        plan = plan_of(host, chosen, listed(keep), runs, seed=record.seed, combine=combine, jobs=jobs)
        length = _length(record) if nbest is None else nbest
        _note_outputs(record, note)
        whole = forests or loop.takes_forests_only(host, plan.learner)
        options = loop.LoopPlan(plan, iterations, epsilon, gain, select, whole, length, rounds, reach, folds=folds)
        begin = weights_of(host, start)
        common: dict[str, Any] = {"cache": cache, "post": post, "note": note, "told": told, "quiet": quiet}
        return loop.tune_decoder(host, record, options, place, start=begin, resume=resume, command=command, **common)

    def tune_policy(
        self,
        config: Path | RunConfig,
        overrides: Overrides = (),
        *,
        folder: Path | None = None,
        features: AnySpec | Sequence[AnySpec] = (),
        learner: AnySpec | None = None,
        start: Mapping[str, float] | Path | None = None,
        keep: str | Sequence[str] = (),
        runs: int | None = None,
        combine: Literal["average", "best"] = "average",
        jobs: Jobs = None,
        ignore: str | Iterable[str] = (),
        resume: bool = False,
        command: Sequence[str] = (),
        cache: str | None = None,
        post: str | None = None,
        note: Note = lambda text: None,
        quiet: bool = True,
    ) -> Tuned:
        """Learn weights for a configuration's decoder from its own decisions, with a learner of search tasks.

        ``folder`` (or output.dir) holds the run, and ``resume`` continues it. ``features`` are added to the
        configuration's. Source, references, metric and seed are the configuration's; so are learner, start weights and
        runner unless ``learner``, ``start`` and ``jobs`` are given. ``cache``: folder of loaded grammars, or ``off``.
        ``post`` postprocesses translations. ``command`` is recorded with the run.
        """
        from smtplugins.host.learn.policies import tune_policy
        from smtplugins.host.learn.run_inputs import RunSettings
        from smtplugins.host.learn.tuning import plan_of

        host = cast("Host", self)
        record = config_of(config, overrides, ignore).with_features(listed(features))
        place = _place(folder, record, "tune_policy")
        chosen = record.learner if learner is None else learner
        if chosen is None:
            raise UsageError("tune_policy: expected a learner, found none")
        plan = plan_of(host, chosen, listed(keep), runs, seed=record.seed, combine=combine, jobs=jobs)
        weights = weights_of(host, start)
        _note_outputs(record, note)
        settings = RunSettings(place, weights, resume, command, cache, post, note, quiet)
        return tune_policy(host, record, plan, settings)

    def rerank(
        self,
        dev: ListStream | Iterable[Candidates] | Path,
        dev_refs: System | Sequence[System],
        test: ListStream | Iterable[Candidates] | Path,
        test_refs: System | Sequence[System] = (),
        *,
        features: AnySpec | Callable[..., Any] | Sequence[AnySpec | Callable[..., Any]] = (),
        metric: AnySpec = "bleu",
        learner: AnySpec | None = None,
        seed: int = 1,
        runs: int | None = None,
        combine: Literal["average", "best"] = "average",
        start: Mapping[str, float] | Path | None = None,
        keep: str | Sequence[str] = (),
        missing: float | None = None,
        post: str | Post | None = None,
        samples: int = 1000,
        jobs: Jobs = None,
        allow_partial: bool = False,
        output: Path | None = None,
        to_format: str | None = None,
        note: Note = lambda text: None,
    ) -> Reranked:
        """Learn weights on one set of lists, sort another by them, and evaluate both.

        ``features`` are added to the lists first. ``missing``: the weight of features that only the test lists have
        (default: an error). ``samples``: bootstrap samples for the test scores, 0 for none. ``output``: a folder for
        weights, best texts and sorted lists, these in the format ``to_format`` (default: the input's). Other arguments
        are those of :meth:`tune`.
        """
        from smtplugins.host.learn.reranking import RerankSettings, rerank

        host = cast("Host", self)
        settings = RerankSettings(
            features=listed(features),
            metric=metric,
            learner=learner,
            seed=seed,
            runs=runs,
            combine=combine,
            start=start,
            keep=listed(keep),
            missing=missing,
            post=post,
            samples=samples,
            jobs=jobs,
            allow_partial=allow_partial,
            output=None if output is None else pathlib.Path(output),
            to_format=to_format,
        )
        return rerank(
            host, stream_of(host, dev), listed(dev_refs), stream_of(host, test), listed(test_refs), settings, note
        )


def _length(config: RunConfig) -> int:
    """The length of n-best lists: the configuration's, if they are longer than one."""
    length = config.output.nbest or 1
    return length if length > 1 else 100


def _note_outputs(config: RunConfig, note: Note) -> None:
    """Note the outputs of decoding that a configuration asks for: tuning has lists or forests of its own."""
    # Every joshua.config has a template.
    lines = ("choice", "show", *(["template"] * (config.toolkit != "joshua")), "rescored", "project_case")
    outputs = (*lines, "lists", "alignments", "unknowns", "graphs", "gains", "details", "forests")
    unused = [f"output.{name}" for name in outputs if getattr(config.output, name)]
    if unused:
        note(f"not used, as tuning has outputs of its own: {', '.join(unused)}")


def _place(folder: Path | None, config: RunConfig, method: str) -> pathlib.Path:
    """The folder of a run: the given one, or the configuration's."""
    place = config.output.dir if folder is None else folder
    if place is None:
        raise UsageError(f"{method}: name a folder for the run: {argument('folder', '--dir DIR')}, or output.dir")
    return pathlib.Path(os.fspath(place))
