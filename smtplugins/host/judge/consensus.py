"""Minimum Bayes-risk decoding of n-best lists: choose the hypothesis with the highest expected gain under a metric.

S. Kumar and W. Byrne, "Minimum Bayes-Risk Decoding for Statistical Machine Translation" (2004). Each hypothesis serves
as a reference with its posterior probability, ``exp(scale * total)`` normalised over the list; the gain is the
metric's sentence score of one hypothesis against another. Other samples may serve as references instead.

References may be averaged into one, so that the time is linear in the length of the list: J. DeNero, D. Chiang and
K. Knight, "Fast Consensus Decoding over Translation Forests" (2009), for BLEU; J. Vamvas and R. Sennrich, "Linear-time
Minimum Bayes Risk Decoding with Reference Aggregation" (2024), for chrF.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from smtformats.tokens import normal_id
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.metrics import AggregatingMetric, PreparedMetric, PreparedReferences
from smtplugins.host.arguments import argument
from smtplugins.host.files.joining import where_of
from smtplugins.host.files.lists import ranking
from smtplugins.host.judge.pruning import Pruning
from smtplugins.host.judge.shortlists import AGGREGATE, TOTAL, Shortlist
from smtplugins.host.judge.utilities import Utilities, UtilityReader, write_utilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.runners import Runner
    from smtplugins.host.files.lists import ListStream
    from smtplugins.host.files.opening import Path
    from smtplugins.host.judge.postprocess import Post

    _Item: TypeAlias = tuple[Candidates, list[str] | None, "PseudoReferences | None"]

_CELLS = 1 << 22


@dataclass(frozen=True)
class Choice:
    """The consensus hypothesis of a list and the expected gain of each hypothesis, ``None`` if it was dropped.

    ``utilities`` are the scores of hypotheses against references, if they are kept.
    """

    candidates: Candidates
    best: int
    gains: tuple[float | None, ...]
    utilities: Utilities | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The chosen hypothesis."""
        return self.candidates.texts[self.best]

    def resort(self) -> Candidates:
        """The hypotheses that were not pruned, best first, with their expected gains as totals."""
        kept = [(gain, i) for i, gain in enumerate(self.gains) if gain is not None]
        order = [i for _, i in sorted(kept, key=lambda pair: -pair[0])]
        return self.candidates.with_totals([0.0 if gain is None else gain for gain in self.gains]).select(order)


def prepare_references(metric: Metric, references: Sequence[Sequence[str]]) -> PreparedReferences:
    """Prepare references for comparison with many hypotheses, for any metric."""
    return metric.prepare(references) if isinstance(metric, PreparedMetric) else _Plain(metric, references)


class _Plain:
    def __init__(self, metric: Metric, references: Sequence[Sequence[str]]) -> None:
        self._metric = metric
        self._references = references

    def __len__(self) -> int:
        return len(self._references[0]) if self._references else 0

    def stats(self, hypotheses: Sequence[str], segments: Sequence[int] | NDArray[Any] | None = None) -> NDArray[Any]:
        numbers = range(len(hypotheses)) if segments is None else segments
        return self._metric.stats(hypotheses, [[stream[k] for k in numbers] for stream in self._references])


def matrix(metric: Metric, hypotheses: Sequence[str], others: Sequence[str], source: str | None = None) -> NDArray[Any]:
    """Statistics of each hypothesis against each of the others, for any metric: hypotheses x others x width."""
    import numpy as np

    if isinstance(metric, PreparedMetric):
        return metric.matrix(hypotheses, others)
    pairs = [(hyp, other) for hyp in hypotheses for other in others]
    sources = None if source is None else [source] * len(pairs)
    rows = np.asarray(metric.stats([hyp for hyp, _ in pairs], [[other for _, other in pairs]], sources))
    return cast("NDArray[Any]", rows.reshape(len(hypotheses), len(others), -1))


def gains(
    metric: Metric,
    hypotheses: Sequence[str],
    others: Sequence[str],
    probabilities: Sequence[float],
    source: str | None = None,
    known: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """The expected gain of each hypothesis, with the others as references of these probabilities. Higher is better.

    ``known`` has the scores of hypotheses against the others, if they are known.
    """
    import numpy as np

    sign = 1.0 if metric.higher_is_better else -1.0
    weights = np.asarray(probabilities, dtype=np.float64)
    total = np.zeros(len(hypotheses))
    step = _step(hypotheses)
    for first in range(0, len(others), step):
        if known is None:
            scores = _score_pairs(metric, hypotheses, others[first : first + step], source)
        else:
            scores = np.ascontiguousarray(known[:, first : first + step])
        # Summed per row, so that the result does not depend on the number of rows.
        total += sign * (scores * weights[first : first + step]).sum(axis=1)
    return total


def aggregated_gains(
    metric: Metric, hypotheses: Sequence[str], others: Sequence[str], probabilities: Sequence[float]
) -> NDArray[Any]:
    """The gain of each hypothesis against the mean of the others, for an :class:`AggregatingMetric`."""
    import numpy as np

    rows = cast("AggregatingMetric", metric).aggregate(hypotheses, others, probabilities)
    scores = np.asarray(metric.sentence(rows), dtype=np.float64)
    return scores if metric.higher_is_better else -scores


def score_pairs(
    metric: Metric, hypotheses: Sequence[str], others: Sequence[str], source: str | None = None
) -> NDArray[Any]:
    """The sentence score of each hypothesis against each of the others."""
    import numpy as np

    step = _step(hypotheses)
    blocks = [
        _score_pairs(metric, hypotheses, others[first : first + step], source) for first in range(0, len(others), step)
    ]
    return np.concatenate(blocks, axis=1)


def _step(hypotheses: Sequence[str]) -> int:
    """The number of others whose statistics are computed at once, to bound memory for long lists."""
    return max(1, _CELLS // (16 * max(1, len(hypotheses))))


def _score_pairs(metric: Metric, hypotheses: Sequence[str], others: Sequence[str], source: str | None) -> NDArray[Any]:
    import numpy as np

    rows = matrix(metric, hypotheses, others, source)
    return np.asarray(metric.sentence(rows.reshape(-1, rows.shape[-1])), dtype=np.float64).reshape(rows.shape[:2])


def posteriors(totals: Sequence[float], scale: float = 1.0) -> list[float]:
    """``exp(scale * total)``, normalised to sum to one."""
    top = max(totals)
    weights = [math.exp(scale * (total - top)) for total in totals]
    whole = math.fsum(weights)
    return [weight / whole for weight in weights]


@dataclass(frozen=True)
class Consensus:
    """Minimum Bayes-risk decoding. ``top`` keeps that many distinct texts of a list, best totals first; 0 keeps all.

    ``keep`` keeps the utilities of choices. ``pruning`` drops hypotheses before all their utilities are computed.
    ``aggregate`` averages the references and takes the gain against their mean as the expected gain. ``shortlist``
    drops hypotheses before their expected gains are computed, but keeps all references.
    """

    metric: Metric
    scale: float = 1.0
    top: int = 0
    keep: bool = False
    pruning: Pruning | None = None
    aggregate: bool = False
    shortlist: Shortlist | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.scale < math.inf:
            raise UsageError(f"scale: expected a number from 0 on, found {self.scale}")
        if self.top < 0:
            raise UsageError(f"top: expected a number of hypotheses, or 0 for all, found {self.top}")
        averages = self.aggregate or (self.shortlist is not None and self.shortlist.by == AGGREGATE)
        if averages and not isinstance(self.metric, AggregatingMetric):
            raise UsageError(
                f"metric {self.metric.name!r} does not average references; use bleu or chrf, or leave out "
                f"{argument('aggregate=True')} and {argument('shortlist=...')} by {AGGREGATE}"
            )

    def choose(
        self,
        candidates: Candidates,
        texts: Sequence[str] | None = None,
        references: PseudoReferences | None = None,
        known: UtilityReader | None = None,
    ) -> Choice:
        """Choose from a list; ``texts`` replaces the hypotheses' texts for the metric (after postprocessing).

        The hypotheses are judged against each other, or against ``references``; then their totals only decide which
        are considered, and which of two with the same gain is chosen. ``known`` has the utilities, if they are known.
        """
        shown = candidates.texts if texts is None else texts
        used = _totals(candidates, needed=bool(self.scale) and references is None)
        # Equal texts count as one hypothesis: the first with the highest total.
        groups: dict[str, list[int]] = {}
        for i in ranking(used):
            groups.setdefault(shown[i], []).append(i)
        kept = list(groups)[: self.top or None]
        if references is None:
            members = [i for text in kept for i in groups[text]]
            share = dict(zip(members, posteriors([used[i] for i in members], self.scale), strict=True))
            references = PseudoReferences(kept, [math.fsum(share[i] for i in groups[text]) for text in kept])
        if self.shortlist is not None:
            kept = self._shorten(self.shortlist, kept, groups, references, candidates)
        others, weights = references.texts, references.probabilities
        scores: NDArray[Any] | None = None
        if known is not None:
            scores = known.find(candidates, kept, others, _place(candidates))
        elif self.keep:
            scores = score_pairs(self.metric, kept, others, candidates.source)
        elif self.pruning is not None:
            kept, scores = self._prune(self.pruning, kept, references, candidates)
        if self.aggregate:
            expected = aggregated_gains(self.metric, kept, others, weights).tolist()
        else:
            expected = gains(self.metric, kept, others, weights, candidates.source, scores).tolist()
        by_hypothesis: list[float | None] = [None] * len(candidates)
        for text, gain in zip(kept, expected, strict=True):
            for i in groups[text]:
                by_hypothesis[i] = gain
        best = max(range(len(kept)), key=lambda k: (expected[k], -k))
        utilities = Utilities(kept, others, scores) if self.keep and scores is not None else None
        return Choice(candidates, groups[kept[best]][0], tuple(by_hypothesis), utilities)

    def _shorten(
        self,
        shortlist: Shortlist,
        kept: Sequence[str],
        groups: Mapping[str, Sequence[int]],
        references: PseudoReferences,
        candidates: Candidates,
    ) -> list[str]:
        """The texts of the shortlist; ``kept`` has them by descending total."""
        if shortlist.by == TOTAL:
            return list(kept[: shortlist.size])
        if shortlist.by == AGGREGATE:
            scores = aggregated_gains(self.metric, kept, references.texts, references.probabilities)
            return shortlist.best(kept, scores.tolist())
        values = shortlist.features(candidates, groups, _place(candidates))
        return shortlist.best(kept, [values[text] for text in kept])

    def _prune(
        self, pruning: Pruning, kept: Sequence[str], references: PseudoReferences, candidates: Candidates
    ) -> tuple[list[str], NDArray[Any]]:
        """The hypotheses that are left, with their scores against all references."""
        sign = 1.0 if self.metric.higher_is_better else -1.0

        def score(rows: Sequence[int], columns: Sequence[int]) -> NDArray[Any]:
            others = [references.texts[j] for j in columns]
            return sign * score_pairs(self.metric, [kept[i] for i in rows], others, candidates.source)

        left, table = pruning.run(score, len(kept), references.probabilities, normal_id(candidates.id))
        return [kept[i] for i in left], sign * table


@dataclass(frozen=True)
class PseudoReferences:
    """Distinct texts with their posterior probabilities, which hypotheses are judged against."""

    texts: Sequence[str]
    probabilities: Sequence[float]

    @classmethod
    def of(cls, candidates: Candidates, texts: Sequence[str] | None = None, scale: float = 1.0) -> PseudoReferences:
        """Take them from a list; ``texts`` replaces its texts (after postprocessing)."""
        shares: dict[str, list[float]] = {}
        totals = _totals(candidates, needed=bool(scale))
        for text, share in zip(candidates.texts if texts is None else texts, posteriors(totals, scale), strict=True):
            shares.setdefault(text, []).append(share)
        return cls(list(shares), list(map(math.fsum, shares.values())))


class ReferenceLists:
    """The pseudo-references of each sentence, by the id of the list that they were read from."""

    def __init__(self, lists: ListStream, scale: float, post: Post | None = None) -> None:
        self.name = lists.name
        self._by_id: dict[str, PseudoReferences] = {}
        places: dict[str, str] = {}
        for nbest, texts in lists_with_texts(lists, post):
            key, where = normal_id(nbest.id), where_of(nbest, lists.name)
            if key in places:
                raise SmtError(f"{where}: expected each id once, found {nbest.id} again (first at {places[key]})")
            places[key] = where
            self._by_id[key] = PseudoReferences.of(nbest, texts, scale)

    def find(self, nbest: Candidates) -> PseudoReferences:
        """The references with the id of a list; raises SmtError if there are none."""
        found = self._by_id.get(normal_id(nbest.id))
        if found is None:
            raise SmtError(f"{_place(nbest)}: expected pseudo-references of id {nbest.id} in {self.name}, found none")
        return found


def _place(candidates: Candidates) -> str:
    return f"list {candidates.id} ({candidates.file or '<data>'}:{candidates.line})"


def _totals(candidates: Candidates, *, needed: bool) -> Sequence[float]:
    """The totals of a list, 0 if it has none; raises SmtError if it is empty, or they are needed and missing."""
    place, totals = _place(candidates), candidates.totals
    if not len(candidates):
        raise SmtError(f"{place}: expected hypotheses, found none")
    if totals is None and needed:
        raise SmtError(f"{place}: expected total scores, found none; `smt rescore` computes them, scale 0 needs none")
    if totals is not None and not all(map(math.isfinite, totals)):
        raise SmtError(f"{place}: expected finite totals, found inf or nan")
    return totals if totals is not None else [0.0] * len(candidates)


def lists_with_texts(lists: Iterable[Candidates], post: Post | None) -> Iterable[tuple[Candidates, list[str] | None]]:
    """Each list with its texts for the metric: postprocessed, or None for those that it has."""
    return ((nbest, None) for nbest in lists) if post is None else post.lists(lists)


def choices(
    lists: Iterable[Candidates],
    how: Consensus,
    *,
    references: ReferenceLists | None = None,
    utilities: Path | None = None,
    post: Post | None = None,
    runner: Runner | None = None,
) -> Iterator[Choice]:
    """Choose from each list, in order.

    ``utilities`` is a file that they are read from, or written to if there is none: it appears after the last list.
    """
    items = (
        (nbest, texts, None if references is None else references.find(nbest))
        for nbest, texts in lists_with_texts(lists, post)
    )
    if utilities is None:
        return _run(items, how, runner)
    if os.path.exists(utilities):
        return _choose_known(items, how, utilities)
    return _choose_and_write(items, how, runner, utilities)


def _run(items: Iterable[_Item], how: Consensus, runner: Runner | None) -> Iterator[Choice]:
    choose = _Choose(how)
    return iter(map(choose, items)) if runner is None else runner.map(choose, items)


def _choose_known(items: Iterable[_Item], how: Consensus, path: Path) -> Iterator[Choice]:
    with contextlib.closing(UtilityReader(path, how.metric)) as known:
        for nbest, texts, references in items:
            yield how.choose(nbest, texts, references, known)


def _choose_and_write(items: Iterable[_Item], how: Consensus, runner: Runner | None, path: Path) -> Iterator[Choice]:
    with write_utilities(path, how.metric) as writer:
        for choice in _run(items, replace(how, keep=True), runner):
            assert choice.utilities is not None
            writer.add(choice.candidates, choice.utilities)
            yield replace(choice, utilities=None)


@dataclass(frozen=True)
class _Choose:
    how: Consensus

    def __call__(self, item: _Item) -> Choice:
        return self.how.choose(*item)
