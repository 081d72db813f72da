"""Runners: one item after another, or several forked processes; results in the order of the items either way."""

from __future__ import annotations

import collections
import functools
import itertools
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from smtplugins.host.errors import SmtError, UsageError


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
        for item in items:
            yield function(state, item)


class Processes:
    """Several processes, forked so that a language model in memory is shared and nothing but items is copied.

    ``chunk`` items go to a worker at once; at most ``ahead`` chunks for each worker are under way, so memory is bounded
    whatever the length of the input.
    """

    def __init__(self, jobs: int = 0, *, chunk: int = 8, ahead: int = 4) -> None:
        if jobs < 0 or chunk < 1 or ahead < 1:
            raise UsageError(f"runner 'processes': expected positive numbers, found {jobs=}, {chunk=}, {ahead=}")
        if "fork" not in multiprocessing.get_all_start_methods():
            raise UsageError("runner 'processes' needs a system with fork; use one job")
        self._jobs = jobs or os.cpu_count() or 1
        self._chunk = chunk
        self._ahead = ahead

    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *, setup: Callable[[], Any] | None = None
    ) -> Iterator[Any]:
        """Results in order."""
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool

        chunks = _chunks(iter(items), self._chunk)
        waiting: collections.deque[tuple[Any, list[Any]]] = collections.deque()
        pool = ProcessPoolExecutor(
            self._jobs, multiprocessing.get_context("fork"), initializer=_start, initargs=(function, setup)
        )
        at: list[Any] = []
        try:
            for chunk in itertools.islice(chunks, self._jobs * self._ahead):
                waiting.append((pool.submit(_work, chunk), chunk))
            while waiting:
                future, at = waiting.popleft()
                yield from future.result()
                for chunk in itertools.islice(chunks, 1):
                    waiting.append((pool.submit(_work, chunk), chunk))
        except BaseException as error:
            # Interrupted, failed, or given up by the caller: nobody waits for what is under way.
            for worker in list((pool._processes or {}).values()):
                worker.terminate()
            if isinstance(error, BrokenProcessPool):
                named = [str(getattr(one, "id", one)) for one in (at or chunk)]
                raise SmtError(f"a worker process died, at or after item {named[0]}") from None
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _chunks(items: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while chunk := list(itertools.islice(items, size)):
        yield chunk


class _Worker:
    """What a worker process works with; filled after the fork, so nothing has to be pickled."""

    work: Callable[[Any], Any]
    setup: Callable[[], Any] | None


def _start(function: Callable[..., Any], setup: Callable[[], Any] | None) -> None:
    import signal

    # An interrupt goes to the whole group; the parent alone answers it, and ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _Worker.work = staticmethod(function)
    _Worker.setup = staticmethod(setup) if setup is not None else None


def _work(chunk: list[Any]) -> list[Any]:
    if _Worker.setup is not None:
        # With the first items, not at the start: what it raises then reaches the caller.
        _Worker.work = staticmethod(functools.partial(_Worker.work, _Worker.setup()))
        _Worker.setup = None
    return [_Worker.work(item) for item in chunk]
