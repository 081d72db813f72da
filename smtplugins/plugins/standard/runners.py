"""Runners: one item after another, or several forked processes; results in the order of the items either way."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from smtplugins.host.errors import SmtError, UsageError, exit_error

_LAST_MOMENTS = 5.0
"""Seconds until a process is gone whose connection is closed."""


class Serial:
    """One item after another."""

    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *, setup: Callable[[], Any] | None = None
    ) -> Iterator[Any]:
        """Results in order."""
        if setup is None:
            yield from map(function, items)
            return
        state = setup()
        try:
            for item in items:
                yield function(state, item)
        except BaseException:
            # What ended the work is to be told, not what followed from it.
            with contextlib.suppress(Exception):
                _close(state)
            raise
        _close(state)


class Processes:
    """Several processes, forked so that a language model in memory is shared and nothing but items is copied.

    A worker has one chunk of items at a time and gets the next when its result was taken, so memory is bounded whatever
    the length of the input, no pipe can fill up on both sides, and a worker that dies is noticed at once. (A pool of
    the standard library costs nearly twice as much, and ends its workers by a signal that one just forked may lose.)
    """

    def __init__(self, jobs: int = 0, *, chunk: int = 8) -> None:
        if jobs < 0 or chunk < 1:
            raise UsageError(f"runner 'processes': expected positive numbers, found {jobs=}, {chunk=}")
        if "fork" not in multiprocessing.get_all_start_methods():
            raise UsageError("runner 'processes' needs a system with fork; use one job")
        self._jobs = jobs or os.cpu_count() or 1
        self._chunk = chunk

    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *, setup: Callable[[], Any] | None = None
    ) -> Iterator[Any]:
        """Results in order."""
        chunks = _chunks(iter(items), self._chunk)
        workers: list[_Worker] = []
        waiting: collections.deque[tuple[_Worker, list[Any]]] = collections.deque()
        try:
            for chunk in itertools.islice(chunks, self._jobs):
                workers.append(_Worker(function, setup, workers))
                workers[-1].send(chunk)
                waiting.append((workers[-1], chunk))
            while waiting:
                worker, chunk = waiting.popleft()
                results = worker.receive(chunk)
                for following in itertools.islice(chunks, 1):
                    worker.send(following)
                    waiting.append((worker, following))
                yield from results
            for worker in workers:
                worker.finish()
        except BaseException:
            # Interrupted, failed, or given up by the caller: nobody waits for what is under way.
            for worker in workers:
                worker.process.kill()
            raise
        finally:
            for worker in workers:
                worker.end()


def _chunks(items: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while chunk := list(itertools.islice(items, size)):
        yield chunk


class _Worker:
    """A forked process and the pipe to it. What it works with is inherited, so only items and results are pickled."""

    def __init__(
        self, function: Callable[..., Any], setup: Callable[[], Any] | None, others: Iterable[_Worker]
    ) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, far = context.Pipe()
        # A pipe ends when nobody holds its other end: a worker must not keep those of its elders, or its own.
        foreign = [self.connection, *(other.connection for other in others)]
        self.process = context.Process(target=_serve, args=(far, foreign, function, setup))
        self.process.start()
        far.close()

    def send(self, chunk: list[Any]) -> None:
        """Give it work. Should it be dead, taking the result says so."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(chunk)

    def receive(self, chunk: list[Any]) -> list[Any]:
        """Its results for the chunk, or its failure."""
        try:
            results, error, trace = self.connection.recv()
        except (EOFError, ConnectionResetError):
            place = f"at or after item {getattr(chunk[0], 'id', chunk[0])}" if chunk else "at its end"
            raise SmtError(f"a worker process died, {place}: {self._death()}") from None
        if error is not None:
            raise error from SmtError(f"in a worker process:\n{trace}")
        done: list[Any] = results
        return done

    def _death(self) -> str:
        """How the process ended, which is no longer there to read or write."""
        self.process.join(_LAST_MOMENTS)
        code = self.process.exitcode
        if code is None:
            return "it closed its connection"
        if code >= 0:
            return f"it ended by itself with exit code {code}"
        hint = " (out of memory?)" if -code == signal.SIGKILL else ""
        return f"it was ended by signal {-code}, {signal.strsignal(-code) or 'unknown'}{hint}"

    def finish(self) -> None:
        """Let it close what it set up; a failure there is one of the run."""
        self.send([])
        self.receive([])

    def end(self) -> None:
        """Wait for it; without further work it ends by itself."""
        self.connection.close()
        self.process.join()
        self.process.close()


def _serve(
    connection: Connection, foreign: list[Connection], function: Callable[..., Any], setup: Callable[[], Any] | None
) -> None:
    # An interrupt goes to the whole group; the parent alone answers it, and ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in foreign:
        other.close()
    state: Any = None
    begun = False
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            chunk = connection.recv()
            try:
                if not begun and setup is not None:
                    # With the first items, not at the start: what it raises then reaches the caller.
                    state = setup()
                begun = True
                if not chunk:
                    _close(state)
                work = function if setup is None else functools.partial(function, state)
                answer = pickle.dumps(([work(item) for item in chunk], None, ""))
            except (Exception, SystemExit) as error:
                answer = pickle.dumps(([], _portable(error), traceback.format_exc()))
            connection.send_bytes(answer)


def _close(state: Any) -> None:
    if hasattr(state, "close"):
        state.close()


def _portable(error: Exception | SystemExit) -> Exception:
    """The error itself if it survives the way through a pipe, else its words. An exit ends nobody but the worker."""
    if isinstance(error, SystemExit):
        return exit_error(error)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return SmtError(f"{type(error).__name__}: {error}")
    return error
