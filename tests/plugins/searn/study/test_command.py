"""``smt searn compare``: the example's data cut short, all rows, resumed, refused where something lacks."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from smtplugins.cli.main import main
from smtplugins.plugins.searn.study.rows import KINDS, PAIRS, PAPER, rows_of
from tests.plugins.cut_examples import cut, make_lm, result


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMT_CACHE", "off")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's texts with fewer sentences, and a language model."""
    path = tmp_path_factory.mktemp("compare")
    sizes = {"train.xx": 200, "train.en": 200, "train.align": 200, "tune.xx": 8, "tune.en": 8}
    cut("searn", path, {**sizes, "test.xx": 15, "test.en": 15})
    (path / "nothing").write_text("", encoding="utf-8")
    make_lm(path)
    return path


def call(folder: Path, *more: str, links: bool = True) -> list[str]:
    texts = ["-s", "train.xx", "-t", "train.en", *(["-a", "train.align"] if links else []), "--lm", "en.arpa"]
    texts += ["--tune", "tune.xx", "--tune-ref", "tune.en", "--test", "test.xx", "--test-ref", "test.en"]
    given = [str(folder / one) if "." in one else one for one in texts]
    small = ["--tune-iterations", "1", "--tune-nbest", "10", "--stack-size", "5", "--tuner", "mert,restarts=0", "-q"]
    return ["searn", "compare", *given, "-m", "bleu,tokenize=none", *small, *more]


def test_a_call_that_fails_leaves_nothing(
    folder: Path, tmp_path: Path, fails_without_trace: Callable[[list[str], Path], None]
) -> None:
    out = tmp_path / "new/out"
    fails_without_trace(call(folder, "-o", str(out)), out)


def test_all_rows_resumed(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    command = call(folder, "--history", "label,depth", "--history", "depth", "--length", "1", "-o", str(out))
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "paper" not in text
    found = result(out)
    keys = ["amasis", "phrase-1", "history-label-depth", "history-depth", "labels", "nulls", "monotone", "leaves"]
    rows = {row["key"]: row for row in found["tables"]["systems"]["rows"]}
    assert list(rows) == keys
    assert all(row["low"] <= row["score"] <= row["high"] for row in rows.values())
    assert rows["amasis"]["p"] is None
    assert all(0 < row["p"] <= 1 for row in list(rows.values())[1:])
    # Words change places in this language, and how they do depends on earlier labels.
    assert rows["monotone"]["score"] < rows["amasis"]["score"] < rows["labels"]["score"]
    assert rows["amasis"]["labels"] < rows["history-label-depth"]["labels"] == rows["labels"]["labels"]
    assert rows["monotone"]["labels"] is rows["leaves"]["labels"] is None
    sizes = {row["key"]: row for row in found["tables"]["sizes"]["rows"]}
    assert list(sizes) == ["leaves", "phrases-1"]
    with gzip.open(out / "phrases-1/phrase-table.gz", "rt", encoding="utf-8") as lines:
        assert sizes["phrases-1"]["entries"] == sum(1 for _ in lines)
    assert sizes["phrases-1"]["single_word_share"] == 1
    assert 0 < sizes["leaves"]["single_word_share"] < 1
    # What is there is not made again.
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.name != "result.json"}
    assert main([*command, "--resume"]) == 0
    assert capsys.readouterr().out == text
    assert before == {one: one.stat().st_mtime_ns for one in before}
    assert result(out) == found
    assert main(command) == 2
    assert "--resume" in capsys.readouterr().err
    assert main([*command, "--resume", "--tune-nbest", "20"]) == 2
    assert "options differ" in capsys.readouterr().err


def test_pieces_that_were_killed_are_made_again_and_seeds_are_averaged(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = call(folder, "--row", "amasis", "--row", "monotone", "--seeds", "2", "--pair", "G-E", "-o", str(out))
    assert main(command) == 0
    whole = capsys.readouterr().out
    assert "s.d." in whole
    assert "23.02" in whole
    assert "means of 2 optimiser runs" in whole
    for name in ("systems/amasis-2/done.json", "systems/monotone-1/test.txt", "sizes-leaves.json"):
        (out / name).unlink()
    (out / "systems/monotone-1/done.json").unlink()
    assert main([*command, "--resume"]) == 0
    assert capsys.readouterr().out == whole
    said_by = {
        "tsv": "\tpaper: BLEU\tpaper: out of domain\n",
        "latex": "\\begin{tabular}",
        "json": '"most frequent label"',
    }
    for style, said in said_by.items():
        assert main([*command, "--resume", "-f", style]) == 0
        assert said in capsys.readouterr().out


@pytest.mark.usefixtures("aligners")
def test_links_are_made_if_there_are_none(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = call(folder, "--align", "ibm1", "--row", "monotone", "-o", str(tmp_path / "out"), links=False)
    assert main(command) == 0
    with gzip.open(tmp_path / "out/links.gz", "rt", encoding="utf-8") as lines:
        assert sum(1 for _ in lines) == 200


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--align", "ibm1"], "one of both"),
        (["--length", "0"], "--length: expected 1 or more, found 0"),
        (["--seeds", "0"], "--seeds"),
        (["--labels", "-1"], "--labels: expected 0 or more"),
        (["--history", "label,dept"], "unknown feature 'dept'"),
        (["--test-ref", "tune.en"], "tune.en: expected 15 references"),
        (["--tune", "nothing"], "nothing: expected sentences, found none"),
        (["--tuner", "mertt"], "mertt"),
        (["--nbest", "10"], "--nbest is now --tune-nbest"),
        (["--lm", "nowhere"], "nowhere"),
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


def test_the_paper_is_shown_for_its_pairs(folder: Path) -> None:
    rows = rows_of(list(KINDS), [1, 2, 3], ["label"], labels=2, distortion=6)
    assert PAPER.keys() == set(PAIRS)
    assert PAPER["F-E"].keys() < {row.key for row in rows}
    assert [row.kind for row in rows_of(["leaves", "amasis"], [1], [], labels=1, distortion=0)] == ["amasis", "leaves"]
