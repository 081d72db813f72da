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

TEXTS = ["the cat", "a cat"]
CHAT = {"id": "1", "choices": [{"index": i, "message": {"content": text}} for i, text in enumerate(TEXTS)]}
OURS = [{"id": i, "hypotheses": [{"text": text, "score": -1} for text in TEXTS]} for i in range(3)]
BATCH = {"custom_id": "s", "response": {"status_code": 200, "body": CHAT}}
SHAPES: list[tuple[Any, str, str]] = [
    (BATCH, "OpenAI batch output", "[.response.body.choices[].message.content]"),
    ({"custom_id": "s", "method": "POST", "body": {}}, "OpenAI batch requests", ""),
    (CHAT, "chat completions", "[.choices[].message.content]"),
    ({"choices": [{"text": "a"}]}, "text completions", "[.choices[].text]"),
    ({"messages": [{"role": "user", "content": "x"}]}, "chat messages", ".role"),
    ({"doc_id": 0, "target": "t", "resps": [TEXTS], "filtered_resps": ["a"]}, "lm-eval samples", ".doc_id"),
    ({"hypotheses": [["a", "b"], ["c"]], "scores": [-1, -2]}, "CTranslate2 results", "join"),
    ([{"generated_text": text} for text in TEXTS], "Hugging Face generated_text", "'{hypotheses: [.. | .generated"),
    ({"translation_text": "a"}, "Hugging Face translation_text", ".translation_text"),
    ({"input": TEXTS, "output": "a"}, "HyPoradise", "{hypotheses: .input}"),
    ({"prompt": "a", "chosen": "b", "rejected": "c"}, "TRL preferences", "[.chosen, .rejected]"),
    ({"prompt": "a", "completion": "b"}, "TRL completions", "[.completion]"),
    ({"sentence_id": 1, "translation": "a", "score": 0.5}, "sockeye's single translations", ".sentence_id - 1"),
    ({"foo": 1, "bar": "x"}, "JSON objects with foo, bar", ""),
    (TEXTS, "a JSON array of texts", ""),
]


def known(*kinds: str) -> list[Format]:
    return [record for record in all_formats() if record.kind in kinds]


def refused(text: str, formats: list[Format]) -> str:
    with pytest.raises(FormatError) as caught:
        detect(text.encode()[:HEAD_BYTES], formats, "x")
    return str(caught.value)


@pytest.mark.parametrize(("value", "name", "recipe"), SHAPES)
def test_the_nearest_shape_is_named(value: Any, name: str, recipe: str) -> None:
    line = json.dumps(value) + "\n"
    for text in (line, line * 3, "\n" + line, json.dumps(value, indent=1)):
        for formats in (known("nbest"), known("nbest", "corpus"), list(all_formats())):
            message = refused(text, formats)
            assert message.startswith(f"x:{text.count(chr(10), 0, 1) + 1}: field 1: expected lists as JSON lines")
            assert name in message.partition(", found ")[2]
            assert recipe in message
        assert refused(text, known("corpus")).startswith("x:")


def test_documents_are_told_from_lines() -> None:
    for indent in (None, 2):
        assert "found an array of such objects; `jq -c '.[]'`" in refused(
            json.dumps(OURS, indent=indent), known("nbest")
        )
    assert "found such objects over several lines; `jq -c '.'`" in refused(
        json.dumps(OURS[0], indent=2), known("nbest")
    )
    marked = "\ufeff" + "".join(json.dumps(value) + "\n" for value in OURS)
    assert "found such objects after a byte order mark" in refused(marked, list(all_formats()))
    nested = json.dumps([[{"generated_text": "a"}]] * 2)
    assert "`jq -c '.[] | {hypotheses:" in refused(nested, known("nbest"))
    assert "`jq -c '.[] | {id: .custom_id" in refused(json.dumps([BATCH] * 1000), known("nbest"))
    assert "`jq -c '.[] | {id: .custom_id" in refused(json.dumps([BATCH] * 1000, indent=1), known("nbest"))
    python = repr(OURS[0]) + "\n"
    assert "found invalid JSON at line 1, column 2: expecting property name" in refused(python, list(all_formats()))


@pytest.mark.parametrize(
    "text",
    [
        "[ 1 ] he said\nand more\n",
        "{ x } y\n[X] a b\n",
        "[ 1 ]\n[2]\n{}\n[]\n",
        '{"a": 1}\nhello\nthere\nyou\n',
        '" a "\n" b "\n"c"\n',
        '[ " a " , b ] c\n',
        "{\n",
    ],
)
def test_sentences_that_begin_so_stay_sentences(text: str) -> None:
    for formats in (known("nbest", "corpus"), list(all_formats())):
        assert detect(text.encode()[:HEAD_BYTES], formats, "x").name == "text"


def test_readers_of_plain_sentences_refuse_it_too(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress((json.dumps(BATCH) + "\n").encode()))
    with (
        pytest.raises(FormatError, match=r"x\.gz:1: field 1: expected plain text, found JSON that looks like OpenAI"),
        open_sentences(path),
    ):
        pass
    (tmp_path / "y").write_text("[ 1 ] he said\n")
    with open_sentences(tmp_path / "y") as lines:
        assert list(lines) == ["[ 1 ] he said\n"]
