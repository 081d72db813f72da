"""Linear classifiers over atoms as baselines for boosted trees: l2, pruned l2, and an online SVM.

Section 7.4.2. Each translation of a source word has a one-against-rest classifier, as with trees; the bias is an atom
that is always true, and penalised like the others (as in equation 7.4).

The l2-regularised log-linear model, in MegaM's role, minimises sum ln(1 + exp(-y h)) + penalty * sum theta^2 (the risk
of equation 7.9) by Newton's method with conjugate gradients. The linear SVM, in LaSVM's role, follows A. Bordes,
S. Ertekin, J. Weston and L. Bottou, "Fast Kernel Classifiers with Online and Active Learning" (2005): it visits each
example once (PROCESS), revisits a support vector after each (REPROCESS), and finally iterates over the support vectors.
Steps are those of dual coordinate descent (C.-J. Hsieh and others, 2008) instead of LaSVM's pairs, since there is no
separate bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smtplugins.plugins.bitree import _bitree
from smtplugins.plugins.bitree.boosting.examples import Examples, Problem

Array = NDArray[Any]

_STEPS = 100  # of Newton's method, at the most


@dataclass(frozen=True, eq=False)
class Linear:
    """A row of weights for each class: a weight per atom of ``atoms`` (sorted ids), then the bias."""

    atoms: Array
    weights: Array

    def scores(self, examples: Examples) -> Array:
        """The confidence of each class (rows x classes); atoms that were not in training count 0."""
        if not len(examples):
            return np.zeros((0, len(self.weights)))
        places = np.searchsorted(self.atoms, examples.ids)
        there = places < len(self.atoms)
        there[there] = self.atoms[places[there]] == examples.ids[there]
        row_of = np.repeat(np.arange(len(examples)), np.diff(examples.offsets))[there]
        starts = np.searchsorted(row_of, np.arange(len(examples)))
        own = self.weights[:, places[there]]
        # reduceat gives an empty segment the value that follows it: append a column of zeros, and reset empty rows.
        sums = np.add.reduceat(np.concatenate([own, np.zeros((len(own), 1))], axis=1), starts, axis=1)
        sums[:, np.bincount(row_of, minlength=len(examples)) == 0] = 0.0
        scores: Array = (sums + self.weights[:, -1:]).T
        return scores

    def sizes(self) -> Array:
        """The number of non-zero weights of each class."""
        sizes: Array = np.count_nonzero(self.weights, axis=1)
        return sizes

    def pruned(self, counts: Array) -> Linear:
        """Keep the ``counts`` largest weights of each class by absolute value, the first on ties; set others to 0."""
        order = np.argsort(-np.abs(self.weights), axis=1, kind="stable")
        ranks = np.argsort(order, axis=1, kind="stable")
        return Linear(self.atoms, np.where(ranks < np.asarray(counts)[:, None], self.weights, 0.0))


def fit_loglinear(problem: Problem, penalty: float, *, start: Linear | None = None, tolerance: float = 1e-3) -> Linear:
    """Fit an l2-regularised log-linear model for each class until the gradient falls below the tolerance.

    Starting at ``start`` saves steps.
    """
    offsets, ids, atoms = _own(problem.examples)
    weights = _zeros(problem, atoms) if start is None else start.weights.copy()
    _bitree.fit_loglinear(offsets, ids, problem.classes, weights, penalty, tolerance, _STEPS)
    return Linear(atoms, weights)


def fit_online_svm(
    problem: Problem, cost: float, *, seed: int = 1, tolerance: float = 1e-2, finish: int = 20, passes: int = 1
) -> tuple[Linear, int]:
    """Fit an SVM for each class, visiting examples in random order; return it with the number of support vectors."""
    offsets, ids, atoms = _own(problem.examples)
    weights = _zeros(problem, atoms)
    random = np.random.default_rng([seed, len(problem.examples)])
    order = np.concatenate([random.permutation(len(problem.examples)) for _ in range(passes)]).astype(np.int32)
    count, _ = _bitree.fit_online_svm(offsets, ids, problem.classes, weights, order, cost, tolerance, finish, seed)
    return Linear(atoms, weights), count


def _own(examples: Examples) -> tuple[Array, Array, Array]:
    """Renumber the atoms by those that occur; return offsets, new ids and the original ids."""
    atoms, ids = np.unique(examples.ids, return_inverse=True)
    return examples.offsets, ids.astype(np.int32), atoms


def _zeros(problem: Problem, atoms: Array) -> Array:
    return np.zeros((len(problem.names), len(atoms) + 1))
