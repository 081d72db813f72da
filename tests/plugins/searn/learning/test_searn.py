"""The learner: its slow form, a multiclass perceptron, stops in between, tasks of any kind, and what it is good for."""

from __future__ import annotations

import copy
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smtplugins as smt
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import LearnerState, LearnerStep
from smtplugins.contracts.models import Model
from smtplugins.contracts.tasks import OptimalTask, TaskProblem
from smtplugins.plugins.searn.learning.base_learners import Passes
from smtplugins.plugins.searn.learning.policy import Policy
from smtplugins.plugins.searn.learning.searn import BETAS, Searn
from smtplugins.plugins.searn.learning.sequences import Sequences
from smtplugins.testing import samples
from smtplugins.testing.decoders.search_tasks import assert_search_task


def beside(name: str) -> Any:
    """A module in this folder."""
    key = f"{__name__}.{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, (Path(__file__).parents[1] / f"{name}.py"))
        assert spec is not None and spec.loader is not None
        sys.modules[key] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[key])
    return sys.modules[key]


tagging = beside("tagging")
HISTORY = ("label", "label2", "depth", "fragment")


def whole(given: Sequences) -> TaskProblem:
    return TaskProblem(given, range(len(given)))


def steps(given: Sequences, seed: int = 1, **options: Any) -> list[LearnerStep]:
    return list(Searn(**options).learn(whole(given), Model(), seed=seed))


def named(policy: Policy) -> list[dict[tuple[str, str], float]]:
    """The weights that are not 0, by name and label; of a policy of actions the name holds the label."""
    found = []
    for one in policy.weights:
        rows = np.argwhere(one != 0).tolist()
        pairs = {(policy.names[row], policy.labels[column]): float(one[row, column]) for row, column in rows}
        if policy.labels == ("action",):
            pairs = {tuple(name.replace("␣", " ").split("|")): value for (name, _), value in pairs.items()}  # type: ignore[misc]
        found.append(pairs)
    return found


OPTIONS: list[dict[str, Any]] = [
    {},
    {"roll_in": "policy", "beta": 0.3, "passes": 2},
    {"roll_in": "optimal", "roll_out": "policy", "iterations": 2},
    {"roll_out": "sampled", "samples": 3, "beta": 0.7},
    {"roll_in": "policy", "roll_out": "policy", "beta": 1.0, "average": False},
    {"base": "logistic", "rate": 0.3, "shuffle": False},
    {"base": "logistic", "roll_out": "sampled", "samples": 2, "passes": 2},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("templates", "values"), [((), False), (("label",), True), (HISTORY, False)])
def test_it_is_searn(options: dict[str, Any], templates: Sequence[str], values: bool) -> None:
    seed = 5 if values else 1
    items = tagging.sentences(seed, 6, values=values)
    given = Sequences.of(items, templates)
    slow = tagging.Slow(items, templates, **options)
    wrong: list[int] = []
    slow.learn(seed, lambda iteration: wrong.append(slow.wrong()))
    for native in (True, False):
        found = steps(given, seed, native=native, **options)
        policy = found[-1].model.artefacts["policy"]
        assert isinstance(policy, Policy)
        assert policy.shares.tolist() == pytest.approx(np.array(slow.shares[1:]) / sum(slow.shares[1:]), abs=1e-15)
        for mine, theirs in zip(named(policy), slow.policies, strict=True):
            assert mine == {key: value for key, value in theirs.items() if value}
        assert [round(step.objective * len(items)) for step in found] == wrong


class Noting:
    """A base learner, and what came of it."""

    def __init__(self, base: Passes, seen: list[Any]) -> None:
        self.base, self.seen = base, seen

    def train(self, examples: Any, random: Any, label: str) -> Any:
        self.seen.append(self.base.train(examples, random, label))
        return self.seen[-1]


def test_its_weights_are_equal_before_they_are_rounded() -> None:
    items = tagging.sentences(3)
    given = Sequences.of(items, HISTORY)
    for kind in ("perceptron", "logistic"):
        seen: list[Any] = []
        for native in (True, False):
            steps(given, base=Noting(Passes(kind), seen), iterations=1, native=native)
        fast, names = seen[0].reshape(-1, len(given.labels)), given.names
        slow = dict(zip(generic_names(given), seen[1].tolist(), strict=True))
        for name, row in zip(names, fast.tolist(), strict=True):
            for label, value in zip(given.labels, row, strict=True):
                assert slow.get(f"{name}|{label}".replace(" ", "␣"), 0.0) == value


def generic_names(given: Sequences) -> list[str]:
    (step,) = steps(given, iterations=1, native=False)
    return list(step.state.values["names"])


def test_by_the_papers_features_it_is_the_multiclass_perceptron() -> None:
    """No feature knows of earlier labels: all iterations are that perceptron on the same examples."""
    items = tagging.sentences(2, 30)
    given = Sequences.of(items)
    labels, flat = given.labels, [item for one in items for item in one]
    ways: list[dict[str, Any]] = [
        {"roll_out": "optimal"},
        {"roll_out": "policy"},
        {"roll_in": "policy"},
        {"roll_in": "optimal"},
    ]
    for options in ways:
        policy = steps(given, shuffle=False, **options)[-1].model.artefacts["policy"]
        assert isinstance(policy, Policy)
        w: dict[tuple[str, str], float] = {}
        u: dict[tuple[str, str], float] = {}
        c = 1
        for _ in range(5):
            for names, gold, _ in flat:
                scores = [sum(w.get((name, label), 0.0) for name in names) for label in labels]
                guess = labels[int(np.argmax(scores))]
                for label, sign in ((gold, 1), (guess, -1)) if guess != gold else ():
                    for name in names:
                        w[name, label] = w.get((name, label), 0.0) + sign
                        u[name, label] = u.get((name, label), 0.0) + sign * c
                c += 1
        averaged = {key: np.float32(value - u[key] / c) for key, value in w.items()}
        for one in named(policy):
            assert one == {key: float(value) for key, value in averaged.items() if value}
        # So votes are no other than those of the first.
        lone = Policy(policy.labels, policy.templates, policy.names, policy.weights[:1], np.ones(1))
        for names, _, _ in flat:
            assert policy.choose(policy.scores(names)) == lone.choose(lone.scores(names))


@pytest.fixture(scope="module")
def data() -> Sequences:
    return Sequences.of(tagging.sticky(7, 400), ("label",))


class TestTagging:
    """What SEARN is for: a tagger that was taught with right labels before trusts its own too much."""

    def accuracy(self, data: Sequences, **options: Any) -> float:
        return steps(data, held_out=200.0, **options)[-1].metrics["held_out_accuracy"]

    def test_its_own_history_is_a_better_teacher_than_the_right_one(self, data: Sequences) -> None:
        taught = self.accuracy(data, roll_in="optimal")
        plain = self.accuracy(Sequences.of(tagging.sticky(7, 400)))
        for how in ("policy", "sampled"):
            assert self.accuracy(data, roll_in=how) > max(taught, plain) + 0.1

    def test_search_for_beta(self, data: Sequences) -> None:
        found = steps(data, held_out=0.2, beta="search", iterations=4)
        assert found[0].metrics["beta"] == 1.0
        assert all(step.metrics["beta"] in BETAS for step in found)
        # Each was the best of those tried.
        last = found[-2]
        tried = [
            list(Searn(held_out=0.2, beta=beta, iterations=4).learn(whole(data), last.model, resume=last.state))[
                -1
            ].metrics["held_out_loss"]
            for beta in BETAS
        ]
        assert found[-1].metrics["held_out_loss"] == min(tried)
        assert found[-1].metrics["beta"] == max(
            beta for beta, loss in zip(BETAS, tried, strict=True) if loss == min(tried)
        )

    def test_ways_to_decide(self, data: Sequences) -> None:
        found = {how: self.accuracy(data, decide=how) for how in ("vote", "draw", "last")}
        assert len(set(found.values())) == 3, found
        assert found["vote"] > 0.8


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("options", OPTIONS[:4], ids=str)
def test_resumed_behind_every_iteration(tmp_path: Path, native: bool, options: dict[str, Any]) -> None:
    given = Sequences.of(tagging.sentences(4, 6), HISTORY)
    made = {**options, "native": native, "iterations": 3, "held_out": 0.3}
    every = steps(given, 9, **made)
    for number, step in enumerate(every):
        step.state.save(tmp_path / f"{number}-state")
        step.model.save(tmp_path / f"{number}-model")
        state, model = LearnerState.load(tmp_path / f"{number}-state"), Model.load(tmp_path / f"{number}-model")
        rest = list(Searn(**made).learn(whole(given), model, resume=state, seed=1))
        assert [one.model.digest() for one in rest] == [one.model.digest() for one in every[number + 1 :]]
        assert [(one.objective, one.metrics) for one in rest] == [
            (one.objective, one.metrics) for one in every[number + 1 :]
        ]


def test_seeds_and_workers() -> None:
    given = Sequences.of(tagging.sentences(4, 6), HISTORY)
    host = smt.load_plugins()
    digests = []
    for seed in (1, 2):
        runs = [Searn(native=False, roll_out="sampled").learn(whole(given), Model(), seed=seed)]
        runner = host.registry.make("runners", "processes,jobs=2")
        runs.append(Searn(native=False, roll_out="sampled").learn(whole(given), Model(), seed=seed, runner=runner))
        one, two = ([step.model.digest() for step in run] for run in runs)
        assert one == two
        digests.append(one[-1])
    assert len(set(digests)) == 2


class TestSequences:
    def test_the_task_keeps_to_its_contract(self) -> None:
        items = tagging.sentences(6, 5, values=True)
        given = Sequences.of(items, HISTORY)
        assert isinstance(given, OptimalTask)
        names = generic_names(given)
        assert_search_task(given, range(5), {name: (i * 7 % 5) - 2.0 for i, name in enumerate(names)})

    def test_features_are_cut_off(self) -> None:
        items = [[(["a", "b"], "X", "w"), (["a"], "Y", "v")], [(["a", "b", "c"], "X", "w")], [(["c", "d"], "Z", "v")]]
        given = Sequences.of(items, ("fragment",), min_count=2, trained=2)
        assert given.names == ("a", "b", "fragment=w", "fragment=", "fragment=<s>")
        assert given.labels == ("X", "Y", "Z")
        state = given.begin(2)
        assert given.features(state, ["X"]).row(0) == {"fragment=<s>|X": 1.0}
        state = given.after(given.begin(0), "X")
        assert given.features(state, ["Y"]).row(0) == {"a|Y": 1.0, "fragment=w|Y": 1.0}
        state = given.after(given.after(given.begin(0), "X"), "Y")
        assert state.history.stack == ("w", "v") or state.history.stack[0] == "w"

    def test_a_template_twice(self) -> None:
        with pytest.raises(UsageError, match="templates: expected each template once, found label, label"):
            Sequences.of([], ("label", "label"))

    @pytest.mark.parametrize("name", ["bleu", "wer"])
    def test_any_metric_is_a_loss(self, name: str) -> None:
        metric = smt.load_plugins().registry.make("metrics", name)
        items = [one for one in tagging.sentences(3, 12) if one]
        given = Sequences.of(items, ("label",), loss=metric)
        found = steps(given, iterations=2, roll_out="policy", beta=1.0)
        for s in range(3):
            gold = state = given.begin(s)
            while given.actions(state):
                gold = state = given.after(state, given.optimal(state))
            best = given.reward(gold)
            assert best == (0.0 if name == "wer" else pytest.approx(best))
            worse = given.begin(s)
            while given.actions(worse):
                worse = given.after(worse, given.labels[(given.labels.index(given.optimal(worse)) + 1) % 5])
            assert given.reward(worse) < best
        assert found[-1].metrics["accuracy"] > 0.3


class TestAnyTask:
    def test_a_task_that_does_not_know_what_is_optimal(self) -> None:
        problem = samples.task_problem(12)
        assert not isinstance(problem.search, OptimalTask)
        ways: list[dict[str, Any]] = [{}, {"roll_out": "policy"}, {"roll_out": "sampled", "samples": 2}]
        for options in ways:
            *_, last = Searn(**options).learn(problem, Model({"elsewhere": 2.0}))
            assert last.objective < -0.8
            assert "accuracy" not in last.metrics
            assert last.model.weights["elsewhere"] == 2.0

    def test_its_weights_are_the_mean_by_share(self) -> None:
        *_, last = Searn().learn(samples.task_problem(), Model())
        policy = last.model.artefacts["policy"]
        assert isinstance(policy, Policy)
        mean = policy.shares @ policy.weights[:, :, 0].astype(float)
        assert [last.model.weights[name] for name in policy.names] == pytest.approx(mean)

    def test_a_base_learner_of_ones_own(self) -> None:
        class Nearest:
            """Sums of the features of cheapest actions, less those of the others."""

            def train(self, examples: Any, random: Any, label: str) -> Any:
                weights = np.zeros(examples.size)
                for i in range(len(examples)):
                    actions, costs = examples.actions(i)
                    for (ids, values), cost in zip(actions, costs, strict=True):
                        np.add.at(weights, ids, values * (1.0 if cost == costs.min() else -1.0 / (len(costs) - 1)))
                return weights

        given = Sequences.of(tagging.sentences(4, 30), ("label",))
        one, two = (steps(given, base=Nearest(), native=native)[-1] for native in (True, False))
        assert one.objective == two.objective
        assert one.metrics["accuracy"] > 0.3


class TestWrongUse:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"iterations": 0}, "expected iterations and samples of 1 or more, found 0, 1"),
            ({"passes": 0}, "expected passes of 1 or more and a rate above 0, found 0, 0.1"),
            ({"base": "svm"}, "base: expected perceptron or logistic, found 'svm'"),
            ({"beta": 0.0}, "beta: expected a number above 0 and not above 1, or search, found 0.0"),
            ({"beta": "search"}, "beta=search: expected held-out examples, for instance held_out=0.1"),
            ({"held_out": 1.5}, "held_out: expected a fraction below 1 or a number of examples, found 1.5"),
            ({"roll_in": "gold"}, "roll_in: expected sampled, policy or optimal, found 'gold'"),
            ({"decide": "first"}, "decide: expected vote, draw or last, found 'first'"),
        ],
    )
    def test_options(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(UsageError) as caught:
            Searn(**options)
        assert message in str(caught.value)

    def test_nothing_to_learn(self) -> None:
        for native in (True, False):
            with pytest.raises(SmtError, match="expected examples to learn from, found none"):
                list(Searn(native=native).learn(TaskProblem(samples.Tagging(), []), Model()))
            one = whole(Sequences.of([[], [(["a"], "X")]]))
            with pytest.raises(
                SmtError, match="expected examples with actions to choose from, found only final states"
            ):
                list(Searn(native=native, held_out=1.0).learn(one, Model()))
            with pytest.raises(UsageError, match="held_out: expected fewer than the 2 examples, found 2"):
                list(Searn(native=native, held_out=2.0).learn(whole(Sequences.of([[], []])), Model()))

    def test_weights_that_grow_beyond_all_bounds(self) -> None:
        items = copy.deepcopy(tagging.sentences(1, values=True))
        for one in items:
            for item in one:
                item[0].update({name: value * 1e300 for name, value in item[0].items()})
        with pytest.raises(SmtError, match=r"no numbers|finite"):
            steps(Sequences.of(items), base="logistic", rate=1e10)
