"""Hypotheses in Joshua's output format; the expected texts are those of Joshua's own tests."""

from __future__ import annotations

import pytest

from smtformats import Candidates
from smtplugins.contracts.errors import UsageError
from smtplugins.host.files.joshua_output import check_template, denormalised, printed, recased


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("¿ who you lookin' at , mr. ?", "¿Who you lookin' at, Mr.?"),
        ("it is n't dr phd - -LRB- yes -rrb- !", "It isn't Dr PhD-(yes)!"),
        ("mphil , [ a ] { b } ; he 'll : ¡ go", "MPhil, [a] {b}; he'll: ¡go"),
        ("straße", "Straße"),
        ("ßa", "SSa"),
        ("... 1 a", "... 1 a"),
        (", .", ","[:1] + "."),
        ("", ""),
    ],
)
def test_denormalised(text: str, expected: str) -> None:
    assert denormalised(text) == expected


def test_variables() -> None:
    nbest = Candidates("7", ["a b", "c"], [("x", "y"), ("x",)], [[1.0, -0.0001], [2.0]], [-1.23456, 3.0])
    nbest.extras["alignment"] = ["0-0 1-1", ""]
    lines = list(printed(nbest, "%i|%k|%s|%S|%f|%c|%a|%w"))
    assert lines == ["7|1|a b|A b|x=1.000 y=-0.000|-1.235|0-0 1-1|%w", "7|2|c|C|x=2.000|3.000||%w"]
    assert next(iter(printed(nbest, "%c", number=repr))) == "-1.23456"
    # Variables are replaced one after the other, also those in a translation.
    odd = Candidates("7", ["%i %k"], [()], [[]], [0.0])
    assert list(printed(odd, "%s %k")) == ["7 %k 1"]


def test_no_translation() -> None:
    lost = Candidates("3", ["the source"], [()], [[]], [0.0])
    assert list(printed(lost, "%i %k %s %S%f%e %c %t %a %d", found=False)) == ["3 %k the source  0.000 () %a %d"]
    assert list(printed(Candidates("3"), "%i %s", found=False)) == ["3 "]


def test_fields() -> None:
    assert check_template("%i %s") == ()
    assert check_template("%a %s %t %e") == ("tree", "input", "alignment")
    with pytest.raises(UsageError, match="without %d"):
        check_template("%s %d")


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("Ella", "she", "she"),
        ("ELLA", "she", "SHE"),
        ("Ella Ella", "she she", "she She"),
        ("a ELLA", "x she", "x SHE"),
        ("A [B", "x y", "X y"),
        ("1 2X", "x y", "x y"),
    ],
)
def test_case(source: str, target: str, expected: str) -> None:
    links = " ".join(f"{i}-{i}" for i in range(len(target.split())))
    nbest = Candidates("0", [target], [()], [[]], [0.0], {"alignment": [links]})
    assert recased(nbest, source.split()).texts == [expected]
    assert nbest.texts == [target]


def test_case_of_several_words() -> None:
    nbest = Candidates("0", ["the house"], [()], [[]], [0.0], {"alignment": ["1-0 2-1 0-1"]})
    assert recased(nbest, ["a", "Das", "HAUS"]).texts == ["The HOUSE"]
