"""cdec k-best lists, ``cdec -k N``.

    0 ||| a man in an orange hat ||| WordPenalty=-3.9 LanguageModel=-15.4 ||| -14.2475

A sentence without a parse leaves a blank line, and ``--show_feature_dictionary`` appends the names of all features to
the file; both are kept. A name may contain ``=``: items are split at the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from smtformats.candidates import Candidates, Layout
from smtformats.errors import quote
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.format import Format, Number
from smtformats.list_columns import ListColumns
from smtformats.nbest.shared.fields import (
    BAR,
    BARS,
    OTHERS,
    Dialect,
    Grouper,
    add_items,
    compose_text,
    compose_total,
    first_shape,
    split_line,
)
from smtformats.nbest.shared.scanner import load_lists
from smtformats.tokens import BadField, Layouts, blanks, numbers, total_of

NAME = "cdec-nbest"
_SHAPE = "`id ||| text ||| name=value ... ||| score`"


def feature_field(text: str, layouts: Layouts) -> tuple[Layout, list[float]]:
    """Parse ``name=value name=value``."""
    items = [token.rpartition("=") for token in blanks(text)]
    for name, mark, value in items:
        if not name:
            raise BadField("name=value", quote(mark + value))
    values = numbers([value for _, _, value in items])
    return layouts.share(tuple([name for name, _, _ in items])), values


def parse(lines: Lines) -> Iterator[Candidates]:
    """Parse one list at a time."""
    return _lists(lines, Grouper(lines, NAME), set())


def _lists(lines: Lines, group: Grouper, known: set[str]) -> Iterator[Candidates]:
    """Parse lists; ``known`` holds the features of earlier lists, which a feature dictionary at the end must name."""
    layouts = Layouts()
    blank = ""
    stream = iter(lines)
    for line in stream:
        key, fields = split_line(line)
        if not fields and not line.strip():
            blank += line
            continue
        if not fields and group.current is not None:
            known.update(group.current.names())
            group.current.after = blank + _dictionary(line, stream, lines, known)
            blank = ""
            break
        if len(fields) != 3:
            at = min(len(fields) + 2, 5) if fields else 1
            raise lines.error(f"4 fields, {_SHAPE}", f"{len(fields) + 1}", at)
        for done in group.place(key):
            known.update(done.names())
            yield done
        if blank and group.current is not None and len(group.current):
            raise lines.error("no blank line inside an n-best list", "a blank line", 1, lines.number - 1)
        field = 3
        try:
            layout, values = feature_field(fields[1], layouts)
            field = 4
            total = total_of(fields[2])
        except BadField as bad:
            raise lines.locate(bad, field) from None
        place = len(key) + BARS + len(fields[0]) + len(fields[1])
        nbest = group.add(fields[0].strip(" "), layout, values, total, line, place=place)
        if blank:
            nbest.before, blank = blank, ""
    for last in group.finish():
        last.after += blank
        yield last


def load(stream: BinaryIO, name: str, max_bytes: int = MAX_LINE_BYTES) -> ListColumns:
    """Load all lists as columns. The stream may be gzip-compressed."""

    def rest(lines: Lines, group: Grouper, before: ListColumns) -> Iterator[Candidates]:
        return _lists(lines, group, set(before.features.names))

    return load_lists(stream, name, max_bytes, "cdec", NAME, rest)


def _dictionary(first: str, rest: Iterator[str], lines: Lines, used: set[str]) -> str:
    """The feature dictionary at the end: one name per line, including every feature of the lists."""
    start = lines.number
    kept = [first, *rest]
    names = [line.rstrip("\r\n") for line in kept]
    if not used <= set(names) or any(not name or " " in name for name in names):
        raise lines.error(_SHAPE, quote(first.rstrip("\n")), 1, line=start)
    return "".join(kept)


def spell_items(layout: Layout, values: Sequence[float], number: Number) -> str:
    """Spell features as cdec does."""
    for name in layout:
        if blanks(name) != [name]:
            raise BadField("a feature name without blanks", quote(name))
    return " ".join(f"{name}={number(value)}" for name, value in zip(layout, values, strict=True))


def _compose(nbest: Candidates, i: int, number: Number) -> str:
    features = spell_items(nbest.layouts[i], nbest.values[i], number)
    return BAR.join([nbest.id, compose_text(nbest, i), features, compose_total(nbest, i, number)]) + "\n"


write = Dialect(NAME, _compose, lambda body, *features: add_items(body, spell_items(*features))).write


def matches(head: bytes) -> bool:
    """Match a third field that is empty or begins with ``name=value``, unless Joshua or Marian has such a name."""
    shape = first_shape(head)
    if shape is None or (shape.whole and len(shape.fields) != 3):
        return False
    if not shape.items:
        return True
    first = shape.items[0]
    return "=" in first and first[-1] not in "=:" and not OTHERS.match(first)


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="cdec k-best list: id ||| text ||| name=value ... ||| score",
    matches=matches,
    parse=parse,
    ordered=True,
    write=write,
    load=load,
    example="0 ||| a house ||| Glue=1 LanguageModel=-3.5 ||| -4\n",
)
