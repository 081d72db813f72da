"""Runners: order kept, failures passed on, little drawn ahead, nothing left behind."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.errors import FeatureError, SmtError, UsageError
from smtplugins.plugins.standard.runners import Processes, Serial

RUNNERS: list[Callable[[], Any]] = [Serial, lambda: Processes(2, chunk=2), lambda: Processes(3, chunk=1)]


def square(item: int) -> int:
    return item * item


@pytest.fixture(params=RUNNERS, ids=["serial", "processes", "processes-narrow"])
def runner(request: pytest.FixtureRequest) -> Any:
    return request.param()


def test_results_come_in_order(runner: Any) -> None:
    assert list(runner.map(square, range(25))) == [i * i for i in range(25)]
    assert list(runner.map(square, [])) == []


def test_slow_items_hold_their_place(runner: Any) -> None:
    def slow(item: int) -> int:
        time.sleep(0.05 if item == 0 else 0)
        return item

    assert list(runner.map(slow, range(7))) == list(range(7))


def test_setup_is_done_once_in_each_worker(runner: Any) -> None:
    def setup() -> list[int]:
        return [os.getpid(), 0]

    def count(state: list[int], item: int) -> tuple[int, int, int]:
        assert state[0] == os.getpid()
        state[1] += 1
        return item, state[0], state[1]

    results = list(runner.map(count, range(12), setup=setup))
    assert [item for item, _, _ in results] == list(range(12))
    for worker in {pid for _, pid, _ in results}:
        seen = [number for _, pid, number in results if pid == worker]
        assert seen == list(range(1, len(seen) + 1))


@pytest.mark.parametrize(
    "error",
    [
        FormatError("a", "b", file="f", line=3, field=2),
        SmtError("told"),
        UsageError("told"),
        FeatureError("told"),
        ValueError("a bug"),
        FileNotFoundError(2, "No such file", "f"),
    ],
)
def test_failures_keep_type_and_words(runner: Any, error: Exception) -> None:
    def fail(item: int) -> int:
        if item == 3:
            raise error
        return item

    done: list[int] = []
    with pytest.raises(type(error)) as caught:
        done.extend(runner.map(fail, range(40)))
    assert str(caught.value) == str(error)
    assert done == list(range(len(done)))
    assert len(done) <= 3


def test_failure_of_setup_is_passed_on(runner: Any) -> None:
    def setup() -> None:
        raise SmtError("no model there")

    with pytest.raises(SmtError, match=r"^no model there$"):
        list(runner.map(lambda state, item: item, range(5), setup=setup))


def test_failure_of_the_items_is_passed_on(runner: Any) -> None:
    def items() -> Iterator[int]:
        yield from range(3)
        raise FormatError("a", "b", file="f", line=3)

    with pytest.raises(FormatError, match="f:3: expected a, found b"):
        list(runner.map(square, items()))


def test_little_is_drawn_ahead() -> None:
    drawn: list[int] = []

    def items() -> Iterator[int]:
        for i in range(1000):
            drawn.append(i)
            yield i

    results = Processes(2, chunk=3).map(square, items())
    assert next(results) == 0
    assert len(drawn) == 3 * 3
    for _ in range(30):
        next(results)
    assert len(drawn) <= 31 + 3 * 3
    results.close()  # type: ignore[attr-defined]


def test_given_up_results_leave_no_process(runner: Any) -> None:
    def slow(item: int) -> int:
        time.sleep(0 if item == 0 else 3000)
        return item

    before = time.monotonic()
    results = runner.map(slow, range(8)) if isinstance(runner, Serial) else Processes(2, chunk=1).map(slow, range(8))
    assert next(results) == 0
    results.close()
    assert time.monotonic() - before < 300
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("code", [0, 3])
def test_worker_that_ends_by_itself_is_an_error(code: int) -> None:
    def leave(one: int) -> int:
        if one == 5:
            os._exit(code)
        return one

    with pytest.raises(SmtError, match=f"^a worker process died, at or after item .*: it exited with code {code}$"):
        list(Processes(2, chunk=1).map(leave, range(20)))


@pytest.mark.parametrize("code", [None, 0, 3, "words"])
def test_exit_in_a_worker_ends_nobody(code: Any) -> None:
    def leave(one: int) -> int:
        if one == 5:
            raise SystemExit(code)
        return one

    with pytest.raises(SmtError, match=r"test_runners\.py:\d+: leave: a plugin failed: it called"):
        list(Processes(2, chunk=1).map(leave, range(20)))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_worker_is_a_clean_error(number: signal.Signals) -> None:
    def die(one: Any) -> Any:
        if one.id == "5":
            os.kill(os.getpid(), number)
        return one.id

    lists = [smt.candidates(["a"], id=i) for i in range(20)]
    with pytest.raises(SmtError, match=rf"^a worker process died, at or after item \d+: .* signal {number}, "):
        list(Processes(2, chunk=1).map(die, lists))
    assert multiprocessing.active_children() == []


def test_error_that_cannot_be_pickled_comes_as_its_words() -> None:
    class Local(Exception):
        pass

    def fail(item: int) -> int:
        raise Local("own words")

    with pytest.raises(SmtError, match=r"^Local: own words$") as caught:
        list(Processes(2).map(fail, range(3)))
    assert "in fail" in str(caught.value.__cause__)


def test_big_items_and_results_do_not_block() -> None:
    big = "x" * 1_000_000
    assert [len(one) for one in Processes(2, chunk=2).map(lambda item: item + big, [big] * 12)] == [2_000_000] * 12


@pytest.mark.parametrize("wrong", [{"jobs": -1}, {"chunk": 0}])
def test_numbers_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="runner 'processes': expected positive numbers, found"):
        Processes(**wrong)


def test_no_jobs_means_all_processors() -> None:
    assert list(Processes().map(square, range(3))) == [0, 1, 4]


@pytest.mark.usefixtures("signals")
def test_interrupt_leaves_no_process_behind(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "from smtplugins.plugins.standard.runners import Processes\n"
        "def work(item):\n"
        "    with open(f'{sys.argv[1]}/{os.getpid()}', 'w'): pass\n"
        "    time.sleep(3000)\n"
        "try:\n"
        "    list(Processes(2, chunk=1).map(work, range(10)))\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(130)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 300
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, noise = process.communicate(timeout=300)
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert (process.returncode, noise, len(workers)) == (130, b"", 2)
    for worker in workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, 0)
            pytest.fail(f"worker {worker} is still there")


def test_garbage_of_the_parent_is_not_collected_by_workers() -> None:
    # The end of an inference session waits for its threads for ever in a process that has not got them.
    class Session:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            ended.append(os.getpid())

    def collect(item: int) -> list[int]:
        own = Own()
        own.itself = own
        del own
        gc.collect()
        return [*ended, *collected]

    class Own:
        itself: Any

        def __del__(self) -> None:
            collected.append(0)

    ended: list[int] = []
    collected: list[int] = []
    # Commands that another test ran in this process leave it disabled.
    gc.enable()
    gc.collect()
    Session()
    assert list(Processes(2, chunk=1).map(collect, range(2))) == [[0], [0]]
    assert gc.isenabled()
    gc.collect()
    assert ended == [os.getpid()]
