"""Checks of learners: the same seed gives the same model, with any runner and after any interruption."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.learners import EventProblem, LearnerState, LearnerStep, ListProblem, RowProblem
from smtplugins.contracts.models import Model
from smtplugins.contracts.tasks import TaskProblem
from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply, Subject, can_be_made, is_documented

if TYPE_CHECKING:
    from smtplugins.contracts.offers import Offer
    from smtplugins.contracts.runners import Runner
    from smtplugins.host.host import Host

_MOST_STEPS = 1000
_MOST_STOPS = 5
_OWN: Mapping[type, Callable[[], Any]] = {
    ListProblem: samples.list_problem,
    RowProblem: samples.row_problem,
    EventProblem: samples.event_problem,
    TaskProblem: samples.task_problem,
}


@dataclass(frozen=True)
class LearnerSubject(Subject):
    """A learner to check, and problems that replace the kit's."""

    problems: Mapping[type, Any] | None = None

    def each_problem(self) -> list[Any]:
        """Return a problem of each type that the learner accepts and the kit can make."""
        accepted = self.make().accepts
        if self.problems is not None:
            return [problem for kind, problem in self.problems.items() if kind in accepted]
        problems = [make() for kind, make in _OWN.items() if kind in accepted]
        if not problems:
            names = ", ".join(sorted(kind.__name__ for kind in accepted))
            made = "Lists, Rows, Events and Task"
            raise DoesNotApply(f"the kit makes {made}, the learner accepts {names}; give it `problems`")
        return problems

    def steps(
        self,
        problem: Any,
        *,
        start: Model | None = None,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        """Yield the steps of a new learner."""
        learner = self.make()
        steps = learner.learn(problem, Model() if start is None else start, resume=resume, seed=seed, runner=runner)
        for number, step in enumerate(steps, 1):
            assert number <= _MOST_STEPS, f"the learner takes more than {_MOST_STEPS} steps on a small problem"
            yield step

    def digests(self, problem: Any, **options: Any) -> list[str]:
        """Return the hash of each step's model."""
        return [step.model.digest() for step in self.steps(problem, **options)]


def subject(
    offer: Offer,
    folder: Path,
    host: Host,
    *,
    options: Mapping[str, Any] | None = None,
    problems: Mapping[type, Any] | None = None,
) -> LearnerSubject:
    """Return a learner to check, with the given problems or the kit's."""
    return LearnerSubject(offer, folder, host, options, problems)


def accepts_are_types(subject: LearnerSubject) -> None:
    """``accepts`` is a frozenset of the problem types that the learner takes."""
    accepts = subject.make().accepts
    assert isinstance(accepts, frozenset) and accepts, f"expected a frozenset of types, found {accepts!r}"
    assert all(isinstance(kind, type) for kind in accepts), f"expected types, found {accepts!r}"


def steps_are_sound(subject: LearnerSubject) -> None:
    """Learning yields at least one step; each has a model, a state, a finite objective and finite metrics."""
    for problem in subject.each_problem():
        number = 0
        for number, step in enumerate(subject.steps(problem), 1):
            place = f"step {number} on {type(problem).__name__}"
            assert isinstance(step, LearnerStep), f"{place}: expected a Step, found {step!r}"
            assert isinstance(step.model, Model), f"{place}: expected a Model, found {step.model!r}"
            assert isinstance(step.state, LearnerState), f"{place}: expected a State, found {step.state!r}"
            assert math.isfinite(step.objective), f"{place}: expected a finite objective, found {step.objective}"
            for name, value in (*step.metrics.items(), *step.model.weights.items()):
                assert math.isfinite(value), f"{place}: expected finite numbers, found {value} for {name!r}"
        assert number, f"no step at all on {type(problem).__name__}"


def steps_stay_as_they_were(subject: LearnerSubject) -> None:
    """Later steps do not change the model of a step: a caller may keep the best one."""
    for problem in subject.each_problem():
        kept = [(step, step.model.digest()) for step in subject.steps(problem)]
        for number, (step, digest) in enumerate(kept, 1):
            assert step.model.digest() == digest, f"the model of step {number} was changed by a later step"


def problem_is_not_changed(subject: LearnerSubject) -> None:
    """Learning does not change the problem."""
    for problem in subject.each_problem():
        before = repr_of(problem)
        for _ in subject.steps(problem):
            pass
        assert repr_of(problem) == before, f"learning changed the {type(problem).__name__} it was given"


def same_seed_same_model(subject: LearnerSubject) -> None:
    """The same problem and seed give bit-identical models at each step."""
    for problem in subject.each_problem():
        for seed in (1, 2):
            first, second = (subject.digests(copy.deepcopy(problem), seed=seed) for _ in range(2))
            _assert_same(first, second, f"run twice with seed {seed} on {type(problem).__name__}")


def resumed_is_the_same(subject: LearnerSubject) -> None:
    """Stopped after a step and resumed from its saved state, a new learner gives bit-identical models."""
    for problem in subject.each_problem():
        name = type(problem).__name__
        wanted = subject.digests(problem)
        last = len(wanted) - 1
        for stop in sorted({round(k * last / (_MOST_STOPS - 1)) for k in range(_MOST_STOPS)}):
            model, state = _save_and_load(subject, problem, stop)
            assert model.digest() == wanted[stop], f"the model of step {stop + 1} on {name} changes when saved and read"
            rest = subject.digests(problem, start=model, resume=state)
            _assert_same(wanted[stop + 1 :], rest, f"stopped after step {stop + 1} on {name} and resumed", stop + 1)


def _save_and_load(subject: LearnerSubject, problem: Any, stop: int) -> tuple[Model, LearnerState]:
    """Stop a learner after a step; returns its model and state, saved and loaded again."""
    steps = subject.steps(problem)
    step = next(itertools.islice(steps, stop, None))
    folder = subject.folder / f"{type(problem).__name__}-{stop}"
    step.model.save(folder / "model")
    step.state.save(folder / "state.npz")
    steps.close()  # type: ignore[attr-defined]
    return Model.load(folder / "model"), LearnerState.load(folder / "state.npz")


def workers_give_the_same(subject: LearnerSubject) -> None:
    """Models are bit-identical without a runner, with one process and with several."""
    from smtplugins.host.spread.choice import default_runner

    for problem in subject.each_problem():
        wanted = subject.digests(problem)
        for jobs in (1, 2):
            runner = subject.host.registry.make("runners", default_runner(jobs))
            digests = subject.digests(problem, runner=runner)
            _assert_same(wanted, digests, f"with {jobs} jobs on {type(problem).__name__}")


def policies_get_no_worse(subject: LearnerSubject) -> None:
    """On the training examples, the last step's policy earns at least as much reward as the first step's."""
    from smtplugins.host.learn.search_tasks import Weights, follow

    tasks = [problem for problem in subject.each_problem() if isinstance(problem, TaskProblem)]
    if not tasks:
        raise DoesNotApply("the learner does not accept Task")
    for problem in tasks:
        task, examples = problem.search, problem.examples
        steps = list(subject.steps(problem))
        if any(not step.model.weights for step in steps):
            raise DoesNotApply("the learner's policies have no weights")
        first, last = (
            math.fsum(follow(task, task.begin(example), weights).value(0) for example in examples) / len(examples)
            for weights in (Weights.of(step.model.weights) for step in (steps[0], steps[-1]))
        )
        assert last >= first, (
            f"the mean reward of the examples is {first:.6g} after the first step, {last:.6g} after the last"
        )


def right_ones_are_found(subject: LearnerSubject) -> None:
    """The last step's weights rank the right alternative of events first at least as often as chance."""
    import numpy as np

    problems = [problem for problem in subject.each_problem() if isinstance(problem, EventProblem)]
    if not problems:
        raise DoesNotApply("the learner does not accept Events")
    for problem in problems:
        *_, last = subject.steps(problem)
        if not last.model.weights:
            raise DoesNotApply("the learner's model has no weights")
        right_count, base = 0, 0.0
        for piece in problem.pieces:
            scores = piece.features.dot(np.array([last.model.weights.get(name, 0.0) for name in piece.features.names]))
            for first, end, right in zip(piece.offsets, piece.offsets[1:], piece.right, strict=False):
                right_count += int(np.argmax(scores[first:end])) == int(right)
                base += 1 / int(end - first)
        assert right_count >= base, f"{right_count} right alternatives score best, by chance {base:.4g}"


def repr_of(problem: Any) -> Any:
    """Return a problem as plain values that can be compared."""
    if isinstance(problem, TaskProblem):
        # A task may have internal state.
        return copy.deepcopy(list(problem.examples))
    if isinstance(problem, ListProblem):
        return copy.deepcopy(list(problem.lists)), [rows.tolist() for rows in problem.stats]
    if isinstance(problem, EventProblem):
        pieces = [(piece.features, piece.offsets, piece.right) for piece in problem.pieces]
        own = [(rows.names, rows.offsets, rows.ids, rows.values) for rows, _, _ in pieces]
        return [
            (names, *(array.tolist() for array in (*arrays, offsets, right)))
            for (names, *arrays), (_, offsets, right) in zip(own, pieces, strict=True)
        ]
    if isinstance(problem, RowProblem):
        features, weights = problem.features, problem.weights
        arrays = (features.offsets, features.ids, features.values, problem.labels)
        return [*(array.tolist() for array in arrays), None if weights is None else weights.tolist()]
    return copy.deepcopy(problem)


def _assert_same(wanted: list[str], actual: list[str], how: str, before: int = 0) -> None:
    for number, (first, second) in enumerate(zip(wanted, actual, strict=False), before + 1):
        assert first == second, f"{how}, step {number} has another model"
    assert len(wanted) == len(actual), f"{how}, there are {before + len(actual)} steps, expected {before + len(wanted)}"


CHECKS: tuple[Check, ...] = (
    is_documented,
    can_be_made,
    accepts_are_types,
    steps_are_sound,
    steps_stay_as_they_were,
    problem_is_not_changed,
    same_seed_same_model,
    resumed_is_the_same,
    workers_give_the_same,
    policies_get_no_worse,
    right_ones_are_found,
)
