"""Tuning loops: what each iteration decodes at, for all learners and five seeds, with Moses' and cdec's own systems.

Five iterations with lists of 100, from untuned and tuned weights; learners without random numbers have one seed. For
``cdec``, ``mert, forests`` is the loop with ``--whole``. BLEU is in-sample, that of the sentences learnt from.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ITERATIONS = 5
SEEDS = (1, 2, 3, 4, 5)
LEARNERS = {"mert": SEEDS, "mira": SEEDS, "pro": SEEDS, "minrisk": (1,), "perceptron": SEEDS}


@dataclass(frozen=True)
class Case:
    """A toolkit's system, with paths from its folder."""

    folder: str
    config: str
    source: str
    references: str
    weights: str | None = None


CASES = {
    "Moses, phrases": Case("moses", "model/moses.pb.ini", "in/val150.de", "in/val150.en"),
    "Moses, phrases, tuned": Case("moses", "model/moses.pb.tuned.ini", "in/val150.de", "in/val150.en"),
    "Moses, rules": Case("moses", "model/moses.hiero.ini", "in/val150.de", "in/val150.en"),
    "cdec, rules": Case("cdec", "cdec.ini", "val300.in", "val300.ref", "weights.init"),
}


def loops(shared: Path) -> dict[str, Any]:
    """The decoded scores of each run, how far the lowest of a learner is below the start, and the best of each run."""
    if not (shared / "gold").exists():
        return {}
    import smtplugins as smt

    host = smt.load_plugins()
    here = Path.cwd()
    found: dict[str, Any] = {}
    try:
        for name, case in CASES.items():
            os.chdir(shared / "gold" / case.folder)
            found[name] = dict(_case(host, case))
    finally:
        os.chdir(here)
    return found


def _case(host: Any, case: Case) -> Iterator[tuple[str, Any]]:
    for learner, seeds in LEARNERS.items():
        yield learner, _summary([_run(host, case, learner, seed) for seed in seeds])
    if case.weights is not None:
        yield "mert, forests", _summary([_run(host, case, "mert", 1, forests=True)])


def _run(host: Any, case: Case, learner: str, seed: int, **options: Any) -> list[float]:
    """What each iteration decoded at; a loop that collapsed is as good as its start."""
    import json

    from smtplugins.contracts.errors import SmtError
    from smtplugins.host.config.run_yaml import load_config
    from smtplugins.host.learn.loop import LoopPlan, tune_decoder
    from smtplugins.host.learn.tuning import plan_of

    given = {"source": os.path.abspath(case.source), "references": [os.path.abspath(case.references)]}
    overrides = [f"{key}={json.dumps(value)}" for key, value in given.items()]
    config = load_config(case.config, [*overrides, "metric={name: bleu, tokenize: none}"])
    plan = LoopPlan(plan_of(host, learner, seed=seed), iterations=ITERATIONS, nbest=100, **options)
    start = host.read_weights(case.weights) if case.weights is not None else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        try:
            tune_decoder(host, config, plan, folder, start=start)
        except SmtError as error:
            if "collapsed" not in str(error):
                raise
        record = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return [round(row["decoded"], 2) for row in record["iterations"]]


def _summary(runs: list[list[float]]) -> dict[str, Any]:
    """All runs, how far the lowest iteration is below the start, and the best scores."""
    return {
        "decoded": runs,
        "lowest_below_start": round(max(run[0] - min(run) for run in runs), 2),
        "best": [max(run) for run in runs],
    }
