"""
Kernels of boosted trees and translation with them. Use the Python modules around it.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Boosting:
    """A classifier that follows the regularisation path of lambda."""

    def __init__(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], atoms: int, labels: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def advance(self, least: float, eta: float, epsilon: float, trees: int, depth: int) -> bool:
        """
        Follow the path until lambda falls below `least`; False if it ends before.
        """

    def replay(self, lambdas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], splits: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], others: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], penalty: float) -> None:
        """Add trees of an earlier run, and continue at its lambda."""

    def first_penalty(self, eta: float) -> float: ...

    @property
    def penalty(self) -> float:
        """Lambda."""

    @property
    def loss(self) -> float: ...

    @property
    def risk(self) -> float: ...

    @property
    def count(self) -> int:
        """The number of trees."""

    @property
    def tries(self) -> int:
        """The number of trees grown."""

    @property
    def parameters(self) -> int:
        """The number of non-zero parameters."""

    def path(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """The trees as lambdas, nodes, splits, others, values."""

    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The confidence of each row."""

    def gradients(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """-dL/dTheta of the empty conjunction and of each atom."""

def boost_problems(problems: Sequence[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], int, Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], int]], least: float, ratio: float, eta: float, epsilon: float, trees: int, depth: int, threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]]:
    """
    Boost each class of each problem (offsets, ids, atoms, classes, number of classes); return starts and trees.
    """

def evaluate_trees(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lambdas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], splits: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], others: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], atoms: int, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """The summed outputs of some classifiers' first trees for each row."""

def tree_parameters(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], lambdas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], splits: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], others: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], classifier: int, count: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    The parameters of a classifier's first trees: offsets, literals, values.
    """

def fit_loglinear(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], penalty: float, tolerance: float, steps: int) -> int:
    """
    Fit each class against the rest, writing weights in place; return the number of Newton steps.
    """

def fit_online_svm(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], order: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: float, tolerance: float, finish: int, seed: int) -> tuple[int, float]:
    """
    Fit each class against the rest, writing weights in place; return the support vectors and worst violation.
    """
