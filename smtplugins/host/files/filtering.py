"""Filter tables to an input: keep the lines whose source sides can match one of its sentences, byte for byte."""

from __future__ import annotations

import io
import itertools
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from smtformats import formats_of
from smtformats.errors import FormatError
from smtformats.files import Lines, open_binary_write, shown_name
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.source_sides import blank_separated
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.core.grammar.matching import InputPhrases
from smtplugins.host.decode.sentences import read_sentences
from smtplugins.host.files.conversion import write_mapped
from smtplugins.host.files.escaping import check_scheme, escaped
from smtplugins.host.files.opening import Opened, Path, open_known, with_options
from smtplugins.host.progress import progress

if TYPE_CHECKING:
    from smtformats import Format, GrammarColumns
    from smtformats.source_sides import SourceSide
    from smtplugins.host.host import Host

KINDS = ("grammar", "reordering")
_NO_LINE = b"\n\n"


def input_phrases(
    host: Host,
    files: Iterable[Path],
    format: str | None = None,
    *,
    escape: str | None = None,
    lowercase: bool = False,
) -> InputPhrases:
    """Read the sentences of an input, with their words as decoding spells them."""
    check_scheme(escape)

    def words() -> Iterator[list[bytes]]:
        for file in files:
            for sentence in read_sentences(host, file, format):
                if sentence.lattice is not None:
                    raise UsageError(f"{shown_name(file)}: sentence {sentence.id}: expected words, found a lattice")
                spelt = sentence if escape is None else escaped(sentence, escape)
                yield [
                    (word.lower() if lowercase else word).encode("utf-8", "surrogateescape") for word in spelt.tokens
                ]

    phrases = InputPhrases(words())
    if not len(phrases):
        raise SmtError(f"{', '.join(map(shown_name, files))}: expected sentences, found none")
    return phrases


def filter_table(
    host: Host, table: Path, target: Path, phrases: InputPhrases, format: str | None = None, *, quiet: bool = True
) -> tuple[int, int]:
    """Copy the lines of a table that can match the input; return the numbers of lines kept and read."""
    with open_known(table, KINDS, format, host.formats(*KINDS)) as opened:
        if opened.record.mapped:
            return _filter_mapped(opened, target, phrases)
        if opened.record.source is None:
            raise UsageError(_unfiltered(opened.record, table, host))
        _check_suffix(host, target)
        kept = read = 0
        with open_binary_write(target) as out:
            for line, fits in _told(opened, phrases, quiet):
                read += 1
                if fits:
                    kept += 1
                    out.write(line)
            if not kept:
                raise _no_match(table, read)
    return kept, read


def _check_suffix(host: Host, target: Path) -> None:
    """Raise UsageError for lines of text in a file that is called as a mapped folder."""
    for fmt in host.formats():
        if fmt.mapped and os.fspath(target).endswith(fmt.suffixes):
            raise UsageError(
                f"{os.fspath(target)}: the suffix is that of {fmt.name}, and lines of text are filtered into text: "
                "filter into a file of another name, which `smt convert` makes a folder of"
            )


def _filter_mapped(opened: Opened, target: Path, phrases: InputPhrases) -> tuple[int, int]:
    """Write the rules of a mapped table that can match the input into another."""
    import numpy as np

    from smtformats.grammar.shared.table_file import TableFile

    read = 0

    def chosen(columns: GrammarColumns) -> GrammarColumns:
        nonlocal read
        read = len(columns)
        words = [word.encode() for word in columns.words[:]]
        source, ends = columns.source.tolist(), columns.source_offsets.tolist()
        before, fits = None, False
        rows = []
        for row, (first, end) in enumerate(itertools.pairwise(ends)):
            side = source[first:end]
            if side != before:
                before, fits = side, phrases.match([words[symbol] if symbol >= 0 else None for symbol in side])
            if fits:
                rows.append(row)
        if not rows:
            raise _no_match(opened.path, read)
        return columns.take(np.array(rows, dtype=np.int64))

    record = with_options(opened.record, {"quantise": TableFile(opened.path).about["bits"]})
    return write_mapped(opened, target, record, chosen=chosen), read


def is_folder_of_tables(path: Path) -> bool:
    """Whether a path is a folder that is no table itself."""
    if not os.path.isdir(path):
        return False
    listing = "".join(f"{name}\n" for name in sorted(os.listdir(path))).encode("utf-8", "surrogateescape")
    return not any(record.folder and record.matches(listing) for kind in KINDS for record in formats_of(kind))


def filter_folder(
    host: Host,
    folder: Path,
    target: Path,
    phrases: InputPhrases,
    note: Callable[[str], None] = lambda text: None,
    *,
    quiet: bool = True,
) -> tuple[int, int]:
    """Filter the tables of a folder into a new one, which appears when it is complete; ``note`` names other files."""
    if os.path.exists(target) and not (os.path.isdir(target) and not os.listdir(target)):
        raise UsageError(f"{os.fspath(target)}: expected a new or empty folder, found another")
    kept = read = 0
    others = []
    parent = os.path.dirname(os.path.abspath(target))
    os.makedirs(parent, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".filter.", suffix=".part", dir=parent) as aside:
        made = os.path.join(aside, "made")
        os.mkdir(made)
        for name in sorted(name for name in os.listdir(folder) if not name.startswith(".")):
            path = os.path.join(folder, name)
            if not _can_be_filtered(host, path):
                others.append(name)
                continue
            counts = filter_table(host, path, os.path.join(made, name), phrases, quiet=quiet)
            kept, read = kept + counts[0], read + counts[1]
        if not read:
            raise SmtError(f"{os.fspath(folder)}: expected tables of phrases, rules or orientations, found none")
        os.rename(made, target)
    if others:
        note(f"not filtered, left out: {', '.join(others)}")
    return kept, read


def _can_be_filtered(host: Host, path: str) -> bool:
    """Whether a file or folder is a table whose rules can be chosen."""
    try:
        with open_known(path, KINDS, None, host.formats(*KINDS)) as opened:
            return opened.record.source is not None or opened.record.mapped
    except FormatError:
        return False


def _no_match(table: Path, read: int) -> SmtError:
    return SmtError(f"{shown_name(table)}: none of its {read} rules can match the input")


def _unfiltered(record: Format, table: Path, host: Host) -> str:
    names = ", ".join(fmt.name for fmt in host.formats(*KINDS) if fmt.source is not None)
    why = "decoders look up the phrases of each sentence in it" if record.lookup is not None else "it has no lines"
    return f"{os.fspath(table)}: {record.name} cannot be filtered, as {why}; tables of these formats can: {names}"


def _told(opened: Opened, phrases: InputPhrases, quiet: bool) -> Iterator[tuple[bytes, bool]]:
    """The lines of a table that are not empty, and whether each can match the input."""
    source: Callable[[bytes], SourceSide | None] | None = opened.record.source
    assert source is not None
    before, fits = _NO_LINE, False
    for number, line in enumerate(progress(_lines(opened), "lines", quiet=quiet), 1):
        # Most lines have the source side of the line before them.
        if not line.startswith(before):
            if not line.strip(b"\r\n"):
                continue
            side = source(line)
            if side is None:
                before, fits = _NO_LINE, phrases.match(_parsed(opened, line, number))
            else:
                before, fits = line[: side[0]], phrases.match(side[1])
        yield line, fits


def _lines(opened: Opened) -> Iterator[bytes]:
    """The lines of a file as bytes, each of at most ``max_line``."""
    assert opened.stream is not None
    name, limit, read, number = shown_name(opened.path), opened.record.max_line, opened.stream.readline, 0
    try:
        while line := read(limit + 1):
            number += 1
            if len(line) > limit:
                raise FormatError(f"a line of at most {limit} bytes", "a longer one", file=name, line=number, field=1)
            yield line
    except EOFError as error:
        raise FormatError("a complete compressed file", str(error), file=name, line=number + 1, field=1) from error


def _parsed(opened: Opened, line: bytes, number: int) -> list[bytes | None]:
    """The source side of a line as the format's parser reads it, which may raise the line's error."""
    lines = Lines(io.BytesIO(line), shown_name(opened.path), max_bytes=opened.record.max_line)
    lines.number = number - 1
    assert opened.record.parse is not None
    record: Any = next(iter(opened.record.parse(lines)))
    if not isinstance(record, Rule):
        return [*blank_separated(record.source.encode())]
    return [None if isinstance(symbol, NonTerminal) else symbol.encode() for symbol in record.source]
