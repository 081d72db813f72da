"""``smt umt compare`` and ``smt umt sensitivity``: the paper's own figures, and the same steps done one by one."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt_
from smtplugins.cli.main import main
from smtplugins.contracts.spec import Spec, parameters
from smtplugins.host.study.study_tables import StudyTable, render_tables
from smtplugins.plugins.umt.study import tables
from smtplugins.plugins.umt.study.command import configure
from smtplugins.plugins.umt.study.runs import judge_runs
from smtplugins.plugins.umt.study.sensitivity import Varied
from smtplugins.plugins.umt.study.systems import UmtCase
from smtplugins.plugins.umt.study.tables import DecodedTest, Learnt, Verdict
from tests.plugins.cut_examples import EXAMPLES, cut

NAMES = {"umt": "umt + drl", "hiero-1": "hiero K=1 + mert", "hiero-30": "hiero K=30 + mert"}
METRIC = "bleu,tokenize=none"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Commands in a copy of the example with fewer sentences."""
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLES / "umt", folder)
    cut("umt", folder, {"train.de": 12, "train.en": 12, "test.de": 8, "test.en": 8})
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SMT_CACHE", "off")

    def command(*arguments: Any) -> tuple[int, str, str]:
        code = main([str(one) for one in arguments])
        found = capsys.readouterr()
        return code, found.out, found.err

    return command


SHORT = ("--drl", "epochs=2", "--tune-iterations", "1", "--tune-nbest", "20", "--mert", "restarts=2")
TEST = ("-c", "run.yaml", "--test", "test.de", "--test-ref", "test.en")


def compare(run: Run, *arguments: Any) -> Any:
    folder = ("-o", f"folder-{len(list(Path().glob('folder-*')))}")
    code, out, err = run("umt", "compare", *TEST, *SHORT, "-q", "-f", "json", *folder, *arguments)
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_runner_and_raw_text_are_refused(run: Run) -> None:
    code, _, err = run("umt", "compare", *TEST, *SHORT, "--set", "runner=serial", "-o", "new")
    assert code == 2
    assert "--set: runner: expected none, as a comparison runs in the processes of -j N" in err
    code, _, err = run("umt", "compare", *TEST, *SHORT, "--set", "text=prepared", "-o", "new")
    assert (code, "--set: text: expected none, as a comparison reads prepared text" in err) == (2, True)
    assert not Path("new").exists()


def test_a_call_that_fails_leaves_nothing(run: Run, fails_without_trace: Callable[[list[str], Path], None]) -> None:
    out = Path("new/out")
    for command in ("compare", "sensitivity"):
        fails_without_trace(["umt", command, *TEST, "-q", "-o", str(out)], out)


def rows(found: Any, table: str) -> dict[str, Any]:
    return {row["name"]: row for row in found["tables"][table]["rows"]}


def record(table: StudyTable) -> Any:
    return table.record()["rows"]


class TestTables:
    """The figures of the paper give the paper's tables."""

    def test_of_decoding(self) -> None:
        trials = {
            key: DecodedTest(("",) * 4, 4 * one["decoding"] / 1000, 4 * one["search"] / 1000, {})
            for key, one in tables.PAPER.items()
        }
        found = record(tables.speed_table(NAMES, trials, 3))
        assert [row["decoding"] for row in found] == pytest.approx([135.2, 232.0, 312.8])
        # The paper has 71.59 and 263.23, cut off rather than rounded.
        assert [row["decoding_variation"] for row in found[1:]] == pytest.approx([71.59, 131.36], abs=0.011)
        assert [row["search_variation"] for row in found[1:]] == pytest.approx([263.23, 483.29], abs=0.011)
        assert found[0]["decoding_variation"] is None
        for row in found:
            for what in ("decoding", "search"):
                assert row[what] == pytest.approx(row[f"paper_{what}"])
                assert row[f"{what}_variation"] == pytest.approx(row[f"paper_{what}_variation"])

    def test_of_training(self) -> None:
        learnt = {key: Learnt({}, one["training"] * 0.05, 50, 10, "epochs", 0.0) for key, one in tables.PAPER.items()}
        found = tables.training_table(NAMES, learnt).rows
        assert [row["training"] for row in found] == pytest.approx([267.4, 765.2, 1153.5])
        assert [row["a_pass"] for row in found] == pytest.approx([26.74, 76.52, 115.35])
        assert [row["training_variation"] for row in found[1:]] == pytest.approx([186.16, 331.37], abs=0.011)
        assert [row["made"] for row in found] == ["10 epochs"] * 3
        assert Learnt({}, 1.0, 1, 1, "iterations", 0.0).made == "1 iteration"

    def test_of_translations(self) -> None:
        scores = {key: Verdict(one["score"], "", {"sign": 0.5}) for key, one in tables.PAPER.items()}
        found = tables.quality_table(NAMES, scores, "BLEU", True, 919).rows
        assert [row["loss"] for row in found[:2]] == pytest.approx([6.33, 4.07], abs=0.011)
        assert found[2]["loss"] is None
        worse = tables.quality_table(NAMES, {**scores, "umt": Verdict(40.0, "", {})}, "TER", False, 1).rows
        assert worse[0]["loss"] == pytest.approx(100 * (40 - 32.18) / 32.18)

    def test_of_nothing_translated(self) -> None:
        none = {key: Verdict(0.0, "", {}) for key in NAMES}
        assert tables.quality_table(NAMES, none, "BLEU", True, 1).rows[0]["loss"] is None
        still = {key: DecodedTest(("",), 0.0, 0.0, {}) for key in NAMES}
        assert tables.speed_table(NAMES, still, 1).rows[1]["decoding_variation"] is None

    def test_styles(self) -> None:
        scores = {key: Verdict(one["score"], "", {"sign": 0.5}) for key, one in tables.PAPER.items()}
        table = tables.quality_table(NAMES, scores, "BLEU", True, 919)
        text = render_tables([table, table], "text", False, {})
        assert text.count("Table 3") == 2
        assert "paper" not in text and "paper: BLEU" in render_tables([table], "text", True, {})
        tsv = render_tables([table], "tsv", False, {}).splitlines()
        assert tsv[0].split("\t") == ["model", "BLEU", "relative loss", "p (sign)", "p (bootstrap)"]
        assert len(tsv) == 4
        latex = render_tables([table], "latex", False, {}).splitlines()
        assert latex[0].startswith("% Table 3") and latex[1] == r"\begin{tabular}{lllll}"
        record = json.loads(render_tables([table], "json", False, {"a": 1}))
        assert record["settings"] == {"a": 1}
        assert not any(key.startswith("paper") for row in record["tables"]["quality"]["rows"] for key in row)


def case(*overrides: str) -> UmtCase:
    parser = argparse.ArgumentParser()
    configure(parser)
    changes = [word for text in overrides for word in ("--set", text)]
    return UmtCase(smt_.load_plugins(), parser.parse_args([*TEST, "-m", METRIC, "-o", "out", *changes]))


@pytest.mark.usefixtures("run")
class TestCase:
    def test_p_is_for_the_reference_being_better(self) -> None:
        references = Path("test.en").read_text(encoding="utf-8").splitlines()
        good = DecodedTest(tuple(references), 1.0, 1.0, {})
        bad = DecodedTest(tuple("the " + one.partition(" ")[2] for one in references[::-1]), 1.0, 1.0, {})
        found = judge_runs(case(), {"good": good, "bad": bad}, "good", ["bad", "good"])
        assert found["good"].score == pytest.approx(100) and found["good"].tests == {}
        assert found["bad"].tests["sign"] == pytest.approx(0.5**8)
        assert found["bad"].tests["bootstrap"] < 0.05
        other = judge_runs(case(), {"good": good, "bad": bad}, "bad", ["good"])
        assert other["good"].tests["sign"] == 1.0

    def test_conventions_go_from_one_decoder_to_the_other(self) -> None:
        made = case("decoder={name: hiero, max_span: 9, pop_limit: 77, beam: 3, goal: S, markers: false}")
        assert made.umt().decoder.options == {"max_span": 9, "goal": "S", "markers": False}
        options = {"max_span": 9, "beam": 3, "goal": "S", "markers": False, "search": "cube_pruning"}
        assert made.hiero(30).decoder.options == {**options, "pop_limit": 30}
        from_umt = case("decoder={name: umt, max_span: 9, cff_lm: 0.5}")
        assert from_umt.umt().decoder.options == {"max_span": 9, "cff_lm": 0.5}
        assert from_umt.hiero(1).decoder.options == {"max_span": 9, "search": "cube_pruning", "pop_limit": 1}

    def test_one_derivation_teaches_nothing_so_that_two_are_kept_for_learning(self) -> None:
        made = case()
        for pops, learning in ((1, 2), (30, 30)):
            system = made.hiero(pops)
            assert system.learner == Spec("mert")
            for use, wanted in ((False, pops), (True, learning)):
                decoder = made.config_of(system, learning=use).decoder
                assert decoder is not None and decoder.options["pop_limit"] == wanted

    def test_each_option_of_bounds_has_its_name_in_the_feature(self) -> None:
        from smtplugins.plugins.umt.features.cff import Cff
        from smtplugins.plugins.umt.growing.decoder import Umt
        from smtplugins.plugins.umt.study.systems import _CFF

        of_bounds = {name for name in parameters(Umt) if name.startswith("cff") or name == "first_pass_path"}
        assert _CFF.keys() == of_bounds
        assert set(_CFF.values()) == parameters(Cff).keys() - {"weight"}

    def test_the_feature_of_a_configuration_is_left_out_for_the_ablation(self) -> None:
        features = "model.features=['lm,path=en.arpa,base=10,name=LM', 'cff,mode=slots,scale=2,name=Bounds']"
        made = case(features)
        without = made.umt().but("none", "none", cff="none")
        modes = {}
        for system in (made.umt(), without):
            translator: Any = made.translator(system)
            modes[system.key] = translator.decoder.cff.mode, translator.decoder.cff.scale
        assert modes == {"umt": ("slots", 2.0), "none": ("none", 2.0)}


class TestCompare:
    def test_is_what_its_steps_are(self, run: Run) -> None:
        found = compare(run, "--table", "quality", "--table", "passes", "-m", METRIC)
        assert found["settings"]["mert learns from"] == "lists of 20"
        quiet = ("-m", METRIC, "-q")
        learn = ("tune", "-c", "run.yaml", *quiet)
        umt = '{"name": "umt", "max_span": 14}'
        mert = ("--learner", "mert,restarts=2", "-k", "20", "--iterations", "1")
        steps = {
            "umt + drl": ("--set", f"decoder={umt}", "--learner", "drl,epochs=2"),
            "hiero K=30 + mert": ("--set", "decoder.pop_limit=30", *mert),
        }
        for number, (name, arguments) in enumerate(steps.items()):
            assert run(*learn, *arguments, "--dir", f"run{number}", "-o", f"w{number}")[0] == 0
            given = arguments[:2]
            decoded = run("decode", "-c", "run.yaml", *given, "-w", f"w{number}", "-i", "test.de", "-o", "out", "-q")
            assert decoded[0] == 0
            _, out, _ = run("evaluate", "-r", "test.en", "out", *quiet, "-f", "json")
            assert rows(found, "quality")[name]["score"] == json.loads(out)[0]["score"]
        assert {name: row["made"] for name, row in rows(found, "passes").items()} == {
            "umt + drl": "2 epochs", "hiero K=1 + mert": "1 iteration", "hiero K=30 + mert": "1 iteration"
        }  # fmt: skip

    def test_all_tables_and_the_folder(self, run: Run) -> None:
        code, out, err = run("umt", "compare", *TEST, *SHORT, "--rounds", "2", "-o", "kept")
        assert code == 0
        assert [one for one in out.splitlines() if ":" in one and "paper" not in one] == [
            "Table 1: decoding, CPU time of a sentence of 8, the best of 2 rounds; rescoring is decoding "
            "without parsing",
            "Table 2: training, CPU time of the whole run for each sentence of 12; K=1 learns with K=2",
            "Table 3: translations of 8 sentences; p (sign) that hiero K=30 + mert is better, p "
            "(bootstrap) that they differ",
            "Context-free-factor features: 8 sentences; p (sign) that umt + drl is better, p "
            "(bootstrap) that they differ",
        ]
        assert "paper: rescoring ms" in out and "decoding test.de, round 2 of 2" in err
        kept = Path("kept")
        assert {one.name for one in kept.iterdir()} == {
            *NAMES, "umt-without-cff", "manifest.json", "result.json", "stats.json"
        }  # fmt: skip
        for one in (*NAMES, "umt-without-cff"):
            assert len((kept / one / "test.txt").read_text(encoding="utf-8").splitlines()) == 8
            assert smt_.load_plugins().read_weights(kept / one / "weights")
        record = json.loads((kept / "manifest.json").read_text(encoding="utf-8"))
        assert [Path(one).name for one in record["tuned_on"]] == ["train.de", "train.en"]
        weights = smt_.load_plugins().read_weights(kept / "umt-without-cff/weights")
        assert "cff" not in weights and "cff" in smt_.load_plugins().read_weights(kept / "umt/weights")
        # Nothing of a test set makes its own score an in-sample one.
        _, out, _ = run("evaluate", "-r", "test.en", "kept/umt/test.txt", "-q")
        assert "in-sample" not in out
        before = (kept / "result.json").read_text(encoding="utf-8")
        code, _, err = run("umt", "compare", *TEST, *SHORT, "-o", "kept", "--resume")
        assert code == 0 and err.count("training: complete, not repeated") == 4
        first, second = json.loads(before)["tables"], json.loads((kept / "result.json").read_text("utf-8"))["tables"]
        for name in ("training", "quality", "cff"):
            assert first[name] == second[name]
        code, _, err = run("umt", "compare", *TEST, *SHORT[2:], "-o", "kept", "--resume")
        assert code == 2 and "options differ" in err

    def test_rows_that_others_are_compared_with_are_always_made(self, run: Run) -> None:
        found = compare(run, "--table", "quality", "--row", "umt", "--no-paper")
        assert [row["key"] for row in found["tables"]["quality"]["rows"]] == ["umt", "hiero-30"]
        assert not any(key.startswith("paper") for row in found["tables"]["quality"]["rows"] for key in row)

    def test_a_killed_run_learns_the_rest_and_jobs_change_nothing(self, run: Run) -> None:
        whole = compare(run, "--table", "cff", "-o", "kept")
        Path("kept/umt-without-cff/training.json").unlink()
        assert compare(run, "--table", "cff", "-o", "kept", "--resume") == whole
        assert compare(run, "--table", "cff", "-j", "2") == whole

    def test_on_what_was_learnt_from_is_told(self, run: Run) -> None:
        for end in ("de", "en"):
            shutil.copy(f"train.{end}", f"test.{end}")
        found = compare(run, "--table", "cff")
        assert found["settings"]["signature"].endswith("|in-sample")

    def test_several_seeds_are_averaged(self, run: Run) -> None:
        found = compare(run, "--table", "passes", "--row", "umt", "--drl", "epochs=2,runs=3")
        assert rows(found, "passes")["umt + drl"]["passes"] == 6

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                ("-c", "run.yaml"),
                "needs sentences to be tested on (--test) and references of the test sentences (--test-ref)",
            ),
            (("-c", "run.yaml", "--test", "test.de"), "needs references of the test sentences (--test-ref)"),
            ((*TEST, "--set", "references=[]"), "references of the source (-r, or `references` in the configuration)"),
            ((*TEST, "--umt", "cff_lm"), "expected key=value after 'umt', found 'cff_lm'"),
            ((*TEST, "--umt", "cff_ml=1"), "no option 'cff_ml'"),
            ((*TEST, "--drl", "epochs=none"), "expected a whole number"),
            ((*TEST, "--rounds", "0"), "rounds: expected 1 or more"),
            ((*TEST, "--tune-iterations", "0"), "iterations: expected 1 or more"),
            ((*TEST, "--nbest", "20"), "--nbest is now --tune-nbest"),
            ((*TEST, "-c", "-"), "not standard input"),
            ((*TEST, "--test", "train.de"), "expected line numbers of test.en as sentence ids (0 to 7), found 8"),
        ],
    )
    def test_errors(self, run: Run, arguments: tuple[str, ...], message: str) -> None:
        code, out, err = run("umt", "compare", *arguments, "-o", "new")
        assert (out, code != 0) == ("", True)
        # Before anything is learnt.
        assert message in err and err.count("\n") == 1

    @pytest.mark.parametrize(("plugin", "message"), [("hiero", "decoder 'hiero'"), ("tuning", "learner 'mert'")])
    def test_a_plugin_that_is_not_there(
        self, run: Run, plugin: str, message: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SMT_DISABLE_PLUGINS", plugin)
        code, _, err = run("umt", "compare", *TEST, "-q", "-o", "new")
        assert code == 2 and f"unknown {message}" in err


class TestSensitivity:
    def test_is_what_several_seeds_give(self, run: Run) -> None:
        arguments = ("umt", "sensitivity", *TEST, "--vary", "drl.epochs=2", "--seeds", "2", "-q", "-o", "kept")
        code, out, err = run(*arguments, "-f", "json")
        assert (code, err) == (0, "")
        (found,) = json.loads(out)["tables"]["sensitivity"]["rows"]
        assert (found["option"], found["value"]) == ("drl.epochs", "2")
        one = compare(run, "--table", "cff", "--seed", "2")
        a, b = found["scores"]
        assert rows(one, "cff")["umt + drl"]["score"] == b
        assert found["mean"] == pytest.approx((a + b) / 2)
        assert found["deviation"] == pytest.approx(abs(a - b) / 2**0.5)
        again = run(*arguments, "--resume")
        assert again[0] == 0 and again[1].splitlines()[1].split()[:2] == ["option", "value"]

    def test_metric_and_decoder_vary(self, run: Run) -> None:
        vary = ("--vary", "metric.smooth_method=exp,add-k", "--vary", "umt.cff=none")
        code, out, _ = run(
            "umt", "sensitivity", *TEST, "--drl", "epochs=1", *vary, "--seeds", "1", "-q", "-f", "tsv", "-o", "new"
        )
        assert code == 0
        lines = [one.split("\t") for one in out.splitlines()]
        assert [one[:2] for one in lines[1:]] == [
            ["metric.smooth_method", "exp"], ["metric.smooth_method", "add-k"], ["umt.cff", "none"]
        ]  # fmt: skip
        assert [one[3] for one in lines[1:]] == [""] * 3

    @pytest.mark.parametrize("text", ["drl.epochs", "epochs=1", "mert.runs=1", "drl.epochs=1,", "drl.=1"])
    def test_what_varies_has_a_form(self, text: str) -> None:
        with pytest.raises(smt_.contracts.errors.UsageError, match="expected umt"):
            Varied.parse(text)

    def test_errors(self, run: Run) -> None:
        for arguments, message in (
            (("--seeds", "0"), "seeds: expected 1 or more"),
            (("--vary", "drl.epoch=1"), "no option 'epoch'"),
            (("--vary", "metric.smooth=1"), "no option 'smooth'"),
            (("--vary", "umt.lm_mode=no"), "expected one of delta"),
        ):
            code, _, err = run("umt", "sensitivity", *TEST, *arguments, "-o", "new")
            assert code != 0 and message in err
