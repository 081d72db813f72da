"""PLF lattices: spellings, text between them, what comes back byte for byte, what is composed, bad lines."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from smtformats import FormatError, all_formats, detect, open_bytes, open_lines
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.grammar import cdec
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.lattices import Arc, arcs_of, lattice
from smtformats.hypergraph.plf import FORMAT, parse, write

from .inference import kbest, paths, text_of

Shown = tuple[int, int, str, dict[str, float]]


def read(data: bytes, **options: Any) -> list[GraphColumns]:
    return list(parse(Lines(io.BytesIO(data), "x"), **options))


def graph_of(text: str, **options: Any) -> GraphColumns:
    (graph,) = read(text.encode(), **options)
    return graph


def written(graphs: list[GraphColumns], **options: Any) -> str:
    out = io.StringIO()
    assert write(graphs, out, shortest, **options) == len(graphs)
    return out.getvalue()


def shown(graph: GraphColumns) -> list[Shown]:
    return [(arc.tail, arc.head, " ".join(arc.words), dict(arc.features)) for arc in arcs_of(graph)[1]]


def bare(graph: GraphColumns) -> GraphColumns:
    """The graph as if another format had read it."""
    return replace(graph, extras={})


def test_a_lattice() -> None:
    text = "((('ein',0.9,1),('eine',0.1,1),),(('hut',1,1),('hat',.5e-1,2),),(('s',-2,1),),)\n"
    graph = graph_of(text)
    assert (graph.id, graph.nodes, len(graph), paths(graph), graph.line) == ("0", 4, 6, 4, 1)
    assert shown(graph) == [
        (0, 1, "ein", {"LatticeCost_0": 0.9}),
        (0, 1, "eine", {"LatticeCost_0": 0.1}),
        (1, 2, "hut", {"LatticeCost_0": 1}),
        (1, 3, "hat", {"LatticeCost_0": 0.05}),
        (2, 3, "s", {"LatticeCost_0": -2}),
    ]
    assert graph.spans.tolist() == [[-1, -1], [0, 1], [0, 1], [1, 2], [1, 3], [2, 3]]
    assert written([graph]) == text


@pytest.mark.parametrize(
    ("text", "arcs"),
    [
        (
            "((('a',0.5,0.25,-1,1),),)",
            [(0, 1, "a", {"LatticeCost_0": 0.5, "LatticeCost_1": 0.25, "LatticeCost_2": -1})],
        ),
        ("((('a',{'A':0.5,'P q':-1},1),),)", [(0, 1, "a", {"A": 0.5, "P q": -1})]),
        (r"((('a',{'it\'s\\':0.5 , 'b':1,},1),),)", [(0, 1, "a", {"it's\\": 0.5, "b": 1})]),
        ("((('a',{},1),),)", [(0, 1, "a", {})]),
        ("((('a',0.5,lm=-1,tm:x=2,1),),)", [(0, 1, "a", {"LatticeCost_0": 0.5, "lm": -1, "tm:x": 2})]),
        ("((('a',0.5,{'x':2},1),),)", [(0, 1, "a", {"LatticeCost_0": 0.5, "x": 2})]),
        ("((('a',1)),(('b',1)))", [(0, 1, "a", {}), (1, 2, "b", {})]),
        ("(('a',1),),(('b',1),),", [(0, 1, "a", {}), (1, 2, "b", {})]),
        ("( ( ( 'a' , 1 , 1 , ) , ) ,\t) \r\n", [(0, 1, "a", {"LatticeCost_0": 1})]),
        (
            r"((('d\'',1),('\\',1),('a b',1),('x|||y',1),),)",
            [(0, 1, word, {}) for word in ("d'", "\\", "a b", "x|||y")],
        ),
        ("((('*EPS*',1),('<eps>',1),('eps',1),),)", [(0, 1, "", {}), (0, 1, "", {}), (0, 1, "eps", {})]),
        ("((('a',2),),(('b',1),),(('c',1),),)", [(0, 1, "a", {}), (1, 2, "c", {})]),
        ("((('a',2),('b',1),),(),(('c',1),),)", [(0, 1, "a", {}), (1, 2, "c", {})]),
        ("((('\u00a0\u2028',1),),)", [(0, 1, "\u00a0\u2028", {})]),
    ],
)
def test_spellings(text: str, arcs: list[Shown]) -> None:
    graph = graph_of(text)
    assert shown(graph) == arcs
    assert written([graph]) == text
    (again,) = read(written([bare(graph)]).encode())
    assert shown(again) == arcs
    assert detect(text.encode(), all_formats(), "x").name == "plf-lattice"


def test_names_of_numbers() -> None:
    text = "((('a',0.5,2,1),('b',1,1),),)\n"
    assert [row[3] for row in shown(graph_of(text, name="InputFeature0"))] == [
        {"InputFeature0[0]": 0.5, "InputFeature0[1]": 2},
        {"InputFeature0": 1},
    ]
    assert [row[3] for row in shown(graph_of(text, name="c{}x"))] == [{"c0x": 0.5, "c1x": 2}, {"c0x": 1}]
    graph = bare(graph_of(text, name="SourcePath"))
    assert written([graph], name="SourcePath") == "((('a',0.5,2,1),('b',1,1),),)\n"
    assert written([graph]) == "((('a',{'SourcePath[0]':0.5,'SourcePath[1]':2},1),('b',{'SourcePath':1},1),),)\n"
    assert written([graph], pairs=True) == "((('a',SourcePath[0]=0.5,SourcePath[1]=2,1),('b',SourcePath=1,1),),)\n"
    mixed = bare(graph_of("((('a',0.5,lm=2,1),),)"))
    assert written([mixed]) == "((('a',{'LatticeCost_0':0.5,'lm':2},1),),)\n"
    assert written([mixed], pairs=True) == "((('a',0.5,lm=2,1),),)\n"


def test_text_between_lattices() -> None:
    text = "ein  haus \n\n((('a',1),),)\n  \n( ( ) )\nfoo[x=1] 'b' |||  ||| ref|||s\n|||\n"
    graphs = read(text.encode())
    assert [graph.id for graph in graphs] == list("0123456")
    assert [text_of(graph, kbest(graph, [0.0] * len(graph), 1)[0][1]) for graph in graphs] == [
        "ein haus",
        "",
        "a",
        "",
        "( ( ) )",
        "foo[x=1] 'b'",
        "",
    ]
    assert [graph.extras["text"] for graph in graphs] == [True, True, False, True, True, True, True]
    assert written(graphs) == text
    # Changed, a text is text as long as it can be: with a feature it is a lattice.
    first = lattice("0", [0, 1], [Arc(0, 1, ("x",))], extras=graphs[5].extras)
    assert written([first]) == "x |||  ||| ref|||s\n"
    first = lattice("0", [0, 1], [Arc(0, 1, ("x",), {"f": 1})], extras=graphs[5].extras)
    assert written([first]) == "((('x',{'f':1},1),),) |||  ||| ref|||s\n"
    for words in (["x y"], ["((('x',1),),)"], ["|||"], ["x", "</seg>"]):
        arcs = [Arc(i, i + 1, (word,)) for i, word in enumerate(words)]
        text = written([lattice("0", range(len(arcs) + 1), arcs, extras=graphs[0].extras)])
        assert text.startswith("((('")
        assert [row[2] for row in shown(graph_of(text))] == words


def test_tags_and_references() -> None:
    text = (
        '<seg id="7" grammar="g>.gz">(((\'a\',1),),)</seg>\n<seg id = 9>a b</seg> ||| ref\n<seg\tx="1">a ||| r</seg>\n'
    )
    text += "((('a',1),),) ||| ((('A',1),),)\n((('a',1),),)|||x\n"
    graphs = read(text.encode())
    assert [graph.id for graph in graphs] == ["7", "9", "2", "3", "4"]
    assert [len(graph) for graph in graphs] == [2, 3, 2, 2, 2]
    assert written(graphs) == text
    changed = replace(graphs[0], values=graphs[0].values, names=graphs[0].names, spans=graphs[0].spans)
    assert written([changed]) == text.split("\n")[0] + "\n"
    other = lattice("7", [0, 1], [Arc(0, 1, ("b",))], extras=graphs[0].extras)
    assert written([other]) == '<seg id="7" grammar="g>.gz">(((\'b\',1),),)</seg>\n'


def test_changed_values_are_written() -> None:
    graph = graph_of("((('a',0.50,1),),)  \n")
    values = graph.values * 3
    assert written([replace(graph, values=values)]) == "((('a',1.5,1),),)  \n"
    assert written([replace(graph, values=graph.values.copy())]) == "((('a',0.50,1),),)  \n"


def test_a_missing_end_comes_back() -> None:
    first, last = read(b"a\n((('a',1),),)")
    assert written([first, last]) == "a\n((('a',1),),)"
    assert written([last, first]) == "((('a',1),),)\na\n"
    with pytest.raises(FormatError, match=r"x:1: field 1: expected a lattice, .*, found none in the file"):
        read(b"")


WORDS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\n"), min_size=1, max_size=5)
NAMES = st.sampled_from(["LatticeCost_0", "LatticeCost_1", "f", "it's", "a b", "\\", "}", "=", ","])


@st.composite
def lattices(draw: st.DrawFn) -> GraphColumns:
    """Lattices whose nodes are all on a path."""
    size = draw(st.integers(0, 4))
    arcs = [Arc(i, i + 1) for i in range(size)]
    if size:
        pairs = st.tuples(st.integers(0, size - 1), st.integers(1, size)).filter(lambda pair: pair[0] < pair[1])
        arcs += [Arc(a, b) for a, b in draw(st.lists(pairs, max_size=5))]
    for arc in arcs:
        word = draw(st.one_of(WORDS, st.just("")))
        arc.words = (word,) if word and word not in ("*EPS*", "<eps>") else ()
        arc.features = draw(st.dictionaries(NAMES, st.floats(allow_nan=False, allow_infinity=False), max_size=3))
    return lattice("0", range(size + 1), sorted(arcs, key=lambda arc: arc.tail))


@given(lattices())
def test_what_is_composed_reads_back(graph: GraphColumns) -> None:
    text = written([graph])
    (again,) = read(text.encode())
    assert shown(again) == shown(graph)
    assert again.nodes == graph.nodes
    assert written([again]) == text
    assert written([bare(again)]) == text


@st.composite
def lines(draw: st.DrawFn) -> str:
    """Lattices and text in all spellings that are read."""
    space = st.sampled_from(["", "", "", " ", "\t"])
    if draw(st.booleans()):
        return draw(st.text("ab |(<',1", max_size=12)).replace("((", "(") + "\n"
    columns = draw(st.integers(1, 3))
    text = "("
    for column in range(columns):
        text += "("
        for jump in [1, *draw(st.lists(st.integers(1, columns - column), max_size=2))]:
            items = draw(st.lists(st.sampled_from(["1", "-.5e3", "x=1", "{'y':2}", "{}"]), max_size=3, unique=True))
            comma = draw(st.sampled_from([",", "", " ,"]))
            word = draw(st.sampled_from(["a", "*EPS*", "\\'", "b c"]))
            body = ("," + draw(space)).join([f"'{word}'{draw(space)}", *items, str(jump)])
            text += f"({draw(space)}{body}{draw(space)}){comma}{draw(space)}"
        text += ")" + draw(st.sampled_from([",", ""])) + draw(space)
    return text + ")" + draw(st.sampled_from(["", " ", "|||r", " ||| r", "\r"])) + "\n"


@given(st.lists(lines(), min_size=1, max_size=5), st.booleans())
def test_lines_come_back(texts: list[str], whole: bool) -> None:
    text = "".join(texts)
    text = text if whole else text[:-1]
    assume(text)
    graphs = read(text.encode())
    assert written(graphs) == text
    for graph in graphs:
        (again,) = read(written([bare(graph)]).encode())
        assert shown(again) == shown(graph)


@given(st.lists(lines(), min_size=1, max_size=3), st.data())
def test_spoilt_lines(texts: list[str], data: st.DataObject) -> None:
    text = bytearray("".join(texts).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        piece = st.sampled_from([b"", b"(", b")", b",", b"'", b"\\", b"9", b"{", b"=", b"\xff", b"\0", b"|||", b"\n"])
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(piece) or b" "
    try:
        graphs = read(bytes(text))
    except FormatError:
        return
    assert written(graphs).encode() == bytes(text)


def outcome(data: bytes, **options: Any) -> str:
    with pytest.raises(FormatError) as caught:
        read(data, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("((('',0,1),),)", "1: expected a word (*EPS* for none), found ''"),
        ('((("a",0,1),),)', "1: expected a word in single quotes, found '(\"a\",0,1),),)'"),
        (
            "((('a',0,0),),)",
            "1: expected a jump of at least 1 as the last number of an arc, found '0'",
        ),
        ("((('a',0,1.5),),)", "1: expected a jump of at least 1 as the last number of an arc, found '1.5'"),
        ("((('a',0,1e2),),)", "1: expected a jump of at least 1 as the last number of an arc, found '1e2'"),
        ("((('a',1,x=2),),)", "1: expected a jump of at least 1 as the last number of an arc, found none"),
        ("((('a',1,{'x':2}),),)", "1: expected a jump of at least 1 as the last number of an arc, found none"),
        ("((('a'),),)", "1: expected a jump of at least 1 as the last number of an arc, found none"),
        ("((('a',1),),(('b',0,3),),)", "2: expected a jump of at most 1, to the last node, found 3"),
        (
            "((('a',99999999999),),)",
            "1: expected a jump of at least 1 as the last number of an arc, found '99999999999'",
        ),
        ("((('a',x,1),),)", "1: expected a finite number, found 'x'"),
        ("((('a',nan,1),),)", "1: expected a finite number, found 'nan'"),
        ("((('a',1e999,1),),)", "1: expected a finite number, found '1e999'"),
        ("((('a',1_0,1),),)", "1: expected a finite number, found '1_0'"),
        ("((('a',x=y,1),),)", "1: expected a finite number, found 'y'"),
        ("((('a',{'x':y},1),),)", "1: expected a finite number, found 'y'"),
        ("((('a',{x:1},1),),)", "1: expected 'name':value or `}`, found 'x:1},1),),)'"),
        ("((('a',x=1,x=2,1),),)", "1: expected each feature once, found 'x' again"),
        ("((('a',3,{'LatticeCost_0':1},1),),)", "1: expected each feature once, found 'LatticeCost_0' again"),
        (
            "((('a',1 2),),)",
            "1: expected `,` and a number, name=value or {'name':value}, or `)`, found ',1 2),),)'",
        ),
        (
            "((('a' 1),),)",
            "1: expected `,` and a number, name=value or {'name':value}, or `)`, found '1),),)'",
        ),
        ("((('a',1),,),)", "1: expected an arc ('word', score, jump) or the `)` of the column, found ',),)'"),
        (
            "((('a',1),),('b',1),)",
            "2: expected an arc ('word', score, jump) or the `)` of the column, found \"'b',1),)\"",
        ),
        (
            "((('a',1),),",
            "2: expected a column (('word', score, jump), ...) or the `)` of the lattice, found the end of the line",
        ),
        ("((('a',1),),) b", "2: expected the end of the line or `|||` after the lattice, found ' b'"),
        ("((('a", '1: expected a word in single quotes, found "(\'a"'),
        ("(((", "1: expected a word in single quotes, found '('"),
        ("((('a',1),),(),)", "1: expected a path from the first node to the last, found none"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    for end in ("\n", "\n((('a',1),),)\n", ""):
        assert outcome(f"a b\n{line}{end}".encode()) == f"x:2: field {message}"


def test_bad_bytes_and_limits() -> None:
    assert outcome(b"((('\xff',1),),)\n") == "x:1: field 1: expected UTF-8 text, found byte 0xff at column 5"
    most = {"max_nodes": 2}
    wanted = "x:1: field 1: expected at most 2 nodes (the option max_nodes sets the limit), found 3"
    assert outcome(b"((('a',1),),(('b',1),),)\n", **most) == outcome(b"a b\n", **most) == wanted
    wanted = "x:1: field 1: expected at most 1 edges (the option max_edges sets the limit), found 2"
    assert outcome(b"((('a',1),('b',1),),)\n", max_edges=1) == wanted
    deep = b"(" * 100_000
    assert outcome(deep).startswith("x:1: field 1: expected a word in single quotes")


@pytest.mark.parametrize(
    ("arc", "expected"),
    [
        (Arc(0, 1, ("a\nb",)), "a word or name without a line break"),
        (Arc(0, 1, ("a",), {"a\n": 1}), "a word or name without a line break"),
        (Arc(0, 1, ("a",), {"f": math.inf}), "a finite number"),
    ],
)
def test_lattices_that_cannot_be_written(arc: Arc, expected: str) -> None:
    with pytest.raises(FormatError, match=f"^x:4: field 1: expected {expected}"):
        written([lattice("0", [0, 1], [arc], file="x", line=4)])
    with pytest.raises(FormatError, match="expected a feature name without blanks"):
        written([lattice("0", [0, 1], [Arc(0, 1, ("a",), {"a b": 1})])], pairs=True)


@pytest.mark.parametrize(
    "text",
    ["( ( ' a ' , b ) )\n", "a\nb\n", "ein ||| ((('a',1),),)\n", "(((\n", "((('a' x\n", '{"a":1}\n', "", "\x00"],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


def test_shape() -> None:
    for text in ("((('a',1),),)", "x\n\ny\n((('a',-1,1),),)\n", "<seg id=\"1\">((('a',1),),)</seg>\n"):
        assert FORMAT.matches(text.encode())


# cdec's quirks: what it makes of them, and what we do where that is an error.
QUIRKS = {
    "plf_dq": "expected a word in single quotes",
    "plf_empty": "expected a word",
    "plf_unreach": "expected a jump of at most 1",
    "plf_zero": "expected a jump of at least 1",
}


def gold(shared: Path) -> Iterator[Path]:
    folder = shared / "gold"
    yield from sorted(folder.glob("cdec/quirks/plf*.in"))
    yield folder / "cdec/system_tests/lattice/input.txt"
    yield folder / "cdec/system_tests/australia/input.txt"
    yield folder / "joshua/lattice-short/input"
    yield folder / "moses/lattice/in.plf"


@pytest.mark.shared
def test_gold_comes_back(shared: Path) -> None:
    count = 0
    for path in gold(shared):
        data = path.read_bytes()
        if path.stem in QUIRKS:
            with pytest.raises(FormatError, match=f"^x:1: field .: {QUIRKS[path.stem]}"):
                read(data)
            continue
        graphs = read(data)
        assert written(graphs).encode() == data, path
        again = read(written([bare(graph) for graph in graphs]).encode())
        assert list(map(shown, again)) == list(map(shown, graphs)), path
        count += 1
    assert count == 17


def derivations(graph: GraphColumns, grammar: list[tuple[tuple[str, ...], float]]) -> list[float]:
    """Scores of all ways to cover a path by rules, each with what its words cost: cdec's glue grammar, by hand."""
    nodes, arcs = arcs_of(graph)
    best: list[list[float]] = [[0.0]] + [[] for _ in range(nodes - 1)]
    spans: list[tuple[int, int, tuple[str, ...], float]] = []
    for begin in range(nodes - 1, -1, -1):
        for arc in (arc for arc in arcs if arc.tail == begin):
            own = sum(arc.features.get(name, 0) * value for name, value in WEIGHTS.items())
            spans.append((begin, arc.head, arc.words, own))
            for first, last, words, score in list(spans):
                if first == arc.head:
                    spans.append((begin, last, (*arc.words, *words), score + own))
    for begin in range(nodes):
        for first, last, words, score in spans:
            for source, value in grammar:
                if first == begin and source == words:
                    best[last] += [before + score + value for before in best[begin]]
    return best[-1]


WEIGHTS = {"LatticeCost_0": -1.0, "UsesDPrime": 1000.0}


@pytest.mark.shared
def test_paths_as_cdec_logs_them(shared: Path) -> None:
    folder = shared / "gold/cdec/system_tests/lattice"
    with open_lines(folder / "lattice.scfg") as text:
        rules = [(rule.source, -rule.features().get("Cost", 0.0)) for rule in cdec.parse(text)]
    grammar = [(tuple(map(str, source)), score) for source, score in rules]
    with open_lines(folder / "input.txt") as text:
        scores = [derivations(graph, grammar) for graph in parse(text)]
    log = (folder / "ours.stderr").read_text()
    assert [int(line.split()[-1]) for line in log.split("\n") if "Init. forest       (paths)" in line] == [
        len(totals) for totals in scores
    ]
    viterbi = [float(line.split()[-1]) for line in log.split("\n") if "Init. forest  Viterbi logp" in line]
    assert [max(totals) for totals in scores] == pytest.approx(viterbi, rel=1e-5)
    partition = [float(line.split()[-1]) for line in log.split("\n") if " Partition         log(Z)" in line]
    assert [
        math.log(math.fsum(math.exp(total - max(totals)) for total in totals)) + max(totals) for totals in scores
    ] == (pytest.approx(partition, rel=1e-5))


@pytest.mark.shared
def test_sums_as_moses_and_joshua_print_them(shared: Path) -> None:
    with open_lines(shared / "gold/moses/lattice/in.plf") as text:
        graphs = list(parse(text, name="InputFeature0"))
    assert [paths(graph) for graph in graphs] == [4, 2, 2]
    with open_bytes(shared / "gold/moses/lattice/nbest5.txt") as stream:
        lists = [line.split(" ||| ") for line in stream.read().decode().splitlines()]
    printed = {(fields[0], fields[4].strip()): float(fields[2].split("InputFeature0= ")[1]) for fields in lists}
    probabilities = {}
    for graph in graphs:
        for _, edges in kbest(graph, [0.0] * len(graph), 10):
            values = [graph.edge_features(edge).get("InputFeature0", 1.0) for edge in edges]
            probabilities[graph.id, text_of(graph, edges)] = math.log(math.prod(values))
    assert len(printed) >= 3
    assert {key: probabilities[key] for key in printed} == pytest.approx(printed, abs=1e-6)
    with open_lines(shared / "gold/joshua/lattice-short/input") as text:
        *texts, last = parse(text, name="SourcePath")
    assert [paths(graph) for graph in (*texts, last)] == [1, 1, 1, 1, 2]
    for score, edges in kbest(last, last.edge_scores({"SourcePath": 1}), 10):
        assert (score, text_of(last, edges)) in [(2, "a x"), (2, "b x")]


def test_lines_of_text_are_an_error_if_they_are_not_wanted() -> None:
    """Moses stops at them; an empty line is an empty sentence."""
    line = b"((('das',0.1,1),),)\n"
    assert [len(arcs_of(graph)[1]) for graph in read(line + b"\n" + line, text=False)] == [1, 0, 1]
    with pytest.raises(FormatError, match=r"x:2: field 1: expected a lattice, .* found 'N=3 L=3' \(--from plf-lattice"):
        read(line + b"N=3 L=3\n", text=False)
