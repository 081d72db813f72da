"""Alignments in both directions, the input of symal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from smtformats import FormatError, all_formats, detect, open_lines
from smtformats.alignment.bal import FORMAT, Method, parse
from smtformats.alignment.links import Alignment
from smtformats.files import Lines

PAIR = "1\n2 yes good # 1 3\n3 ja , gut # 1 0 1\n"


def read(text: str, method: Method = "union") -> list[Alignment]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), method=method))


@pytest.mark.parametrize(
    ("method", "points"),
    [
        ("union", ((0, 0), (2, 0), (2, 1))),
        ("intersect", ((0, 0),)),
        ("srctotgt", ((0, 0), (2, 0))),
        ("tgttosrc", ((0, 0), (2, 1))),
    ],
)
def test_methods(method: Method, points: tuple[tuple[int, int], ...]) -> None:
    assert read(PAIR, method) == [Alignment(points, ("ja", ",", "gut"), ("yes", "good"))]


def test_pairs() -> None:
    error = "3\r\n1 ALIGN_ERR # 1\r\n1 ALIGN_ERR # 1\r\n"
    _, second, third = read(PAIR + error + "1\n1 # # 0\n0 #")
    assert second == Alignment(((0, 0),), ("ALIGN_ERR",), ("ALIGN_ERR",), line=4)
    assert third == Alignment((), (), ("#",), line=7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected three lines for each pair, found an empty file"),
        ("\n", "1: field 1: expected the count of the sentence pair, found ''"),
        ("x\n", "1: field 1: expected the count of the sentence pair, found 'x'"),
        ("1\n", "1: field 1: expected the target sentence on the next line, found the end of the file"),
        ("1\n1 a # 1\n", "2: field 1: expected the source sentence on the next line, found the end of the file"),
        ("1\n\n1 a # 1\n", "2: field 1: expected the number of words, found ''"),
        ("1\na # 1\n1 a # 1\n", "2: field 1: expected the number of words, found 'a'"),
        ("1\n2 a # 1\n1 a # 1\n", "2: field 4: expected `#` after 2 words, found '1'"),
        ("1\n2 a\n1 a # 1\n", "2: field 4: expected `#` after 2 words, found ''"),
        ("1\n1 a # 1\n1 a # x\n", "3: field 4: expected a position, or 0, found 'x'"),
        ("1\n1 a # 1\n1 a # -1\n", "3: field 4: expected a position, or 0, found '-1'"),
        ("1\n2 a b # 1\n1 a # 1\n", "2: field 6: expected 2 positions, found 1"),
        ("1\n1 a # 1 1\n1 a # 1\n", "2: field 5: expected 1 positions, found 2"),
        ("1\n1 a # 2\n1 a # 1\n", "2: field 4: expected a position on the other side, at most 1, found 2"),
        ("1\n1 a # 1\n2 a b # 1 2\n", "3: field 6: expected a position on the other side, at most 1, found 2"),
        (PAIR + "\n", "4: field 1: expected the count of the sentence pair, found ''"),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


def test_shape() -> None:
    assert detect(PAIR.encode(), all_formats(), "x") is FORMAT


@pytest.mark.parametrize(
    "text", ["1\n", "1\n2\n", "1\n2 a b\n", "1\n0 ||| 2 ||| a ||| x ||| 0\n", "a\n1 a # 1\n", "\n"]
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


@pytest.mark.shared
@pytest.mark.parametrize("method", ["union", "intersect", "srctotgt", "tgttosrc"])
def test_links_of_symal(shared: Path, method: Method) -> None:
    folder = shared / "gold" / "moses" / "align"
    blocks = (folder / "symal.out").read_text().split("symal -a=")[1:]
    (wanted,) = [block.split("\n")[1:3] for block in blocks if block.split("\n")[0] == method]
    with open_lines(folder / "x.bal") as lines:
        links = [{f"{i}-{j}" for i, j in alignment.points} for alignment in parse(lines, method=method)]
    assert links == [set(line.split()) for line in wanted]
