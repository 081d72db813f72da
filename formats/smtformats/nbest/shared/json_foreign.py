"""N-best lists from records of foreign shapes: records of one id are a list; options name what lies elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from smtformats.candidates import Candidates
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.nbest.shared.json_answers import AS_WRITTEN, Answers, prompt_of
from smtformats.nbest.shared.json_drafts import SEGMENT_KEYS, DraftList, Failed, check_error, check_number
from smtformats.nbest.shared.json_lists import check_named, check_ranks
from smtformats.nbest.shared.json_paths import ValuePath, guess, names, read_texts, set_key, set_scores, set_sides
from smtformats.nbest.shared.json_readers import SHAPES, RecordShape, is_own, nearest, shape_of
from smtformats.nbest.shared.json_values import Ahead, Spelled, Value, over_lines, values
from smtformats.nbest.shared.spans import LENIENT, decode, shown
from smtformats.tokens import BadField, Layouts, normal_id

Groups = tuple[str, Any]
Own = Callable[[Lines], Iterator[Candidates]]
"""A reader of lines with a list of the format's own shape on each."""


@dataclass(frozen=True)
class Mapped:
    """Where the parts of a list are, if not where its shape has them, and what the shape leaves open."""

    text: ValuePath | None = None
    score: ValuePath | None = None
    key: ValuePath | None = None
    source: ValuePath | None = None
    reference: ValuePath | None = None
    tokens: str | None = None
    array: Literal["list", "sentences"] | None = None
    failed: Literal["error", "skip"] = "error"
    answers: Answers = AS_WRITTEN

    def __bool__(self) -> bool:
        return any((self.text, self.score, self.key, self.source, self.reference))

    def check(self, shape: RecordShape | None, lines: Lines, line: int) -> None:
        """Refuse an option that has no effect on records of a shape, none for lists of the format's own shape."""
        title = "texts by path" if self.text is not None else "lists of our own shape" if shape is None else shape.name
        used = shape.options if shape is not None and self.text is None else ()
        for name, value in {"tokens": self.tokens, "array": self.array}.items():
            if value is not None and name not in used:
                known = [other.name for other in SHAPES if name in other.options]
                expected = f"no option {name}, which has no effect on {title} (it is for {', '.join(known)})"
                raise lines.error(expected, f"{name}={value}", 1, line)


def lists_in(lines: Lines, origin: str, wanted: Mapped, own: Own) -> Iterator[Candidates]:
    """Read a file by the shape of its first record."""
    ahead = Ahead(lines)
    one_line = ahead.first[:1] != "[" and not ahead.marked and not over_lines(ahead.first)
    if wanted.text is None and one_line and shape_of(_decoded(ahead.first)) is None:
        if wanted:
            raise ahead.error("the option text=PATH, which the other paths go with", "none", 1)
        wanted.check(None, ahead, 1)
        return own(ahead)
    return lists_of_values(values(ahead), ahead, origin, wanted, own)


def _decoded(line: str) -> Any:
    try:
        return decode(line, 0, LENIENT)[0]
    except BadField:
        return None


def lists_of_values(
    items: Iterator[Value], lines: Lines, origin: str, wanted: Mapped, own: Own
) -> Iterator[Candidates]:
    """Read the lists in values by the shape of the first."""
    if wanted.text is not None:
        wanted.check(None, lines, 1)
        return _Reading(lines, origin, None, wanted).lists(items)
    head = next(items, None)
    record = head.value if head is not None else None
    while isinstance(record, list) and record:
        record = record[0]
    items = itertools.chain([head] if head is not None else [], items)
    shape = shape_of(record)
    if shape is not None or head is None:
        if head is not None:
            wanted.check(shape, lines, head.line)
        return _Reading(lines, origin, shape, wanted).lists(items)
    if is_own(record) and not wanted:
        wanted.check(None, lines, 1)
        return _titled(own(Spelled(items, lines)))
    expected = "lists in a known shape"
    raise lines.error(expected, unknown(record), 1, head.line)


def _titled(lists: Iterator[Candidates]) -> Iterator[Candidates]:
    for nbest in lists:
        nbest.reading = nbest.reading or ("an array, or objects over several lines",)
        yield nbest


def unknown(record: Any) -> str:
    """Describe JSON that has no known shape: its names, the nearest shape, and the option that reads it."""
    if not isinstance(record, Mapping):
        what = "a JSON array of texts" if isinstance(record, (list, str)) else "JSON without objects"
        return f"{what} (--from jsonl-nbest,text=PATH reads objects with any names)"
    if record.get("error"):
        error = record["error"]
        message = error.get("message", error) if isinstance(error, Mapping) else error
        return f"an error instead of candidates, {shown(message)}"
    close = nearest(record)
    path = guess(record) or "PATH"
    like = f", nearest to {close.name}" if close is not None else ""
    return f"JSON objects with {names(record)}{like}; smt convert --from jsonl-nbest,text={path} reads texts at a path"


@dataclass
class _Pending:
    """A list that further records may belong to, with the line of its first and its number among the lists."""

    draft: DraftList
    group: Groups | None
    line: int
    number: str


class _Reading:
    """Read records and join those of one list."""

    def __init__(self, lines: Lines, origin: str, shape: RecordShape | None, wanted: Mapped) -> None:
        self._lines = lines
        self._origin = origin
        self._shape = shape
        self._wanted = wanted
        self._single = shape.single if shape is not None and wanted.text is None else not _stars(wanted.text)
        self._layouts = Layouts()
        self._known: dict[str, int] = {}
        self._first: int | None = None
        self._named: bool | None = None
        self._sentence = self._count = 0
        self._arrays: set[int | None] = set()

    def lists(self, values: Iterator[Value]) -> Iterator[Candidates]:
        """Yield the lists in the order of the file."""
        pending: _Pending | None = None
        for item in itertools.chain.from_iterable(map(self._sentences, values)):
            draft, group = self._read(item)
            if draft is None:
                continue
            if pending is not None and group is not None and pending.group == group:
                self._join(pending.draft, draft, item.line)
                continue
            if pending is not None:
                yield self._made(pending)
            pending = _Pending(draft, group, item.line, str(self._sentence))
            self._sentence += 1
        if pending is None:
            raise self._lines.error("an n-best list", "no hypothesis in the file", 1, line=1)
        self._check_alone(pending)
        yield self._made(pending)

    def _read(self, item: Value) -> tuple[DraftList | None, Groups | None]:
        """What a record holds, and the group of records that it belongs to."""
        self._first = self._first or item.line
        elements = item.value if self._holds_arrays and isinstance(item.value, list) else [item.value]
        try:
            drafts = [self._draft(element) for element in elements]
        except Failed as bad:
            if self._wanted.failed == "skip":
                self._sentence += 1
                return None, None
            raise self._lines.locate(bad, 1, item.line) from None
        except BadField as bad:
            raise self._lines.locate(bad, 1, item.line) from None
        if not drafts:
            self._sentence += 1
            return None, None
        draft = drafts[0]
        for more in drafts[1:]:
            self._join(draft, more, item.line)
        if not self._single or isinstance(item.value, list):
            return draft, None
        if draft.key is not None:
            return draft, ("id", normal_id(draft.key))
        if self._holds_arrays and item.array is not None and self._wanted.array != "sentences":
            self._arrays.add(item.array)
            return draft, ("array", item.array)
        return draft, None

    def _sentences(self, item: Value) -> Iterator[Value]:
        """Split arrays of arrays into the arrays of one sentence each."""
        if self._holds_arrays and isinstance(item.value, list) and any(isinstance(inner, list) for inner in item.value):
            for inner in item.value:
                yield from self._sentences(Value(inner, item.line, item.array))
        else:
            yield item

    @property
    def _holds_arrays(self) -> bool:
        return self._shape is not None and self._shape.arrays and self._wanted.text is None

    def _draft(self, record: Any) -> DraftList:
        wanted, shape = self._wanted, self._shape
        if wanted.text is not None:
            draft = read_texts(record, wanted.text)
            if wanted.key is None:
                set_key(draft, record)
        else:
            assert shape is not None
            other = shape_of(record)
            if other is not shape:
                raise BadField(f"{shape.name}, as on line {self._first}", _describe(record, other))
            draft = shape.read(record, wanted.tokens)
        check_error(record)
        if wanted.score is not None:
            set_scores(draft, record, wanted.score, wanted.text)
        set_sides(draft, record, wanted.key, wanted.source, wanted.reference)
        if draft.key is None and isinstance(record, Mapping) and not self._holds_arrays:
            check_number(record, self._sentence, guess(record) or "PATH")
        if isinstance(record, Mapping):
            draft.segment = {name: str(record[name]) for name in SEGMENT_KEYS if record.get(name) is not None}
        prompt = draft.prompt or prompt_of(record)
        for row in draft.rows:
            row.text = wanted.answers.of(row.text, prompt)
        return draft

    def _join(self, draft: DraftList, more: DraftList, line: int) -> None:
        """Add the hypotheses of a further record to a list."""
        for name, value in more.segment.items():
            if draft.segment.get(name, value) != value:
                expected = f"records of one sentence with the id {quote(draft.key or '')} (--from jsonl-nbest,"
                expected += f"text=PATH,id={name} takes the id from {name})"
                raise self._lines.error(expected, f"{name}={value} after {draft.segment[name]}", 1, line)
        if more.source is not None and draft.source is not None and more.source != draft.source:
            expected = f"the source of the list that it belongs to, {quote(draft.source)}"
            raise self._lines.error(expected, quote(more.source), 1, line)
        for key, value in more.shared.items():
            if draft.shared.setdefault(key, value) != value:
                raise self._lines.error(f"one {key} in a list, {quote(draft.shared[key])}", quote(value), 1, line)
        draft.source = draft.source if draft.source is not None else more.source
        draft.rows += more.rows
        draft.aside |= more.aside

    def _check_alone(self, pending: _Pending) -> None:
        """A file that is one array does not say whether its elements are sentences or the hypotheses of one."""
        size, group = len(pending.draft.rows), pending.group
        alone = group is not None and group[0] == "array" and len(self._arrays) == 1
        if alone and size > 1 and self._wanted.array is None:
            expected = (
                "an array for each sentence, or the option array=sentences (each element is a sentence) "
                "or array=list (all are hypotheses of one)"
            )
            raise self._lines.error(expected, f"one array of {size} texts", 1, pending.line)

    def _made(self, pending: _Pending) -> Candidates:
        """Make the list of a draft."""
        draft, line = pending.draft, pending.line
        try:
            self._named = check_named(draft.key, self._named)
        except BadField as bad:
            raise self._lines.locate(bad, 1, line) from None
        key = pending.number if draft.key is None else draft.key
        nbest = Candidates(key, origin=self._origin, file=self._lines.name, line=line, first=self._count)
        nbest.source = draft.source
        before = self._known.setdefault(normal_id(key), line)
        if before != line:
            single = ": only consecutive records of one id are a list" if self._single else ""
            found = f"{quote(key)} again (first at {self._lines.name}:{before})"
            filtered = draft.shared.get("filter")
            found += f", by the filter {quote(filtered)}: keep the records of one filter" if filtered else ""
            raise self._lines.error(f"each id once{single}", found, 1, line)
        totals = [row.total for row in draft.rows]
        if None in totals and any(total is not None for total in totals):
            expected = "a total score for all candidates of a list or for none"
            raise self._lines.error(expected, f"none for candidate {totals.index(None) + 1}", 1, line)
        nbest.totals = [total for total in totals if total is not None] or None
        for row in draft.rows:
            nbest.texts.append(row.text)
            nbest.layouts.append(self._layouts.share(tuple(row.features)))
            nbest.values.append(list(row.features.values()))
        columns = {name: [value] * len(draft.rows) for name, value in draft.shared.items()}
        for name in dict.fromkeys(name for row in draft.rows for name in row.extras):
            columns[name] = [row.extras.get(name, "") for row in draft.rows]
        nbest.extras = columns
        try:
            check_ranks(nbest)
        except BadField as bad:
            raise self._lines.locate(bad, 1, line) from None
        title = self._shape.name if self._shape is not None and self._wanted.text is None else "texts by path"
        nbest.reading = (title, *draft.aside)
        self._count += len(nbest)
        return nbest


def _stars(path: ValuePath | None) -> int:
    return 0 if path is None else path.stars


def _describe(record: Any, shape: RecordShape | None) -> str:
    if shape is not None:
        return f"{shape.name} (with {names(record)})"
    what = "a list of our own shape" if is_own(record) else "an object"
    return f"{what} with {names(record)}" if isinstance(record, Mapping) else names(record)
