"""The learners on Moses' own tuning lists, on long lists, and with a hundred thousand sparse features."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LEARNERS = ("pro", "mira", "perceptron", "minrisk")
SEEDS = (1, 2, 3)
ORDERS = 4


@dataclass(frozen=True)
class Block:
    """A list as learners look at it: columns, and where it came from."""

    id: str
    columns: Any
    file: str = "made"
    line: int = 1

    def features(self) -> Any:
        return self.columns


class Bleu:
    """BLEU of matches and totals of each order and the length of the reference, as Moses' extractor writes them."""

    name = "BLEU"
    higher_is_better = True

    def score(self, stats: Any) -> Any:
        import numpy as np

        rows = np.maximum(np.asarray(stats, dtype=np.float64), 1e-300)
        logs = np.log(rows[..., 0 : 2 * ORDERS : 2]) - np.log(rows[..., 1 : 2 * ORDERS : 2])
        return 100 * np.exp(logs.mean(axis=-1) + np.minimum(0.0, 1 - rows[..., 2 * ORDERS] / rows[..., 1]))

    def sentence(self, stats: Any) -> Any:
        import numpy as np

        rows = np.array(stats, dtype=np.float64)
        rows[..., 2 : 2 * ORDERS] += 1
        return self.score(rows)


def learner(name: str) -> Any:
    """A learner with its own defaults."""
    from smtplugins.plugins.tuning import minrisk, mira, perceptron, pro

    makes = {"pro": pro.Pro, "mira": mira.Mira, "perceptron": perceptron.Perceptron, "minrisk": minrisk.Minrisk}
    return makes[name]()


def extracted(folder: Path) -> Any:
    """Round 6 of Moses' tuning as a problem."""
    import numpy as np

    from smtformats import Columns, all_formats, open_lines
    from smtplugins.contracts.learners import ListProblem

    known = {one.name: one for one in all_formats()}
    lists, stats = [], []
    features, scores = (folder / f"run6.{kind}.dat.gz" for kind in ("features", "scores"))
    with open_lines(features) as one, open_lines(scores) as other:
        for block, rows in zip(
            known["moses-features"].parse(one), known["moses-scores"].parse(other), strict=True  # type: ignore[misc]
        ):  # fmt: skip
            lists.append(Block(block.id, Columns.dense(block.names, block.rows)))
            stats.append(np.array(rows.rows, dtype=np.float64))
    return ListProblem(lists, stats, Bleu())  # type: ignore[arg-type]


def made(count: int, sparse: int) -> Any:
    """Lists of 100 hypotheses: ten dense features, two of which help, or 30 of many sparse ones beside them."""
    import numpy as np

    from smtformats import Columns
    from smtplugins.contracts.learners import ListProblem

    rng = np.random.default_rng(1)
    names = tuple(f"d{i}" for i in range(10))
    helpful = rng.normal(size=sparse) * (rng.random(sparse) < 0.1)
    lists, stats = [], []
    for key in range(count // 100):
        dense = rng.normal(size=(100, 10))
        # A Zipf-like choice, as words have it: few names are frequent, most are rare.
        ids = (sparse * rng.random((100, 30)) ** 3).astype(np.int64) if sparse else np.zeros((100, 0), dtype=np.int64)
        value = dense[:, 0] + 0.5 * dense[:, 1] + (helpful[ids].sum(axis=1) if sparse else 0) + rng.normal(size=100)
        share = 1 / (1 + np.exp(-value / 2))
        rows = np.empty((100, 2 * ORDERS + 1))
        for order in range(ORDERS):
            total = 20 - order
            rows[:, 2 * order], rows[:, 2 * order + 1] = np.floor(total * share ** (order + 1)), total
        rows[:, 2 * ORDERS] = 20
        width = 10 + ids.shape[1]
        own, where = np.unique(ids, return_inverse=True)
        numbers = np.concatenate([np.tile(np.arange(10), (100, 1)), 10 + where.reshape(ids.shape)], axis=1)
        values = np.concatenate([dense, np.ones(ids.shape)], axis=1).ravel()
        layout = (*names, *(f"pair:{i}" for i in own.tolist()))
        columns = Columns(layout, np.arange(101) * width, numbers.astype(np.int32).ravel(), values)
        lists.append(Block(str(key), columns))
        stats.append(rows)
    return ListProblem(lists, stats, Bleu())  # type: ignore[arg-type]


def measured(name: str, problem: Any, seed: int) -> dict[str, Any]:
    """CPU seconds, the score of the best hypotheses, and the weights that are not 0."""
    from smtplugins.contracts.models import Model
    from smtplugins.host.learn.problems import matrix_of

    begin = time.process_time()
    model = Model()
    for step in learner(name).learn(problem, Model(), seed=seed):
        model = step.model  # the last one; those before it are not kept
    cpu = time.process_time() - begin
    matrix = matrix_of(problem)
    weights = matrix.column(model.weights)
    score = float(problem.metric.score(matrix.stats[matrix.best(weights)].sum(axis=0)))
    return {"cpu_s": round(cpu, 3), "bleu": round(score, 3), "weights": int((weights != 0).sum())}


def alone(name: str, count: int, sparse: int) -> dict[str, Any]:
    """A learner on made lists in a process of its own, with its peak memory."""
    command = [sys.executable, __file__, name, str(count), str(sparse)]
    found: dict[str, Any] = json.loads(subprocess.check_output(command))
    return found


def learners(shared: Path) -> dict[str, Any]:
    """List BLEU and CPU on Moses' lists; growth to a million hypotheses; 100,000 sparse names."""
    problem = extracted(shared / "gold/moses/tune-pb")
    return {
        "tune-pb round 6 (Moses: mert 41.059)": {
            name: [measured(name, problem, seed) for seed in SEEDS] for name in LEARNERS
        },
        "growth, 10 dense features": {
            name: {count: alone(name, count, 0) for count in (100_000, 1_000_000)} for name in LEARNERS
        },
        "100,000 hypotheses, 100,000 sparse names": {name: alone(name, 100_000, 100_000) for name in LEARNERS},
    }


def main() -> None:
    """One measurement, for :func:`alone`."""
    import resource

    name, count, sparse = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    problem = made(count, sparse)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = measured(name, problem, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found | {"problem_mb": round(before), "peak_mb": round(peak)}))


if __name__ == "__main__":
    main()
