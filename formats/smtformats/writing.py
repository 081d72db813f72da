"""Write records as text; unchanged records of the same format are copied as they were read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TextIO, TypeVar

Record = TypeVar("Record")


class RawRecord(Protocol):
    """A record that keeps its text as read and the name of the format that read it."""

    @property
    def raw(self) -> str | None: ...

    @property
    def origin(self) -> str: ...


def own(record: RawRecord, origin: str) -> str | None:
    """The text of a record as read, if this format read it and it is unchanged; otherwise ``None``."""
    return record.raw if record.origin == origin else None


def write_each(records: Iterable[Record], out: TextIO, spell: Callable[[Record], str]) -> int:
    """Write the text of each record, adding missing line ends between records; returns their count."""
    count = 0
    open_end = False
    for record in records:
        text = spell(record)
        if open_end:
            out.write("\n")
        out.write(text)
        open_end = text[-1:] != "\n"
        count += 1
    return count
