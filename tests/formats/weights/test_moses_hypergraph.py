"""The weights next to Moses hypergraphs."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_bytes, open_lines
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.weights import moses
from smtformats.weights.moses_hypergraph import FORMAT, inner_names, outer_names, update, write

TEXT = "WordPenalty0 -0.245768\nTM0_1 0.100000\nTM0_2 0.25\nLM0 1\n"


def lines(text: str) -> Lines:
    return Lines(io.BytesIO(text.encode()), "x")


def read(text: str) -> dict[str, float]:
    weights = FORMAT.read(lines(text))
    assert isinstance(weights, dict)
    return weights


def written(weights: dict[str, float]) -> str:
    out = io.StringIO()
    assert write([weights], out, shortest) == 1
    return out.getvalue()


def test_components_count_from_nought() -> None:
    assert read(TEXT) == {"WordPenalty0": -0.245768, "TM0[0]": 0.1, "TM0[1]": 0.25, "LM0": 1}
    assert detect(TEXT.encode(), all_formats(), "x") is FORMAT


def test_what_is_read_comes_back() -> None:
    assert written(read(TEXT)) == TEXT
    changed = read(TEXT)
    changed["TM0[0]"] = 0.5
    assert written(changed) == TEXT.replace("0.100000", "0.5")
    assert written(dict(read(TEXT))) == "WordPenalty0 -0.245768\nTM0_1 0.1\nTM0_2 0.25\nLM0 1\n"


def test_components_are_written_together() -> None:
    weights = {f"A[{k}]": float(k) for k in (1, 10, 0, *range(2, 10))} | {"B": 1.0}
    assert written(weights) == "".join(f"A_{k + 1} {k}\n" for k in range(11)) + "B 1\n"


def test_update() -> None:
    out = io.StringIO()
    assert update({"TM0[1]": 7, "LM0": 0, "new": 1}, lines(TEXT), out, shortest) == ["new"]
    assert out.getvalue() == TEXT.replace("TM0_2 0.25", "TM0_2 7").replace("LM0 1", "LM0 0")


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (["A_1", "A_2"], ["A[0]", "A[1]"]),
        (["A_1", "B", "A_2"], ["A_1", "B", "A_2"]),
        (["A_2", "A_3"], ["A_2", "A_3"]),
        (["A_1", "A_3"], ["A_1", "A_3"]),
        (["A_1", "A_2", "A_1_1", "A_1_2"], ["A[0]", "A[1]", "A_1[0]", "A_1[1]"]),
        (["A[1]"], ["A[1]"]),
        ([], []),
    ],
)
def test_names(outer: list[str], inner: list[str]) -> None:
    assert list(inner_names(outer).items()) == list(zip(outer, inner, strict=True))
    assert list(outer_names(inner).items()) == list(zip(inner, outer, strict=True))


@given(st.lists(st.sampled_from(["A[0]", "A[1]", "A[2]", "A_1", "A_2", "A_1_1", "A_1[0]", "A_1[1]", "B"]), unique=True))
def test_names_come_back_or_are_refused(names: list[str]) -> None:
    try:
        outer = outer_names(names)
    except ValueError:
        return
    assert [inner_names(outer.values())[name] for name in outer.values()] == names


@pytest.mark.parametrize("names", [["A_1", "A_2"], ["A[0]", "A[1]", "A_1"], ["A[1]", "A[0]"]])
def test_names_that_would_not_come_back(names: list[str]) -> None:
    with pytest.raises(
        ValueError, match="expected components in order, and no other name of the form NAME_1, found 'A"
    ):
        outer_names(names)


NAMES = st.text("aé=#:[0]_1\u00a0\u2028", min_size=1, max_size=5)


@given(st.dictionaries(NAMES, st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_what_is_written_reads_back(weights: dict[str, float]) -> None:
    try:
        text = written(weights)
    except ValueError:
        assert any(name.endswith(("_1", "_11", "]")) for name in weights)
        return
    assert {name: repr(value) for name, value in read(text).items()} == {n: repr(v) for n, v in weights.items()}
    assert written(read(text)) == text


@pytest.mark.parametrize("name", ["", "a b", "a\n", "a\t"])
def test_names_that_cannot_be_written(name: str) -> None:
    with pytest.raises(ValueError, match="expected a name without blanks"):
        written({name: 1.0})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x:1: field 1: expected weights, a name and a number on each line, found none in the file"),
        ("A\n", "x:1: field 1: expected a name, one blank and a number, found 'A'"),
        ("A  1\n", "x:1: field 1: expected a name, one blank and a number, found 'A  1'"),
        (" A 1\n", "x:1: field 1: expected a name, one blank and a number, found ' A 1'"),
        ("A 1 2\n", "x:1: field 1: expected a name, one blank and a number, found 'A 1 2'"),
        ("A\t1\n", "x:1: field 1: expected a name, one blank and a number, found 'A\\t1'"),
        ("A 1\r\n", "x:1: field 1: expected a name, one blank and a number, found 'A 1\\r'"),
        ("A 1\n\nB 1\n", "x:2: field 1: expected a name, one blank and a number, found ''"),
        ("A 1\nB x\n", "x:2: field 2: expected a finite number, found 'x'"),
        ("A nan\n", "x:1: field 2: expected a finite number, found 'nan'"),
        ("A 1e999\n", "x:1: field 2: expected a finite number, found '1e999'"),
        ("A 1\nB 2\nA 1\n", "x:3: field 1: expected each weight once, found 'A' again"),
        ("A_1 1\nA_2 2\nA[1] 1\n", "x:3: field 1: expected each weight once, found 'A_2' and 'A[1]'"),
    ],
)
def test_bad(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "A 1\n",
        "PhraseModel_1 1\nPhraseModel_2 2\n",
        "TM0_1 1\nLM 1\nTM0_2 1\n",
        "TM0_1 1\nTM0_2 x\n",
        "TM0_1=1\nTM0_2=1\n",
    ],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


@pytest.mark.shared
@pytest.mark.parametrize(
    ("folder", "ini"), [("pb/hg_gz", "moses.pb"), ("pb/hg_txt", "moses.pb"), ("hiero/hg_txt", "moses.hiero")]
)
def test_gold(shared: Path, folder: str, ini: str) -> None:
    """The weights next to the graphs are those of the moses.ini, under the same names."""
    path = shared / "gold/moses" / folder / "weights"
    with open_lines(path) as text, open_lines(shared / f"gold/moses/model/{ini}.tuned.ini") as model:
        weights = FORMAT.read(text)
        assert dict(weights) == dict(moses.FORMAT.read(model))
    with open_bytes(path) as stream:
        data = stream.read()
    assert detect(data, all_formats(), "x") is FORMAT
    assert written(weights).encode() == data
