"""``smt merge``: pools of several systems, and the commands that take them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]

MOSES = """\
0 ||| a house  ||| LM0= -2 ||| -1.5
0 ||| a home  ||| LM0= -1 ||| -2.5
1 ||| the house  ||| LM0= -4 ||| -0.5
"""
CDEC = """\
0 ||| a house ||| LanguageModel=-3 ||| -3
1 ||| the home ||| LanguageModel=-2 ||| -1
1 ||| the house ||| LanguageModel=-5 ||| -2
"""


@pytest.fixture(autouse=True)
def _systems() -> None:
    Path("m.nbest").write_text(MOSES)
    Path("c.nbest").write_text(CDEC)
    Path("text").write_text("a house\nthat house\n")
    Path("ref").write_text("a house\nthe house\n")


def test_pool(smt: Smt) -> None:
    assert smt("merge", "moses=m.nbest", "cdec=c.nbest", "text=text", "-o", "pool").ok() == ""
    lists = [json.loads(line) for line in Path("pool").read_text().splitlines()]
    assert [(row["id"], item["text"], item["system"]) for row in lists for item in row["hypotheses"]] == [
        (0, "a house", "moses,cdec,text"),
        (0, "a home", "moses"),
        (1, "the house", "moses,cdec"),
        (1, "that house", "text"),
        (1, "the home", "cdec"),
    ]
    assert lists[1]["hypotheses"][1]["scores"] == {
        "moses.LM0": -4, "moses.total": -0.5, "moses.missing": 1, "cdec.LanguageModel": -5, "cdec.total": -2,
        "cdec.missing": 1, "text.missing": 0,
    }  # fmt: skip
    assert smt("merge", "m.nbest", "c.nbest", "text").ok() == Path("pool").read_text().replace("moses", "m").replace(
        "cdec", "c"
    )


def test_commands_take_pools(smt: Smt) -> None:
    smt("merge", "moses=m.nbest", "cdec=c.nbest", "-o", "pool").ok()
    smt("merge", "moses=m.nbest", "cdec=c.nbest", "--missing", "min", "-o", "short").ok()
    for command in (["best"], ["mbr"], ["rescore", "-w", "w"], ["dedup"], ["convert", "--to", "jsonl"]):
        Path("w").write_text("moses.LM0 1\ncdec.total 1\n")
        more = ["--missing-weight", "0"] if command[0] == "rescore" else []
        assert smt(*command, *more, "-i", "pool").code == 0
    assert '"system": "moses,cdec"' in smt("mbr", "--lists", "--to", "jsonl", "-i", "pool").out
    assert "BLEU" in smt("oracle", "-i", "pool", "-r", "ref").ok()
    assert smt("tune", "-i", "short", "-r", "ref", "-o", "weights").code == 0
    assert {line.split()[0] for line in Path("weights").read_text().splitlines()} == {
        "moses.LM0", "moses.total", "cdec.LanguageModel", "cdec.total",
    }  # fmt: skip


def test_how_often_each_system_is_chosen(smt: Smt) -> None:
    smt("merge", "moses=m.nbest", "cdec=c.nbest", "text=text", "-o", "pool").ok()
    shown = smt("evaluate", "pool", "text", "-r", "ref").ok()
    assert shown.partition("\n\n")[2].splitlines() == [
        "pool  chosen  sentences  share    alone",
        "pool  cdec    2          100.0 %  0",
        "pool  moses   2          100.0 %  0",
        "pool  text    1          50.0 %   0",
    ]
    rows = json.loads(smt("evaluate", "pool", "text", "-r", "ref", "-f", "json").ok())
    assert [row["chosen"].get("text") for row in rows] == [{"sentences": 1, "alone": 0}, None]
    page = smt("report", "pool", "-r", "ref").ok()
    assert "cdec 2 of 2 (0 alone), moses 2 of 2 (0 alone), text 1 of 2 (0 alone)" in page
    result = smt(
        "rerank", "--dev", "pool", "--dev-ref", "ref", "--test", "pool", "--test-ref", "ref", "-o", "out",
        "--bootstrap", "0",
    )  # fmt: skip
    assert result.code == 0
    table = result.out.split("\n\n")[1].splitlines()
    assert table[0].split() == ["set", "pool", "chosen", "sentences", "share", "alone"]
    assert {tuple(line.split()[:2]) for line in table[1:]} == {
        (part, pool) for part in ("dev", "test") for pool in ("baseline", "result", "oracle")
    }


def test_formats_say_what_they_cannot_hold(smt: Smt) -> None:
    result = smt("merge", "moses=m.nbest", "cdec=c.nbest", "--to", "moses", "-o", "pool")
    assert (result.code, result.err) == (0, "smt: note: moses-nbest cannot carry system: left out\n")
    assert Path("pool").read_text().startswith("0 ||| a house  ||| moses.LM0= -2 moses.total= -1.5 moses.missing= 0 ")
    Path("aligned").write_text(MOSES.replace("-1.5\n", "-1.5 ||| 0-0 1-1\n"))
    result = smt("merge", "moses=aligned", "cdec=c.nbest", "-o", "pool")
    assert result.code == 0


def test_formats_of_systems(smt: Smt) -> None:
    Path("lines").write_text("a house\na home\nthe house\nthe home\n")
    result = smt("merge", "m=m.nbest", "l=lines", "--from", "l=lines-nbest,n=2")
    assert [len(json.loads(line)["hypotheses"]) for line in result.ok().splitlines()] == [2, 2]
    result = smt("merge", "m=m.nbest", "l=lines", "--from", "k=lines-nbest,n=2", "--from", "m=moses")
    assert (result.code, "--from: expected NAME=FORMAT with the name of a system" in result.err) == (2, True)


def test_forests_are_systems(smt: Smt) -> None:
    Path("forests.plf").write_text("((('a',0.5,1),('the',0.25,1),),(('house',1,1),),)\n" * 2)
    Path("w").write_text("LatticeCost_0 -1\n")
    Path("m.w").write_text("LM0 0.5\n")
    result = smt("merge", "f=forests.plf", "moses=m.nbest")
    assert (result.code, result.err) == (
        1, "smt: forests.plf:1: forest 0: expected scores, found none; --weights computes them\n"
    )  # fmt: skip
    weights = ["-w", "f=w", "-w", "moses=m.w"]
    lists = smt("merge", "f=forests.plf", "moses=m.nbest", *weights, "--missing", "min").ok().splitlines()
    # A text of a forest has the scores of its best derivation, a list the totals of its weights.
    rows = [(item["system"], item["text"], item["scores"]) for item in json.loads(lists[1])["hypotheses"]]
    assert rows == [
        ("f,moses", "the house",
         {"f.LatticeCost_0": 1.25, "f.total": -1.25, "moses.LM0": -4, "moses.total": -2}),
        ("f", "a house", {"f.LatticeCost_0": 1.5, "f.total": -1.5, "moses.LM0": -4, "moses.total": -2}),
    ]  # fmt: skip
    short = smt("merge", "f=forests.plf", "moses=m.nbest", *weights, "-k", "1", "--unique").ok().splitlines()
    assert [item["text"] for item in json.loads(short[1])["hypotheses"]] == ["the house"]


@pytest.mark.shared
def test_lists_of_cdecs_forests_have_the_texts_of_its_lists(smt: Smt, shared: Path) -> None:
    folder = shared / "gold/cdec/first50"
    forests = [f"forest={folder / 'forest.lm'}", "--from", "forest=cdec-json-hypergraph", "-k", "10", "--unique"]
    forests += ["-w", f"forest={folder / 'weights.tuned'}"]
    pool = smt("merge", f"cdec={folder / 'kbest100.unique.txt.gz'}", *forests).ok()
    systems = {item["system"] for line in pool.splitlines() for item in json.loads(line)["hypotheses"]}
    assert systems == {"cdec,forest", "cdec"}


@pytest.mark.shared
def test_oracles_of_pools_are_no_worse(smt: Smt, shared: Path) -> None:
    gold = shared / "gold"
    files = {
        "moses": gold / "moses/pb/nbest100.labeled.distinct.txt.gz",
        "chart": gold / "moses/hiero/nbest100.distinct.txt.gz",
        "cdec": gold / "cdec/first50/kbest100.unique.txt.gz",
    }
    refs = ["-r", gold / "cdec/first50/ref.en", "-f", "json"]
    smt("merge", *(f"{name}={path}" for name, path in files.items()), "-o", "pool").ok()
    scores = {
        name: json.loads(smt("oracle", path, *refs).ok())[-1]["score"]
        for name, path in [*files.items(), ("pool", "pool")]
    }
    assert scores["pool"] > max(scores[name] for name in files) + 4
    chosen = json.loads(smt("evaluate", "pool", *refs).ok())[0]["chosen"]
    assert max(counts["sentences"] for counts in chosen.values()) <= 50
    assert set(chosen) == set(files)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m=m.nbest", "-k", "3"], "-k: expected forests or lattices among the systems, found none"),
        (["m=m.nbest", "-w", "c=w"], "weights of system 'c': expected the name of a system; known: m"),
        (["m=m.nbest", "-w", "w"], "--weights: expected NAME=FILE, once for each system, found 'w'"),
        (["t=text", "-w", "t=w"], "weights of system 't': expected lists or forests, found text in text"),
        (["m=m.nbest", "m=c.nbest"], "expected different system names, found 'm' twice"),
        (["m=m.nbest", "c.nbest"], "expected NAME=FILE for all systems or for none, found 'c.nbest'"),
        (["=m.nbest"], "system '=m.nbest': expected FILE or NAME=FILE"),
        (["-"], "a system of a pool is read from a file, not from standard input"),
    ],
)
def test_wrong_calls(smt: Smt, arguments: list[str], message: str) -> None:
    Path("w").write_text("LM0 1\n")
    result = smt("merge", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"smt: {message}\n")


def test_ids_that_only_some_have(smt: Smt) -> None:
    Path("c.nbest").write_text(CDEC.splitlines()[0] + "\n")
    result = smt("merge", "moses=m.nbest", "cdec=c.nbest", "-o", "pool")
    assert (result.code, Path("pool").exists()) == (1, False)
    assert result.err == (
        "smt: c.nbest: expected candidates of cdec for all ids of moses, found none for 1 (m.nbest:3); --allow-partial "
        "pools what is there\n"
    )
    assert len(smt("merge", "moses=m.nbest", "cdec=c.nbest", "--allow-partial").ok().splitlines()) == 2
