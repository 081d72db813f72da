r"""JSON lines with an n-best list on each line, cut into spans so that unchanged text is written back byte for byte.

A line is cut into elements (the JSON text of hypothesis i, in one array or in several parallel arrays) and the frame
around them. Both keep their text unless they change. Elements, and pieces of the frame, are joined by NUL, which JSON
text cannot contain, and each element keeps the comma after it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from smtformats.candidates import Candidates
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Number
from smtformats.nbest.shared.json_drafts import KEYS, SOURCES, Failed, check_error, check_number
from smtformats.nbest.shared.spans import Array, Member, clean, id_text, members, plain, replace_members, string
from smtformats.records import dataclass
from smtformats.tokens import BadField, is_id, normal_id
from smtformats.writing import write_each

LISTS = ("hypotheses", "candidates", "outputs", "nbest", "translations")
SENTENCE_ID = "sentence_id"
_CUT = "\0"
_SHOWN = 8
_AFTER = " \t\r\n,"
_ARRAY = re.compile(rf'"({"|".join(LISTS)})"[ \t]*:[ \t]*\[[ \t]*(.?)')
_SCORES = re.compile(r'"scores"[ \t]*:[ \t]*\[')

Hypotheses = Callable[[Candidates, dict[str, Member]], Sequence[str]]


def lists_of(
    lines: Lines,
    origin: str,
    arrays: Container[str],
    fill: Hypotheses,
    *,
    first: int = 0,
    skip: bool = False,
    read: Callable[[str], Candidates | None] = lambda line: None,
) -> Iterator[Candidates]:
    """Parse one list at a time; ``fill`` adds the hypotheses to a list and returns the names of their arrays.

    A line without hypotheses is kept before the next list, or after the last. ``first`` is the ``sentence_id`` of the
    first sentence, which gets the id 0. ``skip`` leaves out lines without an answer. ``read`` gets a line and returns
    its list, with an empty id if it has none, or None to leave the line to this parser.
    """
    current: Candidates | None = None
    front = ""
    known: dict[str, int] = {}
    sentence = count = 0
    named: bool | None = None
    for line in lines:
        nbest = read(line)
        if nbest is None and not line.strip(" \t\r\n"):
            front += line
            continue
        try:
            if nbest is None:
                nbest = _parsed(line, origin, arrays, fill, first, sentence)
            check_ranks(nbest)
            if nbest.texts:
                named = check_named(nbest.id, named)
            nbest.id = nbest.id or str(sentence)
            nbest.file, nbest.line, nbest.first = lines.name, lines.number, count
            before = known.setdefault(normal_id(nbest.id), lines.number) if nbest.texts else lines.number
            if before != lines.number:
                raise BadField("each id once", f"{quote(nbest.id)} again (first at {lines.name}:{before})")
        except BadField as bad:
            if skip and isinstance(bad, Failed):
                sentence += 1
                continue
            raise lines.locate(bad, 1) from None
        sentence += 1
        if not nbest.texts:
            front += line
            continue
        nbest.before, front = front + nbest.before, ""
        count += len(nbest)
        if current is not None:
            yield current
        current = nbest
    if current is None:
        raise lines.error("an n-best list", "no hypothesis in the file", 1, line=1)
    current.after = front
    yield current


def array_of(fields: Mapping[str, Member]) -> str | None:
    """The name of the array that holds the hypotheses, or None; two such arrays are an error."""
    named = [name for name in LISTS if name in fields and isinstance(fields[name].value, Array)]
    if len(named) > 1:
        text = ".*" if isinstance(next(iter(fields[named[0]].value.values), None), str) else ".*.text"
        expected = f"one array of hypotheses (--from jsonl-nbest,text={named[0]}{text} reads those of one)"
        raise BadField(expected, " and ".join(named), fields[named[1]].field)
    return named[0] if named else None


def check_named(key: str | None, named: bool | None) -> bool:
    """Whether a list has an id, as those before do (``named``) or do not: the number of one might be another's id."""
    if named is not None and named != bool(key):
        raise BadField("an id for each list or for none", quote(key) if key else "none")
    return bool(key)


def check_ranks(nbest: Candidates) -> None:
    """Refuse hypotheses without totals that are not in the order of their ranks: the first would be the best."""
    if nbest.totals is not None or "rank" not in nbest.extras:
        return
    ranks = [int(rank) for rank in nbest.extras["rank"] if is_id(rank)]
    if ranks != sorted(ranks):
        raise BadField("totals, or hypotheses in the order of their ranks", ", ".join(map(str, ranks[:_SHOWN])))


def _parsed(line: str, origin: str, arrays: Container[str], fill: Hypotheses, first: int, sentence: int) -> Candidates:
    """The list on a line, without its place in the file."""
    fields = members(line, arrays)
    key = next((name for name in KEYS if name in fields and fields[name].value is not None), None)
    number = "" if key is None else id_of(fields[key], first if key == SENTENCE_ID else 0)
    nbest = Candidates(number, origin=origin)
    source = next((name for name in SOURCES if name in fields and isinstance(fields[name].value, str)), None)
    nbest.source = None if source is None else clean(fields[source].value)
    used = fill(nbest, fields)
    if nbest.texts:
        whole = {name: member.value for name, member in fields.items()}
        check_error(whole)
        if key is None:
            inside = "" if isinstance(fields[used[0]].value.values[0], str) else ".text"
            check_number(whole, sentence, f"{used[0]}.*{inside}")
    nbest.extras = {**_extras(fields, {*used, key, source}, len(nbest)), **nbest.extras}
    if nbest.texts:
        nbest.before, nbest.raw = _take_apart(line, [fields[name].value for name in used])
    return nbest


def _extras(fields: Mapping[str, Member], own: Container[str | None], count: int) -> dict[str, list[str]]:
    """The members of a line that are no part of the list, for each hypothesis."""
    return {
        name: [plain(value.values if isinstance(value := member.value, Array) else value)] * count
        for name, member in fields.items()
        if name not in own
    }


def id_of(member: Member, first: int = 0) -> str:
    """The id in a member; a whole number is counted from ``first``."""
    text = id_text(member.value, field=member.field)
    if not first or isinstance(member.value, str) or not is_id(text):
        return text
    if int(text) < first:
        expected = f"a {SENTENCE_ID} of at least {first} (use the option first=0 if they count from 0)"
        raise BadField(expected, text, member.field)
    return str(int(text) - first)


def _take_apart(line: str, arrays: list[Array]) -> tuple[str, list[str]]:
    """Cut a line into its frame and the elements of each hypothesis."""
    arrays = sorted(arrays, key=lambda elements: elements.spans[0])
    frame, at = [], 0
    columns = []
    for elements in arrays:
        frame.append(line[at : elements.spans[0][0]])
        at = elements.spans[-1][1]
        starts = [start for start, _ in elements.spans]
        columns.append([line[start:end] for start, end in zip(starts, [*starts[1:], at], strict=True)])
        for i, texts in elements.changed.items():
            columns[-1][i] = _changed(columns[-1][i], texts)
    frame.append(line[at:])
    return _CUT.join(frame), [_CUT.join(row) for row in zip(*columns, strict=True)]


def _changed(element: str, texts: Mapping[str, str]) -> str:
    """An element, with the comma after it, that has other texts."""
    body = element.rstrip(_AFTER)
    new = {name: string(text) for name, text in texts.items()}
    return (next(iter(new.values())) if body[0] == '"' else replace_members(body, new)) + element[len(body) :]


@dataclass
class Taken:
    """A line cut into frame and elements: ``columns[name]`` holds an array's elements, each with the comma after it."""

    frame: list[str]
    columns: dict[str, list[str]]

    @classmethod
    def of(cls, nbest: Candidates) -> Taken:
        """Cut the raw lines of a list."""
        frame = nbest.before.split(_CUT)
        rows = [row.split(_CUT) for row in nbest.raw or ()]
        return cls(frame, {_name(piece): [row[i] for row in rows] for i, piece in enumerate(frame[:-1])})

    def __str__(self) -> str:
        parts = [self.frame[0]]
        for elements, piece in zip(self.columns.values(), self.frame[1:], strict=True):
            parts += [*_separate(elements), piece]
        return "".join(parts)

    def change(self, name: str, elements: Iterable[str]) -> None:
        """Replace the elements of an array, keeping their commas, or add a new array after the last."""
        if name in self.columns:
            old = self.columns[name]
            self.columns[name] = [new + was[len(was.rstrip(_AFTER)) :] for new, was in zip(elements, old, strict=True)]
        else:
            self.columns[name] = list(elements)
            self.frame.insert(-1, f"], {string(name)}: [")


def _name(piece: str) -> str:
    """The name of the array that a piece of the frame opens."""
    head = piece.rstrip(" \t\r\n[").rstrip(" \t\r\n:")
    return str(json.loads(head[head.rindex('"', 0, -1) :]))


def _separate(elements: list[str]) -> Iterator[str]:
    """Put commas between elements: their own where they have one, the usual one elsewhere."""
    bodies = [element.rstrip(_AFTER) for element in elements]
    commas = [element[len(body) :] for element, body in zip(elements, bodies, strict=True)]
    usual = next((comma for comma in commas if comma), ", ")
    for i, body in enumerate(bodies):
        yield body if i == len(bodies) - 1 else body + (commas[i] or usual)


def write_json(
    lists: Iterable[Candidates],
    out: TextIO,
    number: Number,
    origin: str,
    change: Callable[[Candidates, Taken, Number], None],
    compose: Callable[[Candidates, Number], str],
) -> int:
    """Write lists: lines read by this format are copied with their changes, all others are composed anew."""

    def spell(nbest: Candidates) -> str:
        if nbest.origin.partition(" ")[0] != origin or nbest.raw is None:
            return compose(nbest, number) + "\n"
        taken = Taken.of(nbest)
        if nbest.rescored or nbest.original is not None:
            change(nbest, taken, number)
        return f"{_with_source(nbest, taken)}{nbest.after}"

    return write_each(lists, out, spell, 1)


def _with_source(nbest: Candidates, taken: Taken) -> str:
    """The line of a list, with the source that was joined to it, if it has another or none."""
    text, source = str(taken), nbest.source
    if source is None or string(source) in nbest.before or json.dumps(source) in nbest.before:
        return text
    start = taken.frame[0].rfind("\n") + 1
    line = text[start:].rstrip(" \t\r\n")
    fields = members(line)
    key = next((name for name in SOURCES if name in fields and isinstance(fields[name].value, str)), SOURCES[0])
    if key in fields and fields[key].value == source:
        return text
    return text[:start] + replace_members(line, {key: string(source)}) + text[start + len(line) :]


def compose_id(nbest: Candidates, first: int = 0) -> str:
    """Spell an id as JSON: a whole number is counted from ``first``, any other id is a string."""
    return str(int(nbest.id) + first) if is_id(nbest.id) and str(int(nbest.id)) == nbest.id else string(nbest.id)


def shape(head: bytes) -> str:
    """``rows`` for an array of hypotheses, ``columns`` for parallel arrays of texts and scores, else ``""``."""
    kind = ""
    for line in head.decode("utf-8", "ignore").split("\n"):
        if not line.strip():
            continue
        match = _ARRAY.search(line)
        if not line.lstrip().startswith("{") or match is None:
            break
        if match[2] == "{":
            return "rows"
        if match[2] in ('"', "]"):
            kind = "columns" if _SCORES.search(line) else "rows"
        if match[2] == '"':
            break
    return kind
