"""Minimum Bayes risk with aggregated references and shortlists: time, and how often the choice is the exact one.

The lists are Moses' (up to 100 different texts) and those of forests of cdec's rules; those with N different texts or
more count, cut to the N of highest total. fastchrf's times stand beside ours if it is installed (``pip install
fastchrf``), with the largest difference of the scores.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import interleaved

SIZES = (64, 256, 1024)
SENTENCES = 150
SPECS = ("chrf", "bleu,tokenize=none")
SCALES = {"posterior": 1.0, "uniform": 0.0}
KEPT = 20


def mbr(shared: Path) -> dict[str, Any]:
    """CPU ms per list, share of exact choices and expected score lost, by bed, N, metric and scale."""
    import smtplugins as smt

    host = smt.load_plugins()
    beds = {
        "Moses' lists": list(host.read(shared / "gold/moses/pb/nbest100.labeled.distinct.txt.gz")),
        "cdec's rules": from_forests(host, shared / "gold/cdec"),
    }
    found: dict[str, Any] = {}
    for bed, whole in beds.items():
        for size in SIZES:
            lists = [nbest.select(range(size)) for nbest in whole if len(nbest) >= size]
            for spec in SPECS if lists else ():
                found[f"{bed}, N={size}, {spec}"] = {"lists": len(lists), **_measured(host.metric(spec), lists)}
    return found


def from_forests(host: Any, folder: Path) -> list[Any]:
    """The best different texts of forests as ``hiero`` makes them with cdec's rules and tuned weights."""
    from smtplugins.core.graph import inference
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.files.lists import candidates
    from smtplugins.host.files.opening import open_known

    lists, here = [], Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        text, forests = Path(name) / "text", Path(name) / "forests"
        lines = (folder / "test300.in").read_text(encoding="utf-8").splitlines(keepends=True)
        text.write_text("".join(lines[:SENTENCES]), encoding="utf-8")
        os.chdir(folder)
        try:
            host.decode("cdec.ini", os.devnull, text, weights="weights.tuned", forests=forests)
        finally:
            os.chdir(here)
        weights = host.read_weights(folder / "weights.tuned")
        with open_known(forests, "hypergraph", None, host.formats()) as opened:
            for columns in opened.records():
                graph = Hypergraph.from_columns(columns).reweighted(weights)
                best = inference.kbest(graph, None, max(SIZES), unique=True)
                scores = [float(score) for score in best.scores]
                lists.append(candidates(best.texts(), id=graph.id, scores=scores))
    return lists


def _measured(metric: Any, lists: list[Any]) -> dict[str, Any]:
    from smtplugins.host.judge.consensus import Consensus, score_pairs
    from smtplugins.host.judge.shortlists import Shortlist

    count, ways = len(lists), {"aggregate": {"aggregate": True}}
    for by in ("aggregate", "total"):
        ways[f"shortlist {KEPT},{by}"] = {"shortlist": Shortlist(KEPT, by)}  # type: ignore[dict-item]
    tables: list[Any] = []

    def choose(options: Any, scale: float = 1.0) -> list[Any]:
        how = Consensus(metric, scale, **options)
        return [how.choose(nbest) for nbest in lists]

    def pairs() -> None:
        tables.extend(score_pairs(metric, list(nbest.texts), list(nbest.texts)) for nbest in lists)

    runs: dict[str, Callable[[], object]] = {name: lambda o=options: choose(o) for name, options in ways.items()}  # type: ignore[misc]
    theirs = _fastchrf(lists) if metric.name == "chrF2" else None
    if theirs is not None:
        runs["fastchrf aggregate"] = theirs
    cpu = interleaved({"exact": pairs}, rounds=1) | interleaved(runs, rounds=5)
    found: dict[str, Any] = {"cpu_ms_per_list": {name: 1000 * value / count for name, value in cpu.items()}}
    if theirs is not None:
        found["aggregate_over_fastchrf"] = cpu["aggregate"] / cpu["fastchrf aggregate"]
        differences = [
            abs(own - other)
            for choice, scores in zip(choose(ways["aggregate"], 0.0), theirs(), strict=True)
            for own, other in zip(choice.gains, scores, strict=True)
        ]
        found["most_difference_from_fastchrf"] = max(differences)
    for name, scale in SCALES.items():
        found[name] = {way: _lost(lists, tables, scale, choose(options, scale)) for way, options in ways.items()}
    return found


def _lost(lists: list[Any], tables: list[Any], scale: float, choices: list[Any]) -> dict[str, float]:
    """The share of choices that have the highest expected score, and the mean of what choices lose of it."""
    import numpy as np

    from smtplugins.host.judge.consensus import posteriors

    same, lost = 0, 0.0
    for nbest, table, choice in zip(lists, tables, choices, strict=True):
        exact = table @ np.array(posteriors(nbest.totals, scale))
        same += bool(exact[choice.best] >= exact.max() - 1e-9)
        lost += float(exact.max() - exact[choice.best])
    return {"exact_choices": same / len(lists), "expected_score_lost": lost / len(lists)}


def _fastchrf(lists: list[Any]) -> Callable[[], list[list[float]]] | None:
    try:
        import fastchrf
    except ImportError:
        return None
    return lambda: [fastchrf.aggregate_chrf([nbest.texts], [nbest.texts])[0] for nbest in lists]
