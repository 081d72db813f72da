"""OpenFst's automata as text, as ``fstprint`` of OpenFst 1.8 wrote them; its shortest paths are the oracle."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from smtformats import FormatError, all_formats, detect
from smtformats.files import HEAD_BYTES, Lines
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.openfst import FORMAT, parse

from .inference import kbest, text_of

# States in any order, an unreachable one, two final states, one of them with arcs (pynini 2.1.7).
WORDS = """\
3\t0\tthe\tthe\t0.5
3\t0\ta\ta\t0.75
0\t4\tred\tgreen\t0.25
0\t4\t<eps>\t<eps>\t1.5
1\t5\t<eps>\tred\t0.125
1\t0.5
2\tInfinity
4\t1\thouse\tbarn
4\t5\tbarn\thouse\t2.25
5
"""
NUMBERS = """\
3\t0\t1\t1\t0.5
3\t0\t2\t2\t0.75
0\t4\t3\t4\t0.25
0\t4\t0\t0\t1.5
1\t5\t0\t3\t0.125
1\t0.5
2\tInfinity
4\t1\t5\t6
4\t5\t6\t5\t2.25
5
"""
ACCEPTOR = """\
3\t0\tthe\t0.5
3\t0\ta\t0.75
0\t4\tgreen\t0.25
0\t4\t<eps>\t1.5
1\t5\tred\t0.125
1\t0.5
2\tInfinity
4\t1\tbarn
4\t5\thouse\t2.25
5
"""
SYMBOLS = "<eps>\t0\nthe\t1\na\t2\nred\t3\ngreen\t4\nhouse\t5\nbarn\t6\n"
OUTPUT = [
    (0.875, "the green barn red"),
    (1.125, "a green barn red"),
    (1.25, "the green barn"),
    (1.5, "a green barn"),
    (2.125, "the barn red"),
    (2.375, "a barn red"),
    (2.5, "the barn"),
    (2.75, "a barn"),
    (3.0, "the green house"),
    (3.25, "a green house"),
    (4.25, "the house"),
    (4.5, "a house"),
]
INPUT = [
    (0.875, "the red house"),
    (1.125, "a red house"),
    (1.25, "the red house"),
    (1.5, "a red house"),
    (2.125, "the house"),
    (2.375, "a house"),
    (2.5, "the house"),
    (2.75, "a house"),
    (3.0, "the red barn"),
    (3.25, "a red barn"),
    (4.25, "the barn"),
    (4.5, "a barn"),
]


def read(text: str | bytes, **options: Any) -> GraphColumns:
    data = text if isinstance(text, bytes) else text.encode()
    (graph,) = parse(Lines(io.BytesIO(data), "in/7-x.fst.txt"), **options)
    return graph


def ranked(graph: GraphColumns) -> list[tuple[float, str]]:
    assert graph.scores is not None
    assert graph.edge_scores({"logprob": 1.0}).tolist() == graph.scores.tolist()
    return [(-score, text_of(graph, edges)) for score, edges in kbest(graph, graph.scores, 99)]


@pytest.fixture
def symbols(tmp_path: Path) -> str:
    (tmp_path / "symbols").write_text(SYMBOLS)
    return str(tmp_path / "symbols")


def test_paths_are_those_of_openfst(symbols: str) -> None:
    graph = read(WORDS)
    assert (graph.id, graph.line, list(graph.names)) == ("7-x", 1, ["logprob"])
    assert ranked(graph) == OUTPUT
    assert ranked(read(WORDS, side="input")) == INPUT
    assert ranked(read(ACCEPTOR)) == OUTPUT
    assert ranked(read(NUMBERS, words=symbols)) == OUTPUT
    assert ranked(read(NUMBERS, words=symbols, side="input")) == INPUT
    assert ranked(read(NUMBERS, words="ids"))[0] == (0.875, "1 4 6 3")
    assert ranked(read(WORDS.replace("\t", "  ").replace("\n", "\r\n"))) == OUTPUT


def test_four_fields() -> None:
    assert ranked(read("0 1 a b\n1\n")) == [(0, "b")]
    assert ranked(read("0 1 a 5\n1\n", acceptor=True)) == [(5, "a")]
    assert ranked(read("0 1 a 5\n1\n", acceptor=False, words="ids")) == [(0, "5")]
    assert ranked(read("0 1 a 5\n1 2 b\n2\n")) == [(5, "a b")]
    assert ranked(read("0 1 a 1e-1\n0 1 b 5\n1\n")) == [(0.1, "a"), (5, "b")]
    assert ranked(read("0 1 a b\n0 1 c d 2\n1\n")) == [(0, "b"), (2, "d")]


def test_small_automata() -> None:
    assert ranked(read("0 1 a\n1 0.5\n")) == [(0.5, "a")]
    assert ranked(read("4\n")) == [(0, "")]
    assert ranked(read("4 -0.5\n")) == [(-0.5, "")]
    assert ranked(read("0 1 a\n0 2 b\n1\n2 1\n0 3\n")) == [(0, "a"), (1, "b"), (3, "")]
    assert ranked(read("0 1 a Infinity\n0 1 b 1\n1\n")) == [(1, "b")]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "",
            {},
            "1: field 1: expected state, next state, labels and cost, or a final state .*, found none in the file",
        ),
        ("0 1 a 5\n1\n", {}, r"field 4: expected the option acceptor=true .* found arcs that may be either"),
        ("0 1 5 6 1\n1\n", {}, r"expected words, or numbers with words=FILE, a symbol table, .* found only numbers"),
        ("0 1 a b c d\n1\n", {}, "1: field 6: expected .* found 6 fields"),
        ("x 1 a b 1\n1\n", {}, "1: field 1: expected a state, a whole number, found 'x'"),
        ("0 -1 a b 1\n1\n", {}, "1: field 2: expected a state, a whole number, found '-1'"),
        ("0 1 a b x\n1\n", {}, "1: field 5: expected a cost, a finite number or Infinity, found 'x'"),
        ("0 1 a b nan\n1\n", {}, "1: field 5: expected a cost"),
        ("0 1 a b 1\n1 -Infinity\n", {}, "2: field 2: expected a cost"),
        ("0 1 a b 1\n0 1 c\n1\n", {}, "2: field 3: expected state, next state, two labels and cost, found 3 fields"),
        ("0 1 a b 1\n", {}, "expected a final state with a finite cost, found none"),
        ("0 1 a b 1\n1 Infinity\n", {}, "expected a final state with a finite cost, found none"),
        ("0 1 a b 1\n1\n1 2\n", {}, "3: field 1: expected each final state once, found 1 again"),
        ("0 1 a b 1\n1 0 a b 1\n1\n", {}, "expected arcs without a cycle"),
        ("0 1 a b 1\n2 3 a b 1\n3\n", {}, "expected a path from the first node to the last, found none"),
        ("0 1 a b 1\n1\n", {"side": "both"}, "expected output or input as the option side, found 'both'"),
        ("0 1 a b 1\n0 1 c d 1\n1\n", {"max_edges": 1}, "2: field 1: expected at most 1 edges"),
    ],
)
def test_errors(text: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(text, **options)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("a\n", "symbols:1: field 1: expected a symbol and its number, found 'a'"),
        ("a 1\nb 1\n", "symbols:2: field 2: expected each number once, found '1' again"),
        ("", "symbols:1: field 1: expected a symbol and its number, found none in the file"),
        ("<eps> 0\nthe 1\n", "in/7-x.fst.txt:2: field 4: expected a label that the symbol table has, found '2'"),
    ],
)
def test_bad_tables(symbols: str, table: str, message: str) -> None:
    Path(symbols).write_text(table)
    with pytest.raises(FormatError, match=message):
        read(NUMBERS, words=symbols)
    with pytest.raises(FormatError, match=r"symbols|expected a label that is a number of the symbol table"):
        read(WORDS, words=symbols)


def test_detection() -> None:
    for text in (WORDS, NUMBERS, ACCEPTOR, "0 1 a\n1\n"):
        assert detect(text.encode(), all_formats(), "x") is FORMAT
    # A file of numbers, arcs without a final state or to nowhere, text.
    for other in ("1 2 3\n4 5 6\n", "0 1 a\n", "0 1 a\n5 6 b\n6\n", "1\n2\n", "0 1 a b\nx\n", "der mann\n", ""):
        assert not FORMAT.matches(other.encode())
    long = "".join(f"{i} {i + 1} wort word 0.5\n" for i in range(9000))
    assert len(long) > HEAD_BYTES
    assert FORMAT.matches(long.encode()[:HEAD_BYTES])
