"""``smt evaluate``: scores of text and lists in every style of table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]

REF = ["the cat sat on the mat .", "he went to the old house .", "we saw a red bird today ."]
GOOD = ["the cat sat on the mat .", "he went to the old house .", "we saw a red bird now ."]
POOR = ["the cat sat on a mat .", "he walked to the old home .", "we saw the red bird now ."]


@pytest.fixture(autouse=True)
def _files(_own_folder: None) -> None:
    for name, texts in (("ref", REF), ("good", GOOD), ("poor", POOR)):
        Path(name).write_text("".join(f"{text}\n" for text in texts))
    Path("list").write_text("".join(f"{i} ||| {text} ||| f= 1 ||| 0\n" for i, text in enumerate(GOOD)))


def test_text_and_lists_of_several_metrics(smt: Smt) -> None:
    rows = json.loads(
        smt("evaluate", "-r", "ref", "-m", "bleu", "-m", "chrf,word_order=2", "good", "list", "-f", "json").ok()
    )
    assert [(row["system"], row["metric"]) for row in rows] == [
        ("good", "BLEU"), ("list", "BLEU"), ("good", "chrF2++"), ("list", "chrF2++")
    ]  # fmt: skip
    assert rows[0]["score"] == rows[1]["score"]
    assert rows[0]["low"] is None
    assert rows[0]["signature"].startswith("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_baseline_comes_first_and_has_no_p(smt: Smt) -> None:
    header, base, new = smt("evaluate", "-r", "ref", "poor", "good", "--bootstrap", "50", "-f", "tsv").ok().splitlines()
    assert header == "system\tmetric\tscore\tlow\thigh\tp\tsignature"
    assert base.split("\t")[0] == "poor"
    assert base.split("\t")[5] == ""
    assert 0 < float(new.split("\t")[5]) <= 1
    assert new.endswith("|bs:50|rs:12345")


def test_tables_in_four_styles(smt: Smt) -> None:
    results = {
        style: smt("evaluate", "-r", "ref", "good", "-f", style).ok() for style in ("text", "json", "tsv", "latex")
    }
    score = f"{json.loads(results['json'])[0]['score']:.2f}"
    assert results["text"].splitlines()[0].split() == ["system", "metric", "score", "signature"]
    assert results["text"].splitlines()[1].split()[:3] == ["good", "BLEU", score]
    assert results["tsv"].splitlines()[1].split("\t")[:3] == ["good", "BLEU", score]
    assert results["latex"].splitlines()[0] == r"\begin{tabular}{llll}"
    assert rf"good & BLEU & {score} & BLEU|nrefs:1|" in results["latex"]


def test_several_references(smt: Smt) -> None:
    (row,) = json.loads(smt("evaluate", "-r", "ref", "-r", "good", "good", "-f", "json").ok())
    assert row["score"] == pytest.approx(100)
    assert "nrefs:2" in row["signature"]


def test_missing_sentences_need_permission(smt: Smt) -> None:
    Path("list").write_text("".join(f"{i} ||| {GOOD[i]} ||| f= 1 ||| 0\n" for i in (0, 2)))
    result = smt("evaluate", "-r", "ref", "list")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "smt: list: expected a sentence for id 1 (line 2 of ref), found none; --allow-partial judges what all have\n"
    )
    out = smt("evaluate", "-r", "ref", "list", "--allow-partial").ok()
    assert out.splitlines()[1].endswith("|segments:2")


def test_manifest_has_inputs_seed_and_signatures(smt: Smt) -> None:
    smt("evaluate", "-r", "ref", "good", "poor", "--bootstrap", "10", "--seed", "5", "--manifest", "m.json").ok()
    record = json.loads(Path("m.json").read_text())
    assert sorted(record["inputs"]) == ["good", "poor", "ref"]
    assert record["seed"] == 5
    assert [one.rpartition("|")[2] for one in record["signatures"]] == ["rs:5", "rs:5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["good", "good"], "system 'good' is named twice"),
        (["good", "--bootstrap", "-1"], "--bootstrap: expected a number of samples, found -1"),
        (["good", "--bootstrap", "9", "--seed", "-1"], "seed: expected a whole number from 0 on, found -1"),
        (["good", "-m", "blue"], "unknown metric 'blue'; did you mean 'bleu'?"),
        (["good", "-m", "bleu,tokenize=x"], "metric 'bleu': tokenize: unknown tokenizer 'x'"),
        (["-"], "a system is read from a file, not from standard input"),
    ],
)
def test_wrong_calls(smt: Smt, arguments: list[str], message: str) -> None:
    result = smt("evaluate", "-r", "ref", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"smt: {message}")


def test_references_are_needed(smt: Smt) -> None:
    result = smt("evaluate", "good")
    assert (result.code, result.err) == (2, "smt: metric 'BLEU' needs references\n")


def test_spoilt_list_does_not_pass_for_text(smt: Smt) -> None:
    lines = [f"{i} ||| a b ||| L=1 ||| 0\n" for i in range(3)]
    Path("ref").write_text("a b\n" * 3)
    for name, first in (("bad", "x ||| a b ||| L=1 ||| 0\n"), ("bom", "\ufeff" + lines[0]), ("junk", "junk\n")):
        Path(name).write_text("".join([first, *lines[1:]]), encoding="utf-8")
        result = smt("evaluate", "-r", "ref", name)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith(f"smt: {name}:1: field 1: expected the shape of one of ")


def test_partial_text_has_no_ids(smt: Smt) -> None:
    Path("ref").write_text("a\nb\nc\n")
    Path("two").write_text("a\nc\n")
    result = smt("evaluate", "-r", "ref", "two", "--allow-partial")
    assert result.code == 1
    assert result.err.startswith("smt: two: expected 3 lines, as ref has, found 2: a text has no ids")
