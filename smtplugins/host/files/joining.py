"""Sentences of several files side by side, joined by id: references, sources, systems, and lists with them.

The ids of a text are the numbers of its lines, from 0 on. Lists, JSON lines, tables and documents carry their own, and
may come in any order; those that are no numbers join only with what carries ids, too.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.files.opening import open_known

if TYPE_CHECKING:
    from smtformats import Candidates, Format, ListColumns
    from smtformats.corpus.segments import Segment
    from smtplugins.host.files.lists import ListStream
    from smtplugins.host.files.opening import Opened

System = Any
"""A path (text, or lists whose best hypotheses count), a stream of lists, a list of strings; or ``Runs``."""
Role = Literal["system", "reference", "source"]
CARRIERS = 'JSON lines {"id": "seg-0", "text": "a house"}, or a table whose columns are named id and text'
_MARKED = "moses-xml"
_DOCUMENTS = "nist-sgm"


@dataclass(frozen=True)
class Texts:
    """Sentences, ``None`` where there is none; ``numbered`` if the ids are their own and not line numbers.

    ``ids`` are those of the sentences, the numbers from 0 on if they are not given, and ``lines`` the lines of the file
    where they begin, 0 where there is none.
    """

    texts: Sequence[str | None]
    name: str
    numbered: bool
    lines: Sequence[int] = ()
    ids: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def lacks(self, i: int, other: Texts) -> str:
        """What to say if there is no sentence at a place, but another has one."""
        from smtformats.tokens import is_id

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
        """The id of a place."""
        return str(i) if self.ids is None else self.ids[i]

    def place(self, i: int) -> str:
        """The name with the line of a place, where it is known."""
        line = i + 1 if not self.numbered else self.lines[i] if i < len(self.lines) else 0
        return f"{self.name}:{line}" if line else self.name


def normal(key: str) -> str:
    """An id as it is compared: 07 is 7."""
    from smtformats.tokens import is_id

    return str(int(key)) if is_id(key) else key


class Joined:
    """Texts side by side: each place of ``streams`` belongs to one id in all of them."""

    def __init__(self, streams: Sequence[Texts]) -> None:
        from smtformats.tokens import is_id

        self.streams = list(streams)
        self._places: dict[str, int] | None = None
        numbers = [str(i) for i in range(max(map(len, streams), default=0))]
        if streams and all(one.ids is None or list(one.ids) == numbers[: len(one)] for one in streams):
            return
        # By number, or else in the order of the first.
        keys = list(dict.fromkeys(one.id(i) for one in streams for i in range(len(one))))
        other = next((key for key in keys if not is_id(key)), None)
        if other is None:
            keys.sort(key=int)
        else:
            owner = next(one for one in streams if one.ids is not None and other in one.ids)
            _refuse_text(streams, other, owner.place(list(owner.ids or ()).index(other)))
        self._places = {key: at for at, key in enumerate(keys)}
        if streams:
            self.streams = [self._aligned(one, keys) for one in streams]

    def _aligned(self, one: Texts, keys: Sequence[str]) -> Texts:
        assert self._places is not None
        texts: list[str | None] = [None] * len(keys)
        lines = [0] * len(keys)
        for i, text in enumerate(one.texts):
            at = self._places[one.id(i)]
            texts[at] = text
            lines[at] = one.lines[i] if i < len(one.lines) else 0
        return replace(one, texts=texts, lines=lines, ids=keys)

    def find(self, key: str) -> int | None:
        """The place of an id, if there is one."""
        from smtformats.tokens import is_id

        if self._places is not None:
            return self._places.get(normal(key))
        return int(key) if is_id(key) and int(key) < max(map(len, self.streams)) else None

    def place(self, key: str, where: str) -> int:
        """The place of a list's id; that some text has no sentence there is an error."""
        if self._places is not None and not self.streams:
            return self._places.setdefault(normal(key), len(self._places))
        at = self.find(key)
        for one in self.streams:
            if at is None or at >= len(one) or one.texts[at] is None:
                _refuse_text(self.streams, key, where)
                if one.numbered:
                    raise SmtError(f"{where}: expected an id of {one.name}, found {key!r}")
                count = sum(text is not None for text in one.texts)
                expected = f"an id below {count}, as {one.name} has {count} lines (the first is id 0)"
                raise SmtError(f"{where}: expected {expected}, found {key!r}")
        assert at is not None
        return at

    def check_complete(self, name: str, places: Collection[int], doing: str) -> None:
        """Every sentence of the first text needs a list; ``doing`` says what is done of those that are there."""
        if not self.streams:
            return
        first = self.streams[0]
        for at, text in enumerate(first.texts):
            if text is not None and at not in places:
                where = f" ({first.place(at)})" if first.numbered else f", line {at + 1} of {first.name}"
                raise SmtError(
                    f"{name}: expected a list for id {first.id(at)}{where}, found none; --allow-partial {doing}"
                )


def _refuse_text(streams: Iterable[Texts], key: str, where: str) -> None:
    """A text has no other ids than its line numbers."""
    from smtformats.tokens import is_id

    plain = next((one for one in streams if not one.numbered), None)
    if plain is not None and not is_id(key):
        raise SmtError(
            f"{where}: expected line numbers of {plain.name} as ids, found {key!r}: a text has no other ids; "
            f"give one that carries them ({CARRIERS})"
        )


def placed(lists: Iterable[tuple[str, str]], joined: Joined) -> list[int]:
    """The place of each list, given by its id and where it stands; an id that comes twice is an error."""
    seen: dict[int, str] = {}
    found: list[int] = []
    for key, where in lists:
        at = joined.place(key, where)
        before = seen.setdefault(at, where)
        if len(seen) == len(found):
            raise SmtError(f"{where}: expected each id once, found {key} again, that of {before}")
        found.append(at)
    return found


def where_of(one: Candidates, name: str) -> str:
    """Where a list stands."""
    return f"{one.file}:{one.line}" if one.file else name


def wheres(lists: ListColumns, name: str) -> list[tuple[str, str]]:
    """The id of each list and where it stands."""
    lines = lists.lines.tolist()
    return [(key, f"{lists.file}:{line}" if lists.file else name) for key, line in zip(lists.ids, lines, strict=True)]


def by_line(streams: Sequence[Texts]) -> list[Texts]:
    """References for sentences that are numbered: the id of a sentence is its place."""
    joined = Joined(streams).streams
    for i in range(max(map(len, joined), default=0)):
        there = [one for one in joined if i < len(one) and one.texts[i] is not None]
        lacking = next((one for one in joined if i >= len(one) or one.texts[i] is None), None)
        if there[0].id(i) != str(i):
            where, found = there[0].place(i), there[0].id(i)
            raise SmtError(f"{where}: expected ids that are the numbers from 0 on, found {found!r} in place of {i}")
        if lacking is not None:
            raise SmtError(lacking.lacks(i, there[0]))
    return joined


def references_of(refs: Iterable[System], formats: Iterable[Format] | None = None) -> list[Texts]:
    """All references; a file may hold several of each sentence."""
    known = None if formats is None else list(formats)
    return [one for ref in refs for one in _read(ref, known, "reference")]


def texts_of(system: System, formats: Iterable[Format] | None = None, role: Role = "system") -> Texts:
    """The translations of a system, or sources, by id."""
    (found,) = _read(system, formats, role)
    return found


def _read(system: System, formats: Iterable[Format] | None, role: Role) -> list[Texts]:
    from smtplugins.host.files.lists import ListStream

    if isinstance(system, ListStream):
        return [_by_id(system, system.name)]
    if isinstance(system, (str, os.PathLike)):
        return _of_file(os.fspath(system), formats, role)
    listed = list(system)
    if listed and not isinstance(listed[0], str):
        return [_by_id(ListStream(lambda: iter(listed), "<lists>"), "<lists>")]
    return [Texts(listed, "<texts>", False)]


def _of_file(path: str, formats: Iterable[Format] | None, role: Role) -> list[Texts]:
    from smtformats import all_formats
    from smtplugins.host.files.lists import ListStream

    if path == "-":
        raise UsageError("a system is read from a file, not from standard input")
    # Tags are words here.
    known = [one for one in (formats or all_formats()) if one.kind in ("nbest", "corpus") and one.name != _MARKED]
    opened = open_known(path, None, None, known)
    if opened.record.kind == "corpus":
        return texts_in(opened, role)
    records = opened.records()
    return [_by_id(ListStream(lambda: records, path, opened.record), path)]


def texts_in(opened: Opened, role: Role) -> list[Texts]:
    """The texts of a corpus."""
    from smtformats.files import shown_name

    listed, name = list(opened.records()), shown_name(opened.path)
    if all(isinstance(one, str) for one in listed):
        return [Texts(listed, name, False)]
    return _of_segments([one for one in listed if one.id is not None], name, role)


def _of_segments(segments: Sequence[Segment], path: str, role: Role) -> list[Texts]:
    """The texts of sentences that may be sources, references or both."""
    rows = [_texts_in(one, path, role) for one in segments]
    for one, row in zip(segments, rows, strict=True):
        if len(row) != len(rows[0]):
            raise SmtError(f"{path}:{one.line}: expected {len(rows[0])} references, as before, found {len(row)}")
    ids = [one.key if one.key is not None else str(one.id) for one in segments]
    lines = [one.line for one in segments]
    return [Texts(column, path, True, lines, ids) for column in zip(*rows, strict=True)]


def _texts_in(one: Segment, path: str, role: Role) -> tuple[str, ...]:
    from smtformats import FormatError

    if role == "source" and one.side != "reference":
        return (one.source,)
    if role == "system" and one.side == "text" and not one.references:
        return (one.source,)
    texts = one.references if one.side == "source" else (one.source, *one.references)
    if one.origin == _DOCUMENTS and len(texts) > 1:
        expected = f"one text of each segment (smt convert --from {_DOCUMENTS},sysid=NAME --to text takes one)"
        raise FormatError(expected, str(len(texts)), file=path, line=one.line)
    if role == "reference" and texts:
        return texts
    found = f"a {one.side}" + (" and references" if one.references else "")
    expected = "a text that may be a translation" if role == "system" else f"a {role}"
    raise FormatError(expected, found, file=path, line=one.line)


def _by_id(lists: ListStream, name: str) -> Texts:
    """The best hypotheses of lists."""
    best: list[str | None] = []
    ids: list[str] = []
    lines: list[int] = []
    known: dict[str, str] = {}
    for one in lists:
        line = one.line if one.file else 0
        place = f"{name}:{line}" if line else name
        key = normal(one.id)
        if key in known:
            raise SmtError(f"{place}: expected each id once, found {one.id} again, that of {known[key]}")
        known[key] = place
        if not len(one):
            raise SmtError(f"{place}: expected hypotheses in list {one.id}, found none")
        ids.append(key)
        best.append(one.texts[0 if one.totals is None else max(range(len(one)), key=one.totals.__getitem__)])
        lines.append(line)
    return Texts(best, name, True, lines, ids)
