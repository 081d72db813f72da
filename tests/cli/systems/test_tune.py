"""``smt tune`` as people use it: lists of any toolkit, extractor files, forests, a decoder in a loop."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt_

Smt = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[3]
TOYS = ROOT / "tests/host/toy_learners.py"
POLICIES = ROOT / "tests/host/toy_policies.py"
DECODING = ROOT / "examples/decode-hiero"
TOY = ("--plugin", str(TOYS), "--learner", "toy-perceptron")
BLEU = ("-m", "bleu,tokenize=none")

SLOW = """\
import os, time
from smtplugins import feature

@feature("slow")
class Slow:
    def score_rules(self, rules):
        time.sleep(float(os.environ.get("SLOW", "0")))
        return [0.0] * len(rules)
"""


def rows(table: str, title: str) -> list[list[str]]:
    """The rows of a table below a line that begins with its first column."""
    lines = table.splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[:1] == [title])
    rows = []
    for line in lines[first + 1 :]:
        if not line.strip():
            break
        rows.append(line.split())
    return rows


def tree() -> dict[Path, bytes | None]:
    """All files with what is in them, and all folders."""
    return {path: path.read_bytes() if path.is_file() else None for path in Path().rglob("*")}


class TestLeftovers:
    """A call that fails before it has done anything leaves all files as they were; the corrected one is not hindered.

    It runs behind the first failure of each kind.
    """

    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SMT_CACHE", "off")
        shutil.copytree(ROOT / "examples/rescore-nbest", tmp_path, dirs_exist_ok=True)
        shutil.copytree(DECODING, tmp_path / "system")
        Path("short").write_text("a\n")
        Path("empty").touch()

    @pytest.mark.parametrize(
        ("right", "wrong"),
        [
            (("-r", "ref.en"), ("-r", "no.en")),
            (("-r", "ref.en"), ("-r", "short")),
            (("-r", "ref.en"), ("-r", "empty")),
            (("-i", "moses.nbest"), ("-i", "no.nbest")),
            (("-i", "moses.nbest"), ("-i", "empty")),
            (("-m", "bleu,tokenize=none"), ("-m", "blue")),
            (("--learner", "toy-perceptron"), ("--learner", "toy-stumps")),
            ((), ("-s", "short")),
            ((), ("-w", "ref.en")),
            ((), ("--folds", "1")),
            ((), ("--runs", "0")),
        ],
    )
    @pytest.mark.parametrize("there", [False, True])
    def test_lists(self, smt: Smt, right: tuple[str, ...], wrong: tuple[str, ...], there: bool) -> None:
        if there:
            Path("new/run").mkdir(parents=True)
        given = {"-i": "moses.nbest", "-r": "ref.en", "-o": "w", "--dir": "new/run", "-m": BLEU[1], TOY[0]: TOY[1]}
        call = ["tune", *(part for pair in {**given, "--learner": TOY[3]}.items() for part in pair)]
        broken = list(call)
        if right:
            at = broken.index(right[0])
            assert broken[at + 1] == right[1]
            broken[at + 1] = wrong[1]
        else:
            broken += wrong
        before = tree()
        assert smt(*broken).code in (1, 2)
        assert tree() == before
        assert Path("new").exists() == Path("new/run").exists() == there
        if wrong == ("-r", "no.en"):
            smt(*call).ok()

    @pytest.mark.parametrize(
        "wrong",
        [
            ("-r", "no.en"),
            ("-r", "short"),
            ("-s", "no.de"),
            ("-s", "empty"),
            ("-w", "empty.weights"),
            ("--set", "model.tables=no.txt"),
            ("--set", "decoder.pop_limit=-1"),
            ("--iterations", "0"),
            ("-k", "0"),
            ("-k", "1"),
        ],
    )
    def test_with_a_decoder(self, smt: Smt, wrong: tuple[str, str]) -> None:
        Path("empty.weights").write_text("LM 0\n")
        call = ("tune", "-c", "system/run.yaml", "-r", "system/ref.en", *TOY, *BLEU, "-o", "w", "--dir", "new/run")
        corrected = (*call, "--iterations", "1", "-k", "5", "-q")
        at = 4 if wrong[0] == "-r" else len(corrected)
        broken = [*corrected[:3], *([] if wrong[0] == "-r" else corrected[3:5]), *corrected[5:], *wrong]
        assert at
        before = tree()
        assert smt(*broken).code in (1, 2)
        assert tree() == before
        assert not Path("new").exists()
        if wrong == ("-r", "no.en"):
            smt(*corrected).ok()

    def test_what_is_complete_stays(self, smt: Smt) -> None:
        """A run that fails later can be gone on with."""
        call = ("tune", "-c", "system/run.yaml", "-r", "system/ref.en", *BLEU, "-o", "w", "--dir", "run", "-k", "5")
        result = smt(*call, *TOY[:3], "toy-perceptron,epochs=-1", "-q")
        assert result.code != 0
        assert (Path("run/iteration-0001/candidates.jsonl.gz")).exists() == Path("run").exists()


class TestFrozen:
    @pytest.mark.parametrize("name", ["moses.nbest", "cdec.kbest"])
    def test_lists_of_toolkits(self, smt: Smt, example: Path, name: str) -> None:
        call = ("tune", "-i", name, "-r", "ref.en", *TOY, *BLEU, "-o", "w")
        short, out = smt(*call).ok(), smt(*call, "-v").ok()
        assert out.endswith(short) and "step" not in short
        assert "\nobjective by step\n" in out
        assert [row[0] for row in rows(out, "step")] == ["1", "2", "3", "4"]
        assert {row[0] for row in rows(out, "feature")} <= smt_.load_plugins().read_weights("w").keys()
        start, result = rows(out, "weights")
        assert short.splitlines()[-1].startswith(f"BLEU {start[2]} -> {result[2]} in-sample: ")
        assert (start[0], result[0], result[1]) == ("start", "result", "BLEU")
        assert result[3].endswith("|in-sample")
        weights = smt_.load_plugins().read_weights("w")
        smt("rescore", "-i", name, "-w", "w", "-o", "sorted").ok()
        judged = json.loads(smt("evaluate", "-r", "ref.en", *BLEU, "sorted", "-f", "json").ok())
        assert f"{judged[0]['score']:.2f}" == result[2]
        assert len(weights) > 5

    def test_weights_to_standard_output_and_in_any_format(self, smt: Smt, example: Path) -> None:
        arguments = ("tune", "-i", "moses.nbest", "-r", "ref.en", *TOY, *BLEU)
        alone = smt(*arguments)
        assert alone.code == 0
        assert all(len(line.split()) == 2 for line in alone.out.splitlines())
        assert "in-sample" in alone.err
        weights = smt(*arguments, "-o", "w.pipe", "--to", "pipe-weights", "--precision", "3").ok()
        assert weights
        assert "LM0" in Path("w.pipe").read_text()
        piped = smt(*arguments[:1], *arguments[3:], stdin=Path("moses.nbest").read_bytes())
        assert (piped.code, piped.out) == (0, alone.out)

    def test_same_bytes_for_any_jobs(self, smt: Smt, example: Path) -> None:
        for jobs in "123":
            smt(
                "tune",
                "-i",
                "moses.nbest",
                "-r",
                "ref.en",
                *TOY,
                *BLEU,
                "-q",
                "--runs",
                "3",
                "-j",
                jobs,
                "-o",
                f"w{jobs}",
            ).ok()
        assert Path("w1").read_bytes() == Path("w2").read_bytes() == Path("w3").read_bytes()

    def test_runs_and_json(self, smt: Smt, example: Path) -> None:
        arguments = ("tune", "-i", "moses.nbest", "-r", "ref.en", *TOY, *BLEU, "--runs", "2", "--seed", "4", "-o", "w")
        out = smt(*arguments).ok()
        assert "2 runs: mean" in out
        assert "result (average of 2 runs)" in out
        assert "run 2 (seed 5)" in out
        assert "best of 2 runs, seed" in smt(*arguments, "--combine", "best").ok()
        record = json.loads(smt(*arguments, "-f", "json").ok())
        assert {row["run"] for row in record["steps"]} == {1, 2}
        assert record["deviation"] >= 0
        assert [record["gain"][name] for name in ("before", "after")] == [
            record["results"][at]["score"] for at in (0, -1)
        ]
        assert {"feature", "weight", "score", "change"} == record["left_out"][0].keys()

    def test_folds(self, smt: Smt, example: Path) -> None:
        arguments = ("tune", "-i", "moses.nbest", "-r", "ref.en", *TOY, *BLEU, "--folds", "4", "-o", "w")
        out = smt(*arguments, "--resorted", "sorted.nbest").ok()
        held = rows(out, "weights")[-1]
        assert held[:2] == ["held", "out"]
        assert held[4].endswith("|folds:4")
        judged = json.loads(smt("evaluate", "-r", "ref.en", *BLEU, "sorted.nbest", "-f", "json").ok())
        assert f"{judged[0]['score']:.2f}" == held[3]
        lines = [line.split(" ||| ")[0:3] for line in Path("sorted.nbest").read_text().splitlines()]
        assert sorted(lines) == sorted(
            line.split(" ||| ")[0:3] for line in Path("moses.nbest").read_text().splitlines()
        )

    def test_a_run_that_is_kept_and_resumed(self, smt: Smt, example: Path) -> None:
        arguments = ("tune", "-i", "moses.nbest", "-r", "ref.en", *TOY, *BLEU, "-o", "w", "--dir", "run")
        first = smt(*arguments).ok()
        weights = Path("w").read_bytes()
        assert Path("run/weights").read_bytes() == weights
        again = smt(*arguments)
        assert (again.code, again.err.startswith("smt: run: already contains a run")) == (2, True)
        shutil.rmtree("run")
        assert smt(*arguments, "--resume").ok() == first
        assert smt(*arguments, "--resume").ok() == first

    def test_a_run_names_its_learner_and_the_weights_of_another_run(self, smt: Smt, example: Path) -> None:
        folders = ("--dir", "run", "-w", "before")
        arguments = ("tune", "-i", "moses.nbest", "-r", "ref.en", *BLEU, "-q", "-o", "w", *folders)
        Path("before").mkdir()
        Path("before/weights").write_text("LM0 1\n")
        smt(*arguments).ok()
        record = json.loads(Path("run/manifest.json").read_text())
        assert record["options"]["learner"] == "minrisk"
        refused = smt(*arguments, "--resume", "--learner", "mert")
        assert "options differ from those of the run in the folder: learner." in refused.err
        Path("before/weights").write_text("LM0 2\n")
        assert "inputs differ from those of the run in the folder: before." in smt(*arguments, "--resume").err

    def test_manifest(self, smt: Smt, example: Path) -> None:
        smt("tune", "-i", "moses.nbest", "-r", "ref.en", *TOY, *BLEU, "-o", "w", "--manifest", "m").ok()
        record = json.loads(Path("m").read_text())
        assert sorted(record["inputs"]) == sorted(["moses.nbest", "ref.en", str(TOYS)])
        assert record["signatures"][0].endswith("in-sample")

    def test_features_that_all_are_there_in_the_tables_of_learners(self, smt: Smt) -> None:
        assert "toy-perceptron" in smt("learners", "--plugin", TOYS).ok()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("-i", "moses.nbest"), 2, "expected references to learn with (-r FILE)"),
        (("-i", "empty", "-r", "ref.en"), 1, "empty:1: field 1: expected"),
        (
            ("-i", "moses.nbest", "-r", "strange"),
            1,
            "BLEU scores all hypotheses of each list the same: do the references",
        ),
        (("-i", "moses.nbest", "-r", "short"), 1, "moses.nbest:41: expected an id below 2, as short has 2 lines"),
        (("-i", "moses.nbest", "-r", "ref.en", "--to", "cdec-nbest"), 2, "format 'cdec-nbest' is of kind nbest"),
        (
            ("-i", "moses.nbest", "-r", "ref.en", "-o", "no/where"),
            2,
            "no/where: expected an existing folder, found no no",
        ),
        (("-i", "moses.nbest", "-r", "ref.en", "-k", "5"), 2, "--nbest needs a decoder"),
        (("-i", "moses.nbest", "-r", "ref.en", "--iterations", "5"), 2, "--iterations needs a decoder"),
        (("-i", "moses.nbest", "-r", "ref.en", "--epsilon", "0"), 2, "--epsilon needs a decoder"),
        (("-i", "moses.nbest", "-r", "ref.en", "--resume"), 2, "--resume needs the folder of the run"),
        (
            ("-c", "run.yaml", "--allow-partial"),
            2,
            "-i, --from, --scores, --forests and --allow-partial cannot be used with -c",
        ),
        (("-i", "moses.nbest", "-r", "ref.en", "--resorted", "x"), 2, "--resorted needs lists"),
        (("-c", "run.yaml", "--folds", "3", "--resorted", "x"), 2, "--resorted needs lists"),
        (("-i", "moses.nbest", "-r", "ref.en", "--keep", "LM0"), 2, "learner 'toy-perceptron' cannot keep weights"),
        (
            ("-c", "run.yaml", "-i", "x"),
            2,
            "-i, --from, --scores, --forests and --allow-partial cannot be used with -c",
        ),
        (("--scores", "x", "-i", "y", "-r", "ref.en"), 2, "--scores cannot be used with -r or --forests"),
    ],
)
def test_wrong_calls(smt: Smt, example: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    Path("empty").touch()
    Path("strange").write_text("x y z\n" * 20)
    Path("short").write_text("a\nb\n")
    result = smt("tune", *TOY, *BLEU, "-o", "w", *arguments)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(f"smt: {message}")
    assert not Path("w").exists()


class TestDecoder:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path) -> None:
        shutil.copytree(DECODING, tmp_path, dirs_exist_ok=True)

    def test_until_it_ends(self, smt: Smt) -> None:
        arguments = ("tune", "-r", "ref.en", *TOY, *BLEU, "--iterations", "2", "-k", "10", "-o", "w")
        result = smt(*arguments, "-c", "run.yaml", "--dir", "out")
        assert result.code == 0
        assert "stopped: " in result.out.splitlines()[-1]
        assert "by iteration" not in result.out
        more = smt(*arguments, "-c", "run.yaml", "--dir", "out", "-v", "-q", "--resume").ok()
        shown, drawn = more.split("\nBLEU by iteration\n")
        assert shown + drawn[drawn.index("\nmetric") :] == result.out
        assert [line for line in result.err.splitlines() if line.startswith("smt: iteration 1 of 2: BLEU")]
        assert Path("out/weights").read_bytes() == Path("w").read_bytes()
        other = smt(*arguments, "-c", "cdec.ini", "-s", "source.de", "-w", "weights", "--dir", "other", "-q")
        assert (other.code, other.err) == (0, "")
        assert Path("other/weights").exists()
        record = json.loads(Path("out/manifest.json").read_text())
        names = sorted(Path(path).name for path in record["inputs"])
        assert names == ["en.arpa", "ref.en", "rules.txt", "source.de", "weights"]

    def test_a_run_is_moved_with_its_files(self, smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
        arguments = ("tune", "-r", "ref.en", *TOY, *BLEU, "--iterations", "1", "-k", "10", "-o", "w", "-c", "run.yaml")
        smt(*arguments, "--dir", "runs/out", "-q").ok()
        names = [path for path in Path().iterdir() if path.name != "moved"]
        Path("moved").mkdir()
        for path in names:
            path.rename(Path("moved") / path.name)
        monkeypatch.chdir("moved")
        manifest = Path("runs/out/manifest.json").read_bytes()
        assert str(Path.cwd().parent).encode() not in manifest
        smt(*arguments, "--dir", "runs/out", "-q", "--resume").ok()
        assert Path("runs/out/manifest.json").read_bytes() == manifest
        result = smt("report", "runs/out", "-o", "report.html")
        assert (result.code, "no lists in this report" in result.err) == (0, False)

    def test_features_are_added_to_those_of_the_configuration(self, smt: Smt) -> None:
        arguments = ("tune", "-r", "ref.en", *TOY, *BLEU, "--iterations", "1", "-k", "5", "-o", "w", "-q")
        smt(*arguments, "-c", "run.yaml", "--dir", "out", "--feature", "length,name=Words").ok()
        assert "\nWords " in Path("w").read_text()
        plain = smt(*arguments, "-c", "run.yaml", "--dir", "out", "--resume")
        assert (plain.code, "begin with this one's weights" in plain.err) == (2, True)
        wrong = smt(*arguments, "-c", "run.yaml", "--dir", "other", "--feature", "lenght")
        assert (wrong.code, wrong.err) == (2, "smt: --feature: unknown feature 'lenght'; did you mean 'length'?\n")
        without = smt("tune", "-i", "lists", "--feature", "length")
        assert without.err == "smt: --feature needs a decoder's configuration (-c)\n"

    def test_references_of_any_shape(self, smt: Smt) -> None:
        """A text that no format fits says how it can be given."""
        lines = [f"{line} ||| " for line in Path("ref.en").read_text().splitlines()]
        Path("odd").write_text("\n".join(lines) + "\n")
        arguments = ("tune", "-c", "run.yaml", *TOY, *BLEU, "--iterations", "1", "-k", "5", "-o", "w", "-q")
        refused = smt(*arguments, "-r", "odd", "--dir", "odd-run")
        assert refused.code == 1
        assert 'a known format (JSON lines {"id": 0, "reference": ".."} hold any text), found ' in refused.err
        records = (json.dumps({"id": i, "reference": line}) for i, line in enumerate(lines))
        Path("odd.jsonl").write_text("".join(f"{record}\n" for record in records))
        smt(*arguments, "-r", "odd.jsonl", "--dir", "run").ok()

    def test_a_run_has_a_folder(self, smt: Smt) -> None:
        result = smt("tune", "-c", "run.yaml", "-r", "ref.en", *TOY)
        assert (result.code, result.err) == (
            2,
            "smt: expected a folder for the run (--dir DIR, or output.dir in the configuration), found none\n",
        )

    def test_killed_in_the_middle_of_decoding_it_goes_on(self, smt: Smt, start: Callable[..., Any]) -> None:
        Path("slow.py").write_text(SLOW)
        text = Path("run.yaml").read_text().replace("    - word-penalty", "    - slow\n    - word-penalty", 1)
        Path("run.yaml").write_text("plugins: [slow.py]\n" + text)
        arguments = (
            "tune",
            "-c",
            "run.yaml",
            "-r",
            "ref.en",
            *TOY,
            *BLEU,
            "--iterations",
            "2",
            "-k",
            "5",
            "--seed",
            "1",
        )
        whole = smt(*arguments, "--dir", "whole", "-o", "w1")
        assert whole.code == 0, whole.err
        process = start(*arguments, "--dir", "killed", "-o", "w2", env={**os.environ, "SLOW": "0.1"})
        while process.poll() is None and not list(Path("killed").glob("iteration-0002/.candidates*")):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        assert process.wait(timeout=300) == -signal.SIGKILL
        assert not Path("w2").exists()
        assert list(Path("killed").glob("iteration-0002/.candidates*"))
        resumed = smt(*arguments, "--dir", "killed", "-o", "w2", "--resume")
        assert resumed.out == whole.out
        files, wanted = (
            {path.relative_to(name): path.read_bytes() for path in Path(name).rglob("*") if path.is_file()}
            for name in ("killed", "whole")
        )
        for tree in (files, wanted):
            # Folder and output are named otherwise.
            tree.pop(Path("manifest.json"))
        assert files == wanted


class TestPolicy:
    """A learner of search tasks, and a decoder that has one."""

    ARGUMENTS = ("tune", "--plugin", str(POLICIES), "-c", "run.yaml", "--learner", "trying", *BLEU)

    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path) -> None:
        Path("source").write_text("das haus geht nach haus\ngeht das nach das haus\ndas haus geht\nnach das haus\n")
        Path("ref").write_text(
            "the house walks after home\nwalks that after that house\nthe house walks\nto that home\n"
        )
        Path("run.yaml").write_text("decoder: by-word\nsource: source\nreferences: [ref]\n")

    def test_epochs_and_result(self, smt: Smt) -> None:
        out = smt(*self.ARGUMENTS, "-v", "--dir", "out", "-o", "w", "--manifest", "m.json").ok()
        assert [row[0] for row in rows(out, "step")] == ["1", "2", "3", "4", "5", "6"]
        start, result = rows(out, "weights")
        assert (start[0], result[0], result[1]) == ("start", "result", "BLEU")
        assert result[3].endswith("|in-sample")
        assert Path("out/weights").read_bytes() == Path("w").read_bytes()
        assert json.loads(Path("m.json").read_text())["signatures"] == [result[3]]
        smt("decode", "--plugin", str(POLICIES), "-c", "run.yaml", "-w", "w", "-o", "text").ok()
        judged = json.loads(smt("evaluate", "-r", "ref", *BLEU, "text", "-f", "json").ok())
        assert result[2] == f"{judged[0]['score']:.2f}"

    def test_options_of_learning(self, smt: Smt) -> None:
        arguments = (*self.ARGUMENTS, "--runs", "2", "--combine", "best", "--seed", "3", "--keep", "length")
        out = smt(*arguments, "--dir", "one", "-o", "w1", "-f", "json").ok()
        record = json.loads(out)
        assert [row["weights"] for row in record["results"]][1:3] == ["run 1 (seed 3)", "run 2 (seed 4)"]
        assert smt_.load_plugins().read_weights("w1")["length"] == 0.25
        again = smt(*arguments, "--dir", "two", "-o", "w2", "-f", "json", "-j", "2", "-q").ok()
        assert again == out
        assert Path("w1").read_bytes() == Path("w2").read_bytes()

    def test_a_configuration_may_say_it_all(self, smt: Smt) -> None:
        Path("own.yaml").write_text(
            f"plugins: [{POLICIES}]\ndecoder: by-word\nsource: source\nreferences: [ref]\nseed: 3\n"
            "learner: {name: trying, runs: 2, epochs: 3}\nmetric: {name: bleu, tokenize: none}\noutput: {dir: own}\n"
        )
        out = smt("tune", "-c", "own.yaml", "-o", "w1", "-q", "-v").ok()
        assert "objective by step, all runs" in out
        assert [row[:2] for row in rows(out, "run")] == [[run, step] for run in "12" for step in "123"]
        same = ("--runs", "2", "--seed", "3", "--learner", "trying,epochs=3")
        smt(*self.ARGUMENTS, *same, "--dir", "out", "-o", "w2", "-q").ok()
        assert Path("w1").read_bytes() == Path("w2").read_bytes()

    def test_a_run_is_gone_on_with(self, smt: Smt) -> None:
        out = smt(*self.ARGUMENTS, "--dir", "out", "-o", "w").ok()
        refused = smt(*self.ARGUMENTS, "--dir", "out", "-o", "w")
        assert (refused.code, "already contains a run; resume it (--resume)" in refused.err) == (2, True)
        before = Path("w").read_bytes()
        shutil.rmtree("out/run-1")
        assert smt(*self.ARGUMENTS, "--dir", "out", "-o", "w", "--resume").ok() == out
        assert Path("w").read_bytes() == before

    def test_options_that_mean_nothing_here(self, smt: Smt) -> None:
        for given in (("--iterations", "3"), ("--whole",), ("-k", "5"), ("--epsilon", "0"), ("--select", "last")):
            result = smt(*self.ARGUMENTS, "--dir", "out", *given)
            assert (result.code, result.out) == (2, "")
            named = given[0].replace("-k", "--nbest")
            assert f"{named} cannot be used" in result.err
            assert result.err.startswith("smt: learner 'trying' learns the decoder's own decisions")
        other = smt(*self.ARGUMENTS, "--dir", "out", "--decoder", "silent")
        assert (other.code, "decoders that have one: by-word" in other.err) == (2, True)
        assert "expected a folder for the run" in smt(*self.ARGUMENTS).err
        assert not Path("out").exists()


@pytest.mark.shared
def test_moses_extractor_files(smt: Smt, shared: Path) -> None:
    folder = shared / "gold/moses/tune-pb"
    files = ("-i", folder / "run6.features.dat.gz", "--scores", folder / "run6.scores.dat.gz")
    out = smt("tune", *files, *TOY, "-o", "w").ok()
    assert rows(out, "weights")[-1][3].startswith("BLEU|stats:run6.scores.dat.gz|")
    weights = smt_.load_plugins().read_weights("w")
    assert {"LM0", "TranslationModel0[3]", "LexicalReordering0[5]", "WordPenalty0"} <= weights.keys()
