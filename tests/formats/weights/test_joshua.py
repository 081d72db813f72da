"""The weights in a joshua.config."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_lines
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.weights.joshua import FORMAT, update, write

CONFIG = """\
# lm_0 7
tm = thrax -owner pt -maxspan 12 -path grammar.gz
pop-limit=100
output-format = "%c %s"

lm_0 1.2373676802179452
  tm_pt_0\t-2.4497 \r
OOVPenalty 1"""


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


def test_weights() -> None:
    assert list(read(CONFIG).items()) == [("lm_0", 1.2373676802179452), ("tm_pt_0", -2.4497), ("OOVPenalty", 1)]


def test_update_changes_the_numbers_alone() -> None:
    assert updated(CONFIG, {}) == CONFIG
    changed = (
        CONFIG.replace("1.2373676802179452", "0.5").replace("-2.4497", "3").replace("OOVPenalty 1", "OOVPenalty 0")
    )
    assert updated(CONFIG, {"OOVPenalty": 0, "lm_0": 0.5, "tm_pt_0": 3}) == changed
    assert updated(CONFIG, {"tm_glue_0": 1, "sparse:a|b": 2}) == CONFIG + "\ntm_glue_0 1\nsparse:a|b 2\n"
    assert updated("lm_0 0.5\na0.5 0.5\n", {"a0.5": 1}) == "lm_0 0.5\na0.5 1\n"


NAMES = st.text("aé_#:[0]|\u00a0\u2028", min_size=1, max_size=6).filter(lambda name: name[0] != "#")
WEIGHTS = st.dictionaries(NAMES, st.floats(allow_nan=False, allow_infinity=False), min_size=1)


@given(WEIGHTS)
def test_what_is_written_reads_back(weights: dict[str, float]) -> None:
    out = io.StringIO()
    assert write([weights], out, shortest) == 1
    text = out.getvalue()
    assert text.startswith("# joshua.config\n")
    again = read(text)
    assert [(name, repr(value)) for name, value in again.items()] == [(n, repr(v)) for n, v in weights.items()]
    assert updated(text, weights) == text
    assert read(updated(CONFIG, weights)) == {**read(CONFIG), **weights}


@pytest.mark.parametrize("name", ["", "a b", "a\tb", " a", "a=b", "#a"])
def test_names_that_cannot_be_written(name: str) -> None:
    with pytest.raises(ValueError, match="expected a name without blanks, `=` or `#` in front"):
        write([{name: 1.0}], io.StringIO(), shortest)
    with pytest.raises(ValueError, match="expected a name without blanks, `=` or `#` in front"):
        update({name: 1.0}, lines(CONFIG), io.StringIO(), shortest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected weights, `NAME VALUE` on lines of their own, found none in the file"),
        ("weights-file = w\n", "1: field 1: expected weights, `NAME VALUE` on lines of their own, found none in the f"),
        ("top-n = 1\nlm_0\n", "2: field 2: expected `key = value` or a weight, `NAME VALUE`, found 'lm_0'"),
        ("top-n 1 2\n", "1: field 3: expected `key = value` or a weight, `NAME VALUE`, found 'top-n 1 2'"),
        ("lm_0 1 # best\n", "1: field 3: expected `key = value` or a weight, `NAME VALUE`, found 'lm_0 1 # best'"),
        ("\n lm_0 x\n", "2: field 2: expected a finite number, found 'x'"),
        ("lm_0 nan\n", "1: field 2: expected a finite number, found 'nan'"),
        ("lm_0 -Infinity\n", "1: field 2: expected a finite number, found '-Infinity'"),
        ("lm_0 1_0\n", "1: field 2: expected a finite number, found '1_0'"),
        ("lm_0 1f\n", "1: field 2: expected a finite number, found '1f'"),
        ("lm_0 0,5\n", "1: field 2: expected a finite number, found '0,5'"),
        ("lm_0 1\n\nlm_0 1\n", "3: field 1: expected each weight once, found 'lm_0' again"),
        ("lm_0 1\nWeight_Overwrite = lm_0 2\n", "2: field 1: expected weights on lines of their own, found `weight-ov"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


@pytest.mark.parametrize(
    "text",
    [
        CONFIG,
        "search = cky\nmark_oovs = false\nlm_0 1\n",
        "lm = kenlm 5 false false 100 lm.gz\nlm_0 1\n",
        "topN=1\nlm_0 1\n",
        "# joshua.config\nlm_0 1\n",
        "lm_0 x\npopLimit = 1\n",
    ],
)
def test_shape(text: str) -> None:
    assert detect(text.encode(), all_formats(), "x") is FORMAT


@pytest.mark.parametrize(
    "text",
    [
        "lm_0 1\n",
        "LM = 1\nTM=2\n",
        "formalism=scfg\nfeature_function=KLanguageModel lm.klm\nadd_pass_through_rules=true\n",
        "[weight]\nLM0= 1\n",
    ],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


@pytest.mark.shared
def test_configs_of_joshua(shared: Path) -> None:
    paths = [path for path in sorted((shared / "gold" / "joshua").rglob("*config*")) if b" = " in path.read_bytes()]
    paths = [path for path in paths if path.is_file() and not path.parent.name.endswith(".packed")]
    assert len(paths) >= 14
    for path in paths:
        before = path.read_bytes()
        if path.parent.name == "n-ary":  # its weights stand in a file of their own
            assert detect(before, all_formats(), str(path)).name == "joshua-settings"
            with open_lines(path) as opened, pytest.raises(FormatError, match=r"expected weights, .* found none"):
                FORMAT.read(opened)
            continue
        assert detect(before, all_formats(), str(path)) is FORMAT
        with open_lines(path) as opened:
            weights = FORMAT.read(opened)
        wanted = [line.split() for line in before.decode().split("\n") if "=" not in line and line[:1] not in ("#", "")]
        assert weights == {name: float(value) for name, value in wanted}
        new = {name: 3 * value + 0.123 for name, value in weights.items()}
        out = io.StringIO()
        with open_lines(path) as opened:
            assert update(new, opened, out, shortest) == []
        after = out.getvalue().encode()
        pairs = zip(before.split(b"\n"), after.split(b"\n"), strict=True)
        changed = [(a, b) for a, b in pairs if a != b]
        assert [a.split()[0].decode() for a, _ in changed] == [b.split()[0].decode() for _, b in changed] == list(new)
        assert read(after.decode()) == new
