"""``smt dedup``: each text once."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

Smt = Callable[..., Any]

LIST = """\
0 ||| a ||| f=1 ||| -2.50
0 ||| b ||| f=2 ||| -3
0 ||| a ||| f=3 ||| -1
1 ||| a ||| f=4 ||| -1
"""


def test_best_of_equal_texts_stays_as_it_was(smt: Smt) -> None:
    assert smt("dedup", stdin=LIST).ok() == ("0 ||| a ||| f=3 ||| -1\n0 ||| b ||| f=2 ||| -3\n1 ||| a ||| f=4 ||| -1\n")


def test_totals_can_be_added_as_probabilities(smt: Smt) -> None:
    smt("dedup", "--merge", "logsum", "-o", "out", stdin=LIST).ok()
    first, second, third = Path("out").read_text().splitlines()
    assert first.startswith("0 ||| a ||| f=3 ||| ")
    assert abs(float(first.rpartition(" ")[2]) - math.log(math.exp(-2.5) + math.exp(-1))) < 1e-12
    assert (second, third) == ("0 ||| b ||| f=2 ||| -3", "1 ||| a ||| f=4 ||| -1")


def test_format_and_precision(smt: Smt) -> None:
    out = smt("dedup", "--merge", "logsum", "--to", "moses", "--precision", "3", stdin=LIST).ok()
    assert out.splitlines()[0] == "0 ||| a  ||| f= 3 ||| -0.799"
