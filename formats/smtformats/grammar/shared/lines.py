"""Code shared by grammars with one rule per line: fields, numbers, alignment points, blank lines, verified writing."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, NoReturn

from smtformats.columns import GrammarColumns
from smtformats.errors import quote
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.grammar.shared.gather import grammar_columns
from smtformats.pieces import pieces, stream_of
from smtformats.tokens import BadField, numbers

MAX_SYMBOLS = 1000
MAX_FEATURES = 10000
MAX_POSITION = 32767
FLOAT32_END = 3.4028235677973366e38  # from here on a 32-bit float is infinite
TOKEN = re.compile(r"[^ \t]+")
BAR = re.compile(r"(?<![^ \t])\|\|\|(?![^ \t])")
_POINT = re.compile(r"0*([0-9]{1,5})-0*([0-9]{1,5})", re.ASCII)


class RuleReader:
    """Reads single lines and reports errors in them."""

    shape = ""
    carriage = "\r"
    """An optional suffix of lines before their newline, which is ignored."""

    def __init__(self, lines: Lines, max_symbols: int = MAX_SYMBOLS, max_features: int = MAX_FEATURES) -> None:
        self.lines = lines
        self.max_symbols = max_symbols
        self.max_features = max_features

    def fail(self, field: int, expected: str, found: str) -> NoReturn:
        raise self.lines.error(expected, found, field)

    def rule(self, line: str, raw: str) -> Rule:
        """Parse a line without its newline; ``raw`` is the text to keep."""
        raise NotImplementedError

    def check_size(self, field: int, tokens: Sequence[str], least: int = 0) -> None:
        """Raise an error if a side has too many or too few symbols."""
        if least <= len(tokens) <= self.max_symbols:
            return
        side = "source" if least else "target"
        some = f"{least} to {self.max_symbols}" if least else f"at most {self.max_symbols}"
        self.fail(field, f"{some} {side} symbols", str(len(tokens)))

    def check_count(self, field: int, tokens: Sequence[str], what: str) -> None:
        """Raise an error if a field has more than ``max_features`` items."""
        if len(tokens) > self.max_features:
            self.fail(field, f"at most {quantity(self.max_features, what)}", str(len(tokens)))

    def numbers(self, field: int, tokens: Sequence[str], what: str = "a number that fits 32-bit floats") -> list[float]:
        """Parse finite numbers that fit 32-bit floats."""
        try:
            values = numbers(tokens, what=what)
        except BadField as bad:
            self.fail(field, bad.expected, bad.found)
        for token, value in zip(tokens, values, strict=True):
            if not -FLOAT32_END < value < FLOAT32_END:
                self.fail(field, what, quote(token))
        return values

    def points(self, field: int, tokens: Sequence[str]) -> tuple[tuple[int, int], ...]:
        """Parse alignment points."""
        self.check_count(field, tokens, "alignment point")
        positions = []
        for token in tokens:
            point = _POINT.fullmatch(token)
            if point is None or max(position := (int(point[1]), int(point[2]))) > MAX_POSITION:
                self.fail(field, f"an alignment point s-t of positions up to {MAX_POSITION}", quote(token))
            positions.append(position)
        return tuple(positions)


def is_gap(token: str) -> bool:
    """Whether Joshua takes a token for a gap."""
    return len(token) > 2 and token[0] == "[" and token[-1] == "]"


def quantity(number: int, noun: str) -> str:
    """Return a count and a noun in singular or plural."""
    return f"{number} {noun}{'s' * (number != 1)}"


def read_rules(reader: RuleReader) -> Iterator[Rule]:
    """Yield one rule at a time; empty lines belong to the rule before them."""
    pending: Rule | None = None
    blank = ""
    for raw in reader.lines:
        line = raw.removesuffix("\n").removesuffix(reader.carriage)
        if not line:
            blank += raw
            continue
        rule = reader.rule(line, blank + raw if pending is None else raw)
        if pending is not None:
            yield _with_blank(pending, blank)
        pending, blank = rule, ""
    if pending is None:
        raise reader.lines.error(f"a rule, {reader.shape}", "none in the file", 1, line=1)
    yield _with_blank(pending, blank)


def _with_blank(rule: Rule, blank: str) -> Rule:
    return replace(rule, raw=(rule.raw or "") + blank) if blank else rule


def side_text(symbols: Iterable[Symbol], gap: Callable[[NonTerminal], str]) -> str:
    """Return a side of a rule as text."""
    return " ".join(gap(symbol) if isinstance(symbol, NonTerminal) else symbol for symbol in symbols)


def at_line_of(rule: Rule) -> Lines:
    """Return an empty ``Lines`` at a rule's file and line, for errors about rules that cannot be written."""
    lines = Lines(io.BytesIO(), rule.file)
    lines.number = rule.line
    return lines


def verify(line: str, rule: Rule, reader: RuleReader, names: tuple[str, ...], what: str) -> str:
    """Return a composed line after checking that it reads back as the same rule; values may have lost digits."""
    again = reader.rule(line, "")
    same = replace(rule, names=names, values=again.values, raw="", origin=again.origin)
    if again.lhs != rule.lhs:
        expected = f"the left-hand side [{again.lhs}], the only one that {what} can hold"
        raise reader.lines.error(expected, f"[{rule.lhs}]", 1)
    # Counts may have lost digits, as values may.
    if "\n" in line or len(again.counts) != len(rule.counts) or replace(again, counts=rule.counts) != same:
        raise reader.lines.error(f"a rule that {what} can hold", quote(line), 1)
    return line + "\n"


def load_records(
    parse: Callable[..., Iterator[Rule]], stream: BinaryIO, name: str, max_bytes: int = MAX_LINE_BYTES, **options: Any
) -> GrammarColumns:
    """Load all rules as columns, via records, with the options of ``parse``. The stream may be compressed."""
    lines = Lines(stream_of(pieces(stream)), name, max_bytes=max_bytes)
    return grammar_columns(parse(lines, **options))
