"""Boosted trees: against the algorithm read off the page, derivatives, grids; and whatever the threads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.plugins.bitree._bitree import Boosting
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel, Trees, costs
from smtplugins.plugins.bitree.boosting.boosting import boost
from smtplugins.plugins.bitree.boosting.examples import Examples, Problem
from tests.plugins.bitree import plain_boosting

NO_LIMITS = {"trees": 0, "depth": 0}


def drawn(seed: int, rows: int, atoms: int, share: float = 0.3) -> tuple[list[frozenset[int]], Any]:
    """Rows of atoms, and labels that conjunctions of two explain in part."""
    random = np.random.default_rng(seed)
    table = random.random((rows, atoms)) < share
    truth = (table[:, 0] & ~table[:, 1]) | (table[:, 2] & table[:, 3])
    labels = np.where(truth ^ (random.random(rows) < 0.15), 1, -1)
    return [frozenset(np.flatnonzero(row).tolist()) for row in table], labels


def native(rows: Sequence[frozenset[int]], labels: Any, atoms: int, weights: Any = None) -> Boosting:
    offsets = np.cumsum([0, *map(len, rows)])
    ids = np.array([one for row in rows for one in sorted(row)], dtype=np.int32)
    return Boosting(offsets, ids, atoms, np.asarray(labels, dtype=np.int8), weights)


def problem_of(rows: Sequence[frozenset[int]], labels: Any, atoms: int, name: str = "p") -> Problem:
    names = tuple(f"a{i}" for i in range(atoms))
    offsets = np.cumsum([0, *map(len, rows)])
    ids = np.array([one for row in rows for one in sorted(row)], dtype=np.int32)
    return Problem(name, Examples(offsets, ids, names), (np.asarray(labels) > 0).astype(np.int32), ("no", "yes"))


def trees_of(path: Sequence[Any]) -> list[tuple[float, list[tuple[int, float]]]]:
    lambdas, nodes, splits, _, values = (one.tolist() for one in path)
    pairs = list(zip(splits, values, strict=True))
    return [(penalty, pairs[a:b]) for penalty, (a, b) in zip(lambdas, itertools.pairwise(nodes), strict=True)]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_those_of_the_algorithm_read_off_the_page(seed: int, weighted: bool) -> None:
    rows, labels = drawn(seed, 50, 6)
    weights = np.random.default_rng(seed).uniform(0.2, 3.0, 50) if weighted else np.ones(50)
    plain = plain_boosting.PlainBoosting(rows, labels.tolist(), weights.tolist(), 6)
    plain.run(0.4)
    boosting = native(rows, labels, 6, weights if weighted else None)
    assert boosting.advance(0.4, 0.9, 1e-5, **NO_LIMITS)
    found = trees_of(boosting.path())
    assert len(found) == len(plain.trees) > 5
    for (penalty, nodes), (wanted_penalty, tree) in zip(found, plain.trees, strict=True):
        wanted = plain_boosting.flat(tree)
        assert penalty == pytest.approx(wanted_penalty, rel=1e-7)
        assert [split for split, _ in nodes] == [split for split, _ in wanted]
        assert [value for _, value in nodes] == pytest.approx([value for _, value in wanted], abs=1e-6)
    assert boosting.penalty == pytest.approx(plain.penalty, rel=1e-7)
    assert max(len(leaf.conjunction) for _, tree in plain.trees for leaf in plain_boosting.leaves(tree)) >= 3
    assert boosting.risk == pytest.approx(plain.risk(), rel=1e-7)


def loss_of(scores: Any, labels: Any) -> float:
    return math.fsum(math.log1p(math.exp(-y * h)) for y, h in zip(labels.tolist(), scores.tolist(), strict=True))


def test_gradients_are_those_of_finite_differences_of_the_loss() -> None:
    rows, labels = drawn(5, 200, 8)
    boosting = native(rows, labels, 8)
    boosting.advance(2.0, 0.9, 1e-5, **NO_LIMITS)
    scores, found, small = boosting.scores(), boosting.gradients(), 1e-6
    assert boosting.loss == pytest.approx(loss_of(scores, labels), rel=1e-12)
    for number, pull in enumerate(found.tolist()):
        inside = np.array([number == 0 or number - 1 in row for row in rows])
        both = [loss_of(scores + sign * small * inside, labels) for sign in (1, -1)]
        assert -(both[0] - both[1]) / (2 * small) == pytest.approx(pull, abs=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_gains_are_one_sided_differences_of_the_risk(seed: int) -> None:
    # Those of the slow implementation, whose trees the native one makes.
    rows, labels = drawn(seed, 40, 6)
    plain = plain_boosting.PlainBoosting(rows, labels.tolist(), [1.0] * 40, 6)
    plain.run(1.0)
    plain.penalty /= 3
    small, seen = 1e-7, set()
    some = [frozenset({(a, v), (b, w)}) for a, b in ((0, 1), (2, 3)) for v in (True, False) for w in (True, False)]
    for conjunction in dict.fromkeys((plain_boosting.EMPTY, *some, *plain.theta)):
        now, moved = plain.risk(), []
        for change in (small, -small):
            old = plain.theta.get(conjunction, 0.0)
            plain.theta[conjunction] = old + change
            moved.append((now - plain.risk()) / small)
            plain.theta[conjunction] = old
        assert plain.gain(conjunction) == pytest.approx(max(*moved, 0.0), abs=1e-4)
        seen.add((plain.theta[conjunction] != 0, plain.gain(conjunction) > 1e-3))
    assert seen >= {(False, False), (False, True), (True, True)}


def test_neither_risk_nor_lambda_ever_rises() -> None:
    rows, labels = drawn(6, 300, 10)
    boosting = native(rows, labels, 10)
    last, number = math.inf, 0
    while boosting.advance(0.3, 0.9, 1e-5, number + 1, 0) is False:
        number += 1
        assert boosting.count == number
        # At a lower lambda the same parameters have a lower risk, and each tree lowers it more.
        assert boosting.risk < last
        last = boosting.risk
    lambdas = boosting.path()[0]
    assert number > 30
    assert (np.diff(lambdas) <= 0).all()
    assert boosting.penalty < 0.3 <= lambdas[-1]


def percolated(model: BoostedModel, classifier: int, least: float) -> dict[tuple[int, ...], float]:
    """Parameters summed over the trees, leaf by leaf."""
    found: dict[tuple[int, ...], float] = {}
    trees = model.trees
    first = int(trees.starts[classifier])
    for tree in range(first, first + int(model.counts(least)[classifier])):
        begin = int(trees.nodes[tree])
        waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while waiting:
            at, path = waiting.pop()
            atom = int(trees.splits[begin + at])
            if atom >= 0:
                waiting.append((int(trees.others[begin + at]), (*path, 2 * atom + 1)))
                waiting.append((at + 1, (*path, 2 * atom)))
            elif trees.values[begin + at]:
                key = tuple(sorted(path))
                found[key] = found.get(key, 0.0) + float(trees.values[begin + at])
    return {key: value for key, value in found.items() if value}


def test_parameters_are_sums_over_trees_and_give_the_scores() -> None:
    rows, labels = drawn(7, 250, 8)
    problem = problem_of(rows, labels, 8)
    model = boost([problem], least=0.5)
    for least in (0.5, 3.0):
        wanted, found = percolated(model, 1, least), model.parameters("p", "yes", least)
        assert found == pytest.approx(wanted)
        assert model.sizes(least)[1] == len(found)
        scores = model.scores("p", problem.examples, least)[:, 1]
        for row, score in zip(rows, scores.tolist(), strict=True):
            holds = [v for key, v in found.items() if all((one // 2 in row) == (one % 2 == 0) for one in key)]
            assert score == pytest.approx(math.fsum(holds), abs=1e-9)
    boosting = native(rows, labels, 8)
    boosting.advance(0.5, 0.9, 1e-5, **NO_LIMITS)
    own = model.parameters("p", "yes")
    penalty = boosting.penalty * math.fsum(map(abs, own.values()))
    assert boosting.risk == pytest.approx(boosting.loss + penalty, rel=1e-10)
    assert boosting.parameters == len(own)
    assert model.describe((0, 5)) == "a0 and not a2"


def test_a_conjunction_of_several_trees_pays_once() -> None:
    rows, labels = drawn(8, 250, 8)
    model = boost([problem_of(rows, labels, 8)], least=0.5)
    own = model.parameters("p", "yes")
    leaves = int(np.count_nonzero(model.trees.values[model.trees.nodes[model.trees.starts[1]] :]))
    assert 2 * len(own) < leaves  # Most of them were moved more than once.
    # Parts of one parameter in different trees that pull against each other would be paid for more than once.
    one_by_one = math.fsum(np.abs(model.trees.values[model.trees.nodes[model.trees.starts[1]] :]).tolist())
    assert math.fsum(map(abs, own.values())) < 0.95 * one_by_one


def test_the_line_search_is_as_good_as_a_fine_grid() -> None:
    rows, labels = drawn(9, 200, 8)
    model = boost([problem_of(rows, labels, 8)], least=1.0)
    trees, first = model.trees, int(model.trees.starts[1])
    theta: dict[tuple[int, ...], float] = {}
    scores = np.zeros(len(rows))
    compared = 0
    for tree in range(first, int(trees.starts[2])):
        begin, penalty = int(trees.nodes[tree]), float(trees.lambdas[tree])
        waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        before = scores.copy()
        while waiting:
            at, path = waiting.pop()
            atom = int(trees.splits[begin + at])
            if atom >= 0:
                waiting += [(int(trees.others[begin + at]), (*path, 2 * atom + 1)), (at + 1, (*path, 2 * atom))]
                continue
            change, key = float(trees.values[begin + at]), tuple(sorted(path))
            if not change:
                continue
            inside = np.array([all((one // 2 in row) == (one % 2 == 0) for one in key) for row in rows])
            grid = np.append(np.linspace(-2, 2, 401) * max(abs(change), 0.1), [change, -theta.get(key, 0.0)])
            margins = labels[inside] * (before[inside] + grid[:, None])
            risks = np.logaddexp(0, -margins).sum(axis=1) + penalty * np.abs(theta.get(key, 0.0) + grid)
            assert risks[-2] <= risks.min() + 1e-9
            theta[key] = theta.get(key, 0.0) + change
            scores[inside] += change
            compared += 1
    assert compared > 50
    assert scores == pytest.approx(model.scores("p", problem_of(rows, labels, 8).examples)[:, 1], abs=1e-9)


def several(count: int = 7) -> list[Problem]:
    """Problems of several sizes and classes over the same atoms."""
    random = np.random.default_rng(11)
    names = tuple(f"a{i}" for i in range(12))
    found = []
    for number in range(count):
        rows, labels = drawn(20 + number, int(random.integers(20, 150)), 12)
        examples = problem_of(rows, labels, 12).examples
        classes = np.where(labels > 0, 0, random.integers(-1, 3, len(rows)))
        found.append(Problem(f"w{number}", Examples(examples.offsets, examples.ids, names), classes, ("x", "y", "")))
    return found


def test_any_number_of_threads_gives_the_same_bytes(tmp_path: Path) -> None:
    problems = several()
    models = [boost(problems, least=0.5, threads=threads) for threads in (1, 2, 5)]
    assert len({model.digest() for model in models}) == 1
    for number, model in enumerate(models):
        model.save(tmp_path / str(number))
    for name in sorted(path.name for path in (tmp_path / "0").iterdir()):
        assert len({(tmp_path / str(number) / name).read_bytes() for number in range(3)}) == 1
    rows = problems[0].examples
    assert np.array_equal(models[0].scores("w0", rows), models[0].scores("w0", rows, threads=4))


def test_each_classifier_is_that_of_its_class_alone() -> None:
    problems = several(3)
    model = boost(problems, least=0.5)
    for problem in problems:
        scores = model.scores(problem.name, problem.examples)
        for which in range(3):
            labels = np.where(problem.classes == which, 1, -1).astype(np.int8)
            rows = problem.examples
            boosting = Boosting(rows.offsets, rows.ids, len(rows.atoms), labels)
            boosting.advance(0.5, 0.9, 1e-5, **NO_LIMITS)
            assert np.array_equal(scores[:, which], boosting.scores())


def test_the_model_of_a_lambda_is_that_of_a_run_stopped_there() -> None:
    problems = several(3)
    path = boost(problems, least=0.3)
    for least in (0.3, 0.7, 2.5, 40.0):
        stopped = boost(problems, least=least)
        assert path.cut(least).digest() == stopped.digest()
        for problem in problems:
            assert np.array_equal(
                path.scores(problem.name, problem.examples, least), stopped.scores(problem.name, problem.examples)
            )
    with pytest.raises(UsageError, match=r"expected 0.3 or more, where the path ends, found 0.1"):
        path.cut(0.1)


def test_a_path_that_is_replayed_goes_on_as_if_never_stopped() -> None:
    rows, labels = drawn(12, 200, 9)
    weights = np.random.default_rng(1).uniform(0, 2, 200)
    whole = native(rows, labels, 9, weights)
    whole.advance(0.3, 0.9, 1e-5, **NO_LIMITS)
    for stop in (8.0, 2.0, 0.5):
        first, second = (native(rows, labels, 9, weights) for _ in range(2))
        first.advance(stop, 0.9, 1e-5, **NO_LIMITS)
        second.replay(*first.path(), first.penalty)
        assert (second.risk, second.loss) == (first.risk, first.loss)
        second.advance(0.3, 0.9, 1e-5, **NO_LIMITS)
        for wanted, found in zip(whole.path(), second.path(), strict=True):
            assert wanted.tobytes() == found.tobytes()


def test_models_are_read_as_they_were_saved(tmp_path: Path) -> None:
    model = boost(several(2), least=1.0)
    model.save(tmp_path / "model")
    again = BoostedModel.load(tmp_path / "model")
    assert again.digest() == model.digest()
    assert again.classes == model.classes
    (tmp_path / "model" / "classes.txt").write_text("x\n")
    with pytest.raises(SmtError, match="expected names of 6 classes, found 1"):
        BoostedModel.load(tmp_path / "model")
    with pytest.raises(SmtError, match=r"expected a folder of boosted trees, found no boosted.json"):
        BoostedModel.load(tmp_path)


def test_unknown_atoms_and_other_numbers_change_nothing() -> None:
    problem = several(1)[0]
    model = boost([problem], least=1.0)
    named = [problem.examples.row(i) for i in range(len(problem.examples))]
    other = Examples.of([(*reversed(row), "never seen") for row in named])
    assert np.array_equal(model.scores("w0", other), model.scores("w0", problem.examples))
    apart = Problem("v", Examples.of([["b1", "a3"], ["a3"], ["b1"]]), np.array([0, 1, 0]), ("x", "y"))
    both = boost([problem, apart], least=1.0)
    assert set(both.atoms) == {*problem.examples.atoms, "b1"}
    assert np.array_equal(both.scores("w0", problem.examples), model.scores("w0", problem.examples))


def test_trees_that_are_none_are_errors() -> None:
    rows, labels = drawn(1, 20, 4)
    loop = (np.array([1.0]), np.array([0, 2]), np.array([0, -1]), np.array([0, 0]), np.array([0.0, 1.0]))
    kinds = (np.float64, np.int64, np.int32, np.int32, np.float64)
    made = [one.astype(kind) for one, kind in zip(loop, kinds, strict=True)]
    with pytest.raises(ValueError, match="expected trees"):
        native(rows, labels, 4).replay(*made, 1.0)
    model = BoostedModel(("a", "b", "c", "d"), ("p",), (("x",),), Trees(np.array([0, 1]), *made), 1.0)
    with pytest.raises(ValueError, match="expected trees"):
        model.scores("p", Examples.of([["a"]]))


def test_examples_and_problems_are_checked() -> None:
    with pytest.raises(SmtError, match="ascending order"):
        Examples(np.array([0, 2]), np.array([1, 0]), ("a", "b"))
    with pytest.raises(SmtError, match="ids from 0 to below 1"):
        Examples(np.array([0, 1]), np.array([1]), ("a",))
    rows = Examples.of([["a", "b"], [], ["b", "b"]])
    assert [rows.row(i) for i in range(3)] == [("a", "b"), (), ("b",)]
    assert [rows.take(np.array([2, 0])).row(i) for i in range(2)] == [("b",), ("a", "b")]
    with pytest.raises(SmtError, match="classes from -1 to below 1"):
        Problem("p", rows, np.array([0, 1, 0]), ("x",))
    with pytest.raises(UsageError, match="expected the path to end at a lambda above 0"):
        boost([Problem("p", rows, np.array([0, 0, 0]), ("x",))], least=0)


def test_costs_are_those_of_inferences() -> None:
    assert costs(np.array([0.0, 800.0, -800.0])) == pytest.approx([math.log(2), 0.0, 800.0])
