"""Settings of all toolkits' configurations: records, checks and writing."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.records import dataclass
from smtformats.tokens import BadField, numbers
from smtformats.writing import write_each

MAX_LINES = 1_000_000
_DIGITS = 9


@dataclass(frozen=True)
class Setting:
    """A setting: its key, as the toolkit's documentation spells it, its value and its line."""

    key: str
    value: str
    line: int = 1


@dataclass(frozen=True)
class Settings:
    """A configuration file: its settings in order; keys may be repeated.

    ``raw`` is the file as read and ``origin`` the format that read it; a writer of that format copies it.
    """

    entries: tuple[Setting, ...]
    raw: str | None = None
    origin: str = ""
    file: str = ""

    def all(self, key: str) -> list[Setting]:
        """All settings with a key."""
        return [setting for setting in self.entries if setting.key == key]


def words(text: str) -> frozenset[str]:
    """The set of words of a text."""
    return frozenset(text.split())


def gather(lines: Lines, max_lines: int) -> Iterator[str]:
    """Iterate over the lines of a file; more than ``max_lines`` lines or a NUL character are errors."""
    for line in lines:
        if lines.number > max_lines:
            raise lines.error(f"at most {max_lines} lines", "more", 1)
        if "\0" in line:
            raise lines.error("text", "a NUL character", 1)
        yield line


def unknown(lines: Lines, key: str, known: Iterable[str], what: str) -> FormatError:
    """The error for an unknown key, with similar known keys as a hint."""
    import difflib

    close = difflib.get_close_matches(key, sorted(known), n=2)
    hint = f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
    return lines.error(f"{what}{hint}", quote(key), 1)


def whole(text: str, least: int | None = None) -> None:
    """Check a whole number and its minimum."""
    body = text[1:] if text[:1] in ("-", "+") else text
    good = body.isascii() and body.isdigit() and len(body) <= _DIGITS
    if not good or (least is not None and int(text) < least):
        raise BadField("a whole number" if least is None else f"a whole number from {least} on", quote(text))


def real(text: str) -> None:
    """Check a number."""
    numbers([text], what="a number")


def one_of(text: str, choices: Iterable[str]) -> None:
    """Check a value against the allowed ones."""
    listed = list(choices)
    if text not in listed:
        raise BadField(f"one of {', '.join(listed)}", quote(text))


def check(lines: Lines, test: Callable[[str], None], text: str, field: int = 2) -> None:
    """Run a check and locate its error in the file."""
    try:
        test(text)
    except BadField as bad:
        raise lines.locate(bad, field) from None


def write_settings(
    records: Iterable[Settings],
    out: TextIO,
    origin: str,
    parse: Callable[[Lines], Iterator[Settings]],
    compose: Callable[[Settings], str],
) -> int:
    """Write configurations: unchanged if read, else composed and verified by reading back; returns their count."""

    def spell(settings: Settings) -> str:
        if settings.origin != origin:
            raise BadField(f"settings of {origin}", f"those of {settings.origin or 'no toolkit'}")
        if settings.raw is not None:
            return settings.raw
        text = compose(settings)
        (again,) = parse(Lines(io.BytesIO(text.encode("utf-8", "surrogatepass")), settings.file))
        pairs, wanted = ([(entry.key, entry.value) for entry in each.entries] for each in (again, settings))
        if pairs != wanted:
            raise BadField(f"settings that {origin} can represent", quote(text))
        return text

    return write_each(records, out, spell)
