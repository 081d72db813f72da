"""Train a transducer on aligned text with source trees: bitrees, permutation classifiers, generative counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel
from smtplugins.plugins.bitree.boosting.boosting import boost
from smtplugins.plugins.bitree.boosting.examples import Problem
from smtplugins.plugins.bitree.transduce.generative import most_probable
from smtplugins.plugins.bitree.transduce.generative import train as train_generative
from smtplugins.plugins.bitree.transduce.joins import PROBLEM, join_problem
from smtplugins.plugins.bitree.transduce.transducer import Transducer
from smtplugins.plugins.bitree.trees.bitrees import Bitree
from smtplugins.plugins.bitree.trees.cohesion import cohesive
from smtplugins.plugins.bitree.trees.tree_making import Shape, branching
from smtplugins.plugins.bitree.words.links import one_to_one
from smtplugins.plugins.bitree.words.material import Pair, count_links
from smtplugins.plugins.bitree.words.predicting import lambdas
from smtplugins.plugins.bitree.words.word_model import WordModel

Say = Callable[[str], None]


def _silent(text: str) -> None:
    return None


@dataclass(frozen=True)
class JoinRecipe:
    """Options of permutation learning: the path ends at ``least``; the last ``held_out`` fraction chooses lambda.

    ``least`` is by default a thousandth of the number of examples, but at least 1: all joins form a single problem, and
    gradients grow with its size.
    """

    least: float | None = None
    eta: float = 0.9
    held_out: float = 0.1
    seed: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.held_out < 1:
            raise UsageError(f"held-out: expected a fraction below 1, found {self.held_out}")


def shaped(pairs: Sequence[Pair], shape: Shape) -> list[Pair]:
    """Give pairs trees of a shape that needs no parser; links that cross them are dropped."""
    result = []
    for pair in pairs:
        tree = branching(pair.source, shape)
        result.append(replace(pair, tree=tree, links=tuple(cohesive(tree, pair.links))))
    return result


def bitrees_of(pairs: Sequence[Pair]) -> list[Bitree]:
    """The bitrees of pairs that have a tree, with at most one target word per source word."""
    counts = count_links(pairs)
    return [
        Bitree.of(pair.tree, pair.target, one_to_one(pair.source, pair.target, pair.links, counts))
        for pair in pairs
        if pair.tree is not None
    ]


def kind_of_trees(bitrees: Sequence[Bitree]) -> str:
    """The kind of the bitrees' source trees; different kinds are an error."""
    kinds = sorted({bitree.tree.kind for bitree in bitrees})
    if len(kinds) != 1:
        raise UsageError(f"expected source trees of one kind, found {', '.join(kinds) or 'none'}")
    return kinds[0]


def learn_discriminative(
    bitrees: Sequence[Bitree], words: WordModel, recipe: JoinRecipe | None = None, say: Say = _silent
) -> Transducer:
    """Train permutation classifiers to go with a word model; lambda is chosen by accuracy on held-out sentences."""
    recipe = recipe or JoinRecipe()
    kind = kind_of_trees(bitrees)
    if words.trees is not None and words.trees != kind:
        raise UsageError(f"expected a word model learnt from trees of {kind}, found one from {words.trees}")
    held = round(len(bitrees) * recipe.held_out)
    training, held_out = bitrees[: len(bitrees) - held], bitrees[len(bitrees) - held :]
    problem = join_problem(training, recipe.seed)
    least = recipe.least if recipe.least is not None else max(1.0, len(problem.examples) / 1000)
    model = boost([problem], least=least, eta=recipe.eta, threads=recipe.threads)
    trained: dict[str, Any] = {"bitrees": len(training), "examples": len(problem.examples), "least": least}
    if held:
        curve = right_orders(model, join_problem(held_out, recipe.seed))
        best = max(share for _, share in curve)
        chosen = next(value for value, share in curve if share == best)
        model = model.cut(chosen)
        trained |= {"held_out": held, "lambda": chosen, "right": best}
        say(f"joins: lambda {chosen:.4g}, {100 * best:.2f}% of held out orders right")
    sizes = model.sizes().tolist()
    say(f"joins: {len(problem.examples)} examples, {sizes[0]} and {sizes[1]} parameters")
    return Transducer(kind, words, model, trained={**trained, "parameters": sizes})


def right_orders(model: BoostedModel, problem: Problem) -> list[tuple[float, float]]:
    """For each lambda, the fraction of correct joins whose order gets the higher confidence."""
    largest = float(model.trees.lambdas.max(initial=model.least))
    known = problem.classes >= 0
    examples, classes = problem.examples.take(np.flatnonzero(known)).named(model.atoms), problem.classes[known]
    shares = []
    for least in lambdas(model.least, largest):
        chosen = model.scores(PROBLEM, examples, least).argmax(axis=1)
        shares.append((least, float((chosen == classes).mean()) if len(classes) else 0.0))
    return shares


def learn_generative(
    bitrees: Sequence[Bitree], *, iterations: int = 5, seed: int = 1, say: Say = _silent
) -> Transducer:
    """Train the generative top-down transducer by Viterbi EM."""
    if iterations < 1:
        raise UsageError(f"iterations: expected 1 or more, found {iterations}")
    kind = kind_of_trees(bitrees)
    costs = []
    for number, model in enumerate(train_generative(bitrees, iterations=iterations, seed=seed), 1):
        cost = sum(model.cost(bitree, most_probable(model, bitree)) for bitree in bitrees if len(bitree.tree))
        costs.append(cost)
        say(f"iteration {number}: cost {cost:.3f}")
    return Transducer(kind, generative=model, trained={"bitrees": len(bitrees), "costs": costs})
