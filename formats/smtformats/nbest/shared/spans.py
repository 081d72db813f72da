r"""JSON lines with an n-best list on each line, cut into spans so that unchanged text is written back byte for byte.

A line is cut into elements (the JSON text of hypothesis i, in one array or in several parallel arrays) and the frame
around them. Both keep their text unless they change. Elements, and pieces of the frame, are joined by NUL, which JSON
text cannot contain, and each element keeps the comma after it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from smtformats.candidates import Candidates, Layout
from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Number
from smtformats.tokens import BadField, is_id
from smtformats.writing import write_each

LISTS = ("hypotheses", "candidates", "outputs", "nbest", "translations")
SENTENCE_ID = "sentence_id"
IDS = ("id", SENTENCE_ID)
SOURCES = ("source", "src", "input")
MAX_DEPTH = 64
CUT = "\0"
_INTEGER_DIGITS = 18
_WHITE = re.compile(r"[ \t\r\n]*")
_AFTER = " \t\r\n,"
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_ARRAY = re.compile(rf'"({"|".join(LISTS)})"[ \t]*:[ \t]*\[[ \t]*(.?)')
_SCORES = re.compile(r'"scores"[ \t]*:[ \t]*\[')


class BadMember(BadField):
    """A malformed line, with the number of the bad member in its object."""

    def __init__(self, expected: str, found: str, field: int) -> None:
        super().__init__(expected, found)
        self.field = field


@dataclass(frozen=True)
class Member:
    """A value of an object: its span in the line and its number among the members, from 1."""

    value: Any
    start: int
    end: int
    field: int


@dataclass
class Array:
    """The elements of an array and their spans."""

    values: list[Any] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise BadField("each name once in an object", f"{quote(twice)} twice")
    return mapping


def _integer(text: str) -> float:
    # Python's int has no -0, and very long digits raise another error.
    return float(text) if len(text) > _INTEGER_DIGITS or text == "-0" else int(text)


def _constant(text: str) -> float:
    raise BadField("a finite number", quote(text))


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant)


def _value(text: str, at: int) -> tuple[Any, int]:
    """Decode a value; returns it and its end."""
    too_deep = BadField(f"JSON nested at most {MAX_DEPTH} deep", "more")
    try:
        value, end = _DECODER.raw_decode(text, at)
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
        value, end = _value(text, at)
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
            key, at = _value(text, at)
            start = _skip(text, _expect(text, _skip(text, at), ":"))
            taken = array if key in arrays and text[start : start + 1] == "[" else _value
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
        raise BadMember(bad.expected, bad.found, count) from None
    return fields


def finite(value: Any) -> float:
    """Check that a value is a finite number."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise BadField("a finite number", shown(value))
    return float(value)


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
    items = (f"{string(name)}: {spell_number(value, number)}" for name, value in zip(layout, values, strict=True))
    return "{" + ", ".join(items) + "}"


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


# Reading.


Hypotheses = Callable[[Candidates, dict[str, Member]], Sequence[str]]


def lists_of(
    lines: Lines, origin: str, arrays: Container[str], fill: Hypotheses, *, first: int = 0
) -> Iterator[Candidates]:
    """Parse one list at a time; ``fill`` adds the hypotheses to a list and returns the names of their arrays.

    A line without hypotheses is kept before the next list, or after the last. ``first`` is the ``sentence_id`` of the
    first sentence, which gets the id 0.
    """
    current: Candidates | None = None
    front = ""
    known: dict[str, int] = {}
    sentence = count = 0
    for line in lines:
        if not line.strip(" \t\r\n"):
            front += line
            continue
        try:
            fields = members(line, arrays)
            key = next((name for name in IDS if name in fields and fields[name].value is not None), None)
            nbest = Candidates(
                id=str(sentence) if key is None else _id(line, fields[key], first if key == SENTENCE_ID else 0),
                texts=[],
                layouts=[],
                values=[],
                raw=[],
                origin=origin,
                file=lines.name,
                line=lines.number,
                first=count,
            )
            source = next((name for name in SOURCES if name in fields and isinstance(fields[name].value, str)), None)
            nbest.source = None if source is None else clean(fields[source].value)
            used = fill(nbest, fields)
            rest = _extras(fields, {*used, key, source}, len(nbest))
            nbest.extras = {**rest, **nbest.extras}
            before = known.setdefault(_normal(nbest.id), lines.number) if nbest.texts else lines.number
            if before != lines.number:
                raise BadField("each id once", f"{quote(nbest.id)} again (first at {lines.name}:{before})")
        except BadMember as bad:
            raise lines.locate(bad, bad.field) from None
        except BadField as bad:
            raise lines.locate(bad, 1) from None
        sentence += 1
        if not nbest.texts:
            front += line
            continue
        nbest.before, nbest.raw = _take_apart(line, [fields[name].value for name in used])
        nbest.before, front = front + nbest.before, ""
        count += len(nbest)
        if current is not None:
            yield current
        current = nbest
    if current is None:
        raise lines.error("an n-best list", "no hypothesis in the file", 1, line=1)
    current.after = front
    yield current


def _extras(fields: Mapping[str, Member], own: Container[str | None], count: int) -> dict[str, list[str]]:
    """The members of a line that are no part of the list, for each hypothesis."""
    return {
        name: [plain(value.values if isinstance(value := member.value, Array) else value)] * count
        for name, member in fields.items()
        if name not in own
    }


def _id(line: str, member: Member, first: int) -> str:
    if isinstance(member.value, str):
        return clean(member.value)
    if type(member.value) not in (int, float):
        raise BadMember("a string or a number as id", shown(member.value), member.field)
    text = line[member.start : member.end]
    if not first or type(member.value) is not int:
        return text
    if member.value < first:
        expected = f"a {SENTENCE_ID} of at least {first} (use the option first=0 if they count from 0)"
        raise BadMember(expected, text, member.field)
    return str(member.value - first)


def _normal(key: str) -> str:
    """Normalize an id for comparison: 07 is 7."""
    return str(int(key)) if is_id(key) else key


def _take_apart(line: str, arrays: list[Array]) -> tuple[str, list[str]]:
    """Cut a line into its frame and the elements of each hypothesis."""
    arrays = sorted(arrays, key=lambda elements: elements.spans[0])
    frame, at = [], 0
    columns = []
    for elements in arrays:
        frame.append(line[at : elements.spans[0][0]])
        at = elements.spans[-1][1]
        starts = [start for start, _ in elements.spans]
        columns.append([line[start:end] for start, end in zip(starts, [*starts[1:], at], strict=True)])
    frame.append(line[at:])
    return CUT.join(frame), [CUT.join(row) for row in zip(*columns, strict=True)]


# Writing.


@dataclass
class Taken:
    """A line cut into frame and elements: ``columns[name]`` holds an array's elements, each with the comma after it."""

    frame: list[str]
    columns: dict[str, list[str]]

    @classmethod
    def of(cls, nbest: Candidates) -> Taken:
        """Cut the raw lines of a list."""
        frame = nbest.before.split(CUT)
        rows = [row.split(CUT) for row in nbest.raw or ()]
        return cls(frame, {_name(piece): [row[i] for row in rows] for i, piece in enumerate(frame[:-1])})

    def __str__(self) -> str:
        parts = [self.frame[0]]
        for elements, piece in zip(self.columns.values(), self.frame[1:], strict=True):
            parts += [*_separate(elements), piece]
        return "".join(parts)

    def change(self, name: str, elements: Iterable[str]) -> None:
        """Replace the elements of an array, keeping their commas, or add a new array after the last."""
        if name in self.columns:
            old = self.columns[name]
            self.columns[name] = [new + was[len(was.rstrip(_AFTER)) :] for new, was in zip(elements, old, strict=True)]
        else:
            self.columns[name] = list(elements)
            self.frame.insert(-1, f"], {string(name)}: [")


def _name(piece: str) -> str:
    """The name of the array that a piece of the frame opens."""
    head = piece.rstrip(" \t\r\n[").rstrip(" \t:")
    return str(json.loads(head[head.rindex('"', 0, -1) :]))


def _separate(elements: list[str]) -> Iterator[str]:
    """Put commas between elements: their own where they have one, the usual one elsewhere."""
    bodies = [element.rstrip(_AFTER) for element in elements]
    commas = [element[len(body) :] for element, body in zip(elements, bodies, strict=True)]
    usual = next((comma for comma in commas if comma), ", ")
    for i, body in enumerate(bodies):
        yield body if i == len(bodies) - 1 else body + (commas[i] or usual)


def write_json(
    lists: Iterable[Candidates],
    out: TextIO,
    number: Number,
    origin: str,
    change: Callable[[Candidates, Taken, Number], None],
    compose: Callable[[Candidates, Number], str],
) -> int:
    """Write lists: lines read by this format are copied with their changes, all others are composed anew."""

    def spell(nbest: Candidates) -> str:
        try:
            if nbest.origin.partition(" ")[0] != origin or nbest.raw is None:
                return compose(nbest, number) + "\n"
            taken = Taken.of(nbest)
            if nbest.rescored or nbest.original is not None:
                change(nbest, taken, number)
            return f"{taken}{nbest.after}"
        except BadField as bad:
            raise FormatError(bad.expected, bad.found, file=nbest.file, line=nbest.line, field=1) from None

    return write_each(lists, out, spell)


def compose_id(nbest: Candidates, first: int = 0) -> str:
    """Spell an id as JSON: a whole number is counted from ``first``, any other id is a string."""
    return str(int(nbest.id) + first) if is_id(nbest.id) and str(int(nbest.id)) == nbest.id else string(nbest.id)


def shape(head: bytes) -> str:
    """``rows`` for an array of hypotheses, ``columns`` for parallel arrays of texts and scores, else ``""``."""
    kind = ""
    for line in head.decode("utf-8", "ignore").split("\n"):
        if not line.strip():
            continue
        match = _ARRAY.search(line)
        if not line.lstrip().startswith("{") or match is None:
            break
        if match[2] == "{":
            return "rows"
        if match[2] in ('"', "]"):
            kind = "columns" if _SCORES.search(line) else "rows"
        if match[2] == '"':
            break
    return kind
