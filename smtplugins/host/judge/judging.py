"""Score every hypothesis of n-best lists, with oracles and a baseline, for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtformats import ListColumns
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.metrics import PreparedMetric
from smtplugins.host.files.joining import Joined, file_positions, find_places, where_of
from smtplugins.host.files.lists import best_text, ranking
from smtplugins.host.learn.training_data import Statistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtplugins.contracts.metrics import Metric
    from smtplugins.host.files.joining import Texts
    from smtplugins.host.files.lists import ListStream


@dataclass(frozen=True)
class JudgedLists:
    """Lists, best first, with a metric's score for each hypothesis and for a baseline.

    ``oracles`` are the rows with the best sentence score in each list (first on a tie), ``depths`` the corpus scores of
    the oracles among the first 1, 2, 4, ... hypotheses. ``weights`` is ``None`` if the lists keep their own order and
    totals.
    """

    lists: ListColumns
    weights: Mapping[str, float] | None
    metric: str
    higher_is_better: bool
    signature: str
    scores: NDArray[Any]
    oracles: NDArray[Any]
    references: tuple[tuple[str, ...], ...]
    baseline: tuple[str, ...]
    baseline_name: str
    baseline_scores: NDArray[Any]
    baseline_score: float
    depths: tuple[tuple[int, float], ...]

    @property
    def score(self) -> float:
        """The corpus score of the best hypotheses."""
        return self.depths[0][1]


def judge(
    lists: ListStream,
    references: Sequence[Texts],
    metric: Metric,
    *,
    weights: Mapping[str, float] | None = None,
    missing: float | None = None,
    baseline: Texts | None = None,
    sources: Texts | None = None,
    allow_partial: bool = False,
    note: Callable[[str], None] = lambda text: None,
) -> JudgedLists:
    """Join lists with the references by id, sort them by weights, and judge them.

    The default baseline is the best hypothesis of each list before rescoring.
    """
    import numpy as np

    firsts: list[str] = []

    def prepare(nbest: Candidates) -> Candidates:
        if not len(nbest):
            raise SmtError(f"{nbest.file or '<data>'}:{nbest.line}: expected hypotheses in list {nbest.id}, found none")
        firsts.append(best_text(nbest))
        return nbest if weights is not None or nbest.totals is None else nbest.select(ranking(nbest.totals))

    stream = lists.map(prepare)
    if weights is not None:
        stream = stream.rescore(weights, missing=missing, note=note)
    side = [texts for texts in (sources, baseline) if texts is not None]
    joined = Joined([*references, *side])
    gathered = _Collector(
        lists.name, joined, len(references), metric, sources is not None, firsts, baseline is not None
    )
    columns = ListColumns.from_lists(gathered.through(stream))
    if not len(columns):
        raise SmtError(f"{lists.name}: expected n-best lists, found none")
    places = find_places(file_positions(columns, lists.name), joined)
    if not allow_partial:
        joined.check_complete(lists.name, set(places), "judges the lists that are there")
    return JudgedLists(
        lists=columns,
        weights=weights,
        metric=metric.name,
        higher_is_better=metric.higher_is_better,
        signature=metric.signature(),
        scores=np.concatenate(gathered.scores),
        oracles=np.array(gathered.oracles) + columns.offsets[:-1],
        references=tuple(gathered.references),
        baseline=tuple(gathered.baseline),
        baseline_name=f"{lists.name} as it came" if baseline is None else baseline.name,
        baseline_scores=np.array(gathered.baseline_scores),
        baseline_score=float(metric.score(np.sum(gathered.baseline_stats, axis=0))),
        depths=gathered.depths(),
    )


class _Collector:
    """Collects scores, oracles and baselines while the lists stream through."""

    def __init__(
        self,
        name: str,
        joined: Joined,
        references: int,
        metric: Metric,
        sources: bool,
        firsts: list[str],
        baseline: bool,
    ) -> None:
        self._name = name
        self._joined = joined
        self._references = joined.streams[:references]
        self._metric = metric
        # Metrics with prepared references do not read sources.
        read = sources and not isinstance(metric, PreparedMetric)
        self._judge = Statistics(metric, self._references, joined.streams[references] if read else None)
        self._firsts = firsts
        self._base = joined.streams[-1] if baseline else None
        self.scores: list[NDArray[Any]] = []
        self.oracles: list[int] = []
        self.references: list[tuple[str, ...]] = []
        self.baseline: list[str] = []
        self.baseline_scores: list[float] = []
        self.baseline_stats: list[NDArray[Any]] = []
        self._best: list[NDArray[Any]] = []

    def through(self, lists: ListStream) -> Iterator[Candidates]:
        import numpy as np

        for nbest in lists:
            at = self._joined.place(nbest.id, where_of(nbest, self._name))
            base = self._firsts[-1] if self._base is None else self._base.texts[at] or ""
            stats = self._judge([*nbest.texts, base], at)
            scores = np.asarray(self._metric.sentence(stats), dtype=np.float64)
            self.baseline.append(base)
            self.baseline_stats.append(stats[-1])
            self.baseline_scores.append(float(scores[-1]))
            self.references.append(tuple(stream.texts[at] or "" for stream in self._references))
            self.scores.append(scores[:-1])
            signed = scores[:-1] * (1 if self._metric.higher_is_better else -1)
            tops = [int(np.argmax(signed[:n])) for n in depths_of(len(nbest))]
            self.oracles.append(tops[-1])
            self._best.append(stats[tops])
            yield nbest

    def depths(self) -> tuple[tuple[int, float], ...]:
        """The corpus score at each depth; a shorter list contributes its overall best."""
        longest = max(len(scores) for scores in self.scores)
        depths = []
        for at, depth in enumerate(depths_of(longest)):
            total = sum(best[min(at, len(best) - 1)] for best in self._best)
            depths.append((depth, float(self._metric.score(total))))
        return tuple(depths)


def depths_of(size: int) -> list[int]:
    """1, 2, 4, ... below the size, then the size itself."""
    powers = [1 << k for k in range(size.bit_length()) if 1 << k < size]
    return [*powers, size]
