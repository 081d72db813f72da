"""``local-maxent``: stochastic gradient descent for choices among a few alternatives.

C. Tillmann and T. Zhang, "A Localized Prediction Model for Statistical Machine Translation" (ACL 2005), section 4,
equations 8 and 9; also the multi-class perceptron of their comparison, after M. Collins (2002).
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import EventProblem, LearnerState, LearnerStep
from smtplugins.contracts.models import Files
from smtplugins.contracts.runners import Runner
from smtplugins.contracts.spec import suggestion
from smtplugins.plugins.localized._localized import descend_rows
from smtplugins.plugins.localized.learning.problem import BIGRAM, BlockEvents
from smtplugins.plugins.localized.model.bigrams import BigramWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.learners import EventRows
    from smtplugins.contracts.models import Model

    Array = NDArray[Any]

_SLICE = 1 << 18


class LocalMaxent:
    """Maximise the probability of each event's right alternative by stochastic gradient descent.

    Each of ``passes`` visits a random ``portion`` of the events in random order. A step is ``rate`` times the features
    of the right alternative minus the expected features. ``schedule``: the rate is constant (``fixed``), divided by
    1 + ``decay`` times the passes done so far (``inverse``), or halved after each pass that did not lower the objective
    (``progress``). ``update=perceptron``: the step uses the features of the highest-scored wrong alternative instead of
    expected features, and is made only if that scores at least as high as the right alternative. The objective is the
    mean negative log probability of the right alternatives, each before its own step. ``fixed``: names or shell
    patterns, separated by spaces, of weights that are not learnt; ``block-bigram`` stands for all block bigrams.

    The paper's rate is a small power of ten, illegible in the only available copy, most likely 1e-5.
    """

    accepts = frozenset({EventProblem})

    def __init__(
        self,
        *,
        passes: int = 40,
        rate: float = 1e-5,
        schedule: Literal["fixed", "inverse", "progress"] = "fixed",
        decay: float = 1.0,
        portion: float = 1.0,
        update: Literal["maxent", "perceptron"] = "maxent",
        shuffle: bool = True,
        fixed: str = "",
    ) -> None:
        if passes < 1 or not (rate > 0 and math.isfinite(rate)) or not decay >= 0:
            raise UsageError("local-maxent: expected passes of 1 or more, a rate above 0 and a decay of 0 or more")
        if not 0 < portion <= 1:
            raise UsageError(f"local-maxent: portion: expected a number above 0, at most 1, found {portion}")
        self.passes, self.rate, self.schedule, self.decay = passes, rate, schedule, decay
        self.portion, self.update, self.shuffle, self.fixed = portion, update, shuffle, fixed

    def learn(
        self,
        problem: EventProblem,
        start: Model,
        *,
        resume: LearnerState | None = None,
        seed: int = 1,
        runner: Runner | None = None,
    ) -> Iterator[LearnerStep]:
        """Yield a step for each pass."""
        from smtplugins.contracts.tools.running import progress

        run: _Run
        patterns = tuple(self.fixed.split())
        if isinstance(problem, BlockEvents):
            run = _BlockRun(problem, start, patterns, resume)
        else:
            run = _RowsRun(problem, start, patterns, resume)
        values: Mapping[str, Any] = resume.values if resume is not None else {}
        done, events = values.get("passes", 0), values.get("events", 0)
        rate, last = values.get("rate", self.rate), values.get("objective", math.inf)
        while done < self.passes:
            total, count = 0.0, 0
            slices = self._slices(run, [seed, done])
            per_pass = max(1, math.ceil(self.portion * run.known_size))
            decay = self.decay / per_pass if self.schedule == "inverse" else 0.0
            for piece, order in progress(slices, f"pass {done + 1}"):
                total += run.descend(piece, order, rate, decay, events, self.update)
                count += len(order)
                events += len(order)
            if not count:
                raise SmtError("local-maxent: expected events to learn from, found none")
            done += 1
            objective = total / count
            if not math.isfinite(objective) or not run.finite():
                raise SmtError(
                    "local-maxent: the objective is not finite: lower the learning rate, or scale the features"
                )
            run.check_fixed()
            used = rate
            if self.schedule == "progress" and objective >= last:
                rate /= 2
            last = objective
            state = {"passes": done, "events": events, "rate": rate, "objective": objective}
            metrics = {"events": float(count), "rate": used / (1 + decay * (events - count))}
            yield LearnerStep(run.model(start), objective, metrics, run.state(state))

    def _slices(self, run: _Run, seed: list[int]) -> Iterator[tuple[int, Array]]:
        """Yield the events of a pass in slices: a piece and event numbers in it."""
        import numpy as np

        random = np.random.default_rng(seed)
        pieces = range(run.pieces)
        for piece in random.permutation(len(pieces)).tolist() if self.shuffle else pieces:
            size = run.size(piece)
            order = random.permutation(np.arange(size, dtype=np.uint32)) if self.shuffle else np.arange(size)
            order = order[: math.ceil(self.portion * size)].astype(np.uint32, copy=False)
            for first in range(0, len(order), _SLICE):
                yield piece, order[first : first + _SLICE]


class _Run(Protocol):
    """A run: events, and the weights being learnt."""

    @property
    def pieces(self) -> int: ...

    @property
    def known_size(self) -> int:
        """The number of events."""

    def size(self, piece: int) -> int: ...

    def descend(self, piece: int, order: Array, rate: float, decay: float, done: int, update: str) -> float: ...

    def finite(self) -> bool: ...

    def check_fixed(self) -> None: ...

    def model(self, start: Model) -> Model: ...

    def state(self, values: dict[str, Any]) -> LearnerState: ...


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(name == pattern or fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _check_fixed(names: list[str], patterns: tuple[str, ...]) -> None:
    """Raise UsageError for patterns that match no feature, and if all features are fixed."""
    for pattern in patterns:
        if not any(_matches(name, (pattern,)) for name in names):
            raise UsageError(f"fixed: no feature is called {pattern!r}{suggestion(pattern, names)}")
    if names and all(_matches(name, patterns) for name in names):
        raise UsageError("fixed: all features are fixed, nothing is left to learn")


class _RowsRun:
    """Events of any kind: weights by name, added as pieces are read."""

    def __init__(
        self, problem: EventProblem, start: Model, patterns: tuple[str, ...], resume: LearnerState | None
    ) -> None:
        import numpy as np

        self._problem = problem
        self._patterns = patterns
        self._names: dict[str, int] = {}
        self._array = np.zeros(0)
        self._fixed = np.zeros(0, dtype=np.uint8)
        self._sizes: dict[int, int] = {}
        self._at: tuple[int, EventRows, Array] | None = None
        begin = start.weights if resume is None else {}
        self._begin = dict(begin)
        if resume is not None:
            self._numbers(tuple(resume.values["names"]))
            self._array[:] = resume.arrays["weights"]

    @property
    def pieces(self) -> int:
        return len(self._problem.pieces)

    @property
    def known_size(self) -> int:
        for piece in range(self.pieces):
            if piece not in self._sizes:
                self._look(piece)
        return sum(self._sizes.values())

    def size(self, piece: int) -> int:
        return len(self._look(piece)[0])

    def _look(self, piece: int) -> tuple[EventRows, Array]:
        """Return a piece and the weight numbers of its features."""
        if self._at is None or self._at[0] != piece:
            rows = self._problem.pieces[piece]
            self._sizes[piece] = len(rows)
            self._at = piece, rows, self._numbers(rows.features.names)[rows.features.ids]
        return self._at[1], self._at[2]

    def _numbers(self, names: tuple[str, ...]) -> Array:
        import numpy as np

        ids = np.array([self._names.setdefault(name, len(self._names)) for name in names], dtype=np.int64)
        if len(self._names) > len(self._array):
            fresh = list(self._names)[len(self._array) :]
            self._array = np.append(self._array, [self._begin.get(name, 0.0) for name in fresh])
            flags = np.array([_matches(name, self._patterns) for name in fresh], dtype=np.uint8)
            self._fixed = np.append(self._fixed, flags)
        return ids

    def descend(self, piece: int, order: Array, rate: float, decay: float, done: int, update: str) -> float:
        import numpy as np

        rows, ids = self._look(piece)
        arrays = (rows.offsets, rows.right, rows.features.offsets, ids)
        arguments: list[Any] = [np.ascontiguousarray(array, dtype=np.int64) for array in arrays]
        arguments += [np.ascontiguousarray(rows.features.values, dtype=np.float64), order, self._array, self._fixed]
        arguments += [rate, decay, done, update]
        try:
            return descend_rows(*arguments)
        except ValueError as error:
            raise SmtError(f"local-maxent: piece {piece + 1} of the events: {error}") from None

    def finite(self) -> bool:
        import numpy as np

        return bool(np.isfinite(self._array).all())

    def check_fixed(self) -> None:
        _check_fixed(list(self._names), self._patterns)

    def model(self, start: Model) -> Model:
        weights = {**start.weights, **dict(zip(self._names, self._array.tolist(), strict=True))}
        return start.with_weights({name: weights[name] for name in sorted(weights)})

    def state(self, values: dict[str, Any]) -> LearnerState:
        return LearnerState({"weights": self._array.copy()}, {**values, "names": list(self._names)})


class _BlockRun:
    """Events of blocks, whose features are computed in native code."""

    def __init__(
        self, problem: BlockEvents, start: Model, patterns: tuple[str, ...], resume: LearnerState | None
    ) -> None:
        import numpy as np

        self._problem = problem
        self._patterns = patterns
        if resume is not None:
            self._floats, self._bigrams = (resume.arrays[name].copy() for name in ("floats", "bigrams"))
            return
        self._floats = np.array([start.weights.get(name, 0.0) for name in problem.names])
        self._bigrams = np.zeros(len(problem.bigrams), dtype=np.float32)
        artefact = start.artefacts.get(BIGRAM)
        known = BigramWeights.load(artefact.folder) if isinstance(artefact, Files) else artefact
        if isinstance(known, BigramWeights) and len(problem.bigrams):
            pairs = (known.first, problem.bigrams.first), (known.second, problem.bigrams.second)
            if not all(np.array_equal(a, b) for a, b in pairs):
                raise SmtError(
                    "local-maxent: expected a start model with the block bigrams of the events, found others"
                )
            self._bigrams[:] = known.weights

    pieces = 1

    @property
    def known_size(self) -> int:
        return len(self._problem.training)

    def size(self, piece: int) -> int:
        return len(self._problem.training)

    def descend(self, piece: int, order: Array, rate: float, decay: float, done: int, update: str) -> float:
        learnt = [not _matches(name, self._patterns) for name in self._problem.names]
        # The orientation feature of neutral blocks is 0 everywhere, so it has no gradient.
        also = bool(len(self._bigrams)) and not _matches(BIGRAM, self._patterns)
        native = self._problem.training
        return native.descend(order, self._floats, self._bigrams, rate, decay, done, update, learnt, also)

    def finite(self) -> bool:
        import numpy as np

        return bool(np.isfinite(self._floats).all() and np.isfinite(self._bigrams).all())

    def check_fixed(self) -> None:
        names = [*self._problem.names, *([BIGRAM] if len(self._bigrams) else [])]
        _check_fixed(names, self._patterns)

    def model(self, start: Model) -> Model:
        from dataclasses import replace

        weights = {**start.weights, **dict(zip(self._problem.names, self._floats.tolist(), strict=True))}
        if not len(self._bigrams):
            return start.with_weights({name: weights[name] for name in sorted(weights)})
        weights[BIGRAM] = 1.0
        pairs = self._problem.bigrams
        artefact = BigramWeights(self._problem.blocks, pairs.first, pairs.second, self._bigrams.copy())
        model = start.with_weights({name: weights[name] for name in sorted(weights)})
        return replace(model, artefacts={**start.artefacts, BIGRAM: artefact})

    def state(self, values: dict[str, Any]) -> LearnerState:
        return LearnerState({"floats": self._floats.copy(), "bigrams": self._bigrams.copy()}, values)
