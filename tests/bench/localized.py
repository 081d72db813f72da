"""Events of blocks on the 29,000 sentence pairs of Multi30k: collected, and learnt from, in CPU time of one thread.

The list of all phrase pairs without regard to the alignment is as long as the paper's (7.2 M bigrams against 7.8 M,
of which 5.0 M had an orientation). A step is made for each event, in random order; the order's making is counted.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PASSES = (1, 2, 5, 10, 20, 40)
PAPER_EVENTS_PER_SECOND = 28_000.0


def localized(shared: Path, rounds: int = 3) -> dict[str, Any]:
    """Events and steps a second, bytes, and losses by pass."""
    if not (shared / "gold/moses/train").exists():
        return {}
    from smtplugins.cli.main import main
    from smtplugins.host.files.lists import read_corpus
    from smtplugins.host.files.opening import load_grammar
    from smtplugins.plugins.localized.events.blocks import BlockSet
    from smtplugins.plugins.localized.events.collecting import collect

    data, train = shared / "data/multi30k", shared / "gold/moses/train"
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = ["-s", f"{data}/train.de.gz", "-t", f"{data}/train.en.gz", "-a", f"{train}/aligned.gdfa.gz"]
        assert main(["extract", "--phrases", *files, "-o", f"{folder}/tables", "-q"]) == 0
        (table,) = (folder / "tables").glob("phrase-table*")
        grammar = load_grammar(table, cache="off")
        blocks, seconds = timed(lambda: BlockSet.from_grammar(grammar))
        found["block_set"] = {"blocks": len(blocks), "s": seconds}
        sides = [list(read_corpus(data / f"train.{one}.gz")) for one in ("de", "en")]
        pairs = [(source, target, None) for source, target in zip(*sides, strict=True)]
        listed, seconds = timed(lambda: collect(blocks, pairs, folder / "events"))
        sizes = {key: listed.record[key] for key in ("bigrams", "neutral", "occurrences")}
        size = sum(one.stat().st_size for one in (folder / "events").glob("*.npy"))
        found["events"] = {**sizes, "s": seconds, "pairs_per_s": len(pairs) / seconds, "file_mb": size / 1e6}
        found |= _learnt(listed, shared / "gold/moses/model/lm.3.arpa.gz", rounds)
    return found


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """A result, and the CPU seconds that it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def _learnt(listed: Any, lm: Path, rounds: int) -> dict[str, Any]:
    import numpy as np

    from smtplugins.contracts.learners import EventProblem
    from smtplugins.contracts.models import Model
    from smtplugins.core.lm.ngram_model import read_lm
    from smtplugins.plugins.localized.learning.material import BlockMaterial
    from smtplugins.plugins.localized.learning.maxent import LocalMaxent

    material = BlockMaterial(listed, read_lm(lm))
    problem, seconds = timed(lambda: material.everything)
    native = problem.training
    events, alternatives = len(native), native.alternatives / len(native)
    features = native.alternatives * 5
    found: dict[str, Any] = {
        "problem": {
            "s": seconds,
            "events": events,
            "alternatives": alternatives,
            "successors": native.successors / events,
            "mb": native.memory / 1e6,
            "bytes_per_event": native.memory / events,
            "bytes_per_float_feature_value": native.memory / features,
            "bigrams": len(problem.bigrams),
            "bytes_per_bigram_weight": 4,
            "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
    }
    for name, one in (("maxent", problem), ("perceptron", problem), ("neutral", material.neutral)):
        update = "perceptron" if name == "perceptron" else "maxent"
        best = float("inf")
        for _ in range(rounds):
            learner = LocalMaxent(passes=1, rate=1e-5, update=update)  # type: ignore[arg-type]
            step, seconds = timed(lambda learner=learner, one=one: next(iter(learner.learn(one, Model()))))
            best = min(best, seconds)
        count = step.metrics["events"]
        shown = one.training.alternatives / len(one.training)
        found[name] = {"M_events_per_s": count / best / 1e6, "alternatives": shown}
    found["maxent"]["over_paper"] = 1e6 * found["maxent"]["M_events_per_s"] / PAPER_EVENTS_PER_SECOND
    # Any events as rows: one piece of them.
    piece = problem.pieces[0]
    step, seconds = timed(lambda: next(iter(LocalMaxent(passes=1).learn(EventProblem([piece]), Model()))))
    found["rows"] = {"M_events_per_s": step.metrics["events"] / seconds / 1e6}
    found["loss"] = {}
    for rate in (1e-5, 1e-4, 1e-3):
        steps = LocalMaxent(passes=PASSES[-1], rate=rate).learn(problem, Model())
        losses = [one.objective for one in steps]
        found["loss"][f"rate {rate:g}"] = {f"pass {k}": losses[k - 1] for k in PASSES}
    assert np.isfinite(losses).all()
    return found
