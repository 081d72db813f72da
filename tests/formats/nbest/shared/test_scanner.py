"""The native scanner for lists: it agrees with the parser on any file and reads all that toolkits write by itself."""

from __future__ import annotations

import gzip
import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, ListColumns, open_bytes
from smtformats._scan import ListScanner
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.nbest import cdec, moses

FORMATS = {"moses": moses.FORMAT, "cdec": cdec.FORMAT}


def plain(columns: ListColumns) -> dict[str, Any]:
    """The whole content, to the last bit."""
    assert columns.totals is not None
    features = columns.features
    return {
        "ids": columns.ids,
        "offsets": columns.offsets.tolist(),
        "texts": columns.texts[:],
        "names": features.names,
        "features": (features.offsets.tolist(), features.ids.tolist(), features.values.tobytes()),
        "totals": columns.totals.tobytes(),
        "extras": {name: table[:] for name, table in columns.extras.items()},
        "sides": (columns.sources, columns.annotations),
        "places": (columns.file, columns.lines.tolist()),
        "types": [str(column.dtype) for column in (features.ids, features.values, columns.totals, columns.offsets)],
    }


def parsed(dialect: str, data: bytes, **limits: int) -> dict[str, Any] | str:
    parse = FORMATS[dialect].parse
    assert parse is not None
    try:
        return plain(ListColumns.from_lists(parse(Lines(io.BytesIO(data), "x", **limits))))
    except FormatError as error:
        return str(error)


def loaded(dialect: str, stream: Any, **limits: int) -> dict[str, Any] | str:
    load = FORMATS[dialect].load
    assert load is not None
    try:
        return plain(load(stream, "x", **limits))
    except FormatError as error:
        return str(error)


def taken(dialect: str, data: bytes) -> bool:
    """Whether the scanner reads a file to its end."""
    scanner = ListScanner(dialect, MAX_LINE_BYTES)
    return scanner.feed(data) and scanner.finish()


def same(dialect: str, data: bytes, **limits: int) -> dict[str, Any] | str:
    result = loaded(dialect, io.BytesIO(data), **limits)
    assert result == parsed(dialect, data, **limits)
    return result


# Not the default, all of UTF-8, which takes hypothesis 0.7 s to list.
ASCII = st.characters(max_codepoint=127)
NUMBERS = st.one_of(
    st.floats(-300, 300).map(lambda value: f"{value:.6g}"),
    st.integers(-20, 20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"[+-]?[0-9]{1,22}(\.[0-9]{0,22})?([eE][+-]?[0-9]{1,2})?", fullmatch=True, alphabet=ASCII),
    st.sampled_from([".5", "5.", "-.25e1", "+2", "-0", "1e-400", "4.9e-324", "000012.50", "123456789012345", "1e23"]),
)
TEXTS = st.text("abé |=語\u00a0\u2028\t\r\x1f", max_size=30)
WORDS = st.text("aZé=:[0]_|.\u00a0語", min_size=1, max_size=20)
CLEAN = st.sampled_from(["LM0", "F", "v", "Distortion0", "a=b", "x" * 15, "y" * 16, "z" * 60])
NAMES = st.one_of(CLEAN, CLEAN, CLEAN, st.sampled_from(["F[0]", "v[0]", "v[1]"]), WORDS)
BLANKS = st.sampled_from([" "] * 12 + ["  ", "\t", " \t"])
ENDS = st.sampled_from(["\n"] * 6 + ["\r\n", " \n"])


@st.composite
def layouts(draw: st.DrawFn, dialect: str) -> list[tuple[str, int]]:
    """Labels with their numbers of values."""
    labels = draw(st.lists(st.tuples(NAMES, st.integers(1, 3)), max_size=4, unique_by=lambda label: label[0]))
    if dialect == "cdec":
        return [(f"{name}=", 1) for name, _ in labels]
    mark = draw(st.sampled_from(["=", "=", ":"]))
    unlabelled = [("", draw(st.integers(1, 3)))] if draw(st.integers(0, 4)) == 0 else []
    return unlabelled + [(name + mark, count) for name, count in labels]


@st.composite
def fields_behind(draw: st.DrawFn) -> str:
    segment = st.sampled_from(["0-3=0-2", "4=3", "12-13=0", "0=0-11"])
    point = st.sampled_from(["0-0", "1-12", "10-2"])
    body = draw(
        st.one_of(
            st.lists(segment, min_size=1, max_size=3).map(" ".join),
            st.lists(point, max_size=4).map(" ".join),
            st.sampled_from(["[S [X a] b]", "ein haus", "0-0 1", "0=", "0-0  1-1", "1-", " 0-0", "0-0\r", "4=4 5-5"]),
        )
    )
    return body + draw(st.sampled_from(["", " ", " ", "  "]))


@st.composite
def line_of(draw: st.DrawFn, dialect: str, key: str, layout: list[tuple[str, int]]) -> str:
    blank = draw(BLANKS)
    items: list[str] = []
    for label, count in layout:
        values = draw(st.lists(NUMBERS, min_size=count, max_size=count))
        items += [label + values[0]] if dialect == "cdec" else [*([label] if label else []), *values]
    total = draw(st.one_of(NUMBERS, st.sampled_from(["inf", "-inf", " 1 ", "\t2"])))
    fields = [draw(TEXTS), draw(st.sampled_from(["", "", " "])) + blank.join(items), total]
    if dialect == "moses":
        fields += draw(st.lists(fields_behind(), max_size=3) if draw(st.booleans()) else st.just([]))
    first = draw(st.sampled_from([" ||| "] * 5 + [" |||"]))
    return key + first + " ||| ".join(fields) + draw(ENDS)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, str]:
    """A dialect and a text: lists with a shared layout, and some lines with other layouts."""
    dialect = draw(st.sampled_from(["moses", "cdec"]))
    usual = draw(layouts(dialect))
    text = ""
    for key in sorted(draw(st.sets(st.integers(0, 10**17), min_size=1, max_size=4))):
        if dialect == "cdec":
            text += draw(st.sampled_from(["", "", "\n", "\n\r\n", " \n"]))
        spelled = draw(st.sampled_from(["", "", "", "0"])) + str(key)
        for _ in range(draw(st.integers(1, 4))):
            layout = usual if draw(st.integers(0, 3)) else draw(layouts(dialect))
            text += draw(line_of(dialect, spelled, layout))
    if dialect == "cdec" and draw(st.integers(0, 4)) == 0:
        text += "".join(f"{label[:-1]}\n" for label, _ in usual)
    return dialect, text.removesuffix("\n") if draw(st.integers(0, 4)) == 0 else text


@given(files())
def test_both_faces_agree(file: tuple[str, str]) -> None:
    same(file[0], file[1].encode())


SPOILS = [b"", b" ", b"\n", b"|", b" ||| ", b"=", b":", b"\xff", b"\r", b"\0", b"0", b"-", b".", b"\xc3", b"\x1c", b"e"]


@given(files(), st.data())
def test_both_faces_agree_on_spoilt_text(file: tuple[str, str], data: st.DataObject) -> None:
    text = bytearray(file[1].encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(len(text) - 1, 0)))
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(st.sampled_from(SPOILS))
    same(file[0], bytes(text))


class Chopped(io.RawIOBase):
    """A stream that returns pieces of the given lengths, cyclically."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self.pieces = self._cut(data, sizes)

    @staticmethod
    def _cut(data: bytes, sizes: list[int]) -> Iterator[bytes]:
        at = step = 0
        while at < len(data):
            yield data[at : at + sizes[step % len(sizes)]]
            at += sizes[step % len(sizes)]
            step += 1

    def read(self, size: int = -1) -> bytes:
        return next(self.pieces, b"")


@given(files(), st.lists(st.integers(1, 300), min_size=1, max_size=5))
def test_pieces_of_any_size(file: tuple[str, str], sizes: list[int]) -> None:
    data = file[1].encode()
    assert loaded(file[0], Chopped(data, sizes)) == parsed(file[0], data)


@given(files(), st.integers(10, 80))
def test_both_faces_have_the_same_limit_of_lines(file: tuple[str, str], limit: int) -> None:
    same(file[0], file[1].encode(), max_bytes=limit)


@pytest.mark.parametrize("texts", [["a b"], ["é b", "a"], ["語", ""]])
def test_large_files_come_in_several_pieces(texts: list[str]) -> None:
    rest = "B= 0 ||| -1.5 |||  ||| 0=0\n"
    lines = [f"{i // 7} ||| {texts[i % len(texts)]}  ||| A= {i} -{i / 8} {rest}" for i in range(9000)]
    data = "".join(lines).encode()
    assert taken("moses", data)
    result = same("moses", data)
    assert isinstance(result, dict)
    assert len(result["texts"]) == 9000


CDEC = ";A=1;A=b=2;A=1 B=2;B=2 A=1;A==1;A=1=2;A=1\tB=2;A=1  B=2;A=1 C=3;A=;A;AB=1;A=1 A=b=2;=1"
LABELS = ";1;1 2;A= 1;A= 1 2;A= 1 B= 2;A= 1 2 B= 3;1 A= 2;1 2 A= 3;B= 2 A= 1;A=  1;A=\t1;A= 1 C= 2;A= B= 1;A= 1 2 3"
ODD_LABELS = ";A: 1;A= 1 B=;A= 1= 2;1= 2;AB= 1;A=1;A[0]= 1;= 1;A= 1=;A= 1 B= x;A= A= 1"
FIELDS = {"cdec": CDEC.split(";"), "moses": (LABELS + ODD_LABELS).split(";")}


@pytest.mark.parametrize("dialect", FIELDS)
def test_a_line_is_read_the_same_behind_any_other(dialect: str) -> None:
    for first, second, blank in itertools.product(FIELDS[dialect], FIELDS[dialect], ["", " "]):
        same(dialect, f"0 ||| a ||| {first} ||| 1\n0 ||| b ||| {blank}{second}{blank} ||| 2\n".encode())


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "moses",
            "0 ||| a b  ||| LM0= -1 TM0= -2 3e-05 ||| -1.5 ||| 0-1=0 2=1 ||| 0-0 1-0 2-1 \n1 ||| a ||| L= 2 ||| 3\n",
        ),
        ("moses", "0 ||| a  |||  LM0= -1 ||| -1 ||| 0-0 1-1  ||| [S [X a]]\n"),
        ("moses", "0 ||| a  ||| -1 -2 sparse= 3 ||| -1\n0 ||| b ||| -1 -2 other= 1 ||| -1\n"),
        ("moses", "0 ||| a ||| d: 0 lm: -3 tm: -1 -2 ||| -6\n"),
        ("moses", "0 |||a b ||| map: 0 w: 10 9.0144 ||| 0.429881\n0 |||c ||| map: 1 w: 9 8 ||| 0.385322\n"),
        ("moses", "0 ||| a ||| LM0= -1 ||| -1 ||| 0-0\r\n1 ||| ü ||| LM0= -1 ||| -inf\r\n"),
        (
            "cdec",
            "0 ||| a b ||| LM=-1.5 x=y=2 ||| -1.5\n0 ||| c ||| x=y=2 LM=3 Z=1e-7 ||| 2\n\n2 ||| d |||  ||| inf\n",
        ),
        ("cdec", "\n\r\n7 ||| a ||| LM=+1. ||| .5\r\n"),
    ],
)
def test_what_toolkits_write_is_scanned(dialect: str, text: str) -> None:
    assert taken(dialect, text.encode())
    assert isinstance(same(dialect, text.encode()), dict)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("moses", "0 ||| a ||| LM0= -1 ||| -1\n0 ||| b ||| LM0=\x0b-1 ||| -1\n1 ||| c ||| LM0= 1e-400 ||| 2\n"),
        ("cdec", "0 ||| a ||| LM=-1\x1cX=2 ||| -1\n3 ||| a ||| LM=-1 ||| -1\n"),
        ("cdec", "0 ||| a ||| LM=-1 ||| -1\n1 ||| b ||| X=2 ||| -1\n\nLM\nX\nY\n"),
        ("cdec", "\u2003\n0 ||| a ||| LM=-1 ||| -1\n\n"),
    ],
)
def test_the_parser_goes_on_with_what_is_not_scanned(dialect: str, text: str) -> None:
    assert not taken(dialect, text.encode())
    result = same(dialect, text.encode())
    assert isinstance(result, dict)
    assert result["places"][0] == "x"


BAD = [
    ("moses", "", "1: field 1: expected an n-best list, found no hypothesis in the file"),
    (
        "moses",
        "0 ||| a ||| A= 1 ||| 1\n\n",
        "2: field 1: expected `id ||| text ||| features ||| total`: the id, found",
    ),
    (
        "moses",
        "0 ||| a ||| A= 1\n",
        "1: field 4: expected `id ||| text ||| features ||| total`: the total score",
    ),
    ("moses", "x ||| a ||| A= 1 ||| 1\n", "1: field 1: expected a sentence id (a whole number), found 'x'"),
    (
        "moses",
        "1 ||| a ||| A= 1 ||| 1\n0 ||| a ||| A= 1 ||| 1\n",
        "2: field 1: expected an id after 1 (ids ascend)",
    ),
    ("moses", "0 ||| a ||| A= 1\n0 |||", "1: field 4: expected"),
    ("moses", "0 ||| a ||| A= B= 1 ||| 1\n", "1: field 3: expected a number after the label, found 'A=' alone"),
    ("moses", "0 ||| a ||| A= 1 A= 2 ||| 1\n", "1: field 3: expected each feature once, found 'A' twice"),
    ("moses", "0 ||| a ||| A= 1_0 ||| 1\n", "1: field 3: expected a finite number, found '1_0'"),
    ("moses", "0 ||| a ||| A= 1e999 ||| 1\n", "1: field 3: expected a finite number, found '1e999'"),
    ("moses", "0 ||| a ||| A= 1 ||| nan\n", "1: field 4: expected a number as total score, found 'nan'"),
    ("moses", "0 ||| \udcff ||| A= 1 ||| 1\n", "1: field 2: expected UTF-8 text, found byte 0xff at column 7"),
    ("moses", "0 ||| a ||| A\udcff= 1 ||| 1\n", "1: field 3: expected UTF-8 text, found byte 0xff at column 14"),
    ("cdec", "0 ||| a ||| A\udcc3=1 ||| 1\n", "1: field 3: expected UTF-8 text, found byte 0xc3 at column 14"),
    ("cdec", "\n \n", "1: field 1: expected an n-best list, found no hypothesis in the file"),
    (
        "cdec",
        "0 ||| a ||| A=1 ||| 1\n\n0 ||| b ||| A=1 ||| 1\n",
        "2: field 1: expected no blank line inside an n-best list, found a blank line",
    ),
    (
        "cdec",
        "0 ||| a ||| A=1 ||| 1 ||| 0-0\n",
        "1: field 5: expected 4 fields, `id ||| text ||| name=value ... |||",
    ),
    ("cdec", "0 ||| a ||| =1 ||| 1\n", "1: field 3: expected name=value, found '=1'"),
    (
        "cdec",
        "0 ||| a ||| A=1 B=2 ||| 1\nA\nC\n",
        "2: field 1: expected `id ||| text ||| name=value ... |||",
    ),
]


@pytest.mark.parametrize(("dialect", "text", "message"), BAD)
@pytest.mark.parametrize("before", [0, 1000])
def test_errors_are_those_of_the_parser(dialect: str, text: str, message: str, before: int) -> None:
    good = "".join(f"{i // 10} ||| a  ||| {'A= 1' if dialect == 'moses' else 'A=1'} ||| 1\n" for i in range(before))
    if not before:
        result = same(dialect, text.encode("utf-8", "surrogateescape"))
        assert isinstance(result, str)
        assert result.startswith(f"x:{message}")
    elif text.strip():
        shifted = text.replace("0 |||", f"{before} |||").replace("1 ||| a", f"{before + 1} ||| a")
        result = same(dialect, good.encode() + shifted.encode("utf-8", "surrogateescape"))
        assert isinstance(result, str)
        line, _, rest = message.partition(": field")
        assert result.startswith(f"x:{before + int(line)}: field{rest[:12]}")


def test_a_truncated_file_is_an_error() -> None:
    data = gzip.compress(b"".join(b"%d ||| %d ||| A= 1 ||| 1\n" % (i, i * i) for i in range(20000)))
    columns = moses.load(io.BytesIO(data), "x")
    assert len(columns) == 20000
    with pytest.raises(FormatError, match=r"^x:\d+: field 1: expected a complete compressed file, found"):
        moses.load(io.BytesIO(data[:-100]), "x")
    spoilt = gzip.compress(b"0 ||| a ||| A=\x0b1 ||| 1\n" * 20000)
    with pytest.raises(FormatError, match=r"^x:\d+: field 1: expected a complete compressed file, found"):
        moses.load(io.BytesIO(spoilt[:-20]), "x")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("dialect", "path"),
    [
        ("moses", "moses/pb/nbest100.align_seg.txt.gz"),
        ("moses", "moses/pb/nbest100.unlabeled.txt.gz"),
        ("moses", "moses/pb/nbest10.lmbr.txt"),
        ("moses", "moses/hiero/nbest100.align.txt.gz"),
        ("moses", "moses/trees/nbest10.trees.txt"),
        ("cdec", "cdec/first50/kbest100.txt.gz"),
        ("cdec", "cdec/first50/nolm.kbest100.txt.gz"),
    ],
)
def test_real_lists_are_scanned(shared: Path, dialect: str, path: str) -> None:
    with open_bytes(shared / "gold" / path) as stream:
        data = stream.read()
    assert taken(dialect, data)
    assert isinstance(same(dialect, data), dict)


def test_a_scanner_that_stopped_is_closed() -> None:
    scanner = ListScanner("moses", 1000)
    assert scanner.feed(b"0 ||| a ||| A= 1 ||| 1\n1 ||| b ||| A= 1 B= x ||| 1\n2")
    assert not scanner.finish()
    assert scanner.fault() == (1, b"1 ||| b ||| A= 1 B= x ||| 1\n2")
    assert scanner.lines == 1
    for again in (scanner.finish, lambda: scanner.feed(b"")):
        with pytest.raises(RuntimeError, match="the list scanner is closed"):
            again()
    columns = scanner.columns()
    assert (columns["texts"][0], columns["names"][0], columns["values"].tolist()) == (b"a", b"A", [1.0])
    with pytest.raises(RuntimeError, match="the columns were taken already"):
        scanner.columns()
    with pytest.raises(ValueError, match="expected cdec or moses as dialect"):
        ListScanner("joshua", 1000)
