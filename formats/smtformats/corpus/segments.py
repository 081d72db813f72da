"""A corpus sentence with references, attributes and markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Literal

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.records import dataclass
from smtformats.tokens import BadField, is_id

Side = Literal["source", "reference", "text"]


@dataclass(frozen=True)
class Segment:
    """A source sentence with its references and attributes.

    ``id`` is its number as the toolkit counts, ``None`` for a line that the toolkit skips. ``raw`` is the line as read
    and ``origin`` the format that read it; a writer of that format copies the line. ``line`` is its line number.
    ``key`` is the id in the file if it is not a number. ``side`` says what ``source`` holds: the source, or in a file
    without sources the first reference, or a ``text`` whose side the file does not tell.
    """

    source: str
    references: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    id: int | None = None
    raw: str | None = None
    origin: str = ""
    line: int = 1
    key: str | None = None
    side: Side = "source"

    @property
    def extras(self) -> frozenset[str]:
        """The names of the data besides the text."""
        return frozenset(self.attributes) | ({"references"} if self.references else frozenset())


class Ids:
    """Check the ids of a file's sentences: unique, and on all lines or on none."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._known: dict[str, int] = {}
        self._count = 0

    def place(self, key: str | None, line: int | None = None) -> tuple[int, str | None]:
        """The number of the next sentence, and its id if that is not a number."""
        line = line or self._lines.number
        if (key is None) != (self._count > len(self._known)) and self._count:
            expected = "an id, as on the lines before" if key is None else "no id, as on the lines before"
            raise self._lines.error(expected, "none" if key is None else quote(key), 1, line)
        self._count += 1
        if key is None:
            return self._count - 1, None
        normal = str(int(key)) if is_id(key) else key
        before = self._known.setdefault(normal, line)
        if before != line:
            raise self._lines.error(
                "each id once", f"{quote(key)} again (first at {self._lines.name}:{before})", 1, line
            )
        return (int(key), None) if is_id(key) else (self._count - 1, key)


def attributes_of(
    text: str, shape: re.Pattern[str], expected: str = 'an attribute name="value"', fold: Callable[[str], str] = str
) -> dict[str, str]:
    """Parse the attributes of a tag; the first group of ``shape`` is the name, the last matched one the value.

    ``fold`` gives names that differ in spelling only the same spelling.
    """
    attributes: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = shape.match(text, at)
        if match is None:
            raise BadField(expected, quote(text[at:].strip()), 1)
        name = fold(match[1])
        if name in attributes:
            raise BadField("each attribute once", f"{quote(name)} again", 1)
        attributes[name] = match[match.lastindex or 1]
        at = match.end()
    return attributes


def segments(records: Iterable[str | Segment]) -> Iterator[Segment]:
    """Turn plain strings among the sentences into segments."""
    for line, record in enumerate(records, 1):
        yield Segment(record, line=line) if isinstance(record, str) else record


@dataclass(frozen=True)
class Mark:
    """A tag on the words from ``start`` to ``end`` (exclusive), or between two words if these are equal.

    ``attributes`` are those of the tag except ``span``, which the positions replace.
    """

    tag: str
    start: int
    end: int
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def translations(self) -> tuple[str, ...]:
        """The translations that Moses' markup gives for the words."""
        given = [self.attributes.get(name, "") for name in ("translation", "english")]
        return tuple(text for alternatives in given if alternatives for text in alternatives.split("||"))

    @property
    def probabilities(self) -> tuple[float, ...]:
        """The probability of each translation, 1 by default."""
        given = self.attributes.get("prob", "")
        return tuple(map(float, given.split("||"))) if given else (1.0,) * len(self.translations)


@dataclass(frozen=True)
class MarkedSegment(Segment):
    """A sentence with markup: ``source`` is the text without it; ``marks`` count words split at blanks.

    ``fault`` is the reason if Moses rejects the markup, in which case the tags are words of ``source``.
    """

    marks: tuple[Mark, ...] = ()
    fault: str = ""

    @property
    def extras(self) -> frozenset[str]:
        """The names of the data besides the text."""
        return super().extras | ({"marks"} if self.marks else frozenset())
