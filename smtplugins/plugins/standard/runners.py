"""Runners: serial, or several forked processes; results are always in the order of the items."""

from __future__ import annotations

import collections
import contextlib
import functools
import gc
import itertools
import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.runners import close_state

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from smtplugins.contracts.runners import Kept
    from smtplugins.contracts.tools.running import Part, Share

_LAST_MOMENTS = 5.0
"""Seconds to wait for the end of a process that has closed its connection."""


class Serial:
    """Runs items serially in this process."""

    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *, setup: Callable[[], Any] | None = None
    ) -> Iterator[Any]:
        """Yield the results in the order of the items."""
        if setup is None:
            yield from map(function, items)
            return
        state = setup()
        try:
            for item in items:
                yield function(state, item)
        except BaseException:
            # Report the original error, not what follows from it.
            with contextlib.suppress(Exception):
                close_state(state)
            raise
        close_state(state)


class Processes:
    """Runs items in several forked processes, which share loaded models; only items and results are copied.

    A worker gets its next chunk of items when its results have been read. So memory is bounded for any length of the
    input, pipes cannot deadlock, and a dead worker is noticed at once. (The standard library's pool costs nearly twice
    as much, and ends its workers by a signal that a worker just forked may lose.)
    """

    def __init__(self, jobs: int = 0, *, chunk: int = 8) -> None:
        if jobs < 0 or chunk < 1:
            raise UsageError(f"runner 'processes': expected positive numbers, found {jobs=}, {chunk=}")
        import multiprocessing

        if "fork" not in multiprocessing.get_all_start_methods():
            raise UsageError("runner 'processes' needs a system with fork: use a single job")
        self._jobs = jobs or os.cpu_count() or 1
        self._chunk = chunk

    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *, setup: Callable[[], Any] | None = None
    ) -> Iterator[Any]:
        """Yield the results in the order of the items."""
        chunks = _chunks(iter(items), self._chunk)
        waiting: collections.deque[tuple[_Worker, list[Any]]] = collections.deque()
        with _running() as workers:
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

    @contextlib.contextmanager
    def keep(self, make: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Kept]:
        """Keep what is made of the items: each process has a share, and a process that dies is an error."""
        from smtplugins.contracts.tools.running import Share

        given = list(items)
        with _running() as workers:
            for number in range(min(self._jobs, len(given))):
                setup = functools.partial(Share, make, given[number :: self._jobs])
                workers.append(_Worker(_call_share, setup, workers))
            yield _Shares(workers, given)


class _Shares:
    """What the workers keep."""

    def __init__(self, workers: Sequence[_Worker], items: Sequence[Any]) -> None:
        self._workers = workers
        self._items = items

    def map(self, function: Callable[[Any, Any], Any], argument: Any) -> Iterator[Any]:
        """Call a function on all that is kept."""
        from smtplugins.contracts.tools.running import in_order, item_name

        # Messages name a share by its first item.
        calls = [(item_name(item), function, argument) for item in self._items[: len(self._workers)]]
        for worker, call in zip(self._workers, calls, strict=True):
            worker.send([call])
        parts = [worker.receive([call])[0] for worker, call in zip(self._workers, calls, strict=True)]
        yield from in_order(parts, len(self._items))


def _call_share(share: Share, call: tuple[str, Callable[[Any, Any], Any], Any]) -> Part:
    _, function, argument = call
    return share.part(function, argument)


@contextlib.contextmanager
def _running() -> Iterator[list[_Worker]]:
    """The workers of a job, which end with it."""
    workers: list[_Worker] = []
    try:
        yield workers
        for worker in workers:
            worker.finish()
    except BaseException:
        # Interrupted, failed, or abandoned by the caller: pending results are not needed.
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
    """A forked process and the pipe to it; it inherits its data, so only items and results are pickled."""

    def __init__(
        self, function: Callable[..., Any], setup: Callable[[], Any] | None, others: Iterable[_Worker]
    ) -> None:
        import multiprocessing

        context = multiprocessing.get_context("fork")
        self.connection, far = context.Pipe()
        # A pipe closes when all copies of its other end are closed: workers must not keep inherited copies.
        foreign = [self.connection, *(other.connection for other in others)]
        collecting = gc.isenabled()
        self.process = context.Process(target=_serve, args=(far, foreign, function, setup, collecting))
        # What is garbage here must not be collected there: an inference session would wait for threads that a fork
        # does not copy.
        gc.disable()
        try:
            self.process.start()
        finally:
            if collecting:
                gc.enable()
        far.close()

    def send(self, chunk: list[Any]) -> None:
        """Send a chunk; if the worker is dead, `receive` reports it."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(chunk)

    def receive(self, chunk: list[Any]) -> list[Any]:
        """Return the results of a chunk, or raise the worker's error."""
        try:
            results, error, trace = self.connection.recv()
        except (EOFError, ConnectionResetError):
            from smtplugins.contracts.tools.running import item_name

            place = f"at or after item {item_name(chunk[0])}" if chunk else "at its end"
            raise SmtError(f"a worker process died, {place}: {self._death()}") from None
        if error is not None:
            raise error from SmtError(f"in a worker process:\n{trace}")
        done: list[Any] = results
        return done

    def _death(self) -> str:
        """Describe how the process ended."""
        self.process.join(_LAST_MOMENTS)
        code = self.process.exitcode
        if code is None:
            return "it closed its connection"
        if code >= 0:
            return f"it exited with code {code}"
        hint = " (out of memory?)" if -code == signal.SIGKILL else ""
        return f"it was killed by signal {-code}, {signal.strsignal(-code) or 'unknown'}{hint}"

    def finish(self) -> None:
        """Let the worker close its state; an error there fails the run."""
        self.send([])
        self.receive([])

    def end(self) -> None:
        """Close the connection, which ends the worker, and wait for it."""
        self.connection.close()
        self.process.join()
        self.process.close()


def _serve(
    connection: Connection,
    foreign: list[Connection],
    function: Callable[..., Any],
    setup: Callable[[], Any] | None,
    collecting: bool,
) -> None:
    gc.freeze()
    if collecting:
        gc.enable()
    # An interrupt goes to the whole process group; only the parent handles it, and ends its workers.
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
                    # With the first items, not at the start, so that its errors reach the caller.
                    state = setup()
                begun = True
                if not chunk:
                    close_state(state)
                work = function if setup is None else functools.partial(function, state)
                answer = pickle.dumps(([work(item) for item in chunk], None, ""))
            except (Exception, SystemExit) as error:
                import traceback

                from smtplugins.contracts.tools.running import portable

                answer = pickle.dumps(([], portable(error), traceback.format_exc()))
            connection.send_bytes(answer)
