"""`smt train`: make a plan, run its steps in a folder, and tell the scores."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.recipes import Recipe, RecipeStep
from smtplugins.contracts.spec import Spec
from smtplugins.host import runs
from smtplugins.host.train.build_folder import BuildFolder, StepCost
from smtplugins.host.train.plan import CONFIG, TrainPlan

if TYPE_CHECKING:
    from smtplugins.host.host import Host


@dataclass(frozen=True)
class TrainedSystem:
    """A system in its folder: the scores of its translations by text, and what the steps took that this call ran."""

    folder: Path
    steps: Sequence[RecipeStep]
    scores: Mapping[str, Any] = field(default_factory=dict)
    costs: Sequence[StepCost] = ()

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
    quiet: bool = True,
) -> TrainedSystem:
    """Build the system in the folder; ``dry`` builds nothing."""
    recipe: Recipe = host.registry.make("recipes", Spec.parse(plan.model))
    steps = plan.steps(recipe)
    _check(host, plan)
    if dry:
        return TrainedSystem(folder, steps)
    record = runs.manifest(
        command=[word for word in runs.argv() if word != "--resume"],
        options=plan.record,
        inputs=runs.input_hashes(plan.inputs),
        plugins=host.plugins,
        seed=plan.ingredients.seed,
    )
    say = (lambda text: None) if quiet else _say
    with runs.RunDirectory.create(folder, record, resume=resume) as run:
        build = BuildFolder(run.path, say, plugins=plugins, quiet=quiet)
        with build.alone():
            costs = build.run(steps)
    return TrainedSystem(folder, steps, dict(_scores(folder, steps)), costs)


def _check(host: Host, plan: TrainPlan) -> None:
    """Fail before the first step on what a later one would fail on."""
    for path in plan.inputs:
        with open(path, "rb"):
            pass
    plan.preparation.limits()
    plan.preparation.sides({"source": plan.train.source, "target": plan.train.targets[0]})
    host.registry.check("metrics", Spec.parse(plan.metric))
    if plan.learner is not None:
        host.registry.check("learners", Spec.parse(plan.learner))


def _say(text: str) -> None:
    sys.stderr.write(f"smt train: {text}\n")
    sys.stderr.flush()


def _scores(folder: Path, steps: Iterable[RecipeStep]) -> Iterator[tuple[str, Any]]:
    for step in steps:
        if step.name.startswith("evaluate-") and step.output is not None:
            yield step.name.partition("-")[2], json.loads((folder / step.output).read_text(encoding="utf-8"))
