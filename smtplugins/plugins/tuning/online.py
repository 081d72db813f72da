"""Online learning: hope, fear and best hypotheses of lists and forests, and averaged weights.

Hope has the highest score plus gain, fear the highest score minus gain (D. Chiang, "Hope and Fear for Discriminative
Training of Statistical Translation Models", 2012). Weights are averaged lazily (H. Daume III, "Practical Structured
Learning Techniques for Natural Language Processing", 2006, 2.1.1): a step costs time in its own features only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from smtplugins.contracts.learners import ForestProblem, LearnerState, ListProblem
from smtplugins.contracts.tools.learning import matrix_of
from smtplugins.plugins.tuning.common import (
    best_score,
    column_of,
    rows_of,
    sentence_gains,
    sign_of,
    space_of,
    updated_model,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tools.optimisers import Space

    Array = NDArray[Any]

BEST, HOPE, FEAR, ORACLE = 0.0, 1.0, -1.0, float("inf")
"""Factors of the gain when a hypothesis is chosen by score + factor * gain."""

USUAL_SCALE = 10.0
"""The default scale of gains, about the words in a sentence, if scores under the start weights do not vary."""

_RATIO = 10.0
"""Ratio of the spread of gains to that of scores within lists: about as in Moses, whose start weights sum to 1."""


@dataclass(frozen=True)
class ScoredHypothesis:
    """A chosen hypothesis with its score, gain and features; its metric statistics only if it is from a list."""

    score: float
    gain: float
    features: tuple[Array, Array]
    stats: Array | None = None


class SentenceView(Protocol):
    """The hypotheses of one sentence with their gains."""

    def choose(self, weights: Array, *factors: float) -> list[ScoredHypothesis]:
        """The hypothesis with the highest score + factor * gain, for each factor."""


class Source(Protocol):
    """The sentences of a problem. ``worth`` is the metric of the 1-best hypotheses, in the metric's own unit.

    If ``updates_only``, the average is over updates, with the start weights once more than it counts; the background
    changes only where hope and fear differ; and the start weights are no candidate for the result.
    """

    names: tuple[str, ...]
    length: float
    updates_only: bool

    def __len__(self) -> int: ...

    def view(self, index: int, background: Array | None) -> SentenceView: ...

    def background(self) -> Array | None: ...

    def worth(self, weights: Array) -> float: ...

    def better(self, value: float, other: float) -> bool: ...


class ListSource:
    """N-best lists, with gains of single sentences or relative to background statistics (a pseudo-corpus).

    The background starts as the statistics of an average sentence; those of hypotheses chosen later are added and fade.
    Its last number counts sentences. A gain is the change of the background's score when the hypothesis is added, times
    the number of sentences it then has.

    Gains are multiplied by ``scale``. If it is None, they are scaled to vary within lists ten times as much as the
    scores do under the weights ``origin``, whatever the length of these; by 10 if the scores do not vary. ``length`` is
    10 over that factor.
    """

    updates_only = False

    def __init__(self, problem: ListProblem, scale: float | None, background: bool, origin: Array) -> None:
        self.metric = problem.metric
        self.matrix = matrix_of(problem)
        self.names = self.matrix.names
        self.rows = rows_of(self.matrix)
        self.bounds = self.matrix.lists.tolist()
        gains, self.unit = sentence_gains(self.metric, self.matrix.stats)
        self.length = 1.0
        if scale is None:
            scale = USUAL_SCALE
            spread = self.matrix.spread_of(self.matrix.scores(origin))
            self.length = scale * self.matrix.spread_of(gains) / (_RATIO * spread) if spread else 1.0
            scale /= self.length or 1.0
        self.gains = scale * gains
        self.factor = scale * sign_of(self.metric) / self.unit
        self.wanted = background

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def background(self) -> Array | None:
        """The initial background; None if gains are those of single sentences."""
        import numpy as np

        return np.append(self.matrix.stats.mean(axis=0), 1.0) if self.wanted else None

    def view(self, index: int, background: Array | None) -> ListView:
        """A sentence's list with its gains."""
        import numpy as np

        first, last = self.bounds[index], self.bounds[index + 1]
        if background is None:
            return ListView(self, first, last, self.gains[first:last])
        behind, count = background[:-1], background[-1]
        scores = np.asarray(self.metric.score(np.vstack([behind, behind + self.matrix.stats[first:last]])))
        gains = self.factor * (count + 1) * (scores[1:] - scores[0])
        return ListView(self, first, last, gains)

    def worth(self, weights: Array) -> float:
        return best_score(self.metric, self.matrix, weights)

    def better(self, value: float, other: float) -> bool:
        return sign_of(self.metric) * (value - other) > 0


@dataclass(frozen=True)
class ListView:
    """A list: the rows from ``first`` up to but not including ``last``."""

    source: ListSource
    first: int
    last: int
    gains: Array

    def choose(self, weights: Array, *factors: float) -> list[ScoredHypothesis]:
        import numpy as np

        scores = self.source.rows.part_scores(self.first, self.last, weights)
        chosen = []
        for factor in factors:
            if factor == ORACLE:
                top = np.flatnonzero(self.gains == self.gains.max())
                at = int(top[np.argmax(scores[top])])
            else:
                at = int(np.argmax(scores + factor * self.gains if factor else scores))
            row = self.first + at
            features, stats = self.source.rows.row(row), self.source.matrix.stats[row]
            chosen.append(ScoredHypothesis(float(scores[at]), float(self.gains[at]), features, stats))
        return chosen


@dataclass
class Averaged:
    """The current weights, the running sums of their average, and the best average so far.

    ``extra`` is added to the sum of the weights, though not to their number.
    """

    weights: Array
    space: Space
    total: Array
    examples: int = 0
    best: Array = field(default_factory=lambda: _nothing())
    value: float | None = None
    extra: Array | None = None

    def free(self, features: tuple[Array, Array]) -> tuple[Array, Array]:
        """Keep the features whose weights are not fixed."""
        ids, values = features
        kept = self.space.free[ids]
        return ids[kept], values[kept]

    def add(self, ids: Array, values: Array) -> None:
        """Add values to the weights, clipped to their bounds."""
        before = self.weights[ids]
        after = self.space.clipped(before + values, ids)
        self.weights[ids] = after
        # Counts for this example and all later ones: the average is over the weights after each example.
        self.total[ids] += self.examples * (after - before)

    def mean(self) -> Array:
        """The average of the weights after each example."""
        mean: Array = self.weights - self.total / max(self.examples, 1)
        if self.extra is not None and self.examples:
            mean = mean + self.space.free * self.extra / self.examples
        return self.space.clipped(mean)


def _nothing() -> Array:
    import numpy as np

    return np.empty(0)


@dataclass
class Online:
    """The state of an online learner's run, which can be saved and resumed."""

    source: Source
    now: Averaged
    random: Any
    background: Array | None
    origin: Array
    done: int = 0

    @classmethod
    def begin(
        cls, source: Source, start: Model, fixed: str, bounds: str, seed: int, resume: LearnerState | None
    ) -> Online:
        """Begin at the start weights, or after the step whose state is given."""
        import numpy as np

        space = space_of(source.names, fixed, bounds, start.weights)
        random = np.random.default_rng(seed)
        if resume is None:
            origin = column_of(source.names, start.weights)
            weights = space.clipped(origin)
            now = Averaged(
                weights, space, np.zeros(len(weights)), extra=weights.copy() if source.updates_only else None
            )
            if weights.any() and not source.updates_only:
                # The start weights are the result if nothing better is found.
                now.best, now.value = weights.copy(), source.worth(weights)
            return cls(source, now, random, source.background(), origin)
        arrays, values = resume.arrays, resume.values
        random.bit_generator.state = values["random"]
        now = Averaged(
            arrays["weights"].copy(), space, arrays["total"].copy(), values["examples"], arrays["best"], values["value"]
        )
        now.extra = space.clipped(arrays["origin"]) if source.updates_only else None
        return cls(source, now, random, arrays.get("background"), arrays["origin"], values["done"])

    def keep(self, average: bool, best: bool) -> None:
        """End an epoch: keep its (averaged) weights if they are the best so far, or always if not ``best``."""
        weights = self.now.mean() if average else self.now.weights.copy()
        value = self.source.worth(weights)
        if not best or self.now.value is None or self.source.better(value, self.now.value):
            self.now.best, self.now.value = weights, value
        self.done += 1

    def model(self, start: Model) -> Model:
        """The start model with the weights kept so far."""
        return updated_model(start, self.source.names, self.now.best)

    def state(self) -> LearnerState:
        """The state a later call resumes from."""
        now = self.now
        arrays = {"weights": now.weights.copy(), "total": now.total.copy(), "best": now.best, "origin": self.origin}
        if self.background is not None:
            arrays["background"] = self.background
        values = {
            "random": self.random.bit_generator.state, "examples": now.examples, "value": now.value, "done": self.done
        }  # fmt: skip
        return LearnerState(arrays, values)


def order(run: Online) -> Sequence[int]:
    """Draw the order of the sentences in the next epoch."""
    indices: list[int] = run.random.permutation(len(run.source)).tolist()
    return indices


class OnlineLearner:
    """What online learners share: they accept lists and forests, and begin alike."""

    accepts = frozenset({ListProblem, ForestProblem})
    scale: float | None
    fixed: str
    bounds: str
    pop_limit: int
    form: Mapping[str, float]

    def begin(
        self,
        problem: ListProblem | ForestProblem,
        start: Model,
        background: bool,
        seed: int,
        resume: LearnerState | None,
    ) -> Online:
        """Begin or resume; forests are refined with the initial weights of the run."""
        origin = None if resume is None else resume.arrays["origin"]
        if isinstance(problem, ListProblem):
            begun = matrix_of(problem).column(start.weights) if origin is None else origin
            source: Source = self.lists(problem, background, begun)
        else:
            from smtplugins.plugins.tuning.gains import ForestSource, usual_form

            form = {**usual_form(problem.metric), **self.form}
            source = ForestSource(problem, start.weights, self.scale, self.pop_limit, origin, form)
        return Online.begin(source, start, self.fixed, self.bounds, seed, resume)

    def lists(self, problem: ListProblem, background: bool, origin: Array) -> ListSource:
        """The lists with their gains."""
        return ListSource(problem, self.scale, background, origin)
