"""Permutation classifiers: what they see, what they learn, and the discriminative transducer in a folder."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest

from smtformats.tree.trees import tree_of
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.plugins.bitree.boosting.boosted_model import costs
from smtplugins.plugins.bitree.boosting.examples import Examples
from smtplugins.plugins.bitree.transduce.joins import JoinAtoms, JoinCosts, join_problem, production
from smtplugins.plugins.bitree.transduce.search import SearchLimits, search
from smtplugins.plugins.bitree.transduce.transducer import Transducer
from smtplugins.plugins.bitree.transduce.transducing import JoinRecipe, learn_discriminative, right_orders, shaped
from smtplugins.plugins.bitree.trees.bitrees import ORDERS, Bitree, Join
from smtplugins.plugins.bitree.trees.tree_making import from_brackets
from smtplugins.plugins.bitree.words.material import Pair
from tests.plugins.bitree.made_bitrees import bitrees, text, word_model


def _phrase() -> Bitree:
    tree = from_brackets(tree_of("(NP (DT the) (JJ red) (NN house))", 10))
    return Bitree.of(tree, ("la", "maison", "rouge"), {0: 0, 1: 2, 2: 1})


def test_what_a_join_is_known_by() -> None:
    bitree = _phrase()
    join = Join(3, 2, 3, 1)
    assert production(bitree.tree, join) == ("NP'", "NN", "JJ", "left")
    assert production(bitree.tree, Join(3, 1, 3, 0)) == ("NP", "NP'", "DT", "left")
    numbers: dict[str, int] = {}
    row = JoinAtoms(bitree.tree, numbers, grow=True).row(join, "maison", "rouge")
    assert row == sorted(numbers.values())
    assert {
        "head.word=house",
        "sibling.word=red",
        "head.w-1=red",
        "sibling.t-1=DT",
        "head.child=JJ",
        "sibling.parent-head=house",
        "head-translation=maison",
        "sibling-translation=rouge",
        "rule=NP'/NN/JJ/left",
        "rule-head=NP'/NN/JJ/left|house/maison",
        "rule-sibling=NP'/NN/JJ/left|red/rouge",
        "rule-both=NP'/NN/JJ/left|house/maison|red/rouge",
    } <= numbers.keys()


def test_rows_of_many_translations() -> None:
    bitree = _phrase()
    numbers: dict[str, int] = {}
    grown = JoinAtoms(bitree.tree, numbers, grow=True)
    join = Join(3, 2, 3, 1)
    grown.row(join, "maison", "rouge")
    atoms = JoinAtoms(bitree.tree, numbers, grow=False)
    rows, where = atoms.rows(join, ["maison", "chat", "chien"], ["vieux", "rouge"])
    # Two translations that are not known make the same rows.
    assert len(rows) == 4
    assert where == [0, 1, 2, 3, 2, 3]
    assert rows[1] == atoms.row(join, "maison", "rouge")
    assert rows[2] == atoms.row(join, "x", "y")


def test_examples_are_candidates_of_states() -> None:
    problem = join_problem([_phrase()])
    assert problem.names == ORDERS
    # First rouge joins from the other side; then la, from the left.
    assert problem.classes.tolist() == [1, 0]
    assert "rule=NP'/NN/JJ/left" in problem.examples.row(0)
    assert "rule=NP/NP'/DT/left" in problem.examples.row(1)
    assert len(join_problem([]).examples) == 0


def test_a_transducer_learns_what_changes_places(tmp_path: Path) -> None:
    words = word_model(1, 80)
    made = learn_discriminative(bitrees(1, 80), words, JoinRecipe(least=0.5, held_out=0.2))
    made.save(tmp_path)
    again = Transducer.load(tmp_path)
    assert (again.kind, again.trees, again.trained) == ("discriminative", "constituents", made.trained)
    assert made.trained["right"] == 1
    for bitree in bitrees(2, 15):
        found = search(bitree.tree, made.start(bitree.tree), every=True)
        order = sorted(range(len(bitree.tree)), key=bitree.places.__getitem__)
        assert found.target() == [bitree.translations[k] for k in order]
        same = search(bitree.tree, again.start(bitree.tree), SearchLimits(0.0, 0))
        assert same.cost == found.cost
        # The cost is that of the inferences, each by itself.
        assert math.isclose(found.cost, _cost(made, found.translations(), bitree, found))


def _cost(made: Transducer, names: list[str], bitree: Bitree, found: object) -> float:
    assert made.joins is not None and made.words is not None
    total = 0.0
    for (known, confidence), name in zip(made.words.confidences(bitree.tree.words, bitree.tree), names, strict=True):
        total += math.log1p(math.exp(-confidence[known.index(name)]))
    for item, edge in found.derivation():  # type: ignore[attr-defined]
        if edge.join is not None:
            numbers: dict[str, int] = {}
            JoinAtoms(bitree.tree, numbers, grow=True).row(edge.join, names[item.word], names[edge.sibling.word])
            row = Examples.of([list(numbers)], made.joins.atoms)
            total += math.log1p(math.exp(-made.joins.scores("join", row)[0][edge.order]))
    return total


def test_costs_of_atoms_that_trees_ask_for_are_those_of_all() -> None:
    given = bitrees(3, 60)
    made = learn_discriminative(given, word_model(3, 60), JoinRecipe(least=0.5, held_out=0.0))
    assert made.joins is not None
    bitree = given[0]
    own = JoinCosts(made.joins)
    for one in bitree.sequence(random.Random(1)):
        found = own.orders(own.atoms(bitree.tree), one.join, ["maison", "chat"], ["le", "rouge", "x"])
        for h, head in enumerate(["maison", "chat"]):
            for s, sibling in enumerate(["le", "rouge", "x"]):
                numbers: dict[str, int] = {}
                JoinAtoms(bitree.tree, numbers, grow=True).row(one.join, head, sibling)
                row = Examples.of([list(numbers)], made.joins.atoms)
                assert np.allclose(found[:, h, s], costs(made.joins.scores("join", row)[0]))


def test_right_orders_by_lambda() -> None:
    made = learn_discriminative(bitrees(5, 60), word_model(5, 60), JoinRecipe(least=0.5, held_out=0.0))
    assert made.joins is not None
    curve = right_orders(made.joins, join_problem(bitrees(6, 30)))
    assert curve[-1] == (0.5, 1.0)
    assert curve[0][1] < 1


def test_shapes_and_kinds_are_checked(tmp_path: Path) -> None:
    pairs = shaped([Pair(("a", "b", "c"), ("x", "y", "z"), ((0, 1), (1, 0), (1, 2)))], "right-branching")
    # b is linked to words on both sides of a's.
    assert pairs[0].links in (((0, 1), (1, 0)), ((0, 1), (1, 2)), ((1, 0), (1, 2)))
    mixed = [*bitrees(1, 1), Bitree.of(pairs[0].tree, ("x",), {})]  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected source trees of one kind, found constituents, right-branching"):
        learn_discriminative(mixed, word_model(1, 5))
    (tmp_path / "transducer.json").write_text('{"version": 1, "kind": "both", "trees": "constituents"}')
    with pytest.raises(SmtError, match="expected a kind of model and of trees, found 'both' and 'constituents'"):
        Transducer.load(tmp_path)
    assert text(1, 1) == text(1, 1)
