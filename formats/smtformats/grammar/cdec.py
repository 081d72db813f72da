r"""cdec's grammars: one synchronous rule per line.

    [X] ||| [X,1] ein ||| a [X,1] ||| EgivenFCoherent=2 IsSingletonF=0 ||| 1-0

Left-hand side, source, target, features, alignment points, tree; the fields after the target are optional. A token is a
non-terminal if all of it is ``[X]`` or ``[X,1]`` on the source side, ``[1]`` or ``[X,1]`` on the target side; there is
no escape. An unnamed value in position p is the feature ``PhraseModel_p``; of a repeated name the last value counts.
Leading blanks make a rule a refinement of the rule before it.

Accepted although cdec drops it or aborts: a last line without ``\n``, a tree without gaps. Errors, where cdec aborts,
misreads or corrupts memory: a carriage return at the end of a line, a line of blanks, an empty source side, ``1e--5``,
``F=1G=2``, ``inf``, text after a tree, an unnamed value after 100 features, an alignment position above 32767. The
options ``max_symbols`` (per side) and ``max_features`` (features or alignment points per rule) set limits. ``load``
drops trees.

With the option ``label`` a line is a phrase pair without a left-hand side, ``ein haus ||| a house ||| F=2 0.5``, as in
the phrase tables of cdec's formalism `pb`: each is a rule of that label without gaps. Of up to ten unnamed values the
one in position p among these is ``PhraseModel_p``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import BinaryIO, NoReturn, TextIO

from smtformats._scan import CdecScanner
from smtformats.columns import GrammarColumns
from smtformats.errors import quote
from smtformats.files import MAX_LINE_BYTES, Lines
from smtformats.format import Format, Number
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.grammar.shared.lines import (
    BAR,
    FLOAT32_END,
    MAX_FEATURES,
    MAX_SYMBOLS,
    TOKEN,
    RuleReader,
    at_line_of,
    load_records,
    quantity,
    read_rules,
    side_text,
    verify,
)
from smtformats.grammar.shared.scanning import scan
from smtformats.grammar.shared.shapes import GIVENS, joshuas_lead
from smtformats.source_sides import SourceSide, until_bar
from smtformats.writing import own, write_each

NAME = "cdec-grammar"
MAX_UNLABELLED = 100
MAX_LEVEL = 255
_LABEL = r"[^\t\n\r \[\],]+"
_HEAD = re.compile(rf"\[({_LABEL})\][ \t]*\|\|\|")
_GAP = re.compile(rf"\[({_LABEL})(?:,([1-9][0-9]?))?\]")
_HEAD_BYTES = re.compile(b"[ \t]*" + _HEAD.pattern.encode())
_GAP_BYTES = re.compile(_GAP.pattern.encode())
_INDEX = re.compile(r"[1-9][0-9]?")
_ITEM = re.compile(r"[^ \t;]+")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_NODE = re.compile(r"[()]|[^ ()]+")
_FIELDS = 5
_MOST_UNNAMED = 10


class RuleParser(RuleReader):
    """Reads single lines, independent of the lines before them."""

    shape = "[LABEL] ||| source ||| target ||| name=value ..."
    carriage = ""

    def rule(self, line: str, raw: str) -> Rule:
        if line[-1:] == "\r":
            self.fail(line.count(" |||") + 1, "a line that ends in '\\n' alone", "'\\r\\n'")
        body = line.lstrip(" \t")
        if not body:
            self.fail(1, f"{self.shape}, or an empty line", "only blanks")
        head = _HEAD.match(body)
        if head is None:
            self.fail(1, "a left-hand side, [LABEL] |||", quote(body.split(" |||", 1)[0]))
        fields = BAR.split(body[head.end() :], _FIELDS - 1)
        if len(fields) == 1:
            self.fail(2, "||| and a target side after the source side", "the end of the line")
        fields += [""] * (_FIELDS - len(fields))
        source = self.source(TOKEN.findall(fields[0]))
        labels = [symbol.label for symbol in source if isinstance(symbol, NonTerminal)]
        target = self.target(TOKEN.findall(fields[1]), labels)
        names, values = self.features(_ITEM.findall(fields[2]))
        return Rule(
            lhs=head[1],
            source=source,
            target=target,
            names=names,
            values=values,
            alignment=self.points(5, TOKEN.findall(fields[3])),
            tree=self.tree(fields[4].strip(" \t"), len(labels)),
            level=len(line) - len(body),
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
            gap = _GAP.fullmatch(token) if token[0] == "[" else None
            if gap is None:
                symbols.append(token)
                continue
            arity += 1
            if gap[2] is not None and int(gap[2]) != arity:
                self.fail(2, f"index {arity}, as indices go in order", quote(token))
            symbols.append(NonTerminal(gap[1], arity))
        return tuple(symbols)

    def target(self, tokens: list[str], labels: list[str]) -> tuple[Symbol, ...]:
        self.check_size(3, tokens)
        symbols: list[Symbol] = []
        used: set[int] = set()
        for token in tokens:
            gap = _GAP.fullmatch(token) if token[0] == "[" else None
            if gap is None or (gap[2] is None and not _INDEX.fullmatch(gap[1])):
                symbols.append(token)
                continue
            index = int(gap[2] or gap[1])
            if index > len(labels):
                some = f"an index up to {len(labels)}" if labels else "no non-terminal"
                self.fail(3, f"{some}, as on the source side", quote(token))
            if gap[2] is not None and gap[1] != labels[index - 1]:
                self.fail(3, f"[{labels[index - 1]},{index}], as on the source side", quote(token))
            if index in used:
                self.fail(3, "each index once", f"{quote(token)} again")
            used.add(index)
            symbols.append(NonTerminal(labels[index - 1], index))
        if len(used) != len(labels):
            self.fail(3, f"{quantity(len(labels), 'non-terminal')}, as on the source side", str(len(used)))
        return tuple(symbols)

    def features(self, items: list[str]) -> tuple[tuple[str, ...], tuple[float, ...]]:
        self.check_count(4, items, "feature")
        names: list[str] = []
        values: list[float] = []
        for place, item in enumerate(items):
            name, equals, value = item.partition("=")
            if not equals:
                name, value = f"PhraseModel_{place}", item
            if not name or not (equals or _NUMBER.fullmatch(item)):
                self.fail(4, "name=value or a number", quote(item))
            if not equals and place >= MAX_UNLABELLED:
                self.fail(4, f"a name for a feature after {MAX_UNLABELLED} others", quote(item))
            if not _NUMBER.fullmatch(value) or not abs(number := float(value)) < FLOAT32_END:
                self.fail(4, "a number that fits 32-bit floats", quote(value))
            names.append(name)
            values.append(number)
        return tuple(names), tuple(values)

    def tree(self, text: str, arity: int) -> str:
        if text and (text[0] != "(" or "|" in text or not _is_balanced(text)):
            self.fail(6, "a tree in round brackets", quote(text))
        leaves = 0
        before = ""
        for token in _NODE.findall(text):
            leaves += before != "(" and len(token) > 2 and token[0] == "[" and token[-1] == "]"
            before = token
        if text and leaves != arity:
            some = f"{arity} [LABEL] {'leaf' if arity == 1 else 'leaves'}"
            self.fail(6, f"a tree with {some}, as on the source side", str(leaves))
        return text

    def check_level(self, rule: Rule, coarse: list[Rule]) -> None:
        """Check that a rule refines the last rule of ``coarse``, the latest rule of each level, and add it there."""
        most = min(len(coarse), MAX_LEVEL)
        if rule.level > most:
            self.fail(1, f"at most {quantity(most, 'leading blank')} (each means a refinement)", str(rule.level))
        del coarse[rule.level :]
        if coarse and not _refines(rule, coarse[-1]):
            self.fail_refinement(rule)
        coarse.append(rule)

    def fail_refinement(self, rule: Rule) -> NoReturn:
        """Raise the error for a rule that differs from the rule it refines in more than labels."""
        self.fail(1, "the words and gap order of the rule it refines", quote(" ".join(_shown(rule.source))))


def _is_balanced(text: str) -> bool:
    depth = 0
    for i, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return i == len(text) - 1
    return False


def _refines(rule: Rule, coarse: Rule) -> bool:
    def words(symbols: tuple[Symbol, ...], indices: bool) -> list[str | int]:
        return [(s.index if indices else 0) if isinstance(s, NonTerminal) else s for s in symbols]

    same = words(rule.source, False) == words(coarse.source, False)
    return same and words(rule.target, True) == words(coarse.target, True)


def _shown(symbols: tuple[Symbol, ...]) -> list[str]:
    return [f"[{symbol.label},{symbol.index}]" if isinstance(symbol, NonTerminal) else symbol for symbol in symbols]


class _GrammarReader(RuleParser):
    """Reads the lines of a file, which may refine earlier ones."""

    def __init__(self, lines: Lines, max_symbols: int, max_features: int) -> None:
        super().__init__(lines, max_symbols, max_features)
        self.coarse: list[Rule] = []

    def rule(self, line: str, raw: str) -> Rule:
        rule = super().rule(line, raw)
        self.check_level(rule, self.coarse)
        return rule


class _PhraseReader(RuleParser):
    """Reads phrase pairs, the rules of one label."""

    shape = "source ||| target ||| name=value ..."

    def __init__(self, lines: Lines, max_symbols: int, max_features: int, label: str) -> None:
        super().__init__(lines, max_symbols, max_features)
        self.label = label

    def fail(self, field: int, expected: str, found: str) -> NoReturn:
        super().fail(max(1, field - 1), expected, found)

    def rule(self, line: str, raw: str) -> Rule:
        if not line.strip(" \t"):
            self.fail(2, f"{self.shape}, or an empty line", "only blanks")
        rule = super().rule(f"[{self.label}] ||| {line}", raw)
        if rule.arity:
            self.fail(2, "a phrase without gaps", quote(line.split(" |||", 1)[0]))
        # Its line is no rule of a grammar.
        return replace(rule, raw="", origin="")

    def features(self, items: list[str]) -> tuple[tuple[str, ...], tuple[float, ...]]:
        unnamed = [place for place, item in enumerate(items) if "=" not in item]
        if len(unnamed) > _MOST_UNNAMED:
            self.fail(4, f"at most {_MOST_UNNAMED} values without a name", str(len(unnamed)))
        numbers = {place: number for number, place in enumerate(unnamed)}
        bad = next((items[place] for place in unnamed if not _NUMBER.fullmatch(items[place])), None)
        if bad is not None:
            self.fail(4, "name=value or a number", quote(bad))
        return super().features(
            [f"PhraseModel_{numbers[place]}={item}" if place in numbers else item for place, item in enumerate(items)]
        )


def parse(
    lines: Lines, *, label: str = "", max_symbols: int = MAX_SYMBOLS, max_features: int = MAX_FEATURES
) -> Iterator[Rule]:
    """Yield one rule at a time."""
    if label:
        return read_rules(_PhraseReader(lines, max_symbols, max_features, checked_label(label)))
    return read_rules(_GrammarReader(lines, max_symbols, max_features))


def checked_label(label: str) -> str:
    """A label that may stand in brackets."""
    if not re.fullmatch(_LABEL, label):
        raise ValueError(f"label: expected a word without brackets and commas, found {label!r}")
    return label


def load(
    stream: BinaryIO,
    name: str,
    *,
    label: str = "",
    max_bytes: int = MAX_LINE_BYTES,
    max_symbols: int = MAX_SYMBOLS,
    max_features: int = MAX_FEATURES,
) -> GrammarColumns:
    """Load all rules as columns. The stream may be compressed; its first bytes tell."""
    if label:
        limits = {"max_symbols": max_symbols, "max_features": max_features}
        return load_records(parse, stream, name, max_bytes, label=label, **limits)
    scanner = CdecScanner(max_bytes, max_symbols, max_features)

    def explain(lines: Lines) -> NoReturn:
        """Raise the error of the line parser for a line that the scanner rejected."""
        parser = RuleParser(lines, max_symbols, max_features)
        (line,) = lines
        rule = parser.rule(line.removesuffix("\n"), line)
        if scanner.is_bad_refinement:
            parser.fail_refinement(rule)
        parser.check_level(rule, [rule] * scanner.levels)
        raise AssertionError(f"the scanner refuses a line that the parser takes: {line!r}")

    return scan(scanner, stream, name, explain, max_bytes, RuleParser.shape)


def write(records: Iterable[Rule], out: TextIO, number: Number) -> int:
    """Write rules, unchanged ones byte for byte; returns the number of rules."""
    return write_each(records, out, lambda rule: own(rule, NAME) or compose(rule, number))


def compose(rule: Rule, number: Number) -> str:
    """Return a rule in cdec's spelling, verified by reading it back."""
    source = side_text(rule.source, lambda gap: f"[{gap.label}]")
    target = side_text(rule.target, lambda gap: f"[{gap.index}]")
    features = [f"{name}={number(value)}" for name, value in zip(rule.names, rule.values, strict=True)]
    fields = [f"{' ' * rule.level}[{rule.lhs}]", source, target, " ".join(features)]
    if rule.alignment or rule.tree:
        fields.append(" ".join(f"{s}-{t}" for s, t in rule.alignment))
    if rule.tree:
        fields.append(rule.tree)
    return verify(" ||| ".join(fields), rule, RuleParser(at_line_of(rule)), rule.names, "cdec's format")


def matches(head: bytes) -> bool:
    """Match `[LABEL] |||` and a source side on the first line, unless more lines look like Joshua's than cdec's."""
    text = head.decode("utf-8", "ignore").lstrip("\n").split("\n", 1)[0].lstrip(" \t")
    start = _HEAD.match(text)
    return start is not None and BAR.search(text, start.end()) is not None and joshuas_lead(head) <= 0


def source(line: bytes, *, label: str = "") -> SourceSide | None:
    """The source side of a line; with a ``label`` it is the first field."""
    if label:
        return until_bar(line, 0, lambda token: False)
    head = _HEAD_BYTES.match(line)
    return None if head is None else until_bar(line, head.end(), lambda token: bool(_GAP_BYTES.fullmatch(token)))


FORMAT = Format(
    name=NAME,
    kind="grammar",
    summary="cdec synchronous grammar: [X] ||| source ||| target ||| name=value ... ||| alignment",
    matches=matches,
    parse=parse,
    write=write,
    load=load,
    source=source,
    carries=frozenset({"alignment", "tree", "level"}),
    probabilities=GIVENS,
    example="[X] ||| [X,1] haus ||| [X,1] house ||| EgivenF=0.5 CountEF=2 ||| 1-1\n",
)
