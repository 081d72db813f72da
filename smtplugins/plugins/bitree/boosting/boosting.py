"""Boosting of many classifiers at once, Algorithm 7.1: each class of each problem against the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from smtplugins.host.errors import UsageError
from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel, Trees

if TYPE_CHECKING:
    from smtplugins.plugins.bitree.boosting.examples import Problem

EPSILON = 1e-5


def boost(
    problems: Iterable[Problem],
    *,
    least: float,
    eta: float = 0.9,
    epsilon: float = EPSILON,
    trees: int = 0,
    depth: int = 0,
    threads: int = 1,
) -> BoostedModel:
    """The path of each classifier, down to where lambda falls below ``least``.

    A tree is kept if it lowers the risk by more than ``epsilon`` times the risk. ``trees`` and ``depth`` are limits of
    our own, of the trees of a classifier and the literals of a conjunction; 0 is none. Problems may bring the same
    atoms; if they bring others, the model has the atoms of all. The number of threads changes nothing but the time.
    """
    from smtplugins.plugins.bitree._bitree import boost_problems

    check_options(least=least, eta=eta, epsilon=epsilon, trees=trees, depth=depth)
    listed = list(problems)
    if not listed:
        raise UsageError("boost: expected problems, found none")
    shared = listed[0].examples.atoms
    if all(one.examples.atoms is shared for one in listed):
        atoms = shared
    else:
        atoms = tuple(dict.fromkeys(name for one in listed for name in one.examples.atoms))
    rows = [one.examples.named(atoms) for one in listed]
    given = [
        (own.offsets, own.ids, len(atoms), one.classes, len(one.names)) for own, one in zip(rows, listed, strict=True)
    ]
    starts, path = boost_problems(given, least, 0.0, eta, epsilon, trees, depth, threads)
    names = tuple(one.name for one in listed)
    return BoostedModel(atoms, names, tuple(one.names for one in listed), Trees(starts, *path), least)


def check_options(*, least: float, eta: float, epsilon: float, trees: int, depth: int) -> None:
    """Options that the algorithm cannot use are errors."""
    if not least > 0:
        raise UsageError(f"l1-boost: expected an end of the path above 0, found {least}")
    if not 0 < eta < 1 or not epsilon >= 0:
        raise UsageError(f"l1-boost: expected eta between 0 and 1 and epsilon of 0 or more, found {eta} and {epsilon}")
    if trees < 0 or depth < 0:
        raise UsageError(f"l1-boost: expected trees and depth of 0 or more, found {trees} and {depth}")
