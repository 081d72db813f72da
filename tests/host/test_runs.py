"""Manifests are equal for equal runs; folders hold finished steps only."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats.files import open_write
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.learners import LearnerState, LearnerStep
from smtplugins.contracts.models import Model
from smtplugins.core.lm.ngram_model import write_lm
from smtplugins.host import runs
from smtplugins.host.estimate.phrase_tables import spill_folder
from smtplugins.host.files.array_folders import new_folder
from smtplugins.host.host import Host
from smtplugins.host.runs import RunDirectory, file_hash, input_hashes, manifest, prepared_folder, write_manifest


def record(path: Path, **changes: Any) -> dict[str, Any]:
    path.write_text("abc")
    return manifest(**{"options": {"a": 1}, "inputs": input_hashes([path]), "seed": 3, **changes})


def step(value: float) -> LearnerStep:
    return LearnerStep(
        Model({"LM": value}), -value, {"bleu": 10 * value}, LearnerState({"x": np.array([value])}, {"n": 1})
    )


def test_manifest_is_the_same_for_the_same_run(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "in"
    first = record(path, command=["smt", "score"], plugins=host.plugins, signatures=["BLEU|x"])
    assert first == record(path, command=["smt", "score"], plugins=host.plugins, signatures=["BLEU|x"])
    assert first["inputs"] == {str(path): "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}
    assert set(first["versions"]) == {"smtplugins", "python", "numpy", "sacrebleu"}
    assert first["plugins"]["standard"]["distribution"] == "smtplugins"
    assert (first["seed"], first["command"], first["signatures"]) == (3, ["smt", "score"], ["BLEU|x"])


def test_inputs_are_sorted_and_only_files_are_read(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("b", "a")]
    for path in paths:
        path.write_text(path.name)
    os.mkfifo(tmp_path / "pipe")
    hashes = input_hashes(["-", *paths, tmp_path / "pipe"])
    assert list(hashes) == ["-", str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "pipe")]
    assert [hashes["-"], hashes[str(tmp_path / "pipe")]] == ["not a file"] * 2
    assert len(hashes[str(tmp_path / "a")]) == 64
    assert input_hashes([tmp_path]) == {str(tmp_path): "not a file"}


def test_the_hash_of_a_run_is_that_of_its_weights(tmp_path: Path) -> None:
    (tmp_path / "weights").write_text("LM 1\n")
    assert set(input_hashes([tmp_path]).values()) == set(input_hashes([tmp_path / "weights"]).values())


def test_written_manifest_is_json(tmp_path: Path) -> None:
    write_manifest(tmp_path / "m.json", {"options": {"path": tmp_path, "ü": "ß"}})
    assert json.loads((tmp_path / "m.json").read_text(encoding="utf-8")) == {
        "options": {"path": str(tmp_path), "ü": "ß"}
    }
    assert "ü" in (tmp_path / "m.json").read_text(encoding="utf-8")


def test_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    (tmp_path / "b").write_bytes(b"x" * 3_000_000)
    (tmp_path / "c").write_bytes(b"x" * 2_999_999)
    assert file_hash(tmp_path / "a") == file_hash(tmp_path / "b") != file_hash(tmp_path / "c")


class TestRunDirectory:
    def test_refuses_folders_of_others(self, tmp_path: Path) -> None:
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "thesis.tex").touch()
        for resume in (False, True):
            with pytest.raises(UsageError, match="expected an empty folder or a run, found other files"):
                RunDirectory.create(tmp_path / "run", record(tmp_path / "in"), resume=resume)
        assert [path.name for path in (tmp_path / "run").iterdir()] == ["thesis.tex"]

    def test_takes_an_empty_folder_or_makes_one(self, tmp_path: Path) -> None:
        (tmp_path / "there").mkdir()
        for name in ("there", "new/below"):
            run = RunDirectory.create(tmp_path / name, record(tmp_path / "in"))
            assert json.loads((run.path / runs.MANIFEST).read_text()) == record(tmp_path / "in")
            assert run.last_step() is None

    def test_goes_on_only_when_asked_and_only_with_the_same_run(self, tmp_path: Path) -> None:
        same = record(tmp_path / "in")
        RunDirectory.create(tmp_path / "run", same)
        with pytest.raises(UsageError, match=r"already contains a run; resume it \(resume=True\) or name another"):
            RunDirectory.create(tmp_path / "run", same)
        assert RunDirectory.create(tmp_path / "run", same, resume=True).path == tmp_path / "run"
        for changed, what in (
            (record(tmp_path / "in", options={"a": 2}), "options"),
            (record(tmp_path / "in", seed=4), "seed"),
            ({**same, "inputs": {str(tmp_path / "in"): "0"}}, "inputs"),
        ):
            with pytest.raises(UsageError, match=f"cannot resume, {what} differ from those of the run in the folder"):
                RunDirectory.create(tmp_path / "run", changed, resume=True)
        assert json.loads((tmp_path / "run" / runs.MANIFEST).read_text()) == same

    def test_options_that_json_turns_into_text_are_the_same_run(self, tmp_path: Path) -> None:
        same = record(tmp_path / "in", options={"path": tmp_path, "names": ("a", "b")})
        RunDirectory.create(tmp_path / "run", same)
        RunDirectory.create(tmp_path / "run", same, resume=True)

    def test_last_finished_step_comes_back(self, tmp_path: Path) -> None:
        run = RunDirectory.create(tmp_path / "run", record(tmp_path / "in"))
        for number in (1, 2, 9999, 10000):
            run.save_step(number, step(float(number)))
        last = run.last_step()
        assert last is not None
        number, model, state = last
        assert (number, model.weights, state.values) == (10000, {"LM": 10000.0}, {"n": 1})
        assert state.arrays["x"].tolist() == [10000.0]
        assert json.loads((run.path / "step-0002" / "step.json").read_text()) == {
            "objective": -2.0,
            "metrics": {"bleu": 20.0},
        }

    def test_a_step_cut_short_does_not_count(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        run = RunDirectory.create(tmp_path / "run", record(tmp_path / "in"))
        run.save_step(1, step(1.0))

        def fail(source: str, target: str) -> None:
            raise OSError("killed")

        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", fail)
            with pytest.raises(OSError, match="killed"):
                run.save_step(2, step(2.0))
        last = run.last_step()
        assert last is not None
        assert last[0] == 1
        run.save_step(2, step(3.0))
        again = run.last_step()
        assert again is not None
        assert (again[0], again[1].weights) == (2, {"LM": 3.0})

    def test_what_a_killed_run_left_half_written_is_removed(self, tmp_path: Path) -> None:
        same = record(tmp_path / "in")
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / ".manifest.json.abc.part").touch()
        run = RunDirectory.create(tmp_path / "run", same, resume=True)
        (run.path / ".step-0001.part" / "model").mkdir(parents=True)
        (run.path / "inside").mkdir()
        (run.path / "inside" / ".list.xyz.part").touch()
        (run.path / "inside" / ".3.part.npz").touch()
        (run.path / "inside" / "list").touch()
        RunDirectory.create(tmp_path / "run", {**same, "command": ["other"]}, resume=True)
        files = sorted(str(path.relative_to(run.path)) for path in run.path.rglob("*"))
        assert files == ["inside", "inside/list", "manifest.json"]
        assert json.loads((run.path / runs.MANIFEST).read_text()) == same

    def test_states_before_the_last_are_let_go(self, tmp_path: Path) -> None:
        run = RunDirectory.create(tmp_path / "run", record(tmp_path / "in"))
        for number in (1, 2, 3):
            run.save_step(number, step(float(number)))
        run.forget_states()
        assert [path.parent.name for path in sorted(run.path.glob("*/state.npz"))] == ["step-0003"]
        assert run.rows() == [(-1.0, {"bleu": 10.0}), (-2.0, {"bleu": 20.0}), (-3.0, {"bleu": 30.0})]
        model, metrics = run.step(2)
        assert (model.weights, metrics) == ({"LM": 2.0}, {"bleu": 20.0})

    def test_a_step_can_be_saved_again(self, tmp_path: Path) -> None:
        run = RunDirectory.create(tmp_path / "run", record(tmp_path / "in"))
        run.save_step(1, step(1.0))
        run.save_step(1, step(2.0))
        last = run.last_step()
        assert last is not None
        assert last[1].weights == {"LM": 2.0}


class TestLeftovers:
    @pytest.mark.parametrize("there", [False, True])
    def test_a_run_that_fails_before_its_first_piece_of_work_goes_again(self, tmp_path: Path, there: bool) -> None:
        path = tmp_path / "new/run"
        if there:
            path.mkdir(parents=True)

        def fail() -> None:
            with RunDirectory.create(path, record(tmp_path / "in")) as run:
                (run.path / "iteration-0001" / "forests").mkdir(parents=True)
                (run.path / "iteration-0001" / ".list.part").touch()
                (run.path / ".step-0001.part").mkdir()
                (run.path / ".step-0001.part" / "model").touch()
                raise KeyboardInterrupt

        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                fail()
            assert sorted(tmp_path.rglob("*")) == sorted([tmp_path / "in", *([path.parent, path] if there else [])])

    def test_it_stays_with_work_that_is_complete_and_after_success(self, tmp_path: Path) -> None:
        def fail() -> None:
            with RunDirectory.create(tmp_path / "a", record(tmp_path / "in")) as run:
                (run.path / "iteration-0001").mkdir()
                (run.path / "iteration-0001" / "list").touch()
                raise OSError("full")

        with pytest.raises(OSError, match="full"):
            fail()
        with RunDirectory.create(tmp_path / "b", record(tmp_path / "in")):
            pass
        for name in ("a", "b"):
            assert (tmp_path / name / runs.MANIFEST).exists()

    def test_who_goes_on_removes_nothing(self, tmp_path: Path) -> None:
        """The one who began may be at work still."""
        same = record(tmp_path / "in")
        with RunDirectory.create(tmp_path / "run", same):
            with pytest.raises(OSError, match="full"), RunDirectory.create(tmp_path / "run", same, resume=True):
                raise OSError("full")
            assert (tmp_path / "run" / runs.MANIFEST).exists()

    @pytest.mark.parametrize(
        ("name", "kept", "left"), [("new/out", None, False), ("new/out", "run", True), ("there", None, True)]
    )
    def test_folders_of_results(self, tmp_path: Path, name: str, kept: str | None, left: bool) -> None:
        (tmp_path / "there").mkdir()

        def fail() -> None:
            with prepared_folder(tmp_path / name, kept):
                (tmp_path / name / "run").touch()
                raise OSError("full")

        with pytest.raises(OSError, match="full"):
            fail()
        assert (tmp_path / name).exists() == left
        assert (tmp_path / name).parent.exists() == (left or name == "there")

    def test_a_file_is_no_folder_of_results(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(UsageError, match="expected a folder to write to, found a file"):
            prepared_folder(tmp_path / "file").__enter__()


def test_what_a_killed_command_leaves_is_swept(tmp_path: Path) -> None:
    left: list[set[str]] = []

    class Binary:
        def write_binary(self, path: str) -> None:
            Path(path).write_text("model")
            left.append(set(os.listdir(tmp_path)))

    with new_folder(tmp_path / "table.smt", "header"), spill_folder(tmp_path), open_write(tmp_path / "list"):
        write_lm(Binary(), tmp_path / "lm.bin")  # type: ignore[arg-type]
        (names,) = left
        assert len(names) == 4
        runs.sweep(tmp_path)
        assert os.listdir(tmp_path) == ["lm.bin"]
        for name in names:
            (tmp_path / name).mkdir() if name.startswith((".table", ".extract")) else (tmp_path / name).touch()


def test_command_line_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/some/where/smt", "score", "-i", "x"])
    assert runs.argv() == ["smt", "score", "-i", "x"]


def test_states_that_a_killed_run_left_are_deleted_too(tmp_path: Path) -> None:
    for number in range(1, 6):
        (tmp_path / f"step-{number:04d}/model").mkdir(parents=True)
        if number > 2:
            (tmp_path / f"step-{number:04d}/state.npz").touch()
    RunDirectory(tmp_path).forget_states()
    assert [path.parent.name for path in sorted(tmp_path.glob("*/state.npz"))] == ["step-0005"]
    assert len(list(tmp_path.glob("*/model"))) == 5
