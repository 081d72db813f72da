"""Workers, schedulers and commands that are killed: nothing is lost, nothing comes twice, no process is left."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.host.killing import DEEP, tree
from tests.plugins.cluster.clusters import PATIENCE, Cluster, cluster, marked, wait_until
from tests.plugins.cut_examples import EXAMPLES

pytest.importorskip("distributed")

Smt = Callable[..., Any]
KILLS = range(10 if settings().max_examples >= DEEP else 2)
# Workers with MARKS leave a file there for each item that they begin, which takes them STEP seconds; with GATE, all
# but the first five wait for a file of that name.
SLOW = """\
import os, time, uuid
from smtplugins import Offer, hookimpl
from smtplugins.contracts.adapters import SimpleStateful

class Slow(SimpleStateful):
    def start(self, sentence):
        if marks := os.environ.get("MARKS"):
            with open(f"{marks}/{os.getpid()}-{uuid.uuid4().hex}", "x"):
                time.sleep(float(os.environ["STEP"]))
            gate = os.environ.get("GATE", marks)
            while len(os.listdir(marks)) > 5 and not os.path.exists(gate):
                time.sleep(0.02)
        return super().start(sentence)

    def combine_one(self, target, tails):
        return 0.0, None

@hookimpl
def smt_features():
    yield Offer(name="slow", make=Slow, summary="takes its time", needs=frozenset({"target"}))
"""
COUNT = 45
DECODE = "decode -c run.yaml --plugin slow.py --feature slow --set-weight slow=1 -i source -k 3 -q -o OUT"
SCORE = "score -i lists --plugin slow.py --feature slow,name=slow2 --feature lm,path=en.arpa,name=LM2 -q -o OUT"
TUNE = (
    "tune -c run.yaml --plugin slow.py --feature slow -s source.de -r ref.en -m bleu,tokenize=none --iterations 2 -k 10"
    " --learner mert,restarts=1 -q -o OUT --dir OUT.run"
)


@dataclass
class Setting:
    """A cluster whose workers tell of what they begin."""

    made: Cluster
    marks: Path

    def begun(self, worker: int | None = None) -> int:
        """How many items were begun, by one of the workers or by all."""
        return sum(worker is None or path.name.startswith(f"{worker}-") for path in self.marks.iterdir())

    def wait_for(self, count: int) -> None:
        wait_until(lambda: self.begun() >= count, f"{count} items are begun")

    def add(self, **variables: str) -> int:
        """Start a worker; gives its process."""
        return self.made.add_worker(MARKS=str(self.marks), **{"STEP": "0.02", **variables}).pid


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def setting(made: Cluster, tmp_path: Path) -> Setting:
    """The cluster without workers, and the data of an example."""
    made.kill_workers()
    shutil.copytree(EXAMPLES / "decode-hiero", tmp_path, dirs_exist_ok=True)
    Path("slow.py").write_text(SLOW)
    Path("source").write_text(Path("source.de").read_text() * (COUNT // 9))
    (tmp_path / "marks").mkdir()
    return Setting(made, tmp_path / "marks")


def run(smt: Smt, command: str, out: str, *options: str) -> dict[str, bytes]:
    """What a command writes, but for manifests."""
    Path(out).mkdir()
    result = smt(*command.replace("OUT", f"{out}/out").split(), *options)
    assert (result.err, result.code) == ("", 0)
    return written(out)


def written(out: str) -> dict[str, bytes]:
    files = {path: data for path, data in tree(out).items() if not path.endswith("manifest.json")}
    assert any(files.values())
    return files


def in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.fixture
def serial(setting: Setting, smt: Smt) -> dict[str, dict[str, bytes]]:
    """What the commands write in one process."""
    found = {DECODE: run(smt, DECODE, "serial-lists")}
    shutil.copy("serial-lists/out", "lists")
    return {**found, SCORE: run(smt, SCORE, "serial-scores")}


def test_killed_workers(setting: Setting, smt: Smt, serial: dict[str, dict[str, bytes]]) -> None:
    source = random.Random(7)
    for number in KILLS:
        for command in (DECODE, SCORE):
            while len(setting.made.workers) < 2:
                setting.add()
            before, most = setting.begun(), source.randrange(COUNT)
            delay = source.random() * 0.04

            def kill(before: int = before, most: int = most, delay: float = delay) -> None:
                wait_until(lambda: setting.begun() > before + most, "items are begun")
                time.sleep(delay)
                setting.made.kill_worker(source.randrange(2))

            thread = in_thread(kill)
            assert run(smt, command, f"spread-{number}-{command[:5]}", *setting.made.runner) == serial[command]
            thread.join()


def test_all_workers_killed_and_others_started(setting: Setting, smt: Smt, serial: dict[str, dict[str, bytes]]) -> None:
    setting.add()
    setting.add()

    def kill() -> None:
        setting.wait_for(COUNT // 2)
        setting.made.kill_workers()
        setting.add()

    thread = in_thread(kill)
    assert run(smt, DECODE, "spread", *setting.made.runner) == serial[DECODE]
    thread.join()


def test_a_worker_that_joins_late_gets_work(setting: Setting, smt: Smt, serial: dict[str, dict[str, bytes]]) -> None:
    gate = {"GATE": f"{setting.marks}.gate"}
    first = setting.add(**gate)

    def join() -> None:
        setting.wait_for(6)
        second = setting.add(**gate)
        wait_until(lambda: setting.begun(second), "the other worker has work")
        Path(gate["GATE"]).touch()

    thread = in_thread(join)
    assert run(smt, DECODE, "spread", *setting.made.runner) == serial[DECODE]
    thread.join()
    assert setting.begun() - setting.begun(first) > 1


def test_a_killed_scheduler(tmp_path: Path, setting: Setting, smt: Smt, start: Callable[..., Any]) -> None:
    """The command says so and leaves nothing half-written; a run in a folder goes on with another scheduler."""
    wanted = run(smt, TUNE, "serial")
    with cluster(tmp_path / "marks") as other:
        (tmp_path / "begun").mkdir()
        own = Setting(other, tmp_path / "begun")
        for command, count in ((DECODE, 8), (TUNE, 14)):
            for _ in range(2):
                own.add(STEP="0.05")
            Path(command[:4]).mkdir()
            process = start(*command.replace("OUT", f"{command[:4]}/out").split(), *other.runner)
            own.wait_for(own.begun() + count)
            other.kill_scheduler()
            _, told = process.communicate(PATIENCE)
            message = (
                f"smt: the scheduler at {other.address} is gone: start it and its workers again, then repeat the "
                "command (with --resume where there is a run folder)\n"
            )
            assert (told.decode(), process.returncode) == (message, 1)
            other.kill_workers()
            other.restart_scheduler()
        assert not Path("deco/out").exists()
        assert not Path("tune/out").exists()
        own.add()
        result = smt(*TUNE.replace("OUT", "tune/out").split(), *other.runner, "--resume")
        assert (result.err, result.code) == ("", 0)
    assert written("tune") == wanted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.usefixtures("signals")
def test_a_command_that_is_ended_leaves_no_process(setting: Setting, number: int) -> None:
    """An interrupt goes to all processes of a terminal, other signals to the command alone."""
    mark = uuid.uuid4().hex
    code = "import sys; from smtplugins.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *DECODE.replace("OUT", "out").split(), "--runner", "dask,jobs=2"]
    environment = {**os.environ, "MARK": mark, "MARKS": str(setting.marks), "STEP": "0", "GATE": "never"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, start_new_session=True) as process:
        setting.wait_for(6)
        assert len(marked(mark)) > 3
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        _, told = process.communicate(timeout=PATIENCE)
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        noise = b"smt: interrupted\n" * (number == signal.SIGINT)
        assert (process.returncode, told) == (128 + number, noise)
    wait_until(lambda: not marked(mark), "all processes end")
    assert not Path("out").exists()
