"""Lists in the form ``id ||| text ||| features ||| total``: split fields, group lines by id, write lines back.

Unchanged lines are copied byte for byte; in a changed line only the changed fields are rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TextIO

from smtformats.candidates import Candidates, Layout
from smtformats.errors import FormatError, quote
from smtformats.files import HEAD_BYTES, Lines
from smtformats.format import Number
from smtformats.records import dataclass
from smtformats.tokens import BadField, blanks, is_id
from smtformats.writing import write_each

BAR = " ||| "
BARS = len(" |||") + 2 * len(BAR)
"""The characters of a line in front of its total beside the id, the text and the features."""
_NO_EXTRAS: Mapping[str, str] = MappingProxyType({})
OTHERS = re.compile(r"tm_\S+_\d+=-?\d+\.\d{3}|F\d+=|WordScores=")
"""Beginnings of the feature fields of Joshua and Marian, whose lists otherwise look like those of cdec and Moses."""


def split_line(line: str) -> tuple[str, list[str]]:
    """Split a line into its id and the other fields, an empty list if it has no ``|||``."""
    key, bar, rest = line.partition(" |||")
    if not bar:
        return line, []
    return key, rest.split(BAR)


@dataclass(frozen=True)
class Shape:
    """The shape of a line: the fields after its id, the items of the third field, and whether the line is complete."""

    fields: list[str]
    items: list[str]
    whole: bool


def first_shape(head: bytes) -> Shape | None:
    """The shape of the first line with items, else of the last line; ``None`` if the text is not an n-best list."""
    shape = None
    lines = head.decode("utf-8", "ignore").split("\n")
    for line in lines:
        if not line.strip():
            continue
        key, fields = split_line(line)
        if not is_id(key) or len(fields) < 2:
            break
        whole = line is not lines[-1] or len(head) < HEAD_BYTES // 2
        items = blanks(fields[1])
        if not whole and len(fields) == 2:
            items = items[:-1]  # the head may end inside the last item
        shape = Shape(fields, items, whole) if items or whole or shape is None else shape
        if items:
            break
    return shape


class Grouper:
    """Collect the lines of one id into :class:`Candidates` and check that ids ascend.

    ``known`` has the line where each id began.
    """

    def __init__(self, lines: Lines, origin: str) -> None:
        self.lines = lines
        self.origin = origin
        self.count = 0
        self.current: Candidates | None = None
        self.known: dict[int, int] = {}

    def place(self, key: str) -> Iterable[Candidates]:
        """Begin a new list if the id is new; returns the previous list if that is complete now."""
        current = self.current
        if current is not None and current.id == key:
            return ()
        if not is_id(key):
            raise self.lines.error("a sentence id (a whole number)", quote(key), field=1)
        if current is not None and int(key) <= int(current.id):
            raise self.not_ascending(key)
        lines = self.lines
        self.known[int(key)] = lines.number
        self.current = Candidates(
            key, totals=[], raw=[], origin=self.origin, file=lines.name, line=lines.number, first=self.count
        )
        return () if current is None else (current,)

    def not_ascending(self, key: str) -> FormatError:
        """The error for an id that is not above the last; one that occurred before has its line."""
        assert self.current is not None
        line = self.known.get(int(key))
        again = "" if line is None else f" again (first at {self.lines.name}:{line})"
        return self.lines.error(f"an id after {self.current.id} (ids ascend)", f"{quote(key)}{again}", field=1)

    def add(
        self,
        text: str,
        layout: Layout,
        values: list[float],
        total: float | None,
        raw: str,
        extras: Mapping[str, str] = _NO_EXTRAS,
        place: int = 0,
    ) -> Candidates:
        """Add a hypothesis to the current list, which is returned; missing extra fields become empty strings.

        In a format without totals, ``total`` is always ``None``. ``place`` is where the total begins in ``raw``;
        without it the line is split again to change its total.
        """
        current = self.current
        assert current is not None
        assert current.raw is not None
        if extras or current.extras:
            for name in extras:
                if name not in current.extras:
                    current.extras[name] = [""] * len(current)
            for name, column in current.extras.items():
                column.append(extras.get(name, ""))
        current.texts.append(text)
        current.layouts.append(layout)
        current.values.append(values)
        if total is None:
            current.totals = None
        else:
            assert current.totals is not None
            current.totals.append(total)
        current.raw.append(raw)
        if place:
            current.places.append(place)
        self.count += 1
        return current

    def finish(self) -> Iterator[Candidates]:
        """Yield the last list; a file without lists is an error."""
        if self.current is None:
            raise self.lines.error("an n-best list", "no hypothesis in the file", 1, line=1)
        yield self.current


def _frame(nbest: Candidates, own: bool) -> tuple[str, str]:
    return (nbest.before, nbest.after) if own else ("", "")


def cut_at_bars(raw: str, features: int = 1) -> tuple[list[str], int, int]:
    """Cut a line into pieces; returns them with the indices of the features and of the total, which follows them."""
    key, fields = split_line(raw)
    pieces = [key, " |||"]
    for field in fields:
        pieces += [field, BAR]
    at = 2 + 2 * features if features >= 0 else len(pieces) + 2 * features
    return pieces[:-1], at, at + 2


@dataclass(frozen=True)
class Dialect:
    """How a format spells its lists.

    ``compose`` makes a whole line; ``append`` adds features to a field. ``cut`` cuts a line (given with the origin of
    its list) into pieces and returns them with the indices of the features and of the total, -1 for none. ``field`` is
    the number of the feature field in messages. ``frame`` gives the lines before and after a list; its second argument
    says whether this format read the list. Text after a blank in an origin is private to its format.
    """

    origin: str
    compose: Callable[[Candidates, int, Number], str]
    append: Callable[[str, Layout, Sequence[float], Number], str]
    cut: Callable[[str, str], tuple[list[str], int, int]] = lambda raw, origin: cut_at_bars(raw)
    field: int = 3
    frame: Callable[[Candidates, bool], tuple[str, str]] = _frame

    def write(self, lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
        """Write lists and return their count; lines read by this format are copied with their changes."""
        last: Candidates | None = None

        def spell(nbest: Candidates) -> str | None:
            nonlocal last
            raw = nbest.raw if nbest.origin.partition(" ")[0] == self.origin else None
            if raw is None and not is_id(nbest.id):
                raise BadField("a sentence id (a whole number)", quote(nbest.id), 1)
            if last is not None and len(nbest) and int(nbest.id) <= int(last.id):
                place = f"{last.file or '<data>'}:{last.line}"
                raise BadField(f"an id after {last.id}, the id at {place} (ids ascend)", quote(nbest.id), 1)
            last = nbest
            before, after = self.frame(nbest, raw is not None)
            block = [before] if before else []
            for i in range(len(nbest)):
                if block and block[-1][-1:] != "\n":
                    block[-1] += "\n"
                block.append(self.compose(nbest, i, number) if raw is None else self._patch(nbest, i, raw[i], number))
            return "".join([*block, after]) or None

        return write_each(lists, out, spell, self.field)

    def _patch(self, nbest: Candidates, i: int, raw: str, number: Number) -> str:
        kept = nbest.original[i] if nbest.original is not None else len(nbest.layouts[i])
        if not nbest.rescored and kept == len(nbest.layouts[i]):
            return raw
        if nbest.places and nbest.totals is not None and kept == len(nbest.layouts[i]):
            at = nbest.places[i]
            total, bar, rest = raw[at:].partition(BAR)
            return raw[:at] + number(nbest.totals[i]) + total[len(total.rstrip(" \t\r\n")) :] + bar + rest
        pieces, features, place = self.cut(raw, nbest.origin)
        if (kept < len(nbest.layouts[i]) and features < 0) or (nbest.rescored and place < 0):
            expected = "a format that can hold the new features and totals (choose one with --to)"
            raise BadField(expected, quote(self.origin))
        if kept < len(nbest.layouts[i]):
            body = pieces[features].rstrip(" ")
            longer = self.append(body, nbest.layouts[i][kept:], nbest.values[i][kept:], number)
            pieces[features] = longer + pieces[features][len(body) :]
        if nbest.rescored and nbest.totals is not None:
            body = pieces[place].rstrip(" \t\r\n")
            pieces[place] = number(nbest.totals[i]) + pieces[place][len(body) :]
        return "".join(pieces)


def add_items(body: str, more: str) -> str:
    """Append features to those of a field."""
    return f"{body} {more}" if body.strip(" ") else more


def compose_text(nbest: Candidates, i: int) -> str:
    """The text of a hypothesis, checked to contain no ``|||`` and no line break."""
    text = nbest.texts[i]
    if "|||" in text or "\n" in text:
        raise BadField("a text without `|||` or a line break", quote(text), 2)
    return text


def compose_total(nbest: Candidates, i: int, number: Number) -> str:
    """The total score of a hypothesis, which this kind of list requires."""
    if nbest.totals is None:
        raise BadField("a total score (rescore the list with weights first)", "none", 4)
    return number(nbest.totals[i])
