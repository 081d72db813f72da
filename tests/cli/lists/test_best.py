"""``smt best``: a line per list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Smt = Callable[..., Any]


def test_highest_total_of_each_list(smt: Smt, nbest: Path) -> None:
    assert smt("best", "-i", nbest).ok() == "a house\nthe house\n"
    assert smt("best", "-i", nbest, "-o", "out").ok() == ""
    assert Path("out").read_text() == "a house\nthe house\n"
    assert smt("best", stdin=nbest.read_text().replace("-2.50", "-0.25")).ok() == "a home\nthe house\n"


def test_ids_without_a_list_are_told_or_filled(smt: Smt) -> None:
    gaps = "1 ||| a ||| f= 1 ||| 0\n4 ||| b ||| f= 1 ||| 0\n"
    result = smt("best", stdin=gaps)
    assert (result.code, result.out) == (0, "a\nb\n")
    assert result.err == (
        "smt: note: 3 ids have no list, so line numbers are not ids; --fill writes empty lines for them\n"
    )
    assert smt("best", "-q", stdin=gaps).ok() == "a\nb\n"
    assert smt("best", "--fill", stdin=gaps).ok() == "\na\n\n\nb\n"


def test_bad_list_leaves_nothing(smt: Smt) -> None:
    result = smt("best", "-o", "out", stdin="0 ||| a ||| f= 1 ||| 0\n0 ||| b\n")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("smt: <stdin>:2: field 3: expected")
    assert not Path("out").exists()


LINES = "".join(f'{{"id": {i}, "nbest": [{{"text": "text {i}", "score": -1}}]}}\n' for i in (2, 0, 1))


def test_lists_in_another_order_are_put_in_order(smt: Smt) -> None:
    for command in (("best",), ("best", "--fill"), ("mbr",), ("convert", "--to", "text-nbest")):
        assert smt(*command, stdin=LINES).ok() == "text 0\ntext 1\ntext 2\n"
    sockeye = "".join(f'{{"sentence_id": {i}, "translations": ["{i}"], "scores": [1]}}\n' for i in (3, 1, 2))
    assert smt("best", stdin=sockeye).ok() == "1\n2\n3\n"


def test_an_id_twice_is_refused_with_both_places(smt: Smt) -> None:
    for command in (("best",), ("mbr",), ("convert", "--to", "moses-nbest"), ("dedup",)):
        result = smt(*command, stdin=LINES + LINES)
        assert result.code == 1
        assert "<stdin>:4: field 1: expected each id once, found '2' again (first at <stdin>:1)" in result.err


def test_lowest_score_of_sockeye_is_the_best(smt: Smt) -> None:
    lists = '{"sentence_id": 1, "translations": ["good", "bad"], "scores": [0.5, 0.9]}\n'
    assert smt("best", stdin=lists).ok() == "good\n"
    assert smt("best", "--fill", stdin=lists).ok() == "good\n"
    assert (
        smt("convert", "--to", "moses-nbest", stdin=lists).ok().splitlines()[0] == "0 ||| good  ||| score= 0.5 ||| -0.5"
    )
    assert smt("rescore", "-w", "w", "--missing-weight", "-1", stdin=lists).code == 1


def test_json_of_others_is_no_list(smt: Smt) -> None:
    result = smt("best", stdin='{"custom_id": "a", "method": "POST", "body": {}}\n')
    assert (result.code, result.out) == (1, "")
    assert "found OpenAI batch requests, which hold no answers" in result.err
    result = smt("best", stdin='{"outputs": [{"text": "a", "cumulative_logprob": -1.5}]}\n')
    assert result.ok() == "a\n"
