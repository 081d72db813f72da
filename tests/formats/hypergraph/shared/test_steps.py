"""Graphs of phrases written as Moses' search graphs, word graphs and lattices: the same derivations come back."""

from __future__ import annotations

import io
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from smtformats import FormatError
from smtformats.files import Lines
from smtformats.format import Format, shortest
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder, GraphColumns
from smtformats.hypergraph.moses_search import FORMAT as SEARCH
from smtformats.hypergraph.moses_words import FORMAT as WORDS
from smtformats.hypergraph.shared.steps import steps_of
from smtformats.hypergraph.slf import FORMAT as SLF
from tests.formats.hypergraph.inference import kbest, paths, text_of

GAP = NonTerminal("X", 1)
WEIGHTS = {"LM": 0.5, "TM[0]": 1.0, "TM[1]": 2.0, "sp_a~b": -1.0}
NAMES = "LM TM:2"


def phrase(source: str, target: str) -> Rule:
    return Rule("X", (GAP, *source.split()), (GAP, *target.split()))


def score(features: Mapping[str, float]) -> float:
    return sum(WEIGHTS[name] * value for name, value in features.items())


def edge(tail: int, rule: int, span: tuple[int, int], **features: float) -> Edge:
    named = {name.replace("0", "[0]").replace("1", "[1]").replace("sp", "sp_a~b"): v for name, v in features.items()}
    return Edge((tail,), rule, named, span, score(named))


RULES = [
    phrase("das", "the"),
    phrase("das", "this"),
    phrase("haus", "house"),
    phrase("das haus", "the house"),
    phrase("haus", ""),
    Rule("X", (GAP,), (GAP,)),
]


def small(start: bool = False) -> GraphColumns:
    """Two words: hypotheses that lost, one that leads nowhere, and what the end adds."""
    builder = GraphBuilder()
    builder.add([Edge((), span=(0, 0), score=-0.25)] if start else [])
    builder.add([edge(0, 1, (0, 1), TM0=-2, LM=-1), edge(0, 0, (0, 1), TM0=-1, LM=-1)])
    builder.add([edge(0, 2, (1, 2), TM0=-3)])
    builder.add([edge(0, 1, (0, 1), TM0=-9)])
    builder.add([edge(0, 3, (0, 2), TM1=-1.5, sp=1), edge(1, 2, (1, 2), TM0=-1), edge(2, 0, (0, 1), LM=-4)])
    builder.add([edge(1, 4, (1, 2), TM0=-4, TM1=-0.125)])
    ends = [edge(4, 5, (2, 2), LM=-1.5), edge(5, 5, (2, 2), LM=-0.5)]
    builder.add(ends)
    return builder.graph("7", RULES)


def rewritten(record: Format, graph: GraphColumns, **options: Any) -> GraphColumns:
    assert record.parse is not None and record.write is not None
    read = {name: value for name, value in options.items() if name == "names"}
    (again,) = record.parse(Lines(io.BytesIO(written(record, graph, **options).encode()), "7.x"), **read)
    assert isinstance(again, GraphColumns)
    return again


def written(record: Format, *graphs: GraphColumns, **options: Any) -> str:
    assert record.write is not None
    out = io.StringIO()
    assert record.write(graphs, out, shortest, **options) == len(graphs)
    return out.getvalue()


def derivations(graph: GraphColumns, weights: Mapping[str, float] | None = None) -> Counter[tuple[str, float]]:
    scores = graph.scores if weights is None else graph.edge_scores(weights)
    assert scores is not None
    derivations = kbest(graph, scores, int(paths(graph)))
    return Counter((text_of(graph, edges), round(score, 6)) for score, edges in derivations)


def test_steps() -> None:
    steps = steps_of(small())
    shown = [(step.number, step.back, step.covered, step.winner, step.forward, " ".join(step.target)) for step in steps]
    assert shown == [
        (1, 0, 1, 0, 4, "the"),
        (2, 0, 1, 1, 4, "this"),
        (3, 0, 1, 0, 6, "house"),
        (4, 1, 2, 0, -1, "house"),
        (5, 0, 2, 4, -1, "the house"),
        (6, 3, 2, 4, -1, "the"),
        (7, 1, 2, 0, -1, ""),
    ]
    by_number = {step.number: step for step in steps}
    for step in steps:
        before = 0.0 if not step.back else by_number[step.back].score
        assert step.score == pytest.approx(before + step.transition)
        if step.forward > 0:
            ahead = by_number[step.forward]
            assert ahead.back == (step.winner or step.number)
            assert step.rest == pytest.approx(ahead.transition + ahead.rest)
    # The end's score is in the last steps.
    assert by_number[7].transition == pytest.approx(-4 - 0.25 - 0.25)


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("record", [SEARCH, WORDS, SLF])
def test_derivations_come_back(record: Format, start: bool) -> None:
    graph = small(start)
    expected = derivations(graph)
    weights: Mapping[str, float] | None = {"a": 1.0} if record is WORDS else None
    if record is SLF:
        if start:
            return  # a start with a score of its own is another node of a lattice
        again = rewritten(record, graph)
        assert again.extras["names"] == {"x1": "TM[0]", "x2": "LM", "x3": "TM[1]", "x4": "sp_a~b"}
        weights = {x: WEIGHTS[name] for x, name in again.extras["names"].items()}
    else:
        again = rewritten(record, graph)
    assert derivations(again, weights) == expected


def test_features_of_steps() -> None:
    graph = small()
    again = rewritten(SEARCH, graph, extended=True, names=NAMES)
    assert derivations(again, WEIGHTS) == derivations(again) == derivations(graph)
    (line,) = [text for text in written(SEARCH, graph, extended=True, names=NAMES).splitlines() if "das haus" in text]
    assert line.endswith('scores="core=(-1.5,0,-1.5) sp_a~b=1 " out="das haus|the house"')
    unnamed = rewritten(SEARCH, graph, extended=True)
    assert derivations(unnamed, WEIGHTS) == derivations(graph)
    words = written(WORDS, graph, tables="TM:2", stateful="LM").splitlines()
    assert words[2] == "J=0\tS=0\tE=1\ta=-1.000, 0.000\tl=-1.000\tr=\tw=das|the"


def random_graph(seed: int) -> GraphColumns:
    """Hypotheses over coverages of four words, as a search has them."""
    rng = random.Random(seed)
    builder, size = GraphBuilder(), 4
    rules = [phrase(" ".join("abcd"[f:e]), " ".join(rng.choices("xyz", k=rng.randint(0, 2)))) for f in range(size)
             for e in range(f + 1, min(size, f + 2) + 1)]  # fmt: skip
    spans = [(f, e) for f in range(size) for e in range(f + 1, min(size, f + 2) + 1)]
    nodes: dict[tuple[frozenset[int], int], int] = {(frozenset(), 0): builder.add([])}
    full = frozenset(range(size))
    for count in range(1, size + 1):
        into: dict[tuple[frozenset[int], int], list[Edge]] = {}
        for (covered, _), node in list(nodes.items()):
            for rule, (first, last) in enumerate(spans):
                here = frozenset(range(first, last))
                if not here & covered and len(covered) + len(here) == count and rng.random() < 0.7:
                    features = {"LM": round(rng.uniform(-3, 0), 3), "TM[0]": float(rng.randint(-3, 0))}
                    edge = Edge((node,), rule, features, (first, last), score(features))
                    into.setdefault((covered | here, rng.randint(0, 1)), []).append(edge)
        for key, edges in into.items():
            nodes[key] = builder.add(edges)
    rules.append(Rule("X", (GAP,), (GAP,)))
    ends = [
        Edge((node,), len(rules) - 1, {"LM": -0.5}, (size, size), -0.25) for (c, _), node in nodes.items() if c == full
    ]
    builder.add(ends)
    return builder.graph("7", rules)


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs(seed: int) -> None:
    graph = random_graph(seed)
    if not paths(graph):
        return
    expected = derivations(graph)
    assert derivations(rewritten(SEARCH, graph)) == expected
    assert derivations(rewritten(WORDS, graph), {"a": 1.0}) == expected
    lattice = rewritten(SLF, graph)
    assert derivations(lattice, {x: WEIGHTS[name] for x, name in lattice.extras["names"].items()}) == expected


def test_empty_sentences() -> None:
    builder = GraphBuilder()
    builder.add([])
    builder.add([Edge((0,), 5, {}, (0, 0), -1.0)])
    empty, none = builder.graph("3", RULES), GraphBuilder().graph("4", [])
    for options in ({}, {"extended": True}):
        text = written(SEARCH, empty, none, **options)
        assert text == "3 hyp=0 stack=0 forward=-1 fscore=0\n4 hyp=0 stack=0 forward=0 fscore=0\n"
        assert SEARCH.parse is not None
        first, second = SEARCH.parse(Lines(io.BytesIO(text.encode()), "x"))
        assert (derivations(first), second.nodes) == ({("", 0): 1}, 0)
    assert written(WORDS, empty) == "VERSION=1.0\nUTTERANCE=3\n"
    with pytest.raises(FormatError, match="expected a sentence with a translation, found none of sentence 4"):
        written(WORDS, none)


def test_scales_of_lattices() -> None:
    text = written(SLF, replace(small(), extras={"scales": WEIGHTS}))
    assert "# TM TM 1 of 2\nx1scale=1\n# LM LM 1 of 1\nx2scale=0.5\n# TM TM 2 of 2\nx3scale=2\n" in text
    htk = "VERSION=1.0\nlmscale=12\nN=2 L=1\nI=0 t=0.5\nI=1\nJ=0 S=0 E=1 W=a\\'b l=-1 a=-2 mine=3\n"
    assert SLF.parse is not None
    (graph,) = SLF.parse(Lines(io.BytesIO(htk.encode()), "x"))
    assert written(SLF, graph) == htk
    changed = written(SLF, replace(graph, values=graph.values * 2))
    assert changed.splitlines() == [
        "VERSION=1.0", "UTTERANCE=x", "base=2.71828182845905", "NODES=2 LINKS=1", "lmscale=12",
        "# mine mine 1 of 1", "x1scale=1", "I=0", "I=1", "J=0 S=0 E=1 W=a\\'b l=-2 a=-4 x1=6",
    ]  # fmt: skip


@pytest.mark.parametrize("record", [SEARCH, WORDS, SLF])
def test_what_was_read_comes_back(record: Format) -> None:
    assert record.parse is not None
    (graph,) = record.parse(Lines(io.BytesIO(record.example.encode()), "x"))
    assert written(record, graph) == record.example


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (replace(small(), scores=None), "expected a graph whose edges have scores, found features alone"),
        (replace(small(), id="x"), r"expected a sentence id \(a whole number\), found 'x'"),
        (
            replace(small(), spans=small().spans * 0 - 1),
            "expected a source span for each phrase, found none for 'this'",
        ),
        (replace(small(), tails=small().tails * 0), "expected one edge without words from each complete hypothesis"),
    ],
)
def test_what_cannot_be_written(graph: GraphColumns, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        written(SEARCH, graph)


def test_words_that_cannot_be_written() -> None:
    def of(source: str, target: str) -> GraphColumns:
        builder = GraphBuilder()
        builder.add([])
        builder.add([Edge((0,), 0, {}, (0, 1), -1.0)])
        return builder.graph("1", [Rule("X", (GAP, source), (GAP, target))])

    assert derivations(rewritten(SEARCH, of("a|b", "c|d"))) == {("c|d", -1): 1}
    with pytest.raises(FormatError, match=r"expected words without blanks and bars, found 'c\|d'"):
        written(WORDS, of("a", "c|d"))
    with pytest.raises(FormatError, match=r"expected words without blanks, none of them !NULL, found '!NULL'"):
        written(SLF, of("a", "!NULL"))
    with pytest.raises(FormatError, match="expected words without blanks, found 'c d'"):
        written(SEARCH, of("a", "c d"))
