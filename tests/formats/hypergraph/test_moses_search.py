"""Moses' phrase-based search graphs."""

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
from smtformats.hypergraph.moses_search import FORMAT, parse
from smtformats.hypergraph.shared.moses_lines import core_names
from smtformats.nbest import moses as nbest
from smtformats.weights import moses as weights

from .inference import kbest, paths, text_of, viterbi

NAMES = "UnknownWordPenalty0 WordPenalty0 PhrasePenalty0 TranslationModel0:4 LexicalReordering0:6 Distortion0 LM0"
START = "0 hyp=0 stack=0\n"


def read(text: str, **options: str | int) -> list[GraphColumns]:
    return list(parse(Lines(io.BytesIO(text.encode()), "x"), **options))  # type: ignore[arg-type]


def step(hyp: int, stack: int, back: int, transition: str = "-1.000", out: str = "out=a", **changed: str | int) -> str:
    """A line of sentence 0 that covers one word, complete unless `forward` is given."""
    more = {"forward": -1, "covered": f"{stack - 1}-{stack - 1}"} | changed
    lost = f" recombined={more['recombined']}" if "recombined" in more else ""
    return (
        f"0 hyp={hyp} stack={stack} back={back} score=-1.000 transition={transition}{lost} forward={more['forward']} "
        f"fscore=0.000 covered={more['covered']} {out}\n"
    )


def extended(core: str, out: str = '"ein|a"') -> str:
    return f'scores="core=({core}" out={out}'


def derivations(graph: GraphColumns) -> Counter[tuple[str, float]]:
    assert graph.scores is not None
    derivations = kbest(graph, graph.scores, paths(graph))
    return Counter((text_of(graph, edges), round(score, 6)) for score, edges in derivations)


def test_columns() -> None:
    (graph,) = read(FORMAT.example)
    assert (graph.id, graph.nodes, len(graph), graph.file, graph.line) == ("0", 4, 4, "x", 1)
    assert graph.edge_offsets.tolist() == [0, 0, 2, 3, 4]
    assert (graph.tails.tolist(), graph.tail_offsets.tolist()) == ([0, 0, 1, 2], [0, 1, 2, 3, 4])
    assert graph.spans.tolist() == [[0, 1], [0, 1], [1, 2], [-1, -1]]
    assert graph.scores is not None
    assert graph.scores.tolist() == [-1.5, -1.75, -1, 0]
    assert derivations(graph) == {("the house", -2.5): 1, ("this house", -2.75): 1}
    assert not len(graph.features)
    assert not len(graph.grammar.source)


def test_extended() -> None:
    text = (
        "3 hyp=0 stack=0 forward=2 fscore=-3.000\n"
        "3 hyp=2 stack=2 back=0 score=-3.000 transition=-3.000 forward=-1 fscore=0.000 covered=0-1 "
        'scores="core=(-1.000,0.500,0.000) wt_a~b=1.000 x=y=-2.000" out="ein haus|a nice house"\n'
    )
    (graph,) = read(text, names="LM0 TM:2")
    assert graph.id == "3"
    assert graph.edge_features(0) == {"LM0": -1, "TM[0]": 0.5, "TM[1]": 0, "wt_a~b": 1, "x=y": -2}
    assert graph.edge_features(1) == {}
    assert [graph.grammar.words[symbol] for symbol in graph.grammar.source.tolist() if symbol >= 0] == ["ein", "haus"]
    assert text_of(graph, (1, 0)) == "a nice house"
    (graph,) = read(text)
    assert list(graph.names) == ["F[0]", "F[1]", "F[2]", "wt_a~b", "x=y"]


def test_without_sparse_features_a_blank_is_left() -> None:
    (graph,) = read(START + step(1, 1, 0, out=extended("1.000) ")))
    assert graph.edge_features(0) == {"F[0]": 1}


@pytest.mark.parametrize(
    ("factors", "out", "source", "text"),
    [
        (1, '"ein|a"', ["ein"], "a"),
        (1, '"ein haus|a|DT house|NN"', ["ein", "haus"], "a|DT house|NN"),
        (2, '"ein|ART haus|N|a house"', ["ein|ART", "haus|N"], "a house"),
        (1, '"ein|"', ["ein"], ""),
        (1, '"" out="|" out="', ['"', 'out="'], '" out='),
    ],
)
def test_pairs(factors: int, out: str, source: list[str], text: str) -> None:
    (graph,) = read(START + step(1, 1, 0, out=extended("0.000) ", out)), factors=factors)
    assert [graph.grammar.words[symbol] for symbol in graph.grammar.source.tolist() if symbol >= 0] == source
    assert text_of(graph, (1, 0)) == text


def test_out_is_the_rest_of_the_line() -> None:
    (graph,) = read(START + step(1, 1, 0, out='out=a "b" out=c [X] \u00a0 d '))
    assert text_of(graph, (1, 0)) == 'a "b" out=c [X] \u00a0 d'
    (graph,) = read(START + step(1, 1, 0, out="out="))
    assert text_of(graph, (1, 0)) == ""


def test_recombined_arcs_lead_to_the_winner() -> None:
    text = (
        START
        + step(2, 1, 0, "-1.000", "out=a", forward=5)
        + step(3, 1, 0, "-2.000", "out=b", forward=5, recombined=2)
        + step(5, 2, 2, "-1.000", "out=c")
        + step(7, 2, 2, "-4.000", "out=d", recombined=5)
        + step(9, 2, 2, "-5.000", "out=e")
    )
    (graph,) = read(text)
    assert graph.nodes == 5
    assert derivations(graph) == {
        ("a c", -2): 1,
        ("b c", -3): 1,
        ("a d", -5): 1,
        ("b d", -6): 1,
        ("a e", -6): 1,
        ("b e", -7): 1,
    }


@pytest.mark.parametrize("start", [START, "0 hyp=0 stack=0 forward=-1 fscore=0.000\n"])
def test_an_empty_sentence(start: str) -> None:
    (graph,) = read(start)
    assert derivations(graph) == {("", 0): 1}


def test_a_sentence_without_translation() -> None:
    empty, full = read("0 hyp=0 stack=0 forward=0 fscore=0.000\n" + (START + step(1, 1, 0)).replace("0 hyp", "4 hyp"))
    assert (empty.nodes, len(empty), paths(empty)) == (0, 0, 0)
    assert (full.id, full.line, paths(full)) == ("4", 2, 1)


def test_sentences_come_one_by_one() -> None:
    lines = Lines(
        io.BytesIO("".join((START + step(1, 1, 0)).replace("0 hyp", f"{k} hyp") for k in range(9)).encode()), "x"
    )
    assert [(graph.id, lines.number) for graph in islice(parse(lines), 2)] == [("0", 3), ("1", 5)]


@pytest.mark.parametrize("part", ["a=1=1=1", " a=1", " out=", '" out="', "1,", "(", "|"])
def test_long_lines_are_refused_fast(part: str) -> None:
    with pytest.raises(FormatError):
        read(START + step(1, 1, 0, out='scores="core=(0) ' + part * 200_000))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[str, Counter[tuple[str, float]]]:
    """The lines of a graph, and the texts and scores of all its derivations."""
    size = draw(st.integers(1, 4))
    text = START
    winners: list[tuple[int, int, list[tuple[str, float]]]] = [(0, 0, [("", 0.0)])]  # hypothesis, stack, derivations
    hyp = 0
    for at in range(draw(st.integers(1, 8)) + 1):
        back, stack, before = draw(st.sampled_from([winner for winner in winners if winner[1] < size]))
        covered = size - stack if at == 0 else draw(st.integers(1, size - stack))
        hyp += draw(st.integers(1, 3))
        word, score = draw(st.sampled_from("abc")), draw(st.integers(-9000, 9000)) / 1000
        fitting = [i for i, winner in enumerate(winners) if winner[1] == stack + covered and winner[0] > back]
        lost = draw(st.sampled_from([None, *fitting]))
        done = [(f"{words} {word}".strip(), total + score) for words, total in before]
        more: dict[str, str | int] = {"covered": f"{stack}-{stack + covered - 1}"}
        more["forward"] = -1 if stack + covered == size else 99
        if lost is None:
            winners.append((hyp, stack + covered, done))
        else:
            more["recombined"] = winners[lost][0]
            winners[lost][2].extend(done)
        text += step(hyp, stack + covered, back, f"{score:.3f}", f"out={word}", **more)
    complete = (derivation for _, stack, texts in winners if stack == size for derivation in texts)
    return text, Counter((words, round(total, 6)) for words, total in complete)


def extends_later(text: str) -> bool:
    """Whether a hypothesis was extended before another one was recombined into it."""
    used = set()
    for line in text.splitlines()[1:]:
        values = dict(item.split("=", 1) for item in line.split(" ")[1:])
        if values.get("recombined") in used:
            return True
        used.add(values["back"])
    return False


@given(graphs().filter(lambda pair: not extends_later(pair[0])))
def test_all_derivations(pair: tuple[str, Counter[tuple[str, float]]]) -> None:
    text, expected = pair
    (graph,) = read(text)
    assert derivations(graph) == expected
    assert paths(graph) == expected.total()


NO_HYPOTHESIS = "on an earlier line and not recombined itself, found"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            "x:1: field 1: expected a search graph, `0 hyp=0 stack=0` and more lines, found no hypothesis in the file",
        ),
        ("a hyp=0 stack=0\n", "x:1: field 1: expected a sentence id, found 'a hyp=0 stack=0'"),
        (f"{'9' * 19} hyp=0 stack=0\n", "x:1: field 2: expected hyp=0, found '9 hyp=0 stack=0'"),
        (START + "0 hypo=1\n", "x:2: field 2: expected hyp=ID, found 'hypo=1'"),
        ("0 hyp=0 stack=1\n", "x:1: field 3: expected stack=0, found 'stack=1'"),
        ("0 hyp=0 stack=0 out=\n", "x:1: field 5: expected the end of the line, found 'out='"),
        (START + "0 hyp=1 stack=1 score=0\n", "x:2: field 4: expected back=ID, found 'score=0'"),
        (
            START + step(1, 1, 0, "nan"),
            "x:2: field 6: expected transition=NUMBER, found 'transition=nan forwar...'",
        ),
        (START + step(1, 1, 0, "9e999"), "x:2: field 6: expected a finite number, found '9e999'"),
        (
            START + step(1, 1, 0, forward=-2),
            "x:2: field 8: expected forward=ID, or -1, found 'forward=-2 fscore=0.0...'",
        ),
        (
            START + step(1, 1, 0, recombined="x"),
            "x:2: field 8: expected forward=ID, or -1, found 'recombined=x forward=...'",
        ),
        (START + step(1, 1, 0, covered="0"), "x:2: field 10: expected covered=FIRST-LAST, found 'covered=0 out=a'"),
        (
            START + step(1, 1, 0, covered="3-1"),
            "x:2: field 10: expected the first and the last position of a phrase, found '3-1'",
        ),
        (
            START + step(1, 1, 0, out="in=a"),
            "x:2: field 12: expected out=WORDS, in quotes after scores, found 'in=a'",
        ),
        (
            START + step(1, 1, 0, out='scores="core=(1,)" out="a|b"'),
            "x:2: field 12: expected out=WORDS, in quotes after scores, found 'scores=\"core=(1,)\" ou...'",
        ),
        (
            START + step(1, 1, 0, out=extended("1) ", '"a"')),
            'x:2: field 12: expected "source|target" in quotes, found \'"a"\'',
        ),
        (
            START + step(1, 1, 0, out=extended("1) a=2 a=3")),
            "x:2: field 11: expected each feature once, found 'a' again",
        ),
        (START + step(1, 1, 0, out=extended("1e999) ")), "x:2: field 11: expected a finite number, found '1e999'"),
        (
            START + step(1, 1, 0, out=extended("1) ")) + step(2, 1, 0, out=extended("1,2) ")),
            "x:3: field 11: expected 1 values in core=(...), found 2",
        ),
        (
            step(1, 1, 0),
            f"x:1: field 4: expected a hypothesis that is extended, {NO_HYPOTHESIS} '0'",
        ),
        (
            START + step(2, 1, 1),
            f"x:2: field 4: expected a hypothesis that is extended, {NO_HYPOTHESIS} '1'",
        ),
        (
            START + step(1, 1, 0) + step(2, 1, 0, recombined=1) + step(3, 2, 2),
            f"x:4: field 4: expected a hypothesis that is extended, {NO_HYPOTHESIS} '2'",
        ),
        (
            START + step(1, 1, 0) + step(1, 2, 1),
            "x:3: field 4: expected a hypothesis id below 1, found '1'",
        ),
        (
            START + step(4, 1, 0) + step(3, 2, 4),
            "x:3: field 4: expected a hypothesis id below 3, found '4'",
        ),
        (START + START, "x:2: field 2: expected each hypothesis once, found 0 again"),
        (START + step(1, 1, 0) + step(1, 1, 0), "x:3: field 2: expected each hypothesis once, found 1 again"),
        (
            START + step(1, 1, 0) + step(2, 1, 0, recombined=1) + step(2, 1, 0),
            "x:4: field 2: expected each hypothesis once, found 2 again",
        ),
        (
            START + step(1, 1, 0) + step(2, 1, 0, recombined=7),
            f"x:3: field 7: expected a hypothesis that wins a recombination, {NO_HYPOTHESIS} '7'",
        ),
        (
            START + step(1, 1, 0) + step(2, 2, 1, recombined=1),
            "x:3: field 7: expected a hypothesis of stack 2 after hypothesis 1, found '1'",
        ),
        (
            START + step(1, 2, 0, covered="0-1") + step(2, 1, 0) + step(3, 2, 2, recombined=1),
            "x:4: field 7: expected a hypothesis of stack 2 after hypothesis 2, found '1'",
        ),
        (START + step(1, 2, 0), "x:2: field 3: expected 1, the stack of hypothesis 0 and 1 more, found '2'"),
        (
            START + step(1, 1, 0, forward=5) + "1 hyp=0 stack=0\n",
            "x:2: field 8: expected a complete hypothesis (forward=-1), found none in sentence 0",
        ),
        (
            START + step(1, 1, 0, forward=5),
            "x:2: field 8: expected a complete hypothesis (forward=-1), found none in sentence 0",
        ),
        (
            "1 hyp=0 stack=0\n" + START,
            "x:2: field 1: expected an id after 1 (ids ascend), found '0'",
        ),
        (START + "\n", "x:2: field 1: expected a sentence id, found the end of the line"),
        (START.replace("\n", "\r\n"), "x:1: field 4: expected a line that ends in '\\n' alone, found '\\r\\n'"),
        (
            START + step(1, 1, 0, out="out=a\r"),
            "x:2: field 12: expected a line that ends in '\\n' alone, found '\\r\\n'",
        ),
    ],
)
def test_bad(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_nodes": 2}, "x:2: field 1: expected at most 2 nodes in a graph, found more"),
        ({"max_edges": 1}, "x:2: field 1: expected at most 1 edges in a graph, found more"),
    ],
)
def test_limits(limits: dict[str, int], message: str) -> None:
    text = START + step(1, 1, 0)
    assert len(read(text, max_nodes=3, max_edges=2)) == 1
    with pytest.raises(FormatError) as caught:
        read(text, **limits)
    assert str(caught.value) == message


def test_options_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="expected 1 or more factors, found 0"):
        read(START, factors=0)
    with pytest.raises(ValueError, match=r"expected each name once, found 'A A'"):
        read(START, names="A A")
    assert core_names("A B:2 C:1 D:0") == ("A", "B[0]", "B[1]", "C[0]", "D:0")


@pytest.mark.parametrize("text", [START, FORMAT.example, "5 hyp=0 stack=0 forward=61 fscore=-103.148\n"])
def test_shape(text: str) -> None:
    assert FORMAT.matches(text.encode())


@pytest.mark.parametrize("text", ["0 ||| a ||| F=1 ||| 0\n", "701 5160\n", "0 hyp\n", "0 2 S  -> a :: term=\n", ""])
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())


@pytest.fixture(scope="module")
def gold(shared: Path) -> Path:
    return shared / "gold/moses/pb"


@pytest.fixture(scope="module")
def graphs_of(gold: Path) -> list[GraphColumns]:
    with open_lines(gold / "osg.txt.gz") as lines:
        return list(parse(lines))


@pytest.mark.shared
def test_gold_best(gold: Path, graphs_of: list[GraphColumns]) -> None:
    with open_lines(gold / "out.hypo-score.txt") as lines:
        logged = [line.split(" ", 1) for line in lines]
    assert len(graphs_of) == len(logged) == 10
    for graph, (total, text) in zip(graphs_of, logged, strict=True):
        assert graph.scores is not None
        score, edges = viterbi(graph, graph.scores)
        assert text_of(graph, edges) == text.strip()
        assert score == pytest.approx(float(total), abs=0.0005 * len(edges))


@pytest.mark.shared
def test_gold_contains_the_list(gold: Path, graphs_of: list[GraphColumns]) -> None:
    """Each of a sentence's 100 best, as often as it stands there, with its score."""
    with open_lines(gold / "nbest100.labeled.txt.gz") as lines:
        lists = list(islice(nbest.parse(lines), 5))
    assert [candidates.id for candidates in lists] == [graph.id for graph in graphs_of[:5]]
    for graph, candidates in zip(graphs_of, lists, strict=False):
        assert graph.scores is not None
        assert candidates.totals is not None
        paths_of: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for score, edges in kbest(graph, graph.scores, 130):
            paths_of[text_of(graph, edges)].append((score, len(edges)))
        for text, total in zip(candidates.texts, candidates.totals, strict=True):
            score, size = paths_of[text.strip()].pop(0)
            assert score == pytest.approx(total, abs=0.0005 * size + 0.0005)


@pytest.mark.shared
def test_gold_features(shared: Path, gold: Path, graphs_of: list[GraphColumns]) -> None:
    """The extended graphs are the plain ones, and their vectors times the weights the transitions."""
    with open_lines(shared / "gold/moses/model/moses.pb.tuned.ini") as lines:
        weighted = weights.FORMAT.read(lines)
    with open_lines(gold / "osgx.txt.gz") as lines:
        for graph, plain in zip(islice(parse(lines, names=NAMES), 3), graphs_of, strict=False):
            assert graph.scores is not None
            assert plain.scores is not None
            assert set(graph.names) == set(weighted)
            for name in ("tails", "edge_offsets", "spans", "scores"):
                assert np.array_equal(getattr(graph, name), getattr(plain, name)), name
            assert np.allclose(graph.edge_scores(weighted), graph.scores, rtol=0, atol=0.0015)
