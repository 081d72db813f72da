"""`smt extract --phrases`: extract phrase pairs from word-aligned text into a folder of tables.

Also what every extraction needs: errors that name the file, a spill folder, outputs that appear together.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from smtformats.errors import FormatError
from smtformats.escapes import escape_bytes
from smtformats.files import open_binary_write, shown_name
from smtformats.tokens import BadField
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.core.extract.phrase_pairs import (
    EXTRACT_FILES,
    MAX_PHRASE,
    SMOOTHINGS,
    BadBitext,
    NoSmoothing,
    Phrases,
    read_bitext,
    read_lines,
)
from smtplugins.host.arguments import argument
from smtplugins.host.estimate.spread_counts import count_text, runner_of
from smtplugins.host.files.escaping import check_scheme
from smtplugins.host.files.opening import find_format
from smtplugins.host.progress import progress

if TYPE_CHECKING:
    from smtformats.reordering.models import ReorderingModel
    from smtplugins.contracts.runners import Jobs, Runner
    from smtplugins.core.extract.hierarchical_rules import ExtractedRules
    from smtplugins.host.host import Host

FileName: TypeAlias = "str | os.PathLike[str]"
Note: TypeAlias = Callable[[str], None]

MIN_MEMORY = 1 << 20
PHRASE_TABLE = "phrase-table.gz"
CONVERTED_TABLE = "grammar.gz"
MAPPED_TABLE = "phrase-table.smt"
LEXICAL_TABLES = ("lex.f2e", "lex.e2f")
MOSES_FORMAT = "moses-phrases"


@dataclass(frozen=True)
class Bitext:
    """Word-aligned text: three parallel files of source sentences, target sentences and links."""

    source: FileName
    target: FileName
    alignment: FileName
    escape: str | None = None
    """The scheme to escape the words of both sides with."""

    def __post_init__(self) -> None:
        check_scheme(self.escape)
        if [os.fspath(file) for file in self.files].count("-") > 1:
            raise UsageError("only one of source, target and alignment can be read from standard input")

    @property
    def files(self) -> tuple[FileName, FileName, FileName]:
        """The files in the order of `core.extract.phrase_pairs.SIDES`."""
        return self.source, self.target, self.alignment

    def pieces(self, quiet: bool) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Blocks of whole lines, the same number from each file, with progress."""
        for source, target, links in progress(read_bitext(*self.files), "reading, pieces", quiet=quiet):
            if self.escape is None:
                yield source, target, links
            else:
                yield escape_bytes(source, self.escape), escape_bytes(target, self.escape), links

    @contextlib.contextmanager
    def naming(self) -> Iterator[None]:
        """Add the file name to errors about single lines."""
        try:
            yield
        except BadBitext as error:
            raise FormatError(
                error.expected, error.found, file=shown_name(self.files[error.side]), line=error.line
            ) from error


@dataclass(frozen=True)
class PhraseSettings:
    """Limits and scoring of phrase pairs; `reordering` are names of models in Moses' spelling."""

    max_length: int = 7
    smoothing: str = "none"
    reordering: Sequence[str] = ()
    reordering_smoothing: float = 0.5
    lexical: tuple[FileName, FileName] | None = None
    """Files of p(target word | source word) and p(source word | target word) to use instead of this text's."""
    occurrences: bool = False
    """Also write Moses' extract files, with one line per occurrence."""


def extract_phrases(
    host: Host,
    bitext: Bitext,
    folder: FileName,
    settings: PhraseSettings | None = None,
    *,
    to_format: str | None = None,
    skip_bad: bool = False,
    jobs: Jobs = None,
    memory: int | None = None,
    note: Note = lambda text: None,
    quiet: bool = True,
) -> int:
    """Write the tables of a text into a folder, created if needed; return the number of phrase pairs.

    The files are ``phrase-table.gz`` (or ``grammar.gz`` in another format), ``lex.f2e`` and ``lex.e2f`` unless given,
    and ``reordering-table.MODEL.gz`` for each model. They appear together when all are complete.
    """
    settings = settings or PhraseSettings()
    check_memory(memory)
    models = _check_settings(host, settings, to_format)
    runner = _phrase_runner(host, jobs)
    lexical_names = LEXICAL_TABLES if settings.lexical is None else ()
    table_names = [reordering_table(model) for model in models]
    occurrence_names = [f"{name}.gz" for name in EXTRACT_FILES] if settings.occurrences else []
    converted = to_format is not None and to_format != MOSES_FORMAT
    names = [*([] if converted else [PHRASE_TABLE]), *table_names, *lexical_names, *occurrence_names]
    make = functools.partial(
        Phrases,
        max_length=settings.max_length,
        models=models,
        skip_bad=skip_bad,
        lexical=settings.lexical is None,
        keep_lines=settings.occurrences,
    )
    with outputs(folder, names) as files, spill_folder(folder) as aside, bitext.naming():
        phrases = make(aside, memory=memory)
        read_lexical(phrases, settings.lexical or ())
        for new in count_text(phrases, make, bitext, runner, quiet):
            for name, lines in zip(occurrence_names, new, strict=False):
                files[name].write(lines)
        with contextlib.ExitStack() as stack:
            plain = os.path.join(aside, "phrase-table")
            table = stack.enter_context(open(plain, "wb")) if converted else files[PHRASE_TABLE]
            _write_tables(phrases, settings, [table, *(files[name] for name in table_names)], bitext, quiet)
        for name, forward in zip(lexical_names, (True, False), strict=False):
            files[name].write(phrases.lexical(forward=forward))
        if converted:
            from smtplugins.host.files.conversion import convert

            mapped = find_format(to_format or "", "grammar", host.formats()).mapped
            target_path = os.path.join(folder, MAPPED_TABLE if mapped else CONVERTED_TABLE)
            convert(host, plain, target_path, MOSES_FORMAT, to_format, note=note, quiet=quiet)
    tell(phrases, note)
    return phrases.pairs


def _phrase_runner(host: Host, jobs: Jobs) -> Runner | None:
    runner = runner_of(host, jobs)
    if runner is None and isinstance(jobs, int) and jobs > 1:
        found = argument(f"jobs={jobs}", f"-j {jobs}")
        raise UsageError(f"{found} needs {argument('rules, or a runner', '--rules or --runner')}")
    return runner


def phrase_tables(to_format: str | None, reordering: Sequence[str]) -> list[str]:
    """The names of the phrase table and of reordering tables that :func:`extract_phrases` writes."""
    from smtformats.reordering.models import ReorderingModel

    table = PHRASE_TABLE if to_format in (None, MOSES_FORMAT) else CONVERTED_TABLE
    return [table, *(reordering_table(ReorderingModel.parse(name)) for name in reordering)]


def _check_settings(host: Host, settings: PhraseSettings, to_format: str | None) -> list[ReorderingModel]:
    """Check the settings before any work is done, and parse the names of the reordering models."""
    from smtformats.reordering.models import ReorderingModel

    if not 1 <= settings.max_length <= MAX_PHRASE:
        raise UsageError(f"{argument('max_length')}: expected 1 to {MAX_PHRASE}, found {settings.max_length}")
    if settings.smoothing not in SMOOTHINGS:
        raise UsageError(f"unknown smoothing {settings.smoothing!r}{suggestion(settings.smoothing, SMOOTHINGS)}")
    if not 0 < settings.reordering_smoothing < float("inf"):
        raise UsageError(
            f"{argument('reordering_smoothing')}: expected more than 0, found {settings.reordering_smoothing:g}"
        )
    if to_format is not None and find_format(to_format, "grammar", host.formats()).write is None:
        raise UsageError(f"{to_format} can only be read")
    models = []
    for name in settings.reordering:
        try:
            models.append(ReorderingModel.parse(name))
        except BadField as bad:
            raise UsageError(f"{argument('reordering')}: expected {bad.expected}, found {bad.found}") from None
    if len({_name(model) for model in models}) < len(models):
        raise UsageError(f"{argument('reordering')}: expected different models, found the same one twice")
    return models


def reordering_table(model: ReorderingModel) -> str:
    """The name of the file of a reordering table."""
    return f"reordering-table.{_name(model)}.gz"


def _name(model: ReorderingModel) -> str:
    """Moses' name for the table of a model."""
    return f"{model.extraction}-{model.orientation}-{model.direction}-{model.condition or 'fe'}"


def read_lexical(counter: Phrases | ExtractedRules, paths: Sequence[FileName]) -> None:
    """Read tables of p(target word | source word) and p(source word | target word), or none."""
    for path, forward in zip(paths, (True, False), strict=False):
        try:
            for lines in read_lines(path):
                counter.read_lexical(lines, forward=forward)
        except BadBitext as error:
            raise FormatError(error.expected, error.found, file=shown_name(path), line=error.line) from error
        except EOFError as error:
            raise FormatError("a complete compressed file", str(error), file=shown_name(path)) from error


def _write_tables(
    phrases: Phrases, settings: PhraseSettings, files: Sequence[BinaryIO], bitext: Bitext, quiet: bool
) -> None:
    try:
        tables = phrases.tables(settings.smoothing, reordering_smoothing=settings.reordering_smoothing)
        for pieces in progress(tables, "writing, MB", quiet=quiet):
            for file, piece in zip(files, pieces, strict=True):
                file.write(piece)
    except NoSmoothing as error:
        remedy = argument("smoothing='none'", "--smoothing none")
        raise SmtError(f"{shown_name(bitext.alignment)}: {error}; use {remedy}") from error


def check_memory(memory: int | None) -> None:
    """Refuse a memory limit so small that everything would be sorted on disk."""
    if memory is not None and memory < MIN_MEMORY:
        raise UsageError(f"{argument('memory')}: expected at least 1M, found {memory} bytes")


def tell(extraction: Phrases | ExtractedRules, note: Note) -> None:
    """Note that the memory limit was reached, and how many sentence pairs were skipped and why."""
    if extraction.spilled:
        note(f"more than {argument('memory')} allows: sorted on disk")
    empty, bad = (extraction.empty, "with an empty side"), (extraction.skipped, "with links outside the sentences")
    for count, what in (empty, bad):
        if count:
            note(f"{count} sentence pair{'s' if count > 1 else ''} {what}: left out")


@contextlib.contextmanager
def outputs(folder: FileName, names: Sequence[str]) -> Iterator[dict[str, BinaryIO]]:
    """Open files for writing in a folder, created if needed; the files appear only if the block succeeds."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{argument('folder', '--output')}: expected a folder, found the file {os.fspath(folder)!r}")
    created = not os.path.exists(folder)
    os.makedirs(folder, exist_ok=True)
    try:
        with contextlib.ExitStack() as stack:
            yield {name: stack.enter_context(open_binary_write(os.path.join(folder, name))) for name in names}
    except BaseException:
        if created:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        raise


@contextlib.contextmanager
def spill_folder(folder: FileName) -> Iterator[str]:
    """A temporary folder inside ``folder``: a disk with room for the result has room for the intermediate files."""
    with tempfile.TemporaryDirectory(prefix=".extract.", suffix=".part", dir=folder) as aside:
        yield aside
