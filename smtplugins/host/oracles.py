"""How good the best hypotheses of lists are: oracle scores among the first 1, 2, 4, 8 and so on by total.

The oracle of a list is the hypothesis with the best sentence score; the score of a corpus is that of the statistics of
all oracles together. For a metric that is no mean of sentences a better choice for the corpus may exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError
from smtplugins.host.evaluation import System, texts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Format
    from smtplugins.host.contracts import Metric
    from smtplugins.host.lists import ListStream
    from smtplugins.host.posting import Post


@dataclass(frozen=True)
class Oracle:
    """The best among the first ``best_at`` of each list; ``gain`` is how much better that is than the first alone."""

    best_at: int
    metric: str
    score: float
    gain: float
    signature: str


@dataclass(frozen=True)
class Oracles:
    """A row for each metric and size; ``texts`` are the oracles of whole lists under the first metric, by id."""

    rows: tuple[Oracle, ...]
    texts: tuple[tuple[str, str], ...]
    longest: int


@dataclass
class _Sums:
    """Statistics of the oracles of all lists so far, for each power of two."""

    metric: Metric
    sums: list[NDArray[Any]] = field(default_factory=list)

    def add(self, rows: NDArray[Any]) -> int:
        """A list's statistics, best total first; gives its oracle."""
        import numpy as np

        scores = np.asarray(self.metric.sentence(rows), dtype=np.float64)
        gains = scores if self.metric.higher_is_better else -scores
        if not np.isfinite(gains).all():
            raise SmtError(f"metric {self.metric.name!r}: expected finite sentence scores, found inf or nan")
        # Lists so far were no longer than the last size.
        while not self.sums or 1 << (len(self.sums) - 1) < len(rows):
            self.sums.append(self.sums[-1].copy() if self.sums else np.zeros(rows.shape[1]))
        best = 0
        for power, total in enumerate(self.sums):
            best = int(np.argmax(gains[: 1 << power]))
            total += rows[best]
        return best


def oracles(
    lists: ListStream,
    refs: Sequence[System],
    metrics: Sequence[Metric],
    *,
    sources: System | None = None,
    post: Post | None = None,
    allow_partial: bool = False,
    formats: Iterable[Format] | None = None,
) -> Oracles:
    """Oracle scores of lists, whose ids are line numbers of the references."""
    from smtplugins.host.training_data import Statistics

    streams = [texts_of(one, formats) for one in refs]
    side = texts_of(sources, formats) if sources is not None else None
    judges = [Statistics(metric, streams, side) for metric in metrics]
    sums = [_Sums(metric) for metric in metrics]
    texts: list[tuple[str, str]] = []
    longest, seen = 0, set[int]()
    for one, shown in ((one, one.texts) for one in lists) if post is None else post.lists(lists):
        at = _place(one, lists.name, [*streams, *([side] if side else [])])
        if at in seen:
            raise SmtError(f"{lists.name}: expected each id once, found {one.id} again")
        seen.add(at)
        order = _ranking(one)
        ranked = [shown[i] for i in order]
        found = [total.add(judge(ranked, at)) for judge, total in zip(judges, sums, strict=True)]
        texts.append((one.id, one.texts[order[found[0]]]))
        longest = max(longest, len(one))
    if not seen:
        raise SmtError(f"{lists.name}: expected lists, found none")
    _check_complete(lists.name, seen, max(map(len, streams), default=0), allow_partial)
    partial = f"|segments:{len(seen)}" if streams and len(seen) < len(streams[0]) else ""
    before = f"|post:{post.spec}" if post is not None else ""
    rows = []
    for metric, total in zip(metrics, sums, strict=True):
        signature = metric.signature() + before + "|oracle:sentence" + partial
        scores = [float(metric.score(one)) for one in total.sums]
        for power, score in enumerate(scores):
            gain = score - scores[0] if metric.higher_is_better else scores[0] - score
            rows.append(Oracle(min(1 << power, longest), metric.name, score, gain, signature))
    return Oracles(tuple(rows), tuple(texts), longest)


def _ranking(one: Candidates) -> list[int]:
    """Hypotheses by total, equal ones as they come."""
    totals = one.totals
    order = range(len(one))
    return list(order) if totals is None else sorted(order, key=lambda i: -totals[i])


def _place(one: Candidates, name: str, streams: Sequence[Any]) -> int:
    if not one.id.isdigit():
        raise SmtError(f"{name}: expected line numbers of the references as ids, found {one.id!r}")
    if not len(one):
        raise SmtError(f"{name}: list {one.id}: expected hypotheses, found none")
    at = int(one.id)
    for stream in streams:
        if at >= len(stream) or stream.texts[at] is None:
            raise SmtError(f"{stream.name}: expected a sentence for id {at} (line {at + 1}), found none")
    return at


def _check_complete(name: str, seen: set[int], lines: int, partial: bool) -> None:
    missing = next((i for i in range(lines) if i not in seen), None)
    if missing is not None and not partial:
        raise SmtError(
            f"{name}: expected a list for id {missing} (line {missing + 1} of the references), found none; "
            "--allow-partial judges the lists that are there"
        )
