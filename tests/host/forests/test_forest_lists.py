"""Lists of forests: the best derivations, compared with enumeration and with what cdec and Moses wrote."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from smtformats import Candidates, FormatError, GraphColumns
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge, GraphBuilder
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest
from smtplugins.host.features.weighing import Weigher
from smtplugins.host.files.opening import open_known
from smtplugins.host.forests.forest_lists import ForestLists, Ranking, forests_of, list_of, unmarked
from smtplugins.host.host import Host

RULES = ["[X] ||| a ||| A ||| f=1", "[X] ||| b ||| B ||| f=1", "[S] ||| [X,1] [X,2] ||| [1] [2]"]
WEIGHTS = {"f": 0.5, "g": -1.25, "h": 2.0}
SLF = """\
lmscale=2 wdpenalty=-1 acscale=0.5 N=4 L=5
I=0
I=1
I=2
I=3
J=0 S=0 E=1 W=a a=-1 l=-1
J=1 S=0 E=1 W=b a=-2 l=-0.25
J=2 S=1 E=2 W=c a=-3 l=-1
J=3 S=1 E=2 W=!NULL a=-2 l=-0.5
J=4 S=2 E=3 W=d a=-1 l=-1 r=-4 x1=7
"""
PLF = "((('a',0.5,1),('b',0.25,1),),(('c',1,1),),)\n"
MOSES = """\
# target ||| features ||| source-covered
4 5
# node 0
1
<s> |||  ||| 0
# node 1
1
[0] a ||| f=2 g0_1=0 g0_2=0 ||| 1
# node 2
2
[1] b ||| g0_1=0 g0_2=0.5 ||| 2
[1] c ||| f=-1 g0_1=1 g0_2=0 ||| 2
# node 3
1
[2] </s> |||  ||| 3
"""

Links = list[tuple[str, float]]


def forest(rules: list[str], edges: list[list[dict[str, object]]]) -> str:
    """A forest as cdec writes it: the edges into each node."""
    parts = [f'"rules":{json.dumps([x for pair in enumerate(rules, 1) for x in pair])}', '"features":["f","g","h"]']
    count = 0
    for into in edges:
        shown = ",".join(json.dumps(edge) for edge in into)
        numbers = list(range(count, count + len(into)))
        count += len(into)
        parts.append(f'"edges":[{shown}],"node":{{"in_edges":{numbers},"cat":"X"}}')
    return "{" + ",".join(parts) + "}\n"


def word(rule: int, *features: float) -> dict[str, object]:
    pairs = [x for pair in zip((0, 1, 2), features, strict=False) for x in pair]
    return {"tail": [], "feats": pairs, "rule": rule}


def pair(first: int, second: int, *features: float) -> dict[str, object]:
    return {**word(3, *features), "tail": [first, second]}


FOREST = forest(
    RULES,
    [
        [word(1, 1, 0.25), word(2, 0.5, -0.75), word(1, -1)],
        [word(2, 0.1), word(1, 0.2, 0.3, 0.4)],
        [pair(0, 1, 1), pair(1, 0, 0, 0.5), pair(0, 0, 0.3, 0, 0.1)],
    ],
)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str], str]:
    def write(text: str, name: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

    return write


def enumerated(graph: GraphColumns) -> Iterator[tuple[str, dict[str, float]]]:
    """The text and the features of every derivation."""
    words = list(graph.grammar.words)

    def below(node: int) -> list[tuple[list[str], list[int]]]:
        found = []
        for edge in range(graph.edge_offsets[node], graph.edge_offsets[node + 1]):
            tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
            rule = int(graph.rules[edge])
            target = graph.grammar.target[graph.grammar.target_offsets[rule] : graph.grammar.target_offsets[rule + 1]]
            for parts in itertools.product(*map(below, tails)):
                text: list[str] = []
                for symbol in target.tolist() if rule >= 0 else []:
                    text += [words[symbol]] if symbol >= 0 else parts[-1 - symbol][0]
                found.append((text, [edge, *itertools.chain.from_iterable(edges for _, edges in parts)]))
        return found

    for text, edges in below(graph.nodes - 1):
        sums: defaultdict[str, float] = defaultdict(float)
        for edge in edges:
            for name, value in graph.edge_features(edge).items():
                sums[name] += value
        yield " ".join(text), sums


def near(rows: list[tuple[float, str]]) -> list[tuple[float, str]]:
    return [(round(total, 9), text) for total, text in rows]


def rows_of(nbest: Candidates) -> list[tuple[float, str]]:
    assert nbest.totals is not None
    return near(list(zip(nbest.totals, nbest.texts, strict=True)))


def test_derivations_are_those_of_enumeration(host: Host, file: Callable[[str, str], str]) -> None:
    path = file(FOREST, "7.json")
    (graph,) = forests_of(lambda: open_known(path, "hypergraph"))
    every = [(sum(WEIGHTS[n] * v for n, v in sums.items()), text, sums) for text, sums in enumerated(graph)]
    assert len(every) == 3 * 2 + 2 * 3 + 3 * 3
    wanted = near(sorted(((total, text) for total, text, _ in every), key=lambda row: -row[0]))
    for count in (1, 5, 21, 50):
        (nbest,) = host.read(path, derivations=count).rescore(WEIGHTS)
        assert (nbest.id, len(nbest)) == ("7", min(count, len(every)))
        assert sorted(rows_of(nbest)) == sorted(wanted[:count])
        for text, features, total in nbest.rows():
            assert total == pytest.approx(sum(WEIGHTS[name] * value for name, value in features.items()))
            assert any(text == other and features == pytest.approx(sums) for _, other, sums in every)
    best: dict[str, float] = {}
    for total, text in wanted:
        best.setdefault(text, total)
    (nbest,) = host.read(path, derivations=9, unique=True).rescore(WEIGHTS)
    assert rows_of(nbest) == near([(total, text) for text, total in best.items()])
    # Sums are without the noise of binary fractions, to the last digit.
    (nbest,) = host.read(path, derivations=100).rescore({"f": 1.0, "g": 0.0, "h": 0.0})
    assert all(value == float(f"{value:.12g}") for row in nbest.values for value in row)


def test_new_weights_search_the_whole_forest(host: Host, file: Callable[[str, str], str]) -> None:
    lists = host.read(file(FOREST, "0.json"), derivations=1)
    assert isinstance(lists, ForestLists)
    bests = [lists.rescore({"f": f, "g": g, "h": 0}).best()[0] for f, g in ((5, 0), (-5, 0), (0, 5), (0, -5))]
    assert len(set(bests)) == 2
    assert [n.id for n in lists.rescore(WEIGHTS)] == ["0"] == [n.id for n in lists.rescore(WEIGHTS)]
    notes: list[str] = []
    assert list(lists.rescore({**WEIGHTS, "z": 1}, note=notes.append))
    assert notes == ["these weights name no feature of the lists: z"]
    with pytest.raises(SmtError, match=r"0\.json:1: forest 0: feature 'g' has no weight; missing=0 counts"):
        list(lists.rescore({"f": 1.0}))
    (zero,), (none,) = lists.rescore({"f": 1, "g": 0, "h": 0}), lists.rescore({"f": 1.0}, missing=0)
    assert zero.totals == none.totals
    with pytest.raises(UsageError, match=r"weight 'q' names no feature of .*0\.json"):
        list(lists.rescore({**WEIGHTS, "q": 1}, required=["q"]))
    with pytest.raises(SmtError, match="none of the 1 weights names a feature"):
        list(lists.rescore({"q": 1}, missing=0))


def test_lattice_has_the_scores_of_its_header(host: Host, file: Callable[[str, str], str]) -> None:
    (nbest,) = host.read(file(SLF, "3-a.slf"))
    # acscale * a + lmscale * l + wdpenalty for a word + r; x1 has no scale.
    links: list[Links] = [[("a", -3.5), ("b", -2.5)], [("c", -4.5), ("", -2.0)], [("d", -7.5)]]
    wanted = sorted(
        (-sum(score for _, score in path), " ".join(word for word, _ in path if word))
        for path in itertools.product(*links)
    )
    assert rows_of(nbest) == [(-total, text) for total, text in wanted]
    assert nbest.id == "3-a"
    assert nbest[0][1] == {"acoustic": -5, "language": -1.75, "r": -4, "x1": 7}


@pytest.mark.parametrize(
    ("header", "total"),
    [
        ("base=10", math.log(10) * -1.5),
        ("base=10 wdpenalty=-1", math.log(10) * -2.5),
        ("base=0", None),
        ("acscale=0 lmscale=0", None),
        ("acscale=3 ngscale=2", -3.5),
        ("x2scale=0.5 acscale=0 lmscale=0", 2.0),
    ],
)
def test_scales_and_base(host: Host, file: Callable[[str, str], str], header: str, total: float | None) -> None:
    lists = host.read(file(f"{header} N=2 L=1\nJ=0 S=0 E=1 W=a a=-1 l=-0.5 x2=4\n", "0.slf"))
    if total is None:
        with pytest.raises(
            (SmtError, FormatError), match=r"base=0 says|expected scores, found none; weights computes them"
        ):
            list(lists)
    else:
        assert next(iter(lists)).totals == [pytest.approx(total)]


def test_probabilities(host: Host, file: Callable[[str, str], str]) -> None:
    text = "base=0 N=3 L=3\nJ=0 S=0 E=1 W=a a=0.5\nJ=1 S=0 E=1 W=b a=0\nJ=2 S=1 E=2 W=c l=0.25\n"
    (nbest,) = host.read(file(text, "0.slf"))
    assert rows_of(nbest) == near([(math.log(0.125), "a c")])


def test_marks_around_texts_are_no_words() -> None:
    texts = ["<s> a </s>", "<s> </s>", "<s> a", "a </s>", "<s>", "a", "<s>a </s>", ""]
    assert [*map(unmarked, texts)] == ["a", "", "<s> a", "a </s>", "<s>", "a", "<s>a </s>", ""]
    texts = ["!SENT_START a !SENT_END", "<s> a !SENT_END", "!SENT_START"]
    assert [*map(unmarked, texts)] == ["a", *texts[1:]]


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("{}\n", "3.json", r"3\.json:1: forest 3: expected scores, found none; weights computes them"),
        (FOREST, "3.json", r"3\.json:1: forest 3: expected scores, found none; weights computes them"),
        (PLF, "3.plf", r"3\.plf:1: forest 0: expected scores, found none"),
        (
            "VERSION=1.1\nNODES=2\nLINKS=1\n# LM0 LM0 1 of 1\nx1scale=0.5\nJ=0 S=0 E=1 W=a x1=-1\n",
            "3.slf",
            r"forest 3: expected scores of each link, found Moses' sums along paths \(format='slf-lattice,accumulated",
        ),
    ],
)
def test_forests_without_scores(
    host: Host, file: Callable[[str, str], str], text: str, name: str, message: str
) -> None:
    with pytest.raises(SmtError, match=message):
        list(host.read(file(text, name)))


def test_sums_of_word_graphs_are_no_scores(host: Host, file: Callable[[str, str], str]) -> None:
    steps = [("0\tE=1", "-1.000", "-0.500", "x|a"), ("1\tE=2", "-1.750", "-2.500", "y|b")]
    lines = [f"J={i}\tS={ends}\ta={a}\tl={state}\tr=0.000\tw={w}{{}}" for i, (ends, a, state, w) in enumerate(steps)]
    theirs, ours = (
        "\n".join(["VERSION=1.0", "UTTERANCE=0", *lines, ""]).format(*[end] * 2) for end in (" :: term=0-0", "")
    )
    weights = {"a": 1.0, "l": 2.0, "r": 0.0}
    with pytest.raises(
        SmtError, match=r"found Moses' sums along paths \(format='moses-word-graph,accumulated=true' reads"
    ):
        list(host.read(file(theirs, "theirs")).rescore(weights))
    for path, named in ((file(theirs, "theirs"), "moses-word-graph,accumulated=true"), (file(ours, "ours"), None)):
        (nbest,) = host.read(path, format=named).rescore(weights)
        assert nbest.texts == ["a b"]
        assert nbest.totals == ([-1.75 - 2 * 2.5] if named else [-2.75 - 2 * 3])


def test_forest_without_a_derivation_is_named(host: Host, file: Callable[[str, str], str]) -> None:
    for name, text in (("f/0.json", FOREST), ("f/1.json", "{}\n"), ("f/2.json", FOREST)):
        file(text, name)
    path = file("x", ".hidden")
    lists = host.read(str(Path(path).parent / "f")).rescore(WEIGHTS)
    with pytest.raises(SmtError, match=r"f/1\.json:1: forest 1: expected a derivation, found none"):
        list(lists)


def test_scores_without_features_cannot_be_weighted(host: Host, file: Callable[[str, str], str]) -> None:
    graph = (
        "0 hyp=0 stack=0\n0 hyp=1 stack=1 back=0 score=-1.5 transition=-1.5 forward=-1 fscore=-1.5 covered=0-0 out=a\n"
    )
    lists = host.read(file(graph, "graph"))
    assert [n.texts for n in lists] == [["a"]]
    with pytest.raises(SmtError, match="forest 0: expected features to weight, found scores alone"):
        list(lists.rescore(WEIGHTS))


def test_folders_archives_and_sources(host: Host, file: Callable[[str, str], str], tmp_path: Path) -> None:
    for number in (10, 2, 0):
        file(FOREST, f"f/{number}.json")
    lists = host.read(tmp_path / "f", derivations=2, source=file("x\ny\nz\n", "source"), allow_partial=True)
    found = lists.rescore(WEIGHTS)
    assert [(n.id, len(n)) for n in itertools.islice(found, 2)] == [("0", 2), ("2", 2)]
    assert [n.source for n in itertools.islice(found, 2)] == ["x", "z"]
    assert [(n.id, n.line, n.texts) for n in host.read(file(PLF + PLF, "a.plf")).rescore({"LatticeCost_0": 1})] == [
        ("0", 1, ["a c", "b c"]),
        ("1", 2, ["a c", "b c"]),
    ]


def test_arguments_of_forests_alone(host: Host, file: Callable[[str, str], str]) -> None:
    lists = file("0 ||| a ||| f= 1 ||| 1\n", "list")
    with pytest.raises(
        UsageError, match=r"list: derivations and unique: expected forests or lattices, found moses-nbest"
    ):
        host.read(lists, derivations=3, unique=True)
    with pytest.raises(UsageError, match="derivations: expected 1 or more, found 0"):
        host.read(file(FOREST, "0.json"), derivations=0)


def test_weights_beside_graphs_of_moses(host: Host, file: Callable[[str, str], str], tmp_path: Path) -> None:
    path = file(MOSES, "hg/0.txt")
    with pytest.raises(SmtError, match="expected scores, found none"):
        list(host.read(tmp_path / "hg"))
    file("f 0.5\ng0_1 -1.25\ng0_2 2\n", "hg/weights")
    for name in (tmp_path / "hg", path):
        (nbest,) = host.read(name)
        assert rows_of(nbest) == [(2.0, "a b"), (-0.75, "a c")]
    # Other weights search again.
    (nbest,) = host.read(path).rescore({"f": 0, "g0[0]": 1, "g0[1]": 0})
    assert rows_of(nbest) == [(1.0, "a c"), (0.0, "a b")]


def test_large_sums_keep_their_digits() -> None:
    builder = GraphBuilder()
    builder.add([Edge((), 0, {"a": -123456789.25, "b": 0.1})])
    builder.add([Edge((0,), 1, {"a": -0.5, "b": 0.2, "c": 0.0})])
    rules = [Rule("X", (), ("a",)), Rule("X", (), (NonTerminal("X", 1), "b"))]
    graph = builder.graph("0", rules)
    nbest = list_of(graph, Weigher({"a": 1.0, "b": 1.0, "c": 1.0}), Ranking(), "x")
    assert nbest.rows().__next__() == ("a b", {"a": -123456789.75, "b": 0.3, "c": 0.0}, -123456789.45)


@pytest.mark.shared
@pytest.mark.parametrize("unique", [False, True])
def test_cdec(host: Host, shared: Path, unique: bool) -> None:
    folder = shared / "gold/cdec/first50"
    theirs = {nbest.id: nbest for nbest in host.read(folder / f"kbest100{'.unique' * unique}.txt.gz")}
    weights = host.read_weights(folder / "weights.tuned")
    for name in ("0.json.gz", "1.bin.gz", "3.json.gz"):
        lists = host.read(folder / "forest.lm" / name, derivations=100, unique=unique)
        (nbest,) = lists.rescore(weights, missing=0)
        wanted = theirs[nbest.id]
        assert sorted(nbest.texts) == sorted(wanted.texts)
        assert nbest.totals == pytest.approx(wanted.totals, rel=1e-5)


@pytest.mark.shared
@pytest.mark.parametrize("graphs", ["pb/hg_txt", "pb/osg.txt.gz", "hiero/osg.10.txt.gz", "hiero/hg_txt"])
def test_moses(host: Host, shared: Path, graphs: str) -> None:
    folder = shared / "gold/moses"
    lists = folder / graphs.partition("/")[0] / "nbest100.labeled.txt.gz"
    theirs = {nbest.id: nbest for nbest in host.read(lists)}
    for nbest in itertools.islice(host.read(folder / graphs), 3):
        wanted = theirs[nbest.id]
        assert nbest.totals == pytest.approx(wanted.totals, abs=4e-3)
        assert nbest.texts[0] == wanted.texts[0]
        if graphs == "pb/hg_txt":
            assert nbest.texts == wanted.texts
            # The features of words that Moses did not translate are not in its lists.
            for (_, ours, _), (_, features, _) in zip(nbest.rows(), wanted.rows(), strict=True):
                assert {name: ours.get(name, 0.0) for name in features} == pytest.approx(features, abs=1e-3, rel=1e-4)


@pytest.mark.shared
def test_moses_lattice(host: Host, shared: Path) -> None:
    (nbest,) = host.read(shared / "gold/moses/pb/slf/0.slf.gz", derivations=1, format="slf-lattice,accumulated=true")
    wanted = next(iter(host.read(shared / "gold/moses/pb/nbest100.labeled.txt.gz")))
    assert nbest.texts[0].replace("|UNK|UNK|UNK", "") == wanted.texts[0]
    assert nbest.totals == pytest.approx(wanted.totals[:1] if wanted.totals else [], abs=1e-3)
    assert {k: v for k, v in nbest[0][1].items() if k in wanted[0][1]} == pytest.approx(wanted[0][1], rel=1e-4)


def test_exact_against_the_graph_itself(host: Host, file: Callable[[str, str], str]) -> None:
    """Scores in double precision agree with those of the native graph, which holds single ones."""
    path = file(FOREST, "0.json")
    (graph,) = forests_of(lambda: open_known(path, "hypergraph"))
    native = Hypergraph.from_columns(graph).reweighted(WEIGHTS)
    (nbest,) = host.read(path).rescore(WEIGHTS)
    assert np.allclose(np.array(nbest.totals), kbest(native, k=100).scores, rtol=1e-6)


def test_ids_of_files_in_a_folder_are_their_names_without_suffixes(host: Host, tmp_path: Path) -> None:
    folder = tmp_path / "lattices"
    folder.mkdir()
    (folder / "utt0.slf").write_text(SLF)
    (folder / "1089-134686-0000.slf.gz").write_bytes(gzip.compress(SLF.encode()))
    (folder / "1089-134686-0001.lat").write_text(SLF)
    ids = {nbest.id for nbest in host.read(folder)}
    assert ids == {"utt0", "1089-134686-0000", "1089-134686-0001"}
    (tmp_path / "references").write_text("".join(json.dumps({"id": key, "text": "b c d"}) + "\n" for key in ids))
    (joined,) = {nbest.source for nbest in host.read(folder, source=tmp_path / "references")}
    assert joined == "b c d"
    (folder / "utt0.slf.gz").write_bytes(gzip.compress(SLF.encode()))
    with pytest.raises(FormatError, match=r"utt0\.slf\.gz:1: .* found utt0 again \(first in .*utt0\.slf\)"):
        list(host.read(folder))
    (folder / "utt0.slf.gz").unlink()
    (folder / "007.slf").write_text(SLF)
    (folder / "7.lat").write_text(SLF)
    with pytest.raises(FormatError, match=r"expected an id in one file alone .*, found 007? again|, found 7 again"):
        list(host.read(folder))
