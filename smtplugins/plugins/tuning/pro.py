"""``pro``: tuning as ranking. M. Hopkins and J. May, "Tuning as Ranking" (2011)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import LearnerState, LearnerStep, ListProblem
from smtplugins.contracts.runners import Runner
from smtplugins.contracts.tools.learning import Matrix, matrix_of
from smtplugins.plugins.tuning.common import (
    best_score,
    bleu_counts,
    bleu_plus,
    check_objective,
    column_of,
    rows_of,
    sentence_gains,
    space_of,
    updated_model,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.models import Model

    Array = NDArray[Any]


class Pro:
    """Pairwise ranking by logistic regression with penalties ``l2`` / 2 * |w|^2 and ``l1`` * |w|.

    From each list draw ``pairs`` pairs, drop those whose sentence scores differ by less than ``threshold`` (in units
    of 1), and keep the ``kept`` that differ most. Sampling is repeated ``rounds`` times and the weights are averaged.
    ``interpolation`` is the share of the new weights, the start weights have the rest: 0.1 in the paper, for a loop
    around a decoder. ``plus`` adds to the counts of sentence BLEU from two words on: 1 in the paper, which is BLEU+1;
    0 takes the metric's own sentence scores. With ``smooth_brevity`` references are longer by as much (Nakov and others
    2012), as BLEU+1 favours short output.
    """

    accepts = frozenset({ListProblem})

    def __init__(
        self,
        *,
        pairs: int = 5000,
        kept: int = 50,
        threshold: float = 0.05,
        rounds: int = 5,
        interpolation: float = 1.0,
        plus: float = 0.0,
        smooth_brevity: bool = False,
        l2: float = 1.0,
        l1: float = 0.0,
        iterations: int = 200,
        fixed: str = "",
        bounds: str = "",
    ) -> None:
        if min(pairs, kept, rounds, iterations) < 1 or not 0 < interpolation <= 1 or not min(threshold, l1, l2) >= 0:
            raise UsageError(
                "pro: expected pairs, kept, rounds and iterations of 1 or more, penalties of 0 or more, and an "
                "interpolation above 0 and not above 1"
            )
        if not plus >= 0 or (smooth_brevity and not plus):
            raise UsageError("pro: expected plus of 0 or more, and above 0 with smooth_brevity")
        self.plus, self.smooth_brevity = plus, smooth_brevity
        self.pairs, self.kept, self.threshold, self.rounds = pairs, kept, threshold, rounds
        self.interpolation, self.l2, self.l1, self.iterations = interpolation, l2, l1, iterations
        self.fixed, self.bounds = fixed, bounds

    def learn(
        self,
        problem: ListProblem,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        """Yield a step per round; the objective is the metric of the 1-best hypotheses."""
        import numpy as np

        matrix = matrix_of(problem)
        space = space_of(matrix.names, self.fixed, self.bounds, start.weights)
        gains = self._gains(problem, matrix)
        random = np.random.default_rng(seed)
        former = space.clipped(column_of(matrix.names, start.weights))
        total, done = np.zeros(len(former)), 0
        if resume is not None:
            former, total = resume.arrays["former"], resume.arrays["total"].copy()
            random.bit_generator.state, done = resume.values["random"], resume.values["done"]
        while done < self.rounds:
            better, worse = sample_pairs(matrix, gains, random, self.pairs, self.kept, self.threshold)
            if not len(better):
                raise SmtError(
                    f"pro: no two hypotheses of a list differ by {self.threshold} in {problem.metric.name}: "
                    "give a lower threshold, or longer lists"
                )
            fitted, loss = self._fit(matrix, better, worse, former, space)
            check_objective("pro", loss)
            total, done = total + fitted, done + 1
            weights = space.clipped((1 - self.interpolation) * former + self.interpolation * (total / done))
            state = LearnerState(
                {"former": former, "total": total.copy()}, {"random": random.bit_generator.state, "done": done}
            )
            metrics = {"loss": loss / len(better), "pairs": float(len(better))}
            yield LearnerStep(
                updated_model(start, matrix.names, weights), best_score(problem.metric, matrix, weights), metrics, state
            )

    def _gains(self, problem: ListProblem, matrix: Matrix) -> Array:
        if not self.plus:
            return sentence_gains(problem.metric, matrix.stats)[0]
        return bleu_plus(bleu_counts(problem.metric, matrix.stats, "pro: plus"), self.plus, self.smooth_brevity)

    def _fit(self, matrix: Matrix, better: Array, worse: Array, former: Array, space: Any) -> tuple[Array, float]:
        """Fit the weights to the pairs; return them with the loss."""
        import numpy as np

        from smtplugins.contracts.tools.optimisers import minimise, pair_loss

        used, where = np.unique(np.concatenate([better, worse]), return_inverse=True)
        rows, where = rows_of(matrix).take(used), where.reshape(-1)
        loss = pair_loss(rows, where[: len(better)], where[len(better) :])
        # Begin at zero, so that the solution does not depend on the length of the start weights.
        begin = np.where(space.free, 0.0, former)
        result = minimise(loss, begin, space, l1=self.l1, l2=self.l2, iterations=self.iterations)
        return result.weights, loss(result.weights)[0]


def sample_pairs(
    matrix: Matrix, gains: Array, random: Any, pairs: int, kept: int, threshold: float
) -> tuple[Array, Array]:
    """Sample pairs; return the rows of the better and of the worse hypothesis. Duplicate pairs count twice."""
    import numpy as np

    better, worse = [], []
    bounds = matrix.lists.tolist()
    for first, last in itertools.pairwise(bounds):
        if last - first < 2:
            continue
        left, right = random.integers(first, last, size=(2, pairs))
        apart = gains[left] - gains[right]
        fit = np.flatnonzero(np.abs(apart) >= max(threshold, 1e-12))
        fit = fit[np.argsort(-np.abs(apart[fit]), kind="stable")[:kept]]
        swapped = apart[fit] < 0
        better.append(np.where(swapped, right[fit], left[fit]))
        worse.append(np.where(swapped, left[fit], right[fit]))
    empty = np.empty(0, dtype=np.int64)
    return np.concatenate([empty, *better]), np.concatenate([empty, *worse])
