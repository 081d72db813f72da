"""Throughput of the runner `dask` on 10, 100 and 1,000 workers, from costs measured here, and what limits it.

``python tests/bench/cluster_model.py measure`` measures the costs in a minute and writes `cluster_costs.json`.
``check`` compares the real runner with the simulation, on a machine that is not busy otherwise. Without a word the
tables are printed, and in words what would have to change; ``python tests/bench cluster-model`` gives them as JSON.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from cluster_costs import KEPT, Costs, kept, machines, measure, nap, runner, spin, took, until
from cluster_simulation import INFINITE, LIMITS, WINDOW, Cluster, Outcome, Work, simulated

from smtplugins.plugins.standard.runners import Serial


def windowed(cluster: Cluster, work: Work) -> Cluster:
    """A window that lets all batches be as long as they should, twice over."""
    needed = 2 * cluster.ahead * cluster.workers * max(1.0, cluster.seconds / work.seconds)
    return replace(cluster, window=max(WINDOW, math.ceil(needed)))


def lasting(seconds: float, plan: tuple[Cluster, Work]) -> tuple[Cluster, Work]:
    """Batches of some seconds."""
    cluster, work = plan
    return windowed(replace(cluster, seconds=seconds), work), work


COUNTS = (10, 100, 1000)
MINUTE = 60.0
"""A job of the table keeps all workers busy for so long, if nothing else is the limit."""
GIGABIT = 125e6

KINDS = {
    "phrases, 2 ms": (Work(0.002, 0, table_mb=1000, mapped=True), INFINITE),
    "phrases, 2 ms, tables on a server": (Work(0.002, 0, table_mb=1000, mapped=True), 10 * GIGABIT),
    "forests, 50 ms": (Work(0.05, 0, result_bytes=100e3, table_mb=1000, mapped=True), INFINITE),
    "lists of 100, 2 ms": (Work(0.002, 0, item_bytes=20e3, result_bytes=25e3, table_mb=200, mapped=True), INFINITE),
    "models, 2 s": (Work(2.0, 0, item_bytes=20e3, result_bytes=1e3, table_mb=500, mapped=True), INFINITE),
}
"""Jobs, and the storage of their tables: translations, forests, scores of n-best lists, neural models.

Sizes of items and results and seconds are assumed, as are tables, 1 Gbit/s and 0.1 ms between machines.
"""

Plan = tuple[Cluster, Work]
REMEDIES: dict[str, tuple[tuple[str, Callable[[Plan], Plan]], ...]] = {
    "window": (("a window for all batches", lambda plan: (windowed(*plan), plan[1])),),
    "answers": (
        ("results asked for as they are done", lambda plan: (replace(plan[0], gathers=2 * plan[0].workers), plan[1])),
    ),
    "scheduler": tuple((f"batches of {seconds} s", functools.partial(lasting, seconds)) for seconds in (1, 4)),
    "client": tuple((f"batches of {seconds} s", functools.partial(lasting, seconds)) for seconds in (1, 4)),
    "network": (
        ("results written by workers", lambda plan: (plan[0], replace(plan[1], result_bytes=2.0))),
        ("items read by workers", lambda plan: (plan[0], replace(plan[1], item_bytes=2.0))),
    ),
    "order": (("six batches a worker", lambda plan: (windowed(replace(plan[0], ahead=6), plan[1]), plan[1])),),
    "loading": (("tables on local disks", lambda plan: (replace(plan[0], storage=INFINITE), plan[1])),),
}
"""What can be changed about each limit, one thing after the other."""


def job(work: Work, workers: int, seconds: float = MINUTE) -> Work:
    """As many items as keep workers busy for some time."""
    return replace(work, items=math.ceil(workers * seconds / work.seconds))


def shown(label: str, found: Outcome, work: Work) -> dict[str, Any]:
    """A row of the table; `workers' worth` is how many workers that never wait do as much."""
    return {
        "change": label,
        "items/s": float(f"{found.steady:.3g}"),
        "workers' worth": float(f"{found.steady * work.seconds:.3g}"),
        "used": round(found.used, 2),
        "items a batch": round(found.batch, 1),
        **{name: round(share, 2) for name, share in found.shares.items()},
        "loading": round(found.loading, 2),
        "limit": LIMITS[found.limit],
    }


def planned(costs: Costs, kind: str, workers: int) -> list[dict[str, Any]]:
    """The runner as it is, then each time what its limit asks for, until that is the workers."""
    work, storage = KINDS[kind]
    plan = (Cluster(workers, storage=storage), job(work, workers))
    label, rows, tried = "as it is", [], set()
    while True:
        found = simulated(costs, plan[1], plan[0])
        rows.append(shown(label, found, work))
        left = [remedy for remedy in REMEDIES.get(found.limit, ()) if remedy[0] not in tried]
        if not left:
            return rows
        label, change = left[0]
        tried.add(label)
        plan = change(plan)


def table(costs: Costs) -> dict[str, list[dict[str, Any]]]:
    """The rows for each kind of job and number of workers."""
    return {f"{kind}, {workers} workers": planned(costs, kind, workers) for kind in KINDS for workers in COUNTS}


def networks(costs: Costs) -> list[dict[str, Any]]:
    """Latency, bandwidth and the length of batches: sentences of 2 ms, 100 workers, a window that is enough."""
    rows = []
    work = job(KINDS["phrases, 2 ms"][0], 100)
    for latency, bandwidth, seconds in (
        (1e-4, 1, 0.25),
        (1e-3, 1, 0.25),
        (2e-2, 1, 0.25),
        (2e-2, 1, 4.0),
        (1e-4, 10, 0.25),
    ):
        cluster, _ = lasting(seconds, (Cluster(100, latency=latency, bandwidth=bandwidth * GIGABIT), work))
        label = f"{1000 * latency:g} ms, {bandwidth} Gbit/s, batches of {seconds:g} s"
        rows.append(shown(label, simulated(costs, work, cluster), work))
    return rows


def loads(costs: Costs) -> list[dict[str, Any]]:
    """Seconds until a worker can begin, and how long a job has to be so that this is a tenth of it."""
    rows = []
    for megabytes in (100, 1000, 10_000):
        for label, work, storage in (
            ("text on each machine", Work(1, 0, table_mb=megabytes), INFINITE),
            ("mapped cache on each machine", Work(1, 0, table_mb=megabytes, mapped=True), INFINITE),
            ("text from storage of 10 Gbit/s", Work(1, 0, table_mb=megabytes), 10 * GIGABIT),
        ):
            found = {
                workers: costs.start + Cluster(workers, storage=storage).loading(costs, work) for workers in COUNTS
            }
            row: dict[str, Any] = {"table": f"{megabytes:,} MB, {label}"}
            row |= {f"{workers} workers, s": float(f"{seconds:.3g}") for workers, seconds in found.items()}
            rows.append(row | {"a tenth of, s, with 1000": float(f"{10 * found[1000]:.2g}")})
    return rows


def reduces(costs: Costs, pairs: float = 1e8) -> list[dict[str, Any]]:
    """Phrase pairs of 100 million sentence pairs: map to sorted runs, reduce by source phrase.

    Seconds of each part, one after the other, and how many times as fast as one core all are. A merge of more runs than
    files can be open at once takes passes, which is left out.
    """
    rows = []
    alone = pairs * (costs.extract_map + costs.extract_merge)
    runs, lines = pairs * costs.extract_bytes, pairs * costs.extract_table
    for workers in COUNTS:
        mapped, merged = pairs * costs.extract_map / workers, pairs * costs.extract_merge
        # Runs that are results pass the scheduler, core and line, and are pickled in three places.
        passed = runs * (1 / GIGABIT + costs.scheduler_byte_in + costs.client_byte_in)
        for label, reduce in {
            "runs are results, the client merges": {"moving": passed, "merging": merged},
            "runs on shared disks, one machine merges": {"moving": runs / GIGABIT, "merging": merged},
            "each worker merges a part, one writes the table": {
                "moving": runs / GIGABIT / workers,
                "merging": merged / workers,
                "writing": lines / GIGABIT,
            },
            "each worker merges a part into its own file": {
                "moving": runs / GIGABIT / workers,
                "merging": merged / workers,
                "writing": lines / GIGABIT / workers,
            },
        }.items():
            parts = {"map": mapped, **reduce}
            times = alone / sum(parts.values())
            rows.append(
                {
                    "workers": workers,
                    "reduce": label,
                    **{name: float(f"{seconds:.3g}") for name, seconds in parts.items()},
                    "times as fast": float(f"{times:.3g}"),
                    "limit": max(parts, key=lambda name: parts[name]),
                }
            )
    return rows


def cluster_model() -> dict[str, Any]:
    """The tables, from the costs that were measured last."""
    costs = kept()
    return {
        "jobs": table(costs),
        "networks": networks(costs),
        "loading": loads(costs),
        "extraction": reduces(costs),
    }


def words(costs: Costs, found: dict[str, Any]) -> Iterator[str]:
    """What would have to change, in sentences."""
    chain = round_trip(costs, Cluster(1))
    core = costs.scheduler_submit + costs.scheduler_finish + costs.scheduler_gather
    own = costs.client_submit + costs.client_gather
    seconds = Cluster(1).seconds
    yield (
        f"A batch costs the scheduler {1e3 * core:.2f} ms and the client {1e3 * own:.2f} ms; taking its results, one "
        f"batch after the other, takes {1e3 * chain:.1f} ms. So {1 / chain:,.0f} batches a second are taken now, work "
        f"for {seconds / chain:,.0f} workers with batches of {seconds:g} s; the scheduler's most are {1 / core:,.0f}."
    )
    for workers in COUNTS:
        items = Cluster(1).ahead * workers * seconds
        yield (
            f"{workers} workers: three batches each of {seconds:g} s are {items / 0.002:,.0f} items of 2 ms or "
            f"{items / 0.05:,.0f} of 50 ms under way."
        )
        for name in KINDS:
            first, *changed = found["jobs"][f"{name}, {workers} workers"]
            text = f"  {name}: {first['used']:.0%} of the workers used; the limit: {first['limit']}."
            for row in changed:
                text += f" With {row['change']} {row['used']:.0%}; {row['limit']}."
            yield text
    load = {row["table"]: row for row in found["loading"]}
    kinds = ("text on each machine", "mapped cache on each machine")
    text, cache = (load[f"1,000 MB, {kind}"]["1000 workers, s"] for kind in kinds)
    shared = load["1,000 MB, text from storage of 10 Gbit/s"]
    yield (
        f"Tables: a worker begins after {text:g} s with 1,000 MB of text, {cache:g} s with its machine's mapped cache; "
        f"from storage of 10 Gbit/s that all share {shared['100 workers, s']:g} s with 100 workers and "
        f"{shared['1000 workers, s']:g} s with 1,000: tables have to be on local disks."
    )
    for row in found["extraction"]:
        if row["workers"] != COUNTS[0]:
            times = f"{row['times as fast']:g} times as fast as one core"
            yield f"Extraction, {row['workers']} workers, {row['reduce']}: {times}; the limit: {row['limit']}."


def round_trip(costs: Costs, cluster: Cluster) -> float:
    """Seconds in which a client takes a batch that is done and sends another."""
    wait = 4 * (costs.question + cluster.latency) + costs.scheduler_gather + costs.worker_gather
    return wait + costs.client_gather + costs.client_submit


CHECKS: tuple[tuple[str, Cluster, Work], ...] = (
    ("1 worker, 2 ms", Cluster(1), Work(0.002, 800)),
    ("1 worker, 20 ms", Cluster(1), Work(0.02, 80)),
    ("1 worker, 2 ms, in Python", Cluster(1), Work(0.002, 800, python=True)),
    ("1 worker, 20 ms, window of 2", Cluster(1, window=2), Work(0.02, 80)),
    ("2 workers, 2 ms", Cluster(2), Work(0.002, 1600)),
    ("2 workers, 20 ms", Cluster(2), Work(0.02, 160)),
    ("2 workers, 2 ms, results of 20 kB", Cluster(2), Work(0.002, 1600, result_bytes=20e3)),
    ("2 workers, 20 ms, window of 3", Cluster(2, window=3), Work(0.02, 120)),
    ("8 workers, 20 ms", Cluster(8), Work(0.02, 800)),
    ("8 workers, 2 ms, window of 47", Cluster(8, window=47), Work(0.002, 800)),
)


def check(costs: Costs, rounds: int = 3) -> dict[str, Any]:
    """The real runner, best of some rounds, beside the model; items sleep, so that two cores do for 8 workers."""
    rows: dict[str, Any] = {}
    ready = 0
    with machines() as machine:
        for name, cluster, work in CHECKS:
            workers = cluster.workers
            real = runner(machine.address, window=cluster.window)
            if workers > ready:
                machine.add(workers - ready)
                until(lambda: machine.workers() == workers)  # noqa: B023
                took(real, nap, [(0.1, 0, b"")] * 20 * workers)  # recipes are made
                ready = workers
            function = spin if work.python else nap
            shape = 1 / work.spread**2
            drawn = np.random.default_rng(1).gamma(shape, work.seconds / shape, work.items)
            items = [(float(seconds), int(work.result_bytes), b"") for seconds in drawn]
            measured = min(took(real, function, items) for _ in range(rounds))
            # What an item takes more than it should: a clock's tick.
            more = took(Serial(), function, items) / work.items - float(drawn.mean())
            here = replace(cluster, latency=0.0, bandwidth=INFINITE)
            exact = replace(work, item_bytes=30.0)
            found = simulated(replace(costs, recipe=0.0), exact, here, each=(drawn + more).tolist())
            rows[name] = {
                "measured, items/s": round(work.items / measured, 1),
                "predicted, items/s": round(found.rate, 1),
                "deviation": round(found.rate * measured / work.items - 1, 3),
            }
    return rows


def main() -> None:
    """Measure, check, or show the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["measure", "check"], help="(default: the tables)")
    what = parser.parse_args().what
    if what == "measure":
        KEPT.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
        print(KEPT.read_text(encoding="utf-8"), end="")
        return
    if what == "check":
        print(json.dumps(check(kept()), indent=1))
        return
    found = cluster_model()
    for name, rows in found["jobs"].items():
        print(name)
        lines(rows)
    for name in ("networks", "loading", "extraction"):
        print(name)
        lines(found[name])
    for line in words(kept(), found):
        print(line)


def lines(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows in columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([str(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    for line in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
