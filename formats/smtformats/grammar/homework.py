"""Phrase tables of translation courses (JHU, Penn): phrase pairs with a base-10 log probability.

    ein haus ||| a house ||| -0.30103

The value is the feature ``log10p`` (renamed by the option ``feature``), unchanged. The left-hand side of all pairs is
X; the target side may be empty. Writing a rule that has anything else, such as further features, is an error.

Tables whose source sides are all numbers are taken for n-best lists, and tables whose values are all above 0 for Moses
tables with one probability, unless ``--from homework-phrases`` is given. Empty lines are skipped. Errors: more or fewer
than three fields, an empty source side, anything but one number that fits 32-bit floats. The option ``max_symbols``
limits the symbols per side.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import TextIO

from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.lines import (
    BAR,
    MAX_SYMBOLS,
    TOKEN,
    RuleReader,
    at_line_of,
    load_records,
    read_rules,
    side_text,
    verify,
)
from smtformats.grammar.shared.shapes import is_homework
from smtformats.source_sides import SourceSide, until_bar
from smtformats.writing import own, write_each

NAME = "homework-phrases"
FEATURE = "log10p"


class _Reader(RuleReader):
    shape = "source ||| target ||| number"

    def __init__(self, lines: Lines, feature: str, max_symbols: int = MAX_SYMBOLS) -> None:
        super().__init__(lines, max_symbols)
        self.names = (feature,)

    def rule(self, line: str, raw: str) -> Rule:
        fields = BAR.split(line)
        if len(fields) != 3:
            self.fail(min(len(fields) + 1, 4), f"3 fields, {self.shape}", str(len(fields)))
        source, target, values = map(TOKEN.findall, fields)
        self.check_size(1, source, 1)
        self.check_size(2, target)
        if len(values) != 1:
            self.fail(3, "1 number", str(len(values)))
        return Rule(
            lhs="X",
            source=tuple(source),
            target=tuple(target),
            names=self.names,
            values=tuple(self.numbers(3, values)),
            raw=raw,
            origin=NAME,
            file=self.lines.name,
            line=self.lines.number,
        )


def parse(lines: Lines, *, feature: str = FEATURE, max_symbols: int = MAX_SYMBOLS) -> Iterator[Rule]:
    """Yield one pair at a time; ``feature`` names the value."""
    return read_rules(_Reader(lines, feature, max_symbols))


load = functools.partial(load_records, parse)


def write(records: Iterable[Rule], out: TextIO, number: Number, *, feature: str = FEATURE) -> int:
    """Write pairs, unchanged ones byte for byte; returns the number of pairs."""
    return write_each(records, out, lambda rule: own(rule, NAME) or _compose(rule, number, feature))


def _compose(rule: Rule, number: Number, feature: str) -> str:
    lines = at_line_of(rule)

    def gap(symbol: NonTerminal) -> str:
        raise lines.error("words only", f"the gap [{symbol.label}]", 1)

    values = rule.features()
    if list(values) != [feature]:
        raise lines.error(f"only the feature {feature} (the option feature names another)", " ".join(values), 3)
    line = " ||| ".join((side_text(rule.source, gap), side_text(rule.target, gap), number(values[feature])))
    return verify(line, rule, _Reader(lines, feature), (feature,), "a table of pairs and one number")


def source(line: bytes) -> SourceSide | None:
    """The source side of a line."""
    return until_bar(line, 0, lambda token: False)


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="teaching phrase table: source ||| target ||| log10 of a probability",
    matches=is_homework,
    parse=parse,
    write=write,
    load=load,
    source=source,
    probabilities=".*",
    example="ein haus ||| a house ||| -0.30103\n",
)
