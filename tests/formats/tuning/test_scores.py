"""Statistics as Moses' extractor writes them, text and binary."""

from __future__ import annotations

import io
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_bytes, open_lines
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.tuning.blocks import Block
from smtformats.tuning.scores import FORMAT, parse, write

TEXT = """\
SCORES_TXT_BEGIN_0 0 2 3 BLEU\n\
7 9 10 \n\
0 0.5 10 \n\
SCORES_TXT_END_0\n\
SCORES_TXT_BEGIN_0 5 1 1 TER\n\
1 \n\
SCORES_TXT_END_0\n\
"""


def read(data: bytes) -> list[Block]:
    return list(parse(Lines(io.BytesIO(data), "x")))


def written(records: list[Block]) -> str:
    out = io.StringIO()
    assert write(iter(records), out, shortest) == len(records)
    return out.getvalue()


def test_blocks() -> None:
    first, second = read(TEXT.encode())
    assert (first.id, first.names, first.scorer, first.line) == ("0", (), "BLEU", 1)
    assert (first.rows, first.sparse) == (((7, 9, 10), (0, 0.5, 10)), ())
    assert next(first.named()) == {"BLEU[0]": 7, "BLEU[1]": 9, "BLEU[2]": 10}
    assert (second.id, second.scorer, second.rows, second.line) == ("5", "TER", ((1,),), 5)


def test_binary() -> None:
    data = b"SCORES_BIN_BEGIN_0 4 2 3 BLEU\n" + struct.pack("<6f", 7, 9, 10, 0, 0.5, 10) + b"SCORES_BIN_END_0\n"
    (block,) = read(data)
    assert (block.id, block.scorer, block.rows) == ("4", "BLEU", ((7, 9, 10), (0, 0.5, 10)))
    assert written([block]) == "".join(TEXT.splitlines(keepends=True)[:4]).replace("BEGIN_0 0", "BEGIN_0 4")
    assert detect(data, all_formats(), "x") is FORMAT


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 99), st.floats(0, 1)), min_size=1, max_size=3), min_size=1, max_size=3),
    st.sampled_from(["", "\n"]),
)
def test_files_come_back(made: list[list[tuple[int, float]]], end: str) -> None:
    blocks = [Block(str(i), tuple((float(a), b) for a, b in rows), scorer="PER") for i, rows in enumerate(made)]
    text = written(blocks)[:-1] + end
    again = read(text.encode())
    assert [(entry.id, entry.rows, entry.scorer) for entry in again] == [
        (entry.id, entry.rows, entry.scorer) for entry in blocks
    ]
    assert written(again) == text


def test_features_are_no_statistics() -> None:
    with pytest.raises(FormatError) as caught:
        written([Block("0", ((1.0,),), ("a",), line=3)])
    assert str(caught.value) == "<data>:3: field 1: expected statistics of a scorer, found features"


HEAD = "SCORES_TXT_BEGIN_0 0 1 2 BLEU\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected `SCORES_TXT_BEGIN_0 ...`, found an empty file"),
        ("7 9\n", "1: field 1: expected `SCORES_TXT_BEGIN_0` or `SCORES_BIN_BEGIN_0`, found '7 9'"),
        (HEAD.replace("BEGIN_0 0", "BEGIN_0 1.5"), "1: field 2: expected a sentence id, a whole number, found '1.5'"),
        (HEAD.replace("0 1 2", "0 x 2"), "1: field 3: expected the number of entries, a whole number, found 'x'"),
        (HEAD.replace("0 1 2", "0 1 -2"), "1: field 4: expected the number of values, a whole number, found '-2'"),
        (HEAD.replace(" BLEU", ""), "1: field 5: expected the name of a scorer, found 0"),
        (HEAD.replace("BLEU", "BLEU TER"), "1: field 6: expected the name of a scorer, found 2"),
        (HEAD, "1: field 1: expected entry 1 of 1 on the next line, found the end of the file"),
        (HEAD + "1\n", "2: field 2: expected 2 values, found 1"),
        (HEAD + "1 2 3\n", "2: field 3: expected 2 values, found 3"),
        (HEAD + "1 inf\n", "2: field 2: expected a finite number, found 'inf'"),
        (HEAD + "1 2 c=3\n", "2: field 3: expected a number, found 'c=3'"),
        (
            HEAD + "1 2\nSCORES_BIN_END_0\n",
            "3: field 1: expected `SCORES_TXT_END_0` after 1 entries, found 'SCORES_BIN",
        ),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text.encode())
    assert str(caught.value).startswith(f"x:{message}")


def test_shape() -> None:
    assert detect(TEXT.encode(), all_formats(), "x") is FORMAT
    assert not FORMAT.matches(b"FEATURES_TXT_BEGIN_0 0\n")


@pytest.mark.shared
@pytest.mark.parametrize("name", ["mert/scores.10.txt", "tune-pb/run1.scores.dat.gz", "tune-pb/run6.scores.dat.gz"])
def test_files_of_moses(shared: Path, name: str) -> None:
    path = shared / "gold" / "moses" / name
    with open_bytes(path) as stream:
        before = stream.read().decode()
    assert detect(before[: 1 << 16].encode(), all_formats(), name) is FORMAT
    with open_lines(path) as lines:
        blocks = list(parse(lines))
    assert len(blocks) == before.count("BEGIN")
    assert written(blocks) == before
    assert written([replace(entry, raw=None) for entry in blocks]) == before


@pytest.mark.shared
def test_binary_file_says_what_its_text_does(shared: Path) -> None:
    folder = shared / "gold" / "moses" / "mert"
    with open_lines(folder / "scores.10.bin") as lines:
        assert written(list(parse(lines))) == (folder / "scores.10.txt").read_text()
