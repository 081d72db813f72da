"""Moses' hypergraphs, a file for each sentence."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, open_bytes, open_lines
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.grammar.rules import NonTerminal, Rule, Symbol
from smtformats.hypergraph import moses_chart, moses_search
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns
from smtformats.hypergraph.moses_hypergraph import FORMAT, parse, write
from smtformats.weights import moses_hypergraph as weights

from .inference import paths, text_of, viterbi

HEADER = "# target ||| features ||| source-covered\n"
FAILED = HEADER + "2 1\n# node 0\n1\n<s> |||  ||| 0\n# node 1\n0\n"


def read(text: str, name: str = "7.txt", **options: int) -> GraphColumns:
    (graph,) = parse(Lines(io.BytesIO(text.encode()), name), **options)
    return graph


def written(graphs: Iterable[GraphColumns], number: Callable[[float], str] = shortest) -> str:
    out = io.StringIO()
    write(graphs, out, number)
    return out.getvalue()


def strange(graph: GraphColumns) -> GraphColumns:
    """The same graph, as if another format had read it."""
    return replace(graph, extras={})


def composed(graph: GraphColumns, number: Callable[[float], str] = shortest) -> str:
    """What is written of a graph whose text is not kept."""
    return written([replace(graph, extras={**graph.extras, "read": -1})], number)


def content(graph: GraphColumns) -> list[Any]:
    """What a graph says, edge by edge."""
    edges = []
    for edge, head in enumerate(graph.heads.tolist()):
        rule = int(graph.rules[edge])
        grammar = graph.grammar
        target = grammar.target[grammar.target_offsets[rule] : grammar.target_offsets[rule + 1]].tolist()
        tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
        features = [(name, repr(value)) for name, value in graph.edge_features(edge).items()]
        edges.append(
            (head, [grammar.words[symbol] if symbol >= 0 else tails[-1 - symbol] for symbol in target], features)
        )
    return edges


def test_columns() -> None:
    graph = read(FORMAT.example, "/a/12.txt.gz")
    assert (graph.id, graph.nodes, len(graph), graph.line, graph.scores) == ("12", 3, 4, 1, None)
    assert graph.edge_offsets.tolist() == [0, 1, 3, 4]
    assert (graph.tails.tolist(), graph.tail_offsets.tolist()) == ([0, 0, 1], [0, 0, 1, 2, 3])
    assert graph.spans.tolist() == [[-1, -1]] * 4
    assert graph.edge_features(1) == {"LM0": -4.5, "TranslationModel0[0]": -1.25, "TranslationModel0[1]": 0}
    assert graph.edge_features(3) == {}
    assert graph.extras["covered"] == (0, 2, 2, 2)
    score, edges = viterbi(graph, graph.edge_scores({"LM0": 1, "TranslationModel0[0]": 2}))
    assert (score, text_of(graph, edges), paths(graph)) == (-7, "<s> a house </s>", 2)
    assert not len(graph.grammar.source)


def test_what_could_not_be_translated() -> None:
    graph = read(FAILED)
    assert (graph.nodes, len(graph), len(graph.grammar)) == (0, 0, 0)
    assert written([graph]) == written([strange(graph)]) == FAILED
    nothing = read(HEADER + "0 0\n")
    assert nothing.nodes == 0
    assert written([nothing]) == HEADER + "0 0\n"


@pytest.mark.parametrize(
    ("features", "names"),
    [
        ("A_1=1 A_2=2 A_3=3 B=4", ["A[0]", "A[1]", "A[2]", "B"]),
        ("A_1=1 B_1=2", ["A_1", "B_1"]),
        ("A_0=1 A_1=2 A_2=3", ["A_0", "A[0]", "A[1]"]),
        ("A_2=1 A_3=2", ["A_2", "A_3"]),
        ("A_1_1=1 A_1_2=2 A=B=3", ["A_1[0]", "A_1[1]", "A=B"]),
        ("A_1=1 A_2=2 A_02=3 _1=4 x[0]=5", ["A[0]", "A[1]", "A_02", "_1", "x[0]"]),
    ],
)
def test_components(features: str, names: list[str]) -> None:
    text = HEADER + f"1 1\n# node 0\n1\na  ||| {features}  ||| 1\n"
    graph = read(text)
    assert list(graph.edge_features(0)) == names
    assert written([graph]) == composed(graph) == written([strange(replace(graph, spans=np.array([[0, 1]])))]) == text


def test_later_edges_add_sparse_features() -> None:
    text = HEADER + "1 2\n# node 0\n2\na  ||| A_1=1 A_2=2  ||| 1\nb  ||| A_2=3 twi_1=1 twi_2=1 A_3=1  ||| 1\n"
    graph = read(text)
    assert graph.edge_features(1) == {"A[1]": 3, "twi_1": 1, "twi_2": 1, "A_3": 1}
    assert composed(graph) == text


def test_a_change_is_written() -> None:
    graph = read(FORMAT.example)
    doubled = written([replace(graph, values=graph.values * 2)])
    assert "\n[0] a house  ||| LM0=-9 TranslationModel0_1=-2.5 TranslationModel0_2=0  ||| 2\n" in doubled
    assert [float(value) for value in read(doubled).values] == (graph.values * 2).tolist()


@pytest.mark.parametrize(
    ("old", "new"),
    [("-4.500000", "-4.5e0"), ("[0] a house", "  [0]  a house"), ("||| 2", "||| 02"), ("</s>", "\u2028|||")],
)
def test_other_spellings_come_back(old: str, new: str) -> None:
    text = FORMAT.example.replace(old, new)
    assert written([read(text)]) == text != FORMAT.example
    assert content(read(composed(read(text)))) == content(read(text))


WORDS = ["a", "é", "[X]", "[1", "#", "=", "|", "\u00a0"]
FEATURES = ["LM0", "TM[0]", "TM[1]", "TM[2]", "wt_a~b", "A_2", "x=y"]


@st.composite
def graphs(draw: st.DrawFn) -> GraphColumns:
    """A graph with spans whose gaps stand in order, as those that are read from such files do."""
    builder, rules = GraphBuilder(), []
    dense = draw(st.sampled_from([FEATURES[:1], FEATURES[:4], []]))
    first = True
    for node in range(draw(st.integers(1, 5))):
        edges = []
        for _ in range(draw(st.integers(1, 3))):
            target: list[Symbol] = []
            tails = []
            for _ in range(draw(st.integers(0, 4))):
                if node and draw(st.booleans()):
                    tails.append(draw(st.integers(0, node - 1)))
                    target.append(NonTerminal("X", len(tails)))
                else:
                    target.append(draw(st.sampled_from(WORDS)))
            names = [*dense, *draw(st.lists(st.sampled_from(FEATURES[4:]), unique=True, max_size=0 if first else 2))]
            first = first and not names
            values = draw(st.lists(st.floats(-1e30, 1e30), min_size=len(names), max_size=len(names)))
            start = draw(st.integers(0, 9))
            edges.append(
                Edge(tails, len(rules), dict(zip(names, values, strict=True)), (start, start + draw(st.integers(0, 9))))
            )
            rules.append(Rule("X", (), tuple(target)))
        builder.add(edges)
    return builder.graph("7", rules)


@given(graphs())
def test_what_is_written_reads_back(graph: GraphColumns) -> None:
    text = written([graph])
    again = read(text)
    assert content(again) == content(graph)
    assert written([again]) == composed(again) == text


def test_gaps_are_written_where_they_belong() -> None:
    builder = GraphBuilder()
    builder.add([Edge((), 0, span=(0, 1))])
    builder.add([Edge((), 1, span=(2, 3))])
    builder.add([Edge((0, 1), 2, {"F": 0.5}, (0, 3)), Edge((1, 0), span=(0, 3))])
    swap = Rule("X", (NonTerminal("X", 1), "c", NonTerminal("X", 2)), (NonTerminal("X", 2), "d", NonTerminal("X", 1)))
    text = written([builder.graph("0", [Rule("X", ("a",), ("a",)), Rule("X", ("b",), ("b", "b")), swap])])
    assert text == (
        HEADER + "3 4\n# node 0\n1\na |||  ||| 1\n# node 1\n1\nb b |||  ||| 1\n"
        "# node 2\n2\n[1] d [0]  ||| F=0.5  ||| 3\n[1] [0] |||  ||| 3\n"
    )


def test_a_search_graph_is_written() -> None:
    (graph,) = moses_search.parse(Lines(io.BytesIO(moses_search.FORMAT.example.encode()), "x"))
    text = written([graph])
    assert text == (
        HEADER
        + "4 5\n# node 0\n1\n ||| ||| 0\n".replace(" ||| |||", " |||  |||")
        + "# node 1\n2\n[0] the  ||| score=-1.5  ||| 1\n[0] this  ||| score=-1.75  ||| 1\n"
        "# node 2\n1\n[1] house  ||| score=-1  ||| 2\n# node 3\n1\n[2]  ||| score=0  ||| 2\n"
    )
    again = read(text)
    score, edges = viterbi(again, again.edge_scores({"score": 1}))
    assert (score, text_of(again, edges), paths(again)) == (-2.5, "the house", 2)


def graph_of(rule: Rule, features: dict[str, float], span: tuple[int, int] = (0, 1), tails: int = 0) -> GraphColumns:
    builder = GraphBuilder()
    for _ in range(tails):
        builder.add([])
    builder.add([Edge(range(tails), 0, features, span)])
    return builder.graph("0", [rule], file="y", line=3)


PLAIN = Rule("X", (), ("a",))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (graph_of(Rule("X", (), ("a b",)), {}), "field 1: expected words without blanks, none like [12], found 'a b'"),
        (
            graph_of(Rule("X", ("[0]",), ("[0]",)), {}),
            "field 1: expected words without blanks, none like [12], found '[0]'",
        ),
        (graph_of(Rule("X", (), ("",)), {}), "field 1: expected words without blanks, none like [12], found ''"),
        (graph_of(Rule("X", (), ("a\n",)), {}), "field 1: expected words without blanks, none like [12], found 'a\\n'"),
        (graph_of(Rule("X", (), ("[0]",)), {}), "field 1: expected words without blanks, none like [12], found '[0]'"),
        (
            graph_of(PLAIN, {}, tails=1),
            "field 1: expected a target side with 1 gaps, one for each tail, found 0",
        ),
        (
            graph_of(Rule("X", (), (NonTerminal("X", 1), NonTerminal("X", 1))), {}, tails=2),
            "field 1: expected a target side with 2 gaps, one for each tail, found 2",
        ),
        (
            graph_of(PLAIN, {"a b": 1}),
            "field 2: expected feature names without blanks, none like those of components, found 'a b'",
        ),
        (
            graph_of(PLAIN, {"": 1}),
            "field 2: expected feature names without blanks, none like those of components, found ''",
        ),
        (
            graph_of(PLAIN, {"a_1": 1, "a_2": 1}),
            "field 2: expected feature names that distinguish components from other features, found 'a_1'",
        ),
        (
            graph_of(PLAIN, {"a[1]": 1, "a[0]": 1}),
            "field 2: expected feature names that distinguish components from other features, found 'a[1]'",
        ),
        (
            graph_of(PLAIN, {"a[0]": 1, "a[1]": 1, "a_2": 1}),
            "field 2: expected feature names that distinguish components from other features, found 'a_2'",
        ),
        (graph_of(PLAIN, {"a": float("inf")}), "field 2: expected finite numbers, found inf"),
        (graph_of(PLAIN, {}, (-1, -1)), "field 3: expected a source span for each edge with words, found none"),
        (
            graph_of(PLAIN, {}, (9, 4)),
            "field 3: expected source spans that end where they begin or later, found 9 to 4",
        ),
    ],
)
def test_what_cannot_be_written(graph: GraphColumns, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        written([graph])
    assert str(caught.value) == f"y:3: {message}"


def test_a_name_like_that_of_a_component_on_a_later_edge() -> None:
    builder = GraphBuilder()
    builder.add([Edge((), 0, {"a[0]": 1, "a[1]": 1}, (0, 1)), Edge((), 0, {"a_2": 1}, (0, 1))])
    with pytest.raises(FormatError, match="none like those of components, found 'a_2'"):
        written([builder.graph("0", [PLAIN])])


GRAPH = FORMAT.example
AT = GRAPH.splitlines(keepends=True)


def changed(line: int, new: str) -> str:
    return "".join([*AT[: line - 1], f"{new}\n", *AT[line:]])


def edge(features: str) -> str:
    return changed(8, f"[0] a  ||| {features}  ||| 1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"1: field 1: expected `{HEADER[:-1]}`, found the end of the file"),
        ("# target ||| features\n", f"1: field 1: expected `{HEADER[:-1]}`, found '# target ||| features'"),
        (HEADER, "2: field 1: expected the numbers of nodes and edges, found the end of the file"),
        (changed(2, "3"), "2: field 1: expected the numbers of nodes and edges, found '3'"),
        (changed(2, "-3 4"), "2: field 1: expected the numbers of nodes and edges, found '-3 4'"),
        (changed(2, f"3 {'4' * 19}"), f"2: field 1: expected the numbers of nodes and edges, found '3 {'4' * 19}'"),
        (changed(2, "99999999999 4"), "2: field 1: expected at most 10000000 nodes, found 99999999999"),
        (changed(2, "3 99999999999"), "2: field 2: expected at most 100000000 edges, found 99999999999"),
        (changed(2, "3 5"), "2: field 2: expected 4 edges, as the nodes have, found 5"),
        (changed(2, "3 3"), "11: field 1: expected at most 0 edges, as line 2 counts 3, found 1"),
        (changed(2, "2 3"), "10: field 1: expected the end of the file after 2 nodes, found more lines"),
        (changed(2, "4 4"), "13: field 1: expected `# node 3`, found the end of the file"),
        (changed(3, "# node 1"), "3: field 1: expected `# node 0`, found '# node 1'"),
        (changed(3, "# node 0\r"), "3: field 1: expected `# node 0`, found '# node 0\\r'"),
        (changed(4, "one"), "4: field 1: expected how many edges lead to node 0, found 'one'"),
        (changed(4, "0"), "4: field 1: expected an edge that leads to node 0, found 0"),
        (changed(4, "2"), "6: field 2: expected target ||| features ||| source-covered, found '# node 1'"),
        (
            changed(7, "1"),
            "9: field 1: expected `# node 2`, found '[0] the house  ||| LM0=-3.500000 TranslationModel0_1=-2.0...'",
        ),
        ("".join(AT[:8]), "9: field 1: expected an edge that leads to node 1, found the end of the file"),
        ("".join(AT[:6]), "7: field 1: expected how many edges lead to node 1, found the end of the file"),
        (changed(8, "[0] a ||| 1"), "8: field 3: expected target ||| features ||| source-covered, found '[0] a ||| 1'"),
        (changed(8, "[1] a |||  ||| 1"), "8: field 1: expected a node before 1, found '[1]'"),
        (changed(8, "[2] a |||  ||| 1"), "8: field 1: expected a node before 1, found '[2]'"),
        (changed(5, "[0] |||  ||| 1"), "5: field 1: expected a node before 0, found '[0]'"),
        (changed(8, "[0] a |||  ||| x"), "8: field 3: expected the number of source words covered, found 'x'"),
        (changed(8, "[0] a |||  ||| 1\r"), "8: field 3: expected the number of source words covered, found '1\\r'"),
        (edge("LM0"), "8: field 2: expected name=value, found a feature without a name"),
        (edge("=1"), "8: field 2: expected name=value, found a feature without a name"),
        (edge("A=1 A=2"), "8: field 2: expected each feature once, found 'A' twice"),
        (edge("A=1_0"), "8: field 2: expected a finite number, found '1_0'"),
        (edge("A=-inf"), "8: field 2: expected a finite number, found '-inf'"),
        (edge("A="), "8: field 2: expected a finite number, found ''"),
        (edge("A_1=1 A_2=2 A[0]=3"), "8: field 2: expected each feature once, found components spelt in two ways"),
        (
            edge("LM0=1 TranslationModel0_1=1 TranslationModel0_2=1").replace("LM0=-3.5", "TranslationModel0[1]=-3.5"),
            "9: field 2: expected each feature spelt in one way, found 'TranslationModel0[1]'",
        ),
        (GRAPH + "\n", "13: field 1: expected the end of the file after 3 nodes, found more lines"),
        (GRAPH + GRAPH, "13: field 1: expected the end of the file after 3 nodes, found more lines"),
    ],
)
def test_bad(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"7.txt:{message}"


def test_limits() -> None:
    assert len(read(GRAPH, max_nodes=3, max_edges=4)) == 4
    with pytest.raises(FormatError, match="2: field 1: expected at most 2 nodes, found 3"):
        read(GRAPH, max_nodes=2)
    with pytest.raises(FormatError, match="2: field 2: expected at most 3 edges, found 4"):
        read(GRAPH, max_edges=3)


@pytest.mark.parametrize(
    "text",
    [
        "# target ||| features\n[0] a ||| F=1\n",
        "701 5160\n1\n<s> |||  ||| 0\n",
        "# target ||| features ||| source-covered ||| more\n",
        "0 ||| a ||| F=1 ||| 0\n",
        "",
    ],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


def fixed(digits: int) -> Callable[[float], str]:
    return lambda value: f"{value:.{digits}f}"


@pytest.fixture(scope="module")
def gold(shared: Path) -> Path:
    return shared / "gold/moses"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("folder", "logged", "digits", "count"),
    [("pb/hg_gz", "pb/out.hypo-score.txt", 6, 10), ("hiero/hg_txt", "hiero/out.hyposcore.txt", 3, 10)],
)
def test_gold(gold: Path, folder: str, logged: str, digits: int, count: int) -> None:
    """Files come back byte for byte, from their columns too; the best path is Moses', with its score."""
    with open_lines(gold / folder / "weights") as lines:
        weighted = weights.FORMAT.read(lines)
    with open_lines(gold / logged) as lines:
        best = [line.split(" ", 1) for line in lines]
    files = sorted((gold / folder).glob("[0-9]*"))
    assert len(files) == count
    for path, (total, text) in zip(files, best, strict=True):
        with open_lines(path) as lines, open_bytes(path) as stream:
            (graph,) = parse(lines)
            data = stream.read().decode()
        assert graph.id == path.name.split(".")[0]
        assert written([graph]) == data, path
        if len(graph) < 6000:  # the rest takes long and shows no more
            assert composed(graph, fixed(digits)) == data, path
        score, edges = viterbi(graph, graph.edge_scores(weighted))
        assert text_of(graph, edges) == f"<s> {text.strip()} </s>"
        assert score == pytest.approx(float(total), abs=0.002)


@pytest.mark.shared
def test_gold_uncompressed(gold: Path) -> None:
    files = sorted((gold / "pb/hg_txt").glob("[0-9]*"))
    assert len(files) == 5
    for path in files[:2]:
        with open_lines(path) as lines, open_bytes(path) as stream:
            assert written(parse(lines)) == stream.read().decode(), path


def stripped(text: str) -> list[str]:
    return [re.sub(r" +\|\|\|.*\|\|\|", " |||", line) for line in text.splitlines()]


@pytest.mark.shared
def test_gold_from_search_graphs(gold: Path) -> None:
    """The search graph of a sentence, written as a hypergraph, is Moses' hypergraph but for the markers at its ends."""
    with open_lines(gold / "pb/osgx.txt.gz") as lines:
        graphs = list(islice(moses_search.parse(lines), 2))
    for graph in graphs:
        with open_bytes(gold / f"pb/hg_gz/{graph.id}.gz") as stream:
            theirs = [line.replace("<s>", "").replace(" </s>", "") for line in stripped(stream.read().decode())]
        assert stripped(written([graph])) == theirs


@pytest.mark.shared
def test_gold_of_swapped_rules(gold: Path) -> None:
    """Chart graphs are the same too, but for the nodes of rules that swap them: Moses has them in source order."""
    with open_lines(gold / "hiero/osg.10.txt.gz") as lines:
        graphs = list(islice(moses_chart.parse(lines), 2))
    for graph, swapping in zip(graphs, (26, 10), strict=True):
        with open_bytes(gold / f"hiero/hg_txt/{graph.id}.txt.gz") as stream:
            theirs = stripped(stream.read().decode())
        ours = stripped(written([graph]))
        assert len(ours) == len(theirs)
        different = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
        assert len(different) == swapping
        for a, b in different:
            nodes = re.findall(r"\[\d+\]", a)
            assert nodes[::-1] == re.findall(r"\[\d+\]", b)
            assert re.sub(r"\[\d+\]", "[]", a) == re.sub(r"\[\d+\]", "[]", b)
