"""Code shared by Moses' two search graphs: lines matched part by part, score vectors, nodes and edges by sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import NoReturn, Protocol

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.grammar.rules import Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns

ID = r"(\d{1,18})"
NUMBER = r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
NUMBERS = rf"((?:{NUMBER}(?:,{NUMBER})*)?)"
SPARSE = rf"((?: [^ ]+={NUMBER})*) ?"
UNLABELLED = "F"  # as in n-best lists without labels
_SHOWN = 24
_COUNTED = re.compile(r"([^ :]+):([1-9]\d{0,5})", re.ASCII)


class LineShape:
    """A line as a sequence of patterns, its fields: match it, or report the first field that does not match."""

    def __init__(self, *parts: tuple[str, str]) -> None:
        self.parts = parts
        self._whole = re.compile("".join(pattern for _, pattern in parts) + r"\n?", re.ASCII)

    def match(self, line: str) -> re.Match[str] | None:
        """Match a line; groups are those of all parts."""
        return self._whole.fullmatch(line)

    def fail(self, lines: Lines, line: str) -> NoReturn:
        """Raise an error that names the first field that does not match."""
        for count in range(len(self.parts), -1, -1):
            before = "".join(pattern for _, pattern in self.parts[:count]).replace("(.*)", "(.*?)")
            matched = re.match(before, line, re.ASCII)
            if matched is not None:
                break
        assert matched is not None
        rest = line[matched.end() :].removesuffix("\n").lstrip(" ")
        expected = self.parts[count][0] if count < len(self.parts) else "the end of the line"
        raise lines.error(expected, quote(rest, _SHOWN) if rest else "the end of the line", count + 1)


def core_names(text: str) -> tuple[str, ...]:
    """Return the names of a core vector's values: ``LM0 TranslationModel0:4`` has five."""
    names: list[str] = []
    for item in text.split():
        counted = _COUNTED.fullmatch(item)
        names += [f"{counted[1]}[{k}]" for k in range(int(counted[2]))] if counted else [item]
    if len(set(names)) != len(names):
        raise FormatError("each name once", quote(text))
    return tuple(names)


def finite(lines: Lines, text: str, field: int) -> float:
    """Parse a finite number of a field."""
    value = float(text)
    if not math.isfinite(value):
        raise lines.error("a finite number", quote(text), field)
    return value


class Vectors:
    """Score vectors of a file: a fixed number of core values, and sparse features."""

    def __init__(self, lines: Lines, names: str) -> None:
        self.lines = lines
        self.core = core_names(names)
        self._named = bool(names)

    def values(self, core: str, sparse: str, field: int) -> dict[str, float]:
        """Return features by name."""
        texts = core.split(",") if core else []
        if not self.core and not self._named:
            self.core = tuple(f"{UNLABELLED}[{k}]" for k in range(len(texts)))
            self._named = True
        if len(texts) != len(self.core):
            raise self.lines.error(f"{len(self.core)} values in core=(...)", f"{len(texts)}", field)
        values = {name: finite(self.lines, text, field) for name, text in zip(self.core, texts, strict=True)}
        for item in sparse.split(" "):
            name, _, text = item.rpartition("=")
            if name in values:
                raise self.lines.error("each feature once", f"{quote(name)} again", field)
            if item:
                values[name] = finite(self.lines, text, field)
        return values


class GraphLines(Protocol):
    """A graph under construction, line by line."""

    id: str

    def add(self, match: re.Match[str]) -> None:
        """Add a line."""

    def graph(self) -> GraphColumns:
        """Return the graph."""


def sentences(
    lines: Lines, shape_of: Callable[[str], LineShape], begin: Callable[[str], GraphLines], what: str
) -> Iterator[GraphColumns]:
    """Yield the graph of each sentence as soon as its lines have ended."""
    current: GraphLines | None = None
    for line in lines:
        shape = shape_of(line)
        match = shape.match(line)
        if line.endswith("\r\n"):
            raise lines.error("a line that ends in '\\n' alone", "'\\r\\n'", len(shape.parts))
        if match is None:
            shape.fail(lines, line)
        if current is None or match[1] != current.id:
            if current is not None:
                if int(match[1]) <= int(current.id):
                    raise lines.error(f"an id after {current.id} (ids ascend)", quote(match[1]), 1)
                yield current.graph()
            current = begin(match[1])
        current.add(match)
    if current is None:
        raise lines.error(what, "no hypothesis in the file", 1, line=1)
    yield current.graph()


class Arcs:
    """The hypotheses of a sentence as nodes with their incoming edges."""

    def __init__(self, lines: Lines, max_nodes: int, max_edges: int) -> None:
        self.lines = lines
        self.first = lines.number
        self._edges: list[list[Edge]] = []
        self._labels: list[str | None] = []
        self._nodes: dict[int, int] = {}  # by hypothesis, for those not recombined
        self._recombined: set[int] = set()
        self._rules: dict[str, int] = {}
        self._rule_list: list[Rule] = []
        self._left = max_edges
        self._max_nodes = max_nodes
        self._max_edges = max_edges

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self._edges)

    def bare(self, label: str | None = None) -> int:
        """Add a node without a hypothesis; returns its number."""
        if len(self) >= self._max_nodes:
            raise self.lines.error(f"at most {self._max_nodes} nodes in a graph", "more", 1)
        self._edges.append([])
        self._labels.append(label)
        return len(self) - 1

    def new(self, hypothesis: int, label: str | None = None) -> int:
        """Add a node for a hypothesis; returns its number."""
        self._check_new(hypothesis)
        node = self._nodes[hypothesis] = self.bare(label)
        return node

    def winner(self, hypothesis: int, winner: str, field: int) -> int:
        """Return the node of the winner that a hypothesis was recombined into."""
        self._check_new(hypothesis)
        node = self.earlier(winner, field, "wins a recombination")
        self._recombined.add(hypothesis)
        return node

    def _check_new(self, hypothesis: int) -> None:
        if hypothesis in self._nodes or hypothesis in self._recombined:
            raise self.lines.error("each hypothesis once", f"{hypothesis} again", 2)

    def earlier(self, hypothesis: str, field: int, which: str) -> int:
        """Return the node of a hypothesis on an earlier line."""
        node = self._nodes.get(int(hypothesis))
        if node is None:
            expected = f"a hypothesis that {which}, on an earlier line and not recombined itself"
            raise self.lines.error(expected, quote(hypothesis), field)
        return node

    def lead(self, node: int, edge: Edge) -> None:
        """Add an incoming edge to a node."""
        self._left -= 1
        if self._left < 0:
            raise self.lines.error(f"at most {self._max_edges} edges in a graph", "more", 1)
        self._edges[node].append(edge)

    def rule(self, key: str, make: Callable[[], Rule]) -> int:
        """Return the number of the rule for a key; make the rule if the key is new."""
        number = self._rules.get(key)
        if number is None:
            self._rule_list.append(make())
            number = self._rules[key] = len(self._rules)
        return number

    def clear(self) -> None:
        """Remove all nodes, for a sentence without a derivation."""
        self._edges.clear()
        self._labels.clear()

    def columns(self, id: str) -> GraphColumns:
        """Return the graph; the last node is the goal."""
        builder = GraphBuilder()
        for edges, label in zip(self._edges, self._labels, strict=True):
            builder.add(edges, label)
        return builder.graph(id, self._rule_list, file=self.lines.name, line=self.first)
