"""sockeye's n-best lists, a JSON object on each line with texts and scores side by side.

    {"sentence_id": 0, "translations": ["a man", "the man"], "scores": [-0.5, -0.7]}

The texts may also be named ``hypotheses``, ``candidates``, ``outputs`` or ``nbest``. A score is the total and the
feature ``score``; an array of several gives ``score[0]``, ``score[1]``, ..., the first being the total. New features
stand in an array ``features`` of objects beside the others, which then holds all features. Other members, ids and
faults: as in ``jsonl-nbest``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from smtformats.candidates import Candidates
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.nbest.spans import (
    LISTS,
    Array,
    BadMember,
    Member,
    Taken,
    added,
    array,
    clean,
    composed_id,
    finite,
    lists_of,
    named,
    shape,
    shown,
    spelled,
    string,
    write_json,
)
from smtformats.tokens import BadField, Layouts, vector

NAME = "sockeye-nbest"
_ARRAYS = (*LISTS, "scores", "features")


def parse(lines: Lines) -> Iterator[Candidates]:
    """One list at a time."""
    layouts = Layouts()

    def fill(one: Candidates, found: dict[str, Member]) -> Sequence[str]:
        key = next((name for name in reversed(LISTS) if name in found and isinstance(found[name].value, Array)), None)
        if key is None:
            raise BadField("an array named translations", "none")
        used = [key, "scores"] + ["features"] * ("features" in found)
        size = len(found[key].value.values)
        for name in used[1:]:
            what = f"an array of {size} {name}"
            if name not in found:
                raise BadField(what, "none")
            if not isinstance(found[name].value, Array):
                raise BadMember(what, shown(found[name].value), found[name].field)
            if len(found[name].value.values) != size:
                raise BadMember(what, str(len(found[name].value.values)), found[name].field)
        one.totals = []
        for i, row in enumerate(zip(*(found[name].value.values for name in used), strict=True)):
            _add(one, i, [(value, found[name].field) for value, name in zip(row, used, strict=True)], layouts)
        return used

    return lists_of(lines, NAME, _ARRAYS, fill)


def _add(one: Candidates, i: int, row: list[tuple[Any, int]], layouts: Layouts) -> None:
    """Put a hypothesis into a list: its text, its score and, if there are any, its features."""
    (text, field), (score, score_field), *more = row
    try:
        if not isinstance(text, str):
            raise BadField("a string", shown(text))
        one.texts.append(clean(text))
        field = score_field
        scores = score if isinstance(score, list) else [score]
        values = list(map(finite, scores))
        if not values:
            raise BadField("a number or an array of numbers", "[]")
        layout = vector("score", len(values))
        assert one.totals is not None
        one.totals.append(values[0])
        for features, place in more:
            field = place
            if not isinstance(features, dict):
                raise BadField("an object of numbers", shown(features))
            layout, values = tuple(map(clean, features)), list(map(finite, features.values()))
    except BadField as bad:
        raise BadMember(f"hypothesis {i + 1}: {bad.expected}", bad.found, field) from None
    one.layouts.append(layouts.share(layout))
    one.values.append(values)


def _change(one: Candidates, taken: Taken, number: Number) -> None:
    """Put new features and totals into their arrays."""
    if "features" not in taken.columns:
        # The scores were features too: from here on these have a place of their own.
        rows = zip(one.layouts, one.values, strict=True)
        taken.change("features", [named(layout, values, number) for layout, values in rows])
    elif one.original is not None:
        rest = [
            named(layout[kept:], values[kept:], number)
            for layout, values, kept in zip(one.layouts, one.values, one.original, strict=True)
        ]
        old = (element.rstrip(" \t\r\n,") for element in taken.columns["features"])
        taken.change("features", [added(written, new) for written, new in zip(old, rest, strict=True)])
    if one.rescored and one.totals is not None:
        totals = [spelled(total, number) for total in one.totals]
        taken.change("scores", [_first(*pair) for pair in zip(taken.columns["scores"], totals, strict=True)])


def _first(written: str, total: str) -> str:
    """A score with its first number exchanged."""
    written = written.rstrip(" \t\r\n,")
    if not written.startswith("["):
        return total
    start, end = array(written, 0)[0].spans[0]
    return written[:start] + total + written[end:]


def _compose(one: Candidates, number: Number) -> str:
    if one.totals is None:
        raise BadField("total scores (rescore the list with weights first)", "none")
    totals = one.totals
    parts = {"sentence_id": composed_id(one)}
    if one.source is not None:
        parts["source"] = string(one.source)
    parts["translations"] = f"[{', '.join(map(string, one.texts))}]"
    parts["scores"] = f"[{', '.join(spelled(total, number) for total in totals)}]"
    if any(layout != ("score",) for layout in one.layouts) or one.values != [[total] for total in totals]:
        rows = zip(one.layouts, one.values, strict=True)
        parts["features"] = f"[{', '.join(named(layout, values, number) for layout, values in rows)}]"
    return "{" + ", ".join(f'"{name}": {value}' for name, value in parts.items()) + "}"


def write(lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
    """Write lists as JSON lines; returns how many."""
    return write_json(lists, out, number, NAME, _change, _compose)


FORMAT = Format(
    name=NAME,
    kind="nbest",
    summary='sockeye n-best list: {"translations": [text, ...], "scores": [number, ...]} on each line',
    matches=lambda head: shape(head) == "columns",
    parse=parse,
    write=write,
    suffixes=(".jsonl",),
    example='{"translations": ["a house", "house"], "scores": [-0.5, -0.7]}\n',
)
