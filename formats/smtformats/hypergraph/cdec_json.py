r"""cdec's JSON forests, written until October 2014: one hypergraph per file, one file per sentence.

    {"rules":[1,"[X] ||| ein ||| a ||| F=1",2,"[S] ||| [X,1] ||| [1]"],"features":["F","Glue"],
    "edges":[{"tail":[],"spans":[0,1,-1,-1],"feats":[0,1],"rule":1}],"node":{"in_edges":[0],"cat":"X"},
    "edges":[{"tail":[0],"spans":[0,1,-1,-1],"feats":[1,0.5],"rule":2}],"node":{"in_edges":[1],"cat":"S"}}

One JSON object that repeats the keys ``edges`` and ``node`` for each node, in topological order; the last node is the
goal. ``rules`` lists ids and rules as in cdec grammars. ``feats`` are an edge's features: pairs of an index into
``features`` (or a name) and a value. ``tail`` lists node numbers in the order of the rule's source side. ``spans`` are
the source span and the span in a second sentence (-1 for none). A failed parse is ``{}``. The sentence id is the file
name without its suffixes.

As in cdec, names may be mixed with indices, an edge may spell out its rule, spans, labels (then ``X``), tails and
features may be missing or ``null``, C comments are allowed, and entries may come in any order that defines before use.
An unchanged graph is written as it was read. Other graphs are written as cdec writes them: no zero values, names
instead of indices from 999 features on, numbers as C's ``%g`` if six digits suffice.

Errors: ``nan`` and ``inf``, a rule without a left-hand side, tails that do not fit the rule, edges with no node or two
nodes, unknown keys, text after the object. The options ``max_nodes`` and ``max_edges`` limit the size.

``extras`` hold ``prev``, the spans in a second sentence; node ``hashes``; and ``spelling``: the ``raw`` bytes, the
checksum of the graph as ``read``, the texts of ``rules`` (valid for ``grammar``), the fields that edges and nodes were
``without``, and whether features were ``named``.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

from smtformats.errors import FormatError, quote
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.grammar.cdec import RuleParser, compose
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, GraphColumns
from smtformats.hypergraph.shared.cdec_entries import Entries
from smtformats.hypergraph.shared.cdec_forest import CdecForest
from smtformats.hypergraph.shared.sentence import checksum, only_one, read_all
from smtformats.writing import write_each

NAME = "cdec-json-hypergraph"
_MAX_LISTED = 998  # from here on cdec writes names
_MOST = sys.float_info.max
_LABEL = "X"  # cdec's label for a node without one
_SKIPPED = r"(?:\s|/\*(?:[^*]|\*(?!/))*\*/)*"
_START = re.compile(rf'{_SKIPPED}\{{{_SKIPPED}"(?:rules|features|edges|node|is_sorted)"{_SKIPPED}:')
_EMPTY = re.compile(r"\s*\{\s*\}\s*")
_HASH = re.compile(r"[0-9A-Fa-f]{1,16}")
_KEY_TYPES = {int, str}
_EDGE_KEYS = frozenset(("tail", "spans", "feats", "rule"))
_NODE_KEYS = frozenset(("in_edges", "cat", "node_hash"))
_ESCAPES = {i: f"\\u{i:04x}" for i in range(32)} | {
    ord(char): "\\" + shown for char, shown in zip('\b\n\r\t"\\/', 'bnrt"\\/', strict=True)
}


class _Forest(CdecForest):
    """A graph under construction, entry by entry."""

    def __init__(self, entries: Entries, max_nodes: int, max_edges: int) -> None:
        super().__init__()
        self.entries = entries
        self.fail = entries.fail
        self.max_nodes = max_nodes
        self.max_edges = max_edges
        self.escaped = "\\u" in entries.text
        self.parser = RuleParser(entries.lines)
        self.texts: list[str] = []
        self.numbers: dict[int | str, int] = {}
        self.listed: list[int] | None = None
        self.layouts: dict[tuple[Any, ...], tuple[int, ...]] = {}
        self.order: list[int] = []
        self.taken = bytearray()
        self.without: dict[str, set[int]] = {"spans": set(), "cat": set(), "node_hash": set()}

    def checked_text(self, value: Any, what: str) -> str:
        """Return the value if it is a string without lone surrogates, which UTF-8 cannot hold."""
        if type(value) is not str:
            self.fail(what, _show(value))
        if self.escaped and re.search("[\ud800-\udfff]", value):
            self.fail("text without lone surrogates", quote(value))
        return value

    def as_list(self, value: Any, what: str) -> list[Any]:
        if value is None:
            return []
        if type(value) is not list:
            self.fail(f"a list of {what}", _show(value))
        return value

    def check(self, values: list[Any], kinds: set[type], low: float, high: float, what: str) -> None:
        """Raise an error unless all values are numbers of these types from low to high."""
        if values and not (set(map(type, values)) <= kinds and low <= min(values) and max(values) <= high):
            bad = next(value for value in values if type(value) not in kinds or not low <= value <= high)
            self.fail(what, _show(bad))

    def add(self, key: str, value: Any) -> None:
        """Add an entry."""
        if key == "edges":
            self.add_edges(self.as_list(value, "edges"))
        elif key == "node":
            self.add_node(value)
        elif key == "rules":
            pairs = self.as_list(value, "rule ids and rules")
            if len(pairs) % 2:
                self.fail("a rule for each id", f"{len(pairs)} items")
            for number, text in zip(pairs[::2], pairs[1::2], strict=True):
                if type(number) is not int:
                    self.fail("the id of a rule, an integer", _show(number))
                self.numbers[number] = self.rule(text)
        elif key == "features":
            names = self.as_list(value, "names of features")
            self.layouts.clear()
            self.listed = [self.names.add(self.checked_text(name, "the name of a feature")) for name in names]
        elif key != "is_sorted":
            self.fail("rules, features, edges, node or is_sorted", quote(key))

    def rule(self, value: Any) -> int:
        text = self.checked_text(value, "a rule, [LABEL] ||| source ||| target ||| name=value ...")
        if "\n" in text:
            self.fail("a rule on one line", quote(text))
        try:
            self.rules.append(self.parser.rule(text, text))
        except FormatError as error:
            self.fail(error.expected, f"{error.found} in the rule {quote(text)}")
        self.arities.append(self.rules[-1].arity)
        self.texts.append(text)
        return len(self.rules) - 1

    def rule_of(self, edge: dict[str, Any], arity: int) -> int:
        key = 0 if edge.get("rule") is None else edge["rule"]
        if type(key) is not int and type(key) is not str:
            self.fail("the id of a rule, or a rule", _show(key))
        number = self.numbers.get(key)
        if number is None:
            if key == 0:
                return -1
            if type(key) is int:
                self.fail("the id of a rule defined before", _show(key))
            number = self.numbers[key] = self.rule(key)
        if self.arities[number] != arity:
            self.fail(f"a rule with {arity} non-terminals, as the edge has tails", quote(self.texts[number]))
        return number

    def add_edges(self, edges: list[Any]) -> None:
        if len(self.edge_rules) + len(edges) > self.max_edges:
            self.fail(f"at most {self.max_edges} edges", "more")
        tail_start, value_start, span_start = len(self.tails), len(self.values), len(self.places)
        for edge in edges:
            if type(edge) is not dict or not edge.keys() <= _EDGE_KEYS:
                self.fail("an edge of tail, spans, feats and rule", _show(edge))
            tails = self.as_list(edge.get("tail"), "node numbers")
            self.tails += tails
            self.tail_counts.append(len(tails))
            spans = self.as_list(edge.get("spans"), "positions")
            if len(spans) not in (0, 2, 4):
                self.fail("2 or 4 positions", str(len(spans)))
            if not spans:
                self.without["spans"].add(len(self.edge_rules))
            self.places += spans + [-1] * (4 - len(spans))
            feats = self.as_list(edge.get("feats"), "features and values")
            layout, values = tuple(feats[::2]), feats[1::2]
            if len(layout) != len(values):
                self.fail("a value for each feature", f"{len(feats)} items")
            names = self.layouts.get(layout) if set(map(type, layout)) <= _KEY_TYPES else None
            if names is None:
                names = self.layouts[layout] = tuple(map(self.feature, layout))
            if len(set(names)) < len(names):
                merged = dict(zip(names, values, strict=True))
                names, values = tuple(merged), list(merged.values())
            self.features += names
            self.values += values
            self.feature_counts.append(len(names))
            self.edge_rules.append(self.rule_of(edge, len(tails)))
        nodes = len(self.edge_counts)
        self.check(self.tails[tail_start:], {int}, 0, nodes - 1, "the number of a node that came before")
        self.check(self.places[span_start:], {int}, -(1 << 15), (1 << 15) - 1, "a position of 16 bits")
        numbers = self.values[value_start:]
        self.check(numbers, {int, float}, -_MOST, _MOST, "a finite number as the value of a feature")

    def feature(self, key: Any) -> int:
        if type(key) is int:
            if self.listed is not None and 0 <= key < len(self.listed):
                return self.listed[key]
            self.fail("the place of a feature in features", _show(key))
        return self.names.add(self.checked_text(key, "the name of a feature, or its place in features"))

    def add_node(self, node: Any) -> None:
        number = len(self.edge_counts)
        if number >= self.max_nodes:
            self.fail(f"at most {self.max_nodes} nodes", "more")
        if type(node) is not dict or not node.keys() <= _NODE_KEYS:
            self.fail("a node of in_edges, cat and node_hash", _show(node))
        edges = self.as_list(node.get("in_edges"), "edge numbers")
        self.check(edges, {int}, 0, len(self.edge_rules) - 1, "the number of an edge that came before")
        self.taken.extend(bytes(len(self.edge_rules) - len(self.taken)))
        for edge in edges:
            if self.taken[edge]:
                self.fail("each edge in one node", f"{edge} again")
            self.taken[edge] = 1
        self.order += edges
        self.edge_counts.append(len(edges))
        label = node.get("cat")
        if label is None:
            self.without["cat"].add(number)
            label = _LABEL
        self.node_labels.append(self.labels.add(self.checked_text(label, "a label")))
        code = node.get("node_hash")
        if code is None:
            self.without["node_hash"].add(number)
            code = "0"
        if type(code) is not str or not _HASH.fullmatch(code):
            self.fail("a hash of up to 16 hexadecimal digits", _show(code))
        self.hashes.append(int(code, 16))

    def graph(self, data: bytes) -> GraphColumns:
        """Return the columns of the graph; ``data`` is the text it was read from."""
        import numpy as np

        if len(self.order) < len(self.edge_rules):
            self.fail("a node for each edge", f"{len(self.edge_rules) - len(self.order)} edges without one")
        place = dict(zip(self.order, range(len(self.order)), strict=True)) if self.without["spans"] else {}
        without = self.without | {"spans": {place[edge] for edge in self.without["spans"]}}
        spelling: dict[str, Any] = {
            "raw": data,
            "rules": tuple(self.texts),
            "without": {key: frozenset(numbers) for key, numbers in without.items()},
            "named": self.listed is None,
        }
        order = np.array(self.order, dtype=np.int64)
        graph = self.columns(order, {"spelling": spelling}, self.entries.lines.name)
        spelling["grammar"] = graph.grammar
        spelling["read"] = checksum(graph)
        return graph


def _show(value: Any) -> str:
    """Return a JSON value as text for an error message."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return quote(json.dumps(value, ensure_ascii=False))


def parse(lines: Lines, *, max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES) -> Iterator[GraphColumns]:
    """Yield the graph of a file."""
    data = read_all(lines)
    entries = Entries(lines, data)
    forest = _Forest(entries, max_nodes, max_edges)
    for key, value in entries:
        forest.add(key, value)
    yield forest.graph(data)


def write(records: Iterable[GraphColumns], out: TextIO, number: Number) -> int:
    """Write a graph as cdec does, one per file; returns the number of graphs."""

    def spell(graph: GraphColumns) -> str:
        spelling = graph.extras.get("spelling", {})
        if spelling and spelling["read"] == checksum(graph):
            return str(spelling["raw"], "utf-8")
        return "".join(_pieces(graph, spelling, number))

    return write_each(only_one(records), out, spell)


class _Spelled(dict[float, str]):
    """Numbers as text: C's ``%g`` if six digits are exact, else all digits."""

    def __init__(self, number: Number) -> None:
        super().__init__()
        self.number = number

    def __missing__(self, value: float) -> str:
        text = self.number(value)
        short = f"{float(text):g}"
        self[value] = text = short if float(short) == float(text) else text
        return text


def _string(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _rule_texts(graph: GraphColumns, spelling: Mapping[str, Any]) -> Iterable[str]:
    """Return the rules as they were read, or as cdec prints them, with six digits for display."""
    grammar = graph.grammar
    if spelling.get("grammar") is grammar:
        return tuple(spelling["rules"])
    if any(first == last for first, last in itertools.pairwise(grammar.source_offsets.tolist())):
        raise FormatError("a source side for each rule", "none", file=graph.file, line=graph.line)
    texts = (compose(grammar.rule(i), lambda value: f"{value:g}").rstrip("\n") for i in range(len(grammar)))
    return (text.removesuffix(" ||| ").replace(" |||  ||| ", " ||| ||| ") for text in texts)


def _pieces(graph: GraphColumns, spelling: Mapping[str, Any], number: Number) -> Iterator[str]:
    """Yield the text of a graph, one piece per node."""
    import numpy as np

    if not graph.nodes:
        yield "{}\n"
        return
    if not np.isfinite(graph.values).all():
        raise FormatError("finite numbers as features", "NaN or infinity", file=graph.file, line=graph.line)
    extras, edges, nodes = graph.extras, len(graph), graph.nodes
    ruled = len(graph.grammar) > 0
    listed = len(graph.names) <= _MAX_LISTED and not spelling.get("named", False)
    yield "{"
    if ruled:
        yield (
            '"rules":['
            + ",".join(f"{i},{_string(text)}" for i, text in enumerate(_rule_texts(graph, spelling), 1))
            + "],"
        )
    names = [_string(name) for name in graph.names]
    if listed:
        yield f'"features":[{",".join(names)}],'
        names = [str(i) for i in range(len(names))]
    without = spelling.get("without", {})
    prev = extras.get("prev")
    if prev is None or len(prev) != edges:
        prev = np.full((edges, 2), -1)
    hashes = extras.get("hashes")
    hashes = [] if hashes is None or len(hashes) != nodes else hashes.tolist()
    spans = np.hstack([graph.spans, prev]).tolist()
    labels = [_string(label) for label in graph.labels]
    tails, tail_ends = graph.tails.tolist(), graph.tail_offsets.tolist()
    pairs = list(zip(graph.features.tolist(), graph.values.tolist(), strict=True))
    pair_ends, edge_ends = graph.feature_offsets.tolist(), graph.edge_offsets.tolist()
    rules, node_labels = graph.rules.tolist(), graph.node_labels.tolist()
    no_spans, no_label, no_hash = (without.get(key, ()) for key in ("spans", "cat", "node_hash"))
    spelled = _Spelled(number)
    for node in range(nodes):
        shown = []
        for edge in range(edge_ends[node], edge_ends[node + 1]):
            tail = ",".join(map(str, tails[tail_ends[edge] : tail_ends[edge + 1]]))
            some = pairs[pair_ends[edge] : pair_ends[edge + 1]]
            feats = ",".join([f"{names[feature]},{spelled[value]}" for feature, value in some if value])
            place = "" if edge in no_spans else f'"spans":[{",".join(map(str, spans[edge]))}],'
            rule = f',"rule":{rules[edge] + 1}' if ruled else ""
            shown.append(f'{{"tail":[{tail}],{place}"feats":[{feats}]{rule}}}')
        inward = ",".join(map(str, range(edge_ends[node], edge_ends[node + 1])))
        label = "" if node_labels[node] < 0 or node in no_label else f',"cat":{labels[node_labels[node]]}'
        code = f',"node_hash":"{hashes[node]:016X}"' if hashes and node not in no_hash else ""
        yield f'{"," if node else ""}"edges":[{",".join(shown)}],"node":{{"in_edges":[{inward}]{label}{code}}}'
    yield "}\n"


def matches(head: bytes) -> bool:
    """Match a JSON object that starts with a key of forests, or is empty."""
    text = head.decode("utf-8", "ignore")
    return _START.match(text) is not None or _EMPTY.fullmatch(text) is not None


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="cdec forest as JSON, DIR/N.json.gz: rules, features, then the edges of each node",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".json.gz", ".json"),
    carries=frozenset(("prev", "hashes", "spelling")),
    single=True,
    example=(
        '{"rules":[1,"[X] ||| ein ||| a ||| F=1",2,"[S] ||| [X,1] ||| [1]"],"features":["F","Glue"],'
        '"edges":[{"tail":[],"spans":[0,1,-1,-1],"feats":[0,1],"rule":1}],"node":{"in_edges":[0],"cat":"X"},'
        '"edges":[{"tail":[0],"spans":[0,1,-1,-1],"feats":[1,0.5],"rule":2}],"node":{"in_edges":[1],"cat":"S"}}\n'
    ),
)
