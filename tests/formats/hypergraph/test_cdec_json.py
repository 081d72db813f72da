"""cdec's JSON forests: what may be left out, what comes back, bad entries are named."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.grammar.rules import Rule
from smtformats.hypergraph.cdec_json import FORMAT, matches, parse, write
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns

from .inference import text_of, viterbi
from .samples import content, graphs

SMALL = (
    '{"rules":[1,"[X] ||| ein ||| a ||| F=1 ||| 0-0",2,"[S] ||| [X,1] haus ||| house [1]"],"features":["F","Glue"],'
    '"edges":[{"tail":[],"spans":[0,1,-1,-1],"feats":[0,1.5,1,-2],"rule":1},'
    '{"tail":[],"spans":[0,1,3,4],"feats":[],"rule":0}],'
    '"node":{"in_edges":[0,1],"cat":"X","node_hash":"FEAB29A2AB96C9B2"},'
    '"edges":[{"tail":[0],"spans":[0,2,-1,-1],"feats":[1,1e+06],"rule":2}],'
    '"node":{"in_edges":[2],"cat":"S","node_hash":"0000000000000001"}}\n'
)


def read(text: str | bytes, name: str = "x", **limits: int) -> GraphColumns:
    data = text if isinstance(text, bytes) else text.encode()
    (graph,) = parse(Lines(io.BytesIO(data), name), **limits)
    return graph


def written(graph: GraphColumns) -> str:
    out = io.StringIO()
    assert write([graph], out, shortest) == 1
    return out.getvalue()


def composed(graph: GraphColumns) -> str:
    """The text of a graph as if something had changed."""
    spelling = dict(graph.extras["spelling"]) | {"read": -1}
    return written(dataclasses.replace(graph, extras={**graph.extras, "spelling": spelling}))


def fault(text: str | bytes, **limits: int) -> str:
    with pytest.raises(FormatError) as caught:
        read(text, **limits)
    return str(caught.value)


def test_a_small_forest() -> None:
    graph = read(SMALL, "out/0012.json.gz")
    assert graph.id == "0012"
    assert graph.nodes == 2
    assert graph.edge_offsets.tolist() == [0, 2, 3]
    assert graph.tails.tolist() == [0]
    assert graph.tail_offsets.tolist() == [0, 0, 0, 1]
    assert graph.rules.tolist() == [0, -1, 1]
    assert graph.spans.tolist() == [[0, 1], [0, 1], [0, 2]]
    assert [graph.edge_features(edge) for edge in range(3)] == [{"F": 1.5, "Glue": -2}, {}, {"Glue": 1e6}]
    assert [graph.labels[i] for i in graph.node_labels] == ["X", "S"]
    assert graph.grammar.rule(0).alignment == ((0, 0),)
    assert graph.extras["prev"].tolist() == [[-1, -1], [3, 4], [-1, -1]]
    assert graph.extras["hashes"].tolist() == [0xFEAB29A2AB96C9B2, 1]
    score, edges = viterbi(graph, graph.edge_scores({"F": 1}))
    assert (score, text_of(graph, edges)) == (1.5, "house a")
    assert written(graph) == composed(graph) == SMALL


def test_no_derivation() -> None:
    for text in ("{}\n", " { } ", "{/* none */}"):
        graph = read(text)
        assert (graph.nodes, len(graph)) == (0, 0)
        assert written(graph) == text
        assert composed(graph) == "{}\n"


def test_what_may_be_left_out() -> None:
    text = """{ /* by "hand" */ "is_sorted": true, "features": ["F1", "F2"],
      "rules": [7, "[X] ||| a ||| A", -3, "[S] ||| [X,1] b ||| [1] B ||| F1=9"],
      "edges": [{"tail": null, "feats": null, "rule": 7}],
      "edges": [{"rule": "[X] ||| /*a ||| AA", "spans": [0, 1], "feats": [0, 1.5, "Extra", -2]}, {"rule": null}],
      /* nodes may come later
         and in any order */
      "node": {"in_edges": [2, 0, 1]},
      "edges": [{"feats": [1, 2, 1, 3], "tail": [0], "rule": -3}], "node": {"cat": "S", "in_edges": [3]},
      "node": {"in_edges": null, "cat": "", "node_hash": "ff"}
    }"""
    graph = read(text)
    assert graph.edge_offsets.tolist() == [0, 3, 4, 4]
    assert graph.rules.tolist() == [-1, 0, 2, 1]
    assert graph.spans.tolist() == [[-1, -1], [-1, -1], [0, 1], [-1, -1]]
    assert [graph.edge_features(i) for i in range(4)] == [{}, {}, {"F1": 1.5, "Extra": -2}, {"F2": 3}]
    assert [graph.labels[i] for i in graph.node_labels] == ["X", "S", ""]
    assert graph.grammar.rule(2).source == ("/*a",)
    assert written(graph) == text
    assert composed(graph) == (
        '{"rules":[1,"[X] ||| a ||| A",2,"[S] ||| [X,1] b ||| [1] B ||| F1=9",3,"[X] ||| \\/*a ||| AA"],'
        '"features":["F1","F2","Extra"],'
        '"edges":[{"tail":[],"feats":[],"rule":0},{"tail":[],"feats":[],"rule":1},'
        '{"tail":[],"spans":[0,1,-1,-1],"feats":[0,1.5,2,-2],"rule":3}],"node":{"in_edges":[0,1,2]},'
        '"edges":[{"tail":[0],"feats":[1,3],"rule":2}],"node":{"in_edges":[3],"cat":"S"},'
        '"edges":[],"node":{"in_edges":[],"cat":"","node_hash":"00000000000000FF"}}\n'
    )
    assert content(read(composed(graph))) == content(graph)


def test_rules_removed() -> None:
    text = '{"features":["F"],"edges":[{"tail":[],"spans":[0,1,-1,-1],"feats":[0,1]}],"node":{"in_edges":[0]}}\n'
    graph = read(text)
    assert graph.rules.tolist() == [-1]
    assert written(graph) == composed(graph) == text


def test_rules_without_a_source_side_have_no_place() -> None:
    builder = GraphBuilder()
    builder.add([Edge((), rule=0)])
    with pytest.raises(FormatError) as caught:
        written(builder.graph("0", [Rule("X", (), ("a",))], file="x", line=3))
    assert str(caught.value) == "x:3: expected a source side for each rule, found none"


def test_names_instead_of_places() -> None:
    text = '{"edges":[{"tail":[],"spans":[0,1,-1,-1],"feats":["a\\/b",1]}],"node":{"in_edges":[0],"cat":"X"}}\n'
    graph = read(text)
    assert graph.edge_features(0) == {"a/b": 1}
    assert written(graph) == composed(graph) == text


@pytest.mark.parametrize(("count", "listed"), [(998, True), (999, False)])
def test_names_from_a_thousand_on(count: int, listed: bool) -> None:
    builder = GraphBuilder(f"F{i}" for i in range(count))
    builder.add([Edge((), features={"F7": 1.0})])
    text = written(builder.graph("0", []))
    assert ('"features"' in text) == listed
    assert ('"feats":[7,1]' if listed else '"feats":["F7",1]') in text
    assert read(text).edge_features(0) == {"F7": 1}


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e6, "1e+06"), (123456789.0, "123456789"), (100000.0, "100000"), (1e-5, "1e-05"), (0.5, "0.5"), (1 / 3, None)],
)
def test_spelling_of_numbers(value: float, text: str | None) -> None:
    builder = GraphBuilder()
    builder.add([Edge((), features={"F": value, "Zero": 0.0})])
    graph = builder.graph("0", [])
    assert f'"feats":[0,{text or repr(value)}]' in written(graph)
    out = io.StringIO()
    write([graph], out, lambda value: f"{value:.2g}")
    assert f'"feats":[0,{float(f"{value:.2g}"):g}]' in out.getvalue()


def test_a_changed_graph_is_composed() -> None:
    graph = read(SMALL)
    changed = dataclasses.replace(graph, values=graph.values * 2)
    assert written(changed) == SMALL.replace("1.5,1,-2", "3,1,-4").replace("1e+06", "2e+06")
    graph.extras["prev"][0] = (5, 6)
    assert written(graph) == SMALL.replace("[0,1,-1,-1]", "[0,1,5,6]")
    other = dataclasses.replace(graph, grammar=read(SMALL.replace("haus", "heim").replace("F=1 ", "F=0.25 ")).grammar)
    assert '"[X] ||| ein ||| a ||| F=0.25 ||| 0-0",2,"[S] ||| [X] heim ||| house [1]"' in written(other)


@given(graphs())
def test_what_is_composed_reads_back(graph: GraphColumns) -> None:
    text = written(graph)
    again = read(text)
    assert content(again) == content(graph)
    assert written(again) == composed(again) == text


@given(st.data())
def test_spoilt_text(data: st.DataObject) -> None:
    text = bytearray(SMALL.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        piece = data.draw(
            st.sampled_from([b"", b"1", b'"', b"[", b"]", b"{", b"null", b"\xff", b"-", b"\\ud800", b"1e999"])
        )
        text[at : at + data.draw(st.integers(0, 3))] = piece
    with contextlib.suppress(FormatError):
        graph = read(bytes(text))
        assert written(graph).encode() == text
        assert content(read(composed(graph))) == content(graph)


def test_cut_files() -> None:
    for cut in range(len(SMALL) - 2):
        assert fault(SMALL[:cut]).startswith("x:1: field ")


START = '{"features":["F"],\n"rules":[1,"[X] ||| a ||| A",2,"[X] ||| [X] ||| [1]"],\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected {, found the end of the file"),
        ("[]", "1: field 1: expected {, found '[]'"),
        ("{1:2}", "1: field 1: expected \", found '1:2}'"),
        ('{"rules"}', "1: field 1: expected :, found '}'"),
        ('{"rules":[]', "1: field 1: expected ,, found the end of the file"),
        ('{"rules":[],}', "1: field 2: expected \", found '}'"),
        ("{} x", "1: field 1: expected the end of the file after the object, found 'x'"),
        ("{}\n{}", "2: field 1: expected the end of the file after the object, found '{}'"),
        ('{"rules":[1,"[X] ||| a ||| A",]}', "1: field 1: expected JSON (expecting value), found ']}'"),
        ('{"edges":' + "[" * 100000, "1: field 1: expected JSON with less nesting, found '" + "[" * 30 + "'"),
        ('{"hyps":[]}', "1: field 1: expected rules, features, edges, node or is_sorted, found 'hyps'"),
        ('{"rules":[1]}', "1: field 1: expected a rule for each id, found 1 items"),
        ('{"rules":{}}', "1: field 1: expected a list of rule ids and rules, found an object"),
        (
            '{"rules":["[X] ||| a ||| A",1]}',
            "1: field 1: expected the id of a rule, an integer, found '\"[X] ||| a ||| A\"'",
        ),
        (
            '{"rules":[1,"[X] ||| [1] ||| b [2]"]}',
            "1: field 1: expected an index up to 1, as on the source side, "
            "found '[2]' in the rule '[X] ||| [1] ||| b [2]'",
        ),
        (
            '{"rules":[1," a ||| A"]}',
            "1: field 1: expected a left-hand side, [LABEL] |||, found 'a' in the rule ' a ||| A'",
        ),
        ('{"rules":[1,"[X] ||| a ||| A\\nB"]}', "1: field 1: expected a rule on one line, found '[X] ||| a ||| A\\nB'"),
        (
            '{"rules":[1,"[X] ||| a ||| A ||| F=nan"]}',
            "1: field 1: expected a number that fits 32-bit floats, "
            "found 'nan' in the rule '[X] ||| a ||| A ||| F=nan'",
        ),
        ('{"features":["\\ud800"]}', "1: field 1: expected text without lone surrogates, found '\\ud800'"),
        ('{"features":[1]}', "1: field 1: expected the name of a feature, found '1'"),
        (START + '"edges":[1]}', "3: field 3: expected an edge of tail, spans, feats and rule, found '1'"),
        (
            START + '"edges":[{"tails":[]}]}',
            "3: field 3: expected an edge of tail, spans, feats and rule, found an object",
        ),
        (
            START + '"edges":[{"tail":[0],"rule":2}]}',
            "3: field 3: expected the number of a node that came before, found '0'",
        ),
        (START + '"edges":[{"tail":0}]}', "3: field 3: expected a list of node numbers, found '0'"),
        (START + '"edges":[{"spans":[0,1,2]}]}', "3: field 3: expected 2 or 4 positions, found 3"),
        (START + '"edges":[{"spans":[0,32768]}]}', "3: field 3: expected a position of 16 bits, found '32768'"),
        (START + '"edges":[{"spans":[0,true]}]}', "3: field 3: expected a position of 16 bits, found 'true'"),
        (START + '"edges":[{"feats":[0]}]}', "3: field 3: expected a value for each feature, found 1 items"),
        (START + '"edges":[{"feats":[1,1]}]}', "3: field 3: expected the place of a feature in features, found '1'"),
        (
            START + '"edges":[{"feats":[0.0,1]}]}',
            "3: field 3: expected the name of a feature, or its place in features, found '0.0'",
        ),
        (
            START + '"edges":[{"feats":[[],1]}]}',
            "3: field 3: expected the name of a feature, or its place in features, found a list",
        ),
        (
            START + '"edges":[{"feats":[0,"1"]}]}',
            "3: field 3: expected a finite number as the value of a feature, found '\"1\"'",
        ),
        (
            START + '"edges":[{"feats":[0,1e999]}]}',
            "3: field 3: expected a finite number as the value of a feature, found 'Infinity'",
        ),
        (
            START + '"edges":[{"feats":[0,1' + "0" * 400 + "]}]}",
            "3: field 3: expected a finite number as the value of a feature, found '1" + "0" * 56 + "...'",
        ),
        (START + '"edges":[{"feats":[0,NaN]}]}', "3: field 3: expected a finite number, found NaN"),
        (START + '"edges":[{"feats":[0,nan]}]}', "3: field 3: expected JSON (expecting value), found 'nan]}]}'"),
        (START + '"edges":[{"feats":[0,-inf]}]}', "3: field 3: expected JSON (expecting value), found '-inf]}]}'"),
        (START + '"edges":[{"rule":9}]}', "3: field 3: expected the id of a rule defined before, found '9'"),
        (START + '"edges":[{"rule":1.0}]}', "3: field 3: expected the id of a rule, or a rule, found '1.0'"),
        (
            START + '"edges":[{"rule":2}]}',
            "3: field 3: expected a rule with 0 non-terminals, as the edge has tails, found '[X] ||| [X] ||| [1]'",
        ),
        (START + '"edges":[{"rule":1}]}', "3: field 3: expected a node for each edge, found 1 edges without one"),
        (START + '"node":[]}', "3: field 3: expected a node of in_edges, cat and node_hash, found a list"),
        (START + '"node":{"id":1}}', "3: field 3: expected a node of in_edges, cat and node_hash, found an object"),
        (START + '"node":{"in_edges":[0]}}', "3: field 3: expected the number of an edge that came before, found '0'"),
        (
            START + '"edges":[{"rule":1}],"node":{"in_edges":[0,0]}}',
            "3: field 4: expected each edge in one node, found 0 again",
        ),
        (START + '"node":{"cat":1}}', "3: field 3: expected a label, found '1'"),
        (
            START + '"node":{"node_hash":"0123456789ABCDEF0"}}',
            "3: field 3: expected a hash of up to 16 hexadecimal digits, found '\"0123456789ABCDEF0\"'",
        ),
        (START + "/* no end", "3: field 3: expected \", found '/* no end'"),
        (START.encode() + b'"\xff":1}', "3: field 1: expected UTF-8 text, found byte 0xff at column 2"),
    ],
)
def test_bad_files(text: str | bytes, message: str) -> None:
    assert fault(text) == f"x:{message}"


def test_a_number_of_thousands_of_digits() -> None:
    assert fault('{"edges":[{"tail":[1' + "0" * 5000 + "]}]}").startswith("x:1: field 1: expected ")


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_nodes": 1}, "x:1: field 6: expected at most 1 nodes, found more"),
        ({"max_edges": 2}, "x:1: field 5: expected at most 2 edges, found more"),
    ],
)
def test_limits(limits: dict[str, int], message: str) -> None:
    assert fault(SMALL, **limits) == message
    assert read(SMALL, max_nodes=2, max_edges=3).nodes == 2


def test_many_comments_do_not_take_long() -> None:
    assert "expected" in fault("/*" * 100000)
    assert not matches(b"/**/" * 16000)
    assert read("/* * / **/" * 10000 + "{}").nodes == 0


def test_what_cannot_be_written() -> None:
    graph = read(SMALL)
    endless = dataclasses.replace(graph, values=np.array([1, np.inf, 2.0]))
    with pytest.raises(FormatError, match="finite numbers as features"):
        written(endless)
    with pytest.raises(FormatError, match="one graph in a file"):
        write([graph, graph], io.StringIO(), shortest)
    assert write([], io.StringIO(), shortest) == 0


@pytest.mark.parametrize(
    ("head", "fits"),
    [
        ("{}\n", True),
        ('{"rules":[1,"', True),
        (' /* a */ { /**/ "edges" : [', True),
        ('{"hyps":[]}', False),
        ('{"id": 0, "rules": 1}', False),
        ("", False),
    ],
)
def test_shape(head: str, fits: bool) -> None:
    assert matches(head.encode()) == fits


def test_the_example() -> None:
    graph: Any = read(FORMAT.example)
    assert written(graph) == FORMAT.example
