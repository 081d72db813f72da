r"""Sentences with Moses XML markup (``-xml-input``): given translations, reordering zones and walls.

    ein <n translation="fellow||guy" prob="0.7||0.3">mann</n> mit <zone> einem hut </zone> <wall/> .
    ein mann mit einem hut . <n translation="the chap" span="0-1"/>

A tag marks the words from its start to its end, or those of ``span="i-j"``, from 0. Any tag may have ``translation``
(or its old name ``english``), with alternatives separated by ``||``, and the same number of probabilities in ``prob``.
Words are split at blanks, and a tag ends a word. ``<`` without a letter or ``/`` after it is text, up to and including
the next ``>``. A ``<seg ...>`` around the whole sentence is removed. The option ``brackets`` (``< >``) sets other tag
delimiters, as Moses' ``-xml-brackets`` does. With ``tags=false`` tags are words, which is Moses' default.

Lines with malformed markup are read as plain words, tags included, as Moses does; ``smt info`` names these lines. This
happens if a tag is not closed, not opened or closed by another one, if ``<zone>`` has no word, if ``<ne>`` does not
have exactly one word, or if there are more or fewer probabilities than translations. Deliberately stricter than Moses:
attributes without ``"``, a malformed span or one beyond the sentence, and a malformed probability are errors. On
writing, each mark becomes an empty tag with its span.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.corpus.segments import Mark, MarkedSegment, Segment, attributes_of, segments
from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.tokens import BadField, numbers
from smtformats.tokens import words as split_words
from smtformats.writing import own, write_each

NAME = "moses-xml"
BRACKETS = "< >"
_SEG = re.compile(r"<seg((?:[ \t]+[^\s=\"]+=\"[^\"]*\")*)[ \t]*>(.*)</seg>[ \t\r]*", re.ASCII)
_ATTRIBUTE = re.compile(r'[ \t]*([^\s="]+)="((?:\\.|[^"\\])*)"')
_SPAN = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


class _Fault(Exception):
    """The reason why Moses reads the tags of a line as words."""


class _Reader:
    """Parse single lines."""

    def __init__(self, lines: Lines, brackets: str, tags: bool = True) -> None:
        self.lines = lines
        self.tags = tags
        left, blank, right = brackets.partition(" ")
        if not left or not blank or not right or split_words(right) != [right]:
            raise FormatError("brackets like `< >`", quote(brackets), file=lines.name)
        self.left, self.right = left, right

    def fail(self, expected: str, found: str) -> FormatError:
        return self.lines.error(expected, found, 1)

    def segment(self, line: str, id: int) -> MarkedSegment:
        body = line.removesuffix("\n").removesuffix("\r")
        attributes: dict[str, str] = {}
        around = _SEG.fullmatch(body)
        if around is not None:
            attributes, body = self.attributes(around[1]), around[2]
        text, fault = body, ""
        marks: list[Mark] = []
        if self.tags and self.left in body:
            try:
                text, marks = self.marked(body)
            except _Fault as caught:
                fault = str(caught)
        return MarkedSegment(text, (), attributes, id, line, NAME, self.lines.number, marks=tuple(marks), fault=fault)

    def tokens(self, body: str) -> Iterator[tuple[str, bool]]:
        """The pieces of a line, each with whether it is a tag."""
        at = 0
        while at < len(body):
            start = body.find(self.left, at)
            if start < 0:
                yield body[at:], False
                return
            end = body.find(self.right, start + len(self.left))
            if end < 0:
                raise _Fault(f"no {self.right!r} after {quote(body[start:])}")
            if start > at:
                yield body[at:start], False
            at = end + len(self.right)
            first = body[start + len(self.left)]
            yield body[start:at], first == "/" or (first.isascii() and first.isalpha())

    def marked(self, body: str) -> tuple[str, list[Mark]]:
        """Split a line into the text without tags and the marks."""
        text = ""
        words = 0
        opened: list[tuple[str, int, str]] = []
        marks: list[Mark] = []
        for token, is_tag in self.tokens(body):
            if not is_tag:
                glue = " " if text and text[-1] != " " and token[0] != " " else ""
                text += glue + token
                words += len(split_words(token))
                continue
            tag = token[len(self.left) : -len(self.right)].strip(" \t")
            closing, empty = tag[:1] == "/", tag[-1:] == "/"
            name, _, rest = tag.removeprefix("/").removesuffix("/").partition(" ")
            if not name or (closing and empty):
                raise _Fault(f"malformed tag {quote(token)}")
            if not closing:
                opened.append((name, words, rest))
            if closing or empty:
                if not opened or opened[-1][0] != name:
                    raise _Fault(f"{quote(token)} closes {quote(opened[-1][0]) if opened else 'nothing'}")
                marks.append(self.mark(*opened.pop(), words))
        if opened:
            raise _Fault(f"{quote(opened[-1][0])} is not closed")
        for mark in marks:
            if mark.end > words:
                raise self.fail(f"a span within {words} words", f"{mark.start}-{mark.end - 1}")
        return text, marks

    def mark(self, name: str, first: int, rest: str, end: int) -> Mark:
        attributes = self.attributes(rest)
        span = attributes.pop("span", "")
        if span:
            match = _SPAN.fullmatch(span)
            if match is None or int(match[2] or match[1]) < int(match[1]):
                raise self.fail('span="i-j" or span="i", positions from 0', quote(span))
            first, end = int(match[1]), int(match[2] or match[1]) + 1
        mark = Mark(name, first, end, attributes)
        if name == "zone" and first == end:
            raise _Fault("a zone without words")
        if name == "ne" and end != first + 1:
            raise _Fault("a placeholder without exactly one word")
        given = attributes.get("prob", "")
        if given and name not in ("wall", "zone", "ne"):
            values = given.split("||")
            if len(values) != len(mark.translations):
                raise _Fault(f"{len(values)} probabilities for {len(mark.translations)} translations")
            try:
                negative = [value for value, number in zip(values, numbers(values), strict=True) if number < 0]
            except BadField as bad:
                raise self.fail("probabilities", bad.found) from None
            if negative:
                raise self.fail("probabilities", quote(negative[0]))
        return mark

    def attributes(self, text: str) -> dict[str, str]:
        try:
            return attributes_of(text.rstrip(" \t"), _ATTRIBUTE)
        except BadField as bad:
            raise self.lines.locate(bad) from None


def parse(lines: Lines, *, brackets: str = BRACKETS, tags: bool = True) -> Iterator[MarkedSegment]:
    """Parse one sentence at a time."""
    reader = _Reader(lines, brackets, tags)
    for line in lines:
        yield reader.segment(line, lines.number - 1)


def write(records: Iterable[str | Segment], out: TextIO, number: Number, *, brackets: str = BRACKETS) -> int:
    """Write one sentence per line, unchanged if read by this format; returns their count."""
    return write_each(segments(records), out, lambda segment: own(segment, NAME) or _compose(segment, brackets))


def _compose(segment: Segment, brackets: str) -> str:
    """Compose a line of words and marks and verify that it reads back as the same marks."""
    lines = Lines(io.BytesIO(), "")
    lines.number = segment.line
    reader = _Reader(lines, brackets)
    marks = segment.marks if isinstance(segment, MarkedSegment) else ()
    line = _insert_tags(segment.source, marks, reader) + "\n"
    again = reader.segment(line, 0)
    wanted = sorted(marks, key=_order)
    fault = segment.fault if isinstance(segment, MarkedSegment) else ""
    same = split_words(again.source) == split_words(segment.source) and sorted(again.marks, key=_order) == wanted
    if "\n" in line[:-1] or again.attributes or not same or bool(again.fault) != bool(fault):
        raise lines.error("words and marks that Moses' markup can represent", quote(line[:-1]), 1)
    return line


def _order(mark: Mark) -> tuple[object, ...]:
    return mark.start, mark.end, mark.tag, sorted(mark.attributes.items())


def _insert_tags(text: str, marks: tuple[Mark, ...], reader: _Reader) -> str:
    """Add an empty tag for each mark: in its place, or after all words with its span."""
    if not marks:
        return text
    pieces: list[list[str]] = [[] for _ in range(len(split_words(text)) + 1)]
    for mark in marks:
        given = dict(mark.attributes)
        at = min(mark.start, len(pieces) - 1)
        if mark.end > mark.start:
            given["span"], at = f"{mark.start}-{mark.end - 1}", len(pieces) - 1
        tag = "".join(f' {name}="{value}"' for name, value in given.items())
        pieces[at].append(f"{reader.left}{mark.tag}{tag}/{reader.right}")
    words = [*split_words(text), ""]
    return " ".join(piece for tags, word in zip(pieces, words, strict=True) for piece in (*tags, word) if piece)


def matches(head: bytes) -> bool:
    """Match if some line has tags with a meaning to Moses, and none has fields separated by ``|||``."""
    lines = first_lines(head)
    reader = _Reader(Lines(io.BytesIO(), ""), BRACKETS)
    return not any(" ||| " in line or line.startswith("<?") for line in lines) and any(
        _tells(line, reader) for line in lines
    )


def _tells(line: str, reader: _Reader) -> bool:
    if "<" not in line:
        return False
    try:
        marks = reader.segment(line, 0).marks
    except FormatError:
        return False
    return any(mark.tag in ("wall", "zone", "ne") or mark.translations for mark in marks)


FORMAT = Format(
    name=NAME,
    kind="corpus",
    summary="sentences with Moses XML markup: translations of words, zones, walls, placeholders",
    matches=matches,
    parse=parse,
    write=write,
    carries=frozenset({"marks"}),
    example='ein <n translation="fellow||guy" prob="0.7||0.3">mann</n> mit <zone> einem hut </zone> .\n',
)
