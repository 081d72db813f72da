"""``smt rerank`` equals its chain of commands, byte for byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[3]
TOYS = ROOT / "tests/host/toy_learners.py"
LEARNING = ("--plugin", str(TOYS), "--learner", "toy-perceptron", "-m", "bleu,tokenize=none")
LISTS = ("--dev", "dev.nbest", "--dev-ref", "dev.en", "--test", "test.nbest", "--test-ref", "test.en")
FEATURES = ("--feature", "length", "--feature", "lm,path=en.arpa")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, _own_folder: None) -> None:
    shutil.copytree(ROOT / "examples/rerank-marian", tmp_path, dirs_exist_ok=True)


def test_it_equals_the_chain(smt: Smt) -> None:
    table = json.loads(smt("rerank", *LISTS, *FEATURES, *LEARNING, "-o", "out", "-f", "json").ok())
    for name in ("dev", "test"):
        smt("score", "-i", f"{name}.nbest", *FEATURES, "-o", f"{name}.scored").ok()
    smt("tune", "-i", "dev.scored", "-r", "dev.en", *LEARNING, "-o", "weights").ok()
    smt("rescore", "-i", "test.scored", "-w", "weights", "-o", "test.rescored").ok()
    smt("best", "-i", "test.rescored", "-o", "best").ok()
    assert Path("out/weights").read_bytes() == Path("weights").read_bytes()
    assert Path("out/rescored.nbest").read_bytes() == Path("test.rescored").read_bytes()
    assert Path("out/best.txt").read_bytes() == Path("best").read_bytes()
    judged = json.loads(
        smt("evaluate", "-r", "test.en", "-m", "bleu,tokenize=none", "--bootstrap", "1000", "test.nbest", "best",
            "-f", "json").ok()
    )  # fmt: skip
    for name, row in zip(("baseline", "result"), judged, strict=True):
        evaluated = next(entry for entry in table if (entry["set"], entry["system"]) == ("test", name))
        for key in ("score", "low", "high", "p", "signature"):
            assert evaluated[key] == row[key], key


def test_the_table(smt: Smt) -> None:
    lines = smt("rerank", *LISTS, *FEATURES, *LEARNING, "-o", "out").ok().splitlines()
    assert lines[0].split() == ["set", "system", "metric", "score", "low", "high", "p", "signature"]
    assert [line.split()[:2] for line in lines[1:]] == [
        [name, system] for name in ("dev", "test") for system in ("baseline", "result", "oracle")
    ]
    lines = smt("rerank", *LISTS[:6], *LEARNING, "-o", "out").ok().splitlines()
    assert lines[0].split() == ["set", "system", "metric", "score", "signature"]
    assert len(lines) == 4


def test_what_was_judged_is_not_what_was_learnt_from(smt: Smt) -> None:
    smt("rerank", *LISTS, *LEARNING, "-o", "out").ok()
    record = json.loads(Path("out/manifest.json").read_text())
    assert {Path(path).name for path in record["inputs"]} == {"dev.nbest", "dev.en"}
    assert {Path(path).name for path in record["options"]["applied_to"]} == {"test.nbest", "test.en"}
    marked = [
        json.loads(
            smt(
                "evaluate", "-r", ref, "-m", "bleu,tokenize=none", "out/best.txt", "--tuned-on", "out", "-f", "json"
            ).ok()
        )[0]
        for ref in ("dev.en", "test.en")
    ]
    assert ["in-sample" in judged["signature"] for judged in marked] == [True, False]


def test_start_weights_runs_and_other_formats(smt: Smt) -> None:
    Path("start").write_text("F0 1\nF1 1\n")
    smt("rerank", *LISTS, *LEARNING, "-q", "-w", "start", "--runs", "2", "-j", "2", "-o", "one", "--to", "jsonl").ok()
    smt("rerank", *LISTS, *LEARNING, "-q", "-w", "start", "--runs", "2", "-o", "two", "--to", "jsonl").ok()
    for name in ("weights", "best.txt", "rescored.nbest"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()
    assert Path("one/rescored.nbest").read_text()[0] == "{"


def test_pieces_are_joined_before_anything_is_judged(smt: Smt) -> None:
    whole = json.loads(smt("rerank", *LISTS, *LEARNING, "-o", "whole", "-f", "json").ok())
    for name in ("dev.nbest", "test.nbest"):
        Path(name).write_text(Path(name).read_text().replace("the ", "t@@ he "))
    pieces = json.loads(smt("rerank", *LISTS, *LEARNING, "-o", "pieces", "--post", "bpe", "-f", "json").ok())
    assert [row["score"] for row in pieces] == [row["score"] for row in whole]
    assert all("|post:bpe" in row["signature"] for row in pieces)
    assert Path("pieces/weights").read_bytes() == Path("whole/weights").read_bytes()
    assert "t@@ he" in Path("pieces/best.txt").read_text()
    smt("tune", "-i", "dev.nbest", "-r", "dev.en", *LEARNING, "--post", "sed s/@@.//g", "-o", "w").ok()
    assert Path("w").read_bytes() == Path("whole/weights").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--dev-ref", "test.nbest"), 0, ""),
        (("--missing-weight", "nan"), 2, "weight of features without one: expected a finite number, found nan"),
        (("--feature", "lenght"), 2, "unknown feature 'lenght'; did you mean 'length'?"),
        (("--bootstrap", "-1"), 2, "bootstrap: expected a number of samples, found -1"),
        (("--learner", "toy-stumps"), 2, "learner 'toy-stumps' learns from rows, not from lists"),
        (("-o", "dev.en"), 2, "dev.en: expected a folder to write to, found a file"),
        (("--test", "nowhere"), 1, "nowhere: No such file or directory"),
        (("--test-ref", "nowhere"), 1, "nowhere: No such file or directory"),
        (("--dev-ref", "nowhere"), 1, "nowhere: No such file or directory"),
        (("--to", "no-such-format"), 2, "unknown format 'no-such-format'"),
    ],
)
def test_wrong_calls(smt: Smt, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = smt("rerank", *LISTS, *LEARNING, "-o", "out", *arguments)
    assert result.code == code
    assert result.err.startswith(f"smt: {message}" if code else "")
    assert Path("out").exists() == (not code)


class TestWorse:
    """Lists whose feature says the opposite on the test: the sorted ones are worse, and that is said."""

    @pytest.fixture(autouse=True)
    def _lists(self) -> None:
        for name, good in (("dev", 2), ("test", 0)):
            texts = [f"a{k} b{k} c{k} d{k} e{k}" for k in range(20)]
            Path(f"{name}.ref").write_text("".join(f"{text}\n" for text in texts))
            lines = [
                f"{k} ||| {text} ||| f= {value} ||| {total}\n"
                for k, words in enumerate(texts)
                for text, value, total in ((words, good, 1), (f"x {words} y z", 1, 0))
            ]
            Path(f"{name}.lists").write_text("".join(lines))
        Path("start").write_text("f 1\n")

    CALL = ("rerank", "--dev", "dev.lists", "--dev-ref", "dev.ref", "--test", "test.lists", "--test-ref", "test.ref",
            "-o", "out", "-w", "start", *LEARNING)  # fmt: skip

    def test_under_the_table(self, smt: Smt) -> None:
        for more in ((), ("-q",)):
            last = smt(*self.CALL, *more).ok().splitlines()[-1]
            assert last.startswith("the sorted lists are WORSE: test BLEU went from 100.00 to ")
            assert "Keep the original lists; try more sentences" in last

    @pytest.mark.parametrize("style", ["json", "tsv", "latex"])
    def test_beside_tables_for_programs(self, smt: Smt, style: str) -> None:
        result = smt(*self.CALL, "-f", style)
        assert (result.code, "WORSE" in result.out) == (0, False)
        assert result.err.startswith("smt: note: the sorted lists are WORSE: test BLEU went from 100.00 to ")
        if style == "json":
            rows = json.loads(result.out)
            assert [row["verdict"] for row in rows] == [None, "equal", None, None, "worse", None]
        assert smt(*self.CALL, "-f", style, "-q").err == ""


def test_strings_as_ids(smt: Smt) -> None:
    """Lists and references that carry ids, in another order, give the same."""
    Path("plain").mkdir()
    for name in ("dev", "test"):
        smt("convert", "-i", f"{name}.nbest", "--to", "jsonl", "-o", f"plain/{name}.jsonl").ok()
        rows = [json.loads(line) for line in Path(f"plain/{name}.jsonl").read_text().splitlines()]
        named = [json.dumps({**row, "id": f"seg-{row['id']}"}) + "\n" for row in rows]
        Path(f"{name}.jsonl").write_text("".join(named))
        texts = Path(f"{name}.en").read_text().splitlines()
        table = [f"seg-{i}\t{text}\n" for i, text in enumerate(texts)]
        Path(f"{name}.tsv").write_text("".join(["id\tref\n", *reversed(table)]))
    calls = {
        "a": ("--dev", "plain/dev.jsonl", "--dev-ref", "dev.en", "--test", "plain/test.jsonl", "--test-ref", "test.en"),
        "b": ("--dev", "dev.jsonl", "--dev-ref", "dev.tsv", "--test", "test.jsonl", "--test-ref", "test.tsv"),
    }
    first, second = (
        [(row["set"], row["system"], row["score"]) for row in json.loads(smt("rerank", *call, *LEARNING, "-o", name,
                                                                             "-f", "json").ok())]
        for name, call in calls.items()
    )  # fmt: skip
    assert first == second
    for name in ("weights", "best.txt"):
        assert Path("a", name).read_bytes() == Path("b", name).read_bytes()
    result = smt("rerank", *calls["b"][:3], "dev.en", *calls["b"][4:], *LEARNING, "-o", "c")
    assert result.code == 1
    assert "dev.jsonl:1: expected line numbers of dev.en as ids, found 'seg-0'" in result.err
