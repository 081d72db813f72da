"""Output of fairseq-generate: lines of an id together or apart, in any order, between other lines."""

from __future__ import annotations

import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import Candidates, FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest.fairseq import FORMAT, parse
from smtformats.nbest.jsonl import write

OUTPUT = """\
2020-05-01 | INFO | fairseq | loading model(s) from checkpoint.pt
S-12\tein Mann
T-12\ta man
H-12\t-0.5\ta man
D-12\t-0.5\tA man
A-12\t0-0 1-1
P-12\t-0.25 -0.75
H-12\t-1.25\t
D-12\t-1.25\t
A-12\t
P-12\t-1.25
S-3\tja\u2028
H-3\t-2e-2\tyes\u00a0\t!
I-3\t5
W-3\t0.05\tseconds
Generate test with beam=5: BLEU4 = 0.00
"""


def read(text: str, *, detokenised: bool = False) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), detokenised=detokenised))


def test_lists_come_by_id() -> None:
    first, second = read(OUTPUT)
    assert (first.id, first.source, list(first.rows())) == (
        "3",
        "ja\u2028",
        [("yes\u00a0\t!", {"score": -0.02}, -0.02)],
    )
    assert first.extras == {}
    assert (second.id, second.source) == ("12", "ein Mann")
    assert list(second.rows()) == [("a man", {"score": -0.5}, -0.5), ("", {"score": -1.25}, -1.25)]
    assert second.extras == {
        "detokenised": ["A man", ""],
        "word_scores": ["-0.25 -0.75", "-1.25"],
        "alignment": ["0-0 1-1", ""],
        "target": ["a man", "a man"],
    }
    assert [(nbest.line, nbest.first) for nbest in (first, second)] == [(12, 0), (2, 1)]
    assert detect(OUTPUT.encode(), all_formats(), "x").name == "fairseq-nbest"


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_detokenised_text(end: str) -> None:
    (nbest,) = read("H-0\t-1\ta man\nD-0\t-1\tA man".replace("\n", end), detokenised=True)
    assert (nbest.texts, nbest.extras) == (["A man"], {"tokenised": ["a man"]})


@given(st.randoms(use_true_random=False), st.integers(1, 5), st.integers(1, 3))
def test_any_order(source: random.Random, sentences: int, size: int) -> None:
    rows = [(key, f"H-{key}\t{-rank}\tt{key}.{rank}") for key in range(sentences) for rank in range(size)]
    rows += [(key, f"S-{key}\ts{key}") for key in range(sentences)]
    rows += [(key, f"P-{key}\t{-rank}") for key in range(sentences) for rank in range(size)]
    # Lines of the same kind and id keep their order; everything else is shuffled.
    kinds: dict[tuple[int, str], list[str]] = {}
    for key, line in rows:
        kinds.setdefault((key, line[0]), []).append(line)
    slots = [slot for slot, lines in kinds.items() for _ in lines]
    source.shuffle(slots)
    lists = read("".join(kinds[slot].pop(0) + "\n" for slot in slots))
    assert [nbest.id for nbest in lists] == [str(key) for key in range(sentences)]
    for key, nbest in enumerate(lists):
        assert nbest.source == f"s{key}"
        assert nbest.texts == [f"t{key}.{rank}" for rank in range(size)]
        assert nbest.totals == [float(-rank) for rank in range(size)]
        assert nbest.extras == {"word_scores": [str(-rank) for rank in range(size)]}
    assert [nbest.first for nbest in lists] == [size * key for key in range(sentences)]


def test_conversion() -> None:
    records = {record.name: record for record in all_formats()}
    lists = read(OUTPUT)
    for name in ("moses-nbest", "cdec-nbest", "marian-nbest", "jsonl-nbest", "sockeye-nbest"):
        record, out = records[name], io.StringIO()
        assert record.parse is not None
        assert record.write is not None
        record.write(lists, out, shortest)
        again = list(record.parse(Lines(io.BytesIO(out.getvalue().encode()), "x")))
        assert [(nbest.id, list(nbest.rows())) for nbest in again] == [
            (nbest.id, list(nbest.rows())) for nbest in lists
        ]
    out = io.StringIO()
    write(lists[1:], out, shortest)
    assert '"detokenised": "A man"' in out.getvalue()


GOOD = "H-0\t-1\ta\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("no such lines\n", "1: field 1: expected an n-best list, found no hypothesis in the file"),
        ("log\nS-0\ta\n", "2: field 1: expected a hypothesis, H-0, found none"),
        (GOOD + "H-1 -1 a\n", "2: field 2: expected 3 fields with tabs between them, found 1"),
        (GOOD + "H-1\t-1\n", "2: field 3: expected 3 fields with tabs between them, found 2"),
        (GOOD + "S-1\n", "2: field 2: expected 2 fields with tabs between them, found 1"),
        ("log\nH-1\tx\ta\n", "2: field 2: expected a finite number, found 'x'"),
        ("H-1\tnan\ta\n", "1: field 2: expected a finite number, found 'nan'"),
        ("H-1\t-inf\ta\n", "1: field 2: expected a finite number, found '-inf'"),
        (GOOD + "D-0\tx\ta\n", "2: field 2: expected a finite number, found 'x'"),
        (GOOD + "P-0\t-1 1_0\n", "2: field 2: expected a finite number, found '1_0'"),
        (GOOD + "P-0\t-1\nP-0\t-1\n", "3: field 1: expected a line P-0 for each of 1 H lines, found 2"),
        (GOOD + GOOD + "log\nD-0\t-1\ta\n", "4: field 1: expected a line D-0 for each of 2 H lines, found 1"),
        ("S-0\ta\nS-1\tb\n" + GOOD + "S-0\tc\n", "4: field 2: expected one text as S-0, found another: 'c'"),
        ("H-" + "9" * 19 + "\t-1\ta\n", "1: field 1: expected an id of at most 18 digits, found '9999999999999999999'"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


def test_detokenised_text_has_to_be_there() -> None:
    with pytest.raises(FormatError, match="x:1: field 1: expected D-0, the detokenised text, found none"):
        read(GOOD, detokenised=True)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("log\nlog\nT-5\tx\n", "fairseq-nbest"),
        ("P-0\t-0.5 -1\n", "fairseq-nbest"),
        ("H-0 x\n", "text"),
        ("S-0\n", "text"),
    ],
)
def test_shape(head: str, name: str) -> None:
    assert detect(head.encode(), all_formats(), "x").name == name


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind, FORMAT.write) == ("fairseq-nbest", "nbest", None)
