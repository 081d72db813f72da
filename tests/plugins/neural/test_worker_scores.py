"""A worker as feature and metric: in batches across lists, once, and again where it was killed."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.cli.main import main
from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.contracts.tools.running import ScoreFolder
from smtplugins.host.host import Host
from smtplugins.plugins.neural.worker import NeuralWorker, NeuralWorkerMetric, ready_made
from smtplugins.plugins.neural.worker_command import program

LISTS = [
    smt.candidates([f"{'ab' * (k % 7)} {key} {k}" for k in range(20)], id=key, source=f"quelle {key}")
    for key in range(9)
]
# Counts its calls, and dies at a text until a file is there.
WORKER = """
import os, signal
from pathlib import Path

def load(dies: str = "", pair: bool = False):
    log = os.environ["LOG"]

    def score(items):
        with open(log, "a") as out:
            out.write(f"{len(items)}\\n")
        if dies and any(dies in item["hyp"] for item in items) and not Path(log + ".died").exists():
            Path(log + ".died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        rows = [[len(item["hyp"]) + len(item["source"]) / 64, len(item["hyp"]) / 8] for item in items]
        return rows if pair else [row[0] for row in rows]
    return score
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    path = tmp_path / "mine.py"
    path.write_text(WORKER, encoding="utf-8")
    return path


def expected(nbest: Any) -> list[float]:
    return [len(text) + len(nbest.source) / 64 for text in nbest.texts]


def calls(log: Path) -> list[int]:
    return [int(line) for line in log.read_text(encoding="utf-8").split()]


def test_batches_across_lists_and_nothing_twice(tmp_path: Path, worker: Path) -> None:
    log = tmp_path / "log"
    host = smt.load_plugins(score_cache=tmp_path / "cache")
    spec = {"name": "neural-worker", "worker": str(worker), "batch": 64}
    for _ in range(2):
        scored = list(host.score(LISTS, [spec]))
        assert [[value for (value,) in nbest.values] for nbest in scored] == [expected(nbest) for nbest in LISTS]
        assert sorted(calls(log)) == [52, 64, 64]


def test_a_killed_worker_is_started_again(tmp_path: Path, worker: Path) -> None:
    notes: list[str] = []
    host = smt.load_plugins(note=notes.append)
    spec = {"name": "neural-worker", "worker": str(worker), "arguments": "--dies ' 4 11'", "batch": 32}
    scored = list(host.score(LISTS, [spec]))
    assert [[value for (value,) in nbest.values] for nbest in scored] == [expected(nbest) for nbest in LISTS]
    assert len(notes) == 1 and "was killed by signal 9" in notes[0] and "started again" in notes[0]
    (tmp_path / "log.died").unlink()
    with pytest.raises(FeatureError, match="was killed by signal 9"):
        list(host.score(LISTS, [{**spec, "retries": 0}]))


def test_several_numbers(worker: Path, host: Host) -> None:
    spec = {"name": "neural-worker", "worker": str(worker), "arguments": "--pair true", "columns": 2}
    (found,) = host.score(LISTS[:1], [spec])
    assert found.names() == ("neural-worker[0]", "neural-worker[1]")
    assert [row[1] for row in found.values] == [len(text) / 8 for text in LISTS[0].texts]
    with pytest.raises(FeatureError, match=r"expected a number as a score, found \["):
        list(host.score(LISTS[:1], [{**spec, "columns": 1}]))


def test_a_metric_gets_references(tmp_path: Path, host: Host) -> None:
    path = tmp_path / "exact.py"
    path.write_text(
        "def load():\n    return lambda items: [float(item['hyp'] in item['refs']) for item in items]\n",
        encoding="utf-8",
    )
    metric = host.registry.make("metrics", {"name": "neural-worker", "worker": str(path), "scale": 100})
    rows = metric.stats(["a", "b", "c"], [["a", "x", "y"], ["z", "b", "y"]])
    assert rows.tolist() == [[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]
    assert metric.signature() == f"exact|worker:{path}|mean:segments|scale:100"
    assert metric.higher_is_better


def test_ready_made_workers_know_their_columns_and_direction(tmp_path: Path) -> None:
    # Their libraries are not installed in this Python: they are not started here.
    assert NeuralWorker("openai", arguments="--url x --model m")._names == ("neural-worker", "neural-worker:mean")
    assert NeuralWorker("comet")._names == ()
    assert not NeuralWorkerMetric("metricx").higher_is_better
    assert NeuralWorkerMetric("comet").higher_is_better
    assert NeuralWorkerMetric("comet", name="COMET", version="2", arguments="--gpus 1").signature() == (
        "COMET|worker:comet|arguments:--gpus 1|version:2|mean:segments"
    )
    for wrong, match in (
        ({"worker": "commet"}, "unknown worker 'commet'; did you mean 'comet'\\?; or name a file"),
        ({"worker": str(tmp_path / "none.py")}, "expected a file, found no"),
        ({"worker": "comet", "python": "no-such-python"}, "expected a Python interpreter, found no no-such-python"),
        ({"worker": "comet", "columns": 2}, "columns: expected 1, found 2"),
        ({"worker": "comet", "arguments": "'"}, "arguments"),
    ):
        with pytest.raises(UsageError, match=match):
            NeuralWorker(**wrong)
    with pytest.raises(UsageError, match="worker 'causal' is for features"):
        NeuralWorkerMetric("causal")


def test_a_module_and_an_error_of_the_library(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/judge.py").write_text(WORKER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOG", "log")
    spec = {"name": "neural-worker", "worker": "own.judge"}
    (found,) = host.score(LISTS[:1], [spec])
    assert [value for (value,) in found.values] == expected(LISTS[0])
    with pytest.raises(FeatureError, match=r"failed: KeyError: 'source'|failed: TypeError"):
        list(host.score([smt.candidates(["a"], id=1)], [spec]))


def test_a_worker_as_a_program_of_one_file(
    tmp_path: Path, host: Host, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python may run without the script's folder on its path.
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "bert_score.py").write_text(
        "class Scores(list):\n    tolist = lambda self: list(self)\n\n"
        "class BERTScorer:\n"
        "    def __init__(self, **options): pass\n"
        "    def score(self, cands, refs): return 0, 0, Scores(len(cand) / 8 for cand in cands)\n",
        encoding="utf-8",
    )
    assert main(["neural", "worker", "bertscore"]) == 0
    text = capfd.readouterr().out
    assert text == program("bertscore")
    path = tmp_path / "judge.py"
    path.write_text(text, encoding="utf-8")
    command = shlex.join([sys.executable, str(path), "--lang", "de"])
    metric = host.registry.make("metrics", {"name": "external", "protocol": "batches", "command": command})
    assert metric.stats(["ab", "abcd"], [["x", "y"]]).tolist() == [[0.25, 1.0], [0.5, 1.0]]


@pytest.mark.parametrize("name", sorted(ready_made()))
def test_every_worker_says_its_options(tmp_path: Path, name: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(program(name), encoding="utf-8")
    done = subprocess.run([sys.executable, str(path), "--help"], capture_output=True, text=True, check=True)
    assert "--batch BATCH" in done.stdout


def test_the_list_of_workers(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["neural", "worker"]) == 0
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == sorted(ready_made())
    assert main(["neural", "worker", "blert"]) == 2
    assert "unknown worker 'blert'; did you mean 'bleurt'" in capfd.readouterr().err


def test_scores_of_a_module_that_changed_are_computed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "my" / "judge.py"
    module.parent.mkdir()
    for score in (1.0, 2.0):
        module.write_text(f"def load():\n    return lambda items: [{score}] * len(items)\n", encoding="utf-8")
        feature = NeuralWorker("my.judge", score_cache=ScoreFolder(tmp_path / "scores"))
        assert set(feature.score_candidates(None, LISTS[0]).tolist()) == {score}
        feature.close()
