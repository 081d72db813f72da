"""Word alignments as points `i-j`."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_bytes, open_lines
from smtformats.alignment.links import Alignment
from smtformats.alignment.pharaoh import FORMAT, parse, write
from smtformats.files import Lines
from smtformats.format import shortest


def read(text: str) -> list[Alignment]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


def written(records: list[Alignment]) -> str:
    out = io.StringIO()
    assert write(iter(records), out, shortest) == len(records)
    return out.getvalue()


def test_points() -> None:
    alignments = read("0-0 1-2  10-3 \n\n2-1\t2-0\r\n7-7")
    assert [alignment.points for alignment in alignments] == [
        ((0, 0), (1, 2), (10, 3)),
        (),
        ((2, 1), (2, 0)),
        ((7, 7),),
    ]
    assert [alignment.line for alignment in alignments] == [1, 2, 3, 4]
    assert all(alignment.source is alignment.target is alignment.score is None for alignment in alignments)


def test_what_stands_before() -> None:
    both, target, nothing = read("ein haus ||| a house ||| 0-0 1-1\na house ||| 0-0 \na ||| b |||\n")
    assert (both.source, both.target, both.points) == (("ein", "haus"), ("a", "house"), ((0, 0), (1, 1)))
    assert (target.source, target.target, target.points) == (None, ("a", "house"), ((0, 0),))
    assert (nothing.source, nothing.target, nothing.points) == (("a",), ("b",), ())


BLANKS = st.sampled_from([" ", "  ", "\t", ""])
POINTS = st.lists(st.tuples(st.integers(0, 10**9 - 1), st.integers(0, 12)), max_size=4)
TEXTS = st.text("aé<- \u00a0\u2028\x85\t", max_size=5)
LINES = st.builds(
    lambda texts, points, start, end: "|||".join([*texts, start + " ".join(f"{i}-{j}" for i, j in points) + end]),
    st.lists(TEXTS, max_size=3),
    POINTS,
    BLANKS,
    BLANKS,
)


@given(st.lists(LINES, max_size=5), st.sampled_from(["", "\n"]), st.sampled_from(["\n", "\r\n"]))
def test_files_come_back(bodies: list[str], end: str, newline: str) -> None:
    text = newline.join(bodies) + end
    assume(text)
    assert written(read(text)) == text


@given(st.lists(POINTS.map(tuple), min_size=1, max_size=5))
def test_what_is_written_reads_back(pairs: list[tuple[tuple[int, int], ...]]) -> None:
    assert [alignment.points for alignment in read(written([Alignment(points) for points in pairs]))] == pairs


def test_changed_points_are_written_anew() -> None:
    first, second = read("a b ||| c d ||| 1-0  0-1")[0], Alignment(((0, 0),))
    assert written([first, second]) == "a b ||| c d ||| 1-0  0-1\n0-0\n"
    assert written([replace(first, points=((0, 0), (1, 1)), raw=None)]) == "0-0 1-1\n"
    swapped = first.swapped()
    assert (swapped.points, swapped.source, swapped.target) == (((0, 1), (1, 0)), ("c", "d"), ("a", "b"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected a line of points for each pair, found an empty file"),
        ("0-0 x\n", "1: field 2: expected a point `i-j`, found 'x'"),
        ("0-0\n1\n", "2: field 1: expected a point `i-j`, found '1'"),
        ("0-0 1-\n", "1: field 2: expected a point `i-j`, found '1-'"),
        ("-1-0\n", "1: field 1: expected a point `i-j`, found '-1-0'"),
        ("0--1\n", "1: field 1: expected a point `i-j`, found '0--1'"),
        ("0-0 1-1-1\n", "1: field 2: expected a point `i-j`, found '1-1-1'"),
        ("0:0\n", "1: field 1: expected a point `i-j`, found '0:0'"),
        ("0-0,1-1\n", "1: field 1: expected a point `i-j`, found '0-0,1-1'"),
        ("\n\n0-1.5\n", "3: field 1: expected a point `i-j`, found '0-1.5'"),
        ("1234567890-0\n", "1: field 1: expected a point `i-j`, found '1234567890-0'"),
        ("0-\u0663\n", "1: field 1: expected a point `i-j`, found '0-\u0663'"),
        ("a ||| b ||| 0-0 y\n", "1: field 4: expected a point `i-j`, found 'y'"),
        ("a ||| b\n", "1: field 2: expected a point `i-j`, found 'b'"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


@pytest.mark.parametrize(
    "text", ["0-0 1-1\n", "\n\n0-0\n", "a b ||| c ||| 0-0\n", "c ||| 0-0 1-0 \n", "0-0", "a ||| b |||\n\nc ||| 1-1\n"]
)
def test_shape(text: str) -> None:
    assert detect(text.encode(), all_formats(), "x") is FORMAT


@pytest.mark.parametrize(
    "text", ["\n", "0-0 1\n", "a ||| b |||\n", "0 ||| a ||| F= 1 ||| 0 ||| 0-0\n", "0-0\nsolution\n", "2024-10-02\n"]
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("moses/train/aligned.gdfa.gz", 29000),
        ("moses/train/fwd.align.gz", 29000),
        ("moses/pb/alignment.txt", None),
        ("moses/hiero/alignment.txt", None),
        ("moses/pb/out.print-alignment-info.txt", None),
        ("cdec/first50/align.map.txt", 50),
        ("cdec/first50/align.viterbi.txt", 50),
    ],
)
def test_alignments_of_the_toolkits(shared: Path, name: str, pairs: int | None) -> None:
    path = shared / "gold" / name
    with open_bytes(path) as stream:
        before = stream.read()
    assert detect(before[: 1 << 16], all_formats(), name) is FORMAT
    with open_lines(path) as lines:
        alignments = list(parse(lines))
    assert len(alignments) == (pairs or before.count(b"\n"))
    assert written(alignments).encode() == before
    for alignment in alignments:
        assert alignment.source is None or max(i for i, _ in alignment.points) < len(alignment.source)
        assert alignment.target is None or max(j for _, j in alignment.points) < len(alignment.target)
