"""The learner contract on two toys, linear and not: stopped, killed and resumed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.learners import Learner, LearnerState, LearnerStep
from smtplugins.contracts.models import Files, Model
from smtplugins.host.runs import RunDirectory
from smtplugins.testing import samples
from smtplugins.testing.cases import LearnerChecks

TOYS = Path(__file__).parents[1] / "toy_learners.py"
PROBLEMS = {"toy-perceptron": samples.list_problem, "toy-stumps": samples.row_problem}

# Learns into a run directory; says which step is saved and waits for a line before the next. With a number, the save of
# that step stops half-way: the model is written, the state is not.
WORKER = """
import sys
from pathlib import Path
import smtplugins as smt
from smtplugins.contracts.learners import LearnerState
from smtplugins.contracts.models import Model
from smtplugins.host.runs import RunDirectory
from smtplugins.testing import samples

toys, name, folder, stuck = sys.argv[1:]
save = LearnerState.save

def stop(self, folder):
    if "step-" + stuck in str(folder):
        print("half saved", flush=True)
        sys.stdin.readline()
    save(self, folder)

LearnerState.save = stop
run = RunDirectory.create(Path(folder), {"seed": 1})
problem = {"toy-perceptron": samples.list_problem, "toy-stumps": samples.row_problem}[name]()
learner = smt.load_plugins([toys]).registry.make("learners", name)
for number, step in enumerate(learner.learn(problem, Model(), seed=1), 1):
    run.save_step(number, step)
    print("saved", number, flush=True)
    sys.stdin.readline()
"""


class TestPerceptron(LearnerChecks):
    offer = "toy-perceptron"
    plugins = (TOYS,)


class TestStumps(LearnerChecks):
    offer = "toy-stumps"
    plugins = (TOYS,)


def make(name: str) -> Learner:
    made: Learner = smt.load_plugins([TOYS]).registry.make("learners", name)
    return made


def steps_of(name: str) -> list[LearnerStep]:
    return list(make(name).learn(PROBLEMS[name](), Model(), seed=1))


def finish(name: str, run: RunDirectory) -> Model:
    """Go on from the last finished step of a run."""
    last = run.last_step()
    assert last is not None
    done, model, state = last
    for number, step in enumerate(make(name).learn(PROBLEMS[name](), model, resume=state, seed=1), done + 1):
        run.save_step(number, step)
        model = step.model
    return model


def test_the_perceptron_learns_to_rank() -> None:
    problem = samples.list_problem(count=60)
    *_, last = make("toy-perceptron").learn(problem, Model(), seed=1)
    sentences = [problem.metric.sentence(rows) for rows in problem.stats]
    unranked = sum(scores.max() - scores[0] for scores in sentences) / len(sentences)
    assert last.objective < unranked / 2
    weights = last.model.weights
    assert min(weights["good"], weights["helpful"]) > 3 * abs(weights["noise"])


def test_the_stumps_learn_what_no_weights_can() -> None:
    steps = steps_of("toy-stumps")
    assert steps[-1].metrics["accuracy"] > 0.9
    assert not steps[-1].model.weights
    features = samples.row_problem().features
    labels = samples.row_problem().labels
    for weights in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, -1.0)):
        right = ((features.values.reshape(-1, 2) @ weights > 0) == (labels > 0)).mean()
        assert 0.25 < right < 0.75


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_a_run_stopped_between_steps_and_resumed_ends_alike(name: str, tmp_path: Path) -> None:
    whole = steps_of(name)
    run = RunDirectory.create(tmp_path / "run", {"seed": 1})
    steps = make(name).learn(PROBLEMS[name](), Model(), seed=1)
    for number in (1, 2):
        run.save_step(number, next(steps))
    again = RunDirectory.create(tmp_path / "run", {"seed": 1}, resume=True)
    assert finish(name, again).digest() == whole[-1].model.digest()
    last = again.last_step()
    assert last is not None
    assert last[0] == len(whole)
    assert last[1].digest() == whole[-1].model.digest()
    assert finish(name, again).digest() == whole[-1].model.digest()


@pytest.mark.parametrize(("name", "stuck"), [("toy-perceptron", "0000"), ("toy-stumps", "0003")])
def test_a_killed_run_resumes_from_its_last_finished_step(name: str, stuck: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command: list[Any] = [sys.executable, "-c", WORKER, TOYS, name, folder, stuck]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        for line in worker.stdout:
            if line == ("saved 2\n" if stuck == "0000" else "half saved\n"):
                break
            worker.stdin.write("\n")
            worker.stdin.flush()
        worker.kill()
        assert worker.wait() == -signal.SIGKILL
    assert (folder / f".step-{stuck}.part" / "model").exists() == (stuck == "0003")
    run = RunDirectory(folder)
    last = run.last_step()
    assert last is not None
    assert last[0] == 2
    assert finish(name, run).digest() == steps_of(name)[-1].model.digest()
    assert not list(folder.glob(".step-*"))


def test_a_model_keeps_its_hash_on_disk_and_its_artefacts_stay_files(tmp_path: Path) -> None:
    model = steps_of("toy-stumps")[2].model
    model.save(tmp_path / "a")
    loaded = Model.load(tmp_path / "a")
    assert isinstance(loaded.artefacts["stumps"], Files)
    loaded.save(tmp_path / "b")
    assert Model.load(tmp_path / "b").digest() == loaded.digest() == model.digest()
    for path in (tmp_path / "a").rglob("*"):
        if path.is_file():
            assert (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes() == path.read_bytes()


def test_a_state_comes_back_from_disk_with_its_types(tmp_path: Path) -> None:
    state = steps_of("toy-perceptron")[1].state
    state.save(tmp_path / "state")
    again = LearnerState.load(tmp_path / "state")
    assert again.values == state.values
    assert {name: (array.dtype, array.tolist()) for name, array in again.arrays.items()} == {
        name: (array.dtype, array.tolist()) for name, array in state.arrays.items()
    }
