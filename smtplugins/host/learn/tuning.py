"""Learn linear weights from fixed lists or forests, in one or several runs with different seeds.

Weights of several runs are averaged (Cettolo, Bertoldi and Federico 2011), or those of the best run are used. An
average keeps fixed weights and bounds, as each run does.
"""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtformats.errors import first_of
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.contracts.spec import Spec, parameters
from smtplugins.contracts.tasks import TaskProblem
from smtplugins.host.arguments import argument
from smtplugins.host.judge.histories import mean_weights
from smtplugins.host.learn.training_data import Learnable, Material, Note
from smtplugins.host.learn.trust_region import SEARCHED
from smtplugins.host.runs import RunDirectory
from smtplugins.host.spread.choice import apart, default_runner
from smtplugins.host.spread.folders import OutputFolder, Parcel

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtplugins.contracts.learners import Learner
    from smtplugins.contracts.runners import Jobs, Runner
    from smtplugins.host.host import Host
    from smtplugins.host.learn.gains import Gain, LeftOut

Combine = Literal["average", "best"]
_MOST_NAMES = 256
"""The maximum number of features for which start weights are estimated from totals."""


@dataclass(frozen=True)
class Row:
    """A learning step: the objective, and the metrics that the learner reports."""

    objective: float
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Run:
    """A learning run with one seed: its steps, the final weights, and their score."""

    seed: int
    steps: tuple[Row, ...]
    weights: Mapping[str, float]
    score: float


@dataclass(frozen=True)
class LearntWeights(Mapping[str, float]):
    """Learnt weights by name, a table in a notebook."""

    weights: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        return self.weights[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.weights)

    def __len__(self) -> int:
        return len(self.weights)

    def _repr_html_(self) -> str:
        from smtformats.display import html_table

        return html_table(("feature", "weight"), self.weights.items(), caption=self._caption())

    def _caption(self) -> str:
        return repr(self)[1:-1]


@dataclass(frozen=True)
class Tuned(LearntWeights):
    """Learnt weights by name, with their runs and scores.

    ``begun`` is the score of the start weights, if any, and ``score`` that of the result; both are in-sample, as the
    signature says. With cross-validation, ``folds`` are the weights of each fold, ``resorted`` the lists sorted by the
    weights learnt without them, and ``held_out`` their score. ``gain`` compares the result with the start weights, and
    ``left_out`` are the scores without each of its most important features; policies and forests have no ``left_out``.
    """

    runs: tuple[Run, ...]
    metric: str
    begun: float | None
    score: float
    signature: str
    chosen: str
    folds: tuple[Mapping[str, float], ...] = ()
    held_out: float | None = None
    resorted: Sequence[Candidates] = field(default=(), repr=False)
    gain: Gain | None = None
    left_out: tuple[LeftOut, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        runs = f"{len(self.runs)} run{'' if len(self.runs) == 1 else 's'}"
        return f"<Tuned: {len(self)} weights, {self.metric} {self.score:.2f} in-sample, {runs}>"

    def rows(self) -> list[dict[str, Any]]:
        """A row per step of each run, for tables and JSON."""
        return [
            {"run": number, "step": step, "objective": row.objective, **row.metrics}
            for number, run in enumerate(self.runs, 1)
            for step, row in enumerate(run.steps, 1)
        ]

    def results(self) -> list[dict[str, Any]]:
        """A row per set of weights with a score."""
        own = self.signature
        results = [] if self.begun is None else [("start", self.begun, own)]
        if len(self.runs) > 1:
            results += [(f"run {number} (seed {run.seed})", run.score, own) for number, run in enumerate(self.runs, 1)]
        results.append((f"result ({self.chosen})" if len(self.runs) > 1 else "result", self.score, own))
        if self.held_out is not None:
            results.append(("held out", self.held_out, f"{own.removesuffix('|in-sample')}|folds:{len(self.folds)}"))
        return [{"weights": name, "metric": self.metric, "score": score, "signature": s} for name, score, s in results]

    def spread(self) -> tuple[float, float]:
        """Mean and standard deviation of the runs' scores."""
        scores = [run.score for run in self.runs]
        mean = math.fsum(scores) / len(scores)
        squares = math.fsum((score - mean) ** 2 for score in scores)
        return mean, math.sqrt(squares / (len(scores) - 1)) if len(scores) > 1 else 0.0


@dataclass(frozen=True)
class Plan:
    """How to learn: the learner with its options, seeds, processes, and the folder for steps.

    ``runner`` is that of a configuration, used if ``jobs`` is None.
    """

    learner: Spec
    seed: int = 1
    runs: int = 1
    combine: Combine = "average"
    jobs: Jobs = None
    folder: Path | None = None
    runner: Spec | None = None

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise UsageError(f"runs: expected 1 or more, found {self.runs}")
        if self.seed < 0:
            raise UsageError(f"seed: expected a whole number from 0 on, found {self.seed}")
        if self.combine not in ("average", "best"):
            raise UsageError(f"combine: expected average or best, found {self.combine!r}")

    @property
    def spread(self) -> Spec:
        """The runner for its work."""
        return default_runner(self.jobs, self.runner)

    @property
    def scale_free(self) -> bool:
        """Whether the length of the weights has no meaning: none are fixed or bounded."""
        return not any(self.learner.options.get(name) for name in ("fixed", "bounds"))


LISTS, FORESTS, LOOP = "minrisk", "mert", "mert"
"""The default learners: those that did best held out (``plugins/tuning/README.md``)."""


def plan_of(
    host: Host,
    learner: str | Mapping[str, Any] | Spec,
    keep: Sequence[str] = (),
    runs: int | None = None,
    *,
    seed: int = 1,
    combine: Combine = "average",
    jobs: Jobs = None,
    folder: Path | None = None,
) -> Plan:
    """Make a plan. ``runs`` may also be a learner option, as in run.yaml; ``keep`` sets its option ``fixed``."""
    spec = Spec.of(learner)
    known = parameters(host.registry.factory("learners", spec.name))
    options = dict(spec.options)
    if "runs" in options and "runs" not in known:
        value = options.pop("runs")
        if not str(value).isdecimal():
            raise UsageError(f"learner {spec.name!r}: runs: expected a whole number, found {value!r}")
        runs = int(value) if runs is None else runs
    if keep:
        if "fixed" not in known:
            raise UsageError(f"learner {spec.name!r} cannot keep weights fixed: it has no option `fixed`")
        options["fixed"] = " ".join([*str(options.get("fixed", "")).split(), *keep])
    return Plan(Spec(spec.name, options), seed, 1 if runs is None else runs, combine, jobs, folder)


def limit_reach(host: Host, plan: Plan, radius: float) -> Plan:
    """Limit the learner to a trust region by its option ``reach``, if it has one that is not set."""
    learner = plan.learner
    known = parameters(host.registry.factory("learners", learner.name))
    if math.isinf(radius) or "reach" not in known or "reach" in learner.options:
        return plan
    return replace(plan, learner=Spec(learner.name, {**learner.options, "reach": SEARCHED * radius}))


def tune(host: Host, material: Material, plan: Plan, start: Mapping[str, float], note: Note = lambda _: None) -> Tuned:
    """Learn weights; raises SmtError for unusable data, start weights or results."""
    material.check(note)
    check_finite(start, "the start weights")
    if start and not set(start) & set(material.names):
        raise SmtError(f"none of the {len(start)} start weights names a feature of the training data")
    return run_plan(host, material, plan, start, note)


def run_plan(host: Host, material: Learnable, plan: Plan, start: Mapping[str, float], note: Note) -> Tuned:
    """Run a plan, combine its runs, and score the result."""
    begun = material.score(start) if start else None
    runs = learn(host, material, plan, start)
    note_equal(plan, runs, note)
    weights, chosen = combine_runs(runs, plan.combine, material.metric.higher_is_better)
    weights = keep_constant(constant_names(material, plan), start, weights)
    score = runs[0].score if len(runs) == 1 else material.score(weights)
    if begun is not None and score != begun and (score < begun) == material.metric.higher_is_better:
        note(f"the start weights score better on the training data ({begun:.4g}) than the learnt ones ({score:.4g})")
    sign = 1 if material.metric.higher_is_better else -1
    if len(runs) > 1 and sign * score < min(sign * run.score for run in runs):
        how = argument("combine='best'", "--combine best")
        note(f"the average scores worse ({score:.4g}) than every run, as they ended far apart: try {how}")
    return Tuned(weights, runs, material.metric.name, begun, score, material.signature, chosen)


def note_equal(plan: Plan, runs: Sequence[Run], note: Note) -> None:
    """Note that several runs gave the same weights, as those of a learner without random numbers do."""
    if len(runs) > 1 and all(run.weights == runs[0].weights for run in runs):
        note(f"all {len(runs)} runs of {plan.learner.name} gave the same weights: seeds make no difference here")


def _items(problem: type) -> str:
    """What a problem holds, for messages: ``lists`` for ``ListProblem``."""
    return problem.__name__.removesuffix("Problem").lower() + "s"


def learn(host: Host, material: Learnable, plan: Plan, start: Mapping[str, float]) -> tuple[Run, ...]:
    """Do all runs of a plan, in parallel if there are several and more than one job."""
    learner: Learner = host.registry.make("learners", plan.learner)
    kind = type(material.problem)
    if kind not in learner.accepts:
        taken = ", ".join(sorted(map(_items, learner.accepts)))
        how = argument("host.tune_policy", "-c")
        more = f": it needs a decoder's configuration ({how})" if learner.accepts == {TaskProblem} else ""
        raise UsageError(f"learner {plan.learner.name!r} learns from {taken}, not from {_items(kind)}{more}")
    runner: Runner = host.registry.make("runners", apart(plan.spread) if plan.runs > 1 else plan.spread)
    seeds = [(number, plan.seed + number - 1) for number in range(1, plan.runs + 1)]
    own = runner if plan.runs == 1 else None
    constant = constant_names(material, plan)
    output = None if plan.folder is None else OutputFolder(plan.folder)
    run_seed = functools.partial(_run_in, output, learner, material, dict(start), own, constant)
    runs: list[Run] = []
    for run, parcel in map(run_seed, seeds) if plan.runs == 1 else runner.map(run_seed, seeds):
        if output is not None:
            output.unpack(parcel)
        runs.append(run)
    return tuple(runs)


def _run_in(output: OutputFolder | None, *given: Any) -> tuple[Run, Parcel]:
    """Do one run in a folder, if there is one; on another machine, what it holds is returned."""
    if output is None:
        return _run(None, *given), {}
    with output.written() as (folder, parcel):
        run = _run(folder, *given)
    return run, parcel


def _run(
    folder: Path | None,
    learner: Learner,
    material: Learnable,
    start: Mapping[str, float],
    runner: Runner | None,
    constant: Set[str],
    which: tuple[int, int],
) -> Run:
    """Do one run; with a folder, steps are saved there and a run resumes after the last one."""
    number, seed = which
    kept = None if folder is None else RunDirectory(folder / f"run-{number}")
    done = kept.last_step() if kept is not None else None
    rows: list[Row] = []
    if kept is not None and done is not None:
        kept.forget_states()
        rows += [Row(*row) for row in kept.rows()]
    count, model, state = done if done is not None else (0, Model(dict(start)), None)
    for step in learner.learn(material.problem, model, resume=state, seed=seed, runner=runner):
        count += 1
        model = step.model
        rows.append(Row(step.objective, dict(step.metrics)))
        if not math.isfinite(step.objective):
            raise SmtError(f"step {count} of learning: expected a finite objective, found {step.objective}")
        if kept is not None:
            kept.save_step(count, step)
            kept.forget_states()
    if not count:
        raise SmtError("the learner took no step: expected at least one")
    weights = {**start, **model.weights}
    check_finite(weights, "the learnt weights")
    if not material.weighed_by({name: value for name, value in weights.items() if name not in material.constant}):
        raise SmtError(
            "learning ended with all weights 0: the features do not tell good hypotheses from bad ones; start from "
            f"other weights ({argument('start', '-w')}), or add features"
        )
    learnt = keep_constant(constant, start, weights)
    ordered = {name: learnt[name] for name in sorted(learnt)}
    return Run(seed, tuple(rows), ordered, material.score(ordered))


def within_bounds(plan: Plan, weights: Mapping[str, float], unweighted: Sequence[str]) -> dict[str, float]:
    """The weights within the learner's bounds, so that all between them and what is learnt is; the last bound counts.

    ``unweighted`` are features whose weight is 0. What is no bound is left to the learner to refuse.
    """
    moved = dict(weights)
    bounds = [bound.rpartition("=") for bound in str(plan.learner.options.get("bounds", "")).split()]
    for name in [*weights, *unweighted]:
        exact = [ends for pattern, _, ends in bounds if pattern == name]
        ends = (exact or [ends for pattern, _, ends in bounds if fnmatch.fnmatchcase(name, pattern)])[-1:]
        with contextlib.suppress(ValueError):
            for low, _, high in (interval.partition(":") for interval in ends):
                value = min(max(weights.get(name, 0.0), float(low or -math.inf)), float(high or math.inf))
                if value or name in moved:
                    moved[name] = value
    return moved


def constant_names(material: Learnable, plan: Plan) -> frozenset[str]:
    """The features that are the same in all hypotheses of each list, but for those that the learner's bounds name."""
    patterns = [bound.rpartition("=")[0] for bound in str(plan.learner.options.get("bounds", "")).split()]
    bounded = {name for name in material.constant for pattern in patterns if fnmatch.fnmatchcase(name, pattern)}
    return frozenset(material.constant - bounded - set(patterns))


def keep_constant(constant: Set[str], start: Mapping[str, float], weights: Mapping[str, float]) -> Mapping[str, float]:
    """Restore the start weights of constant features, 0 if there are none.

    Learners rescale such weights or let them decay, as no hypothesis is better for them.
    """
    return {**weights, **{name: start.get(name, 0.0) for name in constant & weights.keys()}}


def check_finite(weights: Mapping[str, float], what: str) -> None:
    """Raise SmtError if a weight is not finite."""
    bad = [name for name, value in weights.items() if not math.isfinite(value)]
    if bad:
        found = f"{weights[bad[0]]} for {first_of(bad, 5)}"
        raise SmtError(f"{what}: expected finite numbers, found {found}: scale these features")


def combine_runs(runs: Sequence[Run], how: Combine, higher: bool) -> tuple[Mapping[str, float], str]:
    """Combine the weights of several runs; also return a description of how."""
    if len(runs) == 1:
        return runs[0].weights, "one run"
    if how == "best":
        top = (max if higher else min)(runs, key=lambda run: run.score)
        return top.weights, f"best of {len(runs)} runs, seed {top.seed}"
    return mean_weights([run.weights for run in runs]), f"average of {len(runs)} runs"


def estimate_weights(material: Material) -> dict[str, float]:
    """Estimate the decoder's weights from the totals of the lists by least squares.

    Only differences within a list count. Returns no weights without totals, with too many features, or if the totals
    are unrelated to the features.
    """
    import numpy as np

    if material.totals is None or len(material.names) > _MOST_NAMES:
        return {}
    matrix, width = material.matrix, len(material.names)
    column = material.totals
    moments = np.zeros((width + 1, width + 1))
    for first, last in itertools.pairwise(matrix.lists.tolist()):
        a, b = matrix.offsets[first], matrix.offsets[last]
        table = np.zeros((last - first, width + 1))
        rows = np.repeat(np.arange(last - first), np.diff(matrix.offsets[first : last + 1]))
        np.add.at(table, (rows, matrix.ids[a:b]), matrix.values[a:b])
        table[:, -1] = column[first:last]
        table -= table.mean(axis=0)
        moments += table.T @ table
    weights = np.linalg.lstsq(moments[:-1, :-1], moments[:-1, -1], rcond=1e-10)[0]
    if not np.isfinite(weights).all() or not np.any(weights):
        return {}
    return dict(zip(matrix.names, weights.tolist(), strict=True))
