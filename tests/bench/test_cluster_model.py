"""The simulation of a cluster: what has to hold whatever the costs are."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cluster_costs import Costs, kept
from cluster_model import reduces
from cluster_simulation import INFINITE, LIMITS, Cluster, Work, simulated

FREE = Costs()
AT_ONCE = Cluster(1, latency=0.0, bandwidth=INFINITE)


def test_one_worker_without_overheads_is_serial() -> None:
    seconds = np.random.default_rng(1).gamma(4, 0.005, 300).tolist()
    found = simulated(FREE, Work(0.02, 300), AT_ONCE, each=seconds)
    assert found.seconds == pytest.approx(sum(seconds))
    assert found.items == 300


@given(
    workers=st.integers(1, 20),
    seconds=st.sampled_from([0.001, 0.02, 0.5]),
    window=st.sampled_from([1, 7, 4096]),
    spread=st.sampled_from([0.0, 0.5]),
    gathers=st.sampled_from([1, 5]),
)
def test_no_more_than_workers_can_do(workers: int, seconds: float, window: int, spread: float, gathers: int) -> None:
    cluster = Cluster(workers, window=window, gathers=gathers)
    work = Work(seconds, 200, spread=spread, table_mb=10)
    each = np.full(work.items, seconds) * (np.random.default_rng(2).uniform(0.5, 1.5, work.items) if spread else 1)
    found = simulated(kept(), work, cluster, each=each.tolist())
    assert found.items == work.items
    assert found.seconds >= max(each.sum() / workers, each.max()) + cluster.loading(kept(), work)
    assert found.seconds >= each.sum() / min(workers, window)
    assert found.limit in LIMITS
    assert found.used <= 1 and (spread or found.steady <= workers / seconds * (1 + 1e-9))
    assert max(found.shares.values()) <= 1.01 and min(found.shares.values()) >= 0.0
    # The same again, and never faster for what costs more.
    assert simulated(kept(), work, cluster, each=each.tolist()) == found


def test_workers_that_wait_for_nothing_are_all_used() -> None:
    found = simulated(FREE, Work(0.01, 40_000, spread=0.0), replace(AT_ONCE, workers=8, window=10_000))
    assert 0.97 < found.used <= 1 and found.limit == "workers"


def test_the_first_item_holds_up_the_others_if_the_window_is_small() -> None:
    slow_first = [1.0, *[0.01] * 99]
    work = Work(0.0199, 100)
    narrow, wide = (
        simulated(FREE, work, replace(AT_ONCE, workers=4, window=window), each=slow_first).seconds
        for window in (1, 1000)
    )
    assert narrow == pytest.approx(sum(slow_first))
    assert wide < 0.8 * narrow
    few = simulated(FREE, work, replace(AT_ONCE, workers=4, window=3), each=slow_first).seconds
    # Two go on beside the slow one, and then two at a time, as the results of one wait.
    assert few == pytest.approx(1.0 + 98 * 0.01 / 2, abs=0.02)


def test_a_window_that_is_full_keeps_batches_small() -> None:
    costs = replace(kept(), recipe=0.0)
    small, large = (simulated(costs, Work(0.002, 40_000), Cluster(50, window=window)) for window in (200, 100_000))
    assert small.limit == "window" and small.batch < 10 < large.batch
    assert small.steady < 0.3 * large.steady


def test_the_limit_is_what_is_made_slow() -> None:
    work, wide = Work(0.01, 20_000), Cluster(40, window=100_000, gathers=80)
    slow = {
        "scheduler": (replace(FREE, scheduler_submit=0.1), work, wide),
        "client": (replace(FREE, client_gather=0.1), work, wide),
        "network": (FREE, replace(work, result_bytes=1e6), wide),
        "answers": (FREE, work, replace(wide, gathers=1, latency=0.02)),
        "loading": (replace(FREE, recipe=10.0), work, wide),
        "workers": (FREE, work, wide),
    }
    assert {name: simulated(*given).limit for name, given in slow.items()} == {name: name for name in slow}


def test_one_machine_that_merges_is_the_limit_of_extraction() -> None:
    times: dict[str, list[float]] = {}
    for row in reduces(kept()):
        times.setdefault(row["reduce"], []).append(row["times as fast"])
        assert row["limit"] == "merging" or row["reduce"] != "runs on shared disks, one machine merges"
    spread = times["each worker merges a part into its own file"]
    assert spread == sorted(spread) and spread[-1] > 10 * max(times["runs on shared disks, one machine merges"])
