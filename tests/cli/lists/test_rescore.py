"""``smt rescore``: new totals, sorted lists, all else unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]


@pytest.fixture
def weights(nbest: Path) -> Path:
    path = nbest.with_name("weights")
    path.write_text("LM0 1\nTM0[0] 0.5\nTM0[1] 0.25\n")
    return path


def test_lines_are_sorted_and_only_totals_change(smt: Smt, nbest: Path, weights: Path) -> None:
    out = smt("rescore", "-i", nbest, "-w", weights).ok()
    assert out == (
        "0 ||| a home  ||| LM0= -1 TM0= -2 -2 ||| -2.5 ||| 0-0 1-1 \n"
        "0 ||| a house  ||| LM0= -2 TM0= -1.50 -3 ||| -3.5 ||| 0-0 1-1 \n"
        "1 ||| the house  ||| LM0= -4 TM0= -1 -1 ||| -4.75 ||| 0-0 1-1 \n"
    )


def test_weights_may_come_in_any_format(smt: Smt, nbest: Path, weights: Path) -> None:
    expected = smt("rescore", "-i", nbest, "-w", weights).ok()
    Path("moses.ini").write_text("[feature]\nKENLM\n[weight]\nTM0= 0.5 0.25\nLM0= 1\n")
    assert smt("rescore", "-w", "moses.ini", stdin=nbest.read_text()).ok() == expected


def test_weights_can_be_set_one_by_one(smt: Smt, nbest: Path, weights: Path) -> None:
    assert (
        " ||| -0.5 ||| "
        in smt("rescore", "-i", nbest, "-w", weights, "--set-weight", "LM0=0", "--set-weight", "TM0[1]=0").ok()
    )
    weights.write_text("LM0 1\n")
    result = smt("rescore", "-i", nbest, "-w", weights)
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        f"smt: {nbest}:1: feature 'TM0[0]' has no weight; --missing-weight 0 counts such features as 0\n"
    )
    assert "||| -4 |||" in smt("rescore", "-i", nbest, "-w", weights, "--missing-weight", "0").ok()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--set-weight=x", "smt: --set-weight: expected NAME=NUMBER, found 'x'\n"),
        ("--set-weight=x=high", "smt: --set-weight: expected NAME=NUMBER, found 'x=high'\n"),
        ("--set-weight==1", "smt: --set-weight: expected NAME=NUMBER, found '=1'\n"),
        ("--set-weight=LM0=nan", "smt: weight of 'LM0': expected a finite number, found nan\n"),
        ("--missing-weight=inf", "smt: weight of features without one: expected a finite number, found inf\n"),
    ],
)
def test_wrong_weights_are_wrong_calls(smt: Smt, nbest: Path, weights: Path, option: str, message: str) -> None:
    result = smt("rescore", "-i", nbest, "-w", weights, option, "-o", "out")
    assert (result.code, result.out, result.err) == (2, "", message)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected weights data, found an empty file"),
        ("LM0 1\nLM0 2\n", "2: field 1: expected each weight once, found 'LM0' again"),
        ("LM0 1\nTM0 x\n", "2: field 2: expected a finite number, found 'x'"),
        ("LM0 1\nTM0 nan\n", "2: field 2: expected a finite number, found 'nan'"),
        ("[weight]\nLM0= 1\nLM0= 2\n", "3: field 1: expected each weight once, found 'LM0' again"),
    ],
)
def test_bad_weights_are_named_and_nothing_written(smt: Smt, nbest: Path, text: str, message: str) -> None:
    Path("weights").write_text(text)
    result = smt("rescore", "-i", nbest, "-w", "weights", "-o", "out")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("smt: weights:" + message)
    assert not Path("out").exists()


def test_weights_of_something_else_are_an_error(smt: Smt, nbest: Path) -> None:
    Path("weights").write_text("PhraseModel_0 1\n")
    result = smt("rescore", "-i", nbest, "-w", "weights", "--missing-weight", "0", "-o", "out")
    assert (result.code, result.out) == (1, "")
    assert result.err == f"smt: {nbest}: none of the 1 weights names a feature of the lists\n"
    assert not Path("out").exists()


def test_other_format_and_manifest(smt: Smt, nbest: Path, weights: Path) -> None:
    smt("rescore", "-i", nbest, "-w", weights, "--to", "text", "-o", "out", "--manifest", "m.json", "-q").ok()
    assert Path("out").read_text() == "a home\na house\nthe house\n"
    assert sorted(json.loads(Path("m.json").read_text())["inputs"]) == [str(nbest), str(weights)]


def test_weights_that_name_nothing_are_told_and_set_ones_are_errors(smt: Smt, nbest: Path, weights: Path) -> None:
    result = smt("rescore", "-w", weights, "--set-weight", "LMO=1", "-i", nbest, "-o", "out")
    assert (result.code, result.err.split(";")[1]) == (2, " did you mean 'LM0'?\n")
    assert not Path("out").exists()
    weights.write_text(weights.read_text() + "Unused 1\n")
    result = smt("rescore", "-w", weights, "-i", nbest, "-o", "out")
    note = "smt: note: these weights name no feature of the lists: Unused\n"
    assert (result.code, result.err) == (0, note)
    smt("rescore", "-q", "-w", weights, "-i", nbest, "-o", "out").ok()


def test_totals_beyond_all_numbers_are_refused(smt: Smt, nbest: Path, weights: Path) -> None:
    result = smt("rescore", "-w", weights, "--set-weight", "LM0=1.7e308", "-i", nbest, "-o", "out")
    assert (result.code, result.err) == (1, f"smt: {nbest}:1: expected a finite total, found -inf\n")
    assert not Path("out").exists()
