"""Linear classifiers over atoms, which boosted trees are compared with: l2, pruned l2, and an online SVM.

Section 7.4.2. Each translation of a source word has a classifier against the rest, as with trees; the atom that is
always true is one of the atoms, and penalised as they are (equation 7.4 has it among its features, too).

The l2-regularised log-linear model minimises sum ln(1 + exp(-y h)) + penalty * sum theta^2 (the risk of equation 7.9)
by Newton's method with conjugate gradients, in MegaM's role. The SVM is a linear one of our own in LaSVM's role: as
A. Bordes, S. Ertekin, J. Weston and L. Bottou, "Fast Kernel Classifiers with Online and Active Learning" (2005), it
sees each example once (PROCESS), goes back to one with weight after each (REPROCESS), and in the end over those with
weight. A step is that of dual coordinate descent (C.-J. Hsieh and others, 2008) in place of LaSVM's pairs, since there
is no bias outside of the atoms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.bitree.boosting.examples import Examples, Problem

    Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Linear:
    """A row of weights for each class: those of ``atoms`` (numbers, in order), and of what is always true."""

    atoms: Array
    weights: Array

    def scores(self, examples: Examples) -> Array:
        """The confidence of each class, rows x classes; atoms that were not in training count nothing."""
        import numpy as np

        if not len(examples):
            return np.zeros((0, len(self.weights)))
        places = np.searchsorted(self.atoms, examples.ids)
        there = places < len(self.atoms)
        there[there] = self.atoms[places[there]] == examples.ids[there]
        row_of = np.repeat(np.arange(len(examples)), np.diff(examples.offsets))[there]
        starts = np.searchsorted(row_of, np.arange(len(examples)))
        own = self.weights[:, places[there]]
        # An empty stretch would be its next one's first value: a column of zeros ends all, and empty rows are set.
        sums = np.add.reduceat(np.concatenate([own, np.zeros((len(own), 1))], axis=1), starts, axis=1)
        sums[:, np.bincount(row_of, minlength=len(examples)) == 0] = 0.0
        found: Array = (sums + self.weights[:, -1:]).T
        return found

    def sizes(self) -> Array:
        """How many weights of each class are not 0."""
        import numpy as np

        found: Array = np.count_nonzero(self.weights, axis=1)
        return found

    def pruned(self, counts: Array) -> Linear:
        """As many of each class's largest weights as asked for, all others 0; of equal ones the first."""
        import numpy as np

        order = np.argsort(-np.abs(self.weights), axis=1, kind="stable")
        ranks = np.argsort(order, axis=1, kind="stable")
        return Linear(self.atoms, np.where(ranks < np.asarray(counts)[:, None], self.weights, 0.0))


def fit_loglinear(
    problem: Problem, penalty: float, *, start: Linear | None = None, tolerance: float = 1e-3, steps: int = 100
) -> Linear:
    """The l2-regularised log-linear model of each class, as nearly as the gradient says; ``start`` saves steps."""
    from smtplugins.plugins.bitree import _bitree

    offsets, ids, atoms = _own(problem.examples)
    weights = _zeros(problem, atoms) if start is None else start.weights.copy()
    _bitree.fit_loglinear(offsets, ids, problem.classes, weights, penalty, tolerance, steps)
    return Linear(atoms, weights)


def fit_online_svm(
    problem: Problem, cost: float, *, seed: int = 1, tolerance: float = 1e-2, finish: int = 20, passes: int = 1
) -> tuple[Linear, int]:
    """A support vector machine of each class, its examples seen in a drawn order; and how many vectors it has."""
    import numpy as np

    from smtplugins.plugins.bitree import _bitree

    offsets, ids, atoms = _own(problem.examples)
    weights = _zeros(problem, atoms)
    drawn = np.random.default_rng([seed, len(problem.examples)])
    order = np.concatenate([drawn.permutation(len(problem.examples)) for _ in range(passes)]).astype(np.int32)
    count, _ = _bitree.fit_online_svm(offsets, ids, problem.classes, weights, order, cost, tolerance, finish, seed)
    return Linear(atoms, weights), count


def _own(examples: Examples) -> tuple[Array, Array, Array]:
    """Rows by numbers of the atoms that they have."""
    import numpy as np

    atoms, ids = np.unique(examples.ids, return_inverse=True)
    return examples.offsets, ids.astype(np.int32), atoms


def _zeros(problem: Problem, atoms: Array) -> Array:
    import numpy as np

    return np.zeros((len(problem.names), len(atoms) + 1))
