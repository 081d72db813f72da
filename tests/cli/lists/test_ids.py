"""Ids are ids: every command that reads lists joins them by id, or refuses them; no wrong text with exit code 0."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import smtplugins

Smt = Callable[..., Any]

WORDS = ("red", "green", "blue", "white", "black")
COMMANDS = (
    "info", "convert", "jsonl", "score", "rescore", "best", "fill", "dedup", "merge", "evaluate", "oracle", "mbr",
    "consensus", "tune", "rerank", "report",
)  # fmt: skip
JUDGING = frozenset({"evaluate", "oracle", "tune", "rerank", "report"})
OTHERS = frozenset(COMMANDS) - JUDGING
SOURCED = frozenset({"score"})


def text(key: str) -> str:
    return f"a {WORDS[int(key[-1])]} house stands in the street"


def write_lists(ids: Sequence[str]) -> None:
    """Lists whose best hypothesis is the reference; the second is the reference of another id."""
    rows = []
    for key in ids:
        other = text(str((int(key[-1]) + 1) % 5))
        texts = [{"text": other, "score": -2, "scores": {"f": 0}}, {"text": text(key), "score": -1, "scores": {"f": 1}}]
        rows.append(json.dumps({"id": int(key) if key.isdigit() else key, "hypotheses": texts}) + "\n")
    Path("lists").write_text("".join(rows))


def write_side(name: str, field: str, ids: Sequence[str], *, plain: bool) -> None:
    if plain:
        Path(name).write_text("".join(text(key) + "\n" for key in ids))
    else:
        Path(name).write_text("".join(json.dumps({"id": key, field: text(key)}) + "\n" for key in ids))


def run(smt: Smt, command: str) -> Any:
    Path("weights").write_text("f 1\n")
    arguments: dict[str, list[Any]] = {
        "info": ["info", "lists"],
        "convert": ["convert", "lists", "out", "--to", "moses"],
        "jsonl": ["convert", "lists", "out", "--to", "sockeye"],
        "score": ["score", "--feature", "length", "-s", "source", "-i", "lists", "-o", "out"],
        "rescore": ["rescore", "-w", "weights", "-i", "lists", "-o", "out", "--to", "moses"],
        "best": ["best", "lists", "-o", "out"],
        "fill": ["best", "lists", "--fill", "-o", "out"],
        "dedup": ["dedup", "lists", "-o", "out", "--to", "moses"],
        "merge": ["merge", "a=lists", "b=lists", "-o", "out", "--to", "moses"],
        "evaluate": ["evaluate", "lists", "-r", "ref", "-f", "json"],
        "oracle": ["oracle", "lists", "-r", "ref", "-f", "json"],
        "mbr": ["mbr", "--lists", "-i", "lists", "-o", "out", "--to", "moses"],
        "consensus": ["mbr", "-i", "lists", "-o", "out"],
        "tune": ["tune", "-i", "lists", "-r", "ref", "-o", "out"],
        "rerank": ["rerank", "--dev", "lists", "--dev-ref", "ref", "--test", "lists", "--test-ref", "ref", "-o", "out",
                   "--bootstrap", "0", "-f", "json"],
        "report": ["report", "lists", "-r", "ref", "-o", "out"],
    }  # fmt: skip
    return smt(*arguments[command])


def check(command: str, result: Any, ids: Sequence[str]) -> None:
    """What is written has the text of each id, and all that is judged equals its reference."""
    assert result.code == 0, result.err
    if command in ("evaluate", "oracle"):
        assert json.loads(result.out)[-1]["score"] == pytest.approx(100)
    elif command == "rerank":
        scores = [row["score"] for row in json.loads(result.out) if row["system"] != "baseline"]
        assert scores == [pytest.approx(100)] * 4
    elif command == "report":
        judged = smtplugins.load_plugins().report(lists="lists", refs="ref").judged
        assert judged is not None
        assert judged.score == pytest.approx(100)
    elif command in ("best", "fill", "consensus"):
        numbers = [int(key) for key in ids if key.isdigit()]
        lines = sorted(ids, key=int) if numbers else ids
        shown = [text(key) + "\n" for key in lines]
        if command == "fill" and numbers:
            shown = [text(str(i)) + "\n" if i in numbers else "\n" for i in range(max(numbers) + 1)]
        assert Path("out").read_text() == "".join(shown)
    elif command in ("convert", "rescore", "dedup", "merge", "mbr"):
        written: dict[str, list[str]] = {}
        for line in Path("out").read_text().splitlines():
            written.setdefault(line.split(" ||| ")[0], []).append(line.split(" ||| ")[1].strip())
        names = {key: key for key in written}
        if not ids[0].isdigit():
            names = dict(line.split("\t") for line in Path("out.ids").read_text().splitlines()[1:])
        assert list(written) == sorted(written, key=int)
        assert sorted(names[key] for key in written) == sorted(ids)
        for key, texts in written.items():
            assert text(names[key]) in texts
    elif command == "jsonl":
        rows = [json.loads(line) for line in Path("out").read_text().splitlines()]
        ids_there = [str(row.get("sentence_id", 0) - 1) if ids[0].isdigit() else row["sentence_id"] for row in rows]
        assert [(key, text(key) in row["translations"]) for key, row in zip(ids_there, rows, strict=True)] == [
            (key, True) for key in ids
        ]


TWICE = "t:3: field 1: expected each number and id once"
NUMBERS = ("0", "1", "2", "3", "4")
NAMES = tuple(f"seg-{i}" for i in range(5))
SHUFFLED = (2, 0, 1, 4, 3)
# Of each case: the ids of the lists, of the references and sources, whether these are plain text, the commands that
# refuse, and what they say.
CASES: dict[str, tuple[Sequence[str], Sequence[str], bool, frozenset[str], str]] = {
    "in order": (NUMBERS, NUMBERS, True, frozenset(), ""),
    "shuffled": ([NUMBERS[i] for i in SHUFFLED], NUMBERS, True, frozenset(), ""),
    "shuffled references": (NUMBERS, [NUMBERS[i] for i in SHUFFLED], False, frozenset(), ""),
    "string ids": ([NAMES[i] for i in SHUFFLED], NAMES, False, frozenset({"fill"}), "whole numbers as ids"),
    "string ids, plain references": (NAMES, NAMES, True, JUDGING | SOURCED | {"fill"}, "whole numbers|line numbers of"),
    "gaps": (("0", "2", "4"), NUMBERS, True, JUDGING | SOURCED, r"id 1\b"),
    "gaps in both": (("0", "2", "4"), ("4", "0", "2"), False, frozenset(), ""),
    "twice": (("0", "1", "2", "1"), NUMBERS, True, frozenset(COMMANDS), r"1'? again.*lists:2"),
    "string ids twice": (("seg-1", "seg-1"), NAMES, False, frozenset(COMMANDS), r"seg-1'? again.*lists:1"),
    "without a reference": (NUMBERS, NUMBERS[:4], True, JUDGING | SOURCED, r"id below 4|id 4\b"),
    "without a reference by id": (NUMBERS, NUMBERS[1:], False, JUDGING | SOURCED, r"'0'|id 0\b"),
    "references without a list": (NUMBERS[:4], NUMBERS, True, JUDGING | SOURCED, r"id 4\b"),
    "string ids without a list": (NAMES[1:], NAMES, False, JUDGING | SOURCED | {"fill"}, "seg-0|whole numbers"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_wrong_text(smt: Smt, command: str, case: str) -> None:
    ids, others, plain, refusing, message = CASES[case]
    write_lists(ids)
    write_side("ref", "reference", others, plain=plain)
    write_side("source", "source", others, plain=plain)
    result = run(smt, command)
    if command in refusing:
        assert result.code == 1
        assert re.search(message, result.err), result.err
        assert not Path("out").exists()
    else:
        check(command, result, ids)


def test_lists_of_toolkits_have_to_ascend(smt: Smt) -> None:
    line = "%d ||| x ||| f=1 ||| 1\n"
    for ids in ((1, 0), (0, 1, 0)):
        Path("lists").write_text("".join(line % key for key in ids))
        Path("ref").write_text("x\nx\n")
        Path("source").write_text("x\nx\n")
        for command in COMMANDS:
            result = run(smt, command)
            assert command == "info" or (result.code, Path("out").exists()) == (1, False)
            again = "" if len(ids) == 2 else " again (first at lists:1)"
            message = f"lists:{len(ids)}: field 1: expected an id after 1 (ids ascend), found '0'{again}\n"
            assert message in result.err + result.out


@pytest.mark.parametrize("to", ["moses", "cdec", "joshua", "marian"])
def test_names_of_numbered_lists(smt: Smt, to: str) -> None:
    write_lists(["b\u00e4r-1", "a-0"])
    result = smt("convert", "lists", "out", "--to", to)
    assert result.code == 0
    assert f"smt: note: {to}-nbest has whole numbers as ids: out.ids has the id of each number\n" in result.err
    assert Path("out.ids").read_text() == "number\tid\n0\tb\u00e4r-1\n1\ta-0\n"
    lines = [line.split(" ||| ") for line in Path("out").read_text().splitlines()]
    assert [(key, best.strip()) for key, best, *_ in lines][1::2] == [("0", text("1")), ("1", text("0"))]
    result = smt("convert", "lists", "--to", to)
    assert (result.code, result.out) == (2, "")
    assert "expected whole numbers as ids" in result.err


def test_numbered_lists_are_read_with_their_names(smt: Smt) -> None:
    write_lists([NAMES[i] for i in SHUFFLED])
    write_side("ref", "reference", NAMES, plain=False)
    assert smt("convert", "lists", "out", "--to", "moses").code == 0
    assert Path("out").read_text().startswith("0 ||| a white house")
    scores = json.loads(smt("oracle", "out", "--from", "moses-nbest,ids=out.ids", "-r", "ref", "-f", "json").ok())
    assert scores[-1]["score"] == pytest.approx(100)
    assert smt("convert", "out", "again", "--from", "moses-nbest,ids=out.ids", "--to", "jsonl").ok() == ""
    assert [json.loads(line)["id"] for line in Path("again").read_text().splitlines()] == [NAMES[i] for i in SHUFFLED]
    rescored = smt("convert", "out", "--from", "moses-nbest,ids=out.ids", "rescored", "--to", "moses")
    assert rescored.code == 0
    assert (Path("rescored").read_bytes(), Path("rescored.ids").read_bytes()) == (
        Path("out").read_bytes(),
        Path("out.ids").read_bytes(),
    )
    result = smt("convert", "out", "other", "--from", "moses-nbest,ids=out.ids")
    assert (result.code, "moses-nbest can only be read; name another format with --to" in result.err) == (2, True)
    Path("side").write_text("".join(f"{key}\n" for key in NAMES))
    result = smt(
        "score", "--feature", "length", "-s", "side", "-i", "out", "--from", "moses-nbest,ids=out.ids", "--to", "jsonl"
    )
    assert (result.code, "expected line numbers of side as ids, found 'seg-2'" in result.err) == (1, True)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("0\ta\n", "t:1: field 1: expected a header, number and id, separated by a tab, found '0\\ta'"),
        ("number\tid\n0 a\n", "t:2: field 1: expected a number and an id, separated by a tab, found '0 a'"),
        (
            "number\tid\n0\ta\n0\tb\n",
            "t:3: field 1: expected each number and id once, found 0 b again (first in line 2)",
        ),
        (
            "number\tid\n0\ta\n1\ta\n",
            "t:3: field 1: expected each number and id once, found 1 a again (first in line 2)",
        ),
        ("number\tid\n1\ta\n", "lists:1: field 1: expected a number of t as id, found 0"),
    ],
)
def test_tables_of_names(smt: Smt, table: str, message: str) -> None:
    Path("lists").write_text("0 ||| x ||| f= 1 ||| 1\n")
    Path("t").write_text(table)
    result = smt("best", "lists", "--from", "moses,ids=t")
    assert (result.code, result.out, result.err) == (1, "", f"smt: {message}\n")


def test_names_that_no_table_holds(smt: Smt) -> None:
    write_lists(["a\t0"])
    result = smt("convert", "lists", "out", "--to", "moses")
    assert (result.code, Path("out").exists(), Path("out.ids").exists()) == (1, False, False)
    assert "expected ids without tabs and line breaks for out.ids, found 'a\\t0'" in result.err
