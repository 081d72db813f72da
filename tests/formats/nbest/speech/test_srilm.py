"""SRILM's three forms of n-best lists."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtformats import Candidates, FormatError, all_formats, detect
from smtformats.files import Lines, stem_of
from smtformats.nbest.speech.srilm import FORMAT, parse

FIRST = "NBestList1.0\n(-2120) a man with a hat\n(-2144) the man\n(-2200)\n"
# The phones of a word have times within those of the word.
SECOND = """\
NBestList2.0
(-352) a ( st: 0.0 et: 0.2 g: -10 a: -90 ) ey ( st: 0.00 et: 0.19 g: 0 a: -80 ) man ( st: 0.3 et: 0.5 g: -12 a: -240 )
(-400) man ( st: 0 et: 0.5 g: -20 a: -380 )
"""
THIRD = "-1820.5 -12.25 6 a man with a big hat\n-1822 -11.75 4 the man -pau- with him\n"
BYTELOG = 1024 / 10000.5


def read(text: str, name: str = "sw_0001.score.gz", **options: Any) -> Candidates:
    (nbest,) = parse(Lines(io.BytesIO(text.encode()), name), **options)
    return nbest


def test_first_form() -> None:
    nbest = read(FIRST)
    assert (nbest.id, nbest.line, nbest.texts) == ("sw_0001", 2, ["a man with a hat", "the man", ""])
    assert nbest[0][1] == {"score": -2120}
    # A bytelog is a logarithm to base 1.0001 divided by 1024.
    assert nbest.totals == pytest.approx(
        [-2120 * 1024 * math.log(1.0001), *[-2144 * BYTELOG, -2200 * BYTELOG]], rel=1e-6
    )


def test_second_form() -> None:
    nbest = read(SECOND)
    assert nbest.texts == ["a man", "man"]
    assert nbest[0][1] == {"score": -352, "acoustic": -330, "language": -22}
    assert nbest[1][1] == {"score": -400, "acoustic": -380, "language": -20}
    assert nbest.totals == pytest.approx([-352 * BYTELOG, -400 * BYTELOG])


def test_third_form() -> None:
    nbest = read(THIRD)
    assert nbest.texts == ["a man with a big hat", "the man -pau- with him"]
    assert (nbest.totals, nbest.line) == (None, 1)
    assert nbest[1][1] == {"acoustic": -1822, "language": -11.75, "words": 4}
    nbest = read(THIRD, lmw=8, wtw=-0.5)
    assert nbest.totals == pytest.approx([math.log(10) * (-1820.5 - 98 - 3), math.log(10) * (-1822 - 94 - 2)])
    nbest = read(THIRD, lmw=2)
    assert nbest.totals == pytest.approx([math.log(10) * (-1820.5 - 24.5), math.log(10) * (-1822 - 23.5)])


def test_utterances() -> None:
    names = ["a/sw_1-A.score.gz", "sw_1-A.nbest", "sw_1-A", "sw_1-A.txt.bz2", ".gz", "sw.1-A.Z"]
    assert [*map(stem_of, names)] == ["sw_1-A", "sw_1-A", "sw_1-A", "sw_1-A", ".gz", "sw.1-A"]


def test_folders(tmp_path: Path) -> None:
    (tmp_path / "u2.score").write_text(FIRST)
    (tmp_path / "u10.score").write_text(FIRST.replace("hat", "cap"))
    lists = smt.read(tmp_path)
    assert list(lists.best_by_id()) == [("u2", "a man with a hat"), ("u10", "a man with a cap")]
    assert [nbest.id for nbest in lists] == ["u2", "u10"]


def test_detection() -> None:
    for text in (FIRST, SECOND, THIRD):
        assert detect(text.encode(), all_formats(), "x") is FORMAT
    for other in ("-1 -2 3 a b\n", "-1 -2 2 a b\nein satz\n", "1 2 3 4 5 6\n", "-1 -2 0\n", "a b 1 c\n", ""):
        assert not FORMAT.matches(other.encode())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NBestList1.0\n", "sw_0001.score.gz:1: field 1: expected a hypothesis, found none in the file"),
        ("NBestList1.0\n-5 a\n", r"2: field 1: expected a score like \(-2120\), found '-5'"),
        ("NBestList1.0\n\n", r"2: field 1: expected a score like \(-2120\), found none"),
        (SECOND + "(-4) a b\n", r"4: field 1: expected words, each with \( st: N .* found 2 fields after the score"),
        (SECOND.replace("g: -12", "h: -12"), r"2: field 24: expected \( st: N et: N g: N a: N \) after a word, found"),
        (SECOND.replace("a: -380", "a: x"), "3: field 2: expected a finite number, found 'x'"),
        (THIRD + "-1 -2\n", "3: field 1: expected acoustic score, .* found 2 fields"),
        (THIRD + "-1 -2 x a\n", "3: field 1: expected a finite number, found 'x'"),
        (THIRD + "-1 -2 1.5 a\n", "3: field 3: expected a number of words, found '1.5'"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(text)
