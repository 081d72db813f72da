"""``minrisk``: the expected metric, with annealing, on lists and forests.

D. Smith and J. Eisner, "Minimum Risk Annealing for Training Log-Linear Models" (2006). The expected corpus score is
approximated by the score of the expected statistics, the first term of their expansion. Forests use a metric's
``linear`` form and the second-order expectations of Z. Li and J. Eisner, "First- and Second-Order Expectation
Semirings" (2009).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.learners import ForestProblem, LearnerState, LearnerStep, ListProblem
from smtplugins.contracts.runners import Runner
from smtplugins.contracts.tools.learning import matrix_of
from smtplugins.plugins.tuning.common import (
    best_score,
    check_objective,
    column_of,
    form_of,
    rows_of,
    sentence_gains,
    sign_of,
    space_of,
    updated_model,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tools.optimisers import Objective

    Array = NDArray[Any]


class Minrisk:
    """Weights that minimise the expected loss minus ``temperature`` times the entropy, plus penalties.

    Annealing first takes ``temperatures`` stages, multiplying the temperature by ``cooling`` after each. Then the
    temperature is 0, and ``quenches`` more stages double the scale of the scores, which begins at ``sharpness``. Losses
    are means over sentences, in units of 1. ``objective``: the corpus score of the expected statistics (BLEU's brevity
    penalty is not smooth there, and the minimiser may stop early at its edge), or the expected sentence scores; on
    forests always the expected linear gains, per reference word. Forests are refined with ``pop_limit`` (0: exactly).
    ``gain_precision`` and ``gain_decay`` are parameters of the linear form, 0.5 and 0.6 by default: with the published
    values for BLEU, 0.85 and 0.7, outputs become too short. Without a penalty, weights may grow without limit.
    """

    accepts = frozenset({ListProblem, ForestProblem})

    def __init__(
        self,
        *,
        objective: Literal["sentence", "corpus"] = "corpus",
        temperature: float = 0.02,
        cooling: float = 0.5,
        temperatures: int = 4,
        sharpness: float = 1.0,
        quenches: int = 5,
        l2: float = 1e-4,
        l1: float = 0.0,
        iterations: int = 100,
        fixed: str = "",
        bounds: str = "",
        pop_limit: int = 100,
        gain_precision: float | None = None,
        gain_decay: float | None = None,
    ) -> None:
        if not (temperature >= 0 and 0 < cooling <= 1 and sharpness > 0 and min(l1, l2) >= 0):
            raise UsageError("minrisk: expected temperature, l1 and l2 of 0 or more, cooling above 0 and not above 1")
        if min(temperatures, quenches, pop_limit) < 0 or iterations < 1:
            raise UsageError("minrisk: expected temperatures and quenches of 0 or more, iterations of 1 or more")
        self.kind, self.l1, self.l2, self.iterations = objective, l1, l2, iterations
        self.fixed, self.bounds, self.pop_limit = fixed, bounds, pop_limit
        self.form = form_of(gain_precision, gain_decay)
        warm = [(sharpness, temperature * cooling**k) for k in range(temperatures)] if temperature else []
        self.stages = [*warm, *((sharpness * 2**k, 0.0) for k in range(quenches + 1))]

    def learn(
        self,
        problem: ListProblem | ForestProblem,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        """Yield a step per stage: the minimised objective, and the metric of the 1-best hypotheses."""
        origin = None if resume is None else resume.arrays["origin"]
        with self._prepared(problem, start, origin, runner) as prepared:
            yield from self._descend(*prepared, start, resume)

    def _descend(
        self,
        names: tuple[str, ...],
        at: Callable[[float, float], Objective],
        worth: Callable[[Array], float],
        start: Model,
        resume: LearnerState | None,
    ) -> Iterator[LearnerStep]:
        from smtplugins.contracts.tools.optimisers import minimise

        space = space_of(names, self.fixed, self.bounds, start.weights)
        origin = column_of(names, start.weights)
        weights, done = space.clipped(origin), 0
        if resume is not None:
            origin, weights, done = resume.arrays["origin"], resume.arrays["weights"], resume.values["done"]
        for sharpness, temperature in self.stages[done:]:
            result = minimise(
                at(sharpness, temperature), weights, space, l1=self.l1, l2=self.l2, iterations=self.iterations
            )
            check_objective("minrisk", result.value)
            weights, done = result.weights, done + 1
            state = LearnerState({"weights": weights, "origin": origin}, {"done": done})
            metrics = {
                "metric": worth(weights),
                "temperature": temperature,
                "sharpness": sharpness,
                "iterations": float(result.iterations),
            }
            yield LearnerStep(updated_model(start, names, weights), result.value, metrics, state)

    @contextlib.contextmanager
    def _prepared(
        self, problem: ListProblem | ForestProblem, start: Model, origin: Array | None, runner: Runner | None
    ) -> Iterator[tuple[tuple[str, ...], Callable[[float, float], Objective], Callable[[Array], float]]]:
        """The feature names, the objective as a function of (sharpness, temperature), and the metric of weights."""
        if isinstance(problem, ForestProblem):
            from smtplugins.plugins.tuning.forest_risk import forest_risk
            from smtplugins.plugins.tuning.gains import usual_form

            form = {**usual_form(problem.metric), **self.form}
            with forest_risk(problem, start.weights, self.pop_limit, origin, form, runner) as forests:
                yield forests.names, forests.objective, forests.worth
            return
        from smtplugins.contracts.tools.optimisers import ListRisk, mean_of_gains, score_of_sums

        matrix, metric = matrix_of(problem), problem.metric
        gains, unit = sentence_gains(metric, matrix.stats)
        if self.kind == "corpus":
            worth = score_of_sums(matrix.stats, metric.score, sign_of(metric) * unit)
        else:
            worth = mean_of_gains(gains, len(matrix.lists) - 1)
        risk = ListRisk(rows_of(matrix), matrix.lists, worth)
        yield matrix.names, risk.objective, lambda weights: best_score(metric, matrix, weights)
