"""cdec's own forests and what cdec said of them: scores, sums, lists, and forced decoding with its gradients."""

from __future__ import annotations

import gzip
import itertools
import math
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from smtformats import all_formats, detect, open_bytes
from smtformats.files import Lines, head
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.hypergraph.graph import Edge, GraphColumns
from smtplugins.core.graph import inference
from smtplugins.core.graph.hypergraph import Hypergraph, HypergraphBuilder
from tests.core import reference

pytestmark = pytest.mark.shared
NOLM = ("0", "1", "2", "3", "4", "6", "8", "9")


def read(path: Path) -> Hypergraph:
    with open_bytes(path) as stream:
        record = detect(head(stream, str(path)), all_formats(), str(path))
        graph = record.read(Lines(stream, str(path)))
    assert isinstance(graph, GraphColumns)
    return Hypergraph.from_columns(graph)


def text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text(encoding="utf-8")


def weights(path: Path) -> dict[str, float]:
    return {name: float(value) for name, value in (line.split() for line in text(path).splitlines())}


def logs(path: Path) -> dict[str, dict[str, str]]:
    """What a log says of each sentence, by its id."""
    sections: dict[str, dict[str, str]] = {}
    for line in text(path).splitlines():
        key, separator, value = line.strip().partition(": " if ": " in line else " = ")
        if key == "id":
            sections[value] = {}
        elif separator and sections:
            sections[list(sections)[-1]][" ".join(key.split())] = value
    return sections


def check(graph: Hypergraph, log: dict[str, str], stage: str, partition: str, core: ModuleType) -> None:
    best = core.viterbi(graph)
    assert log[f"{stage} forest (nodes/edges)"] == f"{graph.nodes}/{len(graph)}"
    assert log[f"{stage} forest (paths)"] == f"{float(core.paths(graph)):g}"
    assert best.score == pytest.approx(float(log[f"{stage} forest Viterbi logp"]), abs=1e-4)
    assert best.text == log[f"{stage} forest Viterbi"]
    assert core.inside(graph)[-1] == pytest.approx(float(log[f"{partition} log(Z)"]), abs=1e-4)


@pytest.mark.parametrize("name", ["full", "full.4gram"])
def test_exact(shared: Path, name: str) -> None:
    """The unpruned forests of a 2-gram and a 4-gram model: logs, and the lists of the 100 best, plain and unique."""
    folder = shared / "gold/cdec/exact_lm"
    known = weights(folder / "weights.tuned")
    said = logs(folder / f"{name}.log")
    lists: dict[str, list[float]] = defaultdict(list)
    unique: dict[str, dict[str, float]] = defaultdict(dict)
    for line in text(folder / f"{name}.kbest100.txt").splitlines():
        key, _, _, score = line.split(" ||| ")
        lists[key].append(float(score))
    for line in text(folder / f"{name}.kbest100.unique.txt").splitlines():
        key, words, _, score = line.split(" ||| ")
        unique[key][words] = float(score)
    for path in sorted((folder / f"forest{name[4:]}").glob("*.bin.gz")):
        graph = read(path).reweighted(known)
        for core in (inference, reference) if len(graph) < 500 else (inference,):
            check(graph, said[graph.id], "Pass1", "Pass1 partition", core)
        assert inference.kbest(graph, None, 100).scores.tolist() == pytest.approx(lists[graph.id], abs=1e-4)
        derivations = inference.kbest(graph, None, 100, unique=True)
        assert derivations.scores.tolist() == pytest.approx(list(unique[graph.id].values()), abs=1e-4)
        # Texts of one score come in any order, and the last of them may not be in the list.
        for words, score in zip(derivations.texts(), derivations.scores.tolist(), strict=True):
            if score > derivations.scores[-1] + 1e-3:
                assert unique[graph.id][words] == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize(
    ("folder", "stage", "partition"), [("nolm", "Init.", "Partition"), ("lm", "Pass1", "Pass1 partition")]
)
def test_first50(shared: Path, folder: str, stage: str, partition: str) -> None:
    gold = shared / "gold/cdec/first50"
    known, said = weights(gold / "weights.tuned"), logs(gold / "onebest.log.gz")
    files = [gold / f"forest.{folder}/{name}.bin.gz" for name in NOLM]
    for path in files:
        graph = read(path).reweighted(known)
        check(graph, said[graph.id], stage, "Partition" if folder == "nolm" else "Pass1 partition", inference)


@pytest.mark.parametrize(("kind", "unique"), [("", False), (".unique", True)])
def test_lists(shared: Path, kind: str, unique: bool) -> None:
    gold = shared / "gold/cdec/first50"
    known = weights(gold / "weights.tuned")
    lists: dict[str, list[float]] = defaultdict(list)
    for line in text(gold / f"nolm.kbest100{kind}.txt.gz").splitlines():
        key, _, _, score = line.split(" ||| ")
        lists[key].append(float(score))
    for name in NOLM:
        graph = read(gold / f"forest.nolm/{name}.bin.gz").reweighted(known)
        derivations = inference.kbest(graph, None, 100, unique=unique)
        assert derivations.scores.tolist() == pytest.approx(lists[graph.id], abs=1e-4)
        assert len(set(derivations.texts())) == len(derivations) or not unique


def sums(line: str) -> tuple[float, dict[str, float]]:
    """The objective and the features of a line of cdec's sums, which are logarithms, (-) before those of negatives."""
    objective, _, rest = line.partition("\t")[2].partition(";")
    values = (value.rpartition("=") for value in rest.split())
    return float(objective.rpartition("=")[2]), {
        name: math.exp(float(value.removeprefix("(-)"))) * (-1 if value.startswith("(-)") else 1)
        for name, _, value in values
    }


def test_forced_decoding_and_gradients(shared: Path) -> None:
    """log p(reference); expectations with it alone, and the gradient: these less those of all."""
    gold = shared / "gold/cdec/first50"
    known = weights(gold / "weights.tuned")
    wanted = [float(line) for line in text(gold / "condprob.nolm.txt").splitlines()]
    said = {kind: text(gold / f"{kind}.text.txt").splitlines() for kind in ("cll_gradient", "feature_expectations")}
    references = re.findall(r"<seg[^>]* id=\"(\d+)\">[^|]*\|\|\| (.*)</seg>", text(gold / "input.forced.sgm"))
    for name in NOLM:
        graph = read(gold / f"forest.nolm/{name}.bin.gz").reweighted(known)
        (target,) = (words for key, words in references if key == name)
        part = inference.intersect(graph, target).graph
        assert set(inference.kbest(part, None, 50).texts()) == {target}
        total, forced = inference.inside(graph)[-1], inference.inside(part)[-1]
        assert forced - total == pytest.approx(wanted[int(name)], abs=1e-4)
        if int(name) >= len(said["cll_gradient"]):
            continue
        objective, gradient = sums(said["cll_gradient"][int(name)])
        assert objective == pytest.approx(total - forced, abs=1e-4)
        objective, means = sums(said["feature_expectations"][int(name)])
        assert objective == pytest.approx(forced, abs=1e-4)
        with_it = inference.feature_expectations(part)
        slope = with_it - inference.feature_expectations(graph)
        assert_close(dict(zip(graph.names, with_it, strict=True)), means)
        assert_close(dict(zip(graph.names, slope, strict=True)), gradient)


def assert_close(actual: Mapping[str, float], wanted: dict[str, float]) -> None:
    """Logarithms of six digits, of differences of float32 sums."""
    for name in actual.keys() | wanted.keys():
        assert actual.get(name, 0.0) == pytest.approx(wanted.get(name, 0.0), rel=1e-4, abs=1e-5), name


def chart(words: list[str], rules: list[Rule]) -> Hypergraph:
    """All parses with rules of at most two symbols, the goal S: enough for the grammar of cdec's test."""
    builder = HypergraphBuilder()
    node: dict[tuple[str, int, int], int] = {}
    for size, first in itertools.product(range(1, len(words) + 1), range(len(words))):
        last = first + size
        for label in ("Y", "X", "S") if last <= len(words) else ():
            edges = []
            for number, rule in enumerate(rules):
                for tails in fits(rule, words[first:last], first, node) if rule.lhs == label else ():
                    edges.append(Edge(tails, number, dict(zip(rule.names, rule.values, strict=True))))
            if edges and (label != "S" or size == len(words)):
                node[label, first, last] = builder.add(edges, label)
    return builder.build("0", rules)


def fits(rule: Rule, words: list[str], first: int, node: dict[tuple[str, int, int], int]) -> list[list[int]]:
    """The tails with which a rule covers words, if it does."""
    source = rule.source
    gaps = [at for at, symbol in enumerate(source) if isinstance(symbol, NonTerminal)]
    if not gaps:
        return [[]] if list(source) == words else []
    (at,) = gaps
    gap = source[at]
    assert isinstance(gap, NonTerminal)
    behind = len(source) - at - 1
    same = list(source[:at]) == words[:at] and list(source[at + 1 :]) == words[len(words) - behind :]
    below = node.get((gap.label, first + at, first + len(words) - behind))
    return [[below]] if same and below is not None else []


def test_gradient_of_a_system_test(shared: Path) -> None:
    """cdec's mcle_gradient: three sentences with references, the sum of their gradients."""
    folder = shared / "gold/cdec/system_tests/mcle_gradient"
    known = weights(folder / "weights")
    with open_bytes(folder / "test.grammar.gz") as stream:
        record = next(record for record in all_formats() if record.name == "cdec-grammar")
        assert record.parse is not None
        rules = list(record.parse(Lines(stream, "grammar")))
    objective = 0.0
    slope: defaultdict[str, float] = defaultdict(float)
    for line in text(folder / "input.txt").splitlines():
        source, target = line.split(" ||| ")
        graph = chart(source.split(), rules).reweighted(known)
        part = inference.intersect(graph, target)
        objective += inference.inside(graph)[-1] - inference.inside(part.graph)[-1]
        change = inference.feature_expectations(part.graph) - inference.feature_expectations(graph)
        for name, value in zip(graph.names, change.tolist(), strict=True):
            slope[name] += value
    wanted, gradient = sums(text(folder / "ours.stdout"))
    assert objective == pytest.approx(wanted, abs=1e-4)
    assert_close(slope, gradient)
