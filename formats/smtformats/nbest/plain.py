"""N-best lists without totals, as homework and neural toolkits (nematus, xnmt) write them (read only).

    0 ||| a man with a hat ||| lm=-30.1 tm=-12.5
    0 ||| a man with a hat ||| -1.25
    0 ||| a man with a hat

Bare numbers are features too: ``score``, or ``score[0]``, ``score[1]``, ... None is taken as the total, because some
toolkits write costs.
"""

from __future__ import annotations

from collections.abc import Iterator

from smtformats.candidates import Candidates, Layout
from smtformats.files import HEAD_BYTES, Lines
from smtformats.format import Format, first_lines
from smtformats.nbest.cdec import feature_field
from smtformats.nbest.shared.fields import Grouper, split_line
from smtformats.tokens import BadField, Layouts, blanks, is_id, is_number, numbers, vector

NAME = "plain-nbest"
_SHAPE = "`id ||| text [||| features]`"


def parse(lines: Lines) -> Iterator[Candidates]:
    """Parse one list at a time."""
    layouts = Layouts()
    group = Grouper(lines, NAME)
    for line in lines:
        key, fields = split_line(line)
        if not 1 <= len(fields) <= 2:
            raise lines.error(f"2 or 3 fields, {_SHAPE}", str(len(fields) + 1), 4 if fields else 1)
        if done := group.place(key):
            yield from done
        try:
            layout, values = _features(fields[1], layouts) if len(fields) == 2 else ((), [])
        except BadField as bad:
            raise lines.locate(bad, 3) from None
        group.add(fields[0].rstrip("\r\n").strip(" "), layout, values, None, line)
    yield from group.finish()


def _features(text: str, layouts: Layouts) -> tuple[Layout, list[float]]:
    """Parse bare numbers followed by ``name=value`` items."""
    items = blanks(text)
    bare = next((i for i, item in enumerate(items) if "=" in item), len(items))
    if not bare:
        return feature_field(text, layouts)
    values = numbers(items[:bare], what="a finite number or name=value")
    layout, rest = feature_field(" ".join(items[bare:]), layouts)
    return layouts.share(vector("score", bare) + layout), values + rest


def matches(head: bytes) -> bool:
    """Match lines with ascending ids and a text; all or none have a third field of numbers or ``name=value``."""
    if len(head) >= HEAD_BYTES // 2 and b"\n" not in head:
        return False  # the head does not show the whole line
    rows = [split_line(line) for line in first_lines(head)]
    ids = [int(key) for key, _ in rows if is_id(key)]
    if not rows or len(ids) < len(rows) or ids != sorted(ids) or len({len(fields) for _, fields in rows}) != 1:
        return False
    return all(1 <= len(fields) <= 2 and all(map(_fits, fields[1:])) for _, fields in rows)


def _fits(field: str) -> bool:
    return all(is_number(item.rpartition("=")[2]) for item in blanks(field))


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="list without totals: id ||| text [||| name=value ... or numbers]",
    matches=matches,
    parse=parse,
    ordered=True,
    example="0 ||| a house ||| lm=-3.5 tm=-1\n",
)
