"""Moses' word graphs: glued numbers, complete hypotheses, sums, bad lines."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_lines
from smtformats.files import Lines
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.lattices import arcs_of
from smtformats.hypergraph.moses_words import FORMAT, parse

from .inference import paths, text_of, viterbi

HEAD = "VERSION=1.0\nUTTERANCE=7\n"
LINE = "J=0\tS=0\tE=4\ta=-1.500, -2.000\tl=-0.500, 0.0000.000-6.925\tr=-1.000\tw=ein|a :: term=0-0 : core=(1) \n"
GRAPH = (
    HEAD
    + LINE
    + "J=1\tS=0\tE=9\ta=-1.000, -2.000\tl=-0.500, 0.0000.000-6.000\tr=0.000\tw=ein hut|hats off :: term=0-0 \n"
    + "J=2\tS=4\tE=11\ta=-2.000, -2.500\tl=-0.500, 0.250-1.000-9.500\tr=0.000\tw=hut|hut|UNK|UNK|UNK :: term=\n"
    + "J=3\tS=0\tE=5\ta=-2.000, -2.500\tl=-0.500, 0.250-1.000-9.500\tr=0.000\tw=hut|lost :: term=\n"
)


def read(text: str | bytes, **options: Any) -> list[GraphColumns]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(parse(Lines(io.BytesIO(data), "x"), **options))


def test_a_graph() -> None:
    (graph,) = read(GRAPH)
    assert (graph.id, graph.line, graph.nodes, paths(graph)) == ("7", 1, 6, 2)
    _, arcs = arcs_of(graph)
    assert [arc.words for arc in arcs] == [("a",), ("hats",), ("hut",), ("off",), (), ()]
    names = ["a[0]", "a[1]", "l[0]", "l[1]", "l[2]", "l[3]", "r"]
    assert [dict(arc.features) for arc in arcs] == [
        dict(zip(names, [-1.5, -2, -0.5, 0, 0, -6.925, -1], strict=True)),
        dict(zip(names, [-1, -2, -0.5, 0, 0, -6, 0], strict=True)),
        dict(zip(names, [-2, -2.5, -0.5, 0.25, -1, -9.5, 0], strict=True)),
        {},
        {},
        {},
    ]


def test_differences() -> None:
    (graph,) = read(GRAPH, accumulated=True)
    rows = [graph.edge_features(edge) for edge in range(len(graph))]
    assert {"a[0]": -0.5, "a[1]": -0.5, "l[0]": 0, "l[1]": 0.25, "l[2]": -1, "l[3]": -2.575, "r": 1} in rows


def test_line_ends_of_windows_are_no_words() -> None:
    text = HEAD + "J=1\tS=0\tE=1\ta=-1.000\tl=-0.500\tr=0.000\tw=ein hut|a hat\n"
    (graph,) = read(text.replace("\n", "\r\n"))
    assert graph.id == "7"
    assert graph.grammar.words[:] == read(text)[0].grammar.words[:]


def test_sentences() -> None:
    graphs = read(GRAPH + HEAD.replace("7", "8") + HEAD.replace("7", "9") + LINE[:-1])
    assert [graph.id for graph in graphs] == ["7", "8", "9"]
    assert [graph.nodes for graph in graphs] == [6, 2, 3]
    assert [paths(graph) for graph in graphs] == [2, 1, 1]
    assert text_of(graphs[2], viterbi(graphs[2], np.zeros(len(graphs[2])))[1]) == "a"


SENTENCE = "UTTERANCE= and the number of the sentence"
FIELDS = "tab-separated fields J= S= E= a= l= r= w="
DECIMALS = "numbers with three decimals"
FACTOR = "words with one factor, source|target"
ORDER = "a hypothesis after its predecessor that always covers the same number of words"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected VERSION= at the beginning of a sentence, found an empty file"),
        (LINE[:9], "1: field 1: expected VERSION= at the beginning of a sentence, found 'J=0\\tS=0\\tE'"),
        ("VERSION=1.0\n", f"1: field 1: expected {SENTENCE}, found the end of the file"),
        ("VERSION=1.0\nUTT\n", f"2: field 1: expected {SENTENCE}, found 'UTT'"),
        ("VERSION=1.0\nUTTERANCE=\n", f"2: field 1: expected {SENTENCE}, found 'UTTERANCE='"),
        (HEAD + "\n", "3: field 1: expected J=, found ''"),
        (HEAD + "J=0\tS=0\n", f"3: field 2: expected {FIELDS}, found 2"),
        (HEAD + LINE.replace("\n", "\tx=1\n"), f"3: field 7: expected {FIELDS}, found 8"),
        (HEAD + LINE.replace("\tl=", "\tm="), "3: field 5: expected l=, found 'm=-0.500, 0.0000.000-6.925'"),
        (HEAD + LINE.replace("E=4", "E=x"), "3: field 3: expected a whole number, found 'x'"),
        (HEAD + LINE.replace("S=0", "S=-1"), "3: field 2: expected a whole number, found '-1'"),
        (HEAD + LINE.replace("S=0", "S=3"), "3: field 2: expected a hypothesis from an earlier line, found 3"),
        (HEAD + LINE.replace("E=4", "E=0"), f"3: field 3: expected {ORDER}, found 0"),
        (HEAD + LINE + LINE.replace("ein|", "ein hut|"), f"4: field 3: expected {ORDER}, found 4"),
        (HEAD + LINE.replace("-1.500", "-1.5"), f"3: field 4: expected {DECIMALS}, found '-1.5, -2.000'"),
        (HEAD + LINE.replace("r=-1.000", "r=nan"), f"3: field 6: expected {DECIMALS}, found 'nan'"),
        (HEAD + LINE.replace("0.0000.0", "0.00 0.0"), f"3: field 5: expected {DECIMALS}, found '0.00 0.000-6.925'"),
        (
            HEAD + LINE.replace("ein|a ::", "ein ::"),
            f"3: field 7: expected {FACTOR}, found 'ein :: term=0-0 : core=(1) '",
        ),
        (
            HEAD + LINE.replace("ein|a :: term=0-0 :", "a|b|c"),
            f"3: field 7: expected {FACTOR}, found 'a|b|c core=(1) '",
        ),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


def test_limits_and_bytes() -> None:
    for options, name in (({"max_nodes": 2}, "nodes"), ({"max_edges": 1}, "edges")):
        with pytest.raises(FormatError, match=f"x:[34]: field 1: expected at most . {name} "):
            read(GRAPH, **options)
    with pytest.raises(FormatError, match="x:3: field 1: expected UTF-8 text, found byte 0xff"):
        read(HEAD.encode() + b"J=0\xff\n")


@given(st.data())
def test_spoilt_files(data: st.DataObject) -> None:
    spoilt = bytearray(GRAPH.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(spoilt) - 1))
        pieces = [b"", b"\t", b"\n", b"=", b"|", b"4", b"9", b"\xff", b"\0", b"VERSION=", b"."]
        spoilt[at : at + data.draw(st.integers(0, 2))] = data.draw(st.sampled_from(pieces))
    try:
        graphs = read(bytes(spoilt), accumulated=data.draw(st.booleans()))
    except FormatError:
        return
    assert all(paths(graph) >= 1 for graph in graphs)


def test_shape() -> None:
    for text in (GRAPH, HEAD, HEAD + HEAD, HEAD + LINE):
        assert FORMAT.matches(text.encode())
        assert detect(text.encode(), all_formats(), "x").name == "moses-word-graph"
    for text in ("VERSION=1.0\nUTTERANCE=0\nN=2 L=1\n", "VERSION=1.0\n", "a\nb\n", ""):
        assert not FORMAT.matches(text.encode())


@pytest.mark.shared
def test_best_paths_are_the_decoders(shared: Path) -> None:
    folder = shared / "gold/moses"
    best = (folder / "pb/1best.txt").read_text().split("\n")
    weights: dict[str, list[float]] = {}
    for line in (folder / "model/moses.pb.tuned.ini").read_text().split("[weight]")[1].split("\n"):
        name, _, values = line.partition("=")
        weights[name] = [float(value) for value in values.split()]
    named = dict(zip([f"a[{i}]" for i in range(4)], weights["TranslationModel0"], strict=True))
    stateful = weights["LexicalReordering0"] + weights["Distortion0"] + weights["LM0"]
    named |= dict(zip([f"l[{i}]" for i in range(8)], stateful, strict=True))
    seen = lines = 0
    with open_lines(folder / "pb/wordgraph.0.txt.gz") as text:
        for graph in parse(text, accumulated=True):
            lengths = np.diff(graph.grammar.target_offsets)[graph.rules] - 1
            lengths[graph.rules < 0] = 0
            penalty, phrase = weights["WordPenalty0"][0], weights["PhrasePenalty0"][0]
            scores = graph.edge_scores(named) - penalty * lengths + phrase * (lengths > 0)
            assert text_of(graph, viterbi(graph, scores)[1]) == best[int(graph.id)].strip()
            seen, lines = seen + 1, text.number
            if seen == 20:
                break
    assert lines > 20_000
