"""Learning a decoder's policy in a folder: results, errors, and a killed run ends in the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.host import Host
from smtplugins.host.judge.histories import read_runs
from smtplugins.host.learn import policies
from smtplugins.host.learn.tuning import Tuned
from smtplugins.host.runs import RunDirectory
from smtplugins.testing.cases import LearnerChecks
from tests.host.killing import killed, moments, tree

EVENTS = ((policies.TaskMaterial, "score"),)
TOYS = Path(__file__).parents[1] / "toy_policies.py"
SOURCE = "das haus geht nach haus\ngeht das nach das haus\ndas haus geht\nnach das haus geht das\ngeht\n"
REFS = "the house walks after home\nwalks that after that house\nthe house walks\nafter that house walks that\nwalks\n"
RUN = """\
decoder: by-word
source: source
references: [ref]
metric: {name: bleu, tokenize: none}
learner: trying
"""
LAZY = """
from smtplugins import Offer, hookimpl

@hookimpl
def smt_decoders():
    yield Offer(name="absent", make="no_such_module:Decoder", summary="x")
"""


class TestKit(LearnerChecks):
    offer = "trying"
    plugins = (TOYS,)


@pytest.fixture(scope="module")
def host() -> Host:
    return smt.load_plugins([TOYS])


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("source").write_text(SOURCE)
    Path("ref").write_text(REFS)
    Path("run.yaml").write_text(RUN)


def tune(host: Host, folder: str, *config: str, **options: Any) -> Tuned:
    return host.tune_policy("run.yaml", config, folder=folder, **{"cache": "off", **options})


class TestResults:
    def test_weights_and_what_the_decoder_makes_with_them(self, host: Host) -> None:
        done = tune(host, "out")
        assert done.begun is not None
        assert done.score > done.begun
        assert len(done.runs[0].steps) == 6
        assert done.rows()[0].keys() == {"run", "step", "objective", "examples"}
        assert [row["weights"] for row in done.results()] == ["start", "result"]
        made = host.translator("run.yaml", weights=dict(done), cache="off")
        texts = [decoding.best for decoding in made.decode(SOURCE.splitlines())]
        judged = host.evaluate(["ref"], {"x": texts}, ["bleu,tokenize=none"]).scores[0]
        assert judged.score == pytest.approx(done.score)
        assert judged.signature + "|in-sample" == done.signature
        assert done.gain is not None
        assert (done.gain.before, done.gain.after) == (done.begun, done.score)
        assert host.read_weights("out/weights") == dict(done)
        record = json.loads(Path("out/result.json").read_text())
        assert (record["score"], record["signature"]) == (done.score, done.signature)
        model, _ = RunDirectory(Path("out/run-1")).step(6)
        assert dict(model.weights) == dict(done)

    def test_a_run_is_one_for_reports_and_for_evaluation(self, host: Host) -> None:
        done = tune(host, "out", command=["smt", "tune"])
        (run,) = read_runs(["out"])
        assert run.steps == (1, 2, 3, 4, 5, 6)
        assert run.curves["objective"] == tuple(row["objective"] for row in done.rows())
        assert (
            host.evaluate(["ref"], {"x": SOURCE.split("\n")[:-1]}, tuned_on=["out"])
            .scores[0]
            .signature.endswith("in-sample")
        )

    def test_weights_to_begin_with(self, host: Host) -> None:
        # The task has weights for names that the run knows nothing of.
        assert tune(host, "task", "learner.rate=1e-9")["length"] == pytest.approx(0.25, abs=1e-6)
        Path("w").write_text("length -0.5\nelse 3\n")
        given = tune(host, "given", "learner.rate=1e-9", start="w")
        assert (given["length"], given["else"]) == (pytest.approx(-0.5, abs=1e-6), 3.0)
        config = tune(host, "config", "learner.rate=1e-9", "model.weights=w")
        assert dict(config) == dict(given)

    def test_kept_weights_stay(self, host: Host) -> None:
        assert tune(host, "out", keep=["length"])["length"] == 0.25
        assert tune(host, "other")["length"] != 0.25

    def test_runs_and_jobs(self, host: Host) -> None:
        first = tune(host, "one", runs=3)
        two = tune(host, "two", runs=3, jobs=2)
        assert tree("one") == tree("two")
        assert first == two
        assert [run.seed for run in first.runs] == [1, 2, 3]
        alone = [dict(tune(host, f"seed-{n}", f"seed={n}")) for n in (1, 2, 3)]
        assert [dict(run.weights) for run in first.runs] == alone
        names = {name for run in alone for name in run}
        mean = {name: sum(run.get(name, 0.0) for run in alone) / 3 for name in names}
        assert dict(first) == pytest.approx(mean)
        best = tune(host, "best", runs=3, combine="best", jobs=2)
        assert best.score == max(run.score for run in best.runs)
        assert tree("seed-1").keys() == tree("one").keys() - {
            name for name in tree("one") if name.startswith(("run-2", "run-3"))
        }
        tune(host, "jobs", jobs=2)
        assert tree("jobs") == tree("seed-1")

    def test_sentences_without_a_translation_count_as_empty(self, host: Host) -> None:
        notes: list[str] = []
        Path("source").write_text(SOURCE.replace("\ngeht\n", "\nunknown\n"))
        tune(host, "out", note=notes.append)
        assert notes == ["1 sentences have no translation and count as empty"]
        Path("source").write_text("unknown\n" * 5)
        with pytest.raises(SmtError, match="no sentence has a translation"):
            tune(host, "other")


class TestRefused:
    def test_learners_and_decoders_without_tasks(self, host: Host) -> None:
        assert policies.takes_tasks_only(host, Spec("trying"))
        assert not policies.takes_tasks_only(host, Spec("mert"))
        with pytest.raises(
            UsageError, match="expected a learner of policies, found 'mert', which takes no search task"
        ):
            tune(host, "out", "learner=mert")
        with pytest.raises(UsageError) as caught:
            tune(host, "out", "decoder=silent")
        assert "learner 'trying' needs a decoder with a search task, and 'silent' has none" in str(caught.value)
        assert "decoders that have one: by-word" in str(caught.value)
        Path("nbest").write_text("0 ||| a ||| x= 1 ||| 1\n0 ||| b ||| x= 2 ||| 2\n")
        Path("one").write_text("b\n")
        with pytest.raises(
            UsageError, match="'trying' learns from tasks, not from lists: it needs a decoder's configuration"
        ):
            host.tune("nbest", ["one"], learner="trying")

    def test_decoders_that_cannot_be_imported_are_not_suggested(self) -> None:
        Path("lazy.py").write_text(LAZY)
        with pytest.raises(UsageError, match=r"'silent' has none; decoders that have one: .*by-word") as caught:
            tune(smt.load_plugins([TOYS, "lazy.py"]), "out", "decoder=silent")
        assert "absent" not in str(caught.value)

    def test_what_is_needed(self, host: Host) -> None:
        for change, message in (
            ("references=[]", "learning needs references in the configuration"),
            ("source=null", "learning needs a source in the configuration"),
            ("learner=null", "tune_policy: expected a learner, found none"),
            ("decoder=null", "the configuration names no decoder"),
        ):
            with pytest.raises(UsageError, match=message):
                tune(host, "out", change)
        with pytest.raises(UsageError, match="name a folder for the run"):
            host.tune_policy("run.yaml")
        Path("ref").write_text("a\n" * 4)
        with pytest.raises(SmtError, match=r"line numbers of .*ref as sentence ids \(0 to 3\), found 4"):
            tune(host, "out")

    def test_weights_that_are_no_numbers(self, host: Host) -> None:
        with pytest.raises(SmtError, match=r"weight of 'length': expected a number that fits 32-bit floats, found nan"):
            tune(host, "out", start={"length": float("nan")})
        with pytest.raises(SmtError, match="expected finite"):
            tune(host, "other", "learner.rate=1e308")
        assert not Path("other/weights").exists()

    def test_another_run_is_not_gone_on_with(self, host: Host) -> None:
        tune(host, "out")
        with pytest.raises(UsageError, match="already contains a run; resume it"):
            tune(host, "out")
        with pytest.raises(UsageError, match="cannot resume, options differ"):
            tune(host, "out", "learner.rate=2", resume=True)
        Path("ref").write_text(REFS.replace("home", "house"))
        with pytest.raises(UsageError, match="cannot resume, inputs differ"):
            tune(host, "out", resume=True)


def test_a_killed_run_ends_in_the_same_bytes(host: Host) -> None:
    def go(folder: str, resume: bool) -> Callable[[], Tuned]:
        return lambda: tune(host, folder, "learner.epochs=3", runs=2, resume=resume)

    go("here", False)()  # imports what each child would import again
    events = killed(go("whole", False), -1, EVENTS)
    wanted = tree("whole")
    assert events > 40
    for at in moments(events, 5):
        folder = f"killed-{at}"
        assert killed(go(folder, True), at, EVENTS) == at
        # Killed once more on the way, then left alone.
        killed(go(folder, True), 7, EVENTS)
        go(folder, True)()
        assert tree(folder) == wanted, at


def test_a_finished_run_is_told_again(host: Host) -> None:
    first = tune(host, "out")
    before = tree("out")
    assert tune(host, "out", resume=True) == first
    assert tree("out") == before


def test_settings_of_a_run_are_those_of_its_manifest(host: Host) -> None:
    tune(host, "out", command=["smt", "tune", "--resume", "-c", "run.yaml"])
    record = json.loads(Path("out/manifest.json").read_text())
    assert record["command"] == ["smt", "tune", "-c", "run.yaml"]
    assert sorted(Path(path).name for path in record["inputs"]) == ["ref", "source"]
    assert record["options"]["start"] == {}
    assert load_config("run.yaml").learner == Spec("trying")
