"""GIZA++'s A3 files."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from smtformats import FormatError, all_formats, detect, open_lines
from smtformats.alignment.giza import FORMAT, parse
from smtformats.alignment.links import Alignment
from smtformats.files import Lines

HEADER = "# Sentence pair (1) source length 2 target length 3 alignment score : 0.3\n"
TARGET = "ja , gut\n"
SOURCE = "NULL ({ 2 }) yes ({ 1 }) good ({ 3 }) \n"


def read(text: str, *, inverted: bool = False) -> list[Alignment]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), inverted=inverted))


def test_pairs() -> None:
    more = "# Sentence pair (20) source length 3 target length 4 alignment score : 1.2e-09\r\na b c d\r\n"
    more += "NULL ({ }) ({ ({ 2 1 }) }) ({ }) x ({ 4 }) \r\n"
    first, second = read(HEADER + TARGET + SOURCE + more)
    assert first == Alignment(((0, 0), (1, 2)), ("yes", "good"), ("ja", ",", "gut"), 0.3)
    assert second == Alignment(((0, 0), (0, 1), (2, 3)), ("({", "})", "x"), ("a", "b", "c", "d"), 1.2e-9, line=4)


def test_inverted() -> None:
    (alignment,) = read(HEADER + TARGET + SOURCE, inverted=True)
    assert (alignment.points, alignment.source, alignment.target) == (
        ((0, 0), (2, 1)),
        ("ja", ",", "gut"),
        ("yes", "good"),
    )


def test_sides_without_words() -> None:
    (alignment,) = read("# Sentence pair (1) source length 0 target length 0 alignment score : 1\n\nNULL ({ }) \n")
    assert (alignment.points, alignment.source, alignment.target) == ((), (), ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected three lines for each pair, found an empty file"),
        (TARGET, "1: field 1: expected `# Sentence pair (N) source length N ... score : X`, found 'ja , gut'"),
        (HEADER.replace("(1)", "1"), "1: field 1: expected `# Sentence pair (N) source length N ... score : X`, found"),
        (HEADER.replace("0.3", ""), "1: field 1: expected `# Sentence pair (N) source length N ... score : X`, found"),
        (HEADER.replace("0.3", "x"), "1: field 14: expected a finite number, found 'x'"),
        (HEADER.replace("0.3", "nan"), "1: field 14: expected a finite number, found 'nan'"),
        (HEADER, "1: field 1: expected the target sentence on the next line, found the end of the file"),
        (HEADER + TARGET, "2: field 1: expected the source sentence on the next line, found the end of the file"),
        (HEADER + "ja gut\n" + SOURCE, "2: field 3: expected 3 words, the target length, found 2"),
        (HEADER + TARGET + "NULL ({ 2 }) yes ({ 1 })\n", "3: field 1: expected 2 words, the source length, found 1"),
        (HEADER + TARGET + "\n", "3: field 1: expected `NULL ({ ... })` first, found ''"),
        (HEADER + TARGET + "yes ({ 1 }) good ({ 3 })\n", "3: field 1: expected `NULL ({ ... })` first, found 'yes'"),
        (HEADER + TARGET + "NULL 2 yes\n", "3: field 2: expected `({` after a word, found '2'"),
        (HEADER + TARGET + "NULL ({ }) yes\n", "3: field 5: expected `({` after a word, found ''"),
        (HEADER + TARGET + "NULL ({ 2\n", "3: field 4: expected `})` after the positions, found the end of the line"),
        (HEADER + TARGET + "NULL ({ 4 })\n", "3: field 3: expected a position from 1 to 3 or `})`, found '4'"),
        (HEADER + TARGET + "NULL ({ 0 })\n", "3: field 3: expected a position from 1 to 3 or `})`, found '0'"),
        (
            HEADER + TARGET + "NULL ({ 2 yes ({ 1 })\n",
            "3: field 4: expected a position from 1 to 3 or `})`, found 'yes'",
        ),
        (HEADER + TARGET + SOURCE + "\n", "4: field 1: expected `# Sentence pair (N) source length N ... score : X`, "),
    ],
)
def test_bad_input(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_shape() -> None:
    assert detect((HEADER + TARGET + SOURCE).encode(), all_formats(), "x") is FORMAT
    assert not FORMAT.matches(TARGET.encode())
    assert not FORMAT.matches(b"# Objective = 1\nGlue 1\n")


@pytest.mark.shared
def test_files_of_giza(shared: Path) -> None:
    folder = shared / "gold" / "moses" / "align"
    wanted = {"de-en": [{(0, 0), (1, 1), (2, 2), (4, 3)}, {(0, 0), (1, 2)}]}
    wanted["en-de"] = [{(0, 0), (1, 1), (2, 2), (3, 3), (3, 4)}, {(0, 0), (2, 1)}]
    for name, points in wanted.items():
        path = folder / f"{name}.A3.final"
        assert detect(path.read_bytes(), all_formats(), str(path)) is FORMAT
        with open_lines(path) as lines:
            assert [set(alignment.points) for alignment in parse(lines)] == points
