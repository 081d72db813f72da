"""`smt prepare`: check and clean text into a folder, with what was dropped and how it was made.

The record of the folder is its last file: without it, the folder is incomplete.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from smtformats.corpus.text import open_sentences, parse
from smtformats.errors import FormatError
from smtformats.files import open_write, shown_name
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.estimate.sifting import Sieve, Tally
from smtplugins.host.progress import progress
from smtplugins.host.runs import prepared_folder
from smtplugins.host.text.characters import clean_words, is_clean, needs_escapes
from smtplugins.host.text.preparation import RECORD, SIDES, Preparation, TextLimits

FileName: TypeAlias = "str | os.PathLike[str]"
Note: TypeAlias = Callable[[str], None]

DROPPED = "dropped.tsv"
_STEMS = tuple(f".{name}." for name in (*SIDES, DROPPED, RECORD))
"""How the names of files begin that a killed run leaves."""
_BLOCK = 1 << 13
_CLEANED, _ESCAPES = "invalid characters replaced", "words that need --escape moses"


@dataclass(frozen=True)
class PreparedText:
    """What became of the lines of a text: those ``read`` and ``kept``, those dropped by reason.

    ``noted`` are kept lines in which characters were replaced, and those with words that tables or language models
    refuse unless they are escaped (``smt extract --escape moses``).
    """

    folder: Path
    read: int
    kept: int
    dropped: Mapping[str, Tally]
    noted: Mapping[str, Tally]

    def rows(self) -> list[dict[str, Any]]:
        """A table: a row for all lines, for each reason, for those that are kept."""
        dropped = {f"dropped: {reason}": tally for reason, tally in self.dropped.items()}
        noted = {f"kept: {what}": tally for what, tally in self.noted.items()}
        tallies = {"read": Tally(self.read), **dropped, "kept": Tally(self.kept), **noted}
        return [{"what": what, "lines": tally.count, "first": tally.first} for what, tally in tallies.items()]


@dataclass
class _Counts:
    read: int = 0
    kept: int = 0
    dropped: dict[str, Tally] = field(default_factory=dict)
    noted: dict[str, Tally] = field(default_factory=dict)


@dataclass(frozen=True)
class PrepareSettings:
    """How to prepare a text; see :meth:`smtplugins.host.host.Host.prepare`."""

    like: FileName | None = None
    clean: bool = False
    max_length: int | None = None
    max_ratio: float | None = None
    keep_duplicates: bool | None = None

    def read(self) -> Preparation | None:
        """The preparation that is to be repeated, which leaves nothing to choose."""
        if self.like is None:
            if self.clean:
                raise UsageError(f"{argument('clean')} needs {argument('like')}, whose limits it applies")
            return None
        for one in fields(self)[2:]:
            if getattr(self, one.name) is not None:
                raise UsageError(f"{argument(one.name)} cannot be used with {argument('like')}, which has its own")
        return Preparation.read(self.like)

    def limits(self) -> TextLimits:
        """The limits of training text."""
        given = {one.name: getattr(self, one.name) for one in fields(TextLimits)}
        return TextLimits(**{name: value for name, value in given.items() if value is not None})


def prepare(
    folder: FileName,
    source: FileName | None,
    targets: Sequence[FileName],
    settings: PrepareSettings,
    note: Note,
    quiet: bool,
) -> PreparedText:
    """Prepare one or both sides of a text; see :meth:`smtplugins.host.host.Host.prepare`."""
    texts: dict[str, FileName] = {} if source is None else {SIDES[0]: source}
    texts |= {SIDES[1] + f".{k}" * (k > 0): path for k, path in enumerate(targets)}
    _check_texts(texts, folder, settings.like)
    known = settings.read()
    limits = settings.limits() if known is None else known.limits
    sieve = Sieve(limits if known is None or settings.clean else None, len(texts))
    made = Preparation(Path(folder), {name: {} for name in texts}, limits)
    with prepared_folder(made.folder, RECORD):
        counts = _write(made, texts, sieve, quiet)
        made.write(lines={"read": counts.read, "kept": counts.kept})
    return PreparedText(made.folder, counts.read, counts.kept, counts.dropped, counts.noted)


def _check_texts(texts: Mapping[str, FileName], folder: FileName, like: FileName | None) -> None:
    source, target = argument("source", "-s"), argument("target", "-t")
    if not texts:
        raise UsageError(f"expected a source ({source}), a target ({target}) or both, found none")
    if f"{SIDES[1]}.1" in texts and like is None:
        raise UsageError(f"{target}: expected one file, found several: references are prepared with {argument('like')}")
    if [os.fspath(path) for path in texts.values()].count("-") > 1:
        raise UsageError("only one of source and target can be read from standard input")
    if like is not None and os.path.realpath(like) == os.path.realpath(folder):
        raise UsageError(f"{argument('like')}: expected another folder than that of the output, found {folder} twice")
    outputs = {os.path.realpath(os.path.join(folder, name)) for name in _names(texts)}
    for path in texts.values():
        if os.path.realpath(path) in outputs:
            raise UsageError(f"expected a folder without the text itself, found {os.fspath(path)} in it")


def _names(texts: Mapping[str, Any]) -> list[str]:
    """The names of the files that are written before the record."""
    return [*texts, DROPPED]


def _write(made: Preparation, texts: Mapping[str, FileName], sieve: Sieve, quiet: bool) -> _Counts:
    """Write the files of a folder; they appear together, and until then those of an earlier run stay."""
    counts = _Counts(dropped={reason: Tally() for reason in sieve.reasons})
    counts.noted = {_CLEANED: Tally(), _ESCAPES: Tally()}
    folder = made.folder
    for left in folder.glob(".*.part"):
        if left.name.startswith(_STEMS):
            left.unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:
        outs = [stack.enter_context(open_write(folder / name)) for name in _names(texts)]
        for block in progress(read_blocks(texts), "preparing, blocks", quiet=quiet):
            _write_block(block, sieve, counts, outs)
        if not counts.kept:
            why = ", ".join(f"{tally.count} {reason}" for reason, tally in counts.dropped.items() if tally.count)
            raise SmtError(f"expected lines to keep, found none: of {counts.read} lines {why}")
        earlier = _files_before(folder)
        (folder / RECORD).unlink(missing_ok=True)
        for name in earlier.difference(_names(texts)):
            (folder / name).unlink(missing_ok=True)
    return counts


def _files_before(folder: Path) -> set[str]:
    """The files of an earlier preparation in the folder."""
    return set(_names(Preparation.read(folder).sides)) if (folder / RECORD).exists() else set()


def _write_block(block: Sequence[Sequence[str]], sieve: Sieve, counts: _Counts, outs: Sequence[TextIO]) -> None:
    """Write the kept lines of a block to all outputs but the last, which gets the numbers of the others."""
    lines = [[clean_words(line) for line in lines] for lines in zip(*block, strict=True)]
    kept: list[list[str]] = [[] for _ in block]
    dropped = []
    for i, (line, reason) in enumerate(zip(lines, sieve.reasons_for(lines), strict=True)):
        number = counts.read + i + 1
        if reason is not None:
            counts.dropped[reason].add(number)
            dropped.append(f"{number}\t{reason}\n")
            continue
        if not all(is_clean(side[i]) for side in block):
            counts.noted[_CLEANED].add(number)
        texts = [" ".join(side) for side in line]
        if any(map(needs_escapes, texts)):
            counts.noted[_ESCAPES].add(number)
        for side, text in zip(kept, texts, strict=True):
            side.append(text)
        counts.kept += 1
    counts.read += len(lines)
    for out, side in zip(outs, kept, strict=False):
        out.writelines(f"{text}\n" for text in side)
    outs[-1].writelines(dropped)


def read_blocks(texts: Mapping[str, FileName]) -> Iterator[list[list[str]]]:
    """Read the lines of some files in blocks, the same number from each; another number of lines is an error."""
    names = [shown_name(path) for path in texts.values()]
    count = 0
    with contextlib.ExitStack() as stack:
        streams = [parse(stack.enter_context(open_sentences(path))) for path in texts.values()]
        while True:
            block = [list(islice(stream, _BLOCK)) for stream in streams]
            if any(len(lines) != len(block[0]) for lines in block):
                totals = [count + len(lines) + sum(1 for _ in rest) for lines, rest in zip(block, streams, strict=True)]
                other = next(i for i, total in enumerate(totals) if total != totals[0])
                expected = f"as many lines as {names[0]} has, {totals[0]}"
                raise FormatError(expected, str(totals[other]), file=names[other])
            if not block[0]:
                break
            yield block
            count += len(block[0])
    if not count:
        raise FormatError("a sentence on each line", "an empty file", file=names[0], line=1)
