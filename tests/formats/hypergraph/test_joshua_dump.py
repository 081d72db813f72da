"""Joshua's dumped hypergraphs: tails, the goal that is not there, limits, bad files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_lines
from smtformats.files import Lines
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.joshua_dump import FORMAT, parse

from .inference import kbest, paths, text_of

TITLE = "# target ||| features\n"
DUMP = TITLE + (
    "4 5\n1\nein ||| tm_pt_0=-1.000 lm_0=0.000\neine ||| tm_pt_0=-2.000 lm_0=0.000\n2\nhut |||  lm=1\n"
    "3\n[2] of [1] ||| lm_0=-3.500\n4\n[1] [2] . ||| \n"
)


def read(text: str | bytes, **options: Any) -> GraphColumns:
    data = text if isinstance(text, bytes) else text.encode()
    (graph,) = parse(Lines(io.BytesIO(data), "out/3.hg"), **options)
    return graph


def test_a_dump() -> None:
    graph = read(DUMP)
    # The nodes 3 and 4 are nobody's tails: a goal is added above them.
    assert (graph.id, graph.nodes, len(graph), graph.file) == ("3", 5, 7, "out/3.hg")
    assert graph.tails.tolist() == [1, 0, 0, 1, 2, 3]
    assert graph.rules.tolist() == [0, 1, 2, 3, 4, -1, -1]
    assert graph.edge_features(0) == {"tm_pt_0": -1, "lm_0": 0}
    assert graph.edge_features(4) == graph.edge_features(5) == {}
    assert paths(graph) == 4
    hypotheses = [(score, text_of(graph, edges)) for score, edges in kbest(graph, graph.edge_scores({"tm_pt_0": 1}), 9)]
    assert sorted(hypotheses) == [(-2, "eine hut ."), (-2, "hut of eine"), (-1, "ein hut ."), (-1, "hut of ein")]


def test_one_root_is_the_goal() -> None:
    assert read(TITLE + "2 2\n1\na ||| \n2\n[1] b ||| f=1\n").nodes == 2
    graph = read(TITLE + "0 0\n")
    assert (graph.nodes, paths(graph)) == (0, 0)
    assert read((TITLE + "1 1\n1\n ||| f=1\n").replace("\n", "\r\n")).edge_features(0) == {"f": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected `# target ||| features`, found ''"),
        ("# target ||| f\n", "1: field 1: expected `# target ||| features`, found '# target ||| f'"),
        (TITLE, "1: field 1: expected the numbers of nodes and edges, found ''"),
        (TITLE + "1 x\n", "2: field 1: expected the numbers of nodes and edges, found '1 x'"),
        (TITLE + "1 1\na ||| f=1\n", "3: field 1: expected node 1, found 'a ||| f=1'"),
        (TITLE + "1 1\n2\n", "3: field 1: expected node 1 or an edge, target ||| features, found '2'"),
        (
            TITLE + "1 1\n1\na ||| f=1\n2\n",
            "5: field 1: expected an edge or the end of the file, target ||| features, found '2'",
        ),
        (TITLE + "2 1\n1\na\n", "4: field 1: expected node 2 or an edge, target ||| features, found 'a'"),
        (TITLE + "1 1\n1\na ||| f=1\nb ||| f=1\n", "5: field 1: expected 1 edges, as line 2 says, found another one"),
        (TITLE + "1 2\n1\na ||| f=1\n", "4: field 1: expected 1 nodes and 2 edges, as line 2 says, found 1 and 1"),
        (TITLE + "1 1\n1\n[1] ||| f=1\n", "4: field 1: expected tails below node 1, each once, found '[1]'"),
        (TITLE + "1 1\n1\n[0] ||| f=1\n", "4: field 1: expected tails below node 1, each once, found '[0]'"),
        (
            TITLE + "2 2\n1\na ||| f=1\n2\n[1] [1] |||  \n",
            "6: field 1: expected tails below node 2, each once, found '[1]'",
        ),
        (TITLE + "1 1\n1\na ||| f\n", "4: field 2: expected name=value, found 'f'"),
        (TITLE + "1 1\n1\na ||| =1\n", "4: field 2: expected name=value, found '=1'"),
        (TITLE + "1 1\n1\na ||| f=0,5\n", "4: field 2: expected a finite number, found '0,5'"),
        (TITLE + "1 1\n1\na ||| f=1 f=2\n", "4: field 2: expected each feature once, found 'f' again"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"out/3.hg:{message}"


@pytest.mark.parametrize(
    ("option", "most", "message"),
    [
        ("max_nodes", 3, "2: field 1: expected at most 3 nodes (the option max_nodes sets the limit), found 4"),
        ("max_edges", 4, "2: field 1: expected at most 4 edges (the option max_edges sets the limit), found 5"),
        ("max_symbols", 2, "9: field 1: expected at most 2 symbols (the option max_symbols sets the limit), found 3"),
        ("max_symbols", 1, "4: field 2: expected at most 1 features (the option max_symbols sets the limit), found 2"),
    ],
)
def test_limits(option: str, most: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(DUMP, **{option: most})
    assert str(caught.value) == f"out/3.hg:{message}"


def test_bytes() -> None:
    with pytest.raises(FormatError, match=r"3.hg:4: field 2: expected UTF-8 text, found byte 0xff"):
        read(TITLE.encode() + b"1 1\n1\na ||| f\xff=1\n")


@given(st.data())
def test_spoilt_files(data: st.DataObject) -> None:
    spoilt = bytearray(DUMP.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(spoilt) - 1))
        pieces = [b"", b" ", b"\n", b"=", b"|", b"[2]", b"4", b"9", b"\xff", b"\0", b" ||| ", b"."]
        spoilt[at : at + data.draw(st.integers(0, 2))] = data.draw(st.sampled_from(pieces))
    try:
        graph = read(bytes(spoilt))
    except FormatError:
        return
    assert graph.nodes in (4, 5)


def test_shape() -> None:
    assert FORMAT.matches(DUMP.encode())
    assert detect(DUMP.encode(), all_formats(), "x").name == "joshua-hypergraph"
    for text in ("# target ||| features ||| source-covered\n1 1\n", "# target\n", "a\nb\n", ""):
        assert not FORMAT.matches(text.encode())


@pytest.mark.shared
def test_gold(shared: Path) -> None:
    folder = shared / "gold/joshua"
    with open_lines(folder / "dump.tree.0") as lines:
        (graph,) = parse(lines)
    assert (graph.id, graph.nodes, len(graph), paths(graph)) == ("dump.tree.0", 8, 8, 1)
    with open_lines(folder / "dump.resc.0") as lines:
        (graph,) = parse(lines)
    # 285 nodes and 293 edges in the file, the rest leads to the goal.
    assert (graph.nodes, len(graph), paths(graph)) == (286, 293 + 92, 100)
    # The language model is incomplete there, all else is as in the decoder's list.
    weights = {"tm_pt_0": 1.0, "lm_0": 1.2373676802179452, "tm_glue_0": 1.0, "WordPenalty": -1.0, "OOVPenalty": 1.0}
    score, edges = kbest(graph, graph.edge_scores(weights), 1)[0]
    sums: dict[str, float] = {}
    for edge in edges:
        for name, value in graph.edge_features(edge).items():
            sums[name] = sums.get(name, 0) + value
    with open_lines(folder / "rescoring/output.gold") as lines:
        text, features, _ = next(iter(lines)).split(" ||| ")
    wanted = {name: float(value) for name, _, value in (item.partition("=") for item in features.split())}
    assert text_of(graph, edges) == f"<s> {text} </s>"
    assert score == pytest.approx(sum(weight * sums[name] for name, weight in weights.items()))
    for name in ("tm_pt_0", "tm_glue_0", "WordPenalty", "OOVPenalty"):
        assert sums[name] == pytest.approx(wanted[name], abs=0.005)
