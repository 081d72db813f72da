"""The source sides of lines of tables: what the parsers say, but for lines that are left to them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import Format, all_formats
from smtformats.errors import FormatError
from smtformats.files import Lines
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.source_sides import blank_separated
from smtplugins.host.files.opening import find_format

FORMATS = {record.name: record for record in all_formats() if record.source is not None}
HEADS = {"cdec-grammar": ("[X] ||| ", " [S]||| "), "joshua-grammar": ("[X] ||| ", "[S] |||\t")}
TAILS = {
    "cdec-grammar": " ||| [1] [2] ||| F=1\n",
    "joshua-grammar": " ||| [X,1] [X,2] ||| 1\n",
    "moses-rules": " [X] ||| [X][X] [X][X] [X] ||| 1 ||| 0-0 1-1\n",
    "homework-phrases": " ||| A ||| -1\n",
}
GAPS = ("[X]", "[X,1]", "[X][X]", "[X,", "[]")
TOKENS = ("a", "b|c", "||||", "|||", "\u00a0", "ä", "[", "\x0b", "\r", *GAPS)


def parsed(record: Format, line: str) -> tuple[Any, ...]:
    """The source side as the parser has it."""
    assert record.parse is not None
    (read,) = record.parse(Lines(io.BytesIO(line.encode()), "table"))
    if not isinstance(read, Rule):
        return tuple(blank_separated(read.source.encode()))
    return tuple(None if isinstance(symbol, NonTerminal) else symbol.encode() for symbol in read.source)


def test_formats_of_lines_tell_their_source_sides() -> None:
    assert {"cdec-grammar", "joshua-grammar", "moses-phrases", "moses-rules", "moses-reordering"} <= FORMATS.keys()


@pytest.mark.parametrize("name", FORMATS)
def test_examples(name: str) -> None:
    record = FORMATS[name]
    assert record.source is not None
    end, side = record.source(record.example.encode())
    assert side == parsed(record, record.example)
    assert record.example.encode()[:end].rstrip().endswith(b"|||")


@given(
    st.sampled_from(sorted(FORMATS)),
    st.integers(0, 1),
    st.lists(st.sampled_from(TOKENS), max_size=4),
    st.lists(st.sampled_from([" ", "  ", "\t", " \t"]), min_size=5, max_size=5),
)
def test_what_is_told_is_what_the_parser_says(name: str, head: int, tokens: list[str], blank: list[str]) -> None:
    record = FORMATS[name]
    text = "".join(token + space for token, space in zip(tokens, blank, strict=False)).rstrip(" \t")
    line = HEADS.get(name, ("", " "))[head] + text + TAILS.get(name, " ||| A ||| 0.5\n")
    assert record.source is not None
    told = record.source(line.encode())
    try:
        wanted = parsed(record, line)
    except FormatError:
        # Bad lines are errors where they are used.
        return
    assert told is None or told[1] == wanted
    assert told is not None or any(char in line for char in "\x0b\r\t") or "[S]" in line


def test_phrases_of_cdec_have_no_left_hand_side() -> None:
    record = find_format("cdec-grammar,label=X", "grammar")
    assert record.source is not None
    assert record.source(b"[a] b ||| c ||| F=1\n") == (10, (b"[a]", b"b"))
    assert FORMATS["cdec-grammar"].source(b"a ||| b ||| F=1\n") is None  # type: ignore[misc]
