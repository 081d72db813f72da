"""Forests and lattices in commands on lists: each takes their best derivations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]

FOREST = (
    '{"rules":[1,"[X] ||| a ||| a small",2,"[X] ||| a ||| the small",3,"[X] ||| b ||| house",4,"[S] ||| [X,1] [X,2] '
    '||| [1] [2]",5,"[S] ||| [X,1] [X,2] ||| [1] [2]"],"features":["f","g"],'
    '"edges":[{"tail":[],"feats":[0,1],"rule":1},{"tail":[],"feats":[1,2],"rule":2}],"node":{"in_edges":[0,1],"cat":"X"},'
    '"edges":[{"tail":[],"feats":[0,0.5],"rule":3}],"node":{"in_edges":[2],"cat":"X"},'
    '"edges":[{"tail":[0,1],"feats":[],"rule":4},{"tail":[0,1],"feats":[1,-1],"rule":5}],'
    '"node":{"in_edges":[3,4],"cat":"S"}}\n'
)
LATTICE = """\
N=4 L=5
I=0
I=1
I=2
I=3
J=0 S=0 E=1 W=the a=-1
J=1 S=0 E=1 W=a a=-1.25
J=2 S=0 E=1 W=a a=-1.3
J=3 S=1 E=2 W=red a=0
J=4 S=2 E=3 W=house a=-0.5
"""


@pytest.fixture(autouse=True)
def _files() -> None:
    Path("0.json").write_text(FOREST)
    Path("0.slf").write_text(LATTICE)
    Path("weights").write_text("f 1\ng 0.25\n")
    Path("ref").write_text("a small house\n")
    Path("red").write_text("a red house\n")
    Path("list").write_text("0 ||| a ||| f= 1 ||| 1\n")


def test_best(smt: Smt) -> None:
    assert smt("best", "0.json", "-w", "weights").ok() == "a small house\n"
    assert smt("best", "0.slf").ok() == "the red house\n"
    assert smt("best", "-", "-w", "weights", stdin=FOREST).ok() == "a small house\n"
    result = smt("best", "0.json")
    assert result.code == 1
    assert result.err == "smt: 0.json:1: forest 0: expected scores, found none; --weights computes them\n"
    Path("weights").write_text("f 1\n")
    result = smt("best", "0.json", "-w", "weights")
    assert result.err == (
        "smt: 0.json:1: forest 0: feature 'g' has no weight; --missing-weight 0 counts such features as 0\n"
    )
    assert smt("best", "0.json", "-w", "weights", "--missing-weight", "9").ok() == "the small house\n"


def test_convert(smt: Smt) -> None:
    command = ["convert", "0.json", "-w", "weights", "--to"]
    assert smt(*command, "moses-nbest").ok().splitlines() == [
        "0 ||| a small house  ||| f= 1.5 ||| 1.5",
        "0 ||| a small house  ||| f= 1.5 g= -1 ||| 1.25",
        "0 ||| the small house  ||| f= 0.5 g= 2 ||| 1",
        "0 ||| the small house  ||| f= 0.5 g= 1 ||| 0.75",
    ]
    assert smt(*command, "moses", "-k", "2", "--unique").ok().splitlines() == [
        "0 ||| a small house  ||| f= 1.5 ||| 1.5",
        "0 ||| the small house  ||| f= 0.5 g= 2 ||| 1",
    ]
    assert smt("convert", "0.slf", "--to", "tsv", "-k", "1", "-q").ok() == (
        "id\trank\ttext\ttotal\tacoustic\n0\t1\tthe red house\t-1.5\t-1.5\n"
    )
    Path("1.slf").write_text(LATTICE.replace("W=red", "W=&#91;"))
    assert "[ house" in smt("convert", "1.slf", "--to", "cdec-nbest", "--unescape", "moses").ok()
    joined = ["convert", "0.slf", "--to", "jsonl", "-k", "1", "-q", "-s", "red"]
    assert '"source": "a red house"' in smt(*joined).ok()
    Path("both").write_text("x\na red house\n")
    assert (
        '"the [ house"' in smt("convert", "1.slf", *joined[2:-1], "both", "--allow-partial", "--unescape", "moses").ok()
    )
    # A format of forests is one, and another kind is an error as before.
    assert smt("convert", "0.slf", "--to", "plf-lattice").ok().startswith("(((")
    assert "is of kind weights, expected hypergraph" in smt("convert", "0.slf", "--to", "cdec-weights").err
    result = smt(*command[:-1], "-k", "2")
    assert result.err.startswith("smt: these lists have no format of their own; name one with --to: cdec-")
    assert smt("convert", "list", "-k", "2").err == ("smt: list: -k: expected forests or lattices, found moses-nbest\n")
    result = smt("convert", "list", "-w", "weights", "--unique")
    assert result.err == "smt: list: --unique and --weights: expected forests or lattices, found moses-nbest\n"
    result = smt("convert", "weights", "--into", "weights", "-k", "3")
    assert result.err == "smt: --derivations cannot be used with --into, which changes only weights\n"


def test_rescore_and_dedup(smt: Smt) -> None:
    Path("other").write_text("f 0\ng 1\n")
    assert smt("rescore", "0.json", "-w", "other", "-k", "2", "--to", "cdec").ok().splitlines() == [
        "0 ||| the small house ||| f=0.5 g=2 ||| 2",
        "0 ||| the small house ||| f=0.5 g=1 ||| 1",
    ]
    assert smt("rescore", "0.json", "-w", "other", "--set-weight", "f=4", "-k", "1", "--to", "cdec").ok() == (
        "0 ||| a small house ||| f=1.5 ||| 6\n"
    )
    assert smt("dedup", "0.json", "-w", "weights", "-k", "3", "--to", "plain").code == 2
    assert smt("dedup", "0.json", "-w", "weights", "-k", "3", "--to", "cdec").ok().splitlines() == [
        "0 ||| a small house ||| f=1.5 ||| 1.5",
        "0 ||| the small house ||| f=0.5 g=2 ||| 1",
    ]


def test_mbr(smt: Smt) -> None:
    # `a red house` has the mass of two paths.
    assert smt("mbr", "0.slf", "-m", "wer").ok() == "a red house\n"
    assert smt("mbr", "0.slf", "-m", "wer", "-k", "2", "--unique").ok() == "the red house\n"
    assert smt("mbr", "0.slf", "-m", "wer", "--samples", "500", "--seed", "3").ok() == "a red house\n"
    assert smt("mbr", "0.json", "-m", "wer", "-w", "weights", "--lists", "--to", "cdec").ok().count("\n") == 4


def test_oracle_score_and_evaluate(smt: Smt) -> None:
    table = smt("oracle", "0.slf", "-r", "red", "-m", "wer", "-f", "tsv").ok().splitlines()
    assert [line.split("\t")[:3] for line in table[1:]] == [
        ["1", "WER", "33.33"],
        ["2", "WER", "0.00"],
        ["3", "WER", "0.00"],
    ]
    assert smt("oracle", "0.slf", "-r", "red", "-k", "1", "-f", "tsv").ok().count("\n") == 2
    assert "length=3" in smt("score", "0.slf", "--feature", "length", "-k", "1", "--to", "cdec").ok()
    assert (
        smt("evaluate", "0.slf", "-r", "red", "-m", "wer", "-f", "tsv").ok().splitlines()[1].split("\t")[2] == "33.33"
    )
    result = smt("evaluate", "0.json", "-r", "ref")
    assert "0.json:1: forest 0: expected scores, found none" in result.err


def test_learning(smt: Smt) -> None:
    Path("dev").mkdir()
    for number in range(3):
        Path(f"dev/{number}.slf").write_text(LATTICE)
    Path("refs").write_text("a red house\n" * 3)
    smt("tune", "dev", "-r", "refs", "-m", "wer", "--learner", "mert", "-q", "-o", "learnt").ok()
    assert Path("learnt").read_text().startswith("acoustic ")
    command = ["rerank", "--dev", "dev", "--dev-ref", "refs", "--test", "dev", "--test-ref", "refs", "-m", "wer"]
    assert smt(*command, "-o", "out", "--to", "cdec", "-q", "--bootstrap", "0").code == 0
    assert Path("out/best.txt").read_text() == "a red house\n" * 3


def test_files_of_speech_recognisers(smt: Smt) -> None:
    Path("0.fst").write_text("0 1 the 1\n0 1 a 1.25\n0 1 a 1.3\n1 2 red\n2 3 house 0.5\n3\n")
    assert smt("best", "0.fst").ok() == "the red house\n"
    assert smt("mbr", "0.fst", "-m", "wer").ok() == "a red house\n"
    Path("kaldi").write_text("u1\n0 1 the 1,2,3\n0 1 a 1.5,1,4\n1\n\nu2\n0 1 no 1,2,3\n1 0.5,0,\n")
    assert smt("convert", "kaldi", "--to", "jsonl", "-k", "1", "-q").ok().count('"acoustic"') == 2
    assert smt("best", "kaldi", "--from", "kaldi-lattice,acoustic_scale=0.1").ok() == "the\nno\n"
    Path("lists").mkdir()
    Path("lists/0.score").write_text("-100 -20 3 the red house\n-101 -10 3 a red house\n")
    command = ["evaluate", "a=lists", "b=0.fst", "-r", "red", "-m", "wer", "-f", "tsv"]
    assert [line.split("\t")[2] for line in smt(*command).ok().splitlines()[1:]] == ["33.33", "33.33"]
    assert smt("best", "lists", "--from", "srilm-nbest,lmw=1").ok() == "a red house\n"
    Path("nemo").write_text("a\t-1\nb\t-2\n")
    assert smt("best", "nemo", "--from", "lines,n=2,scores=tab").ok() == "a\n"
