"""Moses' chart search graphs."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import FormatError, open_lines
from smtformats.files import Lines
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.moses_chart import FORMAT, parse
from smtformats.nbest import moses as nbest
from smtformats.weights import moses as weights

from .inference import kbest, paths, text_of, viterbi

NAMES = "UnknownWordPenalty0 WordPenalty0 PhrasePenalty0 TranslationModel0:4 TranslationModel1 LM0"


def read(text: str, **options: str | int) -> list[GraphColumns]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), **options))  # type: ignore[arg-type]


def hyp(
    number: str,
    span: str,
    target: str = "a",
    gaps: str = "",
    below: str = "",
    total: str = "-1",
    core: str = "-1",
    label: str = "X",
) -> str:
    """A line of sentence 0."""
    gaps, words = "".join(f"{gap} " for gap in gaps.split()), "".join(f"{word} " for word in target.split())
    tails = "".join(f" {hypothesis}" for hypothesis in below.split())
    return (
        f"0 {number} {label}  -> {words}:{gaps}: term=: nonterm={gaps}: c=0 core=(0)  [{span}]{tails} "
        f"[total={total}] core=({core}) \n"
    )


def derivations(graph: GraphColumns) -> Counter[tuple[str, float]]:
    assert graph.scores is not None
    derivations = kbest(graph, graph.scores, paths(graph))
    return Counter((text_of(graph, edges), round(score, 6)) for score, edges in derivations)


def test_columns() -> None:
    (graph,) = read(FORMAT.example, names="WordPenalty0 LM0")
    assert (graph.id, graph.nodes, len(graph), graph.file, graph.line) == ("0", 3, 4, "x", 1)
    assert [graph.labels[label] for label in graph.node_labels] == ["S", "X", "S"]
    assert graph.edge_offsets.tolist() == [0, 1, 2, 4]
    assert graph.spans.tolist() == [[0, 1], [1, 2], [0, 2], [0, 2]]
    assert graph.tails.tolist() == [0, 1, 0]
    assert graph.scores is not None
    assert graph.scores.tolist() == [0.5, -1.5, 0.25, -1.5]
    assert [graph.edge_features(edge) for edge in range(4)] == [
        {"WordPenalty0": -1, "LM0": 0},
        {"WordPenalty0": -2, "LM0": -4.5},
        {"WordPenalty0": 0, "LM0": 0.5},
        {"WordPenalty0": -1, "LM0": -5},
    ]
    assert derivations(graph) == {("<s> a house", -0.75): 1, ("<s> home", -1): 1}
    assert not len(graph.grammar.source)


def test_the_left_hand_side_once_more() -> None:
    assert len(read("0 3 S => S  -> a :: term=0-0 : nonterm=: c=0 core=(0)  [0..0] [total=0] core=(0) \n")[0]) == 1


def test_gaps_stand_where_the_links_say() -> None:
    text = hyp("1", "0..0", "one") + hyp("2", "1..1", "two") + hyp("3", "0..1", "X and X", "0-2 1-0", "1 2")
    (graph,) = read(text)
    assert graph.tails.tolist() == [0, 1]
    _, edges = viterbi(graph, np.zeros(3))
    assert text_of(graph, edges) == "two and one"


def test_marks_of_unknown_words_are_left_out() -> None:
    (graph,) = read(hyp("1", "0..0", "wort|UNK|UNK|UNK a|DT :: term=:"))
    assert text_of(graph, (0,)) == "wort a|DT :: term=:"


def test_sparse_features_are_differences_too() -> None:
    text = hyp("1", "0..0").replace("core=(-1) ", "core=(-1) a=1 b=x=2")
    text += hyp("2", "0..1", "X", "0-0", "1", "-3", "-5").replace("core=(-5) ", "core=(-5) b=x=2 c=1.5 a=4")
    (graph,) = read(text)
    assert graph.edge_features(0) == {"F[0]": -1, "a": 1, "b=x": 2}
    assert graph.edge_features(1) == {"F[0]": -4, "a": 3, "c": 1.5}


def test_several_of_the_whole_span_meet_in_a_goal() -> None:
    text = hyp("1", "0..0", label="S") + hyp("2", "0..1", "b", total="-2") + hyp("3", "0..1", "c", label="S")
    (graph,) = read(text)
    assert graph.nodes == 4
    assert derivations(graph) == {("b", -2): 1, ("c", -1): 1}
    (graph,) = read(hyp("2", "0..1", "b") + hyp("1", "0..0"))
    assert (graph.nodes, derivations(graph)) == (3, {("b", -1): 1})


@pytest.mark.parametrize("part", [":", ": term=", "0-0 ", ": term=: nonterm=: c=0 core=(0", " a=1", " 1", "  -> "])
def test_long_lines_are_refused_fast(part: str) -> None:
    for before in ("0 1 X  -> ", "0 1 X  -> :: term=: nonterm=: c=0 core=(0) ", ONE[:-15]):
        with pytest.raises(FormatError):
            read(before + part * 50_000 + "x\n")


@st.composite
def charts(draw: st.DrawFn) -> tuple[str, Counter[tuple[str, float]]]:
    """The lines of a graph of binary rules, and the texts and scores of all its derivations."""
    size = draw(st.integers(1, 4))
    lines, number = "", 0
    chart: dict[tuple[int, int], list[tuple[int, float, list[tuple[str, float]]]]] = defaultdict(list)
    for width in range(1, size + 1):
        for first in range(size - width + 1):
            last = first + width
            for _ in range(draw(st.integers(0 if 1 < width < size else 1, 2)) if width < size else 1):
                winner: tuple[int, float, list[tuple[str, float]]] | None = None
                for _ in range(draw(st.integers(1, 3))):
                    number += draw(st.integers(1, 3))
                    word = draw(st.sampled_from("abc"))
                    splits = [cut for cut in range(first + 1, last) if chart[first, cut] and chart[cut, last]]
                    if splits:
                        cut = draw(st.sampled_from(splits))
                        left, right = (draw(st.sampled_from(chart[part])) for part in ((first, cut), (cut, last)))
                        swapped = draw(st.booleans())
                        below, under = [left, right], f"{left[0]} {right[0]}"
                        target, gaps = f"X {word} X", "0-2 1-0" if swapped else "0-0 1-2"
                    else:
                        below, under, target, gaps, swapped = [], "", word, "", False
                    score = draw(st.integers(-900, 900)) / 100
                    total = score + sum(tail[1] for tail in below)
                    texts: list[tuple[str, float]] = [(word, score)]
                    if below:
                        before, after = below[::-1] if swapped else below
                        texts = [(f"{a} {word} {b}", score + s + t) for a, s in before[2] for b, t in after[2]]
                    lost = f"{number}->{winner[0]}" if winner else str(number)
                    lines += hyp(lost, f"{first}..{last - 1}", target, gaps, under, f"{total:.2f}", f"{total:.2f}")
                    winner = winner or (number, total, [])
                    winner[2].extend(texts)
                assert winner is not None
                chart[first, last].append(winner)
    return lines, Counter((text, round(total, 6)) for text, total in chart[0, size][0][2])


@given(charts())
def test_all_derivations(pair: tuple[str, Counter[tuple[str, float]]]) -> None:
    text, expected = pair
    (graph,) = read(text)
    assert derivations(graph) == expected
    assert np.allclose(graph.edge_scores({"F[0]": 1}), graph.scores)


ONE, TWO = hyp("1", "0..0"), hyp("2", "1..1")
EARLIER = "on an earlier line and not recombined itself, found"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x:1: field 1: expected a chart search graph, found no hypothesis in the file"),
        ("\n", "x:1: field 1: expected a sentence id, found the end of the line"),
        ("0 S  -> a\n", "x:1: field 2: expected a hypothesis, ID or ID->ID, found 'S  -> a'"),
        (hyp("1->", "0..0"), "x:1: field 4: expected LABEL and an arrow, `X  -> `, found '-> X  -> a :: term=: ...'"),
        (hyp("1", "0..0").replace("X  ->", "X ->"), "x:1: field 4: expected LABEL and an arrow, `X  -> `, found"),
        ("0 1 X  -> a\n", "x:1: field 6: expected : and the links of gaps, found 'a'"),
        (hyp("1", "0..0").replace(": term", ": trm"), "x:1: field 7: expected : term= and links, found ': trm="),
        (hyp("1", "0..0").replace("nonterm", "gaps"), "x:1: field 8: expected : nonterm= and links, found ': gaps=: c"),
        (hyp("1", "0..0").replace("c=0", "c=x"), "x:1: field 9: expected : c=NUMBER, found ': c=x core=(0)"),
        (hyp("1", "0..0").replace("(0)", "(0,)"), "x:1: field 10: expected core=(NUMBERS) ..., found 'core=(0,)"),
        (hyp("1", "0-0"), "x:1: field 11: expected [FIRST..LAST], found '[0-0] [total=-1] core"),
        (hyp("1", "3..2"), "x:1: field 11: expected a first position and one not before it, found '[3..2]'"),
        (hyp("1", "0..0", below="x"), "x:1: field 13: expected [total=NUMBER], found 'x [total=-1]"),
        (hyp("1", "0..0", total="inf"), "x:1: field 13: expected [total=NUMBER], found '[total=inf]"),
        (hyp("1", "0..0", total="1e999"), "x:1: field 13: expected a finite number, found '1e999'"),
        (hyp("1", "0..0", core="1 2"), "x:1: field 14: expected core=(NUMBERS) ..., found 'core=(1 2)"),
        (hyp("1", "0..0", core="1e999"), "x:1: field 14: expected a finite number, found '1e999'"),
        (ONE + hyp("2", "0..0", core="1,2"), "x:2: field 14: expected 1 values in core=(...), found 2"),
        (ONE.replace(" \n", "\r\n"), "x:1: field 14: expected a line that ends in '\\n' alone, found '\\r\\n'"),
        (ONE.replace(" \n", " a=1 a=2\n"), "x:1: field 14: expected each feature once, found 'a' again"),
        (ONE.replace(" \n", " a\n"), "x:1: field 15: expected the end of the line, found 'a'"),
        (ONE + ONE, "x:2: field 2: expected each hypothesis once, found 1 again"),
        (ONE + hyp("2->1", "0..0") + hyp("2", "0..0"), "x:3: field 2: expected each hypothesis once, found 2 again"),
        (ONE + hyp("3->2", "0..0"), f"x:2: field 2: expected a hypothesis that wins a recombination, {EARLIER} '2'"),
        (ONE + hyp("3->1", "0..1"), "x:2: field 2: expected a winner with label X and span [0..1], found '1'"),
        (
            ONE + hyp("3->1", "0..0", label="S"),
            "x:2: field 2: expected a winner with label S and span [0..0], found '1'",
        ),
        (
            hyp("4", "0..1") + ONE + hyp("5->4", "0..1", "X", "0-0", "1"),
            "x:3: field 12: expected tails before 4, into which this hypothesis was recombined, found '1'",
        ),
        (
            hyp("4", "0..1", "X", "0-0", "4"),
            f"x:1: field 12: expected a hypothesis that fills a gap, {EARLIER} '4'",
        ),
        (
            ONE + hyp("2->1", "0..0") + hyp("4", "0..1", "X", "0-0", "2"),
            f"x:3: field 12: expected a hypothesis that fills a gap, {EARLIER} '2'",
        ),
        (ONE + hyp("4", "0..1", "X", "0-0"), "x:2: field 12: expected 1 hypotheses, one for each gap, found 0"),
        (ONE + hyp("4", "0..1", "X", "", "1"), "x:2: field 12: expected 0 hypotheses, one for each gap, found 1"),
        (
            ONE + hyp("4", "0..1", "X", "0-0", "1").replace("nonterm=0-0", "nonterm=0-1"),
            "x:2: field 8: expected the same gap alignment again, found '0-1 '",
        ),
        (
            ONE + hyp("4", "0..1", "X", "0-1", "1"),
            "x:2: field 8: expected links in source order, each to a label among 1 symbols, found '0-1'",
        ),
        (
            ONE + TWO + hyp("4", "0..1", "X X", "1-0 0-1", "1 2"),
            "x:3: field 8: expected links in source order, each to a label among 2 symbols, found '0-1'",
        ),
        (
            ONE + TWO + hyp("4", "0..1", "X X", "0-0 1-0", "1 2"),
            "x:3: field 8: expected links in source order, each to a label among 2 symbols, found '1-0'",
        ),
        (ONE + TWO, "x:2: field 11: expected a hypothesis of the whole span [0..1], found none in sentence 0"),
        (
            ONE + TWO + ONE.replace("0 1", "1 1", 1),
            "x:2: field 11: expected a hypothesis of the whole span [0..1], found none in sentence 0",
        ),
        (
            ONE.replace("0 1", "1 1", 1) + ONE,
            "x:2: field 1: expected an id after 1 (ids ascend), found '0'",
        ),
    ],
)
def test_bad(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_nodes": 1}, "x:2: field 1: expected at most 1 nodes in a graph, found more"),
        ({"max_edges": 1}, "x:2: field 1: expected at most 1 edges in a graph, found more"),
    ],
)
def test_limits(limits: dict[str, int], message: str) -> None:
    text = ONE + hyp("2", "0..1")
    assert len(read(text, max_nodes=2, max_edges=2)) == 1
    with pytest.raises(FormatError) as caught:
        read(text, **limits)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", [ONE, FORMAT.example, ONE[:60], "\n" + ONE])
def test_shape(text: str) -> None:
    assert FORMAT.matches(text.encode())


@pytest.mark.parametrize("text", ["0 hyp=0 stack=0\n", "0 ||| a ||| F=1 ||| 0\n", "0 1 X -> a\n", "701 5160\n", ""])
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


@pytest.fixture(scope="module")
def gold(shared: Path) -> Path:
    return shared / "gold/moses/hiero"


@pytest.mark.shared
def test_gold(shared: Path, gold: Path) -> None:
    """Best paths, the whole 100-best list of each sentence, and features that give the scores."""
    with open_lines(shared / "gold/moses/model/moses.hiero.tuned.ini") as lines:
        weighted = weights.FORMAT.read(lines)
    with open_lines(gold / "out.hyposcore.txt") as lines:
        logged = [line.split(" ", 1) for line in lines]
    with open_lines(gold / "osg.10.txt.gz") as lines:
        graphs = list(parse(lines, names=NAMES))
    with open_lines(gold / "nbest100.labeled.txt.gz") as lines:
        lists = list(islice(nbest.parse(lines), len(graphs)))
    assert [graph.id for graph in graphs] == [candidates.id for candidates in lists] == ["0", "1", "2", "3", "4"]
    for graph, (total, text), candidates in zip(graphs, logged, lists, strict=False):
        assert graph.scores is not None
        assert candidates.totals is not None
        score, edges = viterbi(graph, graph.scores)
        assert text_of(graph, edges) == f"<s> {text.strip()} </s>"
        assert score == pytest.approx(float(total), abs=0.001)
        assert np.allclose(graph.edge_scores(weighted), graph.scores, rtol=0, atol=0.0015)
        scores = defaultdict(list)
        for score, edges in kbest(graph, graph.scores, 130):
            scores[text_of(graph, edges)].append(score)
        for text, total_of in zip(candidates.texts, candidates.totals, strict=True):
            assert scores[f"<s> {text.strip()} </s>"].pop(0) == pytest.approx(total_of, abs=0.0015)


@pytest.mark.shared
def test_gold_with_left_hand_sides(gold: Path) -> None:
    with open_lines(gold / "osg.10.txt.gz") as lines, open_lines(gold / "osg.lhs.10.txt.gz") as others:
        for graph, other in zip(islice(parse(lines), 2), parse(others), strict=False):
            for name in ("tails", "rules", "edge_offsets", "spans", "scores", "values", "node_labels"):
                assert np.array_equal(getattr(graph, name), getattr(other, name)), name
