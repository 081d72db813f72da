"""``kbmira``: the oracle against what Moses printed, and ``mira`` against the oracle."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import Candidates
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.learners import ListProblem
from smtplugins.contracts.models import Model
from smtplugins.host.learn.problems import matrix_of
from smtplugins.plugins.standard.metrics import Bleu
from smtplugins.plugins.tuning.mira import Mira

from .kbmira import Shuffled, best_of, counts_of, first_of_buckets, in_order, kbmira, read_lists
from .made import bleu_lists, forests, lists


def log_of(path: Path) -> list[tuple[int, float, float]]:
    """Updates, mean loss and BLEU of each epoch that Moses printed."""
    line = re.compile(r"(\d+)/\d+ updates, avg loss = (\S+), BLEU = (\S+)")
    return [(int(one), float(two), float(three)) for one, two, three in line.findall(path.read_text(encoding="utf-8"))]


def moses(folder: Path, name: str) -> tuple[list[Any], list[Any], Any]:
    """The hypotheses that ``kbmira`` keeps, and its start weights."""
    scores = name.replace("features", "scores")
    tables, counts = read_lists(folder / name, folder / scores)
    kept = [first_of_buckets(table) for table in tables]
    dense = (folder / ("run1.dense" if name.startswith("run1") else "dense.init")).read_text(encoding="utf-8")
    start = np.array([float(line.split()[-1]) for line in dense.splitlines()])
    return (
        [table[rows].astype(np.float64) for table, rows in zip(tables, kept, strict=True)],
        [stats[rows].astype(np.float64) for stats, rows in zip(counts, kept, strict=True)],
        start,
    )


@pytest.mark.shared
@pytest.mark.parametrize("name", ["kbmira", "kbmira.noshuffle"])
def test_the_oracle_writes_what_moses_wrote(shared: Path, name: str) -> None:
    folder = shared / "gold/moses/mert"
    epochs = kbmira(*moses(folder, "features.10.txt"), 10, in_order if "no" in name else Shuffled(1))
    wanted = log_of(folder / f"{name}.err")
    assert [epoch.updates for epoch in epochs] == [updates for updates, _, _ in wanted]
    np.testing.assert_allclose([epoch.loss for epoch in epochs], [loss for _, loss, _ in wanted], rtol=5e-5)
    np.testing.assert_allclose([epoch.bleu for epoch in epochs], [score for _, _, score in wanted], atol=6e-7)
    written = (folder / f"{name}.weights.txt").read_text(encoding="utf-8").splitlines()
    np.testing.assert_allclose(best_of(epochs).weights, [float(line.split()[1]) for line in written], atol=2e-6)


@pytest.mark.shared
def test_the_oracle_prints_the_log_of_a_tuning_run(shared: Path) -> None:
    """The first 2,250 sentences; in epoch 20 another hypothesis wins in Moses' single precision."""
    folder = shared / "gold/moses/tune-pb"
    wanted = log_of(folder / "run1.mert.log")[:15]
    epochs = kbmira(*moses(folder, "run1.features.dat.gz"), 15, Shuffled(1))
    assert [epoch.updates for epoch in epochs] == [updates for updates, _, _ in wanted]
    np.testing.assert_allclose([epoch.loss for epoch in epochs], [loss for _, loss, _ in wanted], rtol=2e-4)
    np.testing.assert_allclose([epoch.bleu for epoch in epochs], [score for _, _, score in wanted], atol=6e-7)


class Passes:
    """The orders that ``mira`` draws from its random numbers; a score needs none."""

    def __init__(self, seed: int) -> None:
        self._random, self._calls = np.random.default_rng(seed), 0

    def __call__(self, count: int) -> Any:
        self._calls += 1
        return self._random.permutation(count).tolist() if self._calls % 2 == 0 else ()


def same(problem: ListProblem, start: dict[str, float], epochs: int, shuffle: bool, follow: str) -> None:
    """``mira`` by the rule of ``kbmira``, and the oracle on the same lists."""
    matrix = matrix_of(problem)
    parts = [slice(*ends) for ends in itertools.pairwise(matrix.lists.tolist())]
    wanted = kbmira(
        [matrix.dense[part] for part in parts],
        [counts_of(matrix.stats[part]) for part in parts],
        matrix.column(start),
        epochs,
        Passes(5) if shuffle else in_order,
        of_best=follow == "best",
    )
    learner = Mira(rule="kbmira", epochs=epochs, shuffle=shuffle, follow=follow)  # type: ignore[arg-type]
    steps = list(learner.learn(problem, Model(start), seed=5))
    assert [step.metrics["updates"] for step in steps] == [epoch.updates for epoch in wanted]
    np.testing.assert_allclose([step.metrics["loss"] for step in steps], [epoch.loss for epoch in wanted], rtol=1e-9)
    for count in (1, epochs // 2, epochs):
        best, model = best_of(wanted[:count]), steps[count - 1].model
        assert steps[count - 1].objective == pytest.approx(100 * best.bleu, abs=1e-9)
        np.testing.assert_allclose([model.weights[name] for name in matrix.names], best.weights, atol=1e-10)


@pytest.mark.parametrize(("shuffle", "follow"), [(False, "hope"), (True, "hope"), (True, "best")])
def test_mira_by_the_rule_of_kbmira(shuffle: bool, follow: str) -> None:
    for seed in range(3):
        same(bleu_lists(seed), {"F": 0.2, "G": -0.3, "I": 0.1}, 6, shuffle, follow)


@pytest.mark.shared
@pytest.mark.parametrize("shuffle", [False, True])
def test_mira_on_the_lists_of_moses(shared: Path, shuffle: bool) -> None:
    """All hypotheses, of which ``kbmira`` itself drops nine in ten."""
    folder = shared / "gold/moses/mert"
    tables, counts = read_lists(folder / "features.10.txt", folder / "scores.10.txt")
    names = tuple(f"F{k:02}" for k in range(14))
    lists = [Candidates(str(k), [""] * len(rows), [names] * len(rows), rows.tolist()) for k, rows in enumerate(tables)]
    stats = [np.column_stack([rows[:, 1], rows[:, 8], rows[:, 0:8:2], rows[:, 1:8:2]]) for rows in counts]
    start = dict(zip(names, moses(folder, "features.10.txt")[2].tolist(), strict=True))
    same(ListProblem(lists, stats, Bleu(tokenize="none", smooth_method="none")), start, 10, shuffle, "hope")


@pytest.mark.shared
def test_mira_writes_what_moses_wrote(shared: Path) -> None:
    """The hypotheses that ``kbmira`` keeps, in the order given."""
    folder = shared / "gold/moses/mert"
    tables, counts, begin = moses(folder, "features.10.txt")
    names = tuple(f"F{k:02}" for k in range(14))
    lists = [Candidates(str(k), [""] * len(rows), [names] * len(rows), rows.tolist()) for k, rows in enumerate(tables)]
    stats = [np.column_stack([rows[:, 1], rows[:, 8], rows[:, 0:8:2], rows[:, 1:8:2]]) for rows in counts]
    problem = ListProblem(lists, stats, Bleu(tokenize="none"))
    learner = Mira(rule="kbmira", epochs=10, shuffle=False)
    *_, step = learner.learn(problem, Model(dict(zip(names, begin.tolist(), strict=True))))
    written = (folder / "kbmira.noshuffle.weights.txt").read_text(encoding="utf-8").splitlines()
    wanted = [float(line.split()[1]) for line in written]
    np.testing.assert_allclose([step.model.weights[name] for name in names], wanted, atol=2e-6)


def test_the_rule_of_kbmira_resumes_and_keeps_fixed_weights() -> None:
    problem, start = bleu_lists(7), Model({"F": 0.2, "G": -0.3, "I": 0.1})
    learner = Mira(rule="kbmira", epochs=5, fixed="G")
    steps = list(learner.learn(problem, start))
    assert {step.model.weights["G"] for step in steps} == {-0.3}
    rest = list(learner.learn(problem, steps[1].model, resume=steps[1].state))
    assert [one.model.digest() for one in rest] == [one.model.digest() for one in steps[2:]]


def test_the_rule_of_kbmira_is_for_bleu_on_lists() -> None:
    with pytest.raises(UsageError, match=r"mira: rule=kbmira needs the metric BLEU, found overlap"):
        list(Mira(rule="kbmira").learn(lists(1), Model({"F": 1.0})))
    with pytest.raises(UsageError, match="mira: rule=kbmira learns from lists, not from forests"):
        list(Mira(rule="kbmira").learn(forests(1), Model({"F": 1.0})))
    with pytest.raises(UsageError, match="mira: rule=kbmira has its own loss and one constraint in each step"):
        Mira(rule="kbmira", cutting=True)
