"""A sentence of a corpus that holds more than its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Segment:
    """A source sentence with its references and attributes.

    ``id`` is its number as the toolkit counts, none where that skips the line. ``raw`` is the line as read and
    ``origin`` the format that read it: a writer of that format copies it. ``line`` is where it stood.
    """

    source: str
    references: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    id: int | None = None
    raw: str | None = None
    origin: str = ""
    line: int = 1

    @property
    def extras(self) -> frozenset[str]:
        """What there is besides the text."""
        return frozenset(self.attributes) | ({"references"} if self.references else frozenset())


def segments(records: Iterable[str | Segment]) -> Iterator[Segment]:
    """Sentences of which some may be text alone."""
    for line, one in enumerate(records, 1):
        yield Segment(one, line=line) if isinstance(one, str) else one


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
        return tuple(text for one in given if one for text in one.split("||"))

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
