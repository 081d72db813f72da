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
    assert smt(*arguments, "--scale", "50", "--aggregate").ok() == Path("best").read_text()
    assert smt(*arguments, "--scale", "50", "--linear").ok() == Path("best").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--scale", "-1"], 2, "scale: expected a number from 0 on, found -1.0"),
        (["--top", "-1"], 2, "top: expected a number of hypotheses, or 0 for all, found -1"),
        (["-w", "weights"], 2, "--weights needs forests; use `smt rescore` for lists"),
        (["-k", "5", "--samples", "5"], 2, "--derivations needs lists, found --samples; use `smt mbr` without it"),
        (["-k", "5", "--unique"], 2, "-: -k and --unique: expected forests or lattices, found moses-nbest"),
        (["--linear"], 2, "--linear needs forests (--samples N)"),
        (["--to", "tsv"], 2, "--to needs --lists; without it, text is written"),
        (["--post", "detok"], 2, "--post detok: expected detok:LANG"),
    ],
)
def test_wrong_calls(smt: Smt, arguments: list[str], code: int, message: str) -> None:
    result = smt("mbr", *arguments, stdin=LIST)
    assert result.code == code
    assert result.err.startswith(f"smt: {message}")


def test_references_are_other_samples(smt: Smt) -> None:
    Path("in").write_text(LIST)
    Path("samples").write_text(
        "0 ||| x y w ||| f= 1 ||| 0\n0 ||| x y u ||| f= 1 ||| -1\n0 ||| a b ||| f= 1 ||| -1\n"
        "1 ||| not used ||| f= 1 ||| 0\n2 ||| u v ||| f= 1 ||| 0\n"
    )
    call = ["mbr", "-q", "-m", "wer", "--post", "bpe"]
    assert smt(*call, "-i", "in").ok() == "a b c\nu@@ v\n"
    assert smt(*call, "-i", "in", "--references", "samples").ok() == "x y z\nu@@ v\n"
    assert smt(*call, "-i", "in", "--references", "samples", "-j", "2").ok() == "x y z\nu@@ v\n"
    assert smt(*call, "--references", "samples", stdin=LIST).ok() == "x y z\nu@@ v\n"
    Path("samples").write_text("0 ||| a b c ||| f= 1 ||| 0\n")
    result = smt(*call, "-i", "in", "--references", "samples", "-o", "out")
    assert (result.code, Path("out").exists()) == (1, False)
    assert result.err == "smt: list 2 (in:4): expected pseudo-references of id 2 in samples, found none\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--samples", "3", "--references", "x"], "--references needs lists, found --samples"),
        (["--references", "-"], "--references: expected a file, as the lists are read from standard input"),
    ],
)
def test_wrong_references(smt: Smt, arguments: list[str], message: str) -> None:
    result = smt("mbr", *arguments, stdin=LIST)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"smt: {message}")


def test_utilities_are_kept_and_read_again(smt: Smt) -> None:
    Path("in").write_text(LIST)
    call = ["mbr", "-q", "-i", "in", "-m", "wer"]
    wanted = {scale: smt(*call, "--scale", scale, "--lists").ok() for scale in ("0", "1", "20")}
    for scale, lists in wanted.items():
        assert smt(*call, "--scale", scale, "--lists", "--utilities", "kept").ok() == lists
    assert smt(*call, "--top", "1", "--utilities", "kept", "--manifest", "manifest").ok() == "x y z\nu@@ v\n"
    assert '"kept": "' in Path("manifest").read_text()
    Path("in").write_text(LIST.replace("a b d", "a b e"))
    result = smt(*call, "--utilities", "kept")
    assert result.code == 1
    assert "kept: expected utilities of list 0 (in:1) with the hypothesis 'a b e', found none" in result.err
    result = smt("mbr", "-i", "in", "--samples", "2", "--utilities", "kept")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("smt: --utilities needs lists, found --samples")


def test_pruned_lists_are_seeded(smt: Smt) -> None:
    texts = [f"a b {word} {end}" for word in "cdefgh" for end in "uvwxyzst"]
    Path("in").write_text("".join(f"0 ||| {text} ||| f= 1 ||| {-i / 9}\n" for i, text in enumerate(texts)))
    call = ["mbr", "-q", "-i", "in", "-m", "chrf"]
    exact, pruned = smt(*call, "--lists").ok(), smt(*call, "--lists", "--prune").ok()
    assert set(pruned.splitlines()) < set(exact.splitlines())
    assert pruned == smt(*call, "--lists", "--prune", "0.99", "--seed", "1", "-j", "2").ok()
    assert smt(*call, "--prune").ok() == smt(*call).ok()
    for arguments, message in (
        (["--prune", "2"], "--prune: expected a confidence between 0 and 1, such as 0.99, found 2"),
        (["--prune", "--utilities", "x"], "--prune: expected no --utilities, which has all utilities"),
        (["--prune", "--samples", "3"], "--prune needs lists, found --samples"),
    ):
        result = smt(*call, *arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"smt: {message}")


def test_references_are_averaged(smt: Smt) -> None:
    Path("in").write_text(LIST)
    call = ["mbr", "-q", "-i", "in", "-m", "bleu,tokenize=none"]
    # Mean counts at scale 0: 2/3 of a, b and a b; 1/3 of all others. So 100 * (5/9 * 1/2 * 1/3) ** (1/3) for a b c.
    lists = smt(*call, "--aggregate", "--scale", "0", "--lists", "--precision", "4").ok()
    assert lists == (
        "0 ||| a b c ||| f= 1 ||| 45.24\n"
        "0 ||| a b d ||| f= 1 ||| 45.24\n"
        "0 ||| x y z ||| f= 1 ||| 33.33\n"
        "2 ||| u@@ v ||| f= 1 ||| 100\n"
    )
    Path("samples").write_text("0 ||| x y ||| f= 1 ||| 0\n2 ||| u v ||| f= 1 ||| 0\n")
    assert smt(*call, "--aggregate").ok() == "a b c\nu@@ v\n"
    assert smt(*call, "--aggregate", "--references", "samples", "--post", "bpe").ok() == "x y z\nu@@ v\n"


def test_shortlists(smt: Smt) -> None:
    Path("in").write_text(LIST.replace("a b d ||| f= 1", "a b d ||| f= 2"))
    call = ["mbr", "-q", "-i", "in", "-m", "bleu,tokenize=none"]
    for value, best in (
        ("1", "x y z"),
        ("1,total", "x y z"),
        ("1,f", "a b d"),
        ("1,aggregate", "a b c"),
        ("9", "a b c"),
    ):
        assert smt(*call, "--shortlist", value).ok() == f"{best}\nu@@ v\n"
    exact = smt(*call, "--lists").ok().splitlines()
    # The shortlist has the exact expected scores, against all references.
    assert smt(*call, "--lists", "--shortlist", "2,aggregate").ok().splitlines() == [*exact[:2], exact[3]]
    assert smt(*call, "--lists", "--shortlist", "2", "--utilities", "kept", "--manifest", "manifest").code == 0
    assert smt(*call, "--shortlist", "1", "--utilities", "kept").ok() == "x y z\nu@@ v\n"
    result = smt(*call, "--shortlist", "1,g")
    assert (result.code, result.err) == (1, "smt: list 0 (in:1): --shortlist: no feature 'g'; known: f\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "ter", "--aggregate"], "metric 'TER' does not average references; use bleu or chrf, or leave out "),
        (["--aggregate", "--prune"], "--aggregate: expected no --prune, as no pairs of texts are scored"),
        (["--aggregate", "--utilities", "x"], "--aggregate: expected no --utilities, as no pairs of texts are scored"),
        (
            ["--aggregate", "--shortlist", "3,aggregate"],
            "--aggregate: expected no --shortlist by aggregate, after which",
        ),
        (["--shortlist", "x"], "--shortlist: expected N or N,BY, such as 20 or 20,aggregate, found 'x'"),
        (["--shortlist", "3,"], "--shortlist: expected N or N,BY, such as 20 or 20,aggregate, found '3,'"),
        (["--shortlist", "0"], "--shortlist: expected a number of hypotheses from 1 on"),
        (["--samples", "3", "--linear", "--aggregate"], "--linear: expected no --aggregate, as no hypotheses are"),
        (["--samples", "3", "--linear", "--shortlist", "2"], "--linear: expected no --shortlist, as no hypotheses"),
    ],
)
def test_wrong_averages_and_shortlists(smt: Smt, arguments: list[str], message: str) -> None:
    result = smt("mbr", *arguments, stdin=LIST)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"smt: {message}")
