"""Boost many one-against-rest classifiers at once, one for each class of each problem (Algorithm 7.1)."""

from __future__ import annotations

from collections.abc import Iterable

from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.bitree._bitree import boost_problems
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel, Trees
from smtplugins.plugins.bitree.boosting.examples import Problem

EPSILON = 1e-5


def boost(
    problems: Iterable[Problem],
    *,
    least: float,
    eta: float = 0.9,
    epsilon: float = EPSILON,
    depth: int = 0,
    threads: int = 1,
) -> BoostedModel:
    """Follow the path of each classifier until lambda falls below ``least``.

    A tree is kept if it lowers the risk by more than ``epsilon`` times the risk. ``depth`` limits the literals of a
    conjunction (ours; 0 for no limit). If the problems have different atoms, the model has the union of them. The
    result does not depend on ``threads``.
    """
    check_options(least=least, eta=eta, epsilon=epsilon, trees=0, depth=depth)
    listed = list(problems)
    if not listed:
        raise UsageError("boost: expected problems, found none")
    shared = listed[0].examples.atoms
    if all(problem.examples.atoms is shared for problem in listed):
        atoms = shared
    else:
        atoms = tuple(dict.fromkeys(name for problem in listed for name in problem.examples.atoms))
    rows = [problem.examples.named(atoms) for problem in listed]
    inputs = [
        (own.offsets, own.ids, len(atoms), problem.classes, len(problem.names))
        for own, problem in zip(rows, listed, strict=True)
    ]
    starts, path = boost_problems(inputs, least, 0.0, eta, epsilon, 0, depth, threads)
    names = tuple(problem.name for problem in listed)
    return BoostedModel(atoms, names, tuple(problem.names for problem in listed), Trees(starts, *path), least)


def check_options(*, least: float, eta: float, epsilon: float, trees: int, depth: int) -> None:
    """Raise UsageError for options out of range."""
    if not least > 0:
        raise UsageError(f"l1-boost: expected the path to end at a lambda above 0, found {least}")
    if not 0 < eta < 1 or not epsilon >= 0:
        raise UsageError(f"l1-boost: expected eta between 0 and 1 and epsilon of 0 or more, found {eta} and {epsilon}")
    if trees < 0 or depth < 0:
        raise UsageError(f"l1-boost: expected trees and depth of 0 or more, found {trees} and {depth}")
