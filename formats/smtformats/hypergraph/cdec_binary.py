"""cdec's binary forests (boost archives), written since October 2014: one hypergraph per file and sentence.

    16 00 00 00 00 00 00 00 "serialization::archive" 12 00 04 08 04 08 01 00 00 00 ... nodes ... edges ...

A header with the archive version (10 to 18), then little-endian numbers: nodes with hash, number, label, incoming and
outgoing edges; edges with head, tails, rule, features, source span and span in a second sentence. A rule is spelled out
where it first occurs. Nodes are in topological order, the last one is the goal; edges come in any order. The sentence
id is the file name without its suffixes.

Errors: ``nan`` and ``inf``, rule values outside 32-bit floats, node and edge numbers that are not consecutive, a rule
whose arity does not fit its symbols or the edge's tails, contradictions, bytes after the end. Limits on writing: 64
symbols per side, 65535 tails, 16-bit positions, and every rule needs a source side. The options ``max_nodes`` and
``max_edges`` limit the size.

``extras`` hold ``prev``, the spans in a second sentence; node ``hashes``; and ``archive``: its ``version``, the
``order`` (each edge's place in the file), ``out_edges`` if they are not sorted, ``rule_values`` in double precision
(valid for ``grammar``), and the flags ``topological`` and ``linear``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from smtformats.errors import FormatError
from smtformats.files import Lines
from smtformats.format import Format, Number
from smtformats.grammar.shared.lines import FLOAT32_END
from smtformats.hypergraph.graph import MAX_EDGES, MAX_NODES, GraphColumns
from smtformats.hypergraph.shared.cdec_archive import (
    CLASSES,
    COUNTS,
    F64,
    FLAGS,
    HEADED,
    I16,
    I32,
    MAGIC,
    MAX_SYMBOLS,
    NODE,
    PLACED,
    RULE,
    SIZES,
    U16,
    U32,
    U64,
    VERSIONS,
    Archive,
)
from smtformats.hypergraph.shared.cdec_forest import CdecForest
from smtformats.hypergraph.shared.sentence import ends, only_one, read_all

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

NAME = "cdec-binary-hypergraph"


class _Forest(CdecForest):
    """The graph of an archive."""

    def __init__(self, archive: Archive, max_nodes: int, max_edges: int) -> None:
        super().__init__()
        self.archive = archive
        archive.constant(MAGIC, "a boost archive")
        (self.version,) = archive.take(U16)
        if self.version not in VERSIONS:
            expected = f"archive version {VERSIONS[0]} to {VERSIONS[-1]}"
            archive.fail(expected, str(self.version), archive.at - 2)
        archive.constant(SIZES, f"the sizes of numbers, {SIZES.hex(' ')}")
        archive.begin("graph")
        nodes, edges = archive.take(COUNTS)
        for count, most, what in ((nodes, max_nodes, "nodes"), (edges, max_edges, "edges")):
            if count > most:
                archive.fail(f"at most {most} {what}", str(count))
        self.read_nodes(nodes)
        self.read_edges(edges)
        self.flags = archive.take(FLAGS)
        if archive.at < len(archive.data):
            archive.fail("the end of the file after the edges", f"{len(archive.data) - archive.at} bytes")

    def read_nodes(self, count: int) -> None:
        import numpy as np

        archive = self.archive
        inward: list[Ints] = [np.empty(0, dtype=np.int64)]
        outward: list[Ints] = [np.empty(0, dtype=np.int64)]
        for node in range(count):
            archive.begin("node")
            code, number = archive.take(NODE)
            if number != node:
                archive.fail(f"node {node}", f"node {number}", archive.at - 4)
            label = archive.text()
            self.hashes.append(code)
            self.node_labels.append(self.labels.add(label) if label else -1)
            inward.append(archive.integers())
            outward.append(archive.integers())
        self.edge_counts = list(map(len, inward[1:]))
        self.out_offsets = ends(map(len, outward[1:]))
        self.order = np.concatenate(inward).astype(np.int64)
        self.outward = np.concatenate(outward).astype(np.int64)

    def read_edges(self, count: int) -> None:
        """Read all edges; most of the time is spent here."""
        archive = self.archive
        layouts: dict[tuple[bytes, ...], tuple[int, ...]] = {}
        self.heads: list[int] = []
        for edge in range(count):
            if not edge:
                archive.begin("edge")
                (head,) = archive.take(I32)
                archive.begin("tail")
                (arity,) = archive.take(U16)
            else:
                head, arity = archive.take(HEADED)
            self.heads.append(head)
            self.tail_counts.append(arity)
            at = archive.at
            archive.at += 4 * archive.size(arity, 4)
            self.tails += struct.unpack_from(f"<{arity}I", archive.data, at)
            archive.begin("pointer")
            self.edge_rules.append(self.rule(arity))
            layout, values = archive.features()
            names = layouts.get(layout)
            if names is None:
                if len(set(layout)) < len(layout):
                    archive.fail("each feature once in an edge", "one that comes again")
                names = layouts[layout] = tuple(self.names.add(archive.decoded(name)) for name in layout)
            self.features += names
            self.values += values
            self.feature_counts.append(len(names))
            *place, number = archive.take(PLACED)
            if number != edge:
                archive.fail(f"edge {edge}", f"edge {number}", archive.at - 4)
            self.places += place

    def rule(self, arity: int) -> int:
        """Return the number of an edge's rule; read the rule if it is new."""
        archive = self.archive
        (kind,) = archive.take(I16)
        if kind == -1:
            return -1
        if kind != RULE:
            archive.fail(f"a rule ({RULE}), or none (-1)", str(kind), archive.at - 2)
        archive.begin("rule")
        number: int
        (number,) = archive.take(U32)
        if number > len(self.rules):
            archive.fail(f"a rule up to {len(self.rules)}", str(number), archive.at - 4)
        if number == len(self.rules):
            self.rules.append(archive.rule())
            self.arities.append(self.rules[-1].arity)
        if self.arities[number] != arity:
            archive.fail(f"{arity} non-terminals in the rule, as the edge has tails", str(self.arities[number]))
        return number

    def check(self, wrong: NDArray[np.bool_], expected: str) -> None:
        """Raise an error at the first place where ``wrong`` is true."""
        import numpy as np

        if wrong.any():
            where = int(np.argmax(wrong))
            raise FormatError(expected, f"another value at index {where}", file=self.archive.name, line=1, field=1)

    def graph(self) -> GraphColumns:
        import numpy as np

        nodes, edges, order = len(self.node_labels), len(self.heads), self.order
        if len(order) != edges:
            self.archive.fail(f"{edges} edges into nodes", str(len(order)))
        self.check(np.sort(order) != np.arange(edges), "each edge once among those into nodes")
        heads = np.array(self.heads, dtype=np.int64)
        self.check(
            heads[order] != np.repeat(np.arange(nodes), self.edge_counts), "the node an edge leads to as its head"
        )
        tails = np.array(self.tails, dtype=np.int64)
        edge_of = np.repeat(np.arange(edges), self.tail_counts)
        self.check(tails >= heads[edge_of], "a tail below its edge's head")
        rule_values = np.array([value for rule in self.rules for value in rule.values], dtype=np.float64)
        self.check(~np.isfinite(np.array(self.values, dtype=np.float64)), "finite numbers as the values of features")
        self.check(~(abs(rule_values) < FLOAT32_END), "values of rules' features that fit 32-bit floats")
        topological, linear = self.flags
        archive = {
            "version": self.version,
            "order": order,
            "out_edges": self.out_edges(tails, edge_of),
            "rule_values": rule_values,
            "topological": topological,
            "linear": linear,
        }
        graph = self.columns(order, {"archive": archive}, self.archive.name)
        archive["grammar"] = graph.grammar
        return graph

    def out_edges(self, tails: Ints, edge_of: Ints) -> Ints | None:
        """Return the outgoing edges of all nodes, or None if they are sorted."""
        import numpy as np

        nodes = len(self.node_labels)
        counts = np.bincount(tails, minlength=nodes)
        expected = edge_of[np.argsort(tails, kind="stable")]
        self.check(counts != np.diff(self.out_offsets), "as many edges out of a node as there are tails")
        if np.array_equal(expected, self.outward):
            return None
        if not _same_parts(self.outward, expected, counts):
            self.archive.fail("the edges out of a node that have it as a tail", "others")
        return self.outward


def _same_parts(actual: Ints, expected: Ints, counts: Ints) -> bool:
    """Whether each part holds the expected numbers in any order; ``counts`` are the sizes, ``expected`` is sorted."""
    import numpy as np

    part_of = np.repeat(np.arange(len(counts)), counts)
    return len(actual) == len(part_of) and bool((actual[np.lexsort((actual, part_of))] == expected).all())


def parse(lines: Lines, *, max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES) -> Iterator[GraphColumns]:
    """Yield the graph of a file."""
    yield _Forest(Archive(read_all(lines), lines.name), max_nodes, max_edges).graph()


def write(records: Iterable[GraphColumns], out: BinaryIO, number: Number) -> int:
    """Write a graph, one per file; returns the number of graphs. ``number`` is unused: values are binary."""
    count = 0
    for graph in only_one(records):
        try:
            for piece in _Writer(graph).pieces():
                out.write(piece)
        except struct.error as error:
            raise FormatError("numbers that cdec's archive can hold", str(error), file=graph.file) from error
        count += 1
    return count


def _text(text: str) -> bytes:
    data = text.encode()
    return U64.pack(len(data)) + data


class _Writer:
    """Writes a graph in file order."""

    def __init__(self, graph: GraphColumns) -> None:
        import numpy as np

        self.graph = graph
        extras, edges = graph.extras, len(graph)
        self.archive = extras.get("archive", {})
        self.seen: set[str] = set()
        self.names = [_text(name) for name in graph.names]
        self.rule_names = [_text(name) for name in graph.grammar.names]
        own = self.archive.get("grammar") is graph.grammar
        self.rule_values = self.archive["rule_values"] if own else graph.grammar.values
        for values in (graph.values, self.rule_values):
            if not np.isfinite(values).all():
                self.fail("finite numbers as the values of features", "NaN or infinity")
        order = self.archive.get("order")
        if order is None or not np.array_equal(np.sort(order), np.arange(edges)):
            order = np.arange(edges)
        self.order: Ints = order
        prev, hashes = extras.get("prev"), extras.get("hashes")
        self.prev = np.full((edges, 2), -1) if prev is None or len(prev) != edges else prev
        self.hashes = np.zeros(graph.nodes, np.uint64) if hashes is None or len(hashes) != graph.nodes else hashes

    def fail(self, expected: str, found: str) -> NoReturn:
        raise FormatError(expected, found, file=self.graph.file, line=self.graph.line)

    def begin(self, kind: str) -> bytes:
        if kind in self.seen:
            return b""
        self.seen.add(kind)
        return CLASSES[kind]

    def pieces(self) -> Iterator[bytes]:
        graph = self.graph
        yield MAGIC + U16.pack(self.archive.get("version", VERSIONS[-1])) + SIZES + self.begin("graph")
        yield COUNTS.pack(graph.nodes, len(graph))
        yield from self.nodes()
        yield from self.edges()
        yield FLAGS.pack(self.archive.get("topological", 1), self.archive.get("linear", 0))

    def nodes(self) -> Iterator[bytes]:
        import numpy as np

        graph, order = self.graph, self.order
        place_of = np.repeat(order, np.diff(graph.tail_offsets))
        counts = np.bincount(graph.tails, minlength=graph.nodes)
        expected = place_of[np.lexsort((place_of, graph.tails))]
        outward = self.archive.get("out_edges")
        if outward is None or not _same_parts(outward, expected, counts):
            outward = expected
        inward, outward = order.astype("<i4"), outward.astype("<i4")
        out_ends = np.cumsum(counts).tolist()
        edge_ends = graph.edge_offsets.tolist()
        labels = [_text(label) for label in graph.labels] + [_text("")]
        out_start = 0
        for node, (label, code) in enumerate(zip(graph.node_labels.tolist(), self.hashes.tolist(), strict=True)):
            yield self.begin("node") + NODE.pack(code, node) + labels[label]
            for edges in (inward[edge_ends[node] : edge_ends[node + 1]], outward[out_start : out_ends[node]]):
                yield U64.pack(len(edges)) + edges.tobytes()
            out_start = out_ends[node]

    def edges(self) -> Iterator[bytes]:
        import numpy as np

        graph = self.graph
        heads, rules = graph.heads.tolist(), graph.rules.tolist()
        tails, tail_ends = graph.tails.astype("<u4"), graph.tail_offsets.tolist()
        features, values, ends_ = graph.features.tolist(), graph.values.tolist(), graph.feature_offsets.tolist()
        places = np.hstack([graph.spans, self.prev]).tolist()
        objects: dict[int, int] = {}
        for place, edge in enumerate(np.argsort(self.order).tolist()):
            tail = tails[tail_ends[edge] : tail_ends[edge + 1]]
            yield self.begin("edge") + I32.pack(heads[edge]) + self.begin("tail") + U16.pack(len(tail))
            yield tail.tobytes() + self.begin("pointer") + self.rule(rules[edge], objects)
            first, last = ends_[edge], ends_[edge + 1]
            yield self.features(self.names, features[first:last], values[first:last])
            yield PLACED.pack(*places[edge], place)

    def rule(self, rule: int, objects: dict[int, int]) -> bytes:
        """Return a reference to a rule, with the rule itself on first use."""
        if rule < 0:
            return I16.pack(-1)
        known = rule in objects
        start = I16.pack(RULE) + self.begin("rule") + U32.pack(objects.setdefault(rule, len(objects)))
        return start if known else start + self.body(rule)

    def body(self, rule: int) -> bytes:
        grammar = self.graph.grammar
        source = grammar.source[grammar.source_offsets[rule] : grammar.source_offsets[rule + 1]].tolist()
        target = grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]].tolist()
        if not source:
            self.fail("a source side for each rule", "none")
        parts = [_text(grammar.labels[int(grammar.lhs[rule])])]
        for side in (source, target):
            if len(side) > MAX_SYMBOLS:
                self.fail(f"at most {MAX_SYMBOLS} symbols on a rule's side", str(len(side)))
            mask = sum(1 << k for k, symbol in enumerate(side) if symbol < 0)
            parts.append(U32.pack(len(side)) + U64.pack(mask))
            for symbol in side:
                if symbol >= 0:
                    parts.append(_text(grammar.words[symbol]))
                else:
                    parts.append(_text(grammar.labels[-1 - symbol]) if side is source else I32.pack(symbol + 1))
        parts.append(bytes((sum(symbol < 0 for symbol in source),)))
        part = slice(int(grammar.feature_offsets[rule]), int(grammar.feature_offsets[rule + 1]))
        parts.append(self.features(self.rule_names, grammar.features[part].tolist(), self.rule_values[part].tolist()))
        return b"".join(parts)

    def features(self, names: list[bytes], ids: list[int], values: list[float]) -> bytes:
        parts = [self.begin("features"), I32.pack(len(ids))]
        if ids:
            parts.append(self.begin("feature"))
        for name, value in zip(ids, values, strict=True):
            parts += (names[name], F64.pack(value))
        return b"".join(parts)


def matches(head: bytes) -> bool:
    """Match a boost archive."""
    return head.startswith(MAGIC)


FORMAT = Format(
    name=NAME,
    kind="hypergraph",
    summary="cdec forest as a boost binary archive, DIR/N.bin.gz",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".bin.gz", ".bin"),
    carries=frozenset(("prev", "hashes", "archive")),
    binary=True,
    single=True,
)
