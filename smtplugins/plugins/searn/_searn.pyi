"""
Kernels of labels, policies and their decoder. Use the Python modules around it.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

import smtplugins.core._core


LABEL_COLUMNS: int = 3

class AmasisGraph:
    """Fragments and how they were put together, the goal last."""

    @property
    def nodes(self) -> int: ...

    @property
    def node_edges(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def rules(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """Those of the forest, the last of them above the goal, then R+ and R-."""

    @property
    def firsts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def lasts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def scores(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Of each edge alone."""

    @property
    def tails(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def tail_offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def values(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """Of each edge: what stateful features gave, then the columns of labels."""

    @property
    def path(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        The edges of the best derivation, each before its children's, these from left to right.
        """

    @property
    def words(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """Of the best derivation."""

    @property
    def item_rules(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The items of the best derivation, from left to right."""

    @property
    def item_firsts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def item_lasts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def item_labels(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def item_reductions(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """How many reductions each label made."""

    @property
    def score(self) -> float:
        """Of the best derivation."""

    @property
    def made(self) -> int:
        """Hypotheses that were made."""

    @property
    def asked(self) -> int:
        """Edges that stateful features scored."""

class Labels:
    """A policy, as the search follows it."""

    def __init__(self, weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], reductions: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], operations: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], label_rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pair_rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], depth_rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fragments: bool, fragment_begin: int, fragment_empty: int) -> None: ...

class Amasis:
    """Translation with a stack of fragments, one sentence after the other."""

    def __init__(self, scorer: smtplugins.core._core.Scorer, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Labels, stack_size: int, beam: float, wanted: int, decide: str, seed: int, logs: bool, strings: bool, all_edges: bool, max_edges: int) -> None: ...

    def search(self, forest: smtplugins.core._core.SearchForest, sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fragments: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], key: int) -> AmasisGraph: ...

def find_items(sources: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], list[str], Annotated[NDArray[numpy.int32], dict(shape=(None, None))]]:
    """
    Items of sentence pairs of so many words: where those of each pair begin; first and end of their source and target words; their kinds (0 unaligned, 1 linked, 2 crossing, 3 simple); their labels, as places among the labels that follow; and parts of items: pair, first and end of source and target words. offsets: where the links of each pair begin.
    """

def label_spans(targets: Sequence[tuple[int, int]]) -> tuple[list[str], int]:
    """
    Labels of items with these target words (first, end), and how many are left on the stack.
    """

class Sequences:
    """Sequences of items with right labels, and policies at work on them."""

    def __init__(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, last: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: int, rows: int, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label2: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], depth: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], fragment: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], operation_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], operations: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def __len__(self) -> int: ...

    @property
    def items(self) -> int:
        """How many items all sequences have."""

    @property
    def width(self) -> int:
        """How many features of its history an item has."""

    def follow(self, first: int, last: int, weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], voting: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], decide: str, key: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None, None))]]:
        """
        Labels that a mixture gives to items one after another, and the features of their histories.
        """

    def complete(self, first: int, last: int, weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], voting: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], decide: str, samples: int, key: int, taken: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        For each item and label, how many labels are wrong if it is tried there and the mixture goes on.
        """

    def learn(self, history: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], logistic: bool, rate: float, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], count: int) -> tuple[int, int, float]:
        """
        A pass over items: the number of the next example, wrong ones and what they cost.
        """

def learn_rows(groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], logistic: bool, rate: float, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], count: int) -> tuple[int, int, float]:
    """
    A pass over examples: the number of the next example, wrong ones and what they cost.
    """

def score_rows(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], policies: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """The weighted sum of each row, by policy and row."""

def chained(key: int, number: int) -> int:
    """A key that goes on with a number."""

def uniform(key: int) -> float:
    """What a key draws: from 0 to below 1."""
