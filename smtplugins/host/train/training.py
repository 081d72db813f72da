"""`smt train`: make a plan, run its steps in a folder, and tell the scores."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.recipes import Recipe, RecipeStep
from smtplugins.contracts.spec import Spec
from smtplugins.host import runs
from smtplugins.host.arguments import argument
from smtplugins.host.spread.choice import named_runner
from smtplugins.host.train.build_folder import BuildFolder, StepCost, without_jobs
from smtplugins.host.train.plan import CONFIG, TrainPlan
from smtplugins.host.train.texts import check_texts, check_words

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Jobs
    from smtplugins.host.host import Host


@dataclass(frozen=True)
class TrainedSystem:
    """A system in its folder: the scores of its translations by text, and what the steps took that this call ran.

    ``raw``: translations were judged as text like the user's, and not as prepared text. ``runner`` is that of its
    commands, without one of their own.
    """

    folder: Path
    steps: Sequence[RecipeStep]
    scores: Mapping[str, Any] = field(default_factory=dict)
    costs: Sequence[StepCost] = ()
    raw: bool = True
    runner: str | None = None

    @property
    def config(self) -> Path:
        """The configuration that decodes with it."""
        return self.folder / CONFIG


def train(
    host: Host,
    plan: TrainPlan,
    folder: Path,
    *,
    resume: bool = False,
    dry: bool = False,
    plugins: Sequence[str] = (),
    jobs: Jobs = None,
    quiet: bool = True,
) -> TrainedSystem:
    """Build the system in the folder; ``dry`` builds nothing."""
    recipe: Recipe = host.registry.make("recipes", Spec.parse(plan.model))
    runner = named_runner(host, jobs)
    if isinstance(jobs, int):
        plan = replace(plan, ingredients=replace(plan.ingredients, jobs=jobs))
    steps = [step if runner is None else without_jobs(step) for step in plan.steps(recipe)]
    say = (lambda text: None) if quiet else _say
    for name in plan.unused(recipe):
        raise UsageError(f"{argument(name)}: the model {plan.model!r} has no use for it")
    _check(host, plan, steps)
    check_texts(plan, (lambda text: None) if dry else say)
    if dry:
        return TrainedSystem(folder, steps, runner=runner)
    record = runs.manifest(
        command=[word for word in runs.argv() if word != "--resume"],
        options=plan.record,
        inputs=runs.input_hashes(plan.inputs),
        plugins=host.plugins,
        seed=plan.ingredients.seed,
    )
    build = BuildFolder(folder, say, plugins=plugins, runner=runner, quiet=quiet)
    # The lock comes first: a second call must not remove temporary files of the first one.
    with (
        runs.prepared_folder(folder, runs.MANIFEST),
        build.alone(),
        runs.RunDirectory.create(folder, record, resume=resume, learns=False),
    ):
        costs = build.run(steps, lambda step: check_words(folder, step, steps))
    return TrainedSystem(
        folder, steps, dict(_scores(folder, steps, recipe.tuning is not None)), costs, plan.restores, runner
    )


def _check(host: Host, plan: TrainPlan, steps: Iterable[RecipeStep]) -> None:
    """Fail before the first step on what a later one would fail on."""
    from smtplugins.core.lm.estimate import MAX_ORDER
    from smtplugins.host.estimate.aligners import check_library, model_stages
    from smtplugins.host.estimate.phrase_tables import check_memory
    from smtplugins.host.spread.choice import default_runner
    from smtplugins.host.text.tokenizers import make_tokenizer

    basics = plan.ingredients
    default_runner(basics.jobs)
    if not 1 <= basics.order <= MAX_ORDER:
        raise UsageError(f"{argument('order')}: expected 1 to {MAX_ORDER}, found {basics.order}")
    if plan.iterations is not None and plan.iterations < 1:
        raise UsageError(f"{argument('iterations')}: expected 1 or more, found {plan.iterations}")
    if basics.seed < 0:
        raise UsageError(f"seed: expected a whole number from 0 on, found {basics.seed}")
    check_memory(basics.memory)
    if any(step.command[0] == "align" for step in steps):
        model_stages(basics.aligner or "fast-align")
        try:
            check_library()
        except UsageError:
            raise UsageError("word alignment needs the package sil-thot: pip install 'smtplugins[align]'") from None
    for path in plan.inputs:
        with open(path, "rb"):
            pass
    plan.preparation.limits()
    for side in plan.preparation.sides({"source": plan.train.source, "target": plan.train.targets[0]}).values():
        make_tokenizer(side.tokenize, side.language)
    host.registry.check("metrics", Spec.parse(plan.metric))
    if plan.learner is not None:
        host.registry.check("learners", Spec.parse(plan.learner))


def _say(text: str) -> None:
    sys.stderr.write(f"smt train: {text}\n")
    sys.stderr.flush()


def _scores(folder: Path, steps: Iterable[RecipeStep], tuned: bool) -> Iterator[tuple[str, Any]]:
    """The scores of each text; the signature says that weights were learnt from it."""
    for step in steps:
        if step.name.startswith("evaluate-") and step.output is not None:
            name = step.name.partition("-")[2]
            rows = json.loads((folder / step.output).read_text(encoding="utf-8"))
            mark = "|in-sample" if tuned and name == "dev" else ""
            yield name, [{**row, "signature": f"{row['signature']}{mark}"} for row in rows]
