"""The [weight] section of a moses.ini."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.weights.moses import FORMAT, update, write

INI = """\
# a small model
[input-factors]
0

[feature]
KENLM name=LM0 path=model/lm.arpa order=3
PhraseDictionaryMemory name=TM0 num-features=2

  [weight]
# defaults
UnknownWordPenalty0 UNTUNEABLE
LM0= 0.50
TM0= 0.2\t 0.20  # probabilities = counts
TM0_sp= -1e-3\r

[distortion-limit]
6
"""


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
    assert list(read(INI).items()) == [("LM0", 0.5), ("TM0[0]", 0.2), ("TM0[1]", 0.2), ("TM0_sp", -1e-3)]
    assert FORMAT.matches(INI.encode())
    assert read("[weight]\nA= 1\n[other]\nB= 2\n[weight]\nC= 3") == {"A": 1, "C": 3}


def test_update_changes_weight_lines_alone() -> None:
    assert updated(INI, {}) == (INI, [])
    new = {"TM0[1]": 5, "LM0": -0.1, "TM0[0]": 4}
    changed = INI.replace("LM0= 0.50", "LM0= -0.1").replace("TM0= 0.2\t 0.20  #", "TM0= 4\t 5  #")
    assert updated(INI, new) == (changed, [])
    assert updated(INI, {"TM0_sp": 2, "Extra": 1, "Other[0]": 1}) == (
        INI.replace("-1e-3\r", "2\r"),
        ["Extra", "Other[0]"],
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"TM0[0]": 1}, "13: field 1: expected new weights for all 2 values of TM0, found none for TM0[1]"),
        ({"TM0": 1}, "13: field 2: expected 1 weights of TM0, as in the new weights, found 2"),
        ({"TM0[0]": 1, "TM0[1]": 1, "TM0[2]": 1}, "13: field 2: expected 3 weights of TM0, as in the new weights,"),
        ({"LM0[0]": 1, "LM0[1]": 1}, "12: field 2: expected 2 weights of LM0, as in the new weights, found 1"),
    ],
)
def test_update_wants_as_many_values(values: dict[str, float], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        updated(INI, values)
    assert str(caught.value).startswith(f"x:{message}")


def test_written() -> None:
    out = io.StringIO()
    assert write([{"LM0": 0.5, "TM0[0]": 1, "TM0[1]": -2, "W": 1e-9, "F[0]": 1, "F[1]": 2}], out, shortest) == 1
    assert out.getvalue() == "[weight]\nLM0= 0.5\nTM0= 1 -2\nW= 1e-09\nF= 1 2\n"


def test_components_are_gathered_and_in_order() -> None:
    weights = {name: float(i) for i, name in enumerate(sorted([*(f"R[{k}]" for k in range(12)), "Q", "S"]))}
    out = io.StringIO()
    write([weights], out, shortest)
    assert out.getvalue() == "[weight]\nQ= 0\nR= 1 4 5 6 7 8 9 10 11 12 2 3\nS= 13\n"
    out = io.StringIO()
    write([{"R[1]": 1.0, "A": 2.0, "R[0]": 3.0}], out, shortest)
    assert out.getvalue() == "[weight]\nR= 3 1\nA= 2\n"


NAMES = st.text("aé=:[0]\u00a0\u2028", min_size=1, max_size=5) | st.sampled_from(["F[0]", "F[1]", "v[0]", "v[1]"])
WEIGHTS = st.dictionaries(NAMES, st.floats(allow_nan=False, allow_infinity=False), min_size=1)


@given(WEIGHTS.filter(lambda weights: not any(f"{name}[1]" in weights for name in weights)))
def test_what_is_written_reads_back(weights: dict[str, float]) -> None:
    out = io.StringIO()
    write([weights], out, shortest)
    again = read(out.getvalue())
    assert {name: repr(value) for name, value in again.items()} == {n: repr(v) for n, v in weights.items()}
    twice = {name: value * 0.5 for name, value in weights.items()}
    text, missing = updated(out.getvalue(), twice)
    assert (read(text), missing) == (twice, [])


def test_names_that_cannot_be_written() -> None:
    for name in ("a b", "", "a\tb"):
        with pytest.raises(ValueError, match="expected a feature name without blanks"):
            write([{name: 1.0}], io.StringIO(), shortest)
    with pytest.raises(ValueError, match="expected a feature name without `#`, found 'a#b'"):
        write([{"a#b": 1.0}], io.StringIO(), shortest)
    with pytest.raises(ValueError, match=r"expected weights of either v or its components, found v and v\[0\]"):
        write([{"v[0]": 1.0, "v[1]": 1.0, "v": 1.0}], io.StringIO(), shortest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected a [weight] section with weights, found none in the file"),
        ("[feature]\nLM0= 1\n", "1: field 1: expected a [weight] section with weights, found none in the file"),
        ("[weight]\nLM0=0.1\n", "2: field 1: expected `Name= number ...`, a blank after the `=`, found 'LM0=0.1'"),
        ("[weight]\nLM0 0.1\n", "2: field 1: expected `Name= number ...`, a blank after the `=`, found 'LM0 0.1'"),
        ("[weight]\n= 0.1\n", "2: field 1: expected `Name= number ...`, a blank after the `=`, found '= 0.1'"),
        ("[weight]\nLM0= # 0.1\n", "2: field 2: expected a number after the label, found 'LM0=' alone"),
        ("[weight]\nLM0= x\n", "2: field 2: expected a finite number, found 'x'"),
        ("[weight]\nTM0= 1 nan\n", "2: field 3: expected a finite number, found 'nan'"),
        ("[weight]\nTM0= inf 1\n", "2: field 2: expected a finite number, found 'inf'"),
        ("[weight]\nTM0= 1 2 1_0\n", "2: field 4: expected a finite number, found '1_0'"),
        ("[weight]\nLM0= 1\n\nLM0= 2\n", "4: field 1: expected each weight once, found 'LM0' again"),
        ("[weight]\nA[1]= 1\nA= 1 2\n", "3: field 3: expected each weight once, found 'A[1]' again"),
        ("[weight]\nA= 1\n[x]\ny\n[weight]\nA= 1\n", "6: field 1: expected each weight once, found 'A' again"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


@pytest.mark.parametrize("text", ["LM0= 1\n", "weight\n", "x [weight]\n", "[other]\nLM0= 1\n"])
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())
