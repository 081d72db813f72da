"""``smt oracle``: oracle scores of lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Smt = Callable[..., Any]


def test_table_and_texts(smt: Smt, nbest: Path) -> None:
    Path("ref").write_text("a home\nthe house\n")
    shown = smt("oracle", "-i", nbest, "-r", "ref", "-m", "wer", "-o", "best").ok().splitlines()
    assert shown[0].split() == ["best_at", "metric", "score", "gain", "signature"]
    assert [line.split()[:4] for line in shown[1:]] == [["1", "WER", "25.00", "0.00"], ["2", "WER", "0.00", "25.00"]]
    assert Path("best").read_text() == "a home\nthe house\n"
    rows = json.loads(smt("oracle", "-i", nbest, "-r", "ref", "-m", "wer", "-m", "chrf", "-f", "json").ok())
    assert [(row["metric"], row["best_at"]) for row in rows] == [("WER", 1), ("WER", 2), ("chrF2", 1), ("chrF2", 2)]
    assert rows[1] == {"best_at": 2, "metric": "WER", "score": 0.0, "gain": 25.0, "signature": rows[0]["signature"]}


def test_default_is_bleu_and_standard_input(smt: Smt, nbest: Path) -> None:
    Path("ref").write_text("a home\nthe house\n")
    result = smt("oracle", "-r", "ref", "--manifest", "run.json", stdin=nbest.read_text())
    assert "BLEU|nrefs:1" in result.ok()
    assert "|oracle:sentence" in json.loads(Path("run.json").read_text())["signatures"][0]


def test_faults_are_told(smt: Smt, nbest: Path) -> None:
    Path("ref").write_text("a home\nthe house\nmore\n")
    result = smt("oracle", "-i", nbest, "-r", "ref")
    assert result.code == 1
    assert "expected a list for id 2" in result.err
    assert "segments:2" in smt("oracle", "-i", nbest, "-r", "ref", "--allow-partial").ok()
    result = smt("oracle", "-i", nbest)
    assert (result.code, result.err) == (2, "smt: metric 'BLEU' needs references\n")


def test_strings_as_ids(smt: Smt, nbest: Path) -> None:
    Path("ref").write_text("a home\nthe house\n")
    Path("ref.tsv").write_text("id\tref\nseg-1\tthe house\nseg-0\ta home\n")
    text = smt("convert", "-i", nbest, "--to", "jsonl", "-o", "lists") and Path("lists").read_text()
    Path("lists").write_text("".join(reversed(text.replace('"id": ', '"id": "seg-').replace(", ", '", ', 1)
                                              .replace("seg-1, ", 'seg-1", ').splitlines(True))))  # fmt: skip
    table = smt("oracle", "-i", "lists", "-r", "ref.tsv", "-m", "wer", "-o", "best").ok()
    assert table == smt("oracle", "-i", nbest, "-r", "ref", "-m", "wer").ok()
    assert Path("best").read_text() == "the house\na home\n"
