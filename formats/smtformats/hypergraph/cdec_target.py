"""cdec's target graphs, ``--show_target_graph DIR``: the target side of a hypergraph, one file per sentence.

    2 3
    2
    a ||| F=1
    one ||| F=0.5 Rare=1
    1
    [0] house ||| G=2

The numbers of nodes and edges; then for each node, from 0 and in topological order, the number of incoming edges and
one line per edge: target words, with a tail node's number in each gap, and the features of the rule. Values have six
digits; features that are not the rule's, such as the language model's, are missing. The last node is the goal. The
sentence id is the file name without its suffixes.

Digits in brackets are always a gap: there is no escape. Rules have no source side, edges no spans.

Errors: a tail that is not an earlier node, a feature twice on an edge, wrong counts, text after the last node. The
options ``max_nodes`` and ``max_edges`` limit the size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, Edge, GraphBuilder, GraphColumns
from smtformats.hypergraph.shared.sentence import sentence_id

NAME = "cdec-target-graph"
_COUNT = re.compile(r"(0|[1-9][0-9]{0,17})")
_COUNTS = re.compile(r"(0|[1-9][0-9]{0,17}) (0|[1-9][0-9]{0,17})")
_GAP = re.compile(r"\[([0-9]{1,18})\]")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_SHAPE = re.compile(r"[0-9]+ [0-9]+\n[0-9]+\n(?:[^\n]* )?\|\|\|(?: [^\n]*)?(?:\n|\Z)")


class _Reader:
    def __init__(self, lines: Lines, max_nodes: int, max_edges: int) -> None:
        self.lines = lines
        self.texts = iter(lines)
        self.max_nodes = max_nodes
        self.max_edges = max_edges
        self.builder = GraphBuilder()
        self.rules: list[Rule] = []
        self.numbers: dict[tuple[Symbol, ...], int] = {}

    def line(self, expected: str) -> str:
        return self.lines.next(self.texts, expected).removesuffix("\n")

    def graph(self) -> GraphColumns:
        expected = "the numbers of nodes and edges"
        counts = _COUNTS.fullmatch(text := self.line(expected))
        if counts is None:
            raise self.lines.error(expected, quote(text), 1)
        nodes, edges = int(counts[1]), int(counts[2])
        for field, (number, most) in enumerate(((nodes, self.max_nodes), (edges, self.max_edges)), 1):
            if number > most:
                raise self.lines.error(f"at most {most}", str(number), field)
        for node in range(nodes):
            expected = f"how many edges lead to node {node}"
            count = _COUNT.fullmatch(text := self.line(expected))
            if count is None:
                raise self.lines.error(expected, quote(text), 1)
            if int(count[1]) > edges:
                raise self.lines.error(f"at most {edges} edges more, as the first line says", count[1], 1)
            edges -= int(count[1])
            self.builder.add([self.edge(node) for _ in range(int(count[1]))])
        if edges:
            raise self.lines.error(f"{edges} edges more, as the first line says", "no node for them", 1)
        rest = next(self.texts, None)
        if rest is not None:
            raise self.lines.error("the end of the file", quote(rest), 1)
        return self.builder.graph(sentence_id(self.lines.name), self.rules, file=self.lines.name)

    def edge(self, node: int) -> Edge:
        text = self.line("an edge, target ||| name=value ...")
        side, bar, features = f" {text}".partition(" |||")
        if not bar or (features and features[0] != " "):
            raise self.lines.error("target ||| name=value ...", quote(text), 1)
        tails: list[int] = []
        symbols: list[Symbol] = []
        for token in side.split(" "):
            gap = _GAP.fullmatch(token)
            if gap is None:
                symbols += [token] if token else []
                continue
            if int(gap[1]) >= node:
                raise self.lines.error(f"a node before {node}", quote(token), 1)
            tails.append(int(gap[1]))
            symbols.append(NonTerminal("", len(tails)))
        target = tuple(symbols)
        rule = self.numbers.setdefault(target, len(self.rules))
        if rule == len(self.rules):
            self.rules.append(Rule("", (), target))
        return Edge(tails, rule, self.features(features))

    def features(self, text: str) -> dict[str, float]:
        values: dict[str, float] = {}
        for item in text.split(" "):
            name, equals, value = item.rpartition("=")
            if not item:
                continue
            if not equals or not name or not _NUMBER.fullmatch(value) or not math.isfinite(float(value)):
                raise self.lines.error("name=value", quote(item), 2)
            if name in values:
                raise self.lines.error("each feature once", f"{quote(name)} again", 2)
            values[name] = float(value)
        return values


def parse(lines: Lines, *, max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES) -> Iterator[GraphColumns]:
    """Yield the graph of a file."""
    yield _Reader(lines, max_nodes, max_edges).graph()


def matches(head: bytes) -> bool:
    """Match two counts, one count, then an edge; Joshua's and Moses' graphs start with a comment."""
    return _SHAPE.match(head.decode("utf-8", "ignore")) is not None


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="cdec target graph, DIR/N: counts, then the edges of each node: words with [node] ||| name=value ...",
    matches=matches,
    parse=parse,
    single=True,
    example="2 3\n2\na ||| F=1\none ||| F=0.5 Rare=1\n1\n[0] house ||| G=2\n",
)
