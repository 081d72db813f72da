"""What runs on a worker: it makes what a job needs once, from the recipe that every worker is given as it joins."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from distributed import WorkerPlugin, get_worker

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.runners import close_state
from smtplugins.contracts.tools.running import item_name, portable

_RECIPES: dict[str, bytes] = {}
_JOBS: dict[str, _Job] = {}
# One item at a time: decoders and features belong to one thread, and the working directory to the process.
_LOCK = threading.RLock()


@dataclass(frozen=True)
class Failure:
    """The error of an item or of what a job needs, and where it happened."""

    error: Exception
    trace: str


@dataclass(frozen=True)
class Done:
    """The pickled results of a batch, up to the item that failed; ``seconds`` of work without what came before it."""

    results: bytes
    seconds: float
    failure: Failure | None = None


class Assignment(WorkerPlugin):  # type: ignore[misc]
    """The scheduler gives the recipe of a job to each worker, also to those that join later."""

    def __init__(self, token: str, data: bytes) -> None:
        self.name = token
        self._data = data

    def setup(self, worker: Any) -> None:
        """Keep the recipe on a worker."""
        _RECIPES[self.name] = self._data

    def teardown(self, worker: Any) -> None:
        """Forget the job, when the item in work is done: the worker has to answer meanwhile."""
        threading.Thread(target=_given_up, args=(self.name,), daemon=True).start()


@dataclass(frozen=True)
class _Job:
    function: Any
    state: Any
    stateful: bool
    folder: str

    def do(self, item: Any) -> Any:
        return self.function(self.state, item) if self.stateful else self.function(item)


def packed(loading: Any, function: Any, setup: Any) -> bytes:
    """The recipe of a job: plugins come first, so that what they define is known when the rest is read."""
    import cloudpickle

    return pickle.dumps((loading, os.getcwd(), cloudpickle.dumps((function, setup))))


def run_batch(token: str, data: bytes) -> Done:
    """Do some items of a job; an error ends the batch."""
    with _LOCK:
        results: list[Any] = []
        begun = time.perf_counter()
        try:
            job = _job(token)
            begun = time.perf_counter()
            items = pickle.loads(data)
            for item in items:
                results.append(job.do(item))
            failure = None
        except (Exception, SystemExit) as error:
            failure = _failure(error)
        seconds = time.perf_counter() - begun
        try:
            packed_results = _dumps(results)
        except Exception:
            results, failure = _sendable(items, results)
            packed_results = _dumps(results)
        return Done(packed_results, seconds, failure)


def _dumps(results: list[Any]) -> bytes:
    return pickle.dumps(results, pickle.HIGHEST_PROTOCOL)


def _failure(error: Exception | SystemExit) -> Failure:
    import traceback

    return Failure(portable(error), "".join(traceback.format_exception(error)))


def _sendable(items: list[Any], results: list[Any]) -> tuple[list[Any], Failure]:
    """The results before the first that cannot be sent, and the error of that one."""
    for count, (item, result) in enumerate(zip(items, results, strict=False)):
        try:
            _dumps(result)
        except Exception as error:
            named = SmtError(f"item {item_name(item)}: its result cannot be sent: {type(error).__name__}: {error}")
            return results[:count], _failure(named)
    raise AssertionError("one of them cannot be sent")


@contextlib.contextmanager
def working(token: str) -> Iterator[Any]:
    """Nothing else is done in this process meanwhile; the function of a job without setup."""
    with _LOCK:
        yield _job(token).function


def _job(token: str) -> _Job:
    if token not in _JOBS:
        try:
            _JOBS[token] = _made(token)
        except (SmtError, OSError) as error:
            # Before the first item: it may be of this machine.
            raise SmtError(f"worker {get_worker().address}: {error}") from error
    job = _JOBS[token]
    _enter(job.folder)
    return job


def _enter(folder: str) -> None:
    """Work in the client's folder, if it is here; that of another job may have been entered meanwhile."""
    if os.path.isdir(folder):
        os.chdir(folder)


def _made(token: str) -> _Job:
    if token not in _RECIPES:
        raise SmtError("this worker lost the recipe of its job")
    loading, folder, inner = pickle.loads(_RECIPES[token])
    _enter(folder)
    loading.host()
    function, setup = pickle.loads(inner)
    return _Job(function, None if setup is None else setup(), setup is not None, folder)


async def end_job(token: str) -> Failure | None:
    """Close what a job made on this worker, if it did anything here; another job may be at work meanwhile."""
    try:
        await asyncio.to_thread(_end, token)
    except (Exception, SystemExit) as error:
        return _failure(error)
    return None


def _given_up(token: str) -> None:
    with contextlib.suppress(Exception):
        _end(token)


def _end(token: str) -> None:
    with _LOCK:
        _RECIPES.pop(token, None)
        job = _JOBS.pop(token, None)
        if job is not None:
            _enter(job.folder)
            close_state(job.state)
