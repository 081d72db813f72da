"""What the runner dask costs above forked processes: CPU of whole commands with two workers each, interleaved."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: processes whose parent ends become ours
_SENTENCES = 10_000
_RUNNERS = ("processes,jobs=2", "dask,jobs=2")


def runners(shared: Path, rounds: int = 3) -> dict[str, Any]:
    """CPU and wall seconds of `decode` and `score` with each runner, medians, and the share of dask above the other."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    moses, smt = shared / "gold/moses", shutil.which("smt") or "smt"
    lines = (shared / "data/multi30k/test_2016.de").read_text(encoding="utf-8").splitlines(keepends=True)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, lists = folder / "text", folder / "lists"
        text.write_text("".join((lines * (_SENTENCES // len(lines) + 1))[:_SENTENCES]), encoding="utf-8")
        decode = [smt, "decode", "-q", "-c", "model/moses.pb.tuned.ini", "--pop-limit", "100", "-i", str(text)]
        subprocess.run([*decode, "-k", "100", "-j", "2", "-o", str(lists)], cwd=moses, check=True)
        score = [smt, "score", "-q", "-i", str(lists), "--feature", f"lm,path={shared}/gold/cdec/lm/en.4.klm,name=more"]
        few = folder / "few"
        few.write_text("".join(lines[:20]), encoding="utf-8")
        start = [*decode[:-1], str(few)]
        for what, command in {"decode": decode, "score": score, "start": start}.items():
            found[what] = _compared(command, moses, folder, rounds)
    return found


def _compared(command: Sequence[str], cwd: Path, folder: Path, rounds: int) -> dict[str, Any]:
    times: dict[str, list[tuple[float, float]]] = {runner: [] for runner in _RUNNERS}
    for _ in range(rounds):
        for runner in _RUNNERS:
            out = folder / f"out-{runner}"
            times[runner].append(_cost([*command, "--runner", runner, "-o", str(out)], cwd))
    first, second = (folder / f"out-{runner}" for runner in _RUNNERS)
    assert first.read_bytes() == second.read_bytes()
    middle = {runner: sorted(seconds)[rounds // 2] for runner, seconds in times.items()}
    forked, dask = (middle[runner][0] for runner in _RUNNERS)
    return {
        **{runner: {"cpu_s": cpu, "wall_s": wall} for runner, (cpu, wall) in middle.items()},
        "more_cpu_percent": 100 * (dask / forked - 1),
    }


def _cost(command: Sequence[str], cwd: Path) -> tuple[float, float]:
    """CPU seconds of a command with all processes that it started, and wall seconds."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=cwd, check=True)
    wall = time.perf_counter() - begun
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime), wall
