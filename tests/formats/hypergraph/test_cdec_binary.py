"""cdec's binary forests: every byte comes back, none that is missing or spoilt gives more than a FormatError."""

from __future__ import annotations

import dataclasses
import io
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph import cdec_json
from smtformats.hypergraph.cdec_binary import matches, parse, write
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns

from .inference import text_of, viterbi
from .samples import content, graphs


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def integers(*values: int) -> bytes:
    return struct.pack(f"<Q{len(values)}i", len(values), *values)


def about(shared: int = 0, version: int = 0) -> bytes:
    """What an archive says of a class at its first coming."""
    return struct.pack("<BI", shared, version)


HEAD = string("serialization::archive") + struct.pack("<H4BI", 18, 4, 8, 4, 8, 1) + about()
# Two nodes; three edges, the second of which leads to the goal.
NODES = [
    about() + struct.pack("<Qi", 0xFEAB29A2AB96C9B2, 0) + string("X") + integers(2, 0) + integers(1),
    struct.pack("<Qi", 7, 1) + string("") + integers(1) + integers(),
]
RULE = (
    string("X") + struct.pack("<IQ", 1, 0) + string("ein") + struct.pack("<IQ", 1, 0) + string("a") + b"\0" + about()
    + struct.pack("<i", 1) + about() + string("F") + struct.pack("<d", 0.1)
)  # fmt: skip
GLUE = (
    string("S") + struct.pack("<IQ", 2, 1) + string("X") + string("haus")
    + struct.pack("<IQ", 2, 2) + string("house") + struct.pack("<i", 0) + b"\1"
    + struct.pack("<i", 0)
)  # fmt: skip
EDGES = [
    about() + struct.pack("<i", 0) + about() + struct.pack("<H", 0) + about(0, 1)
    + struct.pack("<h", 6) + about(1) + struct.pack("<I", 0) + RULE
    + struct.pack("<i", 2) + string("F") + struct.pack("<d", 1 / 3) + string("Z") + struct.pack("<d", 0)
    + struct.pack("<4hi", 0, 1, -1, -1, 0),
    struct.pack("<iHIhI", 1, 1, 0, 6, 1) + GLUE + struct.pack("<i4hi", 0, 0, 2, 3, 4, 1),
    struct.pack("<iHhI", 0, 0, 6, 0) + struct.pack("<i4hi", 0, 0, 1, -1, -1, 2),
]  # fmt: skip
SMALL = HEAD + struct.pack("<II", 2, 3) + b"".join(NODES + EDGES) + struct.pack("<ii", 112, 0)


def read(data: bytes, name: str = "x", **limits: int) -> GraphColumns:
    (graph,) = parse(Lines(io.BytesIO(data), name), **limits)
    return graph


def written(graph: GraphColumns) -> bytes:
    out = io.BytesIO()
    assert write([graph], out, shortest) == 1
    return out.getvalue()


def fault(data: bytes, **limits: int) -> str:
    with pytest.raises(FormatError) as caught:
        read(data, **limits)
    return str(caught.value)


def test_a_small_forest() -> None:
    graph = read(SMALL, "out/3.bin.gz")
    assert graph.id == "3"
    assert graph.edge_offsets.tolist() == [0, 2, 3]
    assert graph.rules.tolist() == [0, 0, 1]
    assert graph.tails.tolist() == [0]
    assert graph.spans.tolist() == [[0, 1], [0, 1], [0, 2]]
    assert [graph.edge_features(edge) for edge in range(3)] == [{}, {"F": 1 / 3, "Z": 0}, {}]
    assert graph.node_labels.tolist() == [0, -1]
    assert graph.grammar.rule(1).source == (NonTerminal("X", 1), "haus")
    assert graph.grammar.rule(1).target == ("house", NonTerminal("X", 1))
    assert graph.extras["archive"]["rule_values"].tolist() == [0.1]
    assert graph.extras["prev"].tolist() == [[-1, -1], [-1, -1], [3, 4]]
    assert graph.extras["archive"]["order"].tolist() == [2, 0, 1]
    assert graph.extras["hashes"].tolist() == [0xFEAB29A2AB96C9B2, 7]
    assert [graph.extras["archive"][key] for key in ("version", "topological", "linear")] == [18, 112, 0]
    score, edges = viterbi(graph, graph.edge_scores({"F": 3}))
    assert (score, text_of(graph, edges)) == (1.0, "house a")
    assert written(graph) == SMALL


def test_no_derivation() -> None:
    data = HEAD + struct.pack("<IIii", 0, 0, 1, 0)
    assert read(data).nodes == 0
    assert written(read(data)) == data


def test_archives_of_both_ends() -> None:
    for version in (10, 18):
        data = SMALL.replace(struct.pack("<H4B", 18, 4, 8, 4, 8), struct.pack("<H4B", version, 4, 8, 4, 8))
        assert written(read(data)) == data


def test_edges_out_of_a_node_in_any_order() -> None:
    data = SMALL.replace(integers(2, 0) + integers(1), integers(0) + integers(1, 2))
    data = data.replace(integers(1) + integers(), integers(1, 2) + integers())
    data = data.replace(EDGES[2], struct.pack("<iHIhI", 1, 1, 0, 6, 1) + struct.pack("<i4hi", 0, 0, 2, -1, -1, 2))
    assert read(data).extras["archive"]["out_edges"] is None
    turned = data.replace(integers(0) + integers(1, 2), integers(0) + integers(2, 1))
    assert read(turned).extras["archive"]["out_edges"].tolist() == [2, 1]
    assert written(read(turned)) == turned
    assert content(read(turned)) == content(read(data))


def test_a_changed_graph_is_composed() -> None:
    graph = read(SMALL)
    changed = dataclasses.replace(graph, values=graph.values * 3)
    assert written(changed) == SMALL.replace(struct.pack("<d", 1 / 3), struct.pack("<d", 1.0))
    last = int(graph.edge_offsets[1])
    smaller = dataclasses.replace(
        graph,
        edge_offsets=graph.edge_offsets[:2],
        node_labels=graph.node_labels[:1],
        tails=graph.tails[:0],
        tail_offsets=graph.tail_offsets[: last + 1],
        rules=graph.rules[:last],
        spans=graph.spans[:last],
        feature_offsets=graph.feature_offsets[: last + 1],
    )
    assert content(read(written(smaller))) == content(graph)[:1]


@given(graphs())
def test_what_is_composed_reads_back(graph: GraphColumns) -> None:
    data = written(graph)
    again = read(data)
    assert content(again) == content(graph)
    assert written(again) == data


@given(graphs())
def test_both_forests_say_the_same(graph: GraphColumns) -> None:
    binary = read(written(graph))
    out = io.StringIO()
    cdec_json.write([binary], out, shortest)
    (text,) = cdec_json.parse(Lines(io.BytesIO(out.getvalue().encode()), "x"))
    assert content(text) == content(binary)
    assert content(read(written(text))) == content(binary)
    assert text.extras["hashes"].tolist() == binary.extras["hashes"].tolist()


def test_cut_files() -> None:
    for cut in range(len(SMALL)):
        assert fault(SMALL[:cut]).startswith("x:1: field 1: expected ")


def test_flipped_bits() -> None:
    for at in range(8 * len(SMALL)):
        data = bytearray(SMALL)
        data[at // 8] ^= 1 << at % 8
        try:
            graph = read(bytes(data))
        except FormatError:
            continue
        assert written(graph) == data


@given(st.data())
def test_spoilt_bytes(data: st.DataObject) -> None:
    spoilt = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(spoilt) - 1))
        spoilt[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    try:
        graph = read(bytes(spoilt))
    except FormatError:
        return
    assert written(graph) == spoilt


def spoilt(old: bytes, new: bytes) -> bytes:
    assert SMALL.count(old) >= 1
    return SMALL.replace(old, new, 1)


MANY = 1 << 40


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "more bytes, found the end of the file at byte 0"),
        (b"{}", "a boost archive, found 7b 7d at byte 0"),
        (
            spoilt(struct.pack("<H4B", 18, 4, 8, 4, 8), struct.pack("<H4B", 19, 4, 8, 4, 8)),
            "archive version 10 to 18, found 19 at byte 30",
        ),
        (
            spoilt(bytes((4, 8, 4, 8)), bytes((4, 4, 4, 8))),
            "the sizes of numbers, 04 08 04 08 01 00 00 00, found 04 04 04 08 01 00 00 00 at byte 32",
        ),
        (HEAD + struct.pack("<II", 1 << 31, 3), "at most 10000000 nodes, found 2147483648 at byte 53"),
        (HEAD + struct.pack("<II", 2, 1 << 31), "at most 100000000 edges, found 2147483648 at byte 53"),
        (spoilt(struct.pack("<Qi", 7, 1), struct.pack("<Qi", 7, 2)), "node 1, found node 2 at byte 115"),
        (
            spoilt(struct.pack("<Qi", 7, 1) + string(""), struct.pack("<QiQ", 7, 1, MANY)),
            "at most 331 items in the rest of the file, found 1099511627776 at byte 127",
        ),
        (
            spoilt(integers(2, 0), struct.pack("<Q", MANY)),
            "at most 90 items in the rest of the file, found 1099511627776 at byte 87",
        ),
        (
            spoilt(integers(2, 0), integers(2, 2)),
            "each edge once among those into nodes, found another value at index 0",
        ),
        (
            spoilt(integers(2, 0), integers(2, 1)),
            "each edge once among those into nodes, found another value at index 0",
        ),
        (spoilt(integers(1) + integers(), integers() + integers()), "3 edges into nodes, found 2 at byte 454"),
        (
            spoilt(struct.pack("<iHhI", 0, 0, 6, 0), struct.pack("<iHhI", 1, 0, 6, 0)),
            "the node an edge leads to as its head, found another value at index 0",
        ),
        (
            spoilt(struct.pack("<iHI", 1, 1, 0), struct.pack("<iHI", 1, 1, 1)),
            "a tail below its edge's head, found another value at index 0",
        ),
        (
            spoilt(integers(2, 0) + integers(1), integers(2, 0) + integers()),
            "as many edges out of a node as there are tails, found another value at index 0",
        ),
        (
            spoilt(integers(2, 0) + integers(1), integers(2, 0) + integers(0)),
            "the edges out of a node that have it as a tail, found others at byte 458",
        ),
        (
            spoilt(about(0, 1) + struct.pack("<h", 6), about(1, 1) + struct.pack("<h", 6)),
            "the class of a pointer, 00 01 00 00 00, found 01 01 00 00 00 at byte 163",
        ),
        (
            spoilt(struct.pack("<h", 6) + about(1), struct.pack("<h", 5) + about(1)),
            "a rule (6), or none (-1), found 5 at byte 168",
        ),
        (
            spoilt(struct.pack("<hI", 6, 1) + GLUE, struct.pack("<hI", 6, 2) + GLUE),
            "a rule up to 1, found 2 at byte 326",
        ),
        (
            spoilt(struct.pack("<hI", 6, 1) + GLUE, struct.pack("<hI", 6, 0)),
            "1 non-terminals in the rule, as the edge has tails, found 0 at byte 330",
        ),
        (
            spoilt(string("S") + struct.pack("<IQ", 2, 1), string("S") + struct.pack("<IQ", 65, 1)),
            "at most 64 symbols, found 65 at byte 339",
        ),
        (
            spoilt(string("S") + struct.pack("<IQ", 2, 1), string("S") + struct.pack("<IQ", 2, 4)),
            "a mask of 2 bits, found 4 at byte 343",
        ),
        (
            spoilt(string("house") + struct.pack("<i", 0), string("house") + struct.pack("<i", -1)),
            "each of the 1 non-terminals once (0, -1, ...), found -1 at byte 397",
        ),
        (
            spoilt(string("house") + struct.pack("<iB", 0, 1), string("house") + struct.pack("<iB", 0, 2)),
            "1 non-terminals, as on the source side, found 1, arity 2 at byte 402",
        ),
        (spoilt(string("haus"), string("haus")[:-1] + b"\xff"), "UTF-8 text, found byte 0xff at byte 372"),
        (
            spoilt(struct.pack("<i", 2) + string("F"), struct.pack("<i", -2) + string("F")),
            "a number of features, found -2 at byte 264",
        ),
        (
            spoilt(struct.pack("<i", 2) + string("F"), struct.pack("<i", 1 << 30) + string("F")),
            "at most 11 items in the rest of the file, found 1073741824 at byte 268",
        ),
        (spoilt(string("Z"), string("F")), "each feature once in an edge, found one that comes again at byte 302"),
        (
            spoilt(struct.pack("<d", 1 / 3), struct.pack("<d", np.nan)),
            "finite numbers as the values of features, found another value at index 0",
        ),
        (
            spoilt(struct.pack("<d", 0.1), struct.pack("<d", 1e39)),
            "values of rules' features that fit 32-bit floats, found another value at index 0",
        ),
        (spoilt(struct.pack("<hi", -1, 2), struct.pack("<hi", -1, 3)), "edge 2, found edge 3 at byte 446"),
        (SMALL + b"\0", "the end of the file after the edges, found 1 bytes at byte 458"),
    ],
)
def test_bad_files(data: bytes, message: str) -> None:
    assert fault(data) == f"x:1: field 1: expected {message}"


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_nodes": 1}, "x:1: field 1: expected at most 1 nodes, found 2 at byte 53"),
        ({"max_edges": 2}, "x:1: field 1: expected at most 2 edges, found 3 at byte 53"),
    ],
)
def test_limits(limits: dict[str, int], message: str) -> None:
    assert fault(SMALL, **limits) == message
    assert read(SMALL, max_nodes=2, max_edges=3).nodes == 2


def test_counts_take_no_memory_before_they_are_checked() -> None:
    heads = [
        HEAD + struct.pack("<II", 10_000_000, 100_000_000),
        spoilt(integers(2, 0), struct.pack("<Q", MANY)),
        spoilt(string("ein"), struct.pack("<Q", MANY)),
        spoilt(struct.pack("<i", 2) + string("F"), struct.pack("<i", (1 << 31) - 1) + string("F")),
    ]
    for data in heads:
        fault(data)
        tracemalloc.start()
        fault(data)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1 << 20


INF = float("inf")


def made(rule: Rule | None, edge: Edge) -> GraphColumns:
    builder = GraphBuilder()
    builder.add([Edge(())])
    builder.add([edge])
    return builder.graph("0", [] if rule is None else [rule])


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (made(Rule("X", (), ("a",)), Edge((), 0)), "a source side for each rule"),
        (made(Rule("X", ("s",), ("a",) * 65), Edge((), 0)), "at most 64 symbols on a rule's side"),
        (made(Rule("X", ("s",), ("a",), ("F",), (INF,)), Edge((), 0)), "finite numbers as the values of features"),
        (made(None, Edge((), features={"F": float("nan")})), "finite numbers as the values of features"),
        (made(None, Edge((), span=(0, 32768))), "numbers that cdec's archive can hold"),
        (made(None, Edge((0,) * 65536)), "numbers that cdec's archive can hold"),
    ],
)
def test_what_cannot_be_written(graph: GraphColumns, expected: str) -> None:
    with pytest.raises(FormatError) as caught:
        written(graph)
    assert caught.value.expected == expected


def test_one_graph_in_a_file() -> None:
    with pytest.raises(FormatError, match="one graph in a file"):
        write([read(SMALL)] * 2, io.BytesIO(), shortest)
    assert write([], io.BytesIO(), shortest) == 0


def test_shape() -> None:
    assert matches(SMALL)
    assert not matches(SMALL[1:])
    assert not matches(b"")
