"""``drl``: discriminative reinforcement learning of a linear policy for any search task.

A. Gesmundo and J. Henderson, "Undirected Machine Translation with Discriminative Reinforcement Learning" (2014),
algorithm 2 and section 3.2: from a state on the policy's own path, try another action and follow the policy from there.
If that path ends with a higher reward, the weights move by its features minus those of the path taken. Weights are
averaged as in H. Daume III, "Practical Structured Learning Techniques" (2006), 2.1.1. Learning from worse alternatives,
too, with logistic steps and scaled features is ours (``learning/updates.py``).
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import LearnerState, LearnerStep
from smtplugins.contracts.runners import Runner
from smtplugins.contracts.spec import suggestion
from smtplugins.contracts.tasks import TaskProblem
from smtplugins.contracts.tools.learning import Weights, follow, ranked
from smtplugins.contracts.tools.optimisers import difference
from smtplugins.plugins.umt.learning.samplers import ActionSampler, StateSampler, action_sampler, state_sampler
from smtplugins.plugins.umt.learning.updates import Scale, Update, longer, squares_of, update_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tasks import SearchTask

    Array = NDArray[Any]


_LEAST = 1e-200
"""Feature differences with a smaller squared norm count as zero."""


class Drl:
    """Learn a policy by trying another action once per example and epoch and comparing the rewards of both paths.

    ``state`` samples the state on the path: ``uniform`` (any with an action), ``first`` or ``last``. ``action`` samples
    the other action: ``zipf`` (rank k with probability proportional to 1 / k^``exponent``), ``uniform``, ``second``
    (the second best) or ``softmax`` (proportional to exp(score / ``temperature``)).

    ``update``: ``perceptron`` takes a step of size ``rate``; keep it small if the start weights are good, while its
    size does not matter if they are 0. ``aggressive`` takes as many of these steps as the better path needs to be
    preferred. ``pa`` takes the shortest step to a margin of 1. ``mira`` takes the shortest step to a margin of
    ``scale`` times the difference of rewards, at most ``c``. ``logistic`` follows the gradient of the expected reward
    if the better path is chosen with probability 1 / (1 + exp(-margin / ``width``)): a step of ``rate`` times the
    difference of rewards, shorter the more certain the policy is of either path. ``both`` also updates if the policy's
    own path was better. ``scaling=variance`` divides each feature's step by the mean square of its differences so far,
    which makes its unit irrelevant. These three are not in the paper and are meant to be used together:
    ``update=logistic,both=true,scaling=variance``.

    ``features``: those of the rest of the ``path``, or of the ``first`` action only. An action's value is the sum of
    later rewards, discounted by ``discount`` per action. ``counter``: average the weights after all ``examples``, or
    after ``updates`` only, as in the author's earlier code. ``fixed``: names or shell patterns, separated by spaces, of
    weights that are not learnt.

    In Python ``state``, ``action`` and ``update`` may also be functions: a ``StateSampler`` or ``ActionSampler`` of
    ``learning/samplers.py``, an ``Update`` of ``learning/updates.py``. A sampler must draw its random numbers from the
    generator it is passed, so that resumed runs continue identically. ``Drl(action=lambda scores, random:
    len(scores) - 1)`` always tries the worst action.
    """

    accepts = frozenset({TaskProblem})

    def __init__(
        self,
        *,
        epochs: int = 10,
        state: str | StateSampler = "uniform",
        action: str | ActionSampler = "zipf",
        exponent: float = 1.0,
        temperature: float = 1.0,
        update: str | Update = "perceptron",
        rate: float = 0.0003,
        c: float = 0.01,
        scale: float = 1.0,
        width: float = 1.0,
        both: bool = False,
        scaling: Literal["none", "variance"] = "none",
        features: Literal["path", "first"] = "path",
        discount: float = 1.0,
        average: bool = True,
        counter: Literal["examples", "updates"] = "examples",
        shuffle: bool = True,
        fixed: str = "",
    ) -> None:
        if epochs < 1 or not all(value > 0 for value in (rate, c, scale, width)):
            raise UsageError("drl: expected epochs of 1 or more, and rate, c, scale and width above 0")
        if not 0 <= discount <= 1:
            raise UsageError(f"drl: discount: expected a number from 0 to 1, found {discount}")
        self.epochs, self.features, self.discount = epochs, features, discount
        self.average, self.counter, self.shuffle, self.fixed = average, counter, shuffle, fixed
        self.state = state_sampler(state)
        self.action = action_sampler(action, exponent, temperature)
        self.update = update_of(update, rate, c, scale, width)
        self.both, self.scaled = both, scaling == "variance"

    def learn(
        self,
        problem: TaskProblem,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        """Yield a step for each epoch; its objective is the mean reward of the policy's paths."""
        from smtplugins.contracts.tools.running import progress

        examples = problem.examples
        if not len(examples):
            raise SmtError("drl: expected examples to learn from, found none")
        run = _Learnt.begin(start, self.fixed, seed, resume, self.scaled)
        while run.done < self.epochs:
            order = run.random.permutation(len(examples)).tolist() if self.shuffle else range(len(examples))
            epoch = _Epoch()
            for index in progress(order, f"epoch {run.done + 1}", total=len(examples)):
                self._example(problem.search, examples[index], run, epoch)
            run.done += 1
            if not epoch.actions:
                raise SmtError("drl: expected examples with actions to choose from, found final states only")
            run.check_fixed()
            yield LearnerStep(run.model(start, self.average), _mean(epoch.totals), epoch.metrics(), run.state())

    def _example(self, search: SearchTask, example: Any, run: _Learnt, epoch: _Epoch) -> None:
        """Sample an alternative and update the weights if it was better (or, with ``both``, worse)."""
        path = follow(search, search.begin(example), run.weights)
        epoch.actions += len(path)
        epoch.totals.append(path.value(0, self.discount))
        moved = False
        if len(path):
            at = _inside(self.state(path, run.random), len(path), "state")
            actions, scores = ranked(search, path.state(at), run.weights)
            if len(actions) > 1:
                chosen = actions[1 + _inside(self.action(scores[1:], run.random), len(actions) - 1, "action")]
                other = follow(search, path.state(at), run.weights, chosen)
                taken, tried = path.value(at, self.discount), other.value(0, self.discount)
                epoch.taken.append(taken)
                epoch.tried.append(tried)
                if taken < tried or (self.both and tried < taken):
                    whole = self.features == "path"
                    good, bad = (other.features(0), path.features(at)) if whole else (other.first(0), path.first(at))
                    if tried < taken:
                        good, bad = bad, good
                    moved = run.move(good, bad, self.update, abs(tried - taken))
        epoch.updates += moved
        run.count += moved or self.counter == "examples"


@dataclass
class _Epoch:
    """The statistics of an epoch: rewards of whole paths, and of both paths of each sample."""

    totals: list[float] = field(default_factory=list)
    taken: list[float] = field(default_factory=list)
    tried: list[float] = field(default_factory=list)
    actions: int = 0
    updates: int = 0

    def metrics(self) -> dict[str, float]:
        return {
            "updates": float(self.updates),
            "samples": float(len(self.taken)),
            "reward": _mean(self.taken),
            "alternatives": _mean(self.tried),
        }


def _inside(number: int, count: int, what: str) -> int:
    if not 0 <= number < count:
        raise UsageError(f"drl: {what}: expected the sampler to return a number from 0 to {count - 1}, found {number}")
    return number


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / max(len(values), 1)


@dataclass
class _Learnt:
    """The state of a run: weights, sums for their average, and everything else needed to resume."""

    weights: Weights
    total: Array
    count: int
    random: Any
    fixed: tuple[str, ...]
    done: int = 0
    scale: Scale | None = None
    _free: Array | None = None

    @classmethod
    def begin(cls, start: Model, fixed: str, seed: int, resume: LearnerState | None, scaled: bool) -> _Learnt:
        """Begin with the start weights, or resume after the step that left a state."""
        import numpy as np

        random = np.random.default_rng(seed)
        patterns = tuple(fixed.split())
        if resume is None:
            weights = Weights.of(start.weights)
            scale = Scale.blank(len(weights)) if scaled else None
            return cls(weights, np.zeros(len(weights)), 0, random, patterns, scale=scale)
        arrays, values = resume.arrays, resume.values
        random.bit_generator.state = values["random"]
        weights = Weights(values["names"], arrays["weights"])
        scale = Scale(arrays["squares"].copy(), arrays["counts"].copy()) if scaled else None
        return cls(weights, arrays["total"].copy(), values["count"], random, patterns, values["done"], scale)

    def move(self, good: tuple[Array, Array], bad: tuple[Array, Array], update: Update, gain: float) -> bool:
        """Move the weights towards the features ``good``, away from ``bad``; returns whether they changed."""
        import numpy as np

        ids, values = difference(good, bad)
        kept = self._free_of(ids)
        with np.errstate(over="ignore", invalid="ignore"):
            margin = float((self.weights.array[ids] * values).sum())
            ids, values = ids[kept], values[kept]
            if float((values * values).sum()) < _LEAST:
                return False
            along = values
            if self.scale is not None:
                sides = squares_of(ids, good) + squares_of(ids, bad)
                along = self.scale.along(ids, values, sides, len(self.weights))
            norm = float((values * along).sum())
        step = update(margin, norm, gain) if math.isfinite(margin) and math.isfinite(norm) else math.nan
        if not step:
            return False
        self.total = longer(self.total, len(self.weights))
        with np.errstate(over="ignore", invalid="ignore"):
            self.weights.array[ids] += step * along
            # The update applies to the weights after this example and all later ones.
            self.total[ids] += self.count * (step * along)
        if not np.isfinite(self.weights.array[ids]).all():
            self._refuse(self.weights.array)
        return True

    def _free_of(self, ids: Array) -> Array:
        """Return a mask of the weights that are not fixed."""
        import numpy as np

        if self._free is None or len(self._free) < len(self.weights):
            self._free = np.ones(len(self.weights), dtype=bool)
            for pattern in self.fixed:
                self._free[self._matching(pattern)] = False
        free: Array = self._free[ids]
        return free

    def _matching(self, pattern: str) -> list[int]:
        names = self.weights.names
        exact = [at for at, name in enumerate(names) if name == pattern]
        return exact or [at for at, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)]

    def check_fixed(self) -> None:
        """Raise UsageError for patterns that match no feature; called after an epoch, when all features are known."""
        import numpy as np

        for pattern in self.fixed:
            if not self._matching(pattern):
                raise UsageError(f"fixed: no feature is called {pattern!r}{suggestion(pattern, self.weights.names)}")
        if len(self.weights) and not self._free_of(np.arange(len(self.weights))).any():
            raise UsageError("fixed: all features are fixed, nothing is left to learn")

    def _refuse(self, values: Array) -> None:
        import numpy as np

        bad = [name for name, value in zip(self.weights.names, values.tolist(), strict=True) if not np.isfinite(value)]
        shown = ", ".join(sorted(bad)[:5])
        raise SmtError(f"drl: expected finite weights, found infinity or NaN ({shown}): scale these features")

    def model(self, start: Model, average: bool) -> Model:
        """Return the model of a step, with averaged or current weights."""
        import numpy as np

        values = self.weights.array.copy()
        if average and self.count:
            values[: len(self.total)] -= self.total / self.count
        if not np.isfinite(values).all():
            self._refuse(values)
        weights = {**start.weights, **Weights(self.weights.names, values).mapping()}
        return start.with_weights({name: weights[name] for name in sorted(weights)})

    def state(self) -> LearnerState:
        """Return everything needed to resume."""
        arrays = {"weights": self.weights.array.copy(), "total": self.total.copy()}
        if self.scale is not None:
            arrays |= {"squares": self.scale.squares.copy(), "counts": self.scale.counts.copy()}
        values = {
            "names": list(self.weights.names),
            "count": self.count,
            "done": self.done,
            "random": self.random.bit_generator.state,
        }
        return LearnerState(arrays, values)
