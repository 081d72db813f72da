"""``smt decode`` beside cdec, Moses2 and Joshua: CPU time at no worse a mean model score; and what two threads gain.

The toolkits' times are those of ``bench/peers.json``, placed on this machine by ``bench/calibrate.py``. Each command is
run whole, in a process of its own, interleaved with the others; the best of several counts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from measure import child

# Folder, arguments, pop limit; the peer's table, its row's program, what it took to decode, load, and in all.
CASES: dict[str, tuple[str, list[str], int]] = {
    "cdec 30": ("cdec", ["-c", "cdec.ini", "-w", "weights.tuned", "-i", "test300.in"], 30),
    "cdec 200": ("cdec", ["-c", "cdec.ini", "-w", "weights.tuned", "-i", "test300.in"], 200),
    "moses 30": ("moses", ["-c", "model/moses.hiero.tuned.ini", "-i", "in/test300.de"], 30),
    "moses 200": ("moses", ["-c", "model/moses.hiero.tuned.ini", "-i", "in/test300.de"], 200),
    "moses 1000": ("moses", ["-c", "model/moses.hiero.tuned.ini", "-i", "in/test300.de"], 1000),
    "moses long 30": ("moses", ["-c", "model/moses.hiero.tuned.ini", "-i", "in/long75.de"], 30),
    "moses long 200": ("moses", ["-c", "model/moses.hiero.tuned.ini", "-i", "in/long75.de"], 200),
    "joshua 10": ("joshua/bn-en-hiero", ["-c", "joshua.config", "-i", "input.bn"], 10),
    "joshua 100": ("joshua/bn-en-hiero", ["-c", "joshua.config", "-i", "input.bn"], 100),
    "joshua 1000": ("joshua/bn-en-hiero", ["-c", "joshua.config", "-i", "input.bn"], 1000),
}
_PHRASE = ("-c", "model/moses.pb.tuned.ini")
# Moses2's limits, and ours where fewer hypotheses score as well.
_LIMITS = {"stack": {1: 1, 10: 10, 100: 100}, "cube": {10: 10, 50: 50, 200: 200, 1000: 1000}}
for _name, _given in (("phrase", "in/test300.de"), ("phrase long", "in/long75.de")):
    for _search, _limits in _LIMITS.items():
        for _peer, _own in _limits.items():
            _limit = 100 if (_name, _peer) == ("phrase", 200) else _own
            # Moses was run with stacks as large as the pop limit.
            _size = _limit if _search == "stack" else max(200, _limit)
            _sets = [f"decoder.search={_search}", f"decoder.stack_size={_size}"]
            _overrides = [word for one in _sets for word in ("--set", one)]
            CASES[f"{_name} {_search} {_peer}"] = ("moses", [*_PHRASE, "-i", _given, *_overrides], _limit)
THREADS = ("cdec 200", "moses 200", "moses long 200", "phrase long cube 200")


def decoding(shared: Path, rounds: int = 5, only: str = "") -> dict[str, Any]:
    """For each case: our CPU seconds and score, the toolkit's, and their ratios; those alone that begin so."""
    if not (shared / "gold").exists():
        return {}
    cases = [case for case in CASES if case.startswith(only)]
    # Modules are compiled once by whoever installs them.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    ours: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(rounds):
            for case in cases:
                now = _run(shared, case, Path(name))
                best = ours.setdefault(case, now)
                for key in ("whole", "loading", "decoding"):
                    best[key] = min(best[key], now[key])
        threads = {case: _threads(shared, case, Path(name)) for case in THREADS if case in cases}
    peers = _peers(shared)
    found = {}
    for case, best in ours.items():
        peer = peers.get(case, {})
        ratios = {key: best[key] / peer[key] for key in ("whole", "loading", "decoding") if peer.get(key)}
        found[case] = {"ours": best, "peer": peer, "ours_over_peer": ratios}
    return {"cases": found, "two_threads": threads}


def _command(case: str, folder: Path, jobs: int = 1, wanted: bool = True) -> list[str]:
    _, arguments, limit = CASES[case]
    smt = shutil.which("smt") or "smt"
    lists = ["-k", "1", "-o", str(folder / "list")] if wanted else ["-o", str(folder / f"text.{jobs}")]
    given = ["--pop-limit", str(limit), "--cache", str(folder / "cache"), "--stats", str(folder / "stats")]
    return [smt, "decode", "-q", *arguments, *given, "-j", str(jobs), *lists]


def _run(shared: Path, case: str, folder: Path) -> dict[str, Any]:
    here = Path.cwd()
    os.chdir(shared / "gold" / CASES[case][0])
    try:
        whole, memory = child(_command(case, folder))
    finally:
        os.chdir(here)
    cpu = json.loads((folder / "stats").read_text())["cpu"]
    totals = [float(line.split(" ||| ")[-1]) for line in (folder / "list").read_text().splitlines()]
    return {
        "mean_score": sum(totals) / len(totals),
        "whole": whole,
        "loading": cpu["loading"],
        "decoding": cpu["parsing"] + cpu["search"],
        "ms_a_sentence": 1000 * (cpu["parsing"] + cpu["search"]) / len(totals),
        "peak_rss_mb": memory,
    }


def _threads(shared: Path, case: str, folder: Path) -> dict[str, Any]:
    """Wall time of all but loading, with one job and with two, for four times the sentences.

    On an idle machine alone it says much.
    """
    where = shared / "gold" / CASES[case][0]
    given = _command(case, folder)[_command(case, folder).index("-i") + 1]
    (folder / "empty").write_text("")
    (folder / "four").write_text((where / given).read_text() * 4)
    best = {1: float("inf"), 2: float("inf")}
    nothing = float("inf")
    for _ in range(4):
        for jobs in best:
            command = [
                str(folder / "four") if one == given else one for one in _command(case, folder, jobs, wanted=False)
            ]
            best[jobs] = min(best[jobs], _wall(command, where))
            empty = [str(folder / "empty") if one == str(folder / "four") else one for one in command]
            empty[empty.index("-o") + 1] = os.devnull
            nothing = min(nothing, _wall(empty, where))
    same = (folder / "text.1").read_bytes() == (folder / "text.2").read_bytes()
    seconds = {jobs: wall - nothing for jobs, wall in best.items()}
    return {"wall_s": seconds, "loading_s": nothing, "speedup": seconds[1] / seconds[2], "same_bytes": same}


def _wall(command: list[str], where: Path) -> float:
    begun = time.perf_counter()
    subprocess.run(command, cwd=where, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def _peers(shared: Path) -> Mapping[str, Mapping[str, Any]]:
    """What the toolkits take on this machine, by the same names."""
    peers = json.loads((shared / "bench/peers.json").read_text())
    script = [sys.executable, str(shared / "bench/calibrate.py")]
    here = json.loads(subprocess.run(script, check=True, stdout=subprocess.PIPE, text=True).stdout)
    there = peers["machine"]["calibration"]
    search = here["score_ns"] / there["score_ns"]
    load = there["gunzip_mb_s"] / here["gunzip_mb_s"]
    found: dict[str, dict[str, Any]] = {}
    for row in peers["cdec"]["rows"]:
        found[f"cdec {row['pop_limit']}"] = {
            "mean_score": row["mean_model_score"],
            "whole": row["total_s"] * search,
            "loading": peers["cdec"]["load_s"] * load,
            "decoding": row.get("translate_s", 0.0) * search,
        }
    for key, name in (("moses_chart", "moses"), ("moses_chart_long", "moses long")):
        for row in peers[key]["rows"]:
            if row["program"] == "moses2":
                found[f"{name} {row['pop_limit']}"] = {
                    "mean_score": row["mean_model_score"],
                    "loading": row.get("load_s", 0.0) * load,
                    "decoding": row["decode_s"] * search,
                }
    for key, name in (("moses_phrase", "phrase"), ("moses_phrase_long", "phrase long")):
        for row in peers[key]["rows"]:
            case = f"{name} {row['search']}"
            if row["program"] == "moses2" or case not in found:
                found[case] = {
                    "program": row["program"],
                    "mean_score": row["mean_model_score"],
                    "loading": row.get("load_s", 0.0) * load,
                    "decoding": row["decode_s"] * search,
                }
    for row in peers["joshua_hiero"]["rows"]:
        found[f"joshua {row['pop_limit']}"] = {
            "mean_score": row["mean_1best"],
            "whole": row.get("cpu_s", 0.0) * search,
            "decoding": row.get("decode_s", 0.0) * search,
        }
    return found
