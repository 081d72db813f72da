"""The candidates of a system, from any form of it: lists, or plain texts with one candidate for each sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from smtformats import Candidates, Format, ListColumns
from smtformats.errors import first_of
from smtformats.tokens import normal_id
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.host.arguments import argument
from smtplugins.host.files.joining import Joined, Texts, file_positions, find_places, formats_by_system, texts_in
from smtplugins.host.files.lists import KINDS, ListStream, as_stream, stream_of_opened
from smtplugins.host.files.opening import Path, open_known

_NAME = re.compile(r"[^\s,=:|.\[\]]+")
_MARKED = "moses-xml"
_SHOWN = 5


@dataclass(frozen=True)
class PooledSystem:
    """A system of a pool: its lists, and where each id has its list.

    ``numbered`` means that the file carries ids; otherwise they are line numbers.
    """

    name: str
    file: str
    lists: ListColumns
    numbered: bool
    places: Mapping[str, int]

    @property
    def scored(self) -> bool:
        """Whether the system has scores: features or totals."""
        return bool(self.lists.features.names) or self.lists.totals is not None

    def place(self, k: int) -> str:
        """``file:line`` of a list."""
        return f"{self.file}:{self.lines[k]}" if self.lists.file else self.file

    @property
    def lines(self) -> Sequence[int]:
        """The line where each list begins."""
        lines: list[int] = self.lists.lines.tolist()
        return lines

    def total_is_feature(self) -> bool:
        """Whether some feature is the total of all hypotheses, so that a column of totals would repeat it."""
        totals, features = self.lists.totals, self.lists.features
        if totals is None or not len(totals):
            return False
        row = features.row(0)
        like = [name for name, value in row.items() if value == totals[0]]
        for name in like:
            chosen = features.ids == features.names.index(name)
            if chosen.sum() == len(totals) and np.array_equal(features.values[chosen], totals):
                return True
        return False


@dataclass(frozen=True)
class ForestOptions:
    """Lists of forests: their length and whether texts differ; ``weights`` by system compute totals, of lists too."""

    derivations: int | None = None
    unique: bool = False
    weights: Mapping[str, Mapping[str, float] | Path] = field(default_factory=dict)
    missing: float | None = None

    def rescored(self, name: str, lists: ListStream) -> ListStream:
        """The lists under the weights of a system, if it has any."""
        weights = self.weights.get(name)
        return lists if weights is None else lists.rescore(weights, missing=self.missing)


def pooled_systems(
    systems: Mapping[str, Any] | Iterable[Any],
    formats: Sequence[Format],
    spelled: str | Mapping[str, str] | None,
    forests: ForestOptions,
) -> list[PooledSystem]:
    """Open all systems: ``systems`` by name, or paths that name them; ``spelled``: formats of all, or by name."""
    named = dict(systems) if isinstance(systems, Mapping) else _named(systems)
    if not named:
        raise UsageError("systems: expected at least one, found none")
    for name in named:
        if not _NAME.fullmatch(name):
            raise UsageError(f"system {name!r}: expected a name without blanks and any of , . = : | [ ]")
    by_name = formats_by_system(named, spelled)
    for name in forests.weights:
        if name not in named:
            raise UsageError(f"weights of system {name!r}: expected the name of a system{suggestion(name, named)}")
    reader = _Reader(formats, forests)
    opened = [_open(name, system, reader, by_name[name]) for name, system in named.items()]
    if (forests.derivations is not None or forests.unique) and not reader.forests:
        option = argument("derivations", "-k") if forests.derivations is not None else argument("unique=True")
        raise UsageError(f"{option}: expected forests or lattices among the systems, found none")
    return opened


def _named(systems: Iterable[Any]) -> dict[str, Any]:
    """Name systems after their files: what comes before the first dot."""
    named: dict[str, Any] = {}
    for system in systems:
        path = os.fspath(system) if isinstance(system, (str, os.PathLike)) else getattr(system, "name", "")
        name = os.path.basename(path).partition(".")[0]
        if name in named or not _NAME.fullmatch(name):
            found = f"{name!r} twice" if name in named else repr(name)
            raise UsageError(f"{path}: expected a name of its own for each system, found {found}; use NAME=FILE")
        named[name] = system
    return named


def _open(name: str, system: Any, reader: _Reader, spelled: str | None) -> PooledSystem:
    if isinstance(system, (str, os.PathLike)):
        file = os.fspath(system)
        lists, numbered = reader.read(name, file, spelled)
    else:
        file, numbered = getattr(system, "name", f"<{name}>"), True
        listed = system if isinstance(system, (ListStream, Candidates)) else list(system)
        if isinstance(listed, list) and listed and all(isinstance(item, str) for item in listed):
            lists, numbered = ListColumns.from_lists(_of_texts(Texts(listed, file, False), "")), False
        else:
            lists = reader.options.rescored(name, as_stream(listed)).load()
    positions = file_positions(lists, file)
    find_places(positions, Joined([]))
    for k, (key, where) in enumerate(positions):
        if lists.offsets[k] == lists.offsets[k + 1]:
            raise SmtError(f"{where}: expected hypotheses in list {key}, found none")
    return PooledSystem(name, file, lists, numbered, {normal_id(key): k for k, key in enumerate(lists.ids)})


@dataclass
class _Reader:
    """Reads the files of systems; ``forests`` counts those whose lists are the best derivations of forests."""

    formats: Sequence[Format]
    options: ForestOptions
    forests: int = 0

    def read(self, name: str, path: str, spelled: str | None) -> tuple[ListColumns, bool]:
        """The lists of a file, and whether it carries ids."""
        if path == "-":
            raise UsageError("a system of a pool is read from a file, not from standard input")
        known = [fmt for fmt in self.formats if fmt.kind in (*KINDS, "corpus") and fmt.name != _MARKED]
        opened = open_known(path, None, spelled, known)
        if opened.record.kind == "corpus":
            with opened:
                if name in self.options.weights:
                    raise UsageError(f"weights of system {name!r}: expected lists or forests, found text in {path}")
                (texts,) = texts_in(opened, "system")
            return ListColumns.from_lists(_of_texts(texts, path)), texts.numbered
        lists: dict[str, Any] = {"known": known}
        if opened.record.kind == "hypergraph":
            self.forests += 1
            lists |= {"derivations": self.options.derivations, "unique": self.options.unique}
        return self.options.rescored(name, stream_of_opened(opened, **lists)).load(), True


def _of_texts(texts: Texts, file: str) -> Iterator[Candidates]:
    """A list of one candidate for each sentence of a text."""
    for i, text in enumerate(texts.texts):
        if text is not None:
            line = i + 1 if not texts.numbered else texts.lines[i]
            yield Candidates(texts.id(i), [text], [()], [[]], file=file, line=line, first=i)


def pool_ids(systems: Sequence[PooledSystem], allow_partial: bool) -> list[str]:
    """The ids of all systems: by number, or in the order in which they occur.

    Raises SmtError for ids that some systems lack, unless ``allow_partial``.
    """
    streams = [
        Texts(system.lists.ids, system.file, system.numbered, system.lines, tuple(map(normal_id, system.lists.ids)))
        for system in systems
    ]
    longest = max(Joined(streams).streams, key=len)
    ids = [longest.id(i) for i in range(len(longest))]
    for system in systems if not allow_partial else ():
        lacking = [key for key in ids if key not in system.places]
        if lacking:
            other = next(other for other in systems if lacking[0] in other.places)
            shown = first_of(lacking, _SHOWN)
            where = other.place(other.places[lacking[0]])
            raise SmtError(
                f"{system.file}: expected candidates of {system.name} for all ids of {other.name}, found none for "
                f"{shown} ({where}); {argument('allow_partial=True')} pools what is there"
            )
    return ids
