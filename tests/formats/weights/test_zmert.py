"""Z-MERT's parameter file."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.weights.zmert import FORMAT, update, write

PARAMS = """\
lm_0         ||| 1.0       Opt  0.1  +Inf  +0.5 +1.5
tm_pt_0      ||| -2.44\tOpt -Inf  +Inf  -1   +1\r

OOVPenalty   ||| 1         Fix  0     0     0    none
normalization = absval 1 lm_0
"""
END = "normalization = none\n"


def lines(text: str) -> Lines:
    return Lines(io.BytesIO(text.encode()), "x")


def read(text: str) -> dict[str, float]:
    weights = FORMAT.read(lines(text))
    assert isinstance(weights, dict)
    return weights


def updated(text: str, values: dict[str, float]) -> tuple[str, list[str]]:
    out = io.StringIO()
    missing = update(values, lines(text), out, shortest)
    return out.getvalue(), missing


def test_weights() -> None:
    assert list(read(PARAMS).items()) == [("lm_0", 1), ("tm_pt_0", -2.44), ("OOVPenalty", 1)]
    assert detect(PARAMS.encode(), all_formats(), "x") is FORMAT


@pytest.mark.parametrize("method", ["none", "absval 1 a", "maxabsval 1", "minabsval 0.5", "LNorm 2 1"])
def test_normalization(method: str) -> None:
    text = f"a ||| 1 Opt -1 1 0 0\nnormalization={method}\n\n"
    assert read(text) == {"a": 1}
    assert updated(text, {"a": 2}) == (text.replace("||| 1", "||| 2"), [])


def test_update_changes_the_values_alone() -> None:
    assert updated(PARAMS, {}) == (PARAMS, [])
    changed = PARAMS.replace("||| 1.0 ", "||| 0.25 ").replace("-2.44", "1e-09").replace("||| 1  ", "||| 7  ")
    new = {"OOVPenalty": 7.0, "lm_0": 0.25, "tm_pt_0": 1e-9}
    assert updated(PARAMS, new) == (changed, [])
    assert read(changed) == new
    assert updated(PARAMS, {"other": 1}) == (PARAMS, ["other"])


def test_written() -> None:
    out = io.StringIO()
    assert write([{"lm_0": 0.5, "b": -2}], out, shortest) == 1
    wanted = "lm_0 ||| 0.5 Opt -Inf +Inf -1 +1\nb ||| -2 Opt -Inf +Inf -1 +1\nnormalization = none\n"
    assert out.getvalue() == wanted


NAMES = st.text("aé=#:[0]|\u00a0\u2028", min_size=1, max_size=6).filter(lambda name: "|||" not in name)


@given(st.dictionaries(NAMES, st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_what_is_written_reads_back(weights: dict[str, float]) -> None:
    out = io.StringIO()
    write([weights], out, shortest)
    text = out.getvalue()
    assert [(name, repr(value)) for name, value in read(text).items()] == [(n, repr(v)) for n, v in weights.items()]
    assert updated(text, weights) == (text, [])
    assert FORMAT.matches(text.encode())


@pytest.mark.parametrize("name", ["", "a b", "a|||b"])
def test_names_that_cannot_be_written(name: str) -> None:
    with pytest.raises(ValueError, match=r"expected a name without blanks or `\|\|\|`"):
        write([{name: 1.0}], io.StringIO(), shortest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected parameters, `NAME ||| VALUE Opt ...`, found none in the file"),
        (END, "1: field 1: expected parameters, `NAME ||| VALUE Opt ...`, found none in the file"),
        (
            "a ||| 1 Opt -1 1 0 0\n",
            "1: field 1: expected `normalization = ...` as the last line, found the end of the file",
        ),
        ("lm 1\n", "1: field 1: expected `NAME ||| ...` or `normalization = ...`, found 'lm 1'"),
        ("||| 1 Opt -1 1 0 0\n", "1: field 1: expected a name without blanks before `|||`, found ''"),
        ("a b ||| 1 Opt -1 1 0 0\n", "1: field 1: expected a name without blanks before `|||`, found 'a b'"),
        (
            "a ||| 1 Opt -1 1 0\n",
            "1: field 7: expected a value, `Opt` or `Fix`, two bounds and a random range, found 5",
        ),
        ("a ||| 1 Opt -1 1 0 0 0\n", "1: field 8: expected a value, `Opt` or `Fix`, two bounds and a random range, f"),
        ("a ||| x Opt -1 1 0 0\n", "1: field 2: expected a finite number, found 'x'"),
        ("a ||| 1 opt -1 1 0 0\n", "1: field 3: expected `Opt` or `Fix`, found 'opt'"),
        ("a ||| 1 Opt +Inf 1 0 0\n", "1: field 4: expected a lower bound, found '+Inf'"),
        ("a ||| 1 Opt -1 Inf 0 0\n", "1: field 5: expected an upper bound, found 'Inf'"),
        ("a ||| 1 Opt 2 1 0 0\n", "1: field 5: expected an upper bound from 2 on, found '1'"),
        ("a ||| 1 Opt -1 1 -Inf 0\n", "1: field 6: expected a lower end for random values, found '-Inf'"),
        ("a ||| 1 Opt -1 1 0 -1\n", "1: field 7: expected an upper end for random values from 0 on, found '-1'"),
        ("a ||| 1 Fix 0 0 0 0\na ||| 1 Fix 0 0 0 0\n", "2: field 1: expected each weight once, found 'a' again"),
        (
            "a ||| 1 Fix 0 0 0 0\nnormalization = l2\n",
            "2: field 2: expected none, absval V NAME, maxabsval V, minabsva",
        ),
        ("a ||| 1 Fix 0 0 0 0\nnormalization = absval 1\n", "2: field 2: expected none, absval V NAME, maxabsval V, m"),
        ("a ||| 1 Fix 0 0 0 0\nnormalization = maxabsval 0\n", "2: field 3: expected a positive number, found '0'"),
        ("a ||| 1 Fix 0 0 0 0\nnormalization = LNorm 2 x\n", "2: field 4: expected a positive number, found 'x'"),
        (
            "a ||| 1 Fix 0 0 0 0\nnormalization = absval 1 b\n\n",
            "2: field 4: expected the name of a parameter to hold fixed, found 'b'",
        ),
        (f"a ||| 1 Fix 0 0 0 0\n{END}\nb ||| 1 Fix 0 0 0 0\n", "4: field 1: expected nothing after the line of `norma"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


@pytest.mark.parametrize("text", ["a ||| 1\n", "a ||| Opt\n", "a ||| 1 Option 2\n", END, "\n"])
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())
