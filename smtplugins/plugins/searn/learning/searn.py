"""``searn``: a policy for any search task, learnt by reducing it to cost-sensitive classification.

H. Daume III, J. Langford, D. Marcu, "Search-based Structured Prediction" (Machine Learning 75, 2009), figure 1; as a
learner of labels D. Zhang, L. Sun, W. Li (2008), 4 and 6.1. In each iteration the policy so far is followed (rolled
in), every action of every state on the way is tried and completed (rolled out), a classifier is learnt from what that
costs, and becomes a part of the policy. Votes of the policies and the search for beta on held out examples are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.contracts import State, Step, Task
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.plugins.searn.learning.base_learners import BaseLearner, Passes
from smtplugins.plugins.searn.learning.mixtures import Mixture, Roll
from smtplugins.plugins.searn.learning.policy import Decide
from smtplugins.plugins.searn.learning.sequence_material import Judged, SequenceMaterial
from smtplugins.plugins.searn.learning.sequences import Sequences
from smtplugins.plugins.searn.learning.task_material import TaskMaterial

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Runner
    from smtplugins.host.model import Model

BETAS = tuple(k / 10 for k in range(1, 11))
"""What is tried for beta on held out examples."""
_MOST = 2**64


@dataclass(frozen=True)
class Rolls:
    """Who decides on the way to a state, and who completes from there; ``samples`` are those of ``sampled``."""

    roll_in: Roll
    roll_out: Roll
    samples: int


class Searn:
    """A mixture of linear policies, one more for each iteration, learnt from what actions cost where it leads.

    ``roll_in`` is who decides on the way, ``roll_out`` who completes after an action: ``sampled`` draws for each
    decision one of the policies so far, that of the beginning among them (for ``roll_out`` the mean of ``samples``);
    ``policy`` lets those learnt so far vote; ``optimal`` is the policy of the beginning: what a task says is optimal,
    or, if it does not know, what earns most when it is completed by the start weights. ``beta`` is the share of the
    newest policy; with ``search`` that of 0.1 to 1 with the least loss on held out examples, the largest of equally
    good ones. ``held_out``: so many of the last examples are not learnt from but judged, a part of them if below 1.
    ``decide`` is how policies decide together when all is learnt: by their shares they ``vote`` (from a ``beta`` of
    0.5 on the newest outvotes all others), or one is drawn for each decision (``draw``, as the authors define it), or
    the ``last`` one is taken alone.

    ``base`` learns a classifier from each iteration's examples, beginning with weights of 0, in ``passes`` over them in
    random order (``shuffle``), and takes the ``average``: ``perceptron``, or ``logistic`` with steps of ``rate``
    (``learning/base_learners.py`` says of what). In Python it may also be a ``BaseLearner`` of that module.

    What is learnt is the artefact ``policy``; of tasks other than sequences of labels the policies' mean by share is
    put into the weights, too. ``native=false`` goes the way of any task with such sequences.
    """

    accepts = frozenset({Task})

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
            raise UsageError(f"held_out: expected a part below 1 or a number of examples, found {held_out}")
        if beta == "search" and not held_out:
            raise UsageError("beta=search: expected examples to judge by: held_out=0.1, for instance")
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
        self, problem: Task, start: Model, *, resume: State | None = None, seed: int = 1, runner: Runner | None = None
    ) -> Iterator[Step]:
        """A step for each iteration; the objective is the mean loss of the training examples."""
        import numpy as np

        from smtplugins.plugins.searn._searn import chained

        trained = self._trained(len(problem.examples))
        # The policy of the beginning stays that of the weights before anything was learnt.
        begun = dict(start.weights) if resume is None else resume.values["begun"]
        names = [] if resume is None else resume.values["names"]
        material = self._material(problem, trained, begun, names, runner)
        mixture, done = Mixture.begun(material.size), 0
        if resume is not None:
            # Nothing is written into a mixture's arrays.
            mixture = Mixture(resume.arrays["weights"], resume.arrays["shares"])
            seed, done = resume.values["seed"], resume.values["done"]
        held = trained < len(problem.examples)
        while done < self.iterations:
            key = chained(seed % _MOST, done)
            examples = material.collect(mixture, self.rolls, key)
            if not len(examples):
                raise SmtError("searn: expected examples with actions to choose from, found ends only")
            label = f"iteration {done + 1}"
            weights = self.base.train(examples, np.random.default_rng([seed, done]), label)
            mixture = mixture.grown(material.size)
            mixture, beta = self._joined(material, mixture, weights, key)
            done += 1
            judged = [
                material.judge(*mixture.judging(self.decide), key, held_out=one) for one in (False, True)[: 1 + held]
            ]
            metrics = {"beta": beta, "examples": float(len(examples)), **_metrics("", judged[0])}
            if held:
                metrics |= _metrics("held_out_", judged[1])
            arrays = {"weights": mixture.weights, "shares": mixture.shares}
            values = {"names": list(material.names), "begun": begun, "done": done, "seed": seed}
            state = State(arrays, values)
            yield Step(material.model(start, mixture), judged[0].loss / max(judged[0].examples, 1), metrics, state)

    def _trained(self, count: int) -> int:
        """How many examples are learnt from."""
        if not count:
            raise SmtError("searn: expected examples to learn from, found none")
        held = math.ceil(self.held_out * count) if self.held_out < 1 else int(self.held_out)
        if held >= count:
            raise UsageError(f"held_out: expected fewer than the {count} examples, found {held}")
        return count - held

    def _material(
        self, problem: Task, trained: int, begun: dict[str, float], names: list[str], runner: Runner | None
    ) -> SequenceMaterial | TaskMaterial:
        search, examples = problem.search, problem.examples
        whole = isinstance(search, Sequences) and examples == range(len(search))
        if self.native and whole and isinstance(search, Sequences) and search.loss == "hamming":
            return SequenceMaterial(search, trained)
        return TaskMaterial(problem, trained, begun, names, runner)

    def _joined(
        self, material: SequenceMaterial | TaskMaterial, mixture: Mixture, weights: Any, key: int
    ) -> tuple[Mixture, float]:
        """The mixture with a new policy, and its share."""
        if self.beta != "search":
            return mixture.joined(weights, self.beta), self.beta
        best, least, share = mixture, math.inf, 0.0
        for beta in BETAS:
            tried = mixture.joined(weights, beta)
            loss = material.judge(*tried.judging(self.decide), key, held_out=True).loss
            if loss <= least:
                best, least, share = tried, loss, beta
        return best, share


def _metrics(begin: str, judged: Judged) -> dict[str, float]:
    """The loss of each decision, and how many of them were optimal."""
    decisions = max(judged.decisions, 1)
    found = {f"{begin}loss": judged.loss / decisions}
    if judged.right is not None:
        found[f"{begin}accuracy"] = judged.right / decisions
    return found
