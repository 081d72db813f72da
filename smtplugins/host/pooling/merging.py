"""Merge the candidates of several systems into one list per sentence, joined by id.

A candidate keeps the scores of each system that has it, as features ``SYSTEM.NAME``; the extra ``system`` names these
systems. The total is the logarithm of the mean of the systems' probabilities of the text, ``exp(total)`` normalised
over each system's list, as in K. C. Sim et al., "Consensus Network Decoding for Statistical Machine Translation System
Combination" (2007), where the hypotheses of all systems are pooled for minimum Bayes-risk decoding.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from smtformats import Candidates
from smtformats.candidates import Layout
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.files.lists import ranking
from smtplugins.host.pooling.origins import BETWEEN, SYSTEM
from smtplugins.host.pooling.systems import PooledSystem, pool_ids

Missing = Literal["flag", "min", "0", "error"]
Scores = Literal["all", "totals"]
MISSING: tuple[str, ...] = get_args(Missing)
SCORES: tuple[str, ...] = get_args(Scores)
TOTAL, RANK, LACKING = "total", "rank", "missing"


@dataclass(frozen=True)
class PoolOptions:
    """How to pool; see :meth:`smtplugins.host.host.Host.merge`."""

    missing: Missing = "flag"
    scores: Scores = "all"
    ranks: bool = False
    dedup: bool = True
    allow_partial: bool = False

    def __post_init__(self) -> None:
        if self.missing not in MISSING:
            raise UsageError(f"missing: expected {', '.join(MISSING)}, found {self.missing!r}")
        if self.scores not in SCORES:
            raise UsageError(f"scores: expected {', '.join(SCORES)}, found {self.scores!r}")


def pooled(systems: Sequence[PooledSystem], options: PoolOptions, *, sourced: bool = False) -> Iterator[Candidates]:
    """Iterate over the pooled lists, sorted by id; ``sourced``: sources are joined later, so they are not compared."""
    columns = [_SystemColumns(system, options) for system in systems]
    count = 0
    for key in pool_ids(systems, options.allow_partial):
        pieces = [column.at(key) for column in columns]
        pool = replace(_pool(pieces, options), first=count)
        if not sourced:
            pool = replace(pool, source=_source(key, pieces))
        count += len(pool)
        yield pool


@dataclass
class _Piece:
    """What a system contributes to a sentence: its list, and columns for the candidates that it has and lacks.

    ``logs`` are its log probabilities of the candidates. ``fill`` stands for the columns of other systems' candidates.
    """

    columns: _SystemColumns
    nbest: Candidates | None
    logs: Sequence[float]
    ranks: Sequence[int]
    fill: tuple[Layout, list[float]]

    def features(self, i: int | None) -> tuple[Layout, list[float]]:
        """The columns of hypothesis i of the list, or of a candidate that it lacks."""
        if i is None or self.nbest is None:
            return self.fill
        whole = self.columns.whole
        names = self.columns.names(self.nbest.layouts[i] if whole else ())
        values = list(self.nbest.values[i]) if whole else []
        if self.columns.total and self.nbest.totals is not None:
            values.append(self.nbest.totals[i])
        if self.columns.options.ranks:
            values.append(float(self.ranks[i]))
        if self.columns.flag:
            values.append(0.0)
        return names, values


class _SystemColumns:
    """The columns of a system."""

    def __init__(self, system: PooledSystem, options: PoolOptions) -> None:
        self.system = system
        self.options = options
        self.whole = options.scores == "all"
        if not self.whole and system.scored and system.lists.totals is None:
            found = f"features alone ({argument('scores', '--scores')} all keeps them)"
            raise UsageError(f"{system.file}: expected total scores, found {found}")
        self.total = system.lists.totals is not None and not (self.whole and system.total_is_feature())
        self.flag = options.missing == "flag"
        for name in (TOTAL,) * self.total + (RANK,) * options.ranks + (LACKING,) * self.flag:
            if self.whole and name in system.lists.features.names:
                added = f"which the pool adds as {system.name}.{name}"
                raise UsageError(f"{system.file}: expected no feature {name!r}, {added}: rename it")
        self._names: dict[Layout, Layout] = {}

    def names(self, layout: Layout) -> Layout:
        """The names of columns for a hypothesis with the features of ``layout``."""
        known = self._names.get(layout)
        if known is None:
            more = (TOTAL,) * self.total + (RANK,) * self.options.ranks + (LACKING,) * self.flag
            known = self._names[layout] = tuple(f"{self.system.name}.{name}" for name in (*layout, *more))
        return known

    def at(self, key: str) -> _Piece:
        """The piece of this system for a sentence."""
        k = self.system.places.get(key)
        if k is None:
            return _Piece(self, None, (), (), self._fill(None, 0))
        nbest = self.system.lists[k]
        size = len(nbest)
        ranks = [0] * size
        order = ranking(nbest.totals) if nbest.totals is not None else range(size)
        for rank, i in enumerate(order, 1):
            ranks[i] = rank
        return _Piece(self, nbest, _log_probabilities(nbest), ranks, self._fill(nbest, size))

    def _fill(self, nbest: Candidates | None, size: int) -> tuple[Layout, list[float]]:
        """The columns of candidates that the system lacks: the smallest values of its list, unless they are to be 0."""
        layout: list[str] = []
        values: list[float] = []
        if self.options.missing in ("flag", "min") and nbest is not None:
            for name, value in _smallest(nbest).items() if self.whole else ():
                layout.append(name)
                values.append(value)
            if self.total and nbest.totals is not None:
                values.append(min(nbest.totals))
        elif self.total:
            values.append(0.0)
        if self.options.ranks:
            values.append(size + 1.0)
        if self.flag:
            values.append(1.0)
        return self.names(tuple(layout)), values


def _smallest(nbest: Candidates) -> dict[str, float]:
    """The smallest value of each feature in a list; features that a hypothesis lacks are 0."""
    smallest: dict[str, float] = {}
    counts: dict[str, int] = {}
    for layout, values in zip(nbest.layouts, nbest.values, strict=True):
        for name, value in zip(layout, values, strict=True):
            smallest[name] = min(smallest.get(name, value), value)
            counts[name] = counts.get(name, 0) + 1
    return {name: value if counts[name] == len(nbest) else min(value, 0.0) for name, value in smallest.items()}


def _log_probabilities(nbest: Candidates) -> list[float]:
    """The log posterior probabilities of hypotheses; without totals, all are equal."""
    totals = nbest.totals if nbest.totals is not None else [0.0] * len(nbest)
    bad = next((total for total in totals if not math.isfinite(total)), None)
    if bad is not None:
        raise SmtError(
            f"{nbest.file or '<lists>'}:{nbest.line}: expected finite totals of list {nbest.id}, found {bad}"
        )
    whole = _log_sum(totals)
    return [total - whole for total in totals]


def _log_sum(values: Sequence[float]) -> float:
    top = max(values)
    return top + math.log(math.fsum(math.exp(value - top) for value in values))


def _pool(pieces: Sequence[_Piece], options: PoolOptions) -> Candidates:
    """The pooled list of a sentence, the highest total first."""
    rows = _rows(pieces, options.dedup)
    there = sum(piece.nbest is not None for piece in pieces)
    first = next(piece.nbest for piece in pieces if piece.nbest is not None)
    totals: list[float] = []
    layouts: list[Layout] = []
    values: list[list[float]] = []
    shared: dict[Layout, Layout] = {}
    for row in rows:
        columns = [piece.features(at[0] if at else None) for piece, at in zip(pieces, row.at, strict=True)]
        layout = tuple(name for names, _ in columns for name in names)
        layouts.append(shared.setdefault(layout, layout))
        values.append([value for _, some in columns for value in some])
        logs = [piece.logs[i] for piece, at in zip(pieces, row.at, strict=True) for i in at]
        totals.append(_log_sum(logs) - math.log(there))
        if options.missing == "error":
            _check_scored(row, pieces)
    annotations: dict[str, str] = {}
    for piece in reversed(pieces):
        annotations |= piece.nbest.annotations if piece.nbest is not None else {}
    pool = Candidates(
        first.id,
        [row.text for row in rows],
        layouts,
        values,
        totals,
        _extras(rows, pieces),
        annotations=annotations,
    )
    return pool.select(ranking(totals))


@dataclass(frozen=True)
class _Row:
    """A candidate, and for each system its hypotheses with this text, the one of highest total first."""

    text: str
    at: Sequence[Sequence[int]]


def _rows(pieces: Sequence[_Piece], dedup: bool) -> list[_Row]:
    if not dedup:
        return [
            _Row(text, [[i] if other is piece else [] for other in pieces])
            for piece in pieces
            if piece.nbest is not None
            for i, text in enumerate(piece.nbest.texts)
        ]
    groups: dict[str, list[list[int]]] = {}
    for s, piece in enumerate(pieces):
        if piece.nbest is not None:
            for i in sorted(range(len(piece.nbest)), key=piece.ranks.__getitem__):
                groups.setdefault(piece.nbest.texts[i], [[] for _ in pieces])[s].append(i)
    return [_Row(text, at) for text, at in groups.items()]


def _check_scored(row: _Row, pieces: Sequence[_Piece]) -> None:
    for piece, at in zip(pieces, row.at, strict=True):
        if at or not piece.columns.system.scored:
            continue
        has, i = next((other, there[0]) for other, there in zip(pieces, row.at, strict=True) if there)
        assert has.nbest is not None
        system = has.columns.system
        raise SmtError(
            f"{system.file}:{has.nbest.line}: expected scores of {piece.columns.system.name} for all candidates, found "
            f"none for hypothesis {i + 1} of list {has.nbest.id} ({argument('missing=...')} says what stands for them)"
        )


def _extras(rows: Sequence[_Row], pieces: Sequence[_Piece]) -> dict[str, list[str]]:
    """The systems of each candidate, and the extra fields of each system's hypotheses as ``SYSTEM.NAME``."""
    names = [piece.columns.system.name for piece in pieces]
    extras = {SYSTEM: [BETWEEN.join(name for name, at in zip(names, row.at, strict=True) if at) for row in rows]}
    for s, piece in enumerate(pieces):
        for name, column in piece.nbest.extras.items() if piece.nbest is not None else ():
            if any(column):
                extras[f"{names[s]}.{name}"] = [column[row.at[s][0]] if row.at[s] else "" for row in rows]
    return extras


def _source(key: str, pieces: Sequence[_Piece]) -> str | None:
    """The source of a sentence; raises SmtError if two systems have different ones."""
    sourced = [(piece, piece.nbest.source) for piece in pieces if piece.nbest is not None and piece.nbest.source]
    for piece, source in sourced[1:]:
        if _letters(source) != _letters(sourced[0][1]):
            first, other = sourced[0][0].columns.system, piece.columns.system
            raise SmtError(
                f"{other.place(other.places[key])}: expected the source of id {key} in {first.name} "
                f"({first.place(first.places[key])}), {sourced[0][1]!r}, found {source!r}: ids have to name the same "
                f"sentences ({argument('source', '--source')} names them if they are the same)"
            )
    return sourced[0][1] if sourced else None


def _letters(text: str) -> str:
    """What tokenisation, escapes and case leave unchanged."""
    return "".join(letter for letter in html.unescape(text).casefold() if letter.isalnum())
