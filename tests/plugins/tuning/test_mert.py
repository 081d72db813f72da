"""Minimum error rate training: rounds against brute force, what options mean, and what other toolkits found."""

from __future__ import annotations

import base64
import itertools
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from smtformats import Candidates, all_formats, open_bytes, open_lines
from smtformats.files import Lines
from smtformats.hypergraph import cdec_binary
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import ForestProblem, LearnerState, ListProblem
from smtplugins.contracts.models import Model
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.learn.envelopes import graph_envelope
from smtplugins.host.learn.trust_region import distance
from smtplugins.plugins.standard.metrics import Bleu
from smtplugins.plugins.tuning.mert import Mert
from smtplugins.plugins.tuning.surfaces import line_search_problem

from .derivations import derivations
from .made import NAMES, SEEDS, Errors, Overlap, forests, lists

START = Model({"F": 0.3, "G": -0.2, "H": 0.1})


def corpus_score(problem: ListProblem, weights: dict[str, float]) -> float:
    total = 0.0
    for one, stats in zip(problem.lists, problem.stats, strict=True):
        scores = [sum(weights.get(name, 0.0) * value for name, value in row.items()) for _, row, _ in one.rows()]
        total = total + stats[int(np.argmax(scores))]
    return float(problem.metric.score(total))


def best_texts(graphs: Any, weights: dict[str, float]) -> set[str]:
    """The texts of the best derivations of a sentence's graphs."""
    found = [(sum(weights.get(name, 0.0) * value for name, value in one.features.items()), " ".join(one.words))
             for graph in graphs for one in derivations(graph)]  # fmt: skip
    best = max(score for score, _ in found)
    return {text for score, text in found if score >= best - 1e-9}


def last(learner: Mert, problem: Any, start: Model = START, **options: Any) -> Any:
    *_, step = learner.learn(problem, start, **options)
    return step


@settings(max_examples=40)
@given(SEEDS)
def test_the_score_is_that_of_the_weights(seed: int) -> None:
    problem = lists(seed, metric=Errors() if seed % 2 else Overlap())
    better = min if seed % 2 else max
    so_far = corpus_score(problem, START.weights)
    for step in Mert(restarts=2).learn(problem, START):
        assert step.objective == pytest.approx(corpus_score(problem, step.model.weights))
        assert better(step.objective, so_far) == step.objective
        so_far = step.objective


@settings(max_examples=40)
@given(SEEDS)
def test_no_point_of_any_axis_is_better(seed: int) -> None:
    """Where no round gained anything any more, many places along each axis are tried."""
    problem = lists(seed)
    step = last(Mert(restarts=0, directions=0), problem)
    for name in NAMES:
        for t in [10.0**k * sign for k in range(-3, 4) for sign in (1, -1)]:
            moved = {**step.model.weights, name: step.model.weights.get(name, 0.0) + t}
            assert corpus_score(problem, moved) <= step.objective + 1e-6


@settings(max_examples=30)
@given(SEEDS)
def test_forests_are_their_derivations(seed: int) -> None:
    """The surface of forests is that of lists with all derivations."""
    rng = random.Random(seed)
    problem = forests(seed, each=1 + seed % 2)
    data = line_search_problem(problem)
    made = []
    for k, graphs in enumerate(problem.graphs):
        written = [one for graph in graphs for one in derivations(graph)]
        texts = [" ".join(one.words) for one in written]
        layouts = [tuple(one.features) for one in written]
        values = [list(one.features.values()) for one in written]
        made.append((Candidates(str(k), texts, layouts, values), texts))
    stats = [problem.metric.stats(texts, [[stream[k]] * len(texts) for stream in problem.references])
             for k, (_, texts) in enumerate(made)]  # fmt: skip
    whole = line_search_problem(ListProblem([one for one, _ in made], stats, problem.metric))
    pick = [data.names.index(name) for name in whole.names]
    weights = np.array([rng.gauss(0, 1) for _ in data.names])
    directions = np.array([[rng.gauss(0, 1) for _ in data.names] for _ in range(3)])
    ours, theirs = data.surfaces(weights, directions), whole.surfaces(weights[pick], directions[:, pick])
    for one, two in zip(ours.parts(), theirs.parts(), strict=True):
        for t in [-50.0, *np.linspace(-3, 3, 41), 50.0]:
            first = ours.sums[one][np.searchsorted(ours.starts[one], t, side="right") - 1]
            second = theirs.sums[two][np.searchsorted(theirs.starts[two], t, side="right") - 1]
            near = np.abs(np.concatenate([ours.starts[one], theirs.starts[two]]) - t).min() < 1e-4
            assert near or np.array_equal(first, second)


@settings(max_examples=20)
@given(SEEDS)
def test_learns_from_forests(seed: int) -> None:
    problem = forests(seed, each=1 + seed % 2)
    step = last(Mert(restarts=1), problem)
    texts = [sorted(best_texts(graphs, step.model.weights)) for graphs in problem.graphs]
    possible = itertools.islice(itertools.product(*texts), 1000)
    stats = [problem.metric.stats(one, problem.references).sum(axis=0) for one in possible]
    assert any(step.objective == pytest.approx(float(problem.metric.score(one))) for one in stats)


def test_sentences_without_a_derivation_are_empty_texts() -> None:
    given = forests(7)
    none = given.graphs[0][0].restricted(np.zeros(len(given.graphs[0][0]), dtype=bool)).graph
    problem = ForestProblem(
        [*given.graphs, [none], []], [[*stream, "a b", "a"] for stream in given.references], Overlap()
    )
    step = last(Mert(restarts=1), problem)
    alone = last(Mert(restarts=1), given)
    assert step.objective < alone.objective


def test_texts_are_shown_to_the_metric_once() -> None:
    class Counting(Overlap):
        def __init__(self) -> None:
            self.seen: list[tuple[str, str]] = []

        def stats(self, hypotheses: Any, references: Any, sources: Any = None) -> Any:
            self.seen += zip(hypotheses, references[0], strict=True)
            return super().stats(hypotheses, references, sources)

    metric = Counting()
    given = forests(4, count=1)
    last(Mert(restarts=2), ForestProblem(given.graphs, given.references, metric))
    assert metric.seen
    assert len(set(metric.seen)) == len(metric.seen)


def toy(metric: Any = None) -> ListProblem:
    """G alone tells good from bad; F says the opposite."""
    metric = metric or Overlap()
    texts, reference = ["a b", "a c", "d d"], "a b"
    made = [Candidates(str(k), texts, [NAMES] * 3, [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [2.0, 0.0, 3.0]], file="toy")
            for k in range(3)]  # fmt: skip
    return ListProblem(made, [metric.stats(texts, [[reference] * 3])] * 3, metric)


@pytest.mark.parametrize("metric", [Overlap(), Errors()])
def test_finds_what_is_there(metric: Any) -> None:
    step = last(Mert(), toy(metric), Model({"F": 1.0}))
    assert step.objective == (100 if metric.higher_is_better else 0)
    assert sum(map(abs, step.model.weights.values())) == pytest.approx(1)


def test_from_nothing() -> None:
    assert last(Mert(restarts=0), toy(), Model()).objective == 100


def test_fixed_weights_stay_and_bounds_hold() -> None:
    step = last(Mert(fixed="F H", restarts=4), toy(), Model({"F": 1.0, "H": 0.25, "other": 7.0}))
    assert step.objective == 100
    assert step.model.weights["F"] == 1.0
    assert step.model.weights["H"] == 0.25
    assert step.model.weights["other"] == 7.0
    for row in Mert(bounds="G=0:0.4 F=0.5:", fixed="H", restarts=6).learn(toy(), Model({"F": 1.0})):
        assert 0 <= row.model.weights["G"] <= 0.4
        assert row.model.weights["F"] >= 0.5
        assert row.objective < 100  # F > G gives the worst
    free = last(Mert(bounds="F=0.1:0.2 G=-1:1", restarts=6), toy(), Model({"F": 1.0}))
    assert 0.1 <= free.model.weights["F"] <= 0.2
    assert free.objective == 100


@settings(max_examples=20)
@given(SEEDS)
def test_it_stays_within_reach(seed: int) -> None:
    """All weights are near the start, and the best of those that a search without a limit meets there is not missed."""
    problem = lists(seed)
    data = line_search_problem(problem)
    units = np.array([data.spread, np.where(data.spread > 0, data.size, 0.0)])
    start = np.array([START.weights[name] for name in data.names])
    for step in Mert(restarts=2, reach=0.4).learn(problem, START, seed=seed):
        found = np.array([step.model.weights[name] for name in data.names])
        assert distance(found, start, units) <= 0.4 + 1e-6
        assert step.objective >= corpus_score(problem, START.weights)
    # Beyond a right angle there is no limit.
    one, two = (last(Mert(restarts=2, reach=reach), problem) for reach in (None, 1.5))
    assert one.model.digest() == two.model.digest()
    with pytest.raises(UsageError, match="reach: expected more than 0, found 0"):
        Mert(reach=0.0)


def test_nothing_to_learn_is_said() -> None:
    metric = Overlap()
    same = Candidates("0", ["a", "a"], [("F",)] * 2, [[1.0], [1.0]], file="same")
    with pytest.raises(SmtError, match="all weights 0"):
        last(Mert(restarts=1), ListProblem([same], [metric.stats(["a", "a"], [["a", "a"]])], metric), Model())
    many = tuple(f"f{k}" for k in range(5001))
    wide = Candidates("0", ["a"], [many], [[1.0] * len(many)], file="wide")
    with pytest.raises(SmtError, match=r"5000 features, found 5001.*pro, mira"):
        last(Mert(), ListProblem([wide], [metric.stats(["a"], [["a"]])], metric))
    with pytest.raises(UsageError, match="runs: expected 1 or more"):
        Mert(runs=0)
    with pytest.raises(UsageError, match=r"did you mean|known"):
        last(Mert(fixed="K"), toy())
    with pytest.raises(SmtError, match="none"):
        last(Mert(), ForestProblem([], [[]], metric))


def test_ties_stay_near() -> None:
    """Of equally good intervals the nearest is taken, and its middle."""
    metric = Overlap()
    texts = ["a", "b", "a"]
    rows = [[1.0, 0.0], [0.0, 0.0], [-1.0, -9.0]]
    one = Candidates("0", texts, [("F", "G")] * 3, rows, file="tie")
    problem = ListProblem([one], [metric.stats(texts, [["a"] * 3])], metric)
    step = last(Mert(restarts=0, directions=0, fixed="G"), problem, Model({"F": -1.0, "G": 1.0}))
    assert step.objective == 100
    assert 0 < step.model.weights["F"] < 1


@pytest.mark.parametrize("kind", ["lists", "forests"])
@pytest.mark.parametrize("options", [{"restarts": 2}, {"restarts": 1, "runs": 3}])
def test_resumes_bit_for_bit(kind: str, options: dict[str, int], tmp_path: Path) -> None:
    problem = lists(11) if kind == "lists" else forests(11)
    whole = list(Mert(**options).learn(problem, START, seed=3))
    for stop in range(0, len(whole), max(1, len(whole) // 6)):
        folder = tmp_path / str(stop)
        whole[stop].model.save(folder / "model")
        whole[stop].state.save(folder / "state")
        state, model = LearnerState.load(folder / "state"), Model.load(folder / "model")
        rest = list(Mert(**options).learn(problem, model, resume=state, seed=3))
        assert [one.model.digest() for one in rest] == [one.model.digest() for one in whole[stop + 1 :]]
        assert [one.objective for one in rest] == [one.objective for one in whole[stop + 1 :]]


def test_a_step_is_a_climb_and_without_restarts_a_round() -> None:
    climbs = list(Mert(restarts=3).learn(lists(11), START, seed=3))
    assert [step.metrics["restart"] for step in climbs] == [0, 1, 2, 3]
    rounds = list(Mert(restarts=0).learn(lists(11), START, seed=3))
    assert len(rounds) > 1
    assert rounds[-1].objective == climbs[0].objective


def test_runs_are_averaged() -> None:
    problem = lists(5)
    singles = []
    for step in Mert(runs=2, restarts=1).learn(problem, START, seed=2):
        singles.append((step.metrics["run"], step.model.weights))
    first = [weights for run, weights in singles if run == 1][-1]
    assert singles[-1][0] == 2
    assert corpus_score(problem, singles[-1][1]) == pytest.approx(step.objective)
    other = {name: 2 * singles[-1][1][name] - first[name] for name in first}
    size = sum(map(abs, START.weights.values()))
    assert sum(map(abs, first.values())) == pytest.approx(size)
    assert sum(map(abs, other.values())) == pytest.approx(size)


def moses(shared: Path) -> tuple[ListProblem, Model]:
    """Round 6 and its first weights; matches and totals come by turns, then the length of the reference."""
    known = {one.name: one for one in all_formats()}
    folder = shared / "gold/moses/tune-pb"
    made, stats = [], []
    with open_lines(folder / "run6.features.dat.gz") as one, open_lines(folder / "run6.scores.dat.gz") as other:
        parsed = (known[f"moses-{kind}"].parse(lines) for kind, lines in (("features", one), ("scores", other)))  # type: ignore[misc]
        for block, scores in zip(*parsed, strict=True):
            layouts, values = [block.names] * len(block), [list(row) for row in block.rows]
            made.append(Candidates(block.id, [""] * len(block), layouts, values, file="run6"))
            rows = np.array(scores.rows)
            stats.append(np.column_stack([rows[:, 1], rows[:, 8], rows[:, 0:8:2], rows[:, 1:8:2]]))
    weights = map(float, (folder / "run6.init.opt").read_text().splitlines()[0].split())
    return ListProblem(made, stats, Bleu(tokenize="none")), Model(dict(zip(made[0].layouts[0], weights, strict=True)))


@pytest.mark.shared
def test_at_least_what_moses_found(shared: Path) -> None:
    problem, start = moses(shared)
    for seed in range(1, 6):
        step = last(Mert(), problem, start, seed=seed)
        assert step.objective >= 41.059
        assert step.objective == pytest.approx(corpus_score(problem, step.model.weights))


def pairs(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in (one.split("=") for one in text.split(";"))}


def error_surface(payload: bytes) -> list[tuple[float, list[int]]]:
    """cdec's: where each segment begins, and the statistics there, which it writes as differences."""
    count, at = struct.unpack("<i", payload[:4])[0], 4
    found: list[tuple[float, list[int]]] = []
    for _ in range(count):
        (start,), length = struct.unpack("<d", payload[at : at + 8]), payload[at + 8]
        name, *numbers = payload[at + 9 : at + 9 + length].decode().split()
        assert name == "IBM_BLEU"
        change = list(map(int, numbers))
        before = found[-1][1] if found else [0] * len(change)
        found.append((start, [a + b for a, b in zip(before, change, strict=True)]))
        at += 9 + length
    return found


def plain(surface: list[tuple[float, list[int]]]) -> list[tuple[float, list[int]]]:
    """Without segments that change nothing."""
    return [one for k, one in enumerate(surface) if not k or one[1] != surface[k - 1][1]]


def as_cdec_writes(surface: list[tuple[float, list[int]]]) -> list[tuple[float, list[int]]]:
    """What its base64 leaves: of a remainder of two bytes the last one loses its low four bits, '6' becoming '0'.

    Its writer pads such a remainder with `==` as it does a single byte. The last byte is that of the last segment's
    reference length; where there are several segments that is the change, 0, whose low bits are 0 anyway.
    """
    before = [0] * 10
    length = 4
    text = ""
    for _, stats in surface:
        text = "IBM_BLEU " + " ".join(str(a - b) for a, b in zip(stats, before, strict=True))
        length += 9 + len(text)
        before = stats
    if length % 3 != 2:
        return surface
    broken = text[:-1] + chr(ord(text[-1]) & 0xF0)
    lost = int(broken.split()[-1]) - int(text.split()[-1])
    return [*surface[:-1], (surface[-1][0], [*surface[-1][1][:-1], surface[-1][1][-1] + lost])]


class DoubleForest:
    """A forest whose edges are scored in doubles, as cdec does: singles make lines of their own far away."""

    def __init__(self, path: Path) -> None:
        with open_bytes(path) as stream:
            self.columns = cdec_binary.FORMAT.read(Lines(stream, str(path)))
        self.graph = Hypergraph.from_columns(self.columns)

    def scores(self, weights: dict[str, float]) -> Any:
        by = np.array([weights.get(name, 0.0) for name in self.columns.names])
        edges = np.repeat(np.arange(len(self.graph)), np.diff(self.columns.feature_offsets))
        return np.bincount(edges, self.columns.values * by[self.columns.features], len(self.graph))


def bleu_of(stats: Any) -> float:
    return float(np.exp(np.mean(np.log(stats[:4] / stats[4:8])) + min(0.0, 1 - stats[9] / stats[8])))


@pytest.mark.shared
def test_cdec_map_and_reduce(shared: Path) -> None:
    """All 150 error surfaces of cdec's mapper, and what its reducer made of them."""
    folder = shared / "gold/cdec/mert"
    graphs = [DoubleForest(folder / f"hgs/{k}.bin.gz") for k in range(10)]
    references = (folder / "dev.refs").read_text(encoding="utf-8").splitlines()
    written: dict[str, list[Any]] = {}
    for line in (folder / "map.out").read_text().splitlines():
        key, payload = line[2:].split("\t")
        # Its reader makes three bytes of each block, whatever the padding says.
        written.setdefault(key, []).append(error_surface(base64.b64decode(payload.replace("=", "A"))))
    metric = Bleu(tokenize="none")
    faults = 0
    results = {}
    for key, theirs in written.items():
        origin, direction = map(pairs, key.split(" "))
        ours, clean = [], []
        for graph, reference in zip(graphs, references, strict=True):
            found = graph_envelope(graph.graph, graph.scores(origin), graph.scores(direction))
            rows = metric.stats(found.derivations.texts(), [[reference] * len(found)])
            stats = np.column_stack([rows[:, 2:], rows[:, :2]]).astype(int).tolist()
            clean.append(plain(list(zip(found.starts.tolist(), stats, strict=True))))
            ours.append(as_cdec_writes(clean[-1]))
        faults += sum(one != two for one, two in zip(ours, clean, strict=True))
        # The lines of a direction are sorted by their payloads, sentences are not named.
        left, right = (sorted(map(plain, one), key=lambda each: [row for _, row in each]) for one in (ours, theirs))
        for one, two in zip(left, right, strict=True):
            assert [row for _, row in one] == [row for _, row in two]
            assert [start for start, _ in one] == pytest.approx([start for start, _ in two], rel=1e-3, abs=1e-5)
        changes = sorted(itertools.chain.from_iterable(
            [(at, np.subtract(row, one[k - 1][1] if k else [0] * 10)) for k, (at, row) in enumerate(one)]
            for one in ours
        ), key=lambda each: each[0])  # fmt: skip
        places = [at for at, _ in changes]
        sums = np.cumsum([change for _, change in changes], axis=0)
        results[key] = (places, sums)
    assert faults
    for line in (folder / "reduce.out").read_text().splitlines():
        key, place, score = line.split("|")
        places, sums = results[key]
        where = int(np.searchsorted(places, float(place), side="right")) - 1
        assert bleu_of(sums[where]) == pytest.approx(float(score), abs=1e-5)
        assert max(map(bleu_of, sums[9:])) == pytest.approx(float(score), abs=1e-5)
