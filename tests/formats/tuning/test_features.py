"""Features as Moses' extractor writes them, text and binary."""

from __future__ import annotations

import gzip
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
from smtformats.tuning.features import FORMAT, parse, write

TEXT = """\
FEATURES_TXT_BEGIN_0 0 2 2 LM0_0 TM0_0 \n\
-1.5 2 \n\
-1e-05 0 dom:a=b=3 x=-1 \n\
FEATURES_TXT_END_0\n\
FEATURES_TXT_BEGIN_0 7 0 2 LM0_0 TM0_0 \n\
FEATURES_TXT_END_0\n\
"""


def read(data: bytes) -> list[Block]:
    return list(parse(Lines(io.BytesIO(data), "x")))


def written(records: list[Block]) -> str:
    out = io.StringIO()
    assert write(iter(records), out, shortest) == len(records)
    return out.getvalue()


def binary(*rows: tuple[float, ...], names: str = "LM0_0 TM0_0", key: int = 0) -> bytes:
    start = f"FEATURES_BIN_BEGIN_0 {key} {len(rows)} {len(names.split())} {names} \n".encode()
    return start + b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows) + b"FEATURES_BIN_END_0\n"


def test_blocks() -> None:
    first, second = read(TEXT.encode())
    assert (first.id, first.names, first.scorer, len(first), first.line) == ("0", ("LM0_0", "TM0_0"), None, 2, 1)
    assert first.rows == ((-1.5, 2.0), (-1e-5, 0.0))
    assert first.sparse == ({}, {"dom:a=b": 3.0, "x": -1.0})
    assert list(first.named())[1] == {"LM0_0": -1e-5, "TM0_0": 0.0, "dom:a=b": 3.0, "x": -1.0}
    assert (second.id, second.rows, second.line) == ("7", (), 5)


def test_binary() -> None:
    data = binary((-1.68191, 0.1), (1e-5, 3.0)) + binary((10.0, 1e10), key=3)
    first, second = read(data)
    assert (first.rows, first.sparse, first.raw) == (((-1.68191, 0.1), (1e-5, 3.0)), (), None)
    assert (second.id, second.rows) == ("3", ((10.0, 1e10),))
    assert written([second]) == "FEATURES_TXT_BEGIN_0 3 1 2 LM0_0 TM0_0 \n10 10000000000 \nFEATURES_TXT_END_0\n"
    assert detect(data, all_formats(), "x") is FORMAT


def test_line_breaks_among_the_floats_count_as_lines() -> None:
    newlines = struct.unpack("<f", b"\n\n\n\n")[0]
    data = binary((newlines, newlines)) + b"spoilt\n"
    with pytest.raises(FormatError) as caught:
        read(data)
    assert caught.value.line == data.count(b"\n")


FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(FLOATS, FLOATS), max_size=4))
def test_floats_come_back(rows: list[tuple[float, float]]) -> None:
    (block,) = read(binary(*rows))
    assert [struct.pack("<2f", *row) for row in block.rows] == [struct.pack("<2f", *row) for row in rows]
    (again,) = read(written([block]).encode())
    assert again.rows == block.rows


NAMES = st.text("aé_:=\u00a0\u2028", min_size=1, max_size=4)
VALUES = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    names = draw(st.lists(NAMES, unique=True, max_size=3))
    rows = draw(st.lists(st.tuples(*[VALUES] * len(names)), max_size=3))
    sparse = tuple(draw(st.dictionaries(NAMES, VALUES, max_size=2)) for _ in rows)
    return Block(str(draw(st.integers(0, 99))), tuple(rows), tuple(names), sparse=sparse if any(sparse) else ())


@given(st.lists(blocks(), min_size=1, max_size=3), st.sampled_from([" ", "\t", "  "]), st.sampled_from(["", "\n"]))
def test_files_come_back(made: list[Block], blank: str, end: str) -> None:
    text = written(made)
    again = read(text.encode())
    assert [(entry.id, entry.rows, entry.names, entry.sparse) for entry in again] == [
        (entry.id, entry.rows, entry.names, entry.sparse) for entry in made
    ]
    other = text.replace(" ", blank)[:-1] + end
    assert written(read(other.encode())) == other
    assert written([replace(entry, raw=None) for entry in read(other.encode())]) == text


def test_blocks_that_cannot_be_written() -> None:
    for bad, message in [
        (Block("0", ((1.0,),), scorer="BLEU"), "expected features, found statistics of BLEU"),
        (Block("0", ((1.0,),), ("a b",)), "expected a name without blanks, found 'a b'"),
        (Block("0", ((1.0,),), ("a",), sparse=({"": 1.0},)), "expected a name without blanks, found ''"),
        (Block("0", ((1.0,), (1.0, 2.0)), ("a",)), "expected 1 values in each entry, found 2"),
    ]:
        with pytest.raises(FormatError) as caught:
            written([bad])
        assert message in str(caught.value)


HEAD = "FEATURES_TXT_BEGIN_0 0 1 2 a b \n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected `FEATURES_TXT_BEGIN_0 ...`, found an empty file"),
        ("\n", "1: field 1: expected `FEATURES_TXT_BEGIN_0` or `FEATURES_BIN_BEGIN_0`, found ''"),
        ("SCORES_TXT_BEGIN_0 0 0 9 BLEU\n", "1: field 1: expected `FEATURES_TXT_BEGIN_0` or `FEATURES_BIN_BEGIN_0`, f"),
        ("FEATURES_TXT_BEGIN_0 x 1 1 a\n", "1: field 2: expected a sentence id, a whole number, found 'x'"),
        ("FEATURES_TXT_BEGIN_0 0 -1 1 a\n", "1: field 3: expected the number of entries, a whole number, found '-1'"),
        ("FEATURES_TXT_BEGIN_0 0 1\n", "1: field 4: expected the number of values, a whole number, found ''"),
        ("FEATURES_TXT_BEGIN_0 0 1 2 a\n", "1: field 6: expected 2 names, found 1"),
        ("FEATURES_TXT_BEGIN_0 0 1 1 a b\n", "1: field 6: expected 1 names, found 2"),
        ("FEATURES_TXT_BEGIN_0 0 1 3 a b a\n", "1: field 7: expected each feature once, found 'a' again"),
        ("FEATURES_TXT_BEGIN_0 0 1 70000 a\n", "1: field 4: expected 0 to 65536 values, found 70000"),
        ("FEATURES_BIN_BEGIN_0 0 1 0\n", "1: field 4: expected 1 to 65536 values, found 0"),
        (HEAD, "1: field 1: expected entry 1 of 1 on the next line, found the end of the file"),
        (
            HEAD + "1 2\n",
            "2: field 1: expected `FEATURES_TXT_END_0` after 1 entries on the next line, found the end of t",
        ),
        (HEAD + "1 2\n3 4\n", "3: field 1: expected `FEATURES_TXT_END_0` after 1 entries, found '3 4'"),
        (HEAD + "FEATURES_TXT_END_0\n", "2: field 1: expected 2 values, found 'FEATURES_TXT_END_0'"),
        (HEAD + "1\n", "2: field 2: expected 2 values, found 1"),
        (HEAD + "1 2 3\n", "2: field 3: expected 2 values, found 3"),
        (HEAD + "1 x\n", "2: field 2: expected a finite number, found 'x'"),
        (HEAD + "1 nan\n", "2: field 2: expected a finite number, found 'nan'"),
        (HEAD + "1 2 c=\n", "2: field 3: expected a finite number, found ''"),
        (HEAD + "1 2 =3\n", "2: field 3: expected a name before `=`, each once, found '=3'"),
        (HEAD + "1 2 c=3 c=3\n", "2: field 4: expected a name before `=`, each once, found 'c=3'"),
        (HEAD + "1 2\nFEATURES_TXT_END_0\n\n", "4: field 1: expected `FEATURES_TXT_BEGIN_0` or `FEATURES_BIN_BEGIN_0`"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text.encode())
    assert str(caught.value).startswith(f"x:{message}")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (binary((1, 2))[:-22], "1: field 1: expected 8 more bytes, found 5 at the end of the file"),
        (binary((1, 2), (3, float("nan"))), "1: field 2: expected a finite number in entry 2, found nan"),
        (binary((float("-inf"), 2)), "1: field 1: expected a finite number in entry 1, found -inf"),
        (
            binary((1, 2))[:-19],
            "1: field 1: expected `FEATURES_BIN_END_0` after 1 entries on the next line, found the end",
        ),
        (
            binary((1, 2)).replace(b"BIN_END", b"TXT_END"),
            "2: field 1: expected `FEATURES_BIN_END_0` after 1 entries, f",
        ),
        (binary((1, 2)).replace(b"0 1 2", b"0 0 2"), "2: field 1: expected UTF-8 text, found byte 0x80 at column 3"),
        (
            b"FEATURES_BIN_BEGIN_0 0 999999999999 1 a\n",
            "1: field 1: expected 4 more bytes, found 0 at the end of the file",
        ),
    ],
)
def test_bad_binary(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(data)
    assert str(caught.value).startswith(f"x:{message}")


def test_cut_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(binary(*[(i / 7, i) for i in range(2000)]))[:-400])
    with open_lines(path) as lines, pytest.raises(FormatError, match="expected a complete compressed file"):
        list(parse(lines))


def test_shape() -> None:
    assert detect(TEXT.encode(), all_formats(), "x") is FORMAT
    assert not FORMAT.matches(b"FEATURES_TXT_BEGIN_1 0\n")
    assert not FORMAT.matches(b"SCORES_TXT_BEGIN_0 0\n")


@pytest.mark.shared
@pytest.mark.parametrize(
    "name", ["mert/features.10.txt", "tune-pb/run1.features.dat.gz", "tune-pb/run6.features.dat.gz"]
)
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
    with open_lines(folder / "features.10.bin") as lines:
        assert written(list(parse(lines))) == (folder / "features.10.txt").read_text()
