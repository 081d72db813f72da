"""The native kernel against the oracle: every action, score and value, and all that could be done at every step.

Numbers are multiples of 1/64 and weights and scales powers of two, so that both are exact and ties are ties.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins.contracts.data import Sentence
from smtplugins.core.search.stateful_search import forest_of_parse, lm_scorer
from smtplugins.core.vocabulary import Vocabulary
from smtplugins.plugins.umt.features.carries import Carries, Completed, ScorerPart
from smtplugins.plugins.umt.growing.search import SLOTS, Searcher, lm_part, python_part
from tests.plugins.umt.features.test_carries import Depth, completed, known_ngrams
from tests.plugins.umt.made import (
    bound_options,
    dyadic,
    language_model,
    loose_forest,
    random_forest,
    seeded_forest,
    span_forest,
)
from tests.plugins.umt.ngrams import Ngrams
from tests.plugins.umt.oracle import Action, Cff, Lm, Oracle, Plain, Totals
from tests.plugins.umt.test_oracle import parsed
from tests.seeds import seeds

SENTENCE = Sentence("0", ("x",))
EXACT = [0.0, 0.25, 0.5, 1.0, 2.0, -0.5]


class Pair:
    """Kernel and oracle with the same features and weights, at work on one forest."""

    def __init__(
        self,
        plain: Plain,
        rng: random.Random,
        *,
        cff: Any = "sum",
        scale: float = 1.0,
        lms: Sequence[tuple[Any, str]] = (),
        n: int = 0,
        fixed: Sequence[float] | None = None,
    ) -> None:
        bounds = {
            "sum": [Cff(plain, 1, scale)],
            "difference": [Cff(plain, 1, scale, True)],
            "slots": [Cff(plain, SLOTS, scale)],
            "none": [],
        }[cff]
        features: list[Any] = [*bounds, *(Lm(model, mode) for model, mode in lms)]
        parts = [lm_part(lm_scorer(model, plain.words), mode) for model, mode in lms]
        if n:
            ngrams = Ngrams(n)
            features += [
                Totals(known_ngrams(n), 2),
                Totals(completed(Depth())),
                Totals(completed(ngrams), 2),
            ]
            carries = Carries(Vocabulary(plain.words))
            carries.start(
                [
                    ScorerPart(ngrams.undirected(SENTENCE), 2),
                    ScorerPart(Completed(Depth().start(SENTENCE))),
                    ScorerPart(Completed(ngrams.start(SENTENCE), 2), 2),
                ]
            )
            parts.append(python_part(carries, carries.components))
        width = sum(one.components for one in features)
        self.weights = [rng.choice(EXACT) for _ in range(width)] if fixed is None else list(fixed)
        self.oracle = Oracle(plain, features, self.weights)
        self.search = Searcher(parts, bound_options(cff, scale))
        assert self.search.components == width
        self.begin()

    def begin(self) -> None:
        plain = self.oracle.plain
        self.search.begin(plain.native(), plain.scores, plain.bounds, self.weights)

    def assert_same_ranking(self, prefix: Sequence[Action], tolerance: float = 0.0) -> None:
        rows, scores = self.search.ranked(prefix)
        expected = self.oracle.ranked(prefix)
        if tolerance:
            found = dict(zip(map(tuple, rows.tolist()), scores.tolist(), strict=True))
            assert found == pytest.approx({action: score for score, action in expected}, abs=tolerance)
            assert sorted(scores.tolist(), reverse=True) == scores.tolist()
            return
        assert [tuple(row) for row in rows.tolist()] == [action for _, action in expected]
        assert scores.tolist() == [score for score, _ in expected]

    def assert_same_path(self, prefix: Sequence[Action] = ()) -> list[Action]:
        found, expected = self.search.follow(prefix), self.oracle.follow(prefix)
        actions = [tuple(row) for row in found.actions.tolist()]
        assert actions == expected.actions
        assert found.scores.tolist() == expected.scores
        if self.search.components:
            assert found.values.tolist() == expected.values
        return expected.actions

    def assert_same_values(self, prefix: Sequence[Action]) -> None:
        """What each action has after a prefix."""
        tree = self.oracle.replay(prefix).tree
        actions = self.oracle.actions(tree)
        found = self.search.values(prefix, actions)
        assert found.shape == (len(actions), self.search.components)
        if self.search.components:
            assert found.tolist() == [self.oracle.value(tree, action)[1] for action in actions]

    def random_prefix(self, rng: random.Random, most: int = 1000) -> list[Action]:
        tree, prefix = self.oracle.begin(), []
        while len(prefix) < most and (actions := self.oracle.actions(tree)):
            prefix.append(rng.choice(actions))
            tree = self.oracle.after(tree, prefix[-1])
        return prefix


def check(pair: Pair, rng: random.Random) -> None:
    """The best path, what there was to choose at each of its steps, and the same of a path taken in any way."""
    for path in (pair.assert_same_path(), pair.random_prefix(rng)):
        for length in range(len(path) + 1):
            pair.assert_same_ranking(path[:length])
        pair.assert_same_values(path[: rng.randint(0, len(path))])
        pair.assert_same_path(path[: rng.randint(0, len(path))])
        pair.assert_same_path(path)


@pytest.mark.parametrize("cff", ["sum", "difference", "slots", "none"])
def test_bounds_alone(cff: str) -> None:
    for seed in seeds(60):
        plain, rng = seeded_forest(seed)
        check(Pair(plain, rng, cff=cff, scale=rng.choice([1.0, 8.0])), rng)


@pytest.mark.parametrize("mode", ["delta", "rescored"])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_language_model(mode: str, order: int, tmp_path: Path) -> None:
    for seed in seeds(40):
        plain, rng = seeded_forest(seed)
        lms = [(language_model(rng, order, tmp_path), mode)]
        check(Pair(plain, rng, cff=rng.choice(["sum", "slots", "none"]), scale=2.0, lms=lms), rng)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_language_model_split_by_context(order: int, tmp_path: Path) -> None:
    for seed in seeds(25):
        plain, rng = seeded_forest(seed)
        # Means are not exact: they have no weight, and are compared as they are.
        width = 3 * order
        weights = [1.0, *(rng.choice(EXACT) for _ in range(2 * order)), *[0.0] * order]
        pair = Pair(plain, rng, lms=[(language_model(rng, order, tmp_path), "split")], fixed=weights)
        assert pair.search.components == 1 + width
        check(pair, rng)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_features_in_python(n: int, tmp_path: Path) -> None:
    for seed in seeds(25):
        plain, rng = seeded_forest(seed)
        lms = [(language_model(rng, 3, tmp_path), rng.choice(["delta", "rescored"]))] * rng.randint(0, 2)
        check(Pair(plain, rng, n=n, lms=lms), rng)


@pytest.mark.parametrize("mode", ["delta", "rescored", "split"])
def test_rules_that_have_the_marks_themselves(mode: Any, tmp_path: Path) -> None:
    """Where the goal's rules have ``<s>`` and ``</s>`` as words all is as if the goal brought them."""
    for seed in seeds(40):
        plain, rng = seeded_forest(seed)
        model = language_model(rng, rng.randint(2, 4), tmp_path)
        # Rules of the goal are its own.
        own = [rule for _, rules in plain.nodes[-1] for rule in rules]
        targets = [*plain.targets, *(("<s>", *plain.targets[rule], "</s>") for rule in own)]
        scores = [*plain.scores, *(plain.scores[rule] for rule in own)]
        bounds = [*plain.bounds, *(plain.bounds[rule] for rule in own)]
        numbers = iter(range(len(plain.targets), len(targets)))
        goal = [(tails, [next(numbers) for _ in rules]) for tails, rules in plain.nodes[-1]]
        marked = Plain([*plain.nodes[:-1], goal], targets, scores, bounds)
        weights = [0.5, 0.25, *[0.0] * (3 * model.order - 1 if mode == "split" else 0)]
        oracle = Oracle(plain, [Cff(plain), Lm(model, mode)], weights)
        search = Searcher([lm_part(lm_scorer(model, marked.words, markers=True), mode)])
        search.begin(marked.native(), scores, bounds, weights)
        for _ in range(2):
            expected = oracle.follow()
            found = search.follow(expected.actions[: rng.randint(0, len(expected.actions))])
            assert [tuple(row) for row in found.actions.tolist()] == expected.actions
            assert found.values.tolist() == expected.values
            assert found.scores.tolist() == expected.scores


def test_estimates_are_in_the_bounds(tmp_path: Path) -> None:
    for seed in seeds(60):
        plain, rng = seeded_forest(seed)
        lms = [Lm(language_model(rng, 3, tmp_path), "rescored"), Lm(language_model(rng, 2, tmp_path))]
        guessed = [rng.choice(EXACT), rng.choice(EXACT)]
        bounds = [
            bound + sum(weight * lm.estimate(target) for weight, lm in zip(guessed, lms, strict=True))
            for bound, target in zip(plain.bounds, plain.targets, strict=True)
        ]
        pair = Pair(replace(plain, bounds=bounds), rng, lms=[(lm.model, lm.mode) for lm in lms])
        pair.search.begin(plain.native(), plain.scores, plain.bounds, pair.weights, guessed)
        check(pair, rng)


@pytest.mark.parametrize("cff", ["sum", "difference", "slots", "none"])
def test_what_actions_change(cff: str, tmp_path: Path) -> None:
    """Scores less the bounds of what is filled; each action is there, the best of the unchanged scores first."""
    for seed in seeds(40):
        plain, rng = seeded_forest(seed)
        pair = Pair(plain, rng, cff=cff, scale=2.0, lms=[(language_model(rng, 3, tmp_path), "delta")])
        path = pair.random_prefix(rng)
        tree = pair.oracle.begin()
        for length in range(len(path) + 1):
            rows, changes = pair.search.expanded(path[:length])
            expected = []
            for score, action in pair.oracle.ranked(path[:length]):
                filled = [] if cff == "none" else pair.oracle.features[0].filled(tree, *action[1:3])
                less = sum(weight * one for weight, one in zip(pair.weights, filled, strict=False))
                expected.append((action, score if cff == "difference" else score - less))
            assert [(tuple(row), one) for row, one in zip(rows.tolist(), changes.tolist(), strict=True)] == expected
            if length < len(path):
                tree = pair.oracle.after(tree, path[length])


@pytest.mark.parametrize("cff", ["sum", "difference", "slots", "none"])
def test_changes_add_up_to_what_the_tree_is_worth(cff: Any, tmp_path: Path) -> None:
    """Whatever is counted for a branch that is missing is taken back when it comes, joins among it."""
    for seed in seeds(40):
        plain, rng = seeded_forest(seed)
        model = language_model(rng, 3, tmp_path)
        search = Searcher([lm_part(lm_scorer(model, plain.words))], bound_options(cff, 2.0, joins=True))
        weights = [0.7] * (search.components - 1)
        search.begin(plain.native(), plain.scores, plain.bounds, [*weights, 0.5], [0.3])
        found = search.draw(temperature=5.0, seed=seed)
        total = 0.0
        for length, action in enumerate(found.actions.tolist()):
            rows, changes = search.expanded(found.actions[:length])
            total += dict(zip(map(tuple, rows.tolist()), changes.tolist(), strict=True))[tuple(action)]
        worth = sum(plain.edges[edge].score for edge in found.actions[:, 0].tolist()) + 0.5 * found.values[:, -1].sum()
        assert total == pytest.approx(worth, abs=1e-4)


def test_sentences_follow_each_other(tmp_path: Path) -> None:
    rng = random.Random(7)
    model = language_model(rng, 3, tmp_path)
    forests = [seeded_forest(seed)[0] for seed in seeds(30)]
    words = sorted({word for plain in forests for word in plain.words})
    search = Searcher([lm_part(lm_scorer(model, words), "delta")])
    for plain in forests:
        # The numbers of words are those of all forests.
        extra = replace(plain, targets=[*plain.targets, tuple(words)], scores=[*plain.scores, 0.0])
        extra = replace(extra, bounds=[*plain.bounds, 0.0])
        assert extra.words == words
        weights = [rng.choice(EXACT) for _ in range(2)]
        oracle = Oracle(extra, [Cff(extra), Lm(model)], weights)
        for _ in range(2):
            search.begin(extra.native(), extra.scores, extra.bounds, weights)
            expected = oracle.follow()
            found = search.follow()
            assert [tuple(row) for row in found.actions.tolist()] == expected.actions
            assert found.values.tolist() == expected.values


def test_path_sums_are_what_the_translation_is_worth(tmp_path: Path) -> None:
    for seed in seeds(60):
        plain, rng = seeded_forest(seed)
        model = language_model(rng, 3, tmp_path)
        pair = Pair(plain, rng, lms=[(model, "delta")], n=2)
        found = pair.search.follow(pair.random_prefix(rng, rng.randint(0, 8)))
        tree = pair.oracle.replay([tuple(row) for row in found.actions.tolist()]).tree
        _, lm, *rest = found.values.sum(axis=0).tolist()
        assert lm == pytest.approx(float(model.score_sentences([" ".join(tree.words)])[0][0]), abs=1e-5)
        assert rest == [*known_ngrams(2)(tree), *completed(Depth())(tree), *completed(Ngrams(2))(tree)]


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_with_exact_bounds_the_best_derivation_is_found(first: int) -> None:
    for seed in seeds(50):
        made, rng = seeded_forest(first + seed)
        scores = [float(np.float32(rng.uniform(-2, 1))) for _ in made.targets]
        plain = replace(made, scores=scores, bounds=scores)
        pair = Pair(plain, rng, fixed=[1.0])
        found = pair.search.follow()
        score = sum(plain.edges[edge].score for edge in found.actions[:, 0].tolist())
        assert score == pytest.approx(plain.inside[plain.goal], abs=1e-5)
        for length in range(len(found) + 1):
            pair.assert_same_ranking([tuple(row) for row in found.actions.tolist()][:length], 1e-6)


def test_any_numbers_give_the_same_to_rounding(tmp_path: Path) -> None:
    for seed in seeds(40):
        made, rng = seeded_forest(seed)
        scores = [float(np.float32(rng.uniform(-2, 1))) for _ in made.targets]
        plain = replace(made, scores=scores)
        weights = [rng.uniform(-1, 1) for _ in range(SLOTS + 2 + 5)]
        lms = [(language_model(rng, 3, tmp_path), "delta"), (language_model(rng, 2, tmp_path), "rescored")]
        pair = Pair(plain, rng, cff="slots", scale=8.5, lms=lms, n=2, fixed=weights)
        path = pair.random_prefix(rng)
        for length in range(len(path) + 1):
            pair.assert_same_ranking(path[:length], 1e-5)
        found = pair.search.follow(path)
        expected = pair.oracle.replay(path)
        assert found.scores.tolist() == pytest.approx(expected.scores, abs=1e-5)
        assert np.allclose(found.values, expected.values, atol=1e-5)


def test_drawn_paths_are_paths(tmp_path: Path) -> None:
    for seed in seeds(30):
        plain, rng = seeded_forest(seed)
        pair = Pair(plain, rng, lms=[(language_model(rng, 3, tmp_path), "delta")], n=2)
        prefix = pair.random_prefix(rng, rng.randint(0, 3))
        found = pair.search.draw(prefix, temperature=2.0, seed=seed)
        actions = [tuple(row) for row in found.actions.tolist()]
        assert actions[: len(prefix)] == prefix
        expected = pair.oracle.replay(actions)
        assert not expected.tree.open()
        assert found.scores.tolist() == expected.scores
        assert found.values.tolist() == expected.values
        again = pair.search.draw(prefix, temperature=2.0, seed=seed)
        assert again.actions.tolist() == found.actions.tolist()


def test_actions_that_cannot_be_are_refused() -> None:
    rng = random.Random(1)
    plain = span_forest(rng, 4)
    pair = Pair(plain, rng)
    path = pair.random_prefix(rng)
    tree = pair.oracle.begin()
    refused = 0
    for length, action in enumerate(path):
        possible = set(pair.oracle.actions(tree))
        for _ in range(60):
            step, link, slot = rng.randint(-1, length), rng.randint(0, 3), rng.randint(-1, 2)
            other = (rng.randrange(-1, len(plain.edges) + 1), step, link, slot)
            if other in possible:
                pair.search.follow([*path[:length], other])
            else:
                refused += 1
                with pytest.raises(ValueError):
                    pair.search.follow([*path[:length], other])
        tree = pair.oracle.after(tree, action)
    assert refused > 100


def test_a_failure_in_python_comes_through() -> None:
    class Fails:
        def attach(self, edges: Any, links: Any) -> Any:
            raise RuntimeError("no such thing")

    plain = loose_forest(random.Random(2))
    carries = Carries(Vocabulary(plain.words), [ScorerPart(Fails())])
    search = Searcher([python_part(carries, 1)])
    search.begin(plain.native(), plain.scores, plain.bounds, [1.0, dyadic(random.Random(1))])
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no such thing"):
            search.follow()


def test_parsed_forests(tmp_path: Path) -> None:
    """A sentence as decoders have it, with words that are numbered in the tables of a grammar."""
    rng = random.Random(1)
    forest = parsed()
    plain = Plain.of_parsed(forest)
    words = forest.tables.words
    model = language_model(rng, 3, tmp_path)
    ngrams = Ngrams(2)
    carries = Carries(words, [ScorerPart(ngrams.undirected(SENTENCE), 2)])
    lm = lm_scorer(model, [words.word(i) for i in range(len(words))])
    search = Searcher([lm_part(lm, "delta"), python_part(carries, 2)], bound_options("slots", 2.0))
    for _ in range(20):
        weights = [rng.choice(EXACT) for _ in range(SLOTS + 3)]
        search.begin(forest_of_parse(forest), plain.scores, plain.bounds, weights)
        features = [Cff(plain, SLOTS, 2.0), Lm(model), Totals(known_ngrams(2), 2)]
        oracle = Oracle(plain, features, weights)
        expected = oracle.follow()
        found = search.follow()
        assert [tuple(row) for row in found.actions.tolist()] == expected.actions
        assert found.scores.tolist() == expected.scores
        assert found.values.tolist() == expected.values


def test_a_rule_may_drop_a_tail_but_not_use_it_twice(tmp_path: Path) -> None:
    rng = random.Random(7)
    for _ in seeds(60):
        whole = random_forest(rng)
        targets = [tuple(x for x in one if isinstance(x, str) or rng.random() < 0.6) for one in whole.targets]
        plain = replace(whole, targets=targets)
        model = language_model(rng, 3, tmp_path)
        part = lm_part(lm_scorer(model, plain.words), rng.choice(("delta", "rescored", "split")))
        search = Searcher([part])
        search.begin(plain.native(), plain.scores, plain.bounds, [0.5] * search.components)
        found = search.follow()
        for length in range(len(found)):
            # Scored anew from the beginning, the action taken is still the best: no change went unnoticed.
            _, scores = search.ranked(found.actions[:length])
            assert scores[0] == pytest.approx(found.scores[length], abs=1e-6)
    leaf, twice = ("a",), (0, "b", 0)
    plain = Plain([[((), [0])], [((0,), [1])]], [leaf, twice], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(ValueError, match="found a tail twice"):
        Searcher().begin(plain.native(), plain.scores, plain.bounds, [1.0])


def score(model: Any, words: Sequence[str]) -> float:
    """The log10 probability of a piece of text, nothing being known before it."""
    begun = list(words[:1]) == ["<s>"]
    return sum(one for one, _, _ in model.full_scores(" ".join(words[begun:]), begun, False))


@pytest.mark.parametrize("mode", ["sum", "difference"])
def test_bounds_with_joins_are_those_of_the_best_branches(mode: Any, tmp_path: Path) -> None:
    rng = random.Random(11)
    for _ in seeds(60):
        plain, model = random_forest(rng), language_model(rng, 3, tmp_path)
        weight = 0.5
        inside: list[tuple[float, list[str]]] = []
        joins: dict[int, float] = {}
        number = 0
        for node, bundles in enumerate(plain.nodes):
            best = (float("-inf"), [""])
            for tails, rules in bundles:
                alone = []
                for rule in rules:
                    texts = " ".join(x if isinstance(x, str) else "|" for x in plain.targets[rule]).split("|")
                    own = sum(score(model, one.split()) for one in texts)
                    alone.append(plain.bounds[rule] + weight * own)
                at = max(range(len(rules)), key=lambda i: (alone[i], -i))
                words: list[str] = []
                apart = 0.0
                for one in plain.targets[rules[at]]:
                    words += [one] if isinstance(one, str) else inside[tails[one]][1]
                    apart += 0.0 if isinstance(one, str) else score(model, inside[tails[one]][1])
                texts = " ".join(x if isinstance(x, str) else "|" for x in plain.targets[rules[at]]).split("|")
                apart += sum(score(model, one.split()) for one in texts)
                whole = ["<s>", *words, "</s>"] if node == plain.goal else words
                join = weight * (score(model, whole) - apart)
                for _ in rules:
                    joins[number] = join
                    number += 1
                total = alone[at] + join + sum(inside[tail][0] for tail in tails)
                if total > best[0]:
                    best = (total, words)
            inside.append(best)
        search = Searcher([lm_part(lm_scorer(model, plain.words))], bound_options(mode, 2.0, joins=True))
        search.begin(plain.native(), plain.scores, plain.bounds, [1.0, 1.0], [weight])
        found = search.follow()
        for step, (edge, place, link, slot) in enumerate(found.actions.tolist()):
            one = plain.edges[edge]
            if place < 0 or slot >= 0:
                # The outside of nodes follows from the same numbers.
                continue
            below = sum(inside[tail][0] for tail in one.tails)
            wanted = below + (joins[edge] if one.tails else 0.0)
            if mode == "difference":
                above = plain.edges[found.actions[place, 0]]
                wanted -= inside[above.tails[link - 1]][0]
            assert found.values[step, 0] == pytest.approx(wanted / 2.0, abs=1e-4)
