"""The runner `dask` in simulated time: a job on any number of workers, event by event, from measured costs.

Batches grow from one item until they take a quarter of a second or a megabyte, at most three for each worker and
`window` items are under way, none with more than its share of the window. The client takes one result after the other,
in order, through the scheduler, and sends new batches between. The scheduler gives a worker two tasks and keeps the
others. Client and scheduler are one core each. Left out: work stealing, lost workers, and the call that counts workers.
"""

from __future__ import annotations

import heapq
import inspect
import itertools
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from cluster_costs import Costs

from smtplugins.plugins.cluster.runner import _AHEAD, _BYTES, _GROWTH, _SECONDS, Dask

WINDOW: int = inspect.signature(Dask.__init__).parameters["window"].default or 1 << 60
MOST = 20_000
"""Batches after which a job ends here, as nothing new happens."""
SLOTS = 2
"""Tasks that the scheduler gives to a worker of one thread: dask's `worker-saturation` of 1.1, rounded up."""
INFINITE = math.inf


@dataclass(frozen=True)
class Work:
    """A job: its items, and what each worker has to load before its first."""

    seconds: float
    """CPU seconds of an item."""
    items: int
    item_bytes: float = 200.0
    result_bytes: float = 500.0
    spread: float = 0.5
    """Standard deviation of the seconds of items of the same cost, over their mean."""
    consume: float = 0.0
    """CPU seconds of the client for each result, beyond unpickling: printing, adding up."""
    table_mb: float = 0.0
    mapped: bool = False
    """Whether tables come from the mapped cache of the node, not from their text."""
    python: bool = False
    """Whether items are computed in Python, so that a worker answers late."""


@dataclass(frozen=True)
class Cluster:
    """Workers and the network between them, the scheduler and the client."""

    workers: int
    window: int = WINDOW
    seconds: float = _SECONDS
    """Of a batch."""
    ahead: int = _AHEAD
    latency: float = 0.0001
    bandwidth: float = 125e6
    """Bytes a second of each machine, 125e6 for 1 Gbit/s."""
    storage: float = INFINITE
    """Bytes a second of the storage that all tables come from; without it, they are on each machine."""
    gathers: int = 1
    """Results that the client asks for ahead of time (the runner: only the one it waits for)."""

    def loading(self, costs: Costs, work: Work) -> float:
        """Seconds of a worker before its first item: the recipe, then tables, maybe through storage that all read."""
        here = work.table_mb * (costs.map_mb if work.mapped else costs.load_mb)
        size = work.table_mb * 1e6
        there = size / self.bandwidth if self.storage < INFINITE else 0.0
        return costs.recipe + max(here, there, self.workers * size / self.storage)


@dataclass(frozen=True)
class Outcome:
    """What became of a job; ``steady``, ``shares`` and ``batch`` are of its middle, without start and end."""

    seconds: float
    """From the first batch to the last result; the workers are there before it."""
    items: int
    steady: float
    """Items a second, of those that workers do."""
    used: float
    """The part of the time that workers spent on items."""
    loading: float
    """Seconds of a worker before its first item, over those of its items."""
    batch: float
    """Mean items of a batch."""
    wanted: float
    """Items of a batch that takes as long as it should, or as many bytes as it may."""
    shares: dict[str, float]
    """Of the time: client, scheduler and network busy; the client waiting for answers, or for the first batch."""

    @property
    def rate(self) -> float:
        """Items a second, of the whole job."""
        return self.items / self.seconds

    @property
    def limit(self) -> str:
        """What is the limit, a key of `LIMITS`."""
        if self.loading > 0.25:
            return "loading"
        if self.used > 0.8:
            return "workers"
        if self.batch < self.wanted / 2:
            return "window"
        for name in ("scheduler", "network", "client"):
            if self.shares[name] > 0.85:
                return name
        return "answers" if self.shares["answers"] + self.shares["client"] > self.shares["order"] else "order"


LIMITS = {
    "workers": "the workers themselves",
    "scheduler": "the scheduler's core",
    "network": "the network of the scheduler",
    "client": "the client's core",
    "answers": "the client, which takes results one by one",
    "window": "the window, which makes batches small",
    "order": "results in order: the first batch is awaited",
    "loading": "loading on workers",
}


class _Server:
    """One core or one line of a network: first come, first served."""

    def __init__(self) -> None:
        self.free = self.busy = 0.0

    def take(self, now: float, cost: float) -> float:
        """Use it for a while; return when that is over."""
        self.free = max(now, self.free) + cost
        self.busy += cost
        return self.free

    def used(self, now: float) -> float:
        """For how long it was used until now."""
        return self.busy - max(0.0, self.free - now)


class _Batch:
    __slots__ = ("asked", "count", "done", "ready", "seconds", "worker")

    def __init__(self, count: int, seconds: float) -> None:
        self.count, self.seconds = count, seconds
        self.worker = -1
        self.asked = self.done = self.ready = False


class Simulation:
    """A job on a cluster, event by event, in simulated time."""

    def __init__(
        self, costs: Costs, work: Work, cluster: Cluster, seed: int = 1, each: Sequence[float] | None = None
    ) -> None:
        self._each = each
        self._costs, self._work, self._cluster = costs, work, cluster
        self._chance = np.random.default_rng(seed)
        self._events: list[tuple[float, int, Any, tuple[Any, ...]]] = []
        self._number = itertools.count()
        self._client, self._scheduler = _Server(), _Server()
        self._lines = {name: _Server() for name in ("to scheduler", "from scheduler")}
        self._left = work.items
        self._done = 0
        self._batches: deque[_Batch] = deque()
        self._waiting = 0  # items under way
        self._rate, self._size = 0.0, 1.0
        self._queue: deque[_Batch] = deque()  # at the scheduler
        workers = cluster.workers
        self._given = [0] * workers
        self._room = deque(range(workers))
        self._tasks: list[deque[_Batch]] = [deque() for _ in range(workers)]
        self._idle = [True] * workers
        self._new = [True] * workers
        self._taken_batches = 0
        self._spans: list[tuple[float, float, float]] = []  # of batches on workers, and the items' part of them
        self._marks: list[tuple[float, ...]] = []
        self._waits = {"answers": 0.0, "order": 0.0}
        self._since: float | None = None
        self._blocked = 0.0
        self._end = 0.0

    def run(self) -> Outcome:
        """Run the job to its end, or to a number of batches after which nothing new happens."""
        self._heartbeats(0.0)
        self._proceed(self._fill(self._costs.job))
        while self._events and not self._end:
            now, _, function, arguments = heapq.heappop(self._events)
            function(now, *arguments)
        work, cluster = self._work, self._cluster
        (begun, *first), (ended, *last) = self._marks[0], self._marks[-1]
        seconds = ended - begun
        items, batches, *busy = (b - a for a, b in zip(first, last, strict=True))
        # Not what the client took in this time, which workers may have done before.
        inside = (max(0.0, min(end, ended) - max(start, begun)) * part for start, end, part in self._spans)
        at_work = math.fsum(inside)
        names = ("client", "scheduler", "network", "answers", "order")
        return Outcome(
            seconds=self._end,
            items=self._done,
            steady=at_work / work.seconds / seconds,
            used=at_work / seconds / cluster.workers,
            loading=cluster.loading(self._costs, work) * cluster.workers / (work.items * work.seconds),
            batch=items / batches,
            wanted=max(1.0, min(cluster.seconds / work.seconds, _BYTES / work.item_bytes)),
            shares={name: spent / seconds for name, spent in zip(names, busy, strict=True)},
        )

    def _mark(self, now: float) -> None:
        """Note where a quarter and three quarters of the job are done."""
        part = max(self._done / self._work.items, self._taken_batches / MOST)
        if part >= (0.25 if not self._marks else 0.75) and len(self._marks) < 2:
            line = max(line.used(now) for line in self._lines.values())
            busy = (
                self._client.used(now),
                self._scheduler.used(now),
                line,
                self._waits["answers"],
                self._waits["order"],
            )
            self._marks.append((now, self._done, self._taken_batches, *busy))

    def _at(self, when: float, function: Any, *arguments: Any) -> None:
        heapq.heappush(self._events, (when, next(self._number), function, arguments))

    def _message(self, now: float, wait: float, line: str = "", size: float = 0.0) -> float:
        """When a message arrives."""
        if line:
            now = self._lines[line].take(now, size / self._cluster.bandwidth)
        return now + wait + self._cluster.latency

    def _heartbeats(self, now: float) -> None:
        """What workers send now and then, as much for each second as dask lets them."""
        count = self._cluster.workers
        every = 0.5 if count <= 10 else 1 if count < 50 else 2 if count < 200 else count / 200 + 1
        self._scheduler.take(now, self._costs.scheduler_heartbeat * count / every / 10)
        self._at(now + 0.1, self._heartbeats)

    # The client: what `_Job` of the runner does.

    def _fill(self, now: float, done: int = 0) -> float:
        """Send batches until enough are under way, the results of ``done`` items being here; return when."""
        costs, work = self._costs, self._work
        now = self._client.take(now, costs.client_scan * len(self._batches))
        limit, window = self._cluster.ahead * self._cluster.workers, self._cluster.window
        most = min(max(1, window // limit), math.ceil(_BYTES / work.item_bytes))
        waiting = self._waiting + done
        while len(self._batches) < limit and (waiting < window or not self._batches) and self._left:
            count = min(math.ceil(self._size), most, max(1, window - waiting), self._left)
            batch = _Batch(count, self._drawn(count))
            self._left -= count
            self._waiting += count
            waiting += count
            self._batches.append(batch)
            size = count * work.item_bytes
            now = self._client.take(now, costs.client_submit + size * costs.client_byte_out)
            self._at(self._message(now, costs.hop, "to scheduler", size), self._submitted, batch)
        return now

    def _proceed(self, now: float) -> None:
        """Ask for the results of the first batch, and for those of others if the client looks ahead."""
        if not self._batches or self._taken_batches == MOST:
            self._end = max(now, self._client.free)
            return
        if self._since is None:
            self._since = now
        for batch in itertools.islice(self._batches, self._cluster.gathers):
            if batch.done and not batch.asked:
                batch.asked = True
                self._at(self._message(now, self._costs.question), self._asked, batch)
        head = self._batches[0]
        if head.done and not self._blocked:
            self._blocked = now
        if head.ready:
            self._taken(now, head)

    def _told(self, now: float, batch: _Batch) -> None:
        """The scheduler says that a batch is done."""
        batch.done = True
        if self._since is not None:
            self._proceed(max(now, self._since))

    def _answered(self, now: float, batch: _Batch) -> None:
        batch.ready = True
        if self._since is not None:
            self._proceed(max(now, self._since))

    def _taken(self, now: float, batch: _Batch) -> None:
        """The results of the first batch are here: learn from them, send more, unpickle them."""
        assert self._since is not None
        asked = min(max(self._blocked, self._since), now)
        self._waits["order"] += asked - self._since
        self._waits["answers"] += now - asked
        self._since, self._blocked = None, 0.0
        costs, work = self._costs, self._work
        size = batch.count * work.result_bytes
        now = self._client.take(now, costs.client_gather + size * costs.client_byte_in)
        self._batches.popleft()
        self._waiting -= batch.count
        self._done += batch.count
        self._taken_batches += 1
        self._mark(now)
        rate = batch.seconds / batch.count
        self._rate = min(rate, 1.25 * self._rate) if self._rate else rate
        self._size = max(1.0, min(self._cluster.seconds / max(self._rate, 1e-9), _GROWTH * self._size))
        now = self._fill(now, batch.count)
        self._at(self._client.take(now, batch.count * work.consume), self._proceed)

    # The scheduler.

    def _submitted(self, now: float, batch: _Batch) -> None:
        size = batch.count * self._work.item_bytes * self._costs.scheduler_byte_out
        now = self._scheduler.take(now, self._costs.scheduler_submit + size)
        self._queue.append(batch)
        self._place(now)

    def _place(self, now: float) -> None:
        while self._queue and self._room:
            batch, worker = self._queue.popleft(), self._room.popleft()
            batch.worker = worker
            self._given[worker] += 1
            if self._given[worker] < SLOTS:
                self._room.append(worker)
            size = batch.count * self._work.item_bytes
            self._at(self._message(now, self._costs.hop, "from scheduler", size), self._received, batch)

    def _noted(self, now: float, batch: _Batch) -> None:
        """A worker says that a batch is done."""
        now = self._scheduler.take(now, self._costs.scheduler_finish)
        worker = batch.worker
        self._given[worker] -= 1
        if self._given[worker] == SLOTS - 1:
            self._room.append(worker)
        elif self._given[worker] == 0:
            # One that has nothing to do comes first.
            self._room.remove(worker)
            self._room.appendleft(worker)
        self._place(now)
        self._at(self._message(now, self._costs.hop), self._told, batch)

    def _asked(self, now: float, batch: _Batch) -> None:
        """The client asks for results: the scheduler asks the worker."""
        costs = self._costs
        # Half of the scheduler's time is spent on the way back.
        now = self._scheduler.take(now, costs.scheduler_gather / 2)
        late = costs.answer if self._work.python and not self._idle[batch.worker] else 0.0
        self._at(self._message(now, costs.question) + costs.worker_gather + late, self._answer, batch)

    def _passed(self, now: float, batch: _Batch) -> None:
        size = batch.count * self._work.result_bytes
        now = self._scheduler.take(now, self._costs.scheduler_gather / 2 + size * self._costs.scheduler_byte_in)
        self._at(self._message(now, self._costs.question, "from scheduler", size), self._answered, batch)

    # Workers.

    def _received(self, now: float, batch: _Batch) -> None:
        self._tasks[batch.worker].append(batch)
        if self._idle[batch.worker]:
            self._begin(now, batch.worker)

    def _begin(self, now: float, worker: int) -> None:
        if not self._tasks[worker]:
            self._idle[worker] = True
            return
        self._idle[worker] = False
        costs, work = self._costs, self._work
        batch = self._tasks[worker].popleft()
        if self._new[worker]:
            self._new[worker] = False
            now += self._cluster.loading(costs, work)
        size = batch.count * work.item_bytes * costs.worker_byte_out
        spent = batch.seconds + size + costs.worker_task + batch.count * work.result_bytes * costs.worker_byte_in
        self._spans.append((now, now + spent, batch.seconds / spent))
        self._at(now + spent, self._finished, batch)

    def _answer(self, now: float, batch: _Batch) -> None:
        size = batch.count * self._work.result_bytes
        self._at(self._message(now, self._costs.question, "to scheduler", size), self._passed, batch)

    def _finished(self, now: float, batch: _Batch) -> None:
        self._at(self._message(now, self._costs.hop), self._noted, batch)
        self._begin(now, batch.worker)

    def _drawn(self, count: int) -> float:
        """The seconds of the next items: a sum of gamma variates is one."""
        work = self._work
        if self._each is not None:
            begin = work.items - self._left
            return sum(self._each[begin : begin + count])
        if not work.spread:
            return count * work.seconds
        shape = 1 / work.spread**2
        return float(self._chance.gamma(count * shape, work.seconds / shape))


def simulated(
    costs: Costs, work: Work, cluster: Cluster, seed: int = 1, each: Sequence[float] | None = None
) -> Outcome:
    """What becomes of a job; ``each`` are the seconds of its items if they are not to be drawn."""
    return Simulation(costs, work, cluster, seed, each).run()
