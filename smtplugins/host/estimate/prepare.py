"""`smt prepare`: check and clean text into a folder, with what was dropped and how it was made.

The record of the folder is its last file: without it, the folder is incomplete.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
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
from smtplugins.host.text.casing import CaseCounts, Truecaser
from smtplugins.host.text.characters import is_clean, needs_escapes
from smtplugins.host.text.preparation import RECORD, SIDES, Preparation, TextLimits, case_file
from smtplugins.host.text.sides import SideSettings, TextSide, language_of
from smtplugins.host.text.tokenizers import knows_abbreviations, tokenizer_version

FileName: TypeAlias = "str | os.PathLike[str]"
Note: TypeAlias = Callable[[str], None]

DROPPED = "dropped.tsv"
_STEMS = tuple(f".{name}." for name in (*SIDES, DROPPED, RECORD, *map(case_file, SIDES)))
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


@dataclass(frozen=True)
class PrepareSettings:
    """How to prepare a text; see :meth:`smtplugins.host.host.Host.prepare`."""

    like: FileName | None = None
    clean: bool = False
    tokenize: str | None = None
    case: str | None = None
    languages: Sequence[str] = ()
    max_length: int | None = None
    max_ratio: float | None = None
    keep_duplicates: bool | None = None

    def known(self) -> Preparation | None:
        """The preparation that is to be repeated, which leaves nothing to choose."""
        if self.like is None:
            if self.clean:
                raise UsageError(f"{argument('clean')} needs {argument('like')}, whose limits it applies")
            return None
        for one in fields(self)[2:]:
            if getattr(self, one.name) not in (None, ()):
                raise UsageError(f"{argument(one.name)} cannot be used with {argument('like')}, which has its own")
        return Preparation.read(self.like)

    def limits(self) -> TextLimits:
        """The limits of training text."""
        given = {one.name: getattr(self, one.name) for one in fields(TextLimits)}
        return TextLimits(**{name: value for name, value in given.items() if value is not None})

    def sides(self, texts: Mapping[str, FileName]) -> dict[str, SideSettings]:
        """The settings of the sides; languages are those given, or else those that the files are named by."""
        languages: Sequence[str | None] = self.languages or [language_of(os.fspath(path)) for path in texts.values()]
        if len(languages) != len(texts):
            expected = f"one for each side, {' and '.join(texts)}"
            raise UsageError(f"{argument('languages')}: expected {expected}, found {' '.join(self.languages)}")
        tokenize, case = self.tokenize or "none", self.case or "keep"
        return {name: SideSettings(tokenize, case, code) for name, code in zip(texts, languages, strict=True)}


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
    known = settings.known()
    sides = settings.sides(texts) if known is None else {name: known.settings(name) for name in texts}
    versions = {
        package: number for one in sides.values() for package, number in tokenizer_version(one.tokenize).items()
    }
    made = Preparation(Path(folder), sides, settings.limits() if known is None else known.limits, versions)
    _check_untokenized(texts, sides)
    run = _Run.of(made, known, note)
    sieve = Sieve(made.limits if known is None or settings.clean else None, len(texts))
    with prepared_folder(made.folder, RECORD):
        counts = run.write(texts, sieve, quiet)
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
    outputs = {os.path.realpath(os.path.join(folder, name)) for name in (*texts, DROPPED, *map(case_file, texts))}
    for path in texts.values():
        if os.path.realpath(path) in outputs:
            raise UsageError(f"expected a folder without the text itself, found {os.fspath(path)} in it")


def _check_untokenized(texts: Mapping[str, FileName], sides: Mapping[str, SideSettings]) -> None:
    """Refuse text that is tokenized again."""
    for name, path in texts.items():
        before = Preparation.holding(path)
        if sides[name].tokenize != "none" and before is not None:
            its = before[0].settings(before[1]).tokenize
            if its != "none":
                raise UsageError(f"{os.fspath(path)}: expected raw text to tokenize, found text tokenized by {its}")


@dataclass
class _Counts:
    read: int = 0
    kept: int = 0
    dropped: dict[str, Tally] = field(default_factory=dict)
    noted: dict[str, Tally] = field(default_factory=dict)


@dataclass
class _Side:
    """A side that is written: what makes its words, where they go, and the counts of a truecaser that is learnt."""

    text: TextSide
    out: TextIO
    learns: CaseCounts | None

    def write(self, lines: Sequence[Sequence[str]]) -> None:
        """Write lines, given as words."""
        self.out.writelines(" ".join(line) + "\n" for line in lines)
        if self.learns is not None:
            for line in lines:
                self.learns.add(line)


@dataclass(frozen=True)
class _Run:
    """A preparation that is made: with the models of a ``known`` one, or else with models of its own."""

    made: Preparation
    known: Preparation | None
    texts: Mapping[str, TextSide]

    @classmethod
    def of(cls, made: Preparation, known: Preparation | None, note: Note) -> _Run:
        """Load the tokenizers, and the models of truecasers that are known."""
        if known is not None:
            return cls(made, known, {name: known.side(name, note) for name in made.sides})
        for settings in made.sides.values():
            if settings.tokenize == "moses" and not knows_abbreviations(code := str(settings.language)):
                note(f"sacremoses knows no abbreviations of {code}: it takes those of English")
        return cls(made, None, {name: TextSide(settings) for name, settings in made.sides.items()})

    @property
    def models(self) -> dict[str, str]:
        """The names of the files of models, and their sides."""
        return {case_file(name): name for name in self.made.sides if self.made.case_model(name) is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files that are written before the record."""
        return (*self.made.sides, DROPPED, *self.models)

    def write(self, files: Mapping[str, FileName], sieve: Sieve, quiet: bool) -> _Counts:
        """Write the files of the folder; they appear together, and until then those of an earlier run stay."""
        counts = _Counts(dropped={reason: Tally() for reason in sieve.reasons})
        counts.noted = {_CLEANED: Tally(), _ESCAPES: Tally()}
        folder = self.made.folder
        for left in folder.glob(".*.part"):
            if left.name.startswith(_STEMS):
                left.unlink(missing_ok=True)
        with contextlib.ExitStack() as stack:
            outs: dict[str, TextIO] = {name: stack.enter_context(open_write(folder / name)) for name in self.names}
            sides = {name: self._side(name, outs[name], stack) for name in self.made.sides}
            for block in progress(read_blocks(files), "preparing, blocks", quiet=quiet):
                _write_block(block, sieve, counts, list(sides.values()), outs[DROPPED])
            if not counts.kept:
                why = ", ".join(f"{tally.count} {reason}" for reason, tally in counts.dropped.items() if tally.count)
                raise SmtError(f"expected lines to keep, found none: of {counts.read} lines {why}")
            for file, name in self.models.items():
                self._write_model(name, sides[name], outs[name], outs[file])
            earlier = _files_before(folder)
            (folder / RECORD).unlink(missing_ok=True)
            for name in earlier.difference(self.names):
                (folder / name).unlink(missing_ok=True)
        return counts

    def _side(self, name: str, out: TextIO, stack: contextlib.ExitStack) -> _Side:
        """A side; what a truecaser is learnt from goes into a file without a name first."""
        if self.known is not None or self.made.case_model(name) is None:
            return _Side(self.texts[name], out, None)
        folder = self.made.folder
        aside = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=folder)  # noqa: SIM115
        return _Side(self.texts[name], stack.enter_context(aside), CaseCounts())

    def _write_model(self, name: str, side: _Side, out: TextIO, model: TextIO) -> None:
        """Write the model of a truecaser, and the text in its case if it was learnt."""
        if side.learns is None:
            assert self.known is not None
            model.write((self.known.folder / case_file(name)).read_text(encoding="utf-8"))
            return
        side.learns.write(model)
        truecaser = Truecaser(side.learns.forms())
        side.out.seek(0)
        out.writelines(" ".join(truecaser.cased(line.rstrip("\n").split(" "))) + "\n" for line in side.out)


def _files_before(folder: Path) -> set[str]:
    """The files of an earlier preparation in the folder."""
    return set(_Run(Preparation.read(folder), None, {}).names) if (folder / RECORD).exists() else set()


def _write_block(
    block: Sequence[Sequence[str]], sieve: Sieve, counts: _Counts, sides: Sequence[_Side], dropped: TextIO
) -> None:
    """Write the kept lines of a block, and the numbers of the others with their reasons."""
    lines = list(zip(*(map(side.text.words, texts) for side, texts in zip(sides, block, strict=True)), strict=True))
    kept = []
    for i, (line, reason) in enumerate(zip(lines, sieve.reasons_for(lines), strict=True)):
        number = counts.read + i + 1
        if reason is not None:
            counts.dropped[reason].add(number)
            dropped.write(f"{number}\t{reason}\n")
            continue
        if not all(is_clean(texts[i]) for texts in block):
            counts.noted[_CLEANED].add(number)
        if any(needs_escapes(" ".join(words)) for words in line):
            counts.noted[_ESCAPES].add(number)
        kept.append(line)
    for k, side in enumerate(sides):
        side.write([line[k] for line in kept])
    counts.read += len(lines)
    counts.kept += len(kept)


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
