"""Kaldi's n-best transcriptions with the costs beside them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtformats import Candidates, FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.nbest.speech.kaldi import FORMAT, parse

TEXT = "utt-a-1 a man\nutt-a-2 the man\nutt-b-1 a dog\n"
LM = "utt-a-1 4.5\nutt-a-2 5\nutt-b-1 3\n"
AC = "utt-a-1 -30\nutt-a-2 -31.25\nutt-b-1 -20\n"


@pytest.fixture
def beside(tmp_path: Path) -> dict[str, Path]:
    for name, text in (("lm", LM), ("ac", AC), ("words", "<eps> 0\na 1\nman 2\nthe 3\ndog 4\n")):
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in ("lm", "ac", "words")}


def read(text: str, **options: Any) -> list[Candidates]:
    return list(parse(Lines(io.BytesIO(text.encode()), "text"), **options))


def test_lists(beside: dict[str, Path]) -> None:
    first, second = read(TEXT)
    assert [(n.id, n.texts, n.totals, n.line, n.first) for n in (first, second)] == [
        ("utt-a", ["a man", "the man"], None, 1, 0),
        ("utt-b", ["a dog"], None, 3, 2),
    ]
    first, second = read(TEXT, lm=beside["lm"], ac=beside["ac"])
    assert first[1] == ("the man", {"graph": -5, "acoustic": 31.25}, 26.25)
    assert second.totals == [17]
    first, _ = read(TEXT, lm=beside["lm"], ac=beside["ac"], acoustic_scale=0.1)
    assert first.totals == pytest.approx([-1.5, -1.875])
    assert read(TEXT, lm=beside["lm"])[0][0] == ("a man", {"graph": -4.5}, None)
    numbers = "utt-a-1 1 2 0\nutt-a-2 3 2\nutt-b-1 1 4\n"
    assert [n.texts for n in read(numbers, words=str(beside["words"]))] == [["a man", "the man"], ["a dog"]]
    assert [n.texts for n in read(numbers, words="ids")] == [["1 2", "3 2"], ["1 4"]]
    assert read("u-1\nu-2 a\n")[0].texts == ["", "a"]


LATTICES = """\
utt-a-1
0 1 11 1 0.5,-30.25
1 2 13 3 0.25,-10
2 3 15 0
3 0.75,1

utt-a-2
0	1	11	1	2,-30
1

utt-b-1
0

"""


def test_lattices_of_one_path(beside: dict[str, Path]) -> None:
    first, second = read(LATTICES, lattices=True, words=str(beside["words"]))
    assert (first.id, first.texts, first.line) == ("utt-a", ["a the", "a"], 1)
    assert first[0] == ("a the", {"graph": -1.5, "acoustic": 39.25}, 37.75)
    assert first.totals == [37.75, 28]
    assert (second.id, second.texts, second.totals, second.line) == ("utt-b", [""], [0], 11)
    first, _ = read(LATTICES, lattices=True, words="ids", acoustic_scale=0.1)
    assert (first.texts[0], first.totals) == ("1 3", pytest.approx([2.425, 1]))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (LATTICES.replace("utt-a-2", "utt-a-3"), {}, "7: field 1: expected rank 2 of utterance utt-a, found 3"),
        (LATTICES.replace("utt-a-2", "utt-a"), {}, "7: field 1: expected the key of a hypothesis|expected rank"),
        (
            LATTICES.replace("1 2 13", "0 1 12 2 1,1\n1 2 13"),
            {},
            r"1: expected lattices of one path each, found a lattice of more arcs, 'utt-a-1' \(kaldi-lattice reads",
        ),
        (
            LATTICES.replace("1 2 13", "1 9 12 2 1,1\n1 2 13"),
            {},
            "1: expected lattices of one path each, found a lattice of more arcs, 'utt-a-1'",
        ),
        (LATTICES, {"lm": Path("x")}, "1: expected no options lm and ac with lattices=true"),
    ],
)
def test_bad_lattices_of_one_path(text: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(text, lattices=True, words="ids", **options)


def test_options_on_the_command_line(tmp_path: Path, beside: dict[str, Path]) -> None:
    (tmp_path / "text").write_text(TEXT)
    lists = smt.read(tmp_path / "text", format=f"kaldi-nbest,lm={beside['lm']},ac={beside['ac']}")
    assert lists.best() == ["the man", "a dog"]


def test_detection() -> None:
    assert detect(TEXT.encode(), all_formats(), "x") is FORMAT
    for other in ("u-1 a\n", "u-1 a\nv-1 b\n", "u-1 a\nu-3 b\n", "u-2 a\nu-3 b\n", "u-1 a\nein satz\n"):
        assert not FORMAT.matches(other.encode())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text:1: field 1: expected the key of a hypothesis, .* found none in the file"),
        ("u a\n", "1: field 1: expected the key of a hypothesis, .* found 'u'"),
        ("u-1 a\n\n", "2: field 1: expected the key of a hypothesis, .* found an empty line"),
        ("u-1 a\nu-3 b\n", "2: field 1: expected rank 2 of utterance u, found 3"),
        ("u-2 a\n", "1: field 1: expected rank 1 of utterance u, found 2"),
        ("u-1 a\nv-1 b\nu-2 c\n", "3: field 1: expected the lists of an utterance together, found 'u' again"),
        ("u-1 1 2\n", "1: field 1: expected words, or numbers with words=FILE"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ("", "lm:1: field 1: expected a cost of 'utt-a-1', found the end of the file"),
        (LM.replace("a-2", "a-3"), "lm:2: field 1: expected the key 'utt-a-2' and its cost, found 'utt-a-3 5'"),
        (LM.replace("4.5", "x"), "lm:1: field 2: expected a finite number, found 'x'"),
        (LM + "utt-c-1 3\n", "lm:4: field 1: expected the end of the file, as of the hypotheses, found 'utt-c-1 3'"),
    ],
)
def test_bad_costs(beside: dict[str, Path], costs: str, message: str) -> None:
    beside["lm"].write_text(costs)
    with pytest.raises(FormatError, match=message):
        read(TEXT, lm=beside["lm"])
