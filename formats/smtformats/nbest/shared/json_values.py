"""The JSON values of a file: one on each line, over several lines, or as the elements of arrays that hold the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from smtformats.errors import FormatError
from smtformats.files import BOM, HEAD_BYTES, Lines
from smtformats.nbest.shared.spans import LENIENT, TooDeep, decode
from smtformats.tokens import BadField

_BLANK = " \t\r\n"
_OPENING = re.compile(r"[\[{,:]\s*\Z")
_MARKS = re.compile(r'["\[\]{},]')
_INSIDE = re.compile(r'["\\]')
_CLOSING = {"[": "]", "{": "}"}
_LINES, _LONGEST = 50, 24
_BEGINS = re.compile(r"""(?:\[\s*)*\{\s*(?:"(?:[^"\\\n]|\\.)*["\n\\]|"[^"\n]*\Z|'[^'\n]*'\s*:)""")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Value:
    """A value, the line where it begins, and the number of the top-level array whose element it is (or none)."""

    value: Any
    line: int
    array: int | None = None


class Ahead(Lines):
    """Lines whose first line that is not blank is known before they are read; a byte order mark is removed."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines.stream, lines.name, max_bytes=lines.max_bytes)
        self._read: list[str] = []
        self.number = self._start = lines.number
        self.marked = False
        for line in super().__iter__():
            self.marked = self.marked or (not self._read and line.startswith(BOM))
            self._read.append(line.removeprefix(BOM) if len(self._read) == 0 else line)
            if self._read[-1].strip(_BLANK):
                break
        self.first = self._read[-1].strip(_BLANK) if self._read else ""

    def __iter__(self) -> Iterator[str]:
        self.number = self._start
        for line in self._read:
            self.number += 1
            yield line
        yield from super().__iter__()


class Spelled(Lines):
    """Values of a file, spelled as a line each, with the numbers of the lines where they began."""

    def __init__(self, values: Iterator[Value], lines: Lines) -> None:
        super().__init__(lines.stream, lines.name, max_bytes=lines.max_bytes)
        self._values = values

    def __iter__(self) -> Iterator[str]:
        for item in self._values:
            self.number = item.line
            line = json.dumps(item.value, ensure_ascii=False)
            try:
                line.encode()
            except UnicodeEncodeError:
                # A lone surrogate, which stays an escape.
                line = json.dumps(item.value)
            yield line + "\n"


def over_lines(line: str) -> bool:
    """Whether a value that begins on this line ends on a later one, as pretty-printed JSON does."""
    return line[:1] in ("{", "[") and _OPENING.search(line) is not None


def _marks(text: str, at: int = 0) -> Iterator[re.Match[str]]:
    """The brackets and commas outside strings; a string that does not end hides the rest."""
    while (match := _MARKS.search(text, at)) is not None:
        at = match.end()
        if match[0] != '"':
            yield match
            continue
        while (inside := _INSIDE.search(text, at)) is not None and inside[0] != '"':
            at = inside.end() + 1
        if inside is None:
            return
        at = inside.end()


def values(lines: Lines) -> Iterator[Value]:
    """The values of a file: objects, and the elements of top-level arrays."""
    reader = _Reader(lines)
    for line in lines:
        yield from reader.feed(line)
    yield from reader.end()


class _Reader:
    """Cut lines into values; a value, or an element of an array, is decoded when its last line has been read."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._parts: list[str] = []
        self._size = 0
        self._begun = False
        self._start = 0
        self._open: list[str] = []
        self._array: int | None = None
        self._arrays = 0
        self._elements = 0

    def feed(self, line: str) -> Iterator[Value]:
        """Take a line; yield the values that end in it."""
        if self._array is None and not self._open and line.lstrip(_BLANK):
            whole = self._whole(line)
            if whole is not None:
                yield from whole
                return
        at = 0
        for match in _marks(line):
            mark = match[0]
            if mark in ("[", "{"):
                if mark == "[" and self._array is None and not self._open:
                    self._no_text(line[at : match.start()])
                    self._array, self._elements, at = self._arrays, 0, match.end()
                    self._arrays += 1
                else:
                    self._open.append(mark)
            elif mark in ("]", "}"):
                if self._open:
                    if _CLOSING[self._open.pop()] != mark:
                        raise self._lines.error("JSON", f"`{mark}` at column {match.start() + 1}", 1)
                    if not self._open and self._array is None:
                        self._add(line[at : match.end()])
                        at = match.end()
                        yield self._take()
                elif self._array is not None and mark == "]":
                    self._add(line[at : match.start()])
                    at = match.end()
                    if self._elements or self._begun:
                        yield self._take()
                    self._array = None
                else:
                    raise self._lines.error("JSON", f"`{mark}` at column {match.start() + 1}", 1)
            elif mark == "," and self._array is not None and not self._open:
                self._add(line[at : match.start()])
                at = match.end()
                self._elements += 1
                yield self._take()
        self._add(line[at:])

    def end(self) -> Iterator[Value]:
        """The end of the file."""
        if self._open or self._array is not None:
            expected = "the end of the JSON that begins here" if self._open else "`]`, the end of the array"
            raise self._lines.error(expected, "the end of the file", 1, self._start or None)
        self._no_text(self._flush())
        yield from ()

    def _whole(self, line: str) -> Iterator[Value] | None:
        """The values of a line that is complete JSON, or none if it may end on a later line."""
        self._no_text(self._flush())
        self._start = number = self._lines.number
        start = len(line) - len(line.lstrip(_BLANK))
        if line[start] not in "{[":
            raise self._lines.error("a JSON object or array", f"`{line[start]}` at column {start + 1}", 1)
        try:
            value, end = decode(line, start, LENIENT)
        except BadField as bad:
            if over_lines(line.strip(_BLANK)) and not isinstance(bad, TooDeep):
                return None
            raise self._lines.locate(bad, 1) from None
        if line[end:].strip(_BLANK):
            found = f"more after it at column {end + 1}"
            raise self._lines.error("one JSON value on the line", found, 1)
        if not isinstance(value, list):
            return iter([Value(value, number)])
        array = self._arrays
        self._arrays += 1
        return (Value(element, number, array) for element in value)

    def _add(self, text: str) -> None:
        if not self._begun:
            self._start = self._lines.number
            self._begun = bool(text.strip(_BLANK))
        self._parts.append(text)
        self._size += len(text)
        if self._size > self._lines.max_bytes:
            expected = f"JSON values of at most {self._lines.max_bytes} bytes (the option max_line sets the limit)"
            raise self._lines.error(expected, "a longer one", 1, self._start)

    def _flush(self) -> str:
        text = "".join(self._parts)
        self._parts, self._size, self._begun = [], 0, False
        return text

    def _take(self) -> Value:
        """Decode what has been collected."""
        text = self._flush()
        at = len(text) - len(text.lstrip(_BLANK))
        try:
            value, end = decode(text, at, LENIENT)
        except BadField as bad:
            raise self._misspelled(text, at) or self._lines.locate(bad, 1, self._start) from None
        if text[end:].strip(_BLANK):
            raise self._lines.error("`,` or the end of the array", text[end:].strip(_BLANK)[:20], 1, self._start)
        return Value(value, self._start, self._array)

    def _misspelled(self, text: str, at: int) -> FormatError | None:
        """The error for a value over several lines, at its line and column, if it is no JSON."""
        try:
            _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            line = self._start + text.count("\n", at, error.pos)
            column = error.pos - text.rfind("\n", 0, error.pos)
            what = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
            return self._lines.error("JSON", f"{what} at column {column}", 1, line)
        except RecursionError:
            pass
        return None

    def _no_text(self, text: str) -> None:
        if text.strip(_BLANK):
            raise self._lines.error("a JSON object or array", f"`{text.strip(_BLANK)[:20]}`", 1)


def repaired(text: str, at: int) -> Any:
    """The JSON value that begins at a position of a text that ends in the middle of it, as far as it goes."""
    inside: list[str] = []
    best, closing = at, ""
    for match in _marks(text, at):
        mark = match[0]
        if mark in ("[", "{"):
            inside.append(_CLOSING[mark])
            best = match.end()
        elif mark in ("]", "}"):
            if not inside or inside.pop() != mark:
                break
            best = match.end()
        else:
            best = match.start()
        closing = "".join(reversed(inside))
        if not inside:
            break
    try:
        return json.loads(text[at:best] + closing)
    except (ValueError, RecursionError):
        return None


def first_of(text: str, whole: bool) -> tuple[Any, int] | None:
    """The first value of a text (or its decoding error) and its line, if the text is JSON.

    A text that is not whole may cut the value short; it is read as far as it goes.
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
        if not whole and is_cut(body, error):
            return repaired(body, at), line
        return (error, line) if _BEGINS.match(body, at) else None
    if _has_object(value):
        return value, line
    if not _says(value):
        return None
    lines = [row for row in body[at:].split("\n") if row.strip()][:_LINES]
    good = len(lines) if "\n" in body[at:end] else sum(map(_is_value, lines))
    return (value, line) if 2 * good >= len(lines) else None


def first_value(head: bytes) -> Any:
    """The first record at the start of a file, inside arrays if there are any; None if the file is not JSON."""
    if head.removeprefix(BOM.encode()).lstrip()[:1] not in (b"{", b"["):
        return None
    first = first_of(head.decode("utf-8", "ignore"), len(head) < HEAD_BYTES // 2)
    value = None if first is None else first[0]
    while isinstance(value, list) and value:
        value = value[0]
    return value


def _has_object(value: Any) -> bool:
    """Whether a value is an object with members, or an array that contains one."""
    return bool(value) if isinstance(value, dict) else isinstance(value, list) and any(map(_has_object, value))


def _says(value: Any) -> bool:
    """Whether a value contains strings; numbers in brackets alone may be a sentence."""
    return isinstance(value, list) and any(isinstance(element, str) or _says(element) for element in value)


def _is_value(line: str) -> bool:
    try:
        return isinstance(json.loads(line), (dict, list))
    except (ValueError, RecursionError):
        return _BEGINS.match(line.lstrip()) is not None


def is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the text is valid JSON that ends in the middle of a value."""
    return error.msg.startswith("Unterminated string") or len(text) - error.pos < _LONGEST
