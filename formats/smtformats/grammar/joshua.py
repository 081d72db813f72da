r"""Joshua's text grammars, as Thrax writes them (``tm = hiero``, ``thrax``, ``phrase``; also SAMT and glue grammars).

    [X] ||| el [X,1] come ||| the [X,1] eats ||| 0.5 1 OOV=1 ||| 0-0 2-2 ||| 2

Left-hand side, source, target, features, alignment points, Thrax's count; the fields after the target are optional, and
fields after the count are ignored. Unnamed values are costs: the k-th of a line, from 0, is the feature ``tm_OWNER_k``
with its sign flipped, as in Joshua. Named values are unchanged, even ``tm_OWNER_k=2``, and do not count for k. Of a
repeated name the last value counts. The option ``owner`` (``pt``) is the ``-owner`` of the ``tm`` line, so a glue
grammar is read with ``--from joshua-grammar,owner=glue``. Only the index of a target-side gap matters, not its label.
Features are written as ``name=value``.

A grammar with only ``name=value`` features, labelled gaps on both sides and no count is ambiguous and taken for cdec's,
unless ``--from joshua-grammar`` is given. One with unnamed values and such gaps is taken for Joshua's;
``--from cdec-grammar`` reads it without flipping signs.

Accepted although Joshua fails or reads an empty word: an empty line, an empty target side, repeated blanks. Errors,
where Joshua misreads or the rule never applies: a left-hand side without brackets or with a comma, source-side gaps out
of order, a gap missing or repeated on the target side, an empty source side, ``|||`` without blanks around it
(``|||  |||`` is an empty field), ``NaN``, ``Infinity``, ``1f``, ``0x1p3`` and values outside 32-bit floats. Alignment
positions may be up to 32767 (127 in Joshua). The options ``max_symbols`` (per side) and ``max_features`` (features or
alignment points per rule) set limits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.grammar.shared.lines import (
    MAX_FEATURES,
    MAX_SYMBOLS,
    RuleReader,
    at_line_of,
    is_gap,
    load_records,
    quantity,
    read_rules,
    side_text,
    verify,
)
from smtformats.grammar.shared.shapes import GIVENS, is_grammar, joshuas_lead
from smtformats.source_sides import SourceSide, until_bar
from smtformats.tokens import is_number
from smtformats.writing import own, write_each

NAME = "joshua-grammar"
OWNER = "pt"
_BLANK = r" \t\x0b\f\r"
_BAR = re.compile(rf"[{_BLANK}]\|\|\|[{_BLANK}]")
_TOKEN = re.compile(rf"[^{_BLANK}]+")
_LHS = re.compile(rf"\[([^{_BLANK},]+)\]")
_INDEX = re.compile(r"[1-9][0-9]{0,5}")
_HEAD_BYTES = re.compile(rb"\[[^ \t\x0b\f\r,]+\] \|\|\| ")
_ODD_BLANKS = re.compile(rb"[\x0b\f\r]")


class _Reader(RuleReader):
    shape = "[LABEL] ||| source ||| target ||| numbers or name=value ..."

    def __init__(
        self, lines: Lines, owner: str, max_symbols: int = MAX_SYMBOLS, max_features: int = MAX_FEATURES
    ) -> None:
        super().__init__(lines, max_symbols, max_features)
        self.dense = f"tm_{owner}_"
        self.slot = re.compile(rf"{re.escape(self.dense)}0*([0-9]+)")

    def rule(self, line: str, raw: str) -> Rule:
        fields = _BAR.split(line)
        head = _LHS.fullmatch(fields[0])
        if head is None:
            self.fail(1, "a left-hand side, [LABEL], and one blank", quote(fields[0]))
        if line.endswith("|||"):
            self.fail(len(fields), "a blank after the last |||", "the end of the line")
        if len(fields) < 3:
            self.fail(len(fields) + 1, f"3 fields or more, {self.shape}", str(len(fields)))
        tokens = [_TOKEN.findall(field) for field in fields[1:6]]
        tokens += [[]] * (5 - len(tokens))
        for field, words in enumerate(tokens[:4], 2):
            if "|||" in words:
                self.fail(field, "an empty field with two blanks, `|||  |||`", "'||| |||'")
        source = self.source(tokens[0])
        names, values = self.features(tokens[2])
        return Rule(
            lhs=head[1],
            source=source,
            target=self.target(tokens[1], [symbol for symbol in source if isinstance(symbol, NonTerminal)]),
            names=names,
            values=values,
            alignment=self.points(5, tokens[3]),
            counts=tuple(self.numbers(6, tokens[4])) if all(map(is_number, tokens[4])) else (),
            raw=raw,
            origin=NAME,
            file=self.lines.name,
            line=self.lines.number,
        )

    def source(self, tokens: list[str]) -> tuple[Symbol, ...]:
        self.check_size(2, tokens, 1)
        symbols: list[Symbol] = []
        arity = 0
        for token in tokens:
            if not is_gap(token):
                symbols.append(token)
                continue
            arity += 1
            label, comma, index = token[1:-1].partition(",")
            if not label:
                self.fail(2, "a label of the gap", quote(token))
            if comma and index != str(arity):
                self.fail(2, f"index {arity}, as Joshua numbers gaps in order", quote(token))
            symbols.append(NonTerminal(label, arity))
        return tuple(symbols)

    def target(self, tokens: list[str], gaps: list[NonTerminal]) -> tuple[Symbol, ...]:
        self.check_size(3, tokens)
        symbols: list[Symbol] = []
        used: set[int] = set()
        for token in tokens:
            if not is_gap(token):
                symbols.append(token)
                continue
            index = token[1:-1].partition(",")[2]
            if not _INDEX.fullmatch(index):
                self.fail(3, "a gap with its index, [LABEL,1]", quote(token))
            place = int(index)
            if place > len(gaps):
                self.fail(3, f"{quantity(len(gaps), 'gap')}, as on the source side", quote(token))
            if place in used:
                self.fail(3, "each index once", f"{quote(token)} again")
            used.add(place)
            symbols.append(gaps[place - 1])
        if len(used) != len(gaps):
            self.fail(3, f"{quantity(len(gaps), 'gap')}, as on the source side", str(len(used)))
        return tuple(symbols)

    def features(self, items: list[str]) -> tuple[tuple[str, ...], tuple[float, ...]]:
        self.check_count(4, items, "feature")
        names: list[str] = []
        texts: list[str] = []
        costs: list[int] = []
        for place, item in enumerate(items):
            name, equals, value = item.partition("=")
            if not equals:
                name, value = f"{self.dense}{len(costs)}", item
                costs.append(place)
            elif not name:
                self.fail(4, "name=value or a number", quote(item))
            elif slot := self.slot.fullmatch(name):
                name = self.dense + slot[1]
            names.append(name)
            texts.append(value)
        values = self.numbers(4, texts)
        for place in costs:
            values[place] = 0.0 - values[place]  # not -0.0 of a 0
        return tuple(names), tuple(values)


def parse(
    lines: Lines, *, owner: str = OWNER, max_symbols: int = MAX_SYMBOLS, max_features: int = MAX_FEATURES
) -> Iterator[Rule]:
    """Yield one rule at a time; ``owner`` is the owner in Joshua's configuration."""
    return read_rules(_Reader(lines, owner, max_symbols, max_features))


load = functools.partial(load_records, parse)


def write(records: Iterable[Rule], out: TextIO, number: Number) -> int:
    """Write rules, unchanged ones byte for byte, others with named values only; returns the number of rules."""
    return write_each(records, out, lambda rule: own(rule, NAME) or _compose(rule, number))


def _compose(rule: Rule, number: Number) -> str:
    def gap(symbol: NonTerminal) -> str:
        return f"[{symbol.label},{symbol.index}]"

    features = [f"{name}={number(value)}" for name, value in zip(rule.names, rule.values, strict=True)]
    fields = [f"[{rule.lhs}]", side_text(rule.source, gap), side_text(rule.target, gap), " ".join(features)]
    if rule.alignment or rule.counts:
        fields.append(" ".join(f"{s}-{t}" for s, t in rule.alignment))
    if rule.counts:
        fields.append(" ".join(map(number, rule.counts)))
    reader = _Reader(at_line_of(rule), OWNER)
    return verify(" ||| ".join(fields), rule, reader, rule.names, "Joshua's format")


def matches(head: bytes) -> bool:
    """Match a left-hand side in brackets, and at least as many lines in Joshua's style as in cdec's."""
    return is_grammar(head) and joshuas_lead(head) >= 0


def source(line: bytes) -> SourceSide | None:
    """The source side of a line."""
    head = _HEAD_BYTES.match(line)
    side = None if head is None else until_bar(line, head.end(), lambda token: len(token) > 2 and token[-1] == 0x5D)
    return None if side is None or _ODD_BLANKS.search(line, 0, side[0]) else side


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="Joshua or Thrax grammar: [X] ||| source ||| target ||| costs or name=value ... ||| alignment ||| count",
    matches=matches,
    parse=parse,
    write=write,
    load=load,
    source=source,
    carries=frozenset({"alignment", "counts"}),
    probabilities=GIVENS,
    fallback=1,
    example="[X] ||| el [X,1] come ||| the [X,1] eats ||| 0.5 1 OOV=1 ||| 0-0 2-2 ||| 2\n",
)
