"""Pools of Moses' and cdec's candidates: oracles, and combinations that are learnt on one half and judged on the other.

``gold`` are the toolkits' own lists of 50 sentences: Moses' phrases, Moses' rules and cdec's rules. ``decoded`` are 300
sentences with the tables and tuned weights of Moses (phrases) and cdec, 100 candidates each by our decoders. A pool's
weights are learnt on a half of the sentences and sort the other half, and the reverse, so that each sentence is judged
with weights that were not learnt from it. Rows: the pool sorted by its mean probabilities, the pool with all scores or
the totals alone and each way of filling in missing scores, and the better single system with weights learnt alike. Each
has its mean BLEU over six splits and the gain over the better single system as it came, and over the splits the mean of
the gain's 95 % interval and p value by paired bootstrap. ``chosen`` says of the first split how many sentences each
system was chosen for, and how many it alone had.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

METRIC = "bleu,tokenize=none"
SPLITS = range(1, 7)
SAMPLES = 1000
SCORES = ("all", "totals")
WAYS = ("flag", "min", "0")
LEARNERS = ("minrisk", "mira", "pro,plus=1")
GOLD = {
    "moses": "moses/pb/nbest100.labeled.distinct.txt.gz",
    "chart": "moses/hiero/nbest100.distinct.txt.gz",
    "cdec": "cdec/first50/kbest100.unique.txt.gz",
}


def pools(shared: Path) -> dict[str, Any]:
    """The figures of both sets."""
    gold = shared / "gold"
    if not gold.exists():
        return {}
    import smtplugins as smt

    host = smt.load_plugins()
    lists = {name: str(gold / path) for name, path in GOLD.items()}
    found = {"gold": _figures(host, lists, gold / "cdec/first50/ref.en")}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            decoded = {
                "moses": _decoded(host, gold / "moses", "model/moses.pb.tuned.ini", "in/test300.de", folder),
                "cdec": _decoded(host, gold / "cdec", "cdec.ini", "test300.in", folder, weights="weights.tuned"),
            }
        finally:
            os.chdir(here)
        found["decoded"] = _figures(host, decoded, gold / "cdec/test300.ref")
    return found


def _decoded(host: Any, place: Path, config: str, source: str, folder: str, weights: str | None = None) -> str:
    """Our lists of a system."""
    os.chdir(place)
    out = str(Path(folder) / f"{place.name}.nbest")
    host.decode(config, out, source, weights=weights, nbest=100, unique=True)
    return out


def _figures(host: Any, systems: dict[str, str], references: Path) -> dict[str, Any]:
    refs = references.read_text(encoding="utf-8").splitlines()
    single = {name: list(host.read(path)) for name, path in systems.items()}
    oracles = {name: _oracle(host, lists, refs) for name, lists in single.items()}
    scores = {name: _bleu(host, lists, refs) for name, lists in single.items()}
    better = max(scores, key=scores.__getitem__)
    pooled = list(host.merge(systems))
    rows = {"mean probability": _compared(host, single[better], pooled, refs)}
    beds = {
        f"pool, scores={some} missing={way}": list(host.merge(systems, scores=some, missing=way))
        for some in SCORES
        for way in WAYS
    }
    beds[f"{better} alone"] = list(host.merge({better: systems[better]}, missing="min"))
    for name, lists in beds.items():
        for learner in LEARNERS:
            row = rows[f"{name}: {learner}"] = _learnt(host, lists, single[better], refs, learner)
            print(f"{name}: {learner}: {row}", file=sys.stderr)
    return {
        "sentences": len(refs), "bleu": scores, "oracle": {**oracles, "pool": _oracle(host, pooled, refs)},
        "candidates": {**{name: _size(lists) for name, lists in single.items()}, "pool": _size(pooled)},
        "better": better, "rows": rows,
    }  # fmt: skip


def _learnt(host: Any, pooled: list[Any], better: list[Any], refs: list[str], learner: str) -> dict[str, Any]:
    """Two-fold learning over the splits, compared with the better single system."""
    import smtplugins as smt

    found = []
    for split in SPLITS:
        order = list(range(len(refs)))
        random.Random(split).shuffle(order)
        halves = order[: len(order) // 2], order[len(order) // 2 :]
        sorted_lists: dict[int, Any] = {}
        for learnt, judged in (halves, halves[::-1]):
            train = [pooled[i] for i in sorted(learnt)]
            side = _numbered(train)
            tuned = host.tune(side, [[refs[i] for i in sorted(learnt)]], learner=learner, metric=METRIC)
            for i, nbest in zip(
                judged, smt.rescore([pooled[i] for i in judged], tuned.weights, missing=0.0), strict=True
            ):
                sorted_lists[i] = nbest
        found.append(_compared(host, better, [sorted_lists[i] for i in range(len(refs))], refs))
    mean = {
        name: round(sum(row[name] for row in found) / len(found), 3) for name in ("bleu", "gain", "low", "high", "p")
    }
    return {**mean, "gains": [row["gain"] for row in found], "chosen": found[0]["chosen"]}


def _numbered(lists: list[Any]) -> list[Any]:
    from dataclasses import replace

    return [replace(nbest, id=str(i)) for i, nbest in enumerate(lists)]


def _compared(host: Any, better: list[Any], pooled: list[Any], refs: list[str]) -> dict[str, Any]:
    """The BLEU of a pool, and the difference to the better system with its interval and p by paired bootstrap."""
    import numpy as np

    judged = host.evaluate([refs], {"better": better, "pool": pooled}, [METRIC], bootstrap=SAMPLES)
    metric = host.metric(METRIC)
    first, second = (metric.stats([_best(nbest) for nbest in lists], [refs]) for lists in (better, pooled))
    chance = np.random.default_rng(1)
    rows = chance.integers(len(refs), size=(SAMPLES, len(refs)))
    differences = [float(metric.score(second[at].sum(axis=0)) - metric.score(first[at].sum(axis=0))) for at in rows]
    low, high = np.quantile(differences, [0.025, 0.975]).tolist()
    gain = judged[1].score - judged[0].score
    return {
        "bleu": round(judged[1].score, 2), "gain": round(gain, 2), "low": round(low, 2), "high": round(high, 2),
        "p": round(judged[1].p, 4), "chosen": {name: list(counts) for name, counts in judged.chosen["pool"].items()},
    }  # fmt: skip


def _best(nbest: Any) -> str:
    from smtplugins.host.files.lists import best_text

    return best_text(nbest)


def _oracle(host: Any, lists: list[Any], refs: list[str]) -> float:
    return round(float(host.oracle(lists, [refs], METRIC).rows[-1].score), 2)


def _bleu(host: Any, lists: list[Any], refs: list[str]) -> float:
    return round(float(host.evaluate([refs], {"system": lists}, [METRIC])[0].score), 2)


def _size(lists: list[Any]) -> float:
    return round(sum(map(len, lists)) / len(lists), 1)
