"""Clients of dask's schedulers: one for each cluster of a process, closed at its end."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import json
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from multiprocessing import forkserver
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
from distributed import Client, KilledWorker, LocalCluster
from distributed.comm import get_address_host_port
from distributed.utils import get_mp_context

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.tools.running import Shipment, say_beside
from smtplugins.plugins.cluster.shipping import FilePart, parts_of
from smtplugins.plugins.cluster.worker import Assignment, Done, Failure, end_job

if TYPE_CHECKING:
    from distributed import Future

_CONNECTIONS: dict[tuple[int, str, str, int], Connection] = {}
_PATIENCE = 10.0
"""Seconds to wait for a scheduler's answer to a first call."""
_LEAST_PAUSE, _MOST_PAUSE = 0.0002, 0.002
_TRIES = 3
_TICK = 1.0
_GLANCE = 0.1
_SETTINGS = {
    # Processes are forked from one that has imported what they need.
    "distributed.worker.multiprocessing-method": "forkserver",
    # dask's value has each larger array mapped and cleared anew, which can double the time of a task.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    # What nobody looks at costs a few per cent.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.large-graph-warning-threshold": "1GiB",
    "distributed.admin.tick.limit": "10s",
}
_OF_CLIENTS = {
    # The data of items go with their tasks, so that dask can do these again.
    "distributed.admin.large-graph-warning-threshold": "1 PB",
}
_PRELOADED = ["distributed", "numpy", "smtplugins.plugins.cluster.worker"]


def connect(address: str, scheduler_file: str, jobs: int) -> Connection:
    """The connection to a cluster; it stays open for the next job."""
    key = (os.getpid(), address, scheduler_file, jobs)
    known = _CONNECTIONS.get(key)
    if known is None or known.lost:
        known = _CONNECTIONS[key] = Connection(address, scheduler_file, jobs)
    return known


@atexit.register
def _close_all() -> None:
    for key, connection in _CONNECTIONS.items():
        if key[0] == os.getpid():
            connection.close()


class Connection:
    """A client of a scheduler, with a cluster of its own if there is no scheduler to connect to."""

    def __init__(self, address: str, scheduler_file: str, jobs: int) -> None:
        # What matters is said by the runner; dask would print tracebacks of connections that end.
        for name in [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        dask.config.set(_OF_CLIENTS)
        self._where = address or scheduler_file
        self._cluster = None if self._where else _local(jobs or os.cpu_count() or 1)
        given = self._cluster or address or _address_in(scheduler_file)
        try:
            if isinstance(given, str):
                # A client of what is no address would wait for itself when it is thrown away.
                get_address_host_port(given)
            self._client: Client = Client(given, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"runner 'dask': no scheduler answers at {self._where} ({error}): start one with `dask scheduler`"
            ) from None
        self._counted, self._count = 0.0, 0
        self._shipped: set[str] = set()

    @property
    def lost(self) -> bool:
        """Whether the scheduler is gone."""
        return bool(self._client.status != "running")

    def workers(self) -> int:
        """The number of workers, as it was a moment ago."""
        now = time.monotonic()
        if now > self._counted + _TICK:
            self._counted = now
            with self._told():
                self._count = len(self._client.nthreads())
            say_beside("1 worker" if self._count == 1 else f"{self._count} workers")
        return self._count

    def register(self, recipe: Assignment) -> None:
        """Give a recipe to all workers, now and as they join."""
        self._give(recipe)

    def ship(self, shipment: Shipment) -> None:
        """Send files to all workers, now and as they join, unless that was done before."""
        for named, files in shipment.contents.items():
            if named not in self._shipped:
                for part in parts_of(files, named):
                    self._give(part)
                self._shipped.add(named)

    def _give(self, plugin: Assignment | FilePart) -> None:
        try:
            self._client.register_plugin(plugin, name=plugin.name)
        except OSError:
            # A worker died before it answered. The scheduler has the plugin, but others may not have it yet.
            if self.lost:
                raise self._gone() from None
            with self._told():
                answers = self._client.run(plugin.setup, None, on_error="return").values()
            for error in answers:
                if isinstance(error, Exception) and not isinstance(error, OSError):
                    raise error from None

    def submit(self, key: str, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Send a call."""
        return self._client.submit(function, *arguments, key=key, pure=False)

    def result(
        self, future: Future[Done], note: Callable[[str], None], meanwhile: Callable[[], None] = lambda: None
    ) -> Done:
        """Wait for the result of a call, and do ``meanwhile`` often; ``note`` is told once that no worker is there."""
        begun, told = time.monotonic(), False
        while not self._ended([future], _GLANCE):
            if self.workers():
                begun = time.monotonic()
            elif not told and time.monotonic() > begun + _PATIENCE:
                told = True
                note(f"no workers{self._at}: waiting for some, `dask worker` starts one")
            meanwhile()
        if future.status == "error":
            error: BaseException = future.exception()
            raise error
        with self._told():
            (done,) = self._client.gather([future])
        result: Done = done
        return result

    def _ended(self, futures: Sequence[Future[Any]], seconds: float) -> bool:
        """Whether calls ended, one way or the other, within some seconds."""
        # Not by dask's own timeouts: what they cancel can end in an error of dask's.
        until, pause = time.monotonic() + seconds, _LEAST_PAUSE
        # A result that a worker lost is made again.
        while any(future.status in ("pending", "lost") for future in futures):
            if self.lost:
                raise self._gone()
            left = until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(2 * pause, _MOST_PAUSE)
        if any(future.status == "cancelled" for future in futures):
            raise self._gone()
        return True

    def submit_each(
        self, keys: Sequence[Any], function: Callable[..., Any], each: Sequence[Any], more: Any
    ) -> list[Future[Any]]:
        """Send a call for each first argument."""
        futures: list[Future[Any]] = self._client.map(function, each, [more] * len(each), key=list(keys), pure=False)
        return futures

    def results(self, futures: Sequence[Future[Any]]) -> list[Any]:
        """Wait for the results of calls; None stands for that of a call of which several workers died."""
        while not self._ended(futures, _TICK):
            pass
        for future in futures:
            error = future.exception() if future.status == "error" else None
            if error is not None and not isinstance(error, KilledWorker):
                raise error
        with self._told():
            known = iter(self._client.gather([future for future in futures if future.status == "finished"]))
        return [next(known) if future.status == "finished" else None for future in futures]

    def end(self, token: str) -> None:
        """End a job on all workers."""
        with self._told():
            # A worker that died meanwhile has nothing to close.
            answers = self._client.run(end_job, token, on_error="return").values()
        try:
            self._client.unregister_worker_plugin(token)
        except OSError:
            if self.lost:
                raise self._gone() from None
        for answer in answers:
            if isinstance(answer, Failure):
                raise answer.error from SmtError(f"in a worker process:\n{answer.trace}")

    def drop(self, futures: Sequence[Future[Any]]) -> None:
        """Take calls back; one that has begun runs to its end."""
        with self._told():
            self._client.cancel(list(futures), force=True)

    def cancel(self, futures: Sequence[Future[Done]], token: str) -> None:
        """Give a job up."""
        if self.lost:
            return
        with contextlib.suppress(Exception):
            self._client.cancel(list(futures), force=True)
            self._client.unregister_worker_plugin(token)

    def close(self) -> None:
        """Close the client, and end the cluster if it is its own."""
        with contextlib.suppress(Exception):
            self._client.close(timeout=_TICK)
        if self._cluster is not None:
            with contextlib.suppress(Exception):
                self._cluster.close(timeout=_PATIENCE)

    @contextlib.contextmanager
    def _told(self) -> Any:
        """Errors of a scheduler that is gone say so."""
        try:
            yield
        except (OSError, CancelledError) as error:
            raise self._gone() from error
        except UnboundLocalError as error:
            # Of dask's own code, if the connection ends while it waits.
            raise self._gone() if self.lost else error from error

    @property
    def _at(self) -> str:
        return f" at {self._where}" if self._where else ""

    def _gone(self) -> SmtError:
        return SmtError(
            f"the scheduler{self._at} is gone: start it and its workers again, then "
            "repeat the command (with --resume where there is a run folder)"
        )


def _address_in(scheduler_file: str) -> str:
    """The address that a scheduler wrote to a file, or writes there soon."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return str(json.loads(Path(scheduler_file).read_bytes())["address"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            # A scheduler that starts has not written it, or not all of it.
            if time.monotonic() > until:
                raise UsageError(
                    f"runner 'dask': no scheduler answers at {scheduler_file} ({error}): start one with "
                    f"`dask scheduler --scheduler-file {scheduler_file}`"
                ) from None
        time.sleep(_GLANCE)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes started inside the block ignore interrupts, which a terminal sends to all: this one ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _local(jobs: int) -> LocalCluster:
    """Worker processes of this machine, which a nanny starts again if they die."""
    dask.config.set(_SETTINGS)
    # After the one call in which dask chooses what is imported.
    get_mp_context().set_forkserver_preload(_PRELOADED)
    with _uninterrupted():
        forkserver.ensure_running()
    for tries in itertools.count(1):
        try:
            return _started(jobs)
        except RuntimeError as error:
            # A worker died before it answered.
            if tries == _TRIES:
                raise SmtError(f"runner 'dask': workers of this machine do not start ({error})") from error
    raise AssertionError


def _started(jobs: int) -> LocalCluster:
    return LocalCluster(
        n_workers=jobs,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        memory_limit=0,
        silence_logs=50,
        host="127.0.0.1",
    )
