"""The runner dask with workers killed: commands that take a runner, their bytes beside those of a single process."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_FIRST = 1.0
"""Seconds after which there are workers to kill."""
_SMT = shutil.which("smt") or "smt"


class Place(NamedTuple):
    """Where commands run, as Moses' paths are relative, and where they write."""

    cwd: Path
    out: Path


def runner_kills(shared: Path, kills: int = 10, seed: int = 1) -> dict[str, Any]:
    """For each command: runs with 1, 2 and 4 workers, ``kills`` with a worker killed, and how many of them differ."""
    chance = random.Random(seed)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = _prepared(shared, folder)
        place = Place(shared / "gold/moses", folder / "out")
        for what, command in COMMANDS.items():
            found[what] = _tried(_words(command, {**names, "OUT": str(place.out)}), place, kills, chance)
            sys.stderr.write(f"{what}: {found[what]}\n")
    return found


COMMANDS = {
    "decode": "decode -c CONFIG -i IN/test_2016.de -k 10 --forests OUT/forests -o OUT/lists",
    "score": "score -i IN/lists --feature lm,path=EN.klm,name=more --feature length -o OUT/lists",
    "mbr": "mbr -i IN/lists -m chrf -o OUT/lists",
    "evaluate": "evaluate SYSTEMS -r IN/test_2016.en -m bleu -m ter --bootstrap 1000 -f tsv",
    "tune --runs": "tune -i IN/lists -r IN/test_2016.en --learner mert --runs 4 -o OUT/weights",
    "tune -c": "tune -c CONFIG -s IN/val.de -r IN/val.en --iterations 2 -o OUT/weights --dir OUT/run",
    "tune -c --whole": "tune -c CONFIG -s IN/val.de -r IN/val.en -m bleu,tokenize=none --iterations 1 --whole "
    "--learner minrisk -o OUT/weights --dir OUT/run",
    "rerank": "rerank --dev IN/lists --dev-ref IN/test_2016.en --test IN/lists --test-ref IN/test_2016.en "
    "--feature lm,path=EN.klm,name=more -f tsv -o OUT/run",
    "extract --phrases": "extract --phrases -s IN/train.de -t IN/train.en -a IN/links -o OUT/tables",
    "extract --rules": "extract --rules -s IN/train.de -t IN/train.en -a IN/links --to cdec -o OUT/tables",
    "align": "align -s IN/train.de -t IN/train.en -o OUT/links",
    "cdlm confuse": "cdlm confuse -i IN/cdlm/train.en -g IN/cdlm/cg.gz --lm IN/cdlm/en.arpa --pop-limit 60 -o OUT/sets",
    "cdlm train": "cdlm train -i IN/cdlm/text.en -g IN/cdlm/cg.gz --lm IN/cdlm/en.arpa --classes IN/cdlm/classes "
    "--pop-limit 30 --iterations 2 --select last -o OUT/model",
}
"""IN stands for the folder of the data, OUT for what a run writes."""
_SYSTEMS = 12


def _prepared(shared: Path, folder: Path) -> dict[str, str]:
    """Make the data; return what names in commands stand for."""
    multi30k, moses = shared / "data/multi30k", shared / "gold/moses"
    for side in ("de", "en"):
        with gzip.open(multi30k / f"train.{side}.gz", "rt", encoding="utf-8") as lines:
            (folder / f"train.{side}").write_text("".join(itertools.islice(lines, 4000)), encoding="utf-8")
        for name, count in (("val", 60), ("test_2016", 400)):
            text = (multi30k / f"{name}.{side}").read_text(encoding="utf-8").splitlines(keepends=True)
            (folder / f"{name}.{side}").write_text("".join(text[:count]), encoding="utf-8")
    with gzip.open(moses / "train/aligned.gdfa.gz", "rt", encoding="utf-8") as lines:
        (folder / "links").write_text("".join(itertools.islice(lines, 4000)), encoding="utf-8")
    names = {"CONFIG": "model/moses.pb.tuned.ini", "EN.klm": str(shared / "gold/cdec/lm/en.4.klm"), "IN": str(folder)}
    names["SYSTEMS"] = " ".join(f"S{number}={folder}/system" for number in range(_SYSTEMS))
    cdlm = folder / "cdlm"
    shutil.copytree(EXAMPLES / "cdlm", cdlm)
    for cwd, command in (
        (moses, "decode -c CONFIG -i IN/test_2016.de -k 30 -o IN/lists"),
        (folder, "best -i lists -o system"),
        (cdlm, "lm --order 3 -i train.en --discount-fallback -o en.arpa"),
        (cdlm, "extract --rules --limits chiang -s train.xx -t train.en -a train.align --to cdec-grammar -o tables"),
        (cdlm, "cdlm grammar -i tables/grammar.gz --cap 10 --best=-EgivenF -o cg.gz"),
        (cdlm, "cdlm classes -i train.en --frequent 40 -o classes"),
    ):
        subprocess.run([_SMT, *_words(command, names)], cwd=cwd, check=True, capture_output=True)
    return names


def _words(command: str, names: dict[str, str]) -> list[str]:
    for name, meant in names.items():
        command = command.replace(name, meant)
    return [*command.split(), *([] if command.startswith(("best", "cdlm classes")) else ["-q"])]


def _tried(command: Sequence[str], place: Place, kills: int, chance: random.Random) -> dict[str, Any]:
    wanted, _ = _bytes(command, [], place)
    outcome: dict[str, Any] = {"runs": 0, "killed": 0, "other bytes": 0, "failed": 0, "processes left": 0}
    seconds = 0.0
    for workers in (1, 2, 4):
        found, seconds = _bytes(command, ["--runner", "dask", "-j", str(workers)], place)
        outcome["runs"] += 1
        outcome["other bytes"] += found != wanted
    for _ in range(kills):
        # Moments of the work itself; under load, it may take longer than it did.
        after = _FIRST + chance.random() * max(seconds - _FIRST, 0.5)
        mark = uuid.uuid4().hex
        found, _ = _bytes(command, ["--runner", "dask", "-j", "2"], place, (after, mark, chance), outcome)
        outcome["runs"] += 1
        outcome["other bytes"] += found != wanted
        time.sleep(1.0)
        outcome["processes left"] += len(_processes(mark))
    return outcome


def _bytes(
    command: Sequence[str],
    runner: Sequence[str],
    place: Place,
    kill: tuple[float, str, random.Random] | None = None,
    outcome: dict[str, Any] | None = None,
) -> tuple[dict[str, bytes], float]:
    """What a run prints and writes, and its seconds; a worker is killed ``kill[0]`` seconds after its start."""
    out = place.out
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    mark = uuid.uuid4().hex if kill is None else kill[1]
    begun = time.perf_counter()
    process = subprocess.Popen(
        [_SMT, *command, *runner], cwd=place.cwd, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env={**os.environ, "RUNNER_KILLS": mark},
    )  # fmt: skip
    if kill is not None and outcome is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(kill[0])
        workers = _workers(mark)
        if process.poll() is None and workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(kill[2].choice(workers), 9)
                outcome["killed"] += 1
    printed, complaint = process.communicate()
    seconds = time.perf_counter() - begun
    if process.returncode:
        sys.stderr.write(f"{' '.join(command)}: exit code {process.returncode}: {complaint.decode()[-500:]}\n")
        if outcome is not None:
            outcome["failed"] += 1
    files = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    # A manifest names the command.
    made = {name: data for name, data in files.items() if not name.endswith("manifest.json")}
    return {"": printed, **made}, seconds


def _processes(mark: str) -> list[int]:
    """The processes with this mark in their environment."""
    found = []
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if place.name.isdigit() and f"RUNNER_KILLS={mark}".encode() in (place / "environ").read_bytes().split(
                b"\0"
            ):
                found.append(int(place.name))
    return found


def _workers(mark: str) -> list[int]:
    """The workers among them: the children of the process from which they are forked."""
    parents: dict[int, int] = {}
    servers = set()
    for number in _processes(mark):
        with contextlib.suppress(OSError):
            place = Path("/proc", str(number))
            parents[number] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            if b"forkserver" in (place / "cmdline").read_bytes():
                servers.add(number)
    return sorted(number for number, parent in parents.items() if parent in servers)
