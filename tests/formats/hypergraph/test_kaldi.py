"""Kaldi's lattices as text, as its library wrote them (kaldifst 1.8.3), whose n-best paths are the oracle."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from smtformats import FormatError, all_formats, detect
from smtformats.files import Lines
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.kaldi import FORMAT, parse

from .inference import kbest, text_of

# A Lattice: weights of 0,0 are left out.
LATTICE = """\
utt-1\x20
0\t1\t11\t1\t0.5,-30.25
0\t1\t12\t2\t1.25,-30.5
1\t2\t13\t3\t0.25,-10
1\t2\t14\t0\t2,-8.125
1\t3\t16\t6\t0.0625,-9
2\t3\t15\t5
2\t4,1
3\t0.75,0

"""
PATHS = [
    (-38.75, "1 3 5"),
    (-38.25, "2 3 5"),
    (-37.9375, "1 6"),
    (-37.4375, "2 6"),
    (-35.125, "1 5"),
    (-34.625, "2 5"),
    (-34.5, "1 3"),
    (-34.0, "2 3"),
    (-30.875, "1"),
    (-30.375, "2"),
]
# The first weights of its paths, for the scale of acoustic costs.
GRAPH = {"1 3 5": 1.5, "2 3 5": 2.25, "1 6": 1.3125, "2": 7.25}
COMPACT = """\
utt-2\x20
0 1 ein 4.5,-30.25,3_4_4
0 1 eine 5.25,-29,3_5
1 2 , 2,-41.5,7_8
1 2 <eps>
2 0.5,0,

utt-3
0 1 ja 1,2,
1
"""


def read(text: str, **options: Any) -> list[GraphColumns]:
    return list(parse(Lines(io.BytesIO(text.encode()), "lat.txt"), **options))


def ranked(graph: GraphColumns) -> list[tuple[float, str]]:
    assert graph.scores is not None
    return [(-score, text_of(graph, edges)) for score, edges in kbest(graph, graph.scores, 99)]


def test_lattice(tmp_path: Path) -> None:
    (graph,) = read(LATTICE, words="ids")
    assert (graph.id, graph.line, list(graph.names)) == ("utt-1", 1, ["graph", "acoustic"])
    assert ranked(graph) == PATHS
    (graph,) = read(LATTICE, words="ids", acoustic_scale=0)
    costs = {text: cost for cost, text in ranked(graph)}
    assert {text: costs[text] for text in GRAPH} == GRAPH
    (tmp_path / "words.txt").write_text("<eps> 0\n<s> 7\nder 1\ndas 2\nrote 3\nalte 4\nhaus 5\nja 6\n")
    (graph,) = read(LATTICE, words=str(tmp_path / "words.txt"))
    assert ranked(graph)[:3] == [(-38.75, "der rote haus"), (-38.25, "das rote haus"), (-37.9375, "der ja")]
    (graph,) = read(LATTICE.replace("\t1\t0.5", "\tder\t0.5").replace("15\t5", "15\thaus"))
    assert ranked(graph)[0] == (-38.75, "der 3 haus")


def test_compact_lattices() -> None:
    first, second = read(COMPACT)
    assert (first.id, second.id, second.line) == ("utt-2", "utt-3", 8)
    assert ranked(first) == [
        (4.5 - 30.25 + 2 - 41.5 + 0.5, "ein ,"),
        (5.25 - 29 + 2 - 41.5 + 0.5, "eine ,"),
        (4.5 - 30.25 + 0.5, "ein"),
        (5.25 - 29 + 0.5, "eine"),
    ]
    assert ranked(second) == [(3, "ja")]
    assert first.edge_features(1) == {"graph": -4.5, "acoustic": 30.25}
    assert ranked(read(COMPACT, acoustic_scale=0.1)[1]) == [(1.2, "ja")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lat.txt:1: field 1: expected the key of a lattice, found none in the file"),
        ("\n\n", "lat.txt:2: field 1: expected the key of a lattice, found none in the file"),
        ("a b\n", "1: field 2: expected the key of a lattice alone on its line, found 'a b'"),
        (LATTICE, r"expected words, or numbers with words=FILE, a symbol table, .*found only numbers, as '\d'"),
        (
            "u\n0 1 x 1,2\n1\n",
            "2: field 3: expected a transition-id of a Lattice, or the weight of a Comp.*, found 'x'",
        ),
        ("u\n0 1 5 x 1,2,3_4\n1\n", "2: field 5: expected a weight graph,acoustic, found '1,2,3_4'"),
        ("u\n0 1 x 1,2,\n0 1 7 y 1,2\n1\n", "3: field 5: expected an arc of a CompactLattice, as on the lines before"),
        ("u\n0 1 x 1,2,\n1 3\n", "3: field 2: expected a weight graph,acoustic or graph,acoustic,trans.*, found '3'"),
        ("u\n0 1 x 1,b,\n1\n", "2: field 4: expected a cost, a finite number or Infinity, found 'b'"),
        ("u\n0 1 x 1,2,\n\n", "expected a final state with a finite cost, found none"),
        ("u\n\n", "expected a final state with a finite cost, found none"),
        ("u\nx 1 y 1,2,\n1\n", "2: field 1: expected a state"),
        ("u\n0 y x 1,2,\n1\n", "2: field 2: expected a state"),
        ("u\n0 1 x 1,2,\n1 0 x 1,2,\n1\n", "expected arcs without a cycle"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(text)


def test_detection() -> None:
    for text in (LATTICE, COMPACT):
        assert detect(text.encode(), all_formats(), "x") is FORMAT
    for other in ("utt-1\n", "utt-1 a b\n0 1 x 1,2\n", "utt-1\n0 1 x 1\n", "utt-1\nder mann\n", "a\n0 1,x\n", ""):
        assert not FORMAT.matches(other.encode())
