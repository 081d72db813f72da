"""``searn``: learn a policy for any search task by reduction to cost-sensitive classification.

H. Daume III, J. Langford, D. Marcu, "Search-based Structured Prediction" (Machine Learning 75, 2009), figure 1; as a
learner of labels D. Zhang, L. Sun, W. Li (2008), 4 and 6.1. Each iteration rolls in with the current policy, tries
every action of every state on the way and rolls out from there, trains a classifier on the resulting costs and adds it
to the policy mixture. Voting policies and the search for beta on held-out examples are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import LearnerState, LearnerStep
from smtplugins.contracts.tasks import TaskProblem
from smtplugins.plugins.searn._searn import chained
from smtplugins.plugins.searn.learning.base_learners import BaseLearner, Passes
from smtplugins.plugins.searn.learning.mixtures import PolicyMixture, Roll
from smtplugins.plugins.searn.learning.policy import Decide
from smtplugins.plugins.searn.learning.sequence_material import PolicyLoss, SequenceMaterial
from smtplugins.plugins.searn.learning.sequences import Sequences
from smtplugins.plugins.searn.learning.task_material import SearchTaskMaterial

if TYPE_CHECKING:
    from smtplugins.contracts.models import Model
    from smtplugins.contracts.runners import Runner

BETAS = tuple(k / 10 for k in range(1, 11))
"""The values of beta tried on held-out examples."""
_MOST = 2**64


@dataclass(frozen=True)
class Rolls:
    """The policies of roll-in and roll-out; ``samples`` is the number of roll-outs per action if ``sampled``."""

    roll_in: Roll
    roll_out: Roll
    samples: int


class Searn:
    """A mixture of linear policies; each iteration adds a classifier trained on the costs of actions.

    ``roll_in`` is the policy that leads to the examples, ``roll_out`` the policy that completes each action:
    ``sampled`` draws one of the policies, the initial one included, for each decision (``roll_out`` averages
    ``samples`` completions); ``policy`` is a vote of the learnt policies; ``optimal`` is the initial policy: the
    task's optimal policy, or else the action with the highest reward when completed by the start weights. ``beta`` is
    the share of the newest policy; ``search`` tries 0.1 to 1 and takes the one with the least loss on held-out
    examples, the largest on ties. ``held_out`` is the number of last examples, or their fraction if below 1, that are
    only evaluated. ``decide`` is how the final policies decide: they ``vote`` by share (with a ``beta`` of 0.5 or more
    the newest outvotes all others), one is drawn for each decision (``draw``, the authors' definition), or only the
    ``last`` decides.

    ``base`` trains a classifier on each iteration's examples, from zero weights, in ``passes`` over them in random
    order (``shuffle``), with the ``average`` of the weights as result: ``perceptron``, or ``logistic`` with learning
    rate ``rate`` (see ``learning/base_learners.py``). In Python it may also be a ``BaseLearner`` of that module.

    The result is the artefact ``policy``; for tasks other than sequence labelling the policies' mean by share is also
    written into the weights. ``native=false`` treats sequence labelling like any other task.
    """

    accepts = frozenset({TaskProblem})

    def __init__(
        self,
        *,
        iterations: int = 3,
        base: str | BaseLearner = "perceptron",
        passes: int = 5,
        rate: float = 0.1,
        average: bool = True,
        shuffle: bool = True,
        beta: float | Literal["search"] = 0.3,
        roll_in: Roll = "sampled",
        roll_out: Roll = "optimal",
        samples: int = 1,
        held_out: float = 0.0,
        decide: Decide = "vote",
        native: bool = True,
    ) -> None:
        if iterations < 1 or samples < 1:
            raise UsageError(f"searn: expected iterations and samples of 1 or more, found {iterations}, {samples}")
        if beta != "search" and not 0 < beta <= 1:
            raise UsageError(f"beta: expected a number above 0 and not above 1, or search, found {beta}")
        if held_out < 0 or (held_out > 1 and held_out != int(held_out)):
            raise UsageError(f"held_out: expected a fraction below 1 or a number of examples, found {held_out}")
        if beta == "search" and not held_out:
            raise UsageError("beta=search: expected held-out examples, for instance held_out=0.1")
        for name, value in (("roll_in", roll_in), ("roll_out", roll_out)):
            if value not in ("sampled", "policy", "optimal"):
                raise UsageError(f"{name}: expected sampled, policy or optimal, found {value!r}")
        if decide not in ("vote", "draw", "last"):
            raise UsageError(f"decide: expected vote, draw or last, found {decide!r}")
        self.iterations, self.beta, self.held_out, self.decide = iterations, beta, held_out, decide
        self.rolls = Rolls(roll_in, roll_out, samples)
        self.native = native
        self.base: BaseLearner = (
            Passes(base, passes, rate, average, shuffle) if isinstance(base, str) else base  # type: ignore[arg-type]
        )

    def learn(
        self,
        problem: TaskProblem,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        """Yield a step per iteration; the objective is the mean loss of the training examples."""
        import numpy as np

        trained = self._training_count(len(problem.examples))
        # The initial policy keeps using the weights from before the first iteration.
        begun = dict(start.weights) if resume is None else resume.values["begun"]
        names = [] if resume is None else resume.values["names"]
        material = self._material(problem, trained, begun, names, runner)
        mixture, done = PolicyMixture.initial(material.size), 0
        if resume is not None:
            # Safe without copies: a mixture's arrays are never written to.
            mixture = PolicyMixture(resume.arrays["weights"], resume.arrays["shares"])
            seed, done = resume.values["seed"], resume.values["done"]
        held = trained < len(problem.examples)
        while done < self.iterations:
            key = chained(seed % _MOST, done)
            examples = material.collect(mixture, self.rolls, key)
            if not len(examples):
                raise SmtError("searn: expected examples with actions to choose from, found only final states")
            label = f"iteration {done + 1}"
            weights = self.base.train(examples, np.random.default_rng([seed, done]), label)
            mixture = mixture.resized(material.size)
            mixture, beta = self._add_policy(material, mixture, weights, key)
            done += 1
            losses = [
                material.judge(*mixture.learnt_only(self.decide), key, held_out=held_out)
                for held_out in (False, True)[: 1 + held]
            ]
            metrics = {"beta": beta, "examples": float(len(examples)), **_metrics("", losses[0])}
            if held:
                metrics |= _metrics("held_out_", losses[1])
            arrays = {"weights": mixture.weights, "shares": mixture.shares}
            values = {"names": list(material.names), "begun": begun, "done": done, "seed": seed}
            state = LearnerState(arrays, values)
            yield LearnerStep(
                material.model(start, mixture), losses[0].loss / max(losses[0].examples, 1), metrics, state
            )

    def _training_count(self, count: int) -> int:
        """The number of examples to learn from."""
        if not count:
            raise SmtError("searn: expected examples to learn from, found none")
        held = math.ceil(self.held_out * count) if self.held_out < 1 else int(self.held_out)
        if held >= count:
            raise UsageError(f"held_out: expected fewer than the {count} examples, found {held}")
        return count - held

    def _material(
        self, problem: TaskProblem, trained: int, begun: dict[str, float], names: list[str], runner: Runner | None
    ) -> SequenceMaterial | SearchTaskMaterial:
        search, examples = problem.search, problem.examples
        whole = isinstance(search, Sequences) and examples == range(len(search))
        if self.native and whole and isinstance(search, Sequences) and search.loss == "hamming":
            return SequenceMaterial(search, trained)
        return SearchTaskMaterial(problem, trained, begun, names, runner)

    def _add_policy(
        self, material: SequenceMaterial | SearchTaskMaterial, mixture: PolicyMixture, weights: Any, key: int
    ) -> tuple[PolicyMixture, float]:
        """Add a new policy to the mixture; return it with the policy's share."""
        if self.beta != "search":
            return mixture.with_policy(weights, self.beta), self.beta
        best, least, share = mixture, math.inf, 0.0
        for beta in BETAS:
            tried = mixture.with_policy(weights, beta)
            loss = material.judge(*tried.learnt_only(self.decide), key, held_out=True).loss
            if loss <= least:
                best, least, share = tried, loss, beta
        return best, share


def _metrics(begin: str, loss: PolicyLoss) -> dict[str, float]:
    """The mean loss per decision, and the fraction of optimal decisions if known."""
    decisions = max(loss.decisions, 1)
    metrics = {f"{begin}loss": loss.loss / decisions}
    if loss.right is not None:
        metrics[f"{begin}accuracy"] = loss.right / decisions
    return metrics
