"""Weights, a name and a number on each line."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.weights.cdec import FORMAT, update, write


def lines(text: str) -> Lines:
    return Lines(io.BytesIO(text.encode()), "x")


def read(text: str) -> dict[str, float]:
    weights = FORMAT.read(lines(text))
    assert isinstance(weights, dict)
    return weights


def updated(text: str, values: dict[str, float]) -> str:
    out = io.StringIO()
    assert update(values, lines(text), out, shortest) == []
    return out.getvalue()


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("Glue 0.5\n", {"Glue": 0.5}),
        ("Glue=0.5", {"Glue": 0.5}),
        ("Glue\t0.5\r\n", {"Glue": 0.5}),
        ("Glue = -1e-3 \n", {"Glue": -1e-3}),
        ("Glue= .5\nLM =1.\n", {"Glue": 0.5, "LM": 1}),
        ("# Objective = 7\n\n \nB 2\nA 1\n", {"B": 2, "A": 1}),
        ("A=b 1\nC=d=2\nE= =3\nF==4\n", {"A=b": 1, "C=d": 2, "E=": 3, "F=": 4}),
        ("TM0[0] 1\nTM0[1] 2\ndot:é|x 3\n", {"TM0[0]": 1, "TM0[1]": 2, "dot:é|x": 3}),
        ("a\u00a0b\u2028 1\n", {"a\u00a0b\u2028": 1}),
        ("A 1" + " " * 100000 + "\n", {"A": 1}),
    ],
)
def test_spellings(text: str, weights: dict[str, float]) -> None:
    assert read(text) == weights
    assert list(read(text)) == list(weights)
    assert FORMAT.matches(text.encode())


NAMES = st.text("aé=:[0]|\u00a0\u2028", min_size=1, max_size=6).filter(lambda name: name[-1] != "=")


@given(st.dictionaries(NAMES, st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_what_is_written_reads_back(weights: dict[str, float]) -> None:
    out = io.StringIO()
    assert write([weights], out, shortest) == 1
    again = read(out.getvalue())
    assert [(name, repr(value)) for name, value in again.items()] == [(n, repr(v)) for n, v in weights.items()]


@pytest.mark.parametrize("name", ["", "a b", "a\tb", " a", "a=", "#a", "="])
def test_names_that_cannot_be_written(name: str) -> None:
    with pytest.raises(ValueError, match="expected a name without blanks"):
        write([{name: 1.0}], io.StringIO(), shortest)
    with pytest.raises(ValueError, match="expected a name without blanks"):
        update({name: 1.0}, lines("A 1\n"), io.StringIO(), shortest)


def test_update_changes_the_numbers_alone() -> None:
    text = "# A 1\n\nA=0.50 \r\nB\t2\nC = 3\nA=b 4"
    assert updated(text, {}) == text
    assert updated(text, {"B": -0.1, "A": 7, "A=b": 1e-9, "C": 0}) == "# A 1\n\nA=7 \r\nB\t-0.1\nC = 0\nA=b 1e-09"
    assert updated(text, {"new": 5, "B": 1, "z": 6}) == text.replace("\t2", "\t1") + "\nnew 5\nz 6\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected weights, a name and a number on each line, found none in the file"),
        ("# only\n\n", "1: field 1: expected weights, a name and a number on each line, found none in the file"),
        ("A 1\nB\n", "2: field 2: expected a name without blanks and a number, found 'B'"),
        ("A 1\nB=\r\n", "2: field 2: expected a name without blanks and a number, found 'B='"),
        ("A 1\nB \n", "2: field 2: expected a name without blanks and a number, found 'B'"),
        (" A 1\n", "1: field 1: expected a name without blanks and a number, found 'A 1'"),
        ("=1\n", "1: field 1: expected a name without blanks and a number, found '=1'"),
        ("1\n", "1: field 2: expected a name without blanks and a number, found '1'"),
        ("A B 1\n", "1: field 1: expected a name without blanks and a number, found 'A B 1'"),
        ("A 1 # best\n", "1: field 1: expected a name without blanks and a number, found 'A 1 # best'"),
        ("A x\n", "1: field 2: expected a finite number, found 'x'"),
        ("A nan\n", "1: field 2: expected a finite number, found 'nan'"),
        ("A inf\n", "1: field 2: expected a finite number, found 'inf'"),
        ("A 1_0\n", "1: field 2: expected a finite number, found '1_0'"),
        ("A 0x10\n", "1: field 2: expected a finite number, found '0x10'"),
        ("A 1\nB 2\nA=3\n", "3: field 1: expected each weight once, found 'A' again"),
        ("a" + " " * 100000 + "b c\n", "1: field 1: expected a name without blanks and a number, found 'a   "),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_shape_with_a_bad_number() -> None:
    assert FORMAT.matches(b"A x\nB 2\n")


@pytest.mark.parametrize(
    "text",
    [
        "one two\nthree four\n",
        "0 ||| a\n",
        "hello\n",
        "# A 1\n",
        "formalism=scfg\ngrammar=rules.gz\ncubepruning_pop_limit=30\n",
    ],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())
