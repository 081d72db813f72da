"""Costs of the runner `dask`, measured on this machine with a scheduler and workers that are processes of their own.

CPU seconds of client, scheduler and worker are read apart; `cluster_model` extrapolates from them.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent
SHARED = BENCH.parents[2] / "shared"
KEPT = BENCH / "cluster_costs.json"

TASKS = 400
PAYLOAD = 400_000
"""Bytes of the items or results of a task when the cost of a byte is measured."""
MANY = 8
"""Workers, mostly asleep, when the cost of a heartbeat is measured."""
SHORT = 0.005
PATIENCE = 30.0
"""Seconds to wait for the cluster."""
TABLE_LINES = 100_000
PAIRS = 6000
"""Sentence pairs of which phrases are extracted."""


@dataclass(frozen=True)
class Costs:
    """What is paid for a batch, a byte, a worker; seconds of CPU unless said otherwise."""

    client_submit: float = 0.0
    client_gather: float = 0.0
    """To take the result of a batch: it waits for its key, asks the scheduler, and reads the answer."""
    client_scan: float = 0.0
    """For a batch in flight whenever new ones may be sent, to count the items under way."""
    client_byte_out: float = 0.0
    client_byte_in: float = 0.0
    scheduler_submit: float = 0.0
    scheduler_finish: float = 0.0
    """To note that a task is done, tell the client, and send the worker the next."""
    scheduler_gather: float = 0.0
    scheduler_byte_out: float = 0.0
    scheduler_byte_in: float = 0.0
    scheduler_heartbeat: float = 0.0
    worker_task: float = 0.0
    worker_gather: float = 0.0
    worker_byte_out: float = 0.0
    worker_byte_in: float = 0.0
    hop: float = 0.0
    """Wall seconds of a message about a task beyond the CPU time of both ends, on one machine (dask collects some)."""
    question: float = 0.0
    """The same for a message that asks for a result or brings it."""
    answer: float = 0.0
    """Wall seconds more until a worker gives a result that works on another batch in Python code."""
    job: float = 0.0
    """Wall seconds to begin and to end a job."""
    start: float = 0.0
    """Wall seconds from a worker's start until the scheduler knows it."""
    recipe: float = 0.0
    """Wall seconds in which a worker makes the host again (imports and plugins), once."""
    load_mb: float = 0.0
    map_mb: float = 0.0
    """Seconds for a MB of a table: from its text, from the mapped cache of the node."""
    extract_map: float = 0.0
    """To extract the phrase pairs of a sentence pair, and to sort them into runs."""
    extract_bytes: float = 0.0
    """Bytes of the runs of a sentence pair."""
    extract_table: float = 0.0
    """Bytes of the lines of the table that come from a sentence pair, not compressed."""
    extract_merge: float = 0.0
    """To merge the runs of a sentence pair and to score what is merged."""


def kept() -> Costs:
    """The costs as last measured."""
    return Costs(**json.loads(KEPT.read_text(encoding="utf-8"))["costs"])


Item = tuple[float, int, bytes]
"""Seconds, bytes of the result, and what else is sent."""
NOTHING: Item = (0.0, 0, b"")


def nap(item: Item) -> bytes:
    """Take a while and no CPU time."""
    time.sleep(item[0])
    return bytes(item[1])


def spin(item: Item) -> bytes:
    """Compute in Python, for as long."""
    end = time.perf_counter() + item[0]
    while time.perf_counter() < end:
        pass
    return bytes(item[1])


class Machines:
    """A scheduler and workers of one thread each, processes without nannies."""

    def __init__(self, folder: Path) -> None:
        self._file = str(folder / "scheduler.json")
        # Workers import the functions of this module by name.
        path = os.pathsep.join([str(BENCH), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._environment = {**os.environ, "PYTHONPATH": path, "DASK_TEMPORARY_DIRECTORY": str(folder)}
        self._processes: list[subprocess.Popen[bytes]] = []
        self._run("scheduler", "--port", "0", "--host", "127.0.0.1")
        while not os.path.exists(self._file):
            time.sleep(0.05)
        self.address: str = json.loads(Path(self._file).read_text(encoding="utf-8"))["address"]

    def _run(self, kind: str, *options: str) -> None:
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", self._file, "--no-dashboard", *options]
        hushed = subprocess.DEVNULL
        self._processes.append(subprocess.Popen(command, env=self._environment, stdout=hushed, stderr=hushed))

    def add(self, count: int = 1) -> None:
        """Start workers."""
        for _ in range(count):
            self._run("worker", "--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--host", "127.0.0.1")

    def workers(self) -> int:
        """The number of workers that the scheduler knows."""
        from smtplugins.plugins.cluster.connection import connect

        return len(connect(self.address, "", 0)._client.nthreads())

    def cpu(self) -> list[float]:
        """CPU seconds so far of client, scheduler and first worker."""
        import psutil

        times = [psutil.Process(process.pid).cpu_times() for process in self._processes[:2]]
        return [time.process_time(), *(used.user + used.system for used in times)]

    def close(self) -> None:
        """End the processes."""
        for process in reversed(self._processes):
            process.kill()
            process.wait()


@contextlib.contextmanager
def machines() -> Iterator[Machines]:
    """Processes for the time of a block."""
    from smtplugins.plugins.cluster.connection import connect

    with tempfile.TemporaryDirectory() as folder:
        made = Machines(Path(folder))
        try:
            yield made
        finally:
            connect(made.address, "", 0).close()
            made.close()


def until(true: Callable[[], bool]) -> None:
    """Wait for something."""
    begun = time.perf_counter()
    while not true():
        time.sleep(0.01)
        if time.perf_counter() > begun + PATIENCE:
            raise SystemExit(f"the cluster did not do its work in {PATIENCE:g} s: is the machine busy?")


def runner(address: str, **options: Any) -> Any:
    """The real runner for a scheduler."""
    from smtplugins.host.loading.manager import load_plugins

    return load_plugins().registry.make("runners", {"name": "dask", "address": address, **options})


def took(runner: Any, function: Callable[..., Any], items: list[Any]) -> float:
    """Wall seconds in which a runner does some items."""
    begun = time.perf_counter()
    count = sum(1 for _ in runner.map(function, items))
    assert count == len(items)
    return time.perf_counter() - begun


def measure() -> dict[str, Any]:
    """All costs, in less than a minute, and what they were measured on."""
    import dask
    import distributed

    load = os.getloadavg()[0]
    found: dict[str, float] = {**_tables(), **_extraction(), **_scanning()}
    with machines() as cluster:
        found |= _tasks(cluster)
    return {
        "costs": {name: float(f"{value:.4g}") for name, value in found.items()},
        "measured on": {
            "cpu": _calibration(),
            "cores": os.cpu_count(),
            "load": round(load, 1),
            "python": ".".join(map(str, sys.version_info[:3])),
            "dask": dask.__version__,
            "distributed": distributed.__version__,
        },
    }


def _calibration() -> Any:
    """The speed of this machine, if the reference data are there."""
    script = SHARED / "bench/calibrate.py"
    return json.loads(subprocess.check_output([sys.executable, str(script)])) if script.exists() else None


def _scanning() -> dict[str, float]:
    """What the runner does for each batch in flight, to know how many items are under way."""
    from smtplugins.plugins.cluster.runner import _Batch

    batches = deque(_Batch([None], 1, None) for _ in range(3000))
    begun = time.process_time()
    for _ in range(50):
        sum(len(batch.items) for batch in batches)
    return {"client_scan": (time.process_time() - begun) / 50 / len(batches)}


def _tables() -> dict[str, float]:
    """A phrase table from its text and from the cache, ready to parse with."""
    from smtplugins.core.grammar.tables import Grammar, Tables
    from smtplugins.host.files.opening import load_grammar

    chance = random.Random(1)
    words = [f"word{i}" for i in range(20_000)]
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "phrase-table")
        with path.open("w", encoding="utf-8") as out:
            for _ in range(TABLE_LINES):
                sides = (" ".join(chance.choices(words, k=chance.randint(1, 5))) for _ in range(2))
                scores = " ".join(f"{chance.random():.6g}" for _ in range(4))
                out.write(" ||| ".join([*sides, scores, "0-0", "2 1 1"]) + "\n")
        megabytes = path.stat().st_size / 1e6
        taken = []
        for cache in ("off", f"{name}/cache", f"{name}/cache"):
            begun = time.process_time()
            Grammar(load_grammar(path, cache=cache, format="moses-phrases"), Tables(), span_limit=15)
            taken.append(time.process_time() - begun)
    return {"load_mb": taken[0] / megabytes, "map_mb": taken[2] / megabytes}


def _extraction() -> dict[str, float]:
    """Phrase pairs of random sentences through sorted runs on disk."""
    from smtplugins.core.extract.phrase_pairs import Phrases

    chance = random.Random(1)
    pieces = []
    for _ in range(PAIRS // 100):
        rows = [[[str(int(chance.paretovariate(0.7)) % 5000) for _ in range(14)] for _ in range(2)] for _ in range(100)]
        links = " ".join(f"{i}-{i}" for i in range(14)).encode() + b"\n"
        source, target = ("".join(" ".join(row[side]) + "\n" for row in rows).encode() for side in (0, 1))
        pieces.append((source, target, links * 100))
    with tempfile.TemporaryDirectory() as folder:
        phrases = Phrases(folder, memory=4 << 20)
        begun = time.process_time()
        for source, target, links in pieces:
            phrases.feed(source, target, links)
        fed = time.process_time()
        runs = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        assert phrases.spilled
        lines = sum(len(piece) for pieces_ in phrases.tables() for piece in pieces_)
        ended = time.process_time()
    return {
        "extract_map": (fed - begun) / PAIRS,
        "extract_bytes": runs / PAIRS,
        "extract_table": lines / PAIRS,
        "extract_merge": (ended - fed) / PAIRS,
    }


def _tasks(cluster: Machines) -> dict[str, float]:
    from smtplugins.plugins.cluster.connection import connect

    connection = connect(cluster.address, "", 0)
    begun = time.perf_counter()
    cluster.add()
    until(lambda: cluster.workers() == 1)
    started = time.perf_counter() - begun
    one = runner(cluster.address, window=2)  # the results that wait here are the other
    first, second = (took(one, nap, [NOTHING]) for _ in range(2))
    with _recipes(connection) as send:
        parts = _parts(cluster, connection, send, 0, 0)
        found = {"start": started, "recipe": max(first - second, 0.0), **parts}
        for name, sizes in (("byte_out", (PAYLOAD, 0)), ("byte_in", (0, PAYLOAD))):
            heavy = _parts(cluster, connection, send, *sizes, tasks=TASKS // 4)
            for part in ("client", "scheduler", "worker"):
                more = sum(heavy[key] - parts[key] for key in parts if key.startswith(part))
                found[f"{part}_{name}"] = max(more, 0.0) / PAYLOAD
        walls = _walls(connection, send, one)
    quiet = _idle(cluster)
    cluster.add(MANY - 1)
    until(lambda: cluster.workers() == MANY)
    # Up to 10 workers send two a second.
    found["scheduler_heartbeat"] = max(_idle(cluster) - quiet, 0.0) / (2 * (MANY - 1))
    return _waits(found | _steady(cluster, found), walls)


def _steady(cluster: Machines, costs: dict[str, float]) -> dict[str, float]:
    """The parts' CPU seconds made as many as in a job of the runner, where fewer messages travel together."""
    together = runner(cluster.address, window=3 * MANY)
    took(together, nap, [(0.1, 0, b"")] * 10 * MANY)  # recipes are made
    count = 300
    marks = [cluster.cpu()]
    seconds = took(together, nap, [(0.01, 0, b"")] * count)
    marks.append(cluster.cpu())
    client, scheduler, _ = ((b - a) / count for a, b in zip(*marks, strict=True))
    scheduler -= costs["scheduler_heartbeat"] * 2 * MANY * seconds / count
    found: dict[str, float] = {}
    for part, spent in (("client", client), ("scheduler", scheduler)):
        names = [f"{part}_{step}" for step in ("submit", "finish", "gather") if f"{part}_{step}" in costs]
        scale = max(spent / sum(costs[name] for name in names), 1.0)
        found |= {name: scale * costs[name] for name in names}
    return found


def _idle(cluster: Machines, seconds: float = 3.0) -> float:
    """CPU seconds a second of a scheduler that has no work."""
    time.sleep(1.0)
    before = cluster.cpu()[1]
    time.sleep(seconds)
    return (cluster.cpu()[1] - before) / seconds


Send = Callable[[Callable[[Item], bytes], Item], Any]


@contextlib.contextmanager
def _recipes(connection: Any) -> Iterator[Send]:
    """What sends an item to `nap` or `spin`, as the runner sends a batch."""
    import pickle

    from smtplugins.host.loading.manager import load_plugins
    from smtplugins.host.spread.loading import Loading
    from smtplugins.plugins.cluster.worker import Assignment, packed, run_batch

    for function in (nap, spin):
        connection.register(Assignment(function.__name__, packed(Loading.of(load_plugins()), function, None)))
    number = itertools.count()

    def send(function: Callable[[Item], bytes], item: Item) -> Any:
        data = pickle.dumps([item], pickle.HIGHEST_PROTOCOL)
        return connection.submit(f"costs-{next(number)}", run_batch, function.__name__, data)

    yield send
    for function in (nap, spin):
        connection.end(function.__name__)


def _parts(
    cluster: Machines, connection: Any, send: Send, size_in: int, size_out: int, tasks: int = TASKS
) -> dict[str, float]:
    """CPU seconds for a task of each part in each step: all are sent while the worker is busy, done, then taken."""
    item = (0.0, size_out, os.urandom(size_in))
    block = send(nap, (2.0, 0, b""))
    time.sleep(0.2)
    marks = [cluster.cpu()]
    futures = [send(nap, item) for _ in range(tasks)]
    time.sleep(1.0)
    if block.status != "pending":
        raise SystemExit(f"{tasks} tasks were not sent in time: is the machine busy?")
    marks.append(cluster.cpu())
    _until_done([block, *futures])
    time.sleep(0.2)
    marks.append(cluster.cpu())
    _take(connection, futures)
    del futures, block
    time.sleep(0.3)
    marks.append(cluster.cpu())
    sent, done, taken = ([(b - a) / tasks for a, b in zip(marks[i], marks[i + 1], strict=True)] for i in range(3))
    return {
        "client_submit": sent[0],
        "client_gather": done[0] + taken[0],
        "scheduler_submit": sent[1],
        "scheduler_finish": done[1],
        "scheduler_gather": taken[1],
        "worker_task": sent[2] + done[2],
        "worker_gather": taken[2],
    }


def _until_done(futures: list[Any]) -> None:
    until(lambda: all(future.done() for future in futures))


def _unheard(note: str) -> None:
    """Notes of a connection are not shown."""


def _take(connection: Any, futures: list[Any]) -> float:
    """Take results as the runner does; return the wall seconds of each."""
    import pickle

    begun = time.perf_counter()
    for future in futures:
        pickle.loads(connection.result(future, _unheard).results)
    return (time.perf_counter() - begun) / len(futures)


def _walls(connection: Any, send: Send, one: Any) -> dict[str, float]:
    """Wall seconds, the best of three: to take results from an idle worker and from a busy one, of a batch alone."""
    walls = dict.fromkeys(("idle", "compute", "alone", "job"), float("inf"))
    for _ in range(3):
        for name, count in (("idle", 150), ("compute", 10)):
            futures = [send(nap, NOTHING) for _ in range(count)]
            _until_done(futures)
            busy = send(spin, (1.0 if name == "compute" else 0.0, 0, b""))
            time.sleep(0.3)
            walls[name] = min(walls[name], _take(connection, futures))
            if name == "compute" and busy.done():
                raise SystemExit(f"taking {count} results took too long: is the machine busy?")
            connection.result(busy, _unheard)
            del futures, busy
        # Messages that follow another at once wait longer.
        short = took(one, nap, [(SHORT, 0, b"")] * 100) / 100 - SHORT
        walls["alone"] = min(walls["alone"], short)
        walls["job"] = min(walls["job"], took(one, nap, [NOTHING]))
    return walls


def _waits(costs: dict[str, float], walls: dict[str, float]) -> dict[str, float]:
    """The costs with what messages take beyond CPU time: four of a batch on its way, four of its results."""
    gather = sum(costs[f"{part}_gather"] for part in ("client", "scheduler", "worker"))
    rest = sum(costs[name] for name in ("client_submit", "scheduler_submit", "scheduler_finish", "worker_task"))
    return costs | {
        "hop": max(walls["alone"] - max(walls["idle"], gather) - rest, 0.0) / 4,
        "question": max(walls["idle"] - gather, 0.0) / 4,
        "answer": max(walls["compute"] - walls["idle"], 0.0),
        "job": max(walls["job"] - walls["alone"], 0.0),
    }
