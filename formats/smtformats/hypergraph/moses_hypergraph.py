"""Moses' hypergraphs, ``-output-search-graph-hypergraph``: one file per sentence, named by its id.

    # target ||| features ||| source-covered
    3 4
    # node 0
    1
    <s> |||  ||| 0
    # node 1
    2
    [0] a house  ||| LM0=-4.500000 TranslationModel0_1=-1.250000 TranslationModel0_2=0.000000  ||| 2
    ...

The numbers of nodes and edges; then for each node the number of incoming edges and one line per edge: target words with
a tail node in each gap, features, and the number of source words covered (in phrase-based graphs from the start of the
sentence, in chart graphs below the edge). Nodes are in topological order, the last one is the goal. Files end in
``.txt``, ``.gz`` or ``.bz2``; a file ``weights`` (``moses-hypergraph-weights``) lies beside them.

Digits in brackets, ``[12]``, are always a gap; gaps are numbered in target order. Source sides and spans are unknown. A
component ``TranslationModel0_1`` becomes ``TranslationModel0[0]``, as in all Moses formats: components are the names
numbered consecutively from ``_1`` in the first edge with features. If no edge leads to the goal, Moses could not
translate the sentence, and the graph has no nodes.

Moses' chart decoder has a bug that the files do not show: it lists tails in source order, so a rule that swaps its gaps
gets them, and their translations, in the wrong order. They are read and written as they are; ``moses-chart-graph``
reads the same graphs correctly.

Graphs of other formats are written with tails in target order, ``source-covered`` computed from spans, scores as the
feature ``score`` if there are no features, and a start without edges as a node with an empty edge. ``<s>`` and ``</s>``
are ordinary words; phrase-based search graphs do not contain them.

An unchanged file is written back byte for byte. Errors: wrong counts, a node without incoming edges, a tail that is not
an earlier node, a feature twice on an edge, numbers that are not finite. The options ``max_nodes`` and ``max_edges``
limit the size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NoReturn, TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, Edge, GraphBuilder, GraphColumns
from smtformats.hypergraph.shared.sentence import sentence_id, spell, with_text
from smtformats.tokens import BadField, numbers
from smtformats.weights.moses_hypergraph import inner_names, outer_names
from smtformats.writing import write_each

NAME = "moses-hypergraph"
_HEADER = "# target ||| features ||| source-covered"
_NOTHING = f"{_HEADER}\n2 1\n# node 0\n1\n<s> |||  ||| 0\n# node 1\n0\n"  # Moses' output for an untranslatable sentence
_LABEL = "X"
_SCORE = "score"
_BAR = " ||| "
_COUNTS = re.compile(r"(\d{1,18}) (\d{1,18})", re.ASCII)
_COUNT = re.compile(r"\d{1,18}", re.ASCII)
_NODE = re.compile(r"\[(\d{1,18})\]", re.ASCII)
_TOKEN = re.compile(r"[^ \n]+")
_KEPT_LAYOUTS = 4096


class _Parser:
    """Reads the graph of a file."""

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
        """Return the next line."""
        line = next(self.stream, None)
        if line is None:
            raise self.lines.error(expected, "the end of the file", 1, line=self.lines.number + 1)
        self.raw.append(line)
        return line.removesuffix("\n")

    def graph(self) -> GraphColumns:
        """Return the graph of the file."""
        header = self.next(f"`{_HEADER}`")
        if header != _HEADER:
            self.fail(f"`{_HEADER}`", quote(header))
        counts = _COUNTS.fullmatch(text := self.next("the numbers of nodes and edges"))
        if counts is None:
            self.fail("the numbers of nodes and edges", quote(text))
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
            self.fail(f"the end of the file after {nodes} nodes", "more lines")
        name, extras = self.lines.name, {"covered": tuple(self.covered)}
        graph = builder.graph(sentence_id(name), self.rules if len(builder) else (), extras=extras, file=name)
        return with_text(graph, NAME, "".join(self.raw), shows_id=False)

    def node(self, node: int, nodes: int, edges: int) -> Iterator[Edge]:
        """Yield the incoming edges of a node."""
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
        """Read an incoming edge of a node."""
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
            self.fail("the number of source words covered", quote(fields[2]), 3)
        self.covered.append(int(fields[2]))
        return Edge(tails, self.rule(tokens), features)

    def rule(self, tokens: list[str]) -> int:
        """Return the rule number of a target side."""
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
        """Return features with components named ``NAME[k]``."""
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
        """Return an edge's feature names in order, with components named ``NAME[k]``."""
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
    """Yield the graph of a file."""
    yield _Parser(lines, max_nodes, max_edges).graph()


def write(records: Iterable[GraphColumns], out: TextIO, number: Number) -> int:
    """Write graphs, unchanged ones byte for byte; returns the number of graphs."""
    return write_each(records, out, lambda graph: spell(graph, NAME, lambda: _lines(graph, number)))


def _lines(graph: GraphColumns, number: Number) -> Iterable[str]:
    covered = graph.extras["covered"] if graph.extras.get("format") == NAME else ()
    return _Composer(graph, number, covered).lines() if graph.nodes else [_NOTHING]


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
        """Return Moses' feature names by number."""
        names = list(self.graph.names)
        first = next((end for end in self.feature_offsets if end), 0)
        try:
            outer = outer_names([names[number] for number in self.features[:first]])
        except FormatError as error:
            self.fail("feature names that distinguish components from other features", error.found, 2)
        taken = set(outer.values())
        for name in names:
            if not _TOKEN.fullmatch(name) or (name not in outer and name in taken):
                self.fail("feature names without blanks, none like those of components", quote(name), 2)
        return [outer.get(name, name) for name in names]

    def lines(self) -> Iterator[str]:
        """Yield the file in pieces."""
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
        """Return the tails of an edge."""
        tails: list[int] = self.tails[self.tail_offsets[edge] : self.tail_offsets[edge + 1]]
        return tails

    def symbols(self, edge: int) -> str:
        """Return the target side of an edge as text."""
        tails, rule = self.below(edge), int(self.graph.rules[edge])
        if rule < 0:
            return " ".join(f"[{tail}]" for tail in tails)
        target = self.target[self.target_offsets[rule] : self.target_offsets[rule + 1]]
        gaps = [-1 - symbol for symbol in target if symbol < 0]
        if sorted(gaps) != list(range(len(tails))):
            self.fail(f"a target side with {len(tails)} gaps, one for each tail", f"{len(gaps)}", 1)
        return " ".join(self.words[symbol] if symbol >= 0 else f"[{tails[-1 - symbol]}]" for symbol in target)

    def items(self, edge: int) -> str:
        """Return the features of an edge as text."""
        if self.scores is not None:
            return self.item(_SCORE, self.scores[edge])
        places = range(self.feature_offsets[edge], self.feature_offsets[edge + 1])
        return " ".join(self.item(self.names[self.features[at]], self.values[at]) for at in places)

    def item(self, name: str, value: float) -> str:
        """Return a feature as text."""
        if not math.isfinite(value):
            self.fail("finite numbers", repr(value), 2)
        return f"{name}={self.number(value)}"

    def sizes(self) -> list[int]:
        """Return the number of source words each edge covers: its span, plus its tails unless they lie inside it."""
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
    """Match if the first line is Moses' comment naming three fields."""
    return head.startswith(f"{_HEADER}\n".encode())


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="Moses hypergraph, a file per sentence: edges by node, `[node] words ||| name=value ... ||| covered`",
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
