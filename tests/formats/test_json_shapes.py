"""JSON that no format reads is an error that names it; plain text that resembles JSON stays text."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from smtformats import Format, FormatError, all_formats, detect
from smtformats.corpus.text import open_sentences
from smtformats.files import HEAD_BYTES

REFUSED: list[tuple[Any, str]] = [
    (
        {"custom_id": "s", "method": "POST", "body": {"messages": []}},
        "OpenAI batch requests, which hold no answers (with custom_id, method, body)",
    ),
    (
        {"foo": 1, "bar": [{"x": "a b", "y": "c"}]},
        "JSON objects with foo, bar; smt convert --from jsonl-nbest,text=bar.*.x reads texts at a path",
    ),
    (
        {"generated_texts": ["a", "b"], "usage": {}},
        "JSON objects with generated_texts, usage, nearest to Hugging Face generated_text; "
        "smt convert --from jsonl-nbest,text=generated_texts.* reads texts at a path",
    ),
    ({"a.b": 1, "c": "x"}, "JSON objects with a.b, c; smt convert --from jsonl-nbest,text=c reads texts at a path"),
    ({"a": 1}, "JSON objects with a; smt convert --from jsonl-nbest,text=PATH reads texts at a path"),
    (["the cat", "a cat"], "a JSON array of texts (--from jsonl-nbest,text=PATH reads objects with any names)"),
]


def known(*kinds: str) -> list[Format]:
    return [record for record in all_formats() if record.kind in kinds]


def refused(text: str, formats: list[Format]) -> str:
    with pytest.raises(FormatError) as caught:
        detect(text.encode()[:HEAD_BYTES], formats, "x")
    return str(caught.value)


@pytest.mark.parametrize(("value", "found"), REFUSED)
def test_json_that_is_not_understood(value: Any, found: str) -> None:
    line = json.dumps(value) + "\n"
    for text in (line, line * 3, "\n" + line, json.dumps(value, indent=1), "\ufeff" + line):
        for formats in (known("nbest"), known("nbest", "corpus"), list(all_formats())):
            message = refused(text, formats)
            assert message.startswith(f"x:{text.count(chr(10), 0, 1) + 1}: field 1: expected lists as JSON lines")
            assert message.endswith(f", found {found}")
        message = refused(text, known("corpus"))
        assert message.startswith("x:")
        assert "--from" not in message


def test_lists_are_no_text() -> None:
    own, batch = '{"id": 0, "hypotheses": ["a"]}', '{"custom_id": "s", "response": {}}'
    assert refused(own, known("corpus")).endswith("found n-best lists (with id, hypotheses)")
    assert "found candidates as OpenAI batch output (also vLLM's run-batch) (with " in refused(batch, known("corpus"))
    python = "{'id': 0, 'hypotheses': ['a']}\n"
    assert "found invalid JSON at line 1, column 2: expecting property name" in refused(python, list(all_formats()))


@pytest.mark.parametrize(
    "text",
    [
        "[ 1 ] he said\nand more\n",
        "{ x } y\n[X] a b\n",
        "[ 1 ]\n[2]\n{}\n[]\n",
        '" a "\n" b "\n"c"\n',
        '[ " a " , b ] c\n',
        "{\n",
    ],
)
def test_sentences_that_begin_so_stay_sentences(text: str) -> None:
    for formats in (known("nbest", "corpus"), list(all_formats())):
        assert detect(text.encode()[:HEAD_BYTES], formats, "x").name == "text"


DISGUISED = {
    'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n': "1: .* found a stream of events",
    '# by x\n// and y\n\n{"a": 1}\n{"a": 2}\n': "4: .* found JSON objects with a",
    '\ufeff"a house"\n"b \\" c"\n': "1: .* found a JSON string on each line",
}


@pytest.mark.parametrize("text", DISGUISED)
def test_json_that_does_not_begin_like_it(text: str, tmp_path: Path) -> None:
    message = rf"x\.jsonl\.gz:{DISGUISED[text]}"
    for formats in (known("nbest", "corpus"), known("corpus"), list(all_formats())):
        with pytest.raises(FormatError, match=message):
            detect(text.encode(), formats, "x.jsonl.gz")
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    with pytest.raises(FormatError, match=message), open_sentences(tmp_path / "x.jsonl.gz"):
        pass


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("data: a {\nb\n", "x"),
        ("data: {\nb\n", "x"),
        ("# 1\n[ 1 ] he said\n", "x"),
        ('"a"\nb\n', "x.jsonl"),
        ('"a"\n"b"\n', "x.json.txt.de"),
    ],
)
def test_sentences_that_look_so_stay_sentences(text: str, name: str) -> None:
    assert detect(text.encode(), list(all_formats()), name).name == "text"


def test_readers_of_plain_sentences_refuse_it_too(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b'{"a": [1]}\nand a sentence\n'))
    with (
        pytest.raises(FormatError, match=r"x\.gz:1: field 1: expected plain text, found JSON objects with a"),
        open_sentences(path),
    ):
        pass
    for other, name in (("a\tb\nc d\te\n", "tsv-corpus"), ('<srcset setid="x">\n</srcset>\n', "nist-sgm")):
        (tmp_path / "x").write_text(f"\ufeff{other}")
        with (
            pytest.raises(FormatError, match=f"x:1: expected plain text, .* found {name}"),
            open_sentences(tmp_path / "x"),
        ):
            pass
    for text in ("a\tb\n", "<b>a</b>\nc\n", "a ||| b\nc ||| d\n"):
        (tmp_path / "x").write_text(text)
        with open_sentences(tmp_path / "x") as lines:
            assert "".join(lines) == text
    (tmp_path / "y").write_text("[ 1 ] he said\n")
    with open_sentences(tmp_path / "y") as lines:
        assert list(lines) == ["[ 1 ] he said\n"]
    (tmp_path / "z").write_text("\ufeffa b\nc\n")
    with open_sentences(tmp_path / "z") as lines:
        assert list(lines) == ["a b\n", "c\n"]
