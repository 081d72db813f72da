"""Learn a decoder's decisions as a policy: its search task, a policy learner, and the folder of the run.

The folder is that of ``tuning.py``, with the steps of each run in a folder of its own, so a killed run resumes after
its last epoch and ends in the same bytes. Weights are scored by decoding with them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.decoders import TaskDecoder
from smtplugins.contracts.errors import PluginError, SmtError, UsageError
from smtplugins.contracts.learners import ForestProblem, ListProblem
from smtplugins.contracts.tasks import TaskProblem
from smtplugins.host.learn import tuning
from smtplugins.host.learn.gains import compare
from smtplugins.host.learn.run_inputs import RunInputs, RunSettings, check_sentences, load_run_inputs
from smtplugins.host.learn.training_data import Note
from smtplugins.host.learn.tuning import Plan, Tuned
from smtplugins.host.spread.choice import SERIAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.runners import Jobs
    from smtplugins.contracts.spec import Spec
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.translator import Translator
    from smtplugins.host.host import Host

_RESULT = "result.json"


def takes_tasks_only(host: Host, learner: Spec) -> bool:
    """Whether a learner accepts search tasks but neither lists nor forests."""
    accepts = host.registry.make("learners", learner).accepts
    return TaskProblem in accepts and not accepts & {ListProblem, ForestProblem}


@dataclass
class TaskMaterial:
    """The search task of a decoder, and the score of its translations under any weights."""

    host: Host
    translator: Translator
    sentences: Sequence[Sentence]
    references: Sequence[Sequence[str]]
    metric: Metric
    problem: TaskProblem
    jobs: Jobs = None
    note: Note = lambda text: None
    quiet: bool = True
    _stats: dict[frozenset[tuple[str, float]], NDArray[Any]] = field(init=False, default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        # Tasks hold what decoders loaded and parsed: another machine makes them again.
        given = self.host, self.translator, self.sentences, self.references, self.metric, self.jobs, self.note
        return _material, (*given, self.quiet)

    @property
    def signature(self) -> str:
        """The metric's signature, marked in-sample."""
        return f"{self.metric.signature()}|in-sample"

    @property
    def constant(self) -> frozenset[str]:
        """None: a task does not list its features."""
        return frozenset()

    def weighed_by(self, weights: Mapping[str, float]) -> bool:
        """Whether any weight is nonzero (a task does not list the names of its features)."""
        return any(weights.values())

    def score(self, weights: Mapping[str, float]) -> float:
        """Decode all sentences with the weights and score the translations."""
        return float(self.metric.score(self.best_stats(weights).sum(axis=0)))

    def best_stats(self, weights: Mapping[str, float]) -> NDArray[Any]:
        """The metric's statistics of each sentence's translation under the weights; the same weights decode once."""
        key = frozenset(weights.items())
        if key not in self._stats:
            self._stats[key] = self._decoded_stats(weights)
        return self._stats[key]

    def _decoded_stats(self, weights: Mapping[str, float]) -> NDArray[Any]:
        from smtplugins.host.progress import progress
        from smtplugins.host.spread.choice import make_runner

        translator = replace(self.translator, model=self.translator.model.with_weights(weights))
        _load(translator)
        runner = make_runner(self.host, self.jobs, self.translator.config)
        made = runner.map(functools.partial(_best, translator), self.sentences)
        best = list(progress(made, "sentences", total=len(self.sentences), quiet=self.quiet))
        if best.count(None) == len(best):
            raise SmtError("no sentence has a translation: expected some to learn from (see `smt decode --trace`)")
        if None in best:
            # Noted once: weights cannot change whether the rules cover a sentence.
            self.note(f"{best.count(None)} sentences have no translation and count as empty")
            self.note = lambda text: None
        sources = [sentence.text for sentence in self.sentences]
        return self.metric.stats([hypothesis or "" for hypothesis in best], self.references, sources)


def _material(
    host: Host,
    translator: Translator,
    sentences: Sequence[Sentence],
    references: Sequence[Sequence[str]],
    metric: Metric,
    jobs: Jobs,
    note: Note,
    quiet: bool,
) -> TaskMaterial:
    """The material with the task of the translator's decoder, which loads its tables."""
    _load(translator)
    assert isinstance(translator.decoder, TaskDecoder)
    problem = translator.decoder.task(sentences, references, metric, translator.model)
    return TaskMaterial(host, translator, sentences, references, metric, problem, jobs, note, quiet)


def _best(translator: Translator, sentence: Sentence) -> str | None:
    decoded = translator.decode_one(sentence)
    return decoded.best if decoded.found else None


def _load(translator: Translator) -> None:
    getattr(translator.decoder, "load", lambda model: {})(translator.model)


def tune_policy(host: Host, config: RunConfig, plan: Plan, settings: RunSettings) -> Tuned:
    """Learn the policy of a configuration's decoder in a folder from which the run can be resumed."""
    if not takes_tasks_only(host, plan.learner):
        raise UsageError(f"expected a learner of policies, found {plan.learner.name!r}, which takes no search task")
    if config.escape is not None:
        raise UsageError(
            f"learner {plan.learner.name!r} takes no escaped words: expected tables, sentences and references with the "
            f"same words, found escape: {config.escape}"
        )
    if settings.start is None and config.model.weights is None:
        # A policy has its own start, that of the task.
        settings = replace(settings, start={})
    inputs = load_run_inputs(host, config, settings)
    if not isinstance(inputs.translator.decoder, TaskDecoder):
        raise UsageError(_no_task(host, plan.learner, config))
    check_sentences(inputs.sentences, inputs.references)
    tuning.check_finite(inputs.translator.model.weights, "the start weights")
    with inputs.run(host, config, plan, settings, {"candidates": "policy"}) as run:
        plan = replace(plan, folder=run.path, runner=config.runner)
        return _learn_policy(host, inputs, plan, settings.note, settings.quiet)


def _learn_policy(host: Host, inputs: RunInputs, plan: Plan, note: Note, quiet: bool) -> Tuned:
    """Learn in the existing folder of a plan."""
    from smtplugins.host.progress import hushed

    lines = [int(sentence.id) for sentence in inputs.sentences]
    references = [[texts.texts[at] or "" for at in lines] for texts in inputs.references]
    alone = plan.runs > 1 and plan.spread.name != SERIAL
    jobs = 1 if alone else plan.jobs
    material = _material(host, inputs.translator, inputs.sentences, references, inputs.metric, jobs, note, quiet)
    begin = dict(sorted({**material.problem.start, **inputs.translator.model.weights}.items()))
    tuning.check_finite(begin, "the start weights")
    # Progress bars of several processes would overwrite each other.
    with hushed(quiet or alone):
        done = tuning.run_plan(host, material, plan, begin, note)
        gain = compare(inputs.metric, material.best_stats(begin), material.best_stats(done.weights))
    done = replace(done, gain=gain)
    assert plan.folder is not None
    _write(plan.folder, done)
    return done


def _no_task(host: Host, learner: Spec, config: RunConfig) -> str:
    """The error text for a decoder without a task; lists the decoder classes that have one."""
    assert config.decoder is not None
    able = [entry.record.name for entry in host.registry.entries("decoders") if _has_task(host, entry.record.name)]
    known = f"decoders that have one: {', '.join(able)}" if able else "no loaded decoder has one"
    return f"learner {learner.name!r} needs a decoder with a search task, and {config.decoder.name!r} has none; {known}"


def _has_task(host: Host, decoder: str) -> bool:
    """Whether a decoder's class has a search task; False if its module cannot be imported."""
    try:
        return hasattr(host.registry.factory("decoders", decoder), "task")
    except PluginError:
        return False


def _write(folder: Path, done: Tuned) -> None:
    """Write the weights and their scores; each file is renamed into place when complete."""
    from smtplugins.host.files.opening import find_format, write_all
    from smtplugins.host.learn.pools import write_json

    write_all(find_format("cdec-weights", "weights"), [dict(done)], folder / "weights")
    record = {"chosen": done.chosen, "metric": done.metric, "score": done.score, "signature": done.signature}
    write_json(folder / _RESULT, {**record, "results": done.results()})
