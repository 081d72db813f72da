"""Weights with ``|||`` between name and number."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.weights.pipes import FORMAT, update, write


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
        ("lm_0 ||| 1.5\n", {"lm_0": 1.5}),
        ("lm_0|||1.5", {"lm_0": 1.5}),
        (" lm_0  |||\t-1E-3 \r\n\nOOVPenalty ||| 1\n", {"lm_0": -1e-3, "OOVPenalty": 1}),
        ("a=b ||| 1\n#c ||| 2\n", {"a=b": 1, "#c": 2}),
    ],
)
def test_spellings(text: str, weights: dict[str, float]) -> None:
    assert list(read(text).items()) == list(weights.items())
    assert detect(text.encode(), all_formats(), "x") is FORMAT


def test_update_changes_the_numbers_alone() -> None:
    text = "lm_0  |||\t0.50 \r\n\n2a ||| 2"
    assert updated(text, {}) == text
    assert updated(text, {"2a": 1e-9, "lm_0": 7}) == "lm_0  |||\t7 \r\n\n2a ||| 1e-09"
    assert updated(text, {"new": 5}) == text + "\nnew ||| 5\n"


NAMES = st.text("aé=#:[0]|\u00a0\u2028", min_size=1, max_size=6).filter(lambda name: "|||" not in name)


@given(st.dictionaries(NAMES, st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_what_is_written_reads_back(weights: dict[str, float]) -> None:
    out = io.StringIO()
    assert write([weights], out, shortest) == 1
    text = out.getvalue()
    assert [(name, repr(value)) for name, value in read(text).items()] == [(n, repr(v)) for n, v in weights.items()]
    out = io.StringIO()
    write([read(text)], out, shortest)
    assert out.getvalue() == text == updated(text, weights)


@pytest.mark.parametrize("name", ["", "a b", "a\n", "a|||b"])
def test_names_that_cannot_be_written(name: str) -> None:
    with pytest.raises(ValueError, match=r"expected a name without blanks or `\|\|\|`"):
        write([{name: 1.0}], io.StringIO(), shortest)
    with pytest.raises(ValueError, match=r"expected a name without blanks or `\|\|\|`"):
        update({name: 1.0}, lines("a ||| 1\n"), io.StringIO(), shortest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected weights, `NAME ||| VALUE`, found none in the file"),
        ("\n \n", "1: field 1: expected weights, `NAME ||| VALUE`, found none in the file"),
        ("a ||| 1\nb 2\n", "2: field 2: expected `NAME ||| VALUE`, found 'b 2'"),
        ("# a\n", "1: field 2: expected `NAME ||| VALUE`, found '# a'"),
        (" ||| 1\n", "1: field 1: expected a name without blanks before `|||`, found ''"),
        ("a b ||| 1\n", "1: field 1: expected a name without blanks before `|||`, found 'a b'"),
        ("a |||\n", "1: field 2: expected a finite number, found ''"),
        ("a ||| x\n", "1: field 2: expected a finite number, found 'x'"),
        ("a ||| 1 2\n", "1: field 2: expected a finite number, found '1 2'"),
        ("a ||| 1 ||| 2\n", "1: field 2: expected a finite number, found '1 ||| 2'"),
        ("a ||| nan\n", "1: field 2: expected a finite number, found 'nan'"),
        ("a ||| 1e999\n", "1: field 2: expected a finite number, found '1e999'"),
        ("a ||| 1\n\na ||| 1\n", "3: field 1: expected each weight once, found 'a' again"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_shape_with_a_bad_number() -> None:
    assert FORMAT.matches(b"a ||| x\nb ||| 2\n")


@pytest.mark.parametrize(
    "text",
    ["0 ||| 5\n", "ja ||| yes\nzwei ||| 2\ndrei ||| three\n", "a b ||| 1\n", "a ||| b 1\n", "a 1\n", "|||\n", "\n"],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())
