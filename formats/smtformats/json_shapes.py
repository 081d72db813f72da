"""Recognize JSON that no format reads, and tell the user how to convert it.

Such a file must not pass for plain text, where every line is a sentence. A file is JSON if it begins with an object or
array that contains names or strings and, if that value ends with its line, most of the first lines are such values. A
sentence like ``[ 1 ] he said`` is not JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from smtformats.errors import FormatError
from smtformats.files import HEAD_BYTES
from smtformats.nbest.shared.json_lists import LISTS

BOM = "\ufeff"
_TEXT = '{"id": 0, "text": "a house"}'
_SHOWN = '{"id": 0, "hypotheses": [{"text": "a house", "score": -1.5}]}'
"""The shapes shown in error messages; `jsonl-nbest` and `jsonl-corpus` accept further names."""
_LINES, _NAMES, _LONGEST = 50, 6, 24
_BEGINS = re.compile(r"""\[?\s*\{\s*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*')\s*:""")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class _Shape:
    """A known kind of output, a test for its records, and the `jq -c` filter that converts it to n-best lists.

    ``depth`` is the number of arrays around the candidates of one source.
    """

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    filter: str
    depth: int = 0


def _has(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda value: all(name in value for name in names)


def _chat(value: Mapping[str, Any]) -> bool:
    choices = value.get("choices")
    return isinstance(choices, list) and any(isinstance(choice, dict) and "message" in choice for choice in choices)


def _tokens(value: Mapping[str, Any]) -> bool:
    lists = value.get("hypotheses")
    return isinstance(lists, list) and any(isinstance(tokens, list) for tokens in lists)


_SHAPES = (
    _Shape(
        "OpenAI batch output (also vLLM's run-batch)",
        _has("custom_id", "response"),
        "{id: .custom_id, hypotheses: [.response.body.choices[].message.content]}",
    ),
    _Shape("OpenAI batch requests, which hold no answers", _has("custom_id", "body"), ""),
    _Shape("chat completions", _chat, "{hypotheses: [.choices[].message.content]}"),
    _Shape("text completions", _has("choices"), "{hypotheses: [.choices[].text]}"),
    _Shape("chat messages", _has("messages"), '{hypotheses: [.messages[] | select(.role == "assistant").content]}'),
    _Shape("lm-eval samples", _has("doc_id", "resps"), "{id: .doc_id, hypotheses: [.resps[] | .. | strings]}"),
    _Shape(
        "CTranslate2 results, hypotheses being lists of tokens",
        _tokens,
        '{hypotheses: [[.hypotheses, .scores] | transpose[] | {text: (.[0] | join(" ")), score: .[1]}]}',
    ),
    _Shape("Hugging Face generated_text", _has("generated_text"), "{hypotheses: [.. | .generated_text? // empty]}", 1),
    _Shape(
        "Hugging Face translation_text", _has("translation_text"), "{hypotheses: [.. | .translation_text? // empty]}", 1
    ),
    _Shape("HyPoradise lists", lambda value: isinstance(value.get("input"), list), "{hypotheses: .input}"),
    _Shape("TRL preferences", _has("chosen", "rejected"), "{source: .prompt, hypotheses: [.chosen, .rejected]}"),
    _Shape("TRL completions", _has("prompt", "completion"), "{source: .prompt, hypotheses: [.completion]}"),
    _Shape(
        "sockeye's single translations",
        _has("sentence_id", "translation"),
        "{id: (.sentence_id - 1), hypotheses: [{text: .translation, score: (0 - .score)}]}",
    ),
)


def foreign_shape(value: Mapping[str, Any]) -> str | None:
    """The name of the known kind of output that an object belongs to, if any."""
    return next((shape.name for shape in _SHAPES if shape.fits(value)), None)


def refuse_json(start: bytes, name: str, kinds: frozenset[str] = frozenset()) -> None:
    """Raise a ``FormatError`` for a file that is JSON; ``kinds`` are the kinds of data expected, empty for text."""
    text = start.decode("utf-8", "ignore")
    first = _first(text, len(start) < HEAD_BYTES // 2)
    if first is None:
        return
    value, line = first
    lists, corpora = "nbest" in kinds, "corpus" in kinds
    if kinds and not lists and not corpora:
        return
    wanted = [f"lists as JSON lines, {_SHOWN}"] * lists + [f"sentences, {_TEXT}"] * corpora
    expected = ", or ".join([*wanted, *["plain text"] * (corpora or not lists)])
    raise FormatError(expected, _describe(value, text, lists), file=name, line=line, field=1)


def _first(text: str, whole: bool) -> tuple[Any, int] | None:
    """The first value (or its decoding error) and its line, if the text is JSON.

    If the head cuts the value short, its first element stands for it.
    """
    body = text.removeprefix(BOM)
    at = len(body) - len(body.lstrip())
    if body[at : at + 1] not in ("{", "["):
        return None
    line = body.count("\n", 0, at) + 1
    try:
        value, end = _DECODER.raw_decode(body, at)
    except RecursionError:
        return None, line
    except json.JSONDecodeError as error:
        if not whole and _is_cut(body, error):
            return _element(body, at), line
        return (error, line) if _BEGINS.match(body, at) else None
    if not _says(value):
        return None
    lines = [row for row in body[at:].split("\n") if row.strip()][:_LINES]
    good = len(lines) if "\n" in body[at:end] else sum(map(_is_value, lines))
    return (value, line) if 2 * good >= len(lines) else None


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the text is valid JSON that ends in the middle of a value."""
    return error.msg.startswith("Unterminated string") or len(text) - error.pos < _LONGEST


def _element(text: str, at: int) -> Any:
    """The first complete value inside arrays that are cut short."""
    depth = 0
    while text[at : at + 1] == "[":
        at = len(text) - len(text[at + 1 :].lstrip())
        depth += 1
    try:
        value = _DECODER.raw_decode(text, at)[0]
    except (json.JSONDecodeError, RecursionError):
        return None
    for _ in range(depth):
        value = [value]
    return value


def _says(value: Any) -> bool:
    """Whether a value contains names or strings; numbers in brackets alone may be a sentence."""
    if isinstance(value, dict):
        return bool(value)
    return isinstance(value, list) and any(isinstance(element, str) or _says(element) for element in value)


def _is_value(line: str) -> bool:
    try:
        return isinstance(json.loads(line), (dict, list))
    except (ValueError, RecursionError):
        return _BEGINS.match(line.lstrip()) is not None


def _describe(value: Any, text: str, lists: bool) -> str:
    """Describe a value and how to convert it."""
    if isinstance(value, json.JSONDecodeError):
        message = value.msg[:1].lower() + value.msg[1:]
        return f"invalid JSON at line {value.lineno}, column {value.colno}: {message}"
    inner, depth = value, 0
    while isinstance(inner, list) and inner and not isinstance(inner[0], str):
        inner, depth = inner[0], depth + 1
    if not isinstance(inner, dict):
        return "a JSON array of texts" if isinstance(inner, list) else "JSON"
    names = ", ".join(list(inner)[:_NAMES])
    shape = next((shape for shape in _SHAPES if shape.fits(inner)), None)
    if shape is not None:
        what, recipe = f"JSON that looks like {shape.name} (with {names})", shape.filter
    elif any(isinstance(inner.get(name), list) for name in LISTS):
        what, recipe = ("an array of such objects" if depth else "such objects"), "."
        if not depth and not text.startswith(BOM):
            what += " over several lines"
    else:
        what, recipe = f"JSON objects with {names}", ""
    if text.startswith(BOM):
        what += " after a byte order mark (U+FEFF), which jq removes"
    if not lists or not recipe:
        return what
    if depth > (0 if shape is None else shape.depth):
        recipe = ".[]" if recipe == "." else f".[] | {recipe}"
    return f"{what}; `jq -c '{recipe}'` converts it to such lines"
