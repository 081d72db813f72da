"""Refuse JSON that no format reads: such a file must not pass for plain text, where every line is a sentence.

A file is JSON if it begins with an object that has members, an array of such objects, or an array that contains strings
(if it ends with its line, most of the first lines must be JSON). A sentence like ``[ 1 ] he said`` is not JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from smtformats.errors import FormatError
from smtformats.files import BOM, HEAD_BYTES
from smtformats.nbest.shared.json_foreign import unknown
from smtformats.nbest.shared.json_paths import names
from smtformats.nbest.shared.json_readers import is_own, shape_of
from smtformats.nbest.shared.json_values import first_of

_TEXT = '{"id": 0, "text": "a house"}'
_SHOWN = '{"id": 0, "hypotheses": [{"text": "a house", "score": -1.5}]}'
"""The shapes shown in error messages; `jsonl-nbest` and `jsonl-corpus` accept further names."""
_STREAM = object()
_LINES = 50
_EVENT = re.compile(r"\s*data:[ \t]*(?=\{)")
_COMMENTS = re.compile(r"\ufeff?(?:[ \t]*(?:#|//)[^\n]*\n)+(?=\s*[\[{])")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_JSON_NAME = re.compile(r"\.(?:json|jsonl|ndjson)(?:\.\w+)?$")
_REQUESTS = frozenset({"custom_id", "body"})


def foreign_shape(value: Mapping[str, Any]) -> str | None:
    """The name of the known kind of output that an object belongs to, if it is more than a text with its fields."""
    shape = shape_of(value)
    return None if shape is None or shape.loose else shape.name


def refuse_json(start: bytes, name: str, kinds: frozenset[str] = frozenset()) -> None:
    """Raise a ``FormatError`` for a file that is JSON; ``kinds`` are the kinds of data expected, empty for text."""
    text = start.decode("utf-8", "ignore")
    comments = _COMMENTS.match(text)
    first = first_of(text[comments.end() :] if comments else text, len(start) < HEAD_BYTES // 2)
    first = (first[0], first[1] + comments[0].count("\n")) if first and comments else first or _disguised(text, name)
    if first is None:
        return
    value, line = first
    lists, corpora = "nbest" in kinds, "corpus" in kinds
    if kinds and not lists and not corpora:
        return
    wanted = [f"lists as JSON lines, {_SHOWN}"] * lists + [f"sentences, {_TEXT}"] * corpora
    expected = ", or ".join([*wanted, *["plain text"] * (corpora or not lists)])
    raise FormatError(expected, _describe(value, lists), file=name, line=line, field=1)


def _disguised(text: str, name: str) -> tuple[Any, int] | None:
    """JSON that does not begin with an object or array: a stream of events, or strings in a file that is named so."""
    rows = text.removeprefix(BOM).split("\n")
    lines = [row for row in (rows[:-1] or rows)[:_LINES] if row.strip()]
    if lines and (event := _EVENT.match(lines[0])):
        found = first_of(lines[0][event.end() :], len(lines) > 1)
        return (_STREAM, 1) if found is not None and isinstance(found[0], Mapping) else None
    named = _JSON_NAME.search(name) is not None
    return ("", 1) if named and lines and all(map(_STRING.fullmatch, map(str.strip, lines))) else None


def _describe(value: Any, lists: bool) -> str:
    """Describe a value that is no list we read, or one that was not to be read."""
    if isinstance(value, json.JSONDecodeError):
        message = value.msg[:1].lower() + value.msg[1:]
        return f"invalid JSON at line {value.lineno}, column {value.colno}: {message}"
    if value is _STREAM:
        return "a stream of events (`data: {...}`), which hold parts of answers"
    if isinstance(value, str):
        return "a JSON string on each line"
    inner = value
    while isinstance(inner, list) and inner and not isinstance(inner[0], str):
        inner = inner[0]
    if not isinstance(inner, Mapping):
        return unknown(inner) if lists else "a JSON array of texts" if isinstance(inner, list) else "JSON"
    if inner.keys() >= _REQUESTS and "response" not in inner:
        return f"OpenAI batch requests, which hold no answers (with {names(inner)})"
    shape = shape_of(inner)
    if shape is not None:
        return f"candidates as {shape.name} (with {names(inner)})"
    if is_own(inner):
        return f"n-best lists (with {names(inner)})"
    return unknown(inner) if lists else f"JSON objects with {names(inner)}"
