"""Spread items over the workers of dask.distributed; results come in the order of the items."""

from __future__ import annotations

import collections
import contextlib
import itertools
import pickle
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.tools.running import Loading, cost_of, item_name, shipping

if TYPE_CHECKING:
    from distributed import Future

    from smtplugins.contracts.runners import Kept
    from smtplugins.plugins.cluster.connection import Connection
    from smtplugins.plugins.cluster.worker import Done

_SECONDS = 0.25
"""What a batch should take: long beside its way through the scheduler, short beside the end of a job."""
_BYTES = 1 << 20
"""What the items of a batch should take at most: the scheduler passes them on."""
_GROWTH = 4
_AHEAD = 3
"""Batches for each worker: one in work, one that waits there, one on its way."""
_PAUSE = 1.0
"""Seconds in which the scheduler notices that many workers died at once, before items are tried alone."""
_HELD = 4
"""How many times as many batches wait here for the results of an earlier one."""


class Dask:
    """Workers of dask.distributed: of the scheduler at ``address`` or in ``scheduler_file``, or ``jobs`` new ones here.

    Three batches for each worker are on their way, each of about a quarter of a second and at most a megabyte, and up
    to nine wait for the results of an earlier one; with ``window``, these are at most so many items. Workers may join,
    leave and die: what they were doing is done again by others. An item of which several die is named. ``ship`` sends
    the files of a job to workers that do not share its folders, once; they keep them by their hash.
    """

    def __init__(
        self,
        *,
        address: str = "",
        scheduler_file: str = "",
        jobs: int = 0,
        window: int = 0,
        ship: bool = False,
        loading: Callable[[], Loading],
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        if jobs < 0 or window < 0:
            raise UsageError(f"runner 'dask': expected numbers from 0 on, found {jobs=}, {window=}")
        if bool(address) + bool(scheduler_file) + bool(jobs) > 1:
            raise UsageError("runner 'dask': expected one of address, scheduler_file and jobs (-j), found several")
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise UsageError("runner 'dask' needs dask.distributed: pip install 'smtplugins[cluster]'") from None
        self._connected = (address, scheduler_file, jobs)
        self._window, self._ship = window, ship
        self._loading, self._note = loading, note

    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *, setup: Callable[[], Any] | None = None
    ) -> Iterator[Any]:
        """Yield the results in the order of the items."""
        job = _Job(*self._connection(function, setup), items, self._window, self._note)
        try:
            yield from job.results()
            job.end()
        except BaseException:
            # Interrupted, failed, or abandoned by the caller: pending results are not needed.
            job.cancel()
            raise

    @contextlib.contextmanager
    def keep(self, make: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Kept]:
        """Keep what is made of the items on the workers; what a worker that dies or leaves kept is made again."""
        from smtplugins.plugins.cluster.keeping import KeptThere

        kept = KeptThere(*self._connection(make, None), list(items))
        try:
            kept.begin()
            yield kept
            kept.end()
        except BaseException:
            kept.cancel()
            raise

    def _connection(self, function: Callable[..., Any], setup: Callable[[], Any] | None) -> tuple[Connection, bytes]:
        """The connection, over which files have been sent, and the recipe of a job."""
        from smtplugins.plugins.cluster.connection import connect
        from smtplugins.plugins.cluster.worker import packed

        with shipping(self._ship) as shipment:
            recipe = packed(self._loading(), function, setup)
        connection = connect(*self._connected)
        connection.ship(shipment)
        return connection, recipe


@dataclass
class _Batch:
    items: list[Any]
    cost: int
    future: Future[Done]


class _Job:
    """The batches of a job that are on their way."""

    def __init__(
        self, connection: Connection, recipe: bytes, items: Iterable[Any], window: int, note: Callable[[str], None]
    ) -> None:
        self._connection, self._note = connection, note
        self._token = f"smt-{uuid.uuid4().hex}"
        self._items = iter(items)
        self._window = window
        self._batches: collections.deque[_Batch] = collections.deque()
        self._open: collections.deque[_Batch] = collections.deque()  # those that are not known to be done
        self._ahead = 0  # items of which the results were not yielded
        self._rate = 0.0  # seconds for a unit of cost
        self._size = 1.0  # cost of the next batch
        self._weight = 0.0  # bytes for a unit of cost
        self._number = itertools.count()
        from smtplugins.plugins.cluster.worker import Assignment

        connection.register(Assignment(self._token, recipe))

    def results(self) -> Iterator[Any]:
        """The results, in order."""
        while self._filled():
            batch = self._batches[0]
            done = self._wait(batch)
            self._batches.popleft()
            self._learn(batch, done)
            self._fill()
            self._ahead -= len(batch.items)
            yield from pickle.loads(done.results)
            if done.failure is not None:
                raise done.failure.error from SmtError(f"in a worker process:\n{done.failure.trace}")

    def end(self) -> None:
        """Let workers close what they made; an error there fails the job."""
        self._connection.end(self._token)

    def cancel(self) -> None:
        """Give up what is on its way."""
        self._connection.cancel([batch.future for batch in self._batches], self._token)

    def _filled(self) -> bool:
        """Whether anything is on its way, or there was something to send."""
        self._fill()
        return bool(self._batches)

    def _fill(self) -> None:
        """Send batches until enough are on their way."""
        while self._open and self._open[0].future.done():
            self._open.popleft()
        limit = _AHEAD * max(1, self._connection.workers())
        window = self._window or sys.maxsize
        # No worker gets so many that nothing is left for others.
        most = max(1, window // limit)
        while len(self._open) < limit and len(self._batches) < _HELD * limit and self._ahead < window:
            items, total = self._take(min(most, window - self._ahead))
            if not items:
                return
            self._ahead += len(items)
            self._batches.append(self._sent(items, total))

    def _refill(self) -> None:
        """Send batches while the first is waited for: other workers need not wait for it."""
        self._open = collections.deque(batch for batch in self._open if not batch.future.done())
        self._fill()

    def _take(self, most: int) -> tuple[list[Any], int]:
        """The items of the next batch, and what they cost."""
        taken: list[Any] = []
        total = 0
        for item in itertools.islice(self._items, most):
            taken.append(item)
            total += cost_of(item)
            if total >= self._size or total * self._weight >= _BYTES:
                break
        return taken, total

    def _sent(self, items: list[Any], total: int) -> _Batch:
        from smtplugins.plugins.cluster.worker import run_batch

        data = pickle.dumps(items, pickle.HIGHEST_PROTOCOL)
        self._weight = len(data) / max(total, 1)
        key = f"{self._token}-{next(self._number)}"
        batch = _Batch(items, total, self._connection.submit(key, run_batch, self._token, data))
        self._open.append(batch)
        return batch

    def _learn(self, batch: _Batch, done: Done) -> None:
        """Make batches so large that they take the time that they should."""
        rate = done.seconds / max(batch.cost, 1)
        # Tables are loaded with the first items, which says nothing of others.
        self._rate = min(rate, 1.25 * self._rate) if self._rate else rate
        self._size = max(1.0, min(_SECONDS / max(self._rate, 1e-9), _GROWTH * self._size))

    def _wait(self, batch: _Batch) -> Done:
        """The results of the first batch."""
        from distributed import KilledWorker

        try:
            return self._connection.result(batch.future, self._note, self._refill)
        except KilledWorker:
            # dask suspects all that waited where workers died: so its items are done with nothing beside them.
            others = list(self._batches)[1:]
            self._connection.drop([other.future for other in others])
            self._open.clear()
            time.sleep(_PAUSE)
            done = self._alone(batch.items)
            for other in others:
                other.future = self._sent(other.items, other.cost).future
            return done

    def _alone(self, items: list[Any]) -> Done:
        """The results of items one by one, up to one that fails or of which workers die."""
        from distributed import KilledWorker

        from smtplugins.plugins.cluster.worker import Done, Failure

        results: list[Any] = []
        seconds, failure = 0.0, None
        for item in items:
            try:
                done = self._connection.result(self._sent([item], cost_of(item)).future, self._note)
            except KilledWorker as killed:
                times = f"{killed.allowed_failures + 1} workers died of it, one after the other (out of memory?)"
                failure = Failure(SmtError(f"item {item_name(item)}: {times}"), str(killed))
                break
            results += pickle.loads(done.results)
            seconds, failure = seconds + done.seconds, done.failure
            if failure is not None:
                break
        return Done(pickle.dumps(results, pickle.HIGHEST_PROTOCOL), seconds, failure)
