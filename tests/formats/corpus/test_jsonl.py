"""Sentences with ids as JSON lines."""

from __future__ import annotations

import io

import pytest

from smtformats import FormatError, all_formats, detect
from smtformats.corpus.jsonl import FORMAT, parse
from smtformats.corpus.segments import Segment
from smtformats.files import Lines


def read(text: str) -> list[Segment]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x")))


def test_sources_and_references() -> None:
    text = (
        '{"id": "seg-1", "source": "das Haus", "references": ["the house", "that house"], "n": 1.5}\n'
        '\n{"src": "ein Haus", "id": "seg-0", "refs": ["a house", "one house"]}\r\n'
    )
    first, second = read(text)
    assert (first.key, first.source, first.references) == ("seg-1", "das Haus", ("the house", "that house"))
    assert (first.attributes, first.side, first.line, second.line) == ({"n": "1.5"}, "source", 1, 3)
    assert (second.key, second.id, second.source) == ("seg-0", 1, "ein Haus")
    assert detect(text.encode(), all_formats(), "x").name == "jsonl-corpus"


def test_one_text() -> None:
    for name, side in {"text": "text", "ref": "reference", "target": "reference", "src": "source"}.items():
        (segment,) = read(f'{{"id": 7, "{name}": "a"}}\n')
        assert (segment.source, segment.references, segment.side, segment.id, segment.key) == ("a", (), side, 7, None)


def test_a_byte_order_mark_begins_no_text() -> None:
    text = '\ufeff{"id": "a", "text": "b"}\n'
    assert detect(text.encode(), all_formats(), "x").name == "jsonl-corpus"
    assert [(segment.key, segment.source) for segment in read(text)] == [("a", "b")]


def test_without_ids_lines_count() -> None:
    assert [(segment.id, segment.key) for segment in read('{"text": "a"}\n\n{"text": "b"}\n')] == [(0, None), (1, None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1, "ref": "a"}\n{"id": "01", "ref": "b"}\n', "2: field 1: expected each id once, found '01' again ("),
        ('{"id": 1, "ref": "a"}\n{"ref": "b"}\n', "2: field 1: expected an id, as on the lines before, found none"),
        ('{"ref": "a"}\n{"id": 1, "ref": "b"}\n', "2: field 1: expected no id, as on the lines before, found '1'"),
        ('{"id": 1, "n": "a"}\n', "1: field 1: expected a text named source, src, text, sentence, reference, "),
        ('{"id": 1, "ref": 5}\n', "1: field 2: expected a string as ref, found 5"),
        ('{"id": 1, "refs": ["a", 5]}\n', "1: field 2: expected a string as refs, found 5"),
        ('{"id": 1, "refs": []}\n', "1: field 2: expected a string as refs, found []"),
        ('{"id": [1], "ref": "a"}\n', "1: field 1: expected a string or a number as id, found [1]"),
        (
            '{"sentence_id": 1, "ref": "a"}\n',
            "1: field 1: expected an id (the sentence_id of sockeye's lists counts from 1, ",
        ),
        ('{"text": "a", "translation": "b"}\n', "1: field 1: expected a text named source, as translation is its "),
        ('{"text": "a"}\n{"text": "", "error": "late"}\n', "2: field 2: expected a sentence, found the error 'late'"),
        ('{"refs": ["a", "b"]}\n{"refs": ["a"]}\n', "2: field 1: expected 2 texts, the first a reference, as on the "),
        ('{"ref": "a"}\n{"text": "a"}\n', "2: field 1: expected 1 texts, the first a reference, as on the first line"),
        ('{"ref": "a"\n', "1: field 1: expected `,` or `}` at column 13, found the end of the line"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x:{message}")


def test_record() -> None:
    assert (FORMAT.name, FORMAT.kind) == ("jsonl-corpus", "corpus")
    assert FORMAT.matches(b'{"doc_id": 0, "resps": [], "target": "a"}\n') is False
    assert FORMAT.matches(b'{"id": 0, "source": "a", "nbest": ["b"]}\n') is False
    assert FORMAT.matches(b'\n{"source": "a"') is False  # an empty line, and half of one
