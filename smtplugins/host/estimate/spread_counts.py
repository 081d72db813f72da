"""Count the phrase pairs or rules of a text, here or by a runner, whose workers send the counts of pieces of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.core.extract.phrase_pairs import BadBitext, BitextCounts, Phrases
from smtplugins.host.arguments import argument
from smtplugins.host.spread.choice import SERIAL, apart, default_runner, make_runner

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Jobs, Runner
    from smtplugins.host.estimate.phrase_tables import Bitext
    from smtplugins.host.host import Host

Maker: TypeAlias = Callable[..., BitextCounts]
"""Makes an empty counter of a ``folder`` and ``memory``; it is pickled for workers."""

_UNLIMITED = 1 << 62


@dataclass(frozen=True)
class _Piece:
    """Lines of a text; ``before`` is the number of lines before them."""

    before: int
    source: bytes
    target: bytes
    alignment: bytes

    @property
    def id(self) -> str:
        """What messages of runners call it."""
        return f"lines {self.before + 1} to {self.before + self.lines}"

    @property
    def lines(self) -> int:
        """The number of its sentence pairs."""
        return self.source.count(b"\n") + (not self.source.endswith(b"\n"))


def runner_of(host: Host, jobs: Jobs) -> Runner | None:
    """The runner that ``jobs`` or the environment names; None for work in this process, also in several threads."""
    if isinstance(jobs, int) and jobs < 1:
        raise UsageError(f"{argument('jobs')}: expected 1 or more, found {jobs}")
    return None if in_threads(jobs) else make_runner(host, apart(default_runner(jobs)))


def threads_of(jobs: Jobs) -> int:
    """The threads of this process: ``jobs``, or when workers are done, as many as there are, or as this machine has."""
    if isinstance(jobs, int):
        return jobs
    return 1 if in_threads(jobs) else int(default_runner(jobs).options.get("jobs", 0)) or os.cpu_count() or 1


def in_threads(jobs: Jobs) -> bool:
    """Whether ``jobs`` and the environment name no runner but the serial one."""
    return isinstance(jobs, int) or default_runner(jobs) == Spec(SERIAL)


def count_text(
    counts: BitextCounts, make: Maker, bitext: Bitext, runner: Runner | None, quiet: bool
) -> Iterator[tuple[bytes, ...]]:
    """Add a text to ``counts``, which ``make`` made; yield the new lines of each piece of it, if they are kept."""
    if runner is None:
        for piece in bitext.pieces(quiet):
            counts.feed(*piece)
            yield _new_lines(counts)
        return
    failures: list[Exception] = []
    for packed, lines in runner.map(_PieceCounter(make), _pieces(bitext, quiet, failures)):
        counts.add_packed(packed)
        yield lines
    for error in failures:
        raise error


def _new_lines(counts: BitextCounts) -> tuple[bytes, ...]:
    return counts.new_lines() if isinstance(counts, Phrases) else ()


def _pieces(bitext: Bitext, quiet: bool, failures: list[Exception]) -> Iterator[_Piece]:
    """The pieces of a text. It is read ahead, so an error in it comes after those of the pieces before it."""
    before = 0
    try:
        for source, target, alignment in bitext.pieces(quiet):
            piece = _Piece(before, source, target, alignment)
            yield piece
            before += piece.lines
    except Exception as error:
        failures.append(error)


@dataclass(frozen=True)
class _PieceCounter:
    """Counts pieces of a text on a worker."""

    make: Maker

    def __call__(self, piece: _Piece) -> tuple[bytes, tuple[bytes, ...]]:
        """The counts of a piece, packed, and its lines."""
        counts = self.make("", memory=_UNLIMITED)
        try:
            counts.feed(piece.source, piece.target, piece.alignment)
        except BadBitext as error:
            raise BadBitext(error.side, piece.before + error.line, error.expected, error.found) from None
        return counts.pack(), _new_lines(counts)
