"""SLF lattices: HTK's fields and escapes, Moses' sums, several lattices in a file, bad files."""

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
from smtformats.hypergraph.lattices import arcs_of
from smtformats.hypergraph.slf import FORMAT, parse

from .inference import kbest, paths, text_of, viterbi

HTK = r"""# A lattice of a recogniser.
VERSION=1.0
UTTERANCE="a file.wav"
lmname=bigram lmscale=12.5  wdpenalty=-10.0 base=2.718
acscale=0.5
N=5 L=5

I=0    t=0.00
I=1 t=0.41
I=2 t=0.90
I=4 t=1.5
# Links in any order, their fields as well.
J=3  S=2    E=4   W=!NULL  v=1  a=-1.0  l=-0.25
J=0 S=0 E=1 W=ein v=0 a=-3.5 l=-1.25
J=1 E=1 S=0 W="eine" l=-2 a=-4
J=2 S=1 E=2 W=h\303\274te d=:ax,0.1:b,2: a=-5 l=-.5 p=0.5
J=4 S=1 E=4 WORD='zwei' acoustic=-1e1 language=-1 ngram=2 x12=0.5
"""

NODES = r"""N=4 L=4
I=0 W=!SENT_START
I=1 W=the a=-2.5
I=2 W=a\"b
I=3 W=!NULL
J=0 S=0 E=1 l=-1
J=1 S=0 E=2 l=-2
J=2 S=1 E=3
J=3 S=2 E=3 W=own
"""


def read(text: str | bytes, **options: Any) -> list[GraphColumns]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(parse(Lines(io.BytesIO(data), "in/7.slf"), **options))


def graph_of(text: str, **options: Any) -> GraphColumns:
    (graph,) = read(text, **options)
    return graph


def shown(graph: GraphColumns) -> list[tuple[int, int, str, dict[str, float]]]:
    return [(arc.tail, arc.head, " ".join(arc.words), dict(arc.features)) for arc in arcs_of(graph)[1]]


def test_words_on_links() -> None:
    graph = graph_of(HTK)
    assert (graph.id, graph.nodes, len(graph), paths(graph), graph.line) == ("7", 4, 6, 4, 2)
    assert shown(graph) == [
        (0, 1, "ein", {"acoustic": -3.5, "language": -1.25}),
        (0, 1, "eine", {"acoustic": -4, "language": -2}),
        (1, 2, "hüte", {"acoustic": -5, "language": -0.5, "p": 0.5}),
        (1, 3, "zwei", {"acoustic": -10, "language": -1, "ngram": 2, "x12": 0.5}),
        (2, 3, "", {"acoustic": -1, "language": -0.25}),
    ]
    assert graph.extras["scales"] == {"language": 12.5, "acoustic": 0.5}
    assert graph.extras["header"]["UTTERANCE"] == "a file.wav"
    assert graph.extras["header"]["wdpenalty"] == "-10.0"
    assert graph.extras["times"] == (0, 0.41, 0.9, 1.5)
    score, edges = viterbi(graph, graph.edge_scores(graph.extras["scales"]))
    assert (text_of(graph, edges), score) == ("ein hüte", -9.5 / 2 - 2 * 12.5)


def test_words_on_nodes() -> None:
    graph = graph_of(NODES)
    assert [text_of(graph, edges) for _, edges in kbest(graph, [0.0] * len(graph), 9)] == [
        "!SENT_START the",
        '!SENT_START a"b own',
    ]
    assert shown(graph)[1:] == [
        (1, 2, "the", {"acoustic": -2.5, "language": -1}),
        (1, 3, 'a"b', {"language": -2}),
        (2, 4, "", {}),
        (3, 4, "own", {}),
    ]
    assert "times" not in graph.extras


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("a", "a"),
        ('"a"', "a"),
        ("'a'", "a"),
        ('"it\'s"', "it's"),
        ("'s", "'s"),
        ('"', '"'),
        ("a=b", "a=b"),
        ("=", "="),
        (r"\"a", '"a'),
        (r"\\", "\\"),
        (r"\141\303\274x", "aüx"),
        (r"\9", "9"),
        ("\u00a0\u2028", "\u00a0\u2028"),
        ("*EPS*", "*EPS*"),
        ("!NULL", ""),
    ],
)
def test_words(word: str, text: str) -> None:
    graph = graph_of(f"N=2 L=1\nJ=0 S=0 E=1 W={word} a=1\n")
    assert text_of(graph, viterbi(graph, [0.0] * len(graph))[1]) == text
    assert graph.edge_features(1) == {"acoustic": 1}


def test_starts_and_ends() -> None:
    # Numbers out of order; nodes without links; a named start and end.
    assert paths(graph_of("N=9 L=3\nJ=0 S=8 E=3\nJ=1 S=3 E=1\nJ=2 S=8 E=1\n")) == 2
    assert (graph_of("N=1 L=0\n").nodes, paths(graph_of("N=1 L=0\n"))) == (1, 1)
    graph = graph_of("start=0 end=2\nN=5 L=4\nJ=0 S=0 E=1\nJ=1 S=1 E=2\nJ=2 S=1 E=4\nJ=3 S=3 E=2\n")
    assert (graph.nodes, paths(graph)) == (4, 1)
    # Several ends: the last node is the one.
    assert paths(graph_of("N=4 L=3\nJ=0 S=0 E=1\nJ=1 S=0 E=2\nJ=2 S=0 E=3\n")) == 1


def test_several_lattices() -> None:
    small = "NODES=2 LINKS=1\nJ=0 S=0 E=1 W="
    graphs = read(f"UTTERANCE=u\n{small}a\n.\n{small}b\nVERSION=1.1\n# x\nU=w\n{small}c\n.\n")
    assert [graph.id for graph in graphs] == ["u", "1", "w"]
    assert [graph.line for graph in graphs] == [1, 5, 7]
    assert [text_of(graph, (1, 0)) for graph in graphs] == list("abc")


MOSES = """\
UTTERANCE=Sentence_0
VERSION=1.1
base=2.71828182845905
NODES=7
LINKS=7
# TM0 TM0 1 of 2
x1scale=0.5
# TM0 TM0 2 of 2
x2scale=2.000000
# LM0 LM0 1 of 1
x3scale=-1
J=0 S=0 E=1 W=a x1=-1.000000 x2=0.000000 x3=-4.000000\x20
J=1 S=1 E=2 W=b x1=0.000000 x2=0.000000 x3=0.000000\x20
J=2 S=0 E=3 W=c x1=-2.000000 x2=0.500000 x3=-8.000000\x20
J=3 S=2 E=4 W=d x1=-1.500000 x2=2.000000 x3=-5.000000\x20
J=4 S=2 E=5 W=e x1=-1.250000 x2=0.000000 x3=-4.500000\x20
J=5 S=4 E=6
J=6 S=5 E=6
"""


def test_sums_of_moses() -> None:
    graph = graph_of(MOSES)
    assert graph.extras["scales"] == {"x1": 0.5, "x2": 2, "x3": -1}
    assert graph.extras["names"] == {"x1": "TM0[0]", "x2": "TM0[1]", "x3": "LM0"}
    assert shown(graph)[2] == (2, 3, "d", {"x1": -1.5, "x2": 2, "x3": -5})
    assert [row[3] for row in shown(graph_of(MOSES, accumulated=True))] == [
        {"x1": -1, "x2": 0, "x3": -4},
        {"x1": 0, "x2": 0, "x3": 0},
        {"x1": -0.5, "x2": 2, "x3": -1},
        {"x1": -0.25, "x2": 0, "x3": -0.5},
        {},
        {},
    ]


LINK = "N=3 L=2\nJ=0 S=0 E=1 W=a\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: field 1: expected a lattice, found none in the file"),
        ("# only\n\n", "2: field 1: expected a lattice, found none in the file"),
        ("VERSION=1.0\n", "1: field 1: expected NODES= and LINKS= (N= and L=) of at least one node, found none"),
        ("N=0 L=0\n", "1: field 1: expected NODES= and LINKS= (N= and L=) of at least one node, found none"),
        ("N=x L=0\n", "1: field 1: expected the number of nodes, found 'x'"),
        ("N=1\nL=-1\n", "2: field 1: expected the number of links, found '-1'"),
        ("N=2\nN=2\n", "2: field 1: expected each field of the header once, found 'NODES' again"),
        ("N=2 NODES=2\n", "1: field 2: expected each field once, found 'NODES' again"),
        ("hello world\n", "1: field 1: expected a field name=value, found 'hello world'"),
        ("N=2 L=1 x\n", "1: field 3: expected a field name=value, found 'x'"),
        ("lmscale=big\n", "1: field 1: expected a finite number as lmscale, found 'big'"),
        ("S=sub\n", "1: field 1: expected a lattice without sub-lattices, found 'sub'"),
        ("J=0 S=0 E=1\n", "1: field 1: expected NODES= and LINKS= (N= and L=) before nodes and links, found none"),
        (LINK + "I=0\nI=0\n", "4: field 1: expected each node once, found node 0 again"),
        (LINK + "I=1 L=sub\n", "3: field 2: expected a lattice without sub-lattices, found 'sub'"),
        (LINK + "I=3\n", "3: field 1: expected a node below 3, as the header says, found 3"),
        (LINK + "I=1 t=soon\n", "3: field 2: expected a finite number as time, found 'soon'"),
        (LINK + "I=1 a=x\n", "3: field 2: expected a finite number as acoustic, found 'x'"),
        (LINK + "J=0 S=1 E=2\n", "3: field 1: expected each link once, found link 0 again"),
        (LINK + "J=1 S=1 E=3\n", "3: field 3: expected a node below 3, as the header says, found 3"),
        (LINK + "J=1 S=1\n", "3: field 1: expected the field END=, found none"),
        (LINK + "J=1 S=1 E=2 E=1\n", "3: field 4: expected each field once, found 'E' again"),
        (LINK + "J=1 S=1 E=2 l=nan\n", "3: field 4: expected a finite number as language, found 'nan'"),
        (LINK + "J=1 S=1 E=2 x3=\n", "3: field 4: expected a finite number as x3, found ''"),
        (LINK + "J=1 S=1 E=2 W=\n", "3: field 4: expected a word without blanks, found ''"),
        (LINK + 'J=1 S=1 E=2 W="a b"\n', "3: field 4: expected a word without blanks, found 'a b'"),
        (LINK + "J=1 S=1 E=2 W=\\377x\n", "3: field 4: expected octal escapes of UTF-8 text, found '\\\\377'"),
        (LINK + "J=1 S=1 E=2 W=\\\n", "3: field 4: expected a field name=value, found 'W=\\\\'"),
        (LINK, "2: field 1: expected 2 links, as the header says, found 1"),
        (LINK + "J=1 S=1 E=2\nJ=2 S=0 E=2\n", "4: field 1: expected 2 links, as the header says, found another one"),
        (LINK + "J=1 S=1 E=0\n", "3: field 1: expected one node that no link enters, found none"),
        (
            LINK + "J=1 S=2 E=1\n",
            "3: field 1: expected one node that no link enters, found 2, nodes 0 and 2 among them",
        ),
        (
            "N=4 L=2\nJ=0 S=0 E=1\nJ=1 S=0 E=2\n",
            "3: field 1: expected one node that no link leaves, found 2, nodes 1 and 2 among them",
        ),
        ("end=1\n" + LINK + "J=1 S=1 E=2\n", "4: field 1: expected a node that no link leaves as end=, found 1"),
        ("start=9\n" + LINK + "J=1 S=1 E=2\n", "4: field 1: expected a node that no link enters as start=, found 9"),
        (
            "N=4 L=4\nJ=0 S=0 E=1\nJ=1 S=1 E=2\nJ=2 S=2 E=1\nJ=3 S=2 E=3\n",
            "5: field 1: expected arcs without a cycle, found one through node 1",
        ),
        (
            "start=0 end=1\nN=4 L=2\nJ=0 S=0 E=3\nJ=1 S=2 E=1\n",
            "4: field 1: expected a path from the first node to the last, found none",
        ),
        (
            "N=20000000 L=1\n",
            "1: field 1: expected at most 10000000 nodes (the option max_nodes sets the limit), found 20000000",
        ),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"in/7.slf:{message}"


def test_a_bad_lattice_behind_a_good_one() -> None:
    text = LINK + "J=1 S=1 E=2\n.\n" + LINK + "J=1 S=1 E=5\n"
    with pytest.raises(FormatError, match=r"slf:7: field 3: expected a node below 3, as the header says, found 5$"):
        read(text)


def test_limits_and_bytes() -> None:
    for options, name in (({"max_nodes": 2}, "nodes"), ({"max_edges": 1}, "edges")):
        with pytest.raises(FormatError, match=f"7.slf:1: field 1: expected at most . {name} "):
            read(LINK + "J=1 S=1 E=2\n", **options)
    with pytest.raises(FormatError, match=r"7.slf:3: field 1: expected UTF-8 text, found byte 0xff"):
        read(LINK.encode() + b"J=1 S=1 E=2 W=\xff\n")


@given(st.sampled_from([HTK, NODES, MOSES]), st.data())
def test_spoilt_files(text: str, data: st.DataObject) -> None:
    spoilt = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(spoilt) - 1))
        piece = data.draw(
            st.sampled_from([b"", b" ", b"\n", b"=", b"\\", b'"', b"9", b"\xff", b"\0", b"J=", b"S", b"."])
        )
        spoilt[at : at + data.draw(st.integers(0, 2))] = piece
    try:
        graphs = read(bytes(spoilt), accumulated=data.draw(st.booleans()))
    except FormatError:
        return
    assert all(paths(graph) >= 1 for graph in graphs)


def test_shape() -> None:
    for text in (HTK, NODES, MOSES, "V=1\nN=1 L=0\n"):
        assert FORMAT.matches(text.encode())
        assert detect(text.encode(), all_formats(), "x").name == "slf-lattice"
    for text in ("VERSION=1.0\nUTTERANCE=0\nJ=0\tS=0\tE=1\n", "a b\n", "N 1\nL 0\n", "I=1 N=1 L=1\n", ""):
        assert not FORMAT.matches(text.encode())


# By sentence: the file's nodes and links, and the hypotheses complete there.
GOLD = {0: (9263, 10777, 1516), 2: (10859, 12904, 2047)}


@pytest.mark.shared
@pytest.mark.parametrize("number", GOLD)
def test_moses_totals(shared: Path, number: int) -> None:
    folder = shared / "gold/moses/pb"
    with open_lines(folder / "nbest100.labeled.txt.gz") as lines:
        best = next(fields for line in lines if (fields := line.split(" ||| "))[0] == str(number))
    with open_lines(folder / f"slf/{number}.slf.gz") as lines:
        (graph,) = parse(lines, accumulated=True)
    assert graph.id == str(number)
    # An edge more: that to the start.
    assert (graph.nodes, len(graph) - 1, paths(graph)) == GOLD[number]
    names: dict[str, str] = graph.extras["names"]
    # Phrase tables are listed twice.
    weights = {x: graph.extras["scales"][x] for x in {name: x for x, name in names.items()}.values()}
    score, edges = viterbi(graph, graph.edge_scores(weights))
    assert text_of(graph, edges).replace("|UNK|UNK|UNK", "") == best[1].strip()
    assert score == pytest.approx(float(best[3]), rel=1e-5)
