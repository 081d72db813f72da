"""``smt mbr`` on lists and on samples of forests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]

LIST = """\
0 ||| a b c ||| f= 1 ||| -1
0 ||| x y z ||| f= 1 ||| -0.9
0 ||| a b d ||| f= 1 ||| -1
2 ||| u@@ v ||| f= 1 ||| 0
"""


def test_text_of_the_consensus(smt: Smt) -> None:
    Path("in").write_text(LIST)
    result = smt("mbr", "-i", "in", "-m", "bleu,tokenize=none")
    assert (result.code, result.out) == (0, "a b c\nu@@ v\n")
    assert "1 ids have no list" in result.err
    assert smt("mbr", "-i", "in", "-m", "wer", "--fill", "-j", "2").ok() == "a b c\n\nu@@ v\n"
    assert smt("mbr", "-q", "-m", "wer", "--scale", "20", stdin=LIST).ok() == "x y z\nu@@ v\n"
    assert smt("mbr", "-q", "-m", "wer", "--top", "1", "--post", "bpe", stdin=LIST).ok() == "x y z\nu@@ v\n"


def test_lists_by_expected_score(smt: Smt) -> None:
    Path("in").write_text(LIST)
    assert smt("mbr", "-i", "in", "-m", "wer", "--scale", "0", "--lists", "--precision", "4", "-o", "out").ok() == ""
    assert Path("out").read_text() == (
        "0 ||| a b c ||| f= 1 ||| -44.44\n"
        "0 ||| a b d ||| f= 1 ||| -44.44\n"
        "0 ||| x y z ||| f= 1 ||| -66.67\n"
        "2 ||| u@@ v ||| f= 1 ||| 0\n"
    )
    kept = smt("mbr", "-i", "in", "-m", "wer", "--top", "2", "--lists", "--to", "tsv").ok().splitlines()
    assert [line.split("\t")[2] for line in kept[1:]] == ["x y z", "a b c", "u@@ v"]


def test_forests_are_sampled(smt: Smt, tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[3] / "examples/decode-hiero"
    assert smt("decode", "-c", example / "run.yaml", "--forests", "forests", "-o", "best").code == 0
    arguments = ["mbr", "-i", "forests", "--samples", "100", "-w", example / "weights", "-m", "bleu,tokenize=none"]
    texts = smt(*arguments, "--scale", "3").ok()
    assert texts.count("\n") == Path("best").read_text().count("\n")
    assert smt(*arguments, "--scale", "3", "-j", "2").ok() == texts
    assert smt(*arguments, "--scale", "50").ok() == Path("best").read_text()
    assert smt(*arguments, "--scale", "50", "--linear").ok() == Path("best").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--scale", "-1"], 2, "scale: expected a number from 0 on, found -1.0"),
        (["--top", "-1"], 2, "top: expected a number of hypotheses, or 0 for all, found -1"),
        (["-w", "weights"], 2, "--weights needs forests (--samples N); use `smt rescore` for lists"),
        (["--linear"], 2, "--linear needs forests (--samples N)"),
        (["--to", "tsv"], 2, "--to needs --lists; without it, text is written"),
        (["--post", "detok"], 2, "--post detok: expected detok:LANG"),
    ],
)
def test_wrong_calls(smt: Smt, arguments: list[str], code: int, message: str) -> None:
    result = smt("mbr", *arguments, stdin=LIST)
    assert result.code == code
    assert result.err.startswith(f"smt: {message}")
