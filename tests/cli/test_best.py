"""``smt best``: one line for each list."""

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
