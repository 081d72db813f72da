"""cdec k-best lists for MapReduce MIRA, ``cdec -k N --mr_mira_compat``.

    2
    0 ||| 11 ||| a man in an orange hat ||| V29yZFBlbmFsdHkAr8HLd+pED8A= ||| -14.2475
    (a blank line)

A line with N is followed by N lines: hypotheses, with the length of the source as second field, and blank lines if
there are fewer than N. The features are base64; each is a name, a NUL and eight bytes (a little-endian double). cdec
omits features with value zero.

If the number of bytes is two more than a multiple of three, cdec's encoder drops the low four bits of the last byte.
This corrupts the last value if it is between -2 and 2 (it is read as nearly zero) or beyond 131072. The lost bits are
not in the file; missing digits are read as zero bits, as in cdec's own reader. We write complete base64, which that
reader accepts.
"""

from __future__ import annotations

import binascii
import math
import re
import struct
from collections.abc import Iterator, Sequence

from smtformats.candidates import Candidates, Layout
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.nbest.shared.fields import BAR, Dialect, Grouper, compose_text, compose_total, cut_at_bars, split_line
from smtformats.tokens import BadField, Layouts, blanks, is_id, total_of

NAME = "cdec-mira-nbest"
_SHAPE = "`id ||| source length ||| text ||| features in base64 ||| score`"
_BASE64 = re.compile(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_DOUBLE = struct.Struct("<d")


def _unpack(text: str) -> bytes:
    """Decode a feature field; missing digits are read as zero bits, which can add up to two bytes."""
    if not _BASE64.fullmatch(text):
        raise BadField("features in base64", quote(text))
    return binascii.a2b_base64(text.replace("=", "A"))


def _items(data: bytes) -> Iterator[tuple[str, float, int]]:
    """The name, value and end of each feature."""
    at = 0
    while len(data) - at > 2 or any(data[at:]):
        stop = data.find(b"\0", at)
        end = stop + 1 + _DOUBLE.size
        if stop == at:
            raise BadField("a feature name", "an empty one")
        if stop < at or end > len(data):
            raise BadField("a name, a NUL and 8 bytes for each feature", f"{len(data) - at} bytes left over")
        try:
            name = data[at:stop].decode()
        except UnicodeDecodeError:
            raise BadField("a feature name in UTF-8", repr(data[at:stop][:20])) from None
        value = _DOUBLE.unpack_from(data, stop + 1)[0]
        if not math.isfinite(value):
            raise BadField("a finite number", f"{value} for {quote(name)}")
        yield name, value, end
        at = end


def feature_field(text: str, layouts: Layouts) -> tuple[Layout, list[float]]:
    """Parse features in base64."""
    items = list(_items(_unpack(text.strip(" "))))
    return layouts.share(tuple([name for name, _, _ in items])), [value for _, value, _ in items]


def parse(lines: Lines) -> Iterator[Candidates]:
    """Parse one list at a time."""
    layouts = Layouts()
    group = Grouper(lines, NAME)
    front = ""  # lines before the next list, the last of which is its size
    due = 0
    under_way: Candidates | None = None
    padded = False
    for line in lines:
        blank = not line.strip(" \t\r\n")
        if not due:
            front += line
            due = 0 if blank else _size(line, lines)
            under_way, padded = None, False
            continue
        due -= 1
        if blank:
            padded = True
            if under_way is None:
                front += line
            else:
                under_way.after += line
            continue
        key, fields = split_line(line)
        if padded:
            raise lines.error("no hypothesis after the blank lines of a list", quote(key), 1)
        if under_way is not None and under_way.id != key:
            raise lines.error(f"{due + 1} more lines of the list (by its size)", f"id {quote(key)}", 1)
        if under_way is None and group.current is not None and group.current.id == key:
            raise group.not_ascending(key)
        if len(fields) != 4:
            at = min(len(fields) + 2, 6) if fields else 1
            raise lines.error(f"5 fields, {_SHAPE}", f"{len(fields) + 1}", at)
        if done := group.place(key):
            yield from done
        nbest = _add(group, fields, layouts, lines, line)
        if under_way is None:
            under_way = nbest
            nbest.before, front = front, ""
    if due:
        raise lines.error(f"{due} more lines of the list (by its size)", "the end of the file", 1)
    for last in group.finish():
        last.after += front
        yield last


def _size(line: str, lines: Lines) -> int:
    size = line.strip(" \t\r\n")
    if not is_id(size):
        raise lines.error("the number of lines of the next list", quote(size), 1)
    return int(size)


def _add(group: Grouper, fields: Sequence[str], layouts: Layouts, lines: Lines, line: str) -> Candidates:
    """Add a hypothesis to the current list, which is returned."""
    field = 2
    try:
        length = fields[0].strip(" ")
        if not is_id(length):
            raise BadField("the length of the source (a whole number)", quote(length))
        field = 4
        layout, values = feature_field(fields[2], layouts)
        field = 5
        total = total_of(fields[3])
    except BadField as bad:
        raise lines.locate(bad, field) from None
    return group.add(fields[1].strip(" "), layout, values, total, line, {"source_length": length})


def _pack(layout: Layout, values: Sequence[float]) -> bytes:
    for name in layout:
        if not name or "\0" in name:
            raise BadField("a feature name without NUL", quote(name))
    return b"".join(name.encode() + b"\0" + _DOUBLE.pack(value) for name, value in zip(layout, values, strict=True))


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def _append(body: str, layout: Layout, values: Sequence[float], number: Number) -> str:
    data = _unpack(body.strip(" "))
    end = max((end for _, _, end in _items(data)), default=0)
    return _base64(data[:end] + _pack(layout, values))


def _compose(nbest: Candidates, i: int, number: Number) -> str:
    if "source_length" in nbest.extras:
        length = nbest.extras["source_length"][i]
    else:
        length = str(len(blanks(nbest.source or "")))
    features = _base64(_pack(nbest.layouts[i], nbest.values[i]))
    return BAR.join([nbest.id, length, compose_text(nbest, i), features, compose_total(nbest, i, number)]) + "\n"


def _frame(nbest: Candidates, own: bool) -> tuple[str, str]:
    """The size before a list and the blank lines after it; a list that got shorter has a new size and no padding."""
    if not own:
        return f"{len(nbest)}\n", ""
    *front, size = _LINES.findall(nbest.before)
    after = _LINES.findall(nbest.after)
    padding = next((i for i, line in enumerate(after) if line.strip()), len(after))
    if len(nbest) <= int(size) <= len(nbest) + padding:
        return nbest.before, nbest.after
    return "".join(front) + size.replace(size.strip(), str(len(nbest))), "".join(after[padding:])


write = Dialect(NAME, _compose, _append, lambda raw, origin: cut_at_bars(raw, 2), field=4, frame=_frame).write


def matches(head: bytes) -> bool:
    """Match a line with a number only, followed by a hypothesis with a number as second field."""
    sized = False
    for line in head.decode("utf-8", "ignore").split("\n"):
        key, fields = split_line(line)
        if fields:
            return sized and is_id(key) and len(fields) > 1 and is_id(fields[0].strip(" "))
        if line.strip():
            sized = is_id(line.strip())
            if not sized:
                return False
    return False


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="cdec k-best list of --mr_mira_compat: N, then id ||| source length ||| text ||| base64 ||| score",
    matches=matches,
    parse=parse,
    ordered=True,
    write=write,
    carries=frozenset({"source_length"}),
    example="1\n0 ||| 2 ||| a house ||| RgAAAAAAAADwPw== ||| 0\n",
)
