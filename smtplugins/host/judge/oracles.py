"""Oracle scores of n-best lists, among the first 1, 2, 4, 8, ... hypotheses by total.

The oracle of a list is the hypothesis with the best sentence score; the corpus score is computed from the summed
statistics of all oracles. For a metric that is not a mean over sentences, a better corpus oracle may exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from smtformats import Format
from smtformats.display import html_table
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.metrics import Metric
from smtplugins.host.files.joining import Joined, System, references_of, texts_of, where_of
from smtplugins.host.files.lists import ListStream, candidates, ranking, write_best
from smtplugins.host.files.opening import Path
from smtplugins.host.judge.postprocess import Post
from smtplugins.host.learn.training_data import Statistics


@dataclass(frozen=True)
class Oracle:
    """The oracle score among the first ``best_at`` of each list; ``gain`` is the improvement over the first alone."""

    best_at: int
    metric: str
    score: float
    gain: float
    signature: str


@dataclass(frozen=True)
class Oracles(Sequence[Oracle]):
    """A row per metric and size; ``texts`` are (id, oracle of the whole list under the first metric)."""

    rows: tuple[Oracle, ...]
    texts: tuple[tuple[str, str], ...]
    longest: int
    name: str = "<lists>"

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Oracle: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Oracle, ...]: ...
    def __getitem__(self, index: int | slice) -> Oracle | tuple[Oracle, ...]:
        return self.rows[index]

    def __repr__(self) -> str:
        tops = {row.metric: f"{row.metric} {row.score:.2f}" for row in self}
        return f"<Oracles of {len(self.texts)} lists: {', '.join(tops.values())}>"

    def _repr_html_(self) -> str:
        rows = [(row.best_at, row.metric, round(row.score, 2), round(row.gain, 2), row.signature) for row in self]
        return html_table(("best_at", "metric", "score", "gain", "signature"), rows)

    def write(self, path: Path) -> int:
        """Write the texts, one per line, by id; return the number of ids skipped, which get an empty line."""
        best = ListStream(lambda: (candidates([text], id=key) for key, text in self.texts), self.name)
        return write_best(best, path, fill=None)


@dataclass
class _Sums:
    """Summed statistics of the oracles of all lists so far, for each power of two."""

    metric: Metric
    sums: list[NDArray[Any]] = field(default_factory=list)

    def add(self, rows: NDArray[Any]) -> int:
        """Add a list's statistics, best total first; return its oracle."""
        scores = np.asarray(self.metric.sentence(rows), dtype=np.float64)
        gains = scores if self.metric.higher_is_better else -scores
        if not np.isfinite(gains).all():
            raise SmtError(f"metric {self.metric.name!r}: expected finite sentence scores, found inf or nan")
        # No list so far was longer than the last size, so its sums serve all larger sizes.
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
    """Compute oracle scores of lists, joined with the references by id."""
    known = None if formats is None else list(formats)
    side = [texts_of(sources, known, "source")] if sources is not None else []
    joined = Joined([*references_of(refs, known), *side])
    streams = joined.streams[: len(joined.streams) - len(side)]
    judges = [Statistics(metric, streams, joined.streams[-1] if side else None) for metric in metrics]
    sums = [_Sums(metric) for metric in metrics]
    texts: list[tuple[str, str]] = []
    longest, seen = 0, dict[int, str]()
    for nbest, shown in ((nbest, nbest.texts) for nbest in lists) if post is None else post.lists(lists):
        where = where_of(nbest, lists.name)
        at = joined.place(nbest.id, where)
        if at in seen:
            raise SmtError(f"{where}: expected each id once, found {nbest.id} again (first at {seen[at]})")
        if not len(nbest):
            raise SmtError(f"{where}: list {nbest.id}: expected hypotheses, found none")
        seen[at] = where
        order = list(range(len(nbest))) if nbest.totals is None else ranking(nbest.totals)
        ranked = [shown[i] for i in order]
        tops = [total.add(judge(ranked, at)) for judge, total in zip(judges, sums, strict=True)]
        texts.append((nbest.id, nbest.texts[order[tops[0]]]))
        longest = max(longest, len(nbest))
    if not seen:
        raise SmtError(f"{lists.name}: expected lists, found none")
    if not allow_partial:
        joined.check_complete(lists.name, seen, "judges the lists that are there")
    partial = f"|segments:{len(seen)}" if streams and len(seen) < len(streams[0]) else ""
    before = f"|post:{post.spec}" if post is not None else ""
    rows = []
    for metric, total in zip(metrics, sums, strict=True):
        signature = metric.signature() + before + "|oracle:sentence" + partial
        scores = [float(metric.score(stats)) for stats in total.sums]
        for power, score in enumerate(scores):
            gain = score - scores[0] if metric.higher_is_better else scores[0] - score
            rows.append(Oracle(min(1 << power, longest), metric.name, score, gain, signature))
    return Oracles(tuple(rows), tuple(texts), longest, lists.name)
