"""A sentence of a corpus that holds more than its text."""

from __future__ import annotations

from collections.abc import Mapping
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
