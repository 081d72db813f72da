"""Scores from a worker: a model in a Python of the user's own, which speaks the batch protocol."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.contracts.tools.running import SegmentMetric
from smtplugins.plugins.neural.lm import sum_and_mean
from smtplugins.plugins.neural.scoring import Texts, table_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Columns
    from smtplugins.contracts.tools.running import ScoreCache, ScoreFolder

_FOLDER = Path(__file__).parent / "workers"
_NO_WORKERS = ("__init__", "serve")
_LOWER = ("metricx",)
"""Workers whose scores are errors."""
_LOG_PROBABILITIES = ("causal", "openai", "seq2seq")
"""Workers that answer with two numbers: a sum and the mean of a token."""

Note = Callable[[str], None]


def ready_made() -> dict[str, Path]:
    """The files of the workers of this package, by name."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*.py")) if path.stem not in _NO_WORKERS}


def serve_file() -> Path:
    """The file that runs a worker."""
    return _FOLDER / "serve.py"


class WorkerCommand:
    """The command that runs a worker: ``worker`` is a ready-made one, a file ``.py``, or a module with a dot."""

    def __init__(self, who: str, worker: str, python: str, arguments: str) -> None:
        known = ready_made()
        self.own = worker in known
        self.name = worker
        path = str(known.get(worker, worker))
        if path.endswith(".py"):
            if not Path(path).is_file():
                raise UsageError(f"{who}: worker: expected a file, found no {path}")
        elif "." not in worker or not all(part.isidentifier() for part in worker.split(".")):
            raise UsageError(
                f"{who}: worker: unknown worker {worker!r}{suggestion(worker, known)}; "
                "or name a file WORKER.py, or a module as PACKAGE.MODULE"
            )
        program = shutil.which(os.path.expanduser(python)) if python else sys.executable
        if program is None:
            raise UsageError(f"{who}: python: expected a Python interpreter, found no {python}")
        try:
            words = shlex.split(arguments)
        except ValueError as error:
            raise UsageError(f"{who}: arguments {arguments!r}: {error}") from None
        self.program = program
        self.files = [str(serve_file()), *([path] if path.endswith(".py") else [])]
        self.words = words
        self.arguments = [program, str(serve_file()), path, *words]
        self._module = [] if path.endswith(".py") else ["-m", path]

    def described(self, kind: str) -> str:
        """What scores depend on beside the contents of files."""
        name = self.name if self.own else self.arguments[2]
        return f"neural-worker, {kind}: {shlex.join([self.program, name, *self.words])}"

    def cache(self, kind: str, version: str, where: ScoreFolder | None, width: int, note: Note) -> ScoreCache:
        """The kept scores of this worker."""
        from smtplugins.contracts.tools.running import ScoreCache, ScoreFolder, command_files

        folder = where or ScoreFolder(None)
        files = (
            [*self.files, *command_files([*self._module, *self.arguments[1:]], note)] if folder.path is not None else []
        )
        return ScoreCache(folder, self.described(kind), version=version, files=dict.fromkeys(files), width=width)


class NeuralWorker:
    """Scores of a worker, which imports its library in the user's own Python: `python` (default: this one).

    ``worker`` is a ready-made one (`smt neural worker` lists them), a file WORKER.py or a module PACKAGE.MODULE with a
    function ``load``; ``arguments`` are its options, as ``--model NAME``. ``columns`` is how many numbers it answers
    with (default: as the ready-made one does, or 1). ``workers`` processes get batches of ``batch`` hypotheses across
    lists; a batch that one dies of is asked ``retries`` times again. ``timeout`` is the longest silence, in seconds.
    ``version`` is part of the name under which scores are kept: change it if a library or model changes its scores.
    """

    def __init__(
        self,
        worker: str,
        *,
        python: str = "",
        arguments: str = "",
        columns: int = 0,
        workers: int = 1,
        batch: int = 64,
        retries: int = 2,
        timeout: float = 3600.0,
        version: str = "",
        note: Note | None = None,
        score_cache: ScoreFolder | None = None,
    ) -> None:
        from smtplugins.contracts.tools.running import BatchScores, WorkerPool

        who = "feature 'neural-worker'"
        command = WorkerCommand(who, worker, python, arguments)
        pair = command.own and worker in _LOG_PROBABILITIES
        if columns < 0 or (command.own and columns not in (0, 1 + pair)):
            expected = str(1 + pair) if command.own else "a number from 1 on"
            raise UsageError(f"{who}: columns: expected {expected}, found {columns}")
        width = columns or 1 + pair
        self._names = sum_and_mean("neural-worker", "both") if pair else ()
        tell = note or (lambda text: None)
        self._pool = WorkerPool(
            who,
            command.arguments,
            workers=workers,
            batch=batch,
            retries=retries,
            timeout=timeout,
            width=width,
            note=tell,
        )
        self._cache = command.cache("feature", version, score_cache, width, tell)
        self._scores = BatchScores(self._cache, self._start)

    def _start(self, texts: list[Texts], last: bool) -> Iterator[tuple[int, tuple[float, ...]]]:
        return self._pool.ask([{"source": source, "hyp": text} for source, text in texts], last=last)

    def score_batches(self, lists: Iterator[Candidates]) -> Iterator[NDArray[Any] | Columns]:
        """Score lists, reading ahead."""
        for rows in self._scores.score_lists(lists, lambda nbest: [(nbest.source, text) for text in nbest.texts]):
            yield table_of(rows, self._names)

    def score_candidates(self, source: str | None, candidates: Candidates) -> NDArray[Any] | Columns:
        """Score a list."""
        return table_of(self._scores.scores([(source, text) for text in candidates.texts]), self._names)

    def close(self) -> None:
        """End the worker; raises FeatureError if it ends with an error."""
        self._pool.close()
        self._cache.close()


class NeuralWorkerMetric(SegmentMetric):
    """Mean of a worker's segment scores, with references, sources, or both, as the worker needs them.

    ``name`` is the metric's name in tables (default: the worker's), ``lower=true``: lower is better. The other options
    are those of the feature.
    """

    def __init__(
        self,
        worker: str,
        *,
        python: str = "",
        arguments: str = "",
        name: str = "",
        lower: bool | None = None,
        scale: float = 1.0,
        workers: int = 1,
        batch: int = 64,
        retries: int = 2,
        timeout: float = 3600.0,
        version: str = "",
        note: Note | None = None,
        score_cache: ScoreFolder | None = None,
    ) -> None:
        from smtplugins.contracts.tools.running import BatchScores, WorkerPool

        super().__init__(name or Path(worker).stem, "neural-worker", scale)
        self._command = WorkerCommand(self.who, worker, python, arguments)
        if self._command.own and worker in _LOG_PROBABILITIES:
            raise UsageError(f"{self.who}: worker {worker!r} is for features: its numbers are no quality of a corpus")
        self.higher_is_better = not (worker in _LOWER if lower is None else lower)
        self._version = version
        tell = note or (lambda text: None)
        self._pool = WorkerPool(
            self.who,
            self._command.arguments,
            workers=workers,
            batch=batch,
            retries=retries,
            timeout=timeout,
            note=tell,
        )
        self.scores = BatchScores(self._command.cache("metric", version, score_cache, 1, tell), self._start)
        # Metrics are never closed, so the worker is killed when the metric is deleted.
        weakref.finalize(self, self._pool.abandon)

    def _start(self, texts: list[Texts], last: bool) -> Iterator[tuple[int, tuple[float, ...]]]:
        return self._pool.ask([{"source": source, "hyp": text, "refs": list(refs)} for source, text, *refs in texts])

    def keys(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None
    ) -> list[Texts]:
        """Source, hypothesis and references."""
        return [
            (sources[i] if sources else None, text, *(stream[i] for stream in references))
            for i, text in enumerate(hypotheses)
        ]

    def settings(self) -> Mapping[str, str]:
        """The worker, its options and its version."""
        given = {"arguments": shlex.join(self._command.words), "version": self._version}
        return {"worker": self._command.name, **{key: value for key, value in given.items() if value}}
