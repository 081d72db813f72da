"""Lists whose totals are a metric's sentence scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from smtformats import Candidates, Format
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.metrics import Metric
from smtplugins.host.files.joining import Joined, System, references_of, texts_of, where_of
from smtplugins.host.files.lists import ListStream
from smtplugins.host.learn.training_data import Statistics


def judge_hypotheses(
    lists: ListStream,
    refs: Sequence[System],
    metric: Metric,
    *,
    sources: System | None = None,
    allow_partial: bool = False,
    formats: Iterable[Format] | None = None,
) -> ListStream:
    """Replace totals by sentence scores against references, joined by id; negative ones if lower scores are better.

    The order of hypotheses is kept.
    """
    known = None if formats is None else list(formats)
    side = [texts_of(sources, known, "source")] if sources is not None else []
    joined = Joined([*references_of(refs, known), *side])
    streams = joined.streams[: len(joined.streams) - len(side)]
    judge = Statistics(metric, streams, joined.streams[-1] if side else None)

    def start() -> Iterator[Candidates]:
        seen: dict[int, str] = {}
        for nbest in lists:
            where = where_of(nbest, lists.name)
            at = joined.place(nbest.id, where)
            seen[at] = where
            scores = np.asarray(metric.sentence(judge(nbest.texts, at)), dtype=np.float64)
            if not np.isfinite(scores).all():
                raise SmtError(f"metric {metric.name!r}: expected finite sentence scores, found inf or nan")
            yield nbest.with_totals((scores if metric.higher_is_better else -scores).tolist())
        if not allow_partial:
            joined.check_complete(lists.name, seen, "judges the lists that are there")

    return ListStream(start, lists.name, lists.format)
