"""Clusters of processes on this machine: a scheduler and its workers, started, killed and replaced by tests."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PATIENCE = 300.0
"""Seconds after which something that has to happen will not."""


def wait_until(happened: Callable[[], object], what: str) -> None:
    """Wait for something that takes a moment."""
    until = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < until, f"{what}: still not after {PATIENCE} s"
        time.sleep(0.02)


def marked(mark: str) -> list[int]:
    """The processes that were started with ``MARK`` of this value in their environment."""
    found = []
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if place.name.isdigit() and f"MARK={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                found.append(int(place.name))
    return found


class Cluster:
    """``dask scheduler`` and processes of ``dask worker``, each in a process of its own."""

    def __init__(self, folder: Path, workers: int = 0) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start_scheduler(0)
        for _ in range(workers):
            self.add_worker()

    @property
    def address(self) -> str:
        """Where the scheduler answers."""
        return str(json.loads(self._file.read_text())["address"])

    @property
    def runner(self) -> tuple[str, str]:
        """The options of commands that work here."""
        return "--runner", f"dask,address={self.address}"

    def add_worker(self, *options: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start a worker."""
        local = ("--local-directory", str(self._folder), "--nthreads", "1", "--memory-limit", "0", *options)
        self.workers.append(self._start("worker", self.address, "--no-nanny", "--no-dashboard", *local, **variables))
        return self.workers[-1]

    def kill_worker(self, number: int) -> None:
        """Kill one of the workers."""
        _kill(self.workers.pop(number))

    def kill_workers(self) -> None:
        """Kill all workers."""
        for worker in self.workers:
            _kill(worker)
        self.workers.clear()

    def kill_scheduler(self) -> None:
        """Kill the scheduler; workers that lose it end by themselves."""
        _kill(self.scheduler)

    def restart_scheduler(self) -> None:
        """Start another scheduler where the killed one was."""
        port = self.address.rpartition(":")[2]
        self._file.unlink()
        self.scheduler = self._start_scheduler(int(port))

    def close(self) -> None:
        """Kill everything."""
        self.kill_workers()
        _kill(self.scheduler)

    def _start_scheduler(self, port: int) -> subprocess.Popen[bytes]:
        process = self._start("scheduler", "--port", str(port), "--no-dashboard", "--scheduler-file", str(self._file))
        wait_until(lambda: self._file.exists() and self._file.read_text().endswith("}"), "the scheduler's file")
        return process

    def _start(self, kind: str, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-W", "ignore", "-m", "dask", kind, "--host", "127.0.0.1", *arguments]
        environment = {**os.environ, "PYTHONWARNINGS": "ignore", **variables}
        with (self._folder / f"{kind}.log").open("ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


@contextlib.contextmanager
def cluster(folder: Path, workers: int = 0) -> Iterator[Cluster]:
    """A cluster for a while."""
    made = Cluster(folder, workers)
    try:
        yield made
    finally:
        made.close()
