"""What workers keep: the same results and bytes from every runner, nothing made twice, and what becomes of the dead."""

from __future__ import annotations

import multiprocessing
import os
import signal
from typing import Any

import pytest

from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.models import Model
from smtplugins.contracts.runners import KeepingRunner, Kept, Runner
from smtplugins.contracts.spec import Spec
from smtplugins.host.host import Host
from smtplugins.host.spread.keeping import keep
from smtplugins.plugins.tuning.minrisk import Minrisk
from tests.plugins.tuning.made import forests

ITEMS = range(7)
SPREAD = ["processes,jobs=1", "processes,jobs=2", "processes,jobs=3", "dask,jobs=1", "dask,jobs=2"]


def runner_of(host: Host, name: str) -> Any:
    if name.startswith("dask"):
        pytest.importorskip("distributed")
    return host.registry.make("runners", Spec.parse(name))


@pytest.fixture(params=["serial", *SPREAD])
def runner(request: pytest.FixtureRequest, host: Host) -> Runner:
    made: Runner = runner_of(host, request.param)
    return made


class Counter:
    """Knows where it was made, and how often it was asked."""

    def __init__(self, item: int) -> None:
        self.item, self.process, self.asked = item, os.getpid(), 0
        if item < 0:
            raise ValueError(f"made of {item}")

    def ask(self, number: int) -> tuple[int, int, int]:
        assert self.process == os.getpid()
        self.asked += 1
        if self.item >= number:
            raise SmtError(f"item {self.item}, asked for {number}")
        return self.item, self.asked, number


def size_of(made: Counter, data: bytes) -> tuple[int, int]:
    return made.item, len(data)


def forked() -> list[Any]:
    """The processes of ours that still run."""
    return [child for child in multiprocessing.active_children() if "Dask" not in child.name]


def process_of(made: Counter, _: Any) -> int:
    return made.process


def test_things_are_made_once_and_called_in_order(runner: Runner) -> None:
    with keep(runner, Counter, ITEMS) as kept:
        assert isinstance(kept, Kept)
        assert list(kept.map(Counter.ask, 7)) == [(item, 1, 7) for item in ITEMS]
        assert list(kept.map(Counter.ask, 8)) == [(item, 2, 8) for item in ITEMS]
        assert list(kept.map(size_of, bytes(1 << 17))) == [(item, 1 << 17) for item in ITEMS]
    assert not forked()


def test_the_first_error_is_raised_and_things_are_still_there(runner: Runner) -> None:
    with keep(runner, Counter, ITEMS) as kept:
        with pytest.raises(SmtError, match="item 3, asked for 3"):
            list(kept.map(Counter.ask, 3))
        assert [item for item, _, _ in kept.map(Counter.ask, 7)] == list(ITEMS)
    with pytest.raises(ValueError, match="made of -2"), keep(runner, Counter, [0, 1, 2, -2, -3]) as kept:
        list(kept.map(Counter.ask, 7))


def test_one_item_or_a_runner_that_keeps_nothing_is_kept_here(host: Host) -> None:
    class Mapping:
        map = staticmethod(map)

    for runner, items in ((None, ITEMS), (Mapping(), ITEMS), (runner_of(host, "processes,jobs=2"), [5])):
        with keep(runner, Counter, items) as kept:
            assert set(kept.map(process_of, None)) == {os.getpid()}
    with keep(None, Counter, []) as kept:
        assert list(kept.map(Counter.ask, 7)) == []


@pytest.mark.parametrize("name", SPREAD)
def test_several_processes_keep_things(host: Host, name: str) -> None:
    runner = runner_of(host, name)
    assert isinstance(runner, KeepingRunner)
    with runner.keep(Counter, ITEMS) as kept:
        processes = set(kept.map(process_of, None))
    assert len(processes) == int(name[-1]) and os.getpid() not in processes


def digests(steps: Any) -> list[str]:
    return [step.model.digest() for step in steps]


@pytest.fixture(scope="module")
def wanted() -> list[str]:
    return digests(learnt(None))


LEARNER = Minrisk(iterations=3, temperatures=2, quenches=1)


def learnt(runner: Runner | None) -> Any:
    return LEARNER.learn(forests(3, count=40), Model({"F": 0.1}), runner=runner)


def test_forests_learn_the_same_bytes_with_every_runner(runner: Runner, wanted: list[str]) -> None:
    assert digests(learnt(runner)) == wanted


def test_a_resumed_run_has_the_same_bytes(host: Host, wanted: list[str]) -> None:
    runner = runner_of(host, "processes,jobs=2")
    steps = learnt(runner)
    third = [next(steps) for _ in range(3)][-1]
    steps.close()
    assert not forked()
    rest = LEARNER.learn(forests(3, count=40), third.model, resume=third.state, runner=runner)
    assert digests(rest) == wanted[3:]


def killed(kept: Kept) -> list[tuple[int, int, int]]:
    """Kill a worker, and ask."""
    os.kill(next(kept.map(process_of, None)), signal.SIGKILL)
    return list(kept.map(Counter.ask, 7))


def test_a_process_that_dies_is_an_error(host: Host) -> None:
    runner = runner_of(host, "processes,jobs=2")
    with pytest.raises(SmtError, match=r"died, at or after item 0: .*signal 9"), runner.keep(Counter, ITEMS) as kept:
        killed(kept)
    assert not forked()


def test_what_a_dead_worker_of_dask_kept_is_made_again(host: Host, wanted: list[str]) -> None:
    runner = runner_of(host, "dask,jobs=2")
    steps = learnt(runner)
    found = [next(steps), next(steps)]
    with runner.keep(Counter, ITEMS) as kept:
        assert [item for item, _, _ in killed(kept)] == list(ITEMS)
        assert digests([*found, *steps]) == wanted


def deadly(item: int) -> int:
    if item == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def test_an_item_of_which_workers_of_dask_die_is_named(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = runner_of(host, "dask,jobs=2")
    from smtplugins.plugins.cluster.connection import connect

    # One death is enough for dask to give a task up.
    monkeypatch.setattr(connect("", "", 2)._cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(SmtError, match="item 5: several workers died of it"), runner.keep(deadly, ITEMS) as kept:
        list(kept.map(max, 0))
