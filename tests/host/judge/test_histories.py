"""Curves and weights read from the folders of runs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import LearnerState, LearnerStep
from smtplugins.contracts.models import Model
from smtplugins.host.judge.histories import mean_weights, read_runs, result
from smtplugins.host.runs import RunDirectory


def steps(folder: Path, count: int, weight: float) -> None:
    kept = RunDirectory(folder)
    for number in range(1, count + 1):
        metrics = {"BLEU": 10.0 * number} if number > 1 else {}
        kept.save_step(
            number, LearnerStep(Model({"x": weight * number, "y": 1.0}), 0.5 * number, metrics, LearnerState())
        )


def test_one_run_with_its_manifest(tmp_path: Path) -> None:
    RunDirectory.create(tmp_path / "run", {"seed": 3})
    steps(tmp_path / "run", 3, 1.0)
    (run,) = read_runs([str(tmp_path / "run")])
    assert run.steps == (1, 2, 3)
    assert run.curves["objective"] == (0.5, 1.0, 1.5)
    assert math.isnan(run.curves["BLEU"][0])
    assert run.curves["BLEU"][1:] == (20.0, 30.0)
    assert run.weights == {"x": 3.0, "y": 1.0}
    assert run.manifest == {"seed": 3}


def test_a_folder_with_several_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    RunDirectory.create(tmp_path / "all", {"seed": 1})
    for number in (10, 2, 1):
        steps(tmp_path / "all" / f"run-{number}", 2, float(number))
    (tmp_path / "all" / "fold-1" / "run-1").mkdir(parents=True)
    runs = read_runs([str(tmp_path / "all")])
    assert [Path(run.name).name for run in runs] == ["run-1", "run-2", "run-10"]
    assert {run.folder for run in runs} == {str(tmp_path / "all")}
    assert all(run.manifest == {"seed": 1} for run in runs)
    assert mean_weights([run.weights for run in runs]) == {"x": pytest.approx(2 * 13 / 3), "y": 1.0}
    assert result(runs) == (mean_weights([run.weights for run in runs]), "mean of 3 runs")
    assert result(runs[:1]) == (runs[0].weights, runs[0].name)
    (tmp_path / "all" / "weights").write_text("x 5\n")
    assert result(runs) == ({"x": 5.0}, str(tmp_path / "all" / "weights"))
    steps(tmp_path / "other", 1, 1.0)
    both = (*runs, *read_runs([str(tmp_path / "other")]))
    assert result(both)[1] == "mean of 4 runs"


def test_chosen_weights_come_before_the_last_ones(tmp_path: Path) -> None:
    steps(tmp_path, 2, 1.0)
    (tmp_path / "weights").write_text("x 7\n")
    assert read_runs([str(tmp_path)])[0].weights == {"x": 7.0}


def test_half_written_steps_do_not_count_and_damage_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected the folder of a run with finished steps"):
        read_runs([str(tmp_path)])
    steps(tmp_path, 2, 1.0)
    (tmp_path / ".step-0003.part").mkdir()
    (tmp_path / "step-0003").mkdir()
    assert read_runs([str(tmp_path)])[0].steps == (1, 2)
    (tmp_path / "step-0002" / "step.json").write_text('{"objective": "much"}')
    with pytest.raises(SmtError, match=r"step.json: expected `objective` and `metrics`, found other values"):
        read_runs([str(tmp_path)])
    (tmp_path / "step-0002" / "step.json").write_text("[1]")
    with pytest.raises(SmtError, match=r"step.json: expected an object in JSON, found list"):
        read_runs([str(tmp_path)])
    (tmp_path / "step-0002" / "step.json").write_text("{")
    with pytest.raises(SmtError, match=r"step.json: expected JSON, found "):
        read_runs([str(tmp_path)])
