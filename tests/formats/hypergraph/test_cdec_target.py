"""cdec's target graphs: tails in the order of the gaps, features of rules, bad lines are named."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError
from smtformats.files import Lines
from smtformats.hypergraph.cdec_target import FORMAT, matches, parse
from smtformats.hypergraph.graph import GraphColumns

from .inference import log_partition, paths, text_of, viterbi
from .samples import graphs

SMALL = (
    "3 5\n2\na ||| F=1\none  ||| F=0.5 R=x=1e-05 \n2\n[0] house [0] ||| G=2\nhouse ||| \n"
    "1\nthe [1] of [0] [1] ||| F=-1\n"
)


def read(text: str | bytes, name: str = "dir/7.gz", **limits: int) -> GraphColumns:
    data = text if isinstance(text, bytes) else text.encode()
    (graph,) = parse(Lines(io.BytesIO(data), name), **limits)
    return graph


def test_a_small_graph() -> None:
    graph = read(SMALL)
    assert graph.id == "7"
    assert graph.edge_offsets.tolist() == [0, 2, 4, 5]
    assert graph.tails.tolist() == [0, 0, 1, 0, 1]
    assert graph.tail_offsets.tolist() == [0, 0, 0, 2, 2, 5]
    assert [graph.edge_features(i) for i in range(5)] == [{"F": 1}, {"F": 0.5, "R=x": 1e-5}, {"G": 2}, {}, {"F": -1}]
    assert graph.spans.tolist() == [[-1, -1]] * 5
    assert graph.node_labels.tolist() == [-1] * 3
    scores = graph.edge_scores({"F": 1, "G": 1})
    score, edges = viterbi(graph, scores)
    assert (score, text_of(graph, edges)) == (8.0, "the a house a of a a house a")
    assert paths(graph) == 5 * 5 * 2
    assert log_partition(graph, scores) > score


def test_equal_target_sides_are_one_rule() -> None:
    graph = read("2 4\n2\na [ ||| F=1\na [ ||| F=2\n2\n[0] ||| \n[0] ||| F=1\n")
    assert graph.rules.tolist() == [0, 0, 1, 1]
    assert len(graph.grammar) == 2


def test_no_derivation() -> None:
    assert read("0 0\n").nodes == 0


def shown(graph: GraphColumns) -> str:
    """A graph as cdec shows it."""
    lines = [f"{graph.nodes} {len(graph)}"]
    grammar = graph.grammar
    for first, last in zip(graph.edge_offsets[:-1].tolist(), graph.edge_offsets[1:].tolist(), strict=True):
        lines.append(str(last - first))
        for edge in range(first, last):
            tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
            rule = int(graph.rules[edge])
            target = range(-1, -1 - len(tails), -1)
            if rule >= 0:
                target = grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]].tolist()
            words = [grammar.words[symbol] if symbol >= 0 else f"[{tails[-1 - symbol]}]" for symbol in target]
            features = [f"{name}={value!r}" for name, value in graph.edge_features(edge).items()]
            lines.append(" ".join(words) + " ||| " + " ".join(features))
    return "\n".join(lines) + "\n"


@given(graphs())
def test_what_is_shown_reads_back(graph: GraphColumns) -> None:
    text = shown(graph)
    again = read(text)
    assert shown(again) == text
    assert paths(again) == paths(graph)


@given(st.data())
def test_spoilt_text(data: st.DataObject) -> None:
    text = bytearray(SMALL.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        piece = data.draw(st.sampled_from([b"", b"9", b"\n", b"[", b"]", b"|", b"=", b"\xff", b"-", b" ", b"\0"]))
        text[at : at + data.draw(st.integers(0, 3))] = piece
    try:
        graph = read(bytes(text))
    except FormatError:
        return
    assert len(graph) == graph.edge_offsets[-1]


def test_cut_files() -> None:
    for cut in range(SMALL.rindex("1\nthe") + 1):
        with pytest.raises(FormatError):
            read(SMALL[:cut])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected the numbers of nodes and edges, found the end of the file"),
        (
            "# target ||| features\n1 1\n",
            "1: field 1: expected the numbers of nodes and edges, found '# target ||| features'",
        ),
        ("1\n", "1: field 1: expected the numbers of nodes and edges, found '1'"),
        ("01 1\n", "1: field 1: expected the numbers of nodes and edges, found '01 1'"),
        ("1 1\r\n", "1: field 1: expected the numbers of nodes and edges, found '1 1\\r'"),
        ("10000001 1\n", "1: field 1: expected at most 10000000, found 10000001"),
        ("1 100000001\n", "1: field 2: expected at most 100000000, found 100000001"),
        ("1 1\n", "1: field 1: expected how many edges lead to node 0, found the end of the file"),
        ("1 1\n-1\n", "2: field 1: expected how many edges lead to node 0, found '-1'"),
        ("1 1\n2\n", "2: field 1: expected at most 1 edges more, as the first line says, found 2"),
        ("1 2\n1\na ||| \n", "3: field 1: expected 1 edges more, as the first line says, found no node for them"),
        ("1 1\n1\n", "2: field 1: expected an edge, target ||| name=value ..., found the end of the file"),
        ("1 1\n1\na\n", "3: field 1: expected target ||| name=value ..., found 'a'"),
        ("1 1\n1\na |||b\n", "3: field 1: expected target ||| name=value ..., found 'a |||b'"),
        ("1 1\n1\n[0] ||| \n", "3: field 1: expected a node before 0, found '[0]'"),
        ("1 1\n1\na ||| F\n", "3: field 2: expected name=value, found 'F'"),
        ("1 1\n1\na ||| =1\n", "3: field 2: expected name=value, found '=1'"),
        ("1 1\n1\na ||| F=nan\n", "3: field 2: expected name=value, found 'F=nan'"),
        ("1 1\n1\na ||| F=1e999\n", "3: field 2: expected name=value, found 'F=1e999'"),
        ("1 1\n1\na ||| F=1 F=2\n", "3: field 2: expected each feature once, found 'F' again"),
        ("1 1\n1\na ||| \n\n", "4: field 1: expected the end of the file, found '\\n'"),
        (b"1 1\n1\n\xff ||| \n", "3: field 1: expected UTF-8 text, found byte 0xff at column 1"),
    ],
)
def test_bad_files(text: str | bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text, "x")
    assert str(caught.value) == f"x:{message}"


@pytest.mark.parametrize(("limits", "field"), [({"max_nodes": 2}, 1), ({"max_edges": 4}, 2)])
def test_limits(limits: dict[str, int], field: int) -> None:
    with pytest.raises(FormatError, match=f"x:1: field {field}: expected at most"):
        read(SMALL, "x", **limits)


@pytest.mark.parametrize(
    ("head", "fits"),
    [
        (SMALL, True),
        (SMALL[: SMALL.index("one") - 1], True),
        ("2 1\n0\n1\n[0] ||| F=1\n", False),
        ("# target ||| features\n8 8\n1\n<s> ||| lm_0=0.000\n", False),
        ("0 0\n", False),
        ("1\n1 yes # 1\n2 ja doch # 1 0\n", False),
    ],
)
def test_shape(head: str, fits: bool) -> None:
    assert matches(head.encode()) == fits


def test_the_example() -> None:
    assert read(FORMAT.example).nodes == 2
