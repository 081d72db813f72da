"""``drl``: discriminative reinforcement learning of a linear policy for any search task.

A. Gesmundo and J. Henderson, "Undirected Machine Translation with Discriminative Reinforcement Learning" (2014),
algorithm 2 and section 3.2: from a state of the policy's own path, another action is tried and the policy followed from
there. If that ends with a higher reward, the weights move by the features of the better path less those of the path
taken. Averages are kept as in H. Daume III, "Practical Structured Learning Techniques" (2006), 2.1.1. Learning from
alternatives that were worse, too, with logistic steps and scaled features is ours (``learning/updates.py``).
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.contracts import Runner, State, Step, Task
from smtplugins.contracts.spec import suggestion
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.learn.search_tasks import Weights, follow, ranked
from smtplugins.plugins.umt.learning.samplers import ActionSampler, StateSampler, action_sampler, state_sampler
from smtplugins.plugins.umt.learning.updates import Scale, Update, longer, squares_of, update_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.contracts import SearchTask
    from smtplugins.host.model import Model

    Array = NDArray[Any]


_LEAST = 1e-200
"""Sums of features whose difference is no longer than the root of this are taken for equal."""


class Drl:
    """A policy learnt by trying other actions, one for each example and epoch, and comparing where paths end.

    ``state`` says from which state of the path: ``uniform`` any that has an action, ``first``, ``last``. ``action``
    says which other action: ``zipf`` the one of rank k as likely as 1 / k^``exponent``, ``uniform``, ``second`` the
    next to the best, ``softmax`` as likely as exp(score / ``temperature``). ``update``: ``perceptron`` a step of length
    ``rate``, small for weights that are good already, while it does not matter for such as begin at 0; ``aggressive``
    as many of these as the better path needs to be preferred; ``pa`` the shortest step that makes it preferred by 1;
    ``mira`` the shortest that makes it preferred by ``scale`` times the difference of rewards, at most ``c`` long.
    ``logistic`` follows the reward to be expected if the better path were chosen with the probability
    1 / (1 + exp(-margin / ``width``)): a step of ``rate`` times the difference of rewards, shorter the surer the policy
    is of either path. ``both``: the weights also move if what the policy took was better. ``scaling``: with
    ``variance`` each feature's step is divided by the mean square of its differences so far, so that its unit does not
    matter. These three are not the paper's; they go together, as ``update=logistic,both=true,scaling=variance``.
    ``features``: those of the rest of the ``path``, or of the ``first`` action only. What an action is worth is the
    reward to come, each later one counting ``discount`` times as much as the one before. ``counter``: the average is
    over the weights after all ``examples``, or after ``updates`` only, as in the author's earlier code.
    ``fixed``: names, or patterns as of a shell, of weights that are not learnt.

    In Python ``state``, ``action`` and ``update`` may also be functions: a ``StateSampler`` or ``ActionSampler`` of
    ``learning/samplers.py``, an ``Update`` of this module. A sampler takes its random numbers from the generator it is
    given, and keeps none: runs that are resumed go on with it. ``Drl(action=lambda scores, random: len(scores) - 1)``
    always tries the worst action.
    """

    accepts = frozenset({Task})

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
        if epochs < 1 or not all(one > 0 for one in (rate, c, scale, width)):
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
        self, problem: Task, start: Model, *, resume: State | None = None, seed: int = 1, runner: Runner | None = None
    ) -> Iterator[Step]:
        """A step for each epoch; the objective is the mean reward of the paths of its examples."""
        from smtplugins.host.progress import progress

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
                raise SmtError("drl: expected examples with actions to choose from, found ends only")
            run.check_fixed()
            yield Step(run.model(start, self.average), _mean(epoch.totals), epoch.metrics(), run.state())

    def _example(self, search: SearchTask, example: Any, run: _Learnt, epoch: _Epoch) -> None:
        """One sample, and a move of the weights if the policy was wrong in it."""
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
    """What happened in an epoch: rewards of whole paths, and of both sides of each sample."""

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
        raise UsageError(f"drl: {what}: expected the sampler to give a number from 0 to {count - 1}, found {number}")
    return number


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / max(len(values), 1)


@dataclass
class _Learnt:
    """Where a run stands: weights, what their average is made of, and all else that is needed to go on."""

    weights: Weights
    total: Array
    count: int
    random: Any
    fixed: tuple[str, ...]
    done: int = 0
    scale: Scale | None = None
    _free: Array | None = None

    @classmethod
    def begin(cls, start: Model, fixed: str, seed: int, resume: State | None, scaled: bool) -> _Learnt:
        """From the start weights, or behind the step that had a state."""
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
        """Towards one sum of features, away from the other; returns whether the weights moved."""
        import numpy as np

        from smtplugins.core.learn.objectives import difference

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
            # Counts for the weights behind this example and all after it.
            self.total[ids] += self.count * (step * along)
        if not np.isfinite(self.weights.array[ids]).all():
            self._refuse(self.weights.array)
        return True

    def _free_of(self, ids: Array) -> Array:
        """Which of these weights may change."""
        import numpy as np

        if self._free is None or len(self._free) < len(self.weights):
            self._free = np.ones(len(self.weights), dtype=bool)
            for pattern in self.fixed:
                self._free[self._matching(pattern)] = False
        found: Array = self._free[ids]
        return found

    def _matching(self, pattern: str) -> list[int]:
        names = self.weights.names
        exact = [at for at, name in enumerate(names) if name == pattern]
        return exact or [at for at, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)]

    def check_fixed(self) -> None:
        """After an epoch it is known which features there are: patterns that name none of them are errors."""
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
        raise SmtError(f"drl: learning led to weights that are no numbers ({shown}): scale these features")

    def model(self, start: Model, average: bool) -> Model:
        """The model of a step: averaged weights, or those of now."""
        import numpy as np

        values = self.weights.array.copy()
        if average and self.count:
            values[: len(self.total)] -= self.total / self.count
        if not np.isfinite(values).all():
            self._refuse(values)
        found = {**start.weights, **Weights(self.weights.names, values).mapping()}
        return start.with_weights({name: found[name] for name in sorted(found)})

    def state(self) -> State:
        """All that is needed to go on."""
        arrays = {"weights": self.weights.array.copy(), "total": self.total.copy()}
        if self.scale is not None:
            arrays |= {"squares": self.scale.squares.copy(), "counts": self.scale.counts.copy()}
        values = {
            "names": list(self.weights.names),
            "count": self.count,
            "done": self.done,
            "random": self.random.bit_generator.state,
        }
        return State(arrays, values)
