"""Steps run in a folder: once, to their end, alone; killed ones go on to the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.recipes import RecipeStep
from smtplugins.host.train import build_folder
from smtplugins.host.train.build_folder import BuildFolder, StepCost, StepFailed, shell_line, total_cost

# A step of these tests is a line of Python.
CODE = "import sys; exec(sys.argv[1])"


@pytest.fixture(autouse=True)
def _python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_folder, "_COMMAND", CODE)


def step(name: str, code: str, *makes: str, output: str | None = None, resumes: bool = False) -> RecipeStep:
    return RecipeStep(name=name, summary=f"do {name}", command=(code,), makes=makes, output=output, resumes=resumes)


def write(name: str, text: str) -> str:
    return f"open({name!r}, 'a').write({text!r})"


STEPS = (
    step("first", write("a/one", "1"), "a/one"),
    step("second", "print(open('a/one').read() + '2')", "two", output="two"),
    step("third", write("three", "3"), "three"),
)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(folder: Path, steps: Sequence[RecipeStep] = STEPS) -> list[str]:
    said: list[str] = []
    build = BuildFolder(folder, said.append)
    with build.alone():
        build.run(steps)
    return said


def wait_for(folder: Path) -> None:
    """Wait until the last command in a folder has ended."""
    deadline = time.monotonic() + 300
    while True:
        try:
            with BuildFolder(folder, lambda text: None).alone():
                return
        except UsageError:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_each_step_is_run_once_and_recorded(tmp_path: Path) -> None:
    assert run(tmp_path)[0] == "[1/3] first: do first"
    before = files(tmp_path)
    assert (before["two"], before["three"]) == (b"12\n", b"3")
    assert sorted(before) == ["a/one", "steps/first.json", "steps/second.json", "steps/third.json", "three", "two"]
    assert run(tmp_path) == [f"[{i}/3] {one.name}: complete, not repeated" for i, one in enumerate(STEPS, 1)]
    assert files(tmp_path) == before


def test_what_an_unfinished_step_left_is_removed(tmp_path: Path) -> None:
    run(tmp_path, STEPS[:2])
    before = files(tmp_path)
    (tmp_path / "steps/second.json").unlink()
    (tmp_path / "two").write_text("half")
    (tmp_path / "three").write_text("half of another step")
    run(tmp_path)
    assert files(tmp_path).items() >= before.items()
    assert (tmp_path / "three").read_text() == "3"


def test_a_repeated_step_repeats_the_later_ones(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "steps/first.json").unlink()
    said = run(tmp_path)
    assert [line.partition(": ")[2].partition(" (")[0] for line in said] == ["do first", "do second", "do third"]


def test_a_failed_step_says_how_to_see_and_how_to_go_on(tmp_path: Path) -> None:
    bad = step("bad", "import sys; sys.exit(3)", "nothing", output="nothing")
    with pytest.raises(StepFailed) as failed:
        run(tmp_path, (STEPS[0], bad))
    assert str(failed.value).startswith(f"step bad failed (exit code 3): cd {tmp_path} && {shell_line(bad)}\n")
    assert sorted(files(tmp_path)) == ["a/one", "steps/first.json"]
    build = BuildFolder(tmp_path, lambda text: None, plugins=["my plugin.py"])
    with pytest.raises(StepFailed, match=r"&& SMT_PLUGINS='my plugin.py' smt "), build.alone():
        build.run((STEPS[0], bad))


def test_relative_caches_are_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMT_CACHE", "cache")
    monkeypatch.setenv("SMT_SCORE_CACHE", "off")
    (tmp_path / "out").mkdir()
    run(
        tmp_path / "out",
        [step("env", "import os; print(os.environ['SMT_CACHE'], os.environ['SMT_SCORE_CACHE'])", "e", output="e")],
    )
    assert (tmp_path / "out/e").read_text() == f"{tmp_path}/cache off\n"


def test_costs_are_summed() -> None:
    one, two = StepCost("one", 1.5, 1.0, 300), StepCost("two", 2.5, 3.0, 200)
    assert total_cost([one, two]) == StepCost("total", 4.0, 4.0, 300)


def test_a_step_that_makes_nothing_has_failed(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match=r"it made no wanted\)"):
        run(tmp_path, (step("idle", "pass", "wanted"),))
    assert not (tmp_path / "steps/idle.json").exists()


def test_other_commands_and_lost_files_are_errors(tmp_path: Path) -> None:
    run(tmp_path)
    with pytest.raises(UsageError, match=r"third.json: the step was run as .* remove .*third.json to repeat"):
        run(tmp_path, (*STEPS[:2], step("third", write("three", "4"), "three")))
    record = tmp_path / "steps/first.json"
    (tmp_path / "a/one").write_text("other")
    with pytest.raises(UsageError, match=r"a/one: changed since step first made it: remove .*first.json to repeat"):
        run(tmp_path)
    record.write_text("")
    with pytest.raises(UsageError, match=r"first.json: expected the record of a step, found something else: remove it"):
        run(tmp_path)
    record.unlink()
    run(tmp_path)
    (tmp_path / "two").unlink()
    with pytest.raises(UsageError, match=r"two: missing, though step second is complete: remove .*second.json"):
        run(tmp_path)


def test_the_number_of_jobs_may_change_and_signals_have_names(tmp_path: Path) -> None:
    one = step("one", write("one", "1"), "one")
    jobs = [replace(one, command=(*one.command, "-j", str(number), "-k", "5")) for number in (1, 2)]
    run(tmp_path, jobs[:1])
    assert run(tmp_path, jobs[1:]) == ["[1/1] one: complete, not repeated"]
    with pytest.raises(UsageError, match="the step was run as"):
        run(tmp_path, [replace(jobs[0], command=(*one.command, "-j", "1", "-k", "6"))])
    killed = step("killed", "import os; os.kill(os.getpid(), 9)", "two")
    with pytest.raises(StepFailed, match=r"step killed failed \(killed by SIGKILL, as when memory runs out\)"):
        run(tmp_path, [killed])


def test_a_command_that_resumes_is_told_so(tmp_path: Path) -> None:
    work = "import sys, os; os.makedirs('run', exist_ok=True); open('run/log', 'a').write(' '.join(sys.argv[2:]) + ';')"
    fails = step("work", f"{work}; sys.exit('log' not in os.listdir('.') and sys.argv[2:] == [])", "run", resumes=True)
    with pytest.raises(StepFailed):
        run(tmp_path, (fails,))
    run(tmp_path, (fails,))
    assert (tmp_path / "run/log").read_text() == ";--resume;"


def test_one_process_at_a_time(tmp_path: Path) -> None:
    build = BuildFolder(tmp_path, lambda text: None)
    with build.alone(), pytest.raises(UsageError, match="another process is building a system in this folder"):
        run(tmp_path)
    assert len(run(tmp_path)) == 3


def test_killed_runs_end_in_the_same_bytes(tmp_path: Path) -> None:
    """The process and its command are killed together, at any moment; a command left alone keeps the folder locked."""
    slow = tuple(
        step(one.name, f"import time; time.sleep(0.03); {one.command[0]}", *one.makes, output=one.output)
        for one in STEPS
    )
    (tmp_path / "whole").mkdir()
    run(tmp_path / "whole", slow)
    whole = files(tmp_path / "whole")
    for number, delay in enumerate((0.05, 0.1, 0.15, 0.2)):
        folder = tmp_path / f"killed-{number}"
        folder.mkdir()
        child = os.fork()
        if not child:
            os.setsid()
            try:
                run(folder, slow)
            finally:
                os._exit(0)
        time.sleep(delay)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        wait_for(folder)
        run(folder, slow)
        assert files(folder) == whole


def test_a_stopped_run_stops_its_command(tmp_path: Path) -> None:
    endless = step("endless", "import time; open('begun', 'w').close(); time.sleep(600)", "end")
    code = (
        "import sys; from pathlib import Path; from smtplugins.host.train import build_folder as b; "
        f"from smtplugins.contracts.recipes import RecipeStep; b._COMMAND = {CODE!r}\n"
        "build = b.BuildFolder(Path('.'), lambda text: None)\n"
        f"with build.alone(): build.run([{endless!r}])"
    )
    child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.DEVNULL)
    while not (tmp_path / "begun").exists() and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=300)
    wait_for(tmp_path)
