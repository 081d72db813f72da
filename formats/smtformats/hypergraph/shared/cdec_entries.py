"""Read a JSON object with repeated keys and C comments, entry by entry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from smtformats.errors import FormatError, quote
from smtformats.files import Lines

_BLANK = re.compile(r"[ \t\n\r]*")
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?(?:\*/|\Z)', re.DOTALL)


class Entries:
    """The keys and values of a file's JSON object in order, with the current entry and line for errors."""

    def __init__(self, lines: Lines, data: bytes) -> None:
        self.lines = lines
        self.number = 0
        self.line = 1
        try:
            self.text = data.decode()
        except UnicodeDecodeError as error:
            self.line = data.count(b"\n", 0, error.start) + 1
            column = error.start - data.rfind(b"\n", 0, error.start)
            self.fail("UTF-8 text", f"byte 0x{data[error.start]:02x} at column {column}")
        if "/*" in self.text:
            self.text = _COMMENT.sub(_strip_comment, self.text)
        self._decoder = json.JSONDecoder(parse_constant=self._constant)

    def fail(self, expected: str, found: str) -> NoReturn:
        raise self.lines.error(expected, found, max(self.number, 1), self.line)

    def fail_at(self, expected: str, at: int) -> NoReturn:
        self.line = self.text.count("\n", 0, at) + 1
        self.fail(expected, quote(self.text[at : at + 30]) if at < len(self.text) else "the end of the file")

    def _constant(self, name: str) -> NoReturn:
        self.fail("a finite number", name)

    def _skip(self, at: int) -> int:
        blank = _BLANK.match(self.text, at)
        assert blank is not None
        return blank.end()

    def _after(self, mark: str, at: int) -> int:
        """Return the position after a required mark and the blanks around it."""
        at = self._skip(at)
        if self.text[at : at + 1] != mark:
            self.fail_at(mark, at)
        return self._skip(at + 1)

    def _value(self, at: int) -> tuple[Any, int]:
        try:
            return self._decoder.raw_decode(self.text, at)
        except FormatError:
            raise
        except json.JSONDecodeError as error:
            self.fail_at(f"JSON ({error.msg[:1].lower()}{error.msg[1:]})", error.pos)
        except RecursionError:
            self.fail_at("JSON with less nesting", at)
        except ValueError:
            # Python does not read integers of thousands of digits.
            self.fail_at("JSON with shorter numbers", at)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        text = self.text
        at = self._after("{", 0)
        seen = 0
        while text[at : at + 1] != "}" or self.number:
            self.number += 1
            self.line += text.count("\n", seen, at)
            seen = at
            if text[at : at + 1] != '"':
                self.fail_at('"', at)
            key, at = self._value(at)
            value, at = self._value(self._after(":", at))
            yield key, value
            at = self._skip(at)
            if text[at : at + 1] == "}":
                break
            at = self._after(",", at)
        at = self._after("}", at)
        if at < len(text):
            self.fail_at("the end of the file after the object", at)


def _strip_comment(match: re.Match[str]) -> str:
    """Keep strings, reduce comments to their line breaks, and keep unclosed comments so that JSON reports an error."""
    text = match[0]
    closed = text[0] == "/" and len(text) > 3 and text.endswith("*/")
    return " " + "\n" * text.count("\n") if closed else text
