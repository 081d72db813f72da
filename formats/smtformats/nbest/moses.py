"""Moses n-best lists: phrase-based or chart, labelled or not, also with old ``d:`` labels or LMBR's ``map:``.

    0 ||| a man with a hat  ||| LM0= -37.1 TranslationModel0= -7.8 -9.5 ||| -103.1 [||| 0-3=0-3 4=4] [||| 0-0 1-1 ]

A label with several values gives the features ``Name[0]``, ``Name[1]``, ...; values before any label are ``F[0]``,
``F[1]``, ... Fields after the total are recognized by shape: segmentation, word alignment, tree, chosen input words.
Positions are kept as written: in alignments of the chart decoder ``<s>`` is 0 and the first word 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, BinaryIO

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
from smtformats.tokens import BadField, Layouts, blanks, is_number, numbers, total_of

NAME = "moses-nbest"
UNLABELLED = "F"
_VIEWER = re.compile(r" \([^ ]+\{-?\d+-\d+\} ", re.ASCII)  # cdec's -J, trees in lines that look like lists
_UNLABELLED = (f"{UNLABELLED}[0]", f"{UNLABELLED}[1]")
_SEGMENTATION = re.compile(r"\d+(-\d+)?=\d+(-\d+)?( \d+(-\d+)?=\d+(-\d+)?)* ?", re.ASCII)
_ALIGNMENT = re.compile(r"(\d+-\d+ )*(\d+-\d+)? ?", re.ASCII)
_EXTRAS = ("segmentation", "alignment", "tree", "input")


class FeatureField:
    """Parse ``Name= v v Name2= v``; the positions of labels and numbers are cached from line to line."""

    def __init__(self) -> None:
        self._layouts = Layouts()
        self._size = -1
        self._labels: Callable[[Any], Any] = tuple
        self._numbers: Callable[[Any], Any] = tuple
        self._expected: tuple[str, ...] = ()
        self._layout: Layout = ()

    def __call__(self, text: str) -> tuple[Layout, list[float]]:
        tokens = blanks(text)
        if len(tokens) == self._size and self._labels(tokens) == self._expected:
            try:
                return self._layout, numbers(self._numbers(tokens))
            except BadField:
                pass  # a label stands where the cached line had a number: parse without the cache
        return self._careful(tokens)

    def _careful(self, tokens: list[str]) -> tuple[Layout, list[float]]:
        at = [i for i, token in enumerate(tokens) if len(token) > 1 and token[-1] in "=:"]
        names: list[str] = []
        if at[:1] != [0]:
            names += [f"{UNLABELLED}[{k}]" for k in range(at[0] if at else len(tokens))]
        for i, following in zip(at, [*at[1:], len(tokens)], strict=False):
            label, count = tokens[i][:-1], following - i - 1
            if not count:
                raise BadField("a number after the label", f"{quote(tokens[i])} alone")
            names += [label] if count == 1 else [f"{label}[{k}]" for k in range(count)]
        labels = set(at)
        number_at = [i for i in range(len(tokens)) if i not in labels]
        values = numbers([tokens[i] for i in number_at])
        layout = self._layouts.share(tuple(names))
        if len(at) > 1 and len(number_at) > 1:
            self._size = len(tokens)
            self._labels, self._numbers = itemgetter(*at), itemgetter(*number_at)
            self._expected = tuple(tokens[i] for i in at)
            self._layout = layout
        return layout, values


def parse(lines: Lines) -> Iterator[Candidates]:
    """Parse one list at a time."""
    return _lists(lines, Grouper(lines, NAME))


def _lists(lines: Lines, group: Grouper) -> Iterator[Candidates]:
    feature_field = FeatureField()
    for line in lines:
        key, fields = split_line(line)
        if len(fields) < 3:
            at = len(fields) + bool(fields)
            missing = ("the id", "the text", "the features", "the total score")[at]
            raise lines.error(f"`id ||| text ||| features ||| total`: {missing}", "the end of the line", at + 1)
        if done := group.place(key):
            yield from done
        field = 3
        try:
            layout, values = feature_field(fields[1])
            field = 4
            total = total_of(fields[2])
        except BadField as bad:
            raise lines.locate(bad, field) from None
        place = len(key) + BARS + len(fields[0]) + len(fields[1])
        extras = _extras(fields[3:]) if len(fields) > 3 else {}
        group.add(fields[0].strip(" "), layout, values, total, line, extras, place)
    yield from group.finish()


def load(stream: BinaryIO, name: str, max_bytes: int = MAX_LINE_BYTES) -> ListColumns:
    """Load all lists as columns. The stream may be gzip-compressed."""
    return load_lists(stream, name, max_bytes, "moses", NAME, lambda lines, group, before: _lists(lines, group))


def _extras(fields: list[str]) -> dict[str, str]:
    """Name the fields after the total by their shape."""
    extras: dict[str, str] = {}
    for text in fields:
        body = text.rstrip("\n")
        if _SEGMENTATION.fullmatch(body):
            name = "segmentation"
        elif _ALIGNMENT.fullmatch(body):
            name = "alignment"
        else:
            name = "tree" if body.startswith("[") else "input"
        extras[name] = extras.get(name) or body.strip(" ")
    return extras


def vectors(layout: Layout) -> Iterator[tuple[str, int, int]]:
    """The label of each group of names with its first and last-plus-one index: ``Name`` for ``Name[0] Name[1] ...``."""
    first = 0
    while first < len(layout):
        label, last = layout[first], first + 1
        if label.endswith("[0]"):
            stem = label[:-3]
            while last < len(layout) and layout[last] == f"{stem}[{last - first}]":
                last += 1
            label = stem if last - first > 1 else label
        yield label, first, last
        first = last


def spell_labelled(layout: Layout, values: Sequence[float], number: Number, mark: str = "=") -> str:
    """Spell features as Moses does: the components of a vector feature follow one label."""
    parts: list[str] = []
    for label, first, last in vectors(layout):
        if blanks(label) != [label]:
            raise BadField("a feature name without blanks", quote(label))
        parts.append(label + mark)
        parts += map(number, values[first:last])
    return " ".join(parts)


def _append(body: str, layout: Layout, values: Sequence[float], number: Number) -> str:
    old_style = ": " in body and "= " not in body
    return add_items(body, spell_labelled(layout, values, number, ":" if old_style else "="))


def _compose(nbest: Candidates, i: int, number: Number) -> str:
    features = spell_labelled(nbest.layouts[i], nbest.values[i], number)
    if nbest.layouts[i][:2] == _UNLABELLED:
        features = features.removeprefix(f"{UNLABELLED}= ")
    fields = [nbest.id, compose_text(nbest, i) + " ", features, compose_total(nbest, i, number)]
    # Moses ends only the alignment field with a blank.
    fields += [nbest.extras[name][i] + (" " if name == "alignment" else "") for name in _EXTRAS if name in nbest.extras]
    return BAR.join(fields) + "\n"


write = Dialect(NAME, _compose, _append).write


def matches(head: bytes) -> bool:
    """Match a third field that begins with a label (``=`` or ``:`` at its end), or bare numbers before a total."""
    shape = first_shape(head)
    if shape is None or not shape.items or OTHERS.match(shape.items[0]) or _VIEWER.match(shape.fields[0]):
        return False
    if shape.items[0][-1] in "=:":
        return True
    if not all(is_number(item) or item[-1] in "=:" for item in shape.items):
        return False
    total = shape.fields[2].strip().replace("inf", "0") if len(shape.fields) > 2 else ""
    return not shape.whole or is_number(total)


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary="Moses n-best list: id ||| text ||| Name= v v ||| total [||| segmentation] [||| alignment]",
    matches=matches,
    parse=parse,
    ordered=True,
    write=write,
    load=load,
    carries=frozenset(_EXTRAS),
    example="0 ||| a house  ||| LM0= -3 TM0= -1 -2 ||| -6 ||| 0-0 1-1 \n",
)
