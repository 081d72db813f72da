r"""Joshua's derivations, ``output-format = %d``: one block of lines per hypothesis.

    0 ||| -1.176 |||   0-3 ||| [GOAL] -> [GOAL] [X] /// [GOAL,1] [X,2] ||| < <s> un | un > ||| tm_glue_0=1.000 ||| 0.5
        0-1 ||| [GOAL] -> <s> /// <s> ||| < <s> | <s> > ||| tm_glue_0=0.000 ||| 0.0
        1-3 ||| [X] -> un /// one ||| < one | one > ||| tm_pt_0=-0.250 ||| -0.25 ||| [0, 0]

Each line is a rule, indented by two blanks per level: the span, the rule (gaps have indices on the target side only),
the states (not kept), the features and the score of this use of the rule, and possibly its alignment points. Positions
count ``<s>``. Children are in source order.

The first line may start with ``%i |||``, ``%i ||| %c |||`` or ``%i ||| %k ||| %c |||``; without them hypotheses are
numbered, each as its own sentence. An empty line ends a block. For an untranslatable sentence Joshua prints ``%d``
itself: a derivation without nodes.

Errors: a rule whose gaps and children differ in number, a line more than one level deeper than the previous line, a
second root in a block, an unknown gap index, a malformed id or score. The option ``max_nodes`` limits the rules of a
derivation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn

from smtformats.derivation.derivations import DerivationNode, PrintedDerivation
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, first_lines
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.grammar.shared.lines import is_gap
from smtformats.nbest.cdec import feature_field
from smtformats.tokens import BadField, Layouts, blanks, is_id, total_of

NAME = "joshua-derivations"
MAX_NODES = 100000
_RULE = re.compile(r"(?<! )( +)([0-9]{1,9})-([0-9]{1,9}) \|\|\| \[([^ ]+)\] -> ")
_BAR = re.compile(r"(?<= )\|\|\|(?= )")
_SIDES = re.compile(r" ///(?= |$)")
_INDEX = re.compile(r"[1-9][0-9]{0,5}")
_POINTS = re.compile(r"\[(?:[0-9]{1,9}, [0-9]{1,9}(?:, |(?=\])))*\]")


class _Reader:
    """Reads the lines of a file, block by block."""

    def __init__(self, lines: Lines, max_nodes: int) -> None:
        self.lines = lines
        self.max_nodes = max_nodes
        self.layouts = Layouts()
        self.top: PrintedDerivation | None = None
        self.last = PrintedDerivation("-1", 0, None, ())
        self.nodes: list[DerivationNode] = []
        self.children: list[list[int]] = []
        self.open_nodes: list[int] = []

    def fail(self, field: int, expected: str, found: str) -> NoReturn:
        raise self.lines.error(expected, found, field)

    def begin(self, head: str) -> None:
        """Start a hypothesis; ``head`` is the text before its first rule."""
        fields = [field.strip(" ") for field in head.split("|||")[:-1]]
        if len(fields) > 3:
            self.fail(4, "%i, %k and %c at most in front of a derivation", quote(head))
        number = fields[0] if fields else str(int(self.last.id) + 1)
        if not is_id(number):
            self.fail(1, "a sentence id (a whole number)", quote(number))
        rank = self.last.rank + 1 if number == self.last.id else 0
        if len(fields) == 3 and fields[1] != "%k":
            if not is_id(fields[1]) or not int(fields[1]):
                self.fail(2, "a rank from 1 on", quote(fields[1]))
            rank = int(fields[1]) - 1
        try:
            score = self.number(fields[-1]) if len(fields) > 1 else None
        except BadField as bad:
            self.fail(len(fields), bad.expected, bad.found)
        self.top = self.last = PrintedDerivation(number, rank, score, (), self.lines.name, self.lines.number)

    @staticmethod
    def number(text: str) -> float:
        """Parse a score in Java's spelling."""
        return total_of(text.replace("Infinity", "inf"))

    def add(self, match: re.Match[str], line: str, indent: int) -> None:
        """Add a rule, indented by ``indent`` blanks."""
        if indent % 2 or not 2 <= indent <= 2 * (len(self.open_nodes) + 1):
            self.fail(1, f"an even number of blanks from 2 to {2 * len(self.open_nodes) + 2}", str(indent))
        del self.open_nodes[indent // 2 - 1 :]
        if self.nodes and not self.open_nodes:
            self.fail(1, "one root, or an empty line before the next derivation", "another")
        if len(self.nodes) == self.max_nodes:
            self.fail(1, f"at most {self.max_nodes} rules", "more")
        if self.open_nodes:
            self.children[self.open_nodes[-1]].append(len(self.nodes))
        self.open_nodes.append(len(self.nodes))
        self.nodes.append(self.node(match, line))
        self.children.append([])

    def node(self, match: re.Match[str], line: str) -> DerivationNode:
        """Parse the node on a line."""
        at = line[: match.start()].count("|||")
        fields = _BAR.split(line[match.end() - 1 :])
        if not 4 <= len(fields) <= 5:
            expected = "5 or 6 fields, span ||| rule ||| states ||| features ||| score [||| alignment]"
            self.fail(at + 1, expected, str(len(fields) + 1))
        sides = _SIDES.split(fields[0], 1)
        if len(sides) == 1:
            self.fail(at + 2, "/// between source and target side", quote(fields[0]))
        field = at + 4
        try:
            names, values = feature_field(fields[2], self.layouts)
            field = at + 5
            score = self.number(fields[3])
        except BadField as bad:
            self.fail(field, bad.expected, bad.found)
        points: list[int] = []
        if len(fields) == 5:
            if not _POINTS.fullmatch(text := fields[4].strip(" ")):
                self.fail(at + 6, "alignment points [s, t, s, t]", quote(text))
            points = [int(number) for number in re.findall("[0-9]+", text)]
        symbols = self.source(at + 2, blanks(sides[0]))
        rule = Rule(
            lhs=match[4],
            source=symbols,
            target=self.target(
                at + 2, blanks(sides[1]), [symbol for symbol in symbols if isinstance(symbol, NonTerminal)]
            ),
            alignment=tuple(zip(points[::2], points[1::2], strict=True)),
            origin=NAME,
            file=self.lines.name,
            line=self.lines.number,
        )
        return DerivationNode(rule.lhs, rule, (int(match[2]), int(match[3])), (), names, tuple(values), score)

    def source(self, field: int, tokens: list[str]) -> tuple[Symbol, ...]:
        symbols: list[Symbol] = []
        arity = 0
        for token in tokens:
            arity += (gap := is_gap(token))
            symbols.append(NonTerminal(token[1:-1], arity) if gap else token)
        if not symbols:
            self.fail(field, "a source side", "none")
        return tuple(symbols)

    def target(self, field: int, tokens: list[str], gaps: list[NonTerminal]) -> tuple[Symbol, ...]:
        symbols: list[Symbol] = []
        unused = set(gaps)
        for token in tokens:
            if not is_gap(token):
                symbols.append(token)
                continue
            index = token[1:-1].rpartition(",")[2]
            if not _INDEX.fullmatch(index) or int(index) > len(gaps) or gaps[int(index) - 1] not in unused:
                self.fail(field, f"each of {len(gaps)} gaps once, [LABEL,1]", quote(token))
            symbols.append(gaps[int(index) - 1])
            unused.discard(gaps[int(index) - 1])
        if unused:
            self.fail(field, f"{len(gaps)} gaps, as on the source side", str(len(gaps) - len(unused)))
        return tuple(symbols)

    def done(self) -> PrintedDerivation:
        """Return the complete derivation."""
        assert self.top is not None
        nodes = []
        for node, children in zip(self.nodes, self.children, strict=True):
            if node.rule is not None and node.rule.arity != len(children):
                expected = f"{node.rule.arity} children, one per gap of the rule"
                raise self.lines.error(expected, str(len(children)), 1, node.rule.line)
            nodes.append(replace(node, children=tuple(children)))
        derivation = replace(self.top, nodes=tuple(nodes))
        self.top, self.nodes, self.children, self.open_nodes = None, [], [], []
        return derivation


def parse(lines: Lines, *, max_nodes: int = MAX_NODES) -> Iterator[PrintedDerivation]:
    """Yield one derivation at a time."""
    reader = _Reader(lines, max_nodes)
    for raw in lines:
        line = raw.rstrip("\r\n")
        match = _RULE.search(line)
        head = line[: match.start()] if match is not None else line.removesuffix("%d")
        if reader.top is not None and (not line or head):
            yield reader.done()
        if not line:
            continue
        if match is None and not line.endswith("%d"):
            reader.fail(1, "i-j ||| [LABEL] -> source /// target ||| ..., or %d", quote(line))
        if reader.top is None:
            if head and not head.rstrip(" ").endswith("|||"):
                reader.fail(1, "nothing before a rule, or %i |||", quote(head))
            reader.begin(head)
        if match is None:
            yield reader.done()
        else:
            reader.add(match, line, len(match[1]) - bool(head))
    if reader.top is not None:
        yield reader.done()
    if not lines.number:
        raise lines.error("i-j ||| [LABEL] -> source /// target ||| ..., or %d", "an empty file", 1)


def matches(head: bytes) -> bool:
    """Match a rule on one of the first lines, with only ``%d`` lines before it."""
    for line in first_lines(head):
        match = _RULE.search(line)
        if match is not None:
            front = line[: match.start()]
            return " ///" in line and (not front or front.endswith("|||"))
        if not line.rstrip("\r").endswith("%d"):
            return False
    return False


FORMAT = Format(
    name=NAME,
    kind="derivation",
    summary="Joshua derivations (output-format %d): i-j ||| [LABEL] -> source /// target ||| states ||| ...",
    matches=matches,
    parse=parse,
    example="""\
  0-3 ||| [GOAL] -> [GOAL] [X] /// [GOAL,1] [X,2] ||| < <s> a | a house > ||| tm_glue_0=1.000 ||| 0.5
    0-1 ||| [GOAL] -> <s> /// <s> ||| < <s> | <s> > ||| tm_glue_0=0.000 ||| 0.0
    1-3 ||| [X] -> ein haus /// a house ||| < a house | a house > ||| tm_pt_0=-0.250 ||| -0.25 ||| [0, 0, 1, 1]

""",
)
