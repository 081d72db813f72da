"""Features in Python in the undirected decoder, against functions of whole trees."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from smtplugins.contracts.adapters import SimpleStateful
from smtplugins.contracts.data import Sentence
from smtplugins.core.vocabulary import Vocabulary
from smtplugins.plugins.umt.features.carries import Carries, Completed, ScorerPart
from tests.plugins.umt.made import loose_forest, random_forest, span_forest
from tests.plugins.umt.ngrams import HOLE, Ngrams, count, total
from tests.plugins.umt.oracle import Action, Oracle, Plain, Tree
from tests.seeds import seeds

SENTENCE = Sentence("0", ("x",))
Totals = Callable[[Tree], Sequence[float]]


def known_ngrams(n: int) -> Totals:
    """What undirected n-grams are worth: those of a tree's text without open places."""

    def of(tree: Tree) -> list[float]:
        text = [token.word or HOLE for token in tree.text[0]]
        return [total(text, n), float(count(text, n))]

    return of


def completed(feature: SimpleStateful) -> Totals:
    """What a feature with states is worth where an edge counts when all below it is known."""

    def of(tree: Tree) -> list[float]:
        sums = np.zeros(getattr(feature, "components", 1))

        def visit(step: int) -> Any:
            edge = tree.edges[step]
            gaps = [one for one in edge.target if isinstance(one, int)]
            below = {k: visit(child) for k in range(len(edge.tails)) if (child := tree.child(step, k)) is not None}
            if any(below.get(k) is None for k in gaps):
                return None
            target = [one if isinstance(one, str) else gaps.index(one) for one in edge.target]
            score, state = feature.combine_one(target, [below[k][0] for k in gaps])
            nonlocal sums
            sums = sums + score
            return (state,)

        if tree.edges:
            state = visit(tree.top)
            if state is not None and tree.edges[tree.top].head == tree.goal:
                sums = sums + feature.finish_one(state[0])
        return [float(one) for one in np.atleast_1d(sums)]

    return of


class Depth(SimpleStateful):
    """Not a function of words: how deep a tree is, told by its states."""

    def combine_one(self, target: Any, tails: Any) -> tuple[float, Any]:
        depth = 1 + max(tails, default=0)
        return float(depth * (1 + len(target))), depth

    def finish_one(self, state: Any) -> float:
        return float(100 * state)


def parts(n: int) -> tuple[list[ScorerPart], list[Totals]]:
    """One that is undirected by itself, and two that are not."""
    feature = Ngrams(n)
    return (
        [
            ScorerPart(feature.undirected(SENTENCE), 2),
            ScorerPart(Completed(Depth().start(SENTENCE))),
            ScorerPart(Completed(feature.start(SENTENCE), 2), 2),
        ],
        [known_ngrams(n), completed(Depth()), completed(feature)],
    )


def begun(plain: Plain, given: Sequence[ScorerPart]) -> Carries:
    carries = Carries(Vocabulary(plain.words), given)
    carries.begin(*plain.target_columns())
    return carries


def scored(carries: Carries, plain: Plain, actions: Sequence[Action]) -> Any:
    """The values of actions at one place, as the kernel asks for them."""
    edges = [plain.edges[action[0]] for action in actions]
    found = carries.score(
        *actions[0][1:3],
        np.array([edge.number for edge in edges], dtype=np.int64),
        np.array([edge.rule for edge in edges], dtype=np.int32),
        np.array([len(edge.tails) for edge in edges], dtype=np.int32),
        np.array([action[3] for action in actions], dtype=np.int32),
        np.array([edge.head == plain.goal for edge in edges], dtype=np.uint8),
    )
    assert found.dtype == np.float64 and found.flags.c_contiguous and found.ndim == 1
    return found.reshape(len(actions), carries.components)


def attached(carries: Carries, plain: Plain, action: Action) -> list[tuple[int, int]]:
    number, step, link, slot = action
    edge = plain.edges[number]
    return carries.attach(step, link, number, edge.rule, len(edge.tails), slot, edge.head == plain.goal)


def grow(plain: Plain, n: int, rng: random.Random) -> int:
    """Grows a tree in any way; every candidate of every place is checked after each step."""
    given, totals = parts(n)
    carries = begun(plain, given)
    oracle = Oracle(plain)
    tree = oracle.begin()
    before: dict[tuple[int, int], Any] = {}
    told: list[tuple[int, int]] = []
    unchanged = 0
    worth = [value for one in totals for value in one(tree)]
    while actions := oracle.actions(tree):
        places: dict[tuple[int, int], list[Action]] = {}
        for action in actions:
            places.setdefault((action[1], action[2]), []).append(action)
        assert not set(told) - set(places)
        values = {place: scored(carries, plain, some) for place, some in places.items()}
        for place, some in places.items():
            for row, action in zip(values[place], some, strict=True):
                after = oracle.after(tree, action)
                expected = [value for one in totals for value in one(after)]
                assert row.tolist() == [a - b for a, b in zip(expected, worth, strict=True)]
            # What was not told of is as before.
            if place in before and place not in told:
                assert values[place].tolist() == before[place].tolist()
                unchanged += 1
        action = rng.choice(actions)
        told = attached(carries, plain, action)
        assert told == sorted(set(told))
        before = values
        tree = oracle.after(tree, action)
        worth = [value for one in totals for value in one(tree)]
        assert not any(place[0] == len(tree.edges) - 1 for place in told)
    words = ["<s>", *tree.words, "</s>"]
    assert worth[:2] == worth[3:5] == [total(words, n), count(words, n)]
    return unchanged


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_values_are_those_of_whole_trees(n: int) -> None:
    unchanged = sum(grow(random_forest(random.Random(seed)), n, random.Random(seed)) for seed in seeds(60))
    # Where nothing can have changed nothing is asked again.
    assert unchanged


def test_a_tree_is_begun_again() -> None:
    rng = random.Random(3)
    plain = span_forest(rng, 4)
    given, _ = parts(3)
    carries, oracle = begun(plain, given), Oracle(plain)
    values = []
    for _ in range(2):
        carries.reset()
        tree = oracle.begin()
        found = []
        while actions := oracle.actions(tree):
            action = actions[len(actions) // 2]
            found.append(scored(carries, plain, [action]).tolist())
            attached(carries, plain, action)
            tree = oracle.after(tree, action)
        values.append(found)
    assert values[0] == values[1]
    other = loose_forest(rng)
    carries.start([ScorerPart(Ngrams(2).undirected(SENTENCE), 2)])
    assert carries.components == 2
    carries.begin(*other.target_columns())
    leaves = Oracle(other).actions(Tree(other.goal))
    assert scored(carries, other, leaves).shape == (len(leaves), 2)


def test_a_place_takes_one_call_for_all_its_candidates() -> None:
    calls = []

    class Counted:
        def __init__(self) -> None:
            self.inner = Ngrams(2).undirected(SENTENCE)

        def attach(self, edges: Any, links: Any) -> Any:
            calls.append(len(edges))
            return self.inner.attach(edges, links)

    plain = span_forest(random.Random(5), 4)
    carries = begun(plain, [ScorerPart(Counted(), 2)])
    actions = Oracle(plain).actions(Tree(plain.goal))
    scored(carries, plain, actions)
    assert calls == [
        len({(plain.edges[action[0]].rule, plain.edges[action[0]].head == plain.goal) for action in actions})
    ]


def test_a_tail_that_the_target_side_leaves_out() -> None:
    """What is below it counts as by itself; the edge does not wait for it."""
    # 0 -> a | 1 -> b | goal 2 -> c [1], the other one is dropped.
    plain = Plain([[((), [0])], [((), [1])], [((0, 1), [2])]], [("a",), ("b",), ("c", 1)], [0.0] * 3, [0.0] * 3)
    feature = Depth()
    carries = begun(plain, [ScorerPart(Completed(feature.start(SENTENCE)))])
    path: list[Action] = [(1, -1, 0, -1), (2, 0, 0, 1), (0, 1, 1, -1)]
    values = []
    for action in path:
        values.append(scored(carries, plain, [action]).tolist())
        attached(carries, plain, action)
    assert values == [[[2.0]], [[2 * 3 + 200.0]], [[2.0]]]


class Wrong:
    """A scorer that gives what it was made with."""

    def __init__(self, scores: Any, contexts: Any) -> None:
        self.result = (scores, contexts)

    def attach(self, edges: Any, links: Any) -> Any:
        return self.result


def test_what_a_feature_gives_is_checked() -> None:
    plain = Plain([[((), [0])]], [("a",)], [0.0], [0.0])
    action = (0, -1, 0, -1)
    with pytest.raises(ValueError, match="expected 1 scores for each of 1 edges, found 2"):
        scored(begun(plain, [ScorerPart(Wrong([1.0, 2.0], [[()]]))]), plain, [action])
    with pytest.raises(ValueError, match="expected finite scores"):
        scored(begun(plain, [ScorerPart(Wrong([float("nan")], [[()]]))]), plain, [action])
    with pytest.raises(ValueError, match="expected 1 contexts, one for each link, found 2"):
        attached(begun(plain, [ScorerPart(Wrong([1.0], [[(), ()]]))]), plain, action)
