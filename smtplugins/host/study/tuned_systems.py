"""The systems of a study: tuned by the loop of decoding and learning, tested on texts, judged against the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.files.lists import read_corpus

if TYPE_CHECKING:
    from smtplugins.contracts.metrics import Metric
    from smtplugins.host.config.run_yaml import Override, RunConfig
    from smtplugins.host.learn.loop import LoopPlan
    from smtplugins.host.study.study import Study


@dataclass(frozen=True)
class TuningPlan:
    """How weights are tuned: by lists of ``nbest`` or forests if that is 0, once for each seed.

    Without a learner there is no tuning, and one run.
    """

    learner: Spec | None
    nbest: int = 100
    iterations: int = 5
    seeds: range = range(1, 2)
    fixed: tuple[str, ...] = ()

    def loop(self, study: Study, seed: int) -> LoopPlan:
        """The plan of the loop of decoding and learning with a seed."""
        from smtplugins.host.learn.loop import LoopPlan
        from smtplugins.host.learn.tuning import plan_of

        assert self.learner is not None
        learning = plan_of(study.host, self.learner, self.fixed, seed=seed, jobs=study.jobs)
        # Papers' baselines learn from all sentences at once.
        return LoopPlan(learning, self.iterations, forests=self.nbest == 0, nbest=self.nbest or 100, folds=0)


@dataclass(frozen=True)
class StudySystem:
    """A system with a ``key`` for files and JSON and a ``name`` for people.

    ``prepare`` gives its configuration and initial weights (None: the configuration's). It may make tables and models.
    """

    key: str
    name: str
    prepare: Callable[[], tuple[RunConfig, Mapping[str, float] | None]]

    def place(self, seed: int) -> str:
        """Its place in the study's folder."""
        return f"systems/{self.key}-{seed}"


def tune_system(
    study: Study, system: StudySystem, plan: TuningPlan, seed: int, tests: Mapping[str, Path]
) -> dict[str, Any]:
    """Tune a system with a seed and translate each test text to ``NAME.txt`` beside its record."""
    return study.step(f"{system.place(seed)}/done", lambda: _tune(study, system, plan, seed, tests))


def _tune(
    study: Study, system: StudySystem, plan: TuningPlan, seed: int, tests: Mapping[str, Path]
) -> Mapping[str, Any]:
    from smtplugins.host.decode.sentences import read_source
    from smtplugins.host.decode.translator import make_translator
    from smtplugins.host.learn.loop import tune_decoder

    config, start = system.prepare()
    place, run = system.place(seed), f"{system.name}, seed {seed}"
    record: dict[str, Any] = {"learner": None, "tuned": None, "reason": "not tuned"}
    weights = start
    if plan.learner is not None:
        study.say(f"{run}: tuning")
        ended = tune_decoder(
            study.host,
            replace(config, seed=seed),
            plan.loop(study, seed),
            study.folder / place / "run",
            start=start,
            resume=True,
            cache=study.cache,
            quiet=study.quiet,
            told=lambda text: study.say(f"{run}: {text}"),
        )
        weights = dict(ended.weights)
        record = {"learner": str(plan.learner), "tuned": ended.score, "reason": ended.reason}
    translator = make_translator(study.host, config, weights, study.cache)
    for name, path in tests.items():
        study.say(f"{run}: decoding {path}")
        decodings = translator.decode(list(read_source(study.host, translator, path)), threads=study.jobs)
        study.write_text(f"{place}/{name}.txt", (result.best if result.found else "" for result in decodings))
    return {**record, "weights": dict(translator.model.weights if weights is None else weights)}


def judge_rows(
    metric: Metric,
    rows: Iterable[Mapping[str, Any]],
    outputs: Iterable[Iterable[Sequence[str]]],
    references: Sequence[Sequence[str]],
) -> list[dict[str, Any]]:
    """Add the scores of its runs to each row: mean, standard deviation, 95 % interval, p against the first row.

    ``outputs`` has the translations of each run of each row. Interval and p are those of the paired bootstrap;
    ``interval`` is half the distance from ``low`` to ``high``.
    """
    from smtplugins.host.judge.significance import SignificancePlan, judge

    streams = [list(stream) for stream in references]
    stats = [[metric.stats(list(texts), streams) for texts in runs] for runs in outputs]
    judgements = judge(metric, stats, SignificancePlan(("bootstrap",) if len(stats) > 1 else (), level=0.95))
    judged = []
    for row, judgement in zip(rows, judgements, strict=True):
        assert judgement.low is not None and judgement.high is not None
        score = {"score": judgement.score, "deviation": judgement.deviation}
        bounds = {"low": judgement.low, "high": judgement.high, "interval": (judgement.high - judgement.low) / 2}
        judged.append({**row, **score, **bounds, "p": judgement.p.get("bootstrap")})
    return judged


def read_references(paths: Iterable[Path | str], source: Path | str, count: int) -> list[list[str]]:
    """Read reference streams; UsageError if one does not have as many lines as there are source sentences."""
    streams = {path: list(read_corpus(Path(path))) for path in paths}
    for path, lines in streams.items():
        if len(lines) != count:
            raise UsageError(f"{path}: expected {count} references, one for each of {source}, found {len(lines)}")
    return list(streams.values())


def signature_of(metric: Metric, references: Sequence[Sequence[str]]) -> str:
    """The metric's signature, after scoring a sentence: it may show the number of references."""
    metric.stats(list(references[0][:1]), [list(stream[:1]) for stream in references])
    return metric.signature()


def read_config(path: str, overrides: Iterable[Override], values: Mapping[str, Any]) -> RunConfig:
    """Read a configuration with overrides, and with those ``values`` of keys that are not None.

    Raises UsageError if it names a runner, as a study measures time and spreads its work by ``-j``, or has raw text, as
    a study compares the words of models.
    """
    named = [(key, value) for key, value in values.items() if value is not None]
    config = load_config(path, [*overrides, *named])
    if config.runner is not None:
        with config.at("runner"):
            raise UsageError("expected none, as a comparison runs in the processes of -j N (runner=null removes it)")
    if config.text is not None:
        with config.at("text"):
            raise UsageError("expected none, as a comparison reads prepared text (text=null removes it)")
    return config
