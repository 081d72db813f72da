"""Detection of systems judged on their tuning data."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from smtplugins.contracts.errors import UsageError
from smtplugins.host.judge.in_sample import EvaluationFiles
from smtplugins.host.runs import input_hashes


@pytest.fixture
def ref(tmp_path: Path) -> Path:
    path = tmp_path / "ref"
    path.write_text("ein haus\nzwei\n")
    return path


def run(folder: Path, *inputs: Path, **more: Any) -> Path:
    (folder / "step-0001").mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"inputs": input_hashes(inputs), **more}))
    return folder


def test_by_manifest_of_a_run(tmp_path: Path, ref: Path) -> None:
    other = tmp_path / "other"
    other.write_text("x\n")
    mine, theirs = run(tmp_path / "mine", other, ref), run(tmp_path / "theirs", other)
    judged = EvaluationFiles([str(ref), None, ["texts"]])
    assert judged.any_of([mine])
    assert judged.any_of([theirs, mine / "manifest.json"])
    assert not judged.any_of([theirs])
    assert not judged.any_of([])
    assert not EvaluationFiles([["texts"]]).any_of([mine])


def test_by_the_lines_of_a_file(tmp_path: Path, ref: Path) -> None:
    packed, longer, braces = tmp_path / "ref.gz", tmp_path / "longer", tmp_path / "braces"
    packed.write_bytes(gzip.compress(b"ein haus\nzwei"))
    longer.write_text("ein haus\nzwei\ndrei\n")
    braces.write_text("{ein haus\n")
    assert EvaluationFiles([ref]).any_of([packed])
    assert not EvaluationFiles([ref]).any_of([longer])
    assert not EvaluationFiles([ref]).any_of([braces])
    assert EvaluationFiles([braces]).any_of([braces])


def test_by_the_folder_of_an_output(tmp_path: Path, ref: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run(tmp_path / "run", ref)
    judged = EvaluationFiles([ref])
    assert judged.by_run_of(folder / "step-0003/best.txt")
    assert judged.by_run_of(str(folder / "out"))
    assert not judged.by_run_of(tmp_path / "out")
    assert not judged.by_run_of(["texts"])
    monkeypatch.chdir(folder)
    assert judged.by_run_of("out")
    ref.write_text("anders\n")
    assert not EvaluationFiles([ref]).by_run_of("out")
    # A manifest of something else says nothing.
    (folder / "manifest.json").write_text('{"name": "web"}')
    assert not EvaluationFiles([ref]).by_run_of("out")


def test_a_manifest_may_say_what_was_learnt_from(tmp_path: Path, ref: Path) -> None:
    dev = tmp_path / "dev"
    dev.write_text("x\n")
    folder = run(tmp_path / "rerank", ref, dev, tuned_on=[str(dev)])
    assert not EvaluationFiles([ref]).any_of([folder])
    assert not EvaluationFiles([ref]).by_run_of(folder / "out")
    assert EvaluationFiles([dev]).any_of([folder])
    assert EvaluationFiles([dev]).by_run_of(folder / "out")


def test_only_folders_of_learning_runs_are_known_by_themselves(tmp_path: Path, ref: Path) -> None:
    for name, command, expected in (("decode", ["smt", "decode"], False), ("tune", ["smt", "tune", "-i"], True)):
        folder = run(tmp_path / name, ref, command=command)
        (folder / "step-0001").rmdir()
        assert EvaluationFiles([ref]).by_run_of(folder / "out") is expected
        assert EvaluationFiles([ref]).any_of([folder])


@pytest.mark.parametrize("text", ["{", "{}", '{"inputs": 3}', '{"inputs": {"a": 1}, "tuned_on": [2, "b"]}', "[]", ""])
def test_odd_manifests_say_nothing(tmp_path: Path, ref: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    assert not EvaluationFiles([ref]).by_run_of(tmp_path / "out")
    assert not EvaluationFiles([ref]).any_of([tmp_path])


def test_nothing_there_is_an_error(tmp_path: Path, ref: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a file or a run with a manifest\.json, found a folder"):
        EvaluationFiles([ref]).any_of([tmp_path])
    with pytest.raises(FileNotFoundError):
        EvaluationFiles([ref]).any_of([ref, tmp_path / "absent"])
