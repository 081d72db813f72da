"""Tune a decoder: decode, learn, decode again, until no new translations appear.

A run is a folder. Iteration N decodes with the current weights (``iteration-N/``: lists as JSON lines or forests, and a
learning folder for each seed), merges the result with all previous ones, and learns from that; its weights are
``step-N``. Lists are merged by (text, features), forests are kept side by side (Kumar et al. 2009). Nothing that exists
is computed again: each file is renamed into place when complete, so a killed run resumes after its last finished piece
of work and ends in the same bytes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import ForestProblem, LearnerState, LearnerStep, ListProblem
from smtplugins.contracts.models import Model
from smtplugins.host.arguments import argument
from smtplugins.host.learn import tuning
from smtplugins.host.learn.cross_validation import FoldWays
from smtplugins.host.learn.pools import ForestPool, ListPool, Work, write_json
from smtplugins.host.learn.training_data import Note
from smtplugins.host.learn.trust_region import RADIUS, Course, Way, balanced
from smtplugins.host.learn.tuning import LearntWeights, Plan, limit_reach
from smtplugins.host.runs import RunDirectory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.spec import Spec
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.translator import Translator
    from smtplugins.host.host import Host
    from smtplugins.host.judge.evaluation import Texts
    from smtplugins.host.learn.gains import Gain, LeftOut
    from smtplugins.host.learn.training_data import Material
    from smtplugins.host.learn.tuning import Tuned

    Weights = Mapping[str, float]

_RESULT = "result.json"
_FOLDS, _ENOUGH = 5, 50
_PLACES = 8
_AGAIN = 2
_MOVED = 1e-9  # less is a rounding error


@dataclass(frozen=True)
class LoopPlan:
    """When to stop and which weights to select: ``best`` are those under which the decoder scored best.

    ``epsilon``: stop when the largest change of a weight (after scaling absolute values to sum to 1) is smaller.
    ``gain``: stop when two iterations in a row together gained less than this share of the way from the score of empty
    output to that of the references; as long as nothing was gained, falls do not count.
    ``rounds``: learn from what this many last iterations decoded, 0 for all.
    ``reach``: how far an iteration may move from the best weights so far (``host/learn/trust_region.py``), 0 for no
    limit. The default is 0.3 for lists and no limit for forests, which contain nearly all the decoder can find.
    ``folds``: learn without each of this many parts of the sentences, go as far as the parts left out support, and stop
    when they support no step; 0 to learn once from all. The default is 5 for lists of 50 sentences or more.
    """

    plan: Plan
    iterations: int = 10
    epsilon: float = 1e-5
    gain: float = 0.001
    select: Literal["best", "last"] = "best"
    forests: bool = False
    nbest: int = 100
    rounds: int = 0
    reach: float | None = None
    folds: int | None = None

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise UsageError(f"iterations: expected 1 or more, found {self.iterations}")
        if not self.epsilon >= 0:
            raise UsageError(f"epsilon: expected 0 or more, found {self.epsilon}")
        if not 0 <= self.gain < 1:
            raise UsageError(f"gain: expected 0 or more and less than 1, found {self.gain}")
        if self.nbest < 2 and not self.forests:
            raise UsageError(f"nbest: expected 2 or more to learn from, found {self.nbest}")
        if self.rounds < 0:
            raise UsageError(f"rounds: expected 0 or more, found {self.rounds}")
        if self.select not in ("best", "last"):
            raise UsageError(f"select: expected best or last, found {self.select!r}")
        if self.reach is not None and not self.reach >= 0:
            raise UsageError(f"reach: expected 0 or more, found {self.reach}")
        if self.folds is not None and (self.folds < 0 or self.folds == 1):
            raise UsageError(f"folds: expected 2 or more, or 0 for none, found {self.folds}")

    @property
    def radius(self) -> float:
        """The initial trust region radius."""
        reach = (0.0 if self.forests else RADIUS) if self.reach is None else self.reach
        return reach or math.inf

    def parts(self, sentences: int) -> int:
        """The number of folds for so many sentences."""
        if self.folds is None:
            return _FOLDS if sentences >= _ENOUGH and not self.forests else 0
        if self.folds > sentences:
            raise UsageError(f"folds: expected at most {sentences}, the number of sentences, found {self.folds}")
        return self.folds


@dataclass(frozen=True)
class Ended(LearntWeights):
    """The result of a loop: weights, the reason for stopping, and a row per iteration.

    ``gain`` compares the translations with the resulting weights to the first ones. ``left_out`` are the scores of the
    lists of all iterations without each of the most important features; none for forests.
    """

    reason: str
    score: float
    metric: str
    signature: str
    iterations: tuple[Mapping[str, float], ...]
    gain: Gain | None = None
    left_out: tuple[LeftOut, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        count = len(self.iterations)
        return f"<Ended: {len(self)} weights, {self.metric} {self.score:.2f} in-sample, {count} iterations>"

    def _caption(self) -> str:
        return self.reason


class LearntWay(Way):
    """The line to weights learnt from all sentences, whose points are judged by the same sentences."""

    def __init__(self, material: Material, base: Weights, tuned: Tuned, *, scaled: bool) -> None:
        super().__init__(base, tuned.weights, material.scales, scaled=scaled)
        self._material = material
        self.begun, self.learnt = tuned.begun or 0.0, tuned.score

    def score(self, share: float) -> float:
        """The in-sample score of the point at a share."""
        return self._material.score(self.weights(share))


@dataclass
class Loop:
    """A run of decoding and learning in a folder, new or resumed."""

    host: Host
    translator: Translator
    sentences: Sequence[Sentence]
    references: Sequence[Texts]
    metric: Metric
    options: LoopPlan
    run: RunDirectory
    note: Note = lambda text: None
    quiet: bool = True
    told: Callable[[str], None] = lambda text: None
    _folds: int = field(init=False)
    _pool: ListPool | ForestPool = field(init=False)
    _stats: list[NDArray[Any]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        from smtplugins.host.learn.run_inputs import check_sentences

        check_sentences(self.sentences, self.references)
        self._folds = self.options.parts(len(self.sentences))
        jobs, nbest = self.options.plan.jobs, self.options.nbest
        work = Work(self.host, self.sentences, self.references, self.metric, nbest, jobs, self.quiet)
        self._pool = (ForestPool if self.options.forests else ListPool)(work, self.options.rounds)

    def go(self, start: Mapping[str, float]) -> Ended:
        """Iterate until nothing is new, the weights converge, or the iteration limit is reached."""
        tuning.check_finite(start, "the start weights")
        if not any(start.values()):
            raise UsageError(
                f"expected nonzero start weights ({argument('start', '-w FILE')}, or model.weights in the "
                "configuration), found none"
            )
        rows: list[dict[str, float]] = []
        course = Course(self.options.radius, self.metric.higher_is_better, self._quality, self.options.gain)
        weights: Mapping[str, float] = dict(sorted(start.items()))
        reason = ""
        for number in itertools.count(1):
            score, new, lost = self._decode(number, weights)
            change_to_best = "" if number == 1 else f" ({score - course.tried[course.at][0]:+.3g} to the best so far)"
            fell = course.add(score, weights, new / max(self._pool.found, 1))
            row = {"iteration": number, "decoded": score, "candidates": self._pool.count, "new": new}
            if lost:
                self.note(f"iteration {number}: {lost} sentences have no translation and count as empty")
            ended = (not new and not course.limited) or number > self.options.iterations
            if ended or course.slow:
                reason = self._reason(number, new) if ended else "two iterations in a row gained next to nothing"
                self._tell(row, change_to_best, fell)
                rows.append(row)
                break
            learnt, more = self._learn(number, course, row)
            rows.append(row | more)
            self._tell(rows[-1], change_to_best, fell)
            change, weights = rows[-1]["change"], learnt
            course.expect(rows[-1]["expected"], rows[-1]["distance"])
            if self._folds and not course.poor and not rows[-1]["share"]:
                reason = f"in iteration {number}, no step scored better on the sentences it was not learnt from"
                # Nothing was learnt, and weights went back to the best.
                weights, course.supported = course.tried[-1][1], False
                break
            if change < self.options.epsilon:
                reason = f"the weights converged in iteration {number} (they changed by {change:.2g})"
                break
        return self._finish(weights, course, reason, rows)

    def _quality(self, score: float) -> float:
        """The share of the way from the score of empty output to that of the references; nan without both."""
        worst, best = self._bounds
        span = best - worst
        return (score - worst) / span if math.isfinite(span) and span else math.nan

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        """The scores of empty output and of the first references."""
        references, sources = self._references, [sentence.text for sentence in self.sentences]
        given = [""] * len(sources), references[0]
        worst, best = (self.metric.score(self.metric.stats(texts, references, sources).sum(axis=0)) for texts in given)
        return float(worst), float(best)

    @cached_property
    def _references(self) -> list[list[str]]:
        ids = [int(sentence.id) for sentence in self.sentences]
        return [[texts.texts[i] or "" for i in ids] for texts in self.references]

    def _reason(self, number: int, new: int) -> str:
        what = "forest is new" if self.options.forests else "translation in the lists is new"
        if not new:
            return f"no {what} in iteration {number}"
        return f"the limit of {self.options.iterations} iterations was reached before convergence"

    def _name(self, number: int) -> str:
        """The name of an iteration; the decoder runs once more after the last one, for the weights learnt there."""
        most = self.options.iterations
        return f"iteration {number} of {most}" if number <= most else f"after {most} iteration{'s' * (most > 1)}"

    def _tell(self, row: Mapping[str, float], by: str, fell: str) -> None:
        counted = f"{row['candidates']:.0f} candidates ({row['new']:.0f} new)"
        after = ""
        if "learnt" in row:
            after = f", learnt {row['learnt']:.4g}, weights changed by {row['change']:.2g}"
            after += f", {row['share']:.0%} of the way" if row["share"] < 1 else ""
        named = self._name(int(row["iteration"]))
        self.told(f"{named}: {self.metric.name} {row['decoded']:.4g}{by}, {counted}{after}{fell}")

    def _decode(self, number: int, weights: Mapping[str, float]) -> tuple[float, int, int]:
        """Decode unless already done; return the score and the numbers of new candidates and untranslated sentences."""
        folder = self.run.path / f"iteration-{number:04d}"
        folder.mkdir(exist_ok=True)
        translator = replace(self.translator, model=Model(weights))
        best, new = self._pool.add(folder, translator, f"{self._name(number)}, sentences")
        hypotheses = [best.get(sentence.id) for sentence in self.sentences]
        sources = [sentence.text for sentence in self.sentences]
        stats = self.metric.stats([hypothesis or "" for hypothesis in hypotheses], self._references, sources)
        self._stats.append(stats)
        return float(self.metric.score(stats.sum(axis=0))), new, hypotheses.count(None)

    def _learn(
        self, number: int, course: Course, row: Mapping[str, float]
    ) -> tuple[Mapping[str, float], dict[str, float]]:
        """Learn from the best weights so far unless already done; return the next weights and the step's metrics."""
        if (self.run.path / f"step-{number:04d}").is_dir():
            model, metrics = self.run.step(number)
            course.radius = metrics["radius"]
            return model.weights, metrics
        material = self._pool.material()
        if number == 1:
            self._check_balance(material, course.best)
        folder = self.run.path / f"iteration-{number:04d}"
        way = self._towards(material, course, folder, 0)
        # Forests contain nearly all hypotheses: if they hold nothing better, do not try again.
        most = 0 if self.options.forests else _AGAIN
        radius = course.radius
        for again in itertools.count(1):
            share, expected = self._share(course, way)
            if way.distance(share) > _MOVED:
                break
            # Sentences left out may support a smaller step; then, as without them, a larger one if nothing was gained.
            course.radius = radius / 2**again if again <= most and isinstance(way, FoldWays) else radius
            if again > most and not course.widen():
                break
            radius = course.radius if again > most else radius
            way = self._towards(material, course, folder / f"again-{again}", again)
        weights = way.weights(share)
        change = _change(course.best, weights) if share else 0.0
        metrics = {"before": way.begun, "learnt": way.learnt, "share": share, "expected": expected}
        metrics |= {"distance": way.distance(share), "radius": course.radius, "change": change}
        shown = {name: value for name, value in row.items() if name != "iteration"} | metrics
        self.run.save_step(number, LearnerStep(Model(weights), row["decoded"], shown, LearnerState()))
        return weights, shown

    def _check_balance(self, material: Material, weights: Weights) -> None:
        """Raise SmtError if a start weight makes all others meaningless, unless weights are fixed or bounded."""
        excess = balanced(weights, material.scales) if self.options.plan.scale_free else None
        if excess is not None:
            name, weight = excess
            raise SmtError(
                f"the start weight {weights[name]:.4g} of {name!r} outweighs all other features, so that its lists "
                f"hold nothing to learn it from. Start from other weights ({argument('start', '-w')}): at "
                f"{weight:.4g}, it counts as much as the others together. Or keep it ({argument('keep', '--keep')} "
                f"{name})"
            )

    def _towards(self, material: Material, course: Course, folder: Path, again: int) -> LearntWay | FoldWays:
        """Learn from the best weights so far, within the radius if the learner can; return the line to the result.

        ``again`` counts retries of a learner that found nothing, each with other random numbers.
        """
        plan = self.options.plan
        plan = limit_reach(self.host, replace(plan, folder=folder, seed=plan.seed + again * plan.runs), course.radius)
        note = self.note if len(course.tried) == 1 and not again else lambda text: None
        if self._folds and not course.poor:
            material.check(note)
            return FoldWays.learn(self.host, material, plan, course.best, self._folds, course.radius, note)
        tuned = tuning.tune(self.host, material, plan, course.best, note)
        return LearntWay(material, course.best, tuned, scaled=plan.scale_free)

    def _share(self, course: Course, way: LearntWay | FoldWays) -> tuple[float, float]:
        """Line search within the radius: the share of the way that scores best (the largest on a tie), and its score.

        0 if no point scores better than the start, held out or where the lists cover nearly all that is decoded.
        """
        most = way.share(course.radius)
        if self.options.forests and not isinstance(way, FoldWays):
            return most, way.score(most)
        shares = [0.0, *(most * k / _PLACES for k in range(1, _PLACES + 1))]
        scores = [way.score(share) for share in shares]
        at = _PLACES
        for k in range(_PLACES - 1, 0, -1):
            at = k if course.better(scores[k], scores[at]) else at
        judged = course.covered or isinstance(way, FoldWays)
        at = 0 if judged and not course.better(scores[at], scores[0]) else at
        return shares[at], scores[at]

    def _finish(
        self, last: Mapping[str, float], course: Course, reason: str, rows: Sequence[Mapping[str, float]]
    ) -> Ended:
        from smtplugins.host.files.opening import find_format, write_all
        from smtplugins.host.learn.gains import compare, leave_out

        name, tried = self.metric.name, course.tried
        at = course.at if self.options.select == "best" else len(tried) - 1
        score, weights = tried[at]
        chosen = f"the weights that iteration {at + 1} decoded with"
        if self.options.select == "last" and last is not weights:
            weights, chosen = last, f"the weights learnt last, with the score of iteration {at + 1}"
        text = f"stopped: {reason}. The result is {chosen}, {name} {score:.4g}."
        if not course.gained:
            text += f" No gain: no weights decoded better than the start weights ({tried[0][0]:.4g})."
        signature = f"{self.metric.signature()}|in-sample"
        record = {"reason": text, "metric": name, "score": score, "signature": signature, "iterations": rows}
        result = self.run.path / "weights"
        failure = self._failure(course)
        if failure:
            # A resumed run may have written some when it had fewer iterations.
            result.unlink(missing_ok=True)
        else:
            write_all(find_format("cdec-weights", "weights"), [dict(weights)], result)
        write_json(self.run.path / _RESULT, record)
        if failure:
            raise SmtError(f"{self.run.path}: {failure}")
        gain = compare(self.metric, self._stats[0], self._stats[at])
        left_out = () if self.options.forests else leave_out(self._pool.material(), weights)
        return Ended(weights, text, score, name, signature, tuple(rows), gain, left_out)

    def _failure(self, course: Course) -> str:
        """Why no weights are the result; empty if some are."""
        name, scores = self.metric.name, ", ".join(f"{score:.4g}" for score, _ in course.tried)
        start = f"other weights ({argument('start', '-w')})"
        if course.hopeless:
            return (
                f"expected {name} to rise well above that of empty output, {self._bounds[0]:.4g}, found {scores}. "
                f"No weights are written. Start from {start}: one of wrong sign or size may outweigh all others; and "
                "check that the references belong to the source"
            )
        if course.collapsed:
            longer = f"longer lists ({argument('nbest', '-k')}) or from forests ({argument('forests=True', '--whole')})"
            return (
                f"the loop collapsed: expected {name} to rise, found {scores}. No weights are written. Learn from "
                f"{'more sentences' if self.options.forests else longer}, take smaller steps ({argument('reach')}), "
                f"start from {start}, or use another learner"
            )
        return ""


def _change(old: Mapping[str, float], new: Mapping[str, float]) -> float:
    """The largest change of a weight, after scaling the absolute values of both sets to sum to 1."""
    sums = [math.fsum(map(abs, weights.values())) or 1.0 for weights in (old, new)]
    names = old.keys() | new.keys()
    return max(abs(old.get(name, 0.0) / sums[0] - new.get(name, 0.0) / sums[1]) for name in names)


def tune_decoder(
    host: Host,
    config: RunConfig,
    options: LoopPlan,
    folder: Path,
    *,
    start: Mapping[str, float] | None = None,
    resume: bool = False,
    command: Sequence[str] = (),
    cache: str | None = None,
    post: str | None = None,
    note: Note = lambda text: None,
    told: Note = lambda text: None,
    quiet: bool = True,
) -> Ended:
    """Tune the decoder of a configuration in a folder from which the run can be resumed."""
    from smtplugins.host.learn.run_inputs import RunSettings, load_run_inputs

    settings = RunSettings(folder, start, resume, command, cache, post, note, quiet)
    inputs = load_run_inputs(host, config, settings)
    options = replace(options, plan=replace(options.plan, runner=config.runner))
    plan = options.plan
    details = {
        "select": options.select,
        "epsilon": options.epsilon,
        "gain": options.gain,
        "candidates": "forests" if options.forests else options.nbest,
        "reach": "any" if math.isinf(options.radius) else options.radius,
    }
    if folds := options.parts(len(inputs.sentences)):
        details["folds"] = folds
    if options.rounds:
        details["rounds"] = options.rounds
    parts = inputs.translator, inputs.sentences, inputs.references, inputs.metric
    weights = inputs.translator.model.weights
    begin = tuning.within_bounds(plan, weights, inputs.translator.unweighted())
    for name in sorted(name for name, value in begin.items() if value != weights.get(name, 0.0)):
        was = weights.get(name, 0.0)
        note(f"the start weight {was:.4g} of {name!r} is out of bounds: {begin[name]:.4g} in its place")
    with inputs.run(host, config, plan, settings, details) as run:
        return Loop(host, *parts, options, run, note, quiet, told).go(begin)


def takes_forests_only(host: Host, learner: Spec) -> bool:
    """Whether a learner accepts forests but not lists."""
    accepts = host.registry.make("learners", learner).accepts
    return ForestProblem in accepts and ListProblem not in accepts
