"""The whole way from candidates to a better choice: score, tune on one set, rescore another, judge what was gained.

It is the chain of ``smt score``, ``tune``, ``rescore``, ``best`` and ``evaluate``, and gives the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError
from smtplugins.host.lists import ListStream
from smtplugins.host.training_data import Statistics, metric_of

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtplugins.host.evaluation import Evaluation
    from smtplugins.host.host import Host
    from smtplugins.host.joining import Joined
    from smtplugins.host.tuning import Tuned

Note = Callable[[str], None]
WEIGHTS, TEXT, LISTS = "weights", "best.txt", "rescored"
SEED, SAMPLES = 12345, 1000
_METRIC = "bleu"


@dataclass(frozen=True)
class Reranked:
    """Learnt weights, the test lists sorted by them, and the scores: of the test if there were references for it."""

    tuned: Tuned
    lists: ListStream
    dev: Evaluation
    test: Evaluation | None

    @property
    def weights(self) -> Mapping[str, float]:
        """The learnt weights."""
        return self.tuned.weights

    def best(self) -> list[str]:
        """The text now chosen for each sentence."""
        return self.lists.best()

    def rows(self) -> list[dict[str, Any]]:
        """A row for each set and choice, for tables and JSON."""
        sets = [("dev", self.dev), *([("test", self.test)] if self.test is not None else [])]
        found = []
        for name, judged in sets:
            for row in judged.rows():
                p = None if row["system"] == "oracle" else row["p"]
                found.append({"set": name, **row, "p": p})
        return found


def rerank(
    host: Host,
    dev: ListStream,
    dev_refs: Sequence[Any],
    test: ListStream,
    test_refs: Sequence[Any] = (),
    *,
    features: Sequence[Any] = (),
    metric: Any = _METRIC,
    post: Any = None,
    missing: float | None = None,
    samples: int = SAMPLES,
    jobs: int = 1,
    allow_partial: bool = False,
    output: Path | None = None,
    to_format: str | None = None,
    note: Note = lambda text: None,
    **learning: Any,
) -> Reranked:
    """Learn on ``dev``, sort ``test``; with ``output`` weights, text and lists are written into that folder."""
    from smtplugins.host.evaluation import Evaluation
    from smtplugins.host.lists import write_best
    from smtplugins.host.opening import find_format, write_all

    if output is not None and output.exists() and not output.is_dir():
        raise UsageError(f"{output}: expected a folder to write to, found a file")
    scored = host.score(dev, features, jobs=jobs) if features else dev
    # Features may take long: each list is scored once.
    kept = scored.load() if features else None
    learnt_from = ListStream(lambda: iter(kept), dev.name, dev.format, lambda: kept) if kept is not None else scored
    tuned = host.tune(
        learnt_from, dev_refs, metric=metric, post=post, jobs=jobs, allow_partial=allow_partial, note=note, **learning
    )
    scored_test = host.score(test, features, jobs=jobs) if features else test
    rescored = scored_test.rescore(tuned.weights, missing=missing, note=note)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        name = output / (LISTS + _suffix(test.name))
        rescored.write(name, to_format)
        rescored = host.read(name, format=to_format or (test.format.name if test.format is not None else None))
        write_all(find_format("cdec-weights", "weights"), [dict(tuned.weights)], output / WEIGHTS)
        if write_best(rescored, output / TEXT, fill=None) and not allow_partial:
            note(f"some ids have no list: {output / TEXT} has an empty line for each")
    else:
        lists = list(rescored)
        rescored = ListStream(lambda: iter(lists), test.name, test.format)
    now = learnt_from.rescore(tuned.weights, missing=0.0)
    judged = host.evaluate(
        dev_refs, _systems(host, dev, now, dev_refs, metric, post), [metric], post=post, allow_partial=allow_partial
    )
    own = [
        replace(one, signature=f"{one.signature}|in-sample") if one.system == "result" else one for one in judged.scores
    ]
    if not test_refs:
        return Reranked(tuned, rescored, Evaluation(tuple(own)), None)
    systems = _systems(host, test, rescored, test_refs, metric, post)
    gained = host.evaluate(
        test_refs, systems, [metric], bootstrap=samples, seed=SEED, post=post, allow_partial=allow_partial
    )
    return Reranked(tuned, rescored, Evaluation(tuple(own)), gained)


def _suffix(name: str) -> str:
    """The suffixes of a file's name, as `.nbest.gz`."""
    return "".join(Path(name).suffixes[-2:]) if os.path.basename(name) == Path(name).name else ""


def _systems(
    host: Host, before: ListStream, after: ListStream, refs: Sequence[Any], metric: Any, post: Any
) -> dict[str, Any]:
    from smtplugins.host.joining import Joined, references_of

    joined = Joined(references_of(refs, host.formats()))
    return {"baseline": before, "result": after, "oracle": oracle(after, joined, metric_of(host, metric, post))}


def oracle(lists: ListStream, references: Joined, metric: Any) -> ListStream:
    """Of each list the hypothesis with the best sentence score, the first of equal ones."""
    import numpy as np

    from smtplugins.host.joining import where_of

    judge = Statistics(metric, references.streams)

    def start() -> Iterator[Candidates]:
        for one in lists:
            scores = metric.sentence(judge(one.texts, references.place(one.id, where_of(one, lists.name))))
            at = int(np.argmax(scores if metric.higher_is_better else -scores))
            yield one.select([at])

    return ListStream(start, lists.name, lists.format)
