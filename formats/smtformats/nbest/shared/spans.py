"""JSON objects on a line, with the span of each member and array element; and how values are spelled as JSON."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import field
from typing import Any

from smtformats.candidates import Layout
from smtformats.errors import quote
from smtformats.format import Number
from smtformats.records import dataclass
from smtformats.tokens import BadField

MAX_DEPTH = 64
_INTEGER_DIGITS = 300
_WHITE = re.compile(r"[ \t\r\n]*")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')


class TooDeep(BadField):
    """A value with more levels of nesting than we read."""


@dataclass(frozen=True)
class Member:
    """A value of an object: its span in the line and its number among the members, from 1."""

    value: Any
    start: int
    end: int
    field: int


@dataclass
class Array:
    """The elements of an array and their spans; ``changed`` has texts of some of them that are not as written."""

    values: list[Any] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    changed: dict[int, dict[str, str]] = field(default_factory=dict)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise BadField("each name once in an object", f"{quote(twice)} twice")
    return mapping


def _integer(text: str) -> float:
    # Python's int has no -0, and one that is too large for a float raises another error.
    return float(text) if len(text) > _INTEGER_DIGITS or text == "-0" else int(text)


def _constant(text: str) -> float:
    raise BadField("a finite number", quote(text))


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant)
LENIENT = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer)
"""Reads ``NaN`` and ``Infinity``, which Python writes: for files where they may stand in members that are not used."""


def decode(text: str, at: int, decoder: json.JSONDecoder = _DECODER) -> tuple[Any, int]:
    """Decode a value; returns it and its end."""
    too_deep = TooDeep(f"JSON nested at most {MAX_DEPTH} deep", "more")
    try:
        value, end = decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        raise BadField("JSON", f"{what} at column {error.pos + 1}") from None
    except RecursionError:
        raise too_deep from None
    if text.count("[", at, end) + text.count("{", at, end) > MAX_DEPTH and _depth(text[at:end]) > MAX_DEPTH:
        raise too_deep
    return value, end


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in _TOKENS.findall(text):
        depth += (token in "[{") - (token in "]}")
        deepest = max(deepest, depth)
    return deepest


def _skip(text: str, at: int) -> int:
    match = _WHITE.match(text, at)
    assert match is not None
    return match.end()


def _expect(text: str, at: int, marks: str) -> int:
    """Require one of the marks; returns the position after it."""
    if not text[at : at + 1] or text[at] not in marks:
        wanted = " or ".join(f"`{mark}`" for mark in marks)
        actual = quote(text[at : at + 20].rstrip()) if text[at:].strip() else "the end of the line"
        raise BadField(f"{wanted} at column {at + 1}", actual)
    return at + 1


def array(text: str, at: int) -> tuple[Array, int]:
    """Parse the array that begins here; returns its elements and its end."""
    elements = Array()
    at = _skip(text, _expect(text, at, "["))
    if text[at : at + 1] == "]":
        return elements, at + 1
    while True:
        value, end = decode(text, at)
        elements.values.append(value)
        elements.spans.append((at, end))
        at = _skip(text, end)
        end = _expect(text, at, ",]")
        if text[at] == "]":
            return elements, end
        at = _skip(text, end)


def members(text: str, arrays: Container[str] = ()) -> dict[str, Member]:
    """Parse an object that fills the text; arrays with the given names are parsed with the spans of their elements."""
    fields: dict[str, Member] = {}
    count = 1
    try:
        at = _skip(text, _expect(text, _skip(text, 0), "{"))
        while text[at : at + 1] != "}" or fields:
            _expect(text, at, '"')
            key, at = decode(text, at)
            start = _skip(text, _expect(text, _skip(text, at), ":"))
            taken = array if key in arrays and text[start : start + 1] == "[" else decode
            value, end = taken(text, start)
            if key in fields:
                raise BadField("each name once in an object", f"{quote(key)} twice")
            fields[key] = Member(value, start, end, count)
            at = _skip(text, end)
            end = _expect(text, at, ",}")
            if text[at] == "}":
                break
            at = _skip(text, end)
            count += 1
        if _skip(text, at + 1) != len(text):
            raise BadField("one JSON object on the line", f"{quote(text[at + 1 :].strip())} after it")
    except BadField as bad:
        raise BadField(bad.expected, bad.found, count) from None
    return fields


def finite(value: Any) -> float:
    """Check that a value is a finite number."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise BadField("a finite number", shown(value))
    return float(value)


def id_text(value: Any, name: str = "id", field: int | None = None) -> str:
    """A string or a number as an id; a whole number is spelled without a fraction: 1.0 is 1."""
    if isinstance(value, str):
        if not value:
            raise BadField(f"a string that is not empty as {name}", shown(value), field)
        return clean(value)
    if type(value) not in (int, float) or not math.isfinite(value):
        raise BadField(f"a string or a number as {name}", shown(value), field)
    return str(int(value)) if value == int(value) else json.dumps(value)


def shown(value: Any) -> str:
    """Quote a value for an error message."""
    return quote(value) if isinstance(value, str) else quote(json.dumps(value))[1:-1]


def clean(text: str) -> str:
    """Check that a text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadField("a text without lone surrogates", ascii(text[:60])) from None
    return text


def plain(value: Any) -> str:
    """The text kept for an unknown member: a string as it is, anything else as JSON."""
    if value is None:
        return ""
    return clean(value) if isinstance(value, str) else json.dumps(value)


def spell_number(value: float, number: Number) -> str:
    """Spell a number as JSON."""
    if not math.isfinite(value):
        raise BadField("a finite number (JSON has no others)", str(value))
    return number(value)


def string(text: str) -> str:
    """Spell a text as JSON."""
    return json.dumps(text, ensure_ascii=False)


def spell_features(layout: Layout, values: Sequence[float], number: Number) -> str:
    """Spell features as a JSON object."""
    spell = number if all(map(math.isfinite, values)) else functools.partial(spell_number, number=number)
    items = [key + spell(value) for key, value in zip(_keys(tuple(layout)), values, strict=True)]
    return "{" + ", ".join(items) + "}"


@functools.lru_cache(maxsize=1 << 8)
def _keys(layout: Layout) -> list[str]:
    """The names of features as keys of a JSON object."""
    return [f"{string(name)}: " for name in layout]


def append_items(text: str, items: str) -> str:
    """Append the content of the JSON object or array ``items`` to ``text``, one of the same kind as written."""
    inside, closing = text[:-1].rstrip(" \t\r"), text[-1]
    comma = "" if len(inside.strip(" \t\r")) == 1 else ", "
    return inside + comma + items[1:-1] + text[len(inside) : -1] + closing if items[1:-1] else text


def replace_members(text: str, new: Mapping[str, str]) -> str:
    """Replace the values of some members in an object as written, and append the members that it lacks."""
    fields = members(text)
    for key, value in sorted(new.items(), key=lambda item: -fields[item[0]].start if item[0] in fields else 0):
        if key in fields:
            text = text[: fields[key].start] + value + text[fields[key].end :]
    fresh = ", ".join(f"{string(key)}: {value}" for key, value in new.items() if key not in fields)
    return append_items(text, "{" + fresh + "}")
