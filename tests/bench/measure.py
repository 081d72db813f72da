"""Measuring on a shared machine: CPU time, runs interleaved, the best of several, results as ratios."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

# What /proc says of a new process: the peak that getrusage gives is never below that of the process it came from.
LOAD = """
import re, sys
import numpy
from smtformats import open_bytes
from smtformats.{module} import load
import smtformats._scan, smtformats.columns, smtformats.pieces, smtformats.grammar.shared.scanning

def kilobytes(name):
    return int(re.search(name + r":\\s*(\\d+)", open("/proc/self/status").read())[1])

with open_bytes(sys.argv[1]) as stream:
    stream.peek(1)
    before = kilobytes("VmRSS")
    columns = load(stream, "x")
print(1024 * (kilobytes("VmHWM") - before) / columns.nbytes)
"""


def interleaved(runs: dict[str, Callable[[], object]], rounds: int = 9) -> dict[str, float]:
    """The best CPU seconds of each, all measured in turn in every round."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return best


def child(command: Sequence[str]) -> tuple[float, float]:
    """CPU seconds and peak memory (MB) of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = _wait(process)
    assert status == 0, f"{command[0]} failed"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return cpu, usage.ru_maxrss / 1024


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, int, resource.struct_rusage]:
    import os

    pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return pid, process.returncode, usage


def best_child(commands: dict[str, Sequence[str]], rounds: int = 9) -> dict[str, tuple[float, float]]:
    """The best CPU seconds and the peak memory of each command, interleaved."""
    found = {name: (float("inf"), 0.0) for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            cpu, memory = child(command)
            found[name] = (min(found[name][0], cpu), max(found[name][1], memory))
    return found


def peak_over_columns(module: str, path: Path) -> float:
    """The most memory that `load` of a format's module takes beside what was there, over that of its columns."""
    script = [sys.executable, "-c", LOAD.format(module=module), str(path)]
    return min(float(subprocess.check_output(script)) for _ in range(3))
