"""Write records as text; unchanged records of the same format are copied as they were read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TextIO, TypeVar

from smtformats.errors import FormatError
from smtformats.tokens import BadField

Record = TypeVar("Record")


class Written(int):
    """The number of records that were written, and a note of those that left nothing."""

    note: str

    def __new__(cls, count: int, note: str = "") -> Written:
        """Add a note to a count."""
        written = super().__new__(cls, count)
        written.note = note
        return written


class RawRecord(Protocol):
    """A record that keeps its text as read and the name of the format that read it."""

    @property
    def raw(self) -> str | None: ...

    @property
    def origin(self) -> str: ...


def own(record: RawRecord, origin: str) -> str | None:
    """The text of a record as read, if this format read it and it is unchanged; otherwise ``None``."""
    return record.raw if record.origin == origin else None


def refusal(bad: BadField, record: Any, field: int | None = None) -> FormatError:
    """The error for a record that cannot be written, at the place where it was read."""
    file, line = getattr(record, "file", ""), getattr(record, "line", 1)
    return FormatError(bad.expected, bad.found, file=file, line=line, field=bad.field or field)


def write_each(
    records: Iterable[Record], out: TextIO, spell: Callable[[Record], str | None], field: int | None = None
) -> int:
    """Write the text of each record, adding missing line ends between records; returns their count.

    ``spell`` returns ``None`` for a record without text. It raises ``BadField`` for one that the format cannot hold;
    ``field`` is the number of the bad field unless the exception has one.
    """
    count = 0
    open_end = False
    for record in records:
        try:
            text = spell(record)
        except BadField as bad:
            raise refusal(bad, record, field) from None
        count += 1
        if text is None:
            continue
        if open_end:
            out.write("\n")
        out.write(text)
        open_end = text[-1:] != "\n"
    return count
