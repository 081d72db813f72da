"""A decoder's own decisions learnt as a policy: its search task, a learner of such, and the folder of the run.

The folder is as ``tuning.py`` leaves it, steps of each run in a folder of its own, so that a run that was killed goes
on behind its last epoch and ends in the same bytes. What weights are worth is what the decoder makes with them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.contracts import Forests, Lists, Task, TaskDecoder
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.learn import tuning
from smtplugins.host.learn.run_inputs import Given, check_sentences, given_by
from smtplugins.host.learn.training_data import Note
from smtplugins.host.learn.tuning import Plan, Tuned

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Metric, Sentence
    from smtplugins.contracts.spec import Spec
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.decoding import Translator
    from smtplugins.host.host import Host

_RESULT = "result.json"


def takes_tasks_only(host: Host, learner: Spec) -> bool:
    """Whether a learner has to be given a search task."""
    accepts = host.registry.make("learners", learner).accepts
    return Task in accepts and not accepts & {Lists, Forests}


@dataclass
class TaskMaterial:
    """The search task of a decoder, and what the decoder makes of the sentences under any weights."""

    host: Host
    translator: Translator
    sentences: Sequence[Sentence]
    references: Sequence[Sequence[str]]
    metric: Metric
    problem: Task
    jobs: int | None = None
    note: Note = lambda text: None
    quiet: bool = True

    @property
    def signature(self) -> str:
        """The metric's, and that it judges what was learnt from."""
        return f"{self.metric.signature()}|in-sample"

    def weighed_by(self, weights: Mapping[str, float]) -> bool:
        """Whether any weight is not 0: a task does not tell the names of its features."""
        return any(weights.values())

    def score(self, weights: Mapping[str, float]) -> float:
        """The metric of all translations."""
        from smtplugins.host.host import runner_of
        from smtplugins.host.progress import progress

        translator = replace(self.translator, model=self.translator.model.with_weights(weights))
        _load(translator)
        runner = runner_of(self.host, self.jobs, self.translator.config)
        made = runner.map(functools.partial(_best, translator), self.sentences)
        best = list(progress(made, "sentences", total=len(self.sentences), quiet=self.quiet))
        if best.count(None) == len(best):
            raise SmtError("no sentence has a translation: expected some to learn from (see `smt decode --trace`)")
        if None in best:
            # Told once: it is not for weights to find what no rule has.
            self.note(f"{best.count(None)} sentences have no translation: they count as empty ones")
            self.note = lambda text: None
        sources = [one.text for one in self.sentences]
        stats = self.metric.stats([one or "" for one in best], self.references, sources)
        return float(self.metric.score(stats.sum(axis=0)))


def _best(translator: Translator, sentence: Sentence) -> str | None:
    (one,) = translator.decode([sentence])
    return one.best if one.found else None


def _load(translator: Translator) -> None:
    getattr(translator.decoder, "load", lambda model: {})(translator.model)


def tune_policy(
    host: Host,
    config: RunConfig,
    plan: Plan,
    folder: Path,
    *,
    start: Mapping[str, float] | None = None,
    resume: bool = False,
    command: Sequence[str] = (),
    cache: str | None = None,
    post: str | None = None,
    note: Note = lambda text: None,
    quiet: bool = True,
) -> Tuned:
    """Learn the policy of a configuration's decoder in a folder, which holds all that is needed to go on."""
    if not takes_tasks_only(host, plan.learner):
        raise UsageError(f"learner {plan.learner.name!r} learns no policy: it does not ask for a search task")
    given = given_by(host, config, start, cache, post, note)
    decoder = given.translator.decoder
    if not isinstance(decoder, TaskDecoder):
        raise UsageError(_no_task(host, plan.learner, config))
    check_sentences(given.sentences, given.references)
    tuning.checked(given.translator.model.weights, "the start weights")
    with given.run(host, config, plan, folder, resume, command, {"candidates": "policy"}) as run:
        return _learnt(host, given, decoder, replace(plan, folder=run.path, runner=config.runner), note, quiet)


def _learnt(host: Host, given: Given, decoder: TaskDecoder, plan: Plan, note: Note, quiet: bool) -> Tuned:
    """Learn in the folder of a plan, which is there."""
    from smtplugins.host.progress import hushed

    lines = [int(one.id) for one in given.sentences]
    references = [[one.texts[at] or "" for at in lines] for one in given.references]
    _load(given.translator)
    problem = decoder.task(given.sentences, references, given.metric, given.translator.model)
    begin = dict(sorted({**problem.start, **given.translator.model.weights}.items()))
    tuning.checked(begin, "the start weights")
    translator = replace(given.translator, model=given.translator.model.with_weights(begin))
    alone = plan.runs > 1 and plan.jobs not in (None, 1)
    material = TaskMaterial(
        host, translator, given.sentences, references, given.metric, problem, 1 if alone else plan.jobs, note, quiet
    )
    # Bars of several processes would write over each other.
    with hushed(quiet or alone):
        done = tuning.judged(host, material, plan, begin, note)
    assert plan.folder is not None
    _write(plan.folder, done)
    return done


def _no_task(host: Host, learner: Spec, config: RunConfig) -> str:
    """That a decoder has no task, and which have one: told by what makes them, as far as that is a class."""
    assert config.decoder is not None
    makers = {entry.record.name: entry.record.make for entry in host.registry.entries("decoders")}
    able = [name for name, make in makers.items() if hasattr(make, "task")]
    known = f"decoders that have some: {', '.join(able)}" if able else "no decoder that is loaded has some"
    return (
        f"learner {learner.name!r} learns decisions of a decoder, and {config.decoder.name!r} has none that can be "
        f"learnt; {known}"
    )


def _write(folder: Path, done: Tuned) -> None:
    """The weights and what they are worth; a file takes its name when it is complete."""
    from smtplugins.host.files.opening import find_format, write_all
    from smtplugins.host.learn.pools import write_json

    write_all(find_format("cdec-weights", "weights"), [dict(done)], folder / "weights")
    record = {"chosen": done.chosen, "metric": done.metric, "score": done.score, "signature": done.signature}
    write_json(folder / _RESULT, {**record, "results": done.results()})
