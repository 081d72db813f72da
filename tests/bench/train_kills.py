"""`smt train` killed at moments spread over its run: each folder has to end in the bytes of a run that was not."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/from-text"


def tree(folder: Path) -> dict[str, bytes | None]:
    """All files and their bytes, and all folders."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def write_texts(folder: Path, train: int = 100, dev: int = 12) -> list[str]:
    """Write a small training text and a smaller one to learn weights from; return the options for them."""
    names = []
    for name, lines in (("train", train), ("dev", dev)):
        for side in ("de", "en"):
            text = (EXAMPLE / f"{name}.{side}").read_text(encoding="utf-8").splitlines(keepends=True)[:lines]
            (folder / f"{name}.{side}").write_text("".join(text), encoding="utf-8")
            names.append(str(folder / f"{name}.{side}"))
    return ["-s", names[0], "-t", names[1], "--dev", *names[2:]]


def train_kills(model: str = "phrase", kills: int = 100, seed: int = 1) -> dict[str, Any]:
    """Kill all processes of a run ``kills`` times, every third run twice, and let each go on to its end."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        smt = shutil.which("smt") or "smt"
        given = ["--order", "3", *(["--iterations", "2"] if model in ("phrase", "hiero", "umt", "amasis") else [])]
        words = ["--tokenize", "13a", "--case", "true", "--memory", "1M"]
        command = [smt, "train", *write_texts(folder), *words, *given, "--model", model, "-o", "out"]

        def run(place: Path, kill_after: float | None, resume: bool) -> bool:
            """Whether the run was killed before its end."""
            place.mkdir(exist_ok=True)
            with open(place.with_suffix(".log"), "ab") as log:
                options = ["--resume"] if resume else []
                child = subprocess.Popen(
                    [*command, *options], cwd=place, stdout=log, stderr=log, start_new_session=True
                )
                try:
                    status = child.wait(timeout=kill_after)
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
                    return True
            if status:
                raise SystemExit(f"{place}: exit code {status}\n{place.with_suffix('.log').read_text()}")
            return False

        begun = time.monotonic()
        run(folder / "whole", None, False)
        seconds = time.monotonic() - begun
        whole = tree(folder / "whole")
        outcome = {"killed": 0, "killed twice": 0, "other bytes": 0, "left over": 0}
        differing = []
        for number in range(kills):
            place = folder / f"run-{number}"
            after = seconds * (number + chance.random()) / kills
            if run(place, after, False):
                outcome["killed"] += 1
                again = (seconds - after) * chance.random()
                if number % 3 == 2 and run(place, again, True):
                    outcome["killed twice"] += 1
                run(place, None, True)
            made = tree(place)
            other = sorted(name for name in whole if name not in made or made[name] != whole[name])
            extra = sorted(made.keys() - whole.keys())
            outcome["other bytes"] += bool(other)
            outcome["left over"] += bool(extra)
            if other or extra:
                differing.append({"after": after, "other bytes": other, "left over": extra})
            sys.stderr.write(f"{number + 1} of {kills}: killed after {after:.2f} of {seconds:.2f} s {other}{extra}\n")
            shutil.rmtree(place)
    return {"model": model, "seconds": seconds, **outcome, "differing": differing}
