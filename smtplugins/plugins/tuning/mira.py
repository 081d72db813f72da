"""``mira``: large-margin steps from fear to hope, on lists and forests.

C. Cherry and G. Foster, "Batch Tuning Strategies for Statistical Machine Translation" (2012), algorithm 1: k-best MIRA
with a pseudo-corpus for BLEU, and with ``rule=kbmira`` exactly as in Moses' program of this name. With ``cutting``, the
set of constraints of D. Chiang, "Hope and Fear for Discriminative Training of Statistical Translation Models" (2012).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.learners import ForestProblem, LearnerState, LearnerStep, ListProblem
from smtplugins.contracts.runners import Runner
from smtplugins.plugins.tuning.common import form_of
from smtplugins.plugins.tuning.online import (
    BEST,
    FEAR,
    HOPE,
    ListSource,
    Online,
    OnlineLearner,
    ScoredHypothesis,
    SentenceView,
    order,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.models import Model

    Array = NDArray[Any]

_CUTS = 20  # constraints for one sentence: Chiang needs a few
_CLOSE = 1e-6


class Mira(OnlineLearner):
    """Batch MIRA: each epoch visits all sentences in random order (``shuffle``); ``C`` limits the length of a step.

    ``loss``: ``background`` scores a hypothesis together with the statistics of earlier sentences, which fade by
    ``decay``; ``sentence`` scores it alone; ``auto`` is ``background`` for BLEU. Losses are multiplied by ``scale``; by
    default they vary ten times as much as the scores under the start weights within lists, five times as much within
    forests, so that the length of the start weights makes no difference. ``keep``: the epoch whose averaged weights are
    best on the lists, or the last. ``cutting``: enforce all constraints a sentence violates, not just the worst.
    Forests need a metric with a ``linear`` form and are refined with ``pop_limit`` (0: exactly). ``gain_precision`` and
    ``gain_decay`` are parameters of the linear form, 0.5 and 0.6 by default: with the published values for BLEU, 0.85
    and 0.7, outputs become too short.

    ``rule=kbmira`` is that of Moses, for BLEU on lists: gains are BLEU with the background, times the length of the
    references; they are in words, so the length of the start weights matters. The background starts with ones and
    changes only where hope and fear differ; the average is over updates; the start weights are no candidate.
    """

    def __init__(
        self,
        *,
        epochs: int = 60,
        C: float = 0.01,  # noqa: N803  # the papers' name
        decay: float = 0.999,
        loss: Literal["auto", "background", "sentence"] = "auto",
        scale: float | None = None,
        follow: Literal["hope", "best"] = "hope",
        cutting: bool = False,
        average: bool = True,
        keep: Literal["best", "last"] = "best",
        rule: Literal["published", "kbmira"] = "published",
        shuffle: bool = True,
        fixed: str = "",
        bounds: str = "",
        pop_limit: int = 100,
        gain_precision: float | None = None,
        gain_decay: float | None = None,
    ) -> None:
        if epochs < 1 or not C > 0 or not 0 <= decay <= 1 or (scale is not None and not scale > 0) or pop_limit < 0:
            raise UsageError("mira: expected epochs of 1 or more, C and scale above 0, decay from 0 to 1")
        self.epochs, self.cap, self.decay, self.loss, self.scale = epochs, C, decay, loss, scale
        if rule == "kbmira" and (cutting or loss == "sentence"):
            raise UsageError("mira: rule=kbmira has its own loss and one constraint in each step")
        self.follow, self.cutting, self.average, self.keep = follow, cutting, average, keep
        self.rule, self.shuffle = rule, shuffle
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
        if self.rule == "kbmira" and isinstance(problem, ForestProblem):
            raise UsageError("mira: rule=kbmira learns from lists, not from forests")
        background = self.loss == "background" or (self.loss == "auto" and "BLEU" in problem.metric.name.upper())
        run = self.begin(problem, start, background, seed, resume)
        source = run.source
        cap = self.cap / (source.length or 1.0)
        while run.done < self.epochs:
            losses, moved = 0.0, 0
            for index in order(run) if self.shuffle else range(len(source)):
                loss = self._example(run, run.source.view(index, run.background), cap)
                losses, moved = losses + loss, moved + (loss > 0)
            run.keep(self.average, self.keep == "best")
            assert run.now.value is not None
            metrics = {"loss": losses * source.length / len(source), "updates": float(moved)}
            yield LearnerStep(run.model(start), run.now.value, metrics, run.state())

    def _example(self, run: Online, view: SentenceView, cap: float) -> float:
        """Learn from one sentence; return its hinge loss."""
        now = run.now
        hope, fear, best = view.choose(now.weights, HOPE, FEAR, BEST)
        loss = self._cut(run, view, hope, cap) if self.cutting else self._step(run, hope, fear, cap)
        now.examples += loss > 0 or not run.source.updates_only
        if run.background is not None and (hope.gain > fear.gain or not run.source.updates_only):
            import numpy as np

            stats = (hope if self.follow == "hope" else best).stats
            assert stats is not None
            run.background = self.decay * run.background + np.append(stats, 1.0)
        return loss

    def lists(self, problem: ListProblem, background: bool, origin: Array) -> ListSource:
        """The lists with their gains, by the rule."""
        if self.rule == "published":
            return super().lists(problem, background, origin)
        from smtplugins.plugins.tuning.kbmira import KbmiraSource

        return KbmiraSource(problem, 1.0 if self.scale is None else self.scale, origin)

    def _step(self, run: Online, hope: ScoredHypothesis, fear: ScoredHypothesis, cap: float) -> float:
        from smtplugins.contracts.tools.optimisers import difference

        loss = (hope.gain - fear.gain) - (hope.score - fear.score)
        if not (loss > 0 and hope.gain > fear.gain):
            return 0.0
        ids, values = run.now.free(difference(hope.features, fear.features))
        norm = float(values @ values)
        if norm > 0:
            run.now.add(ids, min(cap, loss / norm) * values)
        return loss

    def _cut(self, run: Online, view: SentenceView, hope: ScoredHypothesis, cap: float) -> float:
        """Add the most violated constraint and solve for all, until none is violated by more than those added."""
        import numpy as np

        from smtplugins.contracts.tools.optimisers import difference, simplex_step

        now = run.now
        # Intermediate weights stay out of the average: only those after the sentence count.
        trial = now.weights.copy()
        cuts: list[tuple[Array, Array]] = []
        gains: list[float] = []
        duals = np.empty(0)
        first = 0.0
        for _ in range(_CUTS):
            (fear,) = view.choose(trial, FEAR)
            between = difference(hope.features, fear.features)
            ids, values = now.free(between)
            gain, margin = hope.gain - fear.gain, _dot(between, trial)
            slack = max([0.0, *(gain - _dot(cut, trial) for gain, cut in zip(gains, cuts, strict=True))])
            if gain - margin <= slack + _CLOSE or not len(ids):
                break
            first = first or gain - margin
            cuts.append((ids, values))
            # Fixed weights contribute to margins but not to steps: subtract their margin from the gain.
            gains.append(gain - (margin - _dot((ids, values), trial)))
            begin = np.array([_dot(cut, now.weights) for cut in cuts])
            duals = simplex_step(_gram(cuts), np.array(gains) - begin, cap, duals)
            trial = now.weights.copy()
            for (where, what), dual in zip(cuts, duals.tolist(), strict=True):
                trial[where] += dual * what
            trial = now.space.clipped(trial)
        changed = np.flatnonzero(trial != now.weights)
        now.add(changed, (trial - now.weights)[changed])
        return first


def _dot(row: tuple[Array, Array], weights: Array) -> float:
    return float(row[1] @ weights[row[0]])


def _gram(cuts: list[tuple[Array, Array]]) -> Array:
    """The products of all pairs of sparse rows."""
    import numpy as np

    products = np.zeros((len(cuts), len(cuts)))
    for i, (ids, values) in enumerate(cuts):
        for j, (others, more) in enumerate(cuts[: i + 1]):
            _, here, there = np.intersect1d(ids, others, assume_unique=True, return_indices=True)
            products[i, j] = products[j, i] = float(values[here] @ more[there])
    return products
