"""Values of JSON by path: names and positions between dots, with ``*`` for every element of an array or object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from smtformats.nbest.shared.json_answers import reasons_in, set_reason
from smtformats.nbest.shared.json_drafts import (
    LIKE_KEYS,
    REFERENCES,
    SOURCES,
    DraftList,
    DraftRow,
    Failed,
    key_of,
    keys_in,
    number,
    text_of,
)
from smtformats.nbest.shared.json_lists import SENTENCE_ID
from smtformats.nbest.shared.spans import clean, shown
from smtformats.tokens import BadField

_EVERY = "*"
_SHOWN = 6
_DEEPEST = 12
_NO_TEXTS = frozenset((*LIKE_KEYS, *SOURCES, *REFERENCES)) | frozenset(
    "created_at custom_id finish_reason id index model model_version modelVersion object request_id role status "
    "stop_reason time timestamp type url".split()
)

Stars = tuple[int, ...]


class ValuePath:
    """A path; its values are told apart by the positions that its stars stand for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts = text.split(".")
        self.stars = self.parts.count(_EVERY)

    @classmethod
    def of(cls, text: str | None) -> ValuePath | None:
        """The path that a text names, if there is one."""
        return None if text is None else cls(text)

    def find(self, record: Any) -> dict[Stars, Any]:
        """The values in a record that are not null."""
        found: list[tuple[Stars, Any]] = [((), record)]
        for part in self.parts:
            found = [(stars + more, inner) for stars, value in found for more, inner in _step(value, part)]
        return {stars: value for stars, value in found if value is not None}

    def around(self, record: Any, stars: Stars) -> Iterator[Any]:
        """The reasons for the end of an answer, in the objects around the value at some positions of the stars."""
        places = iter(stars)
        for part in self.parts:
            if isinstance(record, Mapping):
                yield from reasons_in(record)
            place = next(places) if part == _EVERY else 0
            record = [inner for _, inner in _step(record, part)][place]

    def one(self, record: Any) -> Any:
        """The only value in a record, or None."""
        values = list(self.find(record).values())
        if len(values) > 1:
            raise BadField(f"one value at {self.text}", str(len(values)))
        return values[0] if values else None


def _step(value: Any, part: str) -> Iterator[tuple[Stars, Any]]:
    if part == _EVERY:
        elements = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
        yield from (((i,), element) for i, element in enumerate(elements))
    elif isinstance(value, Mapping):
        if part in value:
            yield (), value[part]
    elif isinstance(value, list) and part.isascii() and part.isdigit() and int(part[:9]) < len(value):
        yield (), value[int(part)]


def names(record: Any) -> str:
    """The names of a record's members for a message."""
    if not isinstance(record, Mapping):
        return shown(record)
    known = list(record)
    return ", ".join(known[:_SHOWN]) + (" .." if len(known) > _SHOWN else "")


def read_texts(record: Any, text: ValuePath) -> DraftList:
    """The texts at a path, one hypothesis each."""
    found = text.find(record)
    if not found:
        raise Failed(f"a text at {text.text}", f"none among {names(record)}")
    draft = DraftList(rows=[DraftRow(text_of(value, text.text)) for value in found.values()])
    for row, stars in zip(draft.rows, found, strict=True):
        set_reason(row, text.around(record, stars))
    used = text.parts[0]
    if isinstance(record, Mapping):
        draft.aside = {name: None for name in record if name != used and used != _EVERY}
    return draft


def set_scores(draft: DraftList, record: Any, score: ValuePath, text: ValuePath | None) -> None:
    """Set the totals (and features) of hypotheses from the scores at a path, matched by the stars of the texts."""
    found = score.find(record)
    places = list(text.find(record)) if text is not None else []
    if places and score.stars <= len(places[0]):
        wanted = [found.get(place[: score.stars]) for place in places]
    else:
        wanted = list(found.values())
    if len(wanted) != len(draft.rows) or None in wanted or (score.stars == 0 and len(draft.rows) > 1):
        size = len([value for value in wanted if value is not None])
        raise BadField(f"a score at {score.text} for each of {len(draft.rows)} texts", str(size))
    for row, value in zip(draft.rows, wanted, strict=True):
        if isinstance(value, Mapping):
            row.features |= {clean(name): number(each, name) for name, each in value.items()}
        else:
            row.total = row.features["score"] = number(value, score.text)


def set_sides(
    draft: DraftList, record: Any, key: ValuePath | None, source: ValuePath | None, reference: ValuePath | None
) -> None:
    """Set the id, the source and the reference from the values at paths."""
    if key is not None:
        draft.key = key_of(_needed(record, key), key.text)
    if source is not None:
        draft.source = text_of(_needed(record, source), source.text)
    if reference is not None:
        draft.shared["reference"] = text_of(_needed(record, reference), reference.text)
    for path in (key, source, reference):
        if path is not None and len(path.parts) == 1:
            draft.aside.pop(path.parts[0], None)


def set_key(draft: DraftList, record: Any) -> None:
    """Set the id of texts by path from the member that has it in other shapes (sockeye's counts from 1)."""
    for name in keys_in(record) if isinstance(record, Mapping) else ():
        if draft.key is None and name != SENTENCE_ID and record.get(name) is not None:
            draft.key = key_of(record[name], name)
            draft.aside.pop(name, None)


def _needed(record: Any, path: ValuePath) -> Any:
    value = path.one(record)
    if value is None:
        raise BadField(f"a value at {path.text}", f"none among {names(record)}")
    return value


def guess(record: Any) -> str | None:
    """A path that may hold the texts of a record: that of strings in an array, else that of the longest string."""
    found = [(path, text) for path, text in _strings(record, (), 0) if path[-1] not in _NO_TEXTS]
    several = [path for path, _ in found if _EVERY in path]
    longest = max(found, key=lambda entry: len(entry[1]), default=None)
    best = several[0] if several else longest[0] if longest is not None else None
    return ".".join(best) if best and not any("." in part or "," in part for part in best) else None


def _strings(value: Any, path: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str) and path:
        yield path, value
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        for name, inner in value.items():
            yield from _strings(inner, (*path, name), depth + 1)
    elif isinstance(value, list) and value and depth < _DEEPEST:
        yield from _strings(value[0], (*path, _EVERY), depth + 1)
