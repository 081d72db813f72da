"""The runner ``dask``: order, states, errors, what is read ahead, and what is told when it cannot work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt_
from smtformats import FormatError
from smtplugins.contracts.errors import FeatureError, SmtError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.host import Host
from smtplugins.host.loading.manager import load_plugins
from smtplugins.host.spread.loading import Loading, PluginFile

pytest.importorskip("distributed")

from smtplugins.plugins.cluster import connection
from smtplugins.plugins.cluster import runner as dask_runner
from tests.plugins.cluster.clusters import PATIENCE

Smt = Callable[..., Any]
FILE = """\
from smtplugins import feature

def plus(item):
    return item + VALUE

@feature("constant")
def constant(source, hyp):
    return VALUE
"""


def square(item: int) -> int:
    return item * item


@pytest.fixture
def runner(host: Host) -> Any:
    """Two workers of this machine, which all tests share."""
    return host.registry.make("runners", "dask,jobs=2")


class State:
    """What a worker makes of a folder: a file for each state made, used and closed."""

    def __init__(self, folder: Path) -> None:
        self.name = f"{os.getpid()}-{time.monotonic_ns()}"
        self.folder = folder
        (folder / f"{self.name}.made").touch()

    def close(self) -> None:
        (self.folder / f"{self.name}.made").rename(self.folder / f"{self.name}.closed")


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_results_come_in_order_from_states_that_are_closed(host: Host, tmp_path: Path, jobs: int) -> None:
    runner = host.registry.make("runners", Spec("dask", {"jobs": jobs}))

    def setup() -> State:
        return State(tmp_path)

    def work(state: State, item: int) -> tuple[int, str]:
        time.sleep(0.01 * (item % 7 == 0))
        return item, state.name

    results = list(runner.map(work, range(60), setup=setup))
    if jobs != 2:
        # Others share that of two workers.
        connection._CONNECTIONS.pop((os.getpid(), "", "", jobs)).close()
    assert [item for item, _ in results] == list(range(60))
    states = {name for _, name in results}
    # Each worker has one.
    assert len({name.partition("-")[0] for name in states}) == len(states) <= jobs
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.closed" for name in states}


def test_no_items(runner: Any, tmp_path: Path) -> None:
    assert list(runner.map(square, [])) == []
    assert list(runner.map(square, range(5))) == [0, 1, 4, 9, 16]


def test_each_of_two_jobs_at_once_works_in_its_own_folder(
    runner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closing:
        def close(self) -> None:
            Path(f"closed-{os.getpid()}").touch()

    jobs: dict[str, Iterator[str]] = {}
    for name in "ab":
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        jobs[name] = runner.map(lambda state, item: Path.cwd().name, range(100), setup=Closing)
        assert next(jobs[name]) == name
    for name, rest in jobs.items():
        assert set(rest) == {name}
        assert list((tmp_path / name).glob("closed-*"))
    assert not list(tmp_path.glob("closed-*"))


def test_an_error_at_the_end_of_a_state_counts(runner: Any) -> None:
    class Closing:
        def close(self) -> None:
            raise SmtError("the file could not be written")

    done: list[Any] = []
    with pytest.raises(SmtError, match="the file could not be written"):
        done.extend(runner.map(lambda state, item: item, range(5), setup=Closing))
    assert done == list(range(5))
    assert list(runner.map(square, range(3))) == [0, 1, 4]


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
def test_failures_keep_type_and_words_and_come_after_results(runner: Any, error: Exception) -> None:
    def fail(item: int) -> int:
        if item == 13:
            raise error
        return item

    done: list[int] = []
    with pytest.raises(type(error)) as caught:
        done.extend(runner.map(fail, range(40)))
    assert str(caught.value) == str(error)
    assert "in fail" in str(caught.value.__cause__)
    assert done == list(range(13))


def test_failures_of_setup_and_items_are_passed_on(runner: Any) -> None:
    def setup() -> None:
        raise SmtError("no model there")

    def items() -> Iterator[int]:
        yield from range(3)
        raise FormatError("a", "b", file="f", line=3)

    with pytest.raises(SmtError, match=r"^worker tcp://127\.0\.0\.1:\d+: no model there$"):
        list(runner.map(lambda state, item: item, range(5), setup=setup))
    with pytest.raises(FormatError, match="f:3: expected a, found b"):
        list(runner.map(square, items()))


@pytest.mark.parametrize("code", [None, 0, 3, "words"])
def test_an_exit_ends_no_worker(runner: Any, code: Any) -> None:
    def leave(item: int) -> int:
        if item == 5:
            raise SystemExit(code)
        return os.getpid()

    with pytest.raises(SmtError, match=r"test_runner\.py:\d+: leave: a plugin failed: it called"):
        list(runner.map(leave, range(20)))
    before = set(runner.map(lambda item: os.getpid(), range(50)))
    assert before & set(runner.map(lambda item: os.getpid(), range(50)))


def test_what_cannot_be_pickled(runner: Any) -> None:
    class Local(Exception):
        def __init__(self, one: int, two: int) -> None:
            super().__init__(f"own words {one} {two}")

        def __reduce__(self) -> Any:
            raise TypeError("never")

    def fail(item: int) -> int:
        raise Local(1, 2)

    with pytest.raises(SmtError, match=r"^Local: own words 1 2$"):
        list(runner.map(fail, range(3)))
    done: list[Any] = []
    with pytest.raises(SmtError, match=r"item 13: its result cannot be sent: TypeError: cannot pickle"):
        done.extend(runner.map(lambda item: threading.Lock() if item == 13 else item, range(25)))
    assert done == list(range(13))
    with pytest.raises(TypeError, match=r"cannot pickle '.*lock' object"):
        list(runner.map(str, [0, 1, 2, threading.Lock()]))
    assert list(runner.map(square, range(3))) == [0, 1, 4]


def test_little_is_read_ahead_and_given_up_work_ends(host: Host, tmp_path: Path) -> None:
    read = 0
    gone = tmp_path / "gone"

    def items() -> Iterator[int]:
        nonlocal read
        while True:
            read += 1
            yield read

    def slow(item: int) -> int:
        if item >= 50 and not gone.exists():
            (tmp_path / f"{item}").touch()
            time.sleep(0.05)
        return item

    runner = host.registry.make("runners", "dask,jobs=2,window=20")
    results = runner.map(slow, items())
    for count, result in enumerate(results, 1):
        assert result == count
        assert read <= count + 20
        if count == 55:
            break
    results.close()
    begun = {path.name for path in tmp_path.iterdir()}
    gone.touch()
    # Those that are in work are done to their end, others are not begun; the workers go on with something else.
    assert list(runner.map(square, range(30))) == [item * item for item in range(30)]
    assert {path.name for path in tmp_path.iterdir()} - begun - {"gone"} <= {f"{item}" for item in range(50, 76)}


def process(item: int) -> int:
    return os.getpid()


def test_a_worker_that_dies_as_a_job_ends_or_begins_is_no_error(host: Host) -> None:
    """The scheduler's messages to all workers fail for one; it is still there."""
    runner = host.registry.make("runners", "dask,jobs=2")
    for _ in range(3):
        results = runner.map(process, range(20))
        made = [next(results) for _ in range(20)]
        os.kill(made[0], signal.SIGKILL)
        assert list(results) == []
        found = list(runner.map(process, range(20)))
        os.kill(found[0], signal.SIGKILL)
        assert list(runner.map(square, range(20))) == [item * item for item in range(20)]


@pytest.mark.parametrize("window", [0, 1, 2, 3, 7, 1000])
@pytest.mark.parametrize("count", [0, 1, 2, 10])
def test_no_item_is_lost_in_any_window(host: Host, window: int, count: int) -> None:
    runner = host.registry.make("runners", f"dask,jobs=2,window={window}")
    assert list(runner.map(square, range(count))) == [item * item for item in range(count)]


def test_a_slow_item_holds_no_other_worker_up(host: Host, tmp_path: Path) -> None:
    read = 0

    def items() -> Iterator[int]:
        nonlocal read
        for read in range(300):  # noqa: UP028
            yield read

    def work(item: int) -> int:
        (tmp_path / f"{item}").touch()
        until = time.monotonic() + PATIENCE
        # All that is sent before the first is done: more than the workers are given at once.
        while item == 0 and len(list(tmp_path.iterdir())) < 24 and time.monotonic() < until:
            time.sleep(0.05)
        return item

    results = host.registry.make("runners", "dask,jobs=2").map(work, items())
    assert next(results) == 0
    assert 23 <= read <= 100
    assert list(results) == list(range(1, 300))


def test_an_item_that_kills_workers_is_named(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_runner, "_PAUSE", 0.1)

    def leave(item: Any) -> str:
        if item.id == "9":
            os._exit(3)
        return str(item.id)

    lists = [smt_.candidates(["a"], id=number) for number in range(20)]
    done: list[Any] = []
    with pytest.raises(SmtError, match=r"^item 9: 4 workers died of it, one after the other \(out of memory\?\)$"):
        done.extend(host.registry.make("runners", "dask,jobs=2").map(leave, lists))
    assert done == [str(number) for number in range(9)]
    assert list(host.registry.make("runners", "dask,jobs=2").map(square, range(3))) == [0, 1, 4]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("dask,jobs=-1", "runner 'dask': expected numbers from 0 on, found jobs=-1"),
        ("dask,window=-1", "runner 'dask': expected numbers from 0 on, found jobs=0, window=-1"),
        (
            "dask,address=tcp://127.0.0.1:1,jobs=2",
            "expected one of address, scheduler_file and jobs (-j), found several",
        ),
        ("dask,address=tcp://127.0.0.1:1,scheduler_file=f", "expected one of address, scheduler_file and jobs (-j)"),
        ("dask,adress=tcp://127.0.0.1:1", "option 'adress'"),
        ("dask,jobs=two", "jobs"),
        ("dusk", "unknown runner 'dusk'; did you mean 'dask'?"),
    ],
)
def test_wrong_options(smt: Smt, spec: str, message: str) -> None:
    Path("list").write_text("0 ||| a ||| f= 1 ||| 1\n")
    result = smt("mbr", "-i", "list", "--runner", spec)
    assert (result.code, result.out, message in result.err) == (2, "", True), result.err


@pytest.mark.parametrize(
    "spec", ["address=tcp://127.0.0.1:1", "address=nonsense", "scheduler_file=missing.json", "scheduler_file=list"]
)
def test_no_scheduler_there(smt: Smt, monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.setattr(connection, "_PATIENCE", 0.5)
    Path("list").write_text("0 ||| a ||| f= 1 ||| 1\n")
    result = smt("mbr", "-i", "list", "-o", "out", "--runner", f"dask,{spec}")
    place = spec.partition("=")[2]
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"smt: runner 'dask': no scheduler answers at {place} (")
    option = f" --scheduler-file {place}" if spec.startswith("scheduler_file") else ""
    assert result.err.endswith(f"): start one with `dask scheduler{option}`\n")
    assert result.err.count("\n") == 1
    assert not Path("out").exists()


def test_what_is_no_address_makes_no_client(smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "Client", None)
    Path("list").write_text("0 ||| a ||| f= 1 ||| 1\n")
    for place in ("nonsense", "http://127.0.0.1:1", "tcp://127.0.0.1:port"):
        result = smt("mbr", "-i", "list", "-o", "out", "--runner", f"dask,address={place}")
        assert result.err.startswith(f"smt: runner 'dask': no scheduler answers at {place} (")


def test_workers_with_other_versions_are_told(host: Host) -> None:
    made = Loading.of(host)
    other = replace(made, versions=tuple((name, "0.1" if name == "standard" else of) for name, of in made.versions))
    more = replace(made, versions=(*made.versions, ("mine", "3.2")))
    for loading, message in ((other, r"standard \S+ instead of 0\.1"), (more, r"mine missing instead of 3\.2")):
        runner = host.registry.make("runners", "dask,jobs=2", given={"loading": lambda made=loading: made})
        with pytest.raises(
            SmtError, match=rf"^worker tcp://\S+: this worker has {message}: install the same packages there$"
        ):
            list(runner.map(square, range(3)))


def test_a_plugin_file_travels_and_may_change(host: Host, tmp_path: Path) -> None:
    made, module = Loading.of(host), "smtplugins_file_travelling"

    def known(value: int) -> list[int]:
        plugin = PluginFile(module, "/no/such/folder/mine.py", FILE.replace("VALUE", str(value)).encode())
        loading = replace(made, plugins=(plugin,))
        runner = host.registry.make("runners", "dask,jobs=2", given={"loading": lambda: loading})
        return list(runner.map(lambda item: sys.modules[module].plus(item), range(3)))

    assert [known(value) for value in (1, 2, 1)] == [[1, 2, 3], [2, 3, 4], [1, 2, 3]]
    assert module not in sys.modules


def test_plugins_of_the_environment_are_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(FILE.replace("VALUE", "1"))
    monkeypatch.setenv("SMT_PLUGINS", str(tmp_path / "mine.py"))
    monkeypatch.setenv("SMT_DISABLE_PLUGINS", "cdlm")
    client = load_plugins()
    # As in a process that was started in the same environment.
    worker = Loading.of(client).host()
    assert worker is not client
    assert [(info.name, info.status) for info in worker.plugins] == [
        (info.name, info.status) for info in client.plugins
    ]
    assert worker.registry.entry("features", "constant").plugin.name == "mine"


def test_the_copy_of_a_plugin_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    there = tmp_path / "mine.py"
    plugin = PluginFile("mine", str(there), b"VALUE = 1\n")
    copy = plugin.placed()
    assert (copy.name, copy.read_bytes(), copy.is_relative_to(tmp_path / "cache")) == ("mine.py", b"VALUE = 1\n", True)
    copy.write_bytes(b"VALUE")
    assert (plugin.placed(), copy.read_bytes()) == (copy, b"VALUE = 1\n")
    there.write_bytes(b"VALUE = 2\n")
    assert plugin.placed() == copy
    there.write_bytes(b"VALUE = 1\n")
    assert plugin.placed() == there


def test_functions_of_a_session_are_features(host: Host) -> None:
    offset = 2.5

    def far(source: str, hyp: str) -> float:
        return len(hyp) - offset * len(source)

    lists = [smt_.candidates(["a b", "c"], id=number, source="x" * number) for number in range(7)]
    spread = list(host.score(lists, features=[far], jobs="dask,jobs=2"))
    assert [[row for _, row, _ in one.rows()] for one in spread[:2]] == [
        [{"far": 3.0}, {"far": 1.0}],
        [{"far": 0.5}, {"far": -1.5}],
    ]
    assert len(spread) == 7


class TestChoice:
    """``--runner`` and ``-j`` come before ``$SMT_RUNNER``, that before ``runner`` of a run.yaml."""

    @pytest.fixture(autouse=True)
    def _data(self) -> None:
        Path("grammar").write_text("[X] ||| a ||| b ||| p=1\n")
        Path("run.yaml").write_text("decoder: hiero\nmodel: {tables: grammar}\nrunner: {name: dask, jobs: -7}\n")
        Path("list").write_text("0 ||| a ||| f= 1 ||| 1\n")

    @staticmethod
    def chosen(smt: Smt, *options: str) -> str:
        """The runner that refuses its options."""
        result = smt("decode", "-c", "run.yaml", *options, stdin="a\n")
        assert (result.code in (1, 2), result.out) == (True, "")
        return str(result.err.partition("found ")[2].strip())

    def test_precedence(self, smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.chosen(smt) == "jobs=-7, window=0"
        assert "run.yaml:3: runner: " in smt("decode", "-c", "run.yaml").err
        monkeypatch.setenv("SMT_RUNNER", "dask,jobs=-6")
        assert self.chosen(smt) == "jobs=-6, window=0"
        assert self.chosen(smt, "--runner", "dask,jobs=-5") == "jobs=-5, window=0"
        assert self.chosen(smt, "--runner", "dask", "-j", "-4") == "jobs=-4, window=0"
        assert self.chosen(smt, "-j", "-3") == "-3"
        assert smt("decode", "-c", "run.yaml", "-j", "1", "-q", stdin="a\n").ok() == "b\n"
        assert smt("decode", "-c", "run.yaml", "--runner", "serial", "-q", stdin="a\n").ok() == "b\n"
        # Without a configuration.
        assert "jobs=-6" in smt("mbr", "-i", "list").err

    def test_it_is_used(self, smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
        jobs = []
        connect = connection.connect
        monkeypatch.setattr(connection, "connect", lambda *key: (jobs.append(key), connect(*key))[1])
        smt("decode", "-c", "run.yaml", "--set", "runner.jobs=2", "-q", stdin="a\n").ok()
        smt("mbr", "-i", "list", "-q", "--runner", "dask", "-j", "2").ok()
        monkeypatch.setenv("SMT_RUNNER", "dask,jobs=2")
        smt("decode", "-c", "run.yaml", "-q", stdin="a\n").ok()
        smt("score", "-i", "list", "--feature", "length", "-q").ok()
        assert [key[-1] for key in jobs] == [2] * 4

    def test_the_number_of_workers_is_said_once(self, smt: Smt) -> None:
        result = smt("mbr", "-i", "list", "--runner", "dask,jobs=2", "-j", "2")
        message = "smt: expected a number of workers once, found -j 2 and --runner dask,jobs=2\n"
        assert (result.code, result.err) == (2, message)

    def test_without_the_extra(self, smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("dask", "distributed"):
            monkeypatch.setitem(sys.modules, name, None)
        result = smt("mbr", "-i", "list", "-o", "out", "--runner", "dask")
        message = "smt: runner 'dask' needs dask.distributed: pip install 'smtplugins[cluster]'\n"
        assert (result.code, result.out, result.err) == (2, "", message)
        assert not Path("out").exists()
        assert smt("mbr", "-i", "list", "-q").ok() == "a\n"

    @pytest.mark.parametrize("command", [["--help"], ["decode", "-c", "run.yaml", "--runner", "serial", "-i", "text"]])
    def test_nobody_else_imports_it(self, command: list[str]) -> None:
        Path("text").write_text("a\n")
        code = (
            f"import sys; from smtplugins.cli.main import main\nmain({command!r})\n"
            "print(sorted({'dask', 'distributed', 'cloudpickle', 'tornado'} & set(sys.modules)), file=sys.stderr)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]")
