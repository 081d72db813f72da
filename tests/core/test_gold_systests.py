"""Cases of cdec's own tests: sizes, paths, best scores, log Z, lists and gradients of our parses of their inputs."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import pytest

from smtplugins.core.grammar.parsing import Lattice, Options, parse
from smtplugins.core.grammar.tables import Grammar, Tables, glue
from smtplugins.core.graph import inference
from smtplugins.core.graph.hypergraph import Hypergraph

from .golds import (
    assert_listed,
    assert_said,
    cdec_grammar_of,
    counts_of,
    graph_of,
    lattice_of,
    lines_of,
    lists_of,
    objective_of,
    said,
    segments,
    text_of,
    weighted,
    weights_of,
    with_columns,
)

pytestmark = pytest.mark.shared


class Case:
    """A folder of a test, and what cdec said of it."""

    def __init__(self, shared: Path, name: str, grammar: str | None = None) -> None:
        gold = shared / "gold/cdec"
        self.folder = gold / "system_tests" / name
        path = self.folder / "weights"
        self.weights = weights_of(path) if path.exists() else {}
        section = text_of(gold / "systests_values.txt").partition(f"== {name} ")[2].partition("\n== ")[0]
        self.logs = said(section)
        self.tables = Tables()
        self.grammars: list[Grammar] = []
        if grammar is not None:
            self.grammars.append(cdec_grammar_of(self.folder / grammar, self.tables, span_limit=10))

    @property
    def inputs(self) -> list[str]:
        return lines_of(self.folder / "input.txt")

    def graph(self, source: list[str] | Lattice, *, glued: bool = True) -> Hypergraph:
        rules = [glue(self.tables)] if glued else []
        return weighted(parse(source, [*self.grammars, *rules], Options(), self.weights), self.weights)


def test_lattice(shared: Path) -> None:
    case = Case(shared, "lattice", "lattice.scfg")
    lists = lists_of(case.folder / "ours.stdout")
    assert sum(map(len, lists.values())) == len(lines_of(case.folder / "gold.stdout")) == 9
    for number, (line, log) in enumerate(zip(case.inputs, case.logs, strict=True)):
        graph = case.graph(Lattice.of(lattice_of(line).to_columns()))
        assert_said(graph, log["first"])
        counts = {"WordPenalty": counts_of(graph), "SourceWordPenalty": counts_of(graph, side="source")}
        penalties = {name: -values / math.log(10) for name, values in counts.items()}
        second = with_columns(graph, penalties, case.weights)
        assert_said(second, log["second"])
        assert_listed(second, lists[str(number)], 1000)


def test_multigram(shared: Path) -> None:
    case = Case(shared, "multigram")
    for segment, log in zip(segments(case.folder / "input.txt"), case.logs, strict=True):
        names = (segment.attributes[key] for key in ("grammar", "grammar1"))
        case.grammars = [cdec_grammar_of(case.folder / name, case.tables, span_limit=10) for name in names]
        assert_said(case.graph(segment.source.split()), log["first"])


def test_controlled_synparse(shared: Path) -> None:
    case = Case(shared, "controlled_synparse", "scfg.biparse.gz")
    lists = lists_of(case.folder / "ours.stdout")
    for number, (line, log) in enumerate(zip(case.inputs, case.logs, strict=True)):
        graph = case.graph(line.split())
        assert_said(graph, log["first"], text=False)  # all are as good
        assert inference.inside(graph)[-1] == pytest.approx(math.log(18), abs=1e-9)
        # All features of all derivations; scores are 0, so that those of a list of 19 tell all apart.
        assert len(lists[str(number)]) == 18
        assert_listed(graph, lists[str(number)], 100)


@pytest.mark.parametrize("name", ["australia", "australia-align"])
def test_australia(shared: Path, name: str) -> None:
    """A large forest, and in it the derivations of a sentence, or of the paths of a lattice of sentences."""
    case = Case(shared, name, "australia.scfg.gz")
    ((line, log),) = zip(case.inputs, case.logs, strict=True)
    source, _, target = line.partition(" ||| ")
    graph = case.graph(source.split())
    assert_said(graph, log["first"])
    part = inference.intersect(graph, lattice_of(target) if target.startswith("(((") else target)
    # cdec parses the target with its forest as a grammar, and puts a goal above the forest's own.
    assert_said(part.graph, log["constrained"], above=1, text=False)
    assert log["constrained"]["Viterbi"] == source


def test_mcle_gradient(shared: Path) -> None:
    """log p(target | source), summed, and its gradient: what is expected of all derivations, and with the target."""
    case = Case(shared, "mcle_gradient", "test.grammar.gz")
    objective = 0.0
    slope: defaultdict[str, float] = defaultdict(float)
    for line, log in zip(case.inputs, case.logs, strict=True):
        source, _, target = line.partition(" ||| ")
        graph = case.graph(source.split(), glued=False)
        assert_said(graph, log["first"])
        part = inference.intersect(graph, target).graph
        assert_said(part, log["constrained"], above=1, text=False)
        objective += inference.inside(graph)[-1] - inference.inside(part)[-1]
        difference = inference.feature_expectations(part) - inference.feature_expectations(graph)
        for name, value in zip(graph.names, difference.tolist(), strict=True):
            slope[name] += value
    (line,) = lines_of(case.folder / "ours.stdout")
    wanted, gradient = objective_of(line)
    assert objective == pytest.approx(wanted, abs=1e-4)
    assert slope.keys() == gradient.keys() == case.weights.keys()
    for name, value in gradient.items():
        assert slope[name] == pytest.approx(value, rel=1e-4, abs=1e-6), name


def test_cfg_rescore(shared: Path) -> None:
    """A forest that cdec reads; its decoder puts a goal above it."""
    case = Case(shared, "cfg_rescore")
    graph = Hypergraph.from_columns(graph_of(case.folder / "input0.hg.bin.gz")).reweighted(case.weights)
    ((log,)) = case.logs
    assert_said(graph, log["first"], above=1)
    assert_listed(graph, lists_of(case.folder / "ours.stdout")["0"])
    assert inference.kbest(graph, None, 100).scores == pytest.approx([2, 1.1, 1, 0.1], abs=1e-6)


def test_unit_tests(shared: Path) -> None:
    """What the tests of cdec's own code expect of its smallest forests."""
    folder = shared / "gold/cdec/json_legacy_testdata"
    weights = {"f1": 0.4, "f2": 0.8}
    tiny = Hypergraph.from_columns(graph_of(folder / "hg_test.tiny.bin.gz")).reweighted(weights)
    best = inference.viterbi(tiny)
    assert best is not None and best.text == "X <s>"
    assert best.score == pytest.approx(-80.839996, abs=1e-4)
    assert inference.inside(tiny, 0.6 * tiny.scores_or(None))[-1] == pytest.approx(-47.8577, abs=1e-4)

    graph = Hypergraph.from_columns(graph_of(folder / "hg_test.hg")).reweighted(weights)
    inside, outside = inference.inside(graph), inference.outside(graph)
    assert inside == pytest.approx([0, -0.4, -0.8, -0.96, -1.562512, -1.7861683], abs=1e-6)
    assert outside == pytest.approx([-1.7861683, -1.3861683, -0.986168, -0.8261683, -0.22365622, 0], abs=1e-6)
    expected = dict(zip(graph.names, inference.feature_expectations(graph).tolist(), strict=True))
    assert (expected["f1"], expected["f2"]) == pytest.approx((-2.5439765, -2.6357865), abs=1e-6)
