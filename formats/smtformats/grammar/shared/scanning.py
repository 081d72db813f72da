"""Load rules as columns with the native scanners; lines they do not accept go to the format's parser."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from smtformats._scan import MosesScanner
from smtformats.columns import GrammarColumns
from smtformats.errors import FormatError
from smtformats.files import Lines
from smtformats.grammar.rules import NonTerminal, Symbol
from smtformats.grammar.shared.moses_tables import TableReader
from smtformats.scanning import Scanner, scanned


def scan(
    scanner: Scanner, stream: BinaryIO, name: str, read: Callable[[Lines], None], max_bytes: int, shape: str
) -> GrammarColumns:
    """Return the columns of a file, by :func:`scanned`. ``shape`` describes a rule, for a file without rules."""
    columns = GrammarColumns.of(scanned(scanner, stream, name, read, max_bytes))
    if not len(columns):
        raise FormatError(f"a rule, {shape}", "none in the file", file=name, line=1, field=1)
    return columns


def scan_table(reader: TableReader, stream: BinaryIO, max_bytes: int, *, gaps: bool) -> GrammarColumns:
    """Return the columns of a Moses table, with gaps or without.

    The first line always goes to the parser, which sets the score names for all others.
    """
    name = reader.lines.name
    scanner = MosesScanner(max_bytes, reader.max_symbols, reader.max_features, gaps, f"{reader.table}_")

    def read(lines: Lines) -> None:
        reader.lines = lines
        (raw,) = lines
        line = raw.removesuffix("\n").removesuffix("\r")
        if not line:
            return
        rule = reader.rule(line, raw)
        scanner.expect(reader.columns)
        source, target = map(_numbered, (rule.source, rule.target))
        scanner.add(rule.lhs, source, target, list(rule.features().items()), rule.alignment)

    return scan(scanner, stream, name, read, max_bytes, reader.shape)


def _numbered(symbols: tuple[Symbol, ...]) -> list[tuple[str, int]]:
    return [(symbol.label, symbol.index) if isinstance(symbol, NonTerminal) else (symbol, 0) for symbol in symbols]
