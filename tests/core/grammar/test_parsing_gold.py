"""Forests against what cdec and Joshua made: their edges, sizes, scores and translations."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import open_lines
from smtformats.caching.folders import cached_load
from smtformats.corpus import cdec as cdec_corpus
from smtformats.corpus.segments import Segment
from smtformats.grammar import cdec as cdec_grammar
from smtformats.grammar import joshua as joshua_grammar
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph import cdec_json, plf
from smtformats.hypergraph.graph import GraphColumns
from smtplugins.core.grammar.parsed_forest import Forest
from smtplugins.core.grammar.parsing import Lattice, Options, PassThrough, parse
from smtplugins.core.grammar.tables import Grammar, Tables, glue
from tests.core.charts import total
from tests.formats.hypergraph.inference import kbest, log_partition, paths, text_of, viterbi

pytestmark = pytest.mark.shared
MARKERS = frozenset(("<s>", "</s>"))
SIZES = re.compile(r"Init. forest \(nodes/edges\): (\d+)/(\d+)\n.*paths\): (\d+)")


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def weights_of(path: Path) -> dict[str, float]:
    return {name: float(value) for name, value in map(str.split, path.read_text().splitlines())}


def cdec_grammar_of(path: Path, tables: Tables, **options: Any) -> Grammar:
    return Grammar(cached_load(path, cdec_grammar.FORMAT, None), tables, **options)


def segments(path: Path) -> list[Segment]:
    with open_lines(path) as lines:
        return list(cdec_corpus.parse(lines))


def cdec_forest(folder: Path, segment: Segment, weights: dict[str, float]) -> Forest:
    tables = Tables()
    grammar = cdec_grammar_of(folder / segment.attributes["grammar"], tables, span_limit=15)
    options = Options(pass_through=PassThrough())
    return parse(segment.source.split(), [grammar, glue(tables)], options, weights)


def described(graph: GraphColumns) -> dict[Any, list[list[Any]]]:
    """The edges of a graph by what they say, whatever the numbers of nodes are, with their features."""
    spans = graph.spans[graph.edge_offsets[:-1]].tolist()
    nodes = [(graph.labels[label], *span) for label, span in zip(graph.node_labels, spans, strict=True)]
    texts = [rule_text(graph.grammar.rule(i)) for i in range(len(graph.grammar))]
    features_of: dict[Any, list[list[Any]]] = {}
    for edge, head in enumerate(graph.heads.tolist()):
        tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
        features = sorted((name, value) for name, value in graph.edge_features(edge).items() if value)
        key = (
            texts[graph.rules[edge]],
            nodes[head],
            tuple(nodes[tail] for tail in tails),
            *(name for name, _ in features),
        )
        features_of.setdefault(key, []).append([value for _, value in features])
    return features_of


def same_edges(ours: GraphColumns, theirs: GraphColumns) -> None:
    """The same edges, as often, with the same features."""
    mine, other = described(ours), described(theirs)
    assert {key: len(edges) for key, edges in mine.items()} == {key: len(edges) for key, edges in other.items()}
    for key, edges in mine.items():
        assert np.allclose(sorted(edges), sorted(other[key]), rtol=1e-5), key
    assert (ours.nodes, len(ours)) == (theirs.nodes, len(theirs))


def rule_text(rule: Rule) -> str:
    shown = (
        " ".join(f"[{symbol.index}]" if isinstance(symbol, NonTerminal) else symbol for symbol in side)
        for side in (rule.source, rule.target)
    )
    return " ||| ".join((rule.lhs, *shown))


@pytest.mark.parametrize("number", [1, 4, 8])
def test_forests_are_those_of_cdec(shared: Path, number: int) -> None:
    folder = shared / "gold/cdec"
    with open_lines(folder / f"first50/forest.nolm/{number}.json.gz") as lines:
        theirs = next(cdec_json.parse(lines))
    segment = segments(folder / "test300.in")[number]
    ours = cdec_forest(folder, segment, {}).to_hypergraph()
    same_edges(ours, theirs)


def test_forests_have_the_sizes_and_scores_that_cdec_logged(shared: Path) -> None:
    folder = shared / "gold/cdec"
    weights = weights_of(folder / "weights.tuned")
    with open(folder / "decode/k30.tsv", encoding="utf-8") as file:
        logged = {int(row["id"]): row for row in csv.DictReader(file, delimiter="\t")}
    for segment in segments(folder / "test300.in")[::12]:
        assert segment.id is not None
        row = logged[segment.id]
        forest = cdec_forest(folder, segment, weights)
        graph = forest.to_hypergraph()
        assert (forest.nodes, forest.edges) == (int(row["lm0_nodes"]), int(row["lm0_edges"]))
        assert f"{paths(graph):.5e}" == f"{float(row['lm0_paths']):.5e}"
        best, _ = viterbi(graph, forest.native.scores[graph.rules])
        assert best == pytest.approx(float(row["lm0_score"]), abs=1e-4)


def test_lattices_are_those_of_cdec(shared: Path) -> None:
    folder = shared / "gold/cdec/system_tests/lattice"
    weights = weights_of(folder / "weights")
    tables = Tables()
    grammars = [cdec_grammar_of(folder / "lattice.scfg", tables, span_limit=10), glue(tables)]
    lists = lines_of(folder / "gold.stdout")
    with open_lines(folder / "input.txt") as lines:
        forests = [parse(lattice, grammars, Options(), weights) for lattice in plf.parse(lines)]
    assert [(forest.nodes, forest.edges) for forest in forests] == [(6, 10), (3, 6)]
    for forest, logged, number, count in zip(forests, (-0.225, 999.9), "01", (5, 4), strict=True):
        graph = forest.to_hypergraph()
        listed = kbest(graph, forest.native.scores[graph.rules], 1000)
        assert paths(graph) == len(listed) == count
        assert listed[0][0] == pytest.approx(logged, abs=1e-4)
        expected = [line.split(" ||| ") for line in lists if line.startswith(number)]
        assert Counter((text_of(graph, edges), features_of(graph, edges)) for _, edges in listed) == Counter(
            (text, frozenset((name, float(value)) for name, value in pairs(features) if "WordPenalty" not in name))
            for _, text, features, _ in expected
        )


def pairs(features: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (feature.rpartition("=") for feature in features.split())]


def features_of(graph: GraphColumns, edges: Sequence[int]) -> frozenset[tuple[str, float]]:
    sums = total([graph.edge_features(edge) for edge in edges])
    return frozenset((name, float(f"{value:.6g}")) for name, value in sums.items())


def test_empty_arcs_are_skipped_as_cdec_skips_them(shared: Path) -> None:
    folder = shared / "gold/cdec/quirks"
    tables = Tables()
    grammars = [cdec_grammar_of(folder / "plf.scfg", tables, span_limit=10), glue(tables)]
    sizes = {}
    for path in folder.glob("plf_*.err"):
        log = SIZES.search(path.read_text())
        if log is not None and (source := path.with_suffix(".in")).read_text().startswith("((("):
            with open_lines(source) as lines:
                forest = parse(next(plf.parse(lines)), grammars)
            sizes[path.stem] = (forest.nodes, forest.edges, paths(forest.to_hypergraph()))
            assert sizes[path.stem] == tuple(map(int, log.groups())), path
    assert sizes["plf_eps"] == (9, 12, 4)
    assert len(sizes) >= 5


def test_small_cases_have_the_sizes_that_cdec_logged(shared: Path) -> None:
    folder = shared / "gold/cdec/system_tests"
    tables = Tables()
    several = [cdec_grammar_of(folder / f"multigram/g{i}.scfg", tables, span_limit=10) for i in (1, 2)]
    forest = parse(["foo", "bar"], [*several, glue(tables)])
    graph = forest.to_hypergraph()
    assert (forest.nodes, forest.edges, paths(graph)) == (11, 12, 2)
    assert log_partition(graph, graph.edge_scores({"Glue": -1.0})) == pytest.approx(0.313262, abs=1e-6)

    grammar = cdec_grammar_of(folder / "controlled_synparse/scfg.biparse.gz", tables, span_limit=10)
    forest = parse("A B C D".split(), [grammar, glue(tables)])
    graph = forest.to_hypergraph()
    assert (forest.nodes, forest.edges, paths(graph)) == (11, 18, 18)
    lines = lines_of(folder / "controlled_synparse/gold.stdout")
    expected = Counter(line.split(" ||| ")[1] for line in lines if line.startswith("0"))
    assert Counter(text_of(graph, edges) for _, edges in kbest(graph, np.zeros(len(graph)), 100)) == expected

    grammar = cdec_grammar_of(folder / "mcle_gradient/test.grammar.gz", tables, span_limit=10)
    logged = re.findall(
        r"Init. forest \(nodes/edges\): (\d+)/(\d+)\n.*paths\): (\d+)",
        (folder / "mcle_gradient/ours.stderr").read_text(),
    )
    assert logged
    sources = [line.partition(" |||")[0] for line in lines_of(folder / "mcle_gradient/input.txt")]
    for source, sizes in zip(sources, logged, strict=True):
        forest = parse(source.split(), [grammar])
        assert (forest.nodes, forest.edges, paths(forest.to_hypergraph())) == tuple(map(int, sizes))


def test_a_large_forest_is_that_of_cdec(shared: Path) -> None:
    folder = shared / "gold/cdec/system_tests/australia"
    weights = weights_of(folder / "weights")
    tables = Tables()
    grammar = cdec_grammar_of(folder / "australia.scfg.gz", tables, span_limit=10)
    sentence = (folder / "input.txt").read_text().partition(" |||")[0].split()
    forest = parse(sentence, [grammar, glue(tables)], Options(), weights)
    graph = forest.to_hypergraph()
    assert (forest.nodes, forest.edges) == (77, 244232)
    scores = forest.native.scores[graph.rules]
    best, edges = viterbi(graph, scores)
    assert best == pytest.approx(-12.7893, abs=1e-4)
    words = "australia is have diplomatic relations with north korea one of the few countries ."
    assert text_of(graph, edges) == words
    assert log_partition(graph, scores) == pytest.approx(7.08317, abs=1e-4)
    assert f"{paths(graph):.5e}" == "3.79555e+28"


def joshua_grammars(folder: Path, tables: Tables, main: str = "grammar", limit: int = 20) -> list[Grammar]:
    return [
        Grammar(cached_load(folder / main, joshua_grammar.FORMAT, None), tables, span_limit=limit),
        Grammar(cached_load(folder / "glue-grammar", joshua_grammar.FORMAT, None), tables, from_start=True),
    ]


def test_rules_of_many_gaps_are_joshuas(shared: Path) -> None:
    folder = shared / "gold/joshua/n-ary"
    tables = Tables()
    options = Options("GOAL", PassThrough({"X": {}}, except_for=MARKERS))
    lines = zip(lines_of(folder / "input.txt"), lines_of(folder / "output.gold"), strict=True)
    for source, expected in lines:
        lattice = Lattice.of_words(source.split()).between()
        graph = parse(lattice, joshua_grammars(folder, tables), options).to_hypergraph()
        (only,) = kbest(graph, np.zeros(len(graph)), 10)
        assert text_of(graph, only[1]) == f"<s> {expected.partition(' ')[2]} </s>"


def test_unknown_words_have_the_labels_of_joshuas_list(shared: Path) -> None:
    folder = shared / "gold/joshua/oov-list"
    config = (folder / "joshua.config").read_text()
    listed = re.search(r"oov-list = (.*)", config)
    assert listed is not None
    fields = listed[1].split()
    labels = {label: {"OOVPenalty": math.log(float(p))} for label, p in zip(fields[::2], fields[1::2], strict=True)}
    options = Options("GOAL", PassThrough(labels, target=lambda word: f"{word}_OOV", except_for=MARKERS))
    tables = Tables()
    weights = {"OOVPenalty": 1.0}
    for source, line in zip(lines_of(folder / "input.txt"), lines_of(folder / "output.gold"), strict=True):
        lattice = Lattice.of_words(source.split()).between()
        forest = parse(lattice, joshua_grammars(folder, tables), options, weights)
        graph = forest.to_hypergraph()
        score, edges = viterbi(graph, forest.native.scores[graph.rules])
        text, features, _ = line.split(" ||| ")
        assert text_of(graph, edges) == f"<s> {text} </s>"
        assert score == pytest.approx(float(dict(pairs(features))["OOVPenalty"]), abs=1e-3)


def test_distances_in_lattices_are_joshuas(shared: Path) -> None:
    folder = shared / "gold/joshua/lattice-short"
    tables = Tables()
    options = Options("GOAL", PassThrough({"X": {}}, span_limit=20, except_for=MARKERS))
    expected: dict[int, set[str]] = {}
    for line in lines_of(folder / "output.expected"):
        expected.setdefault(int(line.split(" ||| ")[0]), set()).add(line.split(" ||| ")[1])
    with open_lines(folder / "input") as lines:
        for number, lattice in enumerate(plf.parse(lines, name="SourcePath")):
            inside = Lattice.of(lattice, epsilon="<eps>").between()
            graph = parse(inside, joshua_grammars(folder, tables, "grammar.test", 1), options).to_hypergraph()
            texts = {text_of(graph, edges) for _, edges in kbest(graph, np.zeros(len(graph)), 100)}
            wanted = {f"<s> {text} </s>" for text in expected[number]}
            assert wanted == texts if len(wanted) < 6 else wanted <= texts
