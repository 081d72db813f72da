"""Boosted trees of l1-boost against LightGBM on sparse binary data: speed, accuracy, parameters. One thread, CPU time.

100,000 rows of 17.5 of 5,000 atoms by Zipf's law, the label being the sign of a sum over atoms and over pairs of them,
a tenth of the labels wrong. Lambda and the number of LightGBM's trees are chosen on 10,000 more rows, accuracies are
those of another 10,000. LightGBM has its defaults, 31 leaves a tree and 100 trees, or the best number of trees; it is
not installed with anything of ours, and without it our own figures are printed alone. What a million rows of 100,000
atoms take is that of a process of its own.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

ROWS, HELD_OUT, ATOMS, MEAN = 100_000, 10_000, 5_000, 17.5
ETA, EPSILON = 0.9, 1e-5
FACTOR, STEPS = 0.7, 16
TREES, MOST = 300, 500
MILLION = (1_000_000, 100_000)

LARGE = """
import re, time
from bitree import made
from smtplugins.plugins.bitree._bitree import Boosting

offsets, ids, labels = made({rows}, {atoms})

def megabytes(name):
    return int(re.search(name + r":\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024

open("/proc/self/clear_refs", "w").write("5")
before, start = megabytes("VmRSS"), time.process_time()
boosting = Boosting(offsets, ids, {atoms}, labels)
made_in = time.process_time() - start
boosting.advance(0.3 * boosting.first_penalty({eta}), {eta}, {epsilon}, 20, {depth})
cpu = time.process_time() - start
nodes = len(boosting.path()[2]) / max(boosting.count, 1)
print(len(ids), boosting.tries, nodes, made_in, cpu, before, megabytes("VmHWM") - before)
"""


def bitree_boosting(rounds: int = 3) -> dict[str, Any]:
    """Row-trees a second, accuracies, parameters; a million rows."""
    offsets, ids, labels = made(ROWS + 2 * HELD_OUT, ATOMS)
    found: dict[str, Any] = {}
    try:
        other = _lightgbm(offsets, ids, labels)
        found |= other
    except ImportError:
        other = {}
    for name, depth in (("l1-boost", 0), *((f"l1-boost, {depth} literals at most", depth) for depth in (80, 10))):
        found[name] = _ours(offsets, ids, labels, depth, rounds, other)
    for name, depth in (("a million rows", 0), ("a million rows, 10 literals at most", 10)):
        found[name] = _large(depth)
    return found


def made(rows: int, atoms: int, seed: int = 1) -> tuple[Any, Any, Any]:
    """Offsets, ids and labels."""
    import numpy as np

    random = np.random.default_rng(seed)
    shares = np.arange(1, atoms + 1) ** -0.7
    shares = np.minimum(shares * MEAN / shares.sum(), 0.5)
    columns = [np.unique(random.integers(0, rows, size=random.binomial(rows, share))) for share in shares]
    at, row = np.repeat(np.arange(atoms, dtype=np.int32), [len(one) for one in columns]), np.concatenate(columns)
    order = np.argsort(row, kind="stable")
    ids, row = at[order], row[order]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
    weights = random.normal(size=atoms) * (random.random(atoms) < 0.08)
    sums = np.bincount(row, weights=weights[ids], minlength=rows)
    dense = np.zeros((rows, 100), dtype=bool)
    dense[row[ids < 100], ids[ids < 100]] = True
    for _ in range(60):
        one, two = random.choice(100, 2, replace=False)
        sums += 1.5 * random.normal() * (dense[:, one] & (dense[:, two] ^ (random.random() < 0.5)))
    labels = np.where((sums > np.median(sums)) ^ (random.random(rows) < 0.1), 1, -1)
    return offsets, ids, labels.astype(np.int8)


def _parts(offsets: Any, ids: Any) -> list[Any]:
    """Training, tuning and development rows."""
    from smtplugins.plugins.bitree.boosting.examples import Examples

    names = tuple(map(str, range(ATOMS)))
    bounds = (0, ROWS, ROWS + HELD_OUT, ROWS + 2 * HELD_OUT)
    return [
        Examples(offsets[a : b + 1] - offsets[a], ids[offsets[a] : offsets[b]], names)
        for a, b in itertools.pairwise(bounds)
    ]


def _ours(offsets: Any, ids: Any, labels: Any, depth: int, rounds: int, other: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    from smtplugins.plugins.bitree._bitree import Boosting
    from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel, Trees

    train, tune, dev = _parts(offsets, ids)
    steps: list[tuple[float, float]] = []
    boosting, best = None, float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        boosting = Boosting(train.offsets, train.ids, ATOMS, labels[:ROWS])
        grid = [boosting.first_penalty(ETA) * FACTOR**k for k in range(1, STEPS + 1)]
        times = []
        for least in grid:
            boosting.advance(least, ETA, EPSILON, MOST, depth)
            times.append(time.process_time() - begin)
        if times[-1] < best:
            best, steps = times[-1], list(zip(grid, times, strict=True))
    assert boosting is not None
    path = boosting.path()
    ends = np.array([0, boosting.count])
    model = BoostedModel(train.atoms, ("",), (("",),), Trees(ends, *path), grid[-1])
    scores = {least: [model.scores(0, one, least)[:, 0] for one in (tune, dev)] for least, _ in steps}
    gold = labels[ROWS : ROWS + HELD_OUT], labels[ROWS + HELD_OUT :]
    right = {least: [_accuracy(h, y) for h, y in zip(both, gold, strict=True)] for least, both in scores.items()}
    chosen = max(right, key=lambda least: right[least][0])
    own = model.parameters(0, 0, chosen)
    row = {
        "M row-trees/s": boosting.tries * ROWS / best / 1e6,
        "nodes a tree": len(path[2]) / boosting.count,
        "chosen: trees": int(model.counts(chosen)[0]),
        "chosen: parameters": len(own),
        "chosen: literals": sum(map(len, own)),
        "chosen: CPU s": dict(steps)[chosen],
        "development accuracy": right[chosen][1],
        "whole path: CPU s": best,
    }
    for name, theirs in other.items():
        reached = [(least, cpu) for least, cpu in steps if right[least][1] >= theirs["development accuracy"]]
        if reached:
            least, cpu = reached[0]
            row[f"CPU s until as accurate as {name}"] = cpu
            row[f"parameters then, of those of {name}"] = (
                len(model.parameters(0, 0, least)) / theirs["parameters (leaves)"]
            )
    return row


def _accuracy(scores: Any, labels: Any) -> float:
    return float(((scores > 0) == (labels > 0)).mean())


def _lightgbm(offsets: Any, ids: Any, labels: Any) -> dict[str, Any]:
    import lightgbm  # type: ignore[import-not-found]
    import numpy as np
    from scipy.sparse import csr_matrix

    table = csr_matrix((np.ones(len(ids)), ids, offsets), shape=(len(labels), ATOMS))
    options = {"objective": "binary", "num_leaves": 31, "num_threads": 1, "verbose": -1, "force_col_wise": True}
    start = time.process_time()
    data = lightgbm.Dataset(table[:ROWS], label=(labels[:ROWS] > 0) * 1.0, params=options).construct()
    made_in = time.process_time() - start
    times = []
    booster = lightgbm.train(options, data, TREES, callbacks=[lambda _: times.append(time.process_time() - start)])

    def accuracy(first: int, trees: int) -> float:
        part = slice(first, first + HELD_OUT)
        found = booster.predict(table[part], num_iteration=trees, num_threads=1)
        return _accuracy(found - 0.5, labels[part])

    found = {}
    best = max(range(20, TREES + 1, 20), key=lambda count: accuracy(ROWS, count))
    for trees in (100, best):
        found[f"LightGBM, {trees} trees"] = {
            "M row-trees/s": TREES * ROWS / (times[-1] - made_in) / 1e6,
            "parameters (leaves)": sum(
                one["num_leaves"] for one in booster.dump_model(num_iteration=trees)["tree_info"]
            ),
            "CPU s": times[trees - 1],
            "development accuracy": accuracy(ROWS + HELD_OUT, trees),
        }
    return found


def _large(depth: int) -> dict[str, Any]:
    import subprocess
    from pathlib import Path

    rows, atoms = MILLION
    text = LARGE.format(rows=rows, atoms=atoms, eta=ETA, epsilon=EPSILON, depth=depth)
    here = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", text], cwd=here, capture_output=True, text=True, check=True)
    entries, tries, nodes, made_in, cpu, before, more = map(float, done.stdout.split())
    return {
        "entries a row": entries / rows,
        "trees": int(tries),
        "nodes a tree": nodes,
        "CPU s": cpu,
        "of these to begin": made_in,
        "M row-trees/s": tries * rows / (cpu - made_in) / 1e6,
        "MB of the rows, and of Python": before,
        "MB beside them at most": more,
    }
