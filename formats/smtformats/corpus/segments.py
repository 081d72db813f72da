"""A sentence of a corpus that holds more than its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.tokens import is_id

Side = Literal["source", "reference", "text"]


@dataclass(frozen=True)
class Segment:
    """A source sentence with its references and attributes.

    ``id`` is its number as the toolkit counts, none where that skips the line. ``raw`` is the line as read and
    ``origin`` the format that read it: a writer of that format copies it. ``line`` is where it stood. ``key`` is the id
    that the file gives, if that is no number. ``side`` says what ``source`` is: in a file without sources it is the
    first reference, or a text of which the file does not say what it is.
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
        """What there is besides the text."""
        return frozenset(self.attributes) | ({"references"} if self.references else frozenset())


class Ids:
    """The ids of a file's sentences: each once, on all lines or on none."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._known: dict[str, int] = {}
        self._count = 0

    def place(self, key: str | None, line: int | None = None) -> tuple[int, str | None]:
        """The number of the next sentence, and its id if that is no number."""
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
            raise self._lines.error("each id once", f"{quote(key)} again, that of {self._lines.name}:{before}", 1, line)
        return (int(key), None) if is_id(key) else (self._count - 1, key)


def segments(records: Iterable[str | Segment]) -> Iterator[Segment]:
    """Sentences of which some may be text alone."""
    for line, record in enumerate(records, 1):
        yield Segment(record, line=line) if isinstance(record, str) else record


@dataclass(frozen=True)
class Mark:
    """A tag around the words ``start`` to before ``end`` of a sentence, or between two of them if these are the same.

    ``attributes`` are those of the tag, ``span`` left out: it is what the positions say.
    """

    tag: str
    start: int
    end: int
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def translations(self) -> tuple[str, ...]:
        """What its words are to be translated as, in Moses' mark-up."""
        given = [self.attributes.get(name, "") for name in ("translation", "english")]
        return tuple(text for alternatives in given if alternatives for text in alternatives.split("||"))

    @property
    def probabilities(self) -> tuple[float, ...]:
        """How probable each translation is: 1 where nothing is said."""
        given = self.attributes.get("prob", "")
        return tuple(map(float, given.split("||"))) if given else (1.0,) * len(self.translations)


@dataclass(frozen=True)
class MarkedSegment(Segment):
    """A sentence with mark-up: ``source`` is its text without it, ``marks`` count its words, cut at blanks.

    ``fault`` says why Moses would not take the mark-up, and the tags are words.
    """

    marks: tuple[Mark, ...] = ()
    fault: str = ""

    @property
    def extras(self) -> frozenset[str]:
        """What there is besides the text."""
        return super().extras | ({"marks"} if self.marks else frozenset())
