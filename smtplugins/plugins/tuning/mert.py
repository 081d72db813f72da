"""Minimum error rate training: exact line search for any corpus metric, on n-best lists and hypergraphs.

F. J. Och, "Minimum Error Rate Training in Statistical Machine Translation" (2003); W. Macherey, F. Och, I. Thayer and
J. Uszkoreit, "Lattice-based Minimum Error Rate Training for Statistical Machine Translation" (2008). Moving along the
best of all directions goes back to M. J. D. Powell (1964). Restarts are those of an iterated local search: each begins
at the best weights so far with noise, at first as large as these are, at last a tenth of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.learners import ForestProblem, LearnerState, LearnerStep, ListProblem
from smtplugins.contracts.tools.learning import checked_weights
from smtplugins.plugins.tuning.common import column_of, sign_of, space_of
from smtplugins.plugins.tuning.cone import Cone, cones_around
from smtplugins.plugins.tuning.surfaces import line_search_problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.models import Model
    from smtplugins.contracts.runners import Runner
    from smtplugins.contracts.tools.optimisers import Space, Surfaces
    from smtplugins.plugins.tuning.surfaces import LineSearchProblem

    Array = NDArray[Any]

_RESTARTS = 20
_PATIENCE = 8
_NEAR_RESTARTS, _NEAR_PATIENCE = 5, 4
_DIRECTIONS = 30
_NEAR = 0.01
_LEAST_NOISE = 0.1
_BEYOND = 0.1
_MIXED = 4
_TIE = 1e-9


class Mert:
    """Minimum error rate training, for dense features and any metric.

    A round searches along each feature; if none helps, along random ``directions`` (by default as many as there are
    features, at most 30), which are redrawn up to ``patience`` times while the metric is within 1 % of the best so far.
    By default ``patience`` is 8, and ``restarts`` are 20 on lists and 0 on forests; within a ``reach``, they are 4 and
    5. Each of several ``runs`` has its own random numbers; their weights are averaged. ``reach`` keeps weights within a
    distance of the start, from 0 to 1.4 (``host/learn/trust_region.py``); the loop around a decoder sets it. ``fixed``
    lists features that keep their weights, ``bounds`` lists ``NAME=LOW:HIGH``, both separated by blanks.
    """

    accepts = frozenset({ListProblem, ForestProblem})

    def __init__(
        self,
        *,
        restarts: int | None = None,
        runs: int = 1,
        directions: int | None = None,
        patience: int | None = None,
        reach: float | None = None,
        fixed: str = "",
        bounds: str = "",
    ) -> None:
        if reach is not None and not reach > 0:
            raise UsageError(f"learner 'mert': reach: expected more than 0, found {reach}")
        for name, value, least in (
            ("restarts", restarts, 0), ("runs", runs, 1), ("directions", directions, 0), ("patience", patience, 0),
        ):  # fmt: skip
            if value is not None and value < least:
                raise UsageError(f"learner 'mert': {name}: expected {least} or more, found {value}")
        self.restarts = restarts
        self.runs = runs
        self.directions = directions
        self.patience = patience
        self.reach = reach
        self.fixed = fixed
        self.bounds = bounds

    def learn(
        self,
        problem: ListProblem | ForestProblem,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        """Yield a step per climb, or per round without restarts: the best weights so far, averaged over runs so far."""
        data = line_search_problem(problem)
        space = space_of(data.names, self.fixed, self.bounds, start.weights)
        directions = min(_DIRECTIONS, int(space.free.sum())) if self.directions is None else self.directions
        climb = (
            _initial_state(space.clipped(column_of(data.names, start.weights)), seed)
            if resume is None
            else _Climb.read(resume)
        )
        cones = [] if self.reach is None else cones_around(climb.origin, data.spread, data.size, self.reach)
        usual = 0 if isinstance(problem, ForestProblem) else _NEAR_RESTARTS if cones else _RESTARTS
        restarts = usual if self.restarts is None else self.restarts
        patience = (_NEAR_PATIENCE if cones else _PATIENCE) if self.patience is None else self.patience
        search = _Search(data, space, cones, directions, patience)
        while len(climb.done) < self.runs:
            progress = {"run": float(len(climb.done) + 1), "restart": float(climb.restart)}
            if search.round(climb):
                if climb.restart < restarts:
                    noise = _LEAST_NOISE ** (climb.restart / max(restarts - 1, 1))
                    climb.restart += 1
                    climb.begin(search.perturbed(climb, noise))
                else:
                    climb.finish(self.runs, seed)
            elif restarts:
                continue
            weights = climb.result(self.runs)
            # The score of a single run's best weights is known; that of a mean must be computed.
            score = climb.score if self.runs == 1 else search.sign * data.score(weights)
            assert score is not None
            ended = len(climb.done) == self.runs
            learnt = (checked_weights if ended else _by_name)(data.names, weights)
            merged = {**start.weights, **learnt}
            model = start.with_weights({name: merged[name] for name in sorted(merged)})
            objective = float(search.sign * score)
            yield LearnerStep(model, objective, {problem.metric.name: objective, **progress}, climb.to_state())


def _initial_state(origin: Array, seed: int) -> _Climb:
    """The state before the first round."""
    import numpy as np

    return _Climb(origin, origin, origin, np.random.default_rng([seed % 2**64, 0]), [])


def _by_name(names: tuple[str, ...], weights: Array) -> dict[str, float]:
    return dict(zip(names, weights.tolist(), strict=True))


@dataclass
class _Climb:
    """The state of a search: ``best`` and ``score`` of the run, ``held`` the score that this climb has reached.

    ``done`` holds the weights of completed runs; ``fails`` counts rounds without a gain.
    """

    origin: Array
    weights: Array
    best: Array
    random: Any
    done: list[Array]
    score: float | None = None
    held: float | None = None
    restart: int = 0
    fails: int = 0

    def begin(self, weights: Array) -> None:
        """Start the next climb at these weights."""
        self.weights, self.held, self.fails = weights, None, 0

    def finish(self, runs: int, seed: int) -> None:
        """End a run; the next begins at the same start with other random numbers."""
        import numpy as np

        self.done.append(self.best)
        if len(self.done) < runs:
            self.score, self.restart = None, 0
            self.random = np.random.default_rng([seed % 2**64, len(self.done)])
            self.begin(self.origin)

    def result(self, runs: int) -> Array:
        """The mean of the runs' best weights so far."""
        import numpy as np

        under_way = [self.best] if len(self.done) < runs and self.score is not None else []
        mean: Array = np.mean([*self.done, *under_way], axis=0)
        return mean

    def to_state(self) -> LearnerState:
        """The state for read()."""
        import numpy as np

        arrays = {"origin": self.origin, "weights": self.weights, "best": self.best}
        done = np.array(self.done).reshape(len(self.done), len(self.origin))
        values = {"score": self.score, "held": self.held, "restart": self.restart, "fails": self.fails}
        random = self.random.bit_generator.state
        return LearnerState(
            {name: array.copy() for name, array in {**arrays, "done": done}.items()}, {**values, "random": random}
        )

    @classmethod
    def read(cls, state: LearnerState) -> _Climb:
        import numpy as np

        random = np.random.default_rng(0)
        values = dict(state.values)
        random.bit_generator.state = values.pop("random")
        arrays = {name: state.arrays[name].copy() for name in ("origin", "weights", "best")}
        return cls(**arrays, random=random, done=list(state.arrays["done"]), **values)


class _Search:
    """Rounds of line search; gains are metric scores with the sign of 'higher is better'."""

    def __init__(
        self, data: LineSearchProblem, space: Space, cones: Sequence[Cone], directions: int, patience: int
    ) -> None:
        import numpy as np

        self._data = data
        self._space = space
        self._cones = cones
        self._patience = patience
        self._directions = directions
        self._axes = np.eye(len(data.names))[space.free]
        self._spread = data.spread
        known = np.where(data.spread > 0, data.spread, 1.0)
        self._unit = np.where(space.free & (data.spread > 0), 1.0 / known, 0.0)
        self._bounded = np.flatnonzero(space.free & (np.isfinite(space.low) | np.isfinite(space.high)))
        self.sign = sign_of(data.metric)

    def round(self, climb: _Climb) -> bool:
        """Search one round; return whether the climb has ended."""
        import numpy as np

        directions = self._random(climb.random) if climb.fails else self._axes
        limited = len(self._bounded) or self._cones
        reach = self._reach(directions, climb.weights) if limited else None
        surfaces = self._data.surfaces(climb.weights, directions, reach)
        now = float(self._gains(np.asarray(surfaces.present)))
        if climb.score is None or now > climb.score or not climb.best.any():
            climb.score, climb.best = now, climb.weights
        if climb.held is not None and not climb.fails and now <= climb.held:
            return True  # the predicted gain did not come: rounding errors
        climb.held = now
        # Zero weights choose no hypothesis: ignore the score of the first hypotheses of the lists.
        least = now if climb.weights.any() else -np.inf
        move = self._move(surfaces, directions, climb.weights, least, reach)
        if move is not None:
            climb.weights, climb.fails = self._rescale(climb.weights + move, climb.origin), 0
            return False
        climb.fails += 1
        near = now >= climb.score - _NEAR * abs(climb.score)
        return climb.fails > (self._patience if near and self._directions else 0)

    def perturbed(self, climb: _Climb, noise: float) -> Array:
        """The best weights plus noise, as a multiple of the features' typical contribution."""
        import numpy as np

        shares = (climb.best * self._spread)[self._space.free]
        typical = float(np.sqrt(np.mean(shares**2))) or 1.0
        moved = climb.best + noise * typical * self._unit * climb.random.standard_normal(len(self._unit))
        moved = self._space.clipped(moved)
        for cone in self._cones:
            moved = cone.pulled(moved, climb.best)
        return self._rescale(moved, climb.origin)

    def _gains(self, sums: Array) -> Array:
        import numpy as np

        scores = self.sign * np.asarray(self._data.metric.score(sums), dtype=np.float64)
        return np.where(np.isnan(scores), -np.inf, scores)

    def _random(self, random: Any) -> Array:
        """Random directions of a few features each, so that every pair and triple has some nearby."""
        import numpy as np

        shape = (self._directions, len(self._unit))
        order = random.random(shape) + (self._unit == 0)
        ranks = np.argsort(np.argsort(order, axis=1), axis=1)
        directions: Array = np.where(ranks < _MIXED, random.standard_normal(shape) * self._unit, 0.0)
        return directions

    def _rescale(self, weights: Array, origin: Array) -> Array:
        """Clip to the bounds; if no weight is fixed or bounded, rescale to the L1 norm of the start weights."""
        import numpy as np

        sized = self._space.clipped(weights)
        total = float(np.abs(sized).sum())
        if len(self._bounded) or np.any(origin[~self._space.free]) or not total:
            return sized
        return sized * ((float(np.abs(origin).sum()) or 1.0) / total)

    def _move(
        self, surfaces: Surfaces, directions: Array, weights: Array, now: float, reach: tuple[Array, Array] | None
    ) -> Array | None:
        """The move to the middle of the best interval along any direction, the nearest on ties; None without a gain."""
        import numpy as np

        offsets, starts = surfaces.offsets, surfaces.starts
        if not len(starts):
            return None
        ends = np.append(starts[1:], np.inf)
        ends[offsets[1:] - 1] = np.inf
        gains = np.where(np.isinf(starts) & np.isinf(ends), -np.inf, self._gains(surfaces.sums))
        if reach is not None:
            low, high = (np.repeat(end, np.diff(offsets)) for end in reach)
            starts, ends = np.maximum(starts, low), np.minimum(ends, high)
            gains = np.where(starts < ends, gains, -np.inf)
        top = float(gains.max())
        tie = _TIE * max(1.0, abs(top)) if np.isfinite(top) else 0.0
        if not top > now + tie:
            return None
        best = np.flatnonzero(gains >= top - tie)
        which = np.searchsorted(offsets, best, side="right") - 1
        # Join adjacent intervals with the same score.
        joins = np.flatnonzero((np.diff(best) == 1) & (np.diff(which) == 0))
        first, last = np.delete(best, joins + 1), np.delete(best, joins)
        which = np.delete(which, joins + 1)
        lengths = np.abs(directions[which]) @ self._spread
        step = _BEYOND * (float(np.abs(weights) @ self._spread) or 1.0) / np.where(lengths > 0, lengths, 1.0)
        begin, end = starts[first], ends[last]
        begin, end = np.where(np.isinf(begin), end - 2 * step, begin), np.where(np.isinf(end), begin + 2 * step, end)
        places = (begin + end) / 2
        nearest = int(np.argmin(np.abs(places) * lengths))
        move: Array = places[nearest] * directions[which[nearest]]
        return move

    def _reach(self, directions: Array, weights: Array) -> tuple[Array, Array]:
        """How far each direction can be followed, down and up, until a weight reaches its bound or a cone's edge."""
        import numpy as np

        which = self._bounded
        by = directions[:, which]
        down, up = self._space.low[which] - weights[which], self._space.high[which] - weights[which]
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = down / by, up / by
        still = by == 0
        low = np.where(still, -np.inf, np.minimum(first, second))
        high = np.where(still, np.inf, np.maximum(first, second))
        least, most = low.max(axis=1, initial=-np.inf), high.min(axis=1, initial=np.inf)
        for cone in self._cones:
            below, above = cone.reach(directions, weights)
            least, most = np.maximum(least, below), np.minimum(most, above)
        return least, most
