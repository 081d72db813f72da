"""The generative transducer: probabilities, EM, and the search with its costs."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import pytest

from smtplugins.plugins.bitree.transduce.generative import Backoff, Generative, most_probable, train
from smtplugins.plugins.bitree.transduce.joins import heads_of
from smtplugins.plugins.bitree.transduce.search import SearchLimits, search
from smtplugins.plugins.bitree.trees.bitrees import ORDERS, Bitree, Join
from smtplugins.plugins.bitree.trees.source_trees import TreeMaker
from tests.plugins.bitree.made_bitrees import bitrees, random_bitree


def test_interpolation_with_shorter_contexts() -> None:
    counted = Backoff((2, 1))
    for context, outcome in ((("a", "b"), "x"), (("a", "b"), "x"), (("a", "c"), "y")):
        counted.add(context, outcome)
    # a: 3 seen, 2 kinds; a b: 2 seen, 1 kind.
    shorter = (2 + 2 * 0.25) / 5
    assert counted.probability(("a", "z"), "x", 0.25) == shorter
    assert counted.probability(("a", "b"), "x", 0.25) == (2 + shorter) / 3
    assert counted.probability(("q", "b"), "x", 0.25) == 0.25
    whole = Backoff((2, 1), smooth=False)
    whole.add(("a", "b"), "x")
    assert whole.probability(("a", "b"), "x") == 1
    assert whole.probability(("a", "c"), "x") == 0


def test_probabilities_sum_to_one() -> None:
    draw = random.Random(2)
    made = [random_bitree(draw, draw.randrange(1, 7)) for _ in range(60)]
    for model in train(made, iterations=3):
        for word, names in model.candidates.items():
            for above in ("x", "y", "", "never seen"):
                assert math.isclose(sum(model.sibling(word, above, name) for name in names), 1)
                assert math.isclose(sum(model.root(word, above, name) for name in names), 1)
        for bitree in made[:10]:
            for join, _ in most_probable(model, bitree):
                assert math.isclose(sum(model.order(bitree.tree, join, "x", order) for order in (0, 1)), 1)
    assert model.word("never seen", "") == 1


def test_em_never_makes_it_worse() -> None:
    draw = random.Random(4)
    made = [_flat(draw, draw.randrange(3, 7)) for _ in range(80)]
    costs = []
    for model in train(made, iterations=6, smooth=False):
        paths = [most_probable(model, one) for one in made]
        costs.append(sum(model.cost(one, path) for one, path in zip(made, paths, strict=True)))
    assert all(after <= before + 1e-9 for before, after in itertools.pairwise(costs))
    assert costs[-1] < costs[0] - 1
    assert math.isfinite(costs[-1])


def _flat(draw: random.Random, size: int) -> Bitree:
    """A node over words that are all the same, so that orders of joins have much in common."""
    maker = TreeMaker(("a",) * size, ("T",) * size)
    maker.add("X", tuple(range(size)), size // 2)
    return Bitree(maker.tree("constituents"), ("x",) * size, tuple(draw.sample(range(size), size)))


def test_the_most_probable_sequence_is_that_of_enumeration() -> None:
    draw = random.Random(6)
    made = [random_bitree(draw, draw.randrange(2, 8)) for _ in range(40)]
    *_, model = train(made, iterations=2)
    for bitree in made:

        def cost(path: list[tuple[Join, int]], given: Bitree = bitree) -> float:
            names = [given.translations[heads_of(given.tree, join)[0]] for join, _ in path]
            pairs = zip(path, names, strict=True)
            return sum(-math.log(model.order(given.tree, join, name, order)) for (join, order), name in pairs)

        wanted = sum(min(map(cost, bitree.paths(node))) for node in bitree.orders)
        assert math.isclose(cost(most_probable(model, bitree)), wanted, abs_tol=1e-9)


def test_the_search_finds_costs_of_the_model(tmp_path: Path) -> None:
    made = bitrees(1, 60)
    *_, model = train(made, iterations=2)
    model.save(tmp_path)
    again = Generative.load(tmp_path)
    right = 0
    for bitree in bitrees(2, 20):
        found = search(bitree.tree, model.start(bitree.tree), SearchLimits(0.0, 0))
        path = [(edge.join, edge.order) for _, edge in found.derivation() if edge.join is not None]
        mine = type(bitree)(bitree.tree, tuple(found.translations()), bitree.places)
        assert math.isclose(found.cost, model.cost(mine, path))
        same = search(bitree.tree, again.start(bitree.tree), SearchLimits(0.0, 0))
        assert (same.cost, same.target()) == (found.cost, found.target())
        order = sorted(range(len(bitree.tree)), key=bitree.places.__getitem__)
        right += found.target() == [bitree.translations[k] for k in order]
    assert right == 20
    assert ORDERS == ("keep", "swap")


def test_counts_are_checked(tmp_path: Path) -> None:
    Generative().save(tmp_path)
    (tmp_path / "pairs.tsv").write_text("x\ty\n")
    with pytest.raises(Exception, match=r"pairs.tsv:1: expected a count, an outcome and a context, found 'x"):
        Generative.load(tmp_path)
