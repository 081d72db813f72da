"""Minimum error rate training: scores and time on Moses' lists, growth with candidates, memory of a long list."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SEEDS = range(1, 6)
LONG = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import re
from mert import synthetic
from smtplugins.contracts.models import Model
from smtplugins.plugins.tuning.mert import Mert

def kilobytes(name):
    return int(re.search(name + r":\\s*(\\d+)", open("/proc/self/status").read())[1])

problem = synthetic(int(sys.argv[2]), int(sys.argv[3]))
before = kilobytes("VmRSS")
start = time.process_time()
for number, step in enumerate(Mert(restarts=int(sys.argv[4])).learn(problem, Model({"f0": 1.0})), 1):
    pass
print(json.dumps({"cpu_s": time.process_time() - start, "rounds": number, "score": step.objective,
                  "lists_mb": before / 1024, "peak_mb": kilobytes("VmHWM") / 1024}))
"""


def moses(shared: Path) -> tuple[Any, Any]:
    """Round 6 of Moses' tuning with its first weights; matches and totals come by turns, then a length."""
    import numpy as np

    from smtformats import Candidates, all_formats, open_lines
    from smtplugins.contracts.learners import ListProblem
    from smtplugins.contracts.models import Model
    from smtplugins.plugins.standard.metrics import Bleu

    known = {one.name: one for one in all_formats()}
    folder = shared / "gold/moses/tune-pb"
    lists, stats = [], []
    with open_lines(folder / "run6.features.dat.gz") as one, open_lines(folder / "run6.scores.dat.gz") as other:
        parsed = (known[f"moses-{kind}"].parse(lines) for kind, lines in (("features", one), ("scores", other)))  # type: ignore[misc]
        for block, scores in zip(*parsed, strict=True):
            values = [list(row) for row in block.rows]
            lists.append(Candidates(block.id, [""] * len(block), [block.names] * len(block), values, file="run6"))
            rows = np.array(scores.rows)
            stats.append(np.column_stack([rows[:, 1], rows[:, 8], rows[:, 0:8:2], rows[:, 1:8:2]]))
    weights = map(float, (folder / "run6.init.opt").read_text().splitlines()[0].split())
    return ListProblem(lists, stats, Bleu(tokenize="none")), Model(dict(zip(lists[0].layouts[0], weights, strict=True)))


def synthetic(count: int, size: int, features: int = 14, seed: int = 7) -> Any:
    """Lists like Moses': features that vary with quality by chance, statistics as BLEU has them."""
    import numpy as np

    from smtformats.columns import Columns
    from smtplugins.contracts.learners import ListProblem
    from smtplugins.plugins.standard.metrics import Bleu

    random = np.random.default_rng(seed)
    names = tuple(f"f{k}" for k in range(features))

    class Listed:
        """A list that is columns from the start, as readers of whole files make them."""

        file, line = "synthetic", 1

        def __init__(self, key: str, table: Any) -> None:
            self.id = key
            self._columns = Columns.dense(names, table)

        def features(self) -> Columns:
            return self._columns

    lists, stats = [], []
    for key in range(count):
        words = random.integers(6, 20)
        totals = np.maximum(words + random.integers(-2, 3, size)[:, None] - np.arange(4), 0)
        quality = random.beta(4, 4, size)[:, None]
        matches = np.floor(totals * quality ** np.arange(1, 5)).clip(0)
        table = random.normal(size=(size, features)) + np.linspace(-0.5, 1, features) * (quality - 0.5) * 3
        lists.append(Listed(str(key), table))
        stats.append(np.column_stack([totals[:, 0], np.full(size, words), matches, totals]))
    return ListProblem(lists, stats, Bleu(tokenize="none"))  # type: ignore[arg-type]


def _long(count: int, size: int, restarts: int) -> dict[str, float]:
    """A run in a process of its own, for its memory."""
    command = [sys.executable, "-c", LONG, str(Path(__file__).parent), str(count), str(size), str(restarts)]
    found: dict[str, float] = json.loads(subprocess.check_output(command))
    return found


def mert(shared: Path) -> dict[str, Any]:
    """20 restarts on Moses' lists for each of five seeds, against its own tool; then lists of other sizes."""
    from smtplugins.plugins.tuning.mert import Mert

    problem, start = moses(shared)
    peer = next(
        row for row in json.loads((shared / "bench/peers.json").read_text())["moses_tuning"]["rows"]
        if row["program"].startswith("mert")
    )  # fmt: skip
    scores, times, rounds = {}, {}, {}
    for seed in SEEDS:
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            steps = [step.objective for step in Mert().learn(problem, start, seed=seed)]
            best = min(best, time.process_time() - began)
        scores[seed], times[seed], rounds[seed] = steps[-1], best, len(steps)
    mean = sum(times.values()) / len(times)
    return {
        "bleu": scores,
        "bleu_of_moses": 100 * peer["dev_bleu_on_these_lists"],
        "cpu_s": times,
        "rounds": rounds,
        "mean_cpu_s": mean,
        "over_moses_unscaled": mean / peer["cpu_s"],
        "1000 x 100, 20 restarts": _long(1000, 100, 20),
        "growth, 2 restarts": {f"1000 x {size}": _long(1000, size, 2) for size in (100, 200, 500, 1000)},
    }
