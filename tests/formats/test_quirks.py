"""Odd files: we accept and read the same as cdec, except for deliberate differences."""

from __future__ import annotations

import io
import math
import re
from pathlib import Path

import pytest

from smtformats import Format, FormatError, all_formats, open_lines
from smtformats.format import shortest
from smtformats.nbest import cdec as nbest_cdec

pytestmark = pytest.mark.shared

FORMATS = {record.name: record for record in all_formats()}

GRAMMARS = """ctf dup esc glue lm np p plf q1 q2 q3 q4 q5_+2 q5_-0 q5_.5 q5_0x10 q5_1. q5_1e--5 q5_inf q5_nan q6a q6b
q7a q7b q7c q7d q7e q7f q8 q9a q9b q9c q9d q9e q9f q9g q9h q9i q9j q9k span u1 u2 un1 un2 w w2""".split()
# Ours where it is not cdec's: what we say of a file that it takes, or nothing where it aborts and we read on.
GRAMMARS_OTHERWISE = {
    "q3": "",  # the last line has no end: cdec loses it
    "q5_1e--5": "field 4: expected a number that fits 32-bit floats, found '1e--5'",  # cdec reads 1
    "q9g": "field 2: expected ||| and a target side after the source side, found the end of the line",  # one word
    "q9h": "",  # a tree without gaps on a rule without any
    "un2": "",
}
WEIGHTS = """comment crlf dup eq eqname hex inf lead nan neginf nonl novalue short tab text""".split()
WEIGHTS_OTHERWISE = {
    "comment": "4: field 1: expected a name without blanks and a number, found 'G 2 # trailing'",
    "dup": "2: field 1: expected each weight once, found 'F' again",  # cdec: the last one
    "hex": "1: field 2: expected a finite number, found '0x10'",
    "inf": "1: field 2: expected a finite number, found 'inf'",
    "neginf": "1: field 2: expected a finite number, found '-inf'",
    "novalue": "1: field 2: expected a name without blanks and a number, found 'F'",  # cdec: 0
    "text": "1: field 2: expected a finite number, found 'abc'",  # cdec: 0
    "short": "",  # cdec aborts on files of less than five bytes
}


def read(record: Format, path: Path) -> tuple[list[object], str]:
    """The records, or the error message without the file name."""
    assert record.parse is not None
    with open_lines(path) as lines:
        try:
            return list(record.parse(lines)), ""
        except FormatError as error:
            return [], str(error).removeprefix(str(path))[1:]


def aborts(folder: Path, name: str) -> bool:
    """Whether cdec aborted: its log then lacks the line that ends a run."""
    path = folder / f"{name}.err"
    return path.exists() and "VmPeak" not in path.read_text(encoding="utf-8", errors="replace")


REFUSED = "1: field 1: expected blanks around `|||`, found 'a'"


@pytest.fixture
def quirks(shared: Path) -> Path:
    return shared / "gold/cdec/quirks"


@pytest.mark.parametrize("name", GRAMMARS)
def test_grammars_are_taken_or_refused_as_by_cdec(quirks: Path, name: str) -> None:
    rules, message = read(FORMATS["cdec-grammar"], quirks / f"{name}.scfg")
    if name in GRAMMARS_OTHERWISE:
        assert message.endswith(GRAMMARS_OTHERWISE[name])
        assert bool(rules) == (not GRAMMARS_OTHERWISE[name])
    else:
        assert bool(message) == aborts(quirks, name), message
        assert not message or re.match(r"\d+: field \d: expected .*, found ", message)


@pytest.mark.parametrize("name", "dup q1 q4 q5_+2 q5_-0 q5_1. q6b q9a q9c q9d q9f".split())
def test_single_rules_are_read_as_by_cdec(quirks: Path, name: str) -> None:
    rules, message = read(FORMATS["cdec-grammar"], quirks / f"{name}.scfg")
    assert not message
    lists, _ = read(nbest_cdec.FORMAT, quirks / f"{name}.out")
    assert lists
    target = {" ".join(rule.target): rule for rule in rules}
    for nbest in lists:
        for text, features, _ in nbest.rows():
            assert target[text].features() == pytest.approx(features)


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_give_the_totals_of_cdec(quirks: Path, name: str) -> None:
    path = quirks / f"w_{name}.w"
    sets, message = read(FORMATS["cdec-weights"], path)
    expected = WEIGHTS_OTHERWISE.get(name)
    if expected:
        assert message == expected
        return
    if name == "tab":  # of two tabs in a row cdec makes a name that ends in one, and weight 0
        assert sets == [{"F": 1.5, "G": -2}]
        return
    if expected is None and aborts(quirks, f"w_{name}"):
        assert message
        return
    assert not message
    (weights,) = sets
    assert isinstance(weights, dict)
    lists, _ = read(nbest_cdec.FORMAT, quirks / f"w_{name}.out")
    assert lists or expected == ""
    for nbest in lists:
        for _, features, total in nbest.rows():
            assert math.fsum(value * weights.get(key, 0) for key, value in features.items()) == pytest.approx(total)
    out = io.StringIO()
    assert FORMATS["cdec-weights"].write is not None
    FORMATS["cdec-weights"].write([weights], out, shortest)
    assert out.getvalue().encode() == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("seg", [(7, "a", ()), (8, "a", ()), (12, " a ", ())]),
        ("seg2", "4: field 1: expected an id (a whole number), found 'x'"),  # cdec takes it for 0
        ("segref", [(3, "a", ("A",)), (4, "a", ("A",))]),  # the decoder leaves out the second, tuning scripts take it
        ("empties", [(0, "a", ()), (None, "", ()), (1, "  ", ()), (2, "a", ())]),
        ("ref", [(0, "a", ("A",)), (1, "a", ("Z",))]),
        ("refnospace", REFUSED),  # one word to cdec, surely meant as two sentences
        ("noparse", [(0, "q", ()), (1, "a", ())]),
    ],
)
def test_input_lines_are_read_as_by_cdec(quirks: Path, name: str, expected: object) -> None:
    segments, message = read(FORMATS["cdec-corpus"], quirks / f"i_{name}.in")
    if isinstance(expected, str):
        assert message == expected
        return
    assert [(segment.id, segment.source, segment.references) for segment in segments] == expected  # type: ignore[attr-defined]
    lists, _ = read(nbest_cdec.FORMAT, quirks / f"i_{name}.out")
    ids = {str(segment.id) for segment in segments}  # type: ignore[attr-defined]
    assert lists
    assert {nbest.id for nbest in lists} <= ids  # type: ignore[attr-defined]


def test_ids_set_backwards_are_an_error(quirks: Path) -> None:
    _, message = read(nbest_cdec.FORMAT, quirks / "i_seg2.out")
    assert message == "8: field 1: expected an id after 12 (ids ascend), found '0'"
