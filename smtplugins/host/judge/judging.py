"""Lists judged: a metric's score of each hypothesis, the oracle of each list, and a baseline, for people to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, ListColumns
    from smtplugins.contracts.contracts import Metric
    from smtplugins.host.files.joining import Joined, Texts
    from smtplugins.host.files.lists import ListStream


@dataclass(frozen=True)
class Judged:
    """Lists, best first, with a metric's score of each hypothesis and those of a baseline.

    ``oracles`` are the rows with the best sentence score in each list, the first of equal ones, and ``depths`` the
    corpus scores of the best by sentence score among the first 1, 2, 4, ... of each list. ``weights`` is ``None`` for
    lists that keep the order and totals they came with.
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
) -> Judged:
    """Judge lists, joined with the references by id, and sort them by weights.

    Without a baseline, it is what the lists had as best when they came.
    """
    import numpy as np

    from smtformats import ListColumns
    from smtplugins.host.files.joining import Joined, placed, wheres

    firsts: list[str] = []

    def came(one: Candidates) -> Candidates:
        if not len(one):
            raise SmtError(f"{one.file or '<data>'}:{one.line}: expected hypotheses in list {one.id}, found none")
        firsts.append(one.texts[0 if one.totals is None else int(np.argmax(one.totals))])
        return one

    stream = lists.map(came)
    if weights is not None:
        stream = stream.rescore(weights, missing=missing, note=note)
    else:
        stream = stream.map(_by_totals)
    side = [one for one in (sources, baseline) if one is not None]
    joined = Joined([*references, *side])
    gathered = _Gathered(lists.name, joined, len(references), metric, sources is not None, firsts, baseline is not None)
    columns = ListColumns.from_lists(gathered.through(stream))
    if not len(columns):
        raise SmtError(f"{lists.name}: expected n-best lists, found none")
    places = placed(wheres(columns, lists.name), joined)
    if not allow_partial:
        joined.check_complete(lists.name, set(places), "judges the lists that are there")
    return Judged(
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


def _by_totals(one: Candidates) -> Candidates:
    totals = one.totals
    return one if totals is None else one.select(sorted(range(len(one)), key=lambda i: -totals[i]))


class _Gathered:
    """What is noted of each list while they go by."""

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
        from smtplugins.contracts.contracts import PreparedMetric
        from smtplugins.host.learn.training_data import Statistics

        self._name = name
        self._joined = joined
        self._references = joined.streams[:references]
        self._metric = metric
        # Metrics that prepare references read no sources.
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

        from smtplugins.host.files.joining import where_of

        for one in lists:
            at = self._joined.place(one.id, where_of(one, self._name))
            base = self._firsts[-1] if self._base is None else self._base.texts[at] or ""
            stats = self._judge([*one.texts, base], at)
            scores = np.asarray(self._metric.sentence(stats), dtype=np.float64)
            self.baseline.append(base)
            self.baseline_stats.append(stats[-1])
            self.baseline_scores.append(float(scores[-1]))
            self.references.append(tuple(stream.texts[at] or "" for stream in self._references))
            self.scores.append(scores[:-1])
            signed = scores[:-1] * (1 if self._metric.higher_is_better else -1)
            tops = [int(np.argmax(signed[:n])) for n in depths_of(len(one))]
            self.oracles.append(tops[-1])
            self._best.append(stats[tops])
            yield one

    def depths(self) -> tuple[tuple[int, float], ...]:
        """The corpus score at each depth; a shorter list gives its best of all."""
        longest = max(len(one) for one in self.scores)
        found = []
        for at, depth in enumerate(depths_of(longest)):
            total = sum(best[min(at, len(best) - 1)] for best in self._best)
            found.append((depth, float(self._metric.score(total))))
        return tuple(found)


def depths_of(size: int) -> list[int]:
    """1, 2, 4, ... and the size itself."""
    powers = [1 << k for k in range(size.bit_length()) if 1 << k < size]
    return [*powers, size]
