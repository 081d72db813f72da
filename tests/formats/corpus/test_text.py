"""Plain text, a sentence on each line."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError
from smtformats.corpus.text import FORMAT, parse, write
from smtformats.files import Lines
from smtformats.format import shortest


def read(data: bytes) -> list[str]:
    return list(parse(Lines(io.BytesIO(data), "x")))


def written(sentences: list[str]) -> str:
    out = io.StringIO()
    assert write(sentences, out, shortest) == len(sentences)
    return out.getvalue()


@given(st.lists(st.text("aé \t\u00a0\u2028\x85\x0b\r", max_size=8).filter(lambda text: text[-1:] != "\r")))
def test_sentences_come_back(sentences: list[str]) -> None:
    text = written(sentences)
    assert read(text.encode()) == sentences
    assert read(text.replace("\n", "\r\n").encode()) == sentences


def test_line_ends() -> None:
    assert read(b"a\n\nb\r\n\r\nc\rd\n e ") == ["a", "", "b", "", "c\rd", " e "]
    assert read(b"") == []


def test_a_byte_order_mark_is_no_part_of_the_first_word() -> None:
    assert read("\ufeffa\n\ufeffb\n".encode()) == ["a", "\ufeffb"]


def test_invalid_utf8() -> None:
    with pytest.raises(FormatError) as caught:
        read(b"ok\n\xe4\n")
    assert str(caught.value) == "x:2: field 1: expected UTF-8 text, found byte 0xe4 at column 1"


def test_shape() -> None:
    assert FORMAT.matches(b"anything at all")
    assert not FORMAT.matches(b"bin\x00ary")
    assert not FORMAT.matches(b'\n<seg id="1">a</seg>\n')
    assert FORMAT.fallback
