"""Join the sentences of several files by id: references, sources, system outputs and n-best lists.

Ids in a plain text are line numbers from 0. Lists, JSON lines, tables and documents carry their own ids and may come in
any order; non-numeric ids join only with files that carry ids too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from smtformats import Candidates, Format, FormatError, ListColumns, all_formats
from smtformats.corpus.segments import Segment
from smtformats.errors import quote
from smtformats.files import shown_name
from smtformats.records import dataclass
from smtformats.tokens import is_id, normal_id
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.host.arguments import argument
from smtplugins.host.files.lists import ListStream, best_at, stream_of_opened
from smtplugins.host.files.opening import Opened, open_known
from smtplugins.host.pooling.origins import systems_of

System = Any
"""A path (text, or lists of which the best hypotheses are used), a stream of lists, a list of strings; or ``Runs``."""
Role = Literal["system", "reference", "source"]
CARRIERS = 'JSON lines {"id": "seg-0", "text": "a house"}, or a table whose columns are named id and text'
_MARKED = "moses-xml"
_ANSWERS = "jsonl-nbest"
_DOCUMENTS = "nist-sgm"
_REFERENCE = "reference"
_FIRST = -2
_NAMED = re.compile(r"\((?!smt convert)[^()]*--from[^()]*\)")


@dataclass(frozen=True)
class Texts:
    """Sentences with their ids, ``None`` where a sentence is missing.

    ``numbered`` means that the file carries ids; otherwise they are line numbers. ``ids`` default to 0, 1, ...
    ``lines`` are the lines of the file where the sentences begin, 0 if missing. ``origins`` names the systems of a
    pool that each text comes from.
    """

    texts: Sequence[str | None]
    name: str
    numbered: bool
    lines: Sequence[int] = ()
    ids: Sequence[str] | None = None
    origins: Sequence[str | None] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def lacks(self, i: int, other: Texts) -> str:
        """The error text for a sentence that is missing here but present in ``other``."""
        if not is_id(other.id(i)):
            return f"{self.name}: expected id {other.id(i)} ({other.place(i)}), found none"
        wanted = f"id {other.id(i)}" + ("" if other.numbered else f" (line {i + 1} of {other.name})")
        if not self.numbered:
            end = sum(text is not None for text in self.texts) + 1
            return f"{self.name}:{end}: expected a sentence for {wanted}, found the end"
        after = next((at for at in range(i + 1, len(self)) if self.texts[at] is not None), None)
        if after is not None:
            return f"{self.place(after)}: expected {wanted}, found id {self.id(after)}"
        last = max((at for at in range(len(self)) if self.texts[at] is not None), default=0)
        return f"{self.place(last)}: expected {wanted} after this list, found the end"

    def id(self, i: int) -> str:
        """The id at a position."""
        return str(i) if self.ids is None else self.ids[i]

    def place(self, i: int) -> str:
        """``name:line`` of a position, or the name alone if the line is unknown."""
        line = i + 1 if not self.numbered else self.lines[i] if i < len(self.lines) else 0
        return f"{self.name}:{line}" if line else self.name


class Joined:
    """Texts aligned by id: position i of every text in ``streams`` has the same id."""

    def __init__(self, streams: Sequence[Texts]) -> None:
        self.streams = list(streams)
        self._places: dict[str, int] | None = None
        numbers = [str(i) for i in range(max(map(len, streams), default=0))]
        if streams and all(stream.ids is None or list(stream.ids) == numbers[: len(stream)] for stream in streams):
            return
        # Sort ids by number, or keep the order in which they first occur.
        keys = list(dict.fromkeys(stream.id(i) for stream in streams for i in range(len(stream))))
        other = next((key for key in keys if not is_id(key)), None)
        if other is None:
            keys.sort(key=int)
        else:
            owner = next(stream for stream in streams if stream.ids is not None and other in stream.ids)
            _refuse_text(streams, other, owner.place(list(owner.ids or ()).index(other)))
        self._places = {key: at for at, key in enumerate(keys)}
        if streams:
            self.streams = [self._aligned(stream, keys) for stream in streams]

    def _aligned(self, stream: Texts, keys: Sequence[str]) -> Texts:
        assert self._places is not None
        texts: list[str | None] = [None] * len(keys)
        lines = [0] * len(keys)
        origins: list[str | None] | None = None if stream.origins is None else [None] * len(keys)
        for i, text in enumerate(stream.texts):
            at = self._places[stream.id(i)]
            texts[at] = text
            lines[at] = stream.lines[i] if i < len(stream.lines) else 0
            if origins is not None and stream.origins is not None:
                origins[at] = stream.origins[i]
        return replace(stream, texts=texts, lines=lines, ids=keys, origins=origins)

    def find(self, key: str) -> int | None:
        """The position of an id, or None."""
        if self._places is not None:
            return self._places.get(normal_id(key))
        return int(key) if is_id(key) and int(key) < max(map(len, self.streams)) else None

    def place(self, key: str, where: str) -> int:
        """The position of a list's id; raises SmtError if any text has no sentence there."""
        if self._places is not None and not self.streams:
            return self._places.setdefault(normal_id(key), len(self._places))
        at = self.find(key)
        for stream in self.streams:
            if at is None or at >= len(stream) or stream.texts[at] is None:
                _refuse_text(self.streams, key, where)
                if stream.numbered:
                    raise SmtError(f"{where}: expected an id of {stream.name}, found {key!r}")
                count = sum(text is not None for text in stream.texts)
                expected = f"an id below {count}, as {stream.name} has {count} lines (the first is id 0)"
                raise SmtError(f"{where}: expected {expected}, found {key!r}")
        assert at is not None
        return at

    def check_complete(self, name: str, places: Collection[int], doing: str) -> None:
        """Raise SmtError if a sentence of the first text has no list; ``doing``: what ``allow_partial`` would do."""
        if not self.streams:
            return
        first = self.streams[0]
        for at, text in enumerate(first.texts):
            if text is not None and at not in places:
                where = f" ({first.place(at)})" if first.numbered else f", line {at + 1} of {first.name}"
                raise SmtError(
                    f"{name}: expected a list for id {first.id(at)}{where}, found none; "
                    f"{argument('allow_partial=True')} {doing}"
                )


def _refuse_text(streams: Iterable[Texts], key: str, where: str) -> None:
    """Raise SmtError if a non-numeric id meets a plain text, whose ids are line numbers."""
    plain = next((stream for stream in streams if not stream.numbered), None)
    if plain is not None and not is_id(key):
        raise SmtError(
            f"{where}: expected line numbers of {plain.name} as ids, found {key!r}: a text has no other ids; "
            f"use a file that carries ids ({CARRIERS})"
        )


def find_places(lists: Iterable[tuple[str, str]], joined: Joined) -> list[int]:
    """The position of each list in ``joined``. Lists are (id, file position); a duplicate id raises SmtError."""
    seen: dict[int, str] = {}
    places: list[int] = []
    for key, where in lists:
        at = joined.place(key, where)
        before = seen.setdefault(at, where)
        if len(seen) == len(places):
            raise SmtError(f"{where}: expected each id once, found {key} again (first at {before})")
        places.append(at)
    return places


def where_of(nbest: Candidates, name: str) -> str:
    """``file:line`` of a list, or ``name`` if its file is unknown."""
    return f"{nbest.file}:{nbest.line}" if nbest.file else name


def file_positions(lists: ListColumns, name: str) -> list[tuple[str, str]]:
    """The id and file position of each list."""
    lines = lists.lines.tolist()
    return [(key, f"{lists.file}:{line}" if lists.file else name) for key, line in zip(lists.ids, lines, strict=True)]


def by_line(streams: Sequence[Texts]) -> list[Texts]:
    """Join references whose ids must be the numbers from 0, so that the id of a sentence is its position."""
    joined = Joined(streams).streams
    for i in range(max(map(len, joined), default=0)):
        there = [text for text in joined if i < len(text) and text.texts[i] is not None]
        lacking = next((text for text in joined if i >= len(text) or text.texts[i] is None), None)
        if there[0].id(i) != str(i):
            where, id_found = there[0].place(i), there[0].id(i)
            raise SmtError(f"{where}: expected ids that are the numbers from 0 on, found {id_found!r} in place of {i}")
        if lacking is not None:
            raise SmtError(lacking.lacks(i, there[0]))
    return joined


def references_of(refs: Iterable[System], formats: Iterable[Format] | None = None) -> list[Texts]:
    """Read all references; a file may hold several per sentence."""
    known = None if formats is None else list(formats)
    return [texts for ref in refs for texts in _read(ref, known, "reference")]


def texts_of(
    system: System,
    formats: Iterable[Format] | None = None,
    role: Role = "system",
    *,
    format: str | None = None,
    option: str = "",
) -> Texts:
    """Read the translations of a system, or sources, with their ids.

    ``format`` is that of a file (default: detected), ``option`` the caller's option for it, if there is one.
    """
    (texts,) = _read(system, formats, role, format, option)
    return texts


def formats_by_system(systems: Collection[str], format: str | Mapping[str, str] | None) -> Mapping[str, str | None]:
    """The format of each system; ``format`` is that of all, or by name."""
    by_name = dict(format) if isinstance(format, Mapping) else dict.fromkeys(systems, format)
    for name in by_name:
        if name not in systems:
            raise UsageError(f"format of system {name!r}: expected the name of a system{suggestion(name, systems)}")
    return dict.fromkeys(systems) | by_name


def _read(
    system: System, formats: Iterable[Format] | None, role: Role, format: str | None = None, option: str = ""
) -> list[Texts]:
    if isinstance(system, ListStream):
        return [_by_id(system, system.name, role)]
    if isinstance(system, (str, os.PathLike)):
        return _of_file(os.fspath(system), formats, role, format, option)
    listed = list(system)
    if listed and not isinstance(listed[0], str):
        return [_by_id(ListStream(lambda: iter(listed), "<lists>"), "<lists>", role)]
    return [Texts(listed, "<texts>", False)]


def _check_answers(systems: Iterable[Texts], *, bared: bool) -> None:
    """Raise SmtError for a translation with a model's thoughts before it, or if all have special tokens around them.

    ``bared`` says that a format has taken care of the tokens.
    """
    from smtformats.nbest.shared.json_answers import bare, has_thoughts

    for system in systems:
        for i, text in enumerate(system.texts):
            if text and has_thoughts(text):
                options = "remove them; in JSON lines, --from jsonl-nbest,thoughts=drop leaves them out"
                raise SmtError(f"{system.place(i)}: expected a translation, found thoughts, {quote(text)} ({options})")
        texts = [text for text in system.texts if text]
        if texts and not bared and all(bare(text) != text for text in texts):
            found = f"special tokens or a code fence around each, {quote(texts[0])} (remove them)"
            raise SmtError(f"{system.place(system.texts.index(texts[0]))}: expected translations, found {found}")


def _of_file(path: str, formats: Iterable[Format] | None, role: Role, format: str | None, option: str) -> list[Texts]:
    if path == "-":
        raise UsageError("a system is read from a file, not from standard input")
    # Here tags count as words, so Moses XML is excluded.
    kinds = ("nbest", "corpus", "hypergraph") if role == "system" else ("nbest", "corpus")
    known = [fmt for fmt in (formats or all_formats()) if fmt.kind in kinds and fmt.name != _MARKED]
    if role != "system":
        # A line with a hypothesis beside its source and references is a sentence here.
        known = [replace(fmt, fallback=_FIRST) if fmt.kind == "corpus" and fmt.fallback <= 0 else fmt for fmt in known]
    try:
        opened = open_known(path, None, format, known)
    except FormatError as error:
        key = {"system": "text"}.get(role, role)
        carrier = f'(JSON lines {{"id": 0, "{key}": ".."}} hold any text)'
        remedy = error.expected.replace("--from", option) if option else _NAMED.sub(carrier, error.expected)
        raise FormatError(remedy, error.found, file=error.file, line=error.line, field=error.field) from None
    if opened.record.kind == "corpus":
        texts = texts_in(opened, role)
    else:
        derivations = 1 if opened.record.kind == "hypergraph" else None
        texts = [_by_id(stream_of_opened(opened, derivations=derivations), path, role)]
    if role == "system":
        _check_answers(texts, bared=opened.record.name == _ANSWERS)
    return texts


def texts_in(opened: Opened, role: Role, *, tabs: bool = False) -> list[Texts]:
    """Read the texts of an opened corpus; ``tabs`` may be part of them."""
    listed, name = list(opened.records()), shown_name(opened.path)
    if all(isinstance(item, str) for item in listed):
        if listed and not tabs and all("\t" in text for text in listed):
            expected = f"sentences without tabs, or a file that carries ids ({CARRIERS})"
            raise FormatError(expected, "a tab in each line", file=name, line=1)
        return [Texts(listed, name, False)]
    return _of_segments([item for item in listed if item.id is not None], name, role)


def _of_segments(segments: Sequence[Segment], path: str, role: Role) -> list[Texts]:
    """One text per column of segments, which may hold a source, references or both."""
    rows = [_texts_in(segment, path, role) for segment in segments]
    for segment, row in zip(segments, rows, strict=True):
        if len(row) != len(rows[0]):
            raise SmtError(f"{path}:{segment.line}: expected {len(rows[0])} references, as before, found {len(row)}")
    ids = [segment.key if segment.key is not None else str(segment.id) for segment in segments]
    lines = [segment.line for segment in segments]
    return [Texts(column, path, True, lines, ids) for column in zip(*rows, strict=True)]


def _texts_in(segment: Segment, path: str, role: Role) -> tuple[str, ...]:
    if role == "source" and segment.side != "reference":
        return (segment.source,)
    if role == "system" and segment.side == "text" and not segment.references:
        return (segment.source,)
    texts = segment.references if segment.side == "source" else (segment.source, *segment.references)
    if segment.origin == _DOCUMENTS and len(texts) > 1:
        expected = f"one text of each segment (smt convert --from {_DOCUMENTS},sysid=NAME --to text takes one)"
        raise FormatError(expected, str(len(texts)), file=path, line=segment.line)
    if role == "reference" and texts:
        return texts
    found = f"a {segment.side}" + (" and references" if segment.references else "")
    expected = "a text that may be a translation" if role == "system" else f"a {role}"
    raise FormatError(expected, found, file=path, line=segment.line)


def _by_id(lists: ListStream, name: str, role: Role) -> Texts:
    """The best hypotheses of lists; as references or sources, what they carry as such."""
    best: list[str | None] = []
    origins: list[str | None] = []
    ids: list[str] = []
    lines: list[int] = []
    known: dict[str, str] = {}
    sided: str | None = None
    for nbest in lists:
        line = nbest.line if nbest.file else 0
        place = f"{name}:{line}" if line else name
        key = normal_id(nbest.id)
        if key in known:
            raise SmtError(f"{place}: expected each id once, found {nbest.id} again (first at {known[key]})")
        known[key] = place
        if not len(nbest):
            raise SmtError(f"{place}: expected hypotheses in list {nbest.id}, found none")
        ids.append(key)
        at = best_at(nbest)
        side = _side(nbest, place, role)
        if (side is not None) != (sided is not None) and lines:
            raise SmtError(f"{place}: expected a {role} in each list or in none, found {'one' if side else 'none'}")
        sided = side
        best.append(nbest.texts[at] if side is None else side)
        origins.append(systems_of(nbest, at))
        lines.append(line)
    return Texts(best, name, True, lines, ids, origins if any(origins) else None)


def _side(nbest: Candidates, place: str, role: Role) -> str | None:
    """The source or reference that a list carries."""
    if role == "source":
        return nbest.source
    if role == "system" or _REFERENCE not in nbest.extras:
        return None
    texts = set(nbest.extras[_REFERENCE])
    if len(texts) > 1:
        raise SmtError(f"{place}: expected one {_REFERENCE} in list {nbest.id}, found {len(texts)}")
    return texts.pop()
