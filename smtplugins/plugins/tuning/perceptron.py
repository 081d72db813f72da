"""``perceptron``: the averaged structured perceptron on lists.

M. Collins, "Discriminative Training Methods for Hidden Markov Models" (2002); towards the oracle as P. Liang et al.,
"An End-to-End Discriminative Approach to Machine Translation" (2006), or from fear to hope.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.learners import ForestProblem, LearnerState, LearnerStep, ListProblem
from smtplugins.contracts.runners import Runner
from smtplugins.plugins.tuning.common import form_of
from smtplugins.plugins.tuning.online import BEST, FEAR, HOPE, ORACLE, Online, OnlineLearner, SentenceView, order

if TYPE_CHECKING:
    from smtplugins.contracts.models import Model


class Perceptron(OnlineLearner):
    """Step with learning rate ``rate`` from the chosen hypothesis of a sentence to the wanted one, if they differ.

    ``update``: ``hope`` steps from fear to hope, with gains multiplied by ``scale``; ``oracle`` steps from the 1-best
    to the hypothesis with the highest gain. Gains are sentence-level metric scores. ``keep``: the epoch whose weights
    are best on the problem, or the last. Options for forests are those of ``mira``.
    """

    def __init__(
        self,
        *,
        epochs: int = 30,
        rate: float = 0.003,
        update: Literal["hope", "oracle"] = "hope",
        scale: float = 10.0,
        average: bool = True,
        keep: Literal["best", "last"] = "best",
        fixed: str = "",
        bounds: str = "",
        pop_limit: int = 100,
        gain_precision: float | None = None,
        gain_decay: float | None = None,
    ) -> None:
        if epochs < 1 or not rate > 0 or not scale > 0 or pop_limit < 0:
            raise UsageError("perceptron: expected epochs of 1 or more, rate and scale above 0")
        self.epochs, self.rate, self.update, self.scale = epochs, rate, update, scale
        self.average, self.keep = average, keep
        self.fixed, self.bounds, self.pop_limit = fixed, bounds, pop_limit
        self.form = form_of(gain_precision, gain_decay)

    def learn(
        self,
        problem: ListProblem | ForestProblem,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        """Yield a step per epoch; the objective is the metric of the 1-best hypotheses."""
        run = self.begin(problem, start, False, seed, resume)
        while run.done < self.epochs:
            moved = sum(self._example(run, run.source.view(index, None)) for index in order(run))
            run.keep(self.average, self.keep == "best")
            assert run.now.value is not None
            yield LearnerStep(run.model(start), run.now.value, {"updates": float(moved)}, run.state())

    def _example(self, run: Online, view: SentenceView) -> bool:
        """Learn from one sentence; return whether the weights changed."""
        from smtplugins.contracts.tools.optimisers import difference

        wanted, chosen = view.choose(run.now.weights, *((ORACLE, BEST) if self.update == "oracle" else (HOPE, FEAR)))
        moves = wanted.gain > chosen.gain
        if moves:
            ids, values = run.now.free(difference(wanted.features, chosen.features))
            run.now.add(ids, self.rate * values)
        run.now.examples += 1
        return moves
