"""Sort lists by id, or number them, for output formats where the line number or an ascending number is the id."""

from __future__ import annotations

import functools
import itertools
import os
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from smtformats import Candidates, Format, FormatError, all_formats
from smtformats.errors import quote
from smtformats.files import Lines, open_lines, open_write
from smtformats.tokens import is_id, normal_id
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.files.joining import where_of
from smtplugins.host.files.opening import Path

NAMES = ".ids"
"""What is added to the name of a file of lists for the table of their ids."""
WITHOUT_IDS = ("text-nbest",)
_HEADER = ("number", "id")
_CUTS = frozenset("\t\r\n")
_IN_MEMORY = 1 << 24
_Item = TypeVar("_Item")


def in_order(
    items: Iterable[_Item], id_of: Callable[[_Item], str], name: str, place_of: Callable[[_Item], str] | None = None
) -> Iterator[_Item]:
    """Sort items by their whole-number ids. Items with other ids keep their order; mixing the two raises SmtError.

    The next item of 0, 1, 2, ... passes at once; others wait in a temporary file.
    """
    following, others = 0, ""
    waiting: dict[int, int] = {}
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as kept:
        for item in items:
            key = id_of(item)
            place = place_of(item) if place_of is not None else name
            if not is_id(key):
                others = key
                if not following and not waiting:
                    yield item
                    continue
            if others:
                raise SmtError(f"{place}: expected ids that are all whole numbers, or none of them, found {others!r}")
            number = int(key)
            if number < following or number in waiting:
                raise SmtError(f"{place}: expected each id once, found {key} again")
            if number > following:
                waiting[number] = kept.seek(0, 2)
                pickle.dump(item, kept, pickle.HIGHEST_PROTOCOL)
                continue
            yield item
            following += 1
            while following in waiting:
                kept.seek(waiting.pop(following))
                yield pickle.load(kept)
                following += 1
        for number in sorted(waiting):
            kept.seek(waiting[number])
            yield pickle.load(kept)


def distinct_ids(records: Iterable[Any], file: str, known: dict[str, str]) -> Iterator[Any]:
    """The records in a file of a folder; ``known`` has the file of each id."""
    for record in records:
        before = known.setdefault(normal_id(record.id), file)
        if before != file:
            expected = "an id in one file alone (it is the name without its suffixes, or in the file)"
            raise FormatError(expected, f"{record.id} again (first in {before})", file=file, line=1, field=1)
        yield record


def lists_numbered(
    lists: Iterable[Candidates], names: dict[str, str], format: str, target: Path
) -> Iterator[Candidates]:
    """Number lists whose ids are no whole numbers, in their order; ``names`` receives the id of each number.

    Lists with whole numbers pass unchanged, and so do those for a format that has no ids.
    """
    for nbest in lists:
        if is_id(nbest.id) or format in WITHOUT_IDS:
            yield nbest
            continue
        if os.fspath(target) == "-":
            raise UsageError(
                f"{where_of(nbest, '<lists>')}: expected whole numbers as ids for {format}, found {nbest.id!r}: write "
                f"to a file ({argument('path', '-o')} FILE) to keep them in a table, FILE{NAMES}, or to JSON lines"
            )
        if _CUTS & set(nbest.id):
            expected = f"ids without tabs and line breaks for {ids_file(target)}"
            raise SmtError(f"{where_of(nbest, '<lists>')}: expected {expected}, found {nbest.id!r}")
        number = str(len(names))
        names[number] = nbest.id
        yield replace(nbest, id=number)


def ids_file(target: Path) -> str:
    """The table of the ids of lists that were numbered to be written to a file."""
    return os.fspath(target) + NAMES


def write_names(names: Mapping[str, str], target: Path) -> None:
    """Write the table of the ids of numbered lists beside the file of the lists."""
    with open_write(ids_file(target)) as out:
        out.write("\t".join(_HEADER) + "\n" + "".join(f"{number}\t{name}\n" for number, name in names.items()))


def named_lists(record: Format, table: Path) -> Format:
    """A format of lists with numbers as ids that reads them with their ids in a table; it cannot write."""

    def parse(lines: Lines) -> Iterator[Candidates]:
        assert record.parse is not None
        names = _read_names(table)
        for nbest in record.parse(lines):
            name = names.get(str(int(nbest.id)))
            if name is None:
                expected = f"a number of {os.fspath(table)} as id"
                raise FormatError(expected, nbest.id, file=nbest.file, line=nbest.line, field=1)
            # The lines have the numbers, so lists are composed when they are written.
            yield replace(nbest, id=name, raw=None, original=None, places=[], origin="")

    return replace(record, parse=parse, load=None, write=None, ordered=False)


def _read_names(table: Path) -> dict[str, str]:
    """Read a table of ids: a header, then a number and an id on each line."""
    names: dict[str, str] = {}
    known: dict[str, int] = {}
    with open_lines(table) as lines:
        for line in lines:
            number, tab, name = line.rstrip("\r\n").partition("\t")
            if lines.number == 1:
                if (number, name) != _HEADER:
                    raise lines.error("a header, number and id, separated by a tab", quote(line.rstrip("\r\n")), 1)
                continue
            if not tab or not is_id(number) or not name:
                raise lines.error("a number and an id, separated by a tab", quote(line.rstrip("\r\n")), 1)
            if number in names or name in known:
                where = known[name] if name in known else known[names[number]]
                raise lines.error("each number and id once", f"{number} {name} again (first in line {where})", 1)
            names[number], known[name] = name, lines.number
    return names


@functools.cache
def _ordered() -> frozenset[str]:
    return frozenset(fmt.name for fmt in all_formats() if fmt.ordered)


def lists_in_order(lists: Iterable[Candidates]) -> Iterator[Candidates]:
    """Sort lists by id. Lists of ordered formats pass unchanged."""
    stream = iter(lists)
    for nbest in stream:
        if nbest.origin.partition(" ")[0] not in _ordered():
            rest = itertools.chain([nbest], stream)
            yield from in_order(rest, lambda nbest: nbest.id, "<lists>", lambda nbest: where_of(nbest, "<lists>"))
            return
        yield nbest
