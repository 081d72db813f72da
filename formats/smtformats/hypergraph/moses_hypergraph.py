"""Moses' hypergraphs, as of ``-output-search-graph-hypergraph``: a sentence in each file, whose name is its id.

    # target ||| features ||| source-covered
    3 4
    # node 0
    1
    <s> |||  ||| 0
    # node 1
    2
    [0] a house  ||| LM0=-4.500000 TranslationModel0_1=-1.250000 TranslationModel0_2=0.000000  ||| 2
    ...

How many nodes and edges there are, then for each node how many lead to it and an edge on each line: target words with
the node that fills each gap, features, and how many source words are covered, from the sentence's beginning in
phrase-based graphs, below the edge in chart graphs. Nodes stand after those that fill them, the last is the goal. The
files end in ``.txt``, ``.gz`` or ``.bz2``; beside them lies a file of ``weights`` (``moses-hypergraph-weights``).

Gaps are numbered as they stand, and what is a gap is known by its shape, ``[12]`` alone; source sides and spans are
unknown. A component ``TranslationModel0_1`` is ``TranslationModel0[0]`` here, as in all other formats of Moses: those
names that follow on each other from ``_1`` in the first edge with features are components. A goal that no edge leads to
is a sentence Moses could not translate, a graph without nodes.

Moses' chart decoder has a fault that nothing in its files betrays: it lists the nodes of a rule in the order of the
source side, so a rule that swaps its gaps has them the wrong way round, and so have the texts. They are read, and
written again, as they stand; ``moses-chart-graph`` reads the same graphs with all gaps in their places.

Graphs of other formats are written in the right order, ``source-covered`` made from their spans, scores without
features as the feature ``score``, a start without edges as a node with an empty one. ``<s>`` and ``</s>`` are words
like others: a phrase-based search graph does not have them.

A file that was read comes back byte for byte unless something changed. Refused: counts that do not hold, a node that no
edge leads to, a gap's node that is not before its own, a feature twice on an edge, numbers that are not finite. The
options ``max_nodes`` and ``max_edges`` bound the size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, Edge, GraphBuilder
from smtformats.hypergraph.shared.sentence import checksum, sentence_id
from smtformats.tokens import BadField, numbers
from smtformats.weights.moses_hypergraph import inner_names, outer_names

if TYPE_CHECKING:
    from smtformats.hypergraph.graph import GraphColumns

NAME = "moses-hypergraph"
_HEADER = "# target ||| features ||| source-covered"
_NOTHING = f"{_HEADER}\n2 1\n# node 0\n1\n<s> |||  ||| 0\n# node 1\n0\n"  # what Moses writes of a sentence it failed at
_LABEL = "X"
_SCORE = "score"
_BAR = " ||| "
_COUNTS = re.compile(r"(\d{1,18}) (\d{1,18})", re.ASCII)
_COUNT = re.compile(r"\d{1,18}", re.ASCII)
_NODE = re.compile(r"\[(\d{1,18})\]", re.ASCII)
_TOKEN = re.compile(r"[^ \n]+")
_KEPT_LAYOUTS = 4096


class _Parser:
    """Reads the one graph of a file."""

    def __init__(self, lines: Lines, max_nodes: int, max_edges: int) -> None:
        self.lines = lines
        self.max_nodes = max_nodes
        self.max_edges = max_edges
        self.stream = iter(lines)
        self.raw: list[str] = []
        self.rules: list[Rule] = []
        self.rule_of: dict[str, int] = {}
        self.covered: list[int] = []
        self.inner: dict[str, str] = {}
        self.known: set[str] = set()
        self.layouts: dict[tuple[str, ...], tuple[str, ...]] = {}

    def fail(self, expected: str, found: str, field: int = 1) -> NoReturn:
        raise self.lines.error(expected, found, field)

    def next(self, expected: str) -> str:
        """The next line."""
        line = next(self.stream, None)
        if line is None:
            raise self.lines.error(expected, "the end of the file", 1, line=self.lines.number + 1)
        self.raw.append(line)
        return line.removesuffix("\n")

    def graph(self) -> GraphColumns:
        """The graph of the file."""
        header = self.next(f"`{_HEADER}`")
        if header != _HEADER:
            self.fail(f"`{_HEADER}`", quote(header))
        counts = _COUNTS.fullmatch(text := self.next("how many nodes and edges there are"))
        if counts is None:
            self.fail("how many nodes and edges there are", quote(text))
        nodes, edges = int(counts[1]), int(counts[2])
        for field, (what, count, limit) in enumerate(
            [("nodes", nodes, self.max_nodes), ("edges", edges, self.max_edges)], 1
        ):
            if count > limit:
                self.fail(f"at most {limit} {what}", f"{count}", field)
        builder = GraphBuilder()
        for node in range(nodes):
            into = list(self.node(node, nodes, edges))
            if into:
                builder.add(into)
            else:
                builder = GraphBuilder()
        if len(self.covered) < edges:
            raise self.lines.error(f"{len(self.covered)} edges, as the nodes have", f"{edges}", 2, line=2)
        if next(self.stream, None) is not None:
            self.fail(f"the end of the file behind {nodes} nodes", "more lines")
        extras: dict[str, Any] = {"format": NAME, "raw": "".join(self.raw), "covered": tuple(self.covered)}
        name = self.lines.name
        graph = builder.graph(sentence_id(name), self.rules if len(builder) else (), extras=extras, file=name)
        extras["read"] = checksum(graph)
        return graph

    def node(self, node: int, nodes: int, edges: int) -> Iterator[Edge]:
        """The edges of a node."""
        comment = self.next(f"`# node {node}`")
        if comment != f"# node {node}":
            self.fail(f"`# node {node}`", quote(comment))
        text = self.next(expected := f"how many edges lead to node {node}")
        if not _COUNT.fullmatch(text):
            self.fail(expected, quote(text))
        left = edges - len(self.covered)
        if int(text) > left:
            self.fail(f"at most {left} edges, as line 2 counts {edges}", text)
        if int(text) == 0 and node < nodes - 1:
            self.fail(f"an edge that leads to node {node}", text)
        for _ in range(int(text)):
            yield self.edge(node)

    def edge(self, node: int) -> Edge:
        """An edge that leads to a node."""
        line = self.next(f"an edge that leads to node {node}")
        fields = line.rsplit(_BAR, 2)
        if len(fields) < 3:
            self.fail("target ||| features ||| source-covered", quote(line), len(fields) + 1)
        tails: list[int] = []
        tokens = [token for token in fields[0].split(" ") if token]
        for at, token in enumerate(tokens):
            if token[0] == "[" and (gap := _NODE.fullmatch(token)):
                if int(gap[1]) >= node:
                    self.fail(f"a node before {node}", quote(token), 1)
                tails.append(int(gap[1]))
                tokens[at] = f"[{len(tails)}]"
        features = self.features([item for item in fields[1].split(" ") if item])
        if not _COUNT.fullmatch(fields[2]):
            self.fail("how many source words are covered", quote(fields[2]), 3)
        self.covered.append(int(fields[2]))
        return Edge(tails, self.rule(tokens), features)

    def rule(self, tokens: list[str]) -> int:
        """The number of a target side."""
        key = " ".join(tokens)
        number = self.rule_of.get(key)
        if number is None:
            gaps = (_NODE.fullmatch(token) for token in tokens)
            symbols = (
                NonTerminal(_LABEL, int(gap[1])) if gap else token for token, gap in zip(tokens, gaps, strict=True)
            )
            self.rules.append(Rule(_LABEL, (), tuple(symbols)))
            number = self.rule_of[key] = len(self.rule_of)
        return number

    def features(self, items: list[str]) -> dict[str, float]:
        """Features by our names."""
        pairs = [item.rpartition("=") for item in items]
        names = tuple(name for name, _, _ in pairs)
        layout = self.layouts.get(names)
        if layout is None:
            layout = self.layout(names)
        try:
            return dict(zip(layout, numbers([value for _, _, value in pairs]), strict=True))
        except BadField as bad:
            self.fail(bad.expected, bad.found, 2)

    def layout(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Our names of an edge's features, in their order."""
        if "" in names:
            self.fail("name=value", "a feature without a name", 2)
        if len(set(names)) < len(names):
            twice = next(name for at, name in enumerate(names) if name in names[:at])
            self.fail("each feature once", f"{quote(twice)} twice", 2)
        if not self.inner:
            self.inner = inner_names(names)
            self.known = set(self.inner.values())
            if len(self.known) < len(names):
                self.fail("each feature once", "components spelt in two ways", 2)
        for name in names:
            if name not in self.inner:
                if name in self.known:
                    self.fail("each feature spelt in one way", quote(name), 2)
                self.inner[name] = name
                self.known.add(name)
        if len(self.layouts) >= _KEPT_LAYOUTS:
            self.layouts.clear()
        layout = self.layouts[names] = tuple(self.inner[name] for name in names)
        return layout


def parse(lines: Lines, *, max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES) -> Iterator[GraphColumns]:
    """The one graph of a file."""
    yield _Parser(lines, max_nodes, max_edges).graph()


def write(records: Iterable[GraphColumns], out: TextIO, number: Number) -> int:
    """Write graphs, those read from such a file as they were; returns how many."""
    count = 0
    for graph in records:
        own = graph.extras.get("format") == NAME
        if own and graph.extras["read"] == checksum(graph):
            out.write(graph.extras["raw"])
        elif not graph.nodes:
            out.write(_NOTHING)
        else:
            out.writelines(_Composer(graph, number, graph.extras["covered"] if own else ()).lines())
        count += 1
    return count


class _Composer:
    """Writes a graph from its columns."""

    def __init__(self, graph: GraphColumns, number: Number, covered: tuple[int, ...]) -> None:
        self.graph = graph
        self.number = number
        self.words = list(graph.grammar.words)
        self.target = graph.grammar.target.tolist()
        for word in (self.words[symbol] for symbol in set(self.target) if symbol >= 0):
            if not _TOKEN.fullmatch(word) or _NODE.fullmatch(word):
                self.fail("words without blanks, none like [12]", quote(word), 1)
        self.tails = graph.tails.tolist()
        self.tail_offsets = graph.tail_offsets.tolist()
        self.target_offsets = graph.grammar.target_offsets.tolist()
        self.scores = graph.scores.tolist() if graph.scores is not None and not len(graph.features) else None
        self.values = graph.values.tolist()
        self.features = graph.features.tolist()
        self.feature_offsets = graph.feature_offsets.tolist()
        self.names = self.outer()
        self.covered = covered if len(covered) == len(graph) else self.sizes()

    def fail(self, expected: str, found: str, field: int) -> NoReturn:
        raise FormatError(expected, found, file=self.graph.file, line=self.graph.line, field=field)

    def outer(self) -> list[str]:
        """Moses' names of the features, by number."""
        names = list(self.graph.names)
        first = next((end for end in self.feature_offsets if end), 0)
        try:
            outer = outer_names([names[number] for number in self.features[:first]])
        except FormatError as error:
            self.fail("feature names that tell components from others", error.found, 2)
        taken = set(outer.values())
        for name in names:
            if not _TOKEN.fullmatch(name) or (name not in outer and name in taken):
                self.fail("feature names without blanks, none like those of components", quote(name), 2)
        return [outer.get(name, name) for name in names]

    def lines(self) -> Iterator[str]:
        """The file in pieces."""
        bounds = list(pairwise(self.graph.edge_offsets.tolist()))
        starts = sum(first == last for first, last in bounds)
        yield f"{_HEADER}\n{self.graph.nodes} {len(self.graph) + starts}\n"
        for node, (first, last) in enumerate(bounds):
            yield f"# node {node}\n{max(1, last - first)}\n"
            if first == last:
                yield f"{_BAR}{_BAR}0\n"
            for edge in range(first, last):
                target, features = self.symbols(edge), self.items(edge)
                end = " " if features else ""
                yield f"{target}{end}{_BAR}{features}{end}{_BAR}{self.covered[edge]}\n"

    def below(self, edge: int) -> list[int]:
        """The nodes that fill an edge's gaps."""
        tails: list[int] = self.tails[self.tail_offsets[edge] : self.tail_offsets[edge + 1]]
        return tails

    def symbols(self, edge: int) -> str:
        """The target side of an edge."""
        tails, rule = self.below(edge), int(self.graph.rules[edge])
        if rule < 0:
            return " ".join(f"[{tail}]" for tail in tails)
        target = self.target[self.target_offsets[rule] : self.target_offsets[rule + 1]]
        gaps = [-1 - symbol for symbol in target if symbol < 0]
        if sorted(gaps) != list(range(len(tails))):
            self.fail(f"a target side with {len(tails)} gaps, one for each tail", f"{len(gaps)}", 1)
        return " ".join(self.words[symbol] if symbol >= 0 else f"[{tails[-1 - symbol]}]" for symbol in target)

    def items(self, edge: int) -> str:
        """The features of an edge."""
        if self.scores is not None:
            return self.item(_SCORE, self.scores[edge])
        places = range(self.feature_offsets[edge], self.feature_offsets[edge + 1])
        return " ".join(self.item(self.names[self.features[at]], self.values[at]) for at in places)

    def item(self, name: str, value: float) -> str:
        """A feature."""
        if not math.isfinite(value):
            self.fail("finite numbers", repr(value), 2)
        return f"{name}={self.number(value)}"

    def sizes(self) -> list[int]:
        """How many source words edges cover: their span, and what is below if that is not part of it."""
        graph = self.graph
        covered: list[int] = []
        sizes = [0] * graph.nodes
        spans = [(-1, -1)] * graph.nodes
        for edge, (head, (first, last)) in enumerate(zip(graph.heads.tolist(), graph.spans.tolist(), strict=True)):
            tails = self.below(edge)
            inside = bool(tails) and all(first <= spans[tail][0] and spans[tail][1] <= last for tail in tails)
            if first < 0 and not tails and self.symbols(edge):
                self.fail("a source span for each edge with words", "none", 3)
            if last < first >= 0:
                self.fail("source spans that end where they begin or later", f"{first} to {last}", 3)
            covered.append((last - first if first >= 0 else 0) + (0 if inside else sum(sizes[tail] for tail in tails)))
            if not sizes[head]:
                sizes[head], spans[head] = covered[-1], (first, last)
        return covered


def matches(head: bytes) -> bool:
    """The first line is a comment that names three fields."""
    return head.startswith(f"{_HEADER}\n".encode())


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="Moses hypergraph, a file for each sentence: a node's edges, `[node] words ||| name=value ... ||| covered`",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".txt",),
    single=True,
    example=f"""\
{_HEADER}
3 4
# node 0
1
<s> |||  ||| 0
# node 1
2
[0] a house  ||| LM0=-4.500000 TranslationModel0_1=-1.250000 TranslationModel0_2=0.000000  ||| 2
[0] the house  ||| LM0=-3.500000 TranslationModel0_1=-2.000000 TranslationModel0_2=-0.500000  ||| 2
# node 2
1
[1] </s> |||  ||| 2
""",
)
