"""``smt cdlm compare``: the example's data cut short, the paper's order, resumed, refused where something lacks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from smtplugins.cli.main import main
from tests.plugins.cut_examples import EXAMPLES, cut, make_lm, result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's language model and system; fewer sentences to learn from, to tune on and to test on."""
    path = tmp_path_factory.mktemp("compare")
    for name in ("run.yaml", "weights"):
        shutil.copy(EXAMPLES / "cdlm" / name, path)
    sizes = {"train.xx": 150, "train.en": 150, "train.align": 150, "text.en": 18, "tune.xx": 8, "tune.en": 8}
    cut("cdlm", path, {**sizes, "test.xx": 12, "test.en": 12})
    (path / "blank").write_text("\n\n", encoding="utf-8")
    make_lm(path)
    sides = ["-s", str(path / "train.xx"), "-t", str(path / "train.en"), "-a", str(path / "train.align")]
    rules = ["extract", "--rules", "--limits", "chiang", *sides, "--to", "cdec-grammar", "-o", str(path / "tables")]
    assert main([*rules, "-q"]) == 0
    return path


def call(folder: Path, *more: str) -> list[str]:
    texts = ["-i", str(folder / "text.en"), "--test", str(folder / "test.en"), "--lm", str(folder / "en.arpa")]
    small = ["--pop-limit", "20", "--frequent", "20", "--iterations", "1", "-q"]
    return ["cdlm", "compare", *texts, *small, *more]


def with_system(folder: Path) -> list[str]:
    tuning = ["--tuner", "mert,restarts=0", "--tune-nbest", "10", "--tune-iterations", "1", "--seeds", "2"]
    return ["-c", str(folder / "run.yaml"), "--source", str(folder / "test.xx"), *tuning]


def test_a_call_that_fails_leaves_nothing(
    folder: Path, tmp_path: Path, fails_without_trace: Callable[[list[str], Path], None]
) -> None:
    out = tmp_path / "new/out"
    fails_without_trace(call(folder, *with_system(folder), "-o", str(out)), out)


def test_a_tuner_that_cannot_be_is_refused_before_anything_is_learnt(folder: Path, tmp_path: Path) -> None:
    command = [*call(folder, *with_system(folder), "-o", str(tmp_path / "out")), "--tuner", "nosuch"]
    assert main(command) == 2
    assert not (tmp_path / "out").exists()


def test_all_tables_resumed(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = call(folder, *with_system(folder), "-o", str(tmp_path / "out"))
    assert main(command) == 0
    text = capsys.readouterr().out
    assert [line[:8] for line in text.splitlines() if line.startswith("Table")] == ["Table 2:", "Table 3:", "Table 4:"]
    assert "paper: BLEU" in text
    found = result(tmp_path / "out")
    rows = found["tables"]["picking"]["rows"]
    assert [row["name"] for row in rows] == ["baseline LM", "CDLM", "CDLM + TsRB"]
    assert rows[0]["features"] == ["blm"]
    assert rows[2]["features"] == ["blm", "wp", "tsrb"]
    assert rows[0]["score"] == rows[0]["same"]
    assert rows[2]["score"] > rows[0]["score"]
    assert (rows[0]["paper_score"], rows[2]["paper_score"]) == (12.8, 25.3)
    assert found["settings"]["perplexity"]["test"]["sentences"] == 12
    assert "nrefs:1" in found["settings"]["signature"]
    assert [row["key"] for row in found["tables"]["decoder"]["rows"]] == ["without", "with"]
    assert len(found["tables"]["ngrams"]["rows"]) == 4
    # What is there is not made again: the sentences it was made from are not even looked at.
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*") if path.name != "result.json"}
    assert main([*command, "--resume"]) == 0
    assert capsys.readouterr().out == text
    assert before == {one: one.stat().st_mtime_ns for one in before}
    assert result(tmp_path / "out") == found
    assert main(command) == 2
    assert "--resume" in capsys.readouterr().err
    assert main([*command, "--resume", "--cap", "3"]) == 2
    assert "options differ" in capsys.readouterr().err


def test_a_step_that_was_killed_is_made_again(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = ["--system", str(folder / "tables/grammar.gz"), "--cap", "3", "--best=-EgivenF"]
    command = call(folder, *system, "-f", "json", "-o", str(tmp_path / "out"))
    assert main(command) == 0
    whole = capsys.readouterr().out
    assert (
        json.loads(whole)["settings"]["confusions"]["capped"] < json.loads(whole)["settings"]["confusions"]["uncapped"]
    )
    assert set(json.loads(whole)["tables"]) == {"picking"}
    for name in ("picking.json", "tsrb/done.json", "gains.json"):
        (tmp_path / "out" / name).unlink()
    assert main([*command, "--resume"]) == 0
    assert capsys.readouterr().out == whole
    assert main([*command, "--resume", "--row", "blm", "blm+wp", "-f", "tsv", "--no-paper"]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines] == ["model", "baseline LM", "CDLM"]
    rows = json.loads(whole)["tables"]["picking"]["rows"]
    assert [line[4] for line in lines[1:]] == [f"{row['score']:.2f}" for row in rows[:2]]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "-g, --system or -c"),
        (["-g", "weights", "--system", "weights"], "one of -g"),
        (["-g", "weights", "--table", "decoder"], "table 3 needs a system"),
        (["-g", "weights", "--table", "ngrams"], "table 4 needs a system"),
        (["-g", "weights", "--table", "2"], "choose from 'picking', 'decoder', 'ngrams'"),
        (["-g", "weights", "--source", "weights"], "--source needs a system (-c)"),
        (["-c", "run.yaml", "--source", "test.xx", "--seeds", "0"], "--seeds"),
        (["-g", "weights", "--nbest", "0"], "--nbest"),
        (["-g", "nowhere"], "nowhere"),
        (["-g", "weights", "-i", "blank"], "blank: expected sentences, found none with a word"),
        (["-g", "weights", "-r", "test.en"], "test.en: expected 18 lines"),
        (["-g", "weights", "--test-ref", "text.en"], "text.en: expected 12 lines"),
        (["-c", "run.yaml", "--source", "text.en"], "text.en: expected 12 sentences as in"),
    ],
)
def test_bad_calls_are_said(
    more: list[str],
    said: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert main(call(folder, *more, "-o", str(tmp_path / "out")))
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
