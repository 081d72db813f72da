"""The learner l1-boost on rows and lists, and the feature made of what it learnt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import smtplugins as smt
from smtformats import Candidates, Columns
from smtplugins.cli.main import main
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import ListProblem, RowProblem
from smtplugins.contracts.models import Model
from smtplugins.plugins.bitree.boosting.binarising import Binarising
from smtplugins.plugins.bitree.boosting.boosted_feature import Boosted
from smtplugins.plugins.bitree.boosting.l1_boost import BoostedRows, L1Boost
from smtplugins.testing import check_plugin, samples


def rows_of(count: int = 200) -> RowProblem:
    """Binary rows whose label is that a and b are unlike."""
    random = np.random.default_rng(3)
    table = (random.random((count, 6)) < 0.5).astype(float)
    labels = np.where(table[:, 0] != table[:, 1], 1, -1)
    return RowProblem(Columns.dense(("a", "b", "c", "d", "e", "f"), table), labels)


def lists_of(count: int = 40) -> ListProblem:
    """Lists whose best hypothesis is one for which two signs agree, and whose score tells nothing alone."""
    random = np.random.default_rng(4)
    metric = samples.WordOverlap()
    made, stats = [], []
    for number in range(count):
        table = (random.random((6, 3)) < 0.5).astype(float)
        good = table[:, 0] == table[:, 1]
        texts = ["a b c d" if one else "a x y z" for one in good]
        values = [
            [*row, float(random.normal() + 20 * number + one)] for row, one in zip(table.tolist(), good, strict=True)
        ]
        layouts = [("p", "q", "r", "s")] * 6
        made.append(Candidates(id=str(number), texts=texts, layouts=layouts, values=values))
        stats.append(metric.stats(texts, [["a b c d"] * 6]))
    return ListProblem(made, stats, metric)


def artefact(model: Model) -> BoostedRows:
    found = model.artefacts["boosted"]
    assert isinstance(found, BoostedRows)
    return found


def test_everything_passes_the_kit(tmp_path: Path) -> None:
    results = check_plugin(smt.load_plugins(), "bitree", tmp_path)
    own = [(name, one) for _, name, one in results if name in ("l1-boost", "boosted")]
    assert {name for name, _ in own} == {"l1-boost", "boosted"}
    assert [(name, one.check, one.message) for name, one in own if not one.ok] == []


def test_what_no_line_parts_is_learnt_from_rows() -> None:
    problem = rows_of()
    *_, last = L1Boost().learn(problem, Model({"other": 2.0}))
    assert last.metrics["accuracy"] == 1
    assert last.model.weights == {"other": 2.0}
    learnt = artefact(last.model)
    # What matters is the four cells of a and b.
    own = learnt.trees.parameters(0, 0)
    by_size = sorted(own, key=lambda key: -abs(own[key]))[:4]
    assert {learnt.trees.describe(key) for key in by_size} <= {
        "a and b", "a and not b", "not a and b", "not a and not b"
    }  # fmt: skip
    assert last.metrics["parameters"] == len(own)


def test_steps_go_down_the_path() -> None:
    steps = list(L1Boost(factor=0.5, steps=6).learn(rows_of(), Model()))
    lambdas = [step.metrics["lambda"] for step in steps]
    assert lambdas == sorted(lambdas, reverse=True)
    assert 3 <= len(steps) <= 6
    ends = [artefact(step.model).trees.least for step in steps]
    last = artefact(steps[-1].model).trees
    for step, least, penalty in zip(steps, ends, lambdas, strict=True):
        assert penalty < least
        assert last.cut(least).digest() == artefact(step.model).trees.digest()
    assert [step.objective for step in steps] == sorted((step.objective for step in steps), reverse=True)


def test_weights_and_labels_of_either_kind_count() -> None:
    problem = rows_of()
    *_, wanted = L1Boost().learn(problem, Model())
    *_, other = L1Boost().learn(replace(problem, labels=(problem.labels + 1) // 2), Model())
    assert other.model.digest() == wanted.model.digest()
    *_, none = L1Boost().learn(replace(problem, weights=np.ones(200)), Model())
    assert none.model.digest() == wanted.model.digest()
    # A row of weight 2 is two rows.
    table = problem.features.table()
    assert table is not None
    twice = RowProblem(
        Columns.dense(problem.features.names, np.concatenate([table, table[:50]])),
        np.append(problem.labels, problem.labels[:50]),
    )
    *_, doubled = L1Boost().learn(twice, Model())
    *_, heavy = L1Boost().learn(replace(problem, weights=np.where(np.arange(200) < 50, 2.0, 1.0)), Model())
    wanted_values = artefact(doubled.model).trees.trees.values
    assert artefact(heavy.model).trees.trees.values == pytest.approx(wanted_values, abs=1e-9)


def test_what_cannot_be_learnt_from_is_an_error() -> None:
    problem = rows_of()
    real = replace(problem, features=replace(problem.features, values=problem.features.values * 0.5))
    with pytest.raises(SmtError, match=r"expected features of the values 0 and 1, found 'a' with 0.5; .* `bins`"):
        next(iter(L1Boost().learn(real, Model())))
    with pytest.raises(SmtError, match="expected labels 1 and -1, or 1 and 0"):
        next(iter(L1Boost().learn(replace(problem, labels=problem.labels * 2), Model())))
    with pytest.raises(SmtError, match="expected a weight of 0 or more"):
        next(iter(L1Boost().learn(replace(problem, weights=np.full(200, -1.0)), Model())))
    with pytest.raises(UsageError, match="expected a factor between 0 and 1"):
        L1Boost(factor=1)
    with pytest.raises(UsageError, match="expected eta between 0 and 1"):
        L1Boost(eta=1)


def test_thresholds_are_quantiles_and_absent_is_0() -> None:
    features = Columns.from_mappings([{"x": 1.0, "y": 3.0}, {"y": -1.0}, {"x": 1.0, "y": 2.0}, {}])
    found = Binarising.of(features, None, 4, False)
    assert found.atoms == ("x", "y>=0.0", "y>=2.0", "y>=3.0")
    rows = found.examples(features)
    assert [rows.row(i) for i in range(4)] == [
        ("x", "y>=0.0", "y>=2.0", "y>=3.0"),
        (),
        ("x", "y>=0.0", "y>=2.0"),
        ("y>=0.0",),
    ]
    moved = Columns.from_mappings([{"y": 13.0}, {"y": 9.0}, {"y": 12.0}, {"y": 10.0}])
    own = Binarising.of(moved, np.array([0, 4]), 4, True)
    again = Columns.from_mappings([{"y": 113.0, "z": 5.0}, {"y": 109.0}, {"y": 112.0}, {"y": 110.0}])
    wanted = [own.examples(moved, np.array([0, 4])).row(i) for i in range(4)]
    assert [own.examples(again, np.array([0, 4])).row(i) for i in range(4)] == wanted
    assert wanted[0] and not wanted[1]


def test_lists_are_reranked_by_what_was_learnt_from_them(tmp_path: Path) -> None:
    problem = lists_of()
    *_, last = L1Boost(bins=8).learn(problem, Model({"s": 0.25}))
    assert last.metrics[problem.metric.name] > 0.99 * max(
        float(
            problem.metric.score(
                np.sum([one[np.argmax(problem.metric.sentence(one))] for one in problem.stats], axis=0)
            )
        ),
        0.1,
    )
    assert last.model.weights == {"s": 0.25, "boosted": 1.0}
    last.model.save(tmp_path / "model")
    feature = Boosted(path=tmp_path / "model")
    best = []
    for one, stats in zip(problem.lists, problem.stats, strict=True):
        scores = feature.score_candidates(None, one)
        assert len(scores) == len(one)
        best.append(stats[int(np.argmax(scores))])
    assert float(problem.metric.score(np.sum(best, axis=0))) == last.metrics[problem.metric.name]
    costs = Boosted(path=tmp_path / "model", cost=True).score_candidates(None, problem.lists[0])
    assert costs == pytest.approx(-np.logaddexp(0, -feature.score_candidates(None, problem.lists[0])))
    high = artefact(last.model).trees.trees.lambdas[0]
    assert len(set(Boosted(path=tmp_path / "model", penalty=2 * high).score_candidates(None, problem.lists[0]))) == 1


def test_lists_that_tell_nothing_are_an_error() -> None:
    problem = lists_of(3)
    same = replace(problem, stats=[np.zeros_like(one) for one in problem.stats])
    with pytest.raises(SmtError, match="expected lists whose hypotheses differ"):
        next(iter(L1Boost(bins=4).learn(same, Model())))


def test_the_command_line_learns_and_scores(tmp_path: Path) -> None:
    problem = lists_of()
    lines = [
        f"{one.id} ||| {text} ||| {' '.join(f'{n}= {v!r}' for n, v in features.items())} ||| {features['s']!r}\n"
        for one in problem.lists
        for text, features, _ in one.rows()
    ]
    (tmp_path / "lists").write_text("".join(lines))
    (tmp_path / "refs").write_text("a b c d\n" * len(problem.lists))
    run = ["tune", "-q", "-i", str(tmp_path / "lists"), "-r", str(tmp_path / "refs"), "--learner", "l1-boost,bins=6"]
    assert main([*run, "--dir", str(tmp_path / "run"), "-o", str(tmp_path / "weights")]) == 0
    assert "boosted" in (tmp_path / "weights").read_text()
    models = sorted((tmp_path / "run").rglob("boosted"), key=lambda path: int(path.parts[-3].rpartition("-")[2]))
    score = ["score", "-q", "-i", str(tmp_path / "lists"), "--feature", f"boosted,path={models[-1]}"]
    assert main([*score, "-o", str(tmp_path / "scored")]) == 0
    scored = (tmp_path / "scored").read_text().splitlines()
    assert len(scored) == len(lines)
    assert all("boosted=" in line for line in scored)
