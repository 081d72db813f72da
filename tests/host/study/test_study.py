"""A study's folder: steps made once, the manifest that --resume checks, tables with the paper's figures."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import UsageError
from smtplugins.host.study.options import add_renamed, add_study, add_tuning, check_least, choose, file, tuning_plan
from smtplugins.host.study.study import Study
from smtplugins.host.study.study_tables import (
    SCORE,
    StudyColumn,
    StudyTable,
    render_tables,
    score_columns,
)
from smtplugins.host.study.tuned_systems import judge_rows, read_references, signature_of

PAPER = {"old": 12.5, "new": 14.0}
ROWS = [{"key": "old", "name": "the old one", "score": 20.0, "p": None}, {"key": "own", "name": "ours", "score": 21.25}]
TABLE = StudyTable("systems", "Table 1: all", [StudyColumn("score", "BLEU", SCORE, PAPER, "{:.1f}")], ROWS)


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_study(parser, {"systems": "table 1", "by-size": "table 2"}, {"old": "the paper's", "own": "ours"})
    add_tuning(parser)
    add_renamed(parser, {"--nbest": "--tune-nbest"})
    return parser.parse_args(["-o", "out", *words])


def test_rows_and_tables_are_chosen_in_the_papers_order() -> None:
    known = ("old", "own")
    assert choose(arguments().row, known) == ["old", "own"]
    assert choose(arguments("--row", "own", "--row", "old").row, known) == ["old", "own"]
    assert choose(arguments("--table", "by-size", "systems").table, ("systems", "by-size")) == ["systems", "by-size"]
    with pytest.raises(argparse.ArgumentError, match="invalid choice: 'odd'"):
        arguments("--row", "odd")


def test_an_old_spelling_names_the_new_one() -> None:
    with pytest.raises(UsageError, match="--nbest is now --tune-nbest"):
        arguments("--nbest", "10")


def test_numbers_that_make_no_sense_are_refused() -> None:
    assert list(tuning_plan(arguments("--seeds", "2", "--seed", "5"), ["oov"]).seeds) == [5, 6]
    with pytest.raises(UsageError, match="--tune-iterations: expected 1 or more, found 0"):
        tuning_plan(arguments("--tune-iterations", "0"))
    with pytest.raises(UsageError, match="--tune-nbest: expected 2 or more, or 0 for forests, found 1"):
        tuning_plan(arguments("--tune-nbest", "1"))
    check_least(arguments(), jobs=1)


class ToyStudy(Study):
    """A table from one step."""

    name = "toy compare"
    known_tables: ClassVar = {"systems": "table 1", "by-size": "table 2"}

    def inputs(self) -> list[Path]:
        return [Path("text")]

    def tuned_on(self) -> list[Path]:
        return [Path("text")]

    def details(self) -> dict[str, int]:
        return {"more": 3}

    def systems(self) -> StudyTable:
        return TABLE

    def by_size(self) -> StudyTable:
        return replace(TABLE, key="by-size")

    def settings(self) -> dict[str, str]:
        return {"metric": "BLEU"}

    def extras(self) -> dict[str, int]:
        return {"classes": 7}


@pytest.fixture(name="host")
def _host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> smt.Host:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("a\n", encoding="utf-8")
    return smt.load_plugins()


def test_a_step_is_made_once(host: smt.Host, capsys: pytest.CaptureFixture[str]) -> None:
    made = []

    def make() -> dict[str, Any]:
        made.append(1)
        return {"value": (1, 2)}

    study = ToyStudy(host, arguments("-q"))
    with study.opened():
        # What is returned is what a resumed study reads.
        assert study.step("deep/one", make) == study.step("deep/one", make) == {"value": [1, 2]}
        study.write_text("deep/text", ["a b", ""])
    manifest = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["tuned_on"] == ["text"] and manifest["options"]["more"] == 3
    with pytest.raises(UsageError, match="resume=True"), ToyStudy(host, arguments()).opened():
        pass
    # Other rows, tables and printing go on in the same folder, other options do not.
    same = arguments("--resume", "--row", "own", "--table", "by-size", "-f", "tsv", "--no-paper", "-j", "2")
    again = ToyStudy(host, same)
    with again.opened():
        assert again.step("deep/one", make) == {"value": [1, 2]}
        assert again.read_text("deep/text") == ["a b", ""]
    assert made == [1]
    assert capsys.readouterr().err == "smt toy compare: deep/one: complete, not repeated\n"
    other = ToyStudy(host, arguments("--resume", "--seed", "2"))
    with pytest.raises(UsageError, match="options differ"), other.opened():
        pass


def test_a_study_that_fails_before_its_first_step_leaves_nothing(host: smt.Host) -> None:
    with pytest.raises(UsageError, match="no"), ToyStudy(host, arguments()).opened():
        raise UsageError("no")
    assert not Path("out").exists()


def test_the_papers_figures_stand_beside_ours(host: smt.Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert TABLE.shown("text").splitlines() == [
        "Table 1: all",
        "system       BLEU   paper: BLEU",
        "the old one  20.00  12.5",
        "ours         21.25",
    ]
    assert TABLE.shown("tsv", paper=False).splitlines()[0] == "system\tBLEU"
    assert TABLE.shown("latex").startswith("% Table 1: all\n\\begin{tabular}{lll}")
    assert "paper" not in render_tables([TABLE], "json", False, {})
    assert render_tables([TABLE, TABLE], "text", True, {}).count("Table 1") == 2
    ToyStudy(host, arguments("-f", "json")).make()
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads(Path("out/result.json").read_text())
    assert (record["settings"], record["classes"]) == ({"metric": "BLEU"}, 7)
    assert list(record["tables"]) == ["systems", "by-size"]
    assert [row["paper_score"] for row in record["tables"]["systems"]["rows"]] == [12.5, None]


def test_files_of_options_have_to_be_there(host: smt.Host) -> None:
    assert file("text") == Path("text").absolute()
    with pytest.raises(FileNotFoundError):
        file("nowhere")


def test_rows_are_judged_against_the_first(tmp_path: Path) -> None:
    metric = smt.load_plugins().metric("bleu,tokenize=none")
    (tmp_path / "refs").write_text("a b c d e\nf g h i j\n", encoding="utf-8")
    references = read_references([tmp_path / "refs"], "text", 2)
    with pytest.raises(UsageError, match="refs: expected 3 references, one for each of text, found 2"):
        read_references([tmp_path / "refs"], "text", 3)
    bad, good = ["a b x d e", "f g h i j"], list(references[0])
    rows = judge_rows(metric, [{"key": "bad"}, {"key": "good"}], [[bad, bad], [good, bad]], references)
    assert rows[0]["p"] is None and rows[0]["deviation"] == 0
    assert rows[1]["score"] == pytest.approx((100 + rows[0]["score"]) / 2)
    assert rows[1]["interval"] == (rows[1]["high"] - rows[1]["low"]) / 2
    assert [column.title for column in score_columns("BLEU", rows)] == ["BLEU", "95 %", "s.d.", "p"]
    (alone,) = judge_rows(metric, [{"key": "good"}], [[good]], references)
    assert (alone["p"], alone["deviation"], alone["low"]) == (None, None, pytest.approx(100))
    assert "nrefs:1" in signature_of(smt.load_plugins().metric("bleu,tokenize=none"), references)
