"""Phrase pairs from word-aligned text into a folder of tables: what `smt extract --phrases` does, and the parts of it
that any extraction needs: errors that name the file, a folder to spill to, outputs that appear together."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from smtformats.errors import FormatError
from smtformats.files import open_binary_write, shown_name
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.progress import progress

if TYPE_CHECKING:
    from smtformats.reordering.models import ReorderingModel
    from smtplugins.core.extract.hierarchical_rules import Rules
    from smtplugins.core.extract.phrase_pairs import Phrases
    from smtplugins.host.host import Host

FileName: TypeAlias = "str | os.PathLike[str]"
Note: TypeAlias = Callable[[str], None]

MIN_MEMORY = 1 << 20
SPILLED = "more than --memory allows: sorted on the disk"
PHRASE_TABLE = "phrase-table.gz"
CONVERTED_TABLE = "grammar.gz"
LEXICAL_TABLES = ("lex.f2e", "lex.e2f")
MOSES_FORMAT = "moses-phrases"


@dataclass(frozen=True)
class Bitext:
    """Word-aligned text: a sentence, its translation and their links on each line of three files."""

    source: FileName
    target: FileName
    alignment: FileName

    def __post_init__(self) -> None:
        if [os.fspath(one) for one in self.files].count("-") > 1:
            raise UsageError("standard input is one file only: source, target or alignment")

    @property
    def files(self) -> tuple[FileName, FileName, FileName]:
        """In the order of `core.extraction.SIDES`."""
        return self.source, self.target, self.alignment

    def pieces(self, quiet: bool) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Whole lines, as many of each, with progress."""
        from smtplugins.core.extract.phrase_pairs import read_bitext

        return progress(read_bitext(*self.files), "reading, pieces", quiet=quiet)

    @contextlib.contextmanager
    def naming(self) -> Iterator[None]:
        """Errors of single lines name their file."""
        from smtplugins.core.extract.phrase_pairs import BadBitext

        try:
            yield
        except BadBitext as error:
            raise FormatError(
                error.expected, error.found, file=shown_name(self.files[error.side]), line=error.line
            ) from error


@dataclass(frozen=True)
class PhraseSettings:
    """What phrase pairs are taken and how they are scored; `reordering` are names of models as Moses spells them."""

    max_length: int = 7
    smoothing: str = "none"
    reordering: Sequence[str] = ()
    reordering_smoothing: float = 0.5
    lexical: tuple[FileName, FileName] | None = None
    """Files of p(target word | source word) and p(source word | target word), instead of those of this text."""
    occurrences: bool = False
    """Moses' files of single occurrences, too."""


def extract_phrases(
    host: Host,
    bitext: Bitext,
    folder: FileName,
    settings: PhraseSettings | None = None,
    *,
    to_format: str | None = None,
    skip_bad: bool = False,
    memory: int | None = None,
    note: Note = lambda text: None,
    quiet: bool = True,
) -> int:
    """Write the tables of a text into a folder, made if it is not there; returns how many phrase pairs there are.

    ``phrase-table.gz`` (or ``grammar.gz`` in another format), ``lex.f2e`` and ``lex.e2f`` unless they were given, and
    for each model ``reordering-table.MODEL.gz``. All come up together when all are complete.
    """
    from smtplugins.core.extract.phrase_pairs import EXTRACT_FILES, Phrases

    settings = settings or PhraseSettings()
    check_memory(memory)
    models = _checked(host, settings, to_format)
    lexical_names = LEXICAL_TABLES if settings.lexical is None else ()
    table_names = [f"reordering-table.{_name(model)}.gz" for model in models]
    occurrence_names = [f"{name}.gz" for name in EXTRACT_FILES] if settings.occurrences else []
    converted = to_format is not None and to_format != MOSES_FORMAT
    names = [*([] if converted else [PHRASE_TABLE]), *table_names, *lexical_names, *occurrence_names]
    with outputs(folder, names) as files, spill_folder(folder) as aside, bitext.naming():
        phrases = Phrases(
            aside,
            max_length=settings.max_length,
            models=models,
            skip_bad=skip_bad,
            lexical=settings.lexical is None,
            keep_lines=settings.occurrences,
            memory=memory,
        )
        read_lexical(phrases, settings.lexical or ())
        for source, target, alignment in bitext.pieces(quiet):
            phrases.feed(source, target, alignment)
            if settings.occurrences:
                for name, lines in zip(occurrence_names, phrases.new_lines(), strict=True):
                    files[name].write(lines)
        with contextlib.ExitStack() as stack:
            plain = os.path.join(aside, "phrase-table")
            table = stack.enter_context(open(plain, "wb")) if converted else files[PHRASE_TABLE]
            _write_tables(phrases, settings, [table, *(files[name] for name in table_names)], bitext, quiet)
        for name, forward in zip(lexical_names, (True, False), strict=False):
            files[name].write(phrases.lexical(forward=forward))
        if converted:
            from smtplugins.host.files.conversion import convert

            target_path = os.path.join(folder, CONVERTED_TABLE)
            convert(host, plain, target_path, MOSES_FORMAT, to_format, note=note, quiet=quiet)
    if phrases.spilled:
        note(SPILLED)
    tell_left_out(phrases.empty, phrases.skipped, note)
    return phrases.pairs


def _checked(host: Host, settings: PhraseSettings, to_format: str | None) -> list[ReorderingModel]:
    """The models; what is wrong with the settings is known before the work is done."""
    from smtformats.reordering.models import ReorderingModel
    from smtformats.tokens import BadField
    from smtplugins.contracts.spec import suggestion
    from smtplugins.core.extract.phrase_pairs import MAX_PHRASE, SMOOTHINGS
    from smtplugins.host.files.opening import find_format

    if not 1 <= settings.max_length <= MAX_PHRASE:
        raise UsageError(f"--max-length: expected 1 to {MAX_PHRASE}, found {settings.max_length}")
    if settings.smoothing not in SMOOTHINGS:
        raise UsageError(f"unknown smoothing {settings.smoothing!r}{suggestion(settings.smoothing, SMOOTHINGS)}")
    if not 0 < settings.reordering_smoothing < float("inf"):
        raise UsageError(f"--reordering-smoothing: expected more than 0, found {settings.reordering_smoothing:g}")
    if to_format is not None and find_format(to_format, "grammar", host.formats()).write is None:
        raise UsageError(f"{to_format} can only be read")
    models = []
    for name in settings.reordering:
        try:
            models.append(ReorderingModel.parse(name))
        except BadField as bad:
            raise UsageError(f"--reordering: expected {bad.expected}, found {bad.found}") from None
    if len({_name(model) for model in models}) < len(models):
        raise UsageError("--reordering: the same model twice")
    return models


def _name(model: ReorderingModel) -> str:
    """As Moses names the table of a model."""
    return f"{model.extraction}-{model.orientation}-{model.direction}-{model.condition or 'fe'}"


def read_lexical(counter: Phrases | Rules, paths: Sequence[FileName]) -> None:
    """Read tables of p(target word | source word) and p(source word | target word), or none."""
    from smtplugins.core.extract.phrase_pairs import BadBitext, read_lines

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
    from smtplugins.core.extract.phrase_pairs import NoSmoothing

    try:
        tables = phrases.tables(settings.smoothing, reordering_smoothing=settings.reordering_smoothing)
        for pieces in progress(tables, "writing, MB", quiet=quiet):
            for file, piece in zip(files, pieces, strict=True):
                file.write(piece)
    except NoSmoothing as error:
        raise SmtError(f"{shown_name(bitext.alignment)}: {error}; --smoothing none does without") from error


def check_memory(memory: int | None) -> None:
    """A limit with which all would be spent on sorting is none."""
    if memory is not None and memory < MIN_MEMORY:
        raise UsageError(f"--memory: expected at least 1M, found {memory} bytes")


def tell_left_out(empty: int, skipped: int, note: Note) -> None:
    """Say which sentence pairs nothing was taken from."""
    for count, what in ((empty, "of which a side has no words"), (skipped, "with links outside of them")):
        if count:
            note(f"{count} sentence pair{'s' if count > 1 else ''} {what}: left out")


@contextlib.contextmanager
def outputs(folder: FileName, names: Sequence[str]) -> Iterator[dict[str, BinaryIO]]:
    """Files of a folder, made if it is not there, to write into; none of them comes up if the block fails."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"--output: expected a folder, found the file {os.fspath(folder)!r}")
    made = not os.path.exists(folder)
    os.makedirs(folder, exist_ok=True)
    try:
        with contextlib.ExitStack() as stack:
            yield {name: stack.enter_context(open_binary_write(os.path.join(folder, name))) for name in names}
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        raise


@contextlib.contextmanager
def spill_folder(folder: FileName) -> Iterator[str]:
    """An empty folder inside of one, gone in the end: where the result finds room, so does what it is made from."""
    with tempfile.TemporaryDirectory(prefix=".extract.", dir=folder) as aside:
        yield aside
