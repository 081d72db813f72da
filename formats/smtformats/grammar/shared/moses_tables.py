"""Read and write the fields that Moses' phrase tables and rule tables share."""

from __future__ import annotations

import math
from dataclasses import replace

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Number
from smtformats.grammar.rules import Rule
from smtformats.grammar.shared.lines import (
    MAX_FEATURES,
    MAX_SYMBOLS,
    TOKEN,
    RuleReader,
    at_line_of,
    quantity,
    verify,
)
from smtformats.tokens import vector
from smtformats.writing import own

TABLE = "TranslationModel0"
FLOOR = -100.0
"""The log probability that Moses gives to all probabilities below e^-100."""
_LEAST = math.exp(FLOOR)
_MOST = 88.7  # exp() of slightly more overflows a 32-bit float
_FIELDS = 7
_PROBABILITY = "a probability of 0 or more"
Points = tuple[tuple[int, int], ...]


class TableReader(RuleReader):
    """Reads lines of up to seven fields; all have as many scores as the first."""

    origin = ""

    def __init__(
        self,
        lines: Lines,
        table: str = TABLE,
        features: str = "",
        max_symbols: int = MAX_SYMBOLS,
        max_features: int = MAX_FEATURES,
        owner: str = "",
    ) -> None:
        super().__init__(lines, max_symbols, max_features)
        self.table = table
        self.owner = owner
        self.columns: tuple[str, ...] = tuple(TOKEN.findall(features))
        self.reason = "as the option features names"
        if len(set(self.columns)) < len(self.columns):
            self.fail(3, "different names in the option features", quote(features))

    def sides(self, source: list[str], target: list[str], points: Points) -> Rule:
        """Return a rule with these sides."""
        raise NotImplementedError

    @staticmethod
    def spell_sides(rule: Rule, lines: Lines) -> tuple[str, str, Points]:
        """Return the sides of a rule as text, and its alignment points."""
        raise NotImplementedError

    def rule(self, line: str, raw: str) -> Rule:
        fields = line.split("|||")
        if not 3 <= len(fields) <= _FIELDS:
            self.fail(min(len(fields) + 1, _FIELDS + 1), f"3 to {_FIELDS} fields, {self.shape}", str(len(fields)))
        fields += [""] * (_FIELDS - len(fields))
        tokens = [TOKEN.findall(field) for field in fields]
        points = self.points(4, tokens[3])
        rule = self.sides(tokens[0], tokens[1], points)
        names, values = self.scores(tokens[2])
        if tokens[5]:
            more, others = self.sparse(tokens[5])
            names, values = names + more, values + others
        self.check_count(5, tokens[4], "count")
        return replace(
            rule,
            names=names,
            values=values,
            alignment=points,
            counts=tuple(self.numbers(5, tokens[4])),
            properties=self.properties(fields[6]) if tokens[6] else (),
            raw=raw,
            origin=self.origin,
            file=self.lines.name,
            line=self.lines.number,
        )

    def scores(self, tokens: list[str]) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """Return the names and natural logarithms of probabilities."""
        self.check_count(3, tokens, "score")
        if not tokens:
            self.fail(3, "1 score or more", "none")
        if not self.columns:
            numbered = (f"tm_{self.owner}_{k}" for k in range(len(tokens)))
            self.columns = tuple(numbered) if self.owner else vector(self.table, len(tokens))
            self.reason = f"as line {self.lines.number} has"
        if len(tokens) != len(self.columns):
            self.fail(3, f"{quantity(len(self.columns), 'score')}, {self.reason}", str(len(tokens)))
        numbers = self.numbers(3, tokens, _PROBABILITY)
        for token, number in zip(tokens, numbers, strict=True):
            if number < 0:
                self.fail(3, _PROBABILITY, quote(token))
        return self.columns, tuple([math.log(number) if number > _LEAST else FLOOR for number in numbers])

    def sparse(self, tokens: list[str]) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """Return the names and values of sparse features, which alternate."""
        self.check_count(6, tokens, "item")
        if len(tokens) % 2:
            self.fail(6, "pairs of a name and a value", quantity(len(tokens), "item"))
        return tuple(f"{self.table}_{name}" for name in tokens[::2]), tuple(self.numbers(6, tokens[1::2]))

    def properties(self, text: str) -> tuple[tuple[str, str], ...]:
        """Return the keys and values of properties; each extends to the last ``}}`` before the next ``{{``."""
        first, *pieces = text.split("{{")
        if first.strip(" \t"):
            self.fail(7, "properties, {{Key value}}", quote(first.strip(" \t")))
        self.check_count(7, pieces, "property")
        properties = []
        for piece in pieces:
            body = piece.rstrip(" \t")
            key, _, value = body[:-2].partition(" ")
            if not body.endswith("}}") or not key or not value:
                self.fail(7, "properties, {{Key value}}", quote("{{" + body))
            properties.append((key, value))
        return tuple(properties)


class TableWriter:
    """Writes rules as lines. The first rule sets the score columns, unless the option ``features`` does."""

    def __init__(self, reader: type[TableReader], number: Number, table: str, features: str) -> None:
        self.reader = reader
        self.number = number
        self.table = table
        self.columns = tuple(TOKEN.findall(features))

    def __call__(self, rule: Rule) -> str:
        """Return the line a rule was read from, or a new one."""
        values = rule.features()
        named = {name: value for name, value in values.items() if name.startswith(f"{self.table}_")}
        sparse = {name: value for name, value in named.items() if name not in self.columns}
        if not self.columns:
            self.columns = tuple(name for name in values if name not in sparse)
        return own(rule, self.reader.origin) or self._compose(rule, values, sparse)

    def _compose(self, rule: Rule, values: dict[str, float], sparse: dict[str, float]) -> str:
        lines = at_line_of(rule)
        known = {*self.columns, *sparse}
        for name in values:
            if name not in known:
                shown = ", ".join(self.columns)
                raise lines.error(f"only features that are columns of the table ({shown})", quote(name), 3)
        scores = [self._probability(name, values.get(name), lines) for name in self.columns]
        source, target, points = self.reader.spell_sides(rule, lines)
        fields = [
            source,
            target,
            " ".join(map(self.number, scores)),
            " ".join(f"{s}-{t}" for s, t in points),
            " ".join(map(self.number, rule.counts)),
            " ".join(f"{name[len(self.table) + 1 :]} {self.number(value)}" for name, value in sparse.items()),
            " ".join(f"{{{{{key} {value}}}}}" for key, value in rule.properties),
        ]
        while not fields[-1] and len(fields) > 3:
            del fields[-1]
        names = vector(self.table, len(scores)) + tuple(sparse)
        reader = self.reader(lines, self.table)
        return verify(" ||| ".join(fields), replace(rule, alignment=points), reader, names, "a table of Moses")

    def _probability(self, name: str, value: float | None, lines: Lines) -> float:
        if value is None:
            raise lines.error(f"a value of {name}, a column of the table", "none", 3)
        if not FLOOR <= value <= _MOST:
            span = f"from {FLOOR:g} to {_MOST:g}"
            raise lines.error(f"a log probability {span} as {name}", self.number(value), 3)
        if value == FLOOR:
            return 0.0
        number = math.exp(value)
        # If fewer digits have the same logarithm, the others are noise.
        shorter = float(f"{number:.12g}")
        return shorter if math.log(shorter) == value else number
