"""Scores from an external command, as a feature and as a metric: JSON in, numbers out.

    {"id": "0", "source": "ein haus", "hyp": "a house"}                              ->   -1.25   (or {"score": -1.25})
    {"source": "ein haus", "hyp": "a house", "refs": ["the house", "a home"]}        ->   0.83

The first line is a feature's request, the second a metric's. By the protocol ``lines`` a command answers every line
before it waits for the next; by the protocol ``batches`` a line has many requests of many lists, answered by their keys
(BATCHES.md). Scores are kept on disk, so that the command is started only for what it has not scored before.
"""

from __future__ import annotations

import shlex
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.running import (
    BatchScores,
    ScoreCache,
    ScoreFolder,
    SegmentMetric,
    WorkerPool,
    command_files,
)
from smtplugins.plugins.standard.command import ScoringCommand

if TYPE_CHECKING:
    from smtformats import Candidates

Texts = Sequence["str | None"]
_BATCH, _WORKERS, _RETRIES = 64, 1, 2


def external_feature(
    command: str,
    *,
    protocol: Literal["lines", "batches"] = "lines",
    workers: int = _WORKERS,
    batch: int = _BATCH,
    retries: int = _RETRIES,
    timeout: float = 300.0,
    version: str = "",
    note: Callable[[str], None] | None = None,
    score_cache: ScoreFolder | None = None,
) -> External | BatchedExternal:
    """Scores hypotheses by an external command.

    ``protocol=batches``: lists are read ahead, and ``workers`` processes of the command get batches of ``batch``
    hypotheses of similar length; a batch that a process dies of is asked ``retries`` times again. ``timeout`` is the
    maximum time for a list, or in batches the longest silence, in seconds. ``version`` is part of the name under which
    scores are kept, beside the command and the contents of its files: change it if anything else changes the scores.
    """
    tell = note or (lambda text: None)
    if protocol == "lines":
        _check_lines("feature 'external'", workers, batch, retries)
        lines = ScoringCommand("feature 'external'", command, timeout)
        return External(lines, _cache("feature", lines.arguments, protocol, version, score_cache, tell))
    pool = WorkerPool(
        "feature 'external'", command, workers=workers, batch=batch, timeout=timeout, retries=retries, note=tell
    )
    return BatchedExternal(pool, _cache("feature", pool.arguments, protocol, version, score_cache, tell))


def _check_lines(who: str, workers: int, batch: int, retries: int) -> None:
    for name, value, usual in (
        ("workers", workers, _WORKERS),
        ("batch", batch, _BATCH),
        ("retries", retries, _RETRIES),
    ):
        if value != usual:
            raise UsageError(f"{who}: {name} needs protocol=batches, found protocol=lines")


def _cache(
    kind: str,
    arguments: Sequence[str],
    protocol: str,
    version: str,
    folder: ScoreFolder | None,
    note: Callable[[str], None],
) -> ScoreCache:
    """The kept scores of a command."""
    who = f"{kind} 'external', {protocol}: {shlex.join(arguments)}"
    where = folder or ScoreFolder(None)
    files = command_files(arguments, note) if where.path is not None else []
    return ScoreCache(where, who, version=version, files=files)


class External:
    """Scores hypotheses by a command that answers line by line, list by list."""

    def __init__(self, command: ScoringCommand, cache: ScoreCache) -> None:
        self._command, self._cache = command, cache

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
        """Request a score for each hypothesis, unless all of the list are known."""
        keys = [(candidates.id, source, text) for text in candidates.texts]
        known = [row[0] for row in self._cache.lookup(keys) if row is not None]
        if len(known) == len(keys):
            return known
        answers = self._command.ask([{"id": candidates.id, "source": source, "hyp": text} for text in candidates.texts])
        if len(set(zip(keys, answers, strict=True))) > len(set(keys)):
            # It answers by the position of a line, or at random; what was kept would contradict it.
            self._cache.stop("it answered a line that it was sent twice with different scores")
        self._cache.store(keys, [(answer,) for answer in answers])
        return answers

    def close(self) -> None:
        """End the command; raises FeatureError if it has printed extra answers or exits with an error."""
        self._command.close()
        self._cache.close()


class BatchedExternal:
    """Scores hypotheses by a command that answers batches across lists."""

    def __init__(self, pool: WorkerPool, cache: ScoreCache) -> None:
        self._pool, self._cache = pool, cache
        self._scores = BatchScores(cache, self._start)

    def _start(self, texts: Sequence[Texts], last: bool) -> Iterator[tuple[int, tuple[float, ...]]]:
        return self._pool.ask([{"source": source, "hyp": text} for source, text in texts], last=last)

    def score_batches(self, lists: Iterator[Candidates]) -> Iterator[list[float]]:
        """Score lists, reading ahead."""
        for rows in self._scores.score_lists(lists, lambda nbest: [(nbest.source, text) for text in nbest.texts]):
            yield [row[0] for row in rows]

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
        """Score a list."""
        return [row[0] for row in self._scores.scores([(source, text) for text in candidates.texts])]

    def close(self) -> None:
        """End the programs; raises FeatureError if one has printed extra answers or exits with an error."""
        self._pool.close()
        self._cache.close()


class ExternalMetric(SegmentMetric):
    """A metric by an external command: a corpus score is the mean segment score times ``scale``.

    A question is asked once: scores are remembered, and kept on disk. ``lower=true``: lower is better. ``name`` is the
    metric's name in tables. References are optional, for quality estimation. ``timeout`` is the maximum time for the
    answers to a call, or in batches the longest silence, in seconds. The other options are those of the feature.
    """

    def __init__(
        self,
        command: str,
        *,
        lower: bool = False,
        scale: float = 1.0,
        name: str = "external",
        protocol: Literal["lines", "batches"] = "lines",
        workers: int = _WORKERS,
        batch: int = _BATCH,
        retries: int = _RETRIES,
        timeout: float = 3600.0,
        version: str = "",
        note: Callable[[str], None] | None = None,
        score_cache: ScoreFolder | None = None,
    ) -> None:
        tell = note or (lambda text: None)
        super().__init__(name, "external", scale)
        who = self.who
        if protocol == "lines":
            _check_lines(who, workers, batch, retries)
        self._protocol, self._version = protocol, version
        self._command: ScoringCommand | WorkerPool = (
            ScoringCommand(who, command, timeout)
            if protocol == "lines"
            else WorkerPool(who, command, workers=workers, batch=batch, timeout=timeout, retries=retries, note=tell)
        )
        cache = _cache("metric", self._command.arguments, protocol, version, score_cache, tell)
        self.scores = BatchScores(cache, self._start)
        self.higher_is_better = not lower
        self.who = f"command {self._command.arguments[0]!r}"
        # Metrics are never closed, so the command is killed when the metric is deleted.
        weakref.finalize(self, self._command.abandon)

    def _start(self, texts: Sequence[Texts], last: bool) -> Iterator[tuple[int, tuple[float, ...]]]:
        requests: list[Mapping[str, Any]] = [
            {"source": source, "hyp": hypothesis, "refs": list(refs)} for source, hypothesis, *refs in texts
        ]
        if isinstance(self._command, WorkerPool):
            return self._command.ask(requests)
        return ((i, (answer,)) for i, answer in enumerate(self._command.answers(requests)))

    def keys(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None
    ) -> Sequence[Texts]:
        """Return the source, the hypothesis and its references."""
        return [
            (sources[i] if sources else None, hypothesis, *[stream[i] for stream in references])
            for i, hypothesis in enumerate(hypotheses)
        ]

    def settings(self) -> Mapping[str, str]:
        """Return the command line and version; the contents of its files are not part of the signature."""
        version = {"version": self._version} if self._version else {}
        return {"command": shlex.join(self._command.arguments), **version}
