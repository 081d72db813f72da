"""Confusion networks: columns, scores, empty lines, bad lines, and what they must not be taken for."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_lines
from smtformats.files import Lines
from smtformats.hypergraph.confusion import FORMAT, parse
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.lattices import arcs_of

from .inference import paths


def read(text: str | bytes, **options: Any) -> list[GraphColumns]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(parse(Lines(io.BytesIO(data), "x"), **options))


def shown(graph: GraphColumns) -> list[tuple[int, int, str, dict[str, float]]]:
    return [(arc.tail, arc.head, " ".join(arc.words), dict(arc.features)) for arc in arcs_of(graph)[1]]


def test_sentences() -> None:
    graphs = read("ein 1.0\nhut 0.7\that .3 *EPS* 0\n\n ja 1 \r\n")
    assert [(graph.id, graph.line, graph.nodes, paths(graph)) for graph in graphs] == [("0", 1, 3, 3), ("1", 4, 2, 1)]
    assert shown(graphs[0]) == [
        (0, 1, "ein", {"InputFeature0": 1}),
        (1, 2, "hut", {"InputFeature0": 0.7}),
        (1, 2, "hat", {"InputFeature0": 0.3}),
        (1, 2, "", {"InputFeature0": 0}),
    ]
    assert graphs[0].spans.tolist() == [[-1, -1], [0, 1], [1, 2], [1, 2], [1, 2]]
    assert [len(graph) for graph in read("a 1\n\nb 1\n\n\n\n")] == [2, 2]


def test_scores() -> None:
    (graph,) = read("a 1 2 b 3 4\n", scores=2, name="p")
    assert [row[3] for row in shown(graph)] == [{"p[0]": 1, "p[1]": 2}, {"p[0]": 3, "p[1]": 4}]
    (graph,) = read("a b\n", scores=0)
    assert [row[2:] for row in shown(graph)] == [("a", {}), ("b", {})]
    with pytest.raises(FormatError, match="expected 0 or more as the option scores"):
        read("a b\n", scores=-1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected a column, word score ..., found none in the file"),
        ("\n\n", "2: field 1: expected a column, word score ..., found none in the file"),
        ("a\n", "1: field 1: expected groups of a word and 1 scores, found 1 fields"),
        ("a 1 b\n", "1: field 1: expected groups of a word and 1 scores, found 3 fields"),
        ("a b\n", "1: field 1: expected a finite number, found 'b'"),
        ("a 1\nb nan\n", "2: field 1: expected a finite number, found 'nan'"),
        ("a 1\nb inf\n", "2: field 1: expected a finite number, found 'inf'"),
        ("a 1_0\n", "1: field 1: expected a finite number, found '1_0'"),
        ("a 1e999\n", "1: field 1: expected a finite number, found '1e999'"),
        ("a -1\n", "1: field 1: expected scores of 0 or more, found '-1'"),
        ("\na 1\n", "2: field 1: expected a column before an empty line, found none"),
        ("a 1\n\n\nb 1\n", "4: field 1: expected a column before an empty line, found none"),
        ("a 1 b 1\nc \u0661\n", "2: field 1: expected a finite number, found '\u0661'"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


def test_limits_and_bytes() -> None:
    for options, name in (({"max_nodes": 2}, "nodes"), ({"max_edges": 1}, "edges")):
        with pytest.raises(FormatError, match=f"x:2: field 1: expected at most . {name} "):
            read("a 1\nb 1\n", **options)
    with pytest.raises(FormatError, match="x:1: field 1: expected UTF-8 text, found byte 0xff"):
        read(b"a\xff 1\n")


WORDS = st.text(st.characters(whitelist_categories=("L", "P")), min_size=1, max_size=3).filter(lambda w: w != "*EPS*")
COLUMNS = st.lists(st.tuples(WORDS, st.floats(0, 1e6)), min_size=1, max_size=3)


@given(st.lists(st.lists(COLUMNS, min_size=1, max_size=3), min_size=1, max_size=3), st.booleans())
def test_columns(sentences: list[list[list[tuple[str, float]]]], ended: bool) -> None:
    texts = [
        "".join(" ".join(f"{word} {p!r}" for word, p in column) + "\n" for column in sentence) for sentence in sentences
    ]
    graphs = read("\n".join(texts) + "\n" * ended)
    assert [shown(graph) for graph in graphs] == [
        [(i, i + 1, word, {"InputFeature0": p}) for i, column in enumerate(sentence) for word, p in column]
        for sentence in sentences
    ]


def test_shape() -> None:
    for text in ("a 0.5 b 0.5\nc 1\n\n", "a 1\nb 0.333 c 0.333 d 0.333\n"):
        assert FORMAT.matches(text.encode())
        assert detect(text.encode(), all_formats(), "x").name == "confusion-network"
    others = ["Glue 0.5\nLM 0.5\n", "a 1\nb 1\n", "a 1 b\nc 0.5\n", "ein haus\nist klein\n", "0-0 1-1\n", "a b 0.5\n"]
    others += ["", "a 0.9 b 0.5\n", "a 0.5 b 0.5\nein haus\n", "a -1 b 2\n", "\x00"]
    for text in others:
        assert not FORMAT.matches(text.encode())


@pytest.mark.shared
def test_gold(shared: Path) -> None:
    path = shared / "gold/moses/lattice/in.cn"
    assert detect(path.read_bytes(), all_formats(), "x").name == "confusion-network"
    with open_lines(path) as lines:
        graphs = list(parse(lines))
    # As Moses counts on stderr: 7 columns, 9 words.
    assert [graph.nodes - 1 for graph in graphs] == [5, 2]
    assert sum(len(graph) - 1 for graph in graphs) == 9
    assert [paths(graph) for graph in graphs] == [4, 1]
